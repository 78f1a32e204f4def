#![allow(clippy::unwrap_used, reason = "these are tests")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bounds::{Rule, bounds};
use super::counts::Counts;
use super::goal::{Adversary, CellUtility};
use super::intervals::Runs;
use super::measure::{Measure, add};
use super::merging::groupings;
use super::{Node, Part, Partition};
use crate::moments::{Label, LabelKind, Role};

fn label(name: &str, role: Role, classes: usize) -> Label {
    Label::new(name, role, LabelKind::Class { classes })
}

/// Bins with random counts of two targets' classes and of `groups`.
fn random_bins(count: usize, groups: usize, seed: u64) -> (Measure, Vec<Vec<f64>>) {
    let labels = [label("y", Role::Target, 3), label("s", Role::Sensitive, groups)];
    let measure = Measure::new(&labels, Adversary::Advantage, CellUtility::Accuracy).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bin = |rng: &mut ChaCha8Rng| {
        let mut sums = vec![0.0; measure.width];
        for _ in 0..rng.random_range(3..30) {
            sums[0] += 1.0;
            sums[measure.labels[0].start + rng.random_range(0..3)] += 1.0;
            sums[measure.labels[1].start + rng.random_range(0..groups)] += 1.0;
        }
        sums
    };
    let bins: Vec<Vec<f64>> = (0..count).map(|_| bin(&mut rng)).collect();
    let mut totals = vec![0.0; measure.width];
    bins.iter().for_each(|bin| add(&mut totals, bin));
    let squares = vec![totals[0]; 2];
    (measure.of(totals, squares), bins)
}

fn value(measure: &Measure, bins: &[Vec<f64>], cells: &[usize], price: f64) -> f64 {
    let count = cells.iter().max().unwrap() + 1;
    let mut sums = vec![vec![0.0; measure.width]; count];
    cells.iter().zip(bins).for_each(|(&cell, bin)| add(&mut sums[cell], bin));
    sums.iter().map(|s| measure.value(s, price)).sum()
}

#[test]
fn the_dynamic_programme_is_as_good_as_brute_force() {
    for seed in 0..20 {
        let (measure, bins) = random_bins(9, 2 + seed as usize % 3, seed);
        let runs = Runs::new(&measure, &bins);
        for price in [0.0, 0.1, 0.5, 2.0] {
            let found = runs.best(price, 4);
            // Every set of inner ends.
            let mut best = [f64::NEG_INFINITY; 5];
            for set in 0u32..1 << 8 {
                let parts = set.count_ones() as usize + 1;
                if parts > 4 {
                    continue;
                }
                let mut cell = 0;
                let cells: Vec<usize> = (0..9)
                    .map(|bin| {
                        cell += usize::from(bin > 0 && set >> (bin - 1) & 1 == 1);
                        cell
                    })
                    .collect();
                best[parts] = best[parts].max(value(&measure, &bins, &cells, price));
            }
            for (count, ends) in found.iter().enumerate() {
                assert_eq!(ends.len(), count + 1);
                let cells: Vec<usize> =
                    (0..9).map(|bin| ends.partition_point(|&end| end <= bin)).collect();
                let reached = value(&measure, &bins, &cells, price);
                assert!((reached - best[count + 1]).abs() < 1e-12, "{reached} {best:?}");
            }
        }
    }
}

#[test]
fn merging_comes_near_to_the_best_of_all_groupings() {
    let (mut reached, mut best_of_all) = (0.0, 0.0);
    for seed in 0..20 {
        let (measure, bins) = random_bins(7, 2, seed);
        let price = 0.5;
        let found = groupings(&measure, &bins, price, 3);
        let three = found.iter().find(|g| g.sums.len() == 3).unwrap();
        let cells: Vec<usize> = three.of.iter().map(|&c| c as usize).collect();
        let own = value(&measure, &bins, &cells, price);
        let mut best = f64::NEG_INFINITY;
        for code in 0..3usize.pow(7) {
            let cells: Vec<usize> = (0..7).map(|i| code / 3usize.pow(i) % 3).collect();
            if (0..3).all(|c| cells.contains(&c)) {
                best = best.max(value(&measure, &bins, &cells, price));
            }
        }
        assert!(own <= best + 1e-12);
        reached += own;
        best_of_all += best;
    }
    assert!((best_of_all - reached) / 20.0 < 0.01, "{reached} of {best_of_all}");
}

