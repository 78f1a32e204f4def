//! The page of guarantees against every adversary.

use sarl::Role;
use sarl::cells::{Adversary, CellGoal, Limits};
use sarl_report::page::{Chart, Cursor, Fact, Frame, Note, NoteKind, Page, State, Steps, Verdict};
use sarl_report::page::{Table as Listed, Words};
use sarl_report::{Axis, Colour, Cross, Figure, Panel, Points, Rule, Shape};
use serde_json::Value;

use super::cells;
use super::subject::names;
use super::words::note;
use crate::certificate::{Certified, LIMITS, figures, kept, parts, sentences, whole};
use crate::table::Table;
use crate::words::percent;

/// An advantage from here on is not small.
const LARGE: f64 = 0.1;
/// The least that an axis of scores covers: less is noise.
const SPAN: f64 = 0.05;
/// The radius of markers.
const SIZE: f64 = 4.5;

/// Certified models, in the order of what they are certified to give away at most.
pub struct CertifiedFront<'a> {
    points: Vec<Certified<'a>>,
    /// Which of them was asked for, if one was.
    fitted: Option<usize>,
    goal: &'a CellGoal,
    table: Option<&'a Table>,
}

impl<'a> CertifiedFront<'a> {
    /// Models that were certified together, and the model that was asked for and certified by
    /// itself, if one was.
    pub fn new(
        together: impl IntoIterator<Item = Certified<'a>>,
        fitted: Option<Certified<'a>>,
        goal: &'a CellGoal,
        table: Option<&'a Table>,
    ) -> Self {
        let alike = |c: &Certified<'_>| {
            fitted.is_some_and(|f| {
                f.cells.partition() == c.cells.partition() && f.cells.centres() == c.cells.centres()
            })
        };
        let others = together.into_iter().filter(|c| !alike(c)).map(|c| (c, false));
        let mut all: Vec<(Certified<'a>, bool)> = others.chain(fitted.map(|f| (f, true))).collect();
        all.sort_by(|a, b| a.0.advantage().total_cmp(&b.0.advantage()));
        let fitted = all.iter().position(|(_, fitted)| *fitted);
        let points = all.into_iter().map(|(c, _)| c).collect();
        CertifiedFront { points, fitted, goal, table }
    }

    /// Every point, in the order of the slider.
    pub fn json(&self) -> Vec<Value> {
        let point = |(k, point): (usize, &Certified<'_>)| {
            let mut value = point.json();
            if self.fitted == Some(k) {
                value["fitted"] = true.into();
            }
            value
        };
        self.points.iter().enumerate().map(point).collect()
    }

    /// The page.
    pub fn page(&self, subtitle: String, about: Vec<Fact>) -> Page {
        let shown = self.points.get(self.start());
        let title = shown.map_or("No cells".to_owned(), |p| {
            let [kept, hidden] = [Role::Target, Role::Sensitive].map(|r| names(p.model, r));
            format!("Keep {kept}, hide {hidden}")
        });
        Page {
            title,
            subtitle,
            verdict: Some(self.verdict()),
            summary: shown.map(|p| self.summary(p)).unwrap_or_default(),
            steps: (!self.points.is_empty()).then(|| self.steps()),
            about,
            ..Page::default()
        }
    }

    /// Where the slider starts: at the fit, else where most is kept of what gives little away.
    fn start(&self) -> usize {
        let little = self.points.iter().rposition(|p| p.advantage() < LARGE);
        self.fitted.or(little).unwrap_or(0)
    }

    fn verdict(&self) -> Verdict {
        let fitted = self.fitted.and_then(|k| self.points.get(k));
        match (fitted, self.points.first(), self.points.last()) {
            (Some(fitted), ..) => Verdict {
                state: state(fitted),
                text: sentences(fitted.certificate).replace('\n', " "),
            },
            (None, Some(first), Some(last)) => {
                let text = format!(
                    "With {} confidence, no adversary that sees only z, however powerful, exceeds \
                     these limits on rows drawn like these: from an advantage of {} where the target \
                     score is {} to {} where it is {}.",
                    whole(self.goal.confidence),
                    percent(first.advantage()),
                    percent(first.utility()),
                    percent(last.advantage()),
                    percent(last.utility()),
                );
                // Which point is used is left to the reader.
                Verdict { state: State::Open, text }
            }
            _ => Verdict {
                state: State::Open,
                text: "No cells were found that keep anything.".to_owned(),
            },
        }
    }

    /// Kept, hidden, guaranteed, not guaranteed: of the fit, or of the front.
    fn summary(&self, shown: &Certified<'_>) -> Vec<Note> {
        let fitted = self.fitted.is_some();
        let which = if fitted { "" } else { "Where the slider starts: " };
        let seen: Vec<String> = shown
            .certificate
            .attributes
            .iter()
            .map(|a| {
                let best = a.counts.observed().balanced_accuracy;
                format!("{}: {} balanced accuracy", a.name, percent(best))
            })
            .collect();
        let hidden = format!(
            "{which}What the best of all adversaries reaches on the rows that certify, if it knows \
             them: {}. More than that is allowed for by the limit.",
            seen.join("; ")
        );
        let guaranteed = format!(
            "{} {}",
            match fitted {
                true =>
                    "The limit above is for any adversary: any model, any effort, any number of \
                         rows to learn from.",
                false =>
                    "The limits are for any adversary: any model, any effort, any number of \
                          rows to learn from.",
            },
            parts(shown.certificate)
        );
        let say = |kind, title: &str, text: String| note(kind, title, vec![Words::Text(text)]);
        vec![
            say(
                NoteKind::Kept,
                "What is kept",
                format!("{which}{}", kept(shown.certificate).join(" ")),
            ),
            say(NoteKind::Hidden, "What was seen", hidden),
            say(NoteKind::Guaranteed, "What is guaranteed", guaranteed),
            say(NoteKind::NotGuaranteed, "What is not guaranteed", LIMITS.to_owned()),
        ]
    }

