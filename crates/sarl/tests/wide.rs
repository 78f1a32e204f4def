//! Fewer rows than features: what is solved in the span of the rows is what is solved in the
//! features.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl::{
    Block, FeatureMap, Front, Goal, HeldOut, Layout, Method, Model, Moments, MomentsOptions,
    NO_CLASS, Reduced, Role, Spanned, Wide, best_ridge, mean_variance,
};

/// Rows with numbers, categories, two labels and weights.
struct Rows {
    x: Vec<f64>,
    rows: usize,
    width: usize,
    codes: Vec<Vec<u32>>,
    categories: Vec<usize>,
    y: Vec<u32>,
    s: Vec<f64>,
    weights: Option<Vec<f64>>,
    keeps: bool,
}

impl Rows {
    fn new(seed: u64, rows: usize, width: usize, categories: &[usize], weighted: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let hidden: Vec<f64> = (0..rows * 2).map(|_| normal()).collect();
        let x = (0..rows * width)
            .map(|at| {
                let (i, j) = (at / width, at % width);
                // Columns of other means and sizes; one never varies.
                let value = normal() + hidden[2 * i + j % 2];
                if j == 1 { 3.1 } else { 10.0 * (j % 5) as f64 + (1 + j % 3) as f64 * value }
            })
            .collect();
        let s = (0..rows).map(|i| hidden[2 * i] + 0.3 * normal()).collect();
        let y = (0..rows).map(|i| u32::from(hidden[2 * i + 1] + 0.5 * normal() > 0.2)).collect();
        let mut code = |n: usize| match rng.random_range(0..20) {
            0 => NO_CLASS,
            _ => rng.random_range(0..n as u32),
        };
        let codes = categories.iter().map(|&n| (0..rows).map(|_| code(n)).collect()).collect();
        let weight = |i: usize| [0.0, 0.5, 1.0, 2.0][i % 4];
        let weights = weighted.then(|| (0..rows).map(weight).collect());
        let categories = categories.to_vec();
        Rows { x, rows, width, codes, categories, y, s, weights, keeps: false }
    }

    fn x(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.x, self.rows, self.width)
    }

    fn layout(&self) -> Layout {
        let layout = Layout::dense(self.width).coded(&self.categories);
        match self.keeps {
            true => layout.keep_features(),
            false => layout.class("y", Role::Target, 2),
        }
        .number("s", Role::Sensitive, 1)
    }

    fn block(&self) -> Block<'_, f64> {
        let mut block = self.codes.iter().fold(Block::new(self.x()), |b, codes| b.coded(codes));
        if !self.keeps {
            block = block.class(&self.y);
        }
        block = block.number(MatRef::from_column_major_slice(&self.s, self.rows, 1));
        match &self.weights {
            Some(weights) => block.weighted(weights),
            None => block,
        }
    }

    fn added_up(&self, standardise: bool) -> Moments {
        let mut moments = Moments::new(self.layout(), MomentsOptions::default()).unwrap();
        moments.push(&self.block()).unwrap();
        if standardise {
            moments.standardise().unwrap();
        }
        moments
    }

    fn wide(&self) -> Wide {
        let mut wide = Wide::new(self.layout(), MomentsOptions::default(), 7).unwrap();
        let half = self.rows / 2;
        wide.push(&self.block().slice(0, half)).unwrap();
        wide.push(&self.block().slice(half, self.rows - half)).unwrap();
        wide
    }

    fn plain_map(&self) -> FeatureMap {
        FeatureMap::coded(self.width, &self.categories)
    }

    /// Rows as a standardised model wants them.
    fn scaled(&self, spreads: &[(f64, f64)]) -> Mat<f64> {
        Mat::from_fn(self.rows, self.width, |i, j| {
            let (mean, sd) = spreads[j];
            (self.x()[(i, j)] - mean) / if sd > 0.0 { sd } else { 1.0 }
        })
    }
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}: {a} is not {b}");
}

fn alike(a: &Mat<f64>, b: &Mat<f64>, most: f64, what: &str) {
    assert_eq!(a.shape(), b.shape(), "{what}");
    let (off, size) = ((a - b).norm_max(), b.norm_max());
    assert!(off <= most * (1.0 + size), "{what}: {off} of {size}");
}

