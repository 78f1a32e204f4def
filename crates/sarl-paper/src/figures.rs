//! Figures that several experiments have.

use sarl::Model;
use sarl_lab::Mean;
use sarl_report::{
    Axis, Bars, Colour, Dash, Figure, Line, Panel, Points, Rule, Shape, Spread, Style,
};

use crate::Result;
use crate::split::Loss;
use crate::summary::Summary;

/// A name and its places: the adversary's accuracy and the target's.
pub type Places<'a> = (&'a str, Vec<(Mean, Mean)>);

/// Ours as lines and rivals as points, by the adversary's accuracy (across) and the target's (up).
pub fn trade_off(
    axes: (&str, &str),
    lines: &[Places<'_>],
    points: &[Places<'_>],
    guess: f64,
) -> Panel {
    let mut panel = Panel::new("", Axis::new(axes.0).percent(), Axis::new(axes.1).percent());
    let places = |of: &[(Mean, Mean)]| of.iter().map(|(x, y)| (x.mean, y.mean)).collect::<Vec<_>>();
    for (n, (name, of)) in lines.iter().enumerate() {
        let spread =
            |(x, y): &(Mean, Mean)| Spread { x: x.mean, low: y.mean - y.sd, high: y.mean + y.sd };
        let band = rising(of.iter().map(spread));
        panel = panel.mark(Line::new(*name, places(of)).style(Style::nth(n)).band(band));
    }
    for (n, (name, of)) in points.iter().enumerate().filter(|(_, p)| !p.1.is_empty()) {
        panel = panel.mark(dots(name, places(of), lines.len() + n));
    }
    panel.mark(Rule::vertical("guessing", guess))
}

/// Points in the look of the nth series.
pub fn dots(name: &str, places: Vec<(f64, f64)>, nth: usize) -> Points {
    let style = Style::nth(nth);
    let shape = style.marker.unwrap_or(Shape::Circle);
    Points::new(name, places).look(style.colour, shape).size(5.0)
}

/// A band needs its places in order; those that lie too close together are left out.
fn rising(band: impl Iterator<Item = Spread>) -> Vec<Spread> {
    let mut band: Vec<Spread> = band.collect();
    band.sort_by(|a, b| a.x.total_cmp(&b.x));
    band.dedup_by(|next, last| next.x - last.x < 0.005);
    band
}

/// The adversary's loss over λ with its bounds: the paper's figures 4 and 8.
pub fn bounds<'a>(
    title: &str,
    caption: &str,
    encoders: impl Iterator<Item = (&'a str, &'a Model, Vec<Loss>)>,
) -> Result<Figure> {
    let mut figure = Figure::new("bounds", title).caption(caption).columns(2);
    for (name, model, losses) in encoders {
        let bounds = *model.front()?.bounds();
        let line = |of: fn(&Loss) -> f64| losses.iter().map(|l| (l.lambda, of(l))).collect();
        let panel = Panel::new(name, Axis::new("λ"), Axis::new("adversary MSE"))
            .mark(Line::new("α train", line(|l| l.train)).style(Style::nth(0)))
            .mark(Line::new("α test", line(|l| l.test)).style(Style::nth(1)))
            .mark(Rule::horizontal("α min", bounds.alpha_min))
            .mark(Rule::horizontal("α max", bounds.alpha_max).look(Colour::Neutral, Dash::Dotted));
        figure = figure.panel(panel);
    }
    Ok(figure)
}

/// One method of a table, for its figure: shares, and the paper's percentages.
pub struct Bar {
    name: String,
    target: Mean,
    adversary: Mean,
    worst: Mean,
    paper: Option<(f64, f64)>,
}

impl Bar {
    /// Of a summary, with the probes of the target and of what is hidden.
    pub fn new(
        name: &str,
        of: &Summary,
        (target, hidden): (&str, &str),
        paper: Option<(f64, f64)>,
    ) -> Self {
        let (target, adversary) = (of.target(target), of.adversary(hidden));
        Bar { name: name.to_owned(), target, adversary, worst: of.worst(), paper }
    }
}

/// Target and adversary of each method, beside the paper's.
pub fn bars(title: &str, bars: &[Bar], chance: f64) -> Figure {
    let panel = |title: &str, ours: fn(&Bar) -> Mean, paper: fn((f64, f64)) -> f64| {
        let names = bars.iter().map(|b| b.name.clone());
        let mut spreads: Vec<f64> = bars.iter().map(|b| ours(b).sd).collect();
        if spreads.iter().all(|s| *s == 0.0) {
            spreads.clear();
        }
        let paper = bars.iter().map(|b| b.paper.map_or(f64::NAN, |p| paper(p) / 100.0));
        Panel::new(title, Axis::new("").categories(names), Axis::new("accuracy").percent())
            .mark(
                Bars::new("measured", bars.iter().map(|b| ours(b).mean).collect()).errors(spreads),
            )
            .mark(Bars::new("paper", paper.collect()).colour(Colour::Series(4)))
    };
    let worst = Bars::new("measured, worst case", bars.iter().map(|b| b.worst.mean).collect());
    let hidden = panel("adversary", |b| b.adversary, |p| p.1)
        .mark(worst.colour(Colour::Series(1)))
        .mark(Rule::horizontal("guessing", chance));
    Figure::new("methods", title)
        .caption("Accuracy on test rows; whiskers are one standard deviation over seeds or shuffles. The worst case is the best of all probes.")
        .columns(2)
        .panel(panel("target", |b| b.target, |p| p.0))
        .panel(hidden)
}
