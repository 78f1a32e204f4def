//! Erasures of the layers of a network, in one file.
//!
//! Each layer has tensors under its name: `NAME/mean`, `NAME/found` (inputs × directions) and
//! `NAME/taken` (directions × inputs), with
//!
//! ```text
//! x̂ = x − takenᵀ foundᵀ (x − mean)        taken found = I
//! ```
//!
//! so that any reader of safetensors can erase. That the directions are taken off once and whole is
//! checked when a file is read. Leakages are those that the fit has found: a file does not have the
//! covariances that they come from.
//!
//! ```
//! use sarl::{Layer, Layers};
//! let (found, taken) = (faer::mat![[1.0], [0.0]], faer::mat![[1.0, 0.5]]);
//! let layer = Layer::new("block.0", vec![1.0, 2.0], found, taken)?;
//! let layers = Layers::from_bytes(&Layers::new("parallel", vec![layer])?.to_bytes()?)?;
//! assert_eq!(layers.layers()[0].directions(), 1);
//! # Ok::<(), sarl::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::erasure::Erasure;
use crate::container::{Reader, Writer};
use crate::{Error, Result};

const KIND: &str = "scrubber";
const VERSION: u32 = 1;

/// How far `taken found` may be from the identity.
const AGREE: f64 = 1e-6;

/// Erasures of layers in the order in which a row meets them.
#[derive(Clone, Debug)]
pub struct Layers {
    order: String,
    layers: Vec<Layer>,
    extra: BTreeMap<String, String>,
}

/// The erasure of a layer.
#[derive(Clone, Debug)]
pub struct Layer {
    erasure: Erasure,
    about: LayerAbout,
}

/// What the fit has found at a layer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LayerAbout {
    /// What the network calls it.
    pub name: String,
    /// `output` or `input`: on which side of the layer rows are erased.
    pub at: String,
    /// Rows of the fit.
    pub rows: u64,
    /// What was hidden.
    pub concepts: Vec<Concept>,
}

/// What was hidden at a layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Concept {
    /// What it is called.
    pub name: String,
    /// The share of its variance that a linear adversary may explain; none where it has no limit.
    pub limit: Option<f64>,
    /// The share that it explains on the rows of the fit.
    pub leakage: f64,
    /// The share on rows that were not fitted on; none without folds.
    pub heldout: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Description {
    order: String,
    layers: Vec<LayerAbout>,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Layer {
    /// Of the matrices of an erasure: see the module.
    pub fn new(name: &str, mean: Vec<f64>, found: Mat<f64>, taken: Mat<f64>) -> Result<Self> {
        let about = LayerAbout { name: name.to_owned(), at: "output".into(), ..Default::default() };
        let erasure = Erasure { mean, found, taken };
        if let Some(problem) = unsound(&erasure) {
            return Err(failed(format!("layer `{name}`: {problem}")));
        }
        Ok(Layer { erasure, about })
    }

    /// The same with what is known of it, but for its name.
    pub fn described(mut self, about: LayerAbout) -> Self {
        let name = std::mem::take(&mut self.about.name);
        self.about = LayerAbout { name, ..about };
        self
    }

    /// What the fit has found.
    pub fn about(&self) -> &LayerAbout {
        &self.about
    }

    /// The erasure itself.
    pub fn erasure(&self) -> &Erasure {
        &self.erasure
    }

    /// The length of a row.
    pub fn width(&self) -> usize {
        self.erasure.mean.len()
    }

    /// How many directions go.
    pub fn directions(&self) -> usize {
        self.erasure.found.ncols()
    }
}

impl Layers {
    /// Those of layers that were fitted in some order.
    pub fn new(order: &str, layers: Vec<Layer>) -> Result<Self> {
        let new = Layers { order: order.to_owned(), layers, extra: BTreeMap::new() };
        match new.problem() {
            None => Ok(new),
            Some(problem) => Err(failed(problem)),
        }
    }

    /// In which order layers were fitted: `sequential`, `sequential-approximate` or `parallel`.
    pub fn order(&self) -> &str {
        &self.order
    }

    /// The layers.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Texts of the caller's, carried along.
    pub fn extra(&self) -> &BTreeMap<String, String> {
        &self.extra
    }

    /// The same with other texts.
    pub fn with_extra(mut self, extra: BTreeMap<String, String>) -> Self {
        self.extra = extra;
        self
    }

    fn problem(&self) -> Option<String> {
        let mut names = BTreeSet::new();
        let about = || self.layers.iter().map(|l| &l.about);
        if let Some(twice) = about().find(|a| !names.insert(a.name.as_str())) {
            return Some(format!("layer `{}` comes twice", twice.name));
        }
        let side = |a: &&LayerAbout| a.at != "output" && a.at != "input";
        if let Some(wrong) = about().find(side) {
            return Some(format!("layer `{}` is erased at its `{}`", wrong.name, wrong.at));
        }
        let sound = |c: &Concept| {
            let figures = [Some(c.leakage), c.limit, c.heldout];
            figures.into_iter().flatten().all(f64::is_finite)
        };
        let wrong = about().find(|a| !a.concepts.iter().all(sound));
        wrong.map(|a| format!("layer `{}` has figures that are not finite", a.name))
    }

    /// The bytes of a file. The same layers are the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        for Layer { erasure, about } in &self.layers {
            writer.vector(&format!("{}/mean", about.name), &erasure.mean);
            writer.matrix(&format!("{}/found", about.name), erasure.found.as_ref());
            writer.matrix(&format!("{}/taken", about.name), erasure.taken.as_ref());
        }
        let layers = self.layers.iter().map(|l| l.about.clone()).collect();
        let (order, extra) = (self.order.clone(), self.extra.clone());
        writer.finish(KIND, VERSION, &Description { order, layers, extra })
    }

    /// The inverse of [`Layers::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, about): (_, Description) = Reader::open(bytes, KIND, VERSION..=VERSION)?;
        let layer = |about: LayerAbout| {
            let found = reader.any_matrix(&format!("{}/found", about.name))?;
            let (inputs, directions) = found.shape();
            let mean = reader.vector(&format!("{}/mean", about.name), inputs)?;
            let taken = reader.matrix(&format!("{}/taken", about.name), directions, inputs)?;
            let name = about.name.clone();
            Ok(Layer::new(&name, mean, found, taken)?.described(about))
        };
        let layers = about.layers.into_iter().map(layer).collect::<Result<_>>()?;
        Ok(Layers::new(&about.order, layers)?.with_extra(about.extra))
    }

    /// Whether a file says that it is one of these.
    pub fn is_file(bytes: &[u8]) -> bool {
        Reader::is_of_kind(bytes, KIND)
    }
}

