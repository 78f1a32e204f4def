//! Columns as they come: `inspect`, and fits and encodings of tables that nobody has cleaned.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::time::Instant;

use common::{Folder, assert_same, compas, people};
use serde_json::{Value, json};

const LABELS: &str = "-t two_year_recid -s race,age";

fn column<'a>(inspected: &'a Value, name: &str) -> &'a Value {
    let columns = inspected["columns"].as_array().unwrap();
    columns.iter().find(|c| c["name"] == name).unwrap()
}

#[test]
fn a_table_as_it_was_downloaded() {
    let folder = Folder::new();
    folder.write("compas.csv", compas::csv());
    let start = Instant::now();
    let inspected = folder.sarl(&format!("inspect compas.csv {LABELS} --json")).succeeded().json();
    let goal = "--max-leakage 0.05 -o m.safetensors";
    let said = folder.fails(&format!("fit compas.csv {LABELS} {goal}"), 3);
    let seconds = start.elapsed().as_secs();
    assert!(seconds < 20, "{seconds} s");
    assert_same("compas_refused", &said);
    assert_eq!(inspected["rows"], compas::ROWS);
    assert_eq!(inspected["columns"].as_array().unwrap().len(), 53);
    assert_eq!(inspected["add"], format!("--drop {} --missing mean", compas::USELESS));
    let kind = |name: &str| column(&inspected, name)["kind"].clone();
    assert_eq!(kind("c_case_number"), "identifier");
    assert_eq!(kind("c_jail_in"), "date");
    assert_eq!(kind("c_charge_desc"), "category");
    assert_eq!(kind("age"), "number");
    assert_eq!(column(&inspected, "priors_count.1")["values"], 38);
    let memory = inspected["memory_bytes"].as_u64().unwrap();
    assert!(memory < 1 << 30, "{memory}");
    // What inspect advises is what a fit needs.
    let add = inspected["add"].as_str().unwrap();
    let fit = folder.sarl(&format!("fit compas.csv {LABELS} {add} {goal}")).succeeded();
    for said in [
        "`decile_score.1`, `priors_count.1`",
        "read as days since 1970",
        "`age`: ",
        "cells were filled in",
        "`id`: whole numbers that rise",
    ] {
        assert!(fit.stderr.contains(said), "{said}: {}", fit.stderr);
    }
    folder.sarl("encode m.safetensors compas.csv -o z.npy").succeeded();
}

#[test]
fn pooled_text_is_learned_from() {
    let folder = Folder::new();
    folder.write("compas.csv", compas::csv());
    let options = format!("{LABELS} --drop violent_recid --missing mean --max-categories 10");
    let fit = format!("fit compas.csv {options} --lambda 0.5 -o m.safetensors");
    let said = folder.sarl(&fit).succeeded().stderr;
    assert!(said.contains("the 9 most frequent values, all others as one"), "{said}");
    let info = folder.sarl("info m.safetensors --json").succeeded().json();
    let features = info["schema"]["features"].as_array().unwrap();
    let name = features.iter().find(|f| f["name"] == "name").unwrap();
    let values = name["values"]["category"]["values"].as_array().unwrap();
    assert_eq!((values.len(), &values[9]), (10, &json!("other")));
    // Names that nobody has met are among the others.
    let new = compas::csv().replace(",f1", ",new f1");
    folder.write("new.csv", new);
    let encoded = folder.sarl("encode m.safetensors new.csv -o z.csv --json").succeeded().json();
    assert_eq!((&encoded["rows"], &encoded["dropped"]), (&json!(compas::ROWS), &json!(0)));
}

#[test]
fn inspect_for_people() {
    let folder = Folder::with_people();
    folder.write("messy.csv", messy());
    let lines = ["inspect people.csv -t income -s sex --weight weight", "inspect messy.csv -s age"];
    let said = lines.map(|line| folder.sarl(line).succeeded().transcript());
    assert!(said.iter().flat_map(|s| s.lines()).all(|line| line.chars().count() <= 80));
    assert_same("inspect", &said.join("\n"));
    folder.fails("inspect people.csv -t nobody", 2);
}

fn messy() -> String {
    let line = |i: usize| {
        let rate = ["12 %", "5%", "N/A"][i % 3];
        let name = if i.is_multiple_of(2) { "a" } else { "-" };
        format!(
            "{i},\"${},500\",{rate},{:02}/{:02}/2013,{name},p{i},{}",
            i % 9 + 1,
            i % 12 + 1,
            i % 28 + 1,
            20 + i % 50
        )
    };
    let lines: Vec<String> = (0..150).map(line).collect();
    people::table("row,fee,rate,when,mark,person,age", &lines)
}

