//! Real data for tests, where it is; generated data where it is not needed.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

pub mod dense;
pub mod oracle;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::PathBuf;

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use safetensors::tensor::{Dtype, TensorView};
use sarl::{Block, Covariances, Layout, Moments, MomentsOptions, Role};

/// Features, target classes and sensitive classes.
pub struct Table {
    pub x: Vec<f64>,
    pub rows: usize,
    pub width: usize,
    pub y: Vec<u32>,
    pub s: Vec<u32>,
}

impl Table {
    pub fn x(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.x, self.rows, self.width)
    }

    pub fn block(&self) -> Block<'_, f64> {
        Block::new(self.x()).class(&self.y).class(&self.s)
    }

    pub fn layout(&self) -> Layout {
        Layout::dense(self.width).class("y", Role::Target, classes(&self.y)).class(
            "s",
            Role::Sensitive,
            classes(&self.s),
        )
    }

    pub fn moments(&self) -> Moments {
        let mut moments = Moments::new(self.layout(), MomentsOptions::default()).unwrap();
        moments.push(&self.block()).unwrap();
        moments
    }

    pub fn covariances(&self) -> Covariances {
        self.moments().covariances().unwrap()
    }
}

fn classes(codes: &[u32]) -> usize {
    codes.iter().max().map_or(0, |&c| c as usize + 1)
}

/// Where the real data is: `SARL_DATA`, or `../shared/data` beside the workspace.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SARL_DATA").map_or(beside, PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    let missing = path.display();
    assert!(std::env::var_os("SARL_REQUIRE_DATA").is_none(), "the real data is required");
    say(&format!("SKIPPED: {missing} is not there; set SARL_DATA to the folder of data sets"));
    None
}

/// Writes to stderr past the harness, which swallows what passing tests print.
pub fn say(message: &str) {
    let mut out = std::io::stderr();
    writeln!(out, "{message}").unwrap();
}

/// One of the `.npz` data sets, or `None` (said on stderr) where it is not there.
pub fn real(name: &str) -> Option<Table> {
    let file = std::fs::File::open(data_file(name)?).unwrap();
    let mut npz = zip::ZipArchive::new(file).unwrap();
    let x = npyz::NpyFile::new(npz.by_name("X.npy").unwrap()).unwrap();
    let (rows, width) = (x.shape()[0] as usize, x.shape()[1] as usize);
    let order = x.order();
    let values = x.into_vec::<f32>().unwrap();
    let at = |i: usize, j: usize| match order {
        npyz::Order::C => values[i * width + j],
        npyz::Order::Fortran => values[j * rows + i],
    };
    let x = (0..rows).flat_map(|i| (0..width).map(move |j| (i, j)));
    let x = x.map(|(i, j)| f64::from(at(i, j))).collect();
    let mut codes = |name: &str| {
        let member = npz.by_name(&format!("{name}.npy")).unwrap();
        dense_codes(&npyz::NpyFile::new(member).unwrap().into_vec::<i64>().unwrap())
    };
    let (y, s) = (codes("y"), codes("s"));
    Some(Table { x, rows, width, y, s })
}

/// Classes renumbered from 0 without holes.
fn dense_codes(values: &[i64]) -> Vec<u32> {
    let mut known: Vec<i64> = values.to_vec();
    known.sort_unstable();
    known.dedup();
    values.iter().map(|v| known.binary_search(v).unwrap() as u32).collect()
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn normal(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}

/// Classes that depend on the features, so that both labels can be learned.
pub fn synthetic(seed: u64, rows: usize, width: usize, p: u32, q: u32) -> Table {
    let mut rng = rng(seed);
    let noise = normal(&mut rng, rows, width);
    let mix = normal(&mut rng, width, width);
    let x = &noise * &mix;
    let mut label = |classes: u32, seed: usize| -> Vec<u32> {
        (0..rows)
            .map(|i| {
                let score = x[(i, seed % width)] - 0.7 * x[(i, (seed + 1) % width)];
                let bent = score + 1.5 * rng.random::<f64>() + 0.3 * score * score;
                ((bent.abs() * 1.3) as u32) % classes
            })
            .collect()
    };
    let (y, s) = (label(p, 0), label(q, 1));
    let x =
        (0..rows).flat_map(|i| (0..width).map(move |j| (i, j))).map(|(i, j)| x[(i, j)]).collect();
    Table { x, rows, width, y, s }
}

/// A tensor taken out of a file: its type, its shape and its bytes.
pub type Tensor = (Dtype, Vec<usize>, Vec<u8>);

/// A file of these parts with the checksum that they should have.
pub fn sealed(description: String, tensors: &BTreeMap<String, Tensor>) -> Vec<u8> {
    let mut crc = crc32fast::Hasher::new();
    crc.update(description.as_bytes());
    for (name, (_, shape, bytes)) in tensors.iter().filter(|(name, _)| *name != "checksum") {
        crc.update(name.as_bytes());
        shape.iter().for_each(|&n| crc.update(&(n as u64).to_le_bytes()));
        crc.update(bytes);
    }
    let mut tensors = tensors.clone();
    let sum = crc.finalize().to_le_bytes().to_vec();
    tensors.insert("checksum".to_owned(), (Dtype::U32, vec![1], sum));
    let views = tensors.iter().map(|(name, (dtype, shape, data))| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    let metadata = HashMap::from([("sarl".to_owned(), description)]);
    safetensors::serialize(views, Some(metadata)).unwrap()
}
