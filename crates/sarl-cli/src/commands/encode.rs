//! `sarl encode`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use sarl_data::{BlockOptions, Gaps, Labels, Schema, Source, Unseen, Writer, with_codes};
use serde_json::json;

use crate::args::{Encode, Global, PrecisionName, UnseenPolicy};
use crate::coding::{Held, flat};
use crate::data::with_block;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::Pass;
use crate::provenance::Provenance;
use crate::{device, output, outputs, terminal};

/// The column of the cell.
const CELL: &str = "cell";

pub fn run(options: &Encode, global: &Global) -> Outcome {
    let start = Instant::now();
    let held = Held::load(&options.model)?;
    let schema = schema_of(held.extra(), &options.model)?;
    let coder = held.coder(options.erased)?;
    let cells = coder.encoder().filter(|encoder| encoder.cells().is_some());
    let source = Source::open(&options.data)?.with_threads(rayon::current_num_threads());
    let inputs = source.paths().chain([options.model.as_path()]);
    outputs::check([options.output.as_path()], inputs, global)?;
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
    let mut names = coder.names(&schema);
    let mut keep = options.keep.clone();
    // A matrix file has no other columns than numbers.
    let is_matrix = options.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    match cells {
        Some(_) if is_matrix => names.insert(0, CELL.to_owned()),
        Some(_) => keep.push(CELL.to_owned()),
        None => {}
    }
    let engine = device::engine(&options.device, PrecisionName::Double)?;
    let mut there = match (&engine, coder.encoder()) {
        (Some(engine), Some(encoder)) => {
            let rows = source.rows_hint().map_or(0, |hint| hint.rows);
            encoder.encoding(engine.as_ref(), rows)?
        }
        _ => None,
    };
    let mut blocks = source.blocks(&schema, &reading)?;
    let mut writer = Writer::create(&options.output, &names, &keep)?;
    let mut pass = Pass::new("encoding", source.rows_hint().map(|h| h.rows), global.quiet);
    let (mut rows, mut dropped) = (0, 0);
    while let Some(block) = blocks.next() {
        let block = block?;
        let mut z = match (&mut there, coder.encoder()) {
            (Some(there), Some(encoder)) => {
                flat(&with_block(&block, |b| Ok(encoder.encode_with(there.as_mut(), b)?))?)
            }
            _ => coder.block(&block)?,
        };
        for row in &block.gaps {
            z[row * coder.dim()..][..coder.dim()].fill(f64::NAN);
        }
        dropped += block.gaps.len();
        if let Some(encoder) = cells {
            let cells = with_block(&block, |b| Ok(encoder.cells_of(b)?))?;
            let known = |(i, cell): (usize, u32)| (!block.gaps.contains(&i)).then_some(cell);
            let cells = cells.into_iter().enumerate().map(known);
            if is_matrix {
                let row = |(cell, z): (Option<u32>, &[f64])| {
                    [&[cell.map_or(f64::NAN, f64::from)], z].concat()
                };
                z = cells.zip(z.chunks(coder.dim())).flat_map(row).collect();
                writer.write(&z, block.rows, None)?;
            } else {
                let keep = with_codes(block.keep.as_ref(), CELL, cells)?;
                writer.write(&z, block.rows, Some(&keep))?;
            }
        } else {
            writer.write(&z, block.rows, block.keep.as_ref())?;
        }
        rows += block.rows as u64;
        blocks.recycle(block);
        pass.check(rows)?;
    }
    drop(pass);
    writer.finish()?;
    if dropped > 0 {
        let have =
            if dropped == 1 { "row has a missing value" } else { "rows have missing values" };
        let what = if coder.encoder().is_some() { "z" } else { "the result" };
        output::note(global, &format!("{dropped} {have}: there {what} is empty (NaN)"));
    }
    let used = engine.filter(|_| there.is_some()).map(|engine| engine.name());
    if let Some(name) = &used {
        output::note(global, &format!("rows were encoded on {name}"));
    }
    let seconds = start.elapsed().as_secs_f64();
    match global.json {
        true => output::print_json(&json!({
            "rows": rows,
            "dropped": dropped,
            "dim": coder.dim(),
            "erased": coder.encoder().is_none(),
            "device": used.as_deref().unwrap_or("cpu"),
            "output": output::path_json(&options.output),
            "seconds": { "total": seconds },
        })),
        false => {
            let to = terminal::path(&options.output);
            let (done, size) = match coder.encoder() {
                Some(encoder) => ("encoded", output::dimensions(encoder.dim())),
                None => ("erased", format!("the {} columns of the features", coder.dim())),
            };
            output::print(&format!("{rows} rows {done} in {size}, written to {to}"))
        }
    }
}

/// The schema that a model carries.
pub fn schema_of(extra: &BTreeMap<String, String>, path: &Path) -> Outcome<Schema> {
    Provenance::of(extra)?.schema.ok_or_else(|| {
        let message = format!("{}: the model carries no schema of a table", path.display());
        Failure::new(Exit::Data, message).hint("fit it with `sarl fit`")
    })
}
