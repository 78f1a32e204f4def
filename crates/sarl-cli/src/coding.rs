//! What a model file makes of rows: z, or the features without what was erased.
//!
//! The file of an eraser gives rows in the columns of the features, as `Eraser.transform` does in Python,
//! whether it holds a whole model or only directions. A model of `sarl fit -t :features` gives z, or the
//! same where it is asked for.

use std::collections::BTreeMap;
use std::path::Path;

use faer::{Mat, MatRef};
use sarl::{Criterion, Encoder, Erasing, Erasure, FitParams, LabelKind, Model, Ridge, Role, Scale};
use sarl_data::{DataBlock, Schema};
use sarl_lab::Rows;
use sarl_lab::criterion::{Judged, criterion, judged};
use serde_json::Value;

use crate::commands::retune::{bytes_of, read};
use crate::data::with_block;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress;

/// Where Python says what has written a file.
const PYTHON: &str = "python";

/// What a file holds that makes something of rows without labels.
pub enum Held {
    Model(Box<Model>),
    Erasing(Box<Erasing>),
}

impl Held {
    pub fn load(path: &Path) -> Outcome<Self> {
        let bytes = bytes_of(path)?;
        if !Erasing::is_file(&bytes) {
            return Ok(Held::Model(Box::new(read(path, &bytes)?)));
        }
        let erasing = Erasing::from_bytes(&bytes);
        let wrong = |e| Failure::new(Exit::Data, format!("{}: {e}", path.display()));
        Ok(Held::Erasing(Box::new(erasing.map_err(wrong)?)))
    }

    /// The texts that it carries.
    pub fn extra(&self) -> &BTreeMap<String, String> {
        match self {
            Held::Model(model) => &model.extra,
            Held::Erasing(erasing) => erasing.extra(),
        }
    }

    /// The whole problem, where the file holds it.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Held::Model(model) => Some(model),
            Held::Erasing(_) => None,
        }
    }

    /// Rows that it was fitted on.
    pub fn rows(&self) -> u64 {
        match self {
            Held::Model(model) => model.reduced().rows(),
            Held::Erasing(erasing) => erasing.rows(),
        }
    }

    /// The share of what is hidden that linear attackers explain on these rows.
    pub fn leakage(&self) -> f64 {
        match self {
            Held::Model(model) => model.point().leakage,
            Held::Erasing(erasing) => erasing.point().leakage,
        }
    }

    /// Whether reading the file has recomputed that.
    pub fn is_checked(&self) -> bool {
        match self {
            Held::Model(_) => true,
            Held::Erasing(erasing) => erasing.is_checked(),
        }
    }

    pub fn criterion(&self) -> Criterion {
        match self {
            Held::Model(model) => criterion(model.as_ref()),
            Held::Erasing(erasing) => erasing.criterion(),
        }
    }

    /// What its figures are about, where it is not all of an attribute.
    pub fn judged(&self) -> Option<Judged> {
        match self {
            Held::Model(model) => judged(model.as_ref()),
            Held::Erasing(erasing) => judged(erasing.as_ref()),
        }
    }

    /// Whether it is the file of an eraser.
    pub fn is_eraser(&self) -> bool {
        let said = self.extra().get(PYTHON).map(|text| serde_json::from_str::<Value>(text));
        let class = said.and_then(Result::ok).is_some_and(|about| about["class"] == "Eraser");
        matches!(self, Held::Erasing(_)) || class
    }

    /// What makes features of rows where that is asked for, or where it is an eraser's; else z.
    pub fn coder(&self, erased: bool) -> Outcome<Coder> {
        match self {
            Held::Model(model) => Coder::of(model, erased || self.is_eraser()),
            Held::Erasing(erasing) => Ok(Coder::Erasure(erasing.erasure())),
        }
    }

    /// The parameters of its fit, where they are known.
    pub fn params(&self) -> Option<FitParams> {
        match self {
            Held::Model(model) => model.params().cloned(),
            // These are all that an erasure has.
            Held::Erasing(erasing) => Some(FitParams {
                scale: if erasing.scaling().is_some() { Scale::Standard } else { Scale::None },
                ridge: Ridge::Fixed(erasing.ridge()),
                criterion: erasing.criterion(),
                ..Default::default()
            }),
        }
    }

    /// The same goal on other rows, which are scaled already.
    pub fn anew(&self, rows: &Rows, params: &FitParams) -> Outcome<Coder> {
        let fitted = rows.fit(params, &progress::interrupted)?;
        Ok(match self {
            Held::Model(model) => {
                Coder::of(&fitted.solve(model.goal().clone())?, self.is_eraser())?
            }
            Held::Erasing(e) if e.is_preserving() => Coder::Erasure(fitted.preserve()?.erasure()),
            Held::Erasing(e) => Coder::Erasure(fitted.erase(e.goal().clone())?.erasure()),
        })
    }
}

