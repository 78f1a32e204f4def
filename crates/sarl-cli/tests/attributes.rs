//! A limit for each attribute, from the command line to the model file and back.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{Folder, assert_same};
use serde_json::Value;

const LABELS: &str = "people.csv -t income,score -s sex,age:number --drop id,weight";

fn figure(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {value}"))
}

#[test]
fn each_attribute_has_its_limit() {
    let folder = Folder::with_people();
    let fit = |goal: &str| {
        let line = format!("fit {LABELS} {goal} -o m.safetensors --json --quiet");
        folder.sarl(&line).succeeded().json()
    };
    let found = fit("--max-leakage 0.02");
    for name in ["sex", "age"] {
        let of = |what: &str| figure(&found, &format!("/attributes/sensitive/{name}/{what}"));
        assert!(of("leakage") <= 0.02, "{found}");
        assert_eq!(of("limit"), 0.02);
        assert!(of("js") > 0.0 && of("heldout/js") > 0.0 && of("heldout/leakage").is_finite());
    }
    let variance = figure(&found, "/bounds/attributes/sensitive/age/alpha_max");
    assert!(variance > 50.0, "in years: {variance}");
    assert_eq!(figure(&found, "/bounds/alpha_max").round(), 2.0, "two attributes");
    assert!(figure(&found, "/gap").abs() < 1e-9, "{found}");

    let found = fit("--max-leakage sex=0.01");
    assert_eq!(found["goal"]["max_leakage"]["sex"], 0.01);
    assert!(figure(&found, "/attributes/sensitive/sex/leakage") <= 0.01);
    assert!(found["attributes"]["sensitive"]["age"]["limit"].is_null());
    assert!(figure(&found, "/attributes/sensitive/age/leakage") > 0.0);

    let found = fit("--min-utility income=0.9,score=0.5");
    assert!(figure(&found, "/attributes/target/income/utility") >= 0.9);
    assert!(figure(&found, "/attributes/target/score/utility") >= 0.5);
    let line = "retune m.safetensors --max-leakage sex=0.005,age=0.05 -o n.safetensors --json";
    let found = folder.sarl(line).succeeded().json();
    assert!(figure(&found, "/attributes/sensitive/sex/leakage") <= 0.005);
    assert!(figure(&found, "/attributes/sensitive/age/leakage") <= 0.05);
    let told = folder.sarl("info n.safetensors --json").succeeded().json();
    assert_eq!(told["attributes"], found["attributes"]);
}

#[test]
fn attributes_are_told_to_people() {
    let folder = Folder::with_people();
    let fit = format!("fit {LABELS} --max-leakage sex=0.01,age=0.05 -o m.safetensors");
    let lines = [
        format!("bounds {LABELS}"),
        fit,
        "retune m.safetensors --min-utility 0.8 -o n.safetensors".to_owned(),
        "info m.safetensors".to_owned(),
    ];
    let run = |line: &String| folder.sarl(line).succeeded().transcript();
    assert_same("attributes", &lines.iter().map(run).collect::<Vec<_>>().join("\n"));
}

#[test]
fn names_that_are_not_there_are_told() {
    let folder = Folder::with_people();
    let fit = |goal: &str| format!("fit {LABELS} {goal} -o m.safetensors --quiet");
    let all: Vec<String> = [
        "--max-leakage race=0.1",
        "--min-utility sex=0.1",
        "--max-leakage sex=1.5",
        "--max-leakage sex",
        "--max-leakage sex=a",
        "--max-leakage sex=0.1,sex=0.2",
    ]
    .iter()
    .map(|goal| folder.fails(&fit(goal), 2))
    .collect();
    assert_same("attributes_unknown", &all.join("\n"));
}

/// The report of several attributes is written and says each.
#[test]
fn reports_show_each_attribute() {
    let folder = Folder::with_people();
    let line = format!(
        "fit {LABELS} --max-leakage 0.02 -o m.safetensors --html report.html --html-rows 50 --json"
    );
    let found = folder.sarl(&line).succeeded().json();
    let levels = found["levels"].as_array().unwrap();
    for level in levels {
        let limit = level["goal"]["max_leakage"].as_f64();
        let shares = level["attributes"]["sensitive"].as_array().unwrap();
        let met = |a: &Value| limit.is_none_or(|limit| a["share"].as_f64().unwrap() <= limit);
        assert!(shares.len() == 2 && shares.iter().all(met), "{level}");
    }
    let page = folder.text("report.html");
    assert!(page.contains("leakage of sex") && page.contains("utility of score"));
}

/// Real people: sex must not hide behind the variance of age.
#[test]
fn adult_limits_sex_and_age() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SARL_DATA").map_or(beside, std::path::PathBuf::from);
    let adult = root.join("adult/train.csv");
    if !adult.exists() {
        assert!(std::env::var_os("SARL_REQUIRE_DATA").is_none(), "the real data is required");
        eprintln!("SKIPPED: {} is not there; set SARL_DATA", adult.display());
        return;
    }
    let folder = Folder::new();
    let line = format!(
        "fit {} -t occupation -s sex,age:number --missing drop --max-leakage 0.01 \
         -o m.safetensors --json --quiet",
        adult.display()
    );
    let found = folder.sarl(&line).succeeded().json();
    for name in ["sex", "age"] {
        let leakage = figure(&found, &format!("/attributes/sensitive/{name}/leakage"));
        assert!(leakage <= 0.01 && leakage > 0.0, "{name}: {leakage}");
    }
    assert!(figure(&found, "/gap").abs() < 1e-9, "{found}");
}
