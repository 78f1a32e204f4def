//! The legend: which marks it names, and where its entries stand.

use crate::figure::Panel;
use crate::font::Fonts;
use crate::mark::Mark;
use crate::scene::{Fill, Point, Scene, Stroke, Text, Weight};
use crate::style::{Colour, Dash, Shape, Style};

const SIZE: f64 = 12.0;
/// Height of an entry.
const LINE: f64 = 20.0;
/// Width of a sample, and of the space after it.
const SAMPLE: f64 = 30.0;
const AFTER: f64 = 7.0;
/// Space between entries side by side.
const BETWEEN: f64 = 20.0;
/// The longest name, in pixels and as a part of the room there is.
const LONGEST: f64 = 260.0;
const LONGEST_PART: f64 = 0.6;

/// How a mark looks in small.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sample {
    Line(Style, bool),
    Marker(Colour, Shape),
    Area(Colour, Dash, f64),
}

/// The entries of a legend.
#[derive(Debug, Default)]
pub(crate) struct Key {
    entries: Vec<(String, Sample)>,
    widest: f64,
}

/// Where the entries stand, and how much room they take.
#[derive(Debug, Default)]
pub(crate) struct Block {
    places: Vec<Point>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Key {
    /// What the legend of these panels names, marks of the same name and look once.
    pub(crate) fn of<'a>(
        panels: impl IntoIterator<Item = &'a Panel>,
        room: f64,
        fonts: &Fonts,
    ) -> Self {
        let most = (room * LONGEST_PART).min(LONGEST);
        let mut key = Self::default();
        for mark in panels.into_iter().flat_map(Panel::all).filter(|mark| !stands_at_line(mark)) {
            let entry = (fonts.fit(mark.name(), SIZE, Weight::Regular, most), sample(mark));
            if !entry.0.trim().is_empty() && !key.entries.contains(&entry) {
                key.widest = key.widest.max(width(&entry.0, fonts));
                key.entries.push(entry);
            }
        }
        key
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entries side by side, in columns where they need more than one line.
    pub(crate) fn beside(&self, room: f64, fonts: &Fonts) -> Block {
        let widths: Vec<f64> =
            self.entries.iter().map(|entry| width(&entry.0, fonts) + BETWEEN).collect();
        if widths.iter().sum::<f64>() - BETWEEN <= room {
            let starts = widths.iter().scan(0.0, |x, width| {
                *x += width;
                Some((*x - width, 0.0))
            });
            return self.block(starts.collect());
        }
        let cell = self.widest + BETWEEN;
        let columns = (((room + BETWEEN) / cell) as usize).max(1);
        let place = |i: usize| ((i % columns) as f64 * cell, (i / columns) as f64 * LINE);
        self.block((0..self.entries.len()).map(place).collect())
    }

    /// Entries under each other.
    pub(crate) fn stacked(&self) -> Block {
        self.block((0..self.entries.len()).map(|i| (0.0, i as f64 * LINE)).collect())
    }

    fn block(&self, places: Vec<Point>) -> Block {
        let height = places.last().map_or(0.0, |last| last.1 + LINE);
        let width = places.iter().map(|place| place.0 + self.widest).fold(0.0, f64::max);
        Block { places, width, height }
    }

    /// Draws the entries, with the upper left corner of their block at a point.
    pub(crate) fn draw(&self, block: &Block, (left, top): Point, scene: &mut Scene) {
        for ((name, sample), (x, y)) in self.entries.iter().zip(&block.places) {
            let (x, middle) = (left + x, top + y + LINE / 2.0);
            draw_sample(*sample, x, middle, scene);
            scene.text(Text::new(name.clone(), (x + SAMPLE + AFTER, middle + 0.36 * SIZE), SIZE));
        }
    }
}

/// Whether the name of a mark stands at the mark itself.
pub(crate) fn stands_at_line(mark: &Mark) -> bool {
    matches!(mark, Mark::Rule(rule) if rule.named)
}

/// A mark of a page's legend.
pub(crate) struct Swatch {
    pub(crate) name: String,
    /// What is inside of an `<svg>` of 30 by 14 pixels.
    pub(crate) drawn: String,
    /// Whether it is for experts.
    pub(crate) experts: bool,
}

/// The legend of a page: marks of the same name and look once.
pub(crate) fn swatches(panels: &[&Panel]) -> Vec<Swatch> {
    let mut seen: Vec<(&str, Sample)> = Vec::new();
    let mut all = Vec::new();
    for (experts, mark) in panels.iter().flat_map(|panel| {
        let plain = panel.marks.iter().map(|mark| (false, mark));
        plain.chain(panel.experts.iter().map(|mark| (true, mark)))
    }) {
        let entry = (mark.name(), sample(mark));
        if entry.0.is_empty() || stands_at_line(mark) || seen.contains(&entry) {
            continue;
        }
        seen.push(entry);
        let (width, height) = (SAMPLE, 14.0);
        let (title, description) = (String::new(), String::new());
        let mut scene = Scene { width, height, title, description, items: Vec::new() };
        draw_sample(entry.1, 0.0, height / 2.0, &mut scene);
        let drawn = crate::svg::inline(&scene, false);
        all.push(Swatch { name: entry.0.to_owned(), drawn, experts });
    }
    all
}

fn width(name: &str, fonts: &Fonts) -> f64 {
    SAMPLE + AFTER + fonts.width(name, SIZE, Weight::Regular)
}

fn sample(mark: &Mark) -> Sample {
    match mark {
        Mark::Line(line) => Sample::Line(line.style, !line.band.is_empty()),
        Mark::Steps(steps) => Sample::Line(steps.style, false),
        Mark::Points(points) => Sample::Marker(points.colour, points.shape),
        Mark::Histogram(histogram) => {
            Sample::Area(histogram.colour, histogram.dash, HISTOGRAM_OPACITY)
        }
        Mark::Bars(bars) => Sample::Area(bars.colour, Dash::Solid, 1.0),
        Mark::Region(region) => Sample::Area(region.colour, Dash::Solid, BAND_OPACITY),
        Mark::Rule(rule) => {
            Sample::Line(Style { colour: rule.colour, dash: rule.dash, marker: None }, false)
        }
    }
}

/// Opacity of histograms and bands, here and in panels.
pub(crate) const HISTOGRAM_OPACITY: f64 = 0.32;
pub(crate) const BAND_OPACITY: f64 = 0.18;
/// Radius of the markers of lines.
pub(crate) const MARKER: f64 = 4.0;

fn draw_sample(sample: Sample, x: f64, middle: f64, scene: &mut Scene) {
    let bar = |half: f64| {
        let (top, bottom) = (middle - half, middle + half);
        vec![(x, top), (x + SAMPLE, top), (x + SAMPLE, bottom), (x, bottom)]
    };
    match sample {
        Sample::Line(Style { colour, dash, marker }, band) => {
            let colour = colour.ink();
            if band {
                scene.area(bar(6.0), Fill { colour, opacity: BAND_OPACITY });
            }
            scene.line(
                vec![(x, middle), (x + SAMPLE, middle)],
                Stroke { colour, width: 2.0, dash, opacity: 1.0 },
            );
            if let Some(shape) = marker {
                scene.markers(
                    vec![(x + SAMPLE / 2.0, middle)],
                    shape,
                    MARKER,
                    Fill { colour, opacity: 1.0 },
                );
            }
        }
        Sample::Marker(colour, shape) => {
            let fill = Fill { colour: colour.ink(), opacity: 1.0 };
            scene.markers(vec![(x + SAMPLE / 2.0, middle)], shape, MARKER, fill);
        }
        Sample::Area(colour, dash, opacity) => {
            let colour = colour.ink();
            let mut outline = bar(6.0);
            scene.area(outline.clone(), Fill { colour, opacity });
            outline.push((x, middle - 6.0));
            scene.line(outline, Stroke { colour, width: 1.4, dash, opacity: 1.0 });
        }
    }
}
