//! `fit --max-advantage`, `certify` and `front --certified`: what is guaranteed against every adversary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::Folder;
use serde_json::Value;

/// Income goes with skill and with sex, sex with height; deterministic.
fn people(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut text = String::from("skill,height,town,income,sex\n");
    for _ in 0..rows {
        let (sex, skill) = (uniform() > 0.0, 2.0 * uniform());
        let height = f64::from(u8::from(sex)) + uniform();
        let town = ["a", "b", "c"][((uniform() + 0.5) * 3.0) as usize % 3];
        let high = skill + 0.5 * height + 0.5 * uniform() > 0.25;
        let (income, sex) = (["low", "high"][usize::from(high)], ["f", "m"][usize::from(sex)]);
        writeln!(text, "{skill},{height},{town},{income},{sex}").unwrap();
    }
    text
}

const LABELS: &str = "-t income -s sex";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", people(6000, 1)).write("fresh.csv", people(4000, 2));
    folder
}

fn fitted() -> (Folder, Value) {
    let folder = folder();
    let line = format!("fit train.csv {LABELS} --max-advantage 0.15 -o m.st --json");
    let found = folder.sarl(&line).succeeded().json();
    (folder, found)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The cell and the sex of each row.
fn encoded(folder: &Folder, data: &str) -> Vec<(usize, String, f64)> {
    folder.sarl(&format!("encode m.st {data} --keep sex -o z.csv")).succeeded();
    let text = std::fs::read_to_string(folder.path("z.csv")).unwrap();
    assert!(text.starts_with("sex,cell,z1\n"), "{}", &text[..20]);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[1].parse().unwrap(), cells[0].to_owned(), cells[2].parse().unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn the_certificate_has_its_fields_and_meets_the_limit() {
    let (_, found) = fitted();
    assert_eq!(found["goal"]["max_advantage"], 0.15);
    let certificate = &found["certificate"];
    assert_eq!(certificate["confidence"], 0.95);
    let rows = &certificate["rows"];
    let parts = ["fit", "choose", "certify"].map(|part| rows[part].as_u64().unwrap());
    assert_eq!(parts.iter().sum::<u64>(), 6000);
    let sex = &certificate["attributes"]["sex"];
    assert_eq!(sex["groups"], 2);
    for name in ["advantage", "balanced_accuracy", "accuracy", "tv"] {
        assert!(number(&sex["observed"][name]) <= number(&sex[name]), "{name}");
    }
    assert!(
        number(&sex["advantage"]) <= 0.15 && number(&sex["accuracy"]) >= number(&sex["majority"])
    );
    // The figures follow from the counts.
    let counts: Vec<Vec<f64>> = serde_json::from_value(sex["counts"].clone()).unwrap();
    let size = |s: usize| counts.iter().map(|cell| cell[s]).sum::<f64>();
    let tv: f64 = counts.iter().map(|c| (c[0] / size(0) - c[1] / size(1)).abs()).sum::<f64>() / 2.0;
    assert!((number(&sex["observed"]["tv"]) - tv).abs() < 1e-12);
    assert!((size(0) + size(1) - parts[2] as f64).abs() < 0.5);
    // The control: more than guessing is kept of the target.
    let target = &certificate["targets"][0];
    assert!(number(&target["score"]) > number(&target["guess"]) + 0.1);
}

#[test]
fn no_adversary_on_fresh_rows_is_above_the_limit() {
    let (folder, found) = fitted();
    let sex = &found["certificate"]["attributes"]["sex"];
    // A table learnt from half of the fresh rows, by brute force the best there is, and tested on the others.
    let rows = encoded(&folder, "fresh.csv");
    let mut counts: BTreeMap<(usize, &str), [f64; 2]> = BTreeMap::new();
    for (i, (cell, sex, _)) in rows.iter().enumerate() {
        counts.entry((*cell, sex)).or_default()[i % 2] += 1.0;
    }
    let cells = rows.iter().map(|r| r.0).max().unwrap() + 1;
    let of =
        |cell: usize, sex: &str, half: usize| counts.get(&(cell, sex)).map_or(0.0, |n| n[half]);
    let size = |sex: &str, half: usize| (0..cells).map(|c| of(c, sex, half)).sum::<f64>();
    let share = |c: usize, sex: &str, half: usize| of(c, sex, half) / size(sex, half);
    let guess = |c: usize| if share(c, "m", 0) > share(c, "f", 0) { "m" } else { "f" };
    let balanced: f64 = (0..cells).map(|c| share(c, guess(c), 1)).sum::<f64>() / 2.0;
    assert!(balanced <= number(&sex["balanced_accuracy"]), "{balanced}");
    // And every attacker of the audit.
    let line = "audit m.st fresh.csv --seeds 1 --no-control --json";
    let audit = folder.sarl(line).succeeded().json();
    for probe in audit["sensitive"]["probes"].as_array().unwrap() {
        let (low, bound) = (number(&probe["balanced_accuracy"]), number(&sex["balanced_accuracy"]));
        assert!(low <= bound + 0.02, "{probe}");
    }
}

#[test]
fn fresh_rows_are_certified_and_seen_ones_are_refused() {
    let (folder, _) = fitted();
    let found = folder.sarl("certify m.st fresh.csv --json").succeeded().json();
    assert_eq!(found["n"], 4000);
    assert_eq!(found["certificate"]["rows"]["certify"], 4000);
    assert_eq!(found["certificate"]["looks"], 1);
    // By hand: Hoeffding's or the exact limit, at least what was seen.
    let sex = &found["certificate"]["attributes"]["sex"];
    assert!(number(&sex["observed"]["advantage"]) < number(&sex["advantage"]));
    let sure = folder.sarl("certify m.st fresh.csv --confidence 0.999 --json").succeeded().json();
    let surer = &sure["certificate"]["attributes"]["sex"];
    assert!(number(&surer["advantage"]) > number(&sex["advantage"]));
    assert!(folder.fails("certify m.st train.csv", 1).contains("was fitted on these rows"));
    assert!(folder.fails("audit m.st train.csv", 1).contains("chosen and certified on these rows"));
}

#[test]
fn z_is_the_centre_of_the_cell_in_every_format() {
    let (folder, found) = fitted();
    let cells = found["certificate"]["cells"].as_u64().unwrap() as usize;
    let rows = encoded(&folder, "fresh.csv");
    let mut centres: BTreeMap<usize, f64> = BTreeMap::new();
    for (cell, _, z) in &rows {
        assert!(*cell < cells);
        assert_eq!(centres.entry(*cell).or_insert(*z), z, "one z for each cell");
    }
    assert!(centres.len() > 1);
    for file in ["z.parquet", "z.arrow", "z.npy"] {
        folder.sarl(&format!("encode m.st fresh.csv -o {file}")).succeeded();
    }
    folder.fails("encode m.st fresh.csv --keep cell -o z2.csv", 2);
}

#[test]
fn the_terminal_says_what_is_guaranteed_first() {
    let folder = folder();
    let line = format!("fit train.csv {LABELS} --max-advantage 0.15 -o m.st -q");
    let said = folder.sarl(&line).succeeded().stdout;
    assert!(said.starts_with("With 95 % confidence, no adversary that sees only z"), "{said}");
    assert!(said.contains("Not covered:"));
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let info = folder.sarl("info m.st").succeeded().stdout;
    assert!(info.starts_with("With 95 % confidence"), "{info}");
    let retuned = folder.sarl("retune m.st --max-leakage 0.1 -o n.st").succeeded();
    assert!(retuned.stderr.contains("has no cells"));
    assert!(folder.fails("certify n.st fresh.csv", 1).contains("has no cells"));
}

#[test]
fn a_front_of_guarantees() {
    let folder = folder();
    let line = format!("front train.csv {LABELS} --certified --csv front.csv --json");
    let found = folder.sarl(&line).succeeded().json();
    let points = found["certified"].as_array().unwrap();
    assert!(points.len() > 3);
    let csv = std::fs::read_to_string(folder.path("front.csv")).unwrap();
    assert_eq!(csv.lines().count(), points.len() + 1);
    let looks = &points[0]["certificate"]["looks"];
    assert_eq!(looks.as_u64().unwrap() as usize, points.len(), "they hold together");
}

#[test]
fn the_same_rows_and_seed_give_the_same_model() {
    let folder = folder();
    for name in ["a.st", "b.st"] {
        let line = format!("fit train.csv {LABELS} --max-advantage 0.15 -o {name} --threads 1");
        folder.sarl(&line).succeeded();
    }
    let [a, b] = ["a.st", "b.st"].map(|name| std::fs::read(folder.path(name)).unwrap());
    assert_eq!(a, b);
}

#[test]
fn limits_of_accuracy_and_of_several_attributes() {
    let folder = folder();
    let line = format!("fit train.csv {LABELS} --max-adversary-accuracy 0.6 -o m.st --json");
    let found = folder.sarl(&line).succeeded().json();
    assert!(number(&found["certificate"]["attributes"]["sex"]["accuracy"]) <= 0.6);
    let line = "fit train.csv -t income -s sex,town --max-advantage sex=0.2 -o m.st --json";
    let found = folder.sarl(line).succeeded().json();
    let attributes = &found["certificate"]["attributes"];
    assert!(number(&attributes["sex"]["advantage"]) <= 0.2);
    assert_eq!(attributes["town"]["groups"], 3);
    let line = format!("fit train.csv {LABELS} --max-advantage 0.15 --cell-utility variance");
    let found = folder.sarl(&format!("{line} --cells 5 -o m.st --json")).succeeded().json();
    assert!((3..=5).contains(&found["certificate"]["cells"].as_u64().unwrap()), "{found}");
}

#[test]
fn what_cannot_be_guaranteed_is_refused() {
    let folder = folder();
    folder.write("few.csv", people(60, 3));
    let fit = |rest: &str| format!("fit train.csv {LABELS} {rest} -o m.st");
    for (line, words) in [
        (fit("--max-advantage 5"), "--max-advantage is 5: expected 0 to 1"),
        (fit("--max-advantage 0.1 --confidence 1"), "--confidence is 1"),
        (fit("--max-advantage 0.1 --cells 1"), "--cells is 1: expected 2 to 32"),
        (fit("--max-advantage 0.1 --weight skill"), "rows that count once"),
        (fit("--max-advantage town=0.1"), "no sensitive attribute `town`"),
        (fit("--max-leakage 0.1 --cells 4"), "--cells is for a guarantee"),
        (
            "fit train.csv -t income -s height --max-advantage 0.1 -o m.st".to_owned(),
            "needs groups",
        ),
        (
            "fit train.csv -t :features -s sex --max-advantage 0.1 -o m.st".to_owned(),
            "there is none",
        ),
    ] {
        let said = folder.fails(&line, 2).replace('\n', " ");
        assert!(said.contains(words), "{said}");
    }
    let line = format!("fit few.csv {LABELS} --max-advantage 0.01 -o m.st");
    assert!(folder.fails(&line, 1).contains("least is about"));
    assert!(!folder.path("m.st").exists());
    // A number that nothing predicts, and few rows: a front or a clear refusal, never a crash.
    for rows in [5, 20, 60] {
        let line = people(rows, 4).replace("low", "1.25").replace("high", "2.5");
        folder.write("noise.csv", line);
        let run = folder.sarl("front noise.csv -t income:number -s sex --certified");
        assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:?}");
    }
}
