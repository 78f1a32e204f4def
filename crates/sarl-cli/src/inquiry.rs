//! What `audit` and `compare` share: rows on two sides, what is asked of them, and who answers.

use std::path::{Path, PathBuf};

use sarl::Model;
use sarl_data::{BlockOptions, LabelValues, Schema, Source, Unseen};
use sarl_eval::{Asked, Attribute, Attributes, Labels, Probe, probes};

use crate::args::{Global, ProbeOptions, UnseenPolicy};
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::Rows;
use crate::ring::{Probing, Ring};

/// The probes that were asked for.
pub fn probes(options: &ProbeOptions) -> Outcome<Vec<&'static dyn Probe>> {
    let all = probes::all();
    match options.probes.is_empty() {
        true => Ok(all.to_vec()),
        false => choose("probe", &all, |p| p.name(), &options.probes),
    }
}

/// Those of these names, each once.
pub fn choose<T: Copy>(
    what: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    names: &[String],
) -> Outcome<Vec<T>> {
    let mut chosen = Vec::new();
    for (i, wanted) in names.iter().enumerate() {
        let Some(found) = all.iter().copied().find(|&one| name(one) == wanted) else {
            let known: Vec<&str> = all.iter().map(|&one| name(one)).collect();
            return Err(Failure::usage(format!("there is no {what} `{wanted}`"))
                .hint(format!("there are: {}", known.join(", "))));
        };
        if !names[..i].contains(wanted) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

/// The files of rows to learn from and, where they are apart, to be tested on.
pub struct Files {
    pub data: Source,
    pub test: Option<Source>,
}

impl Files {
    pub fn open(data: &[PathBuf], options: &ProbeOptions) -> Outcome<Self> {
        if !(options.test_share > 0.0 && options.test_share < 1.0) {
            let message =
                format!("--test-share is {}: expected above 0, below 1", options.test_share);
            return Err(Failure::usage(message));
        }
        let open = |paths: &[PathBuf]| -> Outcome<Source> {
            Ok(Source::open(paths)?.with_threads(rayon::current_num_threads()))
        };
        let data = open(data)?;
        let test = match options.test.is_empty() {
            true => None,
            false => Some(open(&options.test)?),
        };
        let both = |path: &&Path| data.paths().any(|s| s == *path);
        if let Some(path) = test.iter().flat_map(Source::paths).find(both) {
            let message = format!("{}: is DATA and --test at the same time", path.display());
            return Err(Failure::usage(message).hint("leave --test out to split DATA"));
        }
        Ok(Files { data, test })
    }

    /// All of them.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.data.paths().chain(self.test.iter().flat_map(Source::paths))
    }

    /// Reads both sides, or parts the one that there is; encoded, if there is a model.
    pub fn read(
        &self,
        schema: &Schema,
        model: Option<&Model>,
        options: &ProbeOptions,
        seed: u64,
        global: &Global,
    ) -> Outcome<Sides> {
        let reading = BlockOptions {
            unseen: match options.unseen {
                UnseenPolicy::Error => Unseen::Error,
                UnseenPolicy::Ignore => Unseen::Ignore,
            },
            ..Default::default()
        };
        let cap = options.rows as usize;
        let read = |source: &Source| Rows::read(source, schema, model, &reading, cap, seed, global);
        let Some(test) = &self.test else {
            let (train, test) = read(&self.data)?.split(options.test_share, seed)?;
            return Ok(Sides { train, test, apart: false });
        };
        let (train, test) = (read(&self.data)?, read(test)?);
        for (rows, source) in [(&train, "DATA"), (&test, "--test")] {
            if rows.len() == 0 {
                return Err(Failure::new(Exit::Data, format!("{source} has no rows")));
            }
        }
        Ok(Sides { train, test, apart: true })
    }
}

/// Rows to learn from and rows to be tested on.
pub struct Sides {
    pub train: Rows,
    pub test: Rows,
    /// The rows to be tested on are files of their own.
    pub apart: bool,
}

impl Sides {
    /// A ring of these rows.
    pub fn ring<'a>(&'a self, attributes: &'a [Attribute<'a>], probes: Probing<'a>) -> Ring<'a> {
        Ring {
            train: self.train.x.as_ref(),
            test: self.test.x.as_ref(),
            attributes,
            targets: &self.train.targets,
            sensitives: &self.train.sensitives,
            probes,
        }
    }

    /// Which rows were used for what, in a sentence.
    pub fn words(&self, who: &str, data: &[PathBuf], options: &ProbeOptions, seed: u64) -> String {
        let files = |paths: &[PathBuf]| {
            let names = paths.iter().map(|p| p.display().to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let (train, test) = (&self.train, &self.test);
        let drawn = |rows: &Rows, part: usize| match rows.of > part as u64 {
            true => format!(" (drawn from {})", rows.of),
            false => String::new(),
        };
        match self.apart {
            true => format!(
                "{who} learnt on {} rows of {}{}, tested on {} rows of {}{}.\n",
                train.len(),
                files(data),
                drawn(train, train.len()),
                test.len(),
                files(&options.test),
                drawn(test, test.len()),
            ),
            false => format!(
                "{who} learnt on {} rows of {}{}, tested on {} others of it (seed {seed}).\n",
                train.len(),
                files(data),
                drawn(train, train.len() + test.len()),
                test.len(),
            ),
        }
    }
}

/// The labels of a schema with their values, targets first.
pub fn attributes(schema: &Schema, sides: &Sides) -> Attributes {
    let labels = |labels: &[sarl_data::Label], of: fn(&Rows) -> &[Labels]| {
        let values = of(&sides.train).iter().zip(of(&sides.test));
        let asked = labels.iter().zip(values).map(|(label, (train, test))| Asked {
            name: label.name.clone(),
            classes: match &label.values {
                LabelValues::Class { values, .. } => values.clone(),
                LabelValues::Number { .. } => Vec::new(),
            },
            train: train.clone(),
            test: test.clone(),
        });
        asked.collect::<Vec<_>>()
    };
    let mut all = labels(schema.targets(), |rows| &rows.targets);
    let targets = all.len();
    all.extend(labels(schema.sensitives(), |rows| &rows.sensitives));
    Attributes { all, targets }
}
