//! The same problem from raw rows, the long way: a singular value decomposition of the centred
//! data, eigenvalues of the full `B`, least squares on rows. It shares no code with the library.

use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sarl::{Block, FeatureMap, Goal, Layout, Model, Moments, MomentsOptions, Reduced, Role};

use super::{Table, normal, rng, synthetic};

/// The values of one label.
#[derive(Clone)]
pub enum Values {
    Class(Vec<u32>),
    Number(Mat<f64>),
}

impl Values {
    fn classes(codes: &[u32]) -> usize {
        codes.iter().max().map_or(0, |&c| c as usize + 1)
    }

    /// One-hot columns, or the numbers.
    pub fn columns(&self) -> Mat<f64> {
        match self {
            Values::Number(values) => values.clone(),
            Values::Class(codes) => Mat::from_fn(codes.len(), Self::classes(codes), |i, j| {
                f64::from(u8::from(codes[i] as usize == j))
            }),
        }
    }
}

/// Raw rows. Without a target the features are the target.
#[derive(Clone)]
pub struct Data {
    pub x: Mat<f64>,
    pub y: Vec<Values>,
    pub s: Vec<Values>,
}

impl From<&Table> for Data {
    fn from(table: &Table) -> Self {
        Data {
            x: table.x().to_owned(),
            y: vec![Values::Class(table.y.clone())],
            s: vec![Values::Class(table.s.clone())],
        }
    }
}

impl Data {
    pub fn layout(&self) -> Layout {
        let mut layout = Layout::dense(self.x.ncols());
        for (role, labels) in [(Role::Target, &self.y), (Role::Sensitive, &self.s)] {
            for (i, label) in labels.iter().enumerate() {
                let name = format!("{role:?}{i}");
                layout = match label {
                    Values::Class(c) => layout.class(&name, role, Values::classes(c)),
                    Values::Number(v) => layout.number(&name, role, v.ncols()),
                };
            }
        }
        if self.y.is_empty() { layout.keep_features() } else { layout }
    }

    pub fn block(&self) -> Block<'_, f64> {
        let labels = self.y.iter().chain(&self.s);
        labels.fold(Block::new(self.x.as_ref()), |block, label| match label {
            Values::Class(c) => block.class(c),
            Values::Number(v) => block.number(v.as_ref()),
        })
    }

    pub fn moments(&self, map: &FeatureMap, options: MomentsOptions) -> Moments {
        let mut moments = map.moments(&self.layout(), options).unwrap();
        map.push(&mut moments, &self.block()).unwrap();
        moments
    }

    pub fn linear(&self) -> FeatureMap {
        FeatureMap::linear(self.x.ncols())
    }

    pub fn reduced(&self, ridge: f64) -> Reduced {
        let moments = self.moments(&self.linear(), MomentsOptions::default());
        Reduced::new(&moments.covariances().unwrap(), ridge).unwrap()
    }

    pub fn model(&self, reduced: &Reduced, cap: Option<usize>, goal: Goal) -> sarl::Result<Model> {
        Model::new(&self.linear(), &self.layout(), reduced, cap, goal)
    }

    /// All target columns; where there are several targets, each divided by its deviation.
    pub fn targets(&self) -> Mat<f64> {
        if self.y.is_empty() { self.x.clone() } else { side_by_side(&self.y) }
    }

    /// All sensitive columns, likewise.
    pub fn sensitives(&self) -> Mat<f64> {
        side_by_side(&self.s)
    }

    /// All target columns in their own units.
    pub fn own_targets(&self) -> Mat<f64> {
        let columns = |labels: &[Values]| joined(labels.iter().map(Values::columns).collect());
        if self.y.is_empty() { self.x.clone() } else { columns(&self.y) }
    }

    /// All sensitive columns in their own units.
    pub fn own_sensitives(&self) -> Mat<f64> {
        joined(self.s.iter().map(Values::columns).collect())
    }

    /// The losses of the best linear regressors of both labels on z, row by row.
    pub fn regression(&self, z: MatRef<'_, f64>) -> (f64, f64) {
        (regression_loss(z, &self.targets()), regression_loss(z, &self.sensitives()))
    }

    pub fn dense(&self) -> Dense {
        Dense::new(self.x.as_ref(), &self.targets(), &self.sensitives())
    }
}

