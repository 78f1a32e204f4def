//! The audit: every probe on every attribute, learnt on some rows and tested on others.
//!
//! What a representation leaks is what the *best* probe gets out of it: [`Advantage`] is the worst
//! case over all of them, with an interval that allows for having tried several.

mod advantage;
mod run;
mod score;

use faer::MatRef;
use serde::Serialize;

pub use self::advantage::{Advantage, Evidence, LEVEL, Measure};
use self::run::{Job, Run, Scaled, jobs, run};
pub use self::score::mean_and_spread;
use crate::error::{Error, Result};
use crate::task::{Labels, Probe};

/// A representation of the same rows: the encoded one, or the raw features as the control.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The rows that probes learn from.
    pub train: MatRef<'a, f64>,
    /// The rows that they are tested on.
    pub test: MatRef<'a, f64>,
}

/// Something to be told from a representation.
#[derive(Clone, Copy)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values in the rows that probes learn from.
    pub train: &'a Labels,
    /// Its values in the rows that they are tested on.
    pub test: &'a Labels,
}

/// The rows that the encoder of the first view was fitted on, encoded, with the attributes' values.
///
/// An adversary may have them. There linear leakage is what the encoder made it, so that linear probes
/// learn less from them than from other rows; but there may be more of them, and others may learn more.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    /// The rows.
    pub rows: MatRef<'a, f64>,
    /// The attributes to be told, by their places, with their values in these rows.
    pub labels: &'a [(usize, Labels)],
    /// Who learns from them.
    pub probes: &'a [&'a dyn Probe],
}

/// How to audit.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Who tries.
    pub probes: &'a [&'a dyn Probe],
    /// The seeds of the probes that have randomness; the others run once, with the first.
    pub seeds: &'a [u64],
    /// Probes that run at the same time.
    pub threads: usize,
    /// Asked now and then; the audit ends with [`Error::Interrupted`] when it says so.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told how many runs are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// A second attacker, whose probes learn from the encoder's rows.
    pub own: Option<Own<'a>>,
}

/// What was found out about one attribute.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The attribute.
    pub attribute: String,
    /// What can be told without looking.
    #[serde(flatten)]
    pub baseline: Baseline,
    /// How much more is told than by guessing, in the worst case.
    pub advantage: Advantage,
    /// The probe with the largest accuracy or R².
    pub best: Trial,
    /// Every probe.
    pub probes: Vec<Trial>,
}

/// What can be told of an attribute without looking at the representation.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Baseline {
    /// Of a class.
    Class {
        /// The number of classes.
        classes: usize,
        /// The share of the most frequent class among the test rows.
        majority: f64,
        /// The share of test rows in the class that is most frequent among the *training* rows:
        /// what a probe scores that has learnt nothing.
        guess: f64,
        /// One over the number of classes: the balanced accuracy of a probe that knows nothing.
        chance: f64,
    },
    /// Of a number: the mean explains nothing.
    Number {
        /// The variance among the test rows.
        variance: f64,
    },
}

/// What one probe told of one attribute, over its seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// The probe.
    pub probe: String,
    /// How well it did.
    #[serde(flatten)]
    pub score: Score,
    /// The 95 % interval of its accuracy or R², of this probe alone.
    pub ci: [f64; 2],
    /// How much more it tells than guessing, by the measure that shows most.
    pub advantage: f64,
    /// The number of seeds.
    pub runs: usize,
    /// Seconds that all runs took.
    pub seconds: f64,
    /// What it told of the test rows with the first seed.
    #[serde(skip)]
    pub told: Told,
    /// What its advantage was measured by.
    #[serde(skip)]
    pub evidence: Vec<Evidence>,
}

/// Predictions of the test rows.
#[derive(Clone, Debug)]
pub enum Told {
    /// Classes.
    Classes(Vec<u32>),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// How well a probe did, as means over its seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// Of a class.
    Class {
        /// The share of test rows told rightly.
        accuracy: f64,
        /// Its standard deviation over seeds.
        accuracy_sd: f64,
        /// The mean over classes of the share told rightly, by decisions at even odds: as if all
        /// classes had been equally frequent among the training rows.
        balanced_accuracy: f64,
        /// The area under the ROC curve.
        #[serde(skip_serializing_if = "Option::is_none")]
        auc: Option<f64>,
    },
    /// Of a number.
    Number {
        /// The share of the variance that was explained.
        r2: f64,
        /// Its standard deviation over seeds.
        r2_sd: f64,
    },
}

