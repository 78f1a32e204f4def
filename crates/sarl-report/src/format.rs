//! How numbers are written for people.

use crate::figure::{Axis, Format};

/// Between a number and its unit.
pub(crate) const NARROW_SPACE: char = '\u{202f}';
/// Where there is no number.
pub(crate) const NONE: &str = "–";

/// With so many decimal places, and a minus sign that is one.
pub(crate) fn fixed(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(size) if size.chars().all(|c| matches!(c, '0' | '.')) => size.to_owned(),
        Some(size) => format!("−{size}"),
        None => text,
    }
}

/// A share, in percent with two decimal places.
pub(crate) fn percent(share: f64) -> String {
    format!("{}{NARROW_SPACE}%", fixed(100.0 * share, 2))
}

/// A count with commas between thousands.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Six digits, without the zeros that say nothing.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        let text = format!("{value:.3e}");
        let (lead, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", short(lead)).replace('-', "−");
    }
    let whole = size.log10().floor() as i32;
    let places = usize::try_from(5 - whole).unwrap_or(0);
    short(&format!("{value:.places$}")).replace('-', "−")
}

/// Without zeros after the last decimal that says something.
fn short(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// A value as its axis writes it.
pub(crate) fn in_units(axis: &Axis, value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if !axis.categories.is_empty() {
        let name = axis.categories.get(value.round().max(0.0) as usize);
        return name.cloned().unwrap_or_else(|| plain(value));
    }
    match axis.format {
        Format::Percent => percent(value),
        Format::Number | Format::Whole => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_have_signs() {
        assert_eq!(percent(0.01234), "1.23\u{202f}%");
        assert_eq!(percent(-1e-9), "0.00\u{202f}%");
        assert_eq!(percent(-0.5), "−50.00\u{202f}%");
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(plain(0.1 + 0.2), "0.3");
        assert_eq!(plain(-1234.5678), "−1234.57");
        assert_eq!(plain(1.5e-7), "1.5e−7");
        assert_eq!(plain(2e12), "2e12");
        assert_eq!(plain(100000.0), "100000");
        assert_eq!(plain(0.0), "0");
    }

    #[test]
    fn names_stand_for_places() {
        let axis = Axis::new("").categories(["a", "b"]);
        assert_eq!(in_units(&axis, 1.0), "b");
        assert_eq!(in_units(&Axis::new("").percent(), 0.5), "50.00\u{202f}%");
        assert_eq!(in_units(&Axis::new(""), f64::NAN), NONE);
    }
}
