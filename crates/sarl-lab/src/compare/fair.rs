//! How fair each method is, as JSON, as tables and in sentences.

use sarl_eval::{Attributes, Change, Judged, Measures, Outcome, Side};
use sarl_report::page::Table;
use serde_json::{Value, json};

use super::Compared;
use super::entry::Entry;
use crate::comparison::Scored;
use crate::fairness::between;

/// The gaps between the groups of one hidden attribute, with their intervals; of several runs the mean
/// of each figure.
pub struct Fair {
    /// The place of the attribute among the hidden ones.
    pub hidden: usize,
    /// The groups, in words.
    between: String,
    gaps: Measures<f64>,
    ci: Measures<[f64; 2]>,
    /// The gaps of the best predictor from the raw features.
    raw: Option<Measures<f64>>,
    change: Option<Measures<Change>>,
}

/// A gap with its interval, that from the raw features, and the change with its interval.
type Figures = [f64; 7];

impl Fair {
    /// Of predictions by one probe in each run, beside the best from the raw features.
    pub fn each(
        runs: &[&Scored],
        probe: &str,
        raw: Option<&Side>,
        (attributes, favourable): (&Attributes, Option<u32>),
    ) -> Vec<Self> {
        let raw = raw.and_then(Side::told);
        let judged = |run: &&Scored| {
            let target = run.found.first()?;
            let told = &target.trial(probe).unwrap_or(&target.best).told;
            Some(Judged::all(told, raw, attributes, favourable))
        };
        let judged: Vec<Vec<Judged>> = runs.iter().filter_map(judged).collect();
        let hidden = 0..attributes.all.len().saturating_sub(attributes.targets);
        let one = |hidden: usize| {
            let runs: Vec<&Judged> =
                judged.iter().filter_map(|all| all.iter().find(|j| j.hidden == hidden)).collect();
            Self::mean(&runs, attributes)
        };
        hidden.filter_map(one).collect()
    }

    fn mean(runs: &[&Judged], attributes: &Attributes) -> Option<Self> {
        let first = runs.first()?;
        let all: Vec<Measures<Figures>> = runs.iter().map(|judged| figures(judged)).collect();
        let mean = |of: fn(&Measures<Figures>) -> Option<Figures>| {
            let mut sum = Figures::default();
            for one in all.iter().filter_map(of) {
                sum.iter_mut().zip(one).for_each(|(sum, value)| *sum += value / all.len() as f64);
            }
            sum
        };
        let mean = Measures {
            demographic_parity: mean(|m| Some(m.demographic_parity)),
            equalized_odds: mean(|m| Some(m.equalized_odds)),
            equal_opportunity: all[0].equal_opportunity.map(|_| mean(|m| m.equal_opportunity)),
        };
        let known = first.change.is_some();
        Some(Fair {
            hidden: first.hidden,
            between: between(first, attributes),
            gaps: mean.map(|m| m[0]),
            ci: mean.map(|m| [m[1], m[2]]),
            raw: known.then(|| mean.map(|m| m[3])),
            change: known.then(|| mean.map(|m| Change::new(m[4], [m[5], m[6]]))),
        })
    }

    fn json(&self, attributes: &Attributes) -> Value {
        let mut value = json!(self.gaps);
        let asked = attributes.all.get(attributes.targets + self.hidden);
        value["attribute"] = json!(asked.map(|asked| &asked.name));
        value["ci"] = json!(self.ci);
        value["raw"] = json!(self.raw);
        value["change"] = json!(self.change);
        value
    }
}

fn figures(judged: &Judged) -> Measures<Figures> {
    let (gaps, ci) = (&judged.fairness.gaps, &judged.fairness.ci);
    let one = |of: &dyn Fn(&Measures<f64>) -> f64,
               ends: [f64; 2],
               change: &dyn Fn(&Measures<Change>) -> Option<Change>| {
        let raw = judged.raw.as_ref().map_or(0.0, |raw| of(&raw.gaps));
        let change = judged.change.as_ref().and_then(change);
        let (by, [low, high]) = change.map_or((0.0, [0.0; 2]), |c| (c.value, c.ci));
        [of(gaps), ends[0], ends[1], raw, by, low, high]
    };
    Measures {
        demographic_parity: one(&|m| m.demographic_parity, ci.demographic_parity, &|c| {
            Some(c.demographic_parity)
        }),
        equalized_odds: one(&|m| m.equalized_odds, ci.equalized_odds, &|c| Some(c.equalized_odds)),
        equal_opportunity: ci.equal_opportunity.map(|ends| {
            one(&|m| m.equal_opportunity.unwrap_or_default(), ends, &|c| c.equal_opportunity)
        }),
    }
}

