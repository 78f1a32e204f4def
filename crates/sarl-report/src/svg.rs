//! A scene as SVG.

use crate::font::FAMILY;
use crate::scene::{Anchor, Fill, Item, Point, Scene, Stroke, Text, Weight, clean, ink};
use crate::style::Shape;

/// The scene as one `<svg>` element without ids, so that several may stand in one page.
pub(crate) fn render(scene: &Scene) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}\" stroke-linejoin=\"round\">\n"
    );
    for (tag, text) in [("title", &scene.title), ("desc", &scene.description)] {
        if !text.is_empty() {
            out += &format!("<{tag}>{}</{tag}>\n", escape(&clean(text)));
        }
    }
    out +=
        &format!("<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n", ink::PAPER.css());
    for item in &scene.items {
        match item {
            Item::Line { points, stroke } => {
                out += &format!("<path d=\"{}\" {}/>\n", path(points), stroked(stroke));
            }
            Item::Area { points, fill } => {
                out += &format!("<path d=\"{}Z\" {}/>\n", path(points), filled(fill))
            }
            Item::Markers { at, shape, radius, fill } => {
                markers(&mut out, at, *shape, *radius, fill)
            }
            Item::Text(text) => out += &texted(text),
        }
    }
    out + "</svg>\n"
}

fn markers(out: &mut String, at: &[Point], shape: Shape, radius: f64, fill: &Fill) {
    let look = match shape {
        Shape::Cross => {
            format!("stroke-opacity=\"{}\" {}", number(fill.opacity), stroked(&cross(fill, radius)))
        }
        _ => filled(fill),
    };
    *out += &format!("<g {look}>\n");
    let outline = shape.corners(radius);
    for &(x, y) in at {
        let moved = |points: &[Point]| {
            path(&points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>())
        };
        *out += &match &outline {
            None => format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
                number(x),
                number(y),
                number(radius)
            ),
            Some(ends) if shape == Shape::Cross => {
                let strokes: String = ends.chunks(2).map(moved).collect();
                format!("<path d=\"{strokes}\"/>\n")
            }
            Some(corners) => format!("<path d=\"{}Z\"/>\n", moved(corners)),
        };
    }
    *out += "</g>\n";
}

/// The stroke of a cross.
pub(crate) fn cross(fill: &Fill, radius: f64) -> Stroke {
    Stroke::solid(fill.colour, (0.5 * radius).max(1.0))
}

fn texted(text: &Text) -> String {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if text.weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
    let turn = if text.angle == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({} {x} {y})\"", number(text.angle))
    };
    let (size, colour, words) = (number(text.size), text.colour.css(), escape(&text.text));
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"\
         {weight}{anchor}{turn}>{words}</text>\n"
    )
}

fn path(points: &[Point]) -> String {
    let pairs: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    format!("M{}", pairs.join(" "))
}

fn stroked(stroke: &Stroke) -> String {
    let dash: Vec<String> = stroke.dash.pattern().iter().map(|length| number(*length)).collect();
    let dash = if dash.is_empty() {
        String::new()
    } else {
        format!(" stroke-dasharray=\"{}\"", dash.join(" "))
    };
    format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}",
        stroke.colour.css(),
        number(stroke.width)
    )
}

fn filled(fill: &Fill) -> String {
    let opacity = if fill.opacity < 1.0 {
        format!(" fill-opacity=\"{}\"", number(fill.opacity))
    } else {
        String::new()
    };
    format!("fill=\"{}\"{opacity}", fill.colour.css())
}

/// Two decimal places at most: a hundredth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}
