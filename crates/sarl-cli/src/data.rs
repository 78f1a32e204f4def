//! From files to moments: the passes over the data that every fitting command makes.

use std::ops::ControlFlow;
use std::path::Path;

use faer::MatRef;
use sarl::cells::Part;
use sarl::{Block, Fit, FitParams, Fitted, FoldBy, HeldOutLabels, HeldOutLosses, Layout, Role};
use sarl_data::{
    BlockOptions, DataBlock, LabelColumn, LabelValues, Labels, Missing, Request, Schema, Source,
    same_file,
};

use crate::args::{DeviceOptions, EncoderOptions, FitOptions, Global};
use crate::encoding::{check_targets, criterion, params, remarks};
use crate::failure::{Failure, Outcome};
use crate::folding::{Folding, Keys};
use crate::given::Given;
use crate::progress::{self, Pass, Spinner};
use crate::provenance::Provenance;
use crate::request::{flat_warning, index_warning, notes, request};
use crate::{demand, device, outputs, parts};

/// A fit of files.
pub struct FittedTable {
    pub given: Given,
    pub schema: Schema,
    pub fit: Fitted,
    /// Labels that are features too.
    pub shared: Vec<String>,
    /// Whether landmarks are rows of a file that another command was given.
    pub public_landmarks: bool,
    /// What else the user should know.
    pub remarks: Vec<Remark>,
}

impl FittedTable {
    /// What a model of it says of its fit.
    pub fn provenance(
        &self,
        encoder: &EncoderOptions,
        heldout: Option<HeldOutLosses>,
        heldout_labels: Option<HeldOutLabels>,
    ) -> Outcome<Provenance> {
        Ok(Provenance {
            schema: Some(self.schema.clone()),
            heldout,
            heldout_labels,
            origin: Some(self.given.origin()?),
            public_landmarks: encoder.landmarks_from.is_some() || self.public_landmarks,
        })
    }
}

/// Something that the user should know.
pub enum Remark {
    /// What was done.
    Note(String),
    /// What may go wrong.
    Warning(String),
}

/// Reads the data and fits, for a command that will write `outputs`.
pub fn fit(fitting: &FitOptions, outputs: &[&Path], global: &Global) -> Outcome<FittedTable> {
    let FitOptions { files, data, encoder, .. } = fitting;
    if files.moments.is_empty() {
        return fit_part(fitting, outputs, None, global);
    }
    parts::fit(&files.moments, data, encoder, outputs, global)
}

/// The same on the rows of a part, or on all of them.
pub fn fit_part(
    FitOptions { files, data, encoder, device }: &FitOptions,
    outputs: &[&Path],
    part: Option<Part>,
    global: &Global,
) -> Outcome<FittedTable> {
    let mut params = params(encoder, data.scale)?;
    params.precision = device.precision.into();
    let folding = Folding::new(encoder, FoldBy::Position);
    params.fold_by = folding.by();
    folding.check_part(part)?;
    let source = Source::open(&files.data)?;
    let public = encoder.landmarks_from.as_deref();
    outputs::check(outputs.iter().copied(), source.paths().chain(public), global)?;
    let source = source.with_threads(rayon::current_num_threads());
    let request = folding.without_column(request(data, &source)?);
    check_targets(encoder, &request.targets)?;
    let mut schema = learn(&source, &request, global, Schema::learn_deferred)?;
    let (of, assumed) = criterion(encoder, &schema)?;
    params.criterion = of;
    demand::check(&schema, &params)?;
    params.check_rows(schema.rows())?;
    let part = part.map(|part| (part, encoder.seed));
    let rows = Rows { source: &source, schema: &schema, part, keep: folding.columns(), global };
    let fit = match read(&rows, (&params, device), &folding.keys(&schema), public) {
        Ok(fit) => fit,
        Err(failure) => {
            // The full pass names the count and the first rows of what is missing.
            if failure.missing {
                learn(&source, &request, global, Schema::learn)?;
            }
            return Err(failure);
        }
    };
    if request.missing == Missing::Error {
        schema.set_spreads(fit.spreads())?;
    }
    progress::check()?;
    let mut remarks = remarks(&fit, encoder)?;
    remarks.extend(flat_warning(&schema, fit.spreads()).map(Remark::Warning));
    remarks.extend(assumed);
    fit.reduced()?;
    remarks.extend(notes(&source, &schema).into_iter().map(Remark::Note));
    remarks.extend(index_warning(&source, &schema)?.map(Remark::Warning));
    let shared = shared(&schema);
    let given = Given::Files(source);
    Ok(FittedTable { given, schema, fit, shared, remarks, public_landmarks: false })
}

/// The passes over the rows: a sample for a kernel, then all of them.
fn read(
    rows: &Rows<'_>,
    (params, device): (&FitParams, &DeviceOptions),
    keys: &Keys,
    public: Option<&Path>,
) -> Outcome<Fitted> {
    let fit = Fit::new(params.clone(), layout(rows.schema))?.expecting(rows.schema.rows())?;
    let mut fit = device::on(fit, device)?;
    choose(rows, public, &mut fit)?;
    rows.each("accumulating moments", |data| push(&mut fit, data, keys))?;
    let _spinner = Spinner::new("solving", rows.global.quiet);
    let fitted = fit.finish()?;
    device::say(fitted.moments(), rows.global);
    Ok(fitted)
}

