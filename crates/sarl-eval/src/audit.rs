//! The audit: every probe on every attribute, learnt on some rows and tested on others.
//!
//! What a representation leaks is what the *best* probe gets out of it. Its interval is the one of
//! that probe alone; taking the best of several flatters the adversary a little, never the encoder.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use faer::{Mat, MatRef};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::metrics;
use crate::task::{Labels, Prediction, Probe, Task};

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
}

/// What was found out about one attribute.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The attribute.
    pub attribute: String,
    /// What can be told without looking.
    #[serde(flatten)]
    pub baseline: Baseline,
    /// The probe that tells most: the worst case, if the attribute was to be hidden.
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
    pub probe: &'static str,
    /// How well it did.
    #[serde(flatten)]
    pub score: Score,
    /// The 95 % interval of its accuracy or R², from the number of test rows.
    pub ci: [f64; 2],
    /// The number of seeds.
    pub runs: usize,
    /// Seconds that all runs took.
    pub seconds: f64,
    /// What it told of the test rows with the first seed.
    #[serde(skip)]
    pub told: Told,
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
        /// The mean over classes of the share told rightly.
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
    for view in views {
        check(view, attributes)?;
    }
    if options.seeds.is_empty() || options.probes.is_empty() {
        return Err(Error::Empty { what: "seeds and probes" });
    }
    let views: Vec<Scaled> = views.iter().map(Scaled::new).collect();
    let jobs = jobs(views.len(), attributes, options);
    let runs = run(&jobs, &views, attributes, options)?;
    let finding = |view: usize, at: usize| {
        let attribute = &attributes[at];
        let of = |probe: usize| {
            let mine = |j: &&(&Job, Run)| (j.0.view, j.0.attribute, j.0.probe) == (view, at, probe);
            let runs: Vec<&Run> = runs.iter().filter(mine).map(|j| &j.1).collect();
            Trial::new(options.probes[probe].name(), attribute, &runs)
        };
        Finding::new(attribute, (0..options.probes.len()).filter_map(of).collect())
    };
    (0..views.len()).map(|v| (0..attributes.len()).map(|a| finding(v, a)).collect()).collect()
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

/// One run of one probe.
struct Job {
    view: usize,
    attribute: usize,
    probe: usize,
    seed: u64,
}

fn jobs(views: usize, attributes: &[Attribute<'_>], options: &Options<'_>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for view in 0..views {
        for (attribute, labels) in attributes.iter().enumerate() {
            for (probe, who) in options.probes.iter().enumerate() {
                let runs = match (who.learns(labels.train), who.is_random()) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => options.seeds.len(),
                };
                let job = |&seed: &u64| Job { view, attribute, probe, seed };
                jobs.extend(options.seeds[..runs].iter().map(job));
            }
        }
    }
    jobs
}

struct Run {
    told: Prediction,
    seconds: f64,
}

