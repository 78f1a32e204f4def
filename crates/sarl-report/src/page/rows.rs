//! Rows as the encoder sends them: a histogram of one direction, or two against each other. Axes
//! are drawn for all positions at once; the scripts move what is between them.

use serde_json::{Value, json};

use super::chart::{NARROW, Screen, described, figured, framed, svg};
use super::groups::{BINS, Groups, quantile};
use super::html::{element, text};
use super::pack::shorts;
use super::{Embedding, Explorer, table};
use crate::figure::{Axis, Panel};
use crate::font::Fonts;
use crate::format::count;
use crate::layout::Single;
use crate::legend::HISTOGRAM_OPACITY;
use crate::scene::{Fill, Point};
use crate::style::{Colour, Shape};
use crate::svg::{around, inline, marked, page_marker, tenth};

/// The radius of points.
const RADIUS: f64 = 3.0;
const TITLE: &str = "What z looks like";

/// The rows of an explorer, grouped by each of their labels.
pub(super) struct Cloud<'a> {
    explorer: &'a Explorer,
    embedding: &'a Embedding,
    labels: Vec<(String, bool, Groups)>,
    /// Ranges of both directions that hold nearly all rows at every position.
    ranges: [(f64, f64); 2],
    /// The tallest bin of any label at any position.
    top: f64,
}

impl<'a> Cloud<'a> {
    pub(super) fn new(explorer: &'a Explorer) -> Option<Self> {
        let embedding = explorer.embedding.as_ref()?;
        let mut labels: Vec<(String, bool, Groups)> = embedding
            .labels
            .iter()
            .map(|label| (label.name.clone(), label.hidden, Groups::new(label)))
            .collect();
        if labels.is_empty() {
            let of = vec![Some(0); embedding.rows];
            let (names, looks) =
                (vec!["all rows".to_owned()], vec![(Colour::Series(0), Shape::Circle)]);
            labels.push(("row".to_owned(), false, Groups { names, looks, of }));
        }
        let mut cloud = Self { explorer, embedding, labels, ranges: [(-1.0, 1.0); 2], top: 0.0 };
        cloud.ranges = [cloud.range(0), cloud.range(1)];
        cloud.top = cloud.tallest();
        Some(cloud)
    }

    fn z(&self, position: usize, direction: usize) -> &[f64] {
        let start = (2 * position + direction) * self.embedding.rows;
        self.embedding.z.get(start..start + self.embedding.rows).unwrap_or(&[])
    }

