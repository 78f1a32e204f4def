//! `sarl audit`: what it finds, which rows it uses, and what it refuses.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::fmt::Write as _;

use common::{Folder, all_fail};
use serde_json::Value;

/// Two shapes and two colours, deterministic and with a little of each told by x and y; the size is
/// a number that goes with the colour.
fn mixture(rows: usize, from: usize) -> String {
    let mut text = String::from("x,y,shape,colour,size\n");
    for i in from..from + rows {
        let (shape, colour) = (i % 2, (i / 2) % 2);
        let noise = |k: usize| ((i * k + k * k) % 997) as f64 / 997.0 - 0.5;
        let (x, y) =
            (shape as f64 + 0.8 * noise(37), colour as f64 + 0.3 * shape as f64 + 0.8 * noise(61));
        let size = 2.5 * colour as f64 + noise(17);
        writeln!(text, "{x},{y},{},{},{size}", ["circle", "cross"][shape], ["blue", "red"][colour])
            .unwrap();
    }
    text
}

fn folder(columns: &str) -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", mixture(1200, 0)).write("test.csv", mixture(600, 5000));
    folder.sarl(&format!("fit train.csv {columns} --max-leakage 0 -o m.st")).succeeded();
    folder
}

const LABELS: &str = "-t shape -s colour --features x,y";
/// Fast and deterministic.
const QUICK: &str = "--probes linear,logistic,rbf --seeds 1";

