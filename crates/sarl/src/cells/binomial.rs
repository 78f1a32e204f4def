//! Exact limits of a binomial share (Clopper and Pearson 1934), for any number of trials.
//!
//! The tail is summed from its largest term, whose logarithm comes from Stirling's series and the
//! divergence of the two shares: no digit is lost with millions of trials, where continued fractions
//! of the incomplete beta function need thousands of steps.

/// A tail ends where its terms are below this share of the sum.
const NEGLIGIBLE: f64 = 1e-17;
/// Limits are found to this much.
const EXACT: f64 = 1e-13;

/// The largest share under which `k` or fewer of `n` would still have probability `level`: the upper
/// limit of Clopper and Pearson.
pub fn upper(k: u64, n: u64, level: f64) -> f64 {
    if k >= n || level <= 0.0 {
        return 1.0;
    }
    let seen = k as f64 / n as f64;
    // The tail falls as the share grows. The last value kept is above the limit: never below.
    // Hoeffding's limit is never nearer.
    let (mut low, mut high) = (seen, (seen + hoeffding(n, level)).min(1.0));
    while high - low > EXACT {
        let middle = 0.5 * (low + high);
        match at_most(k, n, middle) > level {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// How far above what was seen of `n` the share can be at all, at this level.
pub fn hoeffding(n: u64, level: f64) -> f64 {
    (-level.ln() / (2.0 * n as f64)).sqrt()
}

/// The smallest share under which `k` or more of `n` would still have probability `level`.
pub fn lower(k: u64, n: u64, level: f64) -> f64 {
    1.0 - upper(n - k.min(n), n, level)
}

/// P(X ≤ k) of a binomial with `n` trials, for k below its mean.
fn at_most(k: u64, n: u64, share: f64) -> f64 {
    let odds = (1.0 - share) / share;
    let (mut sum, mut term) = (1.0, 1.0);
    for i in (1..=k).rev() {
        term *= i as f64 / (n - i + 1) as f64 * odds;
        sum += term;
        if term < sum * NEGLIGIBLE {
            break;
        }
    }
    (ln_mass(k as f64, n as f64, share) + f64::ln(sum)).exp()
}

/// ln P(X = k), by Loader's form of the mass: the divergence of the shares and the errors of
/// Stirling's formula.
fn ln_mass(k: f64, n: f64, share: f64) -> f64 {
    if k == 0.0 {
        return n * (-share).ln_1p();
    }
    let (other, rest) = (n - k, 1.0 - share);
    let divergence = k * (k / (n * share)).ln() + other * (other / (n * rest)).ln();
    let errors = stirling(n) - stirling(k) - stirling(other);
    errors - divergence - 0.5 * (std::f64::consts::TAU * k * (other / n)).ln()
}

/// ln m! less Stirling's formula for it.
fn stirling(m: f64) -> f64 {
    if m < 16.0 {
        let factorial: f64 = (2..=m as u32).map(|i| f64::from(i).ln()).sum();
        return factorial - (m * m.ln() - m + 0.5 * (std::f64::consts::TAU * m).ln());
    }
    let square = m * m;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / m
}

#[cfg(test)]
mod tests {
    use super::{lower, upper};

    /// scipy.stats.beta.ppf(1 - level, k + 1, n - k).
    #[test]
    fn upper_limits_are_those_of_scipy() {
        let known = [
            (0, 10, 0.05, 0.2588655508930522),
            (3, 10, 0.05, 0.6066242161054123),
            (9, 10, 0.025, 0.9974714214555382),
            (81, 263, 0.025, 0.36762192260135135),
            (5_000, 10_000, 1e-6, 0.5238030320614795),
            (350_000, 1_000_000, 0.025, 0.35093577661953235),
        ];
        for (k, n, level, expected) in known {
            let found = upper(k, n, level);
            assert!((found - expected).abs() < 1e-9, "{k} of {n} at {level}: {found}");
        }
    }

    #[test]
    fn the_limits_mirror_each_other() {
        for (k, n) in [(0, 5), (2, 7), (7, 7), (40, 1000)] {
            assert!((lower(k, n, 0.01) - (1.0 - upper(n - k, n, 0.01))).abs() < 1e-15);
        }
        assert_eq!((upper(7, 7, 0.1), lower(0, 7, 0.1)), (1.0, 0.0));
    }
}
