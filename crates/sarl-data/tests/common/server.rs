//! A server on this machine that answers as a test wants it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test helpers

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

/// A request: its first line, the first and the last byte of its `Range`, and its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub line: String,
    pub from: Option<usize>,
    pub to: Option<usize>,
    pub body: Vec<u8>,
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
        let (last, size) = (asked.to.unwrap_or(usize::MAX).min(file.len() - 1), file.len());
        let mut answer = Self::whole(&file[from..=last]);
        answer.status = "206 Partial Content";
        answer.headers.push(format!("Content-Range: bytes {from}-{last}/{size}"));
        answer
    }

    /// Only so many bytes of the body, though more are announced.
    pub fn cut(mut self, length: usize) -> Self {
        self.body.truncate(length);
        self
    }

    pub fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
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

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The address of another file.
    pub fn at(&self, name: &str) -> String {
        self.url.replace("/file", &format!("/{name}"))
    }

    pub fn lines(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|a| a.line.clone()).collect()
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut asked = Asked::default();
    let mut length = 0;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap_or_default();
        let line = line.trim_end().to_owned();
        if asked.line.is_empty() {
            asked.line.clone_from(&line);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(range) = lower.strip_prefix("range: bytes=") {
            let (from, to) = range.split_once('-').unwrap();
            (asked.from, asked.to) = (from.parse().ok(), to.parse().ok());
        }
        if let Some(bytes) = lower.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut asked.body).unwrap_or_default();
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
