//! Elements of the page.

use crate::format::NARROW_SPACE;
use crate::svg::escape;

/// An element; what is inside is markup already.
pub(super) fn element(tag: &str, attributes: &[(&str, &str)], inside: &str) -> String {
    format!("<{tag}{}>{inside}</{tag}>", written(attributes))
}

/// An element with text inside.
pub(super) fn text(tag: &str, attributes: &[(&str, &str)], inside: &str) -> String {
    element(tag, attributes, &escape(inside))
}

/// An element without an end.
pub(super) fn void(tag: &str, attributes: &[(&str, &str)]) -> String {
    format!("<{tag}{}/>", written(attributes))
}

fn written(attributes: &[(&str, &str)]) -> String {
    let said = attributes.iter().filter(|(name, value)| *name != "class" || !value.is_empty());
    said.map(|(name, value)| format!(" {name}=\"{}\"", escape(value))).collect()
}

/// A sentence: what stands between backticks is something to type, a sign stays with its number.
pub(super) fn prose(words: &str) -> String {
    let part = |(i, part): (usize, &str)| match i % 2 {
        1 => text("code", &[("class", "word")], part),
        _ => escape(&part.replace(" %", &format!("{NARROW_SPACE}%"))),
    };
    words.split('`').enumerate().map(part).collect()
}

/// What is typed breaks between words only, not after a hyphen.
pub(super) fn typed(words: &str) -> String {
    let word = |word: &str| text("span", &[("class", "word")], word);
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A button that copies what another element says; nothing without scripts.
pub(super) fn copy_button(from: &str, what: &str) -> String {
    let label = format!("Copy {what}");
    let attributes =
        [("type", "button"), ("class", "copy live"), ("data-copy", from), ("aria-label", &label)];
    text("button", &attributes, "Copy")
}

/// Data for the scripts, which cannot end their element.
pub(super) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}
