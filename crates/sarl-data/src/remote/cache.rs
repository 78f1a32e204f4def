//! Blocks of objects on disk: one temporary file for the process, without a name.
//!
//! The file has slots for blocks and is filled in turn. When it is full, the oldest blocks make room,
//! and are fetched again when they are read again.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::plan::BLOCK;
use super::trouble::Trouble;

/// Blocks that are kept: 8 GiB.
const SLOTS: usize = 1 << 15;

/// The blocks of all objects of this process.
pub(super) static CACHE: Cache = Cache::new(SLOTS);

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Missing,
    /// Somebody will fetch it.
    Queued,
    /// Somebody is fetching it.
    Coming,
    Here(usize),
}

/// What is known of an object.
struct Held {
    blocks: Vec<Block>,
    failure: Option<Trouble>,
}

/// The owner of a slot: an object and a block of it.
type Owner = (u64, u64);

struct State {
    slots: Vec<Option<Owner>>,
    next: usize,
    objects: Option<HashMap<u64, Held>>,
}

/// What a reader that wants a block has to do.
pub(super) enum Step {
    /// Read again: bytes were read.
    Read(usize),
    /// Fetch these blocks, which nobody else will.
    Fetch(Range<u64>),
}

pub(super) struct Cache {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
    file: OnceLock<Result<File, io::ErrorKind>>,
}

impl State {
    fn held(&mut self, id: u64) -> Option<&mut Held> {
        self.objects.get_or_insert_default().get_mut(&id)
    }

    fn set(&mut self, id: u64, blocks: Range<u64>, to: Block) {
        if let Some(held) = self.held(id) {
            let blocks = blocks.start as usize..(blocks.end as usize).min(held.blocks.len());
            held.blocks[blocks].fill(to);
        }
    }

    /// The next slot, with nobody's block in it.
    fn take_slot(&mut self, most: usize) -> usize {
        let slot = self.next;
        self.next = (slot + 1) % most;
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        if let Some((id, block)) = self.slots[slot].take() {
            self.set(id, block..block + 1, Block::Missing);
        }
        slot
    }
}

