//! Input at the edge: a sensible figure or a clear error, never a panic or a hang.
#![allow(clippy::unwrap_used)] // tests

use proptest::prelude::*;
use sarl_report::{
    Axis, Bars, Colour, Dash, Figure, Histogram, Legend, Line, Mark, Panel, Points, Region,
    ReportError, Rule, Shape, Spread, Steps, Style, even_edges,
};

fn with(marks: impl IntoIterator<Item = Mark>) -> Figure {
    let mut panel = Panel::new("panel", Axis::new("x"), Axis::new("y"));
    panel.marks.extend(marks);
    Figure::new("figure", "Figure").panel(panel)
}

/// Draws everything, and gives the texts of the SVG.
fn drawn(figure: &Figure) -> Vec<String> {
    let files = figure.files().unwrap();
    let svg = std::str::from_utf8(&files[0].1).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let page = roxmltree::Document::parse(svg).unwrap();
    let texts = page.root_element().descendants().filter(|node| node.tag_name().name() == "text");
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn refused(figure: &Figure) -> String {
    figure.files().unwrap_err().to_string()
}

/// The labels of the ticks of y, as shares.
fn ticks(figure: &Figure) -> Vec<f64> {
    let texts = drawn(figure);
    let share = |text: &String| text.strip_suffix("\u{a0}%")?.parse::<f64>().ok();
    texts.iter().filter_map(share).collect()
}

#[test]
fn an_axis_does_not_show_noise() {
    let noisy = |axis: Axis| {
        let mut figure = with([Points::new("p", vec![(0.0, 0.914), (1.0, 0.917)]).into()]);
        figure.panels[0].y = axis.percent();
        ticks(&figure)
    };
    let span = |ticks: Vec<f64>| {
        ticks.iter().fold(0.0, |a: f64, b| a.max(*b))
            - ticks.iter().fold(100.0, |a: f64, b| a.min(*b))
    };
    assert!(span(noisy(Axis::new("y"))) < 0.5);
    assert!(span(noisy(Axis::new("y").least(0.05))) >= 4.0);
    // Shares stay shares.
    let mut figure = with([Points::new("p", vec![(0.0, 1.0), (1.0, 0.999)]).into()]);
    figure.panels[0].y = Axis::new("y").percent().least(0.05);
    assert!(ticks(&figure).iter().all(|tick| *tick <= 100.0));
}

#[test]
fn labels_of_points_do_not_cover_each_other() {
    let crowd: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i % 3) * 1e-3, 0.5)).collect();
    let names = (0..40).map(|i| format!("label number {i}")).collect();
    let texts = drawn(&with([Points::new("p", crowd).labels(names).into()]));
    let labels = texts.iter().filter(|text| text.starts_with("label")).count();
    assert!((1..12).contains(&labels), "{labels} in the same place");
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    assert_eq!(refused(&Figure::new("none", "")), "figure `none` has no panels");
    for name in ["", "../up", "a b", "a.b", "ü"] {
        let figure = Figure { name: name.into(), ..with([]) };
        assert!(matches!(figure.files(), Err(ReportError::Name { .. })), "{name}");
    }
    for (low, high) in
        [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (1.0, 1.0 + 1e-15)]
    {
        let mut figure = with([]);
        figure.panels[0].x = Axis::new("λ").range(low, high);
        assert!(matches!(figure.svg(), Err(ReportError::Range { .. })), "{low} {high}");
    }
    let mut figure = with([]);
    figure.panels[0].y = Axis::new("error").range(0.0, 1.0).log();
    assert!(refused(&figure).starts_with("axis `error` has the range 0 to 1"));

    let edges = Histogram::new("h", vec![0.0, 1.0], vec![1.0, 2.0], 0);
    assert_eq!(refused(&with([edges.into()])), "mark `h` has 2 edges, expected 3");
    let falling = Histogram::new("h", vec![0.0, 2.0, 1.0], vec![1.0, 2.0], 0);
    assert!(refused(&with([falling.into()])).contains("edge 2"));
    let errors = Bars::new("b", vec![1.0, 2.0]).errors(vec![0.1]);
    assert_eq!(refused(&with([errors.into()])), "mark `b` has 1 errors, expected 2");
    let labels = Points::new("p", vec![(0.0, 1.0)]).labels(vec!["a".into(), "b".into()]);
    assert_eq!(refused(&with([labels.into()])), "mark `p` has 2 labels, expected 1");
    let far = Bars::new("b", vec![1.0]).highlight(1);
    assert!(refused(&with([far.into()])).contains("bar 1 is to be highlighted"));
    let mut named = with([Bars::new("b", vec![1.0]).into()]);
    named.panels[0].x = Axis::new("").categories(["one", "two"]);
    assert_eq!(refused(&named), "mark `b` has 1 bars, expected 2");

    let panel = with([]).panels[0].clone();
    let many = Figure { panels: vec![panel; 400], columns: 4, ..with([]) };
    assert!(matches!(many.png(), Err(ReportError::TooLarge { .. })));
    assert!(many.svg().is_ok());
}

