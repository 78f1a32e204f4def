//! `sarl reproduce`: the paper's numbers beside ours.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::path::{Path, PathBuf};

use common::{Folder, assert_same};
use serde_json::Value;

/// The real data, where it is.
fn data() -> Option<PathBuf> {
    let given = std::env::var_os("SARL_DATA").map(PathBuf::from);
    let near = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let found = given.into_iter().chain([near]).find(|p| p.join("german/all.npz").is_file());
    if found.is_none() {
        assert!(std::env::var_os("SARL_REQUIRE_DATA").is_none(), "the real data is required");
        eprintln!("skipped: the real data is neither in SARL_DATA nor in ../shared/data");
    }
    found
}

fn reproduce(folder: &Folder, line: &str, data: &Path) -> Value {
    let mut command = folder.command(&format!("reproduce {line} --json"));
    let output = command.env("SARL_DATA", data).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn rows(results: &Value, table: usize) -> &[Value] {
    results["tables"][table]["rows"].as_array().unwrap()
}

fn cell(row: &Value, name: &str) -> f64 {
    let text = row[name].as_str().unwrap_or_else(|| panic!("{name} is not in {row}"));
    text.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn the_mixture_needs_no_data() {
    let folder = Folder::new();
    let run = folder.sarl("reproduce gaussian --seeds 1 --json").succeeded();
    let results = run.json();
    for (row, target) in [(2, 65.0..80.0), (5, 85.0..93.0)] {
        let row = &rows(&results, 0)[row];
        assert!((cell(row, "adversary %") - 50.0).abs() < 2.5, "{row}");
        assert!(target.contains(&cell(row, "target %")), "{row}");
    }
    // At equal leakage the kernel keeps more.
    for pair in rows(&results, 1).chunks(2) {
        assert!(cell(&pair[1], "target %") > cell(&pair[0], "target %"), "{pair:?}");
    }
    for figure in ["trade-off", "bounds", "embedding", "data"] {
        let svg = folder.text(&format!("out/gaussian/{figure}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(&folder.read(&format!("out/gaussian/{figure}.png"))[1..4], b"PNG");
        assert!(folder.text(&format!("out/gaussian/{figure}.csv")).lines().count() > 10);
    }
    // The rivals stand beside ours, with their weights and times.
    let rivals = rows(&results, 2);
    for name in ["SSGD", "ML-ARL", "MaxEnt-ARL", "Linear-SARL, leakage 0.00 %"] {
        let row = rivals.iter().find(|r| r["method"] == name).unwrap_or_else(|| panic!("{name}"));
        assert!(cell(row, "target %") > 65.0 && row["seconds to fit"] != "", "{row}");
    }
    let written: Value = serde_json::from_str(&folder.text("out/gaussian/results.json")).unwrap();
    assert_eq!(written["results"], results["results"]);
    assert!(written["protocol"].as_str().unwrap().len() > 200);
}

#[test]
fn without_data_it_says_what_to_do() {
    let folder = Folder::new();
    let lines = ["adult", "german", "yaleb", "cifar100"].map(|n| format!("reproduce {n}"));
    let said: Vec<String> = lines.iter().map(|l| folder.fails(l, 3)).collect();
    assert_same("reproduce_without_data", &said.join("\n"));
    assert_eq!(folder.sarl("reproduce moon").code, Some(2));
}

#[test]
fn german_is_met() {
    let Some(data) = data() else { return };
    let results = reproduce(&Folder::new(), "german --rivals none --shuffles 20", &data);
    for row in &rows(&results, 0)[1..3] {
        assert!(cell(row, "target %") > 75.5, "{row}");
        assert!(cell(row, "Δ") < 0.5, "{row}");
    }
    let raw = &rows(&results, 0)[0];
    assert!(cell(raw, "adversary % (net-64)") > 88.0, "the control: age is told from the raw data");
}

/// No straw men: each about as good as the paper reports it.
#[test]
fn the_rivals_of_german_are_met() {
    let Some(data) = data() else { return };
    let results = reproduce(&Folder::new(), "german --shuffles 8", &data);
    let rows = rows(&results, 0);
    for name in ["LFR", "VAE", "VFAE", "ML-ARL", "MaxEnt-ARL"] {
        let of =
            |r: &&Value| r["method"].as_str().is_some_and(|m| m.split(' ').next() == Some(name));
        let row = rows.iter().find(of).unwrap_or_else(|| panic!("{name}"));
        // Two points, and as much for the noise of eight shuffles.
        assert!(cell(row, "target %") > cell(row, "paper") - 4.0, "{row}");
        assert!(row["ours at no more"].as_str().is_some_and(|c| !c.is_empty()), "{row}");
    }
    for name in ["SSGD", "LEACE", "INLP"] {
        assert!(rows.iter().any(|r| r["method"].as_str().unwrap().starts_with(name)), "{name}");
    }
}

#[test]
fn faces_are_met() {
    let Some(data) = data() else { return };
    let results = reproduce(&Folder::new(), "yaleb --rivals none --seeds 1", &data);
    let rows = rows(&results, 0);
    assert!(cell(&rows[0], "adversary %") > 90.0, "the control: light is told from raw pictures");
    for row in &rows[1..] {
        let paper: Vec<f64> =
            row["paper"].as_str().unwrap().split(" / ").map(|v| v.parse().unwrap()).collect();
        assert!(cell(row, "target %") > paper[0] - 1.0, "{row}");
        assert!(cell(row, "adversary %") < paper[1] + 1.0, "{row}");
    }
}
