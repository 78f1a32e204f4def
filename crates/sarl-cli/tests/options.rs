//! Options from end to end: kernels, weights, several labels, missing values, erasure.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::people::{self, ROWS, with_cell};
use common::{Folder, files};
use serde_json::{Value, json};

fn json_of(folder: &Folder, line: &str) -> Value {
    folder.sarl(&format!("{line} --json --quiet")).succeeded().json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn every_kernel_from_fit_to_encode() {
    let folder = Folder::new();
    folder.write("m.csv", files::matrix(400).csv());
    let kernels = [
        ("--kernel rbf", "rbf"),
        ("--kernel rbf --sampling uniform --landmarks 50 --gamma 0.2", "rbf"),
        ("--kernel rbf --approx random-features --landmarks 60 --ridge auto", "random"),
        ("--kernel laplacian --approx exact --ridge 1e-3", "laplacian"),
        ("--kernel polynomial --degree 2 --coef0 0.5", "polynomial"),
    ];
    for (options, name) in kernels {
        let fit = format!("fit m.csv -t y -s s {options} --max-leakage 0.05 -o m.safetensors");
        let fit = json_of(&folder, &fit);
        assert!(number(&fit["leakage"]) <= 0.05 + 1e-9, "{options}");
        assert!(number(&fit["heldout"]["jy"]) > 0.0, "{options}");
        let info = json_of(&folder, "info m.safetensors");
        assert!(info["map"].as_str().unwrap().contains(name), "{options}: {}", info["map"]);
        let encoded = json_of(&folder, "encode m.safetensors m.csv -o z.csv");
        assert_eq!((&encoded["rows"], &encoded["dim"]), (&json!(400), &fit["dim"]), "{options}");
        let other = json_of(&folder, "retune m.safetensors --lambda 0 -o n.safetensors");
        let exact = number(&info["ridge"]) == 0.0;
        let more = number(&other["utility"]) >= number(&fit["utility"]) - 1e-6;
        assert!(more || !exact, "{options}");
        assert_eq!(json_of(&folder, "info n.safetensors")["goal"], json!({ "lambda": 0.0 }));
    }
}

#[test]
fn every_goal_is_met() {
    let folder = Folder::with_people();
    let fit = |goal: &str| {
        let labels = "-t income -s sex --drop id,weight,score";
        json_of(&folder, &format!("fit people.csv {labels} {goal} -o m.safetensors"))
    };
    assert!(number(&fit("--max-leakage 0")["leakage"]) < 1e-9);
    assert!((number(&fit("--max-leakage 0.03")["leakage"]) - 0.03).abs() < 1e-9);
    assert!((number(&fit("--min-utility 0.9")["utility"]) - 0.9).abs() < 1e-9);
    let full = fit("--lambda 0");
    assert!((number(&full["utility"]) - 1.0).abs() < 1e-9);
    let bounds = &full["bounds"];
    let between = (number(&bounds["alpha_min"]) + number(&bounds["alpha_max"])) / 2.0;
    let met = fit(&format!("--alpha {between}"));
    assert!((number(&met["js"]) - between).abs() < 1e-9);
    assert!(number(&met["gap"]).abs() < 1e-9);
}

#[test]
fn a_goal_retuned_is_the_goal_fitted() {
    let folder = Folder::with_model();
    let labels = "-t income -s sex --drop id,weight";
    let fit = format!("fit people.csv {labels} --min-utility 0.95 -o fitted.safetensors");
    let fitted = json_of(&folder, &fit);
    let retuned = json_of(&folder, "retune model.safetensors --min-utility 0.95 -o r.safetensors");
    for key in ["lambda", "dim", "jy", "js", "utility", "leakage", "dual_bound", "bounds"] {
        assert_eq!(fitted[key], retuned[key], "{key}");
    }
    for (key, value) in fitted["heldout"].as_object().unwrap() {
        let kept = number(&retuned["heldout"][key]);
        assert!((number(value) - kept).abs() < 1e-9, "held-out {key}: {value}, retuned {kept}");
    }
    let z = |model: &str| folder.sarl(&format!("encode {model} people.csv -o -")).stdout;
    assert_eq!(z("fitted.safetensors"), z("r.safetensors"));
}

/// A row of weight 2 is the row twice, also when the weights are whole numbers.
#[test]
fn weights_count_rows() {
    let folder = Folder::new();
    let mut twice = people::rows(ROWS);
    twice.extend(people::rows(ROWS / 2));
    folder.write("twice.csv", people::table(people::HEADER, &twice));
    let header = format!("{},times", people::HEADER);
    let times = |i: usize| if i < ROWS / 2 { 2 } else { 1 };
    let rows: Vec<String> = people::rows(ROWS)
        .iter()
        .enumerate()
        .map(|(i, row)| format!("{row},{}", times(i)))
        .collect();
    folder.write("weighted.csv", people::table(&header, &rows));
    let bounds = |data: &str, more: &str| {
        let line = format!("bounds {data} -t income -s sex --drop id,weight {more}");
        json_of(&folder, &line)
    };
    let (a, b) = (bounds("twice.csv", ""), bounds("weighted.csv", "--weight times"));
    for key in ["gamma_min", "gamma_max", "alpha_min", "alpha_max"] {
        assert!((number(&a[key]) - number(&b[key])).abs() < 1e-9, "{key}");
    }
}

#[test]
fn several_targets_and_sensitive_columns() {
    let folder = Folder::with_people();
    let line = "bounds people.csv -t income,score -s sex,citizen --drop id,weight";
    let bounds = json_of(&folder, line);
    assert_eq!(bounds["labels"], json!({ "target": 3, "sensitive": 4 }));
    assert_eq!(bounds["features"], 5, "age, hours and three kinds of work");
    let line = "bounds people.csv -t age:class -s score:number --features hours,work";
    assert_eq!(json_of(&folder, line)["labels"]["sensitive"], 1);
    let line = "bounds people.csv -t income -s sex --features hours,age:class";
    assert!(number(&json_of(&folder, line)["features"]) > 20.0, "one column for each age");
}

#[test]
fn erasure_keeps_the_features_themselves() {
    let folder = Folder::new();
    folder.write("m.csv", files::matrix(300).csv());
    let line = "fit m.csv -t :features -s s --drop y --max-leakage 0 -o m.safetensors";
    let fit = json_of(&folder, line);
    assert_eq!((&fit["dim"], &fit["bounds"]["labels"]["target"]), (&json!(3), &json!(4)));
    assert!(number(&fit["leakage"]) < 1e-9 && number(&fit["utility"]) > 0.5);
    folder.sarl("info m.safetensors").succeeded();
    let erased = json_of(&folder, "encode m.safetensors m.csv --erased --keep s -o erased.csv");
    assert_eq!((&erased["dim"], &erased["erased"]), (&json!(4), &json!(true)));
    let z = json_of(&folder, "encode m.safetensors m.csv -o z.npy");
    assert_eq!((&z["dim"], &z["erased"]), (&json!(3), &json!(false)));
    let text = folder.text("erased.csv");
    assert_eq!(text.lines().next(), Some("s,x0,x1,x2,x3"));
    // The means of the classes are one in every column: nothing linear is left.
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split(',').collect()).collect();
    for column in 1..=4 {
        let mean = |class: &str| {
            let of = rows.iter().filter(|r| r[0] == class).map(|r| r[column].parse::<f64>());
            let values: Vec<f64> = of.map(Result::unwrap).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        assert!((mean(rows[0][0]) - mean(other(&rows))).abs() < 1e-9, "column {column}");
    }
}

/// A class that the first row does not have.
fn other<'a>(rows: &[Vec<&'a str>]) -> &'a str {
    rows.iter().map(|r| r[0]).find(|class| *class != rows[0][0]).unwrap()
}

