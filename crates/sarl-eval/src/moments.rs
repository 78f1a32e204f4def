//! Rows in memory with their labels, as the spectral core reads them.

use faer::MatRef;
use sarl::{Block, FeatureMap, Layout, Moments, MomentsOptions, Role};

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
