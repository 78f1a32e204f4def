//! What must not matter does not: chunking, merge order, the number of threads, a stay on disk.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{Table, normal, rng, synthetic};
use faer::MatRef;
use proptest::prelude::*;
use sarl::{
    Covariances, FeatureMap, Front, Goal, Kernel, LandmarkOptions, Model, Moments, MomentsOptions,
    Reduced,
};

/// A table far from zero, with features of different units.
fn table(seed: u64, rows: usize) -> Table {
    let mut table = synthetic(seed, rows, 5, 3, 2);
    for (i, v) in table.x.iter_mut().enumerate() {
        *v = *v * [1.0, 100.0, 0.01, 1.0, 1.0][i % 5] + 10.0 * (i % 5) as f64;
    }
    // Every class occurs.
    (table.y[0], table.y[1], table.y[2]) = (0, 1, 2);
    (table.s[0], table.s[1]) = (0, 1);
    table
}

fn pushed(table: &Table, options: MomentsOptions, cuts: &[usize]) -> Moments {
    let mut moments = Moments::new(table.layout(), options).unwrap();
    let mut at = 0;
    for &cut in cuts.iter().chain([&table.rows]) {
        let end = cut.clamp(at, table.rows);
        moments.push(&table.block().slice(at, end - at)).unwrap();
        at = end;
    }
    moments
}

/// Relative to the standard deviations.
fn near(a: &Covariances, b: &Covariances, tolerance: f64) {
    let sd: Vec<f64> = (0..a.mean.len()).map(|j| a.features[(j, j)].sqrt()).collect();
    assert_eq!(a.rows, b.rows);
    for j in 0..sd.len() {
        let mean = tolerance * (a.mean[j].abs() + sd[j]);
        assert!((a.mean[j] - b.mean[j]).abs() <= mean);
        for i in 0..sd.len() {
            let error = (a.features[(i, j)] - b.features[(i, j)]).abs();
            assert!(error <= tolerance * sd[i] * sd[j], "{i} {j}: {error}");
        }
        for (a, b) in [(&a.target, &b.target), (&a.sensitive, &b.sensitive)] {
            for l in 0..a.mean.len() {
                let error = (a.cross[(j, l)] - b.cross[(j, l)]).abs();
                assert!(error <= tolerance * sd[j], "{j} {l}: {error}");
            }
        }
    }
}

