//! The encoder itself: from x, in doubles, to z; and erasure in place.
//!
//! No product with a single constant stands directly before or after a `MatMul`: onnxruntime would
//! fuse the two, and keep the constant in single precision.

use faer::{Mat, MatRef, Scale};
use sarl::{Encoder, Erasure, Kernel, Map};

use crate::graph::{Dim, Graph, integer, integers};
use crate::inputs::scaled;
use crate::proto::DOUBLE;

/// `z = weightsᵀ columns((x − shift) · factor) − rest`.
pub fn encoded(graph: &mut Graph, encoder: &Encoder, x: String) -> String {
    let (shift, factor, rest) = encoder.steps();
    let width = encoder.inputs();
    let all = |values: &[f64], other: f64| {
        let mut values = values.to_vec();
        values.resize(width, other);
        values
    };
    let x = scaled(graph, x, &all(shift, 0.0), &all(factor, 1.0));
    let offset: Vec<f64> = rest.iter().map(|o| -o).collect();
    let columns = match encoder.map() {
        _ if encoder.dim() == 0 => x,
        Map::Linear => x,
        Map::Kernel { kernel, landmarks } => kernel_columns(graph, &x, kernel, landmarks),
        Map::Fourier { frequencies } => fourier(graph, &x, frequencies),
    };
    affine(graph, &columns, encoder.weights(), &offset)
}

/// `x − takenᵀ foundᵀ (x − mean)`.
pub fn erased(graph: &mut Graph, x: &str, erasure: &Erasure) -> String {
    let found = erasure.found();
    if found.ncols() == 0 {
        return x.to_owned();
    }
    let mean = graph.doubles(&[erasure.mean().len()], erasure.mean().iter().copied());
    let centred = graph.node("Sub", &[x, &mean], Vec::new());
    let found = matrix(graph, found);
    let amount = graph.node("MatMul", &[&centred, &found], Vec::new());
    let taken = matrix(graph, erasure.taken());
    let taken = graph.node("MatMul", &[&amount, &taken], Vec::new());
    graph.node("Sub", &[x, &taken], Vec::new())
}

/// The map in words.
pub fn name(map: Map<'_>) -> String {
    match map {
        Map::Linear => "linear".to_owned(),
        Map::Kernel { kernel, landmarks } => format!("{kernel}, {} landmarks", landmarks.nrows()),
        Map::Fourier { frequencies } => format!("{} random features", 2 * frequencies.ncols()),
    }
}

/// `x matrix + constant`. Products over nothing are avoided: not every runtime has them.
fn affine(graph: &mut Graph, x: &str, matrix: MatRef<'_, f64>, constant: &[f64]) -> String {
    if matrix.nrows() == 0 || matrix.ncols() == 0 {
        return graph.repeated(x, constant);
    }
    let matrix = self::matrix(graph, matrix);
    let product = graph.node("MatMul", &[x, &matrix], Vec::new());
    let constant = graph.doubles(&[constant.len()], constant.iter().copied());
    graph.node("Add", &[&product, &constant], Vec::new())
}

fn matrix(graph: &mut Graph, m: MatRef<'_, f64>) -> String {
    let (rows, columns) = m.shape();
    let values = (0..rows).flat_map(|i| (0..columns).map(move |j| m[(i, j)]));
    graph.doubles(&[rows, columns], values)
}

fn kernel_columns(graph: &mut Graph, x: &str, kernel: Kernel, u: MatRef<'_, f64>) -> String {
    match kernel {
        Kernel::Rbf { gamma } => {
            let squares = squared_distances(graph, x, u);
            decay(graph, &squares, gamma)
        }
        Kernel::Laplacian { gamma } => {
            let distances = absolute_distances(graph, x, u);
            decay(graph, &distances, gamma)
        }
        Kernel::Polynomial { gamma, coef0, degree } => {
            let u = matrix(graph, (Scale(gamma) * u.transpose()).as_ref());
            let product = graph.node("MatMul", &[x, &u], Vec::new());
            let coef0 = graph.double(coef0);
            let base = graph.node("Add", &[&product, &coef0], Vec::new());
            let degree = graph.double(f64::from(degree));
            graph.node("Pow", &[&base, &degree], Vec::new())
        }
    }
}