#[test]
fn cells_whose_excesses_cancel_are_merged_though_they_do_not_touch() {
    let labels = [label("y", Role::Target, 2), label("s", Role::Sensitive, 2)];
    let measure = Measure::new(&labels, Adversary::Advantage, CellUtility::Accuracy).unwrap();
    // rows, y0, y1, s0, s1: the outer bins are alike in y and opposite in s.
    let bins: Vec<Vec<f64>> =
        [[20.0, 18.0, 2.0, 15.0, 5.0], [20.0, 2.0, 18.0, 10.0, 10.0], [20.0, 18.0, 2.0, 5.0, 15.0]]
            .map(Vec::from)
            .into();
    let mut totals = vec![0.0; 5];
    bins.iter().for_each(|bin| add(&mut totals, bin));
    let measure = measure.of(totals, vec![60.0; 2]);
    let found = groupings(&measure, &bins, 1.0, 2);
    assert_eq!(found[0].of[0], found[0].of[2]);
    assert_ne!(found[0].of[0], found[0].of[1]);
}

#[test]
fn intervals_are_found_again_in_the_tree() {
    let cuts = [-1.0, 0.5, 2.0, 7.0];
    let partition = Partition::intervals(&cuts, &[0, 1, 0, 2, 1]);
    let places = [(-3.0, 0), (-1.0, 0), (0.0, 1), (0.5, 1), (1.0, 0), (6.9, 2), (8.0, 1)];
    for (z, cell) in places {
        assert_eq!(partition.cell(|_| z), cell, "{z}");
    }
    assert!(partition.is_sound(1) && !partition.is_sound(0));
    let around = Partition::from_nodes(vec![Node::Cut { axis: 0, at: 0.0, below: 0, above: 0 }]);
    assert!(!around.is_sound(1));
}

#[test]
fn parts_have_their_shares_and_do_not_depend_on_order() {
    let mut counts = [0usize; 3];
    (0..100_000).for_each(|row| counts[Part::of(row, 7) as usize] += 1);
    for (count, share) in counts.iter().zip(Part::SHARES) {
        assert!((*count as f64 / 1e5 - share).abs() < 0.01, "{counts:?}");
    }
    assert!((0..100).any(|row| Part::of(row, 1) != Part::of(row, 2)));
}

#[test]
fn what_is_observed_is_what_tables_reach() {
    let counts = Counts::from_rows(3, &[vec![8, 1, 3], vec![2, 6, 3], vec![0, 3, 4]]).unwrap();
    let (mut accuracy, mut balanced) = (0.0_f64, 0.0_f64);
    let sizes = counts.sizes();
    for code in 0..27usize {
        let guess = |c: usize| code / 3usize.pow(c as u32) % 3;
        let right: u64 = (0..3).map(|c| counts.cell(c)[guess(c)]).sum();
        accuracy = accuracy.max(right as f64 / counts.rows() as f64);
        let shares = (0..3).map(|c| counts.cell(c)[guess(c)] as f64 / sizes[guess(c)] as f64);
        balanced = balanced.max(shares.sum::<f64>() / 3.0);
    }
    let observed = counts.observed();
    assert!((observed.accuracy - accuracy).abs() < 1e-12);
    assert!((observed.balanced_accuracy - balanced).abs() < 1e-12);
}

/// Cells and groups with known probabilities.
struct World {
    /// P(cell, group), cell by cell.
    joint: Vec<Vec<f64>>,
}

