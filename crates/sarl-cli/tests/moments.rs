//! Shards: moments of each, merged, are the fit of all rows.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::Folder;
use common::people::{self, Numbers};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use serde_json::Value;

const HEADER: &str = "id,age,hours,work,city,income,sex,weight";
const LABELS: &str = "-t income -s sex --drop id,weight";

/// People with a city; income has a third class, which only the last rows have, and the first rows
/// have one class only.
fn rows(count: usize) -> Vec<String> {
    let mut numbers = Numbers::new(11);
    let row = |i: usize, numbers: &mut Numbers| {
        let (a, b) = (numbers.normal(), numbers.normal());
        let cities = ["Ulm", "Bonn", "Aachen", "Zürich", "10", "9"];
        let known = 2 + 4 * i / count;
        let city = cities[(numbers.next() * known as f64) as usize];
        let work = ["private", "public"][usize::from(numbers.next() > 0.6)];
        let income = match a + 0.5 * b + numbers.normal() > 0.3 {
            _ if i < count / 4 => "low",
            true if i > 3 * count / 4 && i.is_multiple_of(3) => "middle",
            true => "high",
            false => "low",
        };
        let sex = if b + 0.7 * numbers.normal() > 0.0 { "m" } else { "f" };
        let (age, hours) = ((40.0 + 9.0 * a).round(), 38.0 + 6.0 * b);
        let weight = 0.5 + numbers.next();
        format!("p{i},{age},{hours:.3},{work},{city},{income},{sex},{weight:.3}")
    };
    (0..count).map(|i| row(i, &mut numbers)).collect()
}

/// `all.csv` and four shards of it, with an empty one.
fn shards(count: usize) -> Folder {
    let folder = Folder::new();
    let rows = rows(count);
    folder.write("all.csv", people::table(HEADER, &rows));
    for (i, part) in rows.chunks(count.div_ceil(4)).enumerate() {
        folder.write(&format!("s{i}.csv"), people::table(HEADER, part));
    }
    folder.write("s4.csv", format!("{HEADER}\n"));
    folder
}

fn json_of(folder: &Folder, line: &str) -> Value {
    folder.sarl(&format!("{line} --json --quiet")).succeeded().json()
}

fn add_up(folder: &Folder, options: &str) {
    for i in 0..5 {
        let line = format!("moments s{i}.csv {options} -o s{i}.moments");
        assert_eq!(json_of(folder, &line)["model"], format!("s{i}.moments"));
    }
}

fn near(a: &Value, b: &Value, tolerance: f64, what: &str) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter().for_each(|(k, v)| near(v, &b[k], tolerance, &format!("{what}.{k}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter().zip(b).for_each(|(a, b)| near(a, b, tolerance, what));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} and {b}");
        }
        _ => assert_eq!(a, b, "{what}"),
    }
}

/// z of all rows, by a model.
fn encoded(folder: &Folder, model: &str) -> Vec<f64> {
    json_of(folder, &format!("encode {model} all.csv -o z.csv"));
    let text = folder.text("z.csv");
    let cells = text.lines().skip(1).flat_map(|line| line.split(','));
    cells.map(|cell| cell.parse().unwrap()).collect()
}

/// The fit of the shards, in this order, is that of the rows.
fn is_fit_of_all(folder: &Folder, options: &str, order: &str) {
    let goal = "--max-leakage 0.05";
    let whole = format!("fit all.csv {options} {goal} -o whole.safetensors");
    let merged = format!("fit --moments {order} {goal} -o merged.safetensors");
    let (mut whole, mut merged) = (json_of(folder, &whole), json_of(folder, &merged));
    for fit in [&mut whole, &mut merged] {
        fit.as_object_mut().unwrap().retain(|k, _| k != "seconds" && k != "model");
    }
    near(&merged, &whole, 1e-10, "fit");
    let (a, b) = (encoded(folder, "whole.safetensors"), encoded(folder, "merged.safetensors"));
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 1e-12 * (1.0 + size), "z is off by {off:e}");
    let schema = |model: &str| json_of(folder, &format!("info {model}"))["schema"].clone();
    near(&schema("merged.safetensors"), &schema("whole.safetensors"), 1e-12, "schema");
}

const ORDERS: [&str; 2] = [
    "s0.moments s1.moments s2.moments s3.moments s4.moments",
    "s4.moments s3.moments s1.moments s0.moments s2.moments",
];

