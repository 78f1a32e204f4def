//! The marks of a panel, drawn into its frame.

use crate::clip::Rect;
use crate::figure::Panel;
use crate::legend::{BAND_OPACITY, HISTOGRAM_OPACITY, MARKER};
use crate::mark::{Bars, Direction, Histogram, Line, Mark, Points, Region, Rule, Spread, Steps};
use crate::scene::{Fill, Point, Scene, Stroke, ink};
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

/// The rectangle of a panel's data, with its axes.
pub(crate) struct Frame<'a> {
    pub(crate) rect: Rect,
    pub(crate) x: &'a View,
    pub(crate) y: &'a View,
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

    fn at(&self, (x, y): (f64, f64)) -> Option<Point> {
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

/// Draws the marks in order, regions and bands under everything.
pub(crate) fn draw(panel: &Panel, frame: &Frame, scene: &mut Scene) {
    for mark in &panel.marks {
        match mark {
            Mark::Region(mark) => region(mark, frame, scene),
            Mark::Line(line) => band(&line.band, line.style.colour, frame, scene),
            _ => {}
        }
    }
    let groups = panel.marks.iter().filter(|mark| matches!(mark, Mark::Bars(_))).count();
    let mut group = 0;
    for mark in &panel.marks {
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
    let fill = Fill { colour: region.colour.rgb(), opacity: BAND_OPACITY };
    scene.area(frame.rect.area(outline), fill);
}

fn band(band: &[Spread], colour: Colour, frame: &Frame, scene: &mut Scene) {
    let placed = |s: &Spread| frame.at((s.x, s.low)).zip(frame.at((s.x, s.high)));
    for run in band.split(|s| placed(s).is_none()) {
        let ends: Vec<(Point, Point)> = run.iter().filter_map(placed).collect();
        let outline = ends.iter().map(|e| e.1).chain(ends.iter().rev().map(|e| e.0)).collect();
        scene.area(frame.rect.area(outline), Fill { colour: colour.rgb(), opacity: BAND_OPACITY });
    }
}

fn line(line: &Line, frame: &Frame, scene: &mut Scene) {
    path(frame.runs(line.points.iter().copied()), line.style, frame, scene);
    markers(&line.points, line.style, frame, scene);
}

/// Each y holds to the next x.
fn steps(steps: &Steps, frame: &Frame, scene: &mut Scene) {
    let corners = steps.points.iter().enumerate().flat_map(|(i, &(x, y))| {
        let held = i.checked_sub(1).map(|i| (x, steps.points[i].1));
        held.into_iter().chain([(x, y)])
    });
    path(frame.runs(corners), steps.style, frame, scene);
    markers(&steps.points, steps.style, frame, scene);
}

fn path(runs: Vec<Vec<Point>>, style: Style, frame: &Frame, scene: &mut Scene) {
    let colour = style.colour.rgb();
    for run in runs {
        // A point on its own has no line: a dot shows that it is there.
        if run.len() == 1 && style.marker.is_none() && frame.rect.contains(run[0]) {
            scene.markers(run, Shape::Circle, WIDTH, Fill { colour, opacity: 1.0 });
            continue;
        }
        for part in frame.rect.line(&run) {
            scene.line(part, Stroke { colour, width: WIDTH, dash: style.dash });
        }
    }
}

fn markers(points: &[(f64, f64)], style: Style, frame: &Frame, scene: &mut Scene) {
    let Some(shape) = style.marker else { return };
    let stride = points.len().div_ceil(MOST_MARKERS).max(1);
    let placed = points.iter().step_by(stride).filter_map(|point| frame.at(*point));
    let inside = placed.filter(|point| frame.rect.contains(*point)).collect();
    scene.markers(inside, shape, MARKER, Fill { colour: style.colour.rgb(), opacity: 1.0 });
}

fn points(points: &Points, frame: &Frame, scene: &mut Scene) {
    let placed = points.points.iter().filter_map(|point| frame.at(*point));
    let inside: Vec<Point> = placed.filter(|point| frame.rect.contains(*point)).collect();
    let radius = if points.size.is_finite() { points.size.clamp(0.5, 50.0) } else { MARKER };
    // Where many lie over each other, those below show through.
    let opacity = if inside.len() > MANY { 0.75 } else { 1.0 };
    scene.markers(inside, points.shape, radius, Fill { colour: points.colour.rgb(), opacity });
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
    let colour = histogram.colour.rgb();
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
            scene.line(part, Stroke { colour, width: 1.4, dash: histogram.dash });
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
        scene.area(frame.rect.area(corners), Fill { colour: colour.rgb(), opacity: 1.0 });
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
        scene.line(part, Stroke::solid(ink::TEXT, 1.3));
    }
}

fn rule(rule: &Rule, frame: &Frame, scene: &mut Scene) {
    let rect = &frame.rect;
    let ends = match rule.direction {
        Direction::Horizontal => frame.up(rule.at).map(|y| [(rect.left, y), (rect.right, y)]),
        Direction::Vertical => frame.across(rule.at).map(|x| [(x, rect.bottom), (x, rect.top)]),
    };
    for part in ends.iter().flat_map(|ends| rect.line(ends)) {
        scene.line(part, Stroke { colour: rule.colour.rgb(), width: 1.6, dash: rule.dash });
    }
}
