#![allow(clippy::unwrap_used, reason = "these are tests")]

use sarl_eval::audit::Evidence;
use sarl_eval::{Advantage, Baseline, Score, Told, Trial};
use sarl_rivals::SSGD;

use super::*;

fn finding(attribute: &str, scores: [f64; 2]) -> Finding {
    let trial = |(probe, accuracy): (&str, f64)| Trial {
        probe: probe.to_owned(),
        score: Score::Class { accuracy, accuracy_sd: 0.0, balanced_accuracy: 0.5, auc: None },
        ci: [0.0, 1.0],
        advantage: 2.0 * accuracy - 1.0,
        evidence: vec![Evidence::Balanced(vec![(accuracy, 10), (accuracy, 10)])],
        runs: 1,
        seconds: 0.0,
        told: Told::Classes(Vec::new()),
    };
    let probes: Vec<Trial> = ["linear", "trees"].into_iter().zip(scores).map(trial).collect();
    Finding {
        advantage: Advantage::worst(&probes).unwrap(),
        attribute: attribute.to_owned(),
        baseline: Baseline::Class { classes: 2, majority: 0.6, guess: 0.5, chance: 0.5 },
        best: probes[0].clone(),
        probes,
    }
}

fn scored(target: [f64; 2], hidden: [f64; 2]) -> Scored {
    let found = vec![finding("income", target), finding("sex", hidden)];
    Scored { found, leakages: vec![0.1], dim: 1, seconds: 1.0 }
}

fn guesses() -> Guesses {
    Guesses::new(&scored([0.5; 2], [0.5; 2]).found, 1)
}

fn rival(runs: &[Scored], failed: usize) -> Entry {
    let diverged = vec!["it diverged".to_owned(); failed];
    let runs: Vec<&Scored> = runs.iter().collect();
    Entry::new(Method::Rival(&SSGD), Setting::Weight(0.5), &runs, diverged, &guesses())
}

fn ours(target: f64, hidden: f64) -> Entry {
    let run = scored([target; 2], [hidden; 2]);
    Entry::new(Method::Linear, Setting::Leakage(0.0), &[&run], Vec::new(), &guesses())
}

/// The best by its mean, not the mean of the best: the luck of single runs does not add up.
#[test]
fn the_best_probe_is_that_of_all_runs() {
    let entry = rival(&[scored([0.9, 0.8], [0.7, 0.6]), scored([0.5, 0.8], [0.5, 0.7])], 1);
    let found = entry.found.as_ref().unwrap();
    let target = found.target.clone().unwrap();
    assert_eq!(
        (target.probe.as_str(), target.score.mean, target.score.sd, target.score.runs),
        ("trees", 0.8, 0.0, 2)
    );
    assert_eq!(found.worst.best.probe, "trees");
    assert!((found.worst.beyond - 0.05).abs() < 1e-12);
    assert_eq!((entry.runs, entry.failures.len()), (3, 1));
}

#[test]
fn a_method_that_always_diverges_has_no_figures() {
    let entry = rival(&[], 3);
    assert!(entry.found.is_none() && entry.target().is_none());
    assert_eq!((entry.runs, entry.failures.len()), (3, 3));
    assert!(entry.ours_at_no_more(&[ours(0.9, 0.5)]).is_none());
}

#[test]
fn ours_at_no_more_leaks_no_more() {
    let all = [ours(0.7, 0.60), ours(0.8, 0.65), ours(0.9, 0.66)];
    let at = |hidden: f64| {
        let entry = rival(&[scored([0.75; 2], [hidden; 2])], 0);
        entry.ours_at_no_more(&all).map(|(e, d)| (e.target().unwrap(), (100.0 * d).round()))
    };
    assert_eq!(at(0.59), None);
    assert_eq!(at(0.60), Some((0.7, -5.0)));
    assert_eq!(at(0.65), Some((0.8, 5.0)));
    assert_eq!(at(0.99), Some((0.9, 15.0)));
}
