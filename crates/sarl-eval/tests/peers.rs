//! Our metrics beside those of fairlearn and scikit-learn, on the same predictions.
//!
//! `cargo xtask test` installs both and names their Python in `SARL_PYTHON`; without it these tests
//! say that they are skipped.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "these are tests"
)]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{clusters, linear};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl_eval::probes::Logistic;
use sarl_eval::{Fairness, Judge, Labels, Prediction, Probe, Rates, Task, Told, metrics};
use serde_json::{Value, json};

/// What the peers say to these cases; none if they are not here.
fn ask(cases: &Value) -> Option<Vec<Value>> {
    let Some(python) = std::env::var_os("SARL_PYTHON") else {
        eprintln!("skipped: SARL_PYTHON names no Python with fairlearn; run `cargo xtask test`");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("SARL_PYTHON starts");
    child.stdin.take().unwrap().write_all(cases.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the peer failed");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: {expected}"));
    assert!((found - expected).abs() < 1e-12, "{what}: {found} is not {expected}");
}

fn draw(rng: &mut ChaCha8Rng, rows: usize, classes: u32) -> Vec<u32> {
    (0..rows).map(|_| rng.random_range(0..classes)).collect()
}

fn fairness(
    truth: &[u32],
    told: &[u32],
    count: usize,
    groups: &[u32],
    favourable: Option<u32>,
) -> Fairness {
    let truth = Labels::Classes { codes: truth.to_vec(), count };
    let judge = Judge { truth: &truth, groups, favourable };
    judge.fairness(&Told::Classes(told.to_vec())).unwrap()
}

/// The three figures, and that their intervals contain them.
fn gaps_are(ours: &Fairness, answer: &Value) {
    for ((name, gap), (_, [low, high])) in ours.gaps.each().zip(ours.ci.each()) {
        close(*gap, &answer[name.replace(' ', "_")], name);
        assert!(0.0 <= *low && low <= gap && gap <= high, "{name}: {low} {gap} {high}");
    }
    assert_eq!(ours.gaps.each().count(), 3);
}

#[test]
fn fairness_is_that_of_fairlearn() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut drawn = Vec::new();
    for (rows, groups) in [(200, 2), (500, 3), (60, 6), (12, 4), (3000, 2)] {
        let groups = draw(&mut rng, rows, groups);
        // Predictions that are right more often in some groups than in others.
        let truth = draw(&mut rng, rows, 2);
        let told: Vec<u32> = (0..rows)
            .map(|i| match rng.random_range(0.0..1.0) < 0.6 + 0.1 * f64::from(groups[i] % 3) {
                true => truth[i],
                false => 1 - truth[i],
            })
            .collect();
        drawn.push((truth, told, groups));
    }
    // A group without positive rows, and one without negative ones.
    drawn.push((vec![0, 0, 1, 1, 1, 0], vec![0, 1, 1, 1, 0, 0], vec![0, 0, 1, 1, 2, 2]));
    let cases: Vec<Value> = drawn
        .iter()
        .map(|(truth, told, groups)| json!({ "kind": "fairness", "truth": truth, "told": told, "groups": groups }))
        .collect();
    let Some(answers) = ask(&json!(cases)) else { return };
    for ((truth, told, groups), answer) in drawn.iter().zip(&answers) {
        let ours = fairness(truth, told, 2, groups, None);
        gaps_are(&ours, answer);
        for (i, group) in ours.groups.iter().enumerate() {
            let theirs = |name: &str| &answer["by_group"][name][i];
            let Rates::Class { accuracy, selected, true_positive, false_positive, .. } =
                &group.rates
            else {
                panic!("classes have rates")
            };
            close(*accuracy, theirs("accuracy"), "accuracy");
            close(selected[0], theirs("selection_rate"), "selection rate");
            close(true_positive[0], theirs("true_positive_rate"), "true positives");
            close(false_positive[0], theirs("false_positive_rate"), "false positives");
        }
    }
}

#[test]
fn more_classes_are_each_against_the_rest() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let [truth, told, groups] = [5, 5, 3].map(|k| draw(&mut rng, 400, k));
    let case =
        json!([{ "kind": "one_against_rest", "truth": truth, "told": told, "groups": groups }]);
    let Some(answers) = ask(&case) else { return };
    gaps_are(&fairness(&truth, &told, 5, &groups, None), &answers[0]);
}