#[test]
fn shards_are_one_fit_in_any_order() {
    let folder = shards(1200);
    let kinds = [
        "",
        "--weight weight --drop id --scale none --ridge 1e-3 --seed 3 --folds 4",
        "--criterion equalized-odds",
        "--criterion equal-opportunity --favourable middle",
        "--missing drop",
    ];
    for kind in kinds {
        let labels = if kind.contains("--drop") { "-t income -s sex" } else { LABELS };
        let options = format!("{labels} {kind}");
        add_up(&folder, &options);
        for order in ORDERS {
            is_fit_of_all(&folder, &format!("{options} --fold-by content"), order);
        }
    }
    let (bounds, front) = ("bounds --moments", "front --points 5 --moments");
    let whole = json_of(&folder, &format!("bounds all.csv {LABELS} --missing drop"));
    near(&json_of(&folder, &format!("{bounds} {}", ORDERS[1])), &whole, 1e-10, "bounds");
    let options = format!("{LABELS} --missing drop --points 5 --fold-by content");
    let whole = json_of(&folder, &format!("front all.csv {options}"));
    near(&json_of(&folder, &format!("{front} {}", ORDERS[1])), &whole, 1e-10, "front");
}

#[test]
fn folds_go_by_a_column_and_numbers_and_erasure_merge_too() {
    let folder = shards(1200);
    for options in [
        "-t income -s sex --fold-by id --drop weight",
        "-t hours,work -s sex,age:number --drop id,weight,income",
        "-t :features -s sex --drop id,weight,income",
    ] {
        add_up(&folder, options);
        let by = if options.contains("fold-by") { "" } else { "--fold-by content" };
        is_fit_of_all(&folder, &format!("{options} {by}"), ORDERS[1]);
    }
}

#[test]
fn kernels_bins_and_combinations_merge_like_the_first() {
    let folder = shards(1200);
    folder.write("mixed.csv", people::table(HEADER, &rows(1200).split_off(600)));
    let options = "--kernel rbf --landmarks 20 -t income -s age:kernel,sex*work --drop id,weight";
    json_of(&folder, &format!("moments all.csv {options} -o first.moments"));
    json_of(&folder, "moments mixed.csv --like first.moments -o second.moments");
    let fit = "fit --moments first.moments second.moments --max-leakage 0.1 -o m.safetensors";
    let fit = json_of(&folder, fit);
    assert_eq!(fit["bounds"]["n"], 1800);
    // Other landmarks, and other edges, do not merge.
    json_of(&folder, &format!("moments mixed.csv {options} -o other.moments"));
    let refused = folder.sarl("bounds --moments first.moments other.moments");
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    assert!(refused.stderr.contains("first.moments and other.moments"), "{}", refused.stderr);
    json_of(&folder, "moments all.csv -t income -s age:bins --drop id,weight -o a.moments");
    json_of(&folder, "moments mixed.csv --like a.moments -o b.moments");
    assert_eq!(json_of(&folder, "bounds --moments a.moments b.moments")["n"], 1800);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = shards(400);
    add_up(&folder, LABELS);
    let broken = folder.read("s1.moments");
    folder.write("cut.moments", &broken[..broken.len() / 2]);
    folder.write("words.csv", folder.text("s1.csv").replacen(",private,", ",7,", 0));
    let ages = folder.text("s1.csv");
    let lines: Vec<String> = ages.lines().map(|l| l.replacen(",", ",x", 1)).collect();
    folder.write("ages.csv", lines.join("\n").replacen("id,xage", "id,age", 1));
    let other = |name: &str, options: &str| {
        json_of(&folder, &format!("moments {options} -o {name}.moments"));
    };
    other("ages", &format!("ages.csv {LABELS}"));
    other("seed", &format!("s1.csv {LABELS} --seed 4"));
    other("position", &format!("s1.csv {LABELS} --fold-by position"));
    other("fewer", "s1.csv -t income -s sex --drop id,weight,age");
    let refused = [
        ("bounds --moments s0.moments cut.moments", 3, "cut.moments: "),
        ("bounds --moments s0.moments none.moments", 3, "none.moments: no such file"),
        ("bounds --moments s0.moments s1.csv", 3, "s1.csv: "),
        ("bounds --moments s0.moments ages.moments", 3, "`age` is numbers in the first"),
        ("bounds --moments s0.moments seed.moments", 3, "s0.moments and seed.moments"),
        ("bounds --moments s0.moments position.moments", 3, "--fold-by"),
        ("bounds --moments s0.moments fewer.moments", 3, "feature `age`"),
        ("bounds --moments s4.moments", 3, "no rows"),
        ("bounds --moments s0.moments", 3, "`income`"),
        ("bounds --moments s1.moments -t work", 2, "--target"),
        ("bounds --moments s1.moments --features age", 2, "--features"),
        ("bounds --moments s1.moments --folds 3", 2, "--folds"),
        ("bounds s1.csv --moments s1.moments", 2, "cannot be used with"),
        ("front --moments s1.moments --html f.html --audit", 2, "--audit needs rows"),
        ("fit --moments s1.moments --max-advantage 0.3 -o m.safetensors", 2, "needs rows"),
        ("moments s1.csv -t income -s sex --missing mean -o x.moments", 2, "--missing mean"),
        ("moments s1.csv -t income -s sex --max-categories 9 -o x.moments", 2, "--max-categories"),
        ("moments s1.csv -t income -s sex --like s0.moments -o x.moments", 2, "--like"),
        ("moments s1.csv --like s4.moments -o x.moments", 2, "no rows"),
        ("moments s1.csv -t income -s sex --fold-by nobody -o x.moments", 2, "nobody"),
    ];
    for (line, code, words) in refused {
        let run = folder.sarl(line);
        assert_eq!(run.code, Some(code), "{line}\n{}", run.stderr);
        assert!(run.stderr.contains(words), "{line}\n{}", run.stderr);
    }
    assert!(!folder.path("x.moments").exists() && !folder.path("m.safetensors").exists());
    folder.sarl("bounds --moments s1.moments -t income -s sex").succeeded();
}

