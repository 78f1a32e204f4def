//! Numbers as people write them.

use super::Decimal;

/// Signs of currency, which may stand before a number or after it.
const CURRENCIES: [char; 6] = ['$', '€', '£', '¥', '₹', '₩'];
/// What may separate thousands besides a comma or a point.
const SPACES: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '’'];

/// The number in a trimmed cell, and its unit.
pub(super) fn parse(text: &str, decimal: Decimal) -> Option<(f64, Option<char>)> {
    let (text, brackets) = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inside) => (inside.trim(), true),
        None => (text, false),
    };
    let (text, minus) = sign(text);
    let (text, unit) = unit(text)?;
    let (text, late_minus) = if minus.is_none() { sign(text) } else { (text, None) };
    let minus = minus.or(late_minus);
    if brackets && minus.is_some() {
        return None;
    }
    let value = digits(text, decimal)?;
    Some((if brackets || minus == Some(true) { -value } else { value }, unit))
}

/// Takes a sign off: whether it is a minus.
fn sign(text: &str) -> (&str, Option<bool>) {
    if let Some(rest) = text.strip_prefix('+') {
        (rest.trim_start(), Some(false))
    } else if let Some(rest) = text.strip_prefix(['-', '\u{2212}']) {
        (rest.trim_start(), Some(true))
    } else {
        (text, None)
    }
}

/// Takes one unit off, before or after; none if there are two.
fn unit(text: &str) -> Option<(&str, Option<char>)> {
    let before = text.chars().next().filter(|c| CURRENCIES.contains(c));
    let text = before.map_or(text, |c| text[c.len_utf8()..].trim_start());
    let after = text.chars().next_back().filter(|c| *c == '%' || CURRENCIES.contains(c));
    let text = after.map_or(text, |c| text[..text.len() - c.len_utf8()].trim_end());
    match (before, after) {
        (Some(_), Some(_)) => None,
        (before, after) => Some((text, before.or(after))),
    }
}

/// Digits, perhaps in groups of three, with decimals or an exponent.
fn digits(text: &str, decimal: Decimal) -> Option<f64> {
    let (point, group) = match decimal {
        Decimal::Point => ('.', ','),
        Decimal::Comma => (',', '.'),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, decimals) = match mantissa.split_once(point) {
        Some((whole, decimals)) => (whole, decimals),
        None => (mantissa, ""),
    };
    let separator = whole.chars().find(|c| *c == group || SPACES.contains(c));
    let mut plain = match separator {
        Some(separator) => joined(whole, separator)?,
        None => whole.to_owned(),
    };
    if (plain.is_empty() && decimals.is_empty()) || !all_digits(&plain) || !all_digits(decimals) {
        return None;
    }
    plain.push('.');
    plain.push_str(decimals);
    if let Some(exponent) = exponent {
        let number = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if separator.is_some() || number.is_empty() || !all_digits(number) {
            return None;
        }
        plain.push('e');
        plain.push_str(exponent);
    }
    plain.parse().ok()
}

/// Groups of three digits as one number; the first may be shorter.
fn joined(whole: &str, separator: char) -> Option<String> {
    let mut groups = whole.split(separator);
    let first = groups.next().filter(|g| (1..=3).contains(&g.len()))?;
    let mut all = first.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        all.push_str(group);
    }
    Some(all)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Option<f64> {
        parse(text, Decimal::Point).map(|(value, _)| value)
    }

    #[test]
    fn as_people_write_them() {
        let table = [
            ("1,234.50", 1234.5),
            ("1 234 567", 1_234_567.0),
            ("1'234.5", 1234.5),
            ("1\u{a0}234", 1234.0),
            ("$5", 5.0),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("€ 1,000", 1000.0),
            ("5 €", 5.0),
            ("12 %", 12.0),
            ("12%", 12.0),
            ("(3.5)", -3.5),
            ("($1,200)", -1200.0),
            ("\u{2212}7", -7.0),
            ("+7", 7.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-3", 1e-3),
        ];
        for (text, value) in table {
            assert_eq!(point(text), Some(value), "{text}");
        }
        assert_eq!(parse("1.234,50", Decimal::Comma), Some((1234.5, None)));
        assert_eq!(parse("12,5", Decimal::Comma), Some((12.5, None)));
        assert_eq!(parse("12 %", Decimal::Point), Some((12.0, Some('%'))));
    }

    #[test]
    fn what_is_no_number() {
        let words = [
            "",
            "-",
            ".",
            ",",
            "(",
            "()",
            "(-3)",
            "1,23",
            "12,34,567",
            "1,234,56",
            "1,2345",
            "a",
            "5a",
            "$",
            "%",
            "$5€",
            "1.2.3",
            "1-2",
            "e5",
            "1e",
            "1,000e3",
            "inf",
            "nan",
            "1,,000",
            "--5",
            "0x10",
            "1 23",
            ",123",
            "$$5",
        ];
        for text in words {
            assert_eq!(point(text), None, "{text}");
        }
        assert_eq!(parse("1.5", Decimal::Comma), None);
    }

    #[test]
    fn plain_numbers_keep_their_bits() {
        for value in [0.1, 1.0 / 3.0, -2.5e-300, 123_456_789.123_456_78, 1e22] {
            assert_eq!(point(&value.to_string()), Some(value));
            assert_eq!(point(&format!("{value:e}")), Some(value));
        }
    }
}