fn audit(folder: &Folder, line: &str) -> Value {
    folder.sarl(&format!("audit m.st {line} --json")).succeeded().json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn the_contract_and_the_control() {
    let folder = folder(LABELS);
    let found = audit(&folder, &format!("train.csv --test test.csv {QUICK}"));
    assert_eq!((&found["n_train"], &found["n_test"]), (&300.into(), &300.into()));
    let best = &found["sensitive"]["best"];
    let advantage = &found["sensitive"]["advantage"];
    assert!(advantage["probe"].is_string());
    let [low, high] = [0, 1].map(|i| number(&advantage["ci"][i]));
    assert!(low <= number(&advantage["value"]) && number(&advantage["value"]) <= high);
    assert!(best["probe"].is_string() && best["ci"].as_array().unwrap().len() == 2);
    assert_eq!(found["sensitive"]["probes"].as_array().unwrap().len(), 4, "rbf twice");
    assert!((number(&found["sensitive"]["majority"]) - 0.5).abs() < 0.1);
    for name in ["demographic_parity", "equalized_odds", "equal_opportunity"] {
        assert!((0.0..=1.0).contains(&number(&found["fairness"][name])));
        assert_eq!(found["fairness"]["raw"][name], found["control"]["fairness"][name]);
    }
    // The probes do learn from the raw features, and not from z.
    let raw = number(&found["control"]["sensitive"]["best"]["accuracy"]);
    let z = number(&found["sensitive"]["probes"][0]["accuracy"]);
    assert!(raw > 0.85, "the control learns nothing: {raw}");
    assert!(z < 0.6, "least squares finds {z} in a z without linear leakage");
    assert!(number(&found["target"]["best"]["accuracy"]) > 0.8, "the target is gone");
    let without = audit(&folder, &format!("train.csv --test test.csv {QUICK} --no-control"));
    assert_eq!(without["control"], Value::Null);
    assert_eq!(without["sensitive"]["best"]["accuracy"], found["sensitive"]["best"]["accuracy"]);
}

#[test]
fn the_encoder_is_never_tested_on_rows_it_has_seen() {
    let folder = folder(LABELS);
    // The rows of the fit: fitted anew on a part of them.
    let seen = audit(&folder, &format!("train.csv {QUICK}"));
    assert_eq!(seen["encoder"]["refitted"], true);
    assert_eq!((&seen["n_train"], &seen["n_test"]), (&360.into(), &360.into()));
    let parts = ["encoder", "probes", "test"].map(|part| number(&seen["rows"][part]["rows"]));
    assert_eq!(parts, [480.0, 360.0, 360.0], "no row serves twice");
    // Under another name they are the same rows.
    std::fs::copy(folder.path("train.csv"), folder.path("copy.csv")).unwrap();
    let copied = audit(&folder, &format!("copy.csv {QUICK}"));
    assert_eq!(copied["encoder"]["refitted"], true);
    for part in ["accuracy", "balanced_accuracy", "ci"] {
        assert_eq!(copied["sensitive"]["best"][part], seen["sensitive"]["best"][part]);
    }
    let refused = folder.sarl(&format!("audit m.st test.csv --test copy.csv {QUICK}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("copy.csv: the encoder was fitted on these rows"));
    // Other rows: the encoder is the model's.
    let fresh = audit(&folder, &format!("test.csv {QUICK} --test-share 0.25"));
    assert_eq!(fresh["encoder"]["refitted"], false);
    assert_eq!((&fresh["n_train"], &fresh["n_test"]), (&450.into(), &150.into()));
    assert_eq!(fresh["rows"]["encoder"]["rows"], 1200, "those of the model");
    // Two files that it has not seen: one teaches the probes, the other tests them.
    folder.write("more.csv", mixture(400, 9000));
    let both = audit(&folder, &format!("test.csv --test more.csv {QUICK}"));
    assert_eq!((&both["n_train"], &both["n_test"]), (&600.into(), &400.into()));
    let text = folder.sarl(&format!("audit m.st train.csv {QUICK}")).succeeded().stdout;
    assert!(text.contains("fitted anew"), "{text}");
    // A retuned model remembers.
    folder.sarl("retune m.st --max-leakage 0.5 -o m.st").succeeded();
    assert_eq!(audit(&folder, &format!("train.csv {QUICK}"))["encoder"]["refitted"], true);
}

#[test]
fn kernels_and_ridges_are_fitted_anew_as_they_were() {
    let folder = folder(&format!("{LABELS} --kernel rbf --landmarks 40 --ridge auto"));
    let seen = audit(&folder, &format!("train.csv {QUICK} --no-control"));
    assert_eq!(seen["encoder"]["refitted"], true);
    assert!(number(&seen["sensitive"]["probes"][0]["accuracy"]) < 0.6);
    assert!(number(&seen["target"]["best"]["accuracy"]) > 0.8);
}

#[test]
fn a_seed_says_it_all() {
    let folder = folder(LABELS);
    let line = "train.csv --probes net-64,trees --seeds 2 --seed 5";
    let once = |line: &str| {
        let mut value = audit(&folder, line);
        let text = value.as_object_mut().unwrap();
        text.remove("seconds");
        strike(&mut value);
        value
    };
    assert_eq!(once(line), once(&format!("{line} --threads 1")));
    assert_ne!(once(line), once("train.csv --probes net-64,trees --seeds 2 --seed 6"));
}

/// Times are not the same twice.
fn strike(value: &mut Value) {
    match value {
        Value::Object(all) => {
            all.remove("seconds");
            all.values_mut().for_each(strike);
        }
        Value::Array(all) => all.iter_mut().for_each(strike),
        _ => {}
    }
}

#[test]
fn numbers_have_r2() {
    let folder = folder("-t shape -s size --features x,y");
    let found = audit(&folder, &format!("train.csv --test test.csv {QUICK}"));
    assert_eq!(found["sensitive"]["kind"], "number");
    assert!(number(&found["control"]["sensitive"]["best"]["r2"]) > 0.5);
    assert!(number(&found["sensitive"]["probes"][0]["r2"]).abs() < 0.05);
    let fairness = &found["fairness"];
    assert_eq!(fairness["groups"].as_array().unwrap().len(), 5, "fifths");
    assert!(fairness["groups"][0]["name"].as_str().unwrap().contains(" to "));
    gaps_are_whole(fairness, &["demographic_parity", "equalized_odds", "equal_opportunity"]);
}

/// Each gap has its interval, that of the raw features, and how it changed.
fn gaps_are_whole(fairness: &Value, names: &[&str]) {
    for name in names {
        let ends = |of: &Value| [0, 1].map(|i| number(&of[i]));
        for side in [fairness, &fairness["raw"]] {
            let (gap, [low, high]) = (number(&side[*name]), ends(&side["ci"][*name]));
            assert!(0.0 <= low && low <= gap && gap <= high, "{name}: {side}");
        }
        let change = &fairness["change"][*name];
        let ([low, high], value) = (ends(&change["ci"]), number(&change["value"]));
        let difference = number(&fairness[*name]) - number(&fairness["raw"][*name]);
        assert!((value - difference).abs() < 1e-12 && low <= value && value <= high, "{change}");
        let verdict = match (low, high) {
            (low, _) if low > 0.0 => "worse",
            (_, high) if high < 0.0 => "better",
            _ => "no clear difference",
        };
        assert_eq!(change["verdict"], verdict);
    }
}

#[test]
fn a_number_as_the_target_has_fairness_in_its_own_units() {
    let folder = folder("-t size -s shape,colour --features x,y");
    let line = format!("train.csv --test test.csv {QUICK}");
    let found = audit(&folder, &line);
    for fairness in found["fairness_by"].as_array().unwrap() {
        assert_eq!(fairness["equal_opportunity"], Value::Null);
        assert_eq!(fairness["ci"]["equal_opportunity"], Value::Null);
        gaps_are_whole(fairness, &["demographic_parity", "equalized_odds"]);
        assert!(fairness["groups"][0]["mean_prediction"].is_number());
    }
    let raw = &found["fairness_by"][1]["raw"];
    assert!(number(&raw["demographic_parity"]) > 1.0, "the size goes with the colour: {raw}");
    assert_eq!(found["fairness_by"][1]["change"]["demographic_parity"]["verdict"], "better");
    let text = folder.sarl(&format!("audit m.st {line}")).succeeded().stdout;
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("size, in standard deviations"), "{text}");
    assert!(!text.contains("equal opportunity"), "{text}");
}

#[test]
fn fairness_is_said_in_words_for_every_attribute() {
    let folder = folder("-t shape -s colour,size --features x,y");
    let line = format!("audit m.st train.csv --test test.csv {QUICK}");
    let text = folder.sarl(&line).succeeded().stdout;
    for words in ["Fairness between groups of colour:", "Fairness between fifths of size:"] {
        assert!(text.contains(words), "{text}");
    }
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for between in ["groups of colour", "fifths of size"] {
        assert!(words.contains(&format!("Against raw features, between {between}: ")), "{words}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let alone = folder.sarl(&format!("{line} --no-control")).succeeded().stdout;
    assert!(alone.contains("Largest gaps between groups of colour (0 is fair)"), "{alone}");
}

#[test]
fn several_sensitive_columns_report_the_worst_and_each() {
    let folder = folder("-t shape -s colour,size --features x,y");
    let found = audit(&folder, &format!("train.csv --test test.csv {QUICK}"));
    let names: Vec<&str> = found["sensitives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["attribute"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["colour", "size"]);
    let fairness = found["fairness_by"].as_array().unwrap();
    assert_eq!(fairness.len(), 2);
    assert_eq!(
        (&fairness[0]["attribute"], &fairness[1]["attribute"]),
        (&"colour".into(), &"size".into())
    );
}

#[test]
fn erasure_without_a_target_has_no_target_to_audit() {
    let folder = folder("-t :features -s colour --features x,y");
    let found = audit(&folder, &format!("train.csv --test test.csv {QUICK}"));
    assert_eq!((&found["target"], &found["fairness"]), (&Value::Null, &Value::Null));
    assert!(number(&found["sensitive"]["probes"][0]["accuracy"]) < 0.6);
    folder.sarl(&format!("audit m.st train.csv {QUICK}")).succeeded();
}

#[test]
fn predictions_are_those_behind_the_fairness() {
    let folder = folder(LABELS);
    let line = format!("train.csv --test test.csv {QUICK} --predictions told.csv");
    let found = audit(&folder, &line);
    let text = folder.text("told.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,shape,colour,shape_predicted"));
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 300);
    let rate = |colour: &str| {
        let group: Vec<_> = rows.iter().filter(|r| r[2] == colour).collect();
        group.iter().filter(|r| r[3] == "cross").count() as f64 / group.len() as f64
    };
    let parity = (rate("blue") - rate("red")).abs();
    assert!((parity - number(&found["fairness"]["demographic_parity"])).abs() < 1e-12);
    let right = rows.iter().filter(|r| r[1] == r[3]).count() as f64 / 300.0;
    assert!((right - number(&found["target"]["best"]["accuracy"])).abs() < 1e-12);
}

#[test]
fn fewer_rows_are_drawn_when_asked() {
    let folder = folder(LABELS);
    let found = audit(&folder, &format!("train.csv --test test.csv {QUICK} --rows 100"));
    assert_eq!((&found["n_train"], &found["n_test"]), (&50.into(), &50.into()));
    assert_eq!(found["rows"]["test"]["of"], 600);
}

#[test]
fn what_cannot_be_asked() {
    let folder = folder(LABELS);
    folder
        .write("empty.csv", "x,y,shape,colour\n")
        .write("other.csv", "x,shape,colour\n1,circle,red\n");
    all_fail(
        &folder,
        "audit_usage",
        2,
        &[
            "audit m.st train.csv --probes linear,oracle",
            "audit m.st train.csv --test-share 0",
            "audit m.st train.csv --test-share 1.5",
            "audit m.st train.csv --test test.csv --test-share 0.5",
            "audit m.st test.csv --test test.csv",
            "audit m.st train.csv --predictions train.csv",
            "audit m.st train.csv --seeds 0",
            "audit m.st",
        ],
    );
    all_fail(
        &folder,
        "audit_data",
        3,
        &[
            "audit m.st nowhere.csv",
            "audit nowhere.st train.csv",
            "audit train.csv train.csv",
            "audit m.st other.csv",
            "audit m.st train.csv --test empty.csv",
        ],
    );
    all_fail(&folder, "audit_unreachable", 1, &["audit m.st test.csv --test train.csv"]);
}

/// A limit for each attribute speaks of them by name, also where the encoder is fitted anew.
#[test]
fn limits_of_attributes_are_those_of_the_new_fit() {
    let folder = folder(LABELS);
    let fit =
        "fit train.csv -t shape -s colour,size --features x,y --max-leakage colour=0,size=0.1";
    folder.sarl(&format!("{fit} -o m.st")).succeeded();
    let found = audit(&folder, &format!("train.csv {QUICK}"));
    assert_eq!(found["encoder"]["refitted"], true);
    assert_eq!(found["sensitives"].as_array().unwrap().len(), 2);
}

/// A rare group that z tells apart is never called a guess, whatever plain accuracy says.
#[test]
fn a_rare_group_cannot_hide() {
    let folder = Folder::new();
    let mut text = String::from("x,y,shape,rare\n");
    for i in 0..20_000_usize {
        let noise = |k: usize| ((i * k + k * k) % 997) as f64 / 997.0 - 0.5;
        let rare = i % 200 == 7;
        let x = 0.45 * f64::from(u8::from(rare)) + noise(37);
        writeln!(text, "{x},{},{},{}", noise(61), i % 2, ["no", "yes"][usize::from(rare)]).unwrap();
    }
    folder.write("rare.csv", text);
    let line = "audit m.st rare.csv --probes linear,logistic --seeds 1 --no-control";
    folder.sarl("fit rare.csv -t :features -s rare --lambda 0 --features x,y -o m.st").succeeded();
    let found = folder.sarl(&format!("{line} --json")).succeeded().json();
    let best = &found["sensitive"]["best"];
    assert!(number(&best["accuracy"]) - number(&found["sensitive"]["majority"]) < 1e-3);
    let advantage = &found["sensitive"]["advantage"];
    assert!(number(&advantage["value"]) > 0.5 && number(&advantage["ci"][0]) > 0.2, "{advantage}");
    let text = folder.sarl(line).succeeded().stdout;
    assert!(!text.contains("may be chance") && !text.contains("no more"), "{text}");
}
