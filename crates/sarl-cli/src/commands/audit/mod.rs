//! `sarl audit`.

mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use faer::Mat;
use sarl::{Encoder, Model};
use sarl_data::{Schema, Source};
use sarl_eval::{Options, Side, View};

use self::report::Report;
use super::encode::schema_of;
use super::retune::load;
use crate::args::{Audit, Global};
use crate::data::check_output;
use crate::failure::{Exit, Failure, Outcome};
use crate::inquiry::{self, Files, Sides};
use crate::memory::{Rows, scaled_columns, standardise};
use crate::origin::Origin;
use crate::output;
use crate::progress::{self, Count};

pub fn run(options: &Audit, global: &Global) -> Outcome {
    let start = Instant::now();
    let who = inquiry::probes(&options.probing)?;
    let model = load(&options.model)?;
    let schema = schema_of(&model, &options.model)?;
    let files = Files::open(&options.data, &options.probing)?;
    for output in options.predictions.iter().chain(&options.page.html) {
        check_output(output, files.paths().chain([options.model.as_path()]))?;
    }
    let origin = Origin::load(&model)?;
    let split = Split::new(&files, &schema, &model, origin.as_ref(), options, global)?;
    let attributes = inquiry::attributes(&schema, &split.sides);
    let views = views(&split, options.no_control);
    let seeds = options.probing.seeds(options.seed);
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
    report.page(options, &schema, &files, global)?;
    let seconds = start.elapsed().as_secs_f64();
    if global.json {
        return output::print_json(&report.json(options, seconds));
    }
    output::print(&report.text(options, seconds))
}

/// Rows to learn from, rows to be tested on, and an encoder that has not seen the latter.
struct Split {
    sides: Sides,
    /// The encoder was fitted anew, on the rows to learn from.
    anew: Option<Encoder>,
}

impl Split {
    fn new(
        files: &Files,
        schema: &Schema,
        model: &Model,
        origin: Option<&Origin>,
        options: &Audit,
        global: &Global,
    ) -> Outcome<Self> {
        let seen = |source: &Source| -> Outcome<Option<PathBuf>> {
            let seen = origin.map(|o| o.saw(source.paths())).transpose()?.flatten();
            Ok(seen.map(Path::to_owned))
        };
        if let Some(path) = files.test.as_ref().map(seen).transpose()?.flatten() {
            let message = format!(
                "{}: the encoder was fitted on these rows, so it cannot be tested on them",
                path.display()
            );
            return Err(Failure::new(Exit::Unreachable, message)
                .hint("give other rows, or leave --test out: the encoder is then fitted anew on a part of DATA"));
        }
        let mut sides = files.read(schema, Some(model), &options.probing, options.seed, global)?;
        let anew = match (sides.apart, origin) {
            (false, Some(origin)) if seen(&files.data)?.is_some() => {
                Some(refit(&mut sides, schema, model, origin)?)
            }
            _ => None,
        };
        Ok(Split { sides, anew })
    }
}

/// Fits the encoder anew on the rows to learn from, with the options and the goal of the model.
fn refit(sides: &mut Sides, schema: &Schema, model: &Model, origin: &Origin) -> Outcome<Encoder> {
    let (train, test) = (&mut sides.train, &mut sides.test);
    standardise(&mut train.x, &mut test.x, scaled_columns(schema));
    let encoder = train.fit(&origin.encoder, model.goal().clone())?.encoder();
    train.z = encoder.encode(train.x.as_ref())?;
    test.z = encoder.encode(test.x.as_ref())?;
    Ok(encoder)
}

fn views(split: &Split, no_control: bool) -> Vec<View<'_>> {
    let view = |of: fn(&Rows) -> &Mat<f64>| View {
        train: of(&split.sides.train).as_ref(),
        test: of(&split.sides.test).as_ref(),
    };
    let z = view(|rows| &rows.z);
    if no_control { vec![z] } else { vec![z, view(|rows| &rows.x)] }
}