/// Hands the jobs to threads, those first that come last: raw features take the longest.
fn run<'j>(
    jobs: &'j [Job],
    views: &[Scaled],
    attributes: &[Attribute<'_>],
    options: &Options<'_>,
) -> Result<Vec<(&'j Job, Run)>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let stop = || failed.load(Ordering::Relaxed) || (options.stop)();
    let work = || {
        while let Some(i) = jobs.len().checked_sub(next.fetch_add(1, Ordering::Relaxed) + 1) {
            let job = &jobs[i];
            let labels = attributes[job.attribute].train;
            let (train, test) = (views[job.view].train.as_ref(), views[job.view].test.as_ref());
            let task = Task { train, labels, test, seed: job.seed, stop: &stop };
            let start = Instant::now();
            let told = tell(options.probes[job.probe], &task);
            let run = told.map(|told| Run { told, seconds: start.elapsed().as_secs_f64() });
            if run.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            let Ok(mut results) = results.lock() else { return };
            results.push((i, run));
            drop(results);
            (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
            if stop() {
                return;
            }
        }
    };
    // Threads of their own rather than the pool's: a probe that waits for the pool must not be
    // handed another probe meanwhile.
    std::thread::scope(|scope| {
        for _ in 1..options.threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().map_err(|_| Error::Interrupted)?;
    results.sort_unstable_by_key(|r| r.0);
    // A failure stops the others, so a reason other than that comes first.
    results.sort_by_key(|r| matches!(r.1, Err(Error::Interrupted)));
    let results: Result<Vec<_>> =
        results.into_iter().map(|(i, run)| run.map(|run| (&jobs[i], run))).collect();
    let results = results?;
    if results.len() < jobs.len() {
        return Err(Error::Interrupted);
    }
    Ok(results)
}

/// Asks the probe, unless there is nothing to learn: then the training rows' shares are the answer.
fn tell(probe: &dyn Probe, task: &Task<'_>) -> Result<Prediction> {
    if (task.stop)() {
        return Err(Error::Interrupted);
    }
    let (rows, tested) = (task.train.nrows(), task.test.nrows());
    match task.labels {
        Labels::Classes { codes, count } => {
            let mut shares = vec![0.0; *count];
            codes.iter().for_each(|&c| shares[c as usize] += 1.0 / rows as f64);
            let alone = shares.iter().filter(|&&s| s > 0.0).count() < 2;
            if alone || task.train.ncols() == 0 {
                return Ok(Prediction::Scores(Mat::from_fn(tested, *count, |_, j| shares[j])));
            }
        }
        Labels::Numbers(values) => {
            let mean = values.iter().sum::<f64>() / rows as f64;
            if task.train.ncols() == 0 || values.iter().all(|v| *v == values[0]) {
                return Ok(Prediction::Numbers(vec![mean; tested]));
            }
        }
    }
    probe.predict(task)
}

/// A view with columns of mean 0 and variance 1 over the training rows; constant ones are gone.
struct Scaled {
    train: Mat<f64>,
    test: Mat<f64>,
}

impl Scaled {
    fn new(view: &View<'_>) -> Self {
        let n = view.train.nrows() as f64;
        let mut columns = Vec::new();
        for j in 0..view.train.ncols() {
            let column = view.train.col(j);
            let mean = column.iter().sum::<f64>() / n;
            let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            let size = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if variance.sqrt() > 1e-12 * size {
                columns.push((j, mean, variance.sqrt()));
            }
        }
        let scale = |x: MatRef<'_, f64>| {
            Mat::from_fn(x.nrows(), columns.len(), |i, k| {
                let (j, mean, spread) = columns[k];
                (x[(i, j)] - mean) / spread
            })
        };
        Scaled { train: scale(view.train), test: scale(view.test) }
    }
}

impl Finding {
    fn new(attribute: &Attribute<'_>, probes: Vec<Trial>) -> Result<Self> {
        let best = probes.iter().max_by(|a, b| a.score.value().total_cmp(&b.score.value()));
        let best = best.ok_or(Error::Empty { what: "probes for this attribute" })?.clone();
        let baseline = Baseline::new(attribute.train, attribute.test);
        Ok(Finding { attribute: attribute.name.to_owned(), baseline, best, probes })
    }

    /// The trial of a probe.
    pub fn trial(&self, probe: &str) -> Option<&Trial> {
        self.probes.iter().find(|t| t.probe == probe)
    }

    /// The trial with the largest balanced accuracy, which a rare class cannot hide from.
    pub fn best_balanced(&self) -> Option<(&Trial, f64)> {
        let balanced = |t| match t {
            &Trial { score: Score::Class { balanced_accuracy, .. }, .. } => Some(balanced_accuracy),
            _ => None,
        };
        let scored = self.probes.iter().filter_map(|t| Some((t, balanced(t)?)));
        scored.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Baseline {
    fn new(train: &Labels, test: &Labels) -> Self {
        match (train, test) {
            (Labels::Classes { codes: seen, count }, Labels::Classes { codes, .. }) => {
                let [seen, tested] = [seen, codes].map(|codes| {
                    let mut rows = vec![0u64; *count];
                    codes.iter().for_each(|&c| rows[c as usize] += 1);
                    rows.iter().map(|&n| n as f64 / codes.len() as f64).collect::<Vec<_>>()
                });
                let most = |shares: &[f64]| {
                    (1..*count).fold(0, |b, j| if shares[j] > shares[b] { j } else { b })
                };
                Baseline::Class {
                    classes: *count,
                    majority: tested[most(&tested)],
                    guess: tested[most(&seen)],
                    chance: 1.0 / *count as f64,
                }
            }
            (_, labels) => {
                let values = match labels {
                    Labels::Numbers(values) => &values[..],
                    Labels::Classes { .. } => &[],
                };
                let n = values.len().max(1) as f64;
                let mean = values.iter().sum::<f64>() / n;
                let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
                Baseline::Number { variance }
            }
        }
    }
}

impl Trial {
    /// None if the probe did not run.
    fn new(probe: &'static str, attribute: &Attribute<'_>, runs: &[&Run]) -> Option<Self> {
        let first = runs.first()?;
        let over = |score: &dyn Fn(&Run) -> f64| {
            mean_and_spread(&runs.iter().map(|r| score(r)).collect::<Vec<_>>())
        };
        let rows = attribute.test.rows();
        let (score, ci, told) = match (attribute.test, &first.told) {
            (Labels::Classes { codes, count }, Prediction::Scores(scores)) => {
                let of = |run: &Run, by: &dyn Fn(&Mat<f64>) -> f64| match &run.told {
                    Prediction::Scores(scores) => by(scores),
                    Prediction::Numbers(_) => f64::NAN,
                };
                let decided = |s: &Mat<f64>| metrics::decide(s.as_ref());
                let (accuracy, accuracy_sd) =
                    over(&|r| of(r, &|s| metrics::accuracy(codes, &decided(s))));
                let balanced =
                    |s: &Mat<f64>| metrics::balanced_accuracy(codes, &decided(s), *count);
                let (balanced_accuracy, _) = over(&|r| of(r, &balanced));
                let area = |s: &Mat<f64>| metrics::auc(codes, s.as_ref()).unwrap_or(f64::NAN);
                let auc = Some(over(&|r| of(r, &area)).0).filter(|a| a.is_finite());
                (
                    Score::Class { accuracy, accuracy_sd, balanced_accuracy, auc },
                    metrics::wilson(accuracy, rows),
                    Told::Classes(decided(scores)),
                )
            }
            (Labels::Numbers(values), Prediction::Numbers(told)) => {
                let (r2, r2_sd) = over(&|r| match &r.told {
                    Prediction::Numbers(told) => metrics::r2(values, told),
                    Prediction::Scores(_) => f64::NAN,
                });
                let ci = metrics::r2_interval(values, told, 0);
                (Score::Number { r2, r2_sd }, ci, Told::Numbers(told.clone()))
            }
            _ => return None,
        };
        let seconds = runs.iter().map(|r| r.seconds).sum();
        Some(Trial { probe, score, ci, runs: runs.len(), seconds, told })
    }
}

/// The mean and the standard deviation (of a sample; 0 for a single value).
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}
