//! Rows in memory with their labels, as the spectral core reads them.

use faer::MatRef;
use sarl::{Block, Fit, FitParams, Fitted, Goal, Layout, Model, Ridge, Role};

use crate::task::Labels;

/// The labels of rows.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// What is to be kept; nothing stands for the features themselves.
    pub targets: &'a [Labels],
    /// What is to be hidden.
    pub sensitives: &'a [Labels],
    /// The names of targets and sensitives, by which goals speak of them; numbered where there are none.
    pub names: &'a [String],
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
    let (layout, block) = labelled(x, labels);
    let mut fit = Fit::new(params.clone(), layout)?.expecting(x.nrows() as u64)?;
    fit.sample(&block)?;
    fit.choose(stop)?;
    fit.push(&block)?;
    fit.finish()
}

/// The layout of rows with their labels, and all of them as one block.
fn labelled<'a>(x: MatRef<'a, f64>, labels: &Labelled<'a>) -> (Layout, Block<'a, f64>) {
    let mut layout = Layout::dense(x.ncols());
    let mut block = Block::new(x);
    let mut names = labels.names.iter();
    if labels.targets.is_empty() {
        layout = layout.keep_features();
    }
    for (role, labels) in [(Role::Target, labels.targets), (Role::Sensitive, labels.sensitives)] {
        for (i, label) in labels.iter().enumerate() {
            let name = names.next().cloned().unwrap_or_else(|| format!("{role:?}{i}"));
            (layout, block) = match label {
                Labels::Classes { codes, count } => {
                    (layout.class(&name, role, *count), block.class(codes))
                }
                Labels::Numbers(values) => (
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
    let labels = Labelled { targets: labels, sensitives: labels, names: &[], weights: None };
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
