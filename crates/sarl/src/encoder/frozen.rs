//! A frozen encoder: one matrix product behind the map's columns.
//!
//! ```text
//! z = Θ (φ(x) − mean φ),   Θ = Gᵀ (W Q)ᵀ            ŷ = ȳ + Vyᵀ z      ŝ = s̄ + Vsᵀ z
//! x̂ = x̄ + Cov(x, z) Cov(z)⁻¹ z
//! ```
//!
//! For landmarks the triangular solve of `φ` is folded into Θ, so encoding a row costs `m (d + r)`
//! multiplications, not `m²`. With the features as the target and λ → 1, `x̂` is LEACE (Belrose et
//! al. 2023).

mod device;
mod encode;

use faer::{Mat, MatRef};

use crate::cells::Cells;
use crate::features::{Columns, Map, RawInputs, Scaling};
use crate::moments::{Label, Layout, Role};
use crate::spectral::Reduced;
use crate::{Error, Result};

/// An encoder with the best linear predictors from what it gives.
#[derive(Clone, Debug)]
pub struct Encoder {
    columns: Columns,
    /// Rows as they come; their scaling is in `shift`, `factor` and the weights.
    raw: RawInputs,
    /// Columns × dim.
    weights: Mat<f64>,
    offset: Vec<f64>,
    /// What is left of the offset once the inputs are shifted.
    rest: Vec<f64>,
    /// What is taken off each dense input first; nothing, if it is empty.
    shift: Vec<f64>,
    /// What it is then multiplied by; nothing, if it is empty or already in the weights.
    factor: Vec<f64>,
    target: Linear,
    sensitive: Linear,
    inputs: Option<Linear>,
    /// What is given instead of z.
    cells: Option<Cells>,
}

/// `mean + coefficientsᵀ z`.
#[derive(Clone, Debug)]
struct Linear {
    mean: Vec<f64>,
    coefficients: Mat<f64>,
}

impl Linear {
    fn apply(&self, z: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = z * &self.coefficients;
        for (j, mean) in self.mean.iter().enumerate() {
            out.col_mut(j).iter_mut().for_each(|v| *v += mean);
        }
        out
    }
}

impl Encoder {
    pub(super) fn new(
        columns: &Columns,
        raw: &RawInputs,
        reduced: &Reduced,
        subspace: &Mat<f64>,
    ) -> Self {
        let g = oriented(reduced, subspace);
        let used = g.nrows();
        let weights = reduced.basis.as_ref().subcols(0, used) * &g;
        let centre = faer::ColRef::from_slice(&reduced.centre[..used]);
        let (vy, vs) = reduced.predictors(g.as_ref());
        let offset: Vec<f64> = (g.transpose() * centre).iter().copied().collect();
        let (shift, rest) = about_means(columns, raw.dense, reduced, weights.as_ref())
            .unwrap_or_else(|| (Vec::new(), offset.clone()));
        let encoder = Encoder {
            columns: columns.clone(),
            raw: RawInputs { scaling: None, ..raw.clone() },
            weights,
            offset,
            rest,
            shift,
            factor: Vec::new(),
            target: Linear { mean: reduced.target_mean.clone(), coefficients: vy },
            sensitive: Linear { mean: reduced.sensitive_mean.clone(), coefficients: vs },
            inputs: reduced.inputs.as_ref().map(|(cross, mean)| Linear {
                mean: mean.clone(),
                coefficients: reduced.regress(g.as_ref(), cross.as_ref().subrows(0, used)),
            }),
            cells: None,
        };
        match &raw.scaling {
            Some(scaling) => encoder.unscaled(scaling),
            None => encoder,
        }
    }

    /// The encoder of rows that come as they are, where it was fitted on scaled ones: it encodes
    /// and reconstructs x.
    fn unscaled(mut self, Scaling { shift, factor }: &Scaling) -> Self {
        // (x − shift) · factor − own = (x − (shift + own / factor)) · factor
        let own = |j: usize| self.shift.get(j).map_or(0.0, |own| own / factor[j]);
        self.shift = (0..self.raw.dense).map(|j| shift[j] + own(j)).collect();
        match &self.columns {
            Columns::Linear { .. } => {
                for j in 0..self.weights.ncols() {
                    let column = self.weights.col_mut(j);
                    column.iter_mut().zip(factor).for_each(|(w, factor)| *w *= factor);
                    let moved = self.weights.col(j).iter().zip(&self.shift).map(|(w, s)| w * s);
                    self.offset[j] = self.rest[j] + moved.sum::<f64>();
                }
            }
            _ => self.factor.clone_from(factor),
        }
        if let Some(inputs) = &mut self.inputs {
            for (j, (shift, factor)) in shift.iter().zip(factor).enumerate() {
                inputs.mean[j] = inputs.mean[j] / factor + shift;
                inputs.coefficients.col_mut(j).iter_mut().for_each(|v| *v /= factor);
            }
        }
        self
    }

