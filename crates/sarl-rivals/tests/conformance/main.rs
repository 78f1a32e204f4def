//! One suite over our encoders and every rival.
//!
//! The problem has a known answer. The signs y and s agree in three quarters of the rows; of the
//! features
//!
//! ```text
//! x₀ = y + noise      x₁ = s + noise      x₂ = noise
//! ```
//!
//! the first tells most of the target and so, three times in four, of what is to be hidden;
//! x₀ − x₁/2 is uncorrelated with s and still tells the target of 86 % of the rows.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod ours;

use faer::Mat;
use ours::{KERNEL, LINEAR};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl_eval::probes::Logistic;
use sarl_eval::{Attribute, Labels, Options, View, audit};
use sarl_rivals::{Data, Encode, Error, Fitting, Rival};

/// Our encoders and every rival.
fn everyone() -> Vec<&'static dyn Rival> {
    [&LINEAR as &dyn Rival, &KERNEL].into_iter().chain(sarl_rivals::all()).collect()
}

struct Sample {
    x: Mat<f64>,
    y: Labels,
    s: Labels,
}

impl Sample {
    fn new(rows: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let y: Vec<u32> = (0..rows).map(|_| rng.random_range(0..2)).collect();
        let other = |c: &u32, rng: &mut ChaCha8Rng| c ^ u32::from(rng.random_range(0..4) == 0);
        let s: Vec<u32> = y.iter().map(|c| other(c, &mut rng)).collect();
        let x = Mat::from_fn(rows, 3, |i, j| {
            let [y, s] = [y[i], s[i]].map(|c| 2.0 * f64::from(c) - 1.0);
            let noise: f64 = StandardNormal.sample(&mut rng);
            [y, s, noise][j] + 0.5 * noise
        });
        let classes = |codes| Labels::Classes { codes, count: 2 };
        Sample { x, y: classes(y), s: classes(s) }
    }

    fn data(&self) -> Data<'_> {
        let slice = std::slice::from_ref;
        Data {
            x: self.x.as_ref(),
            categories: &[],
            targets: slice(&self.y),
            sensitives: slice(&self.s),
        }
    }

    fn fit(&self, who: &dyn Rival, hiding: f64, seed: u64) -> Box<dyn Encode> {
        let how = Fitting { hiding, seed, stop: &|| false };
        who.fit(&self.data(), &how).unwrap_or_else(|e| panic!("{}: {e}", who.name()))
    }
}

/// What logistic regression tells of target and sensitive attribute from z.
fn told(z: [&Mat<f64>; 2], samples: [&Sample; 2]) -> [f64; 2] {
    let views = [View { train: z[0].as_ref(), test: z[1].as_ref() }];
    let [train, test] = samples;
    let attributes = [
        Attribute { name: "y", train: &train.y, test: &test.y },
        Attribute { name: "s", train: &train.s, test: &test.s },
    ];
    let options = Options {
        probes: &[&Logistic],
        seeds: &[0],
        threads: 2,
        stop: &|| false,
        own: None,
        progress: &|_, _| (),
    };
    let found = audit(&views, &attributes, &options).unwrap();
    [0, 1].map(|i| found[0][i].best.score.value())
}

fn encoded(who: &dyn Rival, hiding: f64, samples: [&Sample; 2]) -> [f64; 2] {
    let encoder = samples[0].fit(who, hiding, 1);
    let z = samples.map(|s| encoder.encode(s.x.as_ref()).unwrap());
    told([&z[0], &z[1]], samples)
}

#[test]
fn a_probe_learns_both_from_the_raw_features() {
    let (train, test) = (Sample::new(2000, 1), Sample::new(1000, 2));
    let [y, s] = told([&train.x, &test.x], [&train, &test]);
    assert!(y > 0.9 && s > 0.9, "{y} {s}");
}

#[test]
fn shapes_and_numbers_are_as_promised() {
    let (train, test) = (Sample::new(300, 1), Sample::new(70, 2));
    for who in everyone() {
        let encoder = train.fit(who, who.hiding().unwrap_or(0.5), 0);
        let z = encoder.encode(test.x.as_ref()).unwrap();
        assert_eq!(z.shape(), (70, encoder.dim()), "{}", who.name());
        let finite = z.col_iter().all(|c| c.iter().all(|v| v.is_finite()));
        assert!(finite && encoder.dim() > 0, "{}", who.name());
        assert!(!who.title().is_empty() && !who.about().description.is_empty());
        let narrow = encoder.encode(test.x.subcols(0, 2));
        let wrong = matches!(narrow, Err(Error::Shape { .. } | Error::Core(_)));
        assert!(wrong, "{}: rows of another width", who.name());
    }
}

#[test]
fn a_seed_decides_everything() {
    let sample = Sample::new(300, 3);
    for who in everyone() {
        let hiding = who.hiding().unwrap_or(0.5);
        let z = |seed| sample.fit(who, hiding, seed).encode(sample.x.as_ref()).unwrap();
        assert!(z(7) == z(7), "{}", who.name());
        if !who.about().is_random {
            assert!(z(7) == z(8), "{} has no randomness", who.name());
        }
    }
}