/// Both ways to the same figures.
fn compare(rows: &Rows, standardise: bool, ridge: f64, goal: &Goal) {
    let what = format!("{:?} {standardise} {ridge} {goal:?} {}", rows.categories, rows.keeps);
    let moments = rows.added_up(standardise);
    let Spanned { map, moments: own, spreads } = rows.wide().spanned(standardise).unwrap();
    assert!(own.layout().features() < rows.rows, "{what}");
    near(mean_variance(&own).unwrap(), mean_variance(&moments).unwrap(), &what);
    let ridge = ridge * mean_variance(&moments).unwrap();
    let reduce = |m: &Moments| Reduced::new(&m.covariances().unwrap(), ridge).unwrap();
    let (theirs, ours) = (reduce(&moments), reduce(&own));
    assert_eq!(ours.size(), theirs.size(), "{what}");
    let fronts = [Front::new(&theirs, None).unwrap(), Front::new(&ours, None).unwrap()];
    let [b, a] = fronts.each_ref().map(|front| *front.bounds());
    for (name, a, b) in [
        ("gamma_min", a.gamma_min, b.gamma_min),
        ("gamma_max", a.gamma_max, b.gamma_max),
        ("alpha_min", a.alpha_min, b.alpha_min),
        ("alpha_max", a.alpha_max, b.alpha_max),
        ("target_variance", a.target_variance, b.target_variance),
    ] {
        near(a, b, &format!("{name} {what}"));
    }
    // With a ridge a limit is met along a path that is searched to about 1e-8.
    let searched = ridge > 0.0 && !matches!(goal, Goal::Lambda(_));
    let most = if searched { 1e-6 } else { 1e-9 };
    let near = |a: f64, b: f64, name: &str| {
        assert!((a - b).abs() <= most * (1.0 + b.abs()), "{name} {what}: {a} is not {b}");
    };
    let layout = rows.layout();
    let theirs = Model::new(&rows.plain_map(), &layout, &theirs, None, goal.clone()).unwrap();
    let ours = Model::new(&map, &layout, &ours, None, goal.clone()).unwrap();
    near(ours.point().losses.jy, theirs.point().losses.jy, "jy");
    near(ours.point().losses.js, theirs.point().losses.js, "js");
    near(ours.certificate().dual_bound, theirs.certificate().dual_bound, "dual bound");
    // The file holds an ordinary linear model.
    let ours = Model::from_bytes(&ours.to_bytes().unwrap()).unwrap();
    assert_eq!(ours.inputs(), layout.features());
    let others = Rows::new(77, 40, rows.width, &rows.categories, false);
    for (rows, known) in [(rows, true), (&others, false)] {
        let x = if standardise { rows.scaled(&spreads) } else { rows.x().to_owned() };
        let block = rows.codes.iter().fold(Block::new(x.as_ref()), |b, codes| b.coded(codes));
        let [z, expected] = [&ours, &theirs].map(|m| m.encoder().encode_block(&block).unwrap());
        if rows.keeps && known {
            // As many directions as rows: their signs are nobody's, but what they give back is.
            let [a, b] = [(&ours, &z), (&theirs, &expected)]
                .map(|(m, z)| m.encoder().reconstruct(z.as_ref()));
            alike(&a.unwrap(), &b.unwrap(), most, &what);
        } else if !rows.keeps {
            alike(&z, &expected, most, &what);
        }
    }
    if [&ours, &theirs].iter().any(|m| m.method() == Method::Diluted) {
        // Mixed with a direction that no label knows, of which there are many.
        return;
    }
    let [b, a] = [(&moments, &fronts[0]), (&own, &fronts[1])].map(|(moments, front)| {
        HeldOut::new(moments, ridge, None).unwrap().solve(goal.clone(), front).unwrap()
    });
    near(a.jy, b.jy, "held-out jy");
    near(a.js, b.js, "held-out js");
}

#[test]
fn the_span_of_the_rows_gives_what_the_features_give() {
    for (seed, categories) in [vec![], vec![5, 3], vec![60, 2, 9]].iter().enumerate() {
        for weighted in [false, true] {
            let rows = Rows::new(seed as u64, 60, 90, categories, weighted);
            for standardise in [false, true] {
                for ridge in [0.0, 1e-3, 0.3] {
                    compare(&rows, standardise, ridge, &Goal::Leakage(0.1));
                }
                compare(&rows, standardise, 0.1, &Goal::Lambda(0.5));
                compare(&rows, standardise, 0.1, &Goal::Utility(0.5));
            }
        }
    }
}

