//! Fairness between groups, drawn: every measure of every hidden attribute, from the raw features and
//! from z.

use sarl_eval::{Fairness, Judged};
use sarl_report::page::Chart;
use sarl_report::{Axis, Colour, Cross, Figure, Panel, Points, Rule, Shape};

use super::audit::Audited;
use crate::fairness::between;
use crate::words::capital;

/// How far z and the raw features stand off the name of their measure, so that intervals do not overlap.
const OFF: f64 = 0.16;

impl Audited<'_> {
    /// A panel for each hidden attribute.
    pub(super) fn fairness(&self) -> Option<Chart> {
        if self.z.fairness.is_empty() {
            return None;
        }
        let caption = "The largest gap between groups of the best predictor of the target, from the raw features and from z, on test rows with 95 % intervals. To the left is fairer.";
        let mut figure = Figure::new("fairness", "Fairness of predictions between groups")
            .caption(caption)
            .columns(self.z.fairness.len().min(2));
        for judged in &self.z.fairness {
            figure = figure.panel(panel(judged, capital(&between(judged, self.attributes))));
        }
        Some(figure.into())
    }
}

fn panel(judged: &Judged, title: String) -> Panel {
    // The first stands at the top.
    let mut names: Vec<&str> = judged.fairness.gaps.each().map(|(name, _)| name).collect();
    names.reverse();
    let units = if judged.positive.is_empty() { ", in standard deviations" } else { "" };
    let x = Axis::new(format!("largest gap{units} (0 is fair)")).least(0.1);
    let y = Axis::new("measure").categories(names);
    let mut panel = Panel::new(title, x, y).mark(Rule::vertical("fair", 0.0));
    if let Some(raw) = &judged.raw {
        let mark = dots("raw features", raw, -OFF).look(Colour::Series(4), Shape::Diamond);
        panel = panel.mark(mark);
    }
    let off = if judged.raw.is_some() { OFF } else { 0.0 };
    panel.mark(dots("z", &judged.fairness, off).look(Colour::Series(0), Shape::Circle))
}

fn dots(name: &str, fair: &Fairness, off: f64) -> Points {
    let gaps: Vec<f64> = fair.gaps.each().map(|(_, gap)| *gap).collect();
    let last = gaps.len().saturating_sub(1);
    let place = |(i, gap): (usize, &f64)| (*gap, (last - i) as f64 + off);
    let ends = fair.ci.each().map(|(_, [low, high])| Cross { x: Some((*low, *high)), y: None });
    let tips = gaps.iter().zip(fair.ci.each());
    let tips = tips.map(|(gap, (_, [low, high]))| format!("{gap:.3} ({low:.3} to {high:.3})"));
    Points::new(name, gaps.iter().enumerate().map(place).collect())
        .errors(ends.collect())
        .tips(tips.collect())
        .size(5.0)
}
