//! A front to play with.

use super::{Note, Verdict};
use crate::figure::Figure;

/// A front with a slider over its positions.
#[derive(Debug, Clone)]
pub struct Explorer {
    /// The encoder's name.
    pub name: String,
    /// What it is, in a line.
    pub words: String,
    /// What it keeps, hides and guarantees, in plain language.
    pub summary: Vec<Note>,
    /// What the commands at its positions make, in a few words.
    pub makes: String,
    /// Where the slider can stand, in ascending leakage.
    pub positions: Vec<Position>,
    /// Where it stands at first.
    pub start: usize,
    /// What that place is, in a few words.
    pub start_is: String,
    /// The front in several units, of which the reader chooses one.
    pub fronts: Vec<Front>,
    /// What else is drawn over the positions.
    pub charts: Vec<Chart>,
    /// Some rows, encoded at every position.
    pub embedding: Option<Embedding>,
    /// What the encoder looks at, at every position.
    pub weights: Option<Weights>,
}

/// One trade-off.
#[derive(Debug, Clone)]
pub struct Position {
    /// What came of it.
    pub verdict: Verdict,
    /// The weight of the adversary.
    pub lambda: f64,
    /// The dimensions of z.
    pub dim: usize,
    /// Target loss.
    pub jy: f64,
    /// Adversary loss: the α of the constraint.
    pub js: f64,
    /// The share of the attainable that the target keeps.
    pub utility: f64,
    /// The share of the sensitive variance that an adversary explains.
    pub leakage: f64,
    /// The losses on rows that were held out.
    pub heldout: Option<HeldOut>,
    /// No encoder does better than this.
    pub dual_bound: f64,
    /// The distance from it.
    pub gap: f64,
    /// Which loss it bounds.
    pub bound_on: Bound,
    /// How it was reached, in a few words.
    pub method: String,
    /// The command that makes this encoder.
    pub command: String,
    /// What else is said here, by name.
    pub says: Vec<(&'static str, String)>,
}

/// Which loss a certificate bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The least target loss at this leakage.
    Target,
    /// The greatest adversary loss at this utility.
    Adversary,
}

/// Losses on rows that were held out, with their shares.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut {
    /// Target loss.
    pub jy: f64,
    /// Adversary loss.
    pub js: f64,
    /// Standard deviation of the target loss over folds.
    pub jy_sd: f64,
    /// Standard deviation of the adversary loss over folds.
    pub js_sd: f64,
    /// The share of the attainable that the target keeps.
    pub utility: f64,
    /// The share of the sensitive variance that an adversary explains.
    pub leakage: f64,
    /// Standard deviation of the utility over folds.
    pub utility_sd: f64,
    /// Standard deviation of the leakage over folds.
    pub leakage_sd: f64,
}

/// The front in some units.
#[derive(Debug, Clone)]
pub struct Front {
    /// The name of the choice.
    pub name: String,
    /// The front.
    pub chart: Chart,
}

/// A figure, and what in it follows the slider.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What is drawn.
    pub figure: Figure,
    /// For each panel, what follows the slider; empty where nothing does.
    pub cursors: Vec<Vec<Cursor>>,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
}

impl From<Figure> for Chart {
    fn from(figure: Figure) -> Self {
        Chart { figure, cursors: Vec::new(), wide: false }
    }
}

/// A place for each position of the slider.
#[derive(Debug, Clone)]
pub struct Cursor {
    /// What it marks.
    pub name: String,
    /// Across.
    pub x: Vec<f64>,
    /// Up; empty for a vertical line.
    pub y: Vec<f64>,
}

/// Rows encoded at every position: the first two directions.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// The number of rows.
    pub rows: usize,
    /// Where they come from.
    pub words: String,
    /// The attributes of these rows, what is hidden first.
    pub labels: Vec<Values>,
    /// For each position, for each of two directions, for each row. A direction that a position
    /// does not have is zero.
    pub z: Vec<f64>,
}

/// An attribute of some rows.
#[derive(Debug, Clone)]
pub struct Values {
    /// Its name.
    pub name: String,
    /// Whether it is to be hidden.
    pub hidden: bool,
    /// The names of its classes; none for a number.
    pub classes: Vec<String>,
    /// The class or the number of each row.
    pub values: Vec<f64>,
}

/// What the encoder looks at.
#[derive(Debug, Clone)]
pub struct Weights {
    /// What is shown, for the axis.
    pub axis: String,
    /// How to read it.
    pub words: String,
    /// The columns of the table.
    pub columns: Vec<Column>,
    /// For each position, for each of the first two directions (or the one that there is), for each
    /// column: the sum over the column's inputs, that of the positive ones alone and that of the
    /// negative ones alone.
    pub sums: Vec<[f64; 3]>,
    /// Columns that are not listed, because others weigh more.
    pub omitted: usize,
}

/// A column of the table.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether it is one of those to be hidden.
    pub sensitive: bool,
    /// Its categories, if it has them: inputs that were summed.
    pub categories: usize,
}
