use super::*;

/// y is the side of the first feature, s that of the second; both are in the third.
fn rows() -> (Mat<f64>, Labels, Labels) {
    let x = Mat::from_fn(400, 2, |i, j| ((i * (37 + 24 * j)) % 101) as f64 / 29.0 - 1.72);
    let side = |j: usize| Labels::Classes {
        codes: (0..400).map(|i| u32::from(x[(i, j)] > 0.0)).collect(),
        count: 2,
    };
    let (y, s) = (side(0), side(1));
    let x = Mat::from_fn(400, 3, |i, j| match j {
        2 => x[(i, 0)] + x[(i, 1)],
        _ => x[(i, j)],
    });
    (x, y, s)
}

fn fitted(hiding: f64) -> (Mat<f64>, Labels) {
    let (x, y, s) = rows();
    let (targets, sensitives) = ([y], [s]);
    let data = Data { x: x.as_ref(), categories: &[], targets: &targets, sensitives: &sensitives };
    let encoder = Lfr.fit(&data, &Fitting { hiding, seed: 3, stop: &|| false }).unwrap();
    let [s] = sensitives;
    (encoder.encode(x.as_ref()).unwrap(), s)
}

/// `Σ_k |mean of M_k in one group − in the other|`.
fn gap((m, s): &(Mat<f64>, Labels)) -> f64 {
    let Labels::Classes { codes, .. } = s else { return f64::NAN };
    let size = |g: u32| codes.iter().filter(|c| **c == g).count() as f64;
    let mean = |k: usize, g: u32| {
        let of = m.col(k).iter().zip(codes).filter(|(_, c)| **c == g);
        of.map(|(v, _)| v).sum::<f64>() / size(g)
    };
    (0..m.ncols()).map(|k| (mean(k, 0) - mean(k, 1)).abs()).sum()
}

#[test]
fn memberships_sum_to_one_and_are_alike_in_the_groups() {
    let (open, hidden) = (fitted(0.0), fitted(1.0));
    for m in [&open.0, &hidden.0] {
        assert_eq!(m.shape(), (400, 10));
        for i in 0..400 {
            assert!((m.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
    assert!(gap(&open) > 0.1 && gap(&hidden) < 0.05, "{}, {}", gap(&open), gap(&hidden));
}

#[test]
fn the_same_seed_gives_the_same_encoder() {
    assert_eq!(fitted(0.5).0, fitted(0.5).0);
}

#[test]
fn numbers_have_no_groups() {
    let (y, s) = ([Labels::Numbers(vec![1.0])], [Labels::Numbers(vec![1.0])]);
    assert!(matches!(Lfr.accepts(&y, &s), Err(Error::Unfit { .. })));
    assert!(matches!(Lfr.accepts(&[], &[]), Err(Error::Unfit { .. })));
}
