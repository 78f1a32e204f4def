//! The first pass: categories, means, standard deviations and missing values.
//!
//! One pass over the used columns only; memory is bounded by the number of
//! different categories.

use std::ops::ControlFlow;

use super::learner::{Learner, feature};
use super::making::LabelLearner;
use super::resolve::resolve;
use super::{Feature, FeatureValues, Schema};
use crate::ahead::Ahead;
use crate::cells::At;
use crate::error::{DataError, Result};
use crate::format::{ReadAs, RowsHint};
use crate::picks::PickList;
use crate::request::{How, LabelOf, Missing, Request, Selected, Selection};
use crate::rows::{leave_out, weights_of};
use crate::source::{Piece, Source};

/// Rows read at a time.
pub(super) const ROWS: usize = 8192;
/// Pieces read ahead.
pub(super) const DEPTH: usize = 3;

/// How far a pass is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The rows done.
    pub rows: u64,
    /// All rows, where that is known or can be guessed.
    pub total: Option<RowsHint>,
}

impl Schema {
    /// Learns the schema in one pass over the data. The callback is told how far it is
    /// and may stop it.
    pub fn learn(
        source: &Source,
        request: &Request,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let mut selection = Selection::new(source, request)?;
        resolve(source, request, &mut selection, progress)?;
        learn(source, request, selection, progress)
    }

    /// Learns everything but the means and standard deviations of numeric features, whose
    /// columns are not read at all. Blocks hold them as they are until
    /// [`Schema::set_spreads`] brings what a later pass has found. Missing values among
    /// them are found by that pass too, so only [`Missing::Error`] can be deferred; other
    /// requests are learned in full.
    pub fn learn_deferred(
        source: &Source,
        request: &Request,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let mut selection = Selection::new(source, request)?;
        resolve(source, request, &mut selection, progress)?;
        let labels = selection.targets.len() + selection.sensitives.len();
        if request.missing != Missing::Error || labels == 0 {
            return learn(source, request, selection, progress);
        }
        let all = selection.features.clone();
        selection.features.retain(|f| f.how == How::Class);
        let mut schema = learn(source, request, selection, progress)?;
        let mut learned = std::mem::take(&mut schema.features).into_iter();
        let unknown = |f: &Selected| Feature {
            name: f.name.clone(),
            missing: 0,
            values: FeatureValues::Number { mean: 0.0, std: 0.0, written: f.written },
        };
        schema.features = all
            .iter()
            .filter_map(|f| match f.how {
                How::Class => learned.next(),
                How::Number | How::Open => Some(unknown(f)),
            })
            .collect();
        Ok(schema)
    }

    /// Sets the mean and the standard deviation of each numeric feature, in order.
    pub fn set_spreads(&mut self, spreads: &[(f64, f64)]) -> Result<()> {
        let numbers = self.features.iter_mut().filter_map(|f| match &mut f.values {
            FeatureValues::Number { mean, std, .. } => Some((mean, std)),
            FeatureValues::Category { .. } => None,
        });
        let mut given = spreads.iter();
        for (mean, std) in numbers {
            if let Some(&spread) = given.next() {
                (*mean, *std) = spread;
            }
        }
        // What was set must be as sound as what is read from a file.
        *self = Self::from_json(&self.to_json()?)?;
        Ok(())
    }
}

