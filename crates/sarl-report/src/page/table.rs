//! Tables: those of the report, and the one behind every chart.

use super::Table;
use super::html::{element, text};
use crate::figure::{Axis, Figure, Panel};
use crate::format::in_units;
use crate::mark::{Direction, Mark};
use crate::svg::escape;

/// A cell: text, or a number with the way it is written.
#[derive(Clone, PartialEq)]
enum Cell {
    Text(String),
    Number(f64, String),
}

impl Cell {
    fn number(axis: &Axis, value: f64) -> Self {
        Self::Number(value, in_units(axis, value))
    }

    fn html(&self, tag: &str, attributes: &[(&str, &str)]) -> String {
        match self {
            Self::Text(words) => element(tag, attributes, &text("bdi", &[], words)),
            Self::Number(value, words) if value.is_finite() => {
                let exact = value.to_string();
                let all = [attributes, &[("data-value", exact.as_str())]].concat();
                element(tag, &all, &escape(words))
            }
            Self::Number(_, words) => element(tag, attributes, &escape(words)),
        }
    }

    fn is_figure(&self) -> bool {
        match self {
            Self::Number(..) => true,
            Self::Text(words) => {
                let digits = words.trim_start_matches(['−', '-']);
                digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            }
        }
    }
}

/// A table of the report.
pub(super) fn table(table: &Table) -> String {
    let rows: Vec<Vec<Cell>> =
        table.rows.iter().map(|row| row.iter().cloned().map(Cell::Text).collect()).collect();
    html(&table.title, &table.header, &rows, table.names)
}

