//! What each column of a data set would be taken for, before anything is fitted.
//!
//! One pass over all columns, in memory that does not grow with the rows. The rules are
//! those of [`Schema::learn`](crate::Schema::learn); where it would stop, this goes on and
//! says so.

mod examine;
mod judge;

use std::ops::ControlFlow;

use serde::Serialize;

use crate::ahead::Ahead;
use crate::blocks::{BlockOptions, Labels, Unseen};
use crate::cells::At;
use crate::column::{Column, ColumnKind, MatrixArray, Treat};
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::picks::PickList;
use crate::request::{Missing, Request, expand, find, is_among, label_columns};
use crate::schema::{Progress, Schema};
use crate::source::Source;
use examine::Examined;

/// Rows read at a time.
const ROWS: usize = 8192;
/// Pieces read ahead.
const DEPTH: usize = 3;
/// Rows of which some may rise.
const LOOKED: usize = 1000;
/// Of fewer rows than this nothing is said about indexes and constants.
const ENOUGH: usize = 100;

/// What the columns of a data set would be taken for.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The number of rows.
    pub rows: u64,
    /// The columns in their order.
    pub columns: Vec<ColumnReport>,
}

/// What one column would be taken for.
#[derive(Clone, Debug)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Holds,
    /// What it is for.
    pub role: ColumnRole,
    /// How many different values it has.
    pub values: u64,
    /// Whether there are more than `values`, which were not counted.
    pub more: bool,
    /// How many values are missing.
    pub missing: u64,
    /// How many columns of numbers it becomes: one for each category or class, none where it
    /// cannot be used.
    pub width: usize,
    /// Whether a fit with this column would stop, and why.
    pub refused: Option<Refused>,
    /// What was assumed and what to do, the most important first.
    pub remarks: Vec<String>,
}

/// Why a fit would stop at a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Refused {
    /// For what it holds.
    Contents,
    /// For its missing values alone.
    Gaps,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Numbers.
    Number,
    /// Numbers that are written as text.
    TextNumber,
    /// Dates or times.
    Date,
    /// Categories of a feature.
    Category,
    /// Classes of a label.
    Class,
    /// Words with very many different values.
    Identifier,
    /// One value everywhere.
    Constant,
    /// Nothing but missing values.
    Empty,
    /// Something that cannot be learned from.
    Other,
}

impl Holds {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::TextNumber => "text-number",
            Self::Date => "date",
            Self::Category => "category",
            Self::Class => "class",
            Self::Identifier => "identifier",
            Self::Constant => "constant",
            Self::Empty => "empty",
            Self::Other => "other",
        }
    }
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnRole {
    /// To learn from.
    Feature,
    /// To keep.
    Target,
    /// To hide.
    Sensitive,
    /// The weights of rows.
    Weight,
    /// Nothing.
    Dropped,
}

impl ColumnRole {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Target => "target",
            Self::Sensitive => "sensitive",
            Self::Weight => "weight",
            Self::Dropped => "dropped",
        }
    }

    fn is_label(self) -> bool {
        matches!(self, Self::Target | Self::Sensitive)
    }
}

impl Source {
    /// Numeric features whose whole numbers rise from row to row at the beginning of the
    /// data, as the number of a row does.
    pub fn rising_features(&self, schema: &Schema) -> Result<Vec<String>> {
        let options = BlockOptions {
            rows: LOOKED,
            unseen: Unseen::Ignore,
            labels: Labels::Skip,
            missing: Some(Missing::Mean),
            ..BlockOptions::default()
        };
        let Some(block) = self.blocks(schema, &options)?.next().transpose()? else {
            return Ok(Vec::new());
        };
        let dense = schema.dense_features().collect::<Vec<_>>();
        let (width, rows) = (dense.len().max(1), block.rows);
        let rises = |column: usize| {
            let mut values = block.dense.iter().skip(column).step_by(width);
            let mut last = values.next();
            values.all(|v| last.replace(v).is_some_and(|before| v > before))
        };
        let whole = |name: &str| self.column(name).is_some_and(|c| c.kind == ColumnKind::Integer);
        let rising = dense.iter().enumerate().filter(|(j, f)| whole(&f.name) && rises(*j));
        Ok(match rows >= ENOUGH {
            true => rising.map(|(_, f)| f.name.clone()).collect(),
            false => Vec::new(),
        })
    }

    /// Looks at all columns. The callback is told how far the pass is and may stop it.
    pub fn inspect(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Inspection> {
        let roles = roles(self, request)?;
        let mut picks = PickList::default();
        let columns = self.columns();
        columns.iter().for_each(|c| _ = picks.add(&c.name, ReadAs::Verbatim));
        let tokens = &request.missing_values;
        let mut examined: Vec<Examined> =
            columns.iter().map(|c| Examined::new(c.kind, self.is_text(), tokens)).collect();
        let mut rows = 0;
        for piece in Ahead::spawn(DEPTH, self.pieces(picks.picks, &[], ROWS)) {
            let piece = piece?;
            rows += piece.batch.num_rows() as u64;
            let at = At { path: self.path(piece.file), first_row: piece.first_row, kept: None };
            let arrays = examined.iter_mut().zip(piece.batch.columns());
            arrays.for_each(|(column, array)| column.see(array, at));
            if progress(Progress { rows, total: self.rows_hint() }).is_break() {
                return Err(DataError::Interrupted);
            }
        }
        let reports = columns.iter().zip(roles).zip(examined);
        let columns = reports
            .map(|((column, (role, treat)), seen)| {
                judge::report(self, request, column, role, treat, seen)
            })
            .collect();
        Ok(Inspection { rows, columns })
    }
}

/// The role of each column, and the treatment that was asked for.
fn roles(source: &Source, request: &Request) -> Result<Vec<(ColumnRole, Option<Treat>)>> {
    let parts = |refs| -> Result<Vec<crate::ColumnRef>> {
        Ok(label_columns(source, refs)?.into_iter().flat_map(|label| label.columns).collect())
    };
    let targets = parts(request.targets.columns())?;
    let sensitives = parts(&request.sensitives)?;
    let features = request.features.as_ref().map(|f| expand(source, f)).transpose()?;
    let named = targets.iter().chain(&sensitives).chain(features.iter().flatten());
    let names = request.drop.iter().chain(&request.categorical).chain(&request.weight);
    for name in named.map(|r| &r.name).chain(names) {
        find(source, name)?;
    }
    let role = |column: &Column| {
        let among = |refs: &[crate::ColumnRef]| {
            refs.iter().find(|r| r.name == column.name).map(|r| r.treat)
        };
        let matrix_label = matches!(column.array, Some(MatrixArray::Y | MatrixArray::S));
        let categorical = is_among(&request.categorical, &column.name).then_some(Treat::Class);
        if let Some(treat) = among(&targets) {
            (ColumnRole::Target, treat)
        } else if let Some(treat) = among(&sensitives) {
            (ColumnRole::Sensitive, treat)
        } else if request.weight.as_deref().is_some_and(|w| w.trim() == column.name) {
            (ColumnRole::Weight, None)
        } else if is_among(&request.drop, &column.name) {
            (ColumnRole::Dropped, None)
        } else {
            match features.as_deref().map(among) {
                Some(Some(treat)) => (ColumnRole::Feature, categorical.or(treat)),
                None if !matrix_label => (ColumnRole::Feature, categorical),
                _ => (ColumnRole::Dropped, None),
            }
        }
    };
    Ok(source.columns().iter().map(role).collect())
}
