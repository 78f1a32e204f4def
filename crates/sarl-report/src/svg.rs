//! A scene as SVG: a file of its own, or a part of a page.

use crate::font::FAMILY;
use crate::scene::{Anchor, Fill, Ink, Item, Point, Scene, Stroke, Text, Weight, clean};
use crate::style::{Colour, Shape};

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
        &format!("<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n", Ink::Paper.css());
    Pen { to: &mut out, place: Place::File }.items(&scene.items);
    out + "</svg>\n"
}

/// What is inside the `<svg>` element of a page, in the colours of its style sheet. `tips` where
/// there is a pointer to rest on them.
pub(crate) fn inline(scene: &Scene, tips: bool) -> String {
    let mut out = String::new();
    Pen { to: &mut out, place: Place::Page { tips } }.items(&scene.items);
    out
}

/// Where the picture goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    Page { tips: bool },
}

struct Pen<'a> {
    to: &'a mut String,
    place: Place,
}

impl Pen<'_> {
    fn items(&mut self, items: &[Item]) {
        let mut experts = false;
        let mut rest = items.iter().peekable();
        while let Some(item) = rest.next() {
            match item {
                Item::Line { points, stroke } => {
                    let mut d = self.path(points);
                    // Lines of one look that follow each other are one path of a page.
                    while let Some(Item::Line { points, stroke: next }) = rest.peek()
                        && self.place != Place::File
                        && next == stroke
                    {
                        d += &self.path(points);
                        rest.next();
                    }
                    let look = self.stroked(stroke);
                    *self.to += &format!("<path d=\"{d}\" {look}/>\n");
                }
                Item::Area { points, fill } => {
                    let (d, look) = (self.path(points), self.filled(fill));
                    *self.to += &format!("<path d=\"{d}Z\" {look}/>\n");
                }
                Item::Markers { at, shape, radius, fill } => {
                    self.markers(at, *shape, *radius, fill);
                }
                Item::Text(text) => self.text(text),
                Item::Tip { at, reach, text } => self.tip(*at, *reach, text),
                Item::Experts(now) if self.place != Place::File && *now != experts => {
                    *self.to += if *now { "<g class=\"expert\">\n" } else { "</g>\n" };
                    experts = *now;
                }
                Item::Experts(_) => {}
            }
        }
    }

    fn colour(&self, ink: Ink) -> String {
        match self.place {
            Place::File => ink.css(),
            Place::Page { .. } => ink.variable(),
        }
    }

    /// A page is drawn to a tenth of a pixel.
    fn path(&self, points: &[Point]) -> String {
        match self.place {
            Place::File => path(points),
            Place::Page { .. } => {
                let pairs = points.iter().map(|(x, y)| format!("{},{}", tenth(*x), tenth(*y)));
                format!("M{}", pairs.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn tip(&mut self, (x, y): Point, (across, up): (f64, f64), text: &str) {
        if self.place == (Place::Page { tips: true }) {
            *self.to += &format!(
                "<rect class=\"tip\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                tenth(x - across),
                tenth(y - up),
                tenth(2.0 * across),
                tenth(2.0 * up),
                escape(text)
            );
        }
    }

    fn markers(&mut self, at: &[Point], shape: Shape, radius: f64, fill: &Fill) {
        let look = self.marker_look(shape, radius, fill);
        if self.place != Place::File {
            *self.to += &format!("<path d=\"{}\" {look}/>\n", marked(at, shape, radius));
            return;
        }
        *self.to += &format!("<g {look}>\n");
        let outline = shape.corners(radius);
        for &(x, y) in at {
            let moved = |points: &[Point]| {
                path(&points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>())
            };
            *self.to += &match &outline {
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
        *self.to += "</g>\n";
    }

    fn marker_look(&self, shape: Shape, radius: f64, fill: &Fill) -> String {
        match shape {
            Shape::Cross => self.stroked(&cross(fill, radius)),
            _ => self.filled(fill),
        }
    }

    fn text(&mut self, text: &Text) {
        let (x, y) = (number(text.at.0), number(text.at.1));
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
        let class = match (self.place, text.over, text.colour) {
            (Place::File, ..) | (_, false, Ink::Label) => "",
            (_, true, Ink::Data(Colour::Neutral)) => " class=\"over\"",
            (_, true, _) => " class=\"over strong\"",
            (_, false, _) => " class=\"strong\"",
        };
        let turn = if text.angle == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({} {x} {y})\"", number(text.angle))
        };
        let words = escape(&text.text);
        let look = match self.place {
            Place::File => {
                format!(" font-size=\"{}\" fill=\"{}\"", number(text.size), text.colour.css())
            }
            // The style sheet has one size and two colours for letters.
            Place::Page { .. } => String::new(),
        };
        *self.to += &format!(
            "<text x=\"{x}\" y=\"{y}\"{look}{weight}{anchor}{class}{turn}>{words}</text>\n"
        );
    }

    fn stroked(&self, stroke: &Stroke) -> String {
        let dash: Vec<String> =
            stroke.dash.pattern().iter().map(|length| number(*length)).collect();
        let dash = if dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{}\"", dash.join(" "))
        };
        let opacity = match stroke.opacity < 1.0 {
            true => format!(" stroke-opacity=\"{}\"", number(stroke.opacity)),
            false => String::new(),
        };
        format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}{opacity}",
            self.colour(stroke.colour),
            number(stroke.width)
        )
    }

    fn filled(&self, fill: &Fill) -> String {
        let opacity = if fill.opacity < 1.0 {
            format!(" fill-opacity=\"{}\"", number(fill.opacity))
        } else {
            String::new()
        };
        format!("fill=\"{}\"{opacity}", self.colour(fill.colour))
    }
}

