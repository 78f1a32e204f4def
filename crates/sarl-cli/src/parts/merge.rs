//! Files of moments as one fit: one file in memory at a time.

use std::path::{Path, PathBuf};

use sarl::{Fit, FitParams};
use sarl_data::{ColumnRef, PartsDiffer, Renumbering, Schema};

use super::Moments;
use crate::args::{
    Approximation, CriterionName, DataOptions, EncoderOptions, Global, KernelName, MissingPolicy,
    ScalePolicy,
};
use crate::failure::{Exit, Failure, Outcome};
use crate::folding::Folding;
use crate::output;
use crate::progress::{self, Count};

/// The rows of all files together.
pub fn all(paths: &[PathBuf], global: &Global) -> Outcome<Moments> {
    let count = (paths.len() > 1).then(|| Count::new("merging moments", global.quiet));
    let mut merged: Option<(Moments, &Path)> = None;
    for (done, path) in paths.iter().enumerate() {
        progress::check()?;
        let path = path.as_path();
        let part = Moments::load(path)?;
        merged = Some(match merged {
            None => (part, path),
            Some((all, first)) => together(all, first, part, path, global)?,
        });
        count.iter().for_each(|count| count.at(done + 1, paths.len()));
    }
    merged.map(|(all, _)| all).ok_or_else(super::no_rows)
}

/// Two of them as one, with the name of the first that has rows.
fn together<'a>(
    mut all: Moments,
    first: &'a Path,
    mut part: Moments,
    path: &'a Path,
    global: &Global,
) -> Outcome<(Moments, &'a Path)> {
    let twice = part.about.origin.files.iter().find(|f| all.about.origin.files.contains(f));
    if let Some(file) = twice {
        let message = format!(
            "{}: rows of a file `{}` were added before; if it is the same one, they count twice",
            path.display(),
            file.name
        );
        output::warn(global, &message);
    }
    let files = std::mem::take(&mut part.about.origin.files);
    all.about.origin.files.extend(files);
    match (&mut all.schema, &part.schema) {
        (_, None) => return Ok((all, first)),
        (None, Some(_)) => {
            part.about.origin = all.about.origin;
            return Ok((part, path));
        }
        (Some(schema), Some(new)) => {
            check_params(&all.fit, &part.fit, (&all.about.fold_column, &part.about.fold_column))
                .map_err(|what| differ(first, path, &what))?;
            let changes = schema.merge(new).map_err(|e| columns_differ(first, path, &e))?;
            all.about.tally.merge(&part.about.tally, &changes);
            let kept = usize::from(schema.target_is_features());
            renumber(&mut all.fit, &changes, true, kept).map_err(|e| refused(first, path, &e))?;
            renumber(&mut part.fit, &changes, false, kept).map_err(|e| refused(first, path, &e))?;
        }
    }
    all.fit.merge(&part.fit).map_err(|e| refused(first, path, &e))?;
    for name in part.about.said {
        if !all.about.said.contains(&name) {
            all.about.said.push(name);
        }
    }
    Ok((all, first))
}

/// Gives the codes of a fit their new numbers; `kept` labels come before those of columns.
fn renumber(fit: &mut Fit, changes: &Renumbering, ours: bool, kept: usize) -> sarl::Result<()> {
    for (category, change) in changes.features.iter().enumerate() {
        let to = if ours { &change.ours } else { &change.theirs };
        if !is_same(to, change.size) {
            fit.recode(category, to, change.size)?;
        }
    }
    for (label, change) in changes.labels.iter().enumerate() {
        let Some(change) = change else { continue };
        let to = if ours { &change.ours } else { &change.theirs };
        let size = change.size.max(2);
        let to = padded(to, size);
        if !is_same(&to, size) {
            fit.reclass(label + kept, &to, size)?;
        }
    }
    Ok(())
}

fn is_same(to: &[u32], size: usize) -> bool {
    to.len() == size && to.iter().zip(0..).all(|(to, own)| *to == own)
}

/// The sums of one class have a second one without rows.
fn padded(to: &[u32], size: usize) -> Vec<u32> {
    let mut all = to.to_vec();
    let unused = (0..size as u32).filter(|place| !to.contains(place));
    all.extend(unused.take(2usize.saturating_sub(to.len())));
    all
}