impl Score {
    /// Accuracy or R².
    pub fn value(&self) -> f64 {
        match *self {
            Score::Class { accuracy, .. } => accuracy,
            Score::Number { r2, .. } => r2,
        }
    }

    /// The standard deviation of [`value`](Self::value) over seeds.
    pub fn spread(&self) -> f64 {
        match *self {
            Score::Class { accuracy_sd, .. } => accuracy_sd,
            Score::Number { r2_sd, .. } => r2_sd,
        }
    }
}

/// Audits each view for each attribute.
pub fn audit(
    views: &[View<'_>],
    attributes: &[Attribute<'_>],
    options: &Options<'_>,
) -> Result<Vec<Vec<Finding>>> {
    let mut found = trials(views, attributes, options)?;
    if let (Some(own), Some(view), Some(first)) = (options.own, views.first(), found.first_mut()) {
        let views = [View { train: own.rows, test: view.test }];
        let asked = own.labels.iter().filter(|(at, _)| *at < attributes.len());
        let taught = asked.clone().map(|(at, train)| Attribute { train, ..attributes[*at] });
        let taught: Vec<Attribute<'_>> = taught.collect();
        let seeds = &options.seeds[..options.seeds.len().min(1)];
        let silent: &(dyn Fn(usize, usize) + Sync) = &|_, _| ();
        let options =
            Options { probes: own.probes, seeds, own: None, progress: silent, ..*options };
        let more = trials(&views, &taught, &options)?.into_iter().flatten();
        for ((at, _), more) in asked.zip(more) {
            let named = |t: Trial| Trial { probe: format!("{}{OWN_ROWS}", t.probe), ..t };
            first[*at].extend(more.into_iter().map(named));
        }
    }
    let finding = |(trials, attribute)| Finding::new(attribute, trials);
    let of_view = |trials: Vec<Vec<Trial>>| trials.into_iter().zip(attributes).map(finding);
    found.into_iter().map(|trials| of_view(trials).collect()).collect()
}

/// What follows the name of a probe that learnt from the encoder's rows.
pub const OWN_ROWS: &str = ", encoder's rows";

/// What each probe told, for each view and attribute.
fn trials(
    views: &[View<'_>],
    attributes: &[Attribute<'_>],
    options: &Options<'_>,
) -> Result<Vec<Vec<Vec<Trial>>>> {
    for view in views {
        check(view, attributes)?;
    }
    if options.seeds.is_empty() || options.probes.is_empty() {
        return Err(Error::Empty { what: "seeds and probes" });
    }
    let views: Vec<Scaled> = views.iter().map(Scaled::new).collect();
    let jobs = jobs(views.len(), attributes, options);
    let runs = run(&jobs, &views, attributes, options)?;
    let of = |view: usize, at: usize| {
        let trial = |probe: usize| {
            let mine = |j: &&(&Job, Run)| (j.0.view, j.0.attribute, j.0.probe) == (view, at, probe);
            let runs: Vec<&Run> = runs.iter().filter(mine).map(|j| &j.1).collect();
            Trial::new(options.probes[probe].name(), &attributes[at], &runs)
        };
        (0..options.probes.len()).filter_map(trial).collect()
    };
    let of_view = |view: usize| (0..attributes.len()).map(|at| of(view, at)).collect();
    Ok((0..views.len()).map(of_view).collect())
}

fn check(view: &View<'_>, attributes: &[Attribute<'_>]) -> Result<()> {
    if view.train.nrows() == 0 {
        return Err(Error::Empty { what: "rows to learn from" });
    }
    if view.test.nrows() == 0 {
        return Err(Error::Empty { what: "rows to be tested on" });
    }
    let (expected, found) = (view.train.ncols(), view.test.ncols());
    if expected != found {
        return Err(Error::Shape { what: "columns of the test rows", expected, found });
    }
    for attribute in attributes {
        let sides = [(view.train, attribute.train), (view.test, attribute.test)];
        for (rows, labels) in sides {
            let (expected, found) = (rows.nrows(), labels.rows());
            if expected != found {
                return Err(Error::Shape { what: "values of an attribute", expected, found });
            }
            labels.check()?;
        }
        if attribute.train.classes() != attribute.test.classes() {
            let [expected, found] =
                [attribute.train, attribute.test].map(|l| l.classes().unwrap_or(0));
            return Err(Error::Shape { what: "classes of the test rows", expected, found });
        }
    }
    Ok(())
}