/// How markers look in a page, as attributes.
pub(crate) fn page_marker(shape: Shape, radius: f64, fill: &Fill) -> String {
    Pen { to: &mut String::new(), place: Place::Page { tips: false } }
        .marker_look(shape, radius, fill)
}

/// Markers as one path: to each point, and from there around it.
pub(crate) fn marked(at: &[Point], shape: Shape, radius: f64) -> String {
    let one = around(shape, radius);
    at.iter().map(|(x, y)| format!("M{},{}{one}", tenth(*x), tenth(*y))).collect()
}

/// The path of a marker from its middle.
pub(crate) fn around(shape: Shape, radius: f64) -> String {
    let step = |(a, b): (Point, Point)| format!("{},{}", number(b.0 - a.0), number(b.1 - a.1));
    match shape.corners(radius) {
        None => {
            let (r, d) = (number(radius), number(2.0 * radius));
            format!("m-{r},0a{r},{r} 0 1,0 {d},0a{r},{r} 0 1,0 -{d},0")
        }
        Some(ends) if shape == Shape::Cross => {
            let mut from = (0.0, 0.0);
            let mut path = String::new();
            for pair in ends.chunks(2) {
                let (Some(a), Some(b)) = (pair.first(), pair.last()) else { continue };
                path += &format!("m{}l{}", step((from, *a)), step((*a, *b)));
                from = *b;
            }
            path
        }
        Some(corners) => {
            let mut from = (0.0, 0.0);
            let mut path = String::new();
            for (i, corner) in corners.into_iter().enumerate() {
                path += &format!("{}{}", if i == 0 { "m" } else { "l" }, step((from, corner)));
                from = corner;
            }
            path + "z"
        }
    }
}

/// The stroke of a cross.
pub(crate) fn cross(fill: &Fill, radius: f64) -> Stroke {
    Stroke { opacity: fill.opacity, ..Stroke::solid(fill.colour, (0.5 * radius).max(1.0)) }
}

fn path(points: &[Point]) -> String {
    let pairs: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    format!("M{}", pairs.join(" "))
}

/// Two decimal places at most: a hundredth of a pixel.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// One decimal place at most.
pub(crate) fn tenth(value: f64) -> String {
    number((10.0 * value).round() / 10.0)
}

/// Text and attribute values without anything that is markup.
pub(crate) fn escape(text: &str) -> String {
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
