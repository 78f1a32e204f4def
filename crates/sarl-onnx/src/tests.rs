#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::Mat;
use prost::Message;
use sarl::{
    Block, Encoder, FeatureMap, Fit, FitParams, Goal, Kernel, LandmarkOptions, Layout, Model,
    MomentsOptions, Reduced, Role, Scale, Scaling,
};

use crate::graph::Graph;
use crate::proto::{
    DOUBLE, FLOAT, GraphProto, ModelProto, NodeProto, STRING, Size, ValueInfoProto,
};
use crate::{Column, Error, Inputs, encoder as model, eraser};

const ROWS: usize = 120;

fn numbers() -> Mat<f64> {
    Mat::from_fn(ROWS, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 / 10.0 - 1.5)
}

fn codes() -> Vec<u32> {
    (0..ROWS as u32).map(|i| (i * 5 + i / 7) % 3).collect()
}

fn target() -> Vec<u32> {
    let (x, c) = (numbers(), codes());
    (0..ROWS).map(|i| u32::from(x[(i, 0)] + f64::from(c[i]) > 0.5)).collect()
}

/// An encoder of two numbers and, for a map that knows them, one category of three values.
fn fit(map: &FeatureMap, layout: Layout) -> Encoder {
    let x = numbers();
    let s: Vec<u32> = (0..ROWS).map(|i| u32::from(x[(i, 0)] > x[(i, 1)])).collect();
    fit_hiding(&s, map, layout, Goal::Leakage(0.05))
}

fn fit_hiding(s: &[u32], map: &FeatureMap, layout: Layout, goal: Goal) -> Encoder {
    let (x, c, y) = (numbers(), codes(), target());
    let dense = x.as_ref().subcols(0, layout.dense_features());
    let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
    let mut block = Block::new(dense).class(&y).class(s);
    if !layout.categories().is_empty() {
        block = block.coded(&c);
    }
    map.push(&mut moments, &block).unwrap();
    let reduced = Reduced::new(&moments.covariances().unwrap(), 1e-6).unwrap();
    Model::new(map, &layout, &reduced, None, goal).unwrap().encoder()
}

fn linear() -> Encoder {
    fit(&FeatureMap::linear(2), Layout::dense(2))
}

fn one_input() -> Encoder {
    let s: Vec<u32> = (0..ROWS).map(|i| u32::from(i % 3 == 0)).collect();
    fit_hiding(&s, &FeatureMap::linear(1), Layout::dense(1), Goal::Utility(1.0))
}

fn coded() -> Encoder {
    fit(&FeatureMap::coded(2, &[3]), Layout::dense(2).coded(&[3]))
}

fn kernel(kernel: Kernel) -> Encoder {
    let options = LandmarkOptions { cap: 10, ..Default::default() };
    let map = FeatureMap::landmarks(kernel, numbers().as_ref(), &options).unwrap();
    fit(&scaled(map), Layout::dense(2))
}

/// A map of rows that are scaled first.
fn scaled(map: FeatureMap) -> FeatureMap {
    let scaling = Scaling::standard(&[(0.1, 3.0), (0.2, 1.5)]);
    map.over(2, &[], Some(scaling)).unwrap()
}

fn decoded(encoder: &Encoder, inputs: &Inputs<'_>, double: bool) -> ModelProto {
    let bytes = model(encoder, inputs, double).unwrap();
    ModelProto::decode(bytes.as_slice()).unwrap()
}

fn graph(encoder: &Encoder) -> GraphProto {
    decoded(encoder, &Inputs::Matrix, true).graph.unwrap()
}

/// The name, the type and the size of the second dimension; the first must be the rows.
fn described(value: &ValueInfoProto) -> (String, i32, i64) {
    let tensor = value.r#type.clone().unwrap().tensor_type.unwrap();
    let sizes: Vec<Size> =
        tensor.shape.unwrap().dim.into_iter().map(|d| d.value.unwrap()).collect();
    match sizes.as_slice() {
        [Size::DimParam(rows), Size::DimValue(width)] if rows == "rows" => {
            (value.name.clone(), tensor.elem_type, *width)
        }
        other => unreachable!("{other:?}"),
    }
}

fn operators(graph: &GraphProto) -> Vec<&str> {
    graph.node.iter().map(|n| n.op_type.as_str()).collect()
}

