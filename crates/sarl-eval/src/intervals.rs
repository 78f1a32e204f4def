//! Intervals of what was measured on test rows, at any level. Each contains its estimate.
//!
//! A level is the chance that an interval misses: 0.05 for 95 %. For the worst of `k` figures each
//! is given `level / k` (Bonferroni), so that all of them hold together.

/// The point of the standard normal distribution that a share `p` lies below.
///
/// Acklam's rational approximation; its relative error is about 1e-9.
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let value = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |v, c| v * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        value(&C, q) / value(&D, q)
    };
    if p < 0.02425 {
        tail(p)
    } else if p > 1.0 - 0.02425 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        q * value(&A, q * q) / value(&B, q * q)
    }
}

/// How many standard errors an interval of this level reaches to either side.
fn reach(level: f64) -> f64 {
    -normal_quantile(level / 2.0)
}

/// Wilson's interval of a share that was seen in `rows` rows.
pub fn share(share: f64, rows: usize, level: f64) -> [f64; 2] {
    let (n, z) = (rows as f64, reach(level));
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let variance = share * (1.0 - share) / n + z * z / (4.0 * n * n);
    let half = z / (1.0 + z * z / n) * variance.max(0.0).sqrt();
    // Rounding must not leave the estimate outside.
    [(centre - half).clamp(0.0, share), (centre + half).clamp(share, 1.0)]
}

/// Wilson's interval with a correction for continuity, which also holds for few rows.
fn careful_share(share: f64, rows: usize, level: f64) -> [f64; 2] {
    let (n, z) = (rows as f64, reach(level));
    let whole = 2.0 * (n + z * z);
    let centre = 2.0 * n * share + z * z;
    let low = z * z - 2.0 - 1.0 / n + 4.0 * share * (n * (1.0 - share) + 1.0);
    let high = z * z + 2.0 - 1.0 / n + 4.0 * share * (n * (1.0 - share) - 1.0);
    let low = (centre - 1.0 - z * low.max(0.0).sqrt()) / whole;
    let high = (centre + 1.0 + z * high.max(0.0).sqrt()) / whole;
    [low.clamp(0.0, share), high.clamp(share, 1.0)]
}

/// The interval of the mean of the shares of independent groups of rows, from Wilson's interval of
/// each, corrected for continuity (Newcombe's combination): groups of few rows make it wide.
pub fn mean_share(shares: &[(f64, usize)], level: f64) -> [f64; 2] {
    let k = shares.len() as f64;
    let mean = shares.iter().map(|s| s.0).sum::<f64>() / k;
    let (mut below, mut above) = (0.0, 0.0);
    for &(value, rows) in shares {
        let [low, high] = careful_share(value, rows, level);
        below += (value - low).powi(2);
        above += (high - value).powi(2);
    }
    [(mean - below.sqrt() / k).max(0.0), (mean + above.sqrt() / k).min(1.0)]
}

/// The interval of an area under the ROC curve of so many positive and negative rows: on either side
/// the wider of two. One inverts the variance of Hanley and McNeil, symmetric in the two groups as
/// Newcombe has it, and is right for areas near 1; the other takes DeLong's variance of the area that was
/// measured, with Student's quantile for the smaller group.
pub fn area(area: f64, rows: [usize; 2], variance: f64, level: f64) -> [f64; 2] {
    let z = reach(level);
    let [m, n] = rows.map(|r| r as f64);
    let more = (m + n) / 2.0 - 1.0;
    let deviates = |t: f64| {
        let spread =
            t * (1.0 - t) / (m * n) * (1.0 + more * (1.0 - t) / (2.0 - t) + more * t / (1.0 + t));
        (area - t).abs() > z * spread.max(0.0).sqrt()
    };
    // The farthest value that the area does not deviate from.
    let end = |outer: f64| {
        let (mut inside, mut outside) = (area, outer);
        for _ in 0..60 {
            let middle = (inside + outside) / 2.0;
            if deviates(middle) { outside = middle } else { inside = middle }
        }
        inside
    };
    // Student's quantile by its expansion about the normal one.
    let freedom = (m.min(n) - 1.0).max(1.0);
    let student = z + z * (z * z + 1.0) / (4.0 * freedom);
    let half = student * variance.max(0.0).sqrt();
    [end(0.0).min(area - half).max(0.0), end(1.0).max(area + half).min(1.0)]
}

/// Student's quantile that an interval of this level reaches to, by its expansion about the normal one
/// to the third order in one over the degrees of freedom.
pub fn student(level: f64, freedom: f64) -> f64 {
    let (z, v) = (reach(level), freedom.max(1.0));
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + first / v + second / (v * v) + third / (v * v * v)
}

/// The interval of R² with this standard error.
pub fn explained(r2: f64, error: f64, level: f64) -> [f64; 2] {
    let half = reach(level) * error;
    [r2 - half, (r2 + half).min(1.0).max(r2)]
}

#[cfg(test)]
mod tests;
