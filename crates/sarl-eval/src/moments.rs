//! Rows in memory with their labels, as the spectral core reads them.

use faer::MatRef;
use sarl::{Block, FeatureMap, Goal, Layout, Model, Moments, MomentsOptions, Reduced, Role, Wide};

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
    let (layout, block) = labelled(x, labels);
    let mut moments = map.moments(&layout, options)?;
    map.push(&mut moments, &block)?;
    Ok((layout, moments))
}

/// The map, the layout and the moments of a linear encoder of rows in memory: in the span of the
/// rows, where there are fewer of them than features.
///
/// # Errors
///
/// What the core says: values that are not finite, rows that do not match.
pub fn linear_moments(
    x: MatRef<'_, f64>,
    labels: &Labelled<'_>,
    options: MomentsOptions,
) -> sarl::Result<(FeatureMap, Layout, Moments)> {
    if !Wide::suits(x.nrows() as u64, x.ncols()) {
        let map = FeatureMap::linear(x.ncols());
        let (layout, moments) = moments(&map, x, labels, options)?;
        return Ok((map, layout, moments));
    }
    let (layout, block) = labelled(x, labels);
    let mut wide = Wide::new(layout.clone(), options, x.nrows())?;
    wide.push(&block)?;
    let spanned = wide.spanned(false)?;
    Ok((spanned.map, layout, spanned.moments))
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
    let options = MomentsOptions { folds: 1, ..Default::default() };
    let (map, layout, moments) = linear_moments(x, &labels, options)?;
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
