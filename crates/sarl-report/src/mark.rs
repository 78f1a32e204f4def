//! What is drawn in a panel.

use serde::{Deserialize, Serialize};

use crate::style::{Colour, Dash, Shape, Style};

/// One series of a panel. Every kind has a name, which stands in the legend unless it is
/// empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mark {
    /// Points joined in order.
    Line(Line),
    /// A piecewise constant function.
    Steps(Steps),
    /// Points alone.
    Points(Points),
    /// Counts over bins.
    Histogram(Histogram),
    /// One bar per category.
    Bars(Bars),
    /// A horizontal or vertical line across the panel.
    Rule(Rule),
    /// A filled outline.
    Region(Region),
}

/// Points joined in order, with markers and a band where asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// The points, (x, y).
    pub points: Vec<(f64, f64)>,
    /// Colour, dash and marker.
    pub style: Style,
    /// The spread around the line, for instance over seeds; empty for none.
    #[serde(default)]
    pub band: Vec<Spread>,
}

/// The spread of y at one x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Where.
    pub x: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A piecewise constant function: each y holds from its x to the next x. The last point
/// only ends the one before, so repeat the last value where the function shall stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Name in the legend.
    pub name: String,
    /// The jumps, (x, y from there on).
    pub points: Vec<(f64, f64)>,
    /// Colour and dash; the marker shows the jumps.
    pub style: Style,
}

/// Points that are not joined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// Name in the legend.
    pub name: String,
    /// The points, (x, y).
    pub points: Vec<(f64, f64)>,
    /// Colour.
    pub colour: Colour,
    /// Marker.
    pub shape: Shape,
    /// Radius of a marker in pixels.
    pub size: f64,
    /// Error bars of each point; empty for none.
    #[serde(default)]
    pub errors: Vec<Cross>,
    /// What stands beside each point; empty for nothing.
    #[serde(default)]
    pub labels: Vec<String>,
    /// What a page says of each point beside its numbers; empty for nothing.
    #[serde(default)]
    pub tips: Vec<String>,
}

/// The error bars of a point: the ends across and up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cross {
    /// Across.
    pub x: Option<(f64, f64)>,
    /// Up.
    pub y: Option<(f64, f64)>,
}

/// Counts over bins, translucent so that several can lie over each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Name in the legend.
    pub name: String,
    /// The edges of the bins, increasing, one more than bins.
    pub edges: Vec<f64>,
    /// Count or density of each bin.
    pub counts: Vec<f64>,
    /// Colour.
    pub colour: Colour,
    /// Dash of the outline.
    pub dash: Dash,
}

/// One bar per category of the horizontal axis. Several in one panel stand side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// Name in the legend.
    pub name: String,
    /// Heights.
    pub values: Vec<f64>,
    /// The lower and the upper end of each error bar; empty for none.
    #[serde(default)]
    pub whiskers: Vec<(f64, f64)>,
    /// The bar that stands out.
    pub highlight: Option<usize>,
    /// Colour of the others.
    pub colour: Colour,
}

/// A line across the panel, such as a bound or chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Name in the legend.
    pub name: String,
    /// Whether it is a value of x or of y.
    pub direction: Direction,
    /// The value.
    pub at: f64,
    /// Colour.
    pub colour: Colour,
    /// Dash.
    pub dash: Dash,
    /// Whether the name stands at the line rather than in the legend.
    #[serde(default)]
    pub named: bool,
}

/// What an outline encloses, such as all that can be reached. Without an outline of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Name in the legend.
    pub name: String,
    /// The outline, (x, y); the last point is joined to the first.
    pub points: Vec<(f64, f64)>,
    /// Colour.
    pub colour: Colour,
}

/// Which way a [`Rule`] goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A value of y.
    Horizontal,
    /// A value of x.
    Vertical,
}

impl Mark {
    /// The name in the legend.
    pub fn name(&self) -> &str {
        match self {
            Self::Line(m) => &m.name,
            Self::Steps(m) => &m.name,
            Self::Points(m) => &m.name,
            Self::Histogram(m) => &m.name,
            Self::Bars(m) => &m.name,
            Self::Rule(m) => &m.name,
            Self::Region(m) => &m.name,
        }
    }
}

macro_rules! into_mark {
    ($($kind:ident)*) => {$(
        impl From<$kind> for Mark {
            fn from(mark: $kind) -> Self {
                Self::$kind(mark)
            }
        }
    )*};
}
into_mark!(Line Steps Points Histogram Bars Rule Region);