/// A favourable class against the rest, as fairlearn has it of two classes.
#[test]
fn a_favourable_class_is_against_the_rest() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let [truth, told, groups] = [4, 4, 6].map(|k| draw(&mut rng, 600, k));
    let is = |codes: &[u32]| codes.iter().map(|c| u32::from(*c == 2)).collect::<Vec<_>>();
    let case =
        json!([{ "kind": "fairness", "truth": is(&truth), "told": is(&told), "groups": groups }]);
    let Some(answers) = ask(&case) else { return };
    gaps_are(&fairness(&truth, &told, 4, &groups, Some(2)), &answers[0]);
}

#[test]
fn scores_are_those_of_scikit_learn() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut drawn = Vec::new();
    for (rows, classes) in [(300, 2), (500, 3), (1000, 7)] {
        // Few digits, so that there are ties.
        let scores = Mat::from_fn(rows, classes, |_, _| f64::from(rng.random_range(0..20)) / 10.0);
        drawn.push((draw(&mut rng, rows, classes as u32), scores));
    }
    let numbers: Vec<Vec<f64>> =
        (0..2).map(|_| (0..50).map(|_| rng.random_range(-3.0..5.0)).collect()).collect();
    let mut cases: Vec<Value> = drawn
        .iter()
        .map(|(truth, s)| {
            let rows: Vec<Vec<f64>> =
                (0..s.nrows()).map(|i| s.row(i).iter().copied().collect()).collect();
            json!({ "kind": "scores", "truth": truth, "scores": rows })
        })
        .collect();
    cases.push(json!({ "kind": "r2", "truth": numbers[0], "told": numbers[1] }));
    let Some(answers) = ask(&json!(cases)) else { return };
    for ((truth, scores), answer) in drawn.iter().zip(&answers) {
        let told = metrics::decide(scores.as_ref());
        close(metrics::accuracy(truth, &told), &answer["accuracy"], "accuracy");
        let balanced = metrics::balanced_accuracy(truth, &told, scores.ncols());
        close(balanced, &answer["balanced_accuracy"], "balanced accuracy");
        close(metrics::auc(truth, scores.as_ref()).unwrap(), &answer["auc"], "auc");
    }
    close(metrics::r2(&numbers[0], &numbers[1]), &answers[3]["r2"], "r2");
}

#[test]
fn logistic_regression_is_that_of_scikit_learn() {
    let problems = [(linear(600, 1), linear(100, 2)), (clusters(400, 3), clusters(100, 4))];
    let rows = |x: &Mat<f64>| -> Vec<Vec<f64>> {
        (0..x.nrows()).map(|i| x.row(i).iter().copied().collect()).collect()
    };
    let codes = |l: &Labels| match l {
        Labels::Classes { codes, .. } => codes.clone(),
        Labels::Numbers(_) => panic!(),
    };
    let cases: Vec<Value> = problems
        .iter()
        .map(|(train, test)| json!({ "kind": "logistic", "x": rows(&train.x), "labels": codes(&train.labels), "fresh": rows(&test.x) }))
        .collect();
    let Some(answers) = ask(&json!(cases)) else { return };
    for ((train, test), answer) in problems.iter().zip(&answers) {
        let (labels, stop) = (&train.labels, &|| false);
        let (x, fresh) = (train.x.as_ref(), test.x.as_ref());
        let task = Task { train: x, labels, test: fresh, spreads: &[], seed: 0, stop };
        let Prediction::Logits(ours) = Logistic.predict(&task).unwrap() else { panic!() };
        for i in 0..test.x.nrows() {
            let theirs = &answer["scores"][i];
            match theirs.as_array() {
                None => {
                    let (found, expected) = (ours[(i, 1)] - ours[(i, 0)], theirs.as_f64().unwrap());
                    assert!(
                        (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                        "{found} {expected}"
                    );
                }
                // Scores of several classes mean the same when a number is added to all.
                Some(theirs) => {
                    for j in 1..ours.ncols() {
                        let found = ours[(i, j)] - ours[(i, 0)];
                        let expected = theirs[j].as_f64().unwrap() - theirs[0].as_f64().unwrap();
                        assert!(
                            (found - expected).abs() < 2e-2 * (1.0 + expected.abs()),
                            "{found} {expected}"
                        );
                    }
                }
            }
        }
    }
}
