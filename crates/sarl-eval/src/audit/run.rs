//! The runs of the probes, on several threads.

use std::time::Instant;

use faer::{Mat, MatRef};

use super::{Attribute, Options, View};
use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};
use crate::threads::on_threads;

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
                let runs = match who.learns(labels.train) {
                    true => who.runs(labels.train.rows(), options.seeds.len()),
                    false => 0,
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
    let work = |i: usize, failed: &(dyn Fn() -> bool + Sync)| {
        let job = &jobs[i];
        let labels = attributes[job.attribute].train;
        let Scaled { train, test, spreads } = &views[job.view];
        let stop = || failed() || (options.stop)();
        let (train, test) = (train.as_ref(), test.as_ref());
        let task = Task { train, labels, test, spreads, seed: job.seed, stop: &stop };
        let start = Instant::now();
        let told = tell(options.probes[job.probe], &task)?;
        Ok((job, Run { told, seconds: start.elapsed().as_secs_f64() }))
    };
    let is_reason = |e: &Error| !matches!(e, Error::Interrupted);
    on_threads(jobs.len(), options.threads, work, is_reason, options.progress)
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
                return Ok(Prediction::Shares(Mat::from_fn(tested, *count, |_, j| shares[j])));
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
    spreads: Vec<f64>,
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
        let spreads = columns.iter().map(|c| c.2).collect();
        Scaled { train: scale(view.train), test: scale(view.test), spreads }
    }
}
