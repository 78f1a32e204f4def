//! One panel: title, axes, grid, and how much room they take around the data.

use crate::clip::Rect;
use crate::figure::Panel;
use crate::font::Fonts;
use crate::labels;
use crate::mark::Mark;
use crate::marks::{self, Frame};
use crate::scene::{Anchor, Ink, Scene, Stroke, Text, Weight};
use crate::style::Colour;
use crate::ticks::Tick;
use crate::view::{TICK_SIZE, View};

const TITLE_SIZE: f64 = 14.0;
const LABEL_SIZE: f64 = 13.0;
const TICK: f64 = 4.0;
/// Labels that are aslant rise by this angle.
const SLANT: f64 = 40.0;

/// A panel with its axes.
pub(crate) struct Plot<'a> {
    panel: &'a Panel,
    x: View,
    y: View,
    /// Without title and labels, which stand elsewhere.
    bare: bool,
}

/// Room around the data, in pixels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Margins {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Margins {
    /// Enough for both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

impl<'a> Plot<'a> {
    /// The axes of a panel of about this size.
    pub(crate) fn new(panel: &'a Panel, (width, height): (f64, f64), fonts: &Fonts) -> Self {
        let x = View::horizontal(panel, width - 80.0, fonts);
        let y = View::vertical(panel, height - 80.0, fonts);
        Self { panel, x, y, bare: false }
    }

    /// The same without title and labels.
    pub(crate) fn bare(self) -> Self {
        Self { bare: true, ..self }
    }

    /// Where a point lies, given the rectangle of the data; `None` outside of it.
    pub(crate) fn place(&self, rect: Rect, point: (f64, f64)) -> Option<(f64, f64)> {
        let frame = Frame { rect, x: &self.x, y: &self.y, panel: self.panel };
        frame.at(point).filter(|at| rect.contains(*at))
    }

    /// Where a value of x lies, given the rectangle of the data; `None` outside of it.
    pub(crate) fn across(&self, rect: Rect, x: f64) -> Option<f64> {
        let frame = Frame { rect, x: &self.x, y: &self.y, panel: self.panel };
        frame.across(x).filter(|x| rect.contains((*x, rect.top)))
    }

    /// Where a value of y lies, given the rectangle of the data.
    pub(crate) fn up(&self, rect: Rect, y: f64) -> Option<f64> {
        Frame { rect, x: &self.x, y: &self.y, panel: self.panel }.up(y)
    }

    /// The room that title, labels and ticks take.
    pub(crate) fn margins(&self, width: f64, fonts: &Fonts) -> Margins {
        let label = |text: &str| match text.is_empty() || self.bare {
            true => 0.0,
            false => LABEL_SIZE + 10.0,
        };
        let ends = self
            .x
            .ticks
            .major
            .last()
            .map_or(0.0, |tick| fonts.width(&tick.label, TICK_SIZE, Weight::Regular));
        let mut margins = Margins {
            left: self.y.widest(fonts) + TICK + 8.0 + label(&self.panel.y.label),
            top: if self.panel.title.is_empty() || self.bare { 10.0 } else { TITLE_SIZE + 14.0 },
            right: if self.x.aslant { 6.0 } else { (ends / 2.0).clamp(6.0, 40.0) },
            bottom: TICK_SIZE + TICK + 8.0 + label(&self.panel.x.label),
        };
        if self.x.aslant {
            let (sine, cosine) = SLANT.to_radians().sin_cos();
            margins.bottom += self.x.widest(fonts) * sine - 2.0;
            for tick in &self.x.ticks.major {
                let reach = fonts.width(&tick.label, TICK_SIZE, Weight::Regular) * cosine;
                let start = self.x.unit(tick.value).unwrap_or(0.0) * (width - 80.0);
                margins.left = margins.left.max(reach - start + 4.0);
            }
        }
        margins
    }

    /// Draws the panel with its data in a rectangle and the rest in the margins around it.
    pub(crate) fn draw(&self, rect: Rect, margins: Margins, fonts: &Fonts, scene: &mut Scene) {
        let frame = Frame { rect, x: &self.x, y: &self.y, panel: self.panel };
        self.grid(&frame, scene);
        self.zero(&frame, scene);
        self.axes(&frame, scene);
        marks::draw(self.panel, &frame, scene);
        labels::draw(self.panel, &frame, fonts, scene);
        if !self.bare {
            self.labels(&rect, margins, fonts, scene);
        }
    }

