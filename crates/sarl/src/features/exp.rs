//! The exponential function of many numbers that are not positive, as wide as the processor is.
//!
//! `exp x = 2ⁿ exp r` with `n` the nearest whole number to `x / ln 2` and `|r| ≤ ln 2 / 2`, of which the
//! Taylor polynomial of degree 13 is off by less than 1e-17. The result is within two units of the
//! last place; under −708, where it would lose digits, it is zero.

use faer::traits::pulp::{Arch, Simd, WithSimd};

/// The least argument whose exponential has all its digits.
const LEAST: f64 = -708.0;
/// Adding and subtracting this rounds to a whole number.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, of which the first has zeros enough for exact multiples.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// One over the factorials, from 13 down to 0.
const TAYLOR: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `exp` of each number, in place. None may be positive.
pub(super) fn exp_all(values: &mut [f64]) {
    struct All<'a>(&'a mut [f64]);
    impl WithSimd for All<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            // Plain arithmetic, which is compiled for each width.
            self.0.iter_mut().for_each(|v| *v = exp(*v));
        }
    }
    Arch::new().dispatch(All(values));
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let bounded = if x > LEAST { x } else { LEAST };
    let shifted = bounded * std::f64::consts::LOG2_E + WHOLE;
    let n = shifted - WHOLE;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = TAYLOR.iter().fold(0.0, |sum, c| sum * r + c);
    // The low bits of what was shifted are n itself.
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    let result = series * power;
    // A comparison that NaN fails hands it on.
    if x < LEAST {
        0.0
    } else if x.is_nan() {
        x
    } else {
        result
    }
}

#[cfg(test)]
mod tests {
    use super::exp_all;

    #[test]
    fn it_is_the_exponential_to_two_units_of_the_last_place() {
        let spread = |scale: f64| -> Vec<f64> {
            // Evenly over the range, with all bits in use.
            (0..100_000)
                .map(|i| -scale * ((f64::from(i) * 0.618_033_988_749_895).fract()))
                .collect()
        };
        for mut values in [spread(708.0), spread(1.0)] {
            let expected: Vec<f64> = values.iter().map(|v| v.exp()).collect();
            exp_all(&mut values);
            for (found, expected) in values.iter().zip(&expected) {
                let apart = found.to_bits().abs_diff(expected.to_bits());
                assert!(apart <= 2, "{found} is not {expected}");
            }
        }
        let mut ends = [0.0, -0.0, -1e-320, -708.5, -1e9, f64::NEG_INFINITY, f64::NAN];
        exp_all(&mut ends);
        assert_eq!(ends[..6], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(ends[6].is_nan());
    }
}
