//! Goals are met exactly and at the true optimum, inside jumps of the front too.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values, problems, rivals};
use common::oracle::{best_possible, nested};
use common::rng;
use faer::Mat;
use sarl::{
    Block, Error, Fit, FitParams, Front, Goal, Layout, Method, Model, Reduced, Role, Scale,
    Solution,
};

fn all_problems() -> Vec<(&'static str, Data)> {
    let mut all = problems();
    all.push(("nested", nested(0.0, 0)));
    all.push(("nested with noise features", nested(0.0, 3)));
    all.push(("nested, blurred", nested(0.4, 0)));
    all.push(("nested, blurred, with noise features", nested(0.4, 3)));
    all
}

/// The loss that the goal minimises (Jy), or maximises (Js, negated here), of a solution.
fn reached(solution: &Solution) -> f64 {
    match solution.goal {
        Goal::Utility(_) => solution.point.losses.js,
        _ => solution.point.losses.jy,
    }
}

/// Goals of one limit: with several labels a share is a limit for each, see `attributes.rs`.
fn goals(data: &Data, front: &Front<'_>) -> Vec<Goal> {
    let b = front.bounds();
    let (most, least) = (b.leakage(b.alpha_min), b.utility(b.gamma_max));
    let mut all = Vec::new();
    for share in [0.002, 0.05, 0.3, 0.45, 0.7, 0.98] {
        if data.s.len() == 1 {
            all.push(Goal::Leakage(share * most));
        }
        if data.y.len() == 1 {
            all.push(Goal::Utility(least + share * (b.utility(b.gamma_min) - least)));
        }
    }
    all.push(Goal::Alpha(b.alpha_max - 0.55 * (b.alpha_max - b.alpha_min)));
    all
}

/// How far the goal is missed; negative where it is overfulfilled.
fn shortfall(solution: &Solution, alpha_max: f64) -> f64 {
    let point = solution.point;
    match solution.goal {
        Goal::Leakage(most) => point.leakage - most,
        Goal::Alpha(least) => (least - point.losses.js) / alpha_max,
        Goal::Utility(least) => least - point.utility,
        _ => 0.0,
    }
}

fn assert_met(solution: &Solution, front: &Front<'_>, what: &str) {
    let short = shortfall(solution, front.bounds().alpha_max);
    let rounding = if matches!(solution.goal, Goal::Alpha(_)) { 1e-10 } else { 0.0 };
    assert!(short <= rounding, "{what}: {:?} is missed by {short:e}", solution.goal);
}