fn side_by_side(labels: &[Values]) -> Mat<f64> {
    let unit = |columns: Mat<f64>| {
        let variance = regression_loss(Mat::zeros(columns.nrows(), 0).as_ref(), &columns);
        &columns * faer::Scale(1.0 / variance.sqrt())
    };
    let parts: Vec<Mat<f64>> = match labels {
        [one] => vec![one.columns()],
        several => several.iter().map(|label| unit(label.columns())).collect(),
    };
    joined(parts)
}

fn joined(parts: Vec<Mat<f64>>) -> Mat<f64> {
    let rows = parts[0].nrows();
    let mut all = Mat::zeros(rows, parts.iter().map(Mat::ncols).sum());
    let mut at = 0;
    for part in &parts {
        all.as_mut().subcols_mut(at, part.ncols()).copy_from(part);
        at += part.ncols();
    }
    all
}

pub fn means(a: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.ncols()).map(|j| a.col(j).iter().sum::<f64>() / a.nrows() as f64).collect()
}

pub fn centred(a: MatRef<'_, f64>) -> Mat<f64> {
    let mean = means(a);
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] - mean[j])
}

/// An orthonormal basis of the columns. They are scaled to one length first, because their units
/// say nothing about the span.
pub fn column_space(a: MatRef<'_, f64>) -> Mat<f64> {
    let norms: Vec<f64> = (0..a.ncols()).map(|j| a.col(j).norm_l2()).collect();
    let unit = |j: usize| if norms[j] > 0.0 { 1.0 / norms[j] } else { 0.0 };
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] * unit(j));
    if a.ncols() == 0 {
        return scaled;
    }
    let svd = scaled.thin_svd().unwrap();
    let values = svd.S().column_vector();
    let rank = values.iter().filter(|&&v| v > 1e-8 * values[0]).count();
    svd.U().subcols(0, rank).to_owned()
}

/// Mean squared residual, summed over columns, of least squares with an intercept.
pub fn regression_loss(z: MatRef<'_, f64>, labels: &Mat<f64>) -> f64 {
    let t = centred(labels.as_ref());
    let basis = column_space(centred(z).as_ref());
    let residual = &t - &basis * (basis.transpose() * &t);
    residual.squared_norm_l2() / z.nrows() as f64
}

/// The paper's quantities: `Lx`, `LxᵀỸᵀ/√n` and `LxᵀS̃ᵀ/√n`, and the variances.
pub struct Dense {
    pub basis: Mat<f64>,
    pub y: Mat<f64>,
    pub s: Mat<f64>,
    pub ty: f64,
    pub ts: f64,
}

impl Dense {
    pub fn new(x: MatRef<'_, f64>, y: &Mat<f64>, s: &Mat<f64>) -> Self {
        let n = x.nrows() as f64;
        let basis = column_space(centred(x).as_ref());
        let (y, s) = (centred(y.as_ref()), centred(s.as_ref()));
        let half = |t: &Mat<f64>| basis.transpose() * t * faer::Scale(1.0 / n.sqrt());
        let (ty, ts) = (y.squared_norm_l2() / n, s.squared_norm_l2() / n);
        Dense { y: half(&y), s: half(&s), basis, ty, ts }
    }

    /// k.
    pub fn size(&self) -> usize {
        self.basis.ncols()
    }

    pub fn ay(&self) -> Mat<f64> {
        &self.y * self.y.transpose()
    }

    pub fn a_s(&self) -> Mat<f64> {
        &self.s * self.s.transpose()
    }

    /// The paper's `B = Lxᵀ(λS̃ᵀS̃ − (1−λ)ỸᵀỸ)Lx`, divided by n.
    pub fn b(&self, lambda: f64) -> Mat<f64> {
        self.a_s() * faer::Scale(lambda) - self.ay() * faer::Scale(1.0 - lambda)
    }

    /// The sum of at most `cap` negative eigenvalues of `B`.
    pub fn negative_sum(&self, lambda: f64, cap: usize) -> f64 {
        let negative = eigenvalues(&self.b(lambda)).into_iter().take(cap).filter(|&v| v < 0.0);
        negative.sum()
    }

