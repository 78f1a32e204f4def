//! Rows of files in memory.

use faer::MatRef;
use sarl_data::{BlockOptions, DataBlock, LabelColumn, LabelValues, Schema, Source};
use sarl_eval::Labels;
use sarl_lab::{Reservoir, Rows};

use crate::args::Global;
use crate::coding::Coder;
use crate::failure::Outcome;
use crate::progress::Pass;

/// Reads at most `cap` rows, drawn uniformly; encoded, if there is something that does it.
pub fn read(
    source: &Source,
    schema: &Schema,
    coder: Option<&Coder>,
    options: &BlockOptions,
    (cap, seed): (usize, u64),
    global: &Global,
) -> Outcome<Rows> {
    let mut kept = Kept { draw: Reservoir::new(cap, seed), flat: Flat::default() };
    let mut pass = Pass::new("reading rows", source.rows_hint().map(|h| h.rows), global.quiet);
    let mut blocks = source.blocks(schema, options)?;
    while let Some(block) = blocks.next() {
        let block = block?;
        kept.push(&block, coder)?;
        blocks.recycle(block);
        pass.check(kept.draw.seen())?;
    }
    let Kept { draw, flat: Flat { places, x, z, targets, sensitives, weights } } = kept;
    let mat = |values: &[f64], columns| {
        MatRef::from_row_major_slice(values, places.len(), columns).to_owned()
    };
    let (x, z) = (mat(&x, schema.width()), mat(&z, coder.map_or(0, Coder::dim)));
    let of = draw.seen();
    let categories = schema.categories();
    let mut rows = Rows { places, z, categories, targets, sensitives, weights, of, ..Rows::new(x) };
    name(&mut rows, schema);
    Ok(rows)
}

/// The names of the labels, targets first, of their classes and of their kernels.
fn name(rows: &mut Rows, schema: &Schema) {
    rows.keeps_features = schema.target_is_features();
    for label in schema.targets().iter().chain(schema.sensitives()) {
        match &label.values {
            LabelValues::Class { values, .. } => {
                rows.names.push(label.name.clone());
                rows.classes.push(values.clone());
                rows.kernels.push(None);
            }
            LabelValues::Number { kernel, .. } => {
                // Attackers predict each of the numbers, whatever they are hidden by.
                for column in label.columns() {
                    rows.names.push(column.to_owned());
                    rows.classes.push(Vec::new());
                    rows.kernels.push(kernel.then(|| label.name.clone()));
                }
            }
        }
    }
}

/// A uniform sample of rows, as they come by.
struct Kept {
    draw: Reservoir,
    flat: Flat,
}

/// Rows one after the other.
#[derive(Default)]
struct Flat {
    places: Vec<u64>,
    x: Vec<f64>,
    z: Vec<f64>,
    targets: Vec<Labels>,
    sensitives: Vec<Labels>,
    weights: Option<Vec<f64>>,
}

impl Kept {
    /// Takes a block in.
    fn push(&mut self, block: &DataBlock, coder: Option<&Coder>) -> Outcome {
        let Kept { draw, flat } = self;
        let x = block.densify();
        let z = coder.map_or_else(|| Ok(Vec::new()), |coder| coder.block(block))?;
        let dim = coder.map_or(0, Coder::dim);
        let width = x.len().checked_div(block.rows).unwrap_or(0);
        if draw.seen() == 0 {
            let empty = |columns: &[LabelColumn]| columns.iter().flat_map(empty).collect();
            (flat.targets, flat.sensitives) = (empty(&block.targets), empty(&block.sensitives));
            flat.weights = block.weights.as_ref().map(|_| Vec::new());
        }
        for i in 0..block.rows {
            let place = draw.seen();
            let Some(slot) = draw.slot() else { continue };
            put(&mut flat.places, slot, &[place]);
            put(&mut flat.x, slot, &x[i * width..][..width]);
            put(&mut flat.z, slot, &z[i * dim..][..dim]);
            put_labels(&mut flat.targets, &block.targets, slot, i);
            put_labels(&mut flat.sensitives, &block.sensitives, slot, i);
            if let (Some(to), Some(from)) = (&mut flat.weights, &block.weights) {
                put(to, slot, &[from[i]]);
            }
        }
        Ok(())
    }
}

fn empty(column: &LabelColumn) -> Vec<Labels> {
    match column {
        LabelColumn::Class { classes, .. } => {
            vec![Labels::Classes { codes: Vec::new(), count: *classes }]
        }
        LabelColumn::Number(_) => vec![Labels::Numbers(Vec::new())],
        LabelColumn::Numbers { width, .. } => vec![Labels::Numbers(Vec::new()); *width],
    }
}

/// Writes the labels of row `i` at its slot.
fn put_labels(to: &mut [Labels], from: &[LabelColumn], slot: usize, i: usize) {
    let mut to = to.iter_mut();
    for column in from {
        let numbers = match column {
            LabelColumn::Class { codes: from, .. } => {
                if let Some(Labels::Classes { codes, .. }) = to.next() {
                    put(codes, slot, &[from[i]]);
                }
                continue;
            }
            LabelColumn::Number(values) => &values[i..=i],
            LabelColumn::Numbers { width, values } => &values[i * width..][..*width],
        };
        for value in numbers {
            if let Some(Labels::Numbers(values)) = to.next() {
                put(values, slot, &[*value]);
            }
        }
    }
}

/// Writes a row at its slot: at the end, or in the place of another row.
fn put<T: Copy>(rows: &mut Vec<T>, slot: usize, row: &[T]) {
    match rows.get_mut(slot * row.len()..(slot + 1) * row.len()) {
        Some(place) => place.copy_from_slice(row),
        None => rows.extend_from_slice(row),
    }
}
