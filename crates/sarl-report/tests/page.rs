//! The page: whole without scripts, escaped, and the same numbers that went in.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use roxmltree::{Document, Node};
use sarl_report::page::{
    Bound, Chart, Column, Cursor, Embedding, Explorer, Fact, Frame, Front, HeldOut, Holds, Note,
    NoteKind, Page, Position, Section, State, Steps, Table, Values, Verdict, Weights, Words,
};
use sarl_report::{Axis, Bars, Cross, Figure, Line, Panel, Points, Rule};
use serde_json::Value;

const NASTY: &str =
    "<script>alert(1)</script></script><!-- data --><!-- title --> \"'&amp; \u{2028} \u{202e} 😀";

fn position(k: usize) -> Position {
    let share = k as f64 / 10.0;
    Position {
        verdict: Verdict {
            state: if k == 0 { State::Good } else { State::Bad },
            text: format!("verdict {k}: {share} % {NASTY}"),
        },
        lambda: 1.0 - share,
        dim: k,
        jy: 0.5,
        js: 0.25,
        utility: 0.5 + share,
        leakage: share,
        heldout: (k > 0).then_some(HeldOut {
            jy: 0.5,
            js: 0.25,
            jy_sd: 0.1,
            js_sd: 0.1,
            utility: 0.4 + share,
            leakage: share - 0.15,
            utility_sd: 0.01,
            leakage_sd: 0.01,
        }),
        dual_bound: 0.4,
        gap: 1e-3,
        bound_on: Bound::Target,
        method: "method".to_owned(),
        command: format!("sarl retune 'odd name' {k}"),
        says: vec![("audit", "said 5 %".to_owned())],
    }
}

fn front() -> Chart {
    let panel = Panel::new("", Axis::new(NASTY), Axis::new("y").range(0.0, 1.0))
        .mark(Line::new(NASTY, vec![(0.0, 0.125), (1.0, f64::NAN), (2.0, 0.75)]))
        .expert(Rule::horizontal("for experts", 0.5).named());
    let cursor =
        Cursor { name: "the slider".to_owned(), x: vec![0.0, 1.0, 2.0], y: vec![0.0, 0.5, 7.0] };
    let figure = Figure::new("front", NASTY).panel(panel);
    Chart { cursors: vec![vec![cursor]], ..figure.into() }
}

fn explorer() -> Explorer {
    let rows = 30;
    let z = (0..3 * 2 * rows).map(|i| f64::from(i as u32 % 7) - 3.0).collect();
    let label = |name: &str, hidden: bool, classes: Vec<String>| Values {
        name: name.to_owned(),
        hidden,
        classes,
        values: (0..rows).map(|i| f64::from(i as u32 % 3)).collect(),
    };
    let column = |name: &str| Column { name: name.to_owned(), sensitive: true, categories: 2 };
    Explorer {
        name: NASTY.to_owned(),
        words: "words".to_owned(),
        summary: vec![Note {
            kind: NoteKind::Kept,
            title: "What is kept".to_owned(),
            text: vec!["Keeps ".into(), Words::Live("keeps"), ".".into(), Words::Live("audit")],
        }],
        makes: "Command".to_owned(),
        positions: (0..3).map(position).collect(),
        start: 1,
        start_is: "your goal".to_owned(),
        fronts: vec![Front { name: "Shares".to_owned(), chart: front() }],
        charts: Vec::new(),
        embedding: Some(Embedding {
            rows,
            words: "Some rows.".to_owned(),
            labels: vec![
                label(NASTY, true, vec!["a".into(), NASTY.into(), "c".into()]),
                label("number", false, Vec::new()),
            ],
            z,
        }),
        weights: Some(Weights {
            axis: "weight".to_owned(),
            words: "How to read it.".to_owned(),
            columns: vec![column(NASTY), column("other")],
            sums: vec![[0.5, 1.0, -0.5]; 6],
            omitted: 3,
        }),
    }
}

