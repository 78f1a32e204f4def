//! How marks are made: each with what it must have, the rest by what is said of it.

use crate::mark::{Bars, Cross, Direction, Histogram, Line, Points, Region, Rule, Spread, Steps};
use crate::style::{Colour, Dash, Shape, Style};

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