fn initializer(graph: &GraphProto, dims: &[i64]) -> Vec<f64> {
    let tensor = graph.initializer.iter().find(|t| t.dims == dims).unwrap();
    let bytes = tensor.raw_data.as_ref().unwrap();
    bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn colours() -> Vec<String> {
    ["red", "green", "blue"].map(String::from).to_vec()
}

#[test]
fn a_matrix_goes_in_and_z_comes_out() {
    let encoder = linear();
    let proto = decoded(&encoder, &Inputs::Matrix, false);
    assert_eq!((proto.producer_name.as_str(), proto.ir_version), ("sarl", 8));
    assert_eq!(proto.producer_version, env!("CARGO_PKG_VERSION"));
    let opsets: Vec<_> =
        proto.opset_import.iter().map(|o| (o.domain.as_str(), o.version)).collect();
    assert_eq!(opsets, [("", 17)]);
    let graph = proto.graph.unwrap();
    assert_eq!(operators(&graph), ["Cast", "MatMul", "Add", "Cast"]);
    assert_eq!(described(&graph.input[0]), ("X".into(), FLOAT, 2));
    assert_eq!(described(&graph.output[0]), ("z".into(), FLOAT, 1));
    let weights: Vec<f64> = encoder.weights().col(0).iter().copied().collect();
    assert_eq!(initializer(&graph, &[2, 1]), weights);
    assert_eq!(initializer(&graph, &[1]), [-encoder.offset()[0]]);
}

#[test]
fn doubles_are_asked_for() {
    let graph = graph(&linear());
    assert_eq!(described(&graph.input[0]).1, DOUBLE);
    assert_eq!(described(&graph.output[0]).1, DOUBLE);
}

#[test]
fn a_table_keeps_its_order_and_may_use_any_name() {
    let colours = colours();
    let columns = [
        Column::Number { name: "Cast_0" },
        Column::Category { name: "colour", values: &colours },
        Column::Number { name: "b" },
    ];
    let proto = decoded(&coded(), &Inputs::Table(&columns), false);
    assert!(proto.opset_import.iter().any(|o| o.domain == "ai.onnx.ml" && o.version == 3));
    let graph = proto.graph.unwrap();
    let inputs: Vec<_> = graph.input.iter().map(described).collect();
    let expected = [("Cast_0", FLOAT), ("colour", STRING), ("b", FLOAT)];
    assert_eq!(inputs, expected.map(|(name, element)| (name.to_owned(), element, 1)));
    assert_eq!(described(&graph.output[0]), ("z".into(), FLOAT, 1));
    let made = graph.node.iter().flat_map(|n| &n.output);
    let mut names: Vec<_> = made.chain(graph.input.iter().map(|i| &i.name)).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    let first = graph.node.iter().find(|n| n.op_type == "Concat").unwrap();
    assert_eq!(first.input, ["Cast_0", "b"]);
}

#[test]
fn erasure_is_undone_in_the_units_of_the_inputs() {
    let x = numbers();
    let s: Vec<u32> = (0..ROWS).map(|i| u32::from(x[(i, 0)] > x[(i, 1)])).collect();
    let layout = Layout::dense(2).keep_features().class("s", Role::Sensitive, 2);
    let params = FitParams { scale: Scale::Standard, ..Default::default() };
    let mut fit = Fit::new(params, layout).unwrap();
    fit.push(&Block::new(x.as_ref()).class(&s)).unwrap();
    let fitted = fit.finish().unwrap();
    let erasure = |goal| fitted.solve(goal).unwrap().erasure().unwrap();
    let decoded = |erasure| {
        let bytes = eraser(erasure, false).unwrap();
        ModelProto::decode(bytes.as_slice()).unwrap().graph.unwrap()
    };
    let all = erasure(Goal::Lambda(1.0));
    let graph = decoded(&all);
    assert_eq!(described(&graph.input[0]), ("X".into(), FLOAT, 2));
    assert_eq!(described(&graph.output[0]), ("X_erased".into(), FLOAT, 2));
    let taken = all.taken();
    assert_eq!(initializer(&graph, &[1, 2]), [taken[(0, 0)], taken[(0, 1)]]);
    assert_eq!(initializer(&graph, &[2]), all.mean());
    let nothing = decoded(&erasure(Goal::Utility(1.0)));
    assert_eq!(operators(&nothing), ["Cast", "Cast"]);
}

#[test]
fn every_map_has_its_graph() {
    let rbf = graph(&kernel(Kernel::Rbf { gamma: 0.5 }));
    assert!(operators(&rbf).contains(&"ReduceSumSquare"));
    let laplacian = graph(&kernel(Kernel::Laplacian { gamma: 0.5 }));
    let scan = laplacian.node.iter().find(|n| n.op_type == "Scan").unwrap();
    let body = scan.attribute.iter().find_map(|a| a.g.as_ref()).unwrap();
    assert_eq!(operators(body), ["Unsqueeze", "Sub", "Abs", "Add"]);
    let polynomial = Kernel::Polynomial { gamma: 0.5, coef0: 1.0, degree: 3 };
    assert!(operators(&graph(&kernel(polynomial))).contains(&"Pow"));
    let map = FeatureMap::random_features(Kernel::Rbf { gamma: 0.5 }, 2, 8, 1).unwrap();
    let fourier = graph(&fit(&map, Layout::dense(2)));
    assert_eq!(operators(&fourier).iter().filter(|&&o| o == "Sin").count(), 2);
}

/// Runtimes fuse such a product with the `MatMul` and keep the constant in single precision.
#[test]
fn no_product_with_one_constant_is_beside_a_matrix_product() {
    let polynomial = Kernel::Polynomial { gamma: 0.3, coef0: 0.7, degree: 3 };
    let map = FeatureMap::random_features(Kernel::Rbf { gamma: 0.3 }, 2, 6, 1).unwrap();
    let encoders = [
        kernel(Kernel::Rbf { gamma: 0.3 }),
        kernel(Kernel::Laplacian { gamma: 0.3 }),
        kernel(polynomial),
        fit(&scaled(map), Layout::dense(2)),
    ];
    let mut graphs: Vec<GraphProto> = encoders.iter().map(graph).collect();
    graphs.push(graph(&one_input()));
    assert!(graphs[..4].iter().all(|g| operators(g).starts_with(&["Cast", "Sub", "Mul"])));
    for graph in &graphs {
        let single = |name: &String| {
            let sizes = graph.initializer.iter().filter(|t| &t.name == name);
            sizes.map(|t| t.dims.iter().product::<i64>()).any(|size| size == 1)
        };
        let products = graph.node.iter().filter(|n| n.op_type == "Mul");
        for product in products.filter(|n| n.input.iter().any(single)) {
            let touches = |n: &&NodeProto| {
                n.input.contains(&product.output[0]) || product.input.contains(&n.output[0])
            };
            let matrix = graph.node.iter().filter(|n| n.op_type == "MatMul").find(touches);
            assert_eq!(matrix, None);
        }
    }
}

#[test]
fn an_encoder_of_no_dimensions_has_a_graph() {
    let (map, layout) = (FeatureMap::linear(2), Layout::dense(2));
    let encoder = fit_hiding(&target(), &map, layout, Goal::Leakage(0.0));
    assert_eq!(encoder.dim(), 0);
    let encoded = graph(&encoder);
    assert_eq!(described(&encoded.output[0]).2, 0);
    assert!(!operators(&encoded).contains(&"MatMul"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let encoder = coded();
    let refused = |inputs: &Inputs<'_>| model(&encoder, inputs, false).unwrap_err();
    let number = |name| Column::Number { name };
    let (mut colours, name) = (colours(), "c");
    let short = &colours[..2];
    let table = [number("a"), number("b"), Column::Category { name, values: short }];
    let expected = Error::Values { name: name.into(), found: 2, expected: 3 };
    assert_eq!(refused(&Inputs::Table(&table)), expected);
    let (what, found, expected) = ("number columns", 1, 2);
    assert_eq!(refused(&Inputs::Table(&table[1..])), Error::Width { what, found, expected });
    let same = [number("a"), number("a")];
    assert_eq!(refused(&Inputs::Table(&same)), Error::SameName { name: "a".into() });
    let output = [number("z"), number("a")];
    assert_eq!(refused(&Inputs::Table(&output)), Error::OutputName { name: "z".into() });
    assert_eq!(refused(&Inputs::Table(&[number("")])), Error::NoName);
    colours[2] = "red".into();
    let twice = [Column::Category { name, values: &colours }];
    let expected = Error::SameValue { name: name.into(), value: "red".into() };
    assert_eq!(refused(&Inputs::Table(&twice)), expected);
}

#[test]
fn reserved_names_are_passed_over() {
    let mut graph = Graph::new("g", ["Exp_0".to_owned()]);
    assert_eq!(graph.node("Exp", &["Exp_0"], Vec::new()), "Exp_1");
}
