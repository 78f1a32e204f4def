//! What is hidden, in the user's terms: criteria, kernels and bins of numbers, combinations.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::fmt::Write as _;

use common::Folder;
use serde_json::Value;

/// Numbers without a pattern in [-1, 1).
fn noise(i: u64, salt: u64) -> f64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt << 32 | salt);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A table in which `a` tells the target, `b` and `c` the attributes, `d` the square of the age.
fn table(rows: u64) -> String {
    let mut text = "a,b,c,d,income,sex,race,age,lat,lon\n".to_owned();
    for i in 0..rows {
        let [a, b, c, d] = [1, 2, 3, 4].map(|salt| noise(i, salt));
        let income = if a + 0.4 * b + 0.5 * noise(i, 5) > 0.0 { "high" } else { "low" };
        let sex = if b + 0.3 * a + 0.4 * noise(i, 6) > 0.0 { "f" } else { "m" };
        let race = match c + 0.5 * noise(i, 7) {
            v if v > 1.32 => "rare",
            v if v > 0.1 => "x",
            _ => "y",
        };
        let age = 45.0 + 12.0 * (d * d + 0.3 * c + 0.2 * noise(i, 8));
        let (lat, lon) = (50.0 + b + 0.2 * noise(i, 9), 8.0 + c * d);
        writeln!(text, "{a},{b},{c},{d},{income},{sex},{race},{age},{lat},{lon}").unwrap();
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", table(3000)).write("fresh.csv", table(4500));
    folder
}

fn fit(folder: &Folder, options: &str) -> Value {
    let line =
        format!("fit t.csv -t income --features a,b,c,d {options} -o m.safetensors --json -q");
    folder.sarl(&line).succeeded().json()
}

/// A text without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn figure(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {value}"))
}

#[test]
fn a_model_serves_its_criterion_everywhere() {
    let folder = folder();
    let parity = fit(&folder, "-s sex --max-leakage 0.001");
    assert_eq!(parity["criterion"], "parity");
    let odds = fit(&folder, "-s sex --max-leakage 0.001 --criterion equalized-odds");
    assert_eq!(odds["criterion"], "equalized-odds");
    // One block for each class of the target.
    assert_eq!(figure(&odds, "/bounds/labels/sensitive"), 4.0);
    assert!(figure(&odds, "/leakage") <= 0.001 + 1e-12);
    assert!(figure(&odds, "/utility") > figure(&parity, "/utility"));
    assert!(figure(&odds, "/gap").abs() < 1e-9);
    let said = one_line(&folder.sarl("info m.safetensors").succeeded().stdout);
    assert!(said.contains("in sex among rows of the same income"), "{said}");
    let about = folder.sarl("info m.safetensors --json").succeeded().json();
    assert_eq!(about["criterion"], "equalized-odds");

    let again = folder.sarl("retune m.safetensors --max-leakage 0.01 -o r.safetensors --json -q");
    let again = again.succeeded().json();
    assert_eq!(again["criterion"], "equalized-odds");
    let direct = fit(&folder, "-s sex --max-leakage 0.01 --criterion equalized-odds");
    assert!((figure(&again, "/js") - figure(&direct, "/js")).abs() < 1e-9);
    folder.sarl("encode m.safetensors fresh.csv -o z.csv -q").succeeded();
    let line = "audit m.safetensors fresh.csv --json -q --probes linear,logistic --rows 2000";
    let audit = folder.sarl(line).succeeded().json();
    assert!(audit["fairness"]["equalized_odds"].is_number(), "{audit}");
    let page = "front t.csv -t income -s sex --features a,b,c,d --criterion equalized-odds --html r.html -q";
    folder.sarl(page).succeeded();
    let page = folder.text("r.html");
    assert!(page.contains("among rows of the same income"));
    assert!(page.contains("equalized odds allows it"));
}

