//! A folder of small files in which the command is run, and what it said there.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod compas;
pub mod files;
pub mod people;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What the command said and how it ended.
#[derive(Debug)]
pub struct Run {
    pub line: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    fn new(line: &str, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Run { line: line.to_owned(), code: output.status.code(), stdout, stderr }
    }

    /// Asserts that the command did what it was asked.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "sarl {}\n{}", self.line, self.stderr);
        self
    }

    /// Stdout as the one JSON object that it must be.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// As it would look in a terminal; figures rounded, times and random names struck out.
    pub fn transcript(&self) -> String {
        let code = self.code.map_or("none".to_owned(), |c| c.to_string());
        let mut text = format!("{}\n", format!("$ sarl {}", self.line).trim_end());
        let stdout = without_times(&self.stdout);
        for (name, said) in [("stdout", &stdout), ("stderr", &self.stderr)] {
            if !said.is_empty() {
                text.push_str(&format!("-- {name}\n{}", rounded(&without_random_names(said))));
            }
        }
        text.push_str(&format!("-- exit code {code}\n"));
        text
    }
}

/// A folder that the command runs in.
pub struct Folder {
    folder: PathBuf,
    _around: TempDir,
}

impl Folder {
    pub fn new() -> Self {
        // A folder in a folder: `..` is empty too.
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("here");
        fs::create_dir(&folder).unwrap();
        Folder { folder, _around: around }
    }

    /// A folder with `people.csv`.
    pub fn with_people() -> Self {
        let folder = Self::new();
        folder.write("people.csv", people::csv(people::ROWS));
        folder
    }

    /// A folder with `people.csv` and a model of it.
    pub fn with_model() -> Self {
        let folder = Self::with_people();
        folder.sarl(&format!("fit people.csv {FIT} -o model.safetensors")).succeeded();
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command, with nothing of the machine around it: no terminal, no home, no data sets.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sarl"));
        command.args(line.split_whitespace()).current_dir(&self.folder);
        command.env_remove("SARL_DATA").env_remove("COLUMNS");
        for home in ["HOME", "XDG_DATA_HOME", "LOCALAPPDATA"] {
            command.env(home, &self.folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `sarl` with arguments that hold no spaces.
    pub fn sarl(&self, line: &str) -> Run {
        let mut run = Run::new(line, self.command(line).output().unwrap());
        let here = self.folder.display().to_string();
        run.stdout =
            run.stdout.replace(&here, "[folder]").replace("Library/Application Support/", "");
        run.stderr = run.stderr.replace(&here, "[folder]");
        run
    }

    /// The names of all files in the folder, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        names(&self.folder)
    }

    /// Runs a command that must fail and leave every file as it was.
    pub fn fails(&self, line: &str, code: i32) -> String {
        let before = self.names();
        let run = self.sarl(line);
        assert_eq!(run.code, Some(code), "sarl {line}\n{}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "sarl {line} printed a result");
        assert_eq!(self.names(), before, "sarl {line} left something behind");
        run.transcript()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The roles of the columns of `people.csv`, and a goal.
pub const FIT: &str = "-t income -s sex --drop id,weight --max-leakage 0.02";

/// One snapshot of commands that all fail with one exit code and leave no file.
pub fn all_fail<T: AsRef<str>>(folder: &Folder, name: &str, code: i32, lines: &[T]) {
    let fail = |line: &T| folder.fails(line.as_ref(), code);
    assert_same(name, &lines.iter().map(fail).collect::<Vec<_>>().join("\n"));
}

/// Asserts that a text is as it was when it was last looked at.
pub fn assert_same(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("../snapshots");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// JSON with its times struck out; other text as it is.
fn without_times(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) else {
        return text.to_owned();
    };
    if let Some(times) = value.get_mut("seconds").and_then(|s| s.as_object_mut()) {
        times.values_mut().for_each(|time| *time = "[time]".into());
    }
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

/// Temporary files have a name of their own each time.
fn without_random_names(text: &str) -> String {
    let mut parts = text.split(".sarl-");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.find(".part").unwrap_or(0);
        shown.push_str(&format!(".sarl-[name]{}", &part[after..]));
    }
    shown
}

/// The text with its figures rounded to six digits, as wide as they were where that is possible, so
/// that tables stay tables; what is a rounding error of zero becomes zero.
pub fn rounded(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let figure = if before.is_alphanumeric() || before == '.' { 0 } else { figure(rest) };
        let (token, after) = rest.split_at(figure.max(c.len_utf8()));
        match figure {
            0 => shown.push_str(token),
            _ => shown.push_str(&round(token)),
        }
        before = token.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    shown
}

/// The length of the real number that the text starts with, 0 if there is none.
fn figure(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes[0] == b'-');
    let mut end = sign + digits(sign);
    if end == sign {
        return 0;
    }
    let mut real = false;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
        real = true;
    }
    if bytes.get(end) == Some(&b'e') {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        if exponent < bytes.len() && digits(exponent) > 0 {
            end = exponent + digits(exponent);
            real = true;
        }
    }
    if real { end } else { 0 }
}

fn round(token: &str) -> String {
    let Ok(value) = token.parse::<f64>() else { return token.to_owned() };
    let value = if value.abs() < 1e-9 { 0.0 } else { value };
    let value: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let scientific = token.contains('e') && value != 0.0;
    let short = if scientific { format!("{value:e}") } else { value.to_string() };
    // The figures of a table have two decimals or more, and not as many as a double.
    let decimals = token.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let in_table = decimals >= 2 && !token.contains('e') && token.len() <= 12;
    if !in_table || short.len() > token.len() {
        return short;
    }
    let point = if short.contains('.') || short.len() == token.len() { "" } else { "." };
    format!("{short}{point}{}", "0".repeat(token.len() - short.len() - point.len()))
}
