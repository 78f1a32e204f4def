//! The numbers of a figure in long form.

use csv::Writer;

use crate::error::{ReportError, Result};
use crate::figure::{Axis, Figure};
use crate::mark::{Bars, Direction, Histogram, Line, Mark, Points};

/// Every number of the figure.
pub(crate) fn csv(figure: &Figure) -> Result<String> {
    let mut rows = Rows { to: Writer::from_writer(Vec::new()), panel: String::new(), mark: "" };
    rows.to.write_record(["panel", "mark", "kind", "x", "y", "low", "high"]).map_err(failed)?;
    for (i, panel) in figure.panels.iter().enumerate() {
        rows.panel = if panel.title.is_empty() { (i + 1).to_string() } else { panel.title.clone() };
        for mark in panel.all() {
            rows.mark = mark.name();
            rows.mark(mark, &panel.x)?;
        }
    }
    let bytes = rows.to.into_inner().map_err(failed)?;
    String::from_utf8(bytes).map_err(failed)
}

struct Rows<'a> {
    to: Writer<Vec<u8>>,
    panel: String,
    mark: &'a str,
}

impl Rows<'_> {
    fn row(&mut self, kind: &str, values: [String; 4]) -> Result<()> {
        let [x, y, low, high] = values;
        self.to.write_record([&self.panel, self.mark, kind, &x, &y, &low, &high]).map_err(failed)
    }

    fn mark(&mut self, mark: &Mark, x: &Axis) -> Result<()> {
        match mark {
            Mark::Line(line) => self.line(line),
            Mark::Steps(steps) => self.points("steps", &steps.points),
            Mark::Points(points) => self.crosses(points),
            Mark::Region(region) => self.points("region", &region.points),
            Mark::Histogram(histogram) => self.histogram(histogram),
            Mark::Bars(bars) => self.bars(bars, x),
            Mark::Rule(rule) => match rule.direction {
                Direction::Horizontal => {
                    self.row("horizontal", [none(), number(rule.at), none(), none()])
                }
                Direction::Vertical => {
                    self.row("vertical", [number(rule.at), none(), none(), none()])
                }
            },
        }
    }

    fn points(&mut self, kind: &str, points: &[(f64, f64)]) -> Result<()> {
        points
            .iter()
            .try_for_each(|(x, y)| self.row(kind, [number(*x), number(*y), none(), none()]))
    }

    /// Error bars up stand beside their point; those across have rows of their own.
    fn crosses(&mut self, points: &Points) -> Result<()> {
        for (i, (x, y)) in points.points.iter().enumerate() {
            let cross = points.errors.get(i).copied().unwrap_or_default();
            let (low, high) = cross.y.map_or((none(), none()), |e| (number(e.0), number(e.1)));
            self.row("points", [number(*x), number(*y), low, high])?;
            if let Some((low, high)) = cross.x {
                self.row("across", [none(), number(*y), number(low), number(high)])?;
            }
        }
        Ok(())
    }

    /// The spread stands beside its point where both have the same x, else in rows of its own.
    fn line(&mut self, line: &Line) -> Result<()> {
        let beside = line.band.len() == line.points.len()
            && line.band.iter().zip(&line.points).all(|(s, p)| s.x == p.0);
        if !beside {
            self.points("line", &line.points)?;
            let mut spread = line.band.iter();
            return spread.try_for_each(|s| {
                self.row("band", [number(s.x), none(), number(s.low), number(s.high)])
            });
        }
        let mut both = line.points.iter().zip(&line.band);
        both.try_for_each(|((x, y), s)| {
            self.row("line", [number(*x), number(*y), number(s.low), number(s.high)])
        })
    }

    fn histogram(&mut self, histogram: &Histogram) -> Result<()> {
        histogram.edges.iter().enumerate().try_for_each(|(i, edge)| {
            let count = histogram.counts.get(i).map_or_else(none, |count| number(*count));
            self.row("histogram", [number(*edge), count, none(), none()])
        })
    }

    fn bars(&mut self, bars: &Bars, x: &Axis) -> Result<()> {
        bars.values.iter().enumerate().try_for_each(|(i, value)| {
            let name = x.categories.get(i).cloned().unwrap_or_else(|| (i + 1).to_string());
            let (low, high) =
                bars.whiskers.get(i).map_or((none(), none()), |w| (number(w.0), number(w.1)));
            self.row("bar", [name, number(*value), low, high])
        })
    }
}

fn none() -> String {
    String::new()
}

/// The shortest text that reads back as the same double; empty where not finite.
fn number(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => none(),
        size if size == 0.0 || (1e-5..1e16).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

fn failed(error: impl std::fmt::Display) -> ReportError {
    ReportError::Csv(error.to_string())
}
