//! Everything that people get wrong: the exit code, what they are told, and that nothing is left.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::people::{self, ROWS, with_cell, with_column};
use common::{FIT, Folder, all_fail, files};

const LABELS: &str = "-t income -s sex --drop id,weight";
const OUT: &str = "--lambda 0.5 -o m.safetensors";

fn fit(file: &str) -> String {
    format!("fit {file} {FIT} -o m.safetensors")
}

#[test]
fn wrong_arguments() {
    let folder = Folder::with_people();
    all_fail(
        &folder,
        "bad_arguments",
        2,
        &[
            "",
            "fitt people.csv",
            "fit people.csv -t income -s sex -o m.safetensors",
            "fit people.csv -t income -s sex --lambda 0.5 --alpha 0.3 -o m.safetensors",
            "fit people.csv -t income -s sex --lambda 0.5",
            "fit people.csv -t income -s sex --lambda half -o m.safetensors",
            "bounds",
            "bounds people.csv -t income -s sex --kernel gaussian",
            "bounds people.csv -t income -s sex --gamma wide",
            "bounds people.csv -t income -s sex --folds 0",
            "front people.csv -t income -s sex --points 1",
            "completions tcsh",
            "data get mnist",
        ],
    );
}

#[test]
fn goals_out_of_range() {
    let folder = Folder::with_people();
    let line = |goal: &str| format!("fit people.csv {LABELS} {goal} -o m.safetensors");
    let goals =
        ["--lambda 1.5", "--lambda=-0.1", "--lambda nan", "--max-leakage 2", "--min-utility=-1"];
    let lines = goals.map(line);
    all_fail(&folder, "bad_goals", 2, &lines);
}

#[test]
fn wrong_columns() {
    let folder = Folder::with_people();
    all_fail(
        &folder,
        "bad_columns",
        2,
        &[
            &format!("fit people.csv {OUT}"),
            &format!("fit people.csv -t income {OUT}"),
            &format!("fit people.csv -t incme -s sex {OUT}"),
            &format!("fit people.csv -t zzzzzzzzz -s sex {OUT}"),
            &format!("fit people.csv -t income -s income {OUT}"),
            &format!("fit people.csv -t income,:features -s sex {OUT}"),
            &format!("fit people.csv -t income -s sex --drop ag {OUT}"),
            &format!("fit people.csv -t income -s sex --weight wieght {OUT}"),
            &format!("fit people.csv -t , -s sex {OUT}"),
        ],
    );
}

#[test]
fn wrong_combinations() {
    let folder = Folder::with_model();
    all_fail(
        &folder,
        "bad_combinations",
        2,
        &[
            &format!("fit people.csv {LABELS} --kernel polynomial --approx random-features {OUT}"),
            &format!("fit people.csv {LABELS} --approx exact {OUT}"),
            &format!("fit people.csv {LABELS} --kernel rbf --tolerance 2 {OUT}"),
            &format!("fit people.csv {LABELS} --kernel rbf --gamma=-1 {OUT}"),
            &format!("fit people.csv {LABELS} --ridge=-1 {OUT}"),
            "encode model.safetensors people.csv --json -o -",
            "encode model.safetensors people.csv -o z.xlsx",
            "encode model.safetensors people.csv -o z",
            "encode model.safetensors people.csv --keep idd -o z.csv",
            "encode model.safetensors people.csv --keep id -o z.npy",
        ],
    );
}

#[test]
fn files_that_are_no_data() {
    let folder = Folder::with_people();
    std::fs::create_dir(folder.path("nothing")).unwrap();
    let junk: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    folder.write("empty.csv", "").write("header.csv", "age,income,sex\n");
    folder.write("junk.csv", &junk).write("junk.parquet", &junk).write("notes.doc", "hello");
    folder.write("blank.csv", "\n\n\n");
    folder.write("empty.parquet", "").write("empty.npz", "").write("junk.safetensors", &junk);
    let names = [
        "nowhere.csv",
        "nothing",
        "empty.csv",
        "empty.parquet",
        "empty.npz",
        "blank.csv",
        "header.csv",
        "junk.csv",
        "junk.parquet",
        "junk.safetensors",
    ];
    let lines = names.map(|n| format!("fit {n} -t income -s sex {OUT}"));
    all_fail(&folder, "bad_files", 3, &lines);
    all_fail(&folder, "bad_extension", 2, &[&fit("notes.doc")]);
}

#[test]
fn truncated_files() {
    let folder = Folder::with_people();
    let m = files::matrix(3000);
    files::gz(&folder.path("whole.csv.gz"), m.csv().as_bytes());
    files::parquet(&folder.path("whole.parquet"), &m.batch());
    files::arrow(&folder.path("whole.arrow"), &m.batch());
    files::matrix_npz(&folder.path("whole.npz"), &m);
    files::matrix_safetensors(&folder.path("whole.safetensors"), &m);
    let kinds = ["csv.gz", "parquet", "arrow", "npz", "safetensors"];
    let lines = kinds.map(|kind| {
        let whole = folder.read(&format!("whole.{kind}"));
        folder.write(&format!("half.{kind}"), &whole[..whole.len() / 2]);
        format!("fit half.{kind} -t y -s s {OUT}")
    });
    all_fail(&folder, "bad_truncated", 3, &lines);
}

