//! An allocator that counts, and ends the program where the limit would be exceeded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use crate::Exceeded;

/// Each thread counts for itself up to this many bytes, so that threads do not wait for each other.
const APART: i64 = 64 << 10;

/// Nothing but the buffers of matrix products is aligned to pages.
const PAGE: usize = 4096;

static USED: AtomicI64 = AtomicI64::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
/// Copied from the limit when the program is ready for it: asking for it allocates.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
static END: OnceLock<fn(Exceeded) -> !> = OnceLock::new();
/// Memory for the last words: where nothing is left, there would be none for a message.
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
/// Large enough to be pages of its own, which go back to the system: a thread that has no memory yet
/// looks for it there only. They are not touched, so they take address space and no memory.
const LAST_WORDS: Layout = Layout::new::<[u8; 2 << 20]>();

thread_local! {
    static OWN: Cell<i64> = const { Cell::new(0) };
}

/// The bytes in use, as far as they are counted.
pub(crate) fn used() -> u64 {
    u64::try_from(USED.load(Ordering::Relaxed)).unwrap_or(0)
}

/// From now on memory beyond the limit ends the program with `end`, which may allocate.
///
/// It runs on the thread that asked for the memory; the others stop at their next allocation. So it
/// must not wait for a lock.
pub fn when_exceeded(end: fn(Exceeded) -> !) {
    if END.set(end).is_ok() {
        MOST.store(crate::limit(), Ordering::Relaxed);
        keep();
    }
}

#[allow(unsafe_code, reason = "memory that the allocator of the system gives and takes back")]
fn keep() {
    // SAFETY: the size is not zero. What was kept before is not there any more, as this runs once.
    KEPT.store(unsafe { System.alloc(LAST_WORDS) }, Ordering::Relaxed);
}

#[allow(unsafe_code, reason = "memory that the allocator of the system gives and takes back")]
fn give_back() {
    let kept = KEPT.swap(ptr::null_mut(), Ordering::Relaxed);
    if !kept.is_null() {
        // SAFETY: it was given by `keep`, with this layout, and is given back once.
        unsafe { System.dealloc(kept, LAST_WORDS) }
    }
}

/// The allocator of the system, within the limit. See [`when_exceeded`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted;

impl Counted {
    /// What counts of an allocation. Matrix products ask for twice the cache of the processor on each
    /// thread, in pages, and use as much of it as their matrices are large: address space, not memory.
    fn counted(layout: Layout, size: usize) -> i64 {
        if layout.align() >= PAGE { 0 } else { size as i64 }
    }

    /// Counts bytes, and ends the program where they are too many.
    fn count(bytes: i64) {
        let due = OWN.try_with(|own| {
            let due = own.get() + bytes;
            let apart = due.abs() < APART;
            own.set(if apart { due } else { 0 });
            if apart { 0 } else { due }
        });
        let due = due.unwrap_or(bytes);
        if due == 0 {
            return;
        }
        let before = USED.fetch_add(due, Ordering::Relaxed);
        if due > 0 {
            let now = u64::try_from(before.saturating_add(due)).unwrap_or(0);
            if now > MOST.load(Ordering::Relaxed) {
                Self::end(now, MOST.swap(u64::MAX, Ordering::Relaxed));
            }
        }
    }

    /// Whether or not it is within the limit, what was asked for may not be there.
    fn given<T>(pointer: *mut T, bytes: usize) -> *mut T {
        if pointer.is_null() && bytes > 0 {
            let there = used();
            Self::end(there.saturating_add(bytes as u64), there);
        }
        pointer
    }

    #[cold]
    fn end(needed: u64, limit: u64) {
        let Some(end) = END.get() else { return };
        if ENDING.swap(true, Ordering::SeqCst) {
            // The thread that ends the program may allocate; all others wait for the end.
            if MINE.try_with(Cell::get).unwrap_or(false) {
                return;
            }
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        let _ = MINE.try_with(|mine| mine.set(true));
        give_back();
        end(Exceeded { needed, limit });
    }
}

thread_local! {
    /// Whether this thread ends the program.
    static MINE: Cell<bool> = const { Cell::new(false) };
}

#[allow(
    unsafe_code,
    reason = "an allocator; each call goes to the system's with the same arguments"
)]
// SAFETY: every method passes its arguments on to the allocator of the system and gives back what
// that gave; the counting around it does not allocate.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(Self::counted(layout, layout.size()));
        // SAFETY: the caller's promises are those of the system's allocator.
        Self::given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(Self::counted(layout, layout.size()));
        // SAFETY: as above.
        Self::given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::count(-Self::counted(layout, layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count(Self::counted(layout, size) - Self::counted(layout, layout.size()));
        // SAFETY: as above.
        Self::given(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}
