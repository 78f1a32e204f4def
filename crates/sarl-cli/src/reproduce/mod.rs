//! The experiments of the paper (Sadeghi, Yu, Boddeti, ICCV 2019), with its numbers beside ours.

mod certified;
mod cifar100;
mod fair;
mod gaussian;
mod mixture_rivals;
pub mod sample;
mod study;
mod summary;
pub mod trial;
mod uci;
mod yaleb;

use std::path::Path;
use std::time::Instant;

use sarl_report::{Axis, Bars, Colour, Dash, Figure, Line, Panel, Rule, Spread, Style};
use serde_json::{Value, json};
use study::Study;
use summary::Summary;
use trial::Mean;

use crate::args::{ExperimentName, Global, Reproduce, RivalEffort};
use crate::failure::{Exit, Failure, Outcome};
use crate::{output, page, progress, terminal};

/// The report of an experiment.
const REPORT: &str = "report.html";

/// What an experiment found.
pub struct Experiment {
    /// How it was done, in one paragraph.
    pub protocol: &'static str,
    pub tables: Vec<Table>,
    pub figures: Vec<Figure>,
    /// What to read out of it.
    pub words: Vec<String>,
    /// Its encoders, for the report.
    pub studies: Vec<Study>,
    /// Everything else, for `results.json`.
    pub results: Value,
}

/// A table, printed and written as CSV.
pub struct Table {
    pub name: &'static str,
    pub title: String,
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

/// How much to do.
pub struct Effort<'a> {
    pub seeds: Vec<u64>,
    pub shuffles: u64,
    pub rivals: RivalEffort,
    pub global: &'a Global,
}

impl<'a> Effort<'a> {
    fn new(options: &Reproduce, global: &'a Global) -> Self {
        let (seeds, shuffles) = match options.rivals {
            RivalEffort::Quick => (2, 10),
            RivalEffort::None | RivalEffort::Full => (3, 50),
        };
        let seeds = u64::from(options.seeds.unwrap_or(seeds));
        Effort {
            seeds: (0..seeds).map(|i| options.seed.wrapping_add(i)).collect(),
            shuffles: options.shuffles.unwrap_or(shuffles).into(),
            rivals: options.rivals,
            global,
        }
    }

    /// Whether rivals run at all.
    pub fn with_rivals(&self) -> bool {
        self.rivals != RivalEffort::None
    }

    /// The weights of hiding of a rival's front.
    pub fn weights<'w>(&self, quick: &'w [f64], full: &'w [f64]) -> &'w [f64] {
        match self.rivals {
            RivalEffort::None => &[],
            RivalEffort::Quick => quick,
            RivalEffort::Full => full,
        }
    }

    /// Says on stderr what is being done.
    pub fn step(&self, what: &str) -> Outcome<progress::Spinner> {
        progress::check()?;
        Ok(progress::Spinner::shown(what.to_owned(), self.global.quiet))
    }
}

pub fn run(options: &Reproduce, global: &Global) -> Outcome {
    let effort = Effort::new(options, global);
    let mut all = serde_json::Map::new();
    let names = match options.name {
        ExperimentName::All => &ExperimentName::EACH[..],
        _ => std::slice::from_ref(&options.name),
    };
    for name in names {
        let start = Instant::now();
        let (label, experiment) = match name {
            ExperimentName::Gaussian => ("gaussian", gaussian::run(&effort)),
            ExperimentName::Adult => ("adult", fair::adult(&effort)),
            ExperimentName::German => ("german", fair::german(&effort)),
            ExperimentName::Yaleb => ("yaleb", yaleb::run(&effort)),
            ExperimentName::Certified => ("certified", certified::run(&effort)),
            ExperimentName::Cifar100 | ExperimentName::All => ("cifar100", cifar100::run(&effort)),
        };
        // One data set that is not here does not stand in the way of the others.
        let experiment = match experiment {
            Err(failure) if options.name == ExperimentName::All && failure.exit == Exit::Data => {
                output::warn(global, &format!("{label} is left out: {}", failure.message));
                all.insert(label.into(), json!({ "error": failure.message }));
                continue;
            }
            other => other?,
        };
        let folder = options.output.join(label);
        let results = experiment.write(label, &folder, &effort, start.elapsed().as_secs_f64())?;
        if !global.json {
            output::print(&experiment.text(label, &folder))?;
        }
        all.insert(label.into(), results);
    }
    if !global.json {
        return Ok(());
    }
    match (options.name, all.len()) {
        (ExperimentName::All, _) => output::print_json(&all),
        (_, _) => output::print_json(&all.into_iter().next().map(|(_, v)| v)),
    }
}