fn learn(
    source: &Source,
    request: &Request,
    selection: Selection,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Schema> {
    let mut picks = PickList::default();
    let mut learners = Learners::new(&selection, request, &mut picks);
    let mut rows = 0;
    for piece in Ahead::spawn(DEPTH, source.pieces(picks.picks, &request.missing_values, ROWS)) {
        let piece = piece?;
        rows += piece.batch.num_rows() as u64;
        learners.see(source, piece)?;
        if progress(Progress { rows, total: source.rows_hint() }).is_break() {
            return Err(DataError::Interrupted);
        }
    }
    if rows == 0 {
        return Err(DataError::NoRows { path: source.path(0).to_owned() });
    }
    learners.finish(request, rows)
}

/// What is being learned about all columns.
struct Learners {
    features: Vec<Learner>,
    targets: Vec<LabelLearner>,
    sensitives: Vec<LabelLearner>,
    weight: Option<(String, usize)>,
    total_weight: f64,
    /// The columns whose missing values cost the row.
    needed: Vec<usize>,
    kept: u64,
    scratch: Vec<f64>,
}

impl Learners {
    fn new(selection: &Selection, request: &Request, picks: &mut PickList) -> Self {
        let features: Vec<Learner> =
            selection.features.iter().map(|c| Learner::new(c, false, request, picks)).collect();
        let mut learners = |labels: &[LabelOf<Selected>]| -> Vec<LabelLearner> {
            labels.iter().map(|label| LabelLearner::new(label, request, picks)).collect()
        };
        let targets = learners(&selection.targets);
        let sensitives = learners(&selection.sensitives);
        let weight =
            selection.weight.as_ref().map(|name| (name.clone(), picks.add(name, ReadAs::Number)));
        let labels = targets.iter().chain(&sensitives).flat_map(|l| &l.columns).map(|l| l.place);
        let labels = labels.chain(weight.as_ref().map(|w| w.1));
        let needed = match request.missing {
            Missing::Error => Vec::new(),
            Missing::Mean => labels.collect(),
            Missing::Drop => labels.chain(features.iter().map(|f| f.place)).collect(),
        };
        Self {
            features,
            targets,
            sensitives,
            weight,
            total_weight: 0.0,
            needed,
            kept: 0,
            scratch: Vec::new(),
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Learner> {
        let labels = self.targets.iter_mut().chain(&mut self.sensitives);
        self.features.iter_mut().chain(labels.flat_map(|l| &mut l.columns))
    }

    fn see(&mut self, source: &Source, piece: Piece) -> Result<()> {
        let path = source.path(piece.file);
        let whole = At { path, first_row: piece.first_row, kept: None };
        for learner in self.all() {
            learner.count(piece.batch.column(learner.place), whole);
        }
        let all = piece.batch;
        let (batch, kept) = leave_out(all.clone(), &self.needed)
            .map_err(|e| DataError::damaged(path, "data", e))?;
        if let Some(kept) = &kept {
            self.features.iter_mut().for_each(|f| f.see_left_out(all.column(f.place), kept));
        }
        let at = At { kept: kept.as_deref(), ..whole };
        let weights = self.weights(&batch, at)?;
        self.kept += batch.num_rows() as u64;
        let mut scratch = std::mem::take(&mut self.scratch);
        for learner in self.all() {
            learner.see(batch.column(learner.place), at, weights.as_deref(), &mut scratch)?;
        }
        self.scratch = scratch;
        let mut labels = self.targets.iter_mut().chain(&mut self.sensitives);
        labels.try_for_each(|label| label.see(&batch))
    }

    fn weights(
        &mut self,
        batch: &arrow_array::RecordBatch,
        at: At<'_>,
    ) -> Result<Option<Vec<f64>>> {
        let Some((name, place)) = &self.weight else { return Ok(None) };
        let weights = weights_of(batch.column(*place), name, at)?;
        self.total_weight += weights.iter().sum::<f64>();
        Ok(Some(weights))
    }

    /// Refuses all features that nothing can be learned from in one message.
    fn check_features(&self, request: &Request, rows: u64) -> Result<()> {
        let unusable = |f: &&Learner| f.unusable(rows).is_some();
        let (bad, good): (Vec<&Learner>, Vec<&Learner>) = self.features.iter().partition(unusable);
        let gaps = request.missing == Missing::Error && good.iter().any(|f| f.has_gaps());
        let columns: Vec<_> = bad.iter().filter_map(|f| f.unusable(rows)).collect();
        match columns.is_empty() {
            true => Ok(()),
            false => Err(DataError::UnusableColumns { columns, rows, gaps }),
        }
    }

    fn finish(self, request: &Request, rows: u64) -> Result<Schema> {
        self.check_features(request, rows)?;
        let labels = self.targets.iter().chain(&self.sensitives).flat_map(|l| &l.columns);
        for learner in self.features.iter().chain(labels) {
            learner.check(rows, request)?;
        }
        if self.kept == 0 {
            return Err(DataError::AllRowsDropped { rows });
        }
        if let Some((column, _)) =
            self.weight.as_ref().filter(|_| self.total_weight <= 0.0 && !request.part)
        {
            return Err(DataError::NoWeight { column: column.clone() });
        }
        Ok(Schema {
            rows: self.kept,
            dropped: rows - self.kept,
            features: self.features.into_iter().map(feature).collect(),
            targets: self.targets.into_iter().map(LabelLearner::finish).collect::<Result<_>>()?,
            target_is_features: request.targets.are_features(),
            sensitives: self
                .sensitives
                .into_iter()
                .map(LabelLearner::finish)
                .collect::<Result<_>>()?,
            weight: self.weight.map(|(name, _)| name),
            missing: request.missing,
            missing_values: request.missing_values.clone(),
        })
    }
}
