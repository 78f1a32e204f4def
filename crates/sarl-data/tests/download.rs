//! Downloads from a server on this machine, in good and in bad weather.
#![allow(clippy::unwrap_used)] // tests

#[path = "common/server.rs"]
mod server;

use std::fs;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use sarl_data::{DataError, DownloadOptions, ExitClass, Remote, Result, Transfer, download};
use server::{Answer, Server, names, sha256};
use tempfile::TempDir;

const FAST: DownloadOptions = DownloadOptions {
    attempts: 3,
    pause: Duration::from_millis(1),
    timeout: Duration::from_secs(20),
};

/// Bytes that differ everywhere.
fn file() -> Vec<u8> {
    (0..300_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// A file that is fetched, and what is told on the way.
struct Job {
    folder: TempDir,
    url: String,
    sha256: String,
    seen: Vec<u64>,
}

impl Job {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Job { folder, url: url.to_owned(), sha256: sha256(&file()), seen: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.data")
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("a.data.part")
    }

    fn begun(self, part: &[u8]) -> Self {
        fs::write(self.part(), part).unwrap();
        self
    }

    fn run(&mut self) -> Result<()> {
        self.run_until(u64::MAX)
    }

    fn run_until(&mut self, limit: u64) -> Result<()> {
        let remote = Remote { url: &self.url, bytes: file().len() as u64, sha256: &self.sha256 };
        let path = self.path();
        download(&remote, &path, &FAST, &mut |t: Transfer| {
            assert_eq!(t.total, file().len() as u64);
            self.seen.push(t.done);
            if t.done >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// The file is there, and nothing else.
    fn assert_whole(&self) {
        assert!(fs::read(self.path()).unwrap() == file(), "the file differs");
        assert_eq!(names(self.folder.path()), ["a.data"]);
        assert_eq!(self.seen.last(), Some(&(file().len() as u64)));
    }

    fn assert_monotone(&self) {
        assert!(self.seen.is_sorted(), "it went back: {:?}", self.seen);
    }
}

#[test]
fn a_file_comes_whole() {
    let server = Server::new(|_, asked| Answer::part(&file(), asked));
    let mut job = Job::new(&server.url);
    job.run().unwrap();
    job.assert_whole();
    job.assert_monotone();
    assert_eq!(job.seen[0], 0);
    assert!(job.seen.len() > 10, "it is told often: {}", job.seen.len());
    assert_eq!(server.ranges(), [None]);
    assert_eq!(server.lines(), ["GET /file HTTP/1.1"]);
}

#[test]
fn a_file_of_unannounced_length_comes_whole() {
    let server = Server::new(|_, _| Answer::whole(&file()).unannounced());
    let mut job = Job::new(&server.url);
    job.run().unwrap();
    job.assert_whole();
}

#[test]
fn what_is_there_is_not_fetched_again() {
    let server = Server::new(|_, asked| Answer::part(&file(), asked));
    let mut job = Job::new(&server.url).begun(&file()[..700_000]);
    job.run().unwrap();
    job.assert_whole();
    job.assert_monotone();
    assert_eq!(job.seen[0], 700_000);
    assert_eq!(server.ranges(), [Some(700_000)]);
    let mut job = Job::new("http://127.0.0.1:9/nothing-listens-here").begun(&file());
    job.run().unwrap();
    job.assert_whole();
}

#[test]
fn a_server_without_ranges_begins_again() {
    let server = Server::new(|_, _| Answer::whole(&file()));
    let mut job = Job::new(&server.url).begun(b"something else");
    job.run().unwrap();
    job.assert_whole();
    assert_eq!(server.ranges(), [Some(14)]);
}

#[test]
fn a_server_that_sends_another_part_is_asked_again() {
    let server = Server::new(|_, asked| {
        let mut answer = Answer::part(&file(), asked);
        answer.headers.retain(|h| !h.starts_with("Content-Range"));
        answer
    });
    let mut job = Job::new(&server.url).begun(&file()[..1000]);
    job.run().unwrap();
    job.assert_whole();
    assert_eq!(server.ranges(), [Some(1000), None]);
}

#[test]
fn a_part_that_the_server_refuses_is_dropped() {
    let server = Server::new(|_, asked| match asked.from {
        Some(_) => Answer::new("416 Range Not Satisfiable"),
        None => Answer::whole(&file()),
    });
    let mut job = Job::new(&server.url).begun(&file()[..1000]);
    job.run().unwrap();
    job.assert_whole();
    // One that is too long is not even tried.
    let mut job = Job::new(&server.url).begun(&[file(), file()].concat());
    job.run().unwrap();
    job.assert_whole();
    assert_eq!(server.ranges(), [Some(1000), None, None]);
}

#[test]
fn a_broken_connection_is_taken_up_again() {
    let server = Server::new(|number, asked| {
        let answer = Answer::part(&file(), asked);
        if number < 2 { answer.cut(500_000) } else { answer }
    });
    let mut job = Job::new(&server.url);
    job.run().unwrap();
    job.assert_whole();
    job.assert_monotone();
    assert_eq!(server.ranges(), [None, Some(500_000), Some(1_000_000)]);
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    let server = Server::new(|number, _| match number {
        0 => Answer::new("503 Service Unavailable"),
        _ => Answer::whole(&file()),
    });
    let mut job = Job::new(&server.url);
    job.run().unwrap();
    job.assert_whole();
}

#[test]
fn a_connection_that_always_breaks_is_given_up_and_what_came_is_kept() {
    let server = Server::new(|_, asked| Answer::part(&file(), asked).cut(100_000));
    let mut job = Job::new(&server.url);
    let error = job.run().unwrap_err();
    assert!(matches!(error, DataError::Fetch { kept: 300_000, .. }), "{error:?}");
    assert_eq!(error.exit_class(), ExitClass::Machine);
    assert_eq!(error.hint().unwrap(), "run the command again to go on after 300000 bytes");
    assert_eq!(names(job.folder.path()), ["a.data.part"]);
    assert!(fs::read(job.part()).unwrap() == file()[..300_000]);
}

#[test]
fn a_wrong_checksum_is_an_error_and_nothing_is_kept() {
    let mut other = file();
    other[1_000_000] ^= 1;
    let wrong = sha256(&other);
    let server = Server::new(move |_, _| Answer::whole(&other));
    let mut job = Job::new(&server.url);
    let error = job.run().unwrap_err();
    let right = sha256(&file());
    let said = format!("{}: found SHA-256 {wrong}, expected {right}", server.url);
    assert_eq!(error.to_string(), said);
    assert_eq!(error.exit_class(), ExitClass::Machine);
    assert!(error.hint().unwrap().starts_with("it was not kept; run the command again"));
    assert!(names(job.folder.path()).is_empty());
}

#[test]
fn a_wrong_size_is_an_error_before_anything_is_fetched_or_lost() {
    let server = Server::new(|_, _| Answer::whole(b"<html>please log in</html>"));
    let mut job = Job::new(&server.url).begun(&file()[..1000]);
    let error = job.run().unwrap_err();
    let said = format!("{}: found 26 bytes, expected 1200000", server.url);
    assert_eq!(error.to_string(), said);
    assert_eq!(fs::read(job.part()).unwrap().len(), 1000);
}

#[test]
fn a_file_that_is_not_there() {
    let server = Server::new(|_, _| Answer::new("404 Not Found"));
    let mut job = Job::new(&server.url);
    let error = job.run().unwrap_err();
    let url = &server.url;
    let said = format!("could not fetch {url}: the server answered 404 Not Found");
    assert_eq!(error.to_string(), said);
    let by_hand = format!("download {url} by hand and put it into {}", job.folder.path().display());
    assert_eq!(error.hint().unwrap(), by_hand);
    assert_eq!(server.ranges().len(), 1, "it is not asked again");
    assert!(names(job.folder.path()).is_empty());
}

#[test]
fn a_server_that_is_not_there() {
    let mut job = Job::new("http://127.0.0.1:9/nothing-listens-here");
    let error = job.run().unwrap_err();
    assert!(matches!(error, DataError::Fetch { kept: 0, .. }), "{error:?}");
    assert!(names(job.folder.path()).is_empty());
}

#[test]
fn a_server_that_says_nothing() {
    // Connections are taken into the queue, and nobody reads them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let options = DownloadOptions { timeout: Duration::from_millis(100), ..FAST };
    let remote = Remote { url: &url, bytes: 10, sha256: "" };
    let began = Instant::now();
    let go_on = &mut |_| ControlFlow::Continue(());
    let error = download(&remote, &folder.path().join("a"), &options, go_on).unwrap_err();
    assert!(error.to_string().ends_with("the server does not answer"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_interrupted_download_goes_on_the_next_time() {
    let server = Server::new(|_, asked| Answer::part(&file(), asked));
    let mut job = Job::new(&server.url);
    let error = job.run_until(400_000).unwrap_err();
    assert!(matches!(error, DataError::Interrupted), "{error:?}");
    let kept = fs::read(job.part()).unwrap();
    assert!(kept.len() >= 400_000 && kept == file()[..kept.len()]);
    assert_eq!(names(job.folder.path()), ["a.data.part"]);
    job.run().unwrap();
    job.assert_whole();
    job.assert_monotone();
    assert_eq!(server.ranges(), [None, Some(kept.len())]);
}

#[test]
fn a_pause_can_be_interrupted() {
    let server = Server::new(|_, _| Answer::new("503 Service Unavailable"));
    let folder = tempfile::tempdir().unwrap();
    let options = DownloadOptions { pause: Duration::from_secs(600), ..FAST };
    let remote = Remote { url: &server.url, bytes: 10, sha256: "" };
    let mut told = 0;
    let stopped = download(&remote, &folder.path().join("a"), &options, &mut |_| {
        told += 1;
        if told > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(DataError::Interrupted)), "{stopped:?}");
    assert!(names(folder.path()).is_empty());
}

/// Run by the next test in a process of its own, whose environment names the proxy.
#[test]
#[ignore = "needs a proxy"]
fn through_a_proxy() {
    let error = Job::new("http://example.invalid/file").run().unwrap_err();
    assert!(matches!(error, DataError::Fetch { .. }), "{error:?}");
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let proxy = Server::new(|_, _| Answer::new("403 Forbidden"));
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "through_a_proxy"])
        .envs(["ALL_PROXY", "HTTP_PROXY"].map(|v| (v, proxy.url.trim_end_matches("/file"))))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let lines = proxy.lines();
    assert!(lines[0].contains("example.invalid"), "{lines:?}");
}
