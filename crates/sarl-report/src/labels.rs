//! Texts beside points and at lines: placed so that none covers another.

use crate::clip::Rect;
use crate::figure::Panel;
use crate::font::Fonts;
use crate::mark::{Direction, Mark, Points, Rule};
use crate::marks::Frame;
use crate::scene::{Anchor, Item, Point, Scene, Text, Weight};

const SIZE: f64 = 12.0;
/// From the middle of a point to its text.
const OFF: f64 = 8.0;
/// The longest text, as a part of the panel.
const LONGEST: f64 = 0.45;

/// Draws the names of lines, and the labels of points where there is room for them.
pub(crate) fn draw(panel: &Panel, frame: &Frame, fonts: &Fonts, scene: &mut Scene) {
    let mut taken = Vec::new();
    for (marks, experts) in [(&panel.marks, false), (&panel.experts, true)] {
        scene.items.push(Item::Experts(experts));
        for mark in marks {
            if let Mark::Rule(rule) = mark
                && rule.named
            {
                at_line(rule, frame, fonts, &mut taken, scene);
            }
        }
    }
    scene.items.push(Item::Experts(false));
    let points = panel.all().filter_map(|mark| match mark {
        Mark::Points(points) => Some(points),
        _ => None,
    });
    let points: Vec<&Points> = points.collect();
    for at in points.iter().flat_map(|p| &p.points).filter_map(|p| frame.at(*p)) {
        taken.push(around(at, 4.0, 4.0));
    }
    for points in points {
        for (label, at) in points.labels.iter().zip(&points.points) {
            if let Some(at) = frame.at(*at).filter(|at| frame.rect.contains(*at)) {
                beside(label, at, points, frame, fonts, &mut taken, scene);
            }
        }
    }
}

/// The name of a line: above its right end, or beside its foot.
fn at_line(rule: &Rule, frame: &Frame, fonts: &Fonts, taken: &mut Vec<Rect>, scene: &mut Scene) {
    let rect = &frame.rect;
    let name = fonts.fit(&rule.name, SIZE, Weight::Regular, rect.width() * 0.6);
    let width = fonts.width(&name, SIZE, Weight::Regular);
    let places: Vec<(Point, Anchor)> = match rule.direction {
        Direction::Horizontal => match frame.up(rule.at) {
            Some(y) => [y - 5.0, y + SIZE + 2.0]
                .into_iter()
                .flat_map(|y| {
                    [((rect.right - 2.0, y), Anchor::End), ((rect.left + 4.0, y), Anchor::Start)]
                })
                .collect(),
            None => return,
        },
        Direction::Vertical => match frame.across(rule.at) {
            Some(x) => [rect.bottom - 8.0, rect.top + SIZE, rect.bottom - 26.0]
                .into_iter()
                .flat_map(|y| [((x + 5.0, y), Anchor::Start), ((x - 5.0, y), Anchor::End)])
                .collect(),
            None => return,
        },
    };
    let inside = places.into_iter().find(|place| fits(&boxed(*place, width), frame, taken));
    if let Some((at, anchor)) = inside {
        taken.push(boxed((at, anchor), width));
        put(name, at, anchor, rule.colour.ink(), scene);
    }
}

fn beside(
    label: &str,
    (x, y): Point,
    points: &Points,
    frame: &Frame,
    fonts: &Fonts,
    taken: &mut Vec<Rect>,
    scene: &mut Scene,
) {
    let label = fonts.fit(label, SIZE, Weight::Regular, frame.rect.width() * LONGEST);
    let width = fonts.width(&label, SIZE, Weight::Regular);
    let low = y + 0.36 * SIZE;
    let mut places = [
        ((x + OFF, low), Anchor::Start),
        ((x - OFF, low), Anchor::End),
        ((x, y - OFF), Anchor::Middle),
        ((x, y + OFF + 0.7 * SIZE), Anchor::Middle),
        ((x + OFF, y - OFF), Anchor::Start),
        ((x + OFF, y + OFF + 0.5 * SIZE), Anchor::Start),
        ((x - OFF, y - OFF), Anchor::End),
        ((x - OFF, y + OFF + 0.5 * SIZE), Anchor::End),
    ];
    // Where names stand on the vertical axis, lines go across: above and below is free.
    if !frame.panel.y.categories.is_empty() {
        places.rotate_left(2);
    }
    let found = places.into_iter().find(|place| fits(&boxed(*place, width), frame, taken));
    // Where there is no room the legend and the table still say it.
    if let Some((at, anchor)) = found.filter(|_| !label.is_empty()) {
        taken.push(boxed((at, anchor), width));
        put(label, at, anchor, points.colour.ink(), scene);
    }
}

fn put(text: String, at: Point, anchor: Anchor, colour: crate::scene::Ink, scene: &mut Scene) {
    scene.text(Text { over: true, ..Text::new(text, at, SIZE).anchor(anchor).colour(colour) });
}

/// The room that a text takes.
fn boxed(((x, y), anchor): (Point, Anchor), width: f64) -> Rect {
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Rect { left, right: left + width, top: y - 0.8 * SIZE, bottom: y + 0.25 * SIZE }
}

fn around((x, y): Point, across: f64, up: f64) -> Rect {
    Rect { left: x - across, right: x + across, top: y - up, bottom: y + up }
}

fn fits(room: &Rect, frame: &Frame, taken: &[Rect]) -> bool {
    let apart = |other: &Rect| {
        room.right <= other.left
            || room.left >= other.right
            || room.bottom <= other.top
            || room.top >= other.bottom
    };
    let corners = [(room.left, room.top), (room.right, room.bottom)];
    corners.into_iter().all(|corner| frame.rect.contains(corner)) && taken.iter().all(apart)
}
