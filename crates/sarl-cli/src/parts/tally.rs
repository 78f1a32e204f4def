//! What is counted as rows pass by, so that the schema of all parts is that of one pass over them.

use sarl_data::{DataBlock, LabelColumn, LabelFigures, Renumbered, Renumbering};
use serde::{Deserialize, Serialize};

/// The counts of some rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Of each categorical feature the rows of each category.
    features: Vec<Vec<u64>>,
    /// Of each label, targets first.
    labels: Vec<Figures>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Figures {
    /// The rows of each class.
    Counts(Vec<u64>),
    /// Weight, mean and squares about it of each column.
    Spreads(Vec<(f64, f64, f64)>),
}

impl Tally {
    pub fn add(&mut self, block: &DataBlock) {
        self.features.resize(block.codes.len(), Vec::new());
        for (counts, column) in self.features.iter_mut().zip(&block.codes) {
            counts.resize(column.categories, 0);
            count(counts, &column.codes);
        }
        let labels: Vec<&LabelColumn> = block.targets.iter().chain(&block.sensitives).collect();
        if self.labels.is_empty() {
            self.labels = labels.iter().map(|label| Figures::none(label)).collect();
        }
        let weight = |row: usize| block.weights.as_ref().map_or(1.0, |w| w[row]);
        for (figures, label) in self.labels.iter_mut().zip(labels) {
            figures.add(label, &weight);
        }
    }

    /// Takes new numbers for codes, and adds the counts of another part.
    pub fn merge(&mut self, other: &Tally, changes: &Renumbering) {
        let features = self.features.iter_mut().zip(&other.features).zip(&changes.features);
        for ((ours, theirs), change) in features {
            *ours = joined(ours, theirs, change);
        }
        let labels = self.labels.iter_mut().zip(&other.labels).zip(&changes.labels);
        for ((ours, theirs), change) in labels {
            match (ours, theirs, change) {
                (Figures::Counts(ours), Figures::Counts(theirs), Some(change)) => {
                    *ours = joined(ours, theirs, change);
                }
                (Figures::Spreads(ours), Figures::Spreads(theirs), _) => {
                    let pairs = ours.iter_mut().zip(theirs);
                    pairs.for_each(|(ours, theirs)| *ours = together(*ours, *theirs));
                }
                _ => {}
            }
        }
    }

    /// The rows of each category of each feature.
    pub fn features(&self) -> &[Vec<u64>] {
        &self.features
    }

    /// What a schema says of labels.
    pub fn labels(&self) -> Vec<LabelFigures> {
        let figures = |figures: &Figures| match figures {
            Figures::Counts(counts) => LabelFigures::Counts(counts.clone()),
            Figures::Spreads(spreads) => {
                let spread = |&(weight, mean, squares): &(f64, f64, f64)| match weight > 0.0 {
                    true => (mean, (squares / weight).sqrt()),
                    false => (0.0, 0.0),
                };
                LabelFigures::Spreads(spreads.iter().map(spread).collect())
            }
        };
        self.labels.iter().map(figures).collect()
    }
}

impl Figures {
    fn none(label: &LabelColumn) -> Self {
        match label {
            LabelColumn::Class { classes, .. } => Figures::Counts(vec![0; *classes]),
            LabelColumn::Number(_) => Figures::Spreads(vec![(0.0, 0.0, 0.0)]),
            LabelColumn::Numbers { width, .. } => Figures::Spreads(vec![(0.0, 0.0, 0.0); *width]),
        }
    }

    fn add(&mut self, label: &LabelColumn, weight: &dyn Fn(usize) -> f64) {
        match (self, label) {
            (Figures::Counts(counts), LabelColumn::Class { codes, .. }) => count(counts, codes),
            (Figures::Spreads(spreads), LabelColumn::Number(values)) => {
                let rows = values.iter().enumerate().map(|(row, v)| (*v, weight(row)));
                spreads.iter_mut().for_each(|s| *s = together(*s, spread(rows.clone())));
            }
            (Figures::Spreads(spreads), LabelColumn::Numbers { width, values }) => {
                for (j, s) in spreads.iter_mut().enumerate() {
                    let rows = values.chunks_exact((*width).max(1)).enumerate();
                    let rows = rows.filter_map(|(row, v)| Some((*v.get(j)?, weight(row))));
                    *s = together(*s, spread(rows));
                }
            }
            _ => {}
        }
    }
}

fn count(counts: &mut [u64], codes: &[u32]) {
    for &code in codes {
        if let Some(count) = counts.get_mut(code as usize) {
            *count += 1;
        }
    }
}

/// Weight, mean and squares about it.
fn spread(rows: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64, f64) {
    let weight: f64 = rows.clone().map(|(_, w)| w).sum();
    if weight <= 0.0 {
        return (0.0, 0.0, 0.0);
    }
    let mean = rows.clone().map(|(v, w)| v * w).sum::<f64>() / weight;
    let squares = rows.map(|(v, w)| (v - mean) * (v - mean) * w).sum();
    (weight, mean, squares)
}

fn together(a: (f64, f64, f64), b: (f64, f64, f64)) -> (f64, f64, f64) {
    let weight = a.0 + b.0;
    if b.0 <= 0.0 || weight <= 0.0 {
        return a;
    }
    let step = b.1 - a.1;
    (weight, a.1 + step * b.0 / weight, a.2 + b.2 + step * step * a.0 * b.0 / weight)
}

fn joined(ours: &[u64], theirs: &[u64], change: &Renumbered) -> Vec<u64> {
    let mut all = vec![0; change.size];
    for (counts, to) in [(ours, &change.ours), (theirs, &change.theirs)] {
        for (count, place) in counts.iter().zip(to) {
            if let Some(sum) = all.get_mut(*place as usize) {
                *sum += count;
            }
        }
    }
    all
}
