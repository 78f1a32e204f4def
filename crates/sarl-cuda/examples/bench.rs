//! What the device does beside its limits and beside the processor, in one run.
//!
//! Arguments: the rows and columns of the linear problem, the rows, columns and landmarks of the
//! kernel problem, and `nocpu` to leave the processor out. The last line is JSON.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may stop"
)]

use std::sync::Arc;
use std::time::Instant;

use faer::MatRef;
use rayon::prelude::*;
use sarl::engine::Engine;
use sarl::{
    Block, Family, Features, Fit, FitParams, Fitted, Goal, KernelParams, Layout, Moments,
    MomentsOptions, Precision, Ridge, Role,
};
use sarl_cuda::limits::Bench;
use sarl_cuda::{Cuda, Products, devices};
use serde_json::{Value, json};

/// Rows of a block that is pushed.
const BLOCK: usize = 65_536;
const TERA: f64 = 1e12;
const GIGA: f64 = 1e9;
/// Products that take about as long as the moments.
const IN_A_ROW: usize = 18;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: usize| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(or);
    if let Err(fault) = devices() {
        println!("skipped: {fault}");
        return;
    }
    let start = Instant::now();
    let cuda = Cuda::new(&[0]).unwrap();
    let begun = start.elapsed().as_secs_f64();
    println!(
        "{} with {} threads; ready after {begun:.2} s",
        cuda.name(),
        rayon::current_num_threads()
    );
    let cpu = !words.iter().any(|w| w == "nocpu");
    let (rows, width) = (number(0, 1_000_000), number(1, 4096));
    let limits = limits(&cuda, width);
    let linear = linear(&cuda, (rows, width), cpu, &limits);
    let kernel = kernel(&cuda, (number(2, 1_000_000), number(3, 100), number(4, 4096)), cpu);
    println!(
        "{}",
        json!({ "device": cuda.name(), "threads": rayon::current_num_threads(), "start_s": begun, "limits": limits, "linear": linear, "kernel": kernel })
    );
}

fn limits(cuda: &Cuda, n: usize) -> Value {
    let bench = Bench::new(cuda).unwrap();
    let dgemm = bench.dgemm(8192, 1).unwrap() / TERA;
    let long = bench.dgemm(8192, IN_A_ROW).unwrap() / TERA;
    let (syrk, tiles) = bench.triangles(n, 16_384).unwrap();
    let (short_syrk, short_tiles) = bench.triangles(n, 3_277).unwrap();
    let tf32 = bench.tf32(n, 6144).unwrap() / TERA;
    let solve = bench.solve(n, 16_384).unwrap() / TERA;
    let copy = bench.copy().unwrap() / GIGA;
    println!(
        "dgemm 8192³ {dgemm:.1} TFLOP/s, {IN_A_ROW} in a row {long:.1}; triangles of {n} from 16384 rows: dsyrk {:.1}, squares {:.1}; from 3277 rows: {:.1}, {:.1}",
        syrk / TERA,
        tiles / TERA,
        short_syrk / TERA,
        short_tiles / TERA
    );
    println!(
        "TF32 triangle {tf32:.1} TFLOP/s; L⁻¹b {solve:.1} TFLOP/s; copy from page-locked memory {copy:.1} GB/s"
    );
    json!({ "dgemm_tflops": dgemm, "dgemm_long_tflops": long, "syrk_tflops": syrk / TERA, "squares_tflops": tiles / TERA, "tf32_tflops": tf32, "solve_tflops": solve, "copy_gbs": copy })
}

/// Rows that look like embeddings: numbers that depend on each other a little.
fn noise(rows: usize, width: usize) -> Vec<f64> {
    let mut x = vec![0.0; rows * width];
    x.par_chunks_mut(width).enumerate().for_each(|(i, row)| {
        let mut state = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut last = 0.0;
        for v in row {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let fresh = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            last = 0.3 * last + fresh;
            *v = last;
        }
    });
    x
}

fn labels(x: &[f64], width: usize, column: usize) -> Vec<u32> {
    x.chunks_exact(width).map(|row| u32::from(row[column] + 0.3 * row[column + 2] > 0.0)).collect()
}

fn moments(
    x: &[f64],
    width: usize,
    labels: (&[u32], &[u32]),
    precision: Precision,
    engine: Option<Arc<dyn Engine>>,
) -> (f64, f64, Moments) {
    let layout = Layout::dense(width).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let options = MomentsOptions { precision, ..Default::default() };
    let mut moments = Moments::new(layout, options).unwrap();
    if let Some(engine) = engine {
        moments.on(engine).unwrap();
    }
    let few = x.len().min(256 * width);
    // What is made once, before the first row, does not count.
    moments
        .push(
            &Block::new(MatRef::from_row_major_slice(&x[..few], few / width, width))
                .class(&labels.0[..few / width])
                .class(&labels.1[..few / width]),
        )
        .unwrap();
    let start = Instant::now();
    for (i, part) in x.chunks(BLOCK * width).enumerate() {
        let (rows, first) = (part.len() / width, i * BLOCK);
        let block = Block::new(MatRef::from_row_major_slice(part, rows, width));
        moments
            .push(
                &block.class(&labels.0[first..first + rows]).class(&labels.1[first..first + rows]),
            )
            .unwrap();
    }
    let pushed = start.elapsed().as_secs_f64();
    moments.settle().unwrap();
    (pushed, start.elapsed().as_secs_f64(), moments)
}

