//! The readers of other crates, kept from taking the program down.
//!
//! The `arrow` and `parquet` crates panic on some damaged files. Such a panic is
//! caught here and becomes an error that names the file. It still passes the
//! program's panic hook first; every reader runs on a thread named
//! [`READER_THREAD`], so that a program can keep its hook silent about them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

use crate::error::{DataError, Result};

/// The name of the threads on which files are read.
pub const READER_THREAD: &str = "sarl-read";

/// Runs a reader; a panic in it means that the file is damaged.
pub(crate) fn guarded<T>(
    path: &Path,
    format: &'static str,
    read: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // What the reader leaves behind is not used again: every caller stops at an error.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied());
        Err(DataError::damaged(path, format, said.unwrap_or("its contents make no sense")))
    })
}

/// Runs something on a reader's thread and waits for it; on this one if there can be no other.
pub(crate) fn on_reader_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let mut work = Some(work);
    let run = || work.take().map(|work| work());
    let name = READER_THREAD.to_owned();
    let done = thread::scope(|scope| {
        let thread = thread::Builder::new().name(name).spawn_scoped(scope, run).ok()?;
        thread.join().ok().flatten()
    });
    match (done, work) {
        (Some(done), _) => done,
        (None, Some(work)) => work(),
        (None, None) => Err(DataError::ReaderStopped),
    }
}
