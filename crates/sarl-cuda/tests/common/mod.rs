//! What the tests share: the device, rows with everything that rows can have, and how far apart sums are.
#![allow(dead_code, reason = "no file uses all of it")]

use std::sync::Arc;

use faer::MatRef;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::engine::Engine;
use sarl::{Block, Covariances, Layout, Moments, MomentsOptions, Role};
use sarl_cuda::{Cuda, devices};

/// The first GPU, or a word about why the test is skipped.
pub fn cuda(test: &str) -> Option<Cuda> {
    match devices().and_then(|_| Cuda::new(&[0])) {
        Ok(cuda) => Some(cuda),
        Err(fault) => {
            println!("skipped {test}: {fault}");
            None
        }
    }
}

/// Rows with everything that rows can have.
pub struct Data {
    pub x: Vec<f64>,
    pub rows: usize,
    pub width: usize,
    pub y: Vec<u32>,
    pub s: Vec<u32>,
    pub many: Vec<u32>,
    pub number: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Data {
    pub fn new(rows: usize, width: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut draw = || rng.random_range(-1.0..1.0);
        let mut x: Vec<f64> = (0..rows * width).map(|_| draw()).collect();
        // Means far from zero, and columns of different size.
        x.iter_mut().enumerate().for_each(|(at, v)| *v = *v * (1.0 + (at % width) as f64) + 30.0);
        let number: Vec<f64> = (0..rows).map(|i| x[i * width] + draw()).collect();
        let y = (0..rows).map(|i| u32::from(x[i * width] + draw() > 30.0)).collect();
        let s = (0..rows)
            .map(|i| u32::from(x[i * width + 1] + draw() > 30.0) + u32::from(i % 5 == 0))
            .collect();
        let many = (0..rows).map(|i| ((i * 7) % 37) as u32).collect();
        let weights =
            (0..rows).map(|i| if i % 11 == 0 { 0.0 } else { 0.5 + (i % 3) as f64 }).collect();
        Data { x, rows, width, y, s, many, number, weights }
    }

    pub fn layout(&self) -> Layout {
        Layout::dense(self.width)
            .coded(&[37])
            .class("y", Role::Target, 2)
            .class("s", Role::Sensitive, 3)
            .number("n", Role::Sensitive, 1)
    }

    pub fn block(&self, weighted: bool) -> Block<'_, f64> {
        let block = Block::new(MatRef::from_row_major_slice(&self.x, self.rows, self.width));
        let number = MatRef::from_row_major_slice(&self.number, self.rows, 1);
        let block = block.coded(&self.many).class(&self.y).class(&self.s).number(number);
        if weighted { block.weighted(&self.weights) } else { block }
    }
}

/// The largest difference of two covariances, in standard deviations.
pub fn apart(a: &Covariances, b: &Covariances) -> f64 {
    let m = a.features.nrows();
    assert_eq!(m, b.features.nrows());
    let deviation = |j: usize| a.features[(j, j)].max(1e-30).sqrt();
    let mut worst = 0.0_f64;
    for j in 0..m {
        worst = worst.max((a.mean[j] - b.mean[j]).abs() / deviation(j));
        for i in 0..m {
            worst = worst.max(
                (a.features[(i, j)] - b.features[(i, j)]).abs() / (deviation(i) * deviation(j)),
            );
        }
    }
    for (one, other) in [(&a.target, &b.target), (&a.sensitive, &b.sensitive)] {
        for j in 0..one.cross.ncols() {
            for i in 0..m {
                worst = worst.max((one.cross[(i, j)] - other.cross[(i, j)]).abs() / deviation(i));
            }
        }
    }
    worst
}

pub fn moments(
    layout: &Layout,
    options: MomentsOptions,
    engine: Option<Arc<dyn Engine>>,
    push: impl Fn(&mut Moments),
) -> Moments {
    let mut moments = Moments::new(layout.clone(), options).unwrap();
    if let Some(engine) = engine {
        moments.on(engine).unwrap();
    }
    push(&mut moments);
    moments.settle().unwrap();
    moments
}

pub fn splits_apart(one: &Moments, other: &Moments) -> f64 {
    let (a, b) = (one.splits().unwrap(), other.splits().unwrap());
    let folds = a.iter().zip(&b).map(|(a, b)| apart(&a.0, &b.0).max(apart(&a.1, &b.1)));
    folds.fold(apart(&one.covariances().unwrap(), &other.covariances().unwrap()), f64::max)
}
