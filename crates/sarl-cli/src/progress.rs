//! Progress on stderr, and the end of it on Ctrl-C.

use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sarl_lab::{Watch, plain};

use crate::failure::{Exit, Failure, Outcome};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long the work between two looks at the flag may take before Ctrl-C ends the process
/// without it; unfinished outputs are removed.
const PATIENCE: Duration = Duration::from_millis(800);

/// Lets Ctrl-C end the command at the next block of rows.
pub fn listen() {
    LazyLock::force(&STARTED);
    let stop = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            end();
        }
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            end();
        });
    };
    // Without a handler Ctrl-C ends the process at once, which is as good.
    let _ = ctrlc::set_handler(stop);
}

fn end() {
    Failure::interrupted().report();
    sarl_data::remove_parts();
    std::process::exit(Exit::Interrupted as i32);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Shown when the command takes longer than this.
const LATE: Duration = Duration::from_secs(1);

/// When the command was started.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

fn late() -> bool {
    STARTED.elapsed() > LATE
}

/// Whether no thread can be started.
static THREADLESS: AtomicBool = AtomicBool::new(false);

/// Shows nothing that needs a thread.
pub fn without_threads() {
    THREADLESS.store(true, Ordering::SeqCst);
}

/// A bar that goes when it is done with.
struct Cleared(ProgressBar);

impl Cleared {
    fn new(length: Option<u64>, target: ProgressDrawTarget, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, to: &mut dyn std::fmt::Write| {
                // Nothing can be done about a terminal that refuses a line.
                let _ = write!(to, "{}/s", HumanCount(state.per_sec() as u64));
            };
            bar.set_style(style.with_key("rate", rate));
        }
        Cleared(bar)
    }

    /// Shown unless `quiet`, with the time that it has taken.
    fn ticking(what: Cow<'static, str>, template: &str, quiet: bool, every: u64) -> Self {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = Self::new(None, target, template);
        bar.0.set_message(plain(&what).into_owned());
        // A bar that ticks has a thread, and panics without it.
        if !bar.0.is_hidden() && !THREADLESS.load(Ordering::SeqCst) {
            bar.0.enable_steady_tick(Duration::from_millis(every));
        }
        bar
    }
}

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A pass over rows.
pub struct Pass {
    bar: Cleared,
    quiet: bool,
    shown: bool,
}

impl Pass {
    /// Nothing is shown yet. Not at all if `quiet` or stderr is no terminal.
    pub fn new(what: &'static str, total: Option<u64>, quiet: bool) -> Self {
        let template = match total {
            Some(_) => "{msg} {bar:32} {human_pos}/{human_len} rows, {rate}, {eta} left",
            None => "{msg} {spinner} {human_pos} rows, {rate}",
        };
        let bar = Cleared::new(total, ProgressDrawTarget::hidden(), template);
        bar.0.set_message(what);
        Pass { bar, quiet, shown: false }
    }

    /// So many rows are done; stops on Ctrl-C.
    pub fn at(&mut self, rows: u64) -> ControlFlow<()> {
        if !self.quiet && !self.shown && late() {
            self.bar.0.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.0.set_position(rows);
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

/// Files on their way, one after the other.
pub struct Download {
    bar: Cleared,
    quiet: bool,
    shown: bool,
    file: &'static str,
}

impl Download {
    /// Nothing is shown yet. Not at all if `quiet` or stderr is no terminal.
    pub fn new(quiet: bool) -> Self {
        let template = "{msg} {bar:32} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left";
        let bar = Cleared::new(Some(0), ProgressDrawTarget::hidden(), template);
        Download { bar, quiet, shown: false, file: "" }
    }

    /// So many bytes of a file are here; stops on Ctrl-C.
    pub fn at(&mut self, file: &'static str, done: u64, total: u64) -> ControlFlow<()> {
        if !self.quiet && !self.shown && late() {
            self.bar.0.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        if self.file != file {
            self.file = file;
            self.bar.0.set_message(file);
            self.bar.0.set_length(total);
            self.bar.0.set_position(done);
            // What an earlier run has brought says nothing about how fast this one is.
            self.bar.0.reset_eta();
        }
        self.bar.0.set_position(done);
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Ends the command if Ctrl-C was pressed.
pub fn check() -> Outcome {
    if interrupted() { Err(Failure::interrupted()) } else { Ok(()) }
}

/// Work without rows to count.
pub struct Spinner {
    _bar: Cleared,
}

impl Spinner {
    /// Shown only if the command has been running for a while already.
    pub fn new(what: &'static str, quiet: bool) -> Self {
        Self::shown(what, quiet || !late())
    }

    /// Shown unless `quiet`, with the time that it has taken.
    pub fn shown(what: impl Into<Cow<'static, str>>, quiet: bool) -> Self {
        Spinner { _bar: Cleared::ticking(what.into(), "{spinner} {msg}, {elapsed}", quiet, 100) }
    }
}

/// Work in pieces that may be done by several threads.
pub struct Count(Cleared);

impl Count {
    /// Not shown if `quiet` or stderr is no terminal.
    pub fn new(what: impl Into<Cow<'static, str>>, quiet: bool) -> Self {
        let template = "{msg} {bar:32} {pos} of {len}, {elapsed} gone, {eta} left";
        Count(Cleared::ticking(what.into(), template, quiet, 500))
    }

    /// So many pieces are done, of so many.
    pub fn at(&self, done: usize, all: usize) {
        self.0.0.set_length(all as u64);
        self.0.0.set_position(done as u64);
    }
}

/// Progress of work in a library, on stderr: a spinner, or a count of pieces.
pub struct Shown {
    quiet: bool,
    now: Mutex<Option<(String, Bar)>>,
}

enum Bar {
    Spinner { _shown: Spinner },
    Count(Count),
}

/// What follows the work of a command.
pub fn watch(quiet: bool) -> Shown {
    Shown { quiet, now: Mutex::new(None) }
}

impl Watch for Shown {
    fn stop(&self) -> bool {
        interrupted()
    }

    fn step(&self, what: &str, done: usize, all: usize) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.as_ref().is_none_or(|(shown, _)| shown != what) {
            // The last one is cleared before the next is drawn.
            drop(now.take());
            let text = what.to_owned();
            *now = Some((
                text.clone(),
                match all {
                    0 => Bar::Spinner { _shown: Spinner::shown(text, self.quiet) },
                    _ => Bar::Count(Count::new(text, self.quiet)),
                },
            ));
        }
        if let Some((_, Bar::Count(count))) = &*now {
            count.at(done, all);
        }
        if all > 0 && done == all {
            *now = None;
        }
    }

    fn line(&self, text: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*now, Some((_, Bar::Spinner { .. }))) {
            *now = None;
        }
        if !self.quiet {
            // Nothing can be done about a stderr that cannot be written to.
            let _ = writeln!(std::io::stderr(), "{}", plain(text));
        }
    }
}