    fn grid(&self, frame: &Frame, scene: &mut Scene) {
        let (rect, stroke) = (&frame.rect, Stroke::solid(Ink::Grid, 1.0));
        for tick in self.x.ticks.major.iter().filter(|_| !self.x.names) {
            let Some(x) = frame.across(tick.value).map(crisp) else { continue };
            scene.line(vec![(x, rect.top), (x, rect.bottom)], stroke);
        }
        for tick in self.y.ticks.major.iter().filter(|_| !self.y.names) {
            let Some(y) = frame.up(tick.value).map(crisp) else { continue };
            scene.line(vec![(rect.left, y), (rect.right, y)], stroke);
        }
    }

    /// Where bars go both ways, the line they stand on.
    fn zero(&self, frame: &Frame, scene: &mut Scene) {
        let inside =
            frame.up(self.y.base()).filter(|y| *y > frame.rect.top && *y < frame.rect.bottom - 1.0);
        if let Some(y) = inside.map(crisp).filter(|_| self.x.names) {
            scene.line(
                vec![(frame.rect.left, y), (frame.rect.right, y)],
                Stroke::solid(Ink::Axis, 1.0),
            );
        }
    }

    fn axes(&self, frame: &Frame, scene: &mut Scene) {
        let (rect, stroke) = (&frame.rect, Stroke::solid(Ink::Axis, 1.0));
        let (left, bottom) = (crisp(rect.left), crisp(rect.bottom));
        scene.line(vec![(left, rect.top), (left, bottom), (rect.right, bottom)], stroke);
        for x in self.x.ticks.minor.iter().filter_map(|x| frame.across(*x)).map(crisp) {
            scene.line(vec![(x, bottom), (x, bottom + TICK / 2.0)], stroke);
        }
        for y in self.y.ticks.minor.iter().filter_map(|y| frame.up(*y)).map(crisp) {
            scene.line(vec![(left - TICK / 2.0, y), (left, y)], stroke);
        }
        for tick in &self.x.ticks.major {
            let Some(x) = frame.across(tick.value).map(crisp) else { continue };
            scene.line(vec![(x, bottom), (x, bottom + TICK)], stroke);
            let text = Text::new(tick.label.clone(), (x, bottom + TICK + 14.0), TICK_SIZE);
            let text = match self.highlighted(tick) {
                Some(colour) => text.bold().colour(colour.ink()),
                None => text.colour(Ink::Label),
            };
            scene.text(if self.x.aslant {
                Text { at: (x + 4.0, bottom + TICK + 9.0), ..text }
                    .anchor(Anchor::End)
                    .angle(-SLANT)
            } else {
                text.anchor(Anchor::Middle)
            });
        }
        for tick in &self.y.ticks.major {
            let Some(y) = frame.up(tick.value).map(crisp) else { continue };
            scene.line(vec![(left - TICK, y), (left, y)], stroke);
            let at = (left - TICK - 4.0, y + 0.36 * TICK_SIZE);
            scene.text(
                Text::new(tick.label.clone(), at, TICK_SIZE).colour(Ink::Label).anchor(Anchor::End),
            );
        }
    }

    /// The colour of the highlighted bar at a tick.
    fn highlighted(&self, tick: &Tick) -> Option<Colour> {
        self.panel.all().find_map(|mark| match mark {
            Mark::Bars(bars) if bars.highlight.is_some_and(|bar| bar as f64 == tick.value) => {
                Some(bars.colour.contrast())
            }
            _ => None,
        })
    }

    fn labels(&self, rect: &Rect, margins: Margins, fonts: &Fonts, scene: &mut Scene) {
        let (middle, centre) = ((rect.left + rect.right) / 2.0, (rect.top + rect.bottom) / 2.0);
        let label = |text: &str, most: f64| fonts.fit(text, LABEL_SIZE, Weight::Regular, most);
        let below = (middle, rect.bottom + margins.bottom - 5.0);
        let across = rect.width() + margins.left.min(margins.right);
        scene.text(
            Text::new(label(&self.panel.x.label, across), below, LABEL_SIZE).anchor(Anchor::Middle),
        );
        let beside = (rect.left - margins.left + LABEL_SIZE, centre);
        let up = rect.height() + margins.top.min(margins.bottom);
        scene.text(
            Text::new(label(&self.panel.y.label, up), beside, LABEL_SIZE)
                .anchor(Anchor::Middle)
                .angle(-90.0),
        );
        let title =
            fonts.fit(&self.panel.title, TITLE_SIZE, Weight::Bold, rect.width() + margins.right);
        scene.text(Text::new(title, (rect.left, rect.top - 12.0), TITLE_SIZE).bold());
    }
}

/// The middle of the pixel, so that a line of one pixel fills it.
fn crisp(position: f64) -> f64 {
    position.floor() + 0.5
}
