//! Where everything in a block comes from.

use arrow_array::{Array, RecordBatch};

use super::coded::{CodedColumn, LabelPlan};
use super::dense::{DenseColumn, transpose};
use super::{BlockOptions, CodeColumn, DataBlock, Gaps, Labels, Unseen};
use crate::cells::{At, Values};
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::nearest::nearest;
use crate::picks::PickList;
use crate::request::{Missing, unknown_column};
use crate::rows::{gaps, leave_out, weights_of};
use crate::schema::{FeatureValues, Lookup, Schema};
use crate::source::Source;

/// Where everything in a block comes from.
pub(super) struct Plan {
    dense: Vec<DenseColumn>,
    coded: Vec<CodedColumn>,
    targets: Vec<LabelPlan>,
    sensitives: Vec<LabelPlan>,
    weight: Option<(String, usize)>,
    keep: Vec<usize>,
    /// The columns whose missing values cost the row.
    needed: Vec<usize>,
    missing: Missing,
    unseen: Unseen,
    gaps: Gaps,
}

impl Plan {
    pub(super) fn new(
        source: &Source,
        schema: &Schema,
        options: &BlockOptions,
        picks: &mut PickList,
    ) -> Result<Self> {
        let mut add = |name: &str, read| match source.column(name) {
            Some(_) => Ok(picks.add(name, read)),
            None => Err(DataError::NoColumn {
                path: source.path(0).to_owned(),
                column: name.to_owned(),
                nearest: nearest(name, source.columns().iter().map(|c| c.name.as_str())),
            }),
        };
        let (mut dense, mut coded) = (Vec::new(), Vec::new());
        for feature in schema.features() {
            let name = feature.name.clone();
            match &feature.values {
                FeatureValues::Number { mean, written, .. } => {
                    let place = add(&name, ReadAs::number(*written))?;
                    dense.push(DenseColumn { name, place, mean: *mean });
                }
                FeatureValues::Category { kind, values, fill, pooled, spare } => {
                    let place = add(&name, ReadAs::category(*kind))?;
                    let lookup = match pooled {
                        true => Lookup::with_other(values, *kind),
                        false => Lookup::new(values, spare, *kind),
                    };
                    coded.push(CodedColumn {
                        name,
                        place,
                        categories: values.len(),
                        fill: *fill,
                        lookup,
                    });
                }
            }
        }
        let (mut targets, mut sensitives, mut weight) = (Vec::new(), Vec::new(), None);
        if options.labels == Labels::Read {
            targets = schema
                .targets()
                .iter()
                .map(|l| LabelPlan::new(l, &mut add))
                .collect::<Result<_>>()?;
            sensitives = schema
                .sensitives()
                .iter()
                .map(|l| LabelPlan::new(l, &mut add))
                .collect::<Result<_>>()?;
            weight = schema
                .weight()
                .map(|name| Ok((name.to_owned(), add(name, ReadAs::Number)?)))
                .transpose()?;
        }
        let keep = options
            .keep
            .iter()
            .map(|name| add(name, ReadAs::Verbatim).map_err(|_| unknown_column(source, name)));
        let keep = keep.collect::<Result<_>>()?;
        let labels = targets
            .iter()
            .chain(&sensitives)
            .flat_map(LabelPlan::places)
            .chain(weight.as_ref().map(|w| w.1));
        let features = dense.iter().map(|d| d.place).chain(coded.iter().map(|c| c.place));
        let missing = options.missing.unwrap_or(schema.missing());
        let needed = match missing {
            Missing::Error => Vec::new(),
            Missing::Mean => labels.collect(),
            Missing::Drop => labels.chain(features).collect(),
        };
        // Rows that stay in spite of a gap need something in its place.
        let missing = match (missing, options.gaps) {
            (Missing::Drop, Gaps::Mark) => Missing::Mean,
            (missing, _) => missing,
        };
        let (unseen, gaps) = (options.unseen, options.gaps);
        Ok(Self { dense, coded, targets, sensitives, weight, keep, needed, missing, unseen, gaps })
    }

    /// A block without rows, whose dense part may be longer until it is finished.
    pub(super) fn empty(&self, first_row: u64, rows: usize, dense: Vec<f64>) -> DataBlock {
        let code = |c: &CodedColumn| CodeColumn {
            categories: c.categories,
            codes: Vec::with_capacity(rows),
        };
        DataBlock {
            first_row,
            rows: 0,
            dense,
            codes: self.coded.iter().map(code).collect(),
            targets: self.targets.iter().map(LabelPlan::empty).collect(),
            sensitives: self.sensitives.iter().map(LabelPlan::empty).collect(),
            weights: self.weight.as_ref().map(|_| Vec::with_capacity(rows)),
            keep: None,
            gaps: Vec::new(),
        }
    }

    /// Cuts a block to the rows that it has.
    pub(super) fn finish(&self, block: &mut DataBlock) {
        block.dense.truncate(block.rows * self.dense.len());
    }

    /// Appends rows to a block; returns the columns to hand through.
    pub(super) fn append(
        &self,
        block: &mut DataBlock,
        batch: RecordBatch,
        at: At<'_>,
    ) -> Result<Option<RecordBatch>> {
        let damaged = |e| DataError::damaged(at.path, "data", e);
        let (batch, kept) = match self.gaps {
            Gaps::LeaveOut => leave_out(batch, &self.needed).map_err(damaged)?,
            Gaps::Mark => {
                let flags = gaps(&batch, &self.needed).unwrap_or_default();
                let marked = flags.iter().zip(block.rows..).filter(|(gap, _)| **gap);
                block.gaps.extend(marked.map(|(_, row)| row));
                (batch, None)
            }
        };
        let at = At { kept: kept.as_deref(), ..at };
        self.append_dense(block, &batch, at)?;
        for (column, to) in self.coded.iter().zip(&mut block.codes) {
            column.append(&mut to.codes, &batch, Some((self.missing, self.unseen)), at)?;
        }
        for (plan, to) in self.targets.iter().zip(&mut block.targets) {
            plan.append(to, &batch, at)?;
        }
        for (plan, to) in self.sensitives.iter().zip(&mut block.sensitives) {
            plan.append(to, &batch, at)?;
        }
        if let (Some((name, place)), Some(to)) = (&self.weight, &mut block.weights) {
            to.extend(weights_of(batch.column(*place), name, at)?);
        }
        block.rows += batch.num_rows();
        (!self.keep.is_empty()).then(|| batch.project(&self.keep).map_err(damaged)).transpose()
    }

    fn append_dense(&self, block: &mut DataBlock, batch: &RecordBatch, at: At<'_>) -> Result<()> {
        let values = self.dense.iter().map(|column| {
            let array = batch.column(column.place);
            Values::of(array)
                .ok_or_else(|| at.wrong_type(&column.name, array.data_type(), "numbers"))
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let width = self.dense.len();
        let (start, end) = (block.rows * width, (block.rows + batch.num_rows()) * width);
        // A buffer that has served before is long enough, and not cleared again.
        if block.dense.len() < end {
            block.dense.resize(end, 0.0);
        }
        transpose(&mut block.dense[start..end], &self.dense, &values, self.missing, at)
    }
}
