//! From what was seen of a column to what it is taken for, by the rules of learning.

use super::examine::Examined;
use super::{ColumnReport, ColumnRole, ENOUGH, Holds, Refused};
use crate::column::{Column, ColumnKind, Treat};
use crate::request::{Missing, Request};
use crate::schema::{MOST_CATEGORIES, MOST_WHOLE_CLASSES, is_identifier, is_identifier_label};
use crate::source::Source;
use crate::text::{Verdict, Written};

/// A column with at most so many rows of another value is nearly constant.
const HANDFUL: u64 = 5;

pub(super) fn report(
    source: &Source,
    request: &Request,
    column: &Column,
    role: ColumnRole,
    treat: Option<Treat>,
    seen: Examined,
) -> ColumnReport {
    let verdict = verdict(column.kind, &seen);
    let mut judge = Judge {
        request,
        name: &column.name,
        role,
        treat,
        seen,
        refused: None,
        remarks: Vec::new(),
    };
    match verdict {
        Some(Verdict::Words(_) | Verdict::EitherDate) => judge.seen.either_are_values(),
        _ => judge.seen.either_are_gaps(),
    }
    let kind = judge.kind(column, verdict.as_ref());
    judge.say_more(kind, source);
    let (values, more) = judge.values();
    let width = judge.width(kind);
    let Judge { seen, refused, remarks, .. } = judge;
    ColumnReport {
        name: column.name.clone(),
        kind,
        role,
        values,
        more,
        missing: seen.missing,
        width,
        refused,
        remarks,
    }
}

/// What the cells of a column of text say; none for columns of other types.
fn verdict(kind: ColumnKind, seen: &Examined) -> Option<Verdict> {
    match kind {
        ColumnKind::Text | ColumnKind::Written | ColumnKind::Empty => Some(seen.guess.verdict()),
        ColumnKind::Bool => Some(Verdict::Words(None)),
        _ => None,
    }
}

struct Judge<'a> {
    request: &'a Request,
    name: &'a str,
    role: ColumnRole,
    treat: Option<Treat>,
    seen: Examined,
    refused: Option<Refused>,
    remarks: Vec<String>,
}