fn failed(problem: String) -> Error {
    Error::File { kind: KIND, problem }
}

/// What is wrong with the matrices of an erasure.
fn unsound(Erasure { mean, found, taken }: &Erasure) -> Option<String> {
    let (inputs, directions) = found.shape();
    if inputs == 0 || mean.len() != inputs || taken.shape() != (directions, inputs) {
        return Some("its sizes do not fit each other".into());
    }
    let numbers = mean.iter().copied().chain(found.col_iter().flat_map(|c| c.iter().copied()));
    let mut numbers = numbers.chain(taken.col_iter().flat_map(|c| c.iter().copied()));
    if !numbers.all(f64::is_finite) {
        return Some("it holds values that are not finite".into());
    }
    let off = (taken * found - Mat::<f64>::identity(directions, directions)).norm_max();
    (off > AGREE).then(|| "what it takes off is not what it finds".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    fn layer(name: &str) -> Layer {
        let found = faer::mat![[1.0, 0.0], [0.0, 2.0], [0.5, -1.0]];
        let taken = faer::mat![[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]];
        Layer::new(name, vec![1.0, -2.0, 3.0], found, taken).unwrap()
    }

    fn about() -> LayerAbout {
        let concepts = vec![Concept {
            name: "gender".into(),
            limit: Some(0.0),
            leakage: 1e-17,
            heldout: Some(0.01),
        }];
        LayerAbout { name: "other".into(), at: "input".into(), rows: 7, concepts }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let layers = vec![layer("h.0"), layer("h.1").described(about())];
        let layers = Layers::new("sequential", layers).unwrap();
        let bytes = layers.to_bytes().unwrap();
        let again = Layers::from_bytes(&bytes).unwrap();
        assert!(Layers::is_file(&bytes) && again.to_bytes().unwrap() == bytes);
        let second = &again.layers()[1];
        assert_eq!((second.about().name.as_str(), second.about().rows), ("h.1", 7));
        assert_eq!((second.width(), second.directions()), (3, 2));
        assert_eq!(second.erasure().found(), layers.layers()[1].erasure().found());
    }

    #[test]
    fn what_is_not_an_erasure_is_refused() {
        let taken = faer::mat![[0.5, 0.0]];
        let found = faer::mat![[1.0], [0.0]];
        let refused = Layer::new("a", vec![0.0; 2], found.clone(), taken);
        assert!(refused.unwrap_err().to_string().contains("not what it finds"));
        assert!(Layer::new("a", vec![0.0; 3], found, Mat::zeros(1, 2)).is_err());
        assert!(Layers::new("parallel", vec![layer("a"), layer("a")]).is_err());
        let mut wrong = about();
        wrong.at = "beside".into();
        assert!(Layers::new("parallel", vec![layer("a").described(wrong)]).is_err());
        assert!(Layers::from_bytes(b"no file").is_err());
    }
}
