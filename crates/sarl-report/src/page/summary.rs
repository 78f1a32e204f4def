//! The top of the page: the verdict, what is kept, hidden and guaranteed, the contents.

use super::fields::{self, Field};
use super::html::{element, prose, text};
use super::{Explorer, Note, NoteKind, Page, Verdict, Words};

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
    let attributes =
        [("class", "summary"), ("data-explorer", number.as_str()), ("aria-label", "Summary")];
    let cards = element("div", &[("class", "cards")], &cards);
    let heading = format!("Summary: {}", explorer.name);
    let heading = text("h2", &[("class", "offscreen")], &heading);
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
    let all = section(true).into_iter().chain(front).chain(section(false)).chain(ends);
    let link = |(id, name): (String, String)| {
        element("li", &[], &text("a", &[("href", &format!("#{id}"))], &name))
    };
    let links = element("ul", &[], &all.map(link).collect::<String>());
    element("nav", &[("class", "contents"), ("aria-label", "Contents")], &links) + "\n"
}

const GLOSSARY: [(&str, &str); 4] = [
    ("z", "The encoded data: what the encoder makes of a row, and all that others get to see."),
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

/// The words that a reader needs.
pub(super) fn glossary() -> String {
    let line = |(word, means): &(&str, &str)| {
        element("div", &[], &format!("{}{}", text("dt", &[], word), text("dd", &[], means)))
    };
    let list = element("dl", &[("class", "about")], &GLOSSARY.iter().map(line).collect::<String>());
    let heading = text("h2", &[("id", "words-title")], "Words used here");
    let attributes = [("id", "words"), ("class", "section"), ("aria-labelledby", "words-title")];
    element("section", &attributes, &format!("{heading}{list}")) + "\n"
}
