//! What the terminal can show: its width, and whether it takes emphasis.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::LazyLock;

use console::{Style, Term, measure_text_width};
use sarl_lab::{plain, plain_lines};

/// The width where nothing is known of the reader.
const USUAL: usize = 80;
/// Nothing is laid out for less.
const LEAST: usize = 40;
/// Longer lines of prose are hard to read.
const PROSE: usize = 100;

/// Columns of stdout: those of the terminal, else `COLUMNS`, else 80.
pub fn width() -> usize {
    static WIDTH: LazyLock<usize> =
        LazyLock::new(|| columns(&Term::stdout()).unwrap_or(USUAL).max(LEAST));
    *WIDTH
}

fn columns(term: &Term) -> Option<usize> {
    let seen = term.size_checked().map(|(_, columns)| usize::from(columns));
    let set = || std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    seen.filter(|columns| *columns > 0).or_else(set).filter(|columns| *columns > 0)
}

/// Prose in lines that fit stdout.
pub fn wrap(text: &str) -> String {
    wrap_to(text, width().min(PROSE))
}

/// What is said on stderr under a name such as `warning:`; in lines that fit where that is a
/// terminal, as it is where a program reads it.
pub fn labelled(name: &str, tone: Tone, message: &str) -> String {
    let text = format!("{name} {}", plain(message));
    if !std::io::stderr().is_terminal() {
        return text;
    }
    let columns = columns(&Term::stderr()).unwrap_or(USUAL).clamp(LEAST, PROSE);
    let text = wrap_to(&text, columns);
    match (takes_emphasis(&std::io::stderr()), text.strip_prefix(name)) {
        (true, Some(rest)) => format!("{}{rest}", styled(name, tone)),
        _ => text,
    }
}

/// A path as people read it, in one line.
pub fn path(path: &Path) -> String {
    plain(&path.to_string_lossy()).into_owned()
}

/// What goes to stdout: of control characters only the ends of lines and our own emphasis.
pub fn printable(text: &str) -> String {
    let marks: &[&str] = if *EMPHASIS { &MARKS } else { &[] };
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        shown += &plain_lines(before);
        let mark = marks.iter().find(|mark| after.starts_with(**mark)).copied();
        shown += mark.unwrap_or("\\u{1b}");
        rest = &after[mark.map_or(1, str::len)..];
    }
    shown + &plain_lines(rest)
}

/// Breaks each line between words; what stands after a line's indent is indented as it is.
pub fn wrap_to(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrap_line(line, width)).collect();
    lines.join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
    let mut text = indent.to_owned();
    let mut at = indent.len();
    let mut first = true;
    for word in pieces(line.trim_start_matches(' ')) {
        let wide = measure_text_width(&word);
        if !first && at + 1 + wide > width {
            text += &format!("\n{indent}");
            at = indent.len();
        } else if !first {
            text.push(' ');
            at += 1;
        }
        text += &word;
        at += wide;
        first = false;
    }
    text
}

/// Words; a sign stays with its number, and what stands between backticks stays whole.
fn pieces(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let joined = all.last().is_some_and(|last| {
            word.starts_with('%') || word == "±" || last.ends_with('±') || open(last)
        });
        match all.last_mut() {
            Some(last) if joined => *last += &format!(" {word}"),
            _ => all.push(word.to_owned()),
        }
    }
    all
}

/// Whether a backtick has not been closed, and what follows it is short.
fn open(text: &str) -> bool {
    text.matches('`').count() % 2 == 1 && text.len() < LEAST
}

/// The heading of a part of the output.
pub fn title(text: &str) -> String {
    let text = plain(text);
    let full = format!("── {text} ──");
    match measure_text_width(&full) <= width() {
        true => emphasis(&full, Tone::Strong),
        false => emphasis(&wrap(&format!("── {text}")), Tone::Strong),
    }
}

/// How a text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A heading or a result.
    Strong,
    /// What was hoped for.
    Good,
    /// What the reader must not overlook.
    Bad,
}

/// Whether stdout takes emphasis.
static EMPHASIS: LazyLock<bool> = LazyLock::new(|| takes_emphasis(&std::io::stdout()));

/// What emphasis is made of.
const MARKS: [&str; 4] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m"];

/// A text with emphasis, where stdout is a terminal that takes it.
pub fn emphasis(text: &str, tone: Tone) -> String {
    match *EMPHASIS {
        true => styled(text, tone),
        false => text.to_owned(),
    }
}

fn styled(text: &str, tone: Tone) -> String {
    let style = Style::new().force_styling(true).bold();
    let style = match tone {
        Tone::Strong => style,
        Tone::Good => style.green(),
        Tone::Bad => style.red(),
    };
    let lines: Vec<String> = text.split('\n').map(|l| style.apply_to(l).to_string()).collect();
    lines.join("\n")
}

fn takes_emphasis(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    stream.is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::wrap_to;

    #[test]
    fn signs_stay_with_their_numbers() {
        let text = "  it keeps 90 % of it, `sarl audit` asks";
        assert_eq!(wrap_to(text, 14), "  it keeps\n  90 % of it,\n  `sarl audit`\n  asks");
        assert_eq!(wrap_to("a ± 1.0\n\nb", 3), "a ± 1.0\n\nb");
    }
}
