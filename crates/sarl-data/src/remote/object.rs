//! An object that is read in pieces.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::address::{Address, Scheme};
use super::cache::{CACHE, Step};
use super::fetch;
use super::plan::{BLOCK, Plan};
use super::store::{store, wait};
use super::trouble::Trouble;
use crate::error::{DataError, Result};

/// How often a request without any new byte is repeated, beyond what `object_store` does.
const ATTEMPTS: u32 = 3;
/// The first pause between them.
const PAUSE: Duration = Duration::from_millis(200);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// An object of a store as it was when it was found. If it changes, reading it fails.
#[derive(Debug)]
pub(crate) struct Object {
    id: u64,
    path: PathBuf,
    store: Arc<dyn ObjectStore>,
    location: Key,
    size: u64,
    tag: Option<String>,
}

/// What an address leads to.
pub(crate) enum Found {
    /// An object that can be read in pieces.
    Object(Arc<Object>),
    /// All bytes from a server that gives whole objects only.
    Whole(Whole),
}

/// Looks for the object of an address.
pub(crate) fn find(path: &Path) -> Result<Found> {
    let address = Address::parse(path)?;
    let location = address.location()?;
    let found = || -> Result<Found, Trouble> {
        let store = store(&address)?;
        if address.scheme != Scheme::Web {
            let meta = wait(async { Ok(store.head(&location).await?) })?;
            return Ok(Found::Object(Object::new(&address, store, meta)));
        }
        // Signed addresses are for GET alone, so the first byte is asked for.
        match wait(async { Ok(store.get_opts(&location, bytes(0..1)).await?.meta) }) {
            Ok(meta) => Ok(Found::Object(Object::new(&address, store, meta))),
            Err(Trouble::NoRanges) => {
                let answer: GetResult = wait(async { Ok(store.get(&location).await?) })?;
                Ok(Found::Whole(Whole { stream: answer.into_stream(), rest: Bytes::new() }))
            }
            Err(trouble) => Err(trouble),
        }
    };
    found().map_err(|trouble| trouble.reading(&address.path()))
}

/// Blocks on their way: the next one, the beginning of it, and the end.
struct Coming {
    next: u64,
    end: u64,
    part: Vec<u8>,
}

impl Coming {
    /// The next byte.
    fn position(&self) -> u64 {
        self.next * BLOCK + self.part.len() as u64
    }
}

fn bytes(range: Range<u64>) -> GetOptions {
    GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() }
}

