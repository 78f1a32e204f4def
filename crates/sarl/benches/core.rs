//! The core against its peers, in one run, as ratios.
//!
//! `cargo xtask bench` installs numpy into `target/venv` and runs this; `cargo bench` alone uses
//! the Python in `SARL_PYTHON`, in `target/venv`, or on the path.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints and may stop"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl::{
    Block, FeatureMap, Front, Goal, Kernel, LandmarkOptions, Layout, Model, Moments,
    MomentsOptions, Precision, Reduced, Role, median_gamma,
};

const ROWS: usize = 200_000;
const WIDTH: usize = 512;
const REPEATS: usize = 7;

fn main() {
    // `cargo test --benches` only asks whether this builds and starts.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let mut peer = Peer::start();
    println!("{} threads; medians of {REPEATS} alternating runs\n", rayon::current_num_threads());
    if std::env::args().any(|a| a == "kernel") {
        return kernel_pass();
    }
    let fit = moments(&mut peer);
    fronts(fit);
    coded_features();
    kernel_pass();
    gaussian_job(&mut peer);
}

/// The numpy process.
struct Peer(Option<Child>);

impl Peer {
    fn start() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let installed = root.join("target/venv/bin/python");
        let python = std::env::var_os("SARL_PYTHON")
            .map(PathBuf::from)
            .or_else(|| installed.exists().then_some(installed))
            .unwrap_or_else(|| "python3".into());
        let mut probe = Command::new(&python);
        let probe = probe.args(["-c", "import numpy"]).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            println!(
                "no numpy for {}: peers are left out; run `cargo xtask bench`",
                python.display()
            );
            return Peer(None);
        }
        let script = root.join("crates/sarl/benches/peer.py");
        let child = Command::new(python)
            .arg(script)
            .env("OPENBLAS_NUM_THREADS", rayon::current_num_threads().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Peer(Some(child))
    }

    fn ask(&mut self, request: &str) -> Option<f64> {
        let child = self.0.as_mut()?;
        writeln!(child.stdin.as_mut()?, "{request}").unwrap();
        let mut line = String::new();
        // One line is one answer, so no byte is lost with the reader.
        BufReader::with_capacity(64, child.stdout.as_mut()?).read_line(&mut line).unwrap();
        line.trim().parse().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.stdin.take());
            child.wait().ok();
        }
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Ours and the peer's, in turns.
fn in_turns(peer: &mut Peer, request: &str, mut ours: impl FnMut() -> f64) -> (f64, Option<f64>) {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    // Threads of the one spin for a while after their work, at the other's expense: let them rest.
    let rest = || std::thread::sleep(Duration::from_millis(200));
    peer.ask(request);
    for _ in 0..REPEATS {
        rest();
        mine.push(ours());
        rest();
        theirs.extend(peer.ask(request));
    }
    (median(mine), (!theirs.is_empty()).then(|| median(theirs)))
}

fn report(what: &str, ours: f64, theirs: Option<f64>) {
    match theirs {
        Some(t) => println!("{what:<52} {ours:>9.4} s   peer {t:>9.4} s   ratio {:.3}", ours / t),
        None => println!("{what:<52} {ours:>9.4} s   no peer"),
    }
}

fn layout(p: usize, q: usize) -> Layout {
    Layout::dense(WIDTH).class("y", Role::Target, p).class("s", Role::Sensitive, q)
}

fn codes(classes: u32, step: u32) -> Vec<u32> {
    codes_of(ROWS, classes, step)
}

/// Returns the time of the double-precision fit.
fn moments(peer: &mut Peer) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let x: Vec<f64> = (0..ROWS * WIDTH).map(|_| rng.random()).collect();
    let (y, s) = (codes(2, 1), codes(2, 3));
    let run = |folds: usize| {
        let options = MomentsOptions { folds, ..Default::default() };
        let mut moments = Moments::new(layout(2, 2), options).unwrap();
        let x = MatRef::from_row_major_slice(&x, ROWS, WIDTH);
        seconds(|| moments.push(&Block::new(x).class(&y).class(&s)).unwrap())
    };
    let request = format!("syrk float64 {ROWS} {WIDTH}");
    let (double, theirs) = in_turns(peer, &request, || run(1));
    report("moments, 200,000 x 512 f64, against dsyrk", double, theirs);
    let (folded, theirs) = in_turns(peer, &request, || run(5));
    report("  the same in 5 folds", folded, theirs);
    let limit = rate(peer, "float64");
    physical(double, limit);

    let x: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let run = || {
        let options =
            MomentsOptions { folds: 1, precision: Precision::Single, ..Default::default() };
        let mut moments = Moments::new(layout(2, 2), options).unwrap();
        let x = MatRef::from_row_major_slice(&x, ROWS, WIDTH);
        seconds(|| moments.push(&Block::new(x).class(&y).class(&s)).unwrap())
    };
    let request = format!("syrk float32 {ROWS} {WIDTH}");
    let (single, theirs) = in_turns(peer, &request, run);
    report("moments, 200,000 x 512 f32, against ssyrk", single, theirs);
    let limit = rate(peer, "float32");
    physical(single, limit);
    double
}

