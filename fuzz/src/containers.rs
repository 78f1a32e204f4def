//! Model files, moments of other machines, and the schema in a model file.
//!
//! A checksum stops nearly every mutation at the door. So the bytes are tried as they are, and
//! again with the checksum that they should have: whoever means harm would seal them too.

use std::ops::Range;

use faer::Mat;
use safetensors::SafeTensors;
use sarl::{
    Block, Erasing, FeatureMap, Fit, FitParams, Goal, Layers, Model, Moments, Oracle, Quadratic,
    Reduced,
};
use sarl_data::Schema;

/// The bytes, and the same with the right checksum where there is a place for one.
fn tried(bytes: &[u8], with: impl Fn(&[u8])) {
    with(bytes);
    if let Some(sealed) = sealed(bytes) {
        with(&sealed);
    }
}

/// The file with the checksum of what is in it; see `crates/sarl/src/container.rs`.
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = SafeTensors::deserialize(bytes).ok()?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let json = metadata.metadata().as_ref()?.get("sarl")?;
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let mut crc = crc32fast::Hasher::new();
    crc.update(json.as_bytes());
    for (name, view) in tensors.iter().filter(|(name, _)| name != "checksum") {
        crc.update(name.as_bytes());
        view.shape().iter().for_each(|&n| crc.update(&(n as u64).to_le_bytes()));
        crc.update(view.data());
    }
    let place = place(bytes, file.tensor("checksum").ok()?.data());
    let mut sealed = bytes.to_vec();
    let sum = crc.finalize().to_le_bytes();
    sealed.get_mut(place).filter(|to| to.len() == sum.len())?.copy_from_slice(&sum);
    Some(sealed)
}

/// Where a part of some bytes lies in them.
fn place(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

/// A model that is read can be used: front, encode, another goal, and written again.
pub(crate) fn model(bytes: &[u8]) {
    tried(bytes, |bytes| {
        let _ = Erasing::from_bytes(bytes).map(|erasing| {
            let again = erasing.to_bytes().expect("what was read can be written");
            Erasing::from_bytes(&again).expect("what was written can be read");
            let erasure = erasing.erasure();
            if erasing.inputs() <= 1000 {
                let x = Mat::from_fn(3, erasing.inputs(), |i, j| (i + j) as f64);
                let _ = erasure.apply(x.as_ref());
            }
        });
        let _ = Layers::from_bytes(bytes).map(|layers| {
            let again = layers.to_bytes().expect("what was read can be written");
            Layers::from_bytes(&again).expect("what was written can be read");
        });
        let _ = Oracle::from_bytes(bytes).map(|oracle| {
            let again = oracle.to_bytes().expect("what was read can be written");
            Oracle::from_bytes(&again).expect("what was written can be read");
        });
        let _ = Quadratic::from_bytes(bytes).map(|quadratic| {
            let again = quadratic.to_bytes().expect("what was read can be written");
            Quadratic::from_bytes(&again).expect("what was written can be read");
        });
        let Ok(model) = Model::from_bytes(bytes) else { return };
        let encoder = model.encoder();
        if encoder.inputs() <= 1000 {
            let x = Mat::from_fn(3, encoder.dense_inputs(), |i, j| (i + j) as f64);
            let codes = vec![vec![0; 3]; encoder.categories().len()];
            let block = codes.iter().fold(Block::new(x.as_ref()), |b, c| b.coded(c));
            if let Ok(z) = encoder.encode_block(&block) {
                let finite = (0..z.ncols()).all(|j| z.col(j).iter().all(|v| v.is_finite()));
                assert!(finite, "z of a model that was accepted is not finite");
            }
        }
        let _ = model.front().and_then(|front| front.points(3));
        let _ = model.retune(Goal::Leakage(0.1)).map(|other| {
            let bytes = other.to_bytes().expect("another goal can be written");
            Model::from_bytes(&bytes).expect("another goal can be read");
        });
        let again = model.to_bytes().expect("what was read can be written");
        Model::from_bytes(&again).expect("what was written can be read");
    });
}

/// Moments of another machine can be merged and solved, or are refused.
pub(crate) fn moments(bytes: &[u8]) {
    tried(bytes, |bytes| {
        let _ = FeatureMap::from_bytes(bytes);
        if let Ok((fit, _)) = Fit::from_bytes(FitParams::default(), bytes) {
            let _ = fit.clone().merge(&fit);
            let _ = fit.finish().and_then(|f| f.solve(Goal::Leakage(0.1)));
        }
        let Ok(moments) = Moments::from_bytes(bytes) else { return };
        let mut twice = moments.clone();
        let _ = twice.merge(&moments);
        let _ = moments.covariances().and_then(|c| Reduced::new(&c, 0.0));
        let _ = moments.splits();
        let again = moments.to_bytes().expect("what was read can be written");
        Moments::from_bytes(&again).expect("what was written can be read");
    });
}

/// The schema as a model file has it.
pub(crate) fn schema(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(schema) = Schema::from_json(text) else { return };
    let _ = schema.notes();
    if schema.width() < 10_000 {
        assert_eq!(schema.feature_names().len(), schema.width());
    }
    let again = schema.to_json().expect("what was read can be written");
    Schema::from_json(&again).expect("what was written can be read");
}
