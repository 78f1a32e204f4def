//! Fitted encoders and erasers of [`sarl`] as [ONNX](https://onnx.ai) models, for runtimes without Rust.
//!
//! ```text
//! x ──► double ──► (x − shift) · factor ──► the map's columns ──► z
//! ```
//!
//! Everything between the inputs and the output is computed in doubles: the weights of a kernel
//! encoder are large and cancel. Unlike [`Encoder::encode`], a model does not refuse values that
//! are not finite: NaN gives NaN in all of the row that depends on it.
//!
//! An encoder with cells gives the centre of the cell as `z`, never z itself, and the number of the
//! cell as `cell`.
//!
//! ```
//! use faer::Mat;
//! use sarl::{Block, Fit, FitParams, Goal, Layout, Role};
//! use sarl_onnx::Inputs;
//!
//! let x = Mat::from_fn(200, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 - 15.0);
//! let y: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
//! let s: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut fit = Fit::new(FitParams::default(), layout)?;
//! fit.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let encoder = fit.finish()?.solve(Goal::Leakage(0.01))?.encoder();
//!
//! let bytes = sarl_onnx::encoder(&encoder, &Inputs::Matrix, false)?;
//! assert!(!bytes.is_empty()); // what a file `encoder.onnx` would hold
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod graph;
mod inputs;
mod maps;
mod proto;
#[cfg(test)]
mod tests;

use prost::Message;
use sarl::{Encoder, Erasure};

use crate::graph::{Dim, Graph, ML, integer};
use crate::proto::{
    DOUBLE, FLOAT, GraphProto, INT64, ModelProto, OperatorSetIdProto, StringStringEntryProto,
};

/// The version of the file format, and of the operators in the two domains.
const IR: i64 = 8;
const OPERATORS: i64 = 17;
const ML_OPERATORS: i64 = 3;

/// How the raw inputs come in.
#[derive(Clone, Copy, Debug)]
pub enum Inputs<'a> {
    /// One input `X`, rows × width: all inputs of the encoder in their order, one-hot columns
    /// included.
    Matrix,
    /// An input per column of a table, rows × 1, in this order. The encoder's own order is all
    /// numbers, then the one-hot columns of all categories.
    Table(&'a [Column<'a>]),
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Numbers.
    Number {
        /// The name of the input.
        name: &'a str,
    },
    /// Text; each value becomes a one-hot row over `values`, zeros if it is not among them.
    Category {
        /// The name of the input.
        name: &'a str,
        /// The values that are known, in the order of their columns.
        values: &'a [String],
    },
}

/// The name of what an encoder computes.
const ENCODED: &str = "z";

/// The name of the cell that an encoder with cells gives.
const CELL: &str = "cell";

/// The name of what an eraser computes.
const ERASED: &str = "X_erased";

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The inputs are not those of the encoder.
    #[error("{what}: found {found}, but the encoder expects {expected}")]
    Width {
        /// What was counted.
        what: &'static str,
        /// How many there were.
        found: usize,
        /// How many there should have been.
        expected: usize,
    },
    /// A category has another number of values than the encoder was fitted with.
    #[error("column `{name}` has {found} values, but the encoder knows {expected}")]
    Values {
        /// The column.
        name: String,
        /// How many values there were.
        found: usize,
        /// How many there should have been.
        expected: usize,
    },
    /// An input without a name would be an input that is left out.
    #[error("a column has no name; every input of the model needs one")]
    NoName,
    /// Two columns of one name.
    #[error("two columns are called `{name}`; the inputs of the model need different names")]
    SameName {
        /// The name.
        name: String,
    },
    /// A column has the name of the output.
    #[error("a column is called `{name}`, which is the name of the output; rename the column")]
    OutputName {
        /// The name.
        name: String,
    },
    /// A category lists a value twice.
    #[error("column `{name}` has the value `{value}` twice")]
    SameValue {
        /// The column.
        name: String,
        /// The value.
        value: String,
    },
    /// A model in one file holds less than 2 GiB.
    #[error("the model would have {bytes} bytes, but an ONNX file holds less than 2 GiB")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// The bytes of an ONNX model of an encoder, whose output is `z`, rows × dim. Numbers come in and go
/// out as doubles if `double`, else in single precision. An encoder with cells has a second output
/// `cell`, an integer for each row, and its `z` is the centre of the cell.
pub fn encoder(encoder: &Encoder, inputs: &Inputs<'_>, double: bool) -> Result<Vec<u8>, Error> {
    inputs.check(encoder)?;
    let element = if double { DOUBLE } else { FLOAT };
    let mut names = inputs.names();
    names.extend([ENCODED.to_owned(), CELL.to_owned()]);
    let mut graph = Graph::new("sarl", names);
    let x = inputs.declare(&mut graph, element, encoder.inputs());
    let z = maps::encoded(&mut graph, encoder, x);
    let map = maps::name(encoder.map());
    let Some(cells) = encoder.cells() else {
        return finish(graph, &z, ENCODED, element, encoder.dim(), map);
    };
    let (cell, centre) = cells::cut(&mut graph, &z, cells);
    result(&mut graph, &centre, ENCODED, element, encoder.dim());
    graph.named_node("Identity", &[&cell], Vec::new(), CELL);
    graph.output(CELL, INT64, &[Dim::Rows]);
    bytes(graph.finish(), format!("{map}, {} cells", cells.count()))
}

/// The bytes of an ONNX model of erasure in place: from `X` to `X_erased`, of the same shape and
/// units.
pub fn eraser(erasure: &Erasure, double: bool) -> Result<Vec<u8>, Error> {
    let width = erasure.mean().len();
    let element = if double { DOUBLE } else { FLOAT };
    let names = Inputs::Matrix.names().into_iter().chain([ERASED.to_owned()]);
    let mut graph = Graph::new("sarl", names);
    let x = inputs::matrix(&mut graph, element, width);
    let erased = maps::erased(&mut graph, &x, erasure);
    finish(graph, &erased, ERASED, element, width, "erasure".to_owned())
}

fn finish(
    mut graph: Graph,
    value: &str,
    name: &str,
    element: i32,
    width: usize,
    map: String,
) -> Result<Vec<u8>, Error> {
    result(&mut graph, value, name, element, width);
    bytes(graph.finish(), map)
}

/// Declares a value of doubles as an output of this type, rows × width.
fn result(graph: &mut Graph, value: &str, name: &str, element: i32, width: usize) {
    graph.named_node("Cast", &[value], vec![integer("to", element.into())], name);
    graph.output(name, element, &[Dim::Rows, Dim::Of(width)]);
}

fn bytes(graph: GraphProto, map: String) -> Result<Vec<u8>, Error> {
    let operators = |domain: &str, version| OperatorSetIdProto { domain: domain.into(), version };
    let mut opset_import = vec![operators("", OPERATORS)];
    if graph.node.iter().any(|n| n.domain == ML) {
        opset_import.push(operators(ML, ML_OPERATORS));
    }
    let model = ModelProto {
        ir_version: IR,
        producer_name: "sarl".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph),
        opset_import,
        metadata_props: vec![StringStringEntryProto { key: "map".into(), value: map }],
    };
    let bytes = model.encoded_len();
    match i32::try_from(bytes) {
        Ok(_) => Ok(model.encode_to_vec()),
        Err(_) => Err(Error::TooLarge { bytes }),
    }
}
