//! An S3 server that does nothing else than send: `s3_sender FOLDER PORT` serves the folders of FOLDER as
//! buckets, without signatures, for `python/benches/object_stores.py`. What a fit takes with it is what the
//! client takes, not what a server takes that computes.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

/// What of a request matters here.
#[derive(Default)]
struct Asked {
    method: String,
    path: String,
    query: String,
    range: Option<(u64, Option<u64>)>,
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (folder, port) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    for stream in listener.incoming() {
        let (stream, root) = (stream?, PathBuf::from(&folder));
        thread::spawn(move || serve(&stream, &root));
    }
    Ok(())
}

/// Answers the requests of a connection until the client closes it.
fn serve(stream: &TcpStream, root: &Path) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader)? {
        match asked.query.contains("list-type=2") {
            true => list(stream, root, &asked)?,
            false => send(stream, root, &asked)?,
        }
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> Result<Option<Asked>> {
    let mut asked = Asked::default();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if asked.method.is_empty() {
            let mut words = line.split(' ');
            asked.method = words.next().unwrap_or_default().to_owned();
            let target = words.next().unwrap_or_default();
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            (asked.path, asked.query) = (path.to_owned(), query.to_owned());
        }
        if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            let (from, to) = range.split_once('-').unwrap_or((range, ""));
            asked.range = from.parse().ok().map(|from| (from, to.parse().ok()));
        }
        if line.is_empty() {
            return Ok(Some(asked));
        }
    }
}

/// All objects of a folder in one page.
fn list(mut stream: &TcpStream, root: &Path, asked: &Asked) -> Result<()> {
    let prefix = asked.query.split('&').find_map(|pair| pair.strip_prefix("prefix="));
    let prefix = prefix.unwrap_or_default().replace("%2F", "/");
    let bucket = asked.path.trim_matches('/');
    let mut entries: Vec<(String, u64)> = Vec::new();
    for entry in fs::read_dir(root.join(bucket).join(&prefix))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push((format!("{}/{name}", prefix.trim_matches('/')), entry.metadata()?.len()));
    }
    entries.sort();
    let mut page = format!(
        "<ListBucketResult><Name>{bucket}</Name><KeyCount>{}</KeyCount>\
         <IsTruncated>false</IsTruncated>",
        entries.len()
    );
    for (key, size) in entries {
        let _ = write!(
            page,
            "<Contents><Key>{key}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>\
             <ETag>\"{size}\"</ETag><Size>{size}</Size></Contents>"
        );
    }
    page.push_str("</ListBucketResult>");
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len())
}

/// An object, or the part of it that is asked for.
fn send(mut stream: &TcpStream, root: &Path, asked: &Asked) -> Result<()> {
    let Ok(mut file) = fs::File::open(root.join(asked.path.trim_start_matches('/'))) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    };
    let size = file.metadata()?.len();
    let (from, to) = asked.range.unwrap_or((0, None));
    let from = from.min(size);
    let end = to.map_or(size, |to| (to + 1).clamp(from, size));
    let mut head = match asked.range {
        Some(_) => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{size}\r\n",
            end.saturating_sub(1)
        ),
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    let _ = write!(
        head,
        "Content-Length: {}\r\nETag: \"{size}\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n",
        end - from
    );
    let mut answer = head.into_bytes();
    if asked.method == "GET" {
        file.seek(SeekFrom::Start(from))?;
        file.take(end - from).read_to_end(&mut answer)?;
    }
    stream.write_all(&answer)
}
