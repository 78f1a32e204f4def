//! Audits in the report: every probe before and after, and along the front.

use faer::MatRef;
use sarl::{FitParams, Goal, Model};
use sarl_eval::{Attributes, Finding, Probe, Side, Trial, blind, probes};
use sarl_report::page::{Chart, Cursor, Holds, Position, Section};
use sarl_report::{Axis, Colour, Cross, Figure, Panel, Points, Rule, Shape, Style};

use super::attackers::score;
use super::verdict::share;
use crate::comparison::{Comparison, Probing, Sides, leakages, retuned};
use crate::error::Result;
use crate::findings;
use crate::parts::Parts;
use crate::watch::Watch;
use crate::words::{attacker, percent};

/// What attackers predict from encoders along one front, and from the raw features.
pub struct AuditCurve {
    /// Whose front it is.
    pub who: String,
    /// What they predict.
    pub attributes: Attributes,
    /// From the raw features.
    pub control: Option<Side>,
    /// By the leakage that each has on the rows that it was fitted on.
    pub levels: Vec<(f64, Side)>,
    /// Other methods in the same units as the chart of accuracies.
    pub rivals: Vec<(String, Vec<(f64, f64)>)>,
    /// Which rows were used for what.
    pub rows: String,
}

/// One of them in detail.
pub struct Audited<'a> {
    /// What was predicted.
    pub attributes: &'a Attributes,
    /// From the raw features.
    pub control: Option<&'a Side>,
    /// From z.
    pub z: &'a Side,
    /// Which encoder it is.
    pub what: String,
    /// Its leakage.
    pub leakage: f64,
    /// Which rows were used for what.
    pub rows: &'a str,
}

/// The least that an axis of accuracies covers: less is noise.
pub(super) const SPAN: f64 = 0.05;
/// A point with its error bars.
type Placed = ((f64, f64), Cross);

