//! The figures of the gallery: what each file holds.

#[path = "../examples/gallery/figures.rs"]
mod figures;

use sarl_report::Figure;

#[test]
fn every_figure_has_a_well_formed_svg_with_its_words() {
    for figure in figures::all() {
        let svg = figure.svg().unwrap();
        let page = roxmltree::Document::parse(&svg).unwrap();
        let root = page.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        let words = |tag: &str| -> Vec<&str> {
            root.descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", tag)))
                .filter_map(|node| node.text())
                .collect()
        };
        assert_eq!(words("title"), [figure.title.as_str()]);
        assert!(words("text").contains(&figure.title.as_str()));
        for panel in &figure.panels {
            for wanted in [&panel.title, &panel.x.label, &panel.y.label] {
                assert!(
                    wanted.is_empty() || words("text").contains(&wanted.as_str()),
                    "{wanted} in {}",
                    figure.name
                );
            }
            for mark in &panel.marks {
                let name = mark.name();
                let times = words("text").iter().filter(|word| **word == name).count();
                assert_eq!(
                    times,
                    usize::from(!name.is_empty()),
                    "`{name}` in the legend of {}",
                    figure.name
                );
            }
        }
        // No ids, so that several figures may stand in one page.
        assert!(root.descendants().all(|node| node.attribute("id").is_none()));
    }
}

#[test]
fn nothing_is_drawn_outside_of_the_picture() {
    for figure in figures::all() {
        let svg = figure.svg().unwrap();
        let page = roxmltree::Document::parse(&svg).unwrap();
        let size = |name| page.root_element().attribute(name).unwrap().parse::<f64>().unwrap();
        let (width, height) = (size("width"), size("height"));
        for node in page.root_element().descendants() {
            let value = |name| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
            let starts = value("x").or(value("cx")).zip(value("y").or(value("cy")));
            let path = node.attribute("d").unwrap_or_default().replace(['M', 'Z', ','], " ");
            let numbers: Vec<f64> =
                path.split_whitespace().map(|number| number.parse().unwrap()).collect();
            for (x, y) in numbers.chunks(2).map(|pair| (pair[0], pair[1])).chain(starts) {
                assert!(
                    (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
                    "{x},{y} in {}",
                    figure.name
                );
            }
        }
    }
}

#[test]
fn the_png_is_twice_the_size_and_holds_the_colours() {
    let picture = tiny_skia::Pixmap::decode_png(&figures::scatter().png().unwrap()).unwrap();
    let svg = figures::scatter().svg().unwrap();
    let page = roxmltree::Document::parse(&svg).unwrap();
    let size = |name| page.root_element().attribute(name).unwrap().parse::<f64>().unwrap();
    assert_eq!(f64::from(picture.width()), 2.0 * size("width"));
    assert_eq!(f64::from(picture.height()), 2.0 * size("height"));
    assert!(picture.pixels().iter().all(|pixel| pixel.alpha() == 255));
    let count = |rgb: (u8, u8, u8)| {
        picture
            .pixels()
            .iter()
            .filter(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == rgb)
            .count()
    };
    // White paper, and the legend's opaque markers in the first two colours.
    assert!(count((255, 255, 255)) > picture.pixels().len() / 2);
    assert!(count((0x00, 0x72, 0xB2)) > 20 && count((0xD5, 0x5E, 0x00)) > 20);
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    for (once, again) in figures::all().iter().zip(figures::all()) {
        assert_eq!(once.files().unwrap(), again.files().unwrap());
    }
}

#[test]
fn a_figure_survives_json() {
    for figure in figures::all() {
        let json = serde_json::to_string(&figure).unwrap();
        assert_eq!(serde_json::from_str::<Figure>(&json).unwrap(), figure);
    }
}

#[test]
fn the_csv_lists_every_number() {
    let rows = |figure: &Figure| -> Vec<Vec<String>> {
        let text = figure.csv().unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(
            reader.headers().unwrap(),
            vec!["panel", "mark", "kind", "x", "y", "low", "high"]
        );
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    };
    let front = rows(&figures::front());
    assert_eq!(front.len(), 3 * 8 + 2 + 2);
    assert!(
        front
            .iter()
            .take(24)
            .all(|row| row[2] == "line" && row.iter().all(|cell| !cell.is_empty()))
    );
    assert_eq!(front[26], ["1", "majority class (sex)", "vertical", "0.6745", "", "", ""]);
    assert_eq!(rows(&figures::weights())[9][3..5], ["gender", "0.004"]);
    let histograms = rows(&figures::embeddings());
    assert_eq!(histograms.len(), 8 * 2 * 25);
    let total: f64 = histograms.iter().filter_map(|row| row[4].parse::<f64>().ok()).sum();
    assert_eq!(total, 8.0 * 800.0);
}