#[test]
fn goals_are_met_at_the_true_optimum() {
    let mut seen = std::collections::BTreeMap::new();
    for (name, data) in all_problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for cap in [None, Some(1), Some(2), Some(3)] {
            let front = Front::new(&reduced, cap).unwrap();
            for goal in goals(&data, &front) {
                let what = format!("{name}, {cap:?}, {goal:?}");
                let solution = front.solve(goal.clone()).unwrap();
                assert_met(&solution, &front, &what);
                let short = shortfall(&solution, dense.ts);
                let scale = dense.ty + dense.ts;
                let best = -best_possible(&dense, &front, &goal, cap.unwrap_or(usize::MAX));
                let off = (reached(&solution) - best).abs();
                assert!(
                    off < 1e-8 * scale,
                    "{what}: {} not {best}, {solution:?}",
                    reached(&solution)
                );
                let gap = solution.certificate.gap;
                assert!(gap > -1e-10 * scale, "{what}: gap {gap:e}");
                // Inside a jump the nearest λ may be the best there is, but then it has slack.
                let smooth = solution.method == Method::Spectral && short.abs() < 1e-10;
                assert!(!smooth || gap < 1e-8 * scale, "{what}: gap {gap:e} without a jump");
                *seen.entry(format!("{:?}", solution.method)).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(seen.len(), 3, "all three ways are needed: {seen:?}");
}

/// The losses of a solution are those of its encoder on the rows, diluted or rotated as it may be.
#[test]
fn goals_hold_on_rows_and_their_bounds_are_never_beaten() {
    let mut rng = rng(31);
    for (name, data) in all_problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        let front = Front::new(&reduced, None).unwrap();
        for goal in goals(&data, &front) {
            let model = data.model(&reduced, None, goal.clone()).unwrap();
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            let (jy, js) = data.regression(z.as_ref());
            let losses = model.point().losses;
            let off = ((losses.jy - jy) / dense.ty).abs() + ((losses.js - js) / dense.ts).abs();
            assert!(off < 1e-9, "{name} {goal:?}: {losses:?} but on rows ({jy}, {js}), {off:e}");
            let (bound, b) = (model.certificate().dual_bound, front.bounds());
            for rival in rivals(&mut rng, &dense.subspace(z.as_ref()), dense.size(), 100) {
                let (jy, js) = dense.losses(&rival);
                let beaten = match goal {
                    Goal::Utility(u) => b.utility(jy) >= u && js > bound + 1e-9 * dense.ts,
                    Goal::Leakage(l) => b.leakage(js) <= l && jy < bound - 1e-9 * dense.ty,
                    Goal::Alpha(a) => js >= a && jy < bound - 1e-9 * dense.ty,
                    _ => false,
                };
                assert!(!beaten, "{name} {goal:?}: ({jy}, {js}) beats {bound}");
            }
        }
    }
}

#[test]
fn three_crossings_at_two_thirds() {
    let data = nested(0.0, 3);
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, None).unwrap();
    let breaks = front.breakpoints().unwrap();
    assert_eq!(breaks.len(), 3);
    assert!(breaks.iter().all(|b| (b - 2.0 / 3.0).abs() < 1e-12), "{breaks:?}");
    // No λ offers anything between all and nothing; dilution reaches the hull everywhere.
    let most = front.point(0.0).unwrap().leakage;
    assert_eq!(front.point(0.6666).unwrap().dim, 3);
    assert_eq!(front.point(0.6667).unwrap().dim, 0);
    for share in [0.1, 0.4, 0.5, 0.9] {
        let solution = front.solve(Goal::Leakage(share * most)).unwrap();
        assert_eq!(solution.method, Method::Diluted);
        assert!((solution.point.leakage - share * most).abs() < 1e-10, "{solution:?}");
        assert!(solution.certificate.gap.abs() < 1e-9, "{solution:?}");
    }
}

/// Alike classes leak in equal steps, and a goal typed or computed to sixteen digits that means
/// such a step is met there, not a whole step away.
#[test]
fn a_goal_within_rounding_of_a_step_is_that_step() {
    let data = nested(0.0, 0);
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, Some(2)).unwrap();
    // Each direction leaks 1/8 and is worth 1/4.
    for alpha in [0.75, 0.75 + 4.0 * f64::EPSILON, 0.75 - 4.0 * f64::EPSILON] {
        let solution = front.solve(Goal::Alpha(alpha)).unwrap();
        let losses = solution.point.losses;
        assert!((losses.jy - 0.5).abs() < 1e-10, "{alpha}: {solution:?}");
        assert!((losses.js - 0.75).abs() < 1e-10, "{alpha}: {solution:?}");
    }
}

#[test]
fn target_and_sensitive_alike_still_obey() {
    // `B = (2λ−1) A`: everything crosses at once, and what is kept is exactly what leaks.
    let mut data = problems().remove(1).1;
    data.s = data.y.clone();
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, None).unwrap();
    let most = front.bounds().leakage(front.bounds().alpha_min);
    for share in [0.1, 0.37, 0.5, 0.9] {
        let solution = front.solve(Goal::Leakage(share * most)).unwrap();
        assert!((solution.point.leakage - share * most).abs() < 1e-10, "{share}: {solution:?}");
        assert!(solution.certificate.gap.abs() < 1e-9, "{solution:?}");
    }
}

#[test]
fn a_leakage_near_zero_is_certified_too() {
    let data = problems().remove(0).1;
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, None).unwrap();
    for exponent in 3..=16 {
        let goal = Goal::Leakage(10f64.powi(-exponent));
        let solution = front.solve(goal.clone()).unwrap();
        assert_met(&solution, &front, "near zero");
        let gap = solution.certificate.gap;
        assert!((-1e-10..1e-6).contains(&gap), "{goal:?}: gap {gap:e}");
    }
}

