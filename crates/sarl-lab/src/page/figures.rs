//! The charts over the positions of the slider.

use sarl::{Bounds, Front, HeldOutLosses, Losses, Point};
use sarl_report::page::{Chart, Cursor};
use sarl_report::{
    Axis, Colour, Dash, Figure, Line, Panel, Points, Region, Rule, Shape, Spread, Steps, Style,
};

use super::explorer::utility_spread;
use super::level::Level;
use super::subject::Row;
use crate::error::Result;
use crate::goals::keeps;

/// Corners of the region, about.
const CORNERS: usize = 240;
/// How near to a breakpoint its two sides are looked at.
const BESIDE: f64 = 1e-7;

/// The names of the bounds.
const MOST: &str = "the most that can be kept";
const WITHOUT: &str = "kept when nothing leaks (γ max)";
const NOTHING: &str = "nothing leaks";
const ALL: &str = "leaked when all is kept (α min)";
/// More lost dimensions than this are not marked one by one.
const MOST_JUMPS: usize = 6;

/// Where a target loss and an adversary loss stand.
type Place<'a> = &'a dyn Fn(f64, f64) -> (f64, f64);

/// What the charts of one fit are drawn from.
pub struct Plot<'a> {
    front: &'a Front<'a>,
    levels: &'a [Level],
    /// Over λ.
    points: &'a [Row],
    /// The names of what is kept and of what is hidden.
    kept: &'a str,
    hidden: &'a str,
    /// Of everything that linear encoders reach.
    outline: Vec<Losses>,
    /// Both sides of every λ at which a dimension is lost.
    jumps: Vec<(f64, Point)>,
}

impl<'a> Plot<'a> {
    pub fn new(
        front: &'a Front<'a>,
        levels: &'a [Level],
        points: &'a [Row],
        (kept, hidden): (&'a str, &'a str),
    ) -> Result<Self> {
        let mut jumps = Vec::new();
        for at in front.breakpoints()? {
            for side in [at - BESIDE, at + BESIDE] {
                jumps.push((at, front.point(side.clamp(0.0, 1.0))?));
            }
        }
        let outline = front.region(CORNERS)?;
        Ok(Plot { front, levels, points, kept, hidden, outline, jumps })
    }

    fn bounds(&self) -> &Bounds {
        self.front.bounds()
    }

    fn cursor(&self, name: &str, x: impl Fn(&Point) -> f64, y: impl Fn(&Point) -> f64) -> Cursor {
        let of = |f: &dyn Fn(&Point) -> f64| self.levels.iter().map(|l| f(&l.point)).collect();
        Cursor { name: name.to_owned(), x: of(&x), y: of(&y) }
    }

    /// Utility against leakage.
    pub fn shares(&self) -> Chart {
        let b = self.bounds();
        let place = |jy: f64, js: f64| (b.leakage(js), b.utility(jy));
        // The region is one of sums, so several labels are shown by their means.
        let of = |labels: usize| if labels > 1 { ", mean of" } else { ":" };
        let first = self.levels.first().map(|l| &l.attributes);
        let (kept, hidden) = first.map_or((1, 1), |a| (a.target.len(), a.sensitive.len()));
        let x = format!(
            "leakage{} variation in {} that linear attackers explain",
            of(hidden),
            self.hidden
        );
        let y = format!("utility{} what is kept of {}, of what can be", of(kept), self.kept);
        let most = b.leakage(b.alpha_min);
        let least = b.utility(b.gamma_max);
        // With a ridge the front is not where the bounds are, and held-out rows may be elsewhere.
        let seen = self.levels.iter().flat_map(|l| {
            let held = l.heldout.map(|h| place(h.jy, h.js));
            [place(l.point.losses.jy, l.point.losses.js)].into_iter().chain(held)
        });
        let (left, right, lowest) = seen.fold((0.0_f64, most, least), |(left, right, low), p| {
            (left.min(p.0), right.max(p.0), low.min(p.1))
        });
        let width = (right - left).max(1e-6);
        let across = (left - 0.03 * width, right + 0.25 * width);
        // The whole front with a part of what lies below, or all from zero.
        let low = if lowest < 0.6 { lowest.min(0.0) - 0.02 } else { 1.6 * lowest - 0.6 };
        let low = low.min(0.95);
        let up = (low, 1.0 + 0.04 * (1.0 - low));
        let rules = [
            Rule::horizontal(MOST, b.utility(b.gamma_min)),
            Rule::horizontal(WITHOUT, least).look(Colour::Neutral, Dash::Dotted),
            Rule::vertical(NOTHING, 0.0).look(Colour::Neutral, Dash::Solid),
            Rule::vertical(ALL, most).look(Colour::Neutral, Dash::DashDot),
        ];
        let x = Axis::new(x).percent().range(across.0, across.1);
        let panel = Panel::new("", x, Axis::new(y).percent().range(up.0, up.1));
        let caption = match hidden > 1 || kept > 1 {
            false => {
                "Up is more kept, left is less leaked. No linear encoder of these features lies outside the shaded region; the encoders of this fit lie on its upper left edge, up to the gap."
            }
            true => {
                "Up is more kept, left is less leaked. No linear encoder of these features lies outside the shaded region. Encoders with a limit for each attribute lie inside: they keep the most for their limits, not for the mean."
            }
        };
        let cursor =
            self.cursor("the slider", |p| b.leakage(p.losses.js), |p| b.utility(p.losses.jy));
        let spread = |h: &HeldOutLosses| utility_spread(b, h);
        self.trade_off("front", caption, panel, (&place, &spread), rules, cursor)
    }

