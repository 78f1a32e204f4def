//! The model file.
//!
//! Safetensors, with a JSON description under the metadata key `sarl`. Everything that any goal
//! needs is in it; everything in it is checked when it is read: shapes against each other before
//! anything is allocated, finiteness, ranges, and that the stored losses and weights are those of
//! the stored solution.

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::model::Model;
use crate::cells::Cells;
use crate::container::{Reader, Writer};
use crate::features::{Columns, RawInputs, Stored, StoredInputs};
use crate::fit::FitParams;
use crate::front::{Bounds, Certificate, Front, Goal, HeldOut, Method, Point, StoredHeldOut};
use crate::moments::{Label, LabelColumns, LabelKind, Role};
use crate::spectral::Reduced;
use crate::spectral::attribute::{Side, attributes};
use crate::spectral::directions::spare_directions;
use crate::spectral::problem::Problem;
use crate::spectral::ridged::Ridged;
use crate::{Error, Result};

const KIND: &str = "model";
/// Version 1 knew no scale of labels, version 2 kept the scaling of inputs elsewhere.
const VERSION: u32 = 3;
/// What is written for a model with cells: earlier readers would give z itself.
const WITH_CELLS: u32 = 4;
/// What is written where label columns are made of labels: earlier readers would not know what the
/// figures are about.
const WITH_MADE_LABELS: u32 = 5;

/// Stored figures may differ from recomputed ones by this much.
const AGREE: f64 = 1e-7;

#[derive(Serialize, Deserialize)]
struct Description {
    map: Stored,
    inputs: StoredInputs,
    labels: Vec<Label>,
    rows: u64,
    weight: f64,
    features: usize,
    basis: usize,
    ridge: f64,
    cap: Option<usize>,
    goal: Goal,
    point: Point,
    certificate: Certificate,
    method: Method,
    bounds: Bounds,
    #[serde(default)]
    heldout: Option<StoredHeldOut>,
    #[serde(default)]
    params: Option<FitParams>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cells: Option<Cells>,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Model {
    /// The model file's bytes. The same model is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        let map = self.columns.store(&mut writer);
        let inputs = self.raw.store(&mut writer);
        write_reduced(&mut writer, &self.reduced);
        writer.matrix("solution.subspace", self.subspace.as_ref());
        let encoder = self.encoder();
        writer.matrix("encoder.weights", encoder.weights());
        writer.vector("encoder.offset", encoder.offset());
        let heldout =
            self.heldout.as_ref().map(|heldout| heldout.store(&mut writer)).transpose()?;
        let heldout = heldout.flatten();
        let reduced = &self.reduced;
        let description = Description {
            map,
            inputs,
            labels: self.labels.clone(),
            rows: reduced.rows,
            weight: reduced.weight,
            features: reduced.features,
            basis: reduced.basis_size,
            ridge: reduced.ridge,
            cap: self.cap,
            goal: self.goal.clone(),
            point: self.point,
            certificate: self.certificate.clone(),
            method: self.method,
            bounds: *self.front()?.bounds(),
            heldout,
            params: self.params.clone(),
            cells: self.cells.clone(),
            extra: self.extra.clone(),
        };
        let version = match self.labels.iter().any(|l| l.made.is_some()) {
            true => WITH_MADE_LABELS,
            false if self.cells.is_some() => WITH_CELLS,
            false => VERSION,
        };
        writer.finish(KIND, version, &description)
    }

    /// Reads a model file and checks all of it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) =
            Reader::open(bytes, KIND, VERSION..=WITH_MADE_LABELS)?;
        let columns = read_columns(&reader, &description)?;
        let reduced = read_reduced(&reader, &description, &columns)?;
        let subspace = read_subspace(&reader, &reduced)?;
        let raw = RawInputs::restore(&reader, description.inputs, columns.inputs())?;
        let model = Model {
            columns,
            raw,
            labels: description.labels,
            reduced,
            cap: description.cap,
            goal: description.goal,
            point: description.point,
            certificate: description.certificate,
            method: description.method,
            subspace,
            heldout: match description.heldout {
                Some(stored) => Some(HeldOut::restore(&reader, stored, description.cap)?),
                None => None,
            },
            params: description.params,
            cells: description.cells,
            extra: description.extra,
        };
        reader.require(!model.encoder().overflows(), "its encoder overflows")?;
        check_solution(&reader, &model, &description.bounds)?;
        let cells = model.cells.as_ref();
        if let Some(problem) = cells.and_then(|c| c.problem(model.point.dim, &model.labels)) {
            return Err(reader.problem(problem));
        }
        Ok(model)
    }
}

