//! The HTML report: what is in it equals what the command says and what the model does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::{Folder, all_fail, people};
use sarl::Model;
use serde_json::{Value, json};

const LABELS: &str = "-t income -s sex --drop id,weight,score";
const ROWS: usize = 600;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("people.csv", people::csv(ROWS));
    folder
}

/// The data in a report.
fn page(folder: &Folder, name: &str) -> Value {
    let html = folder.text(name);
    let data = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn bytes(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    let bytes = bytes(value);
    bytes.chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
}

#[test]
fn positions_equal_the_json_and_what_their_command_makes() {
    let folder = folder();
    let line = format!("fit people.csv {LABELS} --max-leakage 0.0123 -o m.safetensors");
    let said = folder.sarl(&format!("{line} --html r.html --json")).succeeded().json();
    let page = page(&folder, "r.html");
    let explorer = &page["explorers"][0];
    let (positions, levels) = (array(&explorer["positions"]), array(&said["levels"]));
    assert_eq!(positions.len(), levels.len());
    for (position, level) in positions.iter().zip(levels) {
        for field in ["lambda", "dim", "jy", "js", "utility", "leakage", "dual_bound", "gap"] {
            assert_eq!(position[field], level[field], "{field}");
        }
        for field in ["jy", "js", "jy_sd", "js_sd"] {
            assert_eq!(position["heldout"][field], level["heldout"][field], "{field}");
        }
    }
    let leakages: Vec<f64> = positions.iter().map(|p| number(&p["leakage"])).collect();
    assert!(leakages.is_sorted() && leakages[0].abs() < 1e-9);
    // The slider starts at the fit.
    let start = &positions[explorer["start"].as_u64().unwrap() as usize];
    for field in ["lambda", "dim", "jy", "js", "utility", "leakage", "dual_bound", "gap"] {
        assert_eq!(start[field], said[field], "{field}");
    }
    assert_eq!(start["heldout"]["jy"], said["heldout"]["jy"]);
    for position in positions.iter().step_by(positions.len() / 5) {
        let command = position["command"].as_str().unwrap();
        let line = command.strip_prefix("sarl ").unwrap();
        let made = folder.sarl(&format!("{line} --json")).succeeded().json();
        for field in ["jy", "js", "utility", "leakage"] {
            let off = number(&made[field]) - number(&position[field]);
            assert!(off.abs() < 1e-9, "{command}: {field} is off by {off:e}");
        }
    }
}

#[test]
fn rows_and_weights_are_those_of_the_model() {
    let folder = folder();
    folder
        .sarl(&format!("fit people.csv {LABELS} --lambda 0.4 -o m.safetensors --html r.html"))
        .succeeded();
    let page = page(&folder, "r.html");
    let explorer = &page["explorers"][0];
    let start = explorer["start"].as_u64().unwrap() as usize;
    folder.sarl("encode m.safetensors people.csv --keep sex -o z.csv").succeeded();
    let mut reader = csv::Reader::from_reader(folder.text("z.csv").into_bytes().leak() as &[u8]);
    let rows: Vec<(String, f64)> = reader
        .records()
        .map(|r| r.unwrap())
        .map(|r| (r[0].to_owned(), r[1].parse().unwrap()))
        .collect();
    let embedding = &explorer["embedding"];
    assert_eq!((embedding["rows"].as_u64(), rows.len()), (Some(ROWS as u64), ROWS));
    let unit = number(&embedding["unit"]);
    let z = bytes(&embedding["z"]);
    let z: Vec<f64> = z
        .chunks(2)
        .skip(2 * ROWS * start)
        .take(ROWS)
        .map(|b| unit * f64::from(i16::from_le_bytes(b.try_into().unwrap())))
        .collect();
    let along: f64 = z.iter().zip(&rows).map(|(a, (_, b))| a * b).sum();
    for (shown, (_, encoded)) in z.iter().zip(&rows) {
        assert!((shown * along.signum() - encoded).abs() <= unit, "{shown} is not {encoded}");
    }
    let sex = &embedding["labels"][0];
    assert_eq!((&sex["name"], &sex["hidden"]), (&json!("sex"), &json!(true)));
    for ((name, _), code) in rows.iter().zip(array(&sex["values"])) {
        assert_eq!(json!(name), sex["classes"][number(code) as usize]);
    }
    weights(&folder, explorer, start, along.signum());
}

/// Numbers have unit variance, so their weights are those of the model; those of one-hot columns are
/// summed, each times the standard deviation of its indicator.
fn weights(folder: &Folder, explorer: &Value, start: usize, sign: f64) {
    let model = Model::from_bytes(&folder.read("m.safetensors")).unwrap();
    let schema: Value = serde_json::from_str(&model.extra["schema"]).unwrap();
    let encoder = model.encoder();
    let table = csv::Reader::from_reader(people::csv(ROWS).into_bytes().leak() as &[u8])
        .deserialize::<std::collections::BTreeMap<String, String>>()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let shown = &explorer["weights"];
    let columns = array(&shown["columns"]);
    let [net, up, down] = ["net", "up", "down"].map(|part| {
        let all = floats(&shown[part]);
        let directions = all.len() / columns.len() / array(&explorer["positions"]).len();
        all[start * directions * columns.len()..][..columns.len()].to_vec()
    });
    let mut at = 0;
    for (i, column) in columns.iter().enumerate() {
        let name = column["name"].as_str().unwrap();
        let feature = array(&schema["features"]).iter().find(|f| f["name"] == name).unwrap();
        let inputs: Vec<f64> = match feature["values"].get("category") {
            // In the units of the table, so that its standard deviation makes it comparable.
            None => {
                let sd = feature["values"]["number"]["std"].as_f64().unwrap();
                vec![encoder.weights()[(at, 0)] * sd]
            }
            Some(category) => array(&category["values"])
                .iter()
                .enumerate()
                .map(|(k, value)| {
                    let mine =
                        |r: &&std::collections::BTreeMap<String, String>| json!(r[name]) == *value;
                    let p = table.iter().filter(mine).count() as f64 / ROWS as f64;
                    encoder.weights()[(at + k, 0)] * (p * (1.0 - p)).sqrt()
                })
                .collect(),
        };
        at += inputs.len();
        let sum = |keep: fn(f64) -> f64| inputs.iter().map(|w| keep(sign * w)).sum::<f64>();
        for (found, expected) in
            [(net[i], sum(|w| w)), (up[i], sum(|w| w.max(0.0))), (down[i], sum(|w| w.min(0.0)))]
        {
            assert!((found - expected).abs() < 1e-6, "{name}: {found} is not {expected}");
        }
    }
    assert_eq!(at, encoder.weights().nrows());
    assert!(columns.iter().any(|c| c["categories"] != json!(0)), "no column of categories");
}

#[test]
fn an_audit_is_shown_before_and_after_and_along_the_front() {
    let folder = folder();
    let line = format!("fit people.csv {LABELS} --max-leakage 0.02 -o m.safetensors");
    folder.sarl(&format!("{line} --html r.html --audit")).succeeded();
    let page = page(&folder, "r.html");
    let fronts = array(&page["explorers"][0]["fronts"]);
    let names: Vec<&str> = fronts.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Shares", "Mean squared errors", "Accuracies"]);
    let audit = &page["sections"][0];
    let panels = array(&audit["charts"][0]["figure"]["panels"]);
    assert_eq!(panels.len(), 2);
    for panel in panels {
        let kinds: Vec<&str> =
            array(&panel["marks"]).iter().map(|m| m["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["bars", "bars", "rule"]);
        assert_eq!(array(&panel["x"]["categories"]).len(), 5, "all but the large network");
        for (value, ends) in
            array(&panel["marks"][1]["values"]).iter().zip(array(&panel["marks"][1]["whiskers"]))
        {
            assert!(number(&ends[0]) <= number(value) && number(value) <= number(&ends[1]));
        }
    }
    let titles: Vec<&str> =
        array(&audit["tables"]).iter().map(|t| t["title"].as_str().unwrap()).collect();
    assert!(titles.iter().any(|t| t.starts_with("Fairness")), "{titles:?}");
}

#[test]
fn an_audit_command_has_a_report_with_its_own_numbers() {
    let folder = folder();
    folder
        .sarl(&format!("fit people.csv {LABELS} --max-leakage 0.02 -o m.safetensors"))
        .succeeded();
    let line = "audit m.safetensors people.csv --probes linear,logistic --seeds 1 --html r.html";
    let said = folder.sarl(&format!("{line} --json")).succeeded().json();
    let page = page(&folder, "r.html");
    let panels = array(&page["sections"][0]["charts"][0]["figure"]["panels"]);
    for (panel, attribute) in panels.iter().zip(["target", "sensitive"]) {
        let shown = array(&panel["marks"][1]["values"]);
        for (value, probe) in shown.iter().zip(array(&said[attribute]["probes"])) {
            assert_eq!(*value, probe["accuracy"]);
        }
    }
}

#[test]
fn a_comparison_shows_ours_and_the_others() {
    let folder = folder();
    let line = format!("compare people.csv {LABELS} --rivals leace --probes linear --seeds 1");
    let line = format!("{line} --landmarks 30 --html r.html -o out --json");
    let said = folder.sarl(&line).succeeded().json();
    let page = page(&folder, "r.html");
    let names: Vec<&Value> = array(&page["explorers"]).iter().map(|e| &e["name"]).collect();
    assert_eq!(names, [&json!("Linear-SARL"), &json!("Kernel-SARL")]);
    let table = &page["sections"][0]["tables"][0];
    assert_eq!(array(&table["rows"]).len(), array(&said["entries"]).len() + 1);
    for explorer in array(&page["explorers"]) {
        let front = &explorer["fronts"][2]["chart"]["figure"]["panels"][0];
        let leace = array(&front["marks"]).iter().find(|m| m["name"] == "LEACE").unwrap();
        let entry = array(&said["entries"]).iter().find(|e| e["method"] == "leace").unwrap();
        assert_eq!(leace["points"][0], json!([entry["worst"]["mean"], entry["target"]["mean"]]));
    }
}

/// Without covariance a class is hidden under any convex loss, a number under the squared one.
#[test]
fn no_more_is_promised_than_holds() {
    let folder = folder();
    for (hidden, any_loss) in [("sex", true), ("score:number", false), ("sex,score:number", false)]
    {
        let line = format!("front people.csv -t income -s {hidden} --features age,work,hours");
        folder.sarl(&format!("{line} --html r.html")).succeeded();
        let notes = &page(&folder, "r.html")["explorers"][0]["summary"];
        let guaranteed = array(notes).iter().find(|n| n["kind"] == "guaranteed").unwrap();
        assert_eq!(guaranteed.to_string().contains("convex"), any_loss, "{hidden}");
    }
}

#[test]
fn rows_can_be_left_out() {
    let folder = folder();
    folder.sarl(&format!("front people.csv {LABELS} --html r.html --html-rows 0")).succeeded();
    assert_eq!(page(&folder, "r.html")["explorers"][0]["embedding"], Value::Null);
    folder.sarl(&format!("front people.csv {LABELS} --html r.html --html-rows 50")).succeeded();
    assert_eq!(page(&folder, "r.html")["explorers"][0]["embedding"]["rows"], json!(50));
}

#[test]
fn the_same_run_writes_the_same_bytes() {
    let folder = folder();
    let line = format!("front people.csv {LABELS} --html r.html");
    folder.sarl(&line).succeeded();
    let first = folder.read("r.html");
    folder.sarl(&line).succeeded();
    assert!(first == folder.read("r.html"));
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = folder();
    let fit = format!("fit people.csv {LABELS} --lambda 0.5 -o m.safetensors");
    all_fail(
        &folder,
        "page_usage",
        2,
        &[
            format!("front people.csv {LABELS} --html people.csv"),
            format!("front people.csv {LABELS} --audit"),
            format!("front people.csv {LABELS} --html-rows 10"),
            format!("front people.csv {LABELS} --html r.html --html-rows 100000"),
            format!("{fit} --html m.safetensors"),
            format!("front people.csv {LABELS} --csv f --html f"),
            format!("front people.csv {LABELS} --html -"),
        ],
    );
    all_fail(
        &folder,
        "page_machine",
        4,
        &[format!("front people.csv {LABELS} --html no/such/folder/r.html")],
    );
    assert_eq!(folder.names(), ["people.csv"]);
}
