//! Fit, encode, recompute: what a certificate says of z must hold for the z that comes out.

use faer::{Mat, MatRef};
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl::{
    Approximation, Block, Criterion, Error, Family, Features, Fit, FitParams, Goal, KernelParams,
    Layout, Model, Ridge, Role, Scale,
};

use crate::draw::Draw;
use crate::recompute::explained;

/// What a certificate may be wrong by, as a share of a variance.
const TOLERANCE: f64 = 1e-6;

/// A small table, made of a few choices.
#[derive(Debug)]
struct Table {
    x: Mat<f64>,
    codes: Option<(Vec<u32>, usize)>,
    target: Column,
    sensitive: Vec<Column>,
    weights: Option<Vec<f64>>,
}

/// A label.
#[derive(Debug)]
enum Column {
    Class(Vec<u32>, usize),
    Number(Mat<f64>),
}

impl Column {
    /// A number that depends on a feature and on chance, or its thirds or halves.
    fn drawn(draw: &mut Draw<'_>, x: MatRef<'_, f64>, random: &mut ChaCha8Rng) -> Self {
        let (from, noise) = (draw.below(x.ncols()), draw.of(&[0.0, 0.3, 1.0, 1e-9]));
        let column: Vec<f64> = x.col(from).iter().copied().collect();
        let (low, high) =
            column.iter().fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
        let spread = if high > low { high - low } else { 1.0 };
        let value = |v: f64, chance: f64| (v - low) / spread + noise * chance;
        let values: Vec<f64> =
            column.iter().map(|&v| value(v, random.random_range(-1.0..1.0))).collect();
        match draw.below(4) {
            0 => Column::Number(Mat::from_fn(values.len(), 1, |i, _| values[i])),
            classes => {
                let class = |v: f64| (v.clamp(0.0, 0.999) * (classes + 1) as f64) as u32;
                Column::Class(values.into_iter().map(class).collect(), classes + 1)
            }
        }
    }

    fn in_layout(&self, layout: Layout, name: &str, role: Role) -> Layout {
        match self {
            Column::Class(_, classes) => layout.class(name, role, *classes),
            Column::Number(_) => layout.number(name, role, 1),
        }
    }

    fn in_block<'a>(&'a self, block: Block<'a, f64>) -> Block<'a, f64> {
        match self {
            Column::Class(classes, _) => block.class(classes),
            Column::Number(numbers) => block.number(numbers.as_ref()),
        }
    }

    /// The columns whose variance is explained: one for each class, or the number.
    fn columns(&self) -> Vec<Vec<f64>> {
        match self {
            Column::Number(numbers) => vec![numbers.col(0).iter().copied().collect()],
            Column::Class(codes, classes) => {
                let indicator = |class| codes.iter().map(|&c| f64::from(c == class)).collect();
                (0..*classes as u32).map(indicator).collect()
            }
        }
    }
}

impl Table {
    fn drawn(draw: &mut Draw<'_>, range: &Range) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(draw.byte()));
        let (rows, width) = (2 + draw.below(60), 1 + draw.below(6));
        let mut x = Mat::<f64>::zeros(rows, width);
        let mut unit = 1.0;
        for j in 0..width {
            let (kind, near) = (draw.below(4), draw.of(range.nearness));
            let (scale, offset) = (draw.of(range.scales), draw.of(range.offsets));
            // A copy of the column before has its unit.
            let copy = kind == 2 && j > 0;
            unit = if copy { unit } else { scale };
            for i in 0..rows {
                let chance: f64 = random.random_range(-1.0..1.0);
                x[(i, j)] = match kind {
                    _ if copy => x[(i, j - 1)] + unit * near * chance,
                    0 => unit * (offset + chance),
                    1 => unit * (offset + (3.0 * chance).round()),
                    _ => unit * (offset + 1.0 + near * chance),
                };
            }
        }
        let codes = draw.yes().then(|| {
            let categories = 1 + draw.below(4);
            let code = |_| random.random_range(0..categories as u32);
            ((0..rows).map(code).collect::<Vec<u32>>(), categories)
        });
        let weights = draw.yes().then(|| {
            let least = draw.of(range.weights);
            let weight = |_| 10f64.powf(-least * random.random_range(0.0..1.0));
            (0..rows).map(weight).collect::<Vec<f64>>()
        });
        if draw.yes() {
            let (row, column) = (draw.below(rows), draw.below(width));
            x[(row, column)] = draw.of(range.outliers);
        }
        let target = Column::drawn(draw, x.as_ref(), &mut random);
        let count = 1 + draw.below(2);
        let sensitive = (0..count).map(|_| Column::drawn(draw, x.as_ref(), &mut random)).collect();
        Table { x, codes, target, sensitive, weights }
    }