#[test]
fn bad_cells() {
    let folder = Folder::with_people();
    folder.write("ragged.csv", people::csv(50) + "p50,40,38.0,self\n" + &people::rows(60)[51]);
    folder.write("word.csv", with_cell(150, "hours", "many"));
    folder.write("infinite.csv", with_cell(17, "hours", "inf"));
    folder.write("huge.csv", with_cell(18, "hours", "1e300"));
    folder.write("gap.csv", with_cell(5, "hours", ""));
    folder.write("gaps.csv", with_column("hours", "NA").replacen("NA", "38.5", 3));
    folder.write("nothing.csv", with_column("hours", "?"));
    folder.write("label.csv", with_cell(9, "sex", ""));
    folder.write("one.csv", with_column("sex", "f"));
    folder.write("same.csv", with_column("score", "1.5"));
    folder.write("owing.csv", with_cell(33, "weight", "-1"));
    folder.write("weightless.csv", with_column("weight", "0.0"));
    let mut lines: Vec<String> =
        ["ragged", "word", "infinite", "huge", "gap", "gaps", "nothing", "label", "one"]
            .map(|name| fit(&format!("{name}.csv")))
            .to_vec();
    lines.push(format!("fit same.csv -t score -s sex --drop id,income,weight {OUT}"));
    for name in ["owing", "weightless"] {
        lines.push(format!("fit {name}.csv -t income -s sex --drop id --weight weight {OUT}"));
    }
    lines.push(format!("fit word.csv {LABELS} --missing drop {OUT}"));
    lines.push(format!("fit nothing.csv {LABELS} --missing drop {OUT}"));
    lines.push(format!("fit nothing.csv {LABELS} --missing mean {OUT}"));
    lines.push(format!("fit people.csv -t income:number -s sex --drop id {OUT}"));
    all_fail(&folder, "bad_cells", 3, &lines);
}

#[test]
fn files_that_do_not_fit_together() {
    let folder = Folder::with_people();
    folder.write("fewer.csv", "id,age,income,sex\np1,40,high,m\np2,41,low,f\n");
    folder.write("typed.csv", with_column("hours", "full"));
    let with = |other: &str| format!("fit people.csv {other} {FIT} -o m.safetensors");
    all_fail(
        &folder,
        "bad_sets",
        3,
        &[&with("fewer.csv"), &with("typed.csv"), &with("nowhere.csv")],
    );
}

#[test]
fn arrays() {
    let folder = Folder::new();
    let m = files::matrix(20);
    let x = files::npy(&[20, 4], m.x.as_flattened());
    let (y, s) = (files::npy(&[20], &m.y), files::npy(&[20], &m.s));
    files::npz(
        &folder.path("no_x.npz"),
        &[("data", x.clone()), ("y", y.clone()), ("s", s.clone())],
    );
    files::npz(
        &folder.path("pickled.npz"),
        &[("X", files::pickled(20)), ("y", y.clone()), ("s", s.clone())],
    );
    files::npz(
        &folder.path("short.npz"),
        &[("X", x.clone()), ("y", files::npy(&[19], &m.y[..19])), ("s", s.clone())],
    );
    let cube = files::npy(&[5, 4, 4], m.x.as_flattened());
    files::npz(&folder.path("cube.npz"), &[("X", cube), ("y", y), ("s", s)]);
    let lines = ["no_x", "pickled", "short", "cube"].map(|n| format!("fit {n}.npz {OUT}"));
    all_fail(&folder, "bad_arrays", 3, &lines);
    files::npz(&folder.path("only_x.npz"), &[("X", x)]);
    all_fail(&folder, "bad_arrays_usage", 2, &[&format!("fit only_x.npz {OUT}")]);
}

#[test]
fn goals_out_of_reach() {
    let folder = Folder::with_people();
    let fit = |goal: &str| format!("fit people.csv {LABELS} {goal} -o m.safetensors");
    folder.sarl(&format!("fit people.csv {LABELS} {OUT}")).succeeded();
    all_fail(
        &folder,
        "unreachable",
        1,
        &[
            &fit("--alpha 0.9"),
            &fit("--ridge 100 --min-utility 0.999"),
            "retune m.safetensors --alpha 0.9 -o other.safetensors",
        ],
    );
}

#[test]
fn nothing_is_left_in_an_unwritable_place() {
    let folder = Folder::with_model();
    folder.write("file", "");
    std::fs::create_dir(folder.path("folder.safetensors")).unwrap();
    all_fail(
        &folder,
        "unwritable",
        4,
        &[
            &format!("fit people.csv {FIT} -o nowhere/m.safetensors"),
            &format!("fit people.csv {FIT} -o file/m.safetensors"),
            &format!("fit people.csv {FIT} -o folder.safetensors"),
            "retune model.safetensors --lambda 0.5 -o nowhere/m.safetensors",
            "encode model.safetensors people.csv -o nowhere/z.parquet",
            &format!("front people.csv {LABELS} --csv nowhere/front.csv"),
            "demo -o file",
            "man file",
        ],
    );
    assert_eq!(folder.text("people.csv"), people::csv(ROWS), "the input is as it was");
}
