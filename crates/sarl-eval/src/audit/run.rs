//! The runs of the probes, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use faer::{Mat, MatRef};

use super::{Attribute, Options, View};
use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};

/// One run of one probe.
pub(super) struct Job {
    pub(super) view: usize,
    pub(super) attribute: usize,
    pub(super) probe: usize,
    seed: u64,
}

pub(super) fn jobs(views: usize, attributes: &[Attribute<'_>], options: &Options<'_>) -> Vec<Job> {
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

pub(super) struct Run {
    pub(super) told: Prediction,
    pub(super) seconds: f64,
}

/// Hands the jobs to threads, those first that come last: raw features take the longest.
pub(super) fn run<'j>(
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
pub(super) struct Scaled {
    train: Mat<f64>,
    test: Mat<f64>,
}

impl Scaled {
    pub(super) fn new(view: &View<'_>) -> Self {
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