#[test]
fn empty_marks_leave_empty_axes() {
    let texts = drawn(&with([]));
    assert!(
        ["Figure", "panel", "x", "y", "0.2"].iter().all(|text| texts.iter().any(|t| t == text)),
        "{texts:?}"
    );
    drawn(&with([
        Line::new("line", vec![]).into(),
        Steps::new("steps", vec![]).into(),
        Points::new("points", vec![]).into(),
        Histogram::new("histogram", vec![], vec![], 0).into(),
    ]));
    drawn(&with([Bars::new("bars", vec![]).into()]));
    drawn(&with([Histogram::new("no counts", vec![0.0, 1.0, 2.0], vec![0.0, 0.0], 0).into()]));
    drawn(&Figure { columns: 0, ..with([]) });
    drawn(&Figure { columns: usize::MAX, ..with([]) });
}

#[test]
fn single_and_equal_values_get_a_range_around_them() {
    assert!(
        drawn(&with([Line::new("one", vec![(3.0, 5.0)]).into()])).iter().any(|text| text == "5.0")
    );
    drawn(&with([Line::new("flat", vec![(0.0, 2.0), (1.0, 2.0)]).into()]));
    drawn(&with([Points::new("zero", vec![(0.0, 0.0)]).into()]));
    drawn(&with([Rule::horizontal("bound", -1e-310).into()]));
    drawn(&with([Points::new("close", vec![(1.0, 1.0), (1.0 + 1e-15, 1.0 + 1e-15)]).into()]));
    assert_eq!(even_edges([2.0, 2.0], 2).len(), 3);
    assert!(even_edges([f64::NAN], 2).is_empty() && even_edges([1.0], 0).is_empty());
}

#[test]
fn values_that_are_not_finite_are_left_out() {
    let gaps = vec![
        (0.0, 1.0),
        (1.0, f64::NAN),
        (2.0, 1.0),
        (f64::INFINITY, 3.0),
        (3.0, 2.0),
        (4.0, f64::NEG_INFINITY),
    ];
    let band = gaps.iter().map(|&(x, y)| Spread { x, low: y - 1.0, high: y + 1.0 }).collect();
    drawn(&with([
        Line::new("line", gaps.clone()).band(band).style(Style::nth(2)).into(),
        Steps::new("steps", gaps.clone()).into(),
        Points::new("points", gaps).size(f64::NAN).into(),
        Histogram::new("histogram", vec![0.0, 1.0, 2.0], vec![f64::NAN, -3.0], 0).into(),
        Rule::vertical("rule", f64::NAN).look(Colour::Series(usize::MAX), Dash::Dotted).into(),
    ]));
    drawn(&with([Bars::new("bars", vec![f64::NAN, 1.0, f64::INFINITY])
        .errors(vec![1.0, f64::NAN, -1.0])
        .into()]));
}

#[test]
fn huge_ranges_and_logarithms_end() {
    let extreme = vec![(-1e300, 1e300), (1e-300, -1e300), (f64::MAX, f64::MIN), (1.0, 1e-320)];
    for (x, y) in
        [(Axis::new("x"), Axis::new("y")), (Axis::new("x").log(), Axis::new("y").log().percent())]
    {
        let mut figure = with([
            Line::new("far", extreme.clone()).style(Style::nth(1)).into(),
            Rule::horizontal("", 0.0).into(),
        ]);
        (figure.panels[0].x, figure.panels[0].y) = (x.clone(), y.clone());
        drawn(&figure);
        (figure.panels[0].x, figure.panels[0].y) = (x.range(1.0, 1.001), y.range(1.0, 1e10));
        drawn(&figure);
    }
    let mut wide = with([Line::new("wide", vec![(1e-300, 1e300), (1.0, 1e-300)]).into()]);
    (wide.panels[0].x, wide.panels[0].y) = (Axis::new("x").log(), Axis::new("y").log());
    let blue = |svg: &str| svg.matches("stroke=\"#0072b2\"").count();
    assert_eq!(blue(&wide.svg().unwrap()), 2, "in the panel and in the legend");
    let mut tall = with([Bars::new("bars", vec![1.0, 1000.0, 0.0]).into()]);
    tall.panels[0].y = Axis::new("y").log();
    drawn(&tall);
    tall.panels[0].x = Axis::new("x").log();
    drawn(&tall);
}

