//! A figure of the page: heading, legend, panels, caption, table. Each panel is drawn twice, for
//! wide and for narrow screens, and the style sheet chooses.

use super::html::{element, prose, text, void};
use super::{Chart, Cursor, table};
use crate::error::Result;
use crate::figure::{Axis, Figure, Legend, Panel};
use crate::font::Fonts;
use crate::format::in_units;
use crate::layout::Single;
use crate::legend::{self, Swatch};
use crate::svg::{escape, inline, number, tenth};
use crate::{check, range};

/// Where a chart stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Beside the figures at the slider, and the largest.
    Front,
    /// In a grid of two columns, or over both.
    Grid,
    /// Over the whole page.
    Wide,
}

/// The widths of screens that a drawing is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    Wide,
    Narrow,
}

impl Screen {
    pub(super) const BOTH: [Self; 2] = [Self::Wide, Self::Narrow];

    /// Its class in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Wide => "plot wide",
            Self::Narrow => "plot narrow",
        }
    }
}

/// Height of a line of a panel with names on its vertical axis, and of the rest of it.
const LINE: f64 = 34.0;
const REST: f64 = 44.0;
/// The width of drawings for narrow screens.
pub(super) const NARROW: f64 = 350.0;

/// The size of a panel.
fn size(panel: &Panel, slot: Slot, columns: usize, screen: Screen) -> (f64, f64) {
    let width = match (screen, slot, columns) {
        (Screen::Narrow, ..) => NARROW,
        (_, Slot::Front, _) => 660.0,
        (_, Slot::Wide, 1) => 1080.0,
        (_, _, 0..=2) => 540.0,
        (_, _, 3) => 350.0,
        _ => 270.0,
    };
    let height = match (panel.y.categories.len(), screen, slot) {
        (0, Screen::Narrow, Slot::Grid) => 240.0,
        (0, Screen::Narrow, _) => 320.0,
        (0, _, Slot::Front) => 440.0,
        (0, _, Slot::Wide) => (0.46 * width).max(230.0),
        (0, ..) => (0.6 * width).max(230.0),
        (names, ..) => LINE * names as f64 + REST,
    };
    (width, height)
}

/// A chart in its slot, with its cursors where the slider stands at first.
pub(super) fn chart(
    chart: &Chart,
    id: &str,
    slot: Slot,
    start: usize,
    fonts: &Fonts,
) -> Result<String> {
    let figure = &chart.figure;
    check::figure(figure)?;
    let title = if figure.title.is_empty() { &figure.name } else { &figure.title };
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let slot = if chart.wide && slot == Slot::Grid { Slot::Wide } else { slot };
    let mut panels = String::new();
    for (k, panel) in figure.panels.iter().enumerate() {
        let cursors = chart.cursors.get(k).map_or(&[][..], Vec::as_slice);
        let drawn: String = Screen::BOTH
            .iter()
            .map(|screen| {
                let size = size(panel, slot, columns, *screen);
                drawing(panel, title, cursors, size, *screen, start, fonts)
            })
            .collect();
        let own = match figure.legend {
            Legend::EachPanel => key(&[panel], cursors),
            _ => String::new(),
        };
        panels += &framed(panel, &own, &drawn);
    }
    let shared: Vec<&Panel> = match figure.legend {
        Legend::EachPanel | Legend::Hidden => Vec::new(),
        _ => figure.panels.iter().collect(),
    };
    let first = chart.cursors.iter().find(|c| !c.is_empty()).map_or(&[][..], Vec::as_slice);
    let legend = if shared.is_empty() { String::new() } else { key(&shared, first) };
    let columns = format!("--columns:{}", columns.min(4));
    let body = [
        switch(figure),
        legend,
        element("div", &[("class", "panels"), ("style", &columns)], &panels),
        element("figcaption", &[], &prose(&figure.caption)),
        table::behind_figure(figure),
    ];
    let class = match (slot, figure.panels.len()) {
        (Slot::Wide, 1) => "chart across whole",
        (Slot::Wide, _) | (_, 2..) => "chart across",
        _ => "chart",
    };
    Ok(figured(id, title, class, &body.concat()))
}

/// The frame that every chart shares.
pub(super) fn figured(id: &str, title: &str, class: &str, inside: &str) -> String {
    let heading = format!("{id}-title");
    let attributes =
        [("id", id), ("role", "group"), ("aria-labelledby", heading.as_str()), ("class", class)];
    let title = text("h3", &[("id", &heading), ("class", "chart-title")], title);
    element("figure", &attributes, &format!("{title}{inside}")) + "\n"
}

/// What shows the marks of experts; the style sheet alone does it.
fn switch(figure: &Figure) -> String {
    if figure.panels.iter().all(|p| p.experts.is_empty()) {
        return String::new();
    }
    let input = void("input", &[("type", "checkbox")]);
    let label = element("label", &[], &format!("{input} Bounds, for experts"));
    element("p", &[("class", "switch")], &label)
}

