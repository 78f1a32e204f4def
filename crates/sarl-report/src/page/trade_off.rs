//! An explorer: the slider, the front, the figures at the slider, and what follows them.

use super::Explorer;
use super::chart::{Slot, chart};
use super::fields::{self, Field};
use super::html::{copy_button, element, prose, text, typed, void};
use super::rows::Cloud;
use super::slider::{Track, key};
use super::weights::Loads;
use crate::error::Result;
use crate::font::Fonts;

/// What is listed at the slider: new rows first.
const LISTED: [(&str, &str); 10] = [
    ("heldout_utility", "Utility, held-out rows"),
    ("utility", "Utility, training rows"),
    ("heldout_leakage", "Leakage, held-out rows"),
    ("leakage", "Leakage, training rows"),
    ("dim", "Dimensions of z"),
    ("lambda", "Weight of the attacker λ"),
    ("js", "Attacker's loss Js = α"),
    ("jy", "Target's loss Jy"),
    ("dual_bound", ""),
    ("gap", "Gap to the bound"),
];

/// The explorer, as it is where the slider starts. `several` where tabs choose among some.
pub(super) fn explorer(
    explorer: &Explorer,
    index: usize,
    several: bool,
    fonts: &Fonts,
) -> Result<String> {
    let number = index.to_string();
    let id = format!("explorer-{index}");
    let tab = format!("tab-{index}");
    let mut attributes =
        vec![("id", id.as_str()), ("class", "explorer"), ("data-explorer", &number)];
    if several {
        attributes.extend([("role", "tabpanel"), ("aria-labelledby", tab.as_str())]);
    }
    let heading = text("h2", &[], &explorer.name);
    let mut intro =
        format!("{heading}{}", element("p", &[("class", "prose")], &prose(&explorer.words)));
    let Some(position) = explorer.positions.get(explorer.start) else {
        return Ok(element("section", &attributes, &intro) + "\n");
    };
    if explorer.positions.len() == 1 {
        intro += &text(
            "p",
            &[("class", "note")],
            "There is only one position: the slider does not move.",
        );
    }
    let at = fields::of(position);
    let mut charts = String::new();
    for (k, one) in explorer.charts.iter().enumerate() {
        charts += &chart(one, &format!("chart-{index}-{k}"), Slot::Grid, explorer.start, fonts)?;
    }
    charts += &Cloud::new(explorer)
        .map_or(String::new(), |c| c.html(&format!("embedding-{index}"), fonts));
    charts += &Loads::new(explorer).map_or(String::new(), |l| l.html(&format!("weights-{index}")));
    let row = format!("{}{}", fronts(explorer, index, fonts)?, readout(explorer, index, &at));
    let inside = [
        element("div", &[("class", "intro")], &intro),
        bar(explorer, index, &at),
        element("div", &[("class", "front-row")], &row),
        element("div", &[("class", "charts")], &charts),
    ];
    Ok(element("section", &attributes, &inside.concat()) + "\n")
}

/// The front in every unit, of which the reader chooses one; the style sheet alone does it.
fn fronts(explorer: &Explorer, index: usize, fonts: &Fonts) -> Result<String> {
    let group = format!("units-{index}");
    let radio = |(k, name): (usize, &str)| {
        let mut attributes = vec![("type", "radio"), ("name", group.as_str())];
        attributes.extend((k == 0).then_some(("checked", "")));
        element("label", &[], &format!("{}{}", void("input", &attributes), text("span", &[], name)))
    };
    let names = explorer.fronts.iter().map(|f| f.name.as_str()).enumerate();
    let mut inside = match explorer.fronts.len() {
        ..2 => String::new(),
        _ => element(
            "div",
            &[("class", "choice"), ("role", "radiogroup"), ("aria-label", "Units of the front")],
            &names.map(radio).collect::<String>(),
        ),
    };
    for (k, front) in explorer.fronts.iter().enumerate() {
        let id = match k {
            0 => format!("front-{index}"),
            _ => format!("front-{index}-{k}"),
        };
        let drawn = chart(&front.chart, &id, Slot::Front, explorer.start, fonts)?;
        inside += &element("div", &[("class", "unit")], &drawn);
    }
    Ok(element("div", &[("class", "front")], &inside))
}

fn readout(explorer: &Explorer, index: usize, at: &[Field]) -> String {
    let pair = |name: &str, value: &str| {
        let name = element("dt", &[], name);
        element("div", &[], &format!("{name}{}", element("dd", &[], value)))
    };
    let line = |(name, words): &(&str, &str)| match *name {
        "dual_bound" => pair(&fields::span("bound_on", at), &fields::span(name, at)),
        _ => pair(words, &fields::span(name, at)),
    };
    let mut list: String = LISTED.iter().map(line).collect();
    list += &pair("Method", &fields::span("method", at));
    let command_id = format!("command-{index}");
    let command = at.iter().find(|f| f.name == "command").map_or("", |f| f.text.as_str());
    let head =
        format!("{}{}", text("h4", &[], &explorer.makes), copy_button(&command_id, "the command"));
    let code = [("id", command_id.as_str()), ("dir", "ltr"), ("tabindex", "0")];
    let command = format!(
        "{}{}",
        element("div", &[("class", "command-head")], &head),
        element("code", &code, &typed(command))
    );
    let id = format!("readout-{index}");
    let attributes = [("id", id.as_str()), ("class", "readout"), ("aria-label", "At the slider")];
    let inside = [
        text("h3", &[], "At the slider"),
        element("dl", &[], &list),
        element("div", &[("class", "command")], &command),
    ];
    element("section", &attributes, &inside.concat())
}

/// The bar that stays in view while its explorer is on screen; nothing without scripts.
fn bar(explorer: &Explorer, index: usize, at: &[Field]) -> String {
    let id = format!("slider-{index}");
    let count = explorer.positions.len();
    let track = Track {
        id: &id,
        label: "Trade-off",
        ends: ["hides more", "keeps more"],
        count,
        start: explorer.start,
        start_is: &explorer.start_is,
    };
    let place = text("span", &[("class", "place")], &format!("{} of {count}", explorer.start + 1));
    let keys = [
        key("Keeps", &fields::span("keeps_short", at)),
        key("Leaks", &fields::span("leaks_short", at)),
        key("Dim. of z", &fields::span("dim", at)),
        key("Position", &place),
    ];
    track.bar(&element("div", &[("class", "keys")], &keys.concat()))
}
