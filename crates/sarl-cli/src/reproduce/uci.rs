//! Adult and German, as the authors encoded them and as the UCI repository has them.

use std::path::{Path, PathBuf};

use super::sample::{Columns, Sample, absent, arrays, complete, find, tables, two};
use crate::failure::{Failure, Outcome};

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
pub fn adult() -> Outcome<Vec<Form<Adult>>> {
    let mut forms = Vec::new();
    let pair = |a: &str, b: &str| Ok::<_, Failure>(find("adult", a)?.zip(find("adult", b)?));
    if let Some((train, test)) = pair("train.npz", "test.npz")? {
        let (train, test) = two(arrays(&[&train, &test])?)?;
        let columns = authors_columns(train.x.ncols());
        let names = Names { table: "table-1-adult-authors", suffix: "authors" };
        forms.push(Form { name: AUTHORS, names, data: (train, test, columns) });
    }
    tidy("adult");
    if let Some((train, test)) = pair("train.csv", "test.csv")? {
        let request = complete("income", "sex")?;
        let (samples, mut columns) = tables(&[&train, &test], &request)?;
        columns.names.iter_mut().for_each(|name| *name = name.replace('_', " "));
        let (train, test) = two(samples)?;
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
pub fn german() -> Outcome<Form<(Sample, usize)>> {
    let names = Names { table: "table-1-german", suffix: "" };
    let one = |mut samples: Vec<Sample>| {
        samples.pop().ok_or_else(|| Failure::usage("the table has no rows"))
    };
    if let Some(path) = find("german", "all.npz")? {
        let sample = one(arrays(&[&path])?)?;
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
    let (samples, columns) = tables(&[&path], &request)?;
    Ok(Form { name: UCI, names, data: (one(samples)?, columns.numbers) })
}

/// Makes tables of raw files that are here. Where that cannot be done, there are none.
pub(super) fn tidy(dataset: &str) -> Vec<PathBuf> {
    let places = sarl_data::Places::from_env();
    sarl_data::dataset(dataset).and_then(|d| d.tidy(&places)).unwrap_or_default()
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
fn columns_but(path: &Path, but: &[&str]) -> Outcome<Vec<sarl_data::ColumnRef>> {
    let source = sarl_data::Source::open(&[path])?;
    let names = source.columns().iter().map(|c| c.name.clone());
    let names = names.filter(|n| !but.contains(&n.as_str()));
    Ok(names.map(|n| n.parse()).collect::<Result<_, _>>()?)
}