/// Shares have no units: dollars or cents, the same encoder.
#[test]
fn units_of_labels_do_not_matter_to_shares() {
    let data = problems().remove(5).1;
    let scaled = |y: f64, s: f64| {
        let times = |labels: &[Values], by: f64| -> Vec<Values> {
            let scale = |label: &Values| match label {
                Values::Number(v) => Values::Number(v * faer::Scale(by)),
                Values::Class(c) => Values::Class(c.clone()),
            };
            labels.iter().map(scale).collect()
        };
        Data { x: data.x.clone(), y: times(&data.y, y), s: times(&data.s, s) }
    };
    let shares = |data: &Data, goal: Goal| {
        let reduced = data.reduced(0.0);
        let solution = Front::new(&reduced, None).unwrap().solve(goal).unwrap();
        (solution.point.utility, solution.point.leakage)
    };
    for goal in [Goal::Leakage(0.05), Goal::Leakage(0.3), Goal::Utility(0.7)] {
        let (utility, leakage) = shares(&data, goal.clone());
        for (y, s) in [(1e3, 1.0), (1e5, 1.0), (1.0, 1e5), (1e7, 1.0), (1.0, 1e7), (1e-7, 1.0)] {
            let (u, l) = shares(&scaled(y, s), goal.clone());
            let off = (u - utility).abs() + (l - leakage).abs();
            assert!(
                off < 1e-8,
                "{goal:?}, units {y:e} and {s:e}: ({u}, {l}), not ({utility}, {leakage})"
            );
        }
    }
}

