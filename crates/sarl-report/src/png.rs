//! A scene as PNG.

use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

use crate::error::{ReportError, Result};
use crate::font::{Fonts, Pen};
use crate::scene::{Anchor, Fill, Ink, Item, Point, Scene, Stroke, Text};
use crate::style::Shape;
use crate::svg;

/// Pixels of the PNG for each of the scene.
const SCALE: f64 = 2.0;
/// The most pixels of a PNG: 400 MB while it is drawn.
const LIMIT: f64 = 1e8;

/// The scene at twice its size.
pub(crate) fn render(scene: &Scene, fonts: &Fonts) -> Result<Vec<u8>> {
    let (width, height) = ((scene.width * SCALE).ceil(), (scene.height * SCALE).ceil());
    let too_large = || ReportError::TooLarge { width, height, limit: LIMIT };
    if width * height > LIMIT {
        return Err(too_large());
    }
    let map = Pixmap::new(width as u32, height as u32).ok_or_else(too_large)?;
    let mut canvas = Canvas { map, base: Transform::from_scale(SCALE as f32, SCALE as f32) };
    let (r, g, b) = Ink::Paper.rgb();
    canvas.map.fill(tiny_skia::Color::from_rgba8(r, g, b, 255));
    for item in &scene.items {
        match item {
            Item::Line { points, stroke } => canvas.stroke(polygon(points, false), stroke),
            Item::Area { points, fill } => canvas.fill(polygon(points, true), fill, canvas.base),
            Item::Markers { at, shape, radius, fill } => {
                at.iter().for_each(|at| canvas.marker(*at, *shape, *radius, fill));
            }
            Item::Text(text) => canvas.text(text, fonts),
            Item::Tip { .. } | Item::Experts(_) => {}
        }
    }
    canvas.map.encode_png().map_err(|error| ReportError::Png(error.to_string()))
}

struct Canvas {
    map: Pixmap,
    base: Transform,
}

impl Canvas {
    /// An empty path has nothing to draw, hence the options.
    fn fill(&mut self, path: Option<Path>, fill: &Fill, transform: Transform) {
        if let Some(path) = path {
            self.map.fill_path(
                &path,
                &paint(fill.colour, fill.opacity),
                FillRule::Winding,
                transform,
                None,
            );
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: &Stroke) {
        let Some(path) = path else { return };
        let pattern: Vec<f32> = stroke.dash.pattern().iter().map(|length| *length as f32).collect();
        let look = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(pattern, 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.map.stroke_path(&path, &paint(stroke.colour, stroke.opacity), &look, self.base, None);
    }

    fn marker(&mut self, (x, y): Point, shape: Shape, radius: f64, fill: &Fill) {
        let moved =
            |points: &[Point]| points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
        match shape.corners(radius) {
            None => self.fill(
                PathBuilder::from_circle(x as f32, y as f32, radius as f32),
                fill,
                self.base,
            ),
            Some(ends) if shape == Shape::Cross => {
                let stroke = svg::cross(fill, radius);
                ends.chunks(2).for_each(|ends| self.stroke(polygon(&moved(ends), false), &stroke));
            }
            Some(corners) => self.fill(polygon(&moved(&corners), true), fill, self.base),
        }
    }

    fn text(&mut self, text: &Text, fonts: &Fonts) {
        let width = fonts.width(&text.text, text.size, text.weight);
        let start = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut letters = Letters { path: PathBuilder::new(), x: 0.0 };
        fonts.outline(&text.text, text.weight, &mut letters);
        let scale = fonts.scale(text.size, text.weight) as f32;
        let transform = self
            .base
            .pre_translate(text.at.0 as f32, text.at.1 as f32)
            .pre_concat(Transform::from_rotate(text.angle as f32))
            .pre_translate(start as f32, 0.0)
            .pre_scale(scale, -scale);
        self.fill(letters.path.finish(), &Fill { colour: text.colour, opacity: 1.0 }, transform);
    }
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let (r, g, b) = ink.rgb();
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

fn polygon(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => path.move_to(*x as f32, *y as f32),
            _ => path.line_to(*x as f32, *y as f32),
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Takes the outlines of letters into one path.
struct Letters {
    path: PathBuilder,
    x: f32,
}

impl Pen for Letters {
    fn offset(&mut self, x: f32) {
        self.x = x;
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
