//! Audits in the report: every probe before and after, and along the front.

use std::path::PathBuf;

use sarl::{FitParams, Goal, Model};
use sarl_data::Schema;
use sarl_eval::{Attributes, Finding, Side, Trial, blind};
use sarl_report::page::{Chart, Cursor, Section, Table};
use sarl_report::{Axis, Bars, Colour, Figure, Line, Panel, Points, Rule, Shape, Spread, Style};

use crate::args::{Global, ProbeOptions};
use crate::failure::Outcome;
use crate::findings;
use crate::inquiry::{self, Files, Known};
use crate::progress::{self, Spinner};
use crate::ring::{Encoded, Probing, Ring, leakages};

/// What probes told of encoders along one front, and of the raw features.
pub struct Heard {
    /// Whose front it is.
    pub who: String,
    pub attributes: Attributes,
    pub control: Option<Side>,
    /// By the leakage that each has on the rows that it was fitted on.
    pub levels: Vec<(f64, Side)>,
    /// Other methods in the same units as [`Heard::front`].
    pub rivals: Vec<(String, Vec<(f64, f64)>)>,
    /// Which rows were used for what.
    pub rows: String,
}

/// One of them in detail.
pub struct Audited<'a> {
    pub attributes: &'a Attributes,
    pub control: Option<&'a Side>,
    pub z: &'a Side,
    /// Which encoder it is.
    pub what: String,
    pub rows: &'a str,
}

/// Rows at most for an audit of many encoders.
const ROWS: u32 = 15_000;

/// Fits the encoder anew on a part of the rows and asks probes about the rest, at several
/// leakages and at the goal, if there is one.
pub fn along_the_front(
    data: &[PathBuf],
    schema: &Schema,
    params: &FitParams,
    goal: Option<Goal>,
    global: &Global,
) -> Outcome<Heard> {
    let probing = ProbeOptions { seeds: 1, rows: ROWS, ..Default::default() };
    let files = Files::open(data, &probing)?;
    let mut parts = files.read(schema, None, Known::Seen, &probing, params.seed, global)?;
    parts.standardise(schema, params.scale);
    let attributes = inquiry::attributes(schema, &parts);
    let asked = attributes.asked();
    let mut who = inquiry::probes(&probing)?;
    // The costliest of all, and hardly ever the best.
    who.retain(|probe| probe.name() != "net-128x128");
    let ring = parts.ring(&asked, Probing::both(&who))?;
    let model = parts.fitted()?.fit(params)?.solve(Goal::Lambda(0.0))?;
    let mut rows = parts.words(data, &probing, params.seed);
    rows += "For this the encoder was fitted anew on fewer rows than the whole, so that it may leak a little more than that of all rows.";
    let seeds = probing.seeds(params.seed);
    let (control, levels) = hear(&ring, &model, goal, &attributes, &seeds, global)?;
    Ok(Heard {
        who: "the encoder".to_owned(),
        control: Some(control),
        levels,
        rivals: Vec::new(),
        rows,
        attributes: attributes.clone(),
    })
}

/// Asks about the raw features and about encoders along a front.
pub fn hear(
    ring: &Ring<'_>,
    model: &Model,
    goal: Option<Goal>,
    attributes: &Attributes,
    seeds: &[u64],
    global: &Global,
) -> Outcome<(Side, Vec<(f64, Side)>)> {
    let ask = |z: &Encoded, what: String| -> Outcome<Side> {
        progress::check()?;
        let _spinner = Spinner::shown(what, global.quiet);
        let threads = rayon::current_num_threads();
        let scored = ring.score(z, 0.0, seeds, threads, &progress::interrupted)?;
        Ok(Side::new(scored.found, attributes))
    };
    let raw = ring.encoded(|x| Ok(x.to_owned()))?;
    let goals: Vec<Goal> =
        leakages(model, &[]).into_iter().map(Goal::Leakage).chain(goal).collect();
    let steps = goals.len() + 1;
    let control = ask(&raw, format!("1 of {steps}: attackers on the raw features"))?;
    let mut levels = Vec::new();
    for (step, goal) in goals.into_iter().enumerate() {
        let model = match goal {
            Goal::Leakage(leakage) if leakage >= model.point().leakage => model.clone(),
            goal => model.retune(goal)?,
        };
        let encoder = model.encoder();
        let z = ring.encoded(|x| Ok(encoder.encode(x)?))?;
        let leakage = model.point().leakage;
        levels.push((
            leakage,
            ask(&z, format!("{} of {steps}: attackers at a leakage of {leakage:.4}", step + 2))?,
        ));
    }
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok((control, levels))
}

