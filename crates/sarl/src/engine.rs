//! What a device does in place of the processor: sums of blocks of rows, what is made of the sums of
//! the folds, and z.
//!
//! The processor is the reference. An [`Engine`] is asked for an [`Accumulator`] of a fit's features,
//! which takes rows as they come, keeps all sums on its device and hands them over when they are
//! asked for. Folds, weights, classes and counts stay here: the device gets rows, the fold of each and
//! the root of its weight, and forms
//!
//! ```text
//! u = root · (φ(x) − c)     scatter_f = Σ u uᵀ     table_fg[·, k] = Σ_{class k of g} root · u
//! ```

use std::fmt::Debug;

use faer::{Mat, MatRef};

use crate::Result;
use crate::features::{Kernel, Map};
use crate::moments::Precision;
use crate::spare::padded;

/// A device, or several that share the rows.
pub trait Engine: Debug + Send + Sync {
    /// What it is called where it is named: `cuda:0 (NVIDIA H200)`, say.
    fn name(&self) -> String;

    /// Whether the processor takes over where the device refuses before the first row.
    fn is_optional(&self) -> bool {
        false
    }

    /// Whether so many rows of this kind are worth the way to the device.
    fn pays(&self, features: &FeaturePlan<'_>, rows: u64) -> bool {
        let _ = (features, rows);
        true
    }

    /// One for each device: blocks are dealt out over them.
    fn accumulators(&self, plan: &SumsPlan<'_>) -> Result<Vec<Box<dyn Accumulator>>>;

    /// Candidates for so many landmarks at most; nothing where the processor looks at them.
    fn candidates(
        &self,
        kernel: Kernel,
        x: MatRef<'_, f64>,
        most: usize,
    ) -> Result<Option<Box<dyn Candidates>>> {
        let _ = (kernel, x, most);
        Ok(None)
    }

    /// A place where the sums of the folds are combined, factored and multiplied after the last row;
    /// nothing where the processor does that.
    fn folds(&self, plan: &FoldsPlan<'_>) -> Result<Option<Box<dyn Folds>>> {
        let _ = plan;
        Ok(None)
    }

    /// What turns rows into z.
    fn encoding(&self, plan: &EncodePlan<'_>) -> Result<Box<dyn Encoding>>;
}

/// From the inputs of a row to its features.
#[derive(Clone, Copy, Debug)]
pub struct FeaturePlan<'a> {
    /// The map.
    pub map: Map<'a>,
    /// `L`, where the features are `L⁻¹` times the columns of the map.
    pub factor: Option<MatRef<'a, f64>>,
    /// The numbers of a row that the map takes.
    pub inputs: usize,
}

impl FeaturePlan<'_> {
    /// The number of features.
    pub fn outputs(&self) -> usize {
        match self.map {
            Map::Linear => self.inputs,
            Map::Kernel { landmarks, .. } => landmarks.nrows(),
            Map::Fourier { frequencies } => 2 * frequencies.ncols(),
        }
    }
}

/// What is added up.
#[derive(Clone, Debug)]
pub struct SumsPlan<'a> {
    /// How features are computed.
    pub features: FeaturePlan<'a>,
    /// Numeric columns beside the features: kept inputs and labels.
    pub beside: usize,
    /// The number of classes of each class-coded column.
    pub groups: Vec<usize>,
    /// The number of folds.
    pub folds: usize,
    /// How products are formed.
    pub precision: Precision,
    /// Whether inputs are single precision.
    pub single: bool,
}

impl SumsPlan<'_> {
    /// Numeric columns in all.
    pub fn columns(&self) -> usize {
        self.features.outputs() + self.beside
    }
}

/// Numbers of rows, where they are.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Rows of doubles.
    Double(&'a [&'a [f64]]),
    /// Rows of single precision.
    Single(&'a [&'a [f32]]),
    /// Rows that lie on a device.
    Placed(Placed),
}

/// Rows that lie in the memory of a device. They must stay as they are until they were added; an
/// address that the device does not know is an error of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The number of the device.
    pub device: usize,
    /// Where the first number lies.
    pub address: u64,
    /// The number of rows.
    pub rows: usize,
    /// The numbers of a row, which lie one behind the other.
    pub columns: usize,
    /// Numbers from the start of one row to that of the next.
    pub stride: usize,
    /// Whether they are of single precision; doubles otherwise.
    pub single: bool,
    /// The stream on which they were written; without it all work on the device is waited for.
    pub stream: Option<u64>,
}

impl Placed {
    /// Rows `start..start + rows` of these.
    pub fn slice(self, start: usize, rows: usize) -> Self {
        let size = if self.single { 4 } else { 8 };
        Placed { address: self.address + (start * self.stride * size) as u64, rows, ..self }
    }
}

impl Values<'_> {
    /// How many rows there are.
    pub fn count(&self) -> usize {
        match self {
            Values::Double(rows) => rows.len(),
            Values::Single(rows) => rows.len(),
            Values::Placed(rows) => rows.rows,
        }
    }
}

/// What is done with rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The numbers beside the inputs, row after row.
    pub beside: &'a [f64],
    /// The rows that count, fold after fold, and where each fold ends in this list.
    pub order: &'a [u32],
    /// See `order`.
    pub ends: &'a [usize],
    /// The root of the weight of each row; 1 where there are none.
    pub roots: Option<&'a [f64]>,
    /// The class of each row in each group; beyond the classes for none.
    pub codes: &'a [&'a [u32]],
}

/// A value that is not finite: its row, its column and what it is.
pub type NotFinite = (usize, usize, f64);

