//! `sarl compare`: who is compared, what is written, and what it refuses.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{Folder, all_fail, people};
use serde_json::{Value, json};

/// Fast and deterministic.
const QUICK: &str = "--probes linear,rbf --seeds 2 --landmarks 30";
const LABELS: &str = "-t income -s sex --drop id,weight,score";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("people.csv", people::csv(600));
    folder
}

fn compare(folder: &Folder, line: &str) -> Value {
    folder.sarl(&format!("compare people.csv {line} {QUICK} --json")).succeeded().json()
}

fn entries(results: &Value) -> &[Value] {
    results["entries"].as_array().unwrap()
}

fn of<'a>(results: &'a Value, method: &str) -> Vec<&'a Value> {
    entries(results).iter().filter(|e| e["method"] == method).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Times are not the same twice.
fn strike(value: &mut Value) {
    match value {
        Value::Object(all) => {
            all.retain(|name, _| !name.ends_with("seconds"));
            all.values_mut().for_each(strike);
        }
        Value::Array(all) => all.iter_mut().for_each(strike),
        _ => {}
    }
}

#[test]
fn ours_the_others_and_the_control() {
    let folder = folder();
    let line = format!("{LABELS} --rivals leace,inlp,ssgd --hiding 0.5,1");
    let results = compare(&folder, &line);
    assert_eq!((&results["n_train"], &results["n_test"]), (&json!(180), &json!(180)));
    assert_eq!(results["probes"], json!(["linear", "rbf"]));
    assert_eq!(results["seeds"], json!([0, 1]));
    for (method, count) in
        [("raw", 1), ("linear-sarl", 7), ("kernel-sarl", 7), ("leace", 1), ("inlp", 2), ("ssgd", 2)]
    {
        assert_eq!(of(&results, method).len(), count, "{method}");
    }
    assert_eq!(entries(&results).len(), 20);
    // The control: the probes do learn from the raw features, and less from what hides.
    let [raw, linear] = ["raw", "linear-sarl"].map(|m| of(&results, m)[0]);
    assert!(number(&raw["worst"]["mean"]) > number(&linear["worst"]["mean"]) + 0.1);
    assert!(number(&linear["linear_leakage"]) < 1e-9);
    leakages_are_as_asked(&results);
    for rival in entries(&results).iter().filter(|e| e["method"] != "raw" && e["ours"] == false) {
        best_of_ours(&results, rival);
        assert_eq!(rival["runs"], 2);
    }
    let weights: Vec<&Value> = of(&results, "inlp").iter().map(|e| &e["setting"]).collect();
    assert_eq!(weights, [&json!({ "weight": 0.5 }), &json!({ "weight": 1.0 })]);
    assert_eq!(of(&results, "leace")[0]["setting"], json!({}));

    fairness_is_whole(&results);
    let text = folder.sarl(&format!("compare people.csv {line} {QUICK}")).succeeded().stdout;
    assert!(text.contains("── Fairness between groups of sex: largest gaps"), "{text}");
    for part in ["Raw features", "Kernel-SARL", "LEACE", "weight 0.5", "Guessing", "Guaranteed"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Every method has every measure with its interval, and all but the raw features their change.
fn fairness_is_whole(results: &Value) {
    for entry in entries(results) {
        let [fair] = &entry["fairness"].as_array().unwrap()[..] else { panic!("{entry}") };
        assert_eq!(fair["attribute"], "sex");
        for name in ["demographic_parity", "equalized_odds", "equal_opportunity"] {
            let (gap, ends) = (number(&fair[name]), &fair["ci"][name]);
            assert!(number(&ends[0]) <= gap && gap <= number(&ends[1]), "{fair}");
            if entry["method"] == "raw" {
                assert_eq!(fair["change"], Value::Null);
                continue;
            }
            let raw = &of(results, "raw")[0]["fairness"][0][name];
            assert!((number(&fair["raw"][name]) - number(raw)).abs() < 1e-12, "{fair}");
            let change = number(&fair["change"][name]["value"]);
            assert!((gap - number(raw) - change).abs() < 1e-12, "{fair}");
        }
    }
}

/// The guarantee, for one sensitive column and for several.
fn leakages_are_as_asked(results: &Value) {
    let ours = entries(results).iter().filter(|e| e["ours"] == true);
    for ours in ours {
        let asked = number(&ours["setting"]["leakage"]);
        assert!((number(&ours["linear_leakage"]) - asked).abs() < 1e-6, "{ours}");
        assert_eq!(ours["ours_at_no_more"], Value::Null);
    }
}

/// What is said of our best at no more leakage is so.
fn best_of_ours(results: &Value, rival: &Value) {
    let worst = number(&rival["worst"]["mean"]);
    let ours = entries(results).iter().filter(|e| e["ours"] == true);
    let no_more = ours.filter(|e| number(&e["worst"]["mean"]) <= worst + 1e-12);
    let best = no_more.map(|e| number(&e["target"]["mean"])).max_by(f64::total_cmp);
    match best {
        None => assert_eq!(rival["ours_at_no_more"], Value::Null),
        Some(best) => {
            let said = &rival["ours_at_no_more"];
            assert_eq!(number(&said["target"]), best);
            let difference = best - number(&rival["target"]["mean"]);
            assert!((number(&said["difference"]) - difference).abs() < 1e-12);
        }
    }
}

#[test]
fn the_same_again_and_in_the_files() {
    let folder = folder();
    let line = format!("{LABELS} --rivals ml-arl,leace --leakages 0,0.05,0.9 --seed 3");
    let mut first = compare(&folder, &format!("{line} -o one"));
    let mut written: Value = serde_json::from_str(&folder.text("one/results.json")).unwrap();
    assert_eq!(first, written);
    strike(&mut first);
    strike(&mut written);
    let mut again = compare(&folder, &format!("{line} -o two --threads 1"));
    strike(&mut again);
    assert_eq!(first, again);
    // More than full utility leaks cannot be asked for.
    let asked = |e: &Value| number(&e["setting"]["leakage"]);
    let leakages: Vec<f64> = of(&first, "linear-sarl").into_iter().map(asked).collect();
    assert_eq!(leakages[..2], [0.0, 0.05]);
    assert!(leakages.len() == 3 && leakages[2] < 0.9, "{leakages:?}");

    for name in first["files"].as_array().unwrap() {
        assert!(folder.path("one").join(name.as_str().unwrap()).is_file(), "{name}");
    }
    let svg = folder.text("one/trade-off.svg");
    assert!(svg.starts_with("<svg") && svg.contains("ML-ARL") && svg.contains("guessing"));
    assert_eq!(&folder.read("one/trade-off.png")[1..4], b"PNG");
    assert_eq!(folder.text("one/trade-off.csv"), folder.text("two/trade-off.csv"));
    let table = folder.text("one/compare.csv");
    assert!(table.starts_with("method,leakage,weight,dim,target,"));
    assert_eq!(table.lines().count(), 1 + entries(&first).len());
}

#[test]
fn erasure_has_no_target_to_probe() {
    let folder = folder();
    let line = "-t :features -s sex --features age,hours,work";
    let results = compare(&folder, &format!("{line} --rivals all"));
    assert!(entries(&results).iter().all(|e| e["target"].is_null()));
    assert_eq!(results["guess"]["target"], Value::Null);
    let left_out: Vec<&str> = results["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["rival"].as_str().unwrap())
        .collect();
    assert_eq!(left_out, ["ssgd", "lfr", "vfae", "ml-arl", "maxent-arl", "splince", "fare"]);
    assert_eq!(results["left_out"][0]["reason"], "needs a target to keep");
    assert_eq!((of(&results, "leace").len(), of(&results, "vae").len()), (1, 1));
    assert!(folder.path("sarl-compare/trade-off.svg").is_file());
    let line = format!("compare people.csv {line} {QUICK} --rivals none");
    let text = folder.sarl(&line).succeeded().stdout;
    assert!(text.contains("no target to probe") && !text.contains("at no more"), "{text}");
}

#[test]
fn numbers_and_several_columns() {
    let folder = folder();
    let line = "-t score,income -s sex,age:number --drop id,weight --rivals leace";
    let results = compare(&folder, line);
    leakages_are_as_asked(&results);
    let raw = of(&results, "raw")[0];
    assert!(number(&raw["target"]["mean"]) < 1.0);
    assert!(["sex", "age"].contains(&raw["worst"]["attribute"].as_str().unwrap()));
    assert_eq!(results["guess"]["target"], 0.0, "the mean explains nothing");
    assert_eq!(results["guess"]["sensitive"]["age"], 0.0);
    for entry in entries(&results) {
        let fair = entry["fairness"].as_array().unwrap();
        assert_eq!(fair.len(), 2, "{entry}");
        assert_eq!(fair[1]["equal_opportunity"], Value::Null);
    }
    let text = folder.sarl(&format!("compare people.csv {line} {QUICK}")).succeeded().stdout;
    assert!(text.contains("── Fairness between fifths of age: largest gaps"), "{text}");
    for part in ["score,", "R² %", "worst case %"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// A rival that fails is a row with its reason, and each result is said as it comes.
#[test]
fn one_that_fails_does_not_end_the_run() {
    let folder = Folder::new();
    // INLP takes a direction a round, and there is only one.
    let rows = (0..300).map(|i| format!("{},{}\n", i % 97, (i % 97) * 2 + i % 3));
    folder.write("one.csv", "x,age\n".to_owned() + &rows.collect::<String>());
    let line = "compare one.csv -t :features -s age:number --rivals inlp --probes linear --seeds 1";
    let run = folder.sarl(&format!("{line} --json")).succeeded();
    let results = run.json();
    let inlp = of(&results, "inlp")[0];
    assert_eq!((&inlp["diverged"], &inlp["worst"]), (&json!(1), &Value::Null), "{inlp}");
    assert!(inlp["failures"][0].as_str().unwrap().contains("constant"), "{inlp}");
    assert!(number(&of(&results, "raw")[0]["worst"]["mean"]) > 0.5, "the others are there");
    for line in ["Raw features: age", "Linear-SARL at leakage", "INLP at weight", ": failed: "] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    let text = folder.sarl(line).succeeded().stdout;
    assert!(text.contains("failed") && text.contains("1 of 1 runs failed"), "{text}");
}

/// Each job is of one sex, so a cut by one job tells it; two jobs together tell the target and not the sex.
#[test]
fn fare_gets_categories_as_they_are() {
    let folder = Folder::new();
    let row = |i: usize| {
        let (job, place) = (i % 4, i / 4 % 10);
        let high = place < [1, 4, 6, 9][job];
        format!("{job},{},{}\n", ["f", "m"][job / 2], ["no", "yes"][usize::from(high)])
    };
    folder.write("jobs.csv", "job,sex,high\n".to_owned() + &(0..4000).map(row).collect::<String>());
    let line =
        "compare jobs.csv -t high -s sex --categorical job --rivals fare --hiding 0.9 --json";
    let results = folder.sarl(&format!("{line} --probes trees --seeds 1")).succeeded().json();
    let fare = of(&results, "fare")[0];
    let (kept, hidden) = (number(&fare["target"]["mean"]), number(&fare["worst"]["mean"]));
    assert!(kept > 0.6 && hidden < 0.55, "{fare}");
}

#[test]
fn other_rows_can_be_the_test() {
    let folder = folder();
    folder.write("test.csv", people::csv(200));
    let results = compare(&folder, &format!("--test test.csv {LABELS} --rivals none --leakages 0"));
    assert_eq!((&results["n_train"], &results["n_test"]), (&json!(100), &json!(100)));
    assert_eq!(results["test"], json!(["test.csv"]));
    assert_eq!(results["rows"]["encoder"]["rows"], 600, "encoders have all of DATA");
    assert_eq!(entries(&results).len(), 3);
}

#[test]
fn what_cannot_be_asked() {
    let folder = folder();
    folder.write("taken", "");
    let with = |more: &str| format!("compare people.csv {LABELS} {more}");
    all_fail(
        &folder,
        "compare_usage",
        2,
        &[
            with("--rivals leace,oracle"),
            with("--rivals none,leace"),
            with("--hiding 2"),
            with("--hiding much"),
            with("--leakages 5"),
            with("--probes oracle"),
            with("--test-share 1"),
            with("--test people.csv"),
            with("--weight age"),
            with("--folds 1"),
            with("--kernel polynomial --approx random-features"),
            "compare people.csv -t income -s score:number --drop id,weight --rivals vfae".into(),
            "compare people.csv -t :features -s sex --drop id,weight,score --rivals leace,lfr"
                .into(),
            "compare people.csv -s sex".into(),
        ],
    );
    all_fail(&folder, "compare_data", 3, &["compare nowhere.csv -t income -s sex"]);
    all_fail(
        &folder,
        "compare_machine",
        4,
        &[with("-o taken"), with("-o taken/below"), with("-o people.csv")],
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    let folder = folder();
    let before = folder.names();
    let line = format!("compare people.csv {LABELS} --seeds 20");
    for moment in [300, 900, 2000] {
        let child = folder.command(&line).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(moment));
        let kill = format!("kill -INT {}", child.id());
        std::process::Command::new("sh").args(["-c", &kill]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "after {moment} ms");
        // What was ready before stays on the screen; the interruption is the last line.
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr.lines().last(), Some("error: interrupted"), "after {moment} ms");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(folder.names(), before);
    }
}