/// Of a method without a weight, only how much it hides can be said.
#[test]
fn hiding_more_leaks_less_and_keeps_less() {
    let (train, test) = (Sample::new(2000, 1), Sample::new(1000, 2));
    for who in everyone() {
        let name = who.name();
        let [kept, leaked] = encoded(who, 1.0, [&train, &test]);
        if who.hiding().is_none() {
            let most = if name == "vae" { 1.0 } else { 0.55 };
            assert!(kept > 0.84 && leaked < most, "{name}: {kept} {leaked}");
            continue;
        }
        let [all, shown] = encoded(who, 0.0, [&train, &test]);
        assert!(all > 0.95 && shown > 0.7, "{name} at 0: {all} {shown}");
        assert!(leaked < 0.6, "{name} at 1: {kept} {leaked}");
        assert!(kept <= all + 0.01, "{name}: {kept} of {all}");
    }
}

/// As much as x₀ − x₁/2 does.
#[test]
fn our_encoders_keep_what_can_be_kept_without_leaking() {
    let (train, test) = (Sample::new(2000, 1), Sample::new(1000, 2));
    for who in [&LINEAR, &KERNEL] {
        let [kept, leaked] = encoded(who, 1.0, [&train, &test]);
        assert!(kept > 0.84 && leaked < 0.55, "{}: {kept} {leaked}", who.name());
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sample = Sample::new(60, 1);
    let how = |hiding| Fitting { hiding, seed: 0, stop: &|| false };
    for who in everyone() {
        let name = who.name();
        for hiding in [-0.1, 1.1, f64::NAN] {
            let refused =
                matches!(who.fit(&sample.data(), &how(hiding)), Err(Error::Hiding { .. }));
            assert!(refused, "{name}: a weight of {hiding}");
        }
        let short = [sample.s.select(&[0, 1, 2])];
        let data = Data { sensitives: &short, ..sample.data() };
        let refused = matches!(who.fit(&data, &how(0.5)), Err(Error::Shape { .. }));
        assert!(refused, "{name}: labels of other rows");
        let none = Mat::zeros(0, 3);
        let empty = [sample.y.select(&[])];
        let data = Data { x: none.as_ref(), categories: &[], targets: &empty, sensitives: &empty };
        assert!(matches!(who.fit(&data, &how(0.5)), Err(Error::Empty)), "{name}: no rows");
    }
}

/// Numbers, several attributes and no target: an encoder, or a reason why not.
#[test]
fn other_labels_are_learnt_or_refused_with_a_reason() {
    let sample = Sample::new(300, 4);
    let number = Labels::Numbers(sample.x.col(1).iter().copied().collect());
    let two = [sample.s.clone(), sample.y.clone()];
    let one = std::slice::from_ref;
    let sets: [(&[Labels], &[Labels]); 4] = [
        (one(&number), one(&sample.s)),
        (one(&sample.y), one(&number)),
        (&two, &two),
        (&[], one(&sample.s)),
    ];
    for who in everyone() {
        for (i, (targets, sensitives)) in sets.into_iter().enumerate() {
            let data = Data { x: sample.x.as_ref(), categories: &[], targets, sensitives };
            let fitted = who.fit(&data, &Fitting { hiding: 0.5, seed: 0, stop: &|| false });
            match who.accepts(targets, sensitives) {
                Err(Error::Unfit { reason, .. }) => {
                    assert!(!reason.is_empty());
                    assert!(matches!(fitted, Err(Error::Unfit { .. })), "{} {i}", who.name());
                }
                Err(other) => panic!("{} {i}: {other}", who.name()),
                Ok(()) => {
                    let z = fitted.unwrap_or_else(|e| panic!("{} {i}: {e}", who.name()));
                    assert_eq!(z.encode(sample.x.as_ref()).unwrap().nrows(), 300);
                }
            }
        }
    }
}

#[test]
fn a_fit_ends_when_it_is_told_to() {
    let sample = Sample::new(300, 5);
    for who in everyone().into_iter().filter(|w| w.about().is_random) {
        let how = Fitting { hiding: 0.5, seed: 0, stop: &|| true };
        let stopped = matches!(who.fit(&sample.data(), &how), Err(Error::Interrupted));
        assert!(stopped, "{}", who.name());
    }
}

/// Features beyond single precision: a run that leaves the finite numbers is no result.
#[test]
fn a_diverged_run_is_reported_as_diverged() {
    let mut sample = Sample::new(300, 6);
    let wild = sample.x.col(0).iter().map(|v| v * 1e39).collect::<Vec<_>>();
    sample.x.col_mut(0).iter_mut().zip(wild).for_each(|(x, v)| *x = v);
    for name in ["ssgd", "ml-arl", "maxent-arl", "vae", "vfae"] {
        let who = sarl_rivals::find(name).unwrap();
        let how = Fitting { hiding: 0.5, seed: 0, stop: &|| false };
        let diverged = matches!(who.fit(&sample.data(), &how), Err(Error::Diverged { .. }));
        assert!(diverged, "{name}");
    }
}
