//! What the linear encoder of Adult looks at: figure 6 of the paper.

use sarl::Model;
use sarl_report::{Axis, Bars, Figure, Legend, Panel};

use crate::tables::Columns;

/// The Euclidean length of the weights of each semantic feature, per standard deviation.
pub fn per_feature(model: &Model, columns: &Columns) -> Vec<(String, f64)> {
    let encoder = model.encoder();
    let weights = encoder.weights();
    let mut squares = vec![0.0; columns.names.len()];
    for (j, &feature) in columns.feature.iter().enumerate().take(weights.nrows()) {
        squares[feature] += weights.row(j).iter().map(|w| w * w).sum::<f64>();
    }
    columns.names.iter().cloned().zip(squares.into_iter().map(f64::sqrt)).collect()
}

pub fn share_of(name: &str, weights: &[(String, f64)]) -> Option<f64> {
    let largest = weights.iter().map(|w| w.1).fold(0.0, f64::max);
    weights.iter().find(|w| w.0 == name).map(|w| w.1 / largest)
}

pub fn figure(weights: &[(String, f64)]) -> Figure {
    let names = weights.iter().map(|w| w.0.clone());
    let mut bars = Bars::new("weight", weights.iter().map(|w| w.1).collect());
    if let Some(gender) = weights.iter().position(|w| w.0 == "gender") {
        bars = bars.highlight(gender);
    }
    let panel =
        Panel::new("", Axis::new("").categories(names), Axis::new("weight per standard deviation"));
    Figure::new("weights", "Adult: what the linear encoder looks at")
        .caption("Euclidean length of the weights of each attribute's columns, at unit variance; gender highlighted where it is a feature.")
        .legend(Legend::Hidden)
        .panel(panel.mark(bars))
}
