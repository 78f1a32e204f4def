//! `sarl encode`.

use std::path::Path;
use std::time::Instant;

use sarl::Model;
use sarl_data::{BlockOptions, Gaps, Labels, Schema, Source, Unseen, Writer};
use serde_json::json;

use super::fit::SCHEMA;
use super::retune::load;
use crate::args::{Encode, Global, UnseenPolicy};
use crate::data::{check_output, with_block};
use crate::failure::{Exit, Failure, Outcome};
use crate::output;
use crate::progress::Pass;

pub fn run(options: &Encode, global: &Global) -> Outcome {
    let start = Instant::now();
    if global.json && options.output == Path::new("-") {
        return Err(Failure::usage("--json and -o - both want stdout")
            .hint("write z to a file, or leave --json out"));
    }
    let model = load(&options.model)?;
    let schema = schema_of(&model, &options.model)?;
    let encoder = model.encoder();
    let source = Source::open(&options.data)?.with_threads(rayon::current_num_threads());
    let inputs = source.paths().chain([options.model.as_path()]);
    check_output(&options.output, inputs)?;
    let reading = BlockOptions {
        unseen: match options.unseen {
            UnseenPolicy::Error => Unseen::Error,
            UnseenPolicy::Ignore => Unseen::Ignore,
        },
        labels: Labels::Skip,
        keep: options.keep.clone(),
        missing: options.missing.map(Into::into),
        // Rows of z are those of the data, whatever is missing in them.
        gaps: Gaps::Mark,
        ..Default::default()
    };
    let names: Vec<String> = (0..encoder.dim()).map(|j| format!("z{j}")).collect();
    let mut blocks = source.blocks(&schema, &reading)?;
    let mut writer = Writer::create(&options.output, &names, &options.keep)?;
    let mut pass = Pass::new("encoding", source.rows_hint().map(|h| h.rows), global.quiet);
    let (mut rows, mut dropped) = (0, 0);
    while let Some(block) = blocks.next() {
        let block = block?;
        let z = with_block(&block, |b| Ok(encoder.encode_block(b)?))?;
        let mut flat: Vec<f64> = (0..z.nrows()).flat_map(|i| z.row(i).iter().copied()).collect();
        for row in &block.gaps {
            flat[row * z.ncols()..][..z.ncols()].fill(f64::NAN);
        }
        dropped += block.gaps.len();
        writer.write(&flat, block.rows, block.keep.as_ref())?;
        rows += block.rows as u64;
        blocks.recycle(block);
        pass.check(rows)?;
    }
    drop(pass);
    writer.finish()?;
    if dropped > 0 {
        let have =
            if dropped == 1 { "row has a missing value" } else { "rows have missing values" };
        output::note(global, &format!("{dropped} {have}: there z is empty (NaN)"));
    }
    let seconds = start.elapsed().as_secs_f64();
    match (global.json, options.output == Path::new("-")) {
        (true, _) => output::print_json(&json!({
            "rows": rows,
            "dropped": dropped,
            "dim": encoder.dim(),
            "output": options.output,
            "seconds": { "total": seconds },
        })),
        (false, true) => Ok(()),
        (false, false) => output::print(&format!(
            "{rows} rows encoded in {}, written to {}",
            output::dimensions(encoder.dim()),
            options.output.display()
        )),
    }
}

/// The schema that a model carries.
pub fn schema_of(model: &Model, path: &Path) -> Outcome<Schema> {
    let schema = model.extra.get(SCHEMA).ok_or_else(|| {
        let message = format!("{}: the model carries no schema of a table", path.display());
        Failure::new(Exit::Data, message).hint("fit it with `sarl fit`")
    })?;
    Ok(Schema::from_json(schema)?)
}
