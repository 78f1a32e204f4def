//! What `audit` and `compare` share: the rows of files in three parts, and the attackers.

use std::path::{Path, PathBuf};

use sarl_data::{BlockOptions, Schema, Source, Unseen, same_file};
use sarl_eval::{Probe, probes};
use sarl_lab::{Parts, choose};

use crate::args::{Global, ProbeOptions, UnseenPolicy};
use crate::coding::Coder;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory;

/// The probes that were asked for.
pub fn probes(options: &ProbeOptions) -> Outcome<Vec<&'static dyn Probe>> {
    let all = probes::all();
    match options.probes.is_empty() {
        true => Ok(all.to_vec()),
        false => Ok(choose("probe", &all, |p| p.name(), &options.probes)?),
    }
}

/// The files of rows to learn from and, where they are apart, to be tested on.
pub struct Files {
    pub data: Source,
    pub test: Option<Source>,
    /// Their names, as they were given.
    names: sarl_lab::Files,
}

impl Files {
    pub fn open(data: &[PathBuf], options: &ProbeOptions) -> Outcome<Self> {
        Self::of(Source::open(data)?, paths(data), options)
    }

    /// The same with DATA that are open already.
    pub fn of(data: Source, names: Vec<String>, options: &ProbeOptions) -> Outcome<Self> {
        if let Some(share) = options.test_share.filter(|s| !(*s > 0.0 && *s < 1.0)) {
            let message = format!("--test-share is {share}: expected above 0, below 1");
            return Err(Failure::usage(message));
        }
        let names = sarl_lab::Files { data: names, test: paths(&options.test) };
        let data = data.with_threads(rayon::current_num_threads());
        let test = match options.test.is_empty() {
            true => None,
            false => Some(Source::open(&options.test)?.with_threads(rayon::current_num_threads())),
        };
        let both = |path: &&Path| data.paths().any(|s| same_file(s, path));
        if let Some(path) = test.iter().flat_map(Source::paths).find(both) {
            let message = format!("{}: is DATA and --test at the same time", path.display());
            return Err(Failure::usage(message).hint("leave --test out to split DATA"));
        }
        Ok(Files { data, test, names })
    }

    /// All of them.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.data.paths().chain(self.test.iter().flat_map(Source::paths))
    }

    /// Reads the rows and gives each its part; encoded, if there is something that does it. `seen` says whether the
    /// encoder was fitted on DATA, or will be, or may have been.
    pub fn read(
        &self,
        schema: &Schema,
        coder: Option<&Coder>,
        seen: bool,
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
        let draw = (options.rows as usize, seed);
        let read = |source: &Source, name: &str| {
            let rows = memory::read(source, schema, coder, &reading, draw, global)?;
            match rows.len() {
                0 => Err(Failure::new(Exit::Data, format!("{name} has no rows"))),
                _ => Ok(rows),
            }
        };
        let data = read(&self.data, "DATA")?;
        let fresh = self.test.as_ref().map(|test| read(test, "--test")).transpose()?;
        Ok(Parts::new(data, fresh, seen, options.test_share, self.names.clone(), seed)?)
    }
}

/// Paths as people call them.
pub fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The files of a data set.
pub fn file_names(source: &Source) -> Vec<String> {
    source.paths().map(|path| path.display().to_string()).collect()
}