fn fronts_near(a: &Covariances, b: &Covariances) {
    let (a, b) = (Reduced::new(a, 0.0).unwrap(), Reduced::new(b, 0.0).unwrap());
    let front = |r: &Reduced| Front::new(r, None).unwrap().points(21).unwrap();
    for (p, q) in front(&a).iter().zip(front(&b)) {
        assert_eq!(p.dim, q.dim, "at {}", p.lambda);
        assert!((p.losses.jy - q.losses.jy).abs() < 1e-9);
        assert!((p.losses.js - q.losses.js).abs() < 1e-9);
    }
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    fn chunking_changes_rounding_only(
        seed in 0u64..1000,
        rows in 20usize..2500,
        mut cuts in prop::collection::vec(0usize..2500, 0..6),
    ) {
        cuts.sort_unstable();
        let table = table(seed, rows);
        let options = MomentsOptions { seed, ..Default::default() };
        let (whole, parts) = (pushed(&table, options, &[]), pushed(&table, options, &cuts));
        let (a, b) = (whole.covariances().unwrap(), parts.covariances().unwrap());
        near(&a, &b, 1e-12);
        fronts_near(&a, &b);
        if let (Ok(a), Ok(b)) = (whole.splits(), parts.splits()) {
            for (a, b) in a.iter().zip(&b) {
                near(&a.0, &b.0, 1e-12);
            }
        }
    }

    #[test]
    fn merge_order_changes_rounding_only(
        seed in 0u64..1000,
        order in Just(vec![0usize, 1, 2, 3, 4]).prop_shuffle(),
        rows in 50usize..1500,
    ) {
        let table = table(seed, rows);
        let size = rows.div_ceil(5);
        let options = MomentsOptions::default();
        let mut merged = Moments::new(table.layout(), options).unwrap();
        for i in order {
            let mut shard = Moments::new(table.layout(), options).unwrap();
            let start = (i * size).min(rows);
            shard.push(&table.block().slice(start, size.min(rows - start))).unwrap();
            merged.merge(&shard).unwrap();
        }
        let (a, b) = (table.covariances(), merged.covariances().unwrap());
        near(&a, &b, 1e-12);
        fronts_near(&a, &b);
    }

    #[test]
    fn threads_change_rounding_only(seed in 0u64..1000, rows in 20usize..4000) {
        let table = table(seed, rows);
        let fit = || pushed(&table, MomentsOptions::default(), &[rows / 3]).covariances().unwrap();
        let one = with_threads(1, fit);
        for threads in [2, 3, 5] {
            let (other, points) = with_threads(threads, || {
                let other = fit();
                let reduced = Reduced::new(&other, 0.0).unwrap();
                let points = Front::new(&reduced, None).unwrap().points(21).unwrap();
                (other, points)
            });
            near(&one, &other, 1e-12);
            let reduced = Reduced::new(&one, 0.0).unwrap();
            let expected = with_threads(1, || Front::new(&reduced, None).unwrap().points(21).unwrap());
            for (p, q) in expected.iter().zip(points) {
                assert_eq!(p.dim, q.dim);
                assert!((p.losses.jy - q.losses.jy).abs() < 1e-9);
                assert!((p.losses.js - q.losses.js).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn files_round_trip_bit_for_bit(seed in 0u64..1000, rows in 20usize..1200, lambda in 0.0..1.0) {
        let table = table(seed, rows);
        let moments = table.moments();
        let bytes = moments.to_bytes().unwrap();
        let again = Moments::from_bytes(&bytes).unwrap();
        prop_assert_eq!(again.to_bytes().unwrap(), bytes);
        near(&moments.covariances().unwrap(), &again.covariances().unwrap(), 1e-14);
        for (map, ridge) in maps(&table, seed).iter().zip([0.0, 0.0, 0.01]) {
            let model = fit(&table, map, ridge, Goal::Lambda(lambda));
            let bytes = model.to_bytes().unwrap();
            let again = Model::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&again.to_bytes().unwrap(), &bytes);
            prop_assert_eq!(again.point(), model.point());
            prop_assert_eq!(again.certificate(), model.certificate());
            let encode = |m: &Model| m.encoder().encode(table.x()).unwrap();
            prop_assert_eq!(encode(&again), encode(&model));
            // Another goal from the file is the same as from the fit.
            let goal = Goal::Leakage(0.01);
            let (a, b) = (again.retune(goal.clone()).unwrap(), model.retune(goal).unwrap());
            prop_assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
        }
    }

    #[test]
    fn encoding_in_blocks_is_encoding_the_whole(seed in 0u64..1000, cut in 1usize..2999) {
        let table = table(seed, 3000);
        for map in maps(&table, seed) {
            let encoder = fit(&table, &map, 0.0, Goal::Lambda(0.3)).encoder();
            let whole = encoder.encode(table.x()).unwrap();
            let scale = whole.norm_max();
            for (start, rows) in [(0, cut), (cut, 3000 - cut)] {
                let part = encoder.encode(table.x().subrows(start, rows)).unwrap();
                let error = (part - whole.as_ref().subrows(start, rows)).norm_max();
                // Folded kernel weights cancel: they are as large as the kernel is ill-conditioned.
                let weights = encoder.weights().norm_max().max(1.0);
                let digits = if map.is_linear() { 1e-13 } else { 1e-14 * weights };
                prop_assert!(error <= digits * scale.max(1.0) * 10.0, "{error}");
            }
        }
    }
}

/// Linear, landmarks and random features over the table.
fn maps(table: &Table, seed: u64) -> Vec<FeatureMap> {
    let kernel = Kernel::Rbf { gamma: 1e-4 };
    let options = LandmarkOptions { cap: 12, seed, ..Default::default() };
    vec![
        FeatureMap::linear(5),
        FeatureMap::landmarks(kernel, table.x().subrows(0, 20), &options).unwrap(),
        FeatureMap::random_features(kernel, 5, 10, seed).unwrap(),
    ]
}

fn fit(table: &Table, map: &FeatureMap, ridge: f64, goal: Goal) -> Model {
    let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    map.push(&mut moments, &table.block()).unwrap();
    let reduced = Reduced::new(&moments.covariances().unwrap(), ridge).unwrap();
    Model::new(map, &table.layout(), &reduced, None, goal).unwrap()
}

/// The same bytes whatever the number of threads, where one worker does all the adding.
#[test]
fn small_fits_do_not_know_the_number_of_threads() {
    let table = table(1, 400);
    let bytes = |threads| with_threads(threads, || table.moments().to_bytes().unwrap());
    assert_eq!(bytes(1), bytes(2));
    assert_eq!(bytes(1), bytes(5));
}

/// Landmarks and encoding under any number of threads.
#[test]
fn kernels_do_not_know_the_number_of_threads() {
    let x = normal(&mut rng(3), 500, 4);
    let run = |threads: usize| {
        with_threads(threads, || {
            let options = LandmarkOptions { cap: 60, ..Default::default() };
            let kernel = Kernel::Rbf { gamma: 0.2 };
            let map = FeatureMap::landmarks(kernel, x.as_ref(), &options).unwrap();
            (map.outputs(), map.residual(), map.apply(x.as_ref()).unwrap())
        })
    };
    let (outputs, residual, phi) = run(1);
    for threads in [2, 3, 5] {
        let other = run(threads);
        assert_eq!(other.0, outputs);
        assert!((other.1 - residual).abs() < 1e-12);
        let near = |a: MatRef<'_, f64>, b: MatRef<'_, f64>| (a - b).norm_max() < 1e-9;
        assert!(near(phi.as_ref(), other.2.as_ref()));
    }
}