impl Entry {
    /// What is told of its fairness.
    pub(super) fn fairness_json(&self, attributes: &Attributes) -> Value {
        self.fairness.iter().map(|fair| fair.json(attributes)).collect()
    }

    fn fair(&self, hidden: usize) -> Option<&Fair> {
        self.fairness.iter().find(|fair| fair.hidden == hidden)
    }
}

impl Compared {
    /// The hidden attributes whose fairness is known, with their groups in words.
    fn judged(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.entries.iter().find(|entry| !entry.fairness.is_empty());
        let all = first.map_or(&[][..], |entry| &entry.fairness[..]);
        all.iter().map(|fair| (fair.hidden, fair.between.as_str()))
    }

    /// A table for each hidden attribute: the gaps of every method at every setting.
    pub fn fairness(&self) -> Vec<Table> {
        let one = |(hidden, between): (usize, &str)| {
            let mut header = vec!["method".to_owned(), "setting".to_owned()];
            let known = self.entries.iter().filter_map(|entry| Some((entry, entry.fair(hidden)?)));
            let mut rows = Vec::new();
            for (entry, fair) in known {
                if rows.is_empty() {
                    header.extend(fair.gaps.each().map(|(name, _)| name.to_owned()));
                }
                let mut changes = fair.change.iter().flat_map(Measures::each);
                let gaps = fair.gaps.each().map(|(_, gap)| match changes.next() {
                    Some((_, change)) if change.outcome != Outcome::Unclear => {
                        format!("{gap:.3} {}", change.outcome.words())
                    }
                    _ => format!("{gap:.3}"),
                });
                let names = [entry.method.title().to_owned(), entry.setting.words()];
                rows.push(names.into_iter().chain(gaps).collect());
            }
            let title = format!(
                "Fairness between {between}: largest gaps (0 is fair), worse or better than from raw features where that is clear"
            );
            Table { title, header, rows, names: 2 }
        };
        self.judged().map(one).collect()
    }

    /// How often each measure became worse and better, a sentence for each hidden attribute and for
    /// ours and others.
    pub(super) fn fairness_sentences(&self) -> Vec<String> {
        let said = |hidden: usize, ours: bool| {
            let entries = self.entries.iter().filter(|e| e.method.is_ours() == ours);
            let changes: Vec<_> = entries.filter_map(|e| e.fair(hidden)?.change.as_ref()).collect();
            counted(&changes, if ours { "ours" } else { "other methods" })
        };
        let of = |(hidden, between): (usize, &str)| {
            let said = [true, false].into_iter().filter_map(|ours| said(hidden, ours));
            let said: Vec<String> = said.collect();
            let said = said.join("; ");
            (!said.is_empty())
                .then(|| format!("Clear changes against raw features, between {between}: {said}."))
        };
        self.judged().filter_map(of).collect()
    }
}

/// How often each measure became worse and better, what became worse most often first.
fn counted(changes: &[&Measures<Change>], who: &str) -> Option<String> {
    let first = changes.first()?;
    let mut all: Vec<(&str, [usize; 2])> = first.each().map(|(name, _)| (name, [0; 2])).collect();
    for change in changes {
        for ((_, [worse, better]), (_, change)) in all.iter_mut().zip(change.each()) {
            *worse += usize::from(change.outcome == Outcome::Worse);
            *better += usize::from(change.outcome == Outcome::Better);
        }
    }
    all.sort_by_key(|(_, [worse, _])| std::cmp::Reverse(*worse));
    let said = all.iter().map(|(name, [worse, better])| {
        format!("{name} is worse at {worse} and better at {better}")
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let points = if changes.len() == 1 { "point" } else { "points" };
    Some(format!("of {} {points} of {who} {said}", changes.len()))
}
