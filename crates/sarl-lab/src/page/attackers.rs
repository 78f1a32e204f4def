//! One audit in detail: every attacker before and after, and fairness.

use sarl_eval::{Baseline, Finding, blind};
use sarl_report::page::{Chart, Section, Table};
use sarl_report::{Axis, Colour, Cross, Dash, Figure, Line, Panel, Points, Rule, Shape, Style};

use super::audit::{Audited, SPAN};
use super::verdict::{self, share};
use crate::words::attacker;
use crate::{fairness, findings};

/// What a probe of an attribute is scored by.
pub fn score(finding: &Finding) -> &'static str {
    match finding.baseline {
        Baseline::Class { .. } => "accuracy",
        Baseline::Number { .. } => "R²",
    }
}

impl Audited<'_> {
    /// Every attacker before and after, and how fair the best predictor is.
    pub fn section(&self) -> Section {
        let mut text = vec![format!("What attackers predict from {}. {}", self.what, self.rows)];
        text.extend(verdict::strongest(self).map(|found| {
            format!("{found} This is measured, not bounded: another attacker may predict more.")
        }));
        text.extend(fairness::sentences(self.z, self.attributes));
        let mut charts = vec![self.attackers()];
        charts.extend(self.fairness());
        let mut tables: Vec<Table> = findings::each(self.z, self.control)
            .map(|(hidden, z, raw)| findings::probes(hidden, z, raw))
            .collect();
        tables.extend(fairness::tables(self.z, self.attributes).into_iter().flatten());
        Section { title: "The audit".to_owned(), text, charts, tables, ..Section::default() }
    }

    /// From the raw features to z, attacker by attacker.
    fn attackers(&self) -> Chart {
        let all: Vec<_> = findings::each(self.z, self.control).collect();
        let mut figure = Figure::new("audit", "Every attacker, from the raw features to z")
            .caption("On test rows, with 95 % intervals. Dashed line: always guessing the most common class.")
            .columns(all.len().min(2));
        for (hidden, z, raw) in all {
            let role =
                if hidden { "hide: near the line is good" } else { "keep: to the right is good" };
            // The first stands at the top.
            let probes: Vec<&str> = z.probes.iter().rev().map(|t| t.probe.as_str()).collect();
            let x = Axis::new(score(z)).percent().least(SPAN);
            let y = Axis::new("attacker").categories(probes.iter().map(|p| attacker(p)));
            let name = match z.baseline {
                Baseline::Class { .. } => "guessing",
                Baseline::Number { .. } => "knowing nothing",
            };
            let panel = Panel::new(format!("{} ({role})", z.attribute), x, y)
                .mark(Rule::vertical(name, blind(&z.baseline)));
            let of = |finding: &Finding| -> Vec<Option<(f64, [f64; 2])>> {
                let trial = |p: &&str| finding.trial(p).map(|t| (t.score.value(), t.ci));
                probes.iter().map(trial).collect()
            };
            figure = figure.panel(moves(panel, raw.map(of), of(z), share));
        }
        figure.into()
    }
}

/// A value with its interval for each name of the vertical axis.
type Values = Vec<Option<(f64, [f64; 2])>>;

/// Dots from before to after, with their values.
fn moves(panel: Panel, raw: Option<Values>, z: Values, written: impl Fn(f64) -> String) -> Panel {
    let gap = (f64::NAN, f64::NAN);
    let place = |(i, v): (usize, &Option<(f64, [f64; 2])>)| v.map_or(gap, |v| (v.0, i as f64));
    let mut panel = panel;
    if let Some(raw) = &raw {
        let pairs = raw.iter().enumerate().map(place).zip(z.iter().enumerate().map(place));
        let between = pairs.flat_map(|(from, to)| [from, to, gap]).collect();
        let style = Style { colour: Colour::Neutral, dash: Dash::Solid, marker: None };
        panel = panel
            .mark(Line::new("", between).style(style))
            .mark(dots("raw features", raw, &written).look(Colour::Series(4), Shape::Diamond));
    }
    let ends = |v: &Option<(f64, [f64; 2])>| {
        let ends = v.map(|(_, [low, high])| (low, high)).filter(|e| e.0.is_finite());
        Cross { x: ends, y: None }
    };
    let after = dots("z", &z, &written).errors(z.iter().map(ends).collect());
    panel.mark(after.look(Colour::Series(0), Shape::Circle))
}

fn dots(name: &str, values: &Values, written: &impl Fn(f64) -> String) -> Points {
    let place = |(i, v): (usize, &Option<(f64, [f64; 2])>)| {
        v.map_or((f64::NAN, f64::NAN), |v| (v.0, i as f64))
    };
    let label = |v: &Option<(f64, [f64; 2])>| v.map_or(String::new(), |v| written(v.0));
    Points::new(name, values.iter().enumerate().map(place).collect())
        .labels(values.iter().map(label).collect())
        .size(5.0)
}
