//! Rows in memory with their labels, as the spectral core reads them.

use faer::MatRef;
use sarl::{Block, FeatureMap, Goal, Layout, Model, Moments, MomentsOptions, Reduced, Role};

use crate::task::Labels;

/// The labels of rows.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// What is to be kept; nothing stands for the features themselves.
    pub targets: &'a [Labels],
    /// What is to be hidden.
    pub sensitives: &'a [Labels],
    /// The weight of each row, if they differ.
    pub weights: Option<&'a [f64]>,
}

/// The moments of rows in memory, and the layout that they have.
///
/// # Errors
///
/// What the core says: values that are not finite, rows that do not match.
pub fn moments(
    map: &FeatureMap,
    x: MatRef<'_, f64>,
    labels: &Labelled<'_>,
    options: MomentsOptions,
) -> sarl::Result<(Layout, Moments)> {
    let mut layout = Layout::dense(x.ncols());
    let mut block = Block::new(x);
    if labels.targets.is_empty() {
        layout = layout.keep_features();
    }
    for (role, labels) in [(Role::Target, labels.targets), (Role::Sensitive, labels.sensitives)] {
        for (i, label) in labels.iter().enumerate() {
            let name = format!("{role:?}{i}");
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
    if let Some(weights) = labels.weights {
        block = block.weighted(weights);
    }
    let mut moments = map.moments(&layout, options)?;
    map.push(&mut moments, &block)?;
    Ok((layout, moments))
}

/// An encoder of full utility for this attribute: least squares onto it.
pub(crate) fn regression(x: MatRef<'_, f64>, labels: &Labels) -> sarl::Result<Model> {
    let map = FeatureMap::linear(x.ncols());
    let labels = std::slice::from_ref(labels);
    let labels = Labelled { targets: labels, sensitives: labels, weights: None };
    let options = MomentsOptions { folds: 1, ..Default::default() };
    let (layout, moments) = moments(&map, x, &labels, options)?;
    let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
    Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.0))
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