/// Multiply-adds a second of a large square product: what this machine can do.
fn rate(peer: &mut Peer, kind: &str) -> Option<f64> {
    let size = 4096.0_f64;
    let times: Vec<f64> = (0..3).filter_map(|_| peer.ask(&format!("gemm {kind} 4096"))).collect();
    times.into_iter().min_by(f64::total_cmp).map(|t| size.powi(3) / t)
}

fn physical(seconds: f64, limit: Option<f64>) {
    let done = (ROWS * WIDTH * (WIDTH + 1) / 2) as f64 / seconds;
    if let Some(limit) = limit {
        let share = 100.0 * done / limit;
        println!("  {:.1} G multiply-adds/s, {share:.0} % of a 4096-cube gemm's", done / 1e9);
    }
}

fn fronts(fit: f64) {
    for (p, q) in [(2, 2), (20, 100)] {
        let rows = 20_000;
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let x: Vec<f64> = (0..rows * WIDTH).map(|_| StandardNormal.sample(&mut rng)).collect();
        let (y, s) = (codes(p, 1), codes(q, 3));
        let mut moments =
            Moments::new(layout(p as usize, q as usize), MomentsOptions::default()).unwrap();
        let x = MatRef::from_row_major_slice(&x, rows, WIDTH);
        moments.push(&Block::new(x).class(&y[..rows]).class(&s[..rows])).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        let times = (0..REPEATS).map(|_| {
            let fresh = reduced.clone();
            seconds(|| drop(Front::new(&fresh, None).unwrap().points(1000).unwrap()))
        });
        let time = median(times.collect());
        println!(
            "a front of 1,000 points, {p} + {q} classes, t = {:<3}      {time:>9.4} s   {:.2} % of the fit",
            reduced.size(),
            100.0 * time / fit
        );
    }
}

/// A census table: 4 numbers and 6 categorical columns, 839 one-hot columns in all. Counted, and
/// multiplied as the dense matrix that they stand for.
fn coded_features() {
    const NUMBERS: usize = 4;
    const CATEGORIES: [usize; 6] = [529, 224, 8, 53, 16, 5];
    let rows = 50_000;
    let width = NUMBERS + CATEGORIES.iter().sum::<usize>();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let numbers: Vec<f64> = (0..rows * NUMBERS).map(|_| rng.random()).collect();
    let codes: Vec<Vec<u32>> = CATEGORIES
        .iter()
        .map(|&n| (0..rows).map(|_| rng.random_range(0..n as u32)).collect())
        .collect();
    let (y, s) = (&codes_of(rows, 2, 1), &codes_of(rows, 2, 3));
    let labelled = |layout: Layout| {
        let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
        Moments::new(layout, MomentsOptions::default()).unwrap()
    };
    let counted = || {
        let mut moments = labelled(Layout::dense(NUMBERS).coded(&CATEGORIES));
        let dense = MatRef::from_row_major_slice(&numbers, rows, NUMBERS);
        let block = codes.iter().fold(Block::new(dense), |block, codes| block.coded(codes));
        seconds(|| moments.push(&block.class(y).class(s)).unwrap())
    };
    let mut one_hot = vec![0.0; rows * width];
    for (i, row) in one_hot.chunks_mut(width).enumerate() {
        row[..NUMBERS].copy_from_slice(&numbers[i * NUMBERS..(i + 1) * NUMBERS]);
        let mut start = NUMBERS;
        for (codes, n) in codes.iter().zip(CATEGORIES) {
            row[start + codes[i] as usize] = 1.0;
            start += n;
        }
    }
    let multiplied = || {
        let mut moments = labelled(Layout::dense(width));
        let block = Block::new(MatRef::from_row_major_slice(&one_hot, rows, width));
        seconds(|| moments.push(&block.class(y).class(s)).unwrap())
    };
    let (fast, slow) = (
        median((0..REPEATS).map(|_| counted()).collect()),
        median((0..REPEATS).map(|_| multiplied()).collect()),
    );
    println!(
        "\n{rows} rows, {width} columns, mostly one-hot: counted {fast:.4} s, multiplied {slow:.4} s, ratio {:.3}",
        fast / slow
    );
}