/// `exp(−γ distances)`.
fn decay(graph: &mut Graph, distances: &str, gamma: f64) -> String {
    let rate = graph.double(-gamma);
    let exponent = graph.node("Mul", &[distances, &rate], Vec::new());
    graph.node("Exp", &[&exponent], Vec::new())
}

/// `‖x‖² + ‖u‖² − 2xᵀu` with both sides moved by the mean of the landmarks: distances stay, and
/// less cancels.
fn squared_distances(graph: &mut Graph, x: &str, u: MatRef<'_, f64>) -> String {
    let count = u.nrows().max(1) as f64;
    let centre: Vec<f64> = u.col_iter().map(|c| c.iter().sum::<f64>() / count).collect();
    let u = Mat::from_fn(u.nrows(), u.ncols(), |i, j| u[(i, j)] - centre[j]);
    let norms: Vec<f64> = u.row_iter().map(|row| row.squared_norm_l2()).collect();

    let centre = graph.doubles(&[centre.len()], centre);
    let x = graph.node("Sub", &[x, &centre], Vec::new());
    let own = graph.node("ReduceSumSquare", &[&x], vec![integers("axes", &[1])]);
    let norms = graph.doubles(&[norms.len()], norms);
    let sums = graph.node("Add", &[&own, &norms], Vec::new());
    let twice = matrix(graph, (Scale(-2.0) * u.transpose()).as_ref());
    let products = graph.node("MatMul", &[&x, &twice], Vec::new());
    let squares = graph.node("Add", &[&sums, &products], Vec::new());
    let zero = graph.double(0.0);
    graph.node("Max", &[&squares, &zero], Vec::new())
}

/// `‖x − u‖₁`, summed input by input: all differences at once would be rows × landmarks × inputs
/// numbers.
fn absolute_distances(graph: &mut Graph, x: &str, u: MatRef<'_, f64>) -> String {
    let landmarks = u.nrows();
    let sums = [Dim::Rows, Dim::Of(landmarks)];
    let start = graph.repeated(x, &vec![0.0; landmarks]);
    let u = matrix(graph, u.transpose());
    let body = graph.body("body", |inner| {
        let sum = inner.fresh_input(DOUBLE, &sums);
        let x = inner.fresh_input(DOUBLE, &[Dim::Rows]);
        let u = inner.fresh_input(DOUBLE, &[Dim::Of(landmarks)]);
        let axis = inner.integers(&[1]);
        let x = inner.node("Unsqueeze", &[&x, &axis], Vec::new());
        let difference = inner.node("Sub", &[&x, &u], Vec::new());
        let distance = inner.node("Abs", &[&difference], Vec::new());
        let sum = inner.node("Add", &[&sum, &distance], Vec::new());
        inner.output(&sum, DOUBLE, &sums);
    });
    let axes = integers("scan_input_axes", &[1, 0]);
    graph.node("Scan", &[&start, x, &u], vec![body, integer("num_scan_inputs", 2), axes])
}

/// `√(1/h) [cos p, sin p]`, `p = ωᵀx`. Cosines are `1 − 2 sin²(p/2)`, because onnxruntime has not
/// always had `Cos` in doubles, and a shift by π/2 would round large phases.
fn fourier(graph: &mut Graph, x: &str, frequencies: MatRef<'_, f64>) -> String {
    let scale = (1.0 / frequencies.ncols() as f64).sqrt();
    let (once, twice) = (graph.double(scale), graph.double(2.0 * scale));
    let half = matrix(graph, (Scale(0.5) * frequencies).as_ref());
    let half = graph.node("MatMul", &[x, &half], Vec::new());

    let half_sine = graph.node("Sin", &[&half], Vec::new());
    let square = graph.node("Mul", &[&half_sine, &half_sine], Vec::new());
    let taken = graph.node("Mul", &[&square, &twice], Vec::new());
    let cosine = graph.node("Sub", &[&once, &taken], Vec::new());

    let phase = graph.node("Add", &[&half, &half], Vec::new());
    let sine = graph.node("Sin", &[&phase], Vec::new());
    let sine = graph.node("Mul", &[&sine, &once], Vec::new());
    graph.beside(&[cosine, sine])
}