fn write_reduced(writer: &mut Writer, reduced: &Reduced) {
    writer.matrix("reduced.basis", reduced.basis.as_ref());
    writer.vector("reduced.centre", &reduced.centre);
    writer.vector("target.mean", &reduced.target_mean);
    writer.vector("sensitive.mean", &reduced.sensitive_mean);
    write_problem(writer, "", &reduced.problem);
    if let Some(ridged) = &reduced.ridged {
        writer.matrix("ridge.factor", ridged.factor.as_ref());
        write_problem(writer, "exact.", reduced.exact());
    }
    if let Some((cross, mean)) = &reduced.inputs {
        writer.matrix("inputs.cross", cross.as_ref());
        writer.vector("inputs.mean", mean);
    }
}

fn write_problem(writer: &mut Writer, prefix: &str, problem: &Problem) {
    for (name, half) in [("target", &problem.target), ("sensitive", &problem.sensitive)] {
        writer.matrix(&format!("{prefix}{name}.cross"), half.cross.as_ref());
        writer.vector(&format!("{prefix}{name}.variance"), &half.variance);
        let scales: Vec<f64> = half.attributes.iter().map(|a| a.scale).collect();
        writer.vector(&format!("{prefix}{name}.scale"), &scales);
    }
}

fn read_columns(reader: &Reader<'_>, description: &Description) -> Result<Columns> {
    let columns = Columns::restore(reader, &description.map)?;
    let (found, expected) = (columns.outputs(), description.features);
    reader.require(found == expected, format!("the map has {found} features, not {expected}"))?;
    Ok(columns)
}

/// The labels of a role with their widths, unless they are more than can be counted.
fn label_columns(labels: &[Label], role: Role, inputs: usize) -> Option<Vec<LabelColumns>> {
    let of_role = labels.iter().filter(|l| l.role == role);
    let of_role = of_role.map(|l| LabelColumns { name: l.name.clone(), width: l.width(inputs) });
    let labels: Vec<LabelColumns> = of_role.collect();
    let total = labels.iter().try_fold(0usize, |sum, l| sum.checked_add(l.width));
    total.filter(|&w| w > 0).map(|_| labels)
}

/// The scale of each label.
fn read_scales(reader: &Reader<'_>, tensor: &str, labels: usize) -> Result<Vec<f64>> {
    let scales = reader.vector(tensor, labels)?;
    let sound = scales.iter().all(|&s| s > 0.0) && (labels > 1 || scales == [1.0]);
    reader.require(sound, format!("`{tensor}` is not positive"))?;
    Ok(scales)
}

fn read_problem(
    reader: &Reader<'_>,
    prefix: &str,
    description: &Description,
    columns: &Columns,
) -> Result<Problem> {
    let t = reader.any_matrix(&format!("{prefix}target.cross"))?.nrows();
    let half = |name: &str, role: Role| -> Result<Side> {
        let labels = label_columns(&description.labels, role, columns.inputs());
        let labels = labels.ok_or_else(|| reader.problem(format!("there is no {name} label")))?;
        let width = labels.iter().map(|l| l.width).sum();
        let scales = read_scales(reader, &format!("{prefix}{name}.scale"), labels.len())?;
        let cross = reader.matrix(&format!("{prefix}{name}.cross"), t, width)?;
        let variance = reader.vector(&format!("{prefix}{name}.variance"), width)?;
        let total: f64 = variance.iter().sum();
        let sound = variance.iter().all(|&v| v >= 0.0) && total > 0.0 && total.is_finite();
        reader.require(sound, format!("the variances of the {name} are not positive"))?;
        let possible = variance
            .iter()
            .enumerate()
            .all(|(j, v)| cross.col(j).squared_norm_l2() <= v * (1.0 + AGREE) + AGREE * total);
        reader.require(possible, format!("the {name} is explained by more than its variance"))?;
        let attributes = attributes(&labels, &variance, &scales);
        Ok(Side { cross, variance, attributes })
    };
    Problem::new(half("target", Role::Target)?, half("sensitive", Role::Sensitive)?)
}

