//! The top of the page: the verdict, what is kept, hidden and guaranteed, the contents.

use super::fields::{self, Field};
use super::html::{element, prose, text};
use super::{Explorer, Note, NoteKind, Page, Verdict, Words, steps};

/// The verdict of the whole page.
pub(super) fn page_verdict(verdict: &Verdict) -> String {
    let class = format!("verdict {}", fields::state(verdict.state));
    element("p", &[("class", &class), ("id", "verdict")], &prose(&verdict.text))
}

/// The verdict on the encoder at the slider. A named one stands beside those of other encoders,
/// whichever is shown below.
pub(super) fn verdict(explorer: &Explorer, index: usize, named: bool) -> String {
    let Some(position) = explorer.positions.get(explorer.start) else { return String::new() };
    let class = format!("verdict {}", fields::state(position.verdict.state));
    let line = fields::span("verdict", &fields::of(position));
    let number = index.to_string();
    let name = text("bdi", &[], &explorer.name);
    let (line, whose) = match named {
        true => (element("span", &[], &format!("{name}: {line}")), "data-verdict"),
        false => (line, "data-explorer"),
    };
    element("p", &[("class", &class), (whose, &number)], &line) + "\n"
}

/// What an encoder keeps, hides and guarantees.
pub(super) fn cards(explorer: &Explorer, index: usize) -> String {
    let at = explorer.positions.get(explorer.start).map(fields::of).unwrap_or_default();
    let cards: String = explorer.summary.iter().map(|n| card(n, &at)).collect();
    if cards.is_empty() {
        return cards;
    }
    let number = index.to_string();
    summarised(&cards, &format!("Summary: {}", explorer.name), &[("data-explorer", &number)])
}

/// What the whole page says is kept, hidden and guaranteed.
pub(super) fn page_cards(page: &Page) -> String {
    let cards: String = page.summary.iter().map(|n| card(n, &[])).collect();
    if cards.is_empty() { cards } else { summarised(&cards, "Summary", &[]) }
}

fn summarised(cards: &str, heading: &str, more: &[(&str, &str)]) -> String {
    let attributes = [&[("class", "summary")], more, &[("aria-label", "Summary")]].concat();
    let cards = element("div", &[("class", "cards")], cards);
    let heading = text("h2", &[("class", "offscreen")], heading);
    element("section", &attributes, &format!("{heading}{cards}")) + "\n"
}

/// What the reader should beware of.
pub(super) fn warnings(notes: &[Note]) -> String {
    let all: String = notes.iter().map(|n| card(n, &[])).collect();
    if all.is_empty() {
        all
    } else {
        element(
            "section",
            &[("aria-label", "Warnings")],
            &format!("<h2 class=\"offscreen\">Warnings</h2>{all}"),
        ) + "\n"
    }
}

fn card(note: &Note, at: &[Field]) -> String {
    let kind = match note.kind {
        NoteKind::Kept => "kept",
        NoteKind::Hidden => "hidden",
        NoteKind::Guaranteed => "guaranteed",
        NoteKind::NotGuaranteed => "not-guaranteed",
        NoteKind::Warning => "warning",
    };
    let piece = |words: &Words| match words {
        Words::Text(words) => prose(words),
        Words::Live(name) => fields::span(name, at),
    };
    let body: String = note.text.iter().map(piece).collect();
    let title = text("h3", &[], &note.title);
    element("article", &[("class", &format!("note-card {kind}"))], &format!("{title}<p>{body}</p>"))
}

/// Links to the parts of the page, in their order.
pub(super) fn contents(page: &Page) -> String {
    let section = |lead: bool| {
        let all = page.sections.iter().enumerate().filter(move |(_, s)| s.lead == lead);
        all.map(|(k, s)| (format!("section-{k}"), s.title.clone())).collect::<Vec<_>>()
    };
    let front = match page.explorers.as_slice() {
        [] => None,
        [one] => Some(("trade-off".to_owned(), one.name.clone())),
        _ => Some(("trade-off".to_owned(), "The trade-off".to_owned())),
    };
    let ends = [("words", "Words used here"), ("about", "About this report")];
    let ends = ends.map(|(id, name)| (id.to_owned(), name.to_owned()));
    let steps = page.steps.as_ref().map(|s| (steps::ID.to_owned(), s.title.clone()));
    let all = section(true).into_iter().chain(steps).chain(front).chain(section(false)).chain(ends);
    let link = |(id, name): (String, String)| {
        element("li", &[], &text("a", &[("href", &format!("#{id}"))], &name))
    };
    let links = element("ul", &[], &all.map(link).collect::<String>());
    element("nav", &[("class", "contents"), ("aria-label", "Contents")], &links) + "\n"
}

const ENCODED: (&str, &str) =
    ("z", "The encoded data: what the encoder makes of a row, and all that others get to see.");
/// Of fronts of linear encoders.
const LINEAR: [(&str, &str); 3] = [
    (
        "leakage",
        "The share of the variation in what is hidden that the best linear attacker explains from z.",
    ),
    (
        "utility",
        "The share that z keeps of what the best such encoder of these columns could carry of the target.",
    ),
    (
        "held-out",
        "Measured on rows that the encoder was not fitted on; what to expect of new rows.",
    ),
];

/// Of guarantees against every adversary.
const CELLS: [(&str, &str); 4] = [
    ("cell", "A part of z. Others get to see in which cell a row is, and nothing else of it."),
    ("adversary", "Anyone who predicts what is hidden from z, by whatever means."),
    (
        "advantage",
        "How far the balanced accuracy of an adversary is from guessing (0 %) to certainty (100 %).",
    ),
    (
        "rows that certify",
        "Rows on which neither the encoder was fitted nor the cells were chosen.",
    ),
];

/// The words that a reader needs.
pub(super) fn glossary(page: &Page) -> String {
    let more = if page.steps.is_some() { &CELLS[..] } else { &LINEAR };
    let line = |(word, means): &(&str, &str)| {
        element("div", &[], &format!("{}{}", text("dt", &[], word), text("dd", &[], means)))
    };
    let words: String = [ENCODED].iter().chain(more).map(line).collect();
    let list = element("dl", &[("class", "about")], &words);
    let heading = text("h2", &[("id", "words-title")], "Words used here");
    let attributes = [("id", "words"), ("class", "section"), ("aria-labelledby", "words-title")];
    element("section", &attributes, &format!("{heading}{list}")) + "\n"
}
