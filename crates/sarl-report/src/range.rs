//! What an axis covers, where the figure does not say.

use crate::figure::{Axis, Format, Panel, Scale};
use crate::mark::{Direction, Mark};

/// Numbers beyond this are not drawn, so that differences stay finite.
const LARGEST: f64 = 1e300;
/// Part of the length that stays free at either end.
const MARGIN: f64 = 0.04;

/// Whether a value has a place on an axis.
pub(crate) fn usable(value: f64, log: bool) -> bool {
    value.abs() <= LARGEST && (!log || value >= 1.0 / LARGEST)
}

/// Smallest and largest usable value seen.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    log: bool,
    seen: Option<(f64, f64)>,
}

impl Extent {
    fn new(log: bool) -> Self {
        Self { log, seen: None }
    }

    pub(crate) fn add(&mut self, value: f64) {
        if usable(value, self.log) {
            let (low, high) = self.seen.unwrap_or((value, value));
            self.seen = Some((low.min(value), high.max(value)));
        }
    }

    fn both(&mut self, (low, high): (f64, f64)) {
        self.add(low);
        self.add(high);
    }

    /// Moves the bounds apart until they cover this much; shares stay below one.
    fn cover(&mut self, span: f64, share: bool) {
        let Some((low, high)) = self.seen.filter(|s| !self.log && s.1 - s.0 < span) else { return };
        let more = (span - (high - low)) / 2.0;
        let (low, high) = (low - more, high + more);
        let down = if share && high > 1.0 { (high - 1.0).min(low.max(0.0)) } else { 0.0 };
        let up = if share && low < 0.0 { -low } else { 0.0 };
        self.seen = Some((low - down + up, high - down + up));
    }

    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        self.seen
    }
}

/// The same bounds, moved apart where doubles could not tell ticks between them apart.
pub(crate) fn widened(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 && high - low >= 1e-300 {
        return (low, high);
    }
    let half = if size < 1e-290 { 0.5 } else { size * 0.1 };
    let middle = low + (high - low) / 2.0;
    (middle - half, middle + half)
}

/// Whether the horizontal axis counts categories.
pub(crate) fn categorical(panel: &Panel) -> bool {
    !panel.x.categories.is_empty() || panel.all().any(|mark| matches!(mark, Mark::Bars(_)))
}

/// Whether an axis is drawn logarithmic.
pub(crate) fn logarithmic(axis: &Axis, categorical: bool) -> bool {
    axis.scale == Scale::Log && axis.categories.is_empty() && !categorical
}

/// What the horizontal axis covers.
pub(crate) fn horizontal(panel: &Panel) -> (f64, f64) {
    if categorical(panel) {
        let bars =
            panel.all().map(|mark| if let Mark::Bars(bars) = mark { bars.values.len() } else { 0 });
        let count = bars.max().unwrap_or(0).max(panel.x.categories.len()).max(1);
        return (-0.5, count as f64 - 0.5);
    }
    if let Some(range) = panel.x.range {
        return range;
    }
    let mut extent = Extent::new(panel.x.scale == Scale::Log);
    for mark in panel.all() {
        match mark {
            Mark::Line(line) => {
                line.points.iter().for_each(|p| extent.add(p.0));
                line.band.iter().for_each(|s| extent.add(s.x));
            }
            Mark::Steps(steps) => steps.points.iter().for_each(|p| extent.add(p.0)),
            Mark::Points(points) => {
                points.points.iter().for_each(|p| extent.add(p.0));
                points.errors.iter().filter_map(|e| e.x).for_each(|e| extent.both(e));
            }
            Mark::Region(region) => region.points.iter().for_each(|p| extent.add(p.0)),
            Mark::Histogram(histogram) => histogram.edges.iter().for_each(|e| extent.add(*e)),
            Mark::Rule(rule) if rule.direction == Direction::Vertical => extent.add(rule.at),
            Mark::Rule(_) | Mark::Bars(_) => {}
        }
    }
    extent.cover(panel.x.least, panel.x.format == Format::Percent);
    padded(&extent, false)
}

/// What the vertical axis covers.
pub(crate) fn vertical(panel: &Panel) -> (f64, f64) {
    if let Some(range) = panel.y.range {
        return range;
    }
    if !panel.y.categories.is_empty() {
        return (-0.5, panel.y.categories.len() as f64 - 0.5);
    }
    let mut extent = Extent::new(panel.y.scale == Scale::Log);
    let mut from_zero = false;
    for mark in panel.all() {
        match mark {
            Mark::Line(line) => {
                line.points.iter().for_each(|p| extent.add(p.1));
                line.band
                    .iter()
                    .for_each(|s| [s.low, s.high].into_iter().for_each(|y| extent.add(y)));
            }
            Mark::Steps(steps) => steps.points.iter().for_each(|p| extent.add(p.1)),
            Mark::Points(points) => {
                points.points.iter().for_each(|p| extent.add(p.1));
                points.errors.iter().filter_map(|e| e.y).for_each(|e| extent.both(e));
            }
            Mark::Region(region) => region.points.iter().for_each(|p| extent.add(p.1)),
            Mark::Histogram(histogram) => {
                from_zero = true;
                histogram.counts.iter().for_each(|c| extent.add(c.max(0.0)));
            }
            Mark::Bars(bars) => {
                from_zero = true;
                let ends = bars.whiskers.iter().flat_map(|w| [w.0, w.1]);
                bars.values.iter().copied().chain(ends).for_each(|y| extent.add(y));
            }
            Mark::Rule(rule) if rule.direction == Direction::Horizontal => extent.add(rule.at),
            Mark::Rule(_) => {}
        }
    }
    if from_zero {
        extent.add(0.0);
    }
    extent.cover(panel.y.least, panel.y.format == Format::Percent);
    padded(&extent, from_zero)
}

/// Bounds with room at either end, but not beyond zero where bars stand on it.
fn padded(extent: &Extent, from_zero: bool) -> (f64, f64) {
    let Some((low, high)) = extent.bounds() else {
        return if extent.log { (0.1, 10.0) } else { (0.0, 1.0) };
    };
    if extent.log {
        let (low, high) = (low.log10(), high.log10());
        let room = if high - low < 1e-6 { 0.5 } else { MARGIN * (high - low) };
        let bound = |power: f64| 10f64.powf(power).clamp(1.0 / LARGEST, LARGEST);
        return (bound(low - room), bound(high + room));
    }
    if from_zero && low == 0.0 && high == 0.0 {
        return (0.0, 1.0);
    }
    let (wide_low, wide_high) = widened(low, high);
    if (wide_low, wide_high) != (low, high) {
        return (wide_low, wide_high);
    }
    let room = MARGIN * (high - low);
    let bottom = if from_zero && low == 0.0 { 0.0 } else { low - room };
    let top = if from_zero && high == 0.0 { 0.0 } else { high + room };
    (bottom, top)
}
