//! Many numbers in little room.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Floats as base64 of their four little-endian bytes.
pub(super) fn floats(values: impl IntoIterator<Item = f64>) -> String {
    let bytes: Vec<u8> = values.into_iter().flat_map(|v| (v as f32).to_le_bytes()).collect();
    STANDARD.encode(bytes)
}

/// Values as base64 of little-endian 16-bit integers, and what a unit of them is worth.
pub(super) fn shorts(values: &[f64]) -> (String, f64) {
    let most = values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |a, v| a.max(v.abs()));
    let unit = if most > 0.0 { most / f64::from(i16::MAX) } else { 1.0 };
    // A float that is no number becomes 0.
    let short = |v: &f64| ((v / unit).round() as i16).to_le_bytes();
    (STANDARD.encode(values.iter().flat_map(short).collect::<Vec<u8>>()), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_part_of_the_largest() {
        let (text, unit) = shorts(&[0.0, -2.0, 1.0, f64::NAN]);
        let bytes = STANDARD.decode(text).unwrap_or_default();
        let back: Vec<f64> =
            bytes.chunks(2).map(|b| f64::from(i16::from_le_bytes([b[0], b[1]])) * unit).collect();
        assert_eq!(back.len(), 4);
        for (back, value) in back.iter().zip([0.0, -2.0, 1.0, 0.0]) {
            assert!((back - value).abs() <= unit);
        }
    }

    #[test]
    fn nothing_but_zeros_has_a_unit_too() {
        assert_eq!(shorts(&[0.0]).1, 1.0);
        assert_eq!(shorts(&[]).0, "");
    }
}
