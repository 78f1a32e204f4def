//! Progress on stderr, and the end of it on Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::{Exit, Failure, Outcome};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long the work between two looks at the flag may take before Ctrl-C ends the process
/// without it; unfinished outputs are temporary files that no command reads.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Lets Ctrl-C end the command at the next block of rows.
pub fn listen() {
    let stop = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            std::process::exit(Exit::Interrupted as i32);
        });
    };
    // Without a handler Ctrl-C ends the process at once, which is as good.
    let _ = ctrlc::set_handler(stop);
}

fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Shown when the work takes longer than this.
const LATE: Duration = Duration::from_secs(1);

/// A pass over rows.
pub struct Pass {
    bar: ProgressBar,
    started: Instant,
    quiet: bool,
    shown: bool,
}

impl Pass {
    /// Nothing is shown yet. Not at all if `quiet` or stderr is no terminal.
    pub fn new(what: &'static str, total: Option<u64>, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => "{msg} {wide_bar} {human_pos}/{human_len} rows, {per_sec}, {eta} left",
            None => "{msg} {spinner} {human_pos} rows, {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Pass { bar, started: Instant::now(), quiet, shown: false }
    }

    /// So many rows are done; stops on Ctrl-C.
    pub fn at(&mut self, rows: u64) -> ControlFlow<()> {
        if !self.quiet && !self.shown && self.started.elapsed() > LATE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_position(rows);
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// As [`Pass::at`], as an error.
    pub fn check(&mut self, rows: u64) -> Outcome {
        match self.at(rows) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Failure::interrupted()),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Ends the command if Ctrl-C was pressed.
pub fn check() -> Outcome {
    if interrupted() { Err(Failure::interrupted()) } else { Ok(()) }
}
