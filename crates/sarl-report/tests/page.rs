//! The page: whole, escaped, and the same data that went in.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use sarl_report::page::{Fact, Note, NoteKind, Page, Section, Table};
use sarl_report::{Axis, Figure, Line, Panel};
use serde_json::Value;

const NASTY: &str =
    "<script>alert(1)</script></script><!-- data --><!-- title --> \"'&amp; \u{2028} \u{202e} 😀";

fn page() -> Page {
    let figure = Figure::new("front", NASTY).panel(
        Panel::new("", Axis::new(NASTY), Axis::new("y"))
            .mark(Line::new(NASTY, vec![(0.0, 1.0), (1.0, f64::NAN)])),
    );
    Page {
        title: NASTY.to_owned(),
        subtitle: NASTY.to_owned(),
        warnings: vec![Note {
            kind: NoteKind::Warning,
            title: NASTY.to_owned(),
            text: vec![NASTY.into()],
        }],
        sections: vec![Section {
            title: NASTY.to_owned(),
            text: vec![NASTY.to_owned()],
            charts: vec![figure.into()],
            tables: vec![Table {
                title: NASTY.to_owned(),
                header: vec![NASTY.to_owned()],
                rows: vec![vec![NASTY.to_owned()]],
                names: 1,
            }],
        }],
        about: vec![Fact { name: NASTY.to_owned(), value: NASTY.to_owned(), code: true }],
        ..Page::default()
    }
}

/// What is between two pieces of text, of which the first stands there once.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    assert_eq!(text.matches(start).count(), 1, "{start}");
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

#[test]
fn what_goes_in_can_be_read_back() {
    let page = page();
    let html = page.html().unwrap();
    let data = between(&html, "<script type=\"application/json\" id=\"data\">", "</script>");
    assert!(!data.contains('<'));
    let back: Value = serde_json::from_str(data).unwrap();
    let mut expected = serde_json::to_value(&page).unwrap();
    assert_eq!(back, expected);
    // A number that is none is a gap.
    let gap = expected.pointer_mut("/sections/0/charts/0/figure/panels/0/marks/0/points/1/1");
    assert_eq!(gap, Some(&mut Value::Null));
}

#[test]
fn names_are_never_markup() {
    let html = page().html().unwrap();
    assert!(!html.contains("<script>alert"));
    let title = between(&html, "<title>", "</title>");
    assert!(!title.contains('<') && title.contains("&lt;script&gt;"));
    // As many elements as the frame and the libraries have.
    let empty = Page::default().html().unwrap();
    for tag in ["<script", "</script", "<!--"] {
        assert_eq!(html.matches(tag).count(), empty.matches(tag).count(), "{tag}");
    }
}

#[test]
fn nothing_is_asked_of_the_network() {
    let html = Page::default().html().unwrap();
    assert!(html.contains("default-src 'none'"));
    for tag in ["<link", "<script", "<img", "<iframe", "<style"] {
        for part in html.split(tag).skip(1) {
            let element = part.split('>').next().unwrap();
            assert!(!element.contains("http"), "{tag}{element}");
        }
    }
    // The licences of the libraries travel with them.
    assert!(html.contains("Mike Bostock") && html.contains("Observable, Inc."));
    assert_eq!(html.matches("Permission to use, copy, modify").count(), 2);
    assert!(html.len() < 1_000_000, "{} bytes without data", html.len());
}

#[test]
fn the_versions_are_those_of_the_libraries() {
    let html = Page::default().html().unwrap();
    let d3 = format!("https://d3js.org v{} ", sarl_report::page::D3_VERSION);
    let plot = format!("@observablehq/plot v{} ", sarl_report::page::PLOT_VERSION);
    assert!(html.contains(&d3) && html.contains(&plot));
}