fn html(title: &str, header: &[String], rows: &[Vec<Cell>], names: usize) -> String {
    let figures = |k: usize| rows.iter().any(|row| row.get(k).is_some_and(Cell::is_figure));
    let sides: Vec<&str> = (0..header.len())
        .map(|k| if k < names || !figures(k) { "name" } else { "number" })
        .collect();
    let head: String = header
        .iter()
        .zip(&sides)
        .map(|(name, side)| {
            Cell::Text(name.clone()).html("th", &[("scope", "col"), ("class", side)])
        })
        .collect();
    let empty = Cell::Text(String::new());
    let line = |row: &Vec<Cell>| -> String {
        // The first of a line is a name and the others are figures, unless they say otherwise.
        let cell = |(k, side): (usize, &&str)| {
            let cell = row.get(k).unwrap_or(&empty);
            match (k == 0 && names > 0, *side) {
                (true, _) => cell.html("th", &[("scope", "row")]),
                (false, "name") => cell.html("td", &[("class", "name")]),
                (false, _) => cell.html("td", &[]),
            }
        };
        element("tr", &[], &sides.iter().enumerate().map(cell).collect::<String>()) + "\n"
    };
    let caption = if title.is_empty() { String::new() } else { text("caption", &[], title) };
    let body: String = rows.iter().map(line).collect();
    let inside = format!("{caption}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>");
    let label = if title.is_empty() { "Table" } else { title };
    let attributes =
        [("class", "scroller"), ("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    let save = text("button", &[("type", "button"), ("class", "save live")], "Save as CSV");
    let table = element("div", &attributes, &element("table", &[], &inside));
    element("div", &[("class", "tabled")], &format!("{table}{save}"))
}

/// A table that scripts fill when it is opened.
pub(super) fn filled_by_script() -> String {
    behind("", "behind live")
}

/// Every number of a figure, folded away.
pub(super) fn behind_figure(figure: &Figure) -> String {
    let title = |panel: &Panel| match panel.title.is_empty() {
        true => figure.title.clone(),
        false => panel.title.clone(),
    };
    let all: String = figure.panels.iter().map(|panel| of_panel(panel, &title(panel))).collect();
    behind(&all, "behind")
}

fn behind(tables: &str, class: &str) -> String {
    let summary = element("summary", &[], "Table");
    let tables = element("div", &[("class", "tables")], tables);
    element("details", &[("class", class)], &format!("{summary}{tables}"))
}

/// A value of a series with its spread.
struct Value {
    x: Cell,
    y: f64,
    spread: Option<(f64, f64)>,
}

struct Series {
    name: String,
    values: Vec<Value>,
}

/// One table for a panel: a row for each x where all series share them, else one for each value.
fn of_panel(panel: &Panel, title: &str) -> String {
    // A mark without a name only joins others; the outline of a region is in the figure's file.
    let told = |mark: &&Mark| !mark.name().is_empty() && !matches!(mark, Mark::Region(_));
    let level =
        |mark: &&Mark| matches!(mark, Mark::Rule(rule) if rule.direction == Direction::Horizontal);
    let marks: Vec<&Mark> = panel.marks.iter().chain(&panel.experts).filter(told).collect();
    let main: Vec<Series> = marks.iter().filter(|m| !level(m)).map(|m| series(m, panel)).collect();
    let same = main.windows(2).all(|pair| {
        let x = |s: &Series| s.values.iter().map(|v| v.x.clone()).collect::<Vec<_>>();
        x(&pair[0]) == x(&pair[1])
    });
    match main.first() {
        Some(first) if same => {
            let levels = marks.iter().filter(|m| level(m)).filter_map(|mark| match mark {
                Mark::Rule(rule) => Some(constant(rule.name.clone(), rule.at, first)),
                _ => None,
            });
            let levels: Vec<Series> = levels.collect();
            wide(panel, title, main.iter().chain(&levels).collect())
        }
        _ => long(panel, title, marks.iter().map(|m| series(m, panel)).collect()),
    }
}

/// The same value at every x of another series.
fn constant(name: String, y: f64, like: &Series) -> Series {
    let value = |v: &Value| Value { x: v.x.clone(), y, spread: None };
    Series { name, values: like.values.iter().map(value).collect() }
}

fn series(mark: &Mark, panel: &Panel) -> Series {
    let point = |x: f64, y: f64| Value { x: Cell::number(&panel.x, x), y, spread: None };
    let plain = |points: &[(f64, f64)]| points.iter().map(|&(x, y)| point(x, y)).collect();
    let values: Vec<Value> = match mark {
        Mark::Line(line) => {
            let spread = |x: f64| line.band.iter().find(|s| s.x == x).map(|s| (s.low, s.high));
            let value = |&(x, y): &(f64, f64)| Value { spread: spread(x), ..point(x, y) };
            line.points.iter().map(value).collect()
        }
        Mark::Steps(steps) => plain(&steps.points),
        Mark::Points(points) => {
            let spread = |i: usize| points.errors.get(i).and_then(|e| e.y.or(e.x));
            let value =
                |(i, &(x, y)): (usize, &(f64, f64))| Value { spread: spread(i), ..point(x, y) };
            points.points.iter().enumerate().map(value).collect()
        }
        Mark::Region(region) => plain(&region.points),
        Mark::Histogram(histogram) => {
            let bin = |(i, count): (usize, &f64)| {
                let [low, high] =
                    [i, i + 1].map(|k| histogram.edges.get(k).copied().unwrap_or(f64::NAN));
                let words = format!("{} to {}", in_units(&panel.x, low), in_units(&panel.x, high));
                Value { x: Cell::Number(low, words), y: *count, spread: None }
            };
            histogram.counts.iter().enumerate().map(bin).collect()
        }
        Mark::Bars(bars) => {
            let name = |i: usize| {
                panel.x.categories.get(i).cloned().unwrap_or_else(|| (i + 1).to_string())
            };
            let bar = |(i, y): (usize, &f64)| Value {
                x: Cell::Text(name(i)),
                y: *y,
                spread: bars.whiskers.get(i).copied(),
            };
            bars.values.iter().enumerate().map(bar).collect()
        }
        Mark::Rule(rule) => match rule.direction {
            Direction::Vertical => vec![point(rule.at, f64::NAN)],
            Direction::Horizontal => {
                vec![Value { x: Cell::Text("everywhere".to_owned()), y: rule.at, spread: None }]
            }
        },
    };
    Series { name: mark.name().to_owned(), values }
}

impl Series {
    fn has_spread(&self) -> bool {
        self.values.iter().any(|v| v.spread.is_some_and(|s| s.0.is_finite()))
    }
}

fn cells(value: &Value, panel: &Panel, spread: bool) -> Vec<Cell> {
    let y = [Cell::number(&panel.y, value.y)];
    let (low, high) = value.spread.unwrap_or((f64::NAN, f64::NAN));
    // Where names stand on the vertical axis, the error bars lie across.
    let axis = if panel.y.categories.is_empty() { &panel.y } else { &panel.x };
    let ends = [low, high].map(|end| Cell::number(axis, end));
    y.into_iter().chain(ends.into_iter().filter(|_| spread)).collect()
}

fn wide(panel: &Panel, title: &str, series: Vec<&Series>) -> String {
    let mut header = vec![across(panel)];
    for one in &series {
        header.push(one.name.clone());
        if one.has_spread() {
            header.extend(["low", "high"].map(|end| format!("{}: {end}", one.name)));
        }
    }
    let rows = series.first().map_or(0, |first| first.values.len());
    let row = |k: usize| -> Vec<Cell> {
        let x = series.first().and_then(|s| s.values.get(k)).map(|v| v.x.clone());
        let values = series.iter().filter_map(|s| Some((s.values.get(k)?, s.has_spread())));
        x.into_iter().chain(values.flat_map(|(v, spread)| cells(v, panel, spread))).collect()
    };
    html(title, &header, &(0..rows).map(row).collect::<Vec<_>>(), 1)
}

fn long(panel: &Panel, title: &str, series: Vec<Series>) -> String {
    let spread = series.iter().any(Series::has_spread);
    let up = if panel.y.label.is_empty() { "y" } else { &panel.y.label };
    let mut header = vec!["series".to_owned(), across(panel), up.to_owned()];
    if spread {
        header.extend(["low".to_owned(), "high".to_owned()]);
    }
    let row = |one: &Series, value: &Value| {
        let mut row = vec![Cell::Text(one.name.clone()), value.x.clone()];
        row.extend(cells(value, panel, spread));
        row
    };
    let rows: Vec<Vec<Cell>> =
        series.iter().flat_map(|one| one.values.iter().map(|v| row(one, v))).collect();
    html(title, &header, &rows, if panel.x.categories.is_empty() { 1 } else { 2 })
}

fn across(panel: &Panel) -> String {
    match (panel.x.label.is_empty(), panel.x.categories.is_empty()) {
        (false, _) => panel.x.label.clone(),
        (true, true) => "x".to_owned(),
        (true, false) => "name".to_owned(),
    }
}
