//! The comparison for people.

use sarl_lab::{Compared, plain};

use super::files;
use crate::args::Compare;
use crate::sheet::{Sheet, Step};
use crate::terminal::{self, Tone, emphasis, title, wrap};

pub fn text(compared: &Compared, options: &Compare, seconds: f64) -> String {
    let mut text = String::new();
    let (best, line) = compared.line().unwrap_or_default();
    if !line.is_empty() {
        let tone = if best { Tone::Good } else { Tone::Strong };
        text += &format!("{}\n\n", emphasis(&wrap(&line), tone));
    }
    text += &format!("{}\n\n", table(compared));
    for table in compared.fairness() {
        let sheet = Sheet::new(&table.header, table.rows, |i| i > 1);
        let steps = [Step::Stack, Step::Say("leakage ", ""), Step::Say("demographic", "demogr.")];
        text += &format!("{}\n{}\n\n", title(&table.title), sheet.text(&steps));
    }
    let mut said = compared.parts.words();
    compared
        .kinds()
        .chain(compared.left_out())
        .for_each(|line| said += &format!("{}\n", plain(&line)));
    for sentence in compared.sentences() {
        // What the first line has said is not said again.
        let parts = sentence.split_inclusive(". ");
        let more: String = parts.filter(|part| !line.contains(part.trim())).collect();
        if !more.is_empty() {
            said += &format!("{}\n", plain(&more));
        }
    }
    text += &wrap(&said);
    if let Some(path) = &options.page.html {
        text += &format!("\nreport written to {}", terminal::path(path));
    }
    let (folder, names) = (terminal::path(&options.output), files::names().join(", "));
    format!("{text}\n{}", wrap(&format!("written to {folder}: {names}; {seconds:.1} s")))
}

fn table(compared: &Compared) -> String {
    const STEPS: [Step; 9] = [
        Step::Stack,
        Step::Drop(&["fit s", "dim"]),
        Step::Drop(&["linear leakage"]),
        Step::NoSpread,
        Step::Say("none leaks as little", "none"),
        Step::Say("leakage ", ""),
        Step::Say("accuracy %", "acc. %"),
        Step::Say("advantage %", "advantage"),
        Step::Stack,
    ];
    let (header, rows) = compared.listed();
    Sheet::new(&header, rows, |i| i > 1).text(&STEPS)
}
