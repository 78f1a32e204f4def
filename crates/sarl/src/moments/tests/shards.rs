//! Merging, travelling, folds, and what must not change a result.

use super::*;

/// Bit for bit.
fn same(a: &Covariances, b: &Covariances) {
    assert_eq!((a.rows, a.weight.to_bits(), &a.mean), (b.rows, b.weight.to_bits(), &b.mean));
    assert_eq!(a.features, b.features);
    for (a, b) in [(&a.target, &b.target), (&a.sensitive, &b.sensitive)] {
        assert_eq!(a.cross, b.cross);
        assert_eq!((&a.mean, &a.variance), (&b.mean, &b.variance));
    }
}

#[test]
fn shards_merge_in_any_order() {
    // Each shard has a mean and so a shift of its own.
    let parts: Vec<Rows> =
        [0.0, 40.0, -7.0, 0.1].iter().zip(20..).map(|(&m, seed)| rows(seed, 700, m)).collect();
    let all = parts[1..].iter().fold(parts[0].clone(), |all, part| stacked(&all, part));
    let whole = all.moments(1, MomentsOptions::default());
    agrees(&whole.covariances().unwrap(), &all, 1e-12);
    let options = MomentsOptions::default();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        let mut merged = Moments::new(Rows::layout(), options).unwrap();
        for i in order {
            merged.merge(&parts[i].moments(2, options)).unwrap();
        }
        assert_eq!(merged.rows(), 2800);
        agrees(&merged.covariances().unwrap(), &all, 1e-12);
    }
    // A tree instead of a chain, with an empty shard at each end.
    let pair = |a: usize, b: usize| {
        let mut left = parts[a].moments(1, options);
        left.merge(&parts[b].moments(1, options)).unwrap();
        left.merge(&Moments::new(Rows::layout(), options).unwrap()).unwrap();
        left
    };
    let mut tree = Moments::new(Rows::layout(), options).unwrap();
    tree.merge(&pair(3, 1)).unwrap();
    tree.merge(&pair(0, 2)).unwrap();
    agrees(&tree.covariances().unwrap(), &all, 1e-12);
}

#[test]
fn merged_folds_are_the_folds_of_the_shards() {
    let (a, b) = (rows(30, 600, 3.0), rows(31, 500, -2.0));
    let options = MomentsOptions { folds: 3, seed: 9, ..Default::default() };
    let mut merged = a.moments(1, options);
    merged.merge(&b.moments(1, options)).unwrap();
    let held = |n: usize, fold: usize| -> Vec<usize> {
        (0..n).filter(|&i| fold_of(i as u64, 3, 9) == fold).collect()
    };
    for (fold, (_, test)) in merged.splits().unwrap().iter().enumerate() {
        let expected = stacked(&a.take(&held(600, fold)), &b.take(&held(500, fold)));
        agrees(test, &expected, 1e-12);
    }
}

/// The precise shard must not lose its digits to the place of the other.
#[test]
fn a_large_shard_merges_into_a_single_distant_row() {
    let (one, many) = (rows(32, 1, 0.0), rows(33, 4000, 1e6));
    let options = MomentsOptions::default();
    let mut merged = one.moments(1, options);
    merged.merge(&many.moments(1, options)).unwrap();
    let of = |i: usize, fold: usize| fold_of(i as u64, 5, 0) == fold;
    for (fold, (_, test)) in merged.splits().unwrap().iter().enumerate() {
        let held: Vec<usize> = (0..4000).filter(|&i| of(i, fold)).collect();
        let part = many.take(&held);
        let expected = if of(0, fold) { stacked(&one, &part) } else { part };
        agrees(test, &expected, 1e-9);
    }
}

#[test]
fn what_does_not_fit_is_not_merged() {
    let mut moments = rows(34, 10, 0.0).moments(1, one_fold());
    let refused = |moments: &mut Moments, layout: Layout, options: MomentsOptions| {
        moments.merge(&Moments::new(layout, options).unwrap()).unwrap_err().to_string()
    };
    let other = Rows::layout().number("more", Role::Target, 1);
    let text = "these moments cannot be merged: their columns differ";
    assert_eq!(refused(&mut moments, other, one_fold()), text);
    let text = "these moments cannot be merged: their folds, seeds or precisions differ";
    assert_eq!(refused(&mut moments, Rows::layout(), MomentsOptions::default()), text);
    let single = MomentsOptions { precision: Precision::Single, ..one_fold() };
    assert_eq!(refused(&mut moments, Rows::layout(), single), text);
}

