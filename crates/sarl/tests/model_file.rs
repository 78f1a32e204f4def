//! A damaged, truncated, foreign or hostile file is a clear error: no panic, no other model.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{Table, Tensor, rng, sealed, synthetic};
use rand::RngExt;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sarl::{
    Error, FeatureMap, Goal, Kernel, LandmarkOptions, Model, Moments, MomentsOptions, Reduced, Role,
};
use serde_json::{Value, json};

/// A file taken apart: its description and its tensors.
struct Parts {
    description: Value,
    tensors: BTreeMap<String, Tensor>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let file = SafeTensors::deserialize(bytes).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
        let text = &metadata.metadata().as_ref().unwrap()["sarl"];
        let part = |t: TensorView<'_>| (t.dtype(), t.shape().to_vec(), t.data().to_vec());
        Parts {
            description: serde_json::from_str(text).unwrap(),
            tensors: file
                .tensors()
                .into_iter()
                .filter(|(name, _)| name != "checksum")
                .map(|(name, t)| (name, part(t)))
                .collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        sealed(self.description.to_string(), &self.tensors)
    }

    fn with_metadata(&self, metadata: HashMap<String, String>) -> Vec<u8> {
        let views = self.tensors.iter().map(|(name, (dtype, shape, data))| {
            (name.as_str(), TensorView::new(*dtype, shape.clone(), data).unwrap())
        });
        safetensors::serialize(views, Some(metadata)).unwrap()
    }

    fn set(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensors.insert(name.to_owned(), (Dtype::F64, shape.to_vec(), data));
    }
}

fn table() -> Table {
    synthetic(1, 120, 3, 2, 3)
}

fn model(map: &FeatureMap, ridge: f64, goal: Goal) -> Model {
    let table = table();
    let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    map.push(&mut moments, &table.block()).unwrap();
    let reduced = Reduced::new(&moments.covariances().unwrap(), ridge).unwrap();
    let mut model = Model::new(map, &table.layout(), &reduced, None, goal).unwrap();
    model.extra.insert("schema".into(), "{\"columns\": 3}".into());
    model
}

fn linear() -> Model {
    model(&FeatureMap::linear(3), 0.0, Goal::Lambda(0.3))
}

/// One of each kind, with and without a ridge.
fn models() -> Vec<Model> {
    let kernel = Kernel::Rbf { gamma: 0.1 };
    let options = LandmarkOptions { cap: 6, ..Default::default() };
    let landmarks = FeatureMap::landmarks(kernel, table().x(), &options).unwrap();
    let random = FeatureMap::random_features(kernel, 3, 6, 1).unwrap();
    vec![
        linear(),
        model(&landmarks, 0.0, Goal::Leakage(0.02)),
        model(&random, 0.01, Goal::Lambda(0.2)),
    ]
}

fn problem(bytes: &[u8]) -> String {
    match Model::from_bytes(bytes) {
        Err(Error::File { kind: "model", problem }) => problem,
        other => format!("not refused as a file: {:?}", other.map(|m| *m.point())),
    }
}

