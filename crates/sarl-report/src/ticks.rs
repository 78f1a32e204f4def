//! Where an axis has ticks, and what is written there.

use crate::figure::Format;

/// A value with its label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Ticks with labels and, between them, ticks without.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) major: Vec<Tick>,
    pub(crate) minor: Vec<f64>,
}

/// About `target` ticks, at multiples of 1, 2 or 5 times a power of ten.
pub(crate) fn linear(low: f64, high: f64, target: usize, format: Format) -> Ticks {
    let unit = if format == Format::Percent { 100.0 } else { 1.0 };
    let (low, high) = (low * unit, high * unit);
    let least = if format == Format::Whole { 1.0 } else { 0.0 };
    let rough = ((high - low) / target.max(1) as f64).max(least);
    let power = rough.log10().floor();
    // The nearest by ratio: the bounds are the geometric means.
    let (factor, power) = match rough / 10f64.powf(power) {
        lead if lead < 2f64.sqrt() => (1.0, power),
        lead if lead < 10f64.sqrt() => (2.0, power),
        lead if lead < 50f64.sqrt() => (5.0, power),
        _ => (1.0, power + 1.0),
    };
    let step = factor * 10f64.powf(power);
    // The ends may miss a tick by rounding.
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    // A step that is not a positive number, or a range of countless steps, cannot come
    // from checked bounds; should it, there are no ticks rather than no end.
    if !(step.is_finite() && step > 0.0 && last - first <= 1000.0) {
        return Ticks::default();
    }
    let places = -(power as i32);
    let largest = first.abs().max(last.abs()) * step;
    let count = (last - first).max(-1.0) as i64 + 1;
    let major = (0..count).map(|k| {
        let value = (first + k as f64) * step;
        let number =
            if first + k as f64 == 0.0 { "0".to_owned() } else { number(value, places, largest) };
        Tick { value: value / unit, label: with_unit(number, format) }
    });
    Ticks { major: major.collect(), minor: Vec::new() }
}

/// Ticks at powers of ten; over a short range also at 2 and 5 times them.
pub(crate) fn log(low: f64, high: f64, target: usize, format: Format) -> Ticks {
    let target = target.max(2);
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    let decades = usize::try_from(last - first + 1).unwrap_or(0);
    if decades < 2 {
        let values = (first - 1..=last).flat_map(|e| [1, 2, 5].map(|m| (m, e)));
        let major: Vec<Tick> = values
            .filter(|&(m, e)| inside(m, e, low, high))
            .map(|(m, e)| log_tick(m, e, true, format))
            .collect();
        return if major.len() < 2 {
            linear(low, high, target, format)
        } else {
            Ticks { major, minor: Vec::new() }
        };
    }
    let least = decades.div_ceil(target);
    let stride = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|s| *s >= least).unwrap_or(200);
    let round = first + (-first).rem_euclid(stride as i32);
    let plain =
        if format == Format::Percent { first >= -5 && last <= 2 } else { first >= -3 && last <= 4 };
    let major = (round..=last).step_by(stride).map(|e| log_tick(1, e, plain, format)).collect();
    let minor = if stride == 1 {
        let values = (first - 1..=last).flat_map(|e| (2..10).map(move |m| (m, e)));
        values
            .filter(|&(m, e)| inside(m, e, low, high))
            .map(|(m, e)| f64::from(m) * 10f64.powi(e))
            .collect()
    } else {
        Vec::new()
    };
    Ticks { major, minor }
}

fn inside(lead: i32, exponent: i32, low: f64, high: f64) -> bool {
    let value = f64::from(lead) * 10f64.powi(exponent);
    value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9)
}

