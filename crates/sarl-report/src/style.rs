//! Colours, dashes and marker shapes.
//!
//! Series differ in colour, dash and marker at once, so that they can be told apart
//! in print without colour and by readers who see fewer colours. The colours are those of
//! Okabe and Ito (2008) without yellow, which is too light for lines on white.

use serde::{Deserialize, Serialize};

use crate::scene::Ink;

/// The colour of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    /// The n-th colour of the palette; it starts again after the last.
    Series(usize),
    /// Grey, for bounds and backgrounds.
    Neutral,
}

const PALETTE: [(u8, u8, u8); 7] = [
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0x00, 0x9E, 0x73),
    (0xCC, 0x79, 0xA7),
    (0xE6, 0x9F, 0x00),
    (0x56, 0xB4, 0xE9),
    (0x00, 0x00, 0x00),
];

impl Colour {
    /// The colour of what is highlighted among marks of this colour.
    pub(crate) fn contrast(self) -> Self {
        match self {
            Self::Series(n) if n % PALETTE.len() == 1 => Self::Series(0),
            _ => Self::Series(1),
        }
    }

    pub(crate) fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Series(n) => PALETTE[n % PALETTE.len()],
            Self::Neutral => (0x66, 0x66, 0x66),
        }
    }

    /// The colour as CSS writes it, `#0072b2`.
    pub fn css(self) -> String {
        self.ink().css()
    }

    /// As a variable of the page's style sheet, which has one for each colour of the palette.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Series(n) => format!("var(--series-{})", n % PALETTE.len()),
            Self::Neutral => "var(--neutral)".to_owned(),
        }
    }

    pub(crate) fn ink(self) -> Ink {
        Ink::Data(self)
    }
}

/// How a line is dashed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dash {
    /// Not at all.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dashes and dots in turn.
    DashDot,
    /// Dots.
    Dotted,
}

impl Dash {
    /// Lengths of strokes and gaps in pixels; empty for a solid line.
    pub(crate) fn pattern(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[7.0, 4.0],
            Self::DashDot => &[8.0, 3.5, 2.0, 3.5],
            Self::Dotted => &[2.0, 3.5],
        }
    }
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A disc.
    #[default]
    Circle,
    /// A square.
    Square,
    /// A triangle, point up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// An x of two strokes.
    Cross,
}

impl Shape {
    /// The corners of a marker of this radius around the origin: of about the same area
    /// for every shape. `None` for a circle; the two strokes of a cross are the pairs.
    pub(crate) fn corners(self, radius: f64) -> Option<Vec<(f64, f64)>> {
        let r = radius;
        match self {
            Self::Circle => None,
            Self::Square => {
                let a = 0.89 * r;
                Some(vec![(-a, -a), (a, -a), (a, a), (-a, a)])
            }
            Self::Triangle => {
                Some(vec![(0.0, -1.3 * r), (1.2 * r, 0.85 * r), (-1.2 * r, 0.85 * r)])
            }
            Self::Diamond => {
                Some(vec![(0.0, -1.3 * r), (1.3 * r, 0.0), (0.0, 1.3 * r), (-1.3 * r, 0.0)])
            }
            Self::Cross => Some(vec![(-r, -r), (r, r), (-r, r), (r, -r)]),
        }
    }
}

/// The look of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Style {
    /// Colour of line and marker.
    pub colour: Colour,
    /// Dash of the line.
    pub dash: Dash,
    /// Marker at each point, if any.
    pub marker: Option<Shape>,
}

impl Style {
    /// The look of the n-th series of a panel: colour, dash and marker all differ from
    /// those of its neighbours.
    pub fn nth(n: usize) -> Self {
        const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::DashDot, Dash::Dotted];
        const SHAPES: [Shape; 5] =
            [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Cross];
        Self {
            colour: Colour::Series(n),
            dash: DASHES[n % DASHES.len()],
            marker: Some(SHAPES[n % SHAPES.len()]),
        }
    }

    /// The same without a marker.
    pub fn unmarked(self) -> Self {
        Self { marker: None, ..self }
    }
}
