//! The threads of the command, where the system gives fewer than were asked for.

use std::sync::mpsc::channel;
use std::thread::{Builder, available_parallelism, scope};

use rayon::ThreadPoolBuilder;

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::{output, progress};

/// Threads beside those that compute: one that reads, one that shows progress, one for Ctrl-C.
const OTHERS: usize = 3;

/// Starts the threads that compute. Where not all can be started there are fewer; where none can be, the
/// thread that we have does everything.
pub fn start(global: &Global) -> Outcome {
    let all = || available_parallelism().map_or(1, usize::from);
    let wanted = global.threads.map_or_else(all, usize::from).max(1);
    let there = startable(wanted + OTHERS).saturating_sub(OTHERS);
    let pool = ThreadPoolBuilder::new();
    let pool = match there {
        0 => {
            progress::without_threads();
            pool.num_threads(1).use_current_thread()
        }
        there => pool.num_threads(there),
    };
    if there < wanted {
        let threads = there.max(1);
        output::note(global, &format!("the system allows {threads} of {wanted} threads"));
    }
    pool.build_global().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
}

/// How many threads can be had at the same time, up to so many. A pool that fails to start could not be
/// started again.
fn startable(most: usize) -> usize {
    scope(|scope| {
        let mut waiting = Vec::new();
        for _ in 0..most {
            let (end, wait) = channel::<()>();
            // It waits until its other end is dropped.
            let started = Builder::new().spawn_scoped(scope, move || wait.recv().is_ok());
            match started {
                Ok(_) => waiting.push(end),
                Err(_) => break,
            }
        }
        waiting.len()
    })
}