/// Rows of the matrix that holds a scatter of so many columns: a few more, for the sake of speed.
pub fn scatter_rows(columns: usize) -> usize {
    padded(columns, 8)
}

/// The sums of one fold, about a shift.
#[derive(Clone, Debug)]
pub struct DeviceSums {
    /// `Σ u uᵀ`, of which the lower triangle counts, in a matrix of [`scatter_rows`] rows.
    pub scatter: Mat<f64>,
    /// `Σ root · u`.
    pub sum: Vec<f64>,
    /// For each group columns × classes.
    pub tables: Vec<Mat<f64>>,
}

/// Sums that a device keeps.
pub trait Accumulator: Send {
    /// The most rows that one call takes.
    fn capacity(&self) -> usize;

    /// Adds rows; what is done with them is found while they are on their way. The number of the first row
    /// that has an input that is not finite, if there is one: nothing is added then. Rows that lie on the
    /// device are not looked at.
    fn push<'a>(
        &mut self,
        inputs: Values<'_>,
        rows: &(dyn Fn() -> Rows<'a> + Sync),
    ) -> Result<Option<usize>>;

    /// Whether these rows lie where it adds them up.
    fn reaches(&self, rows: &Placed) -> bool {
        let _ = rows;
        false
    }

    /// Waits until all rows were read that lie on the device.
    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    /// The first value of rows on the device that is not finite, whoever wrote them there.
    fn look(&mut self, rows: &Placed) -> Result<Option<NotFinite>> {
        let _ = rows;
        Ok(None)
    }

    /// The shift, and the sums of each fold about it.
    fn sums(&mut self) -> Result<(Vec<f64>, Vec<DeviceSums>)>;
}

/// The most landmarks that are taken at a time.
pub const MOST_PICKED: usize = 64;

/// `F` of the candidates for landmarks on a device: `F Fᵀ` is what the landmarks so far explain of the
/// kernel.
pub trait Candidates: Send {
    /// Some rows of F.
    fn rows(&mut self, picked: &[usize]) -> Result<Mat<f64>>;

    /// Adds the columns `(K[:, picked] − F F[picked]ᵀ) L⁻ᵀ`; the sum of their squares for each
    /// candidate.
    fn extend(&mut self, picked: &[usize], factor: MatRef<'_, f64>) -> Result<Vec<f64>>;

    /// `L`, the rows of F of all landmarks, and the length of each row of `L⁻¹`.
    fn factor(&mut self, picked: &[usize]) -> Result<(Mat<f64>, Vec<f64>)>;
}

/// The sums of the folds, about one shift.
#[derive(Clone, Debug)]
pub struct FoldsPlan<'a> {
    /// `Σ u uᵀ` of the features of each fold, of which the lower triangle counts.
    pub scatters: Vec<MatRef<'a, f64>>,
    /// `L` with `K = L Lᵀ` over the landmarks, where the features are `L⁻¹k`.
    pub factor: Option<MatRef<'a, f64>>,
}

/// Some folds together: `C = Σ_f share_f · scatter_f − δ δᵀ`.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// One over the weight of all of them for each fold that is among them; 0 for the others.
    pub shares: Vec<f64>,
    /// The mean of the features, about the shift.
    pub delta: Vec<f64>,
}

/// What is factored: `A = S C S + D`, in the span of some landmarks.
#[derive(Clone, Copy, Debug)]
pub struct Factored<'a> {
    /// The diagonal of `S`; ones, if it is empty.
    pub scale: &'a [f64],
    /// The diagonal of `D`.
    pub diagonal: &'a [f64],
    /// The landmarks that are known, if not all of them are: the features of these alone lie in the span
    /// of their rows of `L`.
    pub known: Option<&'a [usize]>,
}

/// The sums of the folds on a device.
pub trait Folds: Debug + Send + Sync {
    /// `C b`.
    fn product(&self, of: &Together, b: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// The Cholesky factor of `A`; nothing where rounding leaves none.
    fn factor(&self, of: &Together, how: &Factored<'_>) -> Result<Option<Box<dyn Factor>>>;
}

/// `W = M G⁻ᵀ` with `MᵀA M = G Gᵀ` on a device, for an orthonormal basis `M` of the span of the known
/// landmarks: `WᵀA W = I`.
pub trait Factor: Send {
    /// The columns of `W`.
    fn basis(&self) -> usize;

    /// The least number on the diagonal of `G`.
    fn least(&self) -> f64;

    /// `Wᵀ a`.
    fn whiten(&mut self, a: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// `W q`.
    fn unwhiten(&mut self, q: MatRef<'_, f64>) -> Result<Mat<f64>>;
}

/// An encoder, as a device needs it: `z = columns((x − shift) · factor) · weights − offset`.
#[derive(Clone, Copy, Debug)]
pub struct EncodePlan<'a> {
    /// The map; its factor is part of the weights.
    pub features: FeaturePlan<'a>,
    /// What is taken off each input; nothing, if it is empty.
    pub shift: &'a [f64],
    /// What it is multiplied by then; nothing, if it is empty.
    pub factor: &'a [f64],
    /// Columns × dimensions.
    pub weights: MatRef<'a, f64>,
    /// What is taken off z.
    pub offset: &'a [f64],
}

/// An encoder on a device.
pub trait Encoding: Send {
    /// z of rows, row after row. The number of the first row that has an input that is not finite,
    /// if there is one.
    fn encode(&mut self, rows: Values<'_>, to: &mut Vec<f64>) -> Result<Option<usize>>;
}
