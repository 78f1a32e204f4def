//! Predicted numbers: means by group, and by group among rows whose target is alike.

use super::counts::{pairs, sizes};
use super::groups::fifths;
use super::{Group, Measures, Rates};
use crate::audit::LEVEL;
use crate::intervals::student;

/// The variance of a group of fewer rows is no less than that of all: few predictions that happen to be
/// equal are not sure to be.
const FEW: f64 = 10.0;

/// Predictions of some rows, in standard deviations of the target from its mean.
#[derive(Clone, Copy, Default)]
struct Cell {
    rows: f64,
    sum: f64,
    squares: f64,
}

impl Cell {
    fn add(&mut self, other: Cell) {
        self.rows += other.rows;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn mean(&self) -> f64 {
        self.sum / self.rows
    }

    /// The sum of squares about the mean.
    fn about_mean(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.rows).max(0.0)
    }
}

/// Units in which a target is measured.
#[derive(Clone, Copy)]
pub struct Scale {
    mean: f64,
    sd: f64,
}

impl Scale {
    pub fn new(truth: &[f64]) -> Self {
        let n = truth.len().max(1) as f64;
        let mean = truth.iter().sum::<f64>() / n;
        let sd = (truth.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        Scale { mean, sd: if sd > 0.0 { sd } else { 1.0 } }
    }

    pub fn of(&self, value: f64) -> f64 {
        (value - self.mean) / self.sd
    }
}

/// Predictions by group and by fifth of the target.
pub struct Means {
    scale: Scale,
    /// For each group, each fifth.
    cells: Vec<Vec<Cell>>,
    /// The sum of the target of each group, in its units.
    truth: Vec<f64>,
}

impl Means {
    pub fn new(truth: &[f64], told: &[f64], places: &[usize], groups: usize) -> Self {
        let (scale, parts) = (Scale::new(truth), fifths(truth));
        let count = parts.iter().max().map_or(0, |&p| p as usize + 1);
        let mut all = Means {
            scale,
            cells: vec![vec![Cell::default(); count]; groups],
            truth: vec![0.0; groups],
        };
        for (row, &group) in places.iter().enumerate() {
            let value = scale.of(told[row]);
            let cell = Cell { rows: 1.0, sum: value, squares: value * value };
            all.cells[group][parts[row] as usize].add(cell);
            all.truth[group] += scale.of(truth[row]);
        }
        all
    }

    fn whole(&self, group: usize) -> Cell {
        let mut whole = Cell::default();
        self.cells[group].iter().for_each(|cell| whole.add(*cell));
        whole
    }

    /// All rows of each group; and those of each fifth.
    fn sets(&self) -> [Vec<Vec<Cell>>; 2] {
        let groups = 0..self.cells.len();
        let parts = self.cells.first().map_or(0, Vec::len);
        let alike = |part: usize| self.cells.iter().map(|g| g[part]).collect();
        [vec![groups.map(|g| self.whole(g)).collect()], (0..parts).map(alike).collect()]
    }

    pub fn gaps(&self) -> Measures<f64> {
        let [all, alike] = self.sets().map(|sets| sets.iter().map(|s| gap(s)).fold(0.0, f64::max));
        Measures { demographic_parity: all, equalized_odds: alike, equal_opportunity: None }
    }

    pub fn intervals(&self) -> Measures<[f64; 2]> {
        let [all, alike] = self.sets().map(|sets| interval(&sets));
        Measures { demographic_parity: all, equalized_odds: alike, equal_opportunity: None }
    }

    pub fn group(&self, at: usize, group: u32) -> Group {
        let (whole, Scale { mean, sd }) = (self.whole(at), self.scale);
        Group {
            group,
            rows: whole.rows as usize,
            rates: Rates::Number {
                mean_prediction: mean + sd * whole.mean(),
                mean_truth: mean + sd * self.truth[at] / whole.rows,
            },
        }
    }
}

/// The largest difference of means, of groups that have rows.
fn gap(cells: &[Cell]) -> f64 {
    spread(cells.iter().filter(|c| c.rows > 0.0).map(Cell::mean))
}

/// The largest minus the least.
pub fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    (most - least).max(0.0)
}

fn interval(sets: &[Vec<Cell>]) -> [f64; 2] {
    let known =
        |set: &Vec<Cell>| -> Vec<Cell> { set.iter().copied().filter(|c| c.rows > 0.0).collect() };
    let sets: Vec<Vec<Cell>> = sets.iter().map(known).collect();
    let pairs: usize = sets.iter().map(|s| pairs(s.len())).sum();
    let level = LEVEL / pairs.max(1) as f64;
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for set in sets {
        let freedom: f64 = set.iter().map(|c| c.rows - 1.0).sum();
        let within = set.iter().map(Cell::about_mean).sum::<f64>() / freedom.max(1.0);
        // The square of the standard error of a mean, and its degrees of freedom.
        let error = |c: &Cell| {
            let own = c.about_mean() / (c.rows - 1.0).max(1.0);
            match c.rows < FEW {
                true => (own.max(within) / c.rows, FEW - 1.0),
                false => (own / c.rows, c.rows - 1.0),
            }
        };
        let known: Vec<(f64, (f64, f64))> = set.iter().map(|c| (c.mean(), error(c))).collect();
        for (i, (a, from)) in known.iter().enumerate() {
            for (b, to) in &known[..i] {
                let both = from.0 + to.0;
                let freedom = both * both / (from.0.powi(2) / from.1 + to.0.powi(2) / to.1);
                let freedom = if freedom.is_finite() { freedom } else { from.1.min(to.1) };
                let reach = student(level, freedom) * both.sqrt();
                let [least, most] = sizes((a - b).abs(), reach, reach);
                (low, high) = (low.max(least), high.max(most));
            }
        }
    }
    [low, high]
}
