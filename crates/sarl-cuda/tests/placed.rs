//! Rows that lie on the device. Where there is no GPU each test says that it is skipped, and why.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod common;

use std::sync::Arc;

use common::{Data, cuda, moments, splits_apart};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr};
use faer::MatRef;
use sarl::engine::{Engine, Placed};
use sarl::{Block, Error, Layout, Moments, Place, Role};
use sarl_cuda::device_of;

/// Numbers on the device, on a stream of their own.
struct There<T> {
    stream: Arc<CudaStream>,
    numbers: CudaSlice<T>,
}

impl<T: DeviceRepr> There<T> {
    fn new(numbers: &[T]) -> Self {
        let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
        let numbers = stream.clone_htod(numbers).unwrap();
        There { stream, numbers }
    }

    /// Rows of the first `columns` of `stride` numbers each.
    fn rows(&self, columns: usize, stride: usize) -> Placed {
        let (address, _) = self.numbers.device_ptr(&self.stream);
        let (rows, single) = (self.numbers.len() / stride, size_of::<T>() == 4);
        let stream = Some(self.stream.cu_stream() as u64);
        Placed { device: 0, address, rows, columns, stride, single, stream }
    }
}

fn nothing(rows: usize) -> MatRef<'static, f64> {
    MatRef::from_row_major_slice(&[], rows, 0)
}

fn layout(width: usize) -> Layout {
    Layout::dense(width).class("y", Role::Target, 2).class("s", Role::Sensitive, 3).number(
        "n",
        Role::Sensitive,
        1,
    )
}

/// Everything of rows but their features.
fn beside<'a>(data: &'a Data, dense: MatRef<'a, f64>, weighted: bool) -> Block<'a, f64> {
    let number = MatRef::from_row_major_slice(&data.number, data.rows, 1);
    let block = Block::new(dense).class(&data.y).class(&data.s).number(number);
    if weighted { block.weighted(&data.weights) } else { block }
}

#[test]
fn rows_on_the_device_are_added_where_they_are() {
    let Some(cuda) = cuda("rows_on_the_device_are_added_where_they_are") else { return };
    let data = Data::new(5003, 37);
    let single: Vec<f32> = data.x.iter().map(|v| *v as f32).collect();
    let rounded: Vec<f64> = single.iter().map(|v| f64::from(*v)).collect();
    // Three more numbers behind each row, which are none of its features.
    let apart: Vec<f64> = data
        .x
        .chunks(37)
        .flat_map(|row| row.iter().copied().chain([f64::NAN; 3]).collect::<Vec<_>>())
        .collect();
    let (double, single, apart) = (There::new(&data.x), There::new(&single), There::new(&apart));
    assert_eq!(device_of(double.rows(37, 37).address).unwrap(), 0);
    for weighted in [false, true] {
        for (name, x, there) in [
            ("doubles", &data.x, double.rows(37, 37)),
            ("single precision", &rounded, single.rows(37, 37)),
            ("rows apart", &data.x, apart.rows(37, 40)),
        ] {
            let x = MatRef::from_row_major_slice(x, data.rows, 37);
            let here = moments(&layout(37), Default::default(), None, |m| {
                m.push(&beside(&data, x, weighted).slice(0, 1000)).unwrap();
                m.push(&beside(&data, x, weighted).slice(1000, 4003)).unwrap();
            });
            let engine: Arc<dyn Engine> = Arc::new(cuda.clone());
            let there = moments(&layout(37), Default::default(), Some(engine), |m| {
                let block = beside(&data, nothing(data.rows), weighted);
                for (first, rows) in [(0, 1000), (1000, 4003)] {
                    let placed = there.slice(first, rows);
                    assert!(m.push_placed(&placed, &block.slice(first, rows)).unwrap());
                }
            });
            assert_eq!(here.rows(), there.rows());
            let apart = splits_apart(&here, &there);
            println!("{name}, weighted {weighted}: {apart:.1e} standard deviations apart");
            assert!(apart < 1e-11, "{name}: {apart}");
        }
    }
}

#[test]
fn a_value_on_the_device_that_is_not_finite_is_named() {
    let Some(cuda) = cuda("a_value_on_the_device_that_is_not_finite_is_named") else { return };
    let data = Data::new(3000, 20);
    let mut bad = data.x.clone();
    bad[2321 * 20 + 5] = f64::INFINITY;
    let (good, bad) = (There::new(&data.x), There::new(&bad));
    let block = beside(&data, nothing(data.rows), false);
    let engine: Arc<dyn Engine> = Arc::new(cuda);
    let there = moments(&layout(20), Default::default(), Some(engine), |m| {
        assert!(m.push_placed(&good.rows(20, 20), &block).unwrap());
        let error = m.push_placed(&bad.rows(20, 20), &block).unwrap_err();
        let named = matches!(
            error,
            Error::NotFinite { row: 5321, place: Place::Feature(5), value } if value == f64::INFINITY
        );
        assert!(named, "{error}");
        // Host rows may follow.
        let x = MatRef::from_row_major_slice(&data.x, data.rows, 20);
        m.push(&beside(&data, x, true)).unwrap();
    });
    let here = moments(&layout(20), Default::default(), None, |m| {
        let x = MatRef::from_row_major_slice(&data.x, data.rows, 20);
        m.push(&beside(&data, x, false)).unwrap();
        m.push(&beside(&data, x, true)).unwrap();
    });
    assert!(splits_apart(&here, &there) < 1e-11);
}

#[test]
fn rows_on_a_device_that_no_engine_reaches_are_left_to_the_caller() {
    let data = Data::new(100, 20);
    let block = beside(&data, nothing(data.rows), false);
    let nowhere = Placed {
        device: 7,
        address: 256,
        rows: 100,
        columns: 20,
        stride: 20,
        single: false,
        stream: None,
    };
    let mut without = Moments::new(layout(20), Default::default()).unwrap();
    assert!(!without.push_placed(&nowhere, &block).unwrap());
    assert_eq!(without.rows(), 0);
    let Some(cuda) = cuda("rows_on_a_device_that_no_engine_reaches") else { return };
    let mut optional = Moments::new(layout(20), Default::default()).unwrap();
    optional.on(Arc::new(cuda.clone().optional())).unwrap();
    assert!(!optional.push_placed(&nowhere, &block).unwrap());
    let mut named = Moments::new(layout(20), Default::default()).unwrap();
    named.on(Arc::new(cuda)).unwrap();
    let error = named.push_placed(&nowhere, &block).unwrap_err();
    assert!(error.to_string().contains("another device"), "{error}");
}