    /// Target loss against adversary loss.
    pub fn losses(&self) -> Chart {
        let b = self.bounds();
        let place = |jy: f64, js: f64| (js, jy);
        let x = Axis::new(format!("attacker's loss Js on {} (mean squared error)", self.hidden));
        let y = Axis::new(format!("target's loss Jy on {} (mean squared error)", self.kept));
        let ours = self.levels.iter().map(|l| l.point.losses.js);
        let least = ours.fold(b.alpha_min, f64::min);
        let (width, height) = (b.alpha_max - least, b.target_variance - b.gamma_min);
        let x = match width > 1e-6 * b.alpha_max {
            true => x.range(least - 0.25 * width, b.alpha_max + 0.03 * width),
            false => x,
        };
        let y = match height > 1e-9 * b.target_variance {
            true => y.range(b.gamma_min - 0.03 * height, b.target_variance),
            false => y,
        };
        let rules = [
            Rule::horizontal(MOST, b.gamma_min),
            Rule::horizontal(WITHOUT, b.gamma_max).look(Colour::Neutral, Dash::Dotted),
            Rule::vertical(NOTHING, b.alpha_max).look(Colour::Neutral, Dash::Solid),
            Rule::vertical(ALL, b.alpha_min).look(Colour::Neutral, Dash::DashDot),
        ];
        let caption = "The same front in mean squared errors, summed over label columns, as in the paper: down is more kept, right is less leaked.";
        let cursor = self.cursor("the slider", |p| p.losses.js, |p| p.losses.jy);
        let panel = Panel::new("", x, y);
        self.trade_off("losses", caption, panel, (&place, &|h| h.jy_sd), rules, cursor)
    }

