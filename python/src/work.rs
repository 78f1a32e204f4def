//! Threads: work without the interpreter, on a pool that survives a fork, until Ctrl-C.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often a waiting thread asks whether somebody pressed Ctrl-C.
const ASK: Duration = Duration::from_millis(50);

/// Pools by process and size. A forked child has none of its parent's threads, so it must not wait
/// for a pool of theirs: it makes its own, and its parent's is never dropped there.
static POOLS: Mutex<Option<(u32, Pools)>> = Mutex::new(None);

type Pools = HashMap<usize, Arc<ThreadPool>>;

fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let all = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(all).max(1);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.as_ref().is_none_or(|(owner, _)| *owner != process) {
        std::mem::forget(pools.replace((process, HashMap::new())));
    }
    let (_, pools) = pools.get_or_insert_with(|| (process, HashMap::new()));
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    let built = Arc::new(built.map_err(|e| PyRuntimeError::new_err(e.to_string()))?);
    pools.insert(threads, Arc::clone(&built));
    Ok(built)
}

/// Works on what it borrows, without the interpreter. Short work only: Ctrl-C has to wait.
pub fn released<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Works on what it owns. Ctrl-C tells it to stop and does not wait for it: work that never asks
/// ends unheard. `meanwhile` is called now and then.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
    mut meanwhile: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let (send, receive) = mpsc::channel();
    let work = move || {
        let done = pool.install(|| work(&|| asked.load(Ordering::Relaxed)));
        // Nobody listens after Ctrl-C.
        let _ = send.send(done);
    };
    let started = thread::Builder::new().spawn(work);
    started.map_err(|e| PyRuntimeError::new_err(format!("no thread can be started: {e}")))?;
    // A receiver is not shared between threads; the lock is never waited for.
    let receive = Mutex::new(receive);
    let mut wait = || loop {
        let heard =
            py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(ASK));
        let ended = "the work ended without a result";
        let result = match heard {
            Ok(result) => Some(result),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(ended));
            }
        };
        py.check_signals()?;
        meanwhile()?;
        if let Some(result) = result {
            return Ok(result);
        }
    };
    let result = wait();
    stop.store(true, Ordering::Relaxed);
    result
}
