//! The compiled-in font: widths, lines that fit, outlines.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::error::{ReportError, Result};
use crate::scene::{Weight, clean, cleaned};

/// The families the SVG names: ours, one of the same widths, any.
pub(crate) const FAMILY: &str = "'DejaVu Sans', Verdana, sans-serif";

/// DejaVu Sans, regular and bold.
pub(crate) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Fonts {
    pub(crate) fn load() -> Result<Self> {
        let face =
            |bytes| Face::parse(bytes, 0).map_err(|error| ReportError::Font(error.to_string()));
        Ok(Self { regular: face(dejavu::sans::regular())?, bold: face(dejavu::sans::bold())? })
    }

    fn face(&self, weight: Weight) -> &Face<'static> {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    fn glyph(&self, letter: char, size: f64, weight: Weight) -> (GlyphId, f64) {
        let face = self.face(weight);
        let glyph = face.glyph_index(letter).unwrap_or_default();
        let advance = face.glyph_hor_advance(glyph).unwrap_or(0);
        (glyph, f64::from(advance) * self.scale(size, weight))
    }

    /// Pixels per unit of the font.
    pub(crate) fn scale(&self, size: f64, weight: Weight) -> f64 {
        size / f64::from(self.face(weight).units_per_em())
    }

    /// The width of a text in pixels.
    pub(crate) fn width(&self, text: &str, size: f64, weight: Weight) -> f64 {
        text.chars().map(|letter| self.glyph(letter, size, weight).1).sum()
    }

    /// The text, cut with an ellipsis to at most this width.
    pub(crate) fn fit(&self, text: &str, size: f64, weight: Weight, most: f64) -> String {
        let room = most - self.glyph('…', size, weight).1;
        let (mut used, mut line, mut kept) = (0.0, String::new(), 0);
        for letter in cleaned(text) {
            used += self.glyph(letter, size, weight).1;
            if used > most {
                line.truncate(kept);
                return format!("{}…", line.trim_end());
            }
            line.push(letter);
            if used <= room {
                kept = line.len();
            }
        }
        line
    }

    /// The text in at most `lines` lines of at most this width, broken between words.
    pub(crate) fn wrap(
        &self,
        text: &str,
        size: f64,
        weight: Weight,
        most: f64,
        lines: usize,
    ) -> Vec<String> {
        let (text, mut done) = (clean(text), Vec::new());
        let mut rest = text.trim();
        while !rest.is_empty() && done.len() + 1 < lines {
            let (line, left) = rest.split_at(self.break_at(rest, size, weight, most));
            done.push(self.fit(line.trim_end(), size, weight, most));
            rest = left.trim_start();
        }
        if !rest.is_empty() {
            done.push(self.fit(rest, size, weight, most));
        }
        done
    }

    /// Where the first line of a text ends: after the last word that fits, or the first.
    fn break_at(&self, text: &str, size: f64, weight: Weight, most: f64) -> usize {
        let (mut used, mut end) = (0.0, None);
        for (at, letter) in text.char_indices() {
            if letter == ' ' {
                if used > most && end.is_some() {
                    break;
                }
                end = Some(at);
                if used > most {
                    break;
                }
            }
            used += self.glyph(letter, size, weight).1;
        }
        if used <= most { text.len() } else { end.unwrap_or(text.len()) }
    }

    /// Draws the outlines of a text that starts at the origin, in units of the font with
    /// y upwards; the pen is told the offset of each letter first.
    pub(crate) fn outline(&self, text: &str, weight: Weight, pen: &mut impl Pen) {
        let face = self.face(weight);
        let size = f64::from(face.units_per_em());
        let mut offset = 0.0;
        for letter in text.chars() {
            let (glyph, advance) = self.glyph(letter, size, weight);
            pen.offset(offset as f32);
            // Spaces have no outline, and that is no error.
            let _ = face.outline_glyph(glyph, pen);
            offset += advance;
        }
    }
}

/// What takes the outlines of letters one after the other.
pub(crate) trait Pen: OutlineBuilder {
    /// Where the next letter starts.
    fn offset(&mut self, x: f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_letter_that_figures_use() {
        let fonts = Fonts::load().unwrap();
        for letter in "λαβγσ−×⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂ₘᵢₙₐₓ…≤≥±→‖ÄÖÜäöüßéñçж%\u{a0}\u{202f}".chars()
        {
            assert!(fonts.regular.glyph_index(letter).is_some(), "{letter:?} {:x}", letter as u32);
            assert!(fonts.bold.glyph_index(letter).is_some(), "bold {letter:?}");
        }
    }

    #[test]
    fn text_is_cut_and_wrapped_to_its_width() {
        let fonts = Fonts::load().unwrap();
        let long = "the adversary learns nothing of the attribute that was to be hidden";
        assert_eq!(fonts.fit("short", 12.0, Weight::Regular, 100.0), "short");
        let cut = fonts.fit(long, 12.0, Weight::Regular, 100.0);
        assert!(cut.ends_with('…') && fonts.width(&cut, 12.0, Weight::Regular) <= 100.0, "{cut}");
        let lines = fonts.wrap(long, 12.0, Weight::Regular, 200.0, 9);
        assert_eq!(lines.join(" "), long);
        assert!(
            lines.len() > 1
                && lines.iter().all(|line| fonts.width(line, 12.0, Weight::Regular) <= 200.0)
        );
        assert!(fonts.wrap(&"x".repeat(100_000), 12.0, Weight::Bold, 50.0, 2)[0].ends_with('…'));
        assert!(fonts.wrap("", 12.0, Weight::Bold, 50.0, 2).is_empty());
        assert_eq!(fonts.fit("wide", 12.0, Weight::Bold, -5.0), "…");
    }
}
