//! Lines and areas cut off at a rectangle.
//!
//! Done on the numbers rather than by a clip path: a clip path needs an id, which could
//! occur twice in a page, and would cut the halves of markers on the frame off.

use crate::scene::Point;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn moved(&self, x: f64, y: f64) -> Self {
        Self {
            left: self.left + x,
            top: self.top + y,
            right: self.right + x,
            bottom: self.bottom + y,
        }
    }

    /// Whether a point lies inside, or on the edge but for rounding.
    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        const SLACK: f64 = 0.01;
        (self.left - SLACK..=self.right + SLACK).contains(&x)
            && (self.top - SLACK..=self.bottom + SLACK).contains(&y)
    }

    /// The parts of a line that lie inside.
    pub(crate) fn line(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut parts: Vec<Vec<Point>> = Vec::new();
        let mut open = false;
        for (&a, &b) in points.iter().zip(points.iter().skip(1)) {
            let Some((from, to)) = self.segment(a, b) else {
                open = false;
                continue;
            };
            match parts.last_mut().filter(|_| open && from == a) {
                Some(part) => part.push(to),
                None => parts.push(vec![from, to]),
            }
            open = to == b;
        }
        parts
    }

    /// The part of a segment that lies inside (Liang and Barsky).
    fn segment(&self, a: Point, b: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let edges = [
            (-dx, a.0 - self.left),
            (dx, self.right - a.0),
            (-dy, a.1 - self.top),
            (dy, self.bottom - a.1),
        ];
        for (speed, distance) in edges {
            if speed == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enter = enter.max(distance / speed);
            } else {
                leave = leave.min(distance / speed);
            }
        }
        let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
        let from = if enter == 0.0 { a } else { at(enter) };
        let to = if leave == 1.0 { b } else { at(leave) };
        (enter <= leave).then_some((from, to))
    }

    /// The part of an area that lies inside (Sutherland and Hodgman).
    pub(crate) fn area(&self, points: Vec<Point>) -> Vec<Point> {
        let points = cut(points, |p| p.0 - self.left);
        let points = cut(points, |p| self.right - p.0);
        let points = cut(points, |p| p.1 - self.top);
        cut(points, |p| self.bottom - p.1)
    }
}

/// The part of an area where `inside` is not negative; it is linear in the point.
fn cut(points: Vec<Point>, inside: impl Fn(Point) -> f64) -> Vec<Point> {
    let mut kept = Vec::with_capacity(points.len() + 4);
    for (i, &b) in points.iter().enumerate() {
        let a = points[(i + points.len() - 1) % points.len()];
        let (from, to) = (inside(a), inside(b));
        if (from < 0.0) != (to < 0.0) {
            let t = from / (from - to);
            kept.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
        }
        if to >= 0.0 {
            kept.push(b);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: Rect = Rect { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };

    #[test]
    fn lines_are_cut_at_the_edges() {
        assert_eq!(UNIT.line(&[(-1.0, 0.5), (2.0, 0.5)]), [vec![(0.0, 0.5), (1.0, 0.5)]]);
        assert_eq!(UNIT.line(&[(0.2, 0.2), (0.4, 0.4), (0.6, 0.2)]).len(), 1);
        // Out and in again: two parts.
        assert_eq!(UNIT.line(&[(0.5, 0.5), (0.5, 2.0), (0.7, 2.0), (0.7, 0.5)]).len(), 2);
        assert!(UNIT.line(&[(2.0, 2.0), (3.0, 2.0)]).is_empty());
        assert!(UNIT.line(&[(0.5, 0.5)]).is_empty());
    }

    #[test]
    fn areas_are_cut_at_the_edges() {
        let whole = vec![(-1.0, -1.0), (2.0, -1.0), (2.0, 2.0), (-1.0, 2.0)];
        let mut cut = UNIT.area(whole);
        cut.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(cut, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]);
        assert!(UNIT.area(vec![(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)]).is_empty());
        assert!(UNIT.area(Vec::new()).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_is_left_outside(points in prop::collection::vec((-3.0..4.0, -3.0..4.0), 0..20)) {
            prop_assert!(UNIT.line(&points).iter().flatten().all(|p| UNIT.contains(*p)));
            prop_assert!(UNIT.area(points).iter().all(|p| UNIT.contains(*p)));
        }
    }
}
