//! The figures of the mixture.

use sarl::{Goal, Model};
use sarl_report::{Axis, Colour, Figure, Histogram, Panel, Points, Shape, even_edges};

use super::rivals::Rivals;
use super::{Front, STEPS};
use crate::Result;
use crate::figures::{self, Places};
use crate::sample::{Sample, codes};
use crate::split::Split;

pub fn trade_off(fronts: &[Front], ring: &Rivals) -> Figure {
    let line = |front: &Front| {
        (0..=STEPS).map(|i| (front.at(i, |p| p.adversary), front.at(i, |p| p.target))).collect()
    };
    let lines: Vec<Places<'_>> = fronts.iter().map(|f| (f.name, line(f))).collect();
    let axes = ("adversary accuracy (colour)", "target accuracy (shape)");
    Figure::new("trade-off", "Gaussian mixture: trade-off between target and adversary")
        .caption("Accuracy of logistic regression on fresh rows for λ from 0 to 1; mean over the drawn samples, the band is one standard deviation. Rivals at several weights of hiding.")
        .panel(figures::trade_off(axes, &lines, &ring.points(), 0.5))
}

pub fn bounds(fronts: &[Front], models: &[Model]) -> Result<Figure> {
    let encoder = |(front, model): (&'_ Front, _)| {
        (front.name, model, front.shown.iter().map(|p| p.loss).collect())
    };
    figures::bounds(
        "Gaussian mixture: adversary loss and its bounds",
        "Mean squared error of the adversary against λ, with the bounds of the training rows. A ridge keeps the kernel encoder a little away from the bounds.",
        fronts.iter().zip(models).map(encoder),
    )
}

pub fn histograms(split: &Split<'_>, models: &[Model]) -> Result<Figure> {
    let mut figure = Figure::new("embedding", "Gaussian mixture: the embedding by attribute")
        .caption("Histograms of the first dimension of z for the training rows, by colour (above) and shape (below).")
        .columns(4);
    let shown = [(0, 0.0), (0, 0.5), (0, 1.0), (1, 0.5)];
    for (attribute, names) in [("colour", ["blue", "red"]), ("shape", ["circle", "cross"])] {
        for (kind, lambda) in shown {
            let model = models[kind].retune(Goal::Lambda(lambda))?;
            let z = split.encode(&model)?.fit;
            let z: Vec<f64> = z.col(0).iter().copied().collect();
            let edges = even_edges(z.iter().copied(), 40);
            let labels = if attribute == "colour" { &split.train.s } else { &split.train.y };
            let title = format!("{attribute}, {}, λ = {lambda}", ["linear", "kernel"][kind]);
            let mut panel = Panel::new(title, Axis::new("z"), Axis::new("rows"));
            for (class, name) in names.into_iter().enumerate() {
                let of = codes(labels).iter().zip(&z).filter(|(c, _)| **c as usize == class);
                let values: Vec<f64> = of.map(|(_, z)| *z).collect();
                let series = if attribute == "colour" { class } else { class + 2 };
                panel = panel.mark(Histogram::of(name, &values, edges.clone(), series));
            }
            figure = figure.panel(panel);
        }
    }
    Ok(figure)
}

pub fn scatter(sample: &Sample) -> Figure {
    let mut panel = Panel::new("", Axis::new("x₁"), Axis::new("x₂"));
    let (y, s) = (codes(&sample.y), codes(&sample.s));
    for (shape, marker, name) in [(0, Shape::Circle, "circle"), (1, Shape::Cross, "cross")] {
        for (colour, hue) in ["blue", "red"].into_iter().enumerate() {
            let rows =
                (0..sample.rows().min(1000)).filter(|&i| y[i] == shape && s[i] as usize == colour);
            let points = rows.map(|i| (sample.x[(i, 0)], sample.x[(i, 1)])).collect();
            let mark = Points::new(format!("{hue} {name}"), points);
            panel = panel.mark(mark.look(Colour::Series(colour), marker));
        }
    }
    Figure::new("data", "Gaussian mixture: the sample")
        .caption("The first two of three coordinates of the first thousand training rows; the third is noise.")
        .panel(panel)
}
