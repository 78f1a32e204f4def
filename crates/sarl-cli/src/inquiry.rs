//! What `audit` and `compare` share: rows in three parts, what is asked of them, and who answers.

use std::path::{Path, PathBuf};

use sarl::{Model, Scale};
use sarl_data::{BlockOptions, LabelValues, Schema, Source, Unseen};
use sarl_eval::{Asked, Attribute, Attributes, Labels, Probe, probes};
use serde_json::{Value, json};

use crate::args::{Global, ProbeOptions, UnseenPolicy};
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::{Rows, standardise};
use crate::ring::{Probing, Ring};

/// The probes that were asked for.
pub fn probes(options: &ProbeOptions) -> Outcome<Vec<&'static dyn Probe>> {
    let all = probes::all();
    match options.probes.is_empty() {
        true => Ok(all.to_vec()),
        false => choose("probe", &all, |p| p.name(), &options.probes),
    }
}

/// Those of these probes that may learn more from the encoder's rows than from others: such as no
/// linear erasure has blinded, without randomness or much cost.
pub fn second_attacker<'a>(probes: &[&'a dyn Probe]) -> Vec<&'a dyn Probe> {
    probes.iter().copied().filter(|p| ["rbf", "trees"].contains(&p.name())).collect()
}

/// Those of these names, each once.
pub fn choose<T: Copy>(
    what: &str,
    all: &[T],
    name: impl Fn(&T) -> &str,
    names: &[String],
) -> Outcome<Vec<T>> {
    let mut chosen = Vec::new();
    for (i, wanted) in names.iter().enumerate() {
        let Some(found) = all.iter().find(|&one| name(one) == wanted).copied() else {
            let known: Vec<&str> = all.iter().map(&name).collect();
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
        if let Some(share) = options.test_share.filter(|s| !(*s > 0.0 && *s < 1.0)) {
            let message = format!("--test-share is {share}: expected above 0, below 1");
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

    /// Reads the rows and gives each its part; encoded, if there is a model.
    pub fn read(
        &self,
        schema: &Schema,
        model: Option<&Model>,
        known: Known,
        options: &ProbeOptions,
        seed: u64,
        global: &Global,
    ) -> Outcome<Parts> {
        let reading = BlockOptions {
            unseen: match options.unseen {
                UnseenPolicy::Error => Unseen::Error,
                UnseenPolicy::Ignore => Unseen::Ignore,
            },
            ..Default::default()
        };
        let cap = options.rows as usize;
        let read = |source: &Source, name: &str| {
            let rows = Rows::read(source, schema, model, &reading, cap, seed, global)?;
            match rows.len() {
                0 => Err(Failure::new(Exit::Data, format!("{name} has no rows"))),
                _ => Ok(rows),
            }
        };
        let data = read(&self.data, "DATA")?;
        let fresh = self.test.as_ref().map(|test| read(test, "--test")).transpose()?;
        let split = match (&fresh, known) {
            (Some(_), Known::Seen) => Split::Test,
            (Some(_), Known::Fresh) => Split::None,
            (None, Known::Seen) => Split::Three,
            (None, Known::Fresh) => Split::Data,
        };
        let share = options.test_share.unwrap_or(split.share());
        let (encoder, probes, test) = match (split, fresh) {
            (Split::None, Some(fresh)) => (None, data, fresh),
            (_, Some(fresh)) => {
                let [probes, test] = fresh.part([1.0 - share, share], seed)?;
                (Some(data), probes, test)
            }
            (Split::Three, None) => {
                let [encoder, taught] = ENCODER.map(|part| part * (1.0 - share));
                let [encoder, probes, test] = data.part([encoder, taught, share], seed)?;
                (Some(encoder), probes, test)
            }
            (_, None) => {
                let [probes, test] = data.part([1.0 - share, share], seed)?;
                (None, probes, test)
            }
        };
        Ok(Parts { encoder, probes, test, split })
    }
}

/// Whether the encoder has seen DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It was fitted on these rows, or will be, or may have been.
    Seen,
    /// It was not.
    Fresh,
}

/// What was parted, so that no row serves twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Nothing: probes learn on DATA and are tested on --test, both fresh.
    None,
    /// --test, between probes and test; the encoder has DATA.
    Test,
    /// DATA, which is fresh, between probes and test.
    Data,
    /// DATA, between encoder, probes and test.
    Three,
}

/// How rows that are not tested on are parted between encoder and probes. An encoder of fewer rows leaks
/// more, an adversary of fewer rows finds less: this keeps the audit on the side of the adversary.
const ENCODER: [f64; 2] = [4.0 / 7.0, 3.0 / 7.0];

impl Split {
    /// The share that is tested on.
    fn share(self) -> f64 {
        if self == Split::Three { 0.3 } else { 0.5 }
    }
}

/// Rows for the encoder, rows to teach probes and rows to test them: no row is in two of them.
pub struct Parts {
    /// Rows that the encoder was or is fitted on, where they are at hand.
    pub encoder: Option<Rows>,
    pub probes: Rows,
    pub test: Rows,
    pub split: Split,
}

impl Parts {
    /// The rows that an encoder is fitted on: none can be known without them.
    pub fn fitted(&self) -> Outcome<&Rows> {
        self.encoder.as_ref().ok_or_else(|| Failure::usage("there are no rows for the encoder"))
    }

    /// Scales numeric columns by the rows that an encoder is fitted on.
    pub fn standardise(&mut self, schema: &Schema, scale: Scale) {
        if let (Some(encoder), Scale::Standard) = (&mut self.encoder, scale) {
            let others = &mut [&mut self.probes.x, &mut self.test.x];
            standardise(&mut encoder.x, others, schema.dense_width());
        }
    }

    /// A ring of these rows.
    pub fn ring<'a>(
        &'a self,
        attributes: &'a [Attribute<'a>],
        probes: Probing<'a>,
    ) -> Outcome<Ring<'a>> {
        let fit = self.fitted()?;
        Ok(Ring {
            fit: fit.x.as_ref(),
            train: Some(self.probes.x.as_ref()),
            test: self.test.x.as_ref(),
            attributes,
            targets: &fit.targets,
            sensitives: &fit.sensitives,
            probes,
        })
    }

    /// Which rows taught the probes and tested them, in a sentence.
    pub fn words(&self, data: &[PathBuf], options: &ProbeOptions, seed: u64) -> String {
        let files = |paths: &[PathBuf]| {
            let names = paths.iter().map(|p| p.display().to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let drawn = |rows: &Rows, parts: usize| match rows.of > parts as u64 {
            true => format!(" ({parts} were drawn from {})", rows.of),
            false => String::new(),
        };
        let (probes, test) = (self.probes.len(), self.test.len());
        let data = files(data);
        match self.split {
            Split::None => format!(
                "Attackers learnt from {probes} rows of {data}{}, tested on {test} rows of {}{}.\n",
                drawn(&self.probes, probes),
                files(&options.test),
                drawn(&self.test, test),
            ),
            Split::Test => format!(
                "Attackers learnt from {probes} rows of {}, tested on {test} others of it (seed {seed}){}.\n",
                files(&options.test),
                drawn(&self.test, probes + test),
            ),
            Split::Data => format!(
                "Attackers learnt from {probes} rows of {data}, tested on {test} others of it (seed {seed}){}.\n",
                drawn(&self.test, probes + test),
            ),
            Split::Three => {
                let encoder = self.encoder.as_ref().map_or(0, Rows::len);
                format!(
                    "{data} was parted (seed {seed}){}: {encoder} rows fitted the encoder, {probes} others taught the attackers, {test} others tested them.\n",
                    drawn(&self.test, encoder + probes + test),
                )
            }
        }
    }

    /// The same as JSON; `encoder` is what is known of the rows of the encoder.
    pub fn json(&self, data: &[PathBuf], options: &ProbeOptions, seed: u64) -> Value {
        let part = |rows: &Rows, files: &[PathBuf]| json!({ "files": files, "rows": rows.len(), "of": rows.of });
        let (probed, tested) = match self.split {
            Split::None => (data, &options.test[..]),
            Split::Test => (&options.test[..], &options.test[..]),
            Split::Data | Split::Three => (data, data),
        };
        json!({
            "encoder": self.encoder.as_ref().map(|rows| part(rows, data)),
            "probes": part(&self.probes, probed),
            "test": part(&self.test, tested),
            "seed": seed,
        })
    }
}

/// The labels of a schema with their values, targets first.
pub fn attributes(schema: &Schema, parts: &Parts) -> Attributes {
    let labels = |labels: &[sarl_data::Label], of: fn(&Rows) -> &[Labels]| {
        let values = of(&parts.probes).iter().zip(of(&parts.test));
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
