//! Text of others, made visible: names of columns, cells and files can hold anything.

use std::borrow::Cow;

/// A text in which every character is seen. What would move the cursor, end the line, turn the
/// direction of writing or show nothing at all is written as its number: `\u{1b}`, `\n`.
///
/// ```
/// assert_eq!(sarl_lab::plain("sex\nerror: \u{1b}[2J"), r"sex\nerror: \u{1b}[2J");
/// assert_eq!(sarl_lab::plain("größe 年"), "größe 年");
/// ```
pub fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, is_unseen, |c| c.escape_default().to_string())
}

/// The same with the lines as they are.
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_unseen(c), |c| c.escape_default().to_string())
}

/// JSON that a terminal can show: what it does not escape itself is written as `\u202e`.
pub fn plain_json(json: &str) -> Cow<'_, str> {
    escaped(
        json,
        |c| c != '\n' && is_unseen(c),
        |c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        },
    )
}

fn escaped(
    text: &str,
    escape: impl Fn(char) -> bool,
    written: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.chars().any(&escape) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| if escape(c) { written(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(one).collect())
}

/// Controls, separators of lines, format characters and letters that are blank.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}'
            | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unseen_is_left() {
        let hostile = "\u{0}\r\n\t\u{7f}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}";
        assert!(!plain(hostile).chars().any(is_unseen));
        assert_eq!(plain_lines("a\u{1b}\nb"), "a\\u{1b}\nb");
        let json = serde_json::to_string(&hostile).unwrap_or_default();
        assert!(!plain_json(&json).chars().any(is_unseen));
        let back: String = serde_json::from_str(&plain_json(&json)).unwrap_or_default();
        assert_eq!(back, hostile);
    }
}
