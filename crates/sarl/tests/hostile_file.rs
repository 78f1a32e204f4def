//! A hostile description or header: sizes that are lies, figures that are not the model's.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{sealed, synthetic};
use safetensors::tensor::{SafeTensors, TensorView};
use sarl::{Error, FeatureMap, Goal, Model, Moments, Reduced};
use serde_json::{Value, json};

fn linear() -> Model {
    let table = synthetic(1, 120, 3, 2, 3);
    let reduced = Reduced::new(&table.covariances(), 0.0).unwrap();
    let map = FeatureMap::linear(3);
    Model::new(&map, &table.layout(), &reduced, None, Goal::Lambda(0.3)).unwrap()
}

/// The file's bytes with another description.
fn described(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let text = &metadata.metadata().as_ref().unwrap()["sarl"];
    let mut description: Value = serde_json::from_str(text).unwrap();
    change(&mut description);
    let file = SafeTensors::deserialize(bytes).unwrap();
    let part = |t: TensorView<'_>| (t.dtype(), t.shape().to_vec(), t.data().to_vec());
    let tensors = file.tensors().into_iter().map(|(name, t)| (name, part(t))).collect();
    sealed(description.to_string(), &tensors)
}

fn problem(bytes: &[u8]) -> String {
    match Model::from_bytes(bytes) {
        Err(Error::File { kind: "model", problem }) => problem,
        other => format!("not refused as a file: {:?}", other.map(|m| *m.point())),
    }
}

fn variant(change: impl FnOnce(&mut Value)) -> String {
    problem(&described(&linear().to_bytes().unwrap(), change))
}

fn moments(change: impl FnOnce(&mut Value)) -> String {
    let bytes = synthetic(1, 120, 3, 2, 3).moments().to_bytes().unwrap();
    match Moments::from_bytes(&described(&bytes, change)) {
        Err(Error::File { kind: "moments", problem }) => problem,
        other => format!("not refused as a file: {:?}", other.map(|m| m.rows())),
    }
}

const HUGE: u64 = 1 << 60;

#[test]
fn sizes_that_are_lies() {
    let wide = |d: &mut Value, width: u64| {
        d["features"] = json!(width);
        d["map"] = json!({"linear": {"width": width}});
        d["inputs"]["dense"] = json!(width);
    };
    let found = variant(|d| d["features"] = json!(HUGE));
    assert_eq!(found, format!("the map has 3 features, not {HUGE}"));
    for codes in [u64::MAX, 1] {
        let found = variant(|d| d["inputs"]["categories"] = json!([codes]));
        assert_eq!(found, "its inputs do not add up");
    }
    let found = variant(|d| d["inputs"]["scaled"] = json!(true));
    assert!(found.contains("scaling.shift"), "{found}");
    let found = variant(|d| wide(d, HUGE));
    assert!(found.starts_with("`reduced.basis` has shape (3, "), "{found}");
    assert!(found.contains(&format!("for {HUGE} features")), "{found}");
    assert_eq!(variant(|d| wide(d, 0)), "the map has no inputs");
    let found = variant(|d| d["basis"] = json!(HUGE));
    assert_eq!(found, format!("a basis of {HUGE} for 3 features"));
    for classes in [HUGE, 5, u64::MAX] {
        let found = variant(|d| d["labels"][0]["kind"] = json!({"class": {"classes": classes}}));
        assert!(found.starts_with("tensor `target.cross` has shape ["), "{found}");
        assert!(found.ends_with(&format!("{classes}]")), "{found}");
    }
    let twice = json!([
        {"name": "a", "role": "target", "kind": {"class": {"classes": u64::MAX}}},
        {"name": "b", "role": "target", "kind": {"number": {"width": u64::MAX}}},
        {"name": "s", "role": "sensitive", "kind": {"class": {"classes": 3}}},
    ]);
    assert_eq!(variant(|d| d["labels"] = twice), "there is no target label");
    assert_eq!(variant(|d| d["labels"] = json!([])), "there is no target label");
    let found = variant(|d| d["map"] = json!({"landmarks": {"kernel": "rbf", "gamma": 0.1}}));
    assert_eq!(found, "tensor `map.landmarks` is missing");
    let found = variant(|d| d["map"] = json!({"landmarks": {"kernel": "rbf", "gamma": -0.1}}));
    assert_eq!(found, "the kernel is wrong: gamma is -0.1: expected a finite number above 0");
    assert_eq!(
        variant(|d| d["map"] = json!("random_features")),
        "tensor `map.frequencies` is missing"
    );
    assert_eq!(variant(|d| d["ridge"] = json!(-1.0)), "the ridge is -1");
    assert_eq!(variant(|d| d["rows"] = json!(1)), "it was fitted on no rows");
    assert_eq!(variant(|d| d["weight"] = json!(0.0)), "it was fitted on no rows");
    let found = variant(|d| d["cap"] = json!(0));
    assert_eq!(
        found,
        "the problem cannot be solved: the cap on dimensions is 0: expected at least 1"
    );
    let found = variant(|d| d["map"] = json!("cubic"));
    assert!(found.starts_with("the description is damaged: unknown variant `cubic`"), "{found}");
    let found = variant(|d| d["rows"] = json!(-3));
    assert!(found.starts_with("the description is damaged: invalid value"), "{found}");
}

