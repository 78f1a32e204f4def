//! Rows in memory with their labels, as the spectral core reads them.

use faer::{Mat, MatRef};
use sarl::{Block, Fit, FitParams, Fitted, FoldBy, Goal, Layout, Model, Ridge, Role};

use crate::task::Labels;

/// The labels of rows.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// What is to be kept; nothing stands for the features themselves.
    pub targets: &'a [Labels],
    /// Whether the features are kept, and attributes hidden beside the targets.
    pub keeps_features: bool,
    /// What is to be hidden.
    pub sensitives: &'a [Labels],
    /// The names of targets and sensitives, by which goals speak of them; numbered where there are none.
    pub names: &'a [String],
    /// Of targets and sensitives the kernel that stands for each, by its name; numbers that follow
    /// each other with one name share it. None where there are none.
    pub kernels: &'a [Option<String>],
    /// The weight of each row, if they differ.
    pub weights: Option<&'a [f64]>,
}

/// Fits encoders on rows in memory, all of which are numbers that come as they are mapped.
/// `stop` is asked now and then whether to give up.
///
/// # Errors
///
/// What the core says: values that are not finite, rows that do not match.
pub fn fit(
    x: MatRef<'_, f64>,
    labels: &Labelled<'_>,
    params: &FitParams,
    stop: &dyn Fn() -> bool,
) -> sarl::Result<Fitted> {
    let kernels = kernels(labels);
    let (layout, block) = labelled(x, labels, &kernels);
    let mut fit = Fit::new(unkeyed(params), layout)?.expecting(x.nrows() as u64)?;
    fit.sample(&block)?;
    fit.choose(stop)?;
    fit.push(&block)?;
    fit.finish()
}

/// The same for rows without keys, which folds of these rows cannot depend on.
fn unkeyed(params: &FitParams) -> FitParams {
    let fold_by = match params.fold_by {
        FoldBy::Key => FoldBy::Position,
        by => by,
    };
    FitParams { fold_by, ..params.clone() }
}

/// The numbers of each kernel, at the place of its first label; nothing at the places of the others.
fn kernels(labels: &Labelled<'_>) -> Vec<Option<Mat<f64>>> {
    let all: Vec<&Labels> = labels.targets.iter().chain(labels.sensitives).collect();
    let name = |i: usize| labels.kernels.get(i).and_then(Option::as_ref);
    let matrix = |i: usize| {
        let own = name(i)?;
        if i > 0 && name(i - 1) == Some(own) {
            return None;
        }
        let columns = (i..all.len()).take_while(|&j| name(j) == Some(own));
        let columns = columns.filter_map(|j| match all[j] {
            Labels::Numbers(values) => Some(values),
            Labels::Classes { .. } => None,
        });
        let columns: Vec<&Vec<f64>> = columns.collect();
        let rows = columns.first()?.len();
        Some(Mat::from_fn(rows, columns.len(), |row, j| columns[j][row]))
    };
    (0..all.len()).map(matrix).collect()
}

/// The layout of rows with their labels, and all of them as one block.
fn labelled<'a>(
    x: MatRef<'a, f64>,
    labels: &Labelled<'a>,
    kernels: &'a [Option<Mat<f64>>],
) -> (Layout, Block<'a, f64>) {
    let mut layout = Layout::dense(x.ncols());
    let mut block = Block::new(x);
    let mut at = 0;
    if labels.targets.is_empty() || labels.keeps_features {
        layout = layout.keep_features();
    }
    for (role, of_role) in [(Role::Target, labels.targets), (Role::Sensitive, labels.sensitives)] {
        for (i, label) in of_role.iter().enumerate() {
            let name = labels.names.get(at).cloned().unwrap_or_else(|| format!("{role:?}{i}"));
            let kernel = labels.kernels.get(at).and_then(Option::as_ref);
            let numbers = kernels.get(at).and_then(Option::as_ref);
            at += 1;
            (layout, block) = match (kernel, numbers, label) {
                (Some(kernel), Some(numbers), _) => {
                    let layout = layout.kernel(kernel, role, numbers.ncols());
                    (layout, block.number(numbers.as_ref()))
                }
                (Some(_), None, Labels::Numbers(_)) => (layout, block),
                (_, _, Labels::Classes { codes, count }) => {
                    (layout.class(&name, role, *count), block.class(codes))
                }
                (None, _, Labels::Numbers(values)) => (
                    layout.number(&name, role, 1),
                    block.number(MatRef::from_column_major_slice(values, values.len(), 1)),
                ),
            };
        }
    }
    match labels.weights {
        Some(weights) => (layout, block.weighted(weights)),
        None => (layout, block),
    }
}

/// An encoder of full utility for this attribute: least squares onto it.
pub(crate) fn regression(x: MatRef<'_, f64>, labels: &Labels) -> sarl::Result<Model> {
    let labels = std::slice::from_ref(labels);
    let labels = Labelled {
        targets: labels,
        sensitives: labels,
        names: &[],
        keeps_features: false,
        kernels: &[],
        weights: None,
    };
    let params = FitParams { folds: 1, ridge: Ridge::Fixed(0.0), ..Default::default() };
    fit(x, &labels, &params, &|| false)?.solve(Goal::Lambda(0.0))
}

/// The share of the variance of an attribute that least squares explain: the leakage of the
/// certificates, of any representation.
///
/// # Errors
///
/// What the core says: values that are not finite, rows that do not match.
pub fn explained(x: MatRef<'_, f64>, labels: &Labels) -> sarl::Result<f64> {
    Ok(if x.ncols() == 0 { 0.0 } else { regression(x, labels)?.point().leakage })
}