/// The file of the fit can always be encoded, row by row.
#[test]
fn the_file_that_was_fitted_can_be_encoded() {
    let folder = Folder::new();
    let cell = |i: usize| match i {
        3 => (String::new(), "blue", "u"),
        // Colours of rows without a number or without a label.
        4 => (String::new(), "green", "v"),
        5 => ("5".to_owned(), "black", ""),
        _ => ((i * i % 17).to_string(), ["red", "blue"][i % 2], ["u", "v"][i / 2 % 2]),
    };
    let line = |i: usize| {
        let (number, colour, y) = cell(i);
        format!("{number},{colour},{y},{}", ["p", "q"][i / 3 % 2])
    };
    let lines: Vec<String> = (0..60).map(line).collect();
    folder.write("gaps.csv", people::table("n,colour,y,s", &lines));
    let fit = |policy: &str| {
        let line =
            format!("fit gaps.csv -t y -s s --missing {policy} --lambda 0.5 -o m.safetensors");
        folder.sarl(&line).succeeded()
    };
    let encode = |more: &str| {
        let run = folder.sarl(&format!("encode m.safetensors gaps.csv -o z.csv {more} --json"));
        let facts = run.succeeded().json();
        let z: Vec<String> = folder.text("z.csv").lines().skip(1).map(str::to_owned).collect();
        (facts["rows"].clone(), facts["dropped"].clone(), z)
    };
    fit("drop");
    let (rows, dropped, z) = encode("");
    assert_eq!((rows, dropped, z.len()), (json!(60), json!(2), 60));
    let empty: Vec<usize> =
        (0..60).filter(|i| z[*i].split(',').all(|c| c.is_empty() || c == "\"\"")).collect();
    assert_eq!(empty, [3, 4]);
    // Rows that were learned from have the same z, whatever stands between them.
    let whole: Vec<&String> =
        lines.iter().enumerate().filter(|(i, _)| !(3..=5).contains(i)).map(|(_, l)| l).collect();
    folder.write("whole.csv", people::table("n,colour,y,s", &whole));
    folder.sarl("encode m.safetensors whole.csv -o w.csv").succeeded();
    let w: Vec<String> = folder.text("w.csv").lines().skip(1).map(str::to_owned).collect();
    assert_eq!(w[3..], z[6..]);
    let (_, dropped, _) = encode("--missing mean");
    assert_eq!(dropped, json!(0));
    let filled = fit("mean");
    assert!(
        filled.stderr.contains("2 missing cells were filled in: 2 of `n` with the mean"),
        "{}",
        filled.stderr
    );
    let (rows, dropped, _) = encode("");
    assert_eq!((rows, dropped), (json!(60), json!(0)));
}

#[test]
fn columns_of_a_model() {
    let folder = Folder::new();
    folder.write("messy.csv", messy());
    let options = "-t age -s mark --drop person,row,when --missing mean";
    let fit =
        folder.sarl(&format!("fit messy.csv {options} --lambda 0.5 -o m.safetensors")).succeeded();
    let info = folder.sarl("info m.safetensors").succeeded();
    for (name, kind) in [("fee", "text-number"), ("rate", "text-number")] {
        let line = info.stdout.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
        assert!(line.contains(kind), "{line}");
    }
    for note in ["12 % is 12", "1,234.5 is 1234.5", "50 different whole numbers, taken as a number"]
    {
        assert!(info.stdout.contains(note) && fit.stderr.contains(note), "{note}\n{}", info.stdout);
    }
}

#[test]
fn cells_that_stand_for_a_gap() {
    let folder = Folder::new();
    let line = |i: usize| {
        let a = if i.is_multiple_of(5) { "-999".to_owned() } else { (i * i % 13).to_string() };
        let b = ["unknown", "x", "y"][i % 3];
        format!("{a}|{b}|{}|{}", i % 2, i / 2 % 2)
    };
    let lines: Vec<String> = (0..90).map(line).collect();
    folder.write("bars.txt", people::table("a|b|y|s", &lines));
    let tokens = "--missing-values -999,unknown";
    let inspected = folder.sarl(&format!("inspect bars.txt {tokens} --json")).succeeded().json();
    let missing = |name: &str| column(&inspected, name)["missing"].clone();
    assert_eq!((missing("a"), missing("b"), missing("y")), (json!(18), json!(30), json!(0)));
    let fit =
        format!("fit bars.txt -t y -s s {tokens} --missing drop --lambda 0.5 -o m.safetensors");
    folder.sarl(&fit).succeeded();
    // The model knows them without being told again.
    let encoded = folder.sarl("encode m.safetensors bars.txt -o z.csv --json").succeeded().json();
    assert_eq!((&encoded["rows"], &encoded["dropped"]), (&json!(90), &json!(42)));
}