/// With a ridge z is turned back into the features; with fewer dimensions there is only z.
#[test]
fn what_keeps_the_features_gives_features() {
    let folder = Folder::with_people();
    let labels = "people.csv -t :features -s sex --drop id,weight,score";
    let fit = |more: &str| json_of(&folder, &format!("fit {labels} {more} -o m.safetensors"));
    let encode = || {
        json_of(&folder, "encode m.safetensors people.csv --erased -o e.csv");
        folder.text("e.csv").lines().next().unwrap().to_owned()
    };
    fit("--max-leakage 0.01 --ridge 0");
    let names = encode();
    assert!(names.starts_with("age,hours") && names.contains("work="), "{names}");
    fit("--max-leakage 0.01 --ridge 0.1");
    assert_eq!(encode(), names);
    fit("--max-leakage 0.01 --dim 2");
    let refused = folder.fails("encode m.safetensors people.csv --erased -o e.csv", 2);
    assert!(refused.contains("--erased: the model is no erasure"), "{refused}");
}

#[test]
fn missing_values_by_policy() {
    let folder = Folder::with_people();
    folder.write("gaps.csv", with_cell(5, "hours", "").replace(",public,", ",?,"));
    let gaps = folder.text("gaps.csv").matches(",?,").count() + 1;
    let fit = |policy: &str| {
        let labels = format!("-t income -s sex --drop id,weight --missing {policy}");
        json_of(&folder, &format!("fit gaps.csv {labels} --lambda 0.5 -o {policy}.safetensors"))
    };
    let dropped = fit("drop")["bounds"]["n"].as_u64().unwrap() as usize;
    assert!(ROWS - gaps <= dropped && dropped < ROWS, "{dropped} rows kept, {gaps} gaps");
    assert_eq!(fit("mean")["bounds"]["n"], ROWS);
    let encode = |policy: &str| {
        json_of(&folder, &format!("encode {policy}.safetensors gaps.csv --keep id -o z.csv"))
    };
    let encoded = encode("drop");
    assert_eq!((&encoded["rows"], &encoded["dropped"]), (&json!(ROWS), &json!(ROWS - dropped)));
    assert_eq!(encode("mean")["rows"], ROWS);
}

/// Threads and seeds: the same seed is the same model to the byte.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = Folder::with_people();
    let fit = |more: &str, name: &str| {
        let options = "-t income -s sex --drop id,weight --kernel rbf --landmarks 30";
        let line = format!("fit people.csv {options} --lambda 0.5 {more} -o {name} --quiet");
        folder.sarl(&line).succeeded();
        folder.read(name)
    };
    let first = fit("", "a.safetensors");
    assert_eq!(first, fit("", "b.safetensors"));
    assert_ne!(first, fit("--seed 1", "c.safetensors"));
}

#[test]
fn a_device_that_is_not_there_is_an_error_of_the_machine() {
    let folder = Folder::with_people();
    let line = |device: &str| {
        format!("bounds people.csv -t income -s sex --drop id,weight,score --device {device}")
    };
    for device in ["auto", "cpu"] {
        assert_eq!(json_of(&folder, &line(device))["device"], json!("cpu"));
    }
    let wrong = folder.fails(&line("gpu"), 2);
    assert!(wrong.contains("expected auto, cpu, cuda"), "{wrong}");
    if sarl_cuda::devices().is_ok() {
        eprintln!("skipped: this machine has a GPU");
        return;
    }
    let missing = folder.fails(&line("cuda"), 4);
    assert!(missing.contains("--device cuda:0: "), "{missing}");
}
