//! What is kept against what leaks, drawn.

use sarl_eval::audit::LEVEL;
use sarl_eval::{Labels, intervals};
use sarl_report::{Axis, Colour, Cross, Figure, Legend, Panel, Points, Rule, Shape, Style};

use super::Compared;
use super::entry::{Best, Entry, Found, Method, Setting};

/// The stem of the files of the chart.
pub const NAME: &str = "trade-off";
/// The radius of the markers of single points.
const SIZE: f64 = 4.5;

impl Compared {
    /// Every encoder as a point with its 95 % intervals.
    pub fn figure(&self) -> Figure {
        let (figure, place) = match self.target() {
            Some(_) => trade_off(self),
            None => leakage(self),
        };
        figure.legend(Legend::Right).panel(marks(self, place))
    }
}

/// The least that an axis of accuracies covers: less is noise.
const SPAN: f64 = 0.05;

/// An empty panel, and where an encoder stands in it, with its error bars.
type Place<'r> = (Panel, Box<dyn Fn(&Found) -> Option<Placed> + 'r>);

/// A point with its error bars.
type Placed = ((f64, f64), Cross);

/// What is kept against what leaks.
fn trade_off<'r>(compared: &'r Compared) -> (Figure, Place<'r>) {
    let (x, guess) = worst_axis(compared);
    let (name, score) = (compared.target().unwrap_or_default(), compared.score_of(0));
    let y = Axis::new(format!("{score} of predicting {name} (keep)")).percent().least(SPAN);
    let figure = Figure::new(NAME, "What is kept against what leaks").caption(
        "Each point is an encoder on the test rows, mean over seeds: how well the strongest attacker predicts what was to be kept, against how well the strongest predicts what was to be hidden. Bars are 95 % intervals of that many test rows. Up and left is better.",
    );
    let panel = Panel::new("", x, y).mark(Rule::vertical("guessing", guess).named());
    let place = move |f: &Found| {
        let target = f.target.as_ref()?;
        let cross = Cross { x: worst_ends(compared, f), y: ends(compared, 0, target) };
        Some(((compared.worst_place(f), target.score.mean), cross))
    };
    (figure, (panel, Box::new(place)))
}

/// Without a target: what the worst case finds beyond the linear leakage.
fn leakage<'r>(compared: &'r Compared) -> (Figure, Place<'r>) {
    let (y, guess) = worst_axis(compared);
    let x = Axis::new("linear leakage, training rows").percent();
    let figure = Figure::new(NAME, "Worst case against linear leakage").caption(
        "Each point is an encoder, mean over seeds: how well the strongest attacker predicts what was to be hidden on the test rows, against the share of its variation that least squares explain on the training rows. Bars are 95 % intervals of that many test rows. Down is better.",
    );
    let panel = Panel::new("", x, y).mark(Rule::horizontal("guessing", guess).named());
    let place = move |f: &Found| {
        let cross = Cross { x: None, y: worst_ends(compared, f) };
        Some(((f.leakage, compared.worst_place(f)), cross))
    };
    (figure, (panel, Box::new(place)))
}

/// The axis of the worst case, and where guessing lies on it.
fn worst_axis(compared: &Compared) -> (Axis, f64) {
    match &compared.guesses.sensitives[..] {
        [(name, guess)] => {
            let score = compared.score_of(compared.attributes.targets);
            (
                Axis::new(format!("{score} of predicting {name} (hide)")).percent().least(SPAN),
                *guess,
            )
        }
        _ => (Axis::new("worst case beyond guessing").percent().least(SPAN), 0.0),
    }
}

/// The 95 % interval of a share of test rows; of a number nothing is known without its rows.
fn ends(compared: &Compared, attribute: usize, best: &Best) -> Option<(f64, f64)> {
    let Labels::Classes { codes, .. } = &compared.attributes.all.get(attribute)?.test else {
        return None;
    };
    let [low, high] = intervals::share(best.score.mean.clamp(0.0, 1.0), codes.len(), LEVEL);
    Some((low, high))
}

/// The same of the worst case, where the figure shows it.
fn worst_ends(compared: &Compared, found: &Found) -> Option<(f64, f64)> {
    let hidden = compared.guesses.sensitives.iter().position(|s| s.0 == found.worst.attribute)?;
    let (low, high) = ends(compared, compared.attributes.targets + hidden, &found.worst.best)?;
    let off = found.worst.best.score.mean - compared.worst_place(found);
    Some((low - off, high - off))
}

fn marks(compared: &Compared, (mut panel, place): Place<'_>) -> Panel {
    let same = |a: &Entry, b: &Entry| a.method.name() == b.method.name();
    let mut others = 0;
    for entries in compared.entries.chunk_by(same) {
        let Some(method) = entries.first().map(|e| e.method) else { continue };
        let found = entries.iter().filter_map(|e| Some((e.setting, place(e.found.as_ref()?)?)));
        let found: Vec<(Setting, Placed)> = found.collect();
        let (colour, shape) = match method {
            Method::Raw => (Colour::Neutral, Shape::Cross),
            Method::Linear => (Colour::Series(0), Shape::Circle),
            Method::Kernel => (Colour::Series(1), Shape::Square),
            Method::Rival(_) => {
                others += 1;
                look(others - 1)
            }
        };
        // One name for each method; the settings are said of each point.
        let middle = found.len() / 2;
        let name = |i: usize| if i == middle { method.title().to_owned() } else { String::new() };
        let marks = Points::new(method.title(), found.iter().map(|f| f.1.0).collect())
            .errors(found.iter().map(|f| f.1.1).collect())
            .labels((0..found.len()).map(name).collect())
            .tips(found.iter().map(|f| f.0.words()).collect());
        panel = panel.mark(marks.look(colour, shape).size(SIZE));
    }
    panel
}

/// The look of the n-th of the others: never in a colour of ours, and no pair of colour and shape
/// twice among the first 25.
fn look(n: usize) -> (Colour, Shape) {
    const OURS: usize = 2;
    const LEFT: usize = 5;
    let shape = Style::nth(n + n / LEFT).marker;
    (Colour::Series(OURS + n % LEFT), shape.unwrap_or_default())
}