    fn steps(&self) -> Steps {
        let confidence = whole(self.goal.confidence);
        let mut text = vec![
            "Each point is an encoder whose z is cut into cells. Right of what was seen on the rows \
             that certify lies what no adversary exceeds. Up and left is better."
                .to_owned(),
        ];
        text.push(match self.fitted {
            Some(_) => format!(
                "The limits of the points of the front hold together with {confidence} confidence \
                 among themselves. That of the fitted model holds with {confidence} by itself. Both \
                 statements hold together with {}.",
                whole((2.0 * self.goal.confidence - 1.0).max(0.0))
            ),
            None => format!("The limits of all points hold together with {confidence} confidence."),
        });
        let frames = self.points.iter().enumerate().map(|(k, p)| self.frame(k, p));
        Steps {
            title: "The certified front".to_owned(),
            text,
            label: "Certified front".to_owned(),
            ends: ["hides more".to_owned(), "keeps more".to_owned()],
            chart: self.chart(),
            frames: frames.collect(),
            start: self.start(),
            start_is: self.fitted.map_or(String::new(), |_| "your model".to_owned()),
        }
    }

    fn frame(&self, k: usize, point: &Certified<'_>) -> Frame {
        let fitted = self.fitted == Some(k);
        let title = match fitted {
            true => "The fitted model".to_owned(),
            false => format!("Point {} of {}", k + 1, self.points.len()),
        };
        let (header, rows) = figures(point.certificate);
        let mut text: Vec<String> =
            sentences(point.certificate).lines().map(str::to_owned).collect();
        text.extend(kept(point.certificate));
        let title_of = "What no adversary exceeds, and what was seen".to_owned();
        Frame {
            title,
            keys: vec![
                ("At most".to_owned(), percent(point.advantage())),
                ("Seen".to_owned(), percent(point.observed())),
                ("Score".to_owned(), percent(point.utility())),
            ],
            text,
            charts: vec![cells::chart(point, self.table)],
            tables: vec![Listed { title: title_of, header, rows, names: 2 }],
        }
    }

    /// What is kept against what any adversary gains.
    fn chart(&self) -> Chart {
        let kept = self.points.first().map_or(String::new(), |p| names(p.model, Role::Target));
        let x = Axis::new("advantage of any adversary over guessing").percent().least(SPAN);
        let y = Axis::new(format!("score of predicting {kept}, rows that certify"));
        let mut panel = Panel::new("", x, y.percent().least(SPAN));
        if let (Adversary::Advantage, Limits::Each(limit)) =
            (self.goal.adversary, &self.goal.limits)
            && self.fitted.is_some()
        {
            panel = panel.mark(Rule::vertical("your limit", *limit).named());
        }
        let guess = self.points.first().map(Certified::guess).filter(|g| g.is_finite());
        panel =
            guess.into_iter().fold(panel, |p, g| p.mark(Rule::horizontal("without z", g).named()));
        let of = |fitted: bool| {
            let all = self.points.iter().enumerate();
            all.filter(move |(k, _)| (self.fitted == Some(*k)) == fitted).map(|(_, p)| p)
        };
        let seen: Vec<(f64, f64)> =
            self.points.iter().map(|p| (p.observed(), p.utility())).collect();
        let reach = |p: &Certified<'_>| Cross { x: Some((p.observed(), p.advantage())), y: None };
        let seen = Points::new("seen on the rows that certify", seen)
            .errors(self.points.iter().map(reach).collect())
            .look(Colour::Neutral, Shape::Cross);
        panel = panel.mark(seen.size(SIZE));
        let marks = [
            ("certified: no adversary has more", false, Colour::Series(0), Shape::Circle),
            ("the fitted model", true, Colour::Series(1), Shape::Diamond),
        ];
        for (name, fitted, colour, shape) in marks {
            let places: Vec<(f64, f64)> =
                of(fitted).map(|p| (p.advantage(), p.utility())).collect();
            if !places.is_empty() {
                let tips = of(fitted).map(|p| format!("{} cells", p.cells.count())).collect();
                panel =
                    panel.mark(Points::new(name, places).look(colour, shape).size(SIZE).tips(tips));
            }
        }
        let cursor = Cursor {
            name: "the slider".to_owned(),
            x: self.points.iter().map(Certified::advantage).collect(),
            y: self.points.iter().map(Certified::utility).collect(),
        };
        let figure = Figure::new("certified", "What is kept against what any adversary gains")
            .caption(
                "Where several attributes are hidden, the advantage is that of the one that is \
                 given away most. Where several targets are kept, the score is their mean.",
            );
        Chart { cursors: vec![vec![cursor]], ..figure.panel(panel).into() }
    }
}

/// Bad where even the least that can be is large.
fn state(point: &Certified<'_>) -> State {
    let (most, seen) = (point.advantage(), point.observed());
    match (most < LARGE, seen - (most - seen) >= LARGE) {
        (true, _) => State::Good,
        (false, false) => State::Open,
        (false, true) => State::Bad,
    }
}
