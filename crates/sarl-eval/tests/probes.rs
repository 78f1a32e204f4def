//! One suite for every probe: what each must learn, and what none may do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "these are tests"
)]

mod common;

use common::{Problem, classes, clusters, crossed, linear, normal, nothing, wave};
use faer::Mat;
use sarl_eval::{Error, Labels, Prediction, Probe, Task, metrics, probes};

fn task<'a>(train: &'a Problem, test: &'a Mat<f64>, seed: u64) -> Task<'a> {
    let stop: &'static (dyn Fn() -> bool + Sync) = &|| false;
    let (train, labels, test) = (train.x.as_ref(), &train.labels, test.as_ref());
    Task { train, labels, test, spreads: &[], seed, stop }
}

fn scores(told: Prediction) -> Mat<f64> {
    told.scores().expect("classes have scores").to_owned()
}

fn accuracy(probe: &dyn Probe, of: fn(usize, u64) -> Problem, rows: usize) -> f64 {
    let (train, test) = (of(rows, 1), of(2000, 2));
    let Labels::Classes { codes, .. } = &test.labels else { panic!() };
    let scores = scores(probe.predict(&task(&train, &test.x, 0)).unwrap());
    assert!(scores.col_iter().all(|c| c.iter().all(|v| v.is_finite())), "{}", probe.name());
    metrics::accuracy(codes, &metrics::decide(scores.as_ref()))
}

#[test]
fn every_probe_parts_what_a_plane_parts() {
    for probe in probes::all() {
        let accuracy = accuracy(probe, linear, 2000);
        assert!(accuracy > 0.90, "{}: {accuracy}", probe.name());
    }
}

#[test]
fn the_strong_ones_part_what_no_line_parts() {
    for probe in probes::all() {
        let accuracy = accuracy(probe, crossed, 2000);
        match probe.name() {
            "linear" | "logistic" => assert!(accuracy < 0.6, "{}: {accuracy}", probe.name()),
            name => assert!(accuracy > 0.93, "{name}: {accuracy}"),
        }
    }
}

#[test]
fn every_probe_tells_four_clusters() {
    for probe in probes::all() {
        let accuracy = accuracy(probe, clusters, 1000);
        assert!(accuracy > 0.97, "{}: {accuracy}", probe.name());
    }
}

#[test]
fn nothing_is_learnt_where_there_is_nothing() {
    for probe in probes::all() {
        let accuracy = accuracy(probe, nothing, 2000);
        assert!((accuracy - 0.7).abs() < 0.04, "{}: {accuracy}", probe.name());
    }
}

#[test]
fn numbers_are_told_too() {
    let (train, test) = (wave(3000, 1), wave(2000, 2));
    let Labels::Numbers(truth) = &test.labels else { panic!() };
    for probe in probes::all().into_iter().filter(|p| p.learns(&train.labels)) {
        let Prediction::Numbers(told) = probe.predict(&task(&train, &test.x, 0)).unwrap() else {
            panic!("numbers have numbers")
        };
        let r2 = metrics::r2(truth, &told);
        match probe.name() {
            "linear" => assert!(r2 > 0.0 && r2 < 0.5, "linear: {r2}"),
            name => assert!(r2 > 0.85, "{name}: {r2}"),
        }
    }
    assert!(!probes::all()[1].learns(&train.labels), "logistic regression has no numbers");
}

#[test]
fn a_seed_means_the_same_each_time() {
    let (train, test) = (crossed(500, 1), crossed(100, 2));
    for probe in probes::all() {
        let tell = |seed| scores(probe.predict(&task(&train, &test.x, seed)).unwrap());
        assert_eq!(tell(5), tell(5), "{}", probe.name());
        if !probe.is_random() {
            assert_eq!(tell(5), tell(6), "{}", probe.name());
        }
    }
}

#[test]
fn awkward_rows_do_not_stop_a_probe() {
    let few = Problem { x: normal(3, 2, 1), labels: classes(vec![0, 1, 1], 2) };
    let missing =
        Problem { x: normal(50, 2, 1), labels: classes((0..50).map(|i| i % 2).collect(), 5) };
    let wide =
        Problem { x: normal(20, 60, 1), labels: classes((0..20).map(|i| i % 3).collect(), 3) };
    let huge = Problem {
        x: Mat::from_fn(60, 2, |i, j| if i == 0 { 1e6 } else { (i * (j + 1)) as f64 / 60.0 }),
        labels: classes((0..60).map(|i| u32::from(i > 30)).collect(), 2),
    };
    let alike = Problem {
        x: Mat::from_fn(60, 1, |i, _| f64::from(i == 0)),
        labels: classes((0..60).map(|i| i % 2).collect(), 2),
    };
    for problem in [few, missing, wide, huge, alike] {
        for probe in probes::all() {
            let test = problem.x.clone();
            let scores = scores(probe.predict(&task(&problem, &test, 0)).unwrap());
            assert_eq!(scores.nrows(), test.nrows());
            assert!(scores.col_iter().all(|c| c.iter().all(|v| v.is_finite())), "{}", probe.name());
        }
    }
}

#[test]
fn a_probe_gives_up_when_asked_to() {
    let train = crossed(2000, 1);
    for probe in probes::all().into_iter().filter(|p| p.name() != "linear") {
        let task = Task { stop: &|| true, ..task(&train, &train.x, 0) };
        let found = probe.predict(&task);
        assert!(matches!(found, Err(Error::Interrupted)), "{}: {:?}", probe.name(), found.err());
    }
}

#[test]
fn names_are_all_different() {
    let mut names: Vec<&str> = probes::all().iter().map(|p| p.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(probes::all().iter().all(|p| !p.description().is_empty()));
}