#[test]
fn erasure_in_the_span_of_the_rows_is_that_of_the_features() {
    for weighted in [false, true] {
        let rows = Rows { keeps: true, ..Rows::new(5, 40, 70, &[4], weighted) };
        for goal in &[Goal::Leakage(0.0), Goal::Leakage(0.2), Goal::Lambda(0.6)] {
            compare(&rows, true, 0.0, goal);
            compare(&rows, false, 0.0, goal);
        }
        compare(&rows, true, 0.1, &Goal::Lambda(0.6));
    }
}

#[test]
fn the_same_ridge_is_chosen() {
    for seed in 0..3 {
        let rows = Rows::new(seed, 70, 100, &[6], seed == 1);
        let own = rows.wide().spanned(true).unwrap().moments;
        let (ours, theirs) = (best_ridge(&own, None), best_ridge(&rows.added_up(true), None));
        near(ours.unwrap().ridge, theirs.unwrap().ridge, "ridge");
    }
}

#[test]
fn rows_that_are_held_can_still_be_added_up() {
    let rows = Rows::new(3, 50, 80, &[3], true);
    let (a, b) = (rows.wide().added_up().unwrap(), rows.added_up(false));
    let (a, b) = (a.covariances().unwrap(), b.covariances().unwrap());
    alike(&a.features, &b.features, 1e-12, "covariances");
}

#[test]
fn many_columns_take_no_square_of_them() {
    let (rows, width) = (60, 50_000);
    let rows = Rows::new(1, rows, width, &[], false);
    let Spanned { map, moments, .. } = rows.wide().spanned(true).unwrap();
    let ridge = best_ridge(&moments, None).unwrap().ridge;
    let reduced = Reduced::new(&moments.covariances().unwrap(), ridge).unwrap();
    let model = Model::new(&map, &rows.layout(), &reduced, None, Goal::Leakage(0.05)).unwrap();
    assert!(model.point().leakage <= 0.05 + 1e-9);
    assert_eq!(model.encoder().weights().nrows(), width);
}

#[test]
fn the_certificate_is_that_of_the_encoded_rows() {
    // Rows far from each other, nearly alike, and of hardly any weight.
    let mut rows = Rows::new(9, 50, 120, &[], true);
    for j in 0..rows.width {
        rows.x[3 * rows.width + j] *= 1e6;
        rows.x[7 * rows.width + j] = rows.x[8 * rows.width + j] * (1.0 + 1e-9);
    }
    if let Some(weights) = &mut rows.weights {
        weights[3] = 1e-9;
    }
    for standardise in [false, true] {
        let Spanned { map, moments, spreads } = rows.wide().spanned(standardise).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        let goal = Goal::Leakage(0.02);
        let model = Model::new(&map, &rows.layout(), &reduced, None, goal).unwrap();
        let x = if standardise { rows.scaled(&spreads) } else { rows.x().to_owned() };
        let z = model.encoder().encode(x.as_ref()).unwrap();
        let layout = Layout::dense(z.ncols()).class("y", Role::Target, 2);
        let layout = layout.number("s", Role::Sensitive, 1);
        let mut own = Moments::new(layout, MomentsOptions::default()).unwrap();
        let numbers = MatRef::from_column_major_slice(&rows.s, rows.rows, 1);
        let block = Block::new(z.as_ref()).class(&rows.y).number(numbers);
        own.push(&block.weighted(rows.weights.as_ref().unwrap())).unwrap();
        let reduced = Reduced::new(&own.covariances().unwrap(), 0.0).unwrap();
        let found = Front::new(&reduced, None).unwrap().point(0.0).unwrap();
        assert!(found.leakage <= 0.02 + 1e-6, "{}", found.leakage);
    }
}

#[test]
fn what_is_wrong_is_refused_as_ever() {
    let rows = Rows::new(2, 6, 20, &[], false);
    let mut wide = rows.wide();
    let bad = Mat::from_fn(1, 20, |_, _| f64::NAN);
    let s = Mat::from_fn(1, 1, |_, _| 0.0);
    let block = Block::new(bad.as_ref()).class(&[0]).number(s.as_ref());
    assert!(wide.push(&block).is_err());
    assert_eq!(wide.rows(), 6);
    let empty = Wide::new(rows.layout(), MomentsOptions::default(), 0).unwrap();
    assert!(empty.spanned(true).is_err());
    assert!(Wide::suits(500, 100_000) && !Wide::suits(500, 400) && !Wide::suits(3, 4));
}