impl Heard {
    /// The one nearest to a leakage.
    pub fn nearest(&self, leakage: f64) -> Option<(f64, &Side)> {
        let off = |l: &&(f64, Side)| (l.0 - leakage).abs();
        let near = self.levels.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        near.map(|(leakage, side)| (*leakage, side))
    }

    /// That one in detail.
    pub fn audited(&self, leakage: f64) -> Option<Audited<'_>> {
        let (leakage, z) = self.nearest(leakage)?;
        let what = format!("{} at a leakage of {}", self.who, crate::output::percent(leakage));
        let (attributes, control) = (&self.attributes, self.control.as_ref());
        Some(Audited { attributes, control, z, what, rows: &self.rows })
    }

    /// What the best probes tell of the target against what they tell of what is hidden.
    pub fn front(&self, leakages: &[f64]) -> Option<Chart> {
        let place = |side: &Side| {
            let (_, worst) = side.worst()?;
            Some((self.worst_place(worst), side.targets.first()?.best.score.value()))
        };
        let ours: Vec<(f64, f64)> = self.levels.iter().filter_map(|(_, s)| place(s)).collect();
        let (_, worst) = self.levels.first()?.1.worst()?;
        let target = self.levels.first()?.1.targets.first()?;
        let x = match self.several() {
            false => format!("{}: {} of the best probe (%)", worst.attribute, score(worst)),
            true => "worst case beyond guessing (points of accuracy)".to_owned(),
        };
        let y = format!("{}: {} of the best probe (%)", target.attribute, score(target));
        let guess = if self.several() { 0.0 } else { blind(&worst.baseline) };
        let mut panel = Panel::new("", Axis::new(x).percent(), Axis::new(y).percent())
            .mark(Rule::vertical("guessing", guess))
            .mark(Line::new("encoders of this front", ours.clone()).style(Style::nth(0)));
        if let Some(raw) = self.control.as_ref().and_then(place) {
            let mark = Points::new("raw features", vec![raw]);
            panel = panel.mark(mark.look(Colour::Neutral, Shape::Cross).size(5.0));
        }
        for (n, (name, points)) in self.rivals.iter().enumerate() {
            let style = Style::nth(n + 2);
            let mark = Points::new(name.clone(), points.clone());
            panel = panel.mark(mark.look(style.colour, style.marker.unwrap_or_default()).size(4.5));
        }
        let near: Vec<(f64, f64)> =
            leakages.iter().filter_map(|&l| place(self.nearest(l)?.1)).collect();
        let cursor = Cursor {
            name: "the nearest that was audited".to_owned(),
            x: near.iter().map(|p| p.0).collect(),
            y: near.iter().map(|p| p.1).collect(),
        };
        let caption = "On rows that neither encoder nor probe has seen: how well the best probe tells what is kept, against how well the best probe tells what is hidden. Measured at the marked points, not bounded; up and left is better.";
        let figure = Figure::new("accuracies", "What probes tell").caption(caption).panel(panel);
        Some(Chart { figure, cursors: vec![vec![cursor]] })
    }

    fn several(&self) -> bool {
        self.attributes.all.len() - self.attributes.targets > 1
    }

    fn worst_place(&self, worst: &Finding) -> f64 {
        let value = worst.best.score.value();
        if self.several() { value - blind(&worst.baseline) } else { value }
    }

    /// What each probe tells of each attribute at every leakage.
    pub fn over_leakage(&self, leakages: &[f64]) -> Option<Chart> {
        const MOST: usize = 4;
        let (_, first) = self.levels.first()?;
        if self.levels.len() < 2 {
            return None;
        }
        let attributes: Vec<_> = findings::each(first, None).take(MOST).collect();
        // The encoder that was fitted anew need not leak as much as the one of all rows.
        let most = self.levels.last().map_or(0.0, |l| l.0);
        let mut figure = Figure::new("probes", "What each probe tells along the front")
            .caption("Each probe, learnt on some rows and tested on others, at the leakages that were audited; the band is the 95 % interval of the best. The certificate is about linear adversaries: networks and trees may find more.")
            .columns(attributes.len().min(2));
        let mut cursors = Vec::new();
        for (at, (hidden, finding, _)) in attributes.iter().enumerate() {
            let x = Axis::new("leakage on the rows of the fit (%)").percent();
            let y = Axis::new(format!("{} (%)", score(finding))).percent();
            let role = if *hidden { "hidden" } else { "kept" };
            let mut panel = Panel::new(format!("{} ({role})", finding.attribute), x, y);
            for (n, trial) in finding.probes.iter().enumerate() {
                let of = |side: &Side| -> Option<Trial> {
                    let (_, finding, _) = findings::each(side, None).nth(at)?;
                    finding.trial(&trial.probe).cloned()
                };
                let told: Vec<(f64, Trial)> =
                    self.levels.iter().filter_map(|(l, side)| Some((*l, of(side)?))).collect();
                let line = told.iter().map(|(l, t)| (*l, t.score.value())).collect();
                let mut line = Line::new(trial.probe.clone(), line).style(Style::nth(n));
                if trial.probe == finding.best.probe {
                    let spread =
                        |(x, t): &(f64, Trial)| Spread { x: *x, low: t.ci[0], high: t.ci[1] };
                    line = line.band(told.iter().map(spread).collect());
                }
                panel = panel.mark(line);
            }
            figure =
                figure.panel(panel.mark(Rule::horizontal("guessing", blind(&finding.baseline))));
            cursors.push(vec![Cursor {
                name: "here".to_owned(),
                x: leakages.iter().map(|l| l.min(most)).collect(),
                y: Vec::new(),
            }]);
        }
        Some(Chart { figure, cursors })
    }
}

