//! `sarl audit`.

mod files;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use faer::Mat;
use sarl::FitParams;
use sarl_data::{Schema, Source};
use sarl_eval::{Options, Own, Side, View, probes};
use sarl_lab::{Parts, Rows, Split};

use self::report::Report;
use super::encode::schema_of;
use super::erasures;
use crate::args::{Audit, Global};
use crate::coding::Held;
use crate::failure::{Exit, Failure, Outcome};
use crate::inquiry::{self, Files};
use crate::progress::{self, Count};
use crate::provenance::{Origin, Provenance};
use crate::{output, outputs};

pub fn run(options: &Audit, global: &Global) -> Outcome {
    let start = Instant::now();
    let who = inquiry::probes(&options.probing)?;
    let model = Held::load(&options.model)?;
    if options.page.html.is_some() && model.model().is_none() {
        return Err(erasures::no_page(&options.model));
    }
    let schema = schema_of(model.extra(), &options.model)?;
    let files = Files::open(&options.data, &options.probing)?;
    let written = options.predictions.iter().chain(&options.page.html).map(PathBuf::as_path);
    outputs::check(written, files.paths().chain([options.model.as_path()]), global)?;
    let origin = Provenance::of(model.extra())?.origin;
    let split = Trisected::new(&files, &schema, &model, origin.as_ref(), options, global)?;
    let attributes = split.parts.attributes();
    let views = views(&split, options.no_control);
    let seeds = options.probing.seeds(options.seed);
    let count = Count::new("trying attackers", global.quiet);
    let labels = split.parts.encoder.as_ref().map(|rows| {
        let hidden = rows.sensitives.iter().enumerate();
        hidden.map(|(i, labels)| (attributes.targets + i, labels.clone())).collect::<Vec<_>>()
    });
    let who_else = probes::unblinded(&who);
    let own = split.parts.encoder.as_ref().zip(labels.as_ref());
    let own = own.filter(|_| !who_else.is_empty()).map(|(rows, labels)| Own {
        rows: rows.z.as_ref(),
        labels,
        probes: &who_else,
    });
    let found = sarl_eval::audit(
        &views,
        &attributes.asked(),
        &Options {
            probes: &who,
            seeds: &seeds,
            threads: rayon::current_num_threads(),
            stop: &progress::interrupted,
            progress: &|done, all| count.at(done, all),
            own,
        },
    )?;
    drop(count);
    progress::check()?;
    let mut found = found.into_iter();
    let Some(z) = found.next() else { return Err(Failure::interrupted()) };
    let z = Side::favouring(z, &attributes, split.parts.favourable);
    let control = found.next().map(|raw| Side::beside(raw, &attributes, &z));
    let z = match &control {
        Some(raw) => z.against(raw, &attributes),
        None => z,
    };
    let report = Report { z, control, split, attributes, model, origin, seeds };
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

/// Rows in three parts, and an encoder that has seen only the first.
struct Trisected {
    parts: Parts,
    /// Whether the encoder was fitted anew, on the first part.
    anew: bool,
}

impl Trisected {
    fn new(
        files: &Files,
        schema: &Schema,
        model: &Held,
        origin: Option<&Origin>,
        options: &Audit,
        global: &Global,
    ) -> Outcome<Self> {
        let seen = |source: &Source| -> Outcome<Option<PathBuf>> {
            let seen = origin.map(|o| o.saw(source.inputs())).transpose()?.flatten();
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
        let seen = seen(&files.data)?.is_some();
        let cells = model.model().is_some_and(|m| m.cells().is_some());
        if seen && cells {
            let message = "the model has cells, which were chosen and certified on these rows";
            return Err(Failure::new(Exit::Unreachable, message)
                .hint("give rows that it has not seen: cells are not chosen anew for an audit"));
        }
        // Without its parameters an encoder cannot be fitted anew, and cells cannot be chosen anew.
        let params = model.params();
        let as_it_is = cells || (params.is_none() && files.test.is_none());
        let seen = (seen || origin.is_none()) && !as_it_is;
        let probing = &options.probing;
        let mut parts =
            files.read(schema, Some(&model.coder(false)?), seen, probing, options.seed, global)?;
        parts.favourable = model.criterion().favourable();
        let anew = match (parts.split, &params) {
            (Split::Three, Some(params)) => {
                refit(&mut parts, schema, model, params)?;
                true
            }
            _ => false,
        };
        Ok(Trisected { parts, anew })
    }
}

/// Fits the encoder anew on the first part, with the options and the goal of the model.
fn refit(parts: &mut Parts, schema: &Schema, model: &Held, params: &FitParams) -> Outcome {
    parts.standardise(schema.dense_width(), params.scale);
    let coder = model.anew(parts.fitted()?, params)?;
    for rows in parts.encoder.iter_mut().chain([&mut parts.probes, &mut parts.test]) {
        rows.z = coder.rows(rows.x.as_ref())?;
    }
    Ok(())
}

fn views(split: &Trisected, no_control: bool) -> Vec<View<'_>> {
    let view = |of: fn(&Rows) -> &Mat<f64>| View {
        train: of(&split.parts.probes).as_ref(),
        test: of(&split.parts.test).as_ref(),
    };
    let z = view(|rows| &rows.z);
    if no_control { vec![z] } else { vec![z, view(|rows| &rows.x)] }
}
