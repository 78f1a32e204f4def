//! `sarl encode`.

use std::path::Path;
use std::time::Instant;

use sarl::Model;
use sarl_data::{BlockOptions, Gaps, Labels, Schema, Source, Unseen, Writer, with_codes};
use serde_json::json;

use super::retune::load;
use crate::args::{Encode, Global, PrecisionName, UnseenPolicy};
use crate::data::with_block;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::Pass;
use crate::provenance::Provenance;
use crate::{device, output, outputs, terminal};

/// The column of the cell.
const CELL: &str = "cell";

pub fn run(options: &Encode, global: &Global) -> Outcome {
    let start = Instant::now();
    let model = load(&options.model)?;
    let schema = schema_of(&model, &options.model)?;
    let encoder = model.encoder();
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
    // The columns of a centre are counted from 1.
    let first = usize::from(encoder.cells().is_some());
    let mut names: Vec<String> = (first..encoder.dim() + first).map(|j| format!("z{j}")).collect();
    let mut keep = options.keep.clone();
    // A matrix file has no other columns than numbers.
    let is_matrix = options.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    match encoder.cells() {
        Some(_) if is_matrix => names.insert(0, CELL.to_owned()),
        Some(_) => keep.push(CELL.to_owned()),
        None => {}
    }
    let engine = device::engine(&options.device, PrecisionName::Double)?;
    let mut there = match &engine {
        Some(engine) => {
            let rows = source.rows_hint().map_or(0, |hint| hint.rows);
            encoder.encoding(engine.as_ref(), rows)?
        }
        None => None,
    };
    let mut blocks = source.blocks(&schema, &reading)?;
    let mut writer = Writer::create(&options.output, &names, &keep)?;
    let mut pass = Pass::new("encoding", source.rows_hint().map(|h| h.rows), global.quiet);
    let (mut rows, mut dropped) = (0, 0);
    while let Some(block) = blocks.next() {
        let block = block?;
        let z = with_block(&block, |b| match &mut there {
            Some(there) => Ok(encoder.encode_with(there.as_mut(), b)?),
            None => Ok(encoder.encode_block(b)?),
        })?;
        let mut flat: Vec<f64> = (0..z.nrows()).flat_map(|i| z.row(i).iter().copied()).collect();
        for row in &block.gaps {
            flat[row * z.ncols()..][..z.ncols()].fill(f64::NAN);
        }
        dropped += block.gaps.len();
        if encoder.cells().is_some() {
            let cells = with_block(&block, |b| Ok(encoder.cells_of(b)?))?;
            let known = |(i, cell): (usize, u32)| (!block.gaps.contains(&i)).then_some(cell);
            let cells = cells.into_iter().enumerate().map(known);
            if is_matrix {
                let row = |(cell, z): (Option<u32>, &[f64])| {
                    [&[cell.map_or(f64::NAN, f64::from)], z].concat()
                };
                flat = cells.zip(flat.chunks(z.ncols())).flat_map(row).collect();
                writer.write(&flat, block.rows, None)?;
            } else {
                let keep = with_codes(block.keep.as_ref(), CELL, cells)?;
                writer.write(&flat, block.rows, Some(&keep))?;
            }
        } else {
            writer.write(&flat, block.rows, block.keep.as_ref())?;
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
        output::note(global, &format!("{dropped} {have}: there z is empty (NaN)"));
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
            "dim": encoder.dim(),
            "device": used.as_deref().unwrap_or("cpu"),
            "output": output::path_json(&options.output),
            "seconds": { "total": seconds },
        })),
        false => output::print(&format!(
            "{rows} rows encoded in {}, written to {}",
            output::dimensions(encoder.dim()),
            terminal::path(&options.output)
        )),
    }
}

/// The schema that a model carries.
pub fn schema_of(model: &Model, path: &Path) -> Outcome<Schema> {
    Provenance::of(model)?.schema.ok_or_else(|| {
        let message = format!("{}: the model carries no schema of a table", path.display());
        Failure::new(Exit::Data, message).hint("fit it with `sarl fit`")
    })
}
