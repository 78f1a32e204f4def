//! Sizes as people write and read them.

/// A text that is no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a size is a number with a unit, such as 800M, 4G or 16GiB")]
pub struct InvalidSize;

const DECIMAL: [&str; 4] = ["kB", "MB", "GB", "TB"];

/// The bytes of `800M`, `4G`, `4 GB` (powers of 1000) or `16GiB` (powers of 1024).
pub fn parse(text: &str) -> Result<u64, InvalidSize> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| InvalidSize)?;
    let unit = unit.trim().to_ascii_lowercase();
    let (base, power) = match unit.strip_suffix("ib") {
        Some(power) => (1024.0f64, power),
        None => (1000.0, unit.strip_suffix('b').unwrap_or(&unit)),
    };
    let power = match power {
        "" if base == 1000.0 => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(InvalidSize),
    };
    let bytes = number * base.powi(power);
    match bytes >= 1.0 && bytes < u64::MAX as f64 {
        true => Ok(bytes as u64),
        false => Err(InvalidSize),
    }
}

/// Bytes as people say them.
pub fn shown(bytes: u64) -> String {
    let mut value = bytes as f64 / 1e3;
    let mut unit = DECIMAL[0];
    for next in &DECIMAL[1..] {
        if value < 1e3 {
            break;
        }
        (value, unit) = (value / 1e3, next);
    }
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown() {
        assert_eq!(shown(1_500), "1.5 kB");
        assert_eq!(shown(24_000_000_000), "24 GB");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse("4G"), Ok(4_000_000_000));
        assert_eq!(parse(" 1.5 GB "), Ok(1_500_000_000));
        assert_eq!(parse("16GiB"), Ok(16 << 30));
        assert_eq!(parse("1000"), Ok(1000));
        for bad in ["", "G", "4X", "-4G", "0", "1e9", "4iB", "99999999999T"] {
            assert_eq!(parse(bad), Err(InvalidSize), "{bad}");
        }
    }
}
