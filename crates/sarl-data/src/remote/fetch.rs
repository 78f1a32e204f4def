//! Threads that fetch ahead of the readers.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use super::cache::CACHE;
use super::object::Object;
use super::plan::Plan;
use super::trouble::Trouble;
use crate::guard::READER_THREAD;

/// Requests at once, and files that are looked at ahead.
pub(crate) const AHEAD: usize = 16;
/// Requests ahead of the reader of one object.
const RUNS: usize = 4;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(Weak<Object>, Range<u64>)>,
    threads: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: VecDeque::new(), threads: 0 });

/// Fetches the next runs of a plan, from one of them on.
pub(super) fn ahead(object: &Arc<Object>, plan: &Plan, from: usize) {
    for run in plan.runs().iter().skip(from).take(RUNS) {
        queue(object, run.clone());
    }
}

/// Fetches blocks of an object, unless they are here or on their way.
pub(super) fn queue(object: &Arc<Object>, run: Range<u64>) {
    if !CACHE.queue(object.id(), run.clone()) {
        return;
    }
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    queue.jobs.push_back((Arc::downgrade(object), run));
    if queue.threads < AHEAD {
        // Where no thread can be started the reader fetches for itself.
        let started = thread::Builder::new().name(READER_THREAD.to_owned()).spawn(work);
        queue.threads += usize::from(started.is_ok());
    }
}

fn work() {
    while let Some((object, run)) = next() {
        let Some(object) = object.upgrade() else { continue };
        while let Some(blocks) = CACHE.claim(object.id(), run.clone()) {
            // Whoever waits for them is told, also of a defect.
            let bring = AssertUnwindSafe(|| object.bring(blocks.clone()));
            if catch_unwind(bring).is_err() {
                CACHE.fail(object.id(), blocks, Trouble::Other("the reader stopped".to_owned()));
            }
        }
    }
}

fn next() -> Option<(Weak<Object>, Range<u64>)> {
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    let job = queue.jobs.pop_front();
    queue.threads -= usize::from(job.is_none());
    job
}

/// Does something for each item, several at a time, and returns the results in order.
pub(crate) fn each<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let share = items.len().div_ceil(AHEAD).max(1);
    let work = &work;
    thread::scope(|scope| {
        let part = |items: &[I]| items.iter().map(work).collect::<Vec<T>>();
        let start = |items| {
            thread::Builder::new()
                .name(READER_THREAD.to_owned())
                .spawn_scoped(scope, move || part(items))
                .ok()
        };
        let started: Vec<_> = items.chunks(share).map(|chunk| (chunk, start(chunk))).collect();
        let finish = |(chunk, thread): (&[I], Option<thread::ScopedJoinHandle<'_, Vec<T>>>)| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| part(chunk))
        };
        started.into_iter().flat_map(finish).collect()
    })
}