/// What a probe of an attribute is scored by.
fn score(finding: &Finding) -> &'static str {
    match finding.baseline {
        sarl_eval::Baseline::Class { .. } => "accuracy",
        sarl_eval::Baseline::Number { .. } => "R²",
    }
}

impl Audited<'_> {
    /// Every probe before and after, and how fair the best predictor is.
    pub fn section(&self) -> Section {
        let mut text = vec![format!("What probes tell of {}. {}", self.what, self.rows)];
        text.extend(findings::worst(self.z).map(|worst| {
            format!("Worst case: {worst}. This is measured, not bounded: another adversary may find more.")
        }));
        let mut charts = vec![self.probes()];
        charts.extend(self.fairness());
        let mut tables: Vec<Table> = findings::each(self.z, self.control)
            .map(|(hidden, z, raw)| table(findings::probes(hidden, z, raw)))
            .collect();
        tables.extend(
            findings::fairness(self.z, self.control, self.attributes).into_iter().map(table),
        );
        Section { title: "The audit".to_owned(), text, charts, tables }
    }

    fn probes(&self) -> Chart {
        let all: Vec<_> = findings::each(self.z, self.control).collect();
        let mut figure = Figure::new("audit", "Every probe, before and after")
            .caption("On test rows; whiskers are 95 % intervals from the number of rows. What can be told without looking is the line.")
            .columns(all.len().min(2));
        for (hidden, z, raw) in all {
            let role = if hidden { "to hide" } else { "to keep" };
            let names = z.probes.iter().map(|t| t.probe.clone());
            let bars = |name: &str, of: &Finding| {
                let trials: Vec<Option<&Trial>> =
                    z.probes.iter().map(|t| of.trial(&t.probe)).collect();
                let value = |t: &Option<&Trial>| t.map_or(f64::NAN, |t| t.score.value());
                let ends =
                    |t: &Option<&Trial>| t.map_or((f64::NAN, f64::NAN), |t| (t.ci[0], t.ci[1]));
                Bars::new(name, trials.iter().map(value).collect())
                    .whiskers(trials.iter().map(ends).collect())
            };
            let y = Axis::new(format!("{} (%)", score(z))).percent();
            let mut panel = Panel::new(
                format!("{} ({role})", z.attribute),
                Axis::new("probe").categories(names),
                y,
            );
            if let Some(raw) = raw {
                panel = panel.mark(bars("raw features", raw).colour(Colour::Series(4)));
            }
            panel = panel.mark(bars("z", z).colour(Colour::Series(0)));
            figure = figure.panel(panel.mark(Rule::horizontal("majority", blind(&z.baseline))));
        }
        figure.into()
    }

    fn fairness(&self) -> Option<Chart> {
        let (at, fair) = self.z.fairness.first()?;
        let raw = self.control.and_then(|c| c.fairness.iter().find(|f| f.0 == *at));
        let of = |f: &sarl_eval::Fairness| {
            vec![f.demographic_parity, f.equalized_odds, f.equal_opportunity]
        };
        let hidden = &self.attributes.all.get(self.attributes.targets + at)?.name;
        let names = ["demographic parity", "equalized odds", "equal opportunity"];
        let y = Axis::new("largest difference between groups (0 is fair)");
        let mut panel = Panel::new("", Axis::new("").categories(names), y);
        if let Some((_, raw)) = raw {
            panel = panel.mark(Bars::new("raw features", of(raw)).colour(Colour::Series(4)));
        }
        panel = panel.mark(Bars::new("z", of(fair)).colour(Colour::Series(0)));
        let figure = Figure::new("fairness", format!("Fairness between groups of {hidden}"))
            .caption("Of the best predictor of the target from the raw features and from z, on test rows.");
        Some(figure.panel(panel).into())
    }
}

fn table(listed: findings::Listed) -> Table {
    let findings::Listed { title, header, rows } = listed;
    Table { title, header, rows, names: 1 }
}