/// What differs between two fits whose sums cannot be added.
fn check_params(
    ours: &Fit,
    theirs: &Fit,
    columns: (&Option<String>, &Option<String>),
) -> Result<(), String> {
    let (a, b) = (ours.params(), theirs.params());
    let shown = |p: &FitParams| -> Vec<(&'static str, String)> {
        vec![
            ("the kernel", format!("{:?}", p.features)),
            ("--scale", format!("{:?}", p.scale)),
            ("--ridge", format!("{:?}", p.ridge)),
            ("--dim", format!("{:?}", p.dimensions)),
            ("--folds", p.folds.to_string()),
            ("--seed", p.seed.to_string()),
            ("--criterion", p.criterion.name().to_owned()),
            ("--fold-by", format!("{:?}", p.fold_by).to_lowercase()),
        ]
    };
    for ((name, ours), (_, theirs)) in shown(a).into_iter().zip(shown(b)) {
        if ours != theirs {
            return Err(format!("{name} is {ours} in the first and {theirs} in the second"));
        }
    }
    match columns.0 == columns.1 {
        true => Ok(()),
        false => Err("--fold-by names different columns".to_owned()),
    }
}

fn differ(first: &Path, path: &Path, what: &str) -> Failure {
    let (first, path) = (first.display(), path.display());
    Failure::new(Exit::Data, format!("{first} and {path} cannot be merged: {what}"))
        .hint("make all of them with the same options of `sarl moments`, or with --like")
}

fn columns_differ(first: &Path, path: &Path, difference: &PartsDiffer) -> Failure {
    let PartsDiffer { column, kinds: (ours, theirs) } = difference;
    let what = match column.is_empty() {
        true => format!("their columns differ: {ours} in the first, {theirs} in the second"),
        false => format!("`{column}` is {ours} in the first and {theirs} in the second"),
    };
    let hint = match column.is_empty() || column.starts_with("--") {
        true => "make all of them with the same options, or with --like".to_owned(),
        false => format!(
            "`{column}:class` or `{column}:number` says what a label is, --categorical {column} \
             what a feature is; or use --like"
        ),
    };
    differ(first, path, &what).hint(hint)
}

fn refused(first: &Path, path: &Path, error: &sarl::Error) -> Failure {
    let what = match error {
        sarl::Error::Merge(mismatch) => mismatch.to_string(),
        error => error.to_string(),
    };
    differ(first, path, &what)
}

/// Refuses options that are fixed by the sums, where they are not those of the files.
pub fn check_options(
    data: &DataOptions,
    encoder: &EncoderOptions,
    fit: &Fit,
    schema: &Schema,
) -> Outcome {
    let fixed = [
        ("--features", !data.features.is_empty()),
        ("--categorical", !data.categorical.is_empty()),
        ("--drop", !data.drop.is_empty()),
        ("--missing", data.missing != MissingPolicy::default()),
        ("--missing-values", !data.missing_values.is_empty()),
        ("--max-categories", data.max_categories.is_some()),
        ("--kernel", encoder.kernel != KernelName::default()),
        ("--approx", encoder.approx != Approximation::default()),
        ("--landmarks-from", encoder.landmarks_from.is_some()),
        ("--criterion", encoder.criterion != CriterionName::default()),
        ("--favourable", encoder.favourable.is_some()),
    ];
    if let Some((option, _)) = fixed.iter().find(|(_, given)| *given) {
        let message = format!("{option} has no place beside --moments: the files have decided it");
        return Err(Failure::usage(message).hint("give it to `sarl moments`"));
    }
    let params = fit.params();
    let scale = match params.scale {
        sarl::Scale::None => ScalePolicy::None,
        sarl::Scale::Standard => ScalePolicy::Standard,
    };
    let folding = Folding::new(encoder, params.fold_by);
    let others = [
        ("--folds", encoder.folds != 5 && encoder.folds as usize != params.folds),
        ("--seed", encoder.seed != 0 && encoder.seed != params.seed),
        ("--scale", data.scale != ScalePolicy::default() && data.scale != scale),
        ("--fold-by", folding.by() != params.fold_by),
        ("--weight", data.weight.is_some() && data.weight.as_deref() != schema.weight()),
        ("--target", other_labels(&data.target, schema.targets(), schema.target_is_features())),
        ("--sensitive", other_labels(&data.sensitive, schema.sensitives(), false)),
    ];
    match others.iter().find(|(_, other)| *other) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option} is not what the files of moments were made with");
            Err(Failure::usage(message).hint("leave it out, or make them again"))
        }
    }
}

/// Whether other labels were named than those of the files.
fn other_labels(given: &[String], labels: &[sarl_data::Label], features: bool) -> bool {
    let named = |text: &String| text.parse::<ColumnRef>().map_or_else(|_| text.clone(), |c| c.name);
    let is_features = |text: &&String| *text == ":features";
    let names: Vec<String> = given.iter().filter(|t| !is_features(t)).map(named).collect();
    let same = names.len() == labels.len() && labels.iter().all(|l| names.contains(&l.name));
    let agrees = same && given.iter().any(|t| is_features(&t)) == features;
    !given.is_empty() && !agrees
}