#[test]
fn a_shard_travels_unchanged() {
    let data = rows(35, 3000, 1e3);
    for precision in [Precision::Double, Precision::Single] {
        let options = MomentsOptions { precision, ..Default::default() };
        let here = data.moments(2, options);
        let bytes = here.to_bytes().unwrap();
        let mut there = Moments::from_bytes(&bytes).unwrap();
        assert_eq!(there.to_bytes().unwrap(), bytes);
        assert_eq!((there.layout(), there.rows()), (here.layout(), here.rows()));
        same(&here.covariances().unwrap(), &there.covariances().unwrap());
        for (a, b) in here.splits().unwrap().iter().zip(there.splits().unwrap()) {
            same(&a.0, &b.0);
            same(&a.1, &b.1);
        }
        // It goes on there as it would have here, and merges.
        let more = rows(36, 900, 1e3);
        there.push(&more.block()).unwrap();
        there.merge(&Moments::from_bytes(&bytes).unwrap()).unwrap();
        let all = stacked(&stacked(&data, &more), &data);
        let digits = if precision == Precision::Double { 1e-12 } else { 1e-5 };
        agrees(&there.covariances().unwrap(), &all, digits);
    }
    let empty = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
    let bytes = empty.to_bytes().unwrap();
    assert_eq!(Moments::from_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
}

/// No numeric column at all, so an empty shift: still rows to add and to send.
#[test]
fn class_coded_features_alone_merge_and_travel() {
    let layout =
        Layout::dense(0).coded(&[3]).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let push = |from: usize, rows: usize| {
        let codes: Vec<u32> = (from..from + rows).map(|i| (i * i % 7) as u32 % 3).collect();
        let y: Vec<u32> = codes.iter().zip(0..).map(|(c, i)| u32::from((c + i) % 3 == 0)).collect();
        let s: Vec<u32> = codes.iter().zip(0..).map(|(c, i)| u32::from((c + i) % 4 < 2)).collect();
        let mut moments = Moments::new(layout.clone(), one_fold()).unwrap();
        let none: Mat<f64> = Mat::zeros(rows, 0);
        moments.push(&Block::new(none.as_ref()).coded(&codes).class(&y).class(&s)).unwrap();
        moments
    };
    let (mut a, b) = (push(0, 40), push(40, 50));
    let (before, more) = (a.covariances().unwrap(), b.covariances().unwrap());
    let there = Moments::from_bytes(&a.to_bytes().unwrap());
    let there = there.map(|m| m.covariances().unwrap().rows).map_err(|e| e.to_string());
    assert_eq!(there, Ok(40));
    a.merge(&b).unwrap();
    let merged = a.covariances().unwrap();
    assert_eq!(merged.rows, 90);
    for k in 0..3 {
        let expected = (40.0 * before.mean[k] + 50.0 * more.mean[k]) / 90.0;
        assert!((merged.mean[k] - expected).abs() < 1e-15);
    }
}

#[test]
fn folds_are_balanced_and_do_not_depend_on_blocks() {
    for (folds, seed) in [(2, 0), (5, 0), (5, 77), (7, 3)] {
        let mut counts = vec![0u64; folds];
        for row in 0..1003 {
            counts[fold_of(row, folds as u64, seed)] += 1;
        }
        let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(high - low <= 2 && counts.iter().sum::<u64>() == 1003, "{counts:?}");
        // A period of the number of folds must not fall into step with them.
        let first = |fold: usize| {
            (0..1000).filter(|i| fold_of(i * folds as u64, folds as u64, seed) == fold).count()
        };
        let fair = 1000 / folds;
        assert!((0..folds).all(|f| first(f) > fair / 2 && first(f) < 2 * fair));
    }
    let data = rows(37, 1700, 2.0);
    let options = MomentsOptions { folds: 4, seed: 5, ..Default::default() };
    for blocks in [1, 3, 170] {
        folds_agree(&data.moments(blocks, options), &data, 1e-12);
    }
}

#[test]
fn the_parts_of_a_split_add_up_to_the_whole() {
    let mut data = rows(38, 900, 1.0);
    data.weights = Some((0..900).map(|i| f64::from(i % 5)).collect());
    let moments = data.moments(2, MomentsOptions::default());
    let whole = moments.covariances().unwrap();
    for (train, test) in moments.splits().unwrap() {
        assert_eq!(train.rows + test.rows, whole.rows);
        assert!((train.weight + test.weight - whole.weight).abs() < 1e-12 * whole.weight);
        let second = |c: &Covariances, i: usize, j: usize| {
            c.weight * (c.features[(i, j)] + c.mean[i] * c.mean[j])
        };
        let label = |c: &Covariances, i: usize, j: usize| {
            c.weight * (c.sensitive.cross[(i, j)] + c.mean[i] * c.sensitive.mean[j])
        };
        for i in 0..7 {
            for j in 0..6 {
                let close = |parts: f64, whole: f64| {
                    assert!((parts - whole).abs() < 1e-12 * 900.0 * 10.0, "{parts} {whole}");
                };
                close(second(&train, i, j) + second(&test, i, j), second(&whole, i, j));
                close(label(&train, i, j) + label(&test, i, j), label(&whole, i, j));
            }
        }
    }
}

#[test]
fn row_major_and_column_major_are_the_same() {
    let data = rows(39, 1000, 0.3);
    let turned = data.x.transpose().to_owned();
    let numbers = data.numbers[1].transpose().to_owned();
    let column_major = data.moments(1, MomentsOptions::default());
    let mut row_major = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
    let mut block = data.labelled(turned.transpose());
    block.labels[1] = LabelBlock::Number(numbers.transpose());
    row_major.push(&block).unwrap();
    same(&column_major.covariances().unwrap(), &row_major.covariances().unwrap());
}

#[test]
fn empty_blocks_change_nothing() {
    let data = rows(40, 1000, 0.3);
    let plain = data.moments(1, MomentsOptions::default());
    let mut moments = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
    moments.push(&data.block().slice(0, 0)).unwrap();
    assert_eq!(moments.rows(), 0);
    moments.push(&data.block()).unwrap();
    moments.push(&data.block().slice(1000, 0)).unwrap();
    assert_eq!(moments.to_bytes().unwrap(), plain.to_bytes().unwrap());
}

#[test]
fn a_refused_block_leaves_no_trace() {
    let data = rows(41, 2000, 0.3);
    for pushed in [0, 2000] {
        let mut moments = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
        moments.push(&data.block().slice(0, pushed)).unwrap();
        let before = moments.to_bytes().unwrap();
        let mut bad = [data.clone(), data.clone(), data.clone(), data.clone(), data.clone()];
        bad[0].x[(1999, 1)] = f64::NAN;
        bad[1].numbers[0][(1999, 0)] = f64::INFINITY;
        bad[2].classes[1][1999] = CLASSES[1] as u32;
        bad[3].weights = Some((0..2000).map(|i| 1.0 - f64::from(i / 1999) * 2.0).collect());
        bad[4].codes[0][1999] = CODES[0] as u32;
        for bad in &bad {
            let message = moments.push(&bad.block()).unwrap_err().to_string();
            assert!(message.contains(&format!("row {}", pushed + 1999)), "{message}");
            assert_eq!(moments.to_bytes().unwrap(), before);
        }
    }
}

/// A shard that numbers its classes otherwise, and lacks one, merges after renumbering.
#[test]
fn classes_can_be_renumbered() {
    let options = MomentsOptions { folds: 2, ..Default::default() };
    let (a, b) = (rows(60, 500, 1.0), rows(61, 400, 2.0));
    let whole = stacked(&a, &b);
    // The other shard's `s2` has 0 ↔ 2 exchanged, and another class between them.
    let to = [3, 1, 0, 4];
    let mut other = b.clone();
    other.classes[1].iter_mut().for_each(|c| *c = [2, 1, 0, 3][*c as usize]);
    let mut renumbered = other.moments(2, options);
    renumbered.reclass(2, &[3, 1, 0, 4], 5).unwrap();
    let mut merged = a.moments(2, options);
    merged.extra.insert("who".into(), "a".into());
    assert!(merged.merge(&renumbered).is_err(), "four classes and five");
    merged.reclass(2, &[0, 1, 3, 4], 5).unwrap();
    merged.merge(&renumbered).unwrap();
    assert_eq!(merged.extra["who"], "a");
    let found = merged.covariances().unwrap();
    let expected = whole.moments(2, options).covariances().unwrap();
    // Two numbers come before the classes of `s2`.
    let place = |j: usize| if j < 2 { j } else { 2 + [0, 1, 3, 4][j - 2] };
    for j in 0..6 {
        let difference = found.sensitive.cross.col(place(j)) - expected.sensitive.cross.col(j);
        assert!(difference.norm_max() < 1e-12, "{j}");
    }
    assert_eq!(found.sensitive.mean[2 + 2], 0.0, "nobody is in the class between");
    // And more rows can come.
    let mut more = rows(62, 100, 0.0);
    more.classes[1].iter_mut().for_each(|c| *c = to[*c as usize]);
    merged.push(&more.block()).unwrap();
    assert_eq!(merged.rows(), 1000);
    for (to, classes) in [(&[0, 1, 1, 2, 3][..], 5), (&[0, 1, 2, 3, 5], 5), (&[0, 1], 5)] {
        assert!(merged.reclass(2, to, classes).is_err(), "{to:?}");
    }
    assert!(merged.reclass(1, &[0, 1], 2).is_err(), "numbers have no classes");
    assert!(merged.reclass(9, &[0, 1], 2).is_err());
}
