//! A server on this machine that answers as a test wants it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test helpers

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

/// A request: its first line, and the first byte of its `Range`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub line: String,
    pub from: Option<usize>,
}

/// What is sent back before the connection is closed.
pub struct Answer {
    pub status: &'static str,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn new(status: &'static str) -> Self {
        Answer { status, headers: vec!["Content-Length: 0".to_owned()], body: Vec::new() }
    }

    /// The file, whatever part was asked for.
    pub fn whole(file: &[u8]) -> Self {
        let headers = vec![format!("Content-Length: {}", file.len())];
        Answer { status: "200 OK", headers, body: file.to_vec() }
    }

    /// The part of the file that was asked for.
    pub fn part(file: &[u8], asked: &Asked) -> Self {
        let Some(from) = asked.from else { return Self::whole(file) };
        if from >= file.len() {
            let mut answer = Self::new("416 Range Not Satisfiable");
            answer.headers.push(format!("Content-Range: bytes */{}", file.len()));
            return answer;
        }
        let mut answer = Self::whole(&file[from..]);
        answer.status = "206 Partial Content";
        let (last, size) = (file.len() - 1, file.len());
        answer.headers.push(format!("Content-Range: bytes {from}-{last}/{size}"));
        answer
    }

    /// Only so many bytes of the body, though more are announced.
    pub fn cut(mut self, length: usize) -> Self {
        self.body.truncate(length);
        self
    }

    /// Without the length.
    pub fn unannounced(mut self) -> Self {
        self.headers.retain(|h| !h.starts_with("Content-Length"));
        self
    }
}

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each request, until the process ends, with what `answer` says to it and its number.
    pub fn new(mut answer: impl FnMut(usize, &Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let one = read(&stream);
                list.lock().unwrap().push(one.clone());
                // The client may have gone.
                let _ = send(&mut stream, &answer(number, &one));
            }
        });
        Server { url, asked }
    }

    /// What was asked for, as the first byte of each request.
    pub fn ranges(&self) -> Vec<Option<usize>> {
        self.asked.lock().unwrap().iter().map(|a| a.from).collect()
    }

    pub fn lines(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|a| a.line.clone()).collect()
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut asked = Asked { line: String::new(), from: None };
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap_or_default();
        if asked.line.is_empty() {
            asked.line.clone_from(&line);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(range) = lower.strip_prefix("range: bytes=") {
            asked.from = Some(range.trim_end_matches('-').parse().unwrap());
        }
        if line.is_empty() {
            break;
        }
    }
    asked
}

fn send(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {}\r\nConnection: close\r\n", answer.status)?;
    for header in &answer.headers {
        write!(stream, "{header}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(&answer.body)
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// What is in a folder, hidden files too.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
