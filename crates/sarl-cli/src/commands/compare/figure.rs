//! What is kept against what leaks, drawn.

use sarl_report::{Axis, Colour, Figure, Legend, Line, Panel, Points, Rule, Shape, Style};

use super::entry::{Entry, Found, Method};
use super::report::Report;

/// The stem of its files.
pub const NAME: &str = "trade-off";
/// The radius of the markers of single points.
const SIZE: f64 = 4.5;

/// Our encoders as lines, the others as points.
pub fn figure(report: &Report<'_>) -> Figure {
    let (figure, place) = match report.target() {
        Some(_) => trade_off(report),
        None => leakage(report),
    };
    figure.legend(Legend::Right).panel(marks(report, place))
}

/// An empty panel, and where an encoder stands in it.
type Place<'r> = (Panel, Box<dyn Fn(&Found) -> Option<(f64, f64)> + 'r>);

/// What is kept against what leaks.
fn trade_off<'r>(report: &'r Report<'_>) -> (Figure, Place<'r>) {
    let (x, guess) = worst_axis(report);
    let (name, score) = (report.target().unwrap_or_default(), report.target_score());
    let y = Axis::new(format!("{name}: {score} of the best probe")).percent();
    let figure = Figure::new(NAME, "What is kept against what leaks").caption(
        "Each point is an encoder on the test rows, mean over seeds: how well the best probe tells the target, against how well the best probe tells what was to be hidden. Up and left is better.",
    );
    let panel = Panel::new("", x, y).mark(Rule::vertical("guessing", guess));
    (figure, (panel, Box::new(|f| Some((report.worst_place(f), f.target.as_ref()?.mean)))))
}

/// Without a target: what the worst case finds beyond the linear leakage.
fn leakage<'r>(report: &'r Report<'_>) -> (Figure, Place<'r>) {
    let (y, guess) = worst_axis(report);
    let x = Axis::new("linear leakage, training rows").percent();
    let figure = Figure::new(NAME, "Worst case against linear leakage").caption(
        "Each point is an encoder, mean over seeds: how well the best probe tells what was to be hidden on the test rows, against the share of its variance that least squares explain on the training rows. Down is better.",
    );
    let panel = Panel::new("", x, y).mark(Rule::horizontal("guessing", guess));
    (figure, (panel, Box::new(|f| Some((f.leakage, report.worst_place(f))))))
}

/// The axis of the worst case, and where guessing lies on it.
fn worst_axis(report: &Report<'_>) -> (Axis, f64) {
    match &report.guesses.sensitives[..] {
        [(name, guess)] => {
            let score = report.score_of(report.attributes.targets);
            (Axis::new(format!("{name}: {score} of the best probe")).percent(), *guess)
        }
        _ => (Axis::new("worst case beyond guessing").percent(), 0.0),
    }
}

fn marks(report: &Report<'_>, (mut panel, place): Place<'_>) -> Panel {
    let same = |a: &Entry, b: &Entry| a.method.name() == b.method.name();
    let mut others = 0;
    for entries in report.entries.chunk_by(same) {
        let Some(method) = entries.first().map(|e| e.method) else { continue };
        let points = entries.iter().filter_map(|e| place(e.found.as_ref()?)).collect();
        let title = method.title();
        panel = match method {
            Method::Raw => {
                let raw = Points::new(title, points).look(Colour::Neutral, Shape::Cross);
                panel.mark(raw.size(SIZE))
            }
            Method::Linear => panel.mark(Line::new(title, points).style(Style::nth(0))),
            Method::Kernel => panel.mark(Line::new(title, points).style(Style::nth(1))),
            Method::Rival(_) => {
                let (colour, shape) = look(others);
                others += 1;
                panel.mark(Points::new(title, points).look(colour, shape).size(SIZE))
            }
        };
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