    fn trade_off(
        &self,
        name: &str,
        caption: &str,
        panel: Panel,
        (place, spread): (Place<'_>, &dyn Fn(&HeldOutLosses) -> f64),
        rules: [Rule; 4],
        cursor: Cursor,
    ) -> Chart {
        let outline = self.outline.iter().map(|l| place(l.jy, l.js)).collect();
        let ours = self.levels.iter().map(|l| place(l.point.losses.jy, l.point.losses.js));
        // A goal of utility is certified by an adversary loss, which is no bound on this axis.
        let leak = |l: &&Level| !keeps(&l.goal);
        let dual = self.levels.iter().filter(leak);
        let dual = dual.map(|l| place(l.certificate.dual_bound, l.point.losses.js));
        let [most, without, nothing, all] = rules.map(Rule::named);
        let dashed = Style { colour: Colour::Series(2), dash: Dash::Dashed, marker: None };
        let mut panel = panel
            .mark(Region::new("what linear encoders reach", outline))
            .mark(most)
            .mark(nothing)
            .expert(without)
            .expert(all)
            .expert(Line::new("dual bound", dual.collect()).style(dashed));
        let held: Vec<(f64, f64, f64)> = self
            .levels
            .iter()
            .filter_map(|l| l.heldout)
            .map(|h| {
                let (x, y) = place(h.jy, h.js);
                (x, y, spread(&h))
            })
            .collect();
        if !held.is_empty() {
            panel = panel.mark(heldout(held.into_iter()));
        }
        panel = panel.mark(Line::new("training", ours.collect()).style(Style::nth(0).unmarked()));
        if (1..=2 * MOST_JUMPS).contains(&self.jumps.len()) {
            let at = self.jumps.iter().map(|(_, p)| place(p.losses.jy, p.losses.js)).collect();
            let mark = Points::new("a dimension is lost", at);
            panel = panel.expert(mark.look(Colour::Series(3), Shape::Diamond));
        }
        let figure = Figure::new(name, "What is kept against what leaks").caption(caption);
        Chart { cursors: vec![vec![cursor]], ..figure.panel(panel).into() }
    }

    /// Both losses over λ with their bounds, and the number of dimensions: the paper's figures.
    pub fn over_lambda(&self) -> Result<Chart> {
        let b = self.bounds();
        let panel =
            |title: String, of: fn(&Point) -> f64, held: fn(&HeldOutLosses) -> (f64, f64)| {
                let mut panel = Panel::new(title, weight_axis(), Axis::new("mean squared error"));
                let band: Vec<_> = self
                    .points
                    .iter()
                    .filter_map(|(p, h)| h.as_ref().map(|h| (p.lambda, held(h).0, held(h).1)))
                    .collect();
                if !band.is_empty() {
                    panel = panel.mark(heldout(band.into_iter()));
                }
                let training = self.points.iter().map(|(p, _)| (p.lambda, of(p))).collect();
                let style = Style::nth(0).unmarked();
                panel.mark(Line::new("training", training).style(style))
            };
        let neutral = |rule: Rule, dash: Dash| rule.look(Colour::Neutral, dash).named();
        let attacker = panel(
            format!("attacker's loss on {}", self.hidden),
            |p| p.losses.js,
            |h| (h.js, h.js_sd),
        )
        .mark(neutral(Rule::horizontal("nothing leaks (α max)", b.alpha_max), Dash::Solid))
        .mark(neutral(Rule::horizontal("all is kept (α min)", b.alpha_min), Dash::DashDot));
        let target =
            panel(format!("target's loss on {}", self.kept), |p| p.losses.jy, |h| (h.jy, h.jy_sd))
                .mark(neutral(Rule::horizontal("nothing leaks (γ max)", b.gamma_max), Dash::Dotted))
                .mark(neutral(Rule::horizontal("all is kept (γ min)", b.gamma_min), Dash::Dashed));
        let caption = "What the best linear attacker and the best linear predictor lose at every weight of the attacker, beside their bounds.";
        let figure = Figure::new("over-lambda", "Losses and dimensions over λ");
        let mut cursors = vec![
            vec![self.cursor("the slider", |p| p.lambda, |p| p.losses.js)],
            vec![self.cursor("the slider", |p| p.lambda, |p| p.losses.jy)],
        ];
        let steps = self.dimensions()?;
        let figure = match steps.first().filter(|first| steps.iter().all(|s| s.1 == first.1)) {
            Some((_, dim)) => {
                let noun = if *dim == 1.0 { "dimension is" } else { "dimensions are" };
                figure.caption(format!("{caption} At every λ {dim} {noun} best.")).columns(2)
            }
            None => figure
                .caption(format!(
                    "{caption} Each step of the dimensions is where one stops paying off."
                ))
                .columns(3),
        };
        let mut figure = figure.panel(attacker).panel(target);
        if figure.columns == 3 {
            figure = figure.panel(stairs(steps));
            cursors.push(vec![self.cursor("the slider", |p| p.lambda, |p| p.dim as f64)]);
        }
        Ok(Chart { cursors, ..figure.into() })
    }

    /// The optimal number of dimensions over λ, exactly.
    fn dimensions(&self) -> Result<Vec<(f64, f64)>> {
        let mut breaks = self.front.breakpoints()?;
        breaks.dedup();
        let starts: Vec<f64> = [0.0].into_iter().chain(breaks).collect();
        let ends = starts.iter().skip(1).copied().chain([1.0]);
        let mut steps = Vec::new();
        for (start, end) in starts.iter().zip(ends) {
            steps.push((*start, self.front.dimension((start + end) / 2.0)? as f64));
        }
        steps.extend(steps.last().map(|last| (1.0, last.1)));
        Ok(steps)
    }
}

fn stairs(steps: Vec<(f64, f64)>) -> Panel {
    let most = steps.iter().map(|s| s.1).fold(1.0, f64::max);
    let y = Axis::new("dimensions of z").whole().range(0.0, 1.1 * most);
    let style = Style { colour: Colour::Series(4), dash: Dash::Solid, marker: None };
    let steps = Steps::new("best number of dimensions", steps).style(style);
    Panel::new("dimensions", weight_axis(), y).mark(steps)
}

fn weight_axis() -> Axis {
    Axis::new("λ: weight of the attacker").range(0.0, 1.0)
}

/// A line with the spread over folds around it, from (x, y, sd).
fn heldout(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Line {
    let mut band: Vec<Spread> =
        points.clone().map(|(x, y, sd)| Spread { x, low: y - sd, high: y + sd }).collect();
    band.sort_by(|a, b| a.x.total_cmp(&b.x));
    Line::new("held-out, ± one sd over folds", points.map(|(x, y, _)| (x, y)).collect())
        .style(Style { marker: None, ..Style::nth(1) })
        .band(band)
}