#[test]
fn files_that_were_added_up_are_known_to_the_model() {
    let folder = shards(800);
    add_up(&folder, LABELS);
    let fit =
        format!("fit --moments {} --max-leakage 0.05 -o m.safetensors --html r.html", ORDERS[0]);
    folder.sarl(&fit).succeeded();
    assert!(folder.text("r.html").contains("s0.moments"));
    let audit = folder.sarl("audit m.safetensors all.csv --test s2.csv");
    assert_eq!(audit.code, Some(1), "{}", audit.stderr);
    assert!(audit.stderr.contains("was fitted on these rows"), "{}", audit.stderr);
    let info = folder.sarl("info s2.moments").succeeded();
    assert!(info.stdout.contains("moments of 200 rows") && info.stdout.contains("s2.csv"));
    let info = json_of(&folder, "info s2.moments");
    assert_eq!((&info["n"], &info["files"][0]), (&200.into(), &"s2.csv".into()));
    let twice = folder.sarl("bounds --moments s1.moments s2.moments s1.moments").succeeded();
    assert!(twice.stderr.contains("they count twice"), "{}", twice.stderr);
}

/// Ten shards of real rows, with the state as a feature, in another order.
#[test]
fn ten_shards_of_real_rows_are_one_fit() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SARL_DATA").map_or(beside, std::path::PathBuf::from);
    let Ok(file) = std::fs::File::open(root.join("acs/acs_income_2018.parquet")) else {
        eprintln!("SKIPPED: acs/acs_income_2018.parquet is not there; set SARL_DATA");
        return;
    };
    let folder = Folder::new();
    let reader = ParquetRecordBatchReader::try_new(file, 20_000).unwrap();
    let mut all = None;
    for (i, batch) in reader.take(10).enumerate() {
        let batch = batch.unwrap();
        let create = |name: &str| std::fs::File::create(folder.path(name)).unwrap();
        let writer = |name: &str| ArrowWriter::try_new(create(name), batch.schema(), None).unwrap();
        let mut shard = writer(&format!("s{i}.parquet"));
        shard.write(&batch).unwrap();
        shard.close().unwrap();
        all.get_or_insert_with(|| writer("all.parquet")).write(&batch).unwrap();
    }
    all.unwrap().close().unwrap();
    let options = "-t PINCP -s SEX --categorical OCCP --drop RAC1P";
    for i in 0..10 {
        json_of(&folder, &format!("moments s{i}.parquet {options} -o s{i}.moments"));
    }
    let goal = "--max-leakage 0.02";
    let whole = format!("fit all.parquet {options} --fold-by content {goal} -o whole.safetensors");
    let order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5].map(|i| format!("s{i}.moments")).join(" ");
    let merged = format!("fit --moments {order} {goal} -o merged.safetensors");
    let (mut whole, mut merged) = (json_of(&folder, &whole), json_of(&folder, &merged));
    for fit in [&mut whole, &mut merged] {
        fit.as_object_mut().unwrap().retain(|k, _| k != "seconds" && k != "model");
    }
    near(&merged, &whole, 1e-10, "fit");
    assert_eq!(merged["bounds"]["n"], 200_000);
    for model in ["whole", "merged"] {
        json_of(&folder, &format!("encode {model}.safetensors all.parquet -o {model}.csv"));
    }
    let z = |name: &str| -> Vec<f64> {
        let text = folder.text(name);
        text.lines().skip(1).flat_map(|l| l.split(',')).map(|c| c.parse().unwrap()).collect()
    };
    let (a, b) = (z("whole.csv"), z("merged.csv"));
    let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && off < 1e-11, "z is off by {off:e}");
}