impl Judge<'_> {
    fn values(&self) -> (u64, bool) {
        match self.seen.values.overflowed() {
            true => (MOST_CATEGORIES as u64, true),
            false => (self.seen.values.len() as u64, false),
        }
    }

    fn say(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    fn refuse(&mut self, remark: impl Into<String>) {
        if self.role != ColumnRole::Dropped {
            self.refused = Some(Refused::Contents);
        }
        self.say(remark);
    }

    fn kind(&mut self, column: &Column, verdict: Option<&Verdict>) -> Holds {
        let (values, more) = self.values();
        if column.kind == ColumnKind::Other {
            self.refuse(format!("{}: cannot be learned from; --drop it", column.type_name));
            return Holds::Other;
        } else if self.seen.cells == 0 {
            self.refuse("no values; --drop it");
            return Holds::Empty;
        } else if values == 1 && !more {
            if self.role.is_label() {
                self.refuse("one value: nothing to tell apart");
            }
            return Holds::Constant;
        }
        match (verdict, self.treat) {
            (_, Some(Treat::Class)) => self.classes(true),
            (Some(Verdict::Numbers(written)), _) => self.written(*written),
            (Some(Verdict::Words(bad)), _) => self.words(bad.as_ref()),
            (Some(Verdict::EitherDate), _) => {
                self.say("dates with month or day first: cannot be told; write 2013-08-31");
                self.words(None)
            }
            (None, _) if column.kind == ColumnKind::Date => Holds::Date,
            (None, _) => self.numbers(column.kind),
        }
    }

    /// Text in which every cell is a number or a date.
    fn written(&mut self, written: Written) -> Holds {
        let few = self.seen.whole && self.seen.bad.is_none() && self.few_whole();
        if self.role.is_label() && !written.is_date() && few && self.treat.is_none() {
            return self.classes(false);
        }
        self.say(written.describe());
        if written.is_date() { Holds::Date } else { Holds::TextNumber }
    }

    fn few_whole(&self) -> bool {
        let (values, more) = self.values();
        !more && values <= MOST_WHOLE_CLASSES as u64
    }

    fn words(&mut self, bad: Option<&(u64, String)>) -> Holds {
        if self.treat.is_some_and(|treat| treat != Treat::Class) {
            self.refuse("not all cells are numbers or dates");
        }
        if let Some((row, text)) = bad.filter(|_| self.seen.mostly_numbers()) {
            self.say(format!(
                "row {row} is `{text}`, unlike the numbers or dates in most rows; if it is a gap: \
                 --missing-values '{text}'"
            ));
        } else if self.seen.short_years() {
            self.say("dates whose years have two digits are not read; write 2013-08-31");
        }
        let either: Vec<String> =
            self.seen.either.keys().take(3).map(|t| format!("`{t}`")).collect();
        if !either.is_empty() {
            let tokens = self.seen.either.keys().cloned().collect::<Vec<_>>().join(",");
            self.say(format!(
                "{} taken as a value; if it is a gap: --missing-values '{tokens}'",
                either.join(", ")
            ));
        }
        self.classes(false)
    }

    /// Categories or classes, unless there are too many.
    fn classes(&mut self, explicit: bool) -> Holds {
        let (values, more) = self.values();
        let cells = self.seen.cells;
        if self.role.is_label() {
            if more || (!explicit && is_identifier_label(values as usize, cells)) {
                self.refuse("too many values for classes");
            }
            return Holds::Class;
        }
        let many = more || (!explicit && is_identifier(values as usize, cells));
        match self.request.max_categories {
            Some(most) if more || values > most as u64 => {
                let kept = most.saturating_sub(1);
                self.say(format!("the {kept} most frequent values, all others as one"));
                Holds::Category
            }
            None if many => {
                self.refuse("identifier or free text; --drop it, or --max-categories N");
                self.remarks.rotate_right(1);
                Holds::Identifier
            }
            _ => Holds::Category,
        }
    }

    /// A column of numbers by the file's types, or by the first rows of a text file.
    fn numbers(&mut self, kind: ColumnKind) -> Holds {
        if let Some((row, text)) = self.seen.bad.clone() {
            self.refuse(format!(
                "row {row} is `{text}`, no number; correct it, or --missing-values '{text}'"
            ));
        }
        let whole = kind == ColumnKind::Integer && self.seen.whole;
        if !self.role.is_label() || !whole || self.treat.is_some() {
            return Holds::Number;
        }
        let (values, _) = self.values();
        if self.few_whole() {
            if values > 2 {
                self.say(format!("{values} whole numbers, taken as classes; or say :number"));
            }
            return Holds::Class;
        }
        self.say("many whole numbers, taken as a number; or say :class");
        Holds::Number
    }

    fn say_more(&mut self, kind: Holds, source: &Source) {
        let counted = matches!(kind, Holds::Number | Holds::TextNumber);
        if self.role == ColumnRole::Feature && counted && self.seen.cells >= ENOUGH as u64 {
            if self.seen.whole && self.seen.bad.is_none() && self.seen.rising {
                self.say("rises from row to row: an index? then --drop it");
            } else if self.seen.whole && self.seen.bad.is_none() && self.seen.all_different {
                self.say("no two values alike: an identifier? then --drop it");
            }
        }
        if self.role == ColumnRole::Feature && counted && self.seen.leading_zeros {
            self.say("leading zeros: codes? then --categorical");
        }
        if let Some(others) = self.nearly_constant(kind) {
            self.say(format!("one value but for {others} rows"));
        }
        let spelled: Vec<String> = self
            .seen
            .gaps
            .iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, count)| format!("{count} `{text}`"))
            .take(4)
            .collect();
        if !spelled.is_empty() {
            self.say(format!("taken as missing: {}", spelled.join(", ")));
        }
        let used = self.role != ColumnRole::Dropped && kind != Holds::Empty;
        if used && self.seen.missing > 0 && self.request.missing == Missing::Error {
            self.refused = self.refused.or(Some(Refused::Gaps));
        }
        if source.renamed().iter().any(|name| name == self.name) {
            self.say("another column has the same name in the file");
        }
    }

    /// The rows with another value than the usual one, if they are a handful.
    fn nearly_constant(&self, kind: Holds) -> Option<u64> {
        let all = self.seen.cells;
        if all < ENOUGH as u64 || matches!(kind, Holds::Constant | Holds::Identifier) {
            return None;
        }
        let others = all - self.seen.values.largest().min(all);
        (1..=HANDFUL).contains(&others).then_some(others)
    }

    fn width(&self, kind: Holds) -> usize {
        let (values, _) = self.values();
        match (kind, self.role) {
            (_, ColumnRole::Dropped | ColumnRole::Weight) => 0,
            (Holds::Empty | Holds::Other | Holds::Identifier, _) => 0,
            (Holds::Category | Holds::Class, _) => {
                let most = self.request.max_categories.filter(|_| !self.role.is_label());
                most.map_or(values as usize, |most| most.min(values as usize))
            }
            _ => 1,
        }
    }
}
