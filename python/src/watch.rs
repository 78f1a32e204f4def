//! Long work that Python follows: what is being done, and results as they come.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use sarl_lab::Watch;

use crate::failure::lab_failed;
use crate::work::interruptible;

/// What was last said, and what was not yet handed on.
#[derive(Default)]
struct Said {
    step: (String, usize, usize),
    lines: Vec<String>,
    new: bool,
}

struct Follower<'a> {
    stop: &'a (dyn Fn() -> bool + Sync),
    said: Arc<Mutex<Said>>,
}

impl Watch for Follower<'_> {
    fn stop(&self) -> bool {
        (self.stop)()
    }

    fn step(&self, what: &str, done: usize, all: usize) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        (said.step, said.new) = ((what.to_owned(), done, all), true);
    }

    fn line(&self, text: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.lines.push(text.to_owned());
        said.new = true;
    }
}

/// Works on what it owns until Ctrl-C. `progress` is called with what is being done, how many pieces
/// are done, of how many, and the lines since the last call.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Watch) -> sarl_lab::Result<T> + Send + 'static,
) -> PyResult<T> {
    let said = Arc::new(Mutex::new(Said::default()));
    let heard = Arc::clone(&said);
    let work = move |stop: &(dyn Fn() -> bool + Sync)| work(&Follower { stop, said });
    let show = || {
        let Some(progress) = progress else { return Ok(()) };
        let (step, lines) = {
            let mut said = heard.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::take(&mut said.new) {
                return Ok(());
            }
            (said.step.clone(), std::mem::take(&mut said.lines))
        };
        progress.call1((step.0, step.1, step.2, lines)).map(drop)
    };
    interruptible(py, threads, work, show)?.map_err(lab_failed)
}
