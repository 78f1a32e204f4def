//! Frames under a slider: all of them are in the file, and the script shows one.

use super::chart::{Slot, chart};
use super::html::{element, prose, text};
use super::slider::{Track, key};
use super::{Frame, Steps, table};
use crate::error::Result;
use crate::font::Fonts;

/// Where it is on the page.
pub(super) const ID: &str = "steps";

/// The slider, what stands still, and the frames.
pub(super) fn steps(steps: &Steps, fonts: &Fonts) -> Result<String> {
    let heading = text("h2", &[("id", "steps-title")], &steps.title);
    let intro = format!("{heading}{}", paragraphs(&steps.text));
    let [low, high] = &steps.ends;
    let track = Track {
        id: "steps-slider",
        label: &steps.label,
        ends: [low, high],
        count: steps.frames.len(),
        start: steps.start,
        start_is: &steps.start_is,
    };
    let count = steps.frames.len();
    let keys: String = steps.frames.iter().enumerate().map(|(k, f)| keys(f, k, count)).collect();
    let still = chart(&steps.chart, "steps-chart", Slot::Front, steps.start, fonts)?;
    let mut row = element("div", &[("class", "front")], &still);
    for (k, one) in steps.frames.iter().enumerate() {
        row += &frame(one, k, fonts)?;
    }
    let inside = [
        element("div", &[("class", "intro")], &intro),
        track.bar(&keys),
        element("div", &[("class", "front-row")], &row),
    ];
    let attributes =
        [("id", ID), ("class", "section explorer steps"), ("aria-labelledby", "steps-title")];
    Ok(element("section", &attributes, &inside.concat()) + "\n")
}

/// What stays in view of a frame.
fn keys(frame: &Frame, k: usize, count: usize) -> String {
    let mut all: String = frame.keys.iter().map(|(name, value)| key(name, &prose(value))).collect();
    all += &key("Position", &format!("{} of {count}", k + 1));
    element("div", &[("class", "keys"), ("data-frame", &k.to_string())], &all)
}

fn frame(frame: &Frame, k: usize, fonts: &Fonts) -> Result<String> {
    let said: Vec<String> =
        frame.keys.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let (id, title) = (format!("steps-frame-{k}"), format!("steps-frame-{k}-title"));
    let heading = text("h3", &[("id", &title)], &frame.title);
    let words = format!("{heading}{}", paragraphs(&frame.text));
    let mut shown = String::new();
    for (c, one) in frame.charts.iter().enumerate() {
        shown += &chart(one, &format!("{id}-chart-{c}"), Slot::Grid, 0, fonts)?;
    }
    shown += &frame.tables.iter().map(table::table).collect::<String>();
    let inside = [
        element("div", &[("class", "frame-words")], &words),
        element("div", &[("class", "charts")], &shown),
    ];
    let attributes = [
        ("id", id.as_str()),
        ("class", "frame"),
        ("role", "group"),
        ("aria-labelledby", title.as_str()),
        ("data-frame", &k.to_string()),
        ("data-says", &said.join(", ")),
    ];
    Ok(element("div", &attributes, &inside.concat()) + "\n")
}

fn paragraphs(all: &[String]) -> String {
    all.iter().map(|words| element("p", &[("class", "prose")], &prose(words))).collect()
}
