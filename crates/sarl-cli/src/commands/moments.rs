//! `sarl moments`.

use std::path::PathBuf;

use sarl::{Fit, FoldBy, Role};
use sarl_data::{Missing, Request, Schema, Source};
use serde_json::json;

use crate::args::{
    CriterionName, DeviceOptions, EncoderOptions, Global, MissingPolicy, Moments as Options,
    PrecisionName, ScalePolicy,
};
use crate::data::{self, Rows, layout, learn};
use crate::encoding::{check_targets, criterion, params};
use crate::failure::{Failure, Outcome};
use crate::folding::Folding;
use crate::parts::{About, Moments, Tally};
use crate::provenance::Origin;
use crate::request::{notes, request};
use crate::{demand, output, outputs, terminal};

pub fn run(options: &Options, global: &Global) -> Outcome {
    super::fit::model_output(&options.output)?;
    check(options)?;
    let moments = made(options, global)?;
    if moments.schema.is_some() && moments.fit.map().is_none() {
        let message = "there are fewer rows than features: the file holds the rows themselves";
        output::note(global, message);
    }
    if let Some(name) = moments.fit.device_name() {
        output::note(global, &format!("rows were added up on {name}"));
    }
    let bytes = moments.to_bytes()?;
    crate::progress::check()?;
    sarl_data::write_file(&options.output, &bytes)?;
    report(&moments, bytes.len(), options, global)
}

fn made(options: &Options, global: &Global) -> Outcome<Moments> {
    let like = options.like.as_deref().map(Moments::load).transpose()?;
    let source = match Source::open(&options.files.data).map_err(Failure::from) {
        Err(failure) if failure.no_rows => return without_rows(options, global),
        source => source?,
    };
    let others = options.encoder.landmarks_from.iter().chain(&options.like).map(PathBuf::as_path);
    outputs::check([options.output.as_path()], source.paths().chain(others), global)?;
    let source = source.with_threads(rayon::current_num_threads());
    match like {
        Some(like) => continued(like, &options.device, &source, global),
        None => learned(options, &source, global),
    }
}

/// A shard that has a header, and nothing else.
fn without_rows(options: &Options, global: &Global) -> Outcome<Moments> {
    let inputs = options.files.data.iter().map(PathBuf::as_path);
    outputs::check([options.output.as_path()], inputs, global)?;
    let about = About {
        origin: Origin { files: Vec::new() },
        tally: Tally::default(),
        said: Vec::new(),
        fold_column: None,
        public_landmarks: false,
    };
    Moments::empty(params(&options.encoder, options.data.scale)?, about)
}

/// Refuses what cannot be known from a part of the rows.
fn check(options: &Options) -> Outcome {
    if options.data.missing == MissingPolicy::Mean {
        let message = "--missing mean needs all rows: the mean of a shard is not that of all";
        return Err(Failure::usage(message).hint("use --missing drop"));
    }
    if options.data.max_categories.is_some() {
        let message = "--max-categories needs all rows: frequent values of a shard may be rare";
        return Err(Failure::usage(message).hint("use --drop, or COL:class for many categories"));
    }
    let encoder = &options.encoder;
    if encoder.criterion == CriterionName::EqualOpportunity && encoder.favourable.is_none() {
        let message = "--favourable is missing: a shard may not have met all classes";
        return Err(Failure::usage(message).hint("name the class of the target"));
    }
    match &options.like {
        Some(_) if has_own(options) => {
            Err(Failure::usage("--like decides on columns and options: give no others")
                .hint("leave out all options but DATA, --like and -o"))
        }
        _ => Ok(()),
    }
}

/// Whether options beside `--like` are given.
fn has_own(options: &Options) -> bool {
    let data = &options.data;
    let names = [&data.target, &data.sensitive, &data.features, &data.categorical, &data.drop];
    let default = EncoderOptions::default();
    names.iter().any(|given| !given.is_empty())
        || data.weight.is_some()
        || data.scale != ScalePolicy::default()
        || data.missing != MissingPolicy::default()
        || !data.missing_values.is_empty()
        || options.device.precision != PrecisionName::default()
        || format!("{:?}", options.encoder) != format!("{default:?}")
}

