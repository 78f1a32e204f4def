//! `sarl compare`.

mod entry;
mod figure;
mod files;
mod ours;
mod page;
mod report;
mod rivals;
mod words;

use std::time::Instant;

use sarl_data::Schema;
use sarl_eval::Side;
use serde_json::json;

use self::entry::{Entry, Guesses, Method, Setting};
use self::report::Report;
use self::rivals::Wanted;
use crate::args::{Compare, Global};
use crate::data::{check_output, learn, shared};
use crate::encoding::params;
use crate::failure::{Failure, Outcome};
use crate::inquiry::{self, Files, Known};
use crate::output;
use crate::progress::{self, Spinner};
use crate::request::{index_warning, notes, request};
use crate::ring::{Probing, Ring, Scored};
use crate::warnings;

pub fn run(options: &Compare, global: &Global) -> Outcome {
    let start = Instant::now();
    check_options(options)?;
    let who = inquiry::probes(&options.probing)?;
    let wanted = Wanted::new(&options.rivals)?;
    let encoders = ours::encoders(&options.encoder)?;
    let files = Files::open(&options.data.data, &options.probing)?;
    files::check(&options.output, || files.paths())?;
    if let Some(html) = &options.page.html {
        check_output(html, files.paths())?;
    }
    let request = request(&options.data, &files.data)?;
    let schema = learn(&files.data, &request, global, Schema::learn)?;
    warnings::about_shared(&shared(&request, &schema), global);
    notes(&files.data, &schema).iter().for_each(|note| output::note(global, note));
    if let Some(warning) = index_warning(&files.data, &schema)? {
        output::warn(global, &warning);
    }
    let seed = options.encoder.seed;
    let mut parts = files.read(&schema, None, Known::Seen, &options.probing, seed, global)?;
    let scale = params(&options.encoder, options.data.scale)?.scale;
    parts.standardise(&schema, scale);
    let fitted = parts.fitted()?;
    for (_, encoder) in &encoders {
        encoder.check_rows(fitted.len() as u64)?;
    }
    let (rivals, left_out) = wanted.for_labels(fitted)?;
    let attributes = inquiry::attributes(&schema, &parts);
    let (asked, seeds) = (attributes.asked(), options.probing.seeds(seed));
    let ring = parts.ring(&asked, Probing::both(&who))?;
    let raw = control(&ring, &seeds, global)?;
    let guesses = Guesses::new(&raw.found, attributes.targets);
    let mut entry =
        Entry::new(Method::Raw, Setting::None, std::slice::from_ref(&raw), Vec::new(), &guesses);
    announce(&entry, &guesses, global);
    entry.side = Some(Side::new(raw.found, &attributes));
    let mut entries = vec![entry];
    let mut ours = Vec::new();
    for (kind, encoder) in &encoders {
        let fitted = ours::Fitted::new(*kind, encoder, fitted, global)?;
        let leakages = &options.leakages;
        entries.extend(fitted.entries(&ring, leakages, &seeds, &guesses, &attributes, global)?);
        ours.push(fitted);
    }
    entries.extend(rivals::entries(&ring, &rivals, &options.hiding, &seeds, &guesses, global)?);
    progress::check()?;
    let seconds = json!({ "total": start.elapsed().as_secs_f64() });
    let report = Report {
        options,
        parts: &parts,
        attributes: &attributes,
        seeds,
        probes: who,
        guesses,
        entries,
        left_out,
        kinds: ours.iter().map(ours::Fitted::words).collect(),
        seconds,
    };
    let json = report.json();
    files::write(&options.output, &report, &json)?;
    if let Some(path) = &options.page.html {
        let page = page::page(&report, &ours, &schema, global)?;
        crate::page::write(&page, path)?;
    }
    if global.json {
        return output::print_json(&json);
    }
    output::print(&report.text())
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

/// Says what came of an encoder as soon as it is known.
fn announce(entry: &Entry, guesses: &Guesses, global: &Global) {
    progress::line(&entry.news(guesses), global.quiet);
}

/// What the probes tell of the raw features.
fn control(ring: &Ring<'_>, seeds: &[u64], global: &Global) -> Outcome<Scored> {
    progress::check()?;
    let _spinner = Spinner::shown("raw features: trying attackers", global.quiet);
    let raw = ring.encoded(|x| Ok(x.to_owned()))?;
    ring.score(&raw, 0.0, seeds, rayon::current_num_threads(), &progress::interrupted)
}