/// The largest difference of two covariances of features, in standard deviations.
fn apart(a: &Moments, b: &Moments) -> f64 {
    let (a, b) = (a.covariances().unwrap().features, b.covariances().unwrap().features);
    let deviation: Vec<f64> = (0..a.ncols()).map(|j| a[(j, j)].sqrt()).collect();
    (0..a.ncols())
        .into_par_iter()
        .map(|j| {
            (0..a.nrows())
                .map(|i| (a[(i, j)] - b[(i, j)]).abs() / (deviation[i] * deviation[j]))
                .fold(0.0, f64::max)
        })
        .reduce(|| 0.0, f64::max)
}

fn linear(cuda: &Cuda, (rows, width): (usize, usize), cpu: bool, limits: &Value) -> Value {
    let work = rows as f64 * (width as f64).powi(2);
    let limit = |name: &str| limits[name].as_f64().unwrap();
    let mut found = json!({ "rows": rows, "columns": width, "folds": 5 });
    for (name, products, precision) in WAYS {
        let bench = Bench::new(&cuda.clone().products(products)).unwrap();
        let there = bench.moments_there(rows, width, 5, precision).unwrap();
        let rate = work / there / TERA;
        println!(
            "{name}, rows on the device: {there:.3} s, {rate:.1} TFLOP/s, {:.0} % of dgemm, {:.0} % of it in a row",
            100.0 * rate / limit("dgemm_tflops"),
            100.0 * rate / limit("dgemm_long_tflops")
        );
        found[name] = json!({ "there_s": there, "there_tflops": rate });
    }
    let x = noise(rows, width);
    let (y, s) = (labels(&x, width, 0), labels(&x, width, 1));
    let floor = (8.0 * rows as f64 * width as f64 / GIGA / limit("copy_gbs"))
        .max(work / TERA / limit("dgemm_tflops"));
    // The processor takes a part of the rows, where all would take minutes.
    let few = rows.min(131_072);
    let exact = cpu.then(|| moments(&x[..few * width], width, (&y, &s), Precision::Double, None));
    if let Some((_, seconds, _)) = &exact {
        println!(
            "processor, {few} rows: {seconds:.2} s; {:.2} s for all rows at this rate",
            seconds * rows as f64 / few as f64
        );
        found["cpu_s"] = json!(seconds * rows as f64 / few as f64);
        found["cpu_rows"] = json!(few);
    }
    for (name, products, precision) in WAYS {
        let engine =
            || -> Option<Arc<dyn Engine>> { Some(Arc::new(cuda.clone().products(products))) };
        let off = exact.as_ref().map(|(_, _, exact)| {
            apart(exact, &moments(&x[..few * width], width, (&y, &s), precision, engine()).2)
        });
        let (pushed, seconds, _) = moments(&x, width, (&y, &s), precision, engine());
        println!(
            "{name}, rows in host memory: {seconds:.3} s; the limit is {floor:.3} s: {:.0} %; pushed after {pushed:.3} s; off by {:.1e} standard deviations",
            100.0 * floor / seconds,
            off.unwrap_or(f64::NAN)
        );
        found[name]["host_s"] = json!(seconds);
        found[name]["off"] = json!(off);
    }
    found["host_floor_s"] = json!(floor);
    found["locked"] = locked(cuda, &x, width, (&y, &s), limits);
    found
}

/// The same from page-locked memory, for as many rows as are worth the locking.
fn locked(cuda: &Cuda, x: &[f64], width: usize, labels: (&[u32], &[u32]), limits: &Value) -> Value {
    let rows = (x.len() / width).min(262_144);
    let bench = Bench::new(cuda).unwrap();
    let packing = bench.packing(&x[..rows * width]).unwrap() / GIGA;
    let mut memory = bench.locked(rows * width).unwrap();
    let numbers = memory.numbers().unwrap();
    numbers
        .par_chunks_mut(width)
        .zip(x.par_chunks(width))
        .for_each(|(to, from)| to.copy_from_slice(from));
    let (pushed, seconds, _) =
        moments(numbers, width, labels, Precision::Double, Some(Arc::new(cuda.clone())));
    let limit = |name: &str| limits[name].as_f64().unwrap();
    let work = rows as f64 * (width as f64).powi(2);
    let floor = (8.0 * rows as f64 * width as f64 / GIGA / limit("copy_gbs"))
        .max(work / TERA / limit("dgemm_tflops"));
    println!(
        "double, {rows} rows in page-locked memory: {seconds:.3} s, pushed after {pushed:.3} s; the limit is {floor:.3} s: {:.0} %; threads pack {packing:.1} GB/s",
        100.0 * floor / pushed
    );
    json!({ "rows": rows, "s": seconds, "pushed_s": pushed, "floor_s": floor, "packing_gbs": packing })
}