#[test]
fn equal_opportunity_is_about_one_class() {
    let folder = folder();
    let named = fit(&folder, "-s sex --lambda 0.9 --criterion equal-opportunity --favourable high");
    assert_eq!(
        (&named["favourable"], figure(&named, "/bounds/labels/sensitive")),
        (&"high".into(), 2.0)
    );
    let said = one_line(&folder.sarl("info m.safetensors").succeeded().stdout);
    assert!(said.contains("among rows whose income is `high`"), "{said}");
    let line = "fit t.csv -t income -s sex --features a,b --lambda 0.9 --criterion equal-opportunity -o e.safetensors";
    let said = folder.sarl(line).succeeded();
    assert!(said.stderr.contains("the favourable class of `income` is `low`"), "{}", said.stderr);
    for (options, message) in [
        ("-t income --criterion equal-opportunity --favourable none", "no such class"),
        ("-t income --favourable high", "needs --criterion equal-opportunity"),
        ("-t race --criterion equal-opportunity", "--favourable is missing"),
        ("-t age --criterion equal-opportunity", "holds numbers"),
        ("-t income,race --criterion equal-opportunity", "needs one target"),
        ("-t :features --criterion equalized-odds", "needs a target"),
        ("-t income --criterion equalized-odds --max-advantage 0.1", "every adversary"),
    ] {
        let goal = if options.contains("max-advantage") { "" } else { "--lambda 0.5" };
        let line = format!("fit t.csv -s sex --features a,b,c {options} {goal} -o bad.safetensors");
        let said = folder.fails(&line, 2);
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn the_features_are_kept_and_attributes_hidden_beside_a_target() {
    let folder = folder();
    let line = "fit t.csv -t :features,income -s sex --features a,b,c,d --criterion equalized-odds --max-leakage 0 -o f.safetensors";
    let found = folder.sarl(&format!("{line} --json -q")).succeeded().json();
    assert_eq!(figure(&found, "/bounds/labels/target"), 4.0);
    assert_eq!(figure(&found, "/bounds/labels/sensitive"), 4.0);
    // One direction of four goes for each class of the target.
    assert_eq!(figure(&found, "/dim"), 2.0);
    let said = one_line(&folder.sarl("info f.safetensors").succeeded().stdout);
    assert!(said.contains("in sex among rows of the same income"), "{said}");
    for data in ["t.csv", "fresh.csv"] {
        let line = format!("audit f.safetensors {data} --json -q --probes linear,logistic");
        let audit = folder.sarl(&line).succeeded().json();
        assert_eq!(audit["target"]["attribute"], "income");
        assert!(figure(&audit, "/fairness/equalized_odds") < 0.2, "{audit}");
    }
    let line =
        "fit t.csv -t :features,income -s sex --features a,b --max-leakage 0 -o bad.safetensors";
    assert!(folder.fails(line, 2).contains("together with `:features`"));
}

#[test]
fn numbers_are_hidden_by_kernels_and_bins() {
    let folder = folder();
    // The age is a square of a feature: nothing of it is linear, and a kernel encoder can tell it.
    let kernel = "--kernel rbf --landmarks 200";
    let plain = fit(&folder, &format!("-s age --max-leakage 0 {kernel}"));
    assert_eq!(figure(&plain, "/bounds/labels/sensitive"), 1.0);
    let smooth = fit(&folder, &format!("-s age:kernel --max-leakage 0.001 {kernel}"));
    let width = figure(&smooth, "/bounds/labels/sensitive");
    assert!((4.0..40.0).contains(&width), "{width}");
    assert_eq!(smooth["attributes"]["sensitive"]["age"]["limit"], 0.001);
    let binned = fit(&folder, "-s age:bins=5 --max-leakage 0.001");
    assert_eq!(figure(&binned, "/bounds/labels/sensitive"), 5.0);
    let about = folder.sarl("info m.safetensors --json").succeeded().json();
    let of = &about["schema"]["sensitives"][0]["values"]["class"];
    let counts: Vec<u64> =
        of["counts"].as_array().unwrap().iter().map(|c| c.as_u64().unwrap()).collect();
    assert_eq!(counts, [600; 5]);
    assert_eq!(of["of"]["bins"]["edges"].as_array().map(Vec::len), Some(4));
    let both = fit(&folder, "-s lat+lon:kernel,sex --max-leakage lat+lon=0.01,sex=0.02");
    for (name, limit) in [("lat+lon", 0.01), ("sex", 0.02)] {
        assert!(figure(&both, &format!("/attributes/sensitive/{name}/leakage")) <= limit + 1e-9);
    }
    // Attackers predict each number.
    let line = "audit m.safetensors fresh.csv --json -q --probes linear --rows 2000";
    let audit = folder.sarl(line).succeeded().json();
    let names: Vec<&str> = audit["sensitives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["attribute"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["lat", "lon", "sex"]);
    let odds = fit(&folder, "-s age:kernel,sex --criterion equalized-odds --max-leakage 0.01");
    assert_eq!(figure(&odds, "/bounds/labels/sensitive"), 2.0 * width + 4.0);
    folder.sarl("audit m.safetensors t.csv -q --probes linear --rows 2000").succeeded();
    let line = "fit t.csv -t age:kernel -s sex --features a,b,c,d --criterion equalized-odds --lambda 0.9 -o k.safetensors --json -q";
    let found = folder.sarl(line).succeeded().json();
    assert_eq!(figure(&found, "/bounds/labels/target"), width);
    let said = folder.sarl("info k.safetensors").succeeded().stdout;
    assert!(said.contains("beside age"), "{said}");
}

#[test]
fn combinations_are_one_attribute_and_rare_ones_are_pooled() {
    let folder = folder();
    let line = "fit t.csv -t income -s sex*race,sex --features a,b,c,d --max-leakage 0.01 -o m.safetensors --json";
    let said = folder.sarl(line).succeeded();
    assert!(said.stderr.contains("rare combinations"), "{}", said.stderr);
    let about = folder.sarl("info m.safetensors --json").succeeded().json();
    let of = &about["schema"]["sensitives"][0];
    assert_eq!(of["name"], "sex*race");
    assert_eq!(
        of["values"]["class"]["values"],
        serde_json::json!(["f*x", "f*y", "m*x", "m*y", "other"])
    );
    let rows: u64 =
        of["values"]["class"]["counts"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(rows, 3000);
    let line = "audit m.safetensors fresh.csv --json -q --probes linear --rows 2000";
    let audit = folder.sarl(line).succeeded().json();
    assert_eq!(audit["sensitives"][0]["attribute"], "sex*race");
    folder.sarl("encode m.safetensors fresh.csv -o z.csv -q").succeeded();
    let certified = "fit t.csv -t income -s sex*race --features a,b,c,d --max-advantage 0.9 -o c.safetensors -q";
    folder.sarl(certified).succeeded();
}

#[test]
fn labels_that_cannot_be_made_are_refused() {
    let folder = folder();
    for (columns, message) in [
        ("-s lat+lon", "add `:kernel`"),
        ("-s sex*rase", "unknown column `rase`"),
        ("-s sex*race:kernel", "one of classes"),
        ("-s age:bins=1", "expected a whole number from 2 to 100"),
        ("-s age:bins=many", "expected a whole number"),
        ("-s sex*sex", "comes twice"),
        ("-s sex*race,sex*race", "is both"),
        ("-s sex*income", "is both"),
        ("-s sex --features a:kernel,b", "only a target or a sensitive column"),
    ] {
        let line = format!("fit t.csv -t income {columns} --lambda 0.5 -o bad.safetensors");
        let said = folder.fails(&line, 2);
        assert!(said.contains(message), "{columns}: {said}");
    }
    let said = folder.fails("fit t.csv -t income -s sex:kernel --lambda 0.5 -o bad.safetensors", 3);
    assert!(said.contains("sex"), "{said}");
    // A column whose name looks like one of these is that column.
    folder.write("odd.csv", "a+b,a*b,y\n1,p,u\n2,q,v\n3,p,v\n4,q,u\n");
    folder.sarl("bounds odd.csv -t y -s a*b --features a+b").succeeded();
}
