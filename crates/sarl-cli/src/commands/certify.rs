//! `sarl certify`.

use std::time::Instant;

use sarl::cells::{Certifier, PartRows};
use sarl_data::{BlockOptions, Source, Unseen};
use serde_json::json;

use super::encode::schema_of;
use super::retune::load;
use crate::args::{Certify, Global, UnseenPolicy};
use crate::data::with_block;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::Pass;
use crate::provenance::Provenance;
use crate::{certificate, output};

pub fn run(options: &Certify, global: &Global) -> Outcome {
    let start = Instant::now();
    let model = load(&options.model)?;
    let Some(cells) = model.cells() else {
        let message = format!("{}: the model has no cells", options.model.display());
        return Err(Failure::new(Exit::Unreachable, message)
            .hint("fit one with `sarl fit … --max-advantage A`"));
    };
    let confidence = options.confidence.unwrap_or(cells.goal().confidence);
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("--confidence is {confidence}: expected above 0, below 1");
        return Err(Failure::usage(message));
    }
    let schema = schema_of(&model.extra, &options.model)?;
    let source = Source::open(&options.data)?.with_threads(rayon::current_num_threads());
    let origin = Provenance::of(&model.extra)?.origin;
    if let Some(path) = origin.as_ref().map(|o| o.saw(source.inputs())).transpose()?.flatten() {
        let message = format!(
            "{}: the encoder was fitted on these rows, so they prove nothing about it",
            path.display()
        );
        return Err(Failure::new(Exit::Unreachable, message)
            .hint("give other rows; `sarl info` shows what the fit itself certified"));
    }
    let mut certifier = Certifier::new(&model)?;
    let unseen = match options.unseen {
        UnseenPolicy::Error => Unseen::Error,
        UnseenPolicy::Ignore => Unseen::Ignore,
    };
    let mut pass = Pass::new("certifying", source.rows_hint().map(|h| h.rows), global.quiet);
    let mut blocks = source.blocks(&schema, &BlockOptions { unseen, ..Default::default() })?;
    while let Some(block) = blocks.next() {
        let block = block?;
        with_block(&block, |block| Ok(certifier.push(block)?))?;
        blocks.recycle(block);
        pass.check(certifier.rows())?;
    }
    drop(pass);
    if certifier.rows() == 0 {
        return Err(Failure::new(Exit::Data, "DATA has no rows"));
    }
    let known = cells.certificate().map_or(PartRows::default(), |c| c.rows);
    let found = certifier.certificate(confidence, 1, known);
    if global.json {
        return output::print_json(&json!({
            "n": certifier.rows(),
            "certificate": certificate::json(&found, cells.count()),
            "seconds": { "total": start.elapsed().as_secs_f64() },
        }));
    }
    output::print(&certificate::text(&found, cells, Some(&schema)))
}