#[test]
fn figures_that_are_not_the_models() {
    let text = "its stored losses are not those of its encoder";
    for name in ["jy", "js", "lambda"] {
        assert_eq!(variant(|d| d["point"][name] = json!(1.25)), text, "{name}");
    }
    assert_eq!(variant(|d| d["point"]["dim"] = json!(HUGE)), text);
    assert_eq!(variant(|d| d["bounds"]["gamma_min"] = json!(0.0)), text);
    assert_eq!(variant(|d| d["bounds"]["alpha_min"] = json!(0.0)), text);
}

/// The certificate and the shares are what people read: they are checked as the losses are.
#[test]
fn shares_certificates_and_goals_that_are_not_the_models() {
    let mut accepted = Vec::new();
    let mut check = |name: &str, change: &dyn Fn(&mut Value)| {
        let found = variant(change);
        if found.starts_with("not refused") {
            accepted.push(name.to_owned());
        }
    };
    check("leakage", &|d| d["point"]["leakage"] = json!(0.0));
    check("utility", &|d| d["point"]["utility"] = json!(1.0));
    check("gap", &|d| d["certificate"]["gap"] = json!(-1.0));
    check("dual bound", &|d| d["certificate"]["dual_bound"] = json!(7.0));
    check("goal", &|d| d["goal"] = json!({"leakage": 17.0}));
    check("gamma_max", &|d| d["bounds"]["gamma_max"] = json!(0.0));
    check("alpha_max", &|d| d["bounds"]["alpha_max"] = json!(0.0));
    check("cap under the dimensions", &|d| {
        let dim = d["point"]["dim"].as_u64().unwrap();
        d["cap"] = if dim > 1 { json!(dim - 1) } else { json!(0) };
    });
    assert!(accepted.is_empty(), "accepted: {accepted:?}");
}

#[test]
fn headers_that_are_lies() {
    let start = "the safetensors container is damaged or foreign: ";
    let bytes = linear().to_bytes().unwrap();
    for length in [0, 1, 1 << 20, 1 << 40, 1 << 60, u64::MAX] {
        let bad = [&length.to_le_bytes()[..], &bytes[8..]].concat();
        let found = problem(&bad);
        assert!(found.starts_with(start), "{length}: {found}");
    }
    let headers = [
        json!({"a": {"dtype": "F64", "shape": [HUGE], "data_offsets": [0, HUGE]}}),
        json!({"a": {"dtype": "F64", "shape": [HUGE, HUGE], "data_offsets": [0, 8]}}),
        json!({"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}),
        json!({"a": {"dtype": "F64", "shape": [1], "data_offsets": [HUGE, HUGE + 8]}}),
        json!({"a": {"dtype": "F65", "shape": [1], "data_offsets": [0, 8]}}),
        json!([1, 2, 3]),
    ];
    for header in headers {
        let text = header.to_string();
        let bad = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &[0; 8]].concat();
        let found = problem(&bad);
        assert!(found.starts_with(start), "{header}: {found}");
    }
}

#[test]
fn hostile_moments() {
    let start = "the description is wrong: ";
    let many = "more than 1048576 columns";
    assert_eq!(moments(|d| d["layout"]["dense"] = json!(HUGE)), format!("{start}{many}"));
    assert_eq!(moments(|d| d["layout"]["codes"] = json!([HUGE])), format!("{start}{many}"));
    let found = moments(|d| d["layout"]["inputs"] = json!({"kept": HUGE}));
    assert_eq!(found, format!("{start}{many}"));
    let found = moments(|d| d["layout"]["labels"][0]["kind"]["class"]["classes"] = json!(HUGE));
    assert_eq!(found, format!("{start}{many}"));
    let found = moments(|d| d["layout"]["dense"] = json!(1 << 19));
    assert_eq!(found, "tensor `shift` has shape [3], expected [524288]");
    let found = moments(|d| d["options"]["folds"] = json!(0));
    assert_eq!(found, format!("{start}folds is 0: expected 1 to 1000"));
    let found = moments(|d| d["options"]["folds"] = json!(1000));
    assert_eq!(found, "the folds do not match the options");
    let found = moments(|d| d["folds"][1] = json!([10, -1.0]));
    assert_eq!(found, "fold 1 has 10 rows of weight -1");
    let found = moments(|d| d["folds"][1] = json!([1000, 1.0]));
    assert_eq!(found, "fold 1 has 1000 rows of weight 1");
}