/// From rows to what is published of them.
pub enum Coder {
    /// z, or the centre of its cell.
    Encoder(Encoder),
    /// Rows less the directions that go.
    Erasure(Erasure),
    /// The features as far as z tells them: with a ridge no directions can be taken off.
    Reconstruction(Encoder),
}

impl Coder {
    fn of(model: &Model, erased: bool) -> Outcome<Self> {
        if !erased {
            return Ok(Coder::Encoder(model.encoder()));
        }
        let mut kept = model.labels().iter().filter(|l| l.role == Role::Target);
        let features = kept.all(|l| l.kind == LabelKind::Features);
        let plain = model.is_linear() && model.cap().is_none() && model.cells().is_none();
        if !(features && plain) {
            let message = "--erased: the model is no erasure, which is linear, keeps nothing but the \
                           features and has all dimensions";
            return Err(Failure::usage(message).hint("fit it with `-t :features`"));
        }
        Ok(match model.erasure() {
            Ok(erasure) => Coder::Erasure(erasure),
            Err(_) => Coder::Reconstruction(model.encoder()),
        })
    }

    /// The encoder, where z itself is given.
    pub fn encoder(&self) -> Option<&Encoder> {
        match self {
            Coder::Encoder(encoder) => Some(encoder),
            _ => None,
        }
    }

    /// Numbers for each row.
    pub fn dim(&self) -> usize {
        match self {
            Coder::Encoder(encoder) => encoder.dim(),
            Coder::Erasure(erasure) => erasure.mean().len(),
            Coder::Reconstruction(encoder) => encoder.inputs(),
        }
    }

    /// What they are called.
    pub fn names(&self, schema: &Schema) -> Vec<String> {
        match self {
            // The columns of a centre are counted from 1.
            Coder::Encoder(encoder) => {
                let first = usize::from(encoder.cells().is_some());
                (first..encoder.dim() + first).map(|j| format!("z{j}")).collect()
            }
            _ => schema.feature_names(),
        }
    }

    /// The rows of a block, one after the other.
    pub fn block(&self, block: &DataBlock) -> Outcome<Vec<f64>> {
        match self {
            Coder::Encoder(encoder) => {
                Ok(flat(&with_block(block, |b| Ok(encoder.encode_block(b)?))?))
            }
            Coder::Erasure(erasure) if block.codes.is_empty() => {
                let x = MatRef::from_row_major_slice(&block.dense, block.rows, self.dim());
                Ok(erasure.apply(x)?)
            }
            Coder::Erasure(erasure) => {
                let x = block.densify();
                Ok(erasure.apply(MatRef::from_row_major_slice(&x, block.rows, self.dim()))?)
            }
            Coder::Reconstruction(encoder) => {
                let z = with_block(block, |b| Ok(encoder.encode_block(b)?))?;
                Ok(flat(&encoder.reconstruct(z.as_ref())?))
            }
        }
    }

    /// Rows in memory.
    pub fn rows(&self, x: MatRef<'_, f64>) -> Outcome<Mat<f64>> {
        Ok(match self {
            Coder::Encoder(encoder) => encoder.encode(x)?,
            Coder::Erasure(erasure) => {
                let erased = erasure.apply(x)?;
                MatRef::from_row_major_slice(&erased, x.nrows(), x.ncols()).to_owned()
            }
            Coder::Reconstruction(encoder) => encoder.reconstruct(encoder.encode(x)?.as_ref())?,
        })
    }
}

/// Rows one after the other.
pub fn flat(z: &Mat<f64>) -> Vec<f64> {
    (0..z.nrows()).flat_map(|i| z.row(i).iter().copied()).collect()
}
