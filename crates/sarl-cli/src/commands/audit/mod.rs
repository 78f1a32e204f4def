//! `sarl audit`.

mod report;
mod side;

use std::path::{Path, PathBuf};
use std::time::Instant;

use faer::Mat;
use sarl::{Encoder, Model};
use sarl_data::{BlockOptions, LabelValues, Schema, Source, Unseen};
use sarl_eval::{Attribute, Labels, Options, Probe, View, probes};

use self::report::Report;
use self::side::Side;
use super::encode::schema_of;
use super::retune::load;
use crate::args::{Audit, Global, UnseenPolicy};
use crate::data::check_output;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::{Rows, scaled_columns, standardise};
use crate::origin::Origin;
use crate::output;
use crate::progress::{self, Count};

pub fn run(options: &Audit, global: &Global) -> Outcome {
    let start = Instant::now();
    if !(options.test_share > 0.0 && options.test_share < 1.0) {
        let message = format!("--test-share is {}: expected above 0, below 1", options.test_share);
        return Err(Failure::usage(message));
    }
    let who = choose(&options.probes)?;
    let model = load(&options.model)?;
    let schema = schema_of(&model, &options.model)?;
    let source = Source::open(&options.data)?.with_threads(rayon::current_num_threads());
    let test = match options.test.is_empty() {
        true => None,
        false => Some(Source::open(&options.test)?.with_threads(rayon::current_num_threads())),
    };
    if let Some(output) = &options.predictions {
        let inputs = source.paths().chain(test.iter().flat_map(Source::paths));
        check_output(output, inputs.chain([options.model.as_path()]))?;
    }
    let origin = Origin::load(&model)?;
    let split =
        Split::new(&source, test.as_ref(), &schema, &model, origin.as_ref(), options, global)?;
    let attributes = Attributes::new(&schema, &split);
    let views = views(&split, options.no_control);
    let seeds: Vec<u64> =
        (0..u64::from(options.seeds)).map(|i| options.seed.wrapping_add(i)).collect();
    let count = Count::new("probing", global.quiet);
    let found = sarl_eval::audit(
        &views,
        &attributes.asked(),
        &Options {
            probes: &who,
            seeds: &seeds,
            threads: rayon::current_num_threads(),
            stop: &progress::interrupted,
            progress: &|done, all| count.at(done, all),
        },
    )?;
    drop(count);
    progress::check()?;
    let mut found = found.into_iter().map(|f| Side::new(f, &attributes));
    let Some(z) = found.next() else { return Err(Failure::interrupted()) };
    let report = Report { z, control: found.next(), split, attributes, model, origin, seeds };
    if let Some(path) = &options.predictions {
        sarl_data::write_file(path, &report.predictions()?)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    if global.json {
        return output::print_json(&report.json(options, seconds));
    }
    output::print(&report.text(options, seconds))
}

/// The probes of these names.
fn choose(names: &[String]) -> Outcome<Vec<&'static dyn Probe>> {
    let all = probes::all();
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let find = |name: &String| {
        all.iter().copied().find(|p| p.name() == name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|p| p.name()).collect();
            Failure::usage(format!("there is no probe `{name}`"))
                .hint(format!("there are: {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

/// Rows to learn from, rows to be tested on, and an encoder that has not seen the latter.
struct Split {
    train: Rows,
    test: Rows,
    /// The encoder was fitted anew, on the rows to learn from.
    anew: Option<Encoder>,
    /// The rows to be tested on are a file of their own.
    apart: bool,
}

impl Split {
    fn new(
        source: &Source,
        test: Option<&Source>,
        schema: &Schema,
        model: &Model,
        origin: Option<&Origin>,
        options: &Audit,
        global: &Global,
    ) -> Outcome<Self> {
        let reading = BlockOptions {
            unseen: match options.unseen {
                UnseenPolicy::Error => Unseen::Error,
                UnseenPolicy::Ignore => Unseen::Ignore,
            },
            ..Default::default()
        };
        let cap = options.rows as usize;
        let read =
            |source: &Source, seed| Rows::read(source, schema, model, &reading, cap, seed, global);
        let seen = |source: &Source| -> Outcome<Option<PathBuf>> {
            let seen = origin.map(|o| o.saw(source.paths())).transpose()?.flatten();
            Ok(seen.map(Path::to_owned))
        };
        let Some(test) = test else {
            let (mut train, mut test) =
                read(source, options.seed)?.split(options.test_share, options.seed)?;
            let anew = match (seen(source)?, origin) {
                (Some(_), Some(origin)) => {
                    Some(refit(&mut train, &mut test, schema, model, origin)?)
                }
                _ => None,
            };
            return Ok(Split { train, test, anew, apart: false });
        };
        if let Some(path) = seen(test)? {
            let message = format!(
                "{}: the encoder was fitted on these rows, so it cannot be tested on them",
                path.display()
            );
            return Err(Failure::new(Exit::Unreachable, message)
                .hint("give other rows, or leave --test out: the encoder is then fitted anew on a part of DATA"));
        }
        if let Some(path) = test.paths().find(|t| source.paths().any(|s| s == *t)) {
            let message = format!("{}: is DATA and --test at the same time", path.display());
            return Err(Failure::usage(message).hint("leave --test out to split DATA"));
        }
        let (train, test) = (read(source, options.seed)?, read(test, options.seed)?);
        for (rows, source) in [(&train, "DATA"), (&test, "--test")] {
            if rows.len() == 0 {
                return Err(Failure::new(Exit::Data, format!("{source} has no rows")));
            }
        }
        Ok(Split { train, test, anew: None, apart: true })
    }
}

/// Fits the encoder anew on the rows to learn from, with the options and the goal of the model.
fn refit(
    train: &mut Rows,
    test: &mut Rows,
    schema: &Schema,
    model: &Model,
    origin: &Origin,
) -> Outcome<Encoder> {
    standardise(&mut train.x, &mut test.x, scaled_columns(schema));
    let encoder = train.fit(&origin.encoder, model.goal())?.encoder();
    train.z = encoder.encode(train.x.as_ref())?;
    test.z = encoder.encode(test.x.as_ref())?;
    Ok(encoder)
}

fn views(split: &Split, no_control: bool) -> Vec<View<'_>> {
    let view = |of: fn(&Rows) -> &Mat<f64>| View {
        train: of(&split.train).as_ref(),
        test: of(&split.test).as_ref(),
    };
    let z = view(|rows| &rows.z);
    if no_control { vec![z] } else { vec![z, view(|rows| &rows.x)] }
}

/// A label of the schema with its values.
struct Asked {
    name: String,
    classes: Vec<String>,
    train: Labels,
    test: Labels,
}

/// What is to be told: targets first.
struct Attributes {
    all: Vec<Asked>,
    targets: usize,
}

impl Attributes {
    fn new(schema: &Schema, split: &Split) -> Self {
        let labels = |labels: &[sarl_data::Label], of: fn(&Rows) -> &[Labels]| {
            let values = of(&split.train).iter().zip(of(&split.test));
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

    fn asked(&self) -> Vec<Attribute<'_>> {
        let all = self.all.iter();
        all.map(|a| Attribute { name: &a.name, train: &a.train, test: &a.test }).collect()
    }
}
