//! A graph under construction: every value gets a name of its own.

use std::collections::HashSet;
use std::mem;

use crate::proto::{
    ATTRIBUTE_GRAPH, ATTRIBUTE_INT, ATTRIBUTE_INTS, ATTRIBUTE_STRINGS, AttributeProto, DOUBLE,
    Dimension, GraphProto, INT64, NodeProto, Size, TensorProto, TensorShapeProto, TensorType,
    TypeProto, ValueInfoProto,
};

/// The domain of the operators for machine learning.
pub const ML: &str = "ai.onnx.ml";

/// A dimension of a value.
#[derive(Clone, Copy, Debug)]
pub enum Dim {
    /// As many as there are rows.
    Rows,
    /// This many.
    Of(usize),
}

/// The graph so far. Values are known by their names.
#[derive(Debug, Default)]
pub struct Graph {
    proto: GraphProto,
    taken: HashSet<String>,
    made: usize,
}

impl Graph {
    /// An empty graph in which no value made here gets one of these names.
    pub fn new(name: &str, reserved: impl IntoIterator<Item = String>) -> Self {
        let proto = GraphProto { name: name.to_owned(), ..Default::default() };
        Graph { proto, taken: reserved.into_iter().collect(), made: 0 }
    }

    /// A name that nothing has.
    fn fresh(&mut self, hint: &str) -> String {
        loop {
            let name = format!("{hint}_{}", self.made);
            self.made += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Declares an input of the graph.
    pub fn input(&mut self, name: &str, element: i32, dims: &[Dim]) {
        self.proto.input.push(value_info(name, element, dims));
    }

    /// Declares an input of a body, under a name that nothing has.
    pub fn fresh_input(&mut self, element: i32, dims: &[Dim]) -> String {
        let name = self.fresh("input");
        self.input(&name, element, dims);
        name
    }

    /// Declares that a value is an output.
    pub fn output(&mut self, name: &str, element: i32, dims: &[Dim]) {
        self.proto.output.push(value_info(name, element, dims));
    }

    /// Adds a node and gives the name of what it computes.
    pub fn node(&mut self, op: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> String {
        let output = self.fresh(op);
        self.named_node(op, inputs, attributes, &output);
        output
    }

    /// Adds a node that computes the value of this name.
    pub fn named_node(
        &mut self,
        op: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
        output: &str,
    ) {
        let domain = if op == "OneHotEncoder" { ML } else { "" };
        self.proto.node.push(NodeProto {
            input: inputs.iter().map(|&i| i.to_owned()).collect(),
            output: vec![output.to_owned()],
            name: format!("node_{output}"),
            op_type: op.to_owned(),
            attribute,
            domain: domain.to_owned(),
        });
    }

    /// Adds doubles that are known, the last dimension running fastest.
    pub fn doubles(&mut self, dims: &[usize], values: impl IntoIterator<Item = f64>) -> String {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.tensor("constant", DOUBLE, dims, bytes)
    }

    /// Adds one double.
    pub fn double(&mut self, value: f64) -> String {
        self.doubles(&[], [value])
    }

    /// Adds a list of integers.
    pub fn integers(&mut self, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor("integers", INT64, &[values.len()], bytes)
    }

    fn tensor(&mut self, hint: &str, data_type: i32, dims: &[usize], bytes: Vec<u8>) -> String {
        let name = self.fresh(hint);
        self.proto.initializer.push(TensorProto {
            dims: dims.iter().map(|&d| d as i64).collect(),
            data_type,
            name: name.clone(),
            raw_data: Some(bytes),
        });
        name
    }

    /// The values side by side; a single one stays as it is.
    pub fn beside(&mut self, values: &[String]) -> String {
        match values {
            [one] => one.clone(),
            _ => {
                let names: Vec<&str> = values.iter().map(String::as_str).collect();
                self.node("Concat", &names, vec![integer("axis", 1)])
            }
        }
    }

    /// The same numbers in every row, for as many rows as `like` has.
    pub fn repeated(&mut self, like: &str, values: &[f64]) -> String {
        let rows = self.node("Shape", &[like], vec![integer("start", 0), integer("end", 1)]);
        let one = self.integers(&[1]);
        let shape = self.node("Concat", &[&rows, &one], vec![integer("axis", 0)]);
        let row = self.doubles(&[1, values.len()], values.iter().copied());
        self.node("Expand", &[&row, &shape], Vec::new())
    }

    /// The integer 0 in every row, rows × 1, for as many rows as `like` has.
    pub fn zeros(&mut self, like: &str) -> String {
        let rows = self.node("Shape", &[like], vec![integer("start", 0), integer("end", 1)]);
        let one = self.integers(&[1]);
        let shape = self.node("Concat", &[&rows, &one], vec![integer("axis", 0)]);
        let zero = self.integers(&[0]);
        self.node("Expand", &[&zero, &shape], Vec::new())
    }

    /// A graph inside this one. It shares the names, since it sees the values around it.
    pub fn body(&mut self, name: &str, build: impl FnOnce(&mut Graph)) -> AttributeProto {
        let inner = GraphProto { name: name.to_owned(), ..Default::default() };
        let outer = mem::replace(&mut self.proto, inner);
        build(self);
        let g = Some(mem::replace(&mut self.proto, outer));
        AttributeProto { name: name.to_owned(), r#type: ATTRIBUTE_GRAPH, g, ..Default::default() }
    }

    /// The finished graph.
    pub fn finish(self) -> GraphProto {
        self.proto
    }
}

/// An attribute that is an integer.
pub fn integer(name: &str, value: i64) -> AttributeProto {
    let i = Some(value);
    AttributeProto { name: name.to_owned(), r#type: ATTRIBUTE_INT, i, ..Default::default() }
}

/// An attribute that is a list of integers.
pub fn integers(name: &str, values: &[i64]) -> AttributeProto {
    let ints = values.to_vec();
    AttributeProto { name: name.to_owned(), r#type: ATTRIBUTE_INTS, ints, ..Default::default() }
}

/// An attribute that is a list of texts.
pub fn texts(name: &str, values: &[String]) -> AttributeProto {
    let strings = values.iter().map(|v| v.as_bytes().to_vec()).collect();
    let r#type = ATTRIBUTE_STRINGS;
    AttributeProto { name: name.to_owned(), r#type, strings, ..Default::default() }
}

fn value_info(name: &str, elem_type: i32, dims: &[Dim]) -> ValueInfoProto {
    let size = |dim: &Dim| match dim {
        Dim::Rows => Size::DimParam("rows".to_owned()),
        Dim::Of(n) => Size::DimValue(*n as i64),
    };
    let dim = dims.iter().map(|d| Dimension { value: Some(size(d)) }).collect();
    let tensor = TensorType { elem_type, shape: Some(TensorShapeProto { dim }) };
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type: Some(tensor) }) }
}
