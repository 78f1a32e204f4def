//! Files that become objects, whole or not at all.
//!
//! A small file is one request. A large one goes in parts, which become an object at the end; when
//! anything fails, the store is told to forget them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, UploadPart};

use super::address::{Address, Scheme};
use super::store::{store, wait};
use super::trouble::Trouble;
use crate::error::Result;

/// A file up to this size is one request.
const SMALL: u64 = 16 << 20;
/// Bytes of a part, and how many there may be.
const PART: u64 = 8 << 20;
const MOST_PARTS: u64 = 10_000;
/// Parts on their way at once.
const AT_ONCE: usize = 4;
/// How long the end of the process waits for a store to forget parts.
const PATIENCE: Duration = Duration::from_secs(2);

/// The upload in parts that is under way. There is one at a time.
static RUNNING: Mutex<Option<Box<dyn MultipartUpload>>> = Mutex::new(None);

/// Whether something can be written to an address, as far as that can be told from the address.
pub(crate) fn check(path: &Path) -> Result<()> {
    Address::parse(path)?.location().map(drop)
}

/// Writes a file to an address.
pub(crate) fn upload(file: &mut File, path: &Path) -> Result<()> {
    let address = Address::parse(path)?;
    let location = address.location()?;
    let mut send = || -> Result<(), Trouble> {
        let size = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let store = store(&address)?;
        // A web server takes whole files only.
        if size <= SMALL || address.scheme == Scheme::Web {
            sarl_memory::check(size).map_err(|e| Trouble::Other(e.to_string()))?;
            let payload = part(file, size)?;
            return wait(async { Ok(store.put(&location, payload).await.map(drop)?) });
        }
        in_parts(file, size, store.as_ref(), &location)
    };
    send().map_err(|trouble| trouble.writing(&address.path()))
}

fn part(file: &mut File, size: u64) -> Result<PutPayload, Trouble> {
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

fn in_parts(
    file: &mut File,
    size: u64,
    store: &dyn ObjectStore,
    location: &object_store::path::Path,
) -> Result<(), Trouble> {
    let begun = wait(async { Ok(store.put_multipart(location).await?) })?;
    *running() = Some(begun);
    let sent = send_parts(file, size).and_then(|()| {
        let mut upload = running();
        let upload = upload.as_mut().ok_or_else(abandoned)?;
        wait(async { Ok(upload.complete().await.map(drop)?) })
    });
    let upload = running().take();
    if let (Err(_), Some(mut upload)) = (&sent, upload) {
        // The first failure is the one that is told.
        let _ = wait(async { Ok(upload.abort().await?) });
    }
    sent
}

fn send_parts(file: &mut File, size: u64) -> Result<(), Trouble> {
    let length = PART.max(size.div_ceil(MOST_PARTS));
    let mut left = size;
    let mut under_way: VecDeque<thread::JoinHandle<Result<(), Trouble>>> = VecDeque::new();
    let mut outcome = Ok(());
    while left > 0 && outcome.is_ok() {
        if under_way.len() == AT_ONCE {
            outcome = under_way.pop_front().map_or(Ok(()), joined);
            continue;
        }
        let bytes = part(file, length.min(left))?;
        left -= length.min(left);
        let sending: UploadPart = running().as_mut().ok_or_else(abandoned)?.put_part(bytes);
        under_way.push_back(thread::Builder::new().spawn(|| wait(async { Ok(sending.await?) }))?);
    }
    // All are waited for, so that none comes after the end.
    under_way.into_iter().map(joined).fold(outcome, |all, one| all.and(one))
}

fn joined(thread: thread::JoinHandle<Result<(), Trouble>>) -> Result<(), Trouble> {
    thread.join().unwrap_or_else(|_| Err(Trouble::Other("a part was not sent".to_owned())))
}

/// The process is ending, and whoever ends it waits for the store. It must not end before that.
fn abandoned() -> Trouble {
    thread::sleep(PATIENCE);
    Trouble::Interrupted
}

fn running() -> std::sync::MutexGuard<'static, Option<Box<dyn MultipartUpload>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the store forget the parts of an upload that will not be finished, for an end without
/// destructors. It is waited for a moment only.
pub(crate) fn abandon() {
    let upload = RUNNING.try_lock().ok().and_then(|mut running| running.take());
    let Some(mut upload) = upload else { return };
    let (done, wait_for) = mpsc::channel();
    let abort = move || {
        let _ = wait(async { Ok(upload.abort().await?) });
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(abort).is_ok() {
        let _ = wait_for.recv_timeout(PATIENCE);
    }
}