/// Rows whose columns are not known yet.
fn learned(options: &Options, source: &Source, global: &Global) -> Outcome<Moments> {
    let encoder = &options.encoder;
    let mut params = params(encoder, options.data.scale)?;
    params.precision = options.device.precision.into();
    let folding = Folding::new(encoder, FoldBy::Content);
    params.fold_by = folding.by();
    let request = folding.without_column(request(&options.data, source)?);
    let request = Request { part: true, ..request };
    check_targets(encoder, &request.targets)?;
    let about = About {
        origin: Origin::new(source.inputs())?,
        tally: Tally::default(),
        said: said(&request),
        fold_column: folding.columns().first().cloned(),
        public_landmarks: encoder.landmarks_from.is_some(),
    };
    let learned = learn(source, &request, global, Schema::learn_deferred);
    let mut schema = match learned {
        Err(failure) if failure.no_rows => return Moments::empty(params, about),
        learned => learned?,
    };
    if let Some(class) = &encoder.favourable {
        schema.add_class(0, class.trim());
    }
    let (of, assumed) = criterion(encoder, &schema)?;
    params.criterion = of;
    assumed.iter().for_each(|remark| remark.say(global));
    notes(source, &schema).iter().for_each(|note| output::note(global, note));
    demand::check(&schema, &params)?;
    params.check_rows(schema.rows())?;
    let fit = Fit::new(params.clone(), layout(&schema))?.expecting(schema.rows())?;
    let fit = crate::device::on(fit, &options.device)?;
    let public = encoder.landmarks_from.as_deref();
    let read = add_up(fit, &schema, source, about, public, global);
    read.or_else(|failure| {
        // The full pass names the count and the first rows of what is missing.
        if failure.missing {
            learn(source, &request, global, Schema::learn)?;
        }
        Err(failure)
    })
}

/// Columns of which somebody has said what they are.
fn said(request: &Request) -> Vec<String> {
    let labels = request.targets.columns().iter().chain(&request.sensitives);
    let refs = labels.chain(request.features.iter().flatten());
    let explicit = refs.filter(|column| column.treat.is_some()).map(|column| column.name.clone());
    explicit.chain(request.categorical.iter().cloned()).collect()
}

/// Rows of the columns of another file of moments.
fn continued(
    like: Moments,
    device: &DeviceOptions,
    source: &Source,
    global: &Global,
) -> Outcome<Moments> {
    let Some(schema) = like.schema else {
        let message = "--like: this file of moments has no rows, so that its columns are not known";
        return Err(Failure::usage(message).hint("name another one"));
    };
    if schema.missing() == Missing::Mean {
        return Err(Failure::usage("--like: missing values were filled in by a mean"));
    }
    let (origin, tally) = (Origin::new(source.inputs())?, Tally::default());
    let about = About { origin, tally, ..like.about };
    let fit = crate::device::on(like.fit.without_rows()?, device)?;
    let moments = add_up(fit, &schema, source, about, None, global)?;
    let rows = moments.fit.rows();
    Ok(Moments { schema: Some(schema.of_rows(rows)), ..moments })
}

/// The passes over the rows.
fn add_up(
    mut fit: Fit,
    schema: &Schema,
    source: &Source,
    mut about: About,
    public: Option<&std::path::Path>,
    global: &Global,
) -> Outcome<Moments> {
    let by = fit.params().fold_by;
    let folding = Folding::of(by, about.fold_column.clone());
    let keys = folding.keys(schema);
    let rows = Rows { source, schema, part: None, keep: folding.columns(), global };
    data::choose(&rows, public, &mut fit)?;
    rows.each("accumulating moments", |block| {
        about.tally.add(block);
        data::push(&mut fit, block, &keys)
    })?;
    Ok(Moments { fit, schema: Some(schema.clone()), about })
}

fn report(moments: &Moments, bytes: usize, options: &Options, global: &Global) -> Outcome {
    let (rows, layout) = (moments.fit.rows(), moments.fit.layout());
    let known = moments.schema.is_some();
    let features = if known { layout.features() } else { 0 };
    let columns = |role: Role| if known { layout.width(role) } else { 0 };
    if global.json {
        return output::print_json(&json!({
            "n": rows,
            "features": features,
            "labels": { "target": columns(Role::Target), "sensitive": columns(Role::Sensitive) },
            "model": output::path_json(&options.output),
            "bytes": bytes,
            "device": moments.fit.device_name().unwrap_or_else(|| "cpu".to_owned()),
        }));
    }
    output::print(&terminal::wrap(&format!(
        "Moments of {rows} rows and {features} features, {} written to {}",
        sarl_memory::shown(bytes as u64),
        terminal::path(&options.output)
    )))
}