fn log_tick(lead: i32, exponent: i32, plain: bool, format: Format) -> Tick {
    let value = f64::from(lead) * 10f64.powi(exponent);
    let shown = exponent + if format == Format::Percent { 2 } else { 0 };
    let number = if plain && shown.abs() <= 6 {
        let places = usize::try_from(-shown).unwrap_or(0);
        format!("{:.places$}", f64::from(lead) * 10f64.powi(shown))
    } else if lead == 1 {
        format!("10{}", superscript(shown))
    } else {
        format!("{lead}×10{}", superscript(shown))
    };
    Tick { value, label: with_unit(number, format) }
}

/// A number with the given decimal places, as a power of ten where that is shorter.
fn number(value: f64, places: i32, largest: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let top = (largest.log10() + 1e-12).floor() as i32;
    // Letters of the largest number: 1234.56 against 1.23456×10³.
    let plain = top.max(0) + 1 + if places > 0 { 1 + places } else { 0 };
    let power = (top + places).max(0) + 6;
    if places <= 5 && (largest < 1e6 || (plain < power && top < 15)) {
        let places = usize::try_from(places).unwrap_or(0);
        return format!("{sign}{:.places$}", value.abs());
    }
    let exponent = (value.abs().log10() + 1e-12).floor() as i32;
    let digits = usize::try_from(places + exponent).unwrap_or(0).min(12);
    let lead = value.abs() / 10f64.powi(exponent);
    match exponent {
        0 => format!("{sign}{lead:.digits$}"),
        _ => format!("{sign}{lead:.digits$}×10{}", superscript(exponent)),
    }
}

fn with_unit(number: String, format: Format) -> String {
    match format {
        Format::Number | Format::Whole => number,
        Format::Percent => number + "\u{a0}%",
    }
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    exponent.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_short() {
        assert_eq!(
            labels(&linear(0.0, 1.0, 5, Format::Number)),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(&linear(-1.1, 1.1, 5, Format::Number)),
            ["−1.0", "−0.5", "0", "0.5", "1.0"]
        );
        assert_eq!(
            labels(&linear(0.79, 0.86, 4, Format::Percent)),
            ["80\u{a0}%", "82\u{a0}%", "84\u{a0}%", "86\u{a0}%"]
        );
        assert_eq!(labels(&linear(0.0, 1.1, 5, Format::Whole)), ["0", "1"]);
        assert_eq!(labels(&linear(0.0, 21.0, 4, Format::Whole)), ["0", "5", "10", "15", "20"]);
        assert_eq!(
            labels(&linear(0.0, 4e6, 4, Format::Number)),
            ["0", "1×10⁶", "2×10⁶", "3×10⁶", "4×10⁶"]
        );
        assert_eq!(
            labels(&linear(1e9, 1e9 + 4.0, 2, Format::Number)),
            ["1000000000", "1000000002", "1000000004"]
        );
        assert_eq!(
            labels(&linear(0.0, 3e-9, 3, Format::Number)),
            ["0", "1×10⁻⁹", "2×10⁻⁹", "3×10⁻⁹"]
        );
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(&log(0.009, 11.0, 6, Format::Number)), ["0.01", "0.1", "1", "10"]);
        assert_eq!(
            labels(&log(1e-9, 1.0, 5, Format::Number)),
            ["10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]
        );
        assert_eq!(labels(&log(0.9, 6.0, 5, Format::Number)), ["1", "2", "5"]);
        assert_eq!(
            labels(&log(0.001, 1.0, 5, Format::Percent)),
            ["0.1\u{a0}%", "1\u{a0}%", "10\u{a0}%", "100\u{a0}%"]
        );
        assert_eq!(labels(&log(3.1, 3.9, 4, Format::Number)), ["3.2", "3.4", "3.6", "3.8"]);
    }

    #[test]
    fn absurd_ranges_end() {
        for (low, high) in
            [(f64::NAN, 1.0), (0.0, 0.0), (0.0, f64::INFINITY), (-1e300, 1e300), (1.0, 1.0 + 1e-15)]
        {
            assert!(linear(low, high, 6, Format::Number).major.len() < 1001);
        }
        assert!(log(1e-300, 1e300, 6, Format::Number).major.len() < 10);
    }
}
