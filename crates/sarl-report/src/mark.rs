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

impl Line {
    /// A solid line in the first colour, without markers.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::nth(0).unmarked(), band: Vec::new() }
    }

    /// The same in another style.
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// The same with a band around it.
    pub fn band(self, band: Vec<Spread>) -> Self {
        Self { band, ..self }
    }
}

impl Steps {
    /// Steps in the first colour.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::nth(0).unmarked() }
    }

    /// The same in another style.
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

impl Points {
    /// Discs in the first colour.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            colour: Colour::Series(0),
            shape: Shape::Circle,
            size: 3.5,
            errors: Vec::new(),
            labels: Vec::new(),
            tips: Vec::new(),
        }
    }

    /// The same with error bars.
    pub fn errors(self, errors: Vec<Cross>) -> Self {
        Self { errors, ..self }
    }

    /// The same with a text beside each point.
    pub fn labels(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }

    /// The same with words for each point.
    pub fn tips(self, tips: Vec<String>) -> Self {
        Self { tips, ..self }
    }

    /// The same with another colour and shape.
    pub fn look(self, colour: Colour, shape: Shape) -> Self {
        Self { colour, shape, ..self }
    }

    /// The same with another radius in pixels.
    pub fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }
}

impl Histogram {
    /// A histogram in the n-th colour and dash.
    pub fn new(name: impl Into<String>, edges: Vec<f64>, counts: Vec<f64>, n: usize) -> Self {
        let Style { colour, dash, .. } = Style::nth(n);
        Self { name: name.into(), edges, counts, colour, dash }
    }

    /// Counts values into bins, of which the last holds its right edge too. Values outside
    /// are not counted.
    pub fn of(name: impl Into<String>, values: &[f64], edges: Vec<f64>, n: usize) -> Self {
        let mut counts = vec![0.0; edges.len().saturating_sub(1)];
        for &value in values {
            let bin = edges.partition_point(|edge| *edge <= value);
            let on_last = edges.last().is_some_and(|last| *last == value);
            let index = if on_last { bin.checked_sub(2) } else { bin.checked_sub(1) };
            if let Some(count) = index.and_then(|index| counts.get_mut(index)) {
                *count += 1.0;
            }
        }
        Self::new(name, edges, counts, n)
    }
}

/// The edges of bins of equal width over all finite values; none where there is no value
/// or no bin. Values that are all equal get bins around them.
pub fn even_edges(values: impl IntoIterator<Item = f64>, bins: usize) -> Vec<f64> {
    let mut extent = crate::range::Extent::default();
    values.into_iter().for_each(|value| extent.add(value));
    let Some((low, high)) = extent.bounds().filter(|_| bins > 0) else { return Vec::new() };
    let (low, high) = crate::range::widened(low, high);
    (0..=bins)
        .map(|i| if i == bins { high } else { low + (high - low) * i as f64 / bins as f64 })
        .collect()
}

impl Bars {
    /// Bars in the first colour, without errors.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            values,
            whiskers: Vec::new(),
            highlight: None,
            colour: Colour::Series(0),
        }
    }

    /// The same with error bars of ± these lengths.
    pub fn errors(self, errors: Vec<f64>) -> Self {
        let ends = |(i, e): (usize, f64)| {
            let value = self.values.get(i).copied().unwrap_or(f64::NAN);
            (value - e, value + e)
        };
        Self { whiskers: errors.into_iter().enumerate().map(ends).collect(), ..self }
    }

    /// The same with error bars between these ends.
    pub fn whiskers(self, whiskers: Vec<(f64, f64)>) -> Self {
        Self { whiskers, ..self }
    }

    /// The same with one bar that stands out.
    pub fn highlight(self, bar: usize) -> Self {
        Self { highlight: Some(bar), ..self }
    }

    /// The same in another colour.
    pub fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }
}

impl Region {
    /// A grey region.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, colour: Colour::Neutral }
    }

    /// The same in another colour.
    pub fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }
}

impl Rule {
    /// A dashed grey line at a value of y.
    pub fn horizontal(name: impl Into<String>, at: f64) -> Self {
        let (direction, colour) = (Direction::Horizontal, Colour::Neutral);
        Self { name: name.into(), direction, at, colour, dash: Dash::Dashed, named: false }
    }

    /// A dashed grey line at a value of x.
    pub fn vertical(name: impl Into<String>, at: f64) -> Self {
        Self { direction: Direction::Vertical, ..Self::horizontal(name, at) }
    }

    /// The same with another colour and dash.
    pub fn look(self, colour: Colour, dash: Dash) -> Self {
        Self { colour, dash, ..self }
    }

    /// The same with its name at the line.
    pub fn named(self) -> Self {
        Self { named: true, ..self }
    }
}