    fn layout(&self) -> Layout {
        let mut layout = Layout::dense(self.x.ncols());
        if let Some((_, categories)) = &self.codes {
            layout = layout.coded(&[*categories]);
        }
        let layout = self.target.in_layout(layout, "y", Role::Target);
        let labels = self.sensitive.iter().enumerate();
        labels.fold(layout, |layout, (i, s)| s.in_layout(layout, &format!("s{i}"), Role::Sensitive))
    }

    fn block(&self) -> Block<'_, f64> {
        let mut block = Block::new(self.x.as_ref());
        if let Some((codes, _)) = &self.codes {
            block = block.coded(codes);
        }
        let block = self.sensitive.iter().fold(self.target.in_block(block), |b, s| s.in_block(b));
        match &self.weights {
            Some(weights) => block.weighted(weights),
            None => block,
        }
    }
}

/// What the numbers of a table are drawn from.
struct Range {
    /// How near a column is to the one before it, or to a constant.
    nearness: &'static [f64],
    scales: &'static [f64],
    /// In units of the scale.
    offsets: &'static [f64],
    /// Powers of ten between the largest and the least weight.
    weights: &'static [f64],
    outliers: &'static [f64],
}

/// As tables are.
const USUAL: Range = Range {
    nearness: &[1.0, 0.3, 1e-1, 1e-2, 1e-3],
    scales: &[1.0, 1.0, 1e-3, 1e3, 1e6],
    offsets: &[0.0, 0.0, 1.0, 10.0],
    weights: &[1.0, 2.0, 4.0],
    outliers: &[0.0, 10.0, -100.0],
};

/// As nobody would make them, at the ends of double precision.
const EXTREME: Range = Range {
    nearness: &[1.0, 1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12],
    scales: &[1.0, 1.0, 1.0, 1e-3, 1e3, 1e6, 1e-9, 1e12],
    offsets: &[0.0, 0.0, 0.0, 1.0, 1e3, 1e7],
    weights: &[1.0, 6.0, 12.0, 30.0],
    outliers: &[0.0, 1e6, 1e12, -1e15, 1e-300],
};

fn params(draw: &mut Draw<'_>, kernels: bool) -> FitParams {
    let features = if kernels { Features::Kernel(kernel(draw)) } else { Features::Linear };
    FitParams {
        features,
        scale: draw.of(&[Scale::Standard, Scale::Standard, Scale::None]),
        ridge: draw.of(&[Ridge::Default, Ridge::Fixed(0.0), Ridge::Fixed(1e-3), Ridge::Auto]),
        dimensions: draw.of(&[None, None, None, Some(1), Some(2)]),
        folds: draw.of(&[1, 2, 5]),
        seed: u64::from(draw.byte()),
        criterion: draw.of(&[
            Criterion::Parity,
            Criterion::Parity,
            Criterion::Parity,
            Criterion::EqualizedOdds,
            Criterion::EqualOpportunity { favourable: 0 },
        ]),
        ..FitParams::default()
    }
}

