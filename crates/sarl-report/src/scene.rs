//! A picture as paths, markers and texts, in pixels from the upper left corner.

use crate::style::{Dash, Shape};

/// A point in pixels.
pub(crate) type Point = (f64, f64);

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    pub(crate) fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Colours of what is not data.
pub(crate) mod ink {
    use super::Rgb;
    pub(crate) const PAPER: Rgb = Rgb(0xff, 0xff, 0xff);
    pub(crate) const TEXT: Rgb = Rgb(0x1a, 0x1a, 0x1a);
    pub(crate) const LABEL: Rgb = Rgb(0x40, 0x40, 0x40);
    pub(crate) const AXIS: Rgb = Rgb(0x60, 0x60, 0x60);
    pub(crate) const GRID: Rgb = Rgb(0xe6, 0xe6, 0xe6);
}

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub(crate) colour: Rgb,
    pub(crate) opacity: f64,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Rgb,
    pub(crate) width: f64,
    pub(crate) dash: Dash,
}

impl Stroke {
    pub(crate) fn solid(colour: Rgb, width: f64) -> Self {
        Self { colour, width, dash: Dash::Solid }
    }
}

/// Which end of a text its point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How heavy letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// A line of text on its baseline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    /// Clockwise, in degrees.
    pub(crate) angle: f64,
    pub(crate) colour: Rgb,
}

/// One thing in the picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Line { points: Vec<Point>, stroke: Stroke },
    Area { points: Vec<Point>, fill: Fill },
    Markers { at: Vec<Point>, shape: Shape, radius: f64, fill: Fill },
    Text(Text),
}

/// The whole picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) items: Vec<Item>,
}

impl Scene {
    pub(crate) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, stroke });
        }
    }

    pub(crate) fn area(&mut self, points: Vec<Point>, fill: Fill) {
        if points.len() > 2 {
            self.items.push(Item::Area { points, fill });
        }
    }

    pub(crate) fn markers(&mut self, at: Vec<Point>, shape: Shape, radius: f64, fill: Fill) {
        if !at.is_empty() {
            self.items.push(Item::Markers { at, shape, radius, fill });
        }
    }

    pub(crate) fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.items.push(Item::Text(Text { text: clean(&text.text), ..text }));
        }
    }
}

impl Text {
    /// Regular, level, dark text that starts at a point.
    pub(crate) fn new(text: impl Into<String>, at: Point, size: f64) -> Self {
        let (weight, anchor) = (Weight::Regular, Anchor::Start);
        Self { at, text: text.into(), size, weight, anchor, angle: 0.0, colour: ink::TEXT }
    }

    pub(crate) fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn angle(self, angle: f64) -> Self {
        Self { angle, ..self }
    }

    pub(crate) fn colour(self, colour: Rgb) -> Self {
        Self { colour, ..self }
    }
}

/// Text without what XML forbids or what would disturb a line: control characters and
/// line ends become spaces, marks that change the direction of the text and
/// non-characters go.
pub(crate) fn clean(text: &str) -> String {
    cleaned(text).collect()
}

/// The letters of [`clean`], one by one.
pub(crate) fn cleaned(text: &str) -> impl Iterator<Item = char> + '_ {
    let turns = |c: char| {
        let marks = matches!(c, '\u{200e}' | '\u{200f}');
        marks || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let nothing = |c: char| matches!(c, '\u{fffe}' | '\u{ffff}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let kept = text.chars().filter(move |c| !turns(*c) && !nothing(*c));
    kept.map(move |c| if breaks(c) { ' ' } else { c })
}