const WAYS: [(&str, Products, Precision); 3] = [
    ("double", Products::Asked, Precision::Double),
    ("single", Products::Asked, Precision::Single),
    ("fast", Products::Fast, Precision::Single),
];

/// A kernel fit with 13 trade-offs: the seconds of each step, and what was reached.
fn kernel_fit(
    x: &[f64],
    width: usize,
    labels: (&[u32], &[u32]),
    landmarks: usize,
    engine: Option<Arc<dyn Engine>>,
) -> (Vec<(String, f64)>, Fitted) {
    let features = Features::Kernel(KernelParams { landmarks, ..KernelParams::new(Family::Rbf) });
    let params = FitParams { features, ridge: Ridge::Fixed(1e-4), ..Default::default() };
    let layout = Layout::dense(width).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let block = Block::new(MatRef::from_row_major_slice(x, x.len() / width, width))
        .class(labels.0)
        .class(labels.1);
    let mut steps = Vec::new();
    let mut start = Instant::now();
    let mut lap = |name: &str| {
        steps.push((name.to_owned(), start.elapsed().as_secs_f64()));
        start = Instant::now();
    };
    let mut fit = Fit::new(params, layout).unwrap();
    if let Some(engine) = engine {
        fit = fit.on(engine);
    }
    fit.sample(&block).unwrap();
    lap("sample");
    fit.choose(&|| false).unwrap();
    lap("choose");
    fit.push(&block).unwrap();
    lap("push");
    let fitted = fit.finish().unwrap();
    lap("finish");
    let front = fitted.front().unwrap();
    for i in 0..13 {
        front.solve(Goal::Lambda(f64::from(i) / 12.0)).unwrap();
    }
    lap("front");
    let heldout = fitted.heldout().unwrap();
    for i in 0..13 {
        heldout.at(f64::from(i) / 12.0).unwrap();
    }
    lap("held-out");
    (steps, fitted)
}

fn kernel(cuda: &Cuda, (rows, width, landmarks): (usize, usize, usize), cpu: bool) -> Value {
    let x = noise(rows, width);
    let (y, s) = (labels(&x, width, 0), labels(&x, width, 1));
    let report = |name: &str, steps: &[(String, f64)]| {
        let total: f64 = steps.iter().map(|s| s.1).sum();
        let parts: Vec<String> = steps.iter().map(|(name, s)| format!("{name} {s:.2}")).collect();
        println!("{name}, {landmarks} landmarks: {total:.2} s ({})", parts.join(", "));
        total
    };
    let engine = || -> Option<Arc<dyn Engine>> { Some(Arc::new(cuda.clone())) };
    kernel_fit(
        &x[..20_000.min(rows) * width],
        width,
        (&y[..20_000.min(rows)], &s[..20_000.min(rows)]),
        256,
        engine(),
    );
    let (steps, _) = kernel_fit(&x, width, (&y, &s), landmarks, engine());
    let there = report("device", &steps);
    let mut found = json!({ "rows": rows, "columns": width, "landmarks": landmarks, "device_s": there, "steps": steps });
    if cpu {
        // A part of the rows for the processor, and the same rows for the device.
        let few = rows.min(50_000);
        let part = (&x[..few * width], (&y[..few], &s[..few]));
        let (steps, here) = kernel_fit(part.0, width, part.1, landmarks, None);
        let seconds = report(&format!("processor, {few} rows"), &steps);
        found["cpu_steps"] = json!(steps);
        let (_, there) = kernel_fit(part.0, width, part.1, landmarks, engine());
        let point = |fitted: &Fitted| {
            fitted.front().unwrap().solve(Goal::Lambda(0.5)).unwrap().point.losses
        };
        let (a, b) = (point(&here), point(&there));
        let off = (a.jy - b.jy).abs().max((a.js - b.js).abs());
        let push = steps.iter().find(|s| s.0 == "push").unwrap().1;
        let all = seconds + push * (rows as f64 / few as f64 - 1.0);
        println!("the processor at this rate: {all:.1} s for all rows; losses {off:.1e} apart");
        found["cpu_s"] = json!(all);
        found["cpu_rows"] = json!(few);
        found["losses_apart"] = json!(off);
    }
    found
}