    /// The same with cells: it gives the centre of the cell that z is in, never z itself.
    pub(super) fn with_cells(self, cells: Option<Cells>) -> Self {
        Encoder { cells, ..self }
    }

    /// Whether its numbers do not fit doubles, although those that it was made of do.
    pub(super) fn overflows(&self) -> bool {
        let weights = &self.weights;
        let mut all = (0..weights.ncols()).flat_map(|j| weights.col(j).iter());
        !(all.all(|w| w.is_finite()) && self.offset.iter().all(|v| v.is_finite()))
    }

    /// Where z is cut, if it is.
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_ref()
    }

    /// The columns of rows that it encodes, with these labels.
    pub(crate) fn layout(&self, labels: &[Label]) -> Layout {
        let mut layout = Layout::dense(self.raw.dense).coded(&self.raw.categories);
        layout.labels = labels.to_vec();
        layout
    }

    /// r, the number of dimensions of z.
    pub fn dim(&self) -> usize {
        self.weights.ncols()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.columns.inputs()
    }

    /// The dense inputs, before one-hot columns.
    pub fn dense_inputs(&self) -> usize {
        self.raw.dense
    }

    /// The number of categories of each class-coded input.
    pub fn categories(&self) -> &[usize] {
        &self.raw.categories
    }

    /// What is done to the dense inputs before the map, what each is shifted and multiplied by
    /// (nothing, where it is empty), and what is taken off the product with the weights then. It
    /// keeps more digits than [`Encoder::offset`].
    pub fn steps(&self) -> (&[f64], &[f64], &[f64]) {
        (&self.shift, &self.factor, &self.rest)
    }

    /// Columns × dim: for a linear encoder `z = weightsᵀ x − offset`.
    pub fn weights(&self) -> MatRef<'_, f64> {
        self.weights.as_ref()
    }

    /// What is computed from a row before the product with the weights.
    pub fn map(&self) -> Map<'_> {
        self.columns.view()
    }

    /// The mean of the inputs and dim × inputs: `x̂ = mean + coefficientsᵀ z`, where x is known.
    pub fn reconstruction(&self) -> Option<(&[f64], MatRef<'_, f64>)> {
        self.inputs.as_ref().map(|l| (l.mean.as_slice(), l.coefficients.as_ref()))
    }

    /// What is taken from each dimension, so that z has mean zero on the training data. With a
    /// kernel that is of scaled inputs.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// The best linear predictions of the label columns of a role, from z.
    pub fn predict(&self, role: Role, z: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check_z(z)?;
        Ok(match role {
            Role::Target => self.target.apply(z),
            Role::Sensitive => self.sensitive.apply(z),
        })
    }

    /// The best linear reconstruction of x from z.
    pub fn reconstruct(&self, z: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check_z(z)?;
        let message = "this encoder cannot reconstruct its inputs: with a kernel or random \
                       features they must be kept, or be the target";
        let inputs = self.inputs.as_ref().ok_or(Error::Unavailable(message))?;
        Ok(inputs.apply(z))
    }

    fn check_z(&self, z: MatRef<'_, f64>) -> Result<()> {
        if z.ncols() == self.dim() {
            return Ok(());
        }
        Err(Error::shape("columns of z", z.ncols(), self.dim()))
    }
}

/// z may lose this much of its standard deviation to the subtraction of its offset.
const LOST: f64 = 1e-12;

/// The means of the dense inputs, to be taken off them before the product, and what is left of the
/// offset then; only where the product would lose digits of z to a large offset.
fn about_means(
    columns: &Columns,
    dense: usize,
    reduced: &Reduced,
    weights: MatRef<'_, f64>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (Columns::Linear { .. }, Some((_, mean))) = (columns, &reduced.inputs) else {
        return None;
    };
    let parts = |j: usize| weights.col(j).iter().zip(mean).map(|(w, m)| w * m);
    let largest = |j: usize| parts(j).take(dense).fold(0.0_f64, |most, part| most.max(part.abs()));
    let lost = (0..weights.ncols()).map(largest).fold(0.0, f64::max) * f64::EPSILON;
    (lost > LOST).then(|| {
        let rest = (0..weights.ncols()).map(|j| parts(j).skip(dense).sum()).collect();
        (mean[..dense].to_vec(), rest)
    })
}

/// Turns each direction so that its largest weight is positive: eigenvectors have no sign of
/// their own. Weights as large as the largest but for rounding do not compete with the first.
fn oriented(reduced: &Reduced, subspace: &Mat<f64>) -> Mat<f64> {
    let mut g = subspace.clone();
    let weights = reduced.basis.as_ref().subcols(0, g.nrows()) * &g;
    for j in 0..g.ncols() {
        let column = weights.col(j);
        let largest = column.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let leader = column.iter().find(|v| v.abs() >= largest * (1.0 - 1e-6));
        if leader.is_some_and(|v| *v < 0.0) {
            g.col_mut(j).iter_mut().for_each(|v| *v = -*v);
        }
    }
    g
}
