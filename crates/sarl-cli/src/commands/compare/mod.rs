//! `sarl compare`.

mod files;
mod text;

use std::time::Instant;

use sarl::FitParams;
use sarl_data::Schema;
use sarl_lab::{Compared, Method, PageOf, Plan, Wanted};
use serde_json::json;

use crate::args::{
    Approximation, Compare, EncoderOptions, Global, KernelName, NumberOrAuto, ScalePolicy,
};
use crate::data::{learn, shared};
use crate::encoding::{check_targets, criterion, params};
use crate::failure::{Failure, Outcome};
use crate::inquiry::{self, Files, paths};
use crate::request::{index_warning, notes, request};
use crate::typed::Typed;
use crate::{output, page, progress, warnings};

pub fn run(options: &Compare, global: &Global) -> Outcome {
    let start = Instant::now();
    check_options(options)?;
    let seed = options.encoder.seed;
    if options.encoder.fold_by.is_some() {
        let message = "--fold-by has no place in a comparison: its rows are in three parts";
        return Err(Failure::usage(message).hint("leave it out"));
    }
    let mut plan = Plan {
        probes: inquiry::probes(&options.probing)?,
        rivals: Wanted::new(&options.rivals)?,
        encoders: encoders(&options.encoder)?,
        leakages: options.leakages.clone(),
        hiding: options.hiding.clone(),
        seeds: options.probing.seeds(seed),
    };
    let files = Files::open(&options.files.data, &options.probing)?;
    files::check(&options.output, options.page.html.as_deref(), files.paths(), global)?;
    let request = request(&options.data, &files.data)?;
    check_targets(&options.encoder, &request.targets)?;
    let schema = learn(&files.data, &request, global, Schema::learn)?;
    let (criterion, assumed) = criterion(&options.encoder, &schema)?;
    plan.encoders.iter_mut().for_each(|(_, params)| params.criterion = criterion);
    warnings::about_shared(&shared(&schema), global);
    assumed.iter().for_each(|remark| remark.say(global));
    notes(&files.data, &schema).iter().for_each(|note| output::note(global, note));
    if let Some(warning) = index_warning(&files.data, &schema)? {
        output::warn(global, &warning);
    }
    let mut parts = files.read(&schema, None, true, &options.probing, seed, global)?;
    let scale = params(&options.encoder, options.data.scale)?.scale;
    parts.standardise(schema.dense_width(), scale);
    let compared = plan.run(parts, &progress::watch(global.quiet))?;
    let mut json = compared.json();
    let seconds = start.elapsed().as_secs_f64();
    json["files"] = json!(files::names());
    json["html"] = json!(options.page.html.as_deref().map(output::path_json));
    json["seconds"] = json!({ "total": seconds });
    files::write(&options.output, &compared, &json)?;
    if let Some(path) = &options.page.html {
        report(&compared, &schema, options, global).and_then(|page| page::write(&page, path))?;
    }
    if global.json {
        return output::print_json(&json);
    }
    output::print(&text::text(&compared, options, seconds))
}

/// A linear encoder and one with a kernel, and how each is fitted.
fn encoders(given: &EncoderOptions) -> Outcome<Vec<(Method, FitParams)>> {
    let linear = EncoderOptions {
        kernel: KernelName::Linear,
        approx: Approximation::default(),
        ..given.clone()
    };
    let kernel = match given.kernel {
        KernelName::Linear => {
            let ridge = Some(NumberOrAuto::Auto);
            EncoderOptions { kernel: KernelName::Rbf, ridge, ..given.clone() }
        }
        _ => given.clone(),
    };
    for options in [&linear, &kernel] {
        if options.ridge == Some(NumberOrAuto::Auto) && options.folds < 2 {
            return Err(Failure::usage("--folds is 1: --ridge auto needs held-out losses")
                .hint("give --folds 2 or more, or both --kernel and a --ridge"));
        }
    }
    let params = |options: &EncoderOptions| params(options, ScalePolicy::None);
    Ok(vec![(Method::Linear, params(&linear)?), (Method::Kernel, params(&kernel)?)])
}

/// The report.
fn report(
    compared: &Compared,
    schema: &Schema,
    options: &Compare,
    global: &Global,
) -> Outcome<sarl_report::page::Page> {
    let columns = page::table(schema)?;
    // The fit of one of ours on all rows.
    let linear = Typed::fit(&["kernel", "approx"]);
    let kernel = match Typed::was_given("kernel") {
        true => Typed::fit(&[]),
        false => Typed::fit(&["ridge"]).with(&["--kernel", "rbf", "--ridge", "auto"]),
    };
    let models: Vec<_> = compared.ours.iter().map(|ours| &ours.model).collect();
    let of = PageOf {
        subtitle: "sarl compare".to_owned(),
        rows: options.page.html_rows as usize,
        columns: &columns,
        command: &|method, _, option| match method {
            Method::Linear => linear.with_goal(option),
            _ => kernel.with_goal(option),
        },
        makes: ["Command for such an encoder of all rows", "Command for this encoder"],
        about: page::about(
            &paths(&options.files.data),
            Some(&columns),
            &models,
            options.encoder.seed,
        ),
    };
    Ok(compared.page(of, &progress::watch(global.quiet))?)
}

/// Options whose values clap cannot judge.
fn check_options(options: &Compare) -> Outcome {
    for (name, values) in [("--hiding", &options.hiding), ("--leakages", &options.leakages)] {
        if let Some(value) = values.iter().find(|v| !(0.0..=1.0).contains(*v)) {
            let failure = Failure::usage(format!("{name} is {value}: expected 0 to 1"));
            return Err(match name == "--leakages" && *value > 1.0 && *value <= 100.0 {
                true => failure
                    .hint(format!("shares go from 0 to 1; for {value} % write {}", value / 100.0)),
                false => failure,
            });
        }
    }
    if let Some(column) = &options.data.weight {
        let message = format!("--weight {column}: other methods know no weights of rows");
        return Err(Failure::usage(message)
            .hint(format!("use --drop {column}: rows then count equally for all")));
    }
    Ok(())
}