#[test]
fn ends_of_the_goals_are_ends_of_the_front() {
    for (name, data) in all_problems() {
        let reduced = data.reduced(0.0);
        for cap in [None, Some(2)] {
            let weights = |goal| {
                let model = data.model(&reduced, cap, goal)?;
                sarl::Result::Ok(model.encoder().weights().to_owned())
            };
            let pairs = [(Goal::Leakage(0.0), 1.0), (Goal::Utility(1.0), 0.0)];
            for (goal, lambda) in pairs {
                let what = format!("{name} {cap:?} {goal:?}");
                let end = Goal::Lambda(lambda);
                let all = data.model(&reduced, cap, end.clone()).unwrap().point().utility;
                match weights(goal.clone()) {
                    Ok(found) => assert_eq!(found, weights(end).unwrap(), "{what}"),
                    // Few dimensions do not keep what all the features give.
                    Err(Error::Unreachable { high, .. }) => {
                        assert!(cap.is_some() && goal == Goal::Utility(1.0) && all < 1.0, "{what}");
                        assert!(high >= all - 1e-9, "{what}: {high} but {all} is reached");
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    let data = problems().remove(1).1;
    let (plain, ridged) = (data.reduced(0.0), data.reduced(50.0));
    let front = Front::new(&plain, None).unwrap();
    let b = *front.bounds();
    match front.solve(Goal::Alpha(1.01 * b.alpha_max)) {
        Err(Error::Unreachable { goal: "alpha", low, high, .. }) => {
            assert_eq!((low, high), (b.alpha_min, b.alpha_max));
        }
        other => panic!("{other:?}"),
    }
    // A bound pasted with eight digits is the bound.
    assert!(front.solve(Goal::Alpha(b.alpha_max * (1.0 + 5e-9))).is_ok());
    let front = Front::new(&ridged, None).unwrap();
    let Err(Error::Unreachable { goal: "utility", low, high, .. }) =
        front.solve(Goal::Utility(1.0))
    else {
        panic!("a strong ridge keeps less than everything");
    };
    assert!(low == 0.0 && (0.01..1.0).contains(&high), "{low} to {high}");
    assert!(front.solve(Goal::Utility(high)).is_ok(), "the end of the range is in it");
    assert!(front.solve(Goal::Utility(0.99 * high)).is_ok());
    assert!(front.solve(Goal::Utility(high + 0.3 * (1.0 - high))).is_err());
}

#[test]
fn arguments_out_of_range_are_named() {
    let data = problems().remove(0).1;
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, None).unwrap();
    for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        for goal in [Goal::Lambda(value), Goal::Leakage(value), Goal::Utility(value)] {
            let refused = matches!(front.solve(goal.clone()), Err(Error::Argument { .. }));
            assert!(refused, "{goal:?}");
        }
        assert!(matches!(front.point(value), Err(Error::Argument { .. })));
    }
    assert!(matches!(front.solve(Goal::Alpha(f64::NAN)), Err(Error::Argument { .. })));
    assert!(matches!(Front::new(&reduced, Some(0)), Err(Error::Argument { .. })));
}

#[test]
fn more_hiding_never_keeps_more_and_algorithm_1_never_wins() {
    for (name, data) in all_problems() {
        let reduced = data.reduced(0.0);
        for cap in [None, Some(2)] {
            let front = Front::new(&reduced, cap).unwrap();
            let b = *front.bounds();
            let mut before = 0.0;
            for i in 0..=40 {
                let alpha = b.alpha_min + f64::from(i) / 40.0 * (b.alpha_max - b.alpha_min);
                let jy = front.solve(Goal::Alpha(alpha)).unwrap().point.losses.jy;
                assert!(
                    jy >= before - 1e-10 * b.target_variance,
                    "{name} {cap:?}: {jy} < {before}"
                );
                before = jy;
                // At the very end rounding decides whether their λ leaks: a leakage of 1e-17 is
                // worth its root in Jy.
                let theirs = if i < 40 { algorithm_1(&front, alpha) } else { jy };
                assert!(jy <= theirs + 1e-9 * b.target_variance, "{name} {cap:?}: {jy} > {theirs}");
            }
        }
    }
}

/// The paper's bisection of λ, made to end, with the λ that satisfies the constraint.
fn algorithm_1(front: &Front<'_>, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let enough = front.point(middle).unwrap().losses.js >= alpha;
        (low, high) = if enough { (low, middle) } else { (middle, high) };
    }
    front.point(high).unwrap().losses.jy
}

#[test]
fn ridged_goals_are_met_in_unregularised_terms() {
    for (name, data) in all_problems() {
        let dense = data.dense();
        let reduced = data.reduced(0.3);
        let front = Front::new(&reduced, None).unwrap();
        let high = front.point(0.0).unwrap().utility;
        let goals = [0.01, 0.1, 0.5].map(Goal::Leakage).into_iter();
        for goal in goals.chain([0.3, 0.8].map(|share| Goal::Utility(share * high))) {
            let model = data.model(&reduced, None, goal.clone()).unwrap();
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            let (jy, js) = data.regression(z.as_ref());
            match goal {
                Goal::Leakage(most) => {
                    assert!(1.0 - js / dense.ts <= most + 1e-8, "{name} {goal:?}")
                }
                Goal::Utility(least) => {
                    assert!(front.bounds().utility(jy) >= least - 1e-8, "{name} {goal:?}")
                }
                _ => unreachable!("not asked"),
            }
            assert!(model.certificate().gap > -1e-9 * (dense.ty + dense.ts), "{name} {goal:?}");
        }
    }
}

fn same_model(a: &Model, b: &Model) {
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
    assert_eq!(a.encoder().weights(), b.encoder().weights());
    assert_eq!(a.encoder().offset(), b.encoder().offset());
}

#[test]
fn retuned_models_and_files_are_the_same_to_the_bit() {
    for (_, data) in all_problems() {
        for ridge in [0.0, 0.1] {
            let reduced: Reduced = data.reduced(ridge);
            let first = data.model(&reduced, Some(3), Goal::Lambda(0.5)).unwrap();
            let first = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
            for goal in [Goal::Leakage(0.1), Goal::Leakage(0.0), Goal::Utility(0.4)] {
                // Three dimensions do not keep everything.
                let Ok(anew) = data.model(&reduced, Some(3), goal.clone()) else {
                    assert!(matches!(goal, Goal::Utility(_)));
                    continue;
                };
                same_model(&first.retune(goal).unwrap(), &anew);
                same_model(&Model::from_bytes(&anew.to_bytes().unwrap()).unwrap(), &anew);
            }
        }
    }
}

/// The limit is met at the end of the front only up to rounding: λ must not leave 0 to 1 there.
#[test]
fn a_goal_that_all_of_z_meets_is_a_model_that_can_be_read() {
    let x = Mat::from_fn(2, 1, |i, _| [0.41815083085312343, -0.0681565554207797][i]);
    let label = Mat::from_fn(2, 1, |i, _| [1.0, 0.0][i]);
    let weights = [0.1999202367064366, 0.8706203904278474];
    let layout = Layout::dense(1).number("y", Role::Target, 1).number("s", Role::Sensitive, 1);
    let params = FitParams { scale: Scale::Standard, folds: 1, ..FitParams::default() };
    let mut fit = Fit::new(params, layout).unwrap();
    let block = Block::new(x.as_ref()).number(label.as_ref()).number(label.as_ref());
    fit.push(&block.weighted(&weights)).unwrap();
    let model = fit.finish().unwrap().solve(Goal::Leakage(1.0)).unwrap();
    assert!((0.0..=1.0).contains(&model.point().lambda), "{:?}", model.point());
    Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
}