/// Lets rows pass by where a kernel needs that, and chooses its landmarks.
pub fn choose(rows: &Rows<'_>, public: Option<&Path>, fit: &mut Fit) -> Outcome {
    if fit.needs_sample() {
        rows.each("sampling rows", |data| with_block(data, |block| Ok(fit.sample(block)?)))?;
        if let Some(path) = public {
            public_rows(rows, path, fit)?;
        }
        let _spinner = Spinner::new("choosing landmarks", rows.global.quiet);
        fit.choose(&progress::interrupted)?;
    }
    Ok(())
}

/// Adds the rows of a block.
pub fn push(fit: &mut Fit, data: &DataBlock, keys: &Keys) -> Outcome {
    let keys = keys.of(data)?;
    with_block(data, |block| match &keys {
        Some(keys) => Ok(fit.push(&block.clone().keys(keys))?),
        None => Ok(fit.push(block)?),
    })
}

/// Labels that are features too.
pub fn shared(schema: &Schema) -> Vec<String> {
    let labels = schema.targets().iter().chain(schema.sensitives());
    let is_feature = |name: &&str| schema.features().iter().any(|f| f.name == *name);
    labels.flat_map(|l| l.columns()).filter(is_feature).map(str::to_owned).collect()
}

/// A way of learning a schema.
pub type Learn = fn(
    &Source,
    &Request,
    &mut dyn FnMut(sarl_data::Progress) -> ControlFlow<()>,
) -> sarl_data::Result<Schema>;

/// Learns the schema in a pass of its own.
pub fn learn(source: &Source, request: &Request, global: &Global, how: Learn) -> Outcome<Schema> {
    let total = source.rows_hint().map(|h| h.rows);
    let mut pass = Pass::new("reading the columns", total, global.quiet);
    Ok(how(source, request, &mut |p| pass.at(p.rows))?)
}

/// A data set whose schema is known.
pub struct Rows<'a> {
    pub source: &'a Source,
    pub schema: &'a Schema,
    /// Only the rows of this part, which a seed gives them.
    pub part: Option<(Part, u64)>,
    /// A column that is handed through.
    pub keep: &'a [String],
    pub global: &'a Global,
}

impl Rows<'_> {
    /// Hands every block to `work`; how many rows there are, those of other parts with them.
    pub fn each(
        &self,
        what: &'static str,
        mut work: impl FnMut(&DataBlock) -> Outcome,
    ) -> Outcome<u64> {
        let mut pass = Pass::new(what, Some(self.schema.rows()), self.global.quiet);
        let mut rows = 0;
        let reading = BlockOptions { keep: self.keep.to_vec(), ..Default::default() };
        let mut blocks = self.source.blocks(self.schema, &reading)?;
        while let Some(block) = blocks.next() {
            let block = block?;
            let first = rows;
            rows += block.rows as u64;
            match self.part {
                Some((part, seed)) => {
                    work(&block.select(&part.among(first, block.rows, seed)))?;
                }
                None => work(&block)?,
            }
            blocks.recycle(block);
            pass.check(rows)?;
        }
        Ok(rows)
    }
}

/// Rows of another file as the schema reads them: landmarks that may be known.
fn public_rows(rows: &Rows<'_>, path: &Path, fit: &mut Fit) -> Outcome {
    if rows.source.paths().any(|data| same_file(data, path)) {
        let message = format!("{}: is DATA and --landmarks-from at once", path.display());
        return Err(Failure::usage(message).hint("give rows that may be known to anybody"));
    }
    let source = Source::open(&[path])?.with_threads(rayon::current_num_threads());
    let reading = BlockOptions { labels: Labels::Skip, ..Default::default() };
    for block in source.blocks(rows.schema, &reading)? {
        with_block(&block?, |block| Ok(fit.candidates(block)?))?;
    }
    Ok(())
}

/// The layout of the rows of a table.
pub fn layout(schema: &Schema) -> Layout {
    let mut layout = Layout::dense(schema.dense_width()).coded(&schema.categories());
    if schema.target_is_features() {
        layout = layout.keep_features();
    }
    let roles = [(Role::Target, schema.targets()), (Role::Sensitive, schema.sensitives())];
    for (role, labels) in roles {
        for label in labels {
            layout = match &label.values {
                // A part of the rows may have met one class only.
                LabelValues::Class { values, .. } => {
                    layout.class(&label.name, role, values.len().max(2))
                }
                LabelValues::Number { kernel: false, .. } => layout.number(&label.name, role, 1),
                LabelValues::Number { kernel: true, .. } => {
                    layout.kernel(&label.name, role, label.columns().len())
                }
            };
        }
    }
    layout
}

/// A block of the reader as the library wants it.
pub fn with_block<T>(
    data: &DataBlock,
    work: impl FnOnce(&Block<'_, f64>) -> Outcome<T>,
) -> Outcome<T> {
    let width = data.dense.len().checked_div(data.rows).unwrap_or(0);
    let mut block = Block::new(MatRef::from_row_major_slice(&data.dense, data.rows, width));
    for column in &data.codes {
        block = block.coded(&column.codes);
    }
    for label in data.targets.iter().chain(&data.sensitives) {
        block = match label {
            LabelColumn::Class { codes, .. } => block.class(codes),
            LabelColumn::Number(values) => {
                block.number(MatRef::from_column_major_slice(values, data.rows, 1))
            }
            LabelColumn::Numbers { width, values } => {
                block.number(MatRef::from_row_major_slice(values, data.rows, *width))
            }
        };
    }
    if let Some(weights) = &data.weights {
        block = block.weighted(weights);
    }
    work(&block)
}
