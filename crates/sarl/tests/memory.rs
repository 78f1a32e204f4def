//! Peak memory of a streamed fit does not grow with the number of rows.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::rng;
use faer::MatRef;
use rand_distr::{Distribution, StandardNormal};
use sarl::{Block, FeatureMap, Front, Goal, HeldOut, Layout, Model, MomentsOptions, Reduced, Role};

const WIDTH: usize = 64;
const ROWS: usize = 1000;

/// The greatest resident size so far, in KiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Generates blocks on the fly and goes all the way from them to a model file.
fn fit(blocks: u64) -> Model {
    let layout = Layout::dense(WIDTH).class("y", Role::Target, 4).class("s", Role::Sensitive, 3);
    let map = FeatureMap::linear(WIDTH);
    let options = MomentsOptions { folds: 5, ..Default::default() };
    let mut moments = map.moments(&layout, options).unwrap();
    for block in 0..blocks {
        let mut rng = rng(block);
        let x: Vec<f64> = (0..ROWS * WIDTH).map(|_| StandardNormal.sample(&mut rng)).collect();
        let of = |at: usize, classes: u32| -> Vec<u32> {
            (0..ROWS).map(|i| (2.0 * x[i * WIDTH + at]).abs() as u32 % classes).collect()
        };
        let (y, s) = (of(0, 4), of(1, 3));
        let x = MatRef::from_row_major_slice(&x, ROWS, WIDTH);
        map.push(&mut moments, &Block::new(x).class(&y).class(&s)).unwrap();
    }
    assert_eq!(moments.rows(), blocks * ROWS as u64);
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    Front::new(&reduced, None).unwrap().points(101).unwrap();
    HeldOut::new(&moments, 0.0, None).unwrap().points(11).unwrap();
    let model = Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.5)).unwrap();
    Model::from_bytes(&model.to_bytes().unwrap()).unwrap()
}

/// The only test of this file: the peak is the process's.
#[test]
fn ten_times_the_rows_take_the_same_memory() {
    let Some(_) = peak() else {
        common::say("SKIPPED: /proc/self/status is not there, so the peak cannot be read");
        return;
    };
    fit(20);
    let few = peak().unwrap();
    fit(200);
    let many = peak().unwrap();
    // The rows themselves would be 102 MB, ten times 10 MB.
    eprintln!("peak {few} KiB for 20,000 rows, {many} KiB for 200,000");
    assert!(many < few + 4096, "{few} KiB then {many} KiB");
}