#[test]
fn long_and_many_labels_are_cut() {
    let long = "a very long label, ".repeat(500);
    for legend in [Legend::Below, Legend::Right, Legend::EachPanel, Legend::Hidden] {
        for columns in [1, 4] {
            let mut figure = with([
                Bars::new(&long, vec![1.0; 300]).into(),
                Line::new(&long, vec![(0.0, 1.0)]).into(),
            ]);
            figure.panels[0].x =
                Axis::new(&long).categories((0..300).map(|i| format!("{i} {long}")));
            figure.panels[0].y = Axis::new(&long);
            (figure.title, figure.panels[0].title) = (long.clone(), long.clone());
            figure.panels = vec![figure.panels[0].clone(); columns];
            let texts = drawn(&Figure { columns, legend, ..figure });
            assert!(texts.iter().all(|text| text.len() < 400), "{texts:?}");
        }
    }
    let mut names =
        with([Points::new("", vec![(1.0, 1.0)]).look(Colour::Neutral, Shape::Diamond).into()]);
    names.panels[0].y = Axis::new("").categories((0..90).map(|i| format!("category {i}")));
    drawn(&names);
}

#[test]
fn text_from_data_cannot_break_the_file() {
    let nasty = "<script>alert(\"1\")</script> & 'two' ]]> \u{0}\u{1}\u{7f}\u{85}\n\r\t\
                 \u{202e}\u{ffff}\u{fffe} 漢字 🙂";
    let mut figure =
        with([Bars::new(nasty, vec![1.0]).into(), Line::new(nasty, vec![(0.0, 1.0)]).into()]);
    figure.panels[0].x = Axis::new(nasty).categories([nasty]);
    figure.panels[0].y = Axis::new(nasty);
    figure.panels[0].title = nasty.into();
    let figure = Figure { title: nasty.into(), ..figure }.caption(nasty);
    assert!(
        drawn(&figure)
            .iter()
            .any(|text| text.starts_with("<script>alert(\"1\")</script> & 'two' ]]>"))
    );
    let svg = figure.svg().unwrap();
    assert!(!svg.contains("<script") && !svg.contains(|c: char| c.is_control() && c != '\n'));
    let csv = figure.csv().unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert!(reader.records().all(|row| &row.unwrap()[0] == nasty));
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -2.0..2.0, Just(0.0), Just(f64::NAN)]
}

fn mark() -> impl Strategy<Value = Mark> {
    let points = || prop::collection::vec((number(), number()), 0..6);
    prop_oneof![
        (points(), 0..9usize)
            .prop_map(|(points, n)| Line::new("line", points).style(Style::nth(n)).into()),
        points().prop_map(|points| Steps::new("steps", points).into()),
        points().prop_map(|points| Points::new("points", points).into()),
        points().prop_map(|points| Region::new("region", points).into()),
        prop::collection::vec(number(), 0..5)
            .prop_map(|values| Bars::new("bars", values.clone()).errors(values).into()),
        prop::collection::vec(number(), 0..9).prop_map(|values| Histogram::of(
            "histogram",
            &values,
            even_edges(values.iter().copied(), 3),
            1
        )
        .into()),
        number().prop_map(|at| Rule::horizontal("bound", at).into()),
        number().prop_map(|at| Rule::vertical("bound", at).into()),
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    (any::<bool>(), any::<bool>(), prop::option::of((number(), number()))).prop_map(
        |(log, percent, range)| {
            let axis = if log { Axis::new("axis").log() } else { Axis::new("axis") };
            let axis = if percent { axis.percent() } else { axis };
            Axis { range, ..axis }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_numbers_give_a_well_formed_picture_or_a_range_error(
        marks in prop::collection::vec(mark(), 0..4), x in axis(), y in axis(), text in ".*"
    ) {
        let mut figure = with(marks);
        (figure.panels[0].x, figure.panels[0].y, figure.panels[0].title) = (x, y, text);
        match figure.svg() {
            Ok(svg) => {
                prop_assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
                let page = svg.replace("fill=\"none\"", "");
                prop_assert!(figure.panels[0].title.contains("NaN") || !page.contains("NaN"), "{svg}");
            }
            Err(error) => prop_assert!(matches!(error, ReportError::Range { .. }), "{error}"),
        }
    }
}
