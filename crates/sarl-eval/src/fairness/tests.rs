//! Cases by hand, and how often intervals hold the truth.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::*;

fn classes(codes: &[u32], count: usize) -> Labels {
    Labels::Classes { codes: codes.to_vec(), count }
}

fn judged(truth: &[u32], told: &[u32], count: usize, groups: &[u32]) -> Result<Fairness> {
    let truth = classes(truth, count);
    Judge { truth: &truth, groups, favourable: None }.fairness(&Told::Classes(told.to_vec()))
}

/// Each measure with its interval.
fn each(fair: &Fairness) -> Vec<(f64, [f64; 2])> {
    fair.gaps.each().zip(fair.ci.each()).map(|((_, &v), (_, &ci))| (v, ci)).collect()
}

#[test]
fn two_groups_by_hand() {
    let truth = [1, 1, 0, 0, 1, 1, 0, 0];
    let told = [1, 1, 1, 0, 1, 0, 0, 0];
    let fair = judged(&truth, &told, 2, &[0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
    assert!(each(&fair).iter().all(|(gap, _)| *gap == 0.5));
    let Rates::Class { accuracy, positive_rows, .. } = &fair.groups[0].rates else { panic!() };
    assert_eq!((*accuracy, &positive_rows[..]), (0.75, &[2][..]));
}

#[test]
fn more_classes_take_the_worst_one_against_the_rest() {
    let fair = judged(&[0, 1, 2, 0, 1, 2], &[0, 1, 2, 2, 1, 2], 3, &[0, 0, 0, 3, 3, 3]).unwrap();
    assert_eq!(fair.groups.iter().map(|g| g.group).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(fair.gaps.equal_opportunity, Some(1.0));
    assert!((fair.gaps.demographic_parity - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn what_does_not_fit_is_an_error() {
    assert!(matches!(judged(&[0], &[0, 1], 2, &[0]), Err(Error::Shape { .. })));
    assert!(matches!(judged(&[0], &[0], 2, &[0, 1]), Err(Error::Shape { .. })));
    assert!(matches!(judged(&[], &[], 2, &[]), Err(Error::Empty { .. })));
    assert!(matches!(judged(&[0], &[5], 2, &[0]), Err(Error::Code { code: 5, classes: 2 })));
    assert!(judged(&[0, 0], &[0, 0], 1, &[7, u32::MAX]).is_ok(), "one class, far codes");
    let truth = classes(&[0, 1], 2);
    let judge = Judge { truth: &truth, groups: &[0, 1], favourable: Some(2) };
    let told = Told::Classes(vec![0, 1]);
    assert!(matches!(judge.fairness(&told), Err(Error::Code { code: 2, classes: 2 })));
    let judge = Judge { favourable: None, ..judge };
    let numbers = Told::Numbers(vec![0.0, 1.0]);
    assert!(matches!(judge.fairness(&numbers), Err(Error::Mixed { .. })));
    assert!(matches!(judge.change(&told, &numbers), Err(Error::Mixed { .. })));
}

/// The first class is favourable: equal opportunity is about it, and the others do not count.
#[test]
fn a_favourable_class_is_the_positive_one() {
    let truth = classes(&[0, 0, 1, 2, 0, 0, 1, 2], 3);
    let told = Told::Classes(vec![0, 0, 1, 2, 0, 1, 2, 1]);
    let groups = [0, 0, 0, 0, 1, 1, 1, 1];
    let judge = Judge { truth: &truth, groups: &groups, favourable: Some(0) };
    let fair = judge.fairness(&told).unwrap();
    assert_eq!(fair.gaps.equal_opportunity, Some(0.5));
    assert_eq!((fair.gaps.demographic_parity, fair.gaps.equalized_odds), (0.25, 0.5));
    let any = Judge { favourable: None, ..judge }.fairness(&told).unwrap();
    assert_eq!(any.gaps.equal_opportunity, Some(1.0), "classes 1 and 2 are swapped");
    let change = judge.change(&told, &Told::Classes(vec![0, 0, 1, 2, 0, 0, 1, 2])).unwrap();
    assert_eq!(change.equal_opportunity.unwrap().value, -0.5);
}

/// Newcombe 1998, method 10: 56/70 − 48/80 is 0.0524 to 0.3339.
#[test]
fn two_shares_have_the_interval_of_newcombe() {
    let mut counts = Counts::new(2, 2);
    for (group, told, rows) in [(0, 1, 56.0), (0, 0, 14.0), (1, 1, 48.0), (1, 0, 32.0)] {
        counts.add(group, 1, told, rows);
    }
    let [low, high] = counts.intervals(&[1]).demographic_parity;
    assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} {high}");
}

/// The third group has no positive rows: fairlearn's rate is 0, but nothing is known of it.
#[test]
fn a_group_without_a_rate_does_not_raise_the_lower_limit() {
    let rows = 400;
    let truth: Vec<u32> = (0..3 * rows).map(|i| u32::from(i < 2 * rows)).collect();
    let told: Vec<u32> = (0..3 * rows).map(|i| u32::from(i < 2 * rows && i % 5 > 0)).collect();
    let groups: Vec<u32> = (0..3 * rows).map(|i| (i / rows) as u32).collect();
    let fair = judged(&truth, &told, 2, &groups).unwrap();
    assert!((fair.gaps.equal_opportunity.unwrap() - 0.8).abs() < 1e-12);
    assert_eq!(fair.ci.equal_opportunity.unwrap(), [0.0, 0.8]);
    assert!(fair.ci.demographic_parity[0] > 0.7, "of all rows it has a rate");
}

#[test]
fn numbers_make_fifths_by_rank() {
    let even: Vec<f64> = (0..100).map(|i| f64::from(99 - i)).collect();
    let groups = Groups::new(&Labels::Numbers(even), &[]);
    assert!(
        groups.fifths && (0..5).all(|g| groups.codes.iter().filter(|&&c| c == g).count() == 20)
    );
    assert_eq!(groups.names, ["0 to 19", "20 to 39", "40 to 59", "60 to 79", "80 to 99"]);
    let of = |values: Vec<f64>| Groups::new(&Labels::Numbers(values), &[]);
    let rare = of((0..100).map(|i| f64::from(u32::from(i >= 10))).collect());
    assert_eq!(rare.names, ["0", "1"], "a common value leaves the others alone");
    assert_eq!(of(vec![7.0; 9]).names, ["7"]);
    let parts = of((0..50).map(|i| f64::from(i) / 500.0 - 0.01).collect());
    assert_eq!(parts.names[0], "-0.010 to 0.008");
    assert_eq!(of(vec![0.25]).names, ["0.25"]);
    assert!(of(Vec::new()).names.is_empty());
}

/// Predictions 1 apart everywhere; the target has a standard deviation of 2.
#[test]
fn a_number_is_measured_in_its_own_units() {
    let truth: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 10.0 } else { 14.0 }).collect();
    let groups: Vec<u32> = (0..400).map(|i| u32::from(i >= 200)).collect();
    let noise = |i: usize| ((i * 37) % 101) as f64 / 101.0 - 0.5;
    let told = |apart: f64| {
        Told::Numbers(
            (0..400).map(|i| truth[i] + noise(i) + apart * f64::from(groups[i])).collect(),
        )
    };
    let labels = Labels::Numbers(truth.clone());
    let judge = Judge { truth: &labels, groups: &groups, favourable: None };
    let fair = judge.fairness(&told(1.0)).unwrap();
    assert!(fair.gaps.equal_opportunity.is_none() && fair.ci.equal_opportunity.is_none());
    for (gap, [low, high]) in each(&fair) {
        assert!((gap - 0.5).abs() < 0.05 && low < gap && gap < high, "{low} {gap} {high}");
    }
    assert!(fair.ci.equalized_odds[0] > 0.4, "target alike: only the noise is left");
    let Rates::Number { mean_prediction, mean_truth } = fair.groups[1].rates else { panic!() };
    assert!((mean_truth - 12.0).abs() < 1e-9 && (mean_prediction - 13.0).abs() < 0.1);
    let change = judge.change(&told(1.0), &told(0.0)).unwrap();
    assert_eq!(change.demographic_parity.outcome, Outcome::Better);
    assert!((change.demographic_parity.value + 0.5).abs() < 0.05);
    let same = judge.change(&told(1.0), &told(1.0)).unwrap();
    assert_eq!((same.equalized_odds.ci, same.equalized_odds.outcome), ([0.0; 2], Outcome::Unclear));
}

#[test]
fn a_change_is_paired() {
    let rows = 4000;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let groups: Vec<u32> = (0..rows).map(|_| rng.random_range(0..2)).collect();
    let truth: Vec<u32> = (0..rows).map(|_| rng.random_range(0..2)).collect();
    // The second predictor differs from the first in one row of fifty, all in one group.
    let rate = |i: usize| 0.2 + 0.4 * f64::from(truth[i]) + 0.1 * f64::from(groups[i]);
    let from: Vec<u32> = (0..rows).map(|i| u32::from(rng.random_bool(rate(i)))).collect();
    let flip = |i: usize| groups[i] == 1 && i.is_multiple_of(25);
    let to = (0..rows).map(|i| if flip(i) { 1 } else { from[i] }).collect();
    let truth = classes(&truth, 2);
    let judge = Judge { truth: &truth, groups: &groups, favourable: None };
    let [from, to] = [from.clone(), to].map(Told::Classes);
    let before = judge.fairness(&from).unwrap().ci.demographic_parity;
    let worse = judge.change(&from, &to).unwrap().demographic_parity;
    assert_eq!(worse.outcome, Outcome::Worse);
    let wide = |[low, high]: [f64; 2]| high - low;
    assert!(wide(worse.ci) < 0.5 * wide(before), "{worse:?}: {before:?}");
    assert_eq!(worse, judge.change(&from, &to).unwrap().demographic_parity, "the seed is fixed");
    let better = judge.change(&to, &from).unwrap().demographic_parity;
    assert_eq!((better.value, better.outcome), (-worse.value, Outcome::Better));
}

/// How often the intervals hold the truth, by measure; a share of all runs.
fn held(runs: u32, mut one: impl FnMut(&mut ChaCha8Rng) -> Vec<([f64; 2], f64)>) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut inside = Vec::new();
    for _ in 0..runs {
        let found = one(&mut rng);
        inside.resize(found.len(), 0.0);
        for (count, ([low, high], truth)) in inside.iter_mut().zip(found) {
            *count += f64::from(u8::from(low <= truth + 1e-12 && truth <= high + 1e-12));
        }
    }
    inside.iter().map(|count| count / f64::from(runs)).collect()
}

/// A world with these shares of groups, positive rows, and rates of both predictors where the truth is
/// 0 and 1; predictors share some of their luck.
struct World {
    rows: usize,
    groups: Vec<f64>,
    positive: Vec<f64>,
    rates: [Vec<[f64; 2]>; 2],
}

impl World {
    fn draw(&self, rng: &mut ChaCha8Rng) -> (Labels, Vec<u32>, [Told; 2]) {
        let (mut truth, mut groups, mut told) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        for _ in 0..self.rows {
            let mut place: f64 = rng.random_range(0.0..1.0);
            let group = self.groups.iter().position(|share| {
                place -= share;
                place < 0.0
            });
            let group = group.unwrap_or(self.groups.len() - 1);
            let y = u32::from(rng.random_bool(self.positive[group]));
            let luck: f64 = rng.random_range(0.0..1.0);
            for (told, rates) in told.iter_mut().zip(&self.rates) {
                let own = if rng.random_bool(0.3) { rng.random_range(0.0..1.0) } else { luck };
                told.push(u32::from(own < rates[group][y as usize]));
            }
            truth.push(y);
            groups.push(group as u32);
        }
        (Labels::Classes { codes: truth, count: 2 }, groups, told.map(Told::Classes))
    }

    /// Demographic parity, equal opportunity and equalized odds of a predictor.
    fn truth(&self, which: usize) -> [f64; 3] {
        let rates = &self.rates[which];
        let spread = |of: &dyn Fn(usize) -> f64| means::spread((0..rates.len()).map(of));
        let selected =
            |g: usize| self.positive[g] * rates[g][1] + (1.0 - self.positive[g]) * rates[g][0];
        let right = spread(&|g| rates[g][1]);
        [spread(&selected), right, right.max(spread(&|g| rates[g][0]))]
    }
}

fn worlds() -> Vec<World> {
    let world =
        |rows, groups: &[f64], positive: &[f64], from: &[[f64; 2]], to: &[[f64; 2]]| World {
            rows,
            groups: groups.to_vec(),
            positive: positive.to_vec(),
            rates: [from.to_vec(), to.to_vec()],
        };
    let fair = [[0.1, 0.6]; 5];
    vec![
        world(1500, &[0.3, 0.7], &[0.2, 0.4], &[[0.05, 0.5], [0.15, 0.7]], &[[0.1, 0.6]; 2]),
        world(1500, &[0.5, 0.5], &[0.3, 0.3], &fair[..2], &fair[..2]),
        world(2000, &[0.2; 5], &[0.3; 5], &fair, &fair),
        // A predictor that is the same for all, beside one that only seems unfair.
        world(2000, &[0.2; 5], &[0.3; 5], &fair, &[[0.0, 0.0]; 5]),
        world(
            3000,
            &[0.05, 0.25, 0.7],
            &[0.1, 0.3, 0.4],
            &[[0.02, 0.9], [0.1, 0.7], [0.2, 0.75]],
            &[[0.1, 0.5], [0.1, 0.6], [0.1, 0.7]],
        ),
    ]
}

#[test]
fn gaps_are_held() {
    for (at, world) in worlds().iter().enumerate() {
        let found = held(400, |rng| {
            let (truth, groups, [told, _]) = world.draw(rng);
            let judge = Judge { truth: &truth, groups: &groups, favourable: None };
            let fair = judge.fairness(&told).unwrap();
            fair.ci.each().map(|(_, ci)| *ci).zip(world.truth(0)).collect()
        });
        assert!(found.iter().all(|share| *share >= 0.93), "world {at}: {found:?}");
    }
}

#[test]
fn changes_are_held() {
    for (at, world) in worlds().iter().enumerate() {
        let [from, to] = [0, 1].map(|which| world.truth(which));
        let found = held(300, |rng| {
            let (truth, groups, [a, b]) = world.draw(rng);
            let judge = Judge { truth: &truth, groups: &groups, favourable: None };
            let change = judge.change(&a, &b).unwrap();
            let ends = change.each().map(|(_, change)| change.ci);
            ends.zip((0..3).map(|m| to[m] - from[m])).collect()
        });
        assert!(found.iter().all(|share| *share >= 0.93), "world {at}: {found:?}");
    }
}

#[test]
fn gaps_and_changes_of_numbers_are_held() {
    // Predictions are 0.6 of the target plus a shift of each group; the target has variance 1.
    for shifts in [[[0.0, 0.3, 0.1], [0.0, 0.1, 0.1]], [[0.0; 3], [0.0; 3]]] {
        let found = held(300, |rng| {
            let groups: Vec<u32> = (0..900).map(|i| [0, 1, 1, 2][i % 4]).collect();
            let truth: Vec<f64> = (0..900).map(|_| rng.sample(StandardNormal)).collect();
            let mut told = |shifts: [f64; 3]| {
                let one = |i: usize| {
                    let noise: f64 = rng.sample(StandardNormal);
                    0.6 * truth[i] + 0.5 * noise + shifts[groups[i] as usize]
                };
                Told::Numbers((0..900).map(one).collect())
            };
            let told = shifts.map(&mut told);
            let labels = Labels::Numbers(truth);
            let judge = Judge { truth: &labels, groups: &groups, favourable: None };
            let (fair, change) =
                (judge.fairness(&told[0]).unwrap(), judge.change(&told[0], &told[1]));
            let [from, to] = shifts.map(|s| means::spread(s.into_iter()));
            let gaps = fair.ci.each().map(|(_, ci)| (*ci, from)).collect::<Vec<_>>();
            let change = change.unwrap().demographic_parity.ci;
            gaps.into_iter().chain([(change, to - from)]).collect()
        });
        assert!(found.iter().all(|share| *share >= 0.93), "{shifts:?}: {found:?}");
    }
}