fn kernel(draw: &mut Draw<'_>) -> KernelParams {
    let family = draw.of(&[Family::Rbf, Family::Laplacian, Family::Polynomial]);
    KernelParams {
        gamma: draw.of(&[None, None, Some(1e-2), Some(0.05), Some(1.0), Some(100.0)]),
        degree: 1 + draw.below(10) as u32,
        coef0: draw.of(&[1.0, 0.0, 1e3]),
        approximation: draw.of(&[
            Approximation::Landmarks,
            Approximation::UniformLandmarks,
            Approximation::Exact,
            Approximation::RandomFeatures,
        ]),
        landmarks: 1 + draw.below(40),
        tolerance: draw.of(&[1e-6, 0.0, 1e-2]),
        ..KernelParams::new(family)
    }
}

fn goal(draw: &mut Draw<'_>) -> Goal {
    let value = draw.share();
    match draw.below(4) {
        0 | 1 => Goal::Leakage(value.powi(3)),
        2 => Goal::Utility(value),
        _ => Goal::Lambda(value),
    }
}

/// Usual tables, linear encoders.
pub(crate) fn fit(bytes: &[u8]) {
    with(Draw(bytes), &USUAL, false);
}

/// Usual tables, kernels.
pub(crate) fn kernels(bytes: &[u8]) {
    with(Draw(bytes), &USUAL, true);
}

/// Tables at the ends of double precision.
pub(crate) fn extreme(bytes: &[u8]) {
    let mut draw = Draw(bytes);
    let kernels = draw.yes();
    with(draw, &EXTREME, kernels);
}

/// Choices become parameters, a goal and a table; a refusal is no find.
fn with(mut draw: Draw<'_>, range: &Range, kernels: bool) {
    let (params, goal) = (params(&mut draw, kernels), goal(&mut draw));
    let table = Table::drawn(&mut draw, range);
    let Ok(model) = fitted(&table, &params, goal) else { return };
    let z = model.encoder().encode_block(&table.block()).expect("the rows of a fit are encoded");
    if params.criterion == Criterion::Parity
        && let Err(problem) = holds(&model, &table, z.as_ref())
    {
        panic!("{problem}; {params:?}, {table:?}");
    }
    let bytes = model.to_bytes().expect("a model is written");
    let again = Model::from_bytes(&bytes);
    let again = again.unwrap_or_else(|e| {
        panic!(
            "a model is not read: {e}; {:?}, {:?}, {params:?}, {table:?}",
            model.goal(),
            model.point()
        )
    });
    let same = again.encoder().encode_block(&table.block()).expect("it encodes the same rows");
    assert_eq!(z, same, "the model that was read has another z");
}

fn fitted(table: &Table, params: &FitParams, goal: Goal) -> Result<Model, Error> {
    let block = table.block();
    let mut fit = Fit::new(params.clone(), table.layout())?;
    if fit.needs_sample() {
        fit.sample(&block)?;
        fit.choose(&|| false)?;
    }
    fit.push(&block)?;
    fit.finish()?.solve(goal)
}

/// What is certified of the training rows, recomputed from z.
fn holds(model: &Model, table: &Table, z: MatRef<'_, f64>) -> Result<(), String> {
    let even = vec![1.0; z.nrows()];
    let weights = table.weights.as_ref().unwrap_or(&even);
    let found = model.attributes().expect("a solution has its labels");
    for (label, said) in table.sensitive.iter().zip(&found.sensitive) {
        let Some(real) = explained(z, &label.columns(), weights) else { continue };
        let (name, most) = (&said.name, said.limit.unwrap_or(said.share).max(said.share));
        if real > most + TOLERANCE {
            return Err(format!("z leaks {real:.9} of {name}, and {most:.9} is certified"));
        }
    }
    let Some(kept) = explained(z, &table.target.columns(), weights) else { return Ok(()) };
    let bounds = *model.front().expect("a model has a front").bounds();
    let (loss, certified) = (1.0 - kept, model.point().losses.jy / bounds.target_variance);
    match loss <= certified + TOLERANCE {
        true => Ok(()),
        false => Err(format!("z leaves {loss:.9} of the target, and {certified:.9} is certified")),
    }
}