fn read_reduced(
    reader: &Reader<'_>,
    description: &Description,
    columns: &Columns,
) -> Result<Reduced> {
    let (m, k, ridge) = (description.features, description.basis, description.ridge);
    let problem = read_problem(reader, "", description, columns)?;
    let t = problem.size();
    let basis = reader.any_matrix("reduced.basis")?;
    let directions = basis.ncols();
    let spare = if ridge == 0.0 { spare_directions(&problem) } else { 0 };
    let fits = basis.nrows() == m && (t..=t + spare).contains(&directions);
    let shape = (basis.nrows(), directions);
    reader
        .require(fits, format!("`reduced.basis` has shape {shape:?} for {m} features, t = {t}"))?;
    reader.require(k <= m && directions <= k, format!("a basis of {k} for {m} features"))?;
    reader.require(ridge.is_finite() && ridge >= 0.0, format!("the ridge is {ridge}"))?;
    let counted = description.rows >= 2 && description.weight > 0.0;
    reader.require(counted && description.weight.is_finite(), "it was fitted on no rows")?;
    let ridged = match ridge > 0.0 {
        false => None,
        true => {
            let factor = reader.matrix("ridge.factor", t, t)?;
            let regular = (0..t).all(|i| factor[(i, i)] > 0.0);
            reader.require(regular, "`ridge.factor` is singular")?;
            let exact = read_problem(reader, "exact.", description, columns)?;
            Some(Ridged::from_parts(exact.into(), factor, &problem))
        }
    };
    let (p, q) = (problem.target.cross.ncols(), problem.sensitive.cross.ncols());
    // A map that is not linear knows its inputs only if they were the target, or kept beside it.
    let keeps = description.labels.iter().any(|l| l.kind == LabelKind::Features);
    let knows = keeps || matches!(columns, Columns::Linear { .. }) || reader.has("inputs.cross");
    let inputs = match knows {
        false => None,
        true => {
            let cross = reader.matrix("inputs.cross", directions, columns.inputs())?;
            Some((cross, reader.vector("inputs.mean", columns.inputs())?))
        }
    };
    Ok(Reduced {
        rows: description.rows,
        weight: description.weight,
        features: m,
        basis_size: k,
        ridge,
        centre: reader.vector("reduced.centre", directions)?,
        target_mean: reader.vector("target.mean", p)?,
        sensitive_mean: reader.vector("sensitive.mean", q)?,
        problem,
        ridged,
        basis,
        inputs,
        bounding: None,
    })
}

fn read_subspace(reader: &Reader<'_>, reduced: &Reduced) -> Result<Mat<f64>> {
    let subspace = reader.any_matrix("solution.subspace")?;
    let (rows, dim) = subspace.shape();
    let fits = (reduced.size()..=reduced.basis.ncols()).contains(&rows) && dim <= rows;
    reader.require(fits, format!("`solution.subspace` has shape [{rows}, {dim}]"))?;
    let gram = subspace.transpose() * &subspace;
    let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let orthonormal = (0..dim).all(|j| (0..dim).all(|i| (gram[(i, j)] - unit(i, j)).abs() < AGREE));
    reader.require(orthonormal, "`solution.subspace` is not orthonormal")?;
    Ok(subspace)
}

/// The stored figures must be those of the stored solution.
fn check_solution(reader: &Reader<'_>, model: &Model, bounds: &Bounds) -> Result<()> {
    let wrong = |e: Error| reader.problem(format!("the problem cannot be solved: {e}"));
    let front = Front::new(&model.reduced, model.cap).map_err(wrong)?;
    let near = |a: f64, b: f64| (a - b).abs() <= AGREE * (1.0 + b.abs());
    let point = &model.point;
    let found = front.point_of(point.lambda, &model.subspace);
    let same = near(point.losses.jy, found.losses.jy)
        && near(point.losses.js, found.losses.js)
        && near(point.utility, found.utility)
        && near(point.leakage, found.leakage)
        && bounds.figures().iter().zip(front.bounds().figures()).all(|(a, b)| near(*a, b))
        && point.dim == model.subspace.ncols()
        && model.cap.is_none_or(|cap| point.dim <= cap)
        && (0.0..=1.0).contains(&point.lambda);
    reader.require(same, "its stored losses are not those of its encoder")?;
    let stored = &model.certificate;
    let sound = stored.multipliers.iter().all(|m| m.is_finite() && *m >= 0.0);
    reader.require(sound, "its multipliers are not positive")?;
    let proven = front.certify(&model.goal, point, stored.multipliers.clone()).map_err(wrong)?;
    let holds = near(stored.dual_bound, proven.dual_bound) && near(stored.gap, proven.gap);
    reader.require(holds, "its certificate is not that of its encoder")?;
    let encoder = model.encoder();
    let weights = reader.matrix("encoder.weights", model.reduced.features, point.dim)?;
    let offset = reader.vector("encoder.offset", point.dim)?;
    let agrees = alike(weights.as_ref(), encoder.weights())
        && offset.iter().zip(encoder.offset()).all(|(a, b)| near(*a, *b));
    reader.require(agrees, "its stored weights are not those of its solution")
}

fn alike(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> bool {
    (a - b).norm_max() <= AGREE * b.norm_max()
}