fn key(panels: &[&Panel], cursors: &[Cursor]) -> String {
    let item = |Swatch { name, drawn, experts }: &Swatch| {
        let svg = format!(
            "<svg class=\"swatch\" viewBox=\"0 0 30 14\" width=\"30\" height=\"14\" aria-hidden=\"true\">{drawn}</svg>"
        );
        let class = if *experts { "expert" } else { "" };
        element("li", &[("class", class)], &format!("{svg}{}", text("bdi", &[], name)))
    };
    let mut items: String = legend::swatches(panels).iter().map(item).collect();
    for cursor in cursors.iter().take(1) {
        let mark = match cursor.y.is_empty() {
            true => "<path class=\"cursor-rule\" d=\"M15,0V14\"/>".to_owned(),
            false => element("g", &[("transform", "translate(15,7)")], DOT),
        };
        items += &item(&Swatch { name: cursor.name.clone(), drawn: mark, experts: false });
    }
    if items.is_empty() { items } else { element("ul", &[("class", "legend")], &items) }
}

/// Title and names of axes around a drawing.
pub(super) fn framed(panel: &Panel, legend: &str, drawn: &str) -> String {
    let words = |tag: &str, class: &str, words: &str| match words.is_empty() {
        true => String::new(),
        false => text(tag, &[("class", class)], words),
    };
    let inside = [
        words("h4", "panel-title", &panel.title),
        legend.to_owned(),
        words("p", "axis-label", &panel.y.label),
        element("div", &[("class", "drawing")], drawn),
        words("p", "axis-label over", &panel.x.label),
    ];
    element("div", &[("class", "panel")], &inside.concat())
}

const DOT: &str = "<circle class=\"cursor-halo\" r=\"7\"/><circle class=\"cursor-dot\" r=\"4.5\"/>";

fn drawing(
    panel: &Panel,
    title: &str,
    cursors: &[Cursor],
    size: (f64, f64),
    screen: Screen,
    start: usize,
    fonts: &Fonts,
) -> String {
    let single = Single::new(panel, size, fonts);
    let mut inside = inline(&single.scene, screen == Screen::Wide);
    if !cursors.is_empty() {
        let all: String = cursors.iter().map(|c| cursor(c, &single, start)).collect();
        inside += &element("g", &[("class", "cursors")], &all);
    }
    let class = match cursors.is_empty() {
        true => screen.class().to_owned(),
        false => format!("{} pick", screen.class()),
    };
    svg(&class, size, &format!("{title}. {}", described(panel)), "", &inside)
}

/// A drawing of the page.
pub(super) fn svg(
    class: &str,
    (width, height): (f64, f64),
    label: &str,
    more: &str,
    inside: &str,
) -> String {
    let (width, height) = (number(width), number(height));
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\"{more}>\n{inside}</svg>\n",
        escape(label)
    )
}

/// What follows the slider, with its place at every position.
fn cursor(cursor: &Cursor, single: &Single<'_>, start: usize) -> String {
    let place = |(k, x): (usize, &f64)| match cursor.y.is_empty() {
        true => single.place(*x, None).map(|(x, _)| (x, 0.0)),
        false => single.place(*x, cursor.y.get(k).copied()),
    };
    let places: Vec<Option<(f64, f64)>> = cursor.x.iter().enumerate().map(place).collect();
    let written = |p: &Option<(f64, f64)>| match p {
        Some((x, y)) => format!("{},{}", tenth(*x), tenth(*y)),
        None => "-".to_owned(),
    };
    let at = places.iter().map(written).collect::<Vec<_>>().join(" ");
    let shape = match cursor.y.is_empty() {
        true => format!(
            "<path class=\"cursor-rule\" d=\"M0,{}V{}\"/>",
            number(single.rect.top),
            number(single.rect.bottom)
        ),
        false => DOT.to_owned(),
    };
    let here = match places.get(start).copied().flatten() {
        Some((x, y)) => format!("transform=\"translate({},{})\"", tenth(x), tenth(y)),
        None => "display=\"none\"".to_owned(),
    };
    format!("<g data-at=\"{at}\" {here}>{shape}</g>")
}

/// What a panel shows, for those who do not see it.
pub(super) fn described(panel: &Panel) -> String {
    let side = |axis: &Axis, (low, high): (f64, f64)| {
        let label = if axis.label.is_empty() { "no label" } else { &axis.label };
        match axis.categories.len() {
            0 => format!("{label}, from {} to {}", in_units(axis, low), in_units(axis, high)),
            names => format!("{label}, {names} names"),
        }
    };
    let names: Vec<&str> = panel.all().map(|m| m.name()).filter(|n| !n.is_empty()).collect();
    let title = if panel.title.is_empty() { String::new() } else { format!("{}. ", panel.title) };
    format!(
        "{title}Horizontal axis: {}. Vertical axis: {}. {} series: {}.",
        side(&panel.x, range::horizontal(panel)),
        side(&panel.y, range::vertical(panel)),
        names.len(),
        names.join(", ")
    )
}
