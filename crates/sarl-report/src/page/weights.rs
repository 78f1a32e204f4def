//! What the encoder looks at: the columns that weigh most, as bars in a table.

use serde_json::{Value, json};

use super::chart::figured;
use super::html::{element, prose, text, void};
use super::pack::floats;
use super::{Explorer, Weights, table};
use crate::format::{count, plain};

/// Columns that are shown.
const MOST: usize = 20;
const TITLE: &str = "What the encoder looks at";

/// The weights of an explorer.
pub(super) struct Loads<'a> {
    explorer: &'a Explorer,
    weights: &'a Weights,
    directions: usize,
    /// From the least to the greatest of each direction over all positions.
    ranges: Vec<(f64, f64)>,
}

impl<'a> Loads<'a> {
    pub(super) fn new(explorer: &'a Explorer) -> Option<Self> {
        let weights = explorer.weights.as_ref().filter(|w| !w.columns.is_empty())?;
        let each = (explorer.positions.len() * weights.columns.len()).max(1);
        let directions = (weights.sums.len() / each).max(1);
        let mut loads = Self { explorer, weights, directions, ranges: Vec::new() };
        loads.ranges = (0..directions).map(|k| loads.range(k)).collect();
        Some(loads)
    }

    fn at(&self, position: usize, direction: usize) -> &[[f64; 3]] {
        let columns = self.weights.columns.len();
        let start = (position * self.directions + direction) * columns;
        self.weights.sums.get(start..start + columns).unwrap_or(&[])
    }

    fn range(&self, direction: usize) -> (f64, f64) {
        let all = (0..self.explorer.positions.len()).flat_map(|k| self.at(k, direction));
        let (low, high) =
            all.fold((0.0_f64, 0.0_f64), |(low, high), s| (low.min(s[2]), high.max(s[1])));
        if high > low { (low, high) } else { (-1.0, 1.0) }
    }

    /// The figure, as it is where the slider starts.
    pub(super) fn html(&self, id: &str) -> String {
        let (start, columns) = (self.explorer.start, &self.weights.columns);
        let dim = self.explorer.positions.get(start).map_or(0, |p| p.dim);
        let sums = self.at(start, 0);
        let size = |k: &usize| sums.get(*k).map_or(0.0, |s| s[1] - s[2]);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let rows: String =
            order.into_iter().take(MOST).map(|k| self.row(k, sums.get(k).copied())).collect();
        let zero = format!("--zero:{}%", self.percent(0.0));
        let heads = [("name", "column"), ("load", self.weights.axis.as_str()), ("number", "sum")];
        let heads: String = heads
            .iter()
            .map(|(class, name)| text("th", &[("scope", "col"), ("class", class)], name))
            .collect();
        let inside = format!("<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>");
        let mut attributes = vec![("class", "weights"), ("style", zero.as_str())];
        attributes.extend((dim == 0).then_some(("hidden", "")));
        let mut nothing = vec![("class", "note nothing")];
        nothing.extend((dim != 0).then_some(("hidden", "")));
        let words = "z has no dimensions at this position: nothing is looked at.";
        let mut caption = prose(&self.weights.words);
        if self.weights.omitted > 0 {
            caption += &format!(" {} more columns weigh less.", count(self.weights.omitted));
        }
        let body = [
            self.choice(id),
            element("table", &attributes, &inside),
            text("p", &nothing, words),
            element("figcaption", &[], &caption),
            table::filled_by_script(),
        ];
        figured(id, TITLE, "chart", &body.concat())
    }

    fn choice(&self, id: &str) -> String {
        if self.directions < 2 {
            return String::new();
        }
        let group = format!("{id}-direction");
        let one = |k: usize| {
            let value = k.to_string();
            let mut attributes =
                vec![("type", "radio"), ("name", group.as_str()), ("value", value.as_str())];
            attributes.extend((k == 0).then_some(("checked", "")));
            let name = text("span", &[], &format!("Direction {}", k + 1));
            element("label", &[], &format!("{}{name}", void("input", &attributes)))
        };
        let attributes =
            [("class", "choice live"), ("role", "radiogroup"), ("aria-label", "Direction of z")];
        element("div", &attributes, &(0..self.directions).map(one).collect::<String>())
    }

    fn row(&self, column: usize, sums: Option<[f64; 3]>) -> String {
        let column = &self.weights.columns[column];
        let [net, up, down] = sums.unwrap_or_default();
        let class = if column.sensitive { "sensitive" } else { "" };
        let (low, high) =
            if column.categories > 0 { (down, up) } else { (net.min(0.0), net.max(0.0)) };
        let width = self.percent(high) - self.percent(low);
        let bar = format!("left:{:.2}%;width:{width:.2}%", self.percent(low));
        let dot = format!("left:{:.2}%", self.percent(net));
        let mut dotted = vec![("class", "dot"), ("style", dot.as_str())];
        dotted.extend((column.categories == 0).then_some(("hidden", "")));
        let bars = [
            element("span", &[("class", "length"), ("style", &bar)], ""),
            element("span", &dotted, ""),
        ];
        let cells = [
            element("th", &[("scope", "row"), ("class", "name")], &text("bdi", &[], &column.name)),
            element(
                "td",
                &[("class", "load")],
                &element("span", &[("class", "track")], &bars.concat()),
            ),
            text("td", &[("class", "number")], &plain(round(net))),
        ];
        element("tr", &[("class", class)], &cells.concat()) + "\n"
    }

    /// Where a weight lies in its range.
    fn percent(&self, weight: f64) -> f64 {
        let (low, high) = self.ranges.first().copied().unwrap_or((-1.0, 1.0));
        100.0 * (weight - low) / (high - low)
    }

    /// What the scripts need to follow the slider.
    pub(super) fn data(&self) -> Value {
        let part = |k: usize| floats(self.weights.sums.iter().map(|s| s[k]));
        let columns: Vec<Value> = self
            .weights
            .columns
            .iter()
            .map(|c| json!([c.name, c.sensitive, c.categories]))
            .collect();
        json!({
            "columns": columns, "directions": self.directions, "ranges": self.ranges,
            "net": part(0), "up": part(1), "down": part(2),
        })
    }
}

/// Three digits are enough beside a bar.
fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
