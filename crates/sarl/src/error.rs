//! What can go wrong, and what it says.

use std::fmt;

/// The result of everything fallible here.
pub type Result<T> = std::result::Result<T, Error>;

/// The part of a row in which something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A feature column, counted from 0.
    Feature(usize),
    /// A column of the named label, counted from 0.
    Label {
        /// The label's name.
        name: String,
        /// The column within the label.
        column: usize,
    },
    /// The sample weight.
    Weight,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Feature(column) => write!(f, "feature column {column}"),
            Place::Label { name, column } => write!(f, "label `{name}` (column {column})"),
            Place::Weight => write!(f, "the sample weight"),
        }
    }
}

/// Everything that the library refuses, with what it found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// NaN or an infinity where a number is needed. Rows are counted from 0 over all blocks.
    #[error("{place} is {value} in row {row}; every value must be finite")]
    NotFinite {
        /// The row, counted from 0 over all blocks.
        row: u64,
        /// Where in the row.
        place: Place,
        /// What was there.
        value: f64,
    },
    /// Squares of the values do not fit a double.
    #[error("the second moments of {place} overflow; rescale the column")]
    Overflow {
        /// The column at fault.
        place: Place,
    },
    /// A block does not have the shape that the layout promises.
    #[error("{what}: found {found}, expected {expected}")]
    Shape {
        /// What was counted.
        what: String,
        /// How many there were.
        found: usize,
        /// How many there should have been.
        expected: usize,
    },
    /// A block brings classes where numbers are expected, or the other way round.
    #[error("label `{name}` holds {found}, expected {expected}")]
    LabelKind {
        /// The label's name.
        name: String,
        /// What the block brought.
        found: &'static str,
        /// What the layout says.
        expected: &'static str,
    },
    /// A class index beyond the number of classes.
    #[error("{what} has class {class} in row {row}, but only {classes} classes were declared")]
    Class {
        /// The label or coded feature.
        what: String,
        /// The row, counted from 0 over all blocks.
        row: u64,
        /// The class found.
        class: u32,
        /// The number of classes declared.
        classes: usize,
    },
    /// A device does not do its part.
    #[error("{device}: {message}")]
    Device {
        /// Its name.
        device: String,
        /// What it said.
        message: String,
    },
    /// A negative sample weight.
    #[error("the weight in row {row} is {weight}; weights must not be negative")]
    NegativeWeight {
        /// The row, counted from 0 over all blocks.
        row: u64,
        /// The weight found.
        weight: f64,
    },
    /// Covariances need two rows of positive weight.
    #[error("{rows} rows with a positive weight: at least 2 are needed")]
    TooFewRows {
        /// How many rows there were.
        rows: u64,
    },
    /// A label that never changes can be neither kept nor hidden.
    #[error("label `{name}` takes a single value in all rows: there is nothing to predict")]
    ConstantLabel {
        /// The label's name.
        name: String,
    },
    /// An attribute that each class of the target fixes is hidden already.
    #[error(
        "label `{name}` takes a single value in the rows of each class of the target that counts: \
         there is nothing to predict beside the target"
    )]
    ConstantWithin {
        /// The label's name.
        name: String,
    },
    /// No feature varies.
    #[error("every feature is constant up to rounding: there is nothing to encode")]
    NoVariation,
    /// More columns than a layout may have.
    #[error("more than {most} columns")]
    TooManyColumns {
        /// The most.
        most: usize,
    },
    /// More class-coded features than a layout may have.
    #[error("more than {most} class-coded features")]
    TooManyCoded {
        /// The most.
        most: usize,
    },
    /// A layout without features.
    #[error("there are no features")]
    NoFeatures,
    /// A label without columns.
    #[error("label `{name}` has no columns")]
    NoColumns {
        /// The label's name.
        name: String,
    },
    /// Columns of a label that cannot be made of those that are added up.
    #[error("the columns of label `{name}` are not those that are added up for it")]
    MadeOfOthers {
        /// The label's name.
        name: String,
    },
    /// The features themselves can only be kept.
    #[error("the features themselves cannot be the sensitive label")]
    FeaturesHidden,
    /// Nothing is to be kept, or nothing to be hidden.
    #[error("there is no {role} label")]
    NoLabel {
        /// What kind of label is missing.
        role: &'static str,
    },
    /// Two classes were given the same new number.
    #[error("{what}: two classes cannot become class {class}")]
    ClassTwice {
        /// The label or the class-coded feature.
        what: String,
        /// The class.
        class: u32,
    },
    /// Moments that cannot be added.
    #[error("these moments cannot be merged: {0}")]
    Merge(Mismatch),
    /// The folds of rows depend on keys that they do not have.
    #[error("rows have no keys: {what} need one for each row")]
    NoKeys {
        /// What needs them.
        what: &'static str,
    },
    /// An argument outside its range.
    #[error("{name} is {value}: {expected}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What would do.
        expected: &'static str,
    },
    /// The goal cannot be met by any encoder of this kind; the range is what can be.
    #[error("{goal} of {asked} cannot be reached: the reachable range is {low} to {high}")]
    Unreachable {
        /// Which goal.
        goal: &'static str,
        /// The value asked for.
        asked: f64,
        /// The least value that can be reached.
        low: f64,
        /// The greatest value that can be reached.
        high: f64,
    },
    /// A limit for a label that there is not.
    #[error("there is no {role} `{name}`: expected {}", either(known))]
    UnknownLabel {
        /// What kind of label was meant.
        role: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// What is to be erased and what is to be preserved share directions of the features.
    #[error(
        "`{hidden}` cannot be erased while the covariance with `{kept}` is preserved: {shared} of \
         the {directions} directions to erase belong to the target too"
    )]
    Overlap {
        /// The sensitive label that has most of a shared direction.
        hidden: String,
        /// The target that has most of it.
        kept: String,
        /// How many directions are shared.
        shared: usize,
        /// How many are to be erased.
        directions: usize,
    },
    /// A class whose rows vary in too few directions to be given the covariance of the others.
    #[error(
        "class {class} of `{name}`, counted from 0, has {rows} rows that vary in {found} of the \
         {expected} directions in which rows vary within classes: no map gives it the covariance of \
         the others; it needs more rows, or fewer features"
    )]
    FlatClass {
        /// The label.
        name: String,
        /// The class, counted from 0.
        class: u32,
        /// Its rows of positive weight.
        rows: u64,
        /// The directions in which they vary.
        found: usize,
        /// Those of all classes.
        expected: usize,
    },
    /// A row of a class that had no rows in the fit.
    #[error("class {class} of `{name}`, counted from 0, had no rows in the fit")]
    UnknownClass {
        /// The label.
        name: String,
        /// The class, counted from 0.
        class: u32,
    },
    /// The criterion does not suit the labels.
    #[error("{criterion} {problem}")]
    Criterion {
        /// Its name.
        criterion: &'static str,
        /// What is in its way.
        problem: &'static str,
    },
    /// Values of a kernel, or products of rows, do not fit a double.
    #[error("{what} overflow; rescale the columns")]
    TooLarge {
        /// What was computed.
        what: &'static str,
    },
    /// z does not fit a double.
    #[error("z overflows: values of the rows or of the model are too large")]
    EncodingOverflow,
    /// No landmark says anything.
    #[error("the kernel is zero on all points")]
    ZeroKernel,
    /// The median heuristic needs rows that differ.
    #[error("all sampled rows are equal: gamma cannot be chosen")]
    EqualRows,
    /// Held-out losses need folds that were kept apart.
    #[error(
        "held-out losses need at least 2 folds with 2 rows each; the moments were accumulated in one"
    )]
    OneFold,
    /// Held-out losses need rows in each fold.
    #[error(
        "held-out losses need at least 2 folds with 2 rows each; fold {} has {rows}",
        and(folds)
    )]
    FewInFold {
        /// The folds, taken together.
        folds: Vec<usize>,
        /// Their rows.
        rows: u64,
    },
    /// A matrix decomposition did not converge.
    #[error("the {what} did not converge")]
    NoConvergence {
        /// The decomposition.
        what: &'static str,
    },
    /// The features depend on each other so closely that z cannot be computed from what a model
    /// file stores.
    #[error(
        "the features are too nearly dependent for z to be computed to six digits, so nothing can \
         be guaranteed about it"
    )]
    Unstable,
    /// The exact kernel method on more rows than its memory allows.
    #[error("the exact kernel method needs memory for the square of {rows} rows; it takes {most}")]
    TooManyRows {
        /// How many rows there were.
        rows: u64,
        /// How many it takes.
        most: usize,
    },
    /// The fit needs more memory than there may be.
    #[error("the fit is too large: {0}")]
    Memory(sarl_memory::Exceeded),
    /// A kernel that random features cannot stand for.
    #[error("there are no random Fourier features of a polynomial kernel; use landmarks")]
    NoRandomFeatures,
    /// No cells that keep anything of the target can be expected to meet the limit.
    #[error(
        "no cells that keep anything of the target can be certified to an {goal} of {asked}: on so \
         many rows the least is about {least:.3}"
    )]
    Uncertifiable {
        /// What is limited.
        goal: &'static str,
        /// The limit.
        asked: f64,
        /// The least that can be expected.
        least: f64,
    },
    /// The cells that were chosen do not meet the limit on the rows that certify them.
    #[error(
        "the cells that were chosen are certified to an {goal} of {reached:.4}, not to the limit"
    )]
    NotCertified {
        /// What is limited.
        goal: &'static str,
        /// What they are certified to.
        reached: f64,
    },
    /// No cells keep anything of the target.
    #[error("no cells that keep anything of the target were found on {rows} rows")]
    NoCells {
        /// The rows that cells were sought on.
        rows: u64,
    },
    /// Cells are certified against adversaries that name a group.
    #[error("`{name}` holds numbers: a guarantee against every adversary needs groups")]
    NoGroups {
        /// The sensitive attribute.
        name: String,
    },
    /// Cells are chosen by what they keep.
    #[error("cells are chosen by what they keep of a target: there is none")]
    NoTarget,
    /// Bounds on counts hold for rows that count once.
    #[error(
        "rows have weights: a guarantee against every adversary holds for rows that count once"
    )]
    Weighted,
    /// The caller asked for an end.
    #[error("interrupted")]
    Interrupted,
    /// The encoder was fitted without what this needs.
    #[error("{0}")]
    Unavailable(&'static str),
    /// Bytes that are not a file of ours, or a damaged one.
    #[error("not a valid {kind} file: {problem}")]
    File {
        /// The kind of file expected.
        kind: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// Why moments cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// They are moments of different columns.
    #[error("their columns differ")]
    Columns,
    /// They keep their rows apart in different ways.
    #[error("their folds, seeds or precisions differ")]
    Options,
    /// The folds of their rows depend on different things.
    #[error("the folds of their rows are not decided in the same way (position, content or key)")]
    FoldBy,
    /// Their labels became different columns.
    #[error("the columns of their labels differ")]
    Labels,
    /// Their kernels have different landmarks.
    #[error("their landmarks differ")]
    Landmarks,
    /// A kernel has no landmarks yet.
    #[error("a kernel has no landmarks yet")]
    NotChosen,
}

/// `0 and 3`.
fn and(folds: &[usize]) -> String {
    folds.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ")
}

/// `a`, `b` or `c`.
fn either(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

impl Error {
    /// Whether more rows would have been enough: a part of the data has too few of them, or a label
    /// or every feature is constant there.
    pub fn is_about_few_rows(&self) -> bool {
        matches!(
            self,
            Error::OneFold
                | Error::FewInFold { .. }
                | Error::TooFewRows { .. }
                | Error::ConstantLabel { .. }
                | Error::ConstantWithin { .. }
                | Error::NoVariation
        )
    }

    pub(crate) fn shape(what: impl Into<String>, found: usize, expected: usize) -> Self {
        Error::Shape { what: what.into(), found, expected }
    }
}