impl Object {
    /// An object that a store has described.
    pub(super) fn new(
        address: &Address,
        store: Arc<dyn ObjectStore>,
        meta: ObjectMeta,
    ) -> Arc<Self> {
        let path = match address.scheme {
            Scheme::Web => address.path(),
            _ => address.at(meta.location.as_ref()),
        };
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        CACHE.add(id, meta.size.div_ceil(BLOCK));
        let (location, size, tag) = (meta.location, meta.size, meta.e_tag);
        Arc::new(Self { id, path, store, location, size, tag })
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Its address.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Why it could not be read, if it could not.
    pub(crate) fn failure(&self) -> Option<DataError> {
        CACHE.failure(self.id).map(|trouble| trouble.reading(&self.path))
    }

    /// Fetches what a reader needs first: all of a small object, else one block from each end.
    pub(crate) fn glance(self: &Arc<Self>) {
        let plan = Plan::of(self.size, [0..1, self.size.saturating_sub(1)..self.size]);
        fetch::ahead(self, &plan, 0);
    }

    /// Fetches the first parts of a plan.
    pub(crate) fn begin(self: &Arc<Self>, plan: &Plan) {
        fetch::ahead(self, plan, 0);
    }

    /// The length of a block.
    fn length(&self, block: u64) -> usize {
        (self.size - block * BLOCK).min(BLOCK) as usize
    }

    fn check(&self, meta: &ObjectMeta) -> Result<(), Trouble> {
        let plain = |tag: &String| tag.trim_start_matches("W/").trim_matches('"').to_owned();
        let (before, now) = (self.tag.as_ref().map(plain), meta.e_tag.as_ref().map(plain));
        let same = before.is_none() || now.is_none() || before == now;
        if same && meta.size == self.size { Ok(()) } else { Err(Trouble::Changed) }
    }

    /// Fetches blocks that the caller has claimed. A connection that ends early goes on where it
    /// stopped.
    pub(super) fn bring(&self, blocks: Range<u64>) -> Result<(), Trouble> {
        let mut coming = Coming { next: blocks.start, end: blocks.end, part: Vec::new() };
        let mut failures = 0;
        while coming.next < blocks.end {
            let before = coming.position();
            let Err(trouble) = self.request(&mut coming) else { continue };
            failures = if coming.position() > before { 1 } else { failures + 1 };
            if matches!(trouble, Trouble::Other(_)) && failures < ATTEMPTS {
                thread::sleep(PAUSE * failures);
                continue;
            }
            let trouble = self.explained(trouble);
            CACHE.fail(self.id, coming.next..blocks.end, trouble.clone());
            return Err(trouble);
        }
        Ok(())
    }

    fn request(&self, coming: &mut Coming) -> Result<(), Trouble> {
        let range = coming.position()..(coming.end * BLOCK).min(self.size);
        wait(async {
            let answer = self.store.get_opts(&self.location, bytes(range)).await?;
            self.check(&answer.meta)?;
            let mut stream = answer.into_stream();
            while let Some(piece) = stream.next().await {
                self.keep(coming, piece?)?;
            }
            match coming.next == coming.end {
                true => Ok(()),
                false => Err(Trouble::Other("the connection ended early".to_owned())),
            }
        })
    }

    /// Keeps what has come, block by block.
    fn keep(&self, coming: &mut Coming, mut piece: Bytes) -> Result<(), Trouble> {
        while piece.has_remaining() && coming.next < coming.end {
            let length = self.length(coming.next);
            let part = piece.split_to(piece.len().min(length - coming.part.len()));
            coming.part.extend_from_slice(&part);
            if coming.part.len() == length {
                CACHE.put((self.id, coming.next), &coming.part)?;
                coming.part.clear();
                coming.next += 1;
            }
        }
        Ok(())
    }

    /// An object that was replaced by a shorter one has no such bytes: that is the reason then.
    fn explained(&self, trouble: Trouble) -> Trouble {
        let changed = || {
            let meta = wait(async { Ok(self.store.head(&self.location).await?) }).ok()?;
            self.check(&meta).err()
        };
        match trouble {
            Trouble::Other(_) => changed().unwrap_or(trouble),
            other => other,
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        CACHE.remove(self.id);
    }
}

/// A reader of an object.
#[derive(Clone, Debug)]
pub struct ObjectReader {
    object: Arc<Object>,
    plan: Arc<Plan>,
    position: u64,
    /// The run that was read last, so that what follows it is asked for once.
    run: Option<usize>,
}

impl ObjectReader {
    pub(crate) fn new(object: &Arc<Object>, plan: Arc<Plan>) -> Self {
        Self { object: object.clone(), plan, position: 0, run: None }
    }

    pub(crate) fn size(&self) -> u64 {
        self.object.size
    }

    fn read_block(&mut self, to: &mut [u8]) -> Result<usize, Trouble> {
        let block = self.position / BLOCK;
        let offset = self.position - block * BLOCK;
        let left = self.object.length(block) - offset as usize;
        let count = to.len().min(left);
        let place = self.plan.place(block);
        let run = place.map_or(block..block + 1, |place| self.plan.runs()[place].clone());
        if let Some(place) = place.filter(|place| self.run != Some(*place)) {
            // Whoever only looks at the beginning or the end needs no more than that.
            if self.run.replace(place).is_some() {
                fetch::ahead(&self.object, &self.plan, place + 1);
            }
        }
        loop {
            match CACHE.read((self.object.id, block), run.clone(), offset, &mut to[..count])? {
                Step::Read(count) => return Ok(count),
                Step::Fetch(blocks) => self.object.bring(blocks)?,
            }
        }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.object.size || to.is_empty() {
            return Ok(0);
        }
        let count = self.read_block(to).map_err(io::Error::from)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.object.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// All bytes of an object, once.
pub(crate) struct Whole {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    rest: Bytes,
}

impl Read for Whole {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match wait(async { Ok(self.stream.next().await.transpose()?) })? {
                Some(piece) => self.rest = piece,
                None => return Ok(0),
            }
        }
        let part = self.rest.split_to(self.rest.len().min(to.len()));
        to[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}
