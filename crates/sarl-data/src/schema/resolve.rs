//! What columns of text hold: words, or numbers and dates that are written as text.
//!
//! Only cells can tell, and one cell can change the answer, so all rows are looked at. A
//! column of words shows itself in its first rows: the pass ends as soon as nothing but
//! words is left.

use std::ops::ControlFlow;

use super::Progress;
use super::learn::{DEPTH, ROWS};
use crate::ahead::Ahead;
use crate::cells::{At, Key, Keys};
use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::picks::PickList;
use crate::request::{How, Request, Selected, Selection};
use crate::source::{Piece, Source};
use crate::text::{Guess, Verdict};

/// One column of text while it is looked at.
struct Open {
    name: String,
    place: usize,
    guess: Guess,
}

/// Decides what the open columns of text hold.
pub(super) fn resolve(
    source: &Source,
    request: &Request,
    selection: &mut Selection,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<()> {
    let mut picks = PickList::default();
    let mut open: Vec<Open> = Vec::new();
    for column in selection.columns_mut().filter(|c| is_open_text(c)) {
        let place = picks.add(&column.name, ReadAs::Text);
        if place == open.len() {
            open.push(Open { name: column.name.clone(), place, guess: Guess::default() });
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    look(source, request, picks, &mut open, progress)?;
    for column in open {
        let verdict = column.guess.verdict();
        let same = |c: &&mut Selected| c.name == column.name && is_open_text(c);
        for selected in selection.features.iter_mut().filter(same) {
            settle(source, selected, &verdict, How::Number)?;
        }
        for selected in selection.labels_mut().filter(same) {
            settle(source, selected, &verdict, How::Open)?;
        }
    }
    Ok(())
}

fn is_open_text(column: &Selected) -> bool {
    column.how == How::Open && column.kind == ColumnKind::Text
}

fn look(
    source: &Source,
    request: &Request,
    picks: PickList,
    open: &mut [Open],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<()> {
    let mut rows = 0;
    for piece in Ahead::spawn(DEPTH, source.pieces(picks.picks, &request.missing_values, ROWS)) {
        let piece = piece?;
        rows += piece.batch.num_rows() as u64;
        open.iter_mut().for_each(|column| see(column, source, &piece));
        if progress(Progress { rows, total: source.rows_hint() }).is_break() {
            return Err(DataError::Interrupted);
        }
        if open.iter().all(|column| column.guess.is_settled()) {
            break;
        }
    }
    Ok(())
}

/// Looks at the cells of a piece; numbers and dates of typed files fit everywhere.
fn see(column: &mut Open, source: &Source, piece: &Piece) {
    let array = piece.batch.column(column.place);
    let text = ColumnKind::of(arrow_array::Array::data_type(array)) == ColumnKind::Text;
    let Some(keys) = Keys::of(array).filter(|_| text && !column.guess.is_settled()) else {
        return;
    };
    let at = At { path: source.path(piece.file), first_row: piece.first_row, kept: None };
    for row in 0..keys.len() {
        if let Some(Key::Text(text)) = keys.get(row, ColumnKind::Text) {
            column.guess.see(text.trim(), at.row(row));
        }
    }
}

/// Gives a column the verdict; numbers are treated as `numbers` says.
fn settle(source: &Source, column: &mut Selected, verdict: &Verdict, numbers: How) -> Result<()> {
    match verdict {
        Verdict::Numbers(written) => {
            column.written = *written;
            column.kind = ColumnKind::Integer;
            let number = column.explicit || written.is_date();
            column.how = if number { How::Number } else { numbers };
        }
        Verdict::Words(Some((row, found))) if column.explicit => {
            return Err(DataError::BadCell {
                path: source.path(0).to_owned(),
                column: column.name.clone(),
                row: *row,
                found: found.clone(),
                expected: "a number or a date",
            });
        }
        Verdict::EitherDate if column.explicit => {
            return Err(DataError::EitherDate { column: column.name.clone() });
        }
        Verdict::Words(_) | Verdict::EitherDate => column.how = How::Class,
    }
    Ok(())
}
