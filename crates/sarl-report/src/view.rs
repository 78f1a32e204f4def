//! An axis ready to draw: its range, its ticks, and where a value lies on it.

use crate::figure::{Axis, Panel};
use crate::font::Fonts;
use crate::range;
use crate::scene::Weight;
use crate::ticks::{self, Tick, Ticks};

/// Size of the labels at ticks.
pub(crate) const TICK_SIZE: f64 = 12.0;
/// The longest label at a tick, in pixels.
const LONGEST: f64 = 150.0;
/// Space from one label to the next.
const BETWEEN: f64 = 10.0;
/// Height of a line of labels.
const LINE: f64 = 15.0;

/// One axis of a panel.
#[derive(Debug)]
pub(crate) struct View {
    low: f64,
    high: f64,
    log: bool,
    pub(crate) ticks: Ticks,
    /// Whether labels stand aslant, because they are too long side by side.
    pub(crate) aslant: bool,
    /// Whether the ticks are names; names have no grid lines.
    pub(crate) names: bool,
}

impl View {
    /// The horizontal axis of a panel, about `width` pixels long.
    pub(crate) fn horizontal(panel: &Panel, width: f64, fonts: &Fonts) -> Self {
        let (low, high) = range::horizontal(panel);
        let names = range::categorical(panel);
        let log = range::logarithmic(&panel.x, names);
        if !names {
            let ticks = numbers(&panel.x, (low, high, log), width, fonts);
            return Self { low, high, log, ticks, aslant: false, names };
        }
        let labels = names_of(&panel.x, high, (width * 0.32).min(LONGEST), fonts);
        let slot = width / (high - low);
        let widest =
            labels.iter().map(|l| fonts.width(l, TICK_SIZE, Weight::Regular)).fold(0.0, f64::max);
        let aslant = !panel.x.categories.is_empty() && widest + BETWEEN > slot;
        let need = if aslant { LINE } else { widest + BETWEEN };
        Self { low, high, log, ticks: every(labels, need / slot), aslant, names }
    }

    /// The vertical axis of a panel, about `height` pixels long.
    pub(crate) fn vertical(panel: &Panel, height: f64, fonts: &Fonts) -> Self {
        let (low, high) = range::vertical(panel);
        let log = range::logarithmic(&panel.y, false);
        let names = !panel.y.categories.is_empty();
        let ticks = if names {
            every(names_of(&panel.y, high, LONGEST, fonts), LINE * (high - low) / height)
        } else {
            ticks_of(&panel.y, (low, high, log), (height / 48.0) as usize)
        };
        Self { low, high, log, ticks, aslant: false, names }
    }

    /// Where a value lies, from 0 at the low to 1 at the high end; `None` where it has no
    /// place. Far outside, the answer is bounded.
    pub(crate) fn unit(&self, value: f64) -> Option<f64> {
        if !range::usable(value, self.log) {
            return None;
        }
        let at = if self.log {
            let low = self.low.log10();
            (value.log10() - low) / (self.high.log10() - low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        Some(at.clamp(-1e5, 1e5))
    }

    /// The value that bars stand on: zero, or the nearest value there is.
    pub(crate) fn base(&self) -> f64 {
        if self.log { self.low } else { 0f64.clamp(self.low, self.high) }
    }

    /// The width of the widest label.
    pub(crate) fn widest(&self, fonts: &Fonts) -> f64 {
        let width = |tick: &Tick| fonts.width(&tick.label, TICK_SIZE, Weight::Regular);
        self.ticks.major.iter().map(width).fold(0.0, f64::max)
    }
}

fn ticks_of(axis: &Axis, (low, high, log): (f64, f64, bool), target: usize) -> Ticks {
    let ticks = if log { ticks::log } else { ticks::linear };
    ticks(low, high, target.clamp(2, 8), axis.format)
}

/// As many ticks as have room for their labels.
fn numbers(axis: &Axis, range: (f64, f64, bool), width: f64, fonts: &Fonts) -> Ticks {
    let room = |ticks: &Ticks| {
        let widest = ticks
            .major
            .iter()
            .map(|t| fonts.width(&t.label, TICK_SIZE, Weight::Regular))
            .fold(0.0, f64::max);
        (widest + BETWEEN) * ticks.major.len() as f64 <= width + BETWEEN
    };
    let most = (width / 62.0) as usize;
    let mut fewest = ticks_of(axis, range, most);
    for target in (2..most.min(8)).rev() {
        if room(&fewest) {
            break;
        }
        fewest = ticks_of(axis, range, target);
    }
    while !room(&fewest) && fewest.major.len() > 1 {
        fewest.major = fewest.major.into_iter().step_by(2).collect();
    }
    fewest
}

/// Names of the categories, or their numbers from one where they have none.
fn names_of(axis: &Axis, high: f64, most: f64, fonts: &Fonts) -> Vec<String> {
    if axis.categories.is_empty() {
        return (1..=(high + 0.5) as usize).map(|i| i.to_string()).collect();
    }
    axis.categories.iter().map(|name| fonts.fit(name, TICK_SIZE, Weight::Regular, most)).collect()
}

/// Ticks at 0, 1, 2, …, where labels overlap only at every second or third.
fn every(labels: Vec<String>, crowding: f64) -> Ticks {
    let stride = (crowding.ceil() as usize).max(1);
    let tick = |(i, label): (usize, String)| Tick { value: i as f64, label };
    Ticks {
        major: labels.into_iter().enumerate().step_by(stride).map(tick).collect(),
        minor: Vec::new(),
    }
}
