//! What must not happen, whatever the input.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::lines::Line;

/// Longer than this is too long for files of a few kilobytes.
const LIMIT: Duration = Duration::from_secs(60);
/// Address space, in kilobytes.
const SPACE: u32 = 4_000_000;
/// The exit codes of `docs/cli.md` that a command may have that nobody interrupts.
const CODES: [i32; 5] = [0, 1, 2, 3, 4];

/// How the command ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) late: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs the command in a folder, with a limit on time and address space.
pub(super) fn run(sarl: &Path, folder: &Path, line: &Line) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -c 0; ulimit -v {SPACE}; exec \"$@\""), "sh"]);
    command.arg(sarl).args(&line.words).current_dir(folder).env("HOME", folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be started");
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let start = Instant::now();
    let mut late = false;
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                late = true;
                let _ = child.kill();
                break child.wait().expect("a child can be waited for");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ended { code: status.code(), late, stdout: text(stdout), stderr: text(stderr) }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What is wrong with an end, if anything is.
pub(super) fn problem(sarl: &Path, folder: &Path, line: &Line, ended: &Ended) -> Option<String> {
    let said = &ended.stderr;
    let Some(code) = ended.code else {
        return Some(if ended.late { "it does not end" } else { "a signal" }.to_owned());
    };
    if !CODES.contains(&code) {
        return Some(format!("exit code {code}"));
    }
    if said.contains("panicked at") || said.contains("a fault in sarl") {
        return Some("a panic".to_owned());
    }
    if code != 0 && !said.lines().any(|l| l.starts_with("error: ")) {
        return Some("no error is said".to_owned());
    }
    let raw = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if raw(said) || raw(&ended.stdout) {
        return Some("control characters are printed".to_owned());
    }
    if line.words.iter().any(|w| w == "--json") && code == 0 && !ended.stdout.starts_with('{') {
        return Some("--json is not JSON".to_owned());
    }
    // Where memory ends, nothing can be removed; the next command does it.
    let cut_short = code == 4 && said.contains("of memory are needed");
    let left = if cut_short { None } else { left_behind(folder) };
    left.or_else(|| written(sarl, folder, line, code))
}

fn left_behind(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).expect("a folder can be listed").flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let part = names.into_iter().find(|name| name.ends_with(".part"));
    part.map(|name| format!("{name} is left behind"))
}

/// An output is there and can be read, or is not there.
fn written(sarl: &Path, folder: &Path, line: &Line, code: i32) -> Option<String> {
    let output = line.output.as_ref()?;
    let path = folder.join(output);
    match (code, path.exists()) {
        (0, false) => return Some(format!("{output} is not written")),
        (0, true) => {}
        (_, true) => return Some(format!("{output} is written although it failed")),
        (_, false) => return None,
    }
    if output == "front.csv" {
        return None;
    }
    let reads = if output.ends_with("safetensors") { "info" } else { "inspect" };
    let words = vec![reads.to_owned(), output.clone()];
    let again = run(sarl, folder, &Line { words, output: None });
    if again.code != Some(0) {
        return Some(format!("{output} cannot be read: {}", again.stderr.trim_end()));
    }
    let text = output.ends_with(".csv").then(|| std::fs::read_to_string(&path).ok()).flatten();
    let rows = text.iter().flat_map(|text| text.lines().skip(1));
    let cells = rows.flat_map(|row| row.split(','));
    let infinite = |cell: &str| cell.parse::<f64>().is_ok_and(|v| !v.is_finite());
    let mut cells = cells;
    cells.any(infinite).then(|| format!("{output} has cells that are not finite"))
}