fn page() -> Page {
    let bars = Panel::new("bars", Axis::new("").categories(["a", NASTY]), Axis::new("y"))
        .mark(Bars::new("b", vec![1.0, 0.1 + 0.2]).whiskers(vec![(0.5, 1.5), (0.2, 0.4)]));
    let cross = Cross { x: Some((0.1, 0.3)), y: Some((0.4, 0.6)) };
    let points =
        Panel::new("points", Axis::new("x").percent(), Axis::new("y").percent().least(0.05)).mark(
            Points::new("p", vec![(0.2, 0.5)])
                .errors(vec![cross])
                .labels(vec![NASTY.to_owned()])
                .tips(vec![NASTY.to_owned()]),
        );
    let figure = Figure::new("section", "Section").panel(bars).panel(points);
    Page {
        title: NASTY.to_owned(),
        subtitle: NASTY.to_owned(),
        warnings: vec![Note {
            kind: NoteKind::Warning,
            title: NASTY.to_owned(),
            text: vec![NASTY.into()],
        }],
        explorers: vec![explorer()],
        sections: vec![Section {
            title: NASTY.to_owned(),
            text: vec![NASTY.to_owned()],
            charts: vec![figure.into()],
            tables: vec![Table {
                title: NASTY.to_owned(),
                header: vec![NASTY.to_owned(), "x".to_owned()],
                rows: vec![vec![NASTY.to_owned(), "1.5".to_owned()]],
                names: 1,
            }],
            lead: true,
            holds: Some(Holds {
                explorer: 0,
                at: vec![false, true, false],
                words: NASTY.to_owned(),
            }),
        }],
        about: vec![Fact { name: NASTY.to_owned(), value: NASTY.to_owned(), code: true }],
        ..Page::default()
    }
}

/// A page of frames under a slider.
fn stepped() -> Page {
    let bars = Panel::new("", Axis::new("cell").categories(["0", NASTY]), Axis::new("y"));
    let frame = |k: u32| Frame {
        title: format!("frame {k} {NASTY}"),
        keys: vec![(NASTY.to_owned(), format!("{k} %"))],
        text: vec![NASTY.to_owned()],
        charts: vec![
            Figure::new("cells", NASTY)
                .panel(bars.clone().mark(Bars::new(NASTY, vec![f64::from(k), 0.5])))
                .into(),
        ],
        tables: Vec::new(),
    };
    let steps = Steps {
        title: NASTY.to_owned(),
        text: vec![NASTY.to_owned()],
        label: NASTY.to_owned(),
        ends: [NASTY.to_owned(), "right".to_owned()],
        chart: front(),
        frames: (0..3).map(frame).collect(),
        start: 1,
        start_is: NASTY.to_owned(),
    };
    let note = Note { kind: NoteKind::NotGuaranteed, title: NASTY.to_owned(), text: Vec::new() };
    let verdict = Verdict { state: State::Good, text: NASTY.to_owned() };
    Page { verdict: Some(verdict), summary: vec![note], steps: Some(steps), ..Page::default() }
}

#[test]
fn frames_are_all_in_the_file_and_the_first_shown_is_where_the_slider_starts() {
    let html = stepped().html().unwrap();
    let empty = Page::default().html().unwrap();
    for tag in ["<script", "</script", "<!--"] {
        assert_eq!(html.matches(tag).count(), empty.matches(tag).count(), "{tag}");
    }
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    for k in 0..3 {
        let frame = with_id(&page, &format!("steps-frame-{k}"));
        assert!(frame.attribute("hidden").is_none() && words(frame).contains(NASTY));
        assert_eq!(frame.attribute("data-says"), Some(&*format!("{NASTY} {k} %")));
        let values = frame.descendants().filter_map(|n| n.attribute("data-value"));
        assert_eq!(values.collect::<Vec<_>>(), [k.to_string(), "0.5".to_owned()]);
    }
    let slider = with_id(&page, "steps-slider");
    assert_eq!((slider.attribute("value"), slider.attribute("max")), (Some("1"), Some("2")));
    let at = |part: &str| main.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(
        at("id=\"verdict\"") < at("class=\"cards\"") && at("class=\"cards\"") < at("id=\"steps\"")
    );
}

/// What is between two pieces of text, of which the first stands there once.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    assert_eq!(text.matches(start).count(), 1, "{start}");
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// What a reader without scripts has.
fn main_of(html: &str) -> String {
    format!("<main>{}</main>", between(html, "<main id=\"main\" tabindex=\"-1\">", "</main>"))
}

