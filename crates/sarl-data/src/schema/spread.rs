//! The mean and the standard deviation of a column in one pass.
//!
//! Values are collected in chunks of a fixed number of rows, each chunk gets its
//! mean μ and its sum of squares M = Σ w (x − μ)² in two passes, and chunks are
//! merged by
//!
//! M = M₁ + M₂ + (μ₂ − μ₁)² W₁ W₂ / (W₁ + W₂).
//!
//! No large sums of squares cancel, and because the chunks depend only on the
//! sequence of values, the result has the same bits for every block size and
//! every file format.

const CHUNK: usize = 1024;
/// Sums and comparisons side by side, so that they need not wait for each other.
const LANES: usize = 8;

/// An accumulator for one column.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    values: Vec<f64>,
    weights: Vec<f64>,
    weight: f64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Spread {
    pub(crate) fn new() -> Self {
        Self {
            values: Vec::with_capacity(CHUNK),
            weights: Vec::new(),
            weight: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }

    /// Adds values, leaving NaN out; weights are given for all rows or for none.
    pub(crate) fn extend(&mut self, values: &[f64], weights: Option<&[f64]>) {
        match weights {
            None => values.chunks(CHUNK).for_each(|chunk| self.extend_plain(chunk)),
            Some(weights) => {
                for (value, weight) in values.iter().zip(weights).filter(|(v, _)| !v.is_nan()) {
                    self.values.push(*value);
                    self.weights.push(*weight);
                    self.flush_if_full();
                }
            }
        }
    }

    /// Adds at most one chunk without weights.
    fn extend_plain(&mut self, values: &[f64]) {
        let gaps = values.iter().fold(false, |any, v| any | v.is_nan());
        if self.values.is_empty() && values.len() == CHUNK && !gaps {
            return self.merge(values, &[]);
        }
        for value in values.iter().filter(|v| !v.is_nan()) {
            self.values.push(*value);
            self.flush_if_full();
        }
    }

    fn flush_if_full(&mut self) {
        if self.values.len() == CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let (mut values, mut weights) =
            (std::mem::take(&mut self.values), std::mem::take(&mut self.weights));
        self.merge(&values, &weights);
        values.clear();
        weights.clear();
        (self.values, self.weights) = (values, weights);
    }

    /// Merges one chunk, without weights if there are none.
    fn merge(&mut self, values: &[f64], weights: &[f64]) {
        let weighted = !weights.is_empty();
        let weight = if weighted { sum(weights, &[], |w| w) } else { values.len() as f64 };
        let (least, most) = extremes(values);
        (self.least, self.most) = (self.least.min(least), self.most.max(most));
        if weight > 0.0 {
            let mean = sum(values, weights, |x| x) / weight;
            let squares = sum(values, weights, |x| (x - mean) * (x - mean));
            let total = self.weight + weight;
            let step = mean - self.mean;
            self.squares += squares + step * step * self.weight * weight / total;
            self.mean += step * weight / total;
            self.weight = total;
        }
    }

    /// The mean and the standard deviation (divided by n, or by the sum of weights).
    /// The standard deviation of a constant is exactly zero.
    pub(crate) fn finish(mut self) -> (f64, f64) {
        self.flush();
        let constant = self.least >= self.most;
        match (constant, self.weight > 0.0) {
            (true, _) if self.least.is_finite() => (self.least, 0.0),
            (false, true) => (self.mean, (self.squares / self.weight).sqrt()),
            _ => (0.0, 0.0),
        }
    }
}

/// Σ w f(x) in a fixed order, eight sums side by side; without weights w is 1.
fn sum(values: &[f64], weights: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    if weights.is_empty() {
        let (whole, rest) = values.as_chunks::<LANES>();
        for chunk in whole {
            lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += f(*x));
        }
        lanes.iter_mut().zip(rest).for_each(|(lane, x)| *lane += f(*x));
    } else {
        let weighted = values.iter().zip(weights).enumerate();
        weighted.for_each(|(i, (x, w))| lanes[i % LANES] += w * f(*x));
    }
    lanes.iter().sum()
}

/// The least and the greatest value.
fn extremes(values: &[f64]) -> (f64, f64) {
    let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (whole, rest) = values.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, x) in chunk.iter().enumerate() {
            least[lane] = if *x < least[lane] { *x } else { least[lane] };
            most[lane] = if *x > most[lane] { *x } else { most[lane] };
        }
    }
    let least = least.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
    (least, most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(values: &[f64]) -> (f64, f64) {
        let mut spread = Spread::new();
        spread.extend(values, None);
        spread.finish()
    }

    #[test]
    fn agrees_with_the_definition_far_from_zero() {
        let values: Vec<f64> = (0..5000).map(|i| 1e9 + f64::from(i % 7)).collect();
        let mean = values.iter().map(|v| v - 1e9).sum::<f64>() / 5000.0 + 1e9;
        let sd = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 5000.0).sqrt();
        let (m, s) = plain(&values);
        assert!((m - mean).abs() <= 1e-15 * 1e9 && (s - sd).abs() <= 1e-7 * sd, "{m} {s}");
    }

    #[test]
    fn does_not_depend_on_the_pieces() {
        let values: Vec<f64> = (0..5000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let mut pieces = Spread::new();
        values.chunks(77).for_each(|c| pieces.extend(c, None));
        assert_eq!(plain(&values), pieces.finish());
    }

    #[test]
    fn a_constant_has_no_spread_and_weights_count() {
        assert_eq!(plain(&[0.1; 3000]), (0.1, 0.0));
        let mut weighted = Spread::new();
        weighted.extend(&[1.0, 5.0, f64::NAN], Some(&[3.0, 1.0, 1.0]));
        assert_eq!(weighted.finish(), (2.0, 3f64.sqrt()));
    }
}