impl AuditCurve {
    /// What attackers predict from the raw features, and along the front of a model of full utility,
    /// at several leakages and at a goal, if there is one.
    pub fn along(
        comparison: &Comparison<'_>,
        model: &Model,
        goal: Option<Goal>,
        seeds: &[u64],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let attributes = comparison.attributes;
        let audit = |z: &Sides<MatRef<'_, f64>>, what: String| -> Result<Side> {
            watch.check()?;
            watch.step(&what, 0, 0);
            let threads = rayon::current_num_threads();
            let scored = comparison.score(z, 0.0, seeds, threads, &|| watch.stop())?;
            Ok(Side::favouring(scored.found, attributes, comparison.favourable))
        };
        let goals: Vec<Goal> =
            leakages(model, &[]).into_iter().map(Goal::Leakage).chain(goal).collect();
        let steps = goals.len() + 1;
        let raw = audit(&comparison.rows, format!("1 of {steps}: attackers on the raw features"))?;
        let mut levels = Vec::new();
        for (step, goal) in goals.into_iter().enumerate() {
            let model = retuned(model, goal)?;
            let encoder = model.encoder();
            let z = comparison.rows.encoded(|x| encoder.encode(x))?;
            let leakage = model.point().leakage;
            let what = format!("{} of {steps}: attackers at a leakage of {leakage:.4}", step + 2);
            levels.push((leakage, audit(&z.view(), what)?.against(&raw, attributes)));
        }
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(AuditCurve {
            who: "the encoder".to_owned(),
            attributes: attributes.clone(),
            control: Some(raw),
            levels,
            rivals: Vec::new(),
            rows: String::new(),
        })
    }

    /// Fits an encoder on the first part of the rows and lets attackers learn from the others.
    pub fn refitted(
        parts: &Parts,
        params: &FitParams,
        goal: Option<Goal>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let attributes = parts.attributes();
        // The large network is the costliest of all, and hardly ever the best.
        let who: Vec<&dyn Probe> =
            probes::all().into_iter().filter(|p| p.name() != "net-128x128").collect();
        let favourable = params.criterion.favourable();
        let comparison =
            Comparison { favourable, ..parts.comparison(&attributes, Probing::both(&who))? };
        let model = parts.fitted()?.fit(params, &|| watch.stop())?.solve(Goal::Lambda(0.0))?;
        let curve = Self::along(&comparison, &model, goal, &[params.seed], watch)?;
        let rows = parts.words()
            + "For this the encoder was fitted anew on fewer rows than the whole, so that it may leak a little more than that of all rows.";
        Ok(AuditCurve { rows, ..curve })
    }

    /// The audit nearest to a leakage as a section, for the positions that it is the nearest of.
    pub fn section(
        &self,
        leakage: f64,
        explorer: usize,
        positions: &[Position],
    ) -> Option<Section> {
        let audited = self.audited(leakage)?;
        let nearest = |leakage: f64| self.nearest(leakage).map(|(level, _)| level);
        let at = positions.iter().map(|p| nearest(p.leakage) == nearest(leakage)).collect();
        let holds = Some(Holds { explorer, at, words: audited.what.clone() });
        Some(Section { holds, ..audited.section() })
    }

    /// The one nearest to a leakage.
    pub fn nearest(&self, leakage: f64) -> Option<(f64, &Side)> {
        let off = |l: &&(f64, Side)| (l.0 - leakage).abs();
        let near = self.levels.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        near.map(|(leakage, side)| (*leakage, side))
    }

    /// That one in detail.
    pub fn audited(&self, leakage: f64) -> Option<Audited<'_>> {
        let (leakage, z) = self.nearest(leakage)?;
        let what = format!("{} at a leakage of {}", self.who, percent(leakage));
        let (attributes, control) = (&self.attributes, self.control.as_ref());
        Some(Audited { attributes, control, z, what, leakage, rows: &self.rows })
    }

    /// How well the strongest attackers predict the target, against how well they predict what is
    /// hidden.
    pub(super) fn front(&self, leakages: &[f64]) -> Option<Chart> {
        let place = |side: &Side| -> Option<Placed> {
            let (_, worst) = side.worst()?;
            let target = &side.targets.first()?.best;
            let off = if self.several() { blind(&worst.baseline) } else { 0.0 };
            let ends = |trial: &Trial, off: f64| Some((trial.ci[0] - off, trial.ci[1] - off));
            let cross = Cross { x: ends(&worst.best, off), y: ends(target, 0.0) };
            Some(((worst.best.score.value() - off, target.score.value()), cross))
        };
        let ours = self.levels.iter().filter_map(|(l, s)| Some((*l, place(s)?)));
        let ours: Vec<(f64, Placed)> = ours.collect();
        let (_, worst) = self.levels.first()?.1.worst()?;
        let target = self.levels.first()?.1.targets.first()?;
        let x = match self.several() {
            false => format!("{} of predicting {} (hide)", score(worst), worst.attribute),
            true => "worst case beyond guessing (points of accuracy)".to_owned(),
        };
        let y = format!("{} of predicting {} (keep)", score(target), target.attribute);
        let guess = if self.several() { 0.0 } else { blind(&worst.baseline) };
        let axis = |label: String| Axis::new(label).percent().least(SPAN);
        let mut panel =
            Panel::new("", axis(x), axis(y)).mark(Rule::vertical("guessing", guess).named());
        if let Some((raw, cross)) = self.control.as_ref().and_then(place) {
            let mark = Points::new("raw features", vec![raw]).errors(vec![cross]);
            panel = panel.mark(mark.look(Colour::Neutral, Shape::Cross).size(5.0));
        }
        for (n, (name, points)) in self.rivals.iter().enumerate() {
            let style = Style::nth(n + 2);
            let mark = Points::new(name.clone(), points.clone());
            panel = panel.mark(mark.look(style.colour, style.marker.unwrap_or_default()).size(4.5));
        }
        let tips = ours.iter().map(|(l, _)| format!("leakage asked for: {}", share(*l)));
        let mark =
            Points::new("encoders of this front, 95 %", ours.iter().map(|o| o.1.0).collect())
                .errors(ours.iter().map(|o| o.1.1).collect())
                .tips(tips.collect());
        panel = panel.mark(mark.look(Colour::Series(0), Shape::Circle).size(4.5));
        let near: Vec<(f64, f64)> =
            leakages.iter().filter_map(|&l| Some(place(self.nearest(l)?.1)?.0)).collect();
        let cursor = Cursor {
            name: "nearest to the slider".to_owned(),
            x: near.iter().map(|p| p.0).collect(),
            y: near.iter().map(|p| p.1).collect(),
        };
        let caption = "On rows that neither encoder nor attacker has seen, with 95 % intervals. Measured at these points, not bounded; up and left is better.";
        let figure = Figure::new("accuracies", "What the strongest attackers predict")
            .caption(caption)
            .panel(panel);
        Some(Chart { cursors: vec![vec![cursor]], ..figure.into() })
    }

    fn several(&self) -> bool {
        self.attributes.all.len() - self.attributes.targets > 1
    }

    /// What each attacker predicts of each attribute at every leakage.
    pub(super) fn over_leakage(&self, leakages: &[f64]) -> Option<Chart> {
        const MOST: usize = 4;
        let (_, first) = self.levels.first()?;
        if self.levels.len() < 2 {
            return None;
        }
        let attributes: Vec<_> = findings::each(first, None).take(MOST).collect();
        // The encoder that was fitted anew need not leak as much as the one of all rows.
        let most = self.levels.last().map_or(0.0, |l| l.0);
        let mut figure = Figure::new("probes", "What each attacker predicts along the front")
            .caption("Each attacker learns from some rows and is tested on others, at the leakages that were audited; 95 % intervals of the best. The guarantee is about linear attackers: networks and trees may predict more.")
            .columns(attributes.len().min(2));
        let mut cursors = Vec::new();
        for (at, (hidden, finding, _)) in attributes.iter().enumerate() {
            let x = Axis::new("leakage on training rows").percent();
            let y = Axis::new(score(finding)).percent().least(SPAN);
            let role = if *hidden { "hide" } else { "keep" };
            let mut panel = Panel::new(format!("{} ({role})", finding.attribute), x, y);
            for (n, trial) in finding.probes.iter().enumerate() {
                panel = panel.mark(self.attacker(at, finding, trial, n));
            }
            let guess = Rule::horizontal("guessing", blind(&finding.baseline)).named();
            figure = figure.panel(panel.mark(guess));
            cursors.push(vec![Cursor {
                name: "the slider".to_owned(),
                x: leakages.iter().map(|l| l.min(most)).collect(),
                y: Vec::new(),
            }]);
        }
        Some(Chart { cursors, ..figure.into() })
    }

    /// One attacker of an attribute at every leakage.
    fn attacker(&self, at: usize, finding: &Finding, trial: &Trial, n: usize) -> Points {
        let of = |side: &Side| -> Option<Trial> {
            let (_, finding, _) = findings::each(side, None).nth(at)?;
            finding.trial(&trial.probe).cloned()
        };
        let found: Vec<(f64, Trial)> =
            self.levels.iter().filter_map(|(l, side)| Some((*l, of(side)?))).collect();
        let style = Style::nth(n);
        let points = found.iter().map(|(l, t)| (*l, t.score.value())).collect();
        let points = Points::new(attacker(&trial.probe), points)
            .look(style.colour, style.marker.unwrap_or_default());
        match trial.probe == finding.best.probe {
            true => {
                let cross = |t: &Trial| Cross { x: None, y: Some((t.ci[0], t.ci[1])) };
                points.errors(found.iter().map(|(_, t)| cross(t)).collect())
            }
            false => points,
        }
    }
}