impl Cache {
    pub(super) const fn new(most: usize) -> Self {
        let state = State { slots: Vec::new(), next: 0, objects: None };
        Self { most, state: Mutex::new(state), changed: Condvar::new(), file: OnceLock::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> Result<&File, Trouble> {
        let file = self.file.get_or_init(|| tempfile::tempfile().map_err(|e| e.kind()));
        file.as_ref().map_err(|kind| Trouble::Cache(*kind))
    }

    /// Makes an object known.
    pub(super) fn add(&self, id: u64, blocks: u64) {
        let held = Held { blocks: vec![Block::Missing; blocks as usize], failure: None };
        self.state().objects.get_or_insert_default().insert(id, held);
    }

    /// Forgets an object.
    pub(super) fn remove(&self, id: u64) {
        let mut state = self.state();
        let held = state.objects.get_or_insert_default().remove(&id);
        for block in held.into_iter().flat_map(|held| held.blocks) {
            if let Block::Here(slot) = block {
                state.slots[slot] = None;
            }
        }
    }

    /// Reads bytes of a block from an offset in it, waiting if somebody is fetching it; otherwise
    /// says which blocks of `run` the caller has to fetch.
    pub(super) fn read(
        &self,
        (id, block): Owner,
        run: Range<u64>,
        offset: u64,
        to: &mut [u8],
    ) -> Result<Step, Trouble> {
        let mut state = self.state();
        loop {
            let held = state.held(id).ok_or(Trouble::NotFound)?;
            if let Some(trouble) = &held.failure {
                return Err(trouble.clone());
            }
            match held.blocks.get(block as usize) {
                Some(Block::Here(slot)) => {
                    let slot = *slot;
                    drop(state);
                    let count = read_at(self.file()?, slot as u64 * BLOCK + offset, to)?;
                    state = self.state();
                    // It may have made room in the meantime.
                    if state.slots.get(slot) == Some(&Some((id, block))) {
                        return Ok(Step::Read(count));
                    }
                }
                Some(Block::Coming) => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                _ => {
                    let wanted = claimed(&mut held.blocks, block..run.end.max(block + 1), true);
                    return Ok(Step::Fetch(wanted));
                }
            }
        }
    }

    /// Marks the blocks of a run that are missing; false if there is none.
    pub(super) fn queue(&self, id: u64, run: Range<u64>) -> bool {
        let mut state = self.state();
        let Some(held) = state.held(id).filter(|held| held.failure.is_none()) else { return false };
        let mut any = false;
        for block in run {
            if let Some(block @ Block::Missing) = held.blocks.get_mut(block as usize) {
                (*block, any) = (Block::Queued, true);
            }
        }
        any
    }

    /// The first blocks of a run that were queued and that nobody has fetched yet.
    pub(super) fn claim(&self, id: u64, run: Range<u64>) -> Option<Range<u64>> {
        let mut state = self.state();
        let held = state.held(id)?;
        let queued = |b: &u64| held.blocks.get(*b as usize) == Some(&Block::Queued);
        let first = run.clone().find(queued)?;
        Some(claimed(&mut held.blocks, first..run.end, false))
    }

    /// Keeps a block that has come.
    pub(super) fn put(&self, (id, block): Owner, bytes: &[u8]) -> Result<(), Trouble> {
        let file = self.file()?;
        let slot = self.state().take_slot(self.most);
        write_at(file, slot as u64 * BLOCK, bytes).map_err(|e| Trouble::Cache(e.kind()))?;
        let mut state = self.state();
        if state.held(id).is_some() {
            state.slots[slot] = Some((id, block));
            state.set(id, block..block + 1, Block::Here(slot));
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Tells everyone who waits for an object why it does not come.
    pub(super) fn fail(&self, id: u64, blocks: Range<u64>, trouble: Trouble) {
        let mut state = self.state();
        state.set(id, blocks, Block::Missing);
        if let Some(held) = state.held(id) {
            held.failure = Some(trouble);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Why an object could not be read, if it could not.
    pub(super) fn failure(&self, id: u64) -> Option<Trouble> {
        self.state().held(id)?.failure.clone()
    }
}

/// Marks the first blocks of a run as coming, up to one that is here or coming already. A reader also
/// takes those that nobody has queued.
fn claimed(blocks: &mut [Block], run: Range<u64>, reader: bool) -> Range<u64> {
    let mut end = run.start;
    while end < run.end {
        match blocks.get_mut(end as usize) {
            Some(block @ Block::Queued) => *block = Block::Coming,
            Some(block @ Block::Missing) if reader => *block = Block::Coming,
            _ => break,
        }
        end += 1;
    }
    run.start..end
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, offset).map(|()| to.len())
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, to, offset)
}

#[cfg(windows)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        done += std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cache: &Cache, id: u64, block: u64) -> Result<Option<u8>, Range<u64>> {
        let mut to = [0];
        match cache.read((id, block), 0..8, 3, &mut to).unwrap() {
            Step::Read(count) => Ok((count == 1).then_some(to[0])),
            Step::Fetch(run) => Err(run),
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let cache = Cache::new(3);
        cache.add(7, 8);
        for block in 0..4 {
            assert_eq!(read(&cache, 7, block), Err(block..8));
            cache.state().set(7, block..8, Block::Missing);
            cache.put((7, block), &[block as u8; 10]).unwrap();
        }
        assert_eq!(read(&cache, 7, 3), Ok(Some(3)));
        assert_eq!(read(&cache, 7, 1), Ok(Some(1)));
        // Only the first one is fetched: the second is here.
        assert_eq!(read(&cache, 7, 0), Err(0..1));
        assert!(cache.queue(7, 4..6) && !cache.queue(7, 1..4));
        assert_eq!(cache.claim(7, 1..8), Some(4..6));
        assert_eq!(cache.claim(7, 1..8), None);
        cache.remove(7);
        assert!(cache.read((7, 1), 0..1, 0, &mut [0]).is_err());
    }

    #[test]
    fn whoever_waits_is_told() {
        let cache = Cache::new(3);
        cache.add(1, 2);
        assert_eq!(read(&cache, 1, 0), Err(0..2));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| read(&cache, 1, 0));
            let failing = scope.spawn(|| cache.read((1, 1), 0..2, 0, &mut [0]).is_err());
            cache.put((1, 0), &[5; 9]).unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(Some(5)));
            cache.fail(1, 1..2, Trouble::Changed);
            assert!(failing.join().unwrap());
        });
    }
}
