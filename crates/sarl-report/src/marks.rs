//! The marks of a panel, drawn into its frame.

use crate::clip::Rect;
use crate::figure::Panel;
use crate::format::in_units;
use crate::legend::{BAND_OPACITY, HISTOGRAM_OPACITY, MARKER};
use crate::mark::{
    Bars, Cross, Direction, Histogram, Line, Mark, Points, Region, Rule, Spread, Steps,
};
use crate::scene::{Fill, Ink, Item, Point, Scene, Stroke};
use crate::style::{Colour, Shape, Style};
use crate::view::View;

/// Width of lines of data.
const WIDTH: f64 = 2.0;
/// Part of a category that its bars take.
const GROUP: f64 = 0.74;
/// A line with more points than this has markers at some of them only.
const MOST_MARKERS: usize = 20;
/// More points than this are translucent.
const MANY: usize = 50;
/// Of more points than this a page says nothing one by one.
const MOST_TIPS: usize = 200;
/// How far around a point a page speaks of it, and how far apart such points of a line are.
const REACH: (f64, f64) = (7.0, 7.0);
const APART: f64 = 18.0;

/// The rectangle of a panel's data, with its axes.
pub(crate) struct Frame<'a> {
    pub(crate) rect: Rect,
    pub(crate) x: &'a View,
    pub(crate) y: &'a View,
    /// What the numbers of the panel mean.
    pub(crate) panel: &'a Panel,
}

