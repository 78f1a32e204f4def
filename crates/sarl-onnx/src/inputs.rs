//! From what comes in to x, in doubles and in the order of the encoder.

use std::collections::HashSet;

use sarl::Encoder;

use crate::graph::{Dim, Graph, integer, texts};
use crate::proto::{DOUBLE, STRING};
use crate::{CELL, Column, ENCODED, Error, Inputs};

/// The name of the one input that is a matrix.
const MATRIX: &str = "X";

impl Inputs<'_> {
    /// Whether these are inputs of the encoder, and of a graph.
    pub(crate) fn check(&self, encoder: &Encoder) -> Result<(), Error> {
        if let Inputs::Table(columns) = self {
            let outputs: &[&str] = match encoder.cells() {
                Some(_) => &[ENCODED, CELL],
                None => &[ENCODED],
            };
            check_names(columns, outputs)?;
            columns.iter().try_for_each(check_values)?;
            check_widths(columns, encoder)?;
        }
        Ok(())
    }

    /// The names of the inputs of the graph.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Inputs::Matrix => vec![MATRIX.to_owned()],
            Inputs::Table(columns) => columns.iter().map(|c| c.name().to_owned()).collect(),
        }
    }

    /// Declares the inputs, whose numbers are of this type, and gives x.
    pub(crate) fn declare(&self, graph: &mut Graph, element: i32, width: usize) -> String {
        match self {
            Inputs::Matrix => matrix(graph, element, width),
            Inputs::Table(columns) => table(graph, columns, element),
        }
    }
}

impl Column<'_> {
    fn name(&self) -> &str {
        match self {
            Column::Number { name } | Column::Category { name, .. } => name,
        }
    }
}

/// Declares the one input that is a matrix, and gives it in doubles.
pub fn matrix(graph: &mut Graph, element: i32, width: usize) -> String {
    graph.input(MATRIX, element, &[Dim::Rows, Dim::Of(width)]);
    graph.node("Cast", &[MATRIX], vec![integer("to", DOUBLE.into())])
}

fn table(graph: &mut Graph, columns: &[Column<'_>], element: i32) -> String {
    let (mut numbers, mut categories) = (Vec::new(), Vec::new());
    for column in columns {
        match column {
            Column::Number { name } => {
                graph.input(name, element, &[Dim::Rows, Dim::Of(1)]);
                numbers.push((*name).to_owned());
            }
            Column::Category { name, values } => {
                graph.input(name, STRING, &[Dim::Rows, Dim::Of(1)]);
                categories.push((*name, *values));
            }
        }
    }
    // An attribute without values is refused, and there is nothing to add.
    categories.retain(|(_, values)| !values.is_empty());
    let coded: Vec<String> = categories.iter().map(|(n, v)| one_hot(graph, n, v)).collect();
    let mut parts = Vec::new();
    if !numbers.is_empty() {
        let x = graph.beside(&numbers);
        parts.push(graph.node("Cast", &[&x], vec![integer("to", DOUBLE.into())]));
    }
    if !coded.is_empty() {
        let x = graph.beside(&coded);
        parts.push(graph.node("Cast", &[&x], vec![integer("to", DOUBLE.into())]));
    }
    graph.beside(&parts)
}

/// Rows × values, in floats. The operator puts the values behind the two dimensions of its input.
fn one_hot(graph: &mut Graph, name: &str, values: &[String]) -> String {
    let attributes = vec![texts("cats_strings", values), integer("zeros", 1)];
    let coded = graph.node("OneHotEncoder", &[name], attributes);
    let axis = graph.integers(&[1]);
    graph.node("Squeeze", &[&coded, &axis], Vec::new())
}

/// `(x − shift) · factor`, without the steps that change nothing.
pub fn scaled(graph: &mut Graph, mut x: String, shift: &[f64], factor: &[f64]) -> String {
    if shift.iter().any(|&v| v != 0.0) {
        let shift = graph.doubles(&[shift.len()], shift.iter().copied());
        x = graph.node("Sub", &[&x, &shift], Vec::new());
    }
    if factor.iter().any(|&v| v != 1.0) {
        let factor = match factor {
            // A constant could be fused with a `MatMul`, in single precision.
            [_] => graph.repeated(&x, factor),
            _ => graph.doubles(&[factor.len()], factor.iter().copied()),
        };
        x = graph.node("Mul", &[&x, &factor], Vec::new());
    }
    x
}

fn check_names(columns: &[Column<'_>], outputs: &[&str]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in columns.iter().map(Column::name) {
        if name.is_empty() {
            return Err(Error::NoName);
        }
        if outputs.contains(&name) {
            return Err(Error::OutputName { name: name.to_owned() });
        }
        if !seen.insert(name) {
            return Err(Error::SameName { name: name.to_owned() });
        }
    }
    Ok(())
}

fn check_values(column: &Column<'_>) -> Result<(), Error> {
    let Column::Category { name, values } = column else { return Ok(()) };
    let mut seen = HashSet::new();
    match values.iter().find(|v| !seen.insert(v.as_str())) {
        Some(value) => Err(Error::SameValue { name: (*name).to_owned(), value: value.clone() }),
        None => Ok(()),
    }
}

/// An encoder that knows its categories is held to them; another only counts its inputs.
fn check_widths(columns: &[Column<'_>], encoder: &Encoder) -> Result<(), Error> {
    let coded: Vec<(&str, usize)> = columns
        .iter()
        .filter_map(|c| match c {
            Column::Category { name, values } => Some((*name, values.len())),
            Column::Number { .. } => None,
        })
        .collect();
    let numbers = columns.len() - coded.len();
    let total = numbers + coded.iter().map(|c| c.1).sum::<usize>();
    let width = |what, found, expected| match found == expected {
        true => Ok(()),
        false => Err(Error::Width { what, found, expected }),
    };
    let categories = encoder.categories();
    if !categories.is_empty() {
        width("number columns", numbers, encoder.dense_inputs())?;
        width("category columns", coded.len(), categories.len())?;
        for (&(name, found), &expected) in coded.iter().zip(categories) {
            if found != expected {
                return Err(Error::Values { name: name.to_owned(), found, expected });
            }
        }
    }
    width("inputs", total, encoder.inputs())
}
