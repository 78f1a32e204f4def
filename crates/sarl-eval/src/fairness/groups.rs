//! The groups that an attribute makes.

use crate::task::Labels;

/// The group of each row, and the names of the groups.
///
/// A number makes fifths of its values among these rows. Equal values stay together: where many are
/// equal there are fewer groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// The code of the group of each row.
    pub codes: Vec<u32>,
    /// A name for each code; none for codes that have no name.
    pub names: Vec<String>,
    /// Whether they are fifths of a number.
    pub fifths: bool,
}

/// Into so many groups numbers are parted.
const PARTS: usize = 5;

impl Groups {
    /// Those of an attribute whose classes have these names.
    pub fn new(labels: &Labels, classes: &[String]) -> Self {
        match labels {
            Labels::Classes { codes, .. } => {
                Groups { codes: codes.clone(), names: classes.to_vec(), fifths: false }
            }
            Labels::Numbers(values) => {
                let codes = fifths(values);
                let names = names(values, &codes);
                Groups { codes, names, fifths: true }
            }
        }
    }

    /// The name of a group.
    pub fn name(&self, group: u32) -> String {
        self.names.get(group as usize).cloned().unwrap_or_else(|| group.to_string())
    }
}

/// The fifth that each value is in, counted from 0 without gaps. A value that many rows have is in the
/// fifth of the middle one of them, so that no common value takes its neighbours with it.
pub fn fifths(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut codes = vec![0; values.len()];
    let (mut start, mut next, mut last) = (0, 0, None);
    for alike in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let twice_middle = 2 * start + alike.len();
        let fifth = PARTS * twice_middle / (2 * values.len());
        if last.is_some_and(|last| last != fifth) {
            next += 1;
        }
        last = Some(fifth);
        alike.iter().for_each(|&row| codes[row] = next);
        start += alike.len();
    }
    codes
}

/// From the least to the largest value of each.
fn names(values: &[f64], codes: &[u32]) -> Vec<String> {
    let count = codes.iter().max().map_or(0, |&c| c as usize + 1);
    let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
    for (&value, &code) in values.iter().zip(codes) {
        let (least, most) = &mut ends[code as usize];
        (*least, *most) = (least.min(value), most.max(value));
    }
    let whole = values.iter().all(|v| v.fract() == 0.0 && v.abs() < 1e15);
    let spread = ends.iter().map(|e| e.1 - e.0).filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
    // Two digits of the narrowest group part its ends.
    let digits = match spread.is_finite() && !whole {
        true => (1.0 - spread.log10().floor()).clamp(0.0, 12.0) as usize,
        false => 0,
    };
    let name = |&(least, most): &(f64, f64)| {
        let shown = |value: f64| match whole || spread.is_finite() {
            true => format!("{:.digits$}", value + 0.0),
            false => value.to_string(),
        };
        if least == most { shown(least) } else { format!("{} to {}", shown(least), shown(most)) }
    };
    ends.iter().map(name).collect()
}