    /// Jy and Js of the encoder whose z spans `Lx G`; G need not be orthonormal.
    pub fn losses(&self, g: &Mat<f64>) -> (f64, f64) {
        let q = orthonormal(g);
        let left = |total: f64, half: &Mat<f64>| total - (q.transpose() * half).squared_norm_l2();
        (left(self.ty, &self.y), left(self.ts, &self.s))
    }

    /// The subspace that an encoding of the rows spans, in the coordinates of `Lx`.
    pub fn subspace(&self, z: MatRef<'_, f64>) -> Mat<f64> {
        column_space((self.basis.transpose() * centred(z)).as_ref())
    }
}

/// Ascending.
pub fn eigenvalues(a: &Mat<f64>) -> Vec<f64> {
    a.self_adjoint_eigenvalues(Side::Lower).unwrap()
}

pub fn orthonormal(g: &Mat<f64>) -> Mat<f64> {
    if g.ncols() == 0 { g.clone() } else { g.qr().compute_thin_Q() }
}

pub fn random_subspace(rng: &mut ChaCha8Rng, size: usize, dim: usize) -> Mat<f64> {
    orthonormal(&normal(rng, size, dim))
}

/// Random subspaces of all dimensions, and small to large turns of `ours`, with a direction more
/// or fewer now and then.
pub fn rivals(rng: &mut ChaCha8Rng, ours: &Mat<f64>, cap: usize, count: usize) -> Vec<Mat<f64>> {
    let size = ours.nrows();
    let most = cap.min(size);
    let mut all = Vec::with_capacity(count);
    for i in 0..count {
        if i % 3 == 0 || ours.ncols() == 0 {
            let dim = rng.random_range(0..=most);
            all.push(random_subspace(rng, size, dim));
            continue;
        }
        let angle = 10f64.powf(-6.0 * rng.random::<f64>());
        let mut turned = ours + normal(rng, size, ours.ncols()) * faer::Scale(angle);
        if i % 5 == 0 {
            turned = turned.subcols(0, ours.ncols() - 1).to_owned();
        } else if i % 7 == 0 && ours.ncols() < most {
            let more = normal(rng, size, 1);
            turned = Mat::from_fn(size, ours.ncols() + 1, |r, c| {
                if c < ours.ncols() { turned[(r, c)] } else { more[(r, 0)] }
            });
        }
        all.push(orthonormal(&turned));
    }
    all
}

/// Two numeric targets and three numeric sensitive columns, mixed from the features.
fn numeric(seed: u64, rows: usize, width: usize) -> Data {
    let mut rng = rng(seed);
    let x = normal(&mut rng, rows, width) * normal(&mut rng, width, width);
    let mut label = |columns: usize| {
        let signal = &x * normal(&mut rng, width, columns);
        Values::Number(signal + normal(&mut rng, rows, columns) * faer::Scale(2.0))
    };
    let (y, s) = (label(2), label(3));
    Data { x, y: vec![y], s: vec![s] }
}

/// Columns that repeat, combine and do not vary.
fn deficient(seed: u64) -> Data {
    let mut data = Data::from(&synthetic(seed, 300, 5, 3, 3));
    let x = data.x.clone();
    data.x = Mat::from_fn(x.nrows(), 9, |i, j| match j {
        0..5 => x[(i, j)],
        5 => x[(i, 0)],
        6 => x[(i, 1)] - 2.0 * x[(i, 3)],
        7 => 7.0,
        _ => -3.0 * x[(i, 2)],
    });
    data
}

/// Several labels at once on either side, of both kinds.
fn several(seed: u64) -> Data {
    let (mut one, two) = (numeric(seed, 500, 8), synthetic(seed, 500, 8, 3, 2));
    one.y.push(Values::Class(two.y));
    one.s.insert(0, Values::Class(two.s));
    one
}

/// Problems of different shapes.
pub fn problems() -> Vec<(&'static str, Data)> {
    let classes = |seed, rows, width, p, q| Data::from(&synthetic(seed, rows, width, p, q));
    vec![
        ("2+2 classes", classes(1, 400, 6, 2, 2)),
        ("5+7 classes", classes(2, 900, 12, 5, 7)),
        ("5+7 classes, 4 features", classes(3, 600, 4, 5, 7)),
        ("fewer rows than features", classes(4, 30, 50, 3, 4)),
        ("rank-deficient features", deficient(5)),
        ("numbers", numeric(6, 300, 7)),
        ("several labels", several(7)),
    ]
}