fn data(html: &str) -> Value {
    let data = between(html, "<script type=\"application/json\" id=\"data\">", "</script>");
    assert!(!data.contains('<'));
    serde_json::from_str(data).unwrap()
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect()
}

fn with_id<'a>(page: &'a Document<'a>, id: &str) -> Node<'a, 'a> {
    page.descendants().find(|n| n.attribute("id") == Some(id)).unwrap()
}

#[test]
fn names_are_never_markup() {
    let html = page().html().unwrap();
    assert!(!html.contains("<script>alert"));
    let head = html.split_once("</head>").unwrap().0;
    let title = between(head, "<title>", "</title>");
    assert!(!title.contains('<') && title.contains("&lt;script&gt;"));
    // As many elements as the frame has.
    let empty = Page::default().html().unwrap();
    for tag in ["<script", "</script", "<!--"] {
        assert_eq!(html.matches(tag).count(), empty.matches(tag).count(), "{tag}");
    }
    // Whatever the names, every element has its end, and they are read back as they are.
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    assert!(page.descendants().all(|n| !n.has_tag_name("script")));
    let about = with_id(&page, "about");
    assert!(words(about).contains(NASTY));
}

#[test]
fn everything_is_drawn_without_scripts() {
    let html = page().html().unwrap();
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    for figure in page.descendants().filter(|n| n.has_tag_name("figure")) {
        let id = figure.attribute("id").unwrap();
        let drawn = figure.descendants().filter(|n| n.attribute("role") == Some("img"));
        let wide = |n: &Node<'_, '_>| n.attribute("class").unwrap().contains("wide");
        let (wide, narrow): (Vec<_>, Vec<_>) = drawn.partition(wide);
        assert_eq!(wide.len(), narrow.len(), "{id}");
        assert!(!wide.is_empty() || id == "weights-0", "{id}");
        for svg in wide.iter().chain(&narrow) {
            assert!(svg.attribute("aria-label").is_some_and(|l| l.contains("Horizontal axis")));
            let paths = svg.descendants().filter_map(|n| n.attribute("d"));
            let paths: Vec<&str> = paths.collect();
            assert!(!paths.is_empty() && paths.iter().all(|d| !d.contains("NaN")));
        }
    }
    let weights = with_id(&page, "weights-0");
    assert!(words(weights).contains("0.5"));
    // The rows are those of the first label where the slider starts: 30 of them.
    let embedding = with_id(&page, "embedding-0");
    let bins = embedding.descendants().find(|n| n.attribute("data-dim") == Some("1")).unwrap();
    assert!(bins.attribute("hidden").is_none());
    let full = bins.descendants().filter(|n| n.attribute("d").is_some_and(|d| d.contains('V')));
    assert_eq!(full.count(), 2 * 3, "three groups, for two screens");
}

#[test]
fn tables_have_every_number_to_the_last_digit() {
    let html = page().html().unwrap();
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    let cells = |id: &str| -> Vec<f64> {
        let values = with_id(&page, id);
        let values = values.descendants().filter_map(|n| n.attribute("data-value"));
        values.map(|v| v.parse().unwrap()).collect()
    };
    assert_eq!(cells("front-0"), [0.0, 0.125, 0.5, 1.0, 0.5, 2.0, 0.75, 0.5]);
    let shown = cells("section-0-chart-0");
    for value in [1.0, 0.1 + 0.2, 0.5, 1.5, 0.2, 0.4, 0.6] {
        assert!(shown.contains(&value), "{value} is not in {shown:?}");
    }
}

#[test]
fn colours_are_those_of_the_style_sheet() {
    let html = page().html().unwrap();
    let main = main_of(&html);
    assert!(main.contains("var(--series-0)") && !main.contains("#0072b2"));
    let style = between(&html, "<style>", "</style>");
    for name in (0..7).map(|n| format!("--series-{n}:")).chain(["--grid:".into()]) {
        assert_eq!(style.matches(&name).count(), 3, "{name}: light, dark, dark by the system");
    }
}

