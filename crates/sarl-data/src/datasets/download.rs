//! Files from the network that are whole and right, or absent.
//!
//! What has come is kept as `NAME.part` beside the file. A download that was broken off, by
//! the network or by the caller, goes on from there: with a `Range` request where the server
//! can do that, from the beginning where it cannot. The file gets its name when it has its
//! size and its SHA-256, and not before.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::client::{self, Trouble};
use crate::error::{DataError, Result};

/// A file on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote<'a> {
    /// Its address.
    pub url: &'a str,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, as 64 hexadecimal digits.
    pub sha256: &'a str,
}

/// How far a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The bytes that are here. It goes back to 0 when a server cannot go on from there.
    pub done: u64,
    /// All bytes.
    pub total: u64,
}

/// How patient a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadOptions {
    /// How often it is tried in all.
    pub attempts: u32,
    /// The pause before the second attempt; it grows by as much before each other.
    pub pause: Duration,
    /// How long the server may be silent.
    pub timeout: Duration,
}

impl Default for DownloadOptions {
    fn default() -> Self {
        let (pause, timeout) = (Duration::from_millis(500), Duration::from_secs(30));
        DownloadOptions { attempts: 4, pause, timeout }
    }
}

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;
/// The callback is asked at least this often during a pause.
const TICK: Duration = Duration::from_millis(50);

/// Downloads a file, or the rest of it, to `path`, whose folder must be there. The callback
/// is told how far it is and may stop it; what has come stays for the next call.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use std::path::Path;
/// use sarl_data::{DownloadOptions, Remote, download};
///
/// let remote = Remote {
///     url: "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
///     bytes: 79_793,
///     sha256: "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
/// };
/// let mut progress = |_| ControlFlow::Continue(());
/// download(&remote, Path::new("german.data"), &DownloadOptions::default(), &mut progress)?;
/// # Ok::<(), sarl_data::DataError>(())
/// ```
pub fn download(
    remote: &Remote<'_>,
    path: &Path,
    options: &DownloadOptions,
    progress: &mut dyn FnMut(Transfer) -> ControlFlow<()>,
) -> Result<()> {
    let agent = client::agent(remote.url, options.timeout)?;
    let mut part = Part::open(remote, path, progress)?;
    let outcome = part.complete(&agent, options).and_then(|()| part.finish(path));
    if outcome.is_err() && part.done == 0 {
        // Empty; that it stays would be no harm either.
        let _ = fs::remove_file(&part.path);
    }
    outcome
}

/// The beginning of a file.
struct Part<'a> {
    remote: &'a Remote<'a>,
    folder: &'a Path,
    path: PathBuf,
    file: File,
    done: u64,
    progress: &'a mut dyn FnMut(Transfer) -> ControlFlow<()>,
}

/// Why an attempt ended early.
enum Stop {
    Trouble(Trouble),
    Error(DataError),
}

impl From<DataError> for Stop {
    fn from(error: DataError) -> Self {
        Stop::Error(error)
    }
}

impl From<ureq::Error> for Stop {
    fn from(error: ureq::Error) -> Self {
        Stop::Trouble(error.into())
    }
}

impl<'a> Part<'a> {
    fn open(
        remote: &'a Remote<'a>,
        target: &'a Path,
        progress: &'a mut dyn FnMut(Transfer) -> ControlFlow<()>,
    ) -> Result<Self> {
        let mut name = target.as_os_str().to_owned();
        name.push(".part");
        let path = PathBuf::from(name);
        let fail = |e| DataError::write(&path, e);
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        let done = file.seek(SeekFrom::End(0)).map_err(fail)?;
        let folder =
            target.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut part = Part { remote, folder, path, file, done, progress };
        if part.done > remote.bytes {
            part.restart()?;
        }
        Ok(part)
    }

