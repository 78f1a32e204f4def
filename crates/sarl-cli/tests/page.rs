//! The HTML report: what is in it equals what the command says and what the model does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::{Folder, all_fail, people};
use roxmltree::{Document, Node};
use sarl::Model;
use serde_json::{Value, json};

const LABELS: &str = "-t income -s sex --drop id,weight,score";
const ROWS: usize = 600;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("people.csv", people::csv(ROWS));
    folder
}

/// What the scripts of a report have.
fn page(folder: &Folder, name: &str) -> Value {
    let html = folder.text(name);
    let data = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

/// What a reader without scripts has: well-formed, whatever the names in it.
fn read(folder: &Folder, name: &str) -> String {
    let html = folder.text(name);
    let main = html.split_once("<main id=\"main\" tabindex=\"-1\">").unwrap().1;
    format!("<main>{}</main>", main.split_once("</main>").unwrap().0)
}

fn with_id<'a>(page: &'a Document<'a>, id: &str) -> Node<'a, 'a> {
    let found = page.descendants().find(|n| n.attribute("id") == Some(id));
    found.unwrap_or_else(|| panic!("no {id}"))
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect()
}

/// A cell: its text and its exact number.
type Cell = (String, Option<f64>);

/// The tables under a node, each with its header first.
fn tables(node: Node<'_, '_>) -> Vec<Vec<Vec<Cell>>> {
    let cell =
        |n: Node<'_, '_>| (words(n), n.attribute("data-value").map(|value| value.parse().unwrap()));
    let row = |n: Node<'_, '_>| n.children().filter(|c| c.is_element()).map(cell).collect();
    let table =
        |n: Node<'_, '_>| n.descendants().filter(|r| r.has_tag_name("tr")).map(row).collect();
    node.descendants().filter(|n| n.has_tag_name("table")).map(table).collect()
}

