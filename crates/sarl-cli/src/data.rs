//! From files to moments: the passes over the data that every fitting command makes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use faer::{Mat, MatRef};
use sarl::{
    Block, Family, FeatureMap, Layout, Moments, MomentsOptions, Reduced, Reservoir, Role, Spanned,
    Wide,
};
use sarl_data::{
    BlockOptions, DataBlock, FeatureValues, LabelColumn, LabelValues, Labels, Missing, Request,
    Scale, Schema, Source, Targets,
};

use crate::args::{Approximation, DataOptions, EncoderOptions, Global};
use crate::demand;
use crate::encoding::{EXACT_ROWS, check_exact, check_options, family, map_of_sample, ridge};
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::{self, Pass, Spinner};
use crate::request::{index_warning, notes, request};

/// Everything that a fit knows.
pub struct Fitted {
    /// The files that were read.
    pub files: Vec<PathBuf>,
    pub schema: Schema,
    pub layout: Layout,
    pub map: FeatureMap,
    pub moments: Moments,
    pub reduced: Reduced,
    pub cap: Option<usize>,
    /// Labels that are features too.
    pub shared: Vec<String>,
    /// What else the user should know.
    pub remarks: Vec<Remark>,
}

impl Fitted {
    /// The standard deviation of each feature of the map.
    pub fn spreads(&self) -> Outcome<Vec<f64>> {
        Ok(self.map.spreads(&self.moments)?)
    }
}

/// Something that the user should know.
pub enum Remark {
    /// What was done.
    Note(String),
    /// What may go wrong.
    Warning(String),
}

/// Rows kept for choosing landmarks, at least and for each landmark.
const CANDIDATES: usize = 4000;
const CANDIDATES_PER_LANDMARK: usize = 10;
/// Reads the data and reduces the problem, for a command that will write `outputs`.
pub fn fit(
    data: &DataOptions,
    encoder: &EncoderOptions,
    outputs: &[&Path],
    global: &Global,
) -> Outcome<Fitted> {
    check_options(encoder)?;
    let source = Source::open(&data.data)?;
    for output in outputs {
        check_output(output, source.paths())?;
    }
    let source = source.with_threads(rayon::current_num_threads());
    let request = request(data, &source)?;
    let mut remarks = Vec::new();
    let (schema, layout, map, moments) = match family(encoder.kernel) {
        None => linear(&source, &request, encoder, global)?,
        Some(family) => kernel(&source, &request, family, encoder, global, &mut remarks)?,
    };
    progress::check()?;
    let cap = encoder.dim.map(|d| d as usize);
    let ridge = ridge(encoder, &moments, cap, &mut remarks)?;
    let reduced = Reduced::new(&moments.covariances()?, ridge)?;
    let shared = shared(&request, &schema);
    remarks.extend(notes(&source, &schema).into_iter().map(Remark::Note));
    remarks.extend(index_warning(&source, &schema)?.map(Remark::Warning));
    let files = source.paths().map(Path::to_owned).collect();
    Ok(Fitted { files, schema, layout, map, moments, reduced, cap, shared, remarks })
}

/// Labels that are features too.
pub fn shared(request: &Request, schema: &Schema) -> Vec<String> {
    let labels = request.sensitives.iter().chain(match &request.targets {
        Targets::Columns(columns) => columns.iter(),
        Targets::Features => [].iter(),
    });
    let is_feature = |name: &String| schema.features().iter().any(|f| f.name == *name);
    labels.map(|c| c.name.clone()).filter(is_feature).collect()
}

type Read = (Schema, Layout, FeatureMap, Moments);

/// A linear encoder needs numeric columns once: their moments are standardised afterwards.
fn linear(
    source: &Source,
    request: &Request,
    options: &EncoderOptions,
    global: &Global,
) -> Outcome<Read> {
    let mut schema = learn(source, request, global, Schema::learn_deferred)?;
    demand::check(&schema, options.folds)?;
    let map = FeatureMap::coded(schema.dense_width(), &categories(&schema));
    let layout = layout(&schema, &map);
    let rows = Rows { source, schema: &schema, global };
    let wide = Wide::suits(schema.rows(), layout.features());
    let standardise = request.missing == Missing::Error && request.scale == Scale::Standard;
    let read = match wide {
        true => hold(&rows, &layout, options, standardise),
        false => add_up(&rows, map, &layout, options, standardise),
    };
    let Spanned { map, moments, spreads } = match read {
        Ok(read) => read,
        Err(failure) => {
            // The full pass names the count and the first rows of what is missing.
            if failure.missing {
                learn(source, request, global, Schema::learn)?;
            }
            return Err(failure);
        }
    };
    if request.missing == Missing::Error {
        schema.set_spreads(&spreads)?;
    }
    Ok((schema, layout, map, moments))
}