#[test]
fn every_truncation_is_refused() {
    for model in models() {
        let bytes = model.to_bytes().unwrap();
        for length in 0..bytes.len() {
            let found = problem(&bytes[..length]);
            let start = "the safetensors container is damaged or foreign: ";
            assert!(found.starts_with(start), "{length}: {found}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(problem(&longer).starts_with("the safetensors container is damaged or foreign: "));
    }
    let bytes = table().moments().to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(matches!(Moments::from_bytes(&bytes[..length]), Err(Error::File { .. })));
    }
}

fn damaged(bytes: &[u8], seed: u64, count: usize, mut check: impl FnMut(&[u8], usize)) {
    let mut rng = rng(seed);
    let mut bad = bytes.to_vec();
    for _ in 0..count {
        let (at, bit) = (rng.random_range(0..bytes.len()), rng.random_range(0..8));
        bad[at] ^= 1 << bit;
        check(&bad, at);
        bad[at] = bytes[at];
    }
}

/// Whatever loads has the losses that it was saved with.
#[test]
fn flipped_bits_do_not_change_the_losses() {
    for model in models() {
        let expected = model.point().losses;
        let bytes = model.to_bytes().unwrap();
        damaged(&bytes, 7, 3000, |bad, at| match Model::from_bytes(bad) {
            Err(Error::File { problem, .. }) => assert!(!problem.is_empty()),
            Err(other) => assert_eq!(other.to_string(), "an error of the file", "byte {at}"),
            Ok(loaded) => {
                let found = loaded.point().losses;
                assert!(
                    (found.jy - expected.jy).abs() < 1e-6 && (found.js - expected.js).abs() < 1e-6
                );
            }
        });
    }
    let bytes = table().moments().to_bytes().unwrap();
    damaged(&bytes, 8, 3000, |bad, _| {
        if let Ok(loaded) = Moments::from_bytes(bad)
            && let Ok(covariances) = loaded.covariances()
        {
            let _ = Reduced::new(&covariances, 0.0);
        }
    });
}

/// Whatever loads also does what the saved model did, and says of itself what that said.
#[test]
fn flipped_bits_do_not_load_as_another_model() {
    let x = table();
    let figures = |m: &Model| {
        let (p, c) = (*m.point(), m.certificate());
        let asked = format!("{:?}", m.goal()).bytes().map(f64::from).sum();
        vec![p.lambda, p.utility, p.leakage, c.dual_bound, c.gap, asked]
    };
    let mut silent: BTreeMap<String, usize> = BTreeMap::new();
    for model in models() {
        let bytes = model.to_bytes().unwrap();
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let z = model.encoder().encode(x.x()).unwrap();
        let y = model.encoder().predict(Role::Target, z.as_ref()).unwrap();
        damaged(&bytes, 9, 3000, |bad, at| {
            let Ok(loaded) = Model::from_bytes(bad) else { return };
            let place = if at < header { "the description" } else { "the tensors" };
            let mut differs = |what: &str| {
                *silent.entry(format!("{what} by a flip in {place}")).or_default() += 1;
            };
            let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
            if !figures(&loaded).iter().zip(&figures(&model)).all(|(a, b)| near(a, b)) {
                differs("figures");
            }
            if loaded.labels() != model.labels() || loaded.extra != model.extra {
                differs("labels or texts");
            }
            let encoder = loaded.encoder();
            match encoder.encode(x.x()) {
                Ok(other) if (&other - &z).norm_max() <= 1e-6 * z.norm_max() => {
                    let other = encoder.predict(Role::Target, other.as_ref()).unwrap();
                    if (&other - &y).norm_max() > 1e-6 {
                        differs("predictions");
                    }
                }
                _ => differs("encodings"),
            }
        });
    }
    assert!(silent.is_empty(), "of 9000 flips: {silent:?}");
}

fn variant(change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of(&linear().to_bytes().unwrap());
    change(&mut parts);
    problem(&parts.bytes())
}

#[test]
fn foreign_files() {
    let untouched = Parts::of(&linear().to_bytes().unwrap()).bytes();
    assert!(Model::from_bytes(&untouched).is_ok());
    let foreign = Parts::of(&untouched).with_metadata(HashMap::new());
    assert_eq!(problem(&foreign), "it is a safetensors file without a `sarl` description");
    let moments = table().moments().to_bytes().unwrap();
    assert_eq!(problem(&moments), "it holds moments, not model");
    let error = Moments::from_bytes(&untouched).unwrap_err().to_string();
    assert_eq!(error, "not a valid moments file: it holds model, not moments");
    let found = variant(|p| p.description["version"] = json!(6));
    assert_eq!(found, "it was written by a later version of sarl: use that one to read it");
    let found = variant(|p| p.description["version"] = json!(2));
    assert_eq!(found, "it was written by an earlier version of sarl: make it again");
    let metadata = HashMap::from([("sarl".to_owned(), "{".to_owned())]);
    let found = problem(&Parts::of(&untouched).with_metadata(metadata));
    assert!(found.starts_with("the description is damaged: "), "{found}");
    for text in ["", "not a model", "{\"sarl\": 1}", "PK\u{3}\u{4}........................"] {
        let found = problem(text.as_bytes());
        assert!(found.starts_with("the safetensors container is damaged or foreign: "), "{found}");
    }
}

#[test]
fn tensors_that_do_not_fit() {
    let names: Vec<String> = Parts::of(&linear().to_bytes().unwrap()).tensors.into_keys().collect();
    assert_eq!(names.len(), 15, "{names:?}");
    for name in &names {
        let found = variant(|p| drop(p.tensors.remove(name)));
        assert_eq!(found, format!("tensor `{name}` is missing"));
        let found = variant(|p| {
            let (_, shape, data) = p.tensors[name].clone();
            let half = data[..data.len() / 2].to_vec();
            p.tensors.insert(name.clone(), (Dtype::F32, shape, half));
        });
        assert_eq!(found, format!("tensor `{name}` is F32, expected F64"));
        for value in [f64::NAN, f64::INFINITY] {
            let found = variant(|p| {
                let data = &mut p.tensors.get_mut(name).unwrap().2;
                data[..8].copy_from_slice(&value.to_le_bytes());
            });
            assert_eq!(found, format!("tensor `{name}` holds values that are not finite"));
        }
        // One dimension more.
        let found = variant(|p| p.tensors.get_mut(name).unwrap().1.push(1));
        let told = found.starts_with(&format!("tensor `{name}` has shape ["));
        assert!(told && found.ends_with("dimensions"), "{found}");
        // One row less.
        let found = variant(|p| {
            let (_, shape, data) = p.tensors.get_mut(name).unwrap();
            let row = 8 * shape[1..].iter().product::<usize>();
            shape[0] -= 1;
            data.truncate(data.len() - row);
        });
        // The size t is read from `target.cross`, so another tensor may be the one to disagree.
        assert!(found.contains("has shape"), "{name}: {found}");
    }
}

/// Empty in one direction, immense in the other: no byte of data, and no end of columns.
#[test]
fn immense_tensors_without_data() {
    let whole = linear().to_bytes().unwrap();
    for name in Parts::of(&whole).tensors.into_keys() {
        for shape in [[1 << 60, 0], [0, 1 << 60], [usize::MAX / 8, 0]] {
            let mut parts = Parts::of(&whole);
            parts.set(&name, &shape, &[]);
            let bytes = parts.bytes();
            // On a thread of its own: what does not answer at once never will.
            let (send, receive) = std::sync::mpsc::channel();
            std::thread::spawn(move || send.send(problem(&bytes)));
            let found = receive.recv_timeout(std::time::Duration::from_secs(5));
            let found = found.unwrap_or_else(|e| format!("no answer: {e}"));
            assert!(found.contains("has shape"), "{name} {shape:?}: {found}");
        }
    }
}