impl Experiment {
    fn write(
        &self,
        name: &str,
        folder: &Path,
        effort: &Effort<'_>,
        seconds: f64,
    ) -> Outcome<Value> {
        let failed =
            |e: std::io::Error| Failure::new(Exit::Machine, format!("{}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        for table in &self.tables {
            let path = folder.join(format!("{}.csv", table.name));
            sarl_data::write_file(&path, &table.csv()?)?;
        }
        let mut figures = Vec::new();
        for figure in &self.figures {
            let files = figure.files()?;
            for (file, bytes) in &files {
                sarl_data::write_file(&folder.join(file), bytes)?;
            }
            let files: Vec<&String> = files.iter().map(|f| &f.0).collect();
            figures
                .push(json!({ "title": figure.title, "caption": figure.caption, "files": files }));
        }
        let tables = self.tables.iter().map(|t| {
            let row = |r: &Vec<String>| -> Value {
                let cells = t.header.iter().zip(r).map(|(h, c)| ((*h).to_owned(), json!(c)));
                Value::Object(cells.collect())
            };
            json!({ "title": t.title, "file": format!("{}.csv", t.name), "rows": t.rows.iter().map(row).collect::<Vec<_>>() })
        });
        let results = json!({
            "name": name,
            "protocol": self.protocol,
            "version": env!("CARGO_PKG_VERSION"),
            "seeds": effort.seeds,
            "rivals": effort.rivals,
            "tables": tables.collect::<Vec<_>>(),
            "figures": figures,
            "html": REPORT,
            "words": self.words,
            "results": self.results,
            "seconds": seconds,
        });
        page::write(&study::page(self, name, folder, effort)?, &folder.join(REPORT))?;
        let text = serde_json::to_string_pretty(&results)?;
        sarl_data::write_file(&folder.join("results.json"), text.as_bytes())?;
        Ok(results)
    }

    fn text(&self, name: &str, folder: &Path) -> String {
        let mut text = format!("══ {name} ══\n{}\n", wrapped(self.protocol));
        for table in &self.tables {
            let rows = table.rows.clone();
            text += &format!(
                "\n── {} ──\n{}\n",
                table.title,
                output::table(&table.header, rows, |i| i > 0)
            );
        }
        for words in &self.words {
            text += &format!("\n{}\n", wrapped(words));
        }
        let mut files = vec![REPORT.to_owned(), "results.json".to_owned()];
        files.extend(self.tables.iter().map(|t| format!("{}.csv", t.name)));
        files.extend(self.figures.iter().map(|f| format!("{}.svg, .png, .csv", f.name)));
        text + &format!("\nwritten to {}: {}\n", terminal::path(folder), files.join("; "))
    }
}

impl Table {
    fn csv(&self) -> Outcome<Vec<u8>> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(&self.header)?;
        for row in &self.rows {
            csv.write_record(row)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }
}

/// Lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Whether a cell of the paper is met: at least its target accuracy, and an adversary that is at
/// most as far from guessing, both as the paper rounds them.
pub fn verdict(
    target: f64,
    paper_target: f64,
    beyond: f64,
    paper_beyond: f64,
    digits: i32,
) -> String {
    let unit = 10f64.powi(-digits);
    let round = |v: f64| (v / unit).round() * unit;
    let (kept, leaked) = (round(target) - paper_target, round(beyond) - paper_beyond);
    let digits = digits as usize;
    match (kept < -unit / 2.0, leaked > unit / 2.0) {
        (false, false) => "met".to_owned(),
        (true, false) => format!("target short by {:.digits$}", -kept),
        (false, true) => format!("adversary {leaked:.digits$} above"),
        (true, true) => {
            format!("target short by {:.digits$}, adversary {leaked:.digits$} above", -kept)
        }
    }
}

/// The adversary's loss over λ with its bounds: the paper's figures 4 and 8.
fn bounds_panel(
    title: &str,
    train: &[(f64, f64)],
    test: &[(f64, f64)],
    model: &sarl::Model,
) -> Outcome<Panel> {
    let bounds = *model.front()?.bounds();
    Ok(Panel::new(title, Axis::new("λ"), Axis::new("adversary MSE"))
        .mark(Line::new("α train", train.to_vec()).style(Style::nth(0)))
        .mark(Line::new("α test", test.to_vec()).style(Style::nth(1)))
        .mark(Rule::horizontal("α min", bounds.alpha_min))
        .mark(Rule::horizontal("α max", bounds.alpha_max).look(Colour::Neutral, Dash::Dotted)))
}

/// A band needs its places in order; those that lie too close together are left out.
fn rising(band: impl Iterator<Item = Spread>) -> Vec<Spread> {
    let mut band: Vec<Spread> = band.collect();
    band.sort_by(|a, b| a.x.total_cmp(&b.x));
    band.dedup_by(|next, last| next.x - last.x < 0.005);
    band
}

/// One method of a table, for its figure: shares, and the paper's percentages.
struct Bar {
    name: String,
    target: Mean,
    adversary: Mean,
    worst: Mean,
    paper: Option<(f64, f64)>,
}

impl Bar {
    /// Of a summary, with the probes of the target and of what is hidden.
    fn new(
        name: &str,
        of: &Summary,
        (target, hidden): (&str, &str),
        paper: Option<(f64, f64)>,
    ) -> Self {
        let (target, adversary) = (of.target(target), of.adversary(hidden));
        Bar { name: name.to_owned(), target, adversary, worst: of.worst(), paper }
    }
}

/// Target and adversary of each method, beside the paper's.
fn bars(title: &str, bars: &[Bar], chance: f64) -> Figure {
    let panel = |title: &str, ours: fn(&Bar) -> Mean, paper: fn((f64, f64)) -> f64| {
        let names = bars.iter().map(|b| b.name.clone());
        let mut spreads: Vec<f64> = bars.iter().map(|b| ours(b).sd).collect();
        if spreads.iter().all(|s| *s == 0.0) {
            spreads.clear();
        }
        let paper = bars.iter().map(|b| b.paper.map_or(f64::NAN, |p| paper(p) / 100.0));
        Panel::new(title, Axis::new("").categories(names), Axis::new("accuracy").percent())
            .mark(
                Bars::new("measured", bars.iter().map(|b| ours(b).mean).collect()).errors(spreads),
            )
            .mark(Bars::new("paper", paper.collect()).colour(Colour::Series(4)))
    };
    let worst = Bars::new("measured, worst case", bars.iter().map(|b| b.worst.mean).collect());
    let hidden = panel("adversary", |b| b.adversary, |p| p.1)
        .mark(worst.colour(Colour::Series(1)))
        .mark(Rule::horizontal("guessing", chance));
    Figure::new("methods", title)
        .caption("Accuracy on test rows; whiskers are one standard deviation over seeds or shuffles. The worst case is the best of all probes.")
        .columns(2)
        .panel(panel("target", |b| b.target, |p| p.0))
        .panel(hidden)
}