#[test]
fn the_verdict_stands_first_and_what_was_asked_for_before_the_rest() {
    let html = page().html().unwrap();
    let main = main_of(&html);
    let at = |part: &str| main.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(at("class=\"verdict bad\"") < at("class=\"contents\""));
    assert!(at("class=\"contents\"") < at("class=\"cards\""));
    assert!(at("class=\"cards\"") < at("id=\"section-0\""));
    assert!(at("id=\"section-0\"") < at("id=\"trade-off\""));
    let verdict = Verdict { state: State::Good, text: "All is well.".to_owned() };
    let main = main_of(&Page { verdict: Some(verdict), ..page() }.html().unwrap());
    let at = |part: &str| main.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(at("All is well.") < at("id=\"section-0\""));
    assert!(at("id=\"section-0\"") < at("class=\"cards\""));
}

#[test]
fn verdicts_of_several_encoders_stand_together() {
    let one = page();
    let explorers = vec![explorer(), explorer()];
    let main = main_of(&Page { explorers, ..one }.html().unwrap());
    for k in 0..2 {
        let verdict = main.find(&format!("data-verdict=\"{k}\"")).unwrap();
        assert!(verdict < main.find("class=\"contents\"").unwrap());
    }
}

#[test]
fn positions_say_held_out_figures_first_and_no_negative_leakage() {
    let html = page().html().unwrap();
    let fields = &data(&html)["explorers"][0]["fields"];
    let said = |name: &str, k: usize| {
        let field = &fields[name];
        let at = field["at"][k].as_u64().map_or(k, |at| at as usize);
        field["text"][at].as_str().unwrap().replace('\u{202f}', " ")
    };
    assert_eq!(said("keeps", 0), "50.00 %");
    assert_eq!(said("keeps", 1), "50.00 % ± 1.00 %");
    assert_eq!(said("heldout_leakage", 0), "not measured");
    assert_eq!(said("heldout_leakage", 1), "none measurable");
    assert_eq!(said("leaks", 2), "5.00 % ± 1.00 %");
    assert_eq!((said("state", 0), said("state", 1)), ("good".to_owned(), "bad".to_owned()));
    assert_eq!(said("audit", 2), "said 5 %");
    assert_eq!(fields["leakage"]["value"][2], 0.2);
    assert!(html.contains("said 5\u{202f}%"));
}

#[test]
fn what_is_about_one_position_says_which() {
    let html = page().html().unwrap();
    assert!(html.contains("data-of=\"0\" data-holds=\"010\""));
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    let note = page.descendants().find(|n| n.attribute("class") == Some("elsewhere")).unwrap();
    assert!(note.attribute("hidden").is_some() && words(note).contains(NASTY));
}

#[test]
fn cursors_stand_where_the_slider_starts() {
    let html = page().html().unwrap();
    let main = main_of(&html);
    let page = Document::parse(&main).unwrap();
    let cursors: Vec<Node<'_, '_>> =
        page.descendants().filter(|n| n.attribute("data-at").is_some()).collect();
    assert_eq!(cursors.len(), 2);
    for cursor in cursors {
        let places: Vec<&str> = cursor.attribute("data-at").unwrap().split(' ').collect();
        assert_eq!(places.len(), 3);
        assert_eq!(places[2], "-", "outside of the axes");
        assert_eq!(cursor.attribute("transform"), Some(&*format!("translate({})", places[1])));
    }
}

#[test]
fn nothing_is_asked_of_the_network_and_nothing_is_borrowed() {
    let html = Page::default().html().unwrap();
    assert!(html.contains("default-src 'none'"));
    for tag in ["<link", "<script", "<img", "<iframe", "<style"] {
        for part in html.split(tag).skip(1) {
            let element = part.split('>').next().unwrap();
            assert!(!element.contains("http"), "{tag}{element}");
        }
    }
    assert!(!html.contains("http:") && !html.contains("https:"));
    assert!(html.len() < 50_000, "{} bytes without data", html.len());
}

#[test]
fn a_figure_that_cannot_be_drawn_is_refused() {
    let chart = Chart::from(Figure::new("none", ""));
    let sections = vec![Section { charts: vec![chart], ..Section::default() }];
    let refused = Page { sections, ..Page::default() }.html().unwrap_err();
    assert_eq!(refused.to_string(), "figure `none` has no panels");
}
