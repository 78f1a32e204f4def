//! Which rows belong together: classes, the rarest of many as one, or thirds of numbers.

use super::Values;
use super::html::{element, text};
use crate::figure::{Axis, Panel};
use crate::format::plain;
use crate::legend;
use crate::mark::{Histogram, Mark, Points};
use crate::style::{Colour, Shape, Style};

/// Bins of histograms.
pub(super) const BINS: usize = 40;
/// More classes than these are shown as one.
const MOST: usize = 7;

/// Which rows belong together.
pub(super) struct Groups {
    pub(super) names: Vec<String>,
    pub(super) looks: Vec<(Colour, Shape)>,
    pub(super) of: Vec<Option<usize>>,
}

impl Groups {
    /// Classes, the rarest of many as one, or thirds of numbers.
    pub(super) fn new(label: &Values) -> Self {
        let (names, of, rest) = match label.classes.is_empty() {
            true => thirds(&label.values),
            false => classes(&label.classes, &label.values),
        };
        let look = |k: usize| match Some(k) == rest {
            true => (Colour::Neutral, Shape::Circle),
            false => (Colour::Series(k), Style::nth(k).marker.unwrap_or_default()),
        };
        let looks = (0..names.len()).map(look).collect();
        Self { names, looks, of }
    }

    /// One letter for each row: its group, or a dash.
    pub(super) fn code(&self) -> String {
        let letter = |group: &Option<usize>| group.map_or("-".to_owned(), |g| g.to_string());
        self.of.iter().map(letter).collect()
    }

    /// For each group the share of its rows in each bin; what is outside counts at the end.
    pub(super) fn shares(&self, z: &[f64], (low, high): (f64, f64)) -> Vec<Vec<f64>> {
        let mut shares = vec![vec![0.0; BINS]; self.names.len()];
        for (value, group) in z.iter().zip(&self.of) {
            let Some(bins) = group.and_then(|g| shares.get_mut(g)) else { continue };
            let bin = (BINS as f64 * (value - low) / (high - low)).clamp(0.0, BINS as f64 - 1.0);
            if let Some(bin) = bins.get_mut(bin as usize) {
                *bin += 1.0;
            }
        }
        for bins in &mut shares {
            let rows = bins.iter().sum::<f64>().max(1.0);
            bins.iter_mut().for_each(|bin| *bin /= rows);
        }
        shares
    }

    pub(super) fn legend(&self, histogram: bool) -> String {
        let mark = |(k, name): (usize, &String)| -> Mark {
            let (colour, shape) = self.looks[k];
            match histogram {
                true => Mark::Histogram(Histogram {
                    colour,
                    ..Histogram::new(name.clone(), Vec::new(), Vec::new(), k)
                }),
                false => Points::new(name.clone(), Vec::new()).look(colour, shape).into(),
            }
        };
        let mut panel = Panel::new("", Axis::new(""), Axis::new(""));
        panel.marks = self.names.iter().enumerate().map(mark).collect();
        let item = |s: &legend::Swatch| {
            let swatch = format!(
                "<svg class=\"swatch\" viewBox=\"0 0 30 14\" width=\"30\" height=\"14\" aria-hidden=\"true\">{}</svg>",
                s.drawn
            );
            element("li", &[], &format!("{swatch}{}", text("bdi", &[], &s.name)))
        };
        let items: String = legend::swatches(&[&panel]).iter().map(item).collect();
        element("ul", &[("class", "legend")], &items)
    }
}

type Grouped = (Vec<String>, Vec<Option<usize>>, Option<usize>);

fn classes(names: &[String], values: &[f64]) -> Grouped {
    let mut sizes = vec![0_usize; names.len()];
    let class = |value: f64| (value >= 0.0 && value < names.len() as f64).then_some(value as usize);
    values.iter().filter_map(|v| class(*v)).for_each(|c| sizes[c] += 1);
    let used: Vec<usize> = (0..names.len()).filter(|&c| sizes[c] > 0).collect();
    if used.len() <= MOST {
        let place = |v: &f64| class(*v).and_then(|c| used.iter().position(|&u| u == c));
        let of = values.iter().map(place).collect();
        return (used.iter().map(|&c| names[c].clone()).collect(), of, None);
    }
    let mut common = used.clone();
    common.sort_by_key(|&c| std::cmp::Reverse(sizes[c]));
    common.truncate(MOST - 1);
    let rest = common.len();
    let place = |v: &f64| Some(common.iter().position(|&u| Some(u) == class(*v)).unwrap_or(rest));
    let of = values.iter().map(|v| class(*v).and_then(|_| place(v))).collect();
    let other = format!("other ({} classes)", used.len() - rest);
    let names = common.iter().map(|&c| names[c].clone()).chain([other]).collect();
    (names, of, Some(rest))
}

/// Fewer than three where many numbers are equal.
fn thirds(values: &[f64]) -> Grouped {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return (Vec::new(), vec![None; values.len()], None);
    }
    let (a, b) = (quantile(&sorted, 1.0 / 3.0), quantile(&sorted, 2.0 / 3.0));
    let third = |value: f64| usize::from(value > a) + usize::from(value > b);
    let used: Vec<usize> = (0..3).filter(|k| sorted.iter().any(|v| third(*v) == *k)).collect();
    let name = |k: &usize| match k {
        0 => format!("up to {}", plain(a)),
        1 => format!("above {}, up to {}", plain(a), plain(b)),
        _ => format!("above {}", plain(b)),
    };
    let place = |v: &f64| used.iter().position(|&k| v.is_finite() && k == third(*v));
    (used.iter().map(name).collect(), values.iter().map(place).collect(), None)
}

/// Of sorted values, between neighbours by their distance.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len().saturating_sub(1)) as f64;
    let below = sorted.get(at as usize).copied().unwrap_or(0.0);
    let above = sorted.get(at as usize + 1).copied().unwrap_or(below);
    below + (at - at.floor()) * (above - below)
}