impl World {
    fn new(cells: usize, groups: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut joint: Vec<Vec<f64>> =
            (0..cells).map(|_| (0..groups).map(|_| rng.random_range(0.1..1.0)).collect()).collect();
        let total: f64 = joint.iter().flatten().sum();
        joint.iter_mut().flatten().for_each(|p| *p /= total);
        World { joint }
    }

    /// What the best adversary reaches: accuracy and balanced accuracy.
    fn truth(&self) -> (f64, f64) {
        let groups = self.joint[0].len();
        let sizes: Vec<f64> = (0..groups).map(|s| self.joint.iter().map(|c| c[s]).sum()).collect();
        let accuracy = self.joint.iter().map(|c| c.iter().copied().fold(0.0, f64::max)).sum();
        let share = |c: &Vec<f64>| c.iter().zip(&sizes).map(|(p, n)| p / n).fold(0.0, f64::max);
        (accuracy, self.joint.iter().map(share).sum::<f64>() / groups as f64)
    }

    fn draw(&self, n: usize, rng: &mut ChaCha8Rng) -> Counts {
        let groups = self.joint[0].len();
        let mut counts = Counts::new(self.joint.len(), groups);
        for _ in 0..n {
            let mut at: f64 = rng.random_range(0.0..1.0);
            let place = self.joint.iter().flatten().position(|p| {
                at -= p;
                at <= 0.0
            });
            let place = place.unwrap_or(self.joint.len() * groups - 1);
            counts.add((place / groups) as u32, (place % groups) as u32);
        }
        counts
    }
}

/// In how many of 2000 draws a bound is exceeded: accuracy and balanced accuracy.
fn misses((q, k, n): (usize, usize, usize), rule: Rule, delta: f64) -> [usize; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64((q * 100 + k * 10 + n) as u64);
    let world = World::new(k, q, &mut rng);
    let (accuracy, balanced) = world.truth();
    let mut missed = [0; 2];
    for _ in 0..2000 {
        let found = bounds(&world.draw(n, &mut rng), delta, rule);
        missed[0] += usize::from(found.accuracy < accuracy);
        missed[1] += usize::from(found.balanced_accuracy < balanced);
    }
    missed
}

const WORLDS: [((usize, usize, usize), Rule); 9] = [
    ((2, 2, 200), Rule::Mean),
    ((2, 2, 200), Rule::Subsets),
    ((2, 2, 4000), Rule::Subsets),
    ((2, 4, 500), Rule::Subsets),
    ((2, 8, 1000), Rule::Mean),
    ((3, 3, 300), Rule::Mean),
    ((4, 5, 500), Rule::Mean),
    ((5, 8, 1000), Rule::Mean),
    ((5, 2, 100), Rule::Mean),
];

#[test]
fn certificates_hold_in_simulation() {
    for (world, rule) in WORLDS {
        let missed = misses(world, rule, 0.05);
        assert!(missed.iter().all(|&m| m <= 100), "{missed:?} of 2000 in {world:?}");
    }
}

/// The control: a δ that is shared by ten claims but not divided is caught by the same draws.
#[test]
fn a_confidence_that_is_not_divided_is_caught_in_simulation() {
    let missed: Vec<[usize; 2]> =
        WORLDS.iter().map(|(world, rule)| misses(*world, *rule, 0.5)).collect();
    for claim in 0..2 {
        assert!(missed.iter().any(|m| m[claim] > 100), "{missed:?}");
    }
}

/// The best table is best by luck where cells say nothing: the bound covers that without dividing δ.
#[test]
fn cells_that_say_nothing_are_certified_truly() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let world = World { joint: vec![vec![1.0 / 40.0; 5]; 8] };
    for _ in 0..200 {
        let found = bounds(&world.draw(300, &mut rng), 0.05, Rule::Mean);
        assert!(found.accuracy >= 0.2 && found.balanced_accuracy >= 0.2 && found.tv >= 0.0);
    }
}