/// What a position says under a name.
fn said<'a>(explorer: &'a Value, name: &str, position: usize) -> &'a str {
    let field = &explorer["fields"][name];
    let at = field["at"][position].as_u64().map_or(position, |at| at as usize);
    field["text"][at].as_str().unwrap_or_else(|| panic!("nothing under {name}"))
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
    let levels = array(&said["levels"]);
    assert_eq!(explorer["count"], json!(levels.len()));
    let value = |field: &str, k: usize| &explorer["fields"][field]["value"][k];
    let fields = ["lambda", "jy", "js", "utility", "leakage", "dual_bound", "gap"];
    for (k, level) in levels.iter().enumerate() {
        for field in fields {
            assert_eq!(*value(field, k), level[field], "{field}");
        }
        assert_eq!(value("dim", k).as_f64(), level["dim"].as_f64());
        for field in ["utility", "leakage"] {
            assert_eq!(*value(&format!("heldout_{field}"), k), level["heldout"][field], "{field}");
        }
    }
    let leakages: Vec<f64> = (0..levels.len()).map(|k| number(value("leakage", k))).collect();
    assert!(leakages.is_sorted() && leakages[0].abs() < 1e-9);
    // The slider starts at the fit, and so does the page.
    let start = explorer["start"].as_u64().unwrap() as usize;
    for field in fields {
        assert_eq!(*value(field, start), said[field], "{field}");
    }
    let main = read(&folder, "r.html");
    let document = Document::parse(&main).unwrap();
    let readout = with_id(&document, "readout-0");
    let shown = readout.descendants().find(|n| n.attribute("data-field") == Some("js")).unwrap();
    assert_eq!(shown.attribute("data-value").unwrap().parse::<f64>().ok(), said["js"].as_f64());
    for k in (0..levels.len()).step_by(levels.len() / 5) {
        let command = crate::said(explorer, "command", k);
        let line = command.strip_prefix("sarl ").unwrap();
        let made = folder.sarl(&format!("{line} --json")).succeeded().json();
        for field in ["jy", "js", "utility", "leakage"] {
            let off = number(&made[field]) - number(value(field, k));
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
    let embedding = &explorer["rows"];
    assert_eq!((embedding["count"].as_u64(), rows.len()), (Some(ROWS as u64), ROWS));
    let unit = number(&embedding["unit"]);
    // A position has as many directions as it has dimensions, at most two.
    let dims = array(&explorer["fields"]["dim"]["value"]);
    let before: usize = dims[..start].iter().map(|d| (number(d) as usize).min(2)).sum();
    let z: Vec<f64> = bytes(&embedding["z"])
        .chunks(2)
        .skip(before * ROWS)
        .take(ROWS)
        .map(|b| unit * f64::from(i16::from_le_bytes(b.try_into().unwrap())))
        .collect();
    let along: f64 = z.iter().zip(&rows).map(|(a, (_, b))| a * b).sum();
    for (shown, (_, encoded)) in z.iter().zip(&rows) {
        assert!((shown * along.signum() - encoded).abs() <= unit, "{shown} is not {encoded}");
    }
    let sex = &embedding["labels"][0];
    assert_eq!(sex["name"], json!("sex"));
    for ((name, _), group) in rows.iter().zip(sex["of"].as_str().unwrap().chars()) {
        assert_eq!(json!(name), sex["names"][group.to_digit(10).unwrap() as usize]);
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
        let directions = shown["directions"].as_u64().unwrap() as usize;
        all[start * directions * columns.len()..][..columns.len()].to_vec()
    });
    let mut at = 0;
    for (i, column) in columns.iter().enumerate() {
        let name = column[0].as_str().unwrap();
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
    assert!(columns.iter().any(|c| c[2] != json!(0)), "no column of categories");
}

/// An attacker, its value and its interval.
type Attacker = (String, f64, Option<(f64, f64)>);

/// Of the table behind a chart of attackers: series, value, attacker, lower and upper end.
fn attackers(table: &[Vec<Cell>], series: &str) -> Vec<Attacker> {
    listed(table, series, ["accuracy", "attacker"])
}

/// The same of a chart whose axes have these names.
fn listed(table: &[Vec<Cell>], series: &str, [value, name]: [&str; 2]) -> Vec<Attacker> {
    let header: Vec<&str> = table[0].iter().map(|c| c.0.as_str()).collect();
    assert_eq!(header, ["series", value, name, "low", "high"]);
    let mine = table.iter().filter(|row| row[0].0 == series);
    mine.map(|row| (row[2].0.clone(), row[1].1.unwrap(), row[3].1.zip(row[4].1))).collect()
}

#[test]
fn an_audit_is_shown_before_and_after_and_along_the_front() {
    let folder = folder();
    let line = format!("fit people.csv {LABELS} --max-leakage 0.02 -o m.safetensors");
    folder.sarl(&format!("{line} --html r.html --audit")).succeeded();
    let main = read(&folder, "r.html");
    let page = Document::parse(&main).unwrap();
    for (id, units) in
        [("front-0", "Shares"), ("front-0-1", "Mean squared errors"), ("front-0-2", "Accuracies")]
    {
        assert!(with_id(&page, id).has_tag_name("figure") && main.contains(units), "{units}");
    }
    let panels = tables(with_id(&page, "section-0-chart-0"));
    assert_eq!(panels.len(), 2);
    for panel in panels {
        let (raw, z) = (attackers(&panel, "raw features"), attackers(&panel, "z"));
        assert_eq!((raw.len(), z.len()), (5, 5), "all but the large network");
        for (name, value, ends) in z {
            let (low, high) = ends.unwrap_or_else(|| panic!("{name} has no interval"));
            assert!(low <= value && value <= high, "{name}");
        }
    }
    let [panel] = &tables(with_id(&page, "section-0-chart-1"))[..] else { panic!("one attribute") };
    for who in ["raw features", "z"] {
        let gaps = listed(panel, who, ["largest gap (0 is fair)", "measure"]);
        assert_eq!(gaps.len(), 3, "{who}: {gaps:?}");
        for (name, value, ends) in gaps {
            let (low, high) = ends.unwrap_or_else(|| panic!("{name} has no interval"));
            assert!(0.0 <= low && low <= value && value <= high, "{name}");
        }
    }
    let section = words(with_id(&page, "section-0"));
    assert!(section.contains("Against raw features, between groups of sex: "), "{section}");
    assert!(section.contains("Fairness between groups of sex: best predictor of income"));
    assert!(section.contains("this is about the encoder at a leakage of 2.00 %"), "{section}");
}

/// The first line names the worst attacker where there was an audit, and says who was looked at
/// where there was none; what it says follows the slider.
#[test]
fn the_verdict_says_the_worst_that_is_known() {
    let folder = folder();
    let line = format!("fit people.csv {LABELS} --max-leakage 0.01 -o m.safetensors --html r.html");
    folder.sarl(&line).succeeded();
    let explorer = &page(&folder, "r.html")["explorers"][0];
    let start = explorer["start"].as_u64().unwrap() as usize;
    let verdict = said(explorer, "verdict", start);
    assert!(verdict.ends_with("Only linear attackers were looked at: others may predict more."));
    assert_eq!(said(explorer, "state", start), "open");
    folder.sarl(&format!("{line} --audit")).succeeded();
    let explorer = &page(&folder, "r.html")["explorers"][0];
    let last = explorer["count"].as_u64().unwrap() as usize - 1;
    let all: Vec<&str> = (0..=last).map(|k| said(explorer, "verdict", k)).collect();
    assert!(all.iter().all(|v| !v.contains("Only linear attackers")), "{all:?}");
    // Where nothing is hidden attackers beat guessing, and the slider says so.
    assert!(all[last].contains("(guessing: "), "{}", all[last]);
    assert_eq!(said(explorer, "state", last), "bad");
    assert_ne!(all[0], all[last]);
    assert_ne!(said(explorer, "audit", 0), said(explorer, "audit", last));
}

#[test]
fn an_audit_command_has_a_report_with_its_own_numbers_first() {
    let folder = folder();
    folder
        .sarl(&format!("fit people.csv {LABELS} --max-leakage 0.02 -o m.safetensors"))
        .succeeded();
    let line = "audit m.safetensors people.csv --probes linear,logistic --seeds 1 --html r.html";
    let said = folder.sarl(&format!("{line} --json")).succeeded().json();
    let main = read(&folder, "r.html");
    let page = Document::parse(&main).unwrap();
    let panels = tables(with_id(&page, "section-0-chart-0"));
    for (panel, attribute) in panels.iter().zip(["target", "sensitive"]) {
        let mut shown = attackers(panel, "z");
        // The first stands at the top.
        shown.reverse();
        let probes = array(&said[attribute]["probes"]);
        assert_eq!(shown.len(), probes.len());
        for ((_, value, _), probe) in shown.iter().zip(probes) {
            assert_eq!(json!(value), probe["accuracy"]);
        }
    }
    let place = |part: &str| main.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(place("id=\"section-0\"") < place("id=\"trade-off\""));
    // It holds where the model is, and nowhere else.
    let holds = with_id(&page, "section-0").attribute("data-holds").unwrap();
    assert_eq!(holds.matches('1').count(), 1);
}

#[test]
fn a_comparison_shows_ours_and_the_others_first() {
    let folder = folder();
    let line = format!("compare people.csv {LABELS} --rivals leace --probes linear --seeds 1");
    let line = format!("{line} --landmarks 30 --html r.html -o out --json");
    let said = folder.sarl(&line).succeeded().json();
    let main = read(&folder, "r.html");
    let page = Document::parse(&main).unwrap();
    let tabs = page.descendants().filter(|n| n.attribute("role") == Some("tab"));
    assert_eq!(tabs.map(words).collect::<Vec<_>>(), ["Linear-SARL", "Kernel-SARL"]);
    let section = with_id(&page, "section-0");
    let mut listed = tables(section);
    let fairness = listed.pop().unwrap();
    assert_eq!(fairness.len(), array(&said["entries"]).len() + 1, "a header");
    let table = listed.pop().unwrap();
    assert_eq!(table.len(), array(&said["entries"]).len() + 2, "a header and guessing");
    let entry = array(&said["entries"]).iter().find(|e| e["method"] == "leace").unwrap();
    let place = [number(&entry["worst"]["mean"]), number(&entry["target"]["mean"])];
    for id in ["section-0-chart-0", "front-0-2", "front-1-2"] {
        let table = tables(with_id(&page, id)).remove(0);
        let row = table.iter().find(|row| row[0].0 == "LEACE").unwrap();
        assert_eq!([row[1].1.unwrap(), row[2].1.unwrap()], place, "{id}");
    }
    let place = |part: &str| main.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(place("class=\"verdict") < place("id=\"section-0\""));
    assert!(place("id=\"section-0\"") < place("class=\"cards\""));
}

/// Without covariance a class is hidden under any convex loss, a number under the squared one.
#[test]
fn no_more_is_promised_than_holds() {
    let folder = folder();
    for (hidden, any_loss) in [("sex", true), ("score:number", false), ("sex,score:number", false)]
    {
        let line = format!("front people.csv -t income -s {hidden} --features age,work,hours");
        folder.sarl(&format!("{line} --html r.html")).succeeded();
        let main = read(&folder, "r.html");
        let page = Document::parse(&main).unwrap();
        let guaranteed =
            page.descendants().find(|n| n.attribute("class") == Some("note-card guaranteed"));
        assert_eq!(words(guaranteed.unwrap()).contains("convex"), any_loss, "{hidden}");
    }
}

#[test]
fn rows_can_be_left_out() {
    let folder = folder();
    folder.sarl(&format!("front people.csv {LABELS} --html r.html --html-rows 0")).succeeded();
    assert_eq!(page(&folder, "r.html")["explorers"][0]["rows"], Value::Null);
    folder.sarl(&format!("front people.csv {LABELS} --html r.html --html-rows 50")).succeeded();
    assert_eq!(page(&folder, "r.html")["explorers"][0]["rows"]["count"], json!(50));
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

#[test]
fn a_page_of_guarantees_says_what_the_json_says() {
    let folder = Folder::new();
    folder.write("people.csv", people::csv(4000));
    let goal = "--max-advantage 0.4 -o m.safetensors --html r.html --json";
    let said = folder.sarl(&format!("fit people.csv {LABELS} {goal}")).succeeded().json();
    let main = read(&folder, "r.html");
    let page = Document::parse(&main).unwrap();
    let points = array(&said["certified"]);
    let fitted = points.iter().position(|p| p["fitted"] == json!(true)).unwrap();
    assert_eq!(points[fitted]["certificate"], said["certificate"]);
    let start = with_id(&page, "steps-slider").attribute("value").map(str::to_owned);
    assert_eq!(start, Some(fitted.to_string()));
    let sure = number(&said["certificate"]["attributes"]["sex"]["balanced_accuracy"]);
    let verdict = words(with_id(&page, "verdict")).replace('\u{202f}', " ");
    assert!(verdict.contains(&format!("more than {:.2} % balanced", 100.0 * sure)), "{verdict}");
    for (k, point) in points.iter().enumerate() {
        let counts = array(&point["certificate"]["attributes"]["sex"]["counts"]);
        let size = |group: usize| counts.iter().map(|c| number(&c[group])).sum::<f64>();
        let table = tables(with_id(&page, &format!("steps-frame-{k}-chart-0"))).remove(0);
        assert_eq!(table.len(), counts.len() + 1);
        for (row, cell) in table[1..].iter().zip(counts) {
            for group in 0..2 {
                let share = number(&cell[group]) / size(group);
                assert!((row[1 + group].1.unwrap() - share).abs() < 1e-12);
            }
        }
    }
}