/// Rows in memory, for fewer of them than there are features.
fn hold(
    rows: &Rows<'_>,
    layout: &Layout,
    options: &EncoderOptions,
    standardise: bool,
) -> Outcome<Spanned> {
    let expected = rows.schema.rows() as usize;
    let mut wide = Wide::new(layout.clone(), moments_options(options), expected)?;
    rows.each("reading rows", |data| with_block(data, true, |block| Ok(wide.push(block)?)))?;
    let _spinner = Spinner::new("finding the span of the rows", rows.global.quiet);
    Ok(wide.spanned(standardise)?)
}

/// The moments of the features themselves.
fn add_up(
    rows: &Rows<'_>,
    map: FeatureMap,
    layout: &Layout,
    options: &EncoderOptions,
    standardise: bool,
) -> Outcome<Spanned> {
    let mut moments = accumulate(rows, &map, layout, options)?;
    let spreads = if standardise { moments.standardise()? } else { moments.spreads()? };
    Ok(Spanned { map, moments, spreads })
}

fn kernel(
    source: &Source,
    request: &Request,
    family: Family,
    options: &EncoderOptions,
    global: &Global,
    remarks: &mut Vec<Remark>,
) -> Outcome<Read> {
    let schema = learn(source, request, global, Schema::learn)?;
    let rows = Rows { source, schema: &schema, global };
    let map = feature_map(&rows, family, options, remarks)?;
    let layout = layout(&schema, &map);
    let moments = accumulate(&rows, &map, &layout, options)?;
    Ok((schema, layout, map, moments))
}

/// Refuses an output that cannot be written or that is also an input, before any work is done.
pub fn check_output<'a>(output: &Path, mut inputs: impl Iterator<Item = &'a Path>) -> Outcome {
    let folder = output.parent().filter(|f| !f.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|f| !f.is_dir()) {
        let message = format!("{}: there is no folder `{}`", output.display(), folder.display());
        return Err(Failure::new(Exit::Machine, message).hint("make it first"));
    }
    let Ok(real) = output.canonicalize() else { return Ok(()) };
    if inputs.any(|input| input.canonicalize().is_ok_and(|input| input == real)) {
        return Err(Failure::usage(format!("{}: the output is also an input", output.display()))
            .hint("write to another file"));
    }
    Ok(())
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
struct Rows<'a> {
    source: &'a Source,
    schema: &'a Schema,
    global: &'a Global,
}

impl Rows<'_> {
    /// Hands every block to `work`.
    fn each(&self, what: &'static str, mut work: impl FnMut(&DataBlock) -> Outcome) -> Outcome {
        let mut pass = Pass::new(what, Some(self.schema.rows()), self.global.quiet);
        let mut rows = 0;
        let mut blocks = self.source.blocks(self.schema, &BlockOptions::default())?;
        while let Some(block) = blocks.next() {
            let block = block?;
            rows += block.rows as u64;
            work(&block)?;
            blocks.recycle(block);
            pass.check(rows)?;
        }
        Ok(())
    }

    /// A uniform sample of at most `capacity` rows, one-hot columns and all.
    fn sample(&self, capacity: usize, seed: u64) -> Outcome<Mat<f64>> {
        let width = self.schema.width();
        let mut reservoir = Reservoir::new(capacity, width, seed);
        self.each("sampling rows", |block| {
            let x = block.densify();
            reservoir.push(MatRef::from_row_major_slice(&x, block.rows, width))?;
            Ok(())
        })?;
        Ok(reservoir.rows())
    }
}

