//! Adult and German, as the authors encoded them and as the UCI repository has them.

use std::path::Path;

use crate::Result;
use crate::sample::Sample;
use crate::tables::{Columns, Reader, absent, arrays, complete, find, pair, tidy};

/// The columns of the 123 binary features, as they were made from the fourteen attributes.
const ADULT_FEATURES: [(&str, usize); 14] = [
    ("age", 5),
    ("work class", 8),
    ("final weight", 5),
    ("education", 16),
    ("education num", 5),
    ("marital status", 7),
    ("occupation", 14),
    ("relationship", 6),
    ("race", 5),
    ("gender", 2),
    ("capital gain", 2),
    ("capital loss", 2),
    ("hours/week", 5),
    ("country", 41),
];

/// A form in which the data was found.
pub struct Form<T> {
    pub name: &'static str,
    pub names: Names,
    pub data: T,
}

/// What its files are called.
#[derive(Clone, Copy)]
pub struct Names {
    pub table: &'static str,
    pub suffix: &'static str,
}

const AUTHORS: &str = "authors' encoding";
const UCI: &str = "UCI table";

/// The rows to learn from, those to be tested on, and what their columns are.
pub type Adult = (Sample, Sample, Columns);

/// Every form of Adult that is here; in the authors' encoding gender is among the features, in the UCI
/// tables we leave it out.
pub fn adult() -> Result<Vec<Form<Adult>>> {
    let mut forms = Vec::new();
    if let Some((train, test)) = arrays("adult")? {
        let columns = authors_columns(train.x.ncols());
        let names = Names { table: "table-1-adult-authors", suffix: "authors" };
        forms.push(Form { name: AUTHORS, names, data: (train, test, columns) });
    }
    tidy("adult");
    if let Some((train, test)) = pair("adult", ["train.csv", "test.csv"])? {
        let reader = Reader::new(&train, &complete("income", "sex")?)?;
        let mut columns = reader.columns();
        columns.names.iter_mut().for_each(|name| *name = name.replace('_', " "));
        let (train, test) = (reader.read(&train)?, reader.read(&test)?);
        let names = Names { table: "table-1-adult-uci", suffix: "uci" };
        forms.push(Form { name: UCI, names, data: (train, test, columns) });
    }
    if forms.is_empty() {
        let advice = "run `sarl data get adult`, or set SARL_DATA to a folder that has adult/train.npz and adult/test.npz";
        return Err(absent("adult", &["train.npz", "train.csv"], advice));
    }
    Ok(forms)
}

/// German, in the first form that is here, and how many columns are numbers.
pub fn german() -> Result<Form<(Sample, usize)>> {
    let names = Names { table: "table-1-german", suffix: "" };
    if let Some(path) = find("german", "all.npz")? {
        let sample = Reader::arrays(&path)?.read(&path)?;
        let numbers = sample.x.ncols();
        return Ok(Form { name: AUTHORS, names, data: (sample, numbers) });
    }
    tidy("german");
    let Some(path) = find("german", "german.csv")? else {
        let advice =
            "run `sarl data get german`, or set SARL_DATA to a folder that has german/all.npz";
        return Err(absent("german", &["all.npz", "german.csv"], advice));
    };
    let mut request = complete("credit", "age_group")?;
    // As in the authors' encoding, the age is among the features.
    request.features = Some(columns_but(&path, &["credit", "age_group"])?);
    let reader = Reader::new(&path, &request)?;
    Ok(Form { name: UCI, names, data: (reader.read(&path)?, reader.columns().numbers) })
}

fn authors_columns(width: usize) -> Columns {
    let feature = (0..).zip(ADULT_FEATURES).flat_map(|(i, (_, n))| std::iter::repeat_n(i, n));
    match width {
        123 => Columns {
            numbers: width,
            feature: feature.collect(),
            names: ADULT_FEATURES.iter().map(|f| f.0.to_owned()).collect(),
        },
        _ => Columns {
            numbers: width,
            feature: (0..width).collect(),
            names: (0..width).map(|j| format!("x{j}")).collect(),
        },
    }
}

/// Every column but these.
fn columns_but(path: &Path, but: &[&str]) -> Result<Vec<sarl_data::ColumnRef>> {
    let source = sarl_data::Source::open(&[path])?;
    let names = source.columns().iter().map(|c| c.name.clone());
    let names = names.filter(|n| !but.contains(&n.as_str()));
    Ok(names.map(|n| n.parse()).collect::<sarl_data::Result<_>>()?)
}