impl Frame<'_> {
    /// Where a value of x lies, in pixels.
    pub(crate) fn across(&self, x: f64) -> Option<f64> {
        self.x.unit(x).map(|unit| self.rect.left + unit * self.rect.width())
    }

    /// Where a value of y lies, in pixels.
    pub(crate) fn up(&self, y: f64) -> Option<f64> {
        self.y.unit(y).map(|unit| self.rect.bottom - unit * self.rect.height())
    }

    pub(crate) fn at(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.across(x)?, self.up(y)?))
    }

    /// The points that have a place, in runs without a gap.
    fn runs(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Vec<Point>> {
        let mut runs = vec![Vec::new()];
        for point in points {
            match (self.at(point), runs.last_mut()) {
                (Some(point), Some(run)) => run.push(point),
                _ => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }
}

/// Draws the marks in order, those of experts first.
pub(crate) fn draw(panel: &Panel, frame: &Frame, scene: &mut Scene) {
    if !panel.experts.is_empty() {
        scene.items.push(Item::Experts(true));
        layer(&panel.experts, frame, scene);
        scene.items.push(Item::Experts(false));
    }
    layer(&panel.marks, frame, scene);
}

/// Some marks, regions and bands under everything.
fn layer(marks: &[Mark], frame: &Frame, scene: &mut Scene) {
    for mark in marks {
        match mark {
            Mark::Region(mark) => region(mark, frame, scene),
            Mark::Line(line) => band(&line.band, line.style.colour, frame, scene),
            _ => {}
        }
    }
    let groups = marks.iter().filter(|mark| matches!(mark, Mark::Bars(_))).count();
    let mut group = 0;
    for mark in marks {
        match mark {
            Mark::Line(mark) => line(mark, frame, scene),
            Mark::Steps(mark) => steps(mark, frame, scene),
            Mark::Points(mark) => points(mark, frame, scene),
            Mark::Histogram(mark) => histogram(mark, frame, scene),
            Mark::Rule(mark) => rule(mark, frame, scene),
            Mark::Region(_) => {}
            Mark::Bars(mark) => {
                bars(mark, (group, groups), frame, scene);
                group += 1;
            }
        }
    }
}

fn region(region: &Region, frame: &Frame, scene: &mut Scene) {
    let outline = region.points.iter().filter_map(|point| frame.at(*point)).collect();
    let fill = Fill { colour: region.colour.ink(), opacity: BAND_OPACITY };
    scene.area(frame.rect.area(outline), fill);
}

fn band(band: &[Spread], colour: Colour, frame: &Frame, scene: &mut Scene) {
    let placed = |s: &Spread| frame.at((s.x, s.low)).zip(frame.at((s.x, s.high)));
    for run in band.split(|s| placed(s).is_none()) {
        let ends: Vec<(Point, Point)> = run.iter().filter_map(placed).collect();
        let outline = ends.iter().map(|e| e.1).chain(ends.iter().rev().map(|e| e.0)).collect();
        scene.area(frame.rect.area(outline), Fill { colour: colour.ink(), opacity: BAND_OPACITY });
    }
}

fn line(line: &Line, frame: &Frame, scene: &mut Scene) {
    path(frame.runs(line.points.iter().copied()), line.style, frame, scene);
    markers(&line.points, line.style, frame, scene);
    tips(&line.name, &line.points, frame, scene);
}

/// Each y holds to the next x.
fn steps(steps: &Steps, frame: &Frame, scene: &mut Scene) {
    let corners = steps.points.iter().enumerate().flat_map(|(i, &(x, y))| {
        let held = i.checked_sub(1).map(|i| (x, steps.points[i].1));
        held.into_iter().chain([(x, y)])
    });
    path(frame.runs(corners), steps.style, frame, scene);
    markers(&steps.points, steps.style, frame, scene);
    tips(&steps.name, &steps.points, frame, scene);
}

/// What a page says of the points of a line; of those that lie close together some.
fn tips(name: &str, points: &[(f64, f64)], frame: &Frame, scene: &mut Scene) {
    let mut last: Option<Point> = None;
    for point in points {
        let Some(at) = frame.at(*point).filter(|at| frame.rect.contains(*at)) else { continue };
        let far = |last: Point| (last.0 - at.0).hypot(last.1 - at.1) >= APART;
        if last.is_none_or(far) {
            last = Some(at);
            scene.tip(at, REACH, said(name, *point, frame.panel));
        }
    }
}

/// A point in words.
fn said(name: &str, (x, y): (f64, f64), panel: &Panel) -> String {
    // What stands before a colon or bracket says what it is, the rest how to read it.
    let short = |label: &'_ str| label.split([':', '(']).next().unwrap_or("").trim().to_owned();
    let part = |axis: &crate::figure::Axis, value: f64| match short(&axis.label) {
        label if label.is_empty() => in_units(axis, value),
        label => format!("{label}: {}", in_units(axis, value)),
    };
    let lines = [name.to_owned(), part(&panel.x, x), part(&panel.y, y)];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn path(runs: Vec<Vec<Point>>, style: Style, frame: &Frame, scene: &mut Scene) {
    let colour = style.colour.ink();
    for run in runs {
        // A point on its own has no line: a dot shows that it is there.
        if run.len() == 1 && style.marker.is_none() && frame.rect.contains(run[0]) {
            scene.markers(run, Shape::Circle, WIDTH, Fill { colour, opacity: 1.0 });
            continue;
        }
        for part in frame.rect.line(&run) {
            scene.line(part, Stroke { colour, width: WIDTH, dash: style.dash, opacity: 1.0 });
        }
    }
}

fn markers(points: &[(f64, f64)], style: Style, frame: &Frame, scene: &mut Scene) {
    let Some(shape) = style.marker else { return };
    let stride = points.len().div_ceil(MOST_MARKERS).max(1);
    let placed = points.iter().step_by(stride).filter_map(|point| frame.at(*point));
    let inside = placed.filter(|point| frame.rect.contains(*point)).collect();
    scene.markers(inside, shape, MARKER, Fill { colour: style.colour.ink(), opacity: 1.0 });
}

fn points(points: &Points, frame: &Frame, scene: &mut Scene) {
    let placed = points.points.iter().filter_map(|point| frame.at(*point));
    let inside: Vec<Point> = placed.filter(|point| frame.rect.contains(*point)).collect();
    let radius = if points.size.is_finite() { points.size.clamp(0.5, 50.0) } else { MARKER };
    // Where many lie over each other, those below show through.
    let opacity = if inside.len() > MANY { 0.75 } else { 1.0 };
    for (point, cross) in points.points.iter().zip(&points.errors) {
        if let Some(at) = frame.at(*point) {
            errors(cross, at, points.colour, frame, scene);
        }
    }
    let told = inside.len() <= MOST_TIPS;
    scene.markers(inside, points.shape, radius, Fill { colour: points.colour.ink(), opacity });
    for (i, point) in points.points.iter().enumerate().filter(|_| told) {
        let Some(at) = frame.at(*point).filter(|at| frame.rect.contains(*at)) else { continue };
        let mut text = said(&points.name, *point, frame.panel);
        if let Some(more) = points.tips.get(i) {
            text = format!("{text}\n{more}");
        }
        scene.tip(at, REACH, text);
    }
}

/// The error bars of a point, without caps: there may be many.
fn errors(cross: &Cross, (x, y): Point, colour: Colour, frame: &Frame, scene: &mut Scene) {
    let across = cross.x.and_then(|(a, b)| frame.across(a).zip(frame.across(b)));
    let up = cross.y.and_then(|(a, b)| frame.up(a).zip(frame.up(b)));
    let strokes =
        across.map(|(a, b)| [(a, y), (b, y)]).into_iter().chain(up.map(|(a, b)| [(x, a), (x, b)]));
    for part in strokes.flat_map(|stroke| frame.rect.line(&stroke)) {
        scene.line(part, Stroke { opacity: 0.55, ..Stroke::solid(colour.ink(), 1.2) });
    }
}

fn histogram(histogram: &Histogram, frame: &Frame, scene: &mut Scene) {
    let base = frame.y.base();
    let ends = histogram.edges.iter().zip(histogram.edges.iter().skip(1));
    let height = |count: f64| if count.is_finite() { count.max(base) } else { base };
    let tops =
        ends.zip(&histogram.counts).flat_map(|((a, b), c)| [(*a, height(*c)), (*b, height(*c))]);
    let first = histogram.edges.first().map(|edge| (*edge, base));
    let last = histogram.edges.last().map(|edge| (*edge, base));
    let outline: Vec<Point> =
        first.into_iter().chain(tops).chain(last).filter_map(|p| frame.at(p)).collect();
    let colour = histogram.colour.ink();
    scene.area(frame.rect.area(outline.clone()), Fill { colour, opacity: HISTOGRAM_OPACITY });
    // Empty bins have no outline: the axis is there.
    let floor = frame.up(base);
    for run in outline.split(|point| Some(point.1) == floor) {
        // The ends of a run stand on the floor.
        let foot = |point: Option<&Point>| point.zip(floor).map(|(point, floor)| (point.0, floor));
        let (first, last) = (foot(run.first()), foot(run.last()));
        let standing: Vec<Point> =
            first.into_iter().chain(run.iter().copied()).chain(last).collect();
        for part in frame.rect.line(&standing) {
            scene.line(part, Stroke { colour, width: 1.4, dash: histogram.dash, opacity: 1.0 });
        }
    }
}

fn bars(bars: &Bars, (group, groups): (usize, usize), frame: &Frame, scene: &mut Scene) {
    let width = GROUP / groups.max(1) as f64;
    let base = frame.y.base();
    for (i, &value) in bars.values.iter().enumerate() {
        let left = i as f64 - GROUP / 2.0 + group as f64 * width;
        let (Some(from), Some(to)) = (frame.at((left, base)), frame.at((left + width, value)))
        else {
            continue;
        };
        let colour = if bars.highlight == Some(i) { bars.colour.contrast() } else { bars.colour };
        let corners = vec![from, (to.0, from.1), to, (from.0, to.1)];
        scene.area(frame.rect.area(corners), Fill { colour: colour.ink(), opacity: 1.0 });
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let reach = ((to.0 - from.0).abs() / 2.0, ((to.1 - from.1).abs() / 2.0).max(6.0));
        scene.tip(middle, reach, said(&bars.name, (i as f64, value), frame.panel));
        if let Some(&(low, high)) = bars.whiskers.get(i) {
            let ends = frame.up(low).or_else(|| frame.up(base)).zip(frame.up(high));
            whisker((from.0 + to.0) / 2.0, ends, (to.0 - from.0) / 5.0, frame, scene);
        }
    }
}

/// An error bar with caps.
fn whisker(x: f64, ends: Option<(f64, f64)>, cap: f64, frame: &Frame, scene: &mut Scene) {
    let Some((low, high)) = ends else { return };
    let cap = cap.min(6.0);
    let strokes = [
        [(x, low), (x, high)],
        [(x - cap, low), (x + cap, low)],
        [(x - cap, high), (x + cap, high)],
    ];
    for part in strokes.iter().flat_map(|stroke| frame.rect.line(stroke)) {
        scene.line(part, Stroke::solid(Ink::Text, 1.3));
    }
}

fn rule(rule: &Rule, frame: &Frame, scene: &mut Scene) {
    let rect = &frame.rect;
    let ends = match rule.direction {
        Direction::Horizontal => frame.up(rule.at).map(|y| [(rect.left, y), (rect.right, y)]),
        Direction::Vertical => frame.across(rule.at).map(|x| [(x, rect.bottom), (x, rect.top)]),
    };
    for part in ends.iter().flat_map(|ends| rect.line(ends)) {
        scene.line(
            part,
            Stroke { colour: rule.colour.ink(), width: 1.6, dash: rule.dash, opacity: 1.0 },
        );
    }
}