    fn range(&self, direction: usize) -> (f64, f64) {
        let with = self.explorer.positions.iter().enumerate().filter(|(_, p)| p.dim > direction);
        let mut all: Vec<f64> = with.flat_map(|(k, _)| self.z(k, direction).to_vec()).collect();
        all.retain(|v| v.is_finite());
        if all.is_empty() {
            return (-1.0, 1.0);
        }
        all.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&all, 0.0025), quantile(&all, 0.9975));
        let room = if high > low { 0.03 * (high - low) } else { low.abs().max(1.0) };
        (low - room, high + room)
    }

    fn tallest(&self) -> f64 {
        let ones = self.explorer.positions.iter().enumerate().filter(|(_, p)| p.dim == 1);
        ones.flat_map(|(k, _)| {
            let z = self.z(k, 0);
            self.labels.iter().flat_map(|(_, _, g)| g.shares(z, self.ranges[0])).collect::<Vec<_>>()
        })
        .flatten()
        .fold(0.0, f64::max)
    }

    /// The axes for positions of one dimension, or of more.
    fn panel(&self, dimensions: usize) -> Panel {
        let axis = |k: usize| {
            let (low, high) = self.ranges[k];
            Axis::new(format!("direction {} of z", k + 1)).range(low, high)
        };
        let up = match dimensions {
            1 => Axis::new("share of the rows of a group")
                .percent()
                .range(0.0, if self.top > 0.0 { 1.04 * self.top } else { 1.0 }),
            _ => axis(1),
        };
        Panel::new("", axis(0), up)
    }

    /// What is said of the rows at a position.
    pub(super) fn caption(&self, position: usize) -> String {
        let dim = self.explorer.positions.get(position).map_or(0, |p| p.dim);
        let mut words = format!("{} rows. {}", count(self.embedding.rows), self.embedding.words);
        if dim > 2 {
            words += &format!(" Two of the {dim} directions are shown.");
        }
        let outside = |row: usize| {
            (0..dim.min(2)).any(|k| {
                let (low, high) = self.ranges[k];
                self.z(position, k).get(row).is_some_and(|v| *v < low || *v > high)
            })
        };
        match (0..self.embedding.rows).filter(|row| outside(*row)).count() {
            0 => {}
            1 => words += " 1 row is outside the axes, drawn at their end.",
            out => {
                words += &format!(" {} rows are outside the axes, drawn at their ends.", count(out))
            }
        }
        words
    }

    /// The figure, as it is where the slider starts.
    pub(super) fn html(&self, id: &str, fonts: &Fonts) -> String {
        let start = self.explorer.start;
        let dim = self.explorer.positions.get(start).map_or(0, |p| p.dim);
        let kinds: Vec<usize> = [1, 2]
            .into_iter()
            .filter(|k| self.explorer.positions.iter().any(|p| p.dim.min(2) == *k))
            .collect();
        let shown = |kind: usize| if dim.min(2) == kind { None } else { Some(("hidden", "")) };
        let mut panels = String::new();
        for kind in kinds {
            let panel = self.panel(kind);
            let drawn: String =
                Screen::BOTH.iter().map(|s| self.drawing(&panel, kind, *s, fonts)).collect();
            let legends: String = (0..self.labels.len()).map(|j| self.legend(j, kind)).collect();
            let kind_text = kind.to_string();
            let mut attributes = vec![("data-dim", kind_text.as_str())];
            attributes.extend(shown(kind));
            panels += &element("div", &attributes, &framed(&panel, &legends, &drawn));
        }
        let mut attributes = vec![("class", "note"), ("data-dim", "0")];
        attributes.extend(shown(0));
        let nothing = "z has no dimensions at this position: there is nothing to draw.";
        let caption = text("span", &[("data-field", "rows")], &self.caption(start));
        let body = [
            self.picker(),
            panels,
            text("p", &attributes, nothing),
            element("figcaption", &[], &caption),
            table::filled_by_script(),
        ];
        let title = format!("{TITLE}, by {}", self.labels[0].0);
        figured(id, &title, "chart", &body.concat())
    }

    fn picker(&self) -> String {
        if self.labels.len() < 2 {
            return String::new();
        }
        let option = |(j, (name, hidden, _)): (usize, &(String, bool, Groups))| {
            let words = if *hidden { format!("{name} (to be hidden)") } else { name.clone() };
            text("option", &[("value", &j.to_string())], &words)
        };
        let options: String = self.labels.iter().enumerate().map(option).collect();
        let select = element("select", &[], &options);
        element("label", &[("class", "picker live")], &format!("Rows by {select}"))
    }

    fn legend(&self, label: usize, kind: usize) -> String {
        let (name, _, groups) = &self.labels[label];
        let missing = groups.of.iter().filter(|g| g.is_none()).count();
        let left_out = match missing {
            0 => String::new(),
            _ => {
                text("p", &[("class", "note")], &format!("{} rows have no {name}.", count(missing)))
            }
        };
        let number = label.to_string();
        let mut attributes = vec![("data-label", number.as_str())];
        attributes.extend((label > 0).then_some(("hidden", "")));
        element("div", &attributes, &format!("{}{left_out}", groups.legend(kind == 1)))
    }

    fn drawing(&self, panel: &Panel, kind: usize, screen: Screen, fonts: &Fonts) -> String {
        let size = match screen {
            Screen::Wide => (540.0, 324.0),
            Screen::Narrow => (NARROW, 260.0),
        };
        let single = Single::new(panel, size, fonts);
        let mut inside = inline(&single.scene, false);
        for (j, (_, _, groups)) in self.labels.iter().enumerate() {
            let paths: String = (0..groups.names.len())
                .map(|g| self.path(groups, g, kind, j == 0, &single))
                .collect();
            let number = j.to_string();
            let mut attributes = vec![("class", "rows"), ("data-label", number.as_str())];
            attributes.extend((j > 0).then_some(("display", "none")));
            inside += &element("g", &attributes, &paths);
        }
        let (x, y) = (panel.x.range.unwrap_or_default(), panel.y.range.unwrap_or_default());
        let rect = single.rect;
        let frame: Vec<String> = [rect.left, rect.top, rect.right, rect.bottom, x.0, x.1, y.0, y.1]
            .iter()
            .map(f64::to_string)
            .collect();
        let frame = format!(" data-frame=\"{}\"", frame.join(" "));
        svg(screen.class(), size, &format!("{TITLE}. {}", described(panel)), &frame, &inside)
    }

    /// The rows of a group as one path, drawn where the slider starts.
    fn path(
        &self,
        groups: &Groups,
        group: usize,
        kind: usize,
        drawn: bool,
        single: &Single<'_>,
    ) -> String {
        let start = self.explorer.start;
        let here =
            drawn && self.explorer.positions.get(start).is_some_and(|p| p.dim.min(2) == kind);
        let (colour, shape) = groups.looks[group];
        if kind == 1 {
            let shares =
                if here { groups.shares(self.z(start, 0), self.ranges[0]) } else { Vec::new() };
            let d = shares.get(group).map_or(String::new(), |bins| skyline(bins, single));
            let ink = colour.ink().variable();
            return format!(
                "<path d=\"{d}\" fill=\"{ink}\" fill-opacity=\"{HISTOGRAM_OPACITY}\" stroke=\"{ink}\" stroke-width=\"1.4\"/>"
            );
        }
        let fill = Fill { colour: colour.ink(), opacity: 0.75 };
        let look = page_marker(shape, RADIUS, &fill);
        let at = if here { self.places(groups, group, start, single) } else { Vec::new() };
        let d = marked(&at, shape, RADIUS);
        format!("<path data-shape=\"{}\" d=\"{d}\" {look}/>", around(shape, RADIUS))
    }

    fn places(
        &self,
        groups: &Groups,
        group: usize,
        position: usize,
        single: &Single<'_>,
    ) -> Vec<Point> {
        let inside = |k: usize, row: usize| {
            let (low, high) = self.ranges[k];
            self.z(position, k).get(row).map(|v| v.clamp(low, high))
        };
        let rows = (0..self.embedding.rows).filter(|row| groups.of.get(*row) == Some(&Some(group)));
        rows.filter_map(|row| single.place(inside(0, row)?, inside(1, row))).collect()
    }

    /// What the scripts need to move the rows.
    pub(super) fn data(&self) -> Value {
        // Only the directions that a position has.
        let positions = self.explorer.positions.iter().enumerate();
        let directions = positions.flat_map(|(k, p)| (0..p.dim.min(2)).map(move |j| (k, j)));
        let z: Vec<f64> = directions.flat_map(|(k, j)| self.z(k, j)).copied().collect();
        let (z, unit) = shorts(&z);
        let label = |(name, _, groups): &(String, bool, Groups)| json!({ "name": name, "names": groups.names, "of": groups.code() });
        let labels: Vec<Value> = self.labels.iter().map(label).collect();
        json!({ "count": self.embedding.rows, "z": z, "unit": unit, "bins": BINS, "labels": labels })
    }
}

/// The outline of bins, standing on the axis.
fn skyline(bins: &[f64], single: &Single<'_>) -> String {
    let rect = single.rect;
    let width = rect.width() / bins.len().max(1) as f64;
    let top = |share: f64| single.place_up(share).unwrap_or(rect.bottom);
    let mut d = format!("M{},{}", tenth(rect.left), tenth(rect.bottom));
    for (k, share) in bins.iter().enumerate() {
        let right = rect.left + (k + 1) as f64 * width;
        d += &format!("V{}H{}", tenth(top(*share)), tenth(right));
    }
    d + &format!("V{}Z", tenth(rect.bottom))
}