fn feature_map(
    rows: &Rows<'_>,
    family: Family,
    options: &EncoderOptions,
    remarks: &mut Vec<Remark>,
) -> Outcome<FeatureMap> {
    let landmarks = options.landmarks as usize;
    check_exact(options, rows.schema.rows())?;
    let capacity = match options.approx {
        Approximation::Exact => EXACT_ROWS,
        _ => CANDIDATES.max(CANDIDATES_PER_LANDMARK * landmarks),
    };
    let sample = match &options.landmarks_from {
        Some(path) => public_rows(rows, path, capacity, options.seed)?,
        None => rows.sample(capacity, options.seed)?,
    };
    let _spinner = Spinner::new("choosing landmarks", rows.global.quiet);
    map_of_sample(sample.as_ref(), family, options, remarks)
}

/// Rows of another file as the schema reads them: landmarks that may be known.
fn public_rows(rows: &Rows<'_>, path: &Path, capacity: usize, seed: u64) -> Outcome<Mat<f64>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if rows.source.paths().any(|data| real(data) == real(path)) {
        let message = format!("{}: is DATA and --landmarks-from at once", path.display());
        return Err(Failure::usage(message).hint("give rows that may be known to anybody"));
    }
    let source = Source::open(&[path])?.with_threads(rayon::current_num_threads());
    let reading = BlockOptions { labels: Labels::Skip, ..Default::default() };
    let width = rows.schema.width();
    let mut reservoir = Reservoir::new(capacity, width, seed);
    for block in source.blocks(rows.schema, &reading)? {
        let block = block?;
        let x = block.densify();
        reservoir.push(MatRef::from_row_major_slice(&x, block.rows, width))?;
    }
    Ok(reservoir.rows())
}

fn categories(schema: &Schema) -> Vec<usize> {
    let count = |values: &FeatureValues| match values {
        FeatureValues::Number { .. } => None,
        FeatureValues::Category { values, .. } => Some(values.len()),
    };
    schema.features().iter().filter_map(|f| count(&f.values)).collect()
}

/// The layout of the inputs: one-hot columns stay codes for a linear encoder only.
fn layout(schema: &Schema, map: &FeatureMap) -> Layout {
    let mut layout = match map.is_linear() {
        true => Layout::dense(schema.dense_width()).coded(&categories(schema)),
        false => Layout::dense(schema.width()),
    };
    if schema.target_is_features() {
        layout = layout.keep_features();
    }
    let roles = [(Role::Target, schema.targets()), (Role::Sensitive, schema.sensitives())];
    for (role, labels) in roles {
        for label in labels {
            layout = match &label.values {
                LabelValues::Class { values, .. } => layout.class(&label.name, role, values.len()),
                LabelValues::Number { .. } => layout.number(&label.name, role, 1),
            };
        }
    }
    layout
}

/// How moments are kept.
pub fn moments_options(options: &EncoderOptions) -> MomentsOptions {
    let folds = options.folds as usize;
    MomentsOptions { folds, seed: options.seed, ..Default::default() }
}

fn accumulate(
    rows: &Rows<'_>,
    map: &FeatureMap,
    layout: &Layout,
    options: &EncoderOptions,
) -> Outcome<Moments> {
    let mut moments = map.moments(layout, moments_options(options))?;
    rows.each("accumulating moments", |data| {
        with_block(data, map.is_linear(), |block| Ok(map.push(&mut moments, block)?))
    })?;
    Ok(moments)
}

/// A block of the reader as the library wants it: with codes, or with one-hot columns.
pub fn with_block<T>(
    data: &DataBlock,
    coded: bool,
    work: impl FnOnce(&Block<'_, f64>) -> Outcome<T>,
) -> Outcome<T> {
    let densified;
    let dense = if coded {
        &data.dense
    } else {
        densified = data.densify();
        &densified
    };
    let width = dense.len().checked_div(data.rows).unwrap_or(0);
    let mut block = Block::new(MatRef::from_row_major_slice(dense, data.rows, width));
    if coded {
        for column in &data.codes {
            block = block.coded(&column.codes);
        }
    }
    for label in data.targets.iter().chain(&data.sensitives) {
        block = match label {
            LabelColumn::Class { codes, .. } => block.class(codes),
            LabelColumn::Number(values) => {
                block.number(MatRef::from_column_major_slice(values, data.rows, 1))
            }
        };
    }
    if let Some(weights) = &data.weights {
        block = block.weighted(weights);
    }
    work(&block)
}
