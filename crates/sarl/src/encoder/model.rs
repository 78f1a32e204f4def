//! A solved problem with everything that a model file holds.

use std::collections::BTreeMap;

use faer::Mat;

use super::Encoder;
use super::spanned::over_inputs;
use crate::cells::{CellCertificate, Cells};
use crate::features::{Columns, FeatureMap, RawInputs, Scaling};
use crate::fit::FitParams;
use crate::front::{Attributes, Certificate, Front, Goal, HeldOut, Method, Point, Solution};
use crate::moments::{Label, Layout, Role};
use crate::spectral::Reduced;
use crate::spectral::reduced::possible;
use crate::{Error, Result};

/// Everything that a model file holds: the map, the labels, the reduced problem and a solution.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) columns: Columns,
    pub(super) raw: RawInputs,
    pub(super) labels: Vec<Label>,
    pub(super) reduced: Reduced,
    pub(super) cap: Option<usize>,
    pub(super) goal: Goal,
    pub(super) point: Point,
    pub(super) certificate: Certificate,
    pub(super) method: Method,
    pub(super) subspace: Mat<f64>,
    pub(super) heldout: Option<HeldOut>,
    pub(crate) params: Option<FitParams>,
    pub(super) cells: Option<Cells>,
    /// Texts of the caller's, carried along (the schema of a table, say).
    pub extra: BTreeMap<String, String>,
}

impl Model {
    /// Solves `goal` on a reduced problem. `layout` is that of the inputs.
    pub fn new(
        map: &FeatureMap,
        layout: &Layout,
        reduced: &Reduced,
        cap: Option<usize>,
        goal: Goal,
    ) -> Result<Self> {
        if map.outputs() != reduced.features() {
            return Err(Error::shape("features", reduced.features(), map.outputs()));
        }
        let mut reduced = reduced.clone();
        match &map.span {
            Some(span) => reduced = over_inputs(reduced, span, layout),
            None => {
                let folded = map.fold(reduced.basis.clone());
                map.check_fold(&reduced.basis, &folded)?;
                reduced.basis = folded;
            }
        }
        for (what, role, found) in [
            ("target columns", Role::Target, reduced.label_columns().0),
            ("sensitive columns", Role::Sensitive, reduced.label_columns().1),
        ] {
            if layout.width(role) != found {
                return Err(Error::shape(what, layout.width(role), found));
            }
        }
        let sides = [&reduced.problem, reduced.exact()].map(|p| [&p.target, &p.sensitive]);
        if !sides.into_iter().flatten().all(possible) {
            return Err(Error::Unstable);
        }
        let solution = Front::new(&reduced, cap)?.solve(goal)?;
        let labels = layout.labels().to_vec();
        let extra = BTreeMap::new();
        let columns = (map.columns.clone(), map.raw.clone());
        Ok(Self::assemble(columns, labels, reduced, cap, solution, None, extra))
    }

    fn assemble(
        (columns, raw): (Columns, RawInputs),
        labels: Vec<Label>,
        reduced: Reduced,
        cap: Option<usize>,
        solution: Solution,
        heldout: Option<HeldOut>,
        extra: BTreeMap<String, String>,
    ) -> Self {
        let Solution { goal, point, certificate, method, subspace } = solution;
        Model {
            columns,
            raw,
            labels,
            reduced,
            cap,
            goal,
            point,
            certificate,
            method,
            subspace,
            heldout,
            params: None,
            cells: None,
            extra,
        }
    }

    /// How it was fitted, if it was by a [`Fit`](crate::Fit).
    pub fn params(&self) -> Option<&FitParams> {
        self.params.as_ref()
    }

    /// Keeps the folds of the fit, so that the file has held-out losses for every goal. Those of
    /// problems with very many label columns are not written.
    pub fn keep_heldout(&mut self, heldout: HeldOut) {
        self.heldout = Some(heldout);
    }

    /// The folds of the fit, if they were kept.
    pub fn heldout(&self) -> Option<&HeldOut> {
        self.heldout.as_ref()
    }

    /// The same with cells.
    pub(crate) fn with_cells(self, cells: Cells) -> Self {
        Model { cells: Some(cells), ..self }
    }

    /// The same with what was certified of its cells.
    pub fn certified(mut self, certificate: CellCertificate) -> Self {
        if let Some(cells) = &mut self.cells {
            cells.certify(certificate);
        }
        self
    }

    /// Where z is cut, if it is. The figures of [`Model::point`] are then those before the cut.
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_ref()
    }

    /// Another trade-off from the same fit, without the data. It has no cells.
    pub fn retune(&self, goal: Goal) -> Result<Self> {
        let solution = self.front()?.solve(goal)?;
        let (columns, labels) = ((self.columns.clone(), self.raw.clone()), self.labels.clone());
        let (reduced, extra) = (self.reduced.clone(), self.extra.clone());
        let heldout = self.heldout.clone();
        let model = Self::assemble(columns, labels, reduced, self.cap, solution, heldout, extra);
        if model.encoder().overflows() {
            return Err(Error::EncodingOverflow);
        }
        Ok(Model { params: self.params.clone(), ..model })
    }

    /// All other trade-offs of the same fit.
    pub fn front(&self) -> Result<Front<'_>> {
        Front::new(&self.reduced, self.cap)
    }

    /// The frozen encoder.
    pub fn encoder(&self) -> Encoder {
        let encoder = Encoder::new(&self.columns, &self.raw, &self.reduced, &self.subspace);
        encoder.with_cells(self.cells.clone())
    }

    /// How dense inputs are scaled before they are encoded: the encoder does it.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.raw.scaling.as_ref()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.columns.inputs()
    }

    /// Whether `φ(x) = x`, so that class-coded inputs are looked up.
    pub fn is_linear(&self) -> bool {
        matches!(self.columns, Columns::Linear { .. })
    }

    /// The map in words: `linear`, `rbf kernel, gamma 0.5, 92 landmarks`, …
    pub fn map_name(&self) -> String {
        match &self.columns {
            Columns::Linear { .. } => "linear".into(),
            Columns::Kernel { kernel, landmarks } => {
                format!("{kernel}, {} landmarks", landmarks.nrows())
            }
            Columns::Fourier { .. } => format!("{} random features", self.columns.outputs()),
        }
    }

    /// The labels that the model knows.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The reduced problem.
    pub fn reduced(&self) -> &Reduced {
        &self.reduced
    }

    /// What was asked.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// What was reached on the training data.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// What was reached on the training data for each label.
    pub fn attributes(&self) -> Result<Attributes> {
        Ok(self.front()?.attributes(&self.goal, &self.subspace))
    }

    /// How near to the best it is.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// How it was reached.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The cap on dimensions.
    pub fn cap(&self) -> Option<usize> {
        self.cap
    }
}
