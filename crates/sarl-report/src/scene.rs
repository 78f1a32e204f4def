//! A picture as paths, markers and texts, in pixels from the upper left corner.

use crate::style::{Colour, Dash, Shape};

/// A point in pixels.
pub(crate) type Point = (f64, f64);

/// A colour by what it is for: a number in files, a variable of the style sheet in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Paper,
    Text,
    Label,
    Axis,
    Grid,
    Data(Colour),
}

impl Ink {
    pub(crate) fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Paper => (0xff, 0xff, 0xff),
            Self::Text => (0x1a, 0x1a, 0x1a),
            Self::Label => (0x40, 0x40, 0x40),
            Self::Axis => (0x60, 0x60, 0x60),
            Self::Grid => (0xe6, 0xe6, 0xe6),
            Self::Data(colour) => colour.rgb(),
        }
    }

    /// As a number, `#0072b2`.
    pub(crate) fn css(self) -> String {
        let (r, g, b) = self.rgb();
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// As a variable of the page's style sheet.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Paper => "var(--paper)".to_owned(),
            Self::Text => "var(--ink)".to_owned(),
            Self::Label => "var(--muted)".to_owned(),
            Self::Axis => "var(--line)".to_owned(),
            Self::Grid => "var(--grid)".to_owned(),
            Self::Data(colour) => colour.variable(),
        }
    }
}

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub(crate) colour: Ink,
    pub(crate) opacity: f64,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Ink,
    pub(crate) width: f64,
    pub(crate) dash: Dash,
    pub(crate) opacity: f64,
}

impl Stroke {
    pub(crate) fn solid(colour: Ink, width: f64) -> Self {
        Self { colour, width, dash: Dash::Solid, opacity: 1.0 }
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
    /// Whether it stands over data, with paper around its letters in a page.
    pub(crate) over: bool,
    pub(crate) colour: Ink,
}

/// One thing in the picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Line {
        points: Vec<Point>,
        stroke: Stroke,
    },
    Area {
        points: Vec<Point>,
        fill: Fill,
    },
    Markers {
        at: Vec<Point>,
        shape: Shape,
        radius: f64,
        fill: Fill,
    },
    Text(Text),
    /// What is said in a page when the pointer rests there.
    Tip {
        at: Point,
        reach: (f64, f64),
        text: String,
    },
    /// What follows, up to the same with `false`, is for experts.
    Experts(bool),
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

    /// Says something within a reach around a point.
    pub(crate) fn tip(&mut self, at: Point, reach: (f64, f64), text: String) {
        self.items.push(Item::Tip { at, reach, text: cleaned_lines(&text) });
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
        Self {
            at,
            text: text.into(),
            size,
            weight,
            anchor,
            angle: 0.0,
            over: false,
            colour: Ink::Text,
        }
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

    pub(crate) fn colour(self, colour: Ink) -> Self {
        Self { colour, ..self }
    }
}

/// The same line by line.
fn cleaned_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
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
