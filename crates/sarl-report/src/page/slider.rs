//! A slider, and the bar that it stands in.

use super::html::{element, text, void};

/// A slider over places that are counted.
pub(super) struct Track<'a> {
    pub(super) id: &'a str,
    /// Its name.
    pub(super) label: &'a str,
    /// What lies at either end.
    pub(super) ends: [&'a str; 2],
    /// How many places there are.
    pub(super) count: usize,
    /// Where it stands at first.
    pub(super) start: usize,
    /// What that place is; nothing for nothing in particular.
    pub(super) start_is: &'a str,
}

impl Track<'_> {
    /// The bar with the slider, and what is said beside it; nothing without scripts.
    pub(super) fn bar(&self, keys: &str) -> String {
        let track = [
            text("label", &[("for", self.id)], self.label),
            arrow("Previous position", "‹", "-1"),
            element("div", &[("class", "slide")], &self.slide()),
            arrow("Next position", "›", "1"),
        ];
        let inside = format!("{}{keys}", element("div", &[("class", "track")], &track.concat()));
        let attributes = [("class", "bar live"), ("role", "group"), ("aria-label", self.label)];
        element("div", &attributes, &inside)
    }

    fn slide(&self) -> String {
        let last = self.count.saturating_sub(1);
        let (last_text, start) = (last.to_string(), self.start.to_string());
        let mut slider = vec![
            ("type", "range"),
            ("id", self.id),
            ("min", "0"),
            ("max", last_text.as_str()),
            ("step", "1"),
            ("value", start.as_str()),
            ("autocomplete", "off"),
        ];
        slider.extend((last == 0).then_some(("disabled", "")));
        // The thumb does not reach the ends: half of it stays inside.
        let share = self.start as f64 / last.max(1) as f64;
        let place = format!("left:calc({:.2}% + {:.1}px)", 100.0 * share, 16.0 * (0.5 - share));
        let mark = match self.start_is.is_empty() || last == 0 {
            true => String::new(),
            false => format!(
                "{}{}",
                text("span", &[("class", "start")], &format!("▏{}", self.start_is)),
                text("span", &[("class", "start-mark"), ("style", &place)], "")
            ),
        };
        let [low, high] = self.ends.map(|end| text("span", &[], end));
        let ends = format!("{low}{mark}{high}");
        let ends = element("div", &[("class", "ends"), ("aria-hidden", "true")], &ends);
        format!("{}{ends}", void("input", &slider))
    }
}

fn arrow(label: &str, sign: &str, step: &str) -> String {
    let attributes =
        [("type", "button"), ("class", "arrow"), ("aria-label", label), ("data-step", step)];
    text("button", &attributes, sign)
}

/// A figure that stays in view; the value is markup already.
pub(super) fn key(name: &str, value: &str) -> String {
    let name = text("span", &[("class", "key-name")], name);
    element("span", &[("class", "key")], &format!("{name}{value}"))
}
