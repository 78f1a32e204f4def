//! Work on threads of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Does the jobs `0..count` on some threads, the last first, and gives their results in order.
///
/// The threads are not those of a pool: a job that waits for the pool must not be handed another job
/// meanwhile. A job is told by `stop` when another has failed; `done` hears how many are done.
///
/// # Errors
///
/// That of a job; of several the first that `is_reason` holds for.
pub fn on_threads<R: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize, &(dyn Fn() -> bool + Sync)) -> Result<R, E> + Sync,
    is_reason: impl Fn(&E) -> bool,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<R>, E> {
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::with_capacity(count));
    let stop = || failed.load(Ordering::Relaxed);
    let each = || {
        while let Some(i) = count.checked_sub(next.fetch_add(1, Ordering::Relaxed) + 1) {
            if stop() {
                return;
            }
            let result = work(i, &stop);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            // Nothing is left half done by a thread that failed with the lock in its hand.
            results.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
            done(ended.fetch_add(1, Ordering::Relaxed) + 1, count);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, count.max(1)) {
            // Without it the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, each);
        }
        each();
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(i, result)| (result.as_ref().is_err_and(|e| !is_reason(e)), *i));
    results.into_iter().map(|(_, result)| result).collect()
}
