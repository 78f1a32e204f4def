//! Raw files without a header, as UCI distributes them, become CSV files with one.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use crate::atomic::AtomicFile;
use crate::error::{DataError, Result};

/// What a raw file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawForm {
    /// UCI Adult: commas, `?` for what is missing, a dot after the labels of the test file
    /// and a remark before its rows.
    Adult,
    /// UCI German credit: spaces, codes such as `A11`, and 1 (good) or 2 (bad) at the end.
    German,
}

const ADULT: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
];

/// The last is made of the age.
const GERMAN: [&str; 22] = [
    "checking_status",
    "duration",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "employment",
    "installment_rate",
    "personal_status_sex",
    "other_debtors",
    "residence_since",
    "property",
    "age",
    "other_installment_plans",
    "housing",
    "existing_credits",
    "job",
    "dependents",
    "telephone",
    "foreign_worker",
    "credit",
    "age_group",
];

/// Where the age is in a row of German credit.
const AGE: usize = 12;
/// The paper's binary attribute: up to this age people are young.
const YOUNG: u32 = 25;

/// Writes the CSV file of a raw file: a header, trimmed cells, nothing where a value is
/// missing, the same label in training and test files. The table of German credit gets a
/// column `age_group`, `young` up to 25 years and `old` above. Returns the number of rows.
///
/// ```
/// use sarl_data::{RawForm, tidy};
/// # let folder = tempfile::tempdir().unwrap();
/// # let (raw, table) = (folder.path().join("adult.test"), folder.path().join("test.csv"));
/// std::fs::write(&raw, "|1x3 Cross validator\n\
///     25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, ?, <=50K.\n").unwrap();
/// assert_eq!(tidy(RawForm::Adult, &raw, &table)?, 1);
/// let text = std::fs::read_to_string(&table).unwrap();
/// assert_eq!(
///     text.lines().last(),
///     Some("25,,226802,11th,7,Never-married,,Own-child,Black,Male,0,0,40,,<=50K")
/// );
/// # Ok::<(), sarl_data::DataError>(())
/// ```
pub fn tidy(form: RawForm, raw: &Path, table: &Path) -> Result<u64> {
    let lines = BufReader::new(File::open(raw).map_err(|e| DataError::read(raw, e))?).lines();
    let mut writer = csv::Writer::from_writer(AtomicFile::create(table)?);
    let fail = |e: csv::Error| DataError::write(table, e);
    writer.write_record(form.header()).map_err(fail)?;
    let mut rows = 0;
    for (index, line) in lines.enumerate() {
        let damaged = |reason: String| {
            DataError::damaged(raw, form.name(), format!("line {}: {reason}", index + 1))
        };
        let line = line.map_err(|e| match e.kind() {
            ErrorKind::InvalidData => damaged(e.to_string()),
            _ => DataError::read(raw, e),
        })?;
        if line.trim().is_empty() || line.starts_with('|') {
            continue;
        }
        writer.write_record(form.cells(&line).map_err(damaged)?).map_err(fail)?;
        rows += 1;
    }
    if rows == 0 {
        return Err(DataError::NoRows { path: raw.to_owned() });
    }
    let file = writer.into_inner().map_err(|e| DataError::write(table, e.into_error()))?;
    file.commit()?;
    Ok(rows)
}

impl RawForm {
    fn name(self) -> &'static str {
        match self {
            RawForm::Adult => "UCI Adult",
            RawForm::German => "UCI German credit",
        }
    }

    fn header(self) -> &'static [&'static str] {
        match self {
            RawForm::Adult => &ADULT,
            RawForm::German => &GERMAN,
        }
    }

    /// The cells of a line, or what is wrong with it.
    fn cells(self, line: &str) -> Result<Vec<&str>, String> {
        let mut cells: Vec<&str> = match self {
            RawForm::Adult => line.split(',').map(str::trim).collect(),
            RawForm::German => line.split_whitespace().collect(),
        };
        let (found, expected) = (cells.len(), self.raw_width());
        let Some(label) = cells.last_mut().filter(|_| found == expected) else {
            return Err(format!("found {found} cells, expected {expected}"));
        };
        *label = self.label(label)?;
        match self {
            RawForm::Adult => cells.iter_mut().filter(|c| **c == "?").for_each(|c| *c = ""),
            RawForm::German => cells.push(age_group(cells[AGE])?),
        }
        Ok(cells)
    }

    fn raw_width(self) -> usize {
        match self {
            RawForm::Adult => ADULT.len(),
            RawForm::German => GERMAN.len() - 1,
        }
    }

    fn label(self, cell: &str) -> Result<&str, String> {
        match (self, cell.strip_suffix('.').unwrap_or(cell)) {
            (RawForm::Adult, label @ ("<=50K" | ">50K")) => Ok(label),
            (RawForm::Adult, _) => Err(format!("found `{cell}`, expected <=50K or >50K")),
            (RawForm::German, "1") => Ok("good"),
            (RawForm::German, "2") => Ok("bad"),
            (RawForm::German, _) => Err(format!("found `{cell}`, expected 1 or 2")),
        }
    }
}

fn age_group(age: &str) -> Result<&'static str, String> {
    match age.parse::<u32>() {
        Ok(age) if age <= YOUNG => Ok("young"),
        Ok(_) => Ok("old"),
        Err(_) => Err(format!("found the age `{age}`, expected a whole number")),
    }
}