fn codes_of(rows: usize, classes: u32, step: u32) -> Vec<u32> {
    (0..rows as u32).map(|i| (i / step) % classes).collect()
}

/// The paper's Gaussian job: 4000 x 3, RBF, 13 values of λ, from the rows to the encoders.
fn gaussian_job(peer: &mut Peer) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let means = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.5, 0.0], [2.5, 3.0, 0.0]];
    let corner: Vec<u32> = (0..4000).map(|_| rng.random_range(0..4)).collect();
    let x = Mat::from_fn(4000, 3, |i, j| {
        let noise: f64 = StandardNormal.sample(&mut rng);
        means[corner[i] as usize][j] + 0.3 * noise
    });
    let y: Vec<u32> = corner.iter().map(|c| c / 2).collect();
    let s: Vec<u32> = corner.iter().map(|c| c % 2).collect();
    let layout = Layout::dense(3).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let mut landmarks = 0;
    let job = || {
        let gamma = median_gamma(sarl::Family::Rbf, x.as_ref()).unwrap();
        let options = LandmarkOptions::default();
        let map = FeatureMap::landmarks(Kernel::Rbf { gamma }, x.as_ref(), &options).unwrap();
        landmarks = map.outputs();
        let options = MomentsOptions { folds: 1, ..Default::default() };
        let mut moments = map.moments(&layout, options).unwrap();
        map.push(&mut moments, &Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        for i in 0..13 {
            let goal = Goal::Lambda(f64::from(i) / 12.0);
            Model::new(&map, &layout, &reduced, None, goal).unwrap().encoder();
        }
    };
    let mut job = job;
    let ours = median((0..REPEATS).map(|_| seconds(&mut job)).collect());
    println!(
        "\nthe paper's Gaussian job, 4000 x 3, RBF, 13 values of lambda: {ours:.4} s, {landmarks} landmarks"
    );
    if let Some(one) = peer.ask("authors 4000 0.5") {
        let all = 13.0 * one;
        println!(
            "  the authors' procedure in numpy, one value of lambda:        {one:.2} s measured, {all:.0} s for 13"
        );
        println!("  ratio {:.0} ({:.0} against one value alone)", all / ours, one / ours);
    }
}

/// The pass of a kernel fit against what the machine multiplies: kernel values, a triangular solve
/// and a symmetric product, `2md + m² + m²` operations a row.
fn kernel_pass() {
    const KERNEL_ROWS: usize = 50_000;
    const INPUTS: usize = 64;
    const LANDMARKS: usize = 1000;
    const SQUARE: usize = 4096;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut normal = |_: usize| -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..KERNEL_ROWS * INPUTS).map(&mut normal).collect();
    let x = MatRef::from_row_major_slice(&x, KERNEL_ROWS, INPUTS);
    let y: Vec<u32> = (0..KERNEL_ROWS).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
    let s: Vec<u32> = (0..KERNEL_ROWS).map(|i| u32::from(x[(i, 1)] > 0.0)).collect();
    let layout = Layout::dense(INPUTS).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let kernel = Kernel::Rbf { gamma: 0.5 / INPUTS as f64 };
    let options = LandmarkOptions { cap: LANDMARKS, tolerance: 0.0, ..Default::default() };
    let map = FeatureMap::landmarks(kernel, x.subrows(0, 4000), &options).unwrap();
    let m = map.outputs();
    let a = Mat::from_fn(SQUARE, SQUARE, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let (mut pass, mut product) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let start = Instant::now();
        std::hint::black_box(&a * &a);
        product.push(2.0 * (SQUARE as f64).powi(3) / start.elapsed().as_secs_f64());
        let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
        let start = Instant::now();
        map.push(&mut moments, &Block::new(x).class(&y).class(&s)).unwrap();
        let work = KERNEL_ROWS as f64 * (2 * m * INPUTS + 2 * m * m) as f64;
        pass.push(work / start.elapsed().as_secs_f64());
        std::hint::black_box(moments);
    }
    let best = |rates: &[f64]| rates.iter().fold(0.0_f64, |a, &b| a.max(b)) / 1e9;
    let (pass, product) = (best(&pass), best(&product));
    println!(
        "kernel pass, {KERNEL_ROWS} × {INPUTS}, {m} landmarks: {pass:.1} GFLOP/s, {:.0} % of the \
         {product:.1} of a product of {SQUARE}³",
        100.0 * pass / product
    );
}