    /// Brings what is missing, in as many attempts as are allowed.
    fn complete(&mut self, agent: &Agent, options: &DownloadOptions) -> Result<()> {
        let mut failures = 0;
        self.tell()?;
        while self.done < self.remote.bytes {
            let trouble = match self.attempt(agent) {
                Ok(()) => continue,
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Trouble(trouble)) => trouble,
            };
            failures += 1;
            match trouble {
                Trouble::Passing(_) if failures < options.attempts => {
                    self.pause(options.pause * failures)?;
                }
                Trouble::Passing(reason) | Trouble::Lasting(reason) => {
                    return Err(self.failed(reason));
                }
            }
        }
        Ok(())
    }

    fn attempt(&mut self, agent: &Agent) -> Result<(), Stop> {
        let mut request = agent.get(self.remote.url);
        if self.done > 0 {
            request = request.header("range", format!("bytes={}-", self.done));
        }
        let response = request.call()?;
        match response.status() {
            StatusCode::OK => {
                self.check_size(response.body().content_length())?;
                self.restart()?;
            }
            StatusCode::PARTIAL_CONTENT => {
                let (start, total) = content_range(&response);
                self.check_size(total)?;
                if start != Some(self.done) {
                    self.restart()?;
                    let reason = "the server sent another part than it was asked for";
                    return Err(Stop::Trouble(Trouble::Passing(reason.to_owned())));
                }
            }
            StatusCode::RANGE_NOT_SATISFIABLE if self.done > 0 => {
                self.check_size(content_range(&response).1)?;
                return Ok(self.restart()?);
            }
            status => return Err(Stop::Trouble(refusal(status))),
        }
        self.receive(response.into_body())
    }

    fn receive(&mut self, body: Body) -> Result<(), Stop> {
        let total = self.remote.bytes;
        let mut body = body.into_reader().take(total - self.done);
        let mut piece = vec![0; PIECE];
        while self.done < total {
            let length = body.read(&mut piece).map_err(ureq::Error::from)?;
            if length == 0 {
                let reason = format!("the connection ended after {} of {total} bytes", self.done);
                return Err(Stop::Trouble(Trouble::Passing(reason)));
            }
            let fail = |e| DataError::write(&self.path, e);
            self.file.write_all(&piece[..length]).map_err(fail)?;
            self.done += length as u64;
            self.tell()?;
        }
        Ok(())
    }

    /// Checks what has come and gives it its name, or removes it.
    fn finish(&mut self, target: &Path) -> Result<()> {
        let found = self.sha256()?;
        if !found.eq_ignore_ascii_case(self.remote.sha256) {
            fs::remove_file(&self.path).map_err(|e| DataError::write(&self.path, e))?;
            return Err(DataError::WrongFile {
                url: self.remote.url.to_owned(),
                found: format!("SHA-256 {found}"),
                expected: self.remote.sha256.to_owned(),
            });
        }
        let fail = |e| DataError::write(target, e);
        self.file.sync_all().map_err(fail)?;
        fs::rename(&self.path, target).map_err(fail)
    }

    fn sha256(&mut self) -> Result<String> {
        let mut hash = Sha256::new();
        let mut piece = vec![0; PIECE];
        self.file.seek(SeekFrom::Start(0)).map_err(|e| DataError::read(&self.path, e))?;
        loop {
            let length = self.file.read(&mut piece).map_err(|e| DataError::read(&self.path, e))?;
            if length == 0 {
                break;
            }
            hash.update(&piece[..length]);
            self.tell()?;
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A server that announces another size has another file.
    fn check_size(&self, found: Option<u64>) -> Result<()> {
        match found.filter(|&found| found != self.remote.bytes) {
            None => Ok(()),
            Some(found) => Err(DataError::WrongFile {
                url: self.remote.url.to_owned(),
                found: format!("{found} bytes"),
                expected: self.remote.bytes.to_string(),
            }),
        }
    }

    fn restart(&mut self) -> Result<()> {
        let fail = |e| DataError::write(&self.path, e);
        self.file.set_len(0).map_err(fail)?;
        self.file.seek(SeekFrom::Start(0)).map_err(fail)?;
        self.done = 0;
        Ok(())
    }

    fn pause(&mut self, length: Duration) -> Result<()> {
        let end = Instant::now() + length;
        loop {
            self.tell()?;
            match end.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return Ok(()),
                left => thread::sleep(left.min(TICK)),
            }
        }
    }

    fn tell(&mut self) -> Result<()> {
        match (self.progress)(Transfer { done: self.done, total: self.remote.bytes }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DataError::Interrupted),
        }
    }

    fn failed(&self, reason: String) -> DataError {
        let (url, folder) = (self.remote.url.to_owned(), self.folder.to_owned());
        DataError::Fetch { url, folder, reason, kept: self.done }
    }
}

/// The first byte and the size of the whole in `bytes 5-9/10` and `bytes */10`.
fn content_range(response: &Response<Body>) -> (Option<u64>, Option<u64>) {
    let header = response.headers().get("content-range").and_then(|h| h.to_str().ok());
    let range = header.and_then(|h| h.trim().strip_prefix("bytes "));
    let Some((part, total)) = range.and_then(|r| r.split_once('/')) else { return (None, None) };
    let start = part.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    (start, total.trim().parse().ok())
}

fn refusal(status: StatusCode) -> Trouble {
    let reason = format!("the server answered {status}");
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Trouble::Passing(reason),
        _ if status.is_server_error() => Trouble::Passing(reason),
        _ => Trouble::Lasting(reason),
    }
}
