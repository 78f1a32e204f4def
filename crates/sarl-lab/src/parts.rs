//! Rows in three parts: for the encoder, for the attackers, for the test.

use sarl::Scale;
use sarl_eval::{Asked, Attributes, Labels};
use serde_json::{Value, json};

use crate::comparison::{Comparison, Probing, Sides};
use crate::error::{Error, Result};
use crate::plain;
use crate::rows::{Rows, standardise};

/// Those of these names, each once.
pub fn choose<T: Copy>(
    what: &'static str,
    all: &[T],
    name: impl Fn(&T) -> &'static str,
    names: &[String],
) -> Result<Vec<T>> {
    let mut chosen = Vec::new();
    for (i, wanted) in names.iter().enumerate() {
        let Some(found) = all.iter().find(|&one| name(one) == wanted).copied() else {
            let known = all.iter().map(&name).collect();
            return Err(Error::Unknown { what, name: wanted.clone(), known });
        };
        if !names[..i].contains(wanted) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

/// The names of the files, or of the arrays, that rows come from.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Of the data.
    pub data: Vec<String>,
    /// Of the rows for the test, if they are apart.
    pub test: Vec<String>,
}

/// What was parted, so that no row serves twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Nothing: attackers learn from the data and are tested on the other rows, both fresh.
    None,
    /// The other rows, between attackers and test; the encoder has the data.
    Test,
    /// The data, which is fresh, between attackers and test.
    Data,
    /// The data, between encoder, attackers and test.
    Three,
}

/// How rows that are not tested on are parted between encoder and attackers. An encoder of fewer rows
/// leaks more, an attacker of fewer rows finds less: this keeps the audit on the side of the attacker.
const ENCODER: [f64; 2] = [4.0 / 7.0, 3.0 / 7.0];

/// Rows for the encoder, rows to teach attackers and rows to test them: no row is in two of them.
pub struct Parts {
    /// Rows that the encoder was or is fitted on, where they are at hand.
    pub encoder: Option<Rows>,
    /// Rows that attackers learn from.
    pub probes: Rows,
    /// Rows that they are tested on.
    pub test: Rows,
    /// What was parted.
    pub split: Split,
    /// Where the rows come from.
    pub files: Files,
    /// The seed of the parting.
    pub seed: u64,
    /// The class of the first target that it is good to be told, for fairness; not known at first.
    pub favourable: Option<u32>,
}

impl Parts {
    /// Gives each row its part. `fresh` are rows that the encoder has not seen, `seen` says whether it
    /// has seen, or will see, the data. The share that is tested on is 0.3 of the data where that is
    /// parted in three, else a half.
    pub fn new(
        data: Rows,
        fresh: Option<Rows>,
        seen: bool,
        share: Option<f64>,
        files: Files,
        seed: u64,
    ) -> Result<Self> {
        let half = share.unwrap_or(0.5);
        let (split, encoder, probes, test) = match (fresh, seen) {
            (Some(fresh), false) => (Split::None, None, data, fresh),
            (Some(fresh), true) => {
                let [probes, test] = fresh.part([1.0 - half, half], seed)?;
                (Split::Test, Some(data), probes, test)
            }
            (None, true) => {
                let share = share.unwrap_or(0.3);
                let [encoder, taught] = ENCODER.map(|part| part * (1.0 - share));
                let [encoder, probes, test] = data.part([encoder, taught, share], seed)?;
                (Split::Three, Some(encoder), probes, test)
            }
            (None, false) => {
                let [probes, test] = data.part([1.0 - half, half], seed)?;
                (Split::Data, None, probes, test)
            }
        };
        Ok(Parts { encoder, probes, test, split, files, seed, favourable: None })
    }

    /// The rows that an encoder is fitted on.
    pub fn fitted(&self) -> Result<&Rows> {
        self.encoder.as_ref().ok_or(Error::NoEncoderRows)
    }

    /// Scales the first columns, which are numbers, by the rows that an encoder is fitted on.
    pub fn standardise(&mut self, numbers: usize, scale: Scale) {
        if let (Some(encoder), Scale::Standard) = (&mut self.encoder, scale) {
            let others = &mut [&mut self.probes.x, &mut self.test.x];
            standardise(&mut encoder.x, others, numbers);
        }
    }

    /// What is to be predicted, targets first.
    pub fn attributes(&self) -> Attributes {
        let sides = |of: fn(&Rows) -> &[Labels]| of(&self.probes).iter().zip(of(&self.test));
        let values = sides(|rows| &rows.targets).chain(sides(|rows| &rows.sensitives));
        let names = self.probes.names.iter().zip(&self.probes.classes);
        let asked = names.zip(values).map(|((name, classes), (train, test))| Asked {
            name: name.clone(),
            classes: classes.clone(),
            train: train.clone(),
            test: test.clone(),
        });
        Attributes { all: asked.collect(), targets: self.probes.targets.len() }
    }

    /// A comparison on these rows.
    pub fn comparison<'a>(
        &'a self,
        attributes: &'a Attributes,
        probes: Probing<'a>,
    ) -> Result<Comparison<'a>> {
        let fit = self.fitted()?;
        let (train, test) = (Some(self.probes.x.as_ref()), self.test.x.as_ref());
        Ok(Comparison {
            rows: Sides { fit: fit.x.as_ref(), train, test },
            categories: &fit.categories,
            attributes,
            targets: &fit.targets,
            sensitives: &fit.sensitives,
            probes,
            favourable: self.favourable,
        })
    }

    /// Which rows taught the attackers and tested them, in a sentence.
    pub fn words(&self) -> String {
        let drawn = |rows: &Rows, parts: usize| match rows.of > parts as u64 {
            true => format!(" ({parts} were drawn from {})", rows.of),
            false => String::new(),
        };
        let (probes, test, seed) = (self.probes.len(), self.test.len(), self.seed);
        let listed =
            |files: &[String]| files.iter().map(|file| plain(file)).collect::<Vec<_>>().join(", ");
        let (data, apart) = (listed(&self.files.data), listed(&self.files.test));
        match self.split {
            Split::None => format!(
                "Attackers learnt from {probes} rows of {data}{}, tested on {test} rows of {apart}{}.\n",
                drawn(&self.probes, probes),
                drawn(&self.test, test),
            ),
            Split::Test | Split::Data => format!(
                "Attackers learnt from {probes} rows of {}, tested on {test} others of it (seed {seed}){}.\n",
                if self.split == Split::Test { apart } else { data },
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

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let part = |rows: &Rows, files: &[String]| json!({ "files": files, "rows": rows.len(), "of": rows.of });
        let Files { data, test } = &self.files;
        let (probed, tested) = match self.split {
            Split::None => (data, test),
            Split::Test => (test, test),
            Split::Data | Split::Three => (data, data),
        };
        json!({
            "encoder": self.encoder.as_ref().map(|rows| part(rows, data)),
            "probes": part(&self.probes, probed),
            "test": part(&self.test, tested),
            "seed": self.seed,
        })
    }
}
