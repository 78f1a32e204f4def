//! The figures of CIFAR-100.

use sarl_report::{Axis, Figure, Panel, Steps, Style};

use super::{FALL, Fitted, PROBE, Place, RIVALS, STEPS, steps};
use crate::figures::{self, Places};
use crate::split::Split;
use crate::summary::Summary;
use crate::{Effort, Result};

pub fn dimension(encoders: &[Fitted]) -> Result<Figure> {
    let mut panel = Panel::new("", Axis::new("λ"), Axis::new("dimensions of z").whole());
    for (n, encoder) in encoders.iter().enumerate() {
        panel = panel
            .mark(Steps::new(encoder.name, steps(&encoder.model)?).style(Style::nth(n).unmarked()));
    }
    Ok(Figure::new("dimension", "CIFAR-100: optimal dimensionality")
        .caption("The number of dimensions of the optimal z against λ, as exact steps.")
        .panel(panel))
}

pub fn trade_off(encoders: &[Fitted], fronts: &[Vec<Place>], theirs: &[Summary]) -> Figure {
    let line = |front: &[Place]| front.iter().map(|p| (p.adversary, p.target)).collect();
    let lines: Vec<Places<'_>> =
        encoders.iter().zip(fronts).map(|(e, f)| (e.name, line(f))).collect();
    let points = RIVALS.iter().filter_map(|(name, _, _)| {
        let title = sarl_rivals::find(name)?.title();
        let mine = theirs.iter().filter(|s| s.name.starts_with(title) && !s.found.is_empty());
        Some((title, mine.map(|s| (s.adversary(PROBE), s.target(PROBE))).collect()))
    });
    let points: Vec<Places<'_>> = points.collect();
    let axes = ("adversary accuracy (fine class)", "target accuracy (coarse class)");
    Figure::new("trade-off", "CIFAR-100: trade-off between target and adversary")
        .caption("Accuracy of networks of two layers with 64 units on test pictures at rising leakage; mean over seeds, the band is one standard deviation. Rivals at several weights of hiding.")
        .panel(figures::trade_off(axes, &lines, &points, 0.01))
}

pub fn bounds(split: &Split<'_>, encoders: &[Fitted], effort: &Effort<'_>) -> Result<Figure> {
    // Closer together where the dimension falls.
    let even = (0..=STEPS).map(|i| i as f64 / STEPS as f64);
    let close = (1..FALL.2).map(|i| FALL.0 + (FALL.1 - FALL.0) * i as f64 / FALL.2 as f64);
    let mut lambdas: Vec<f64> = even.chain(close).collect();
    lambdas.sort_by(f64::total_cmp);
    let mut losses = Vec::new();
    for Fitted { name, model, .. } in encoders {
        effort.step(&format!("cifar100: losses of {name} against λ"))?;
        let loss = |&lambda: &f64| Ok(split.at(model, lambda)?.1);
        losses.push((*name, model, lambdas.iter().map(loss).collect::<Result<_>>()?));
    }
    figures::bounds(
        "CIFAR-100: adversary loss and its bounds",
        "Mean squared error of the adversary against λ, with the bounds of the training rows.",
        losses.into_iter(),
    )
}
