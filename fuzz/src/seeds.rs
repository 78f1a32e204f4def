//! The first inputs of each target: tiny valid files, written by our own writers.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use faer::Mat;
use sarl::{Block, Family, Fit, FitParams, Goal, KernelParams, Layout, Role, Scale};
use sarl_data::{BlockOptions, Request, Schema, Source, Targets, Writer};

/// A table with numbers, categories, missing cells, dates and quotes.
pub const TABLES: [&str; 4] = [
    "age,work,hours,income,sex\n30,private,40.5,high,f\n41,public,38,low,m\n52,private,20,high,m\n\
     23,\"self, own\",60,low,f\n34,public,,high,f\n45,private,41,low,m\n",
    "id;when;price;share;y;s\n1;2013-08-13 06:03:42;1.234,5;12 %;1;0\n2;2014-01-02 00:00:00;2,5;3 %;0;1\n\
     3;2015-03-04 10:00:00;0,25;99 %;1;1\n4;2016-07-08 23:59:59;7,0;1 %;0;0\n",
    "x0\tx1\ty\ts\n1\t2\t0\t1\n3\t4\t1\t0\n5\tNA\t0\t0\n-1e300\t1e-300\t1\t1\n",
    "a,a,b\r\n\"q\"\"uote\",1,0\r\n\"new\nline\",2,1\r\n,3,0\r\n",
];

/// Writes the seeds of a target into a folder.
pub fn write(target: &str, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder for seeds can be made");
    for (at, bytes) in seeds(target).into_iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{at}")), bytes).expect("a seed can be written");
    }
}

/// The seeds of a target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "model" => models(),
        "moments" => moments(),
        "schema" => TABLES.iter().filter_map(|t| schema(t)).map(String::into_bytes).collect(),
        "request" => REQUESTS.iter().map(|r| r.as_bytes().to_vec()).collect(),
        "csv" => TABLES.iter().map(|t| t.as_bytes().to_vec()).collect(),
        "csv.gz" => TABLES.iter().map(|t| gzip(t.as_bytes())).collect(),
        "npz" => vec![npz()],
        "safetensors" => vec![tensors()],
        "fit" | "kernels" | "extreme" => (0..32u8)
            .map(|i| (0..80u8).map(|j| i.wrapping_mul(37) ^ j.wrapping_mul(i)).collect())
            .collect(),
        "arrow" => {
            let plain: Vec<_> = TABLES.iter().filter_map(|t| rewritten(t, "arrow")).collect();
            let packed: Vec<_> = plain.iter().flat_map(|bytes| packed(bytes)).collect();
            [plain, packed].concat()
        }
        ending => TABLES.iter().filter_map(|t| rewritten(t, ending)).collect(),
    }
}

/// A table that can be fitted: two numbers, a category, and the labels y and s.
pub fn people(rows: usize) -> String {
    let row = |i: usize| {
        let (a, b) = ((i * 7919 % 101) as f64 / 10.0, (i * 104_729 % 97) as f64 / 10.0);
        let (y, s) = (if a + b > 9.0 { "high" } else { "low" }, if a > 5.0 { "f" } else { "m" });
        format!("{a},{b},{},{y},{s}\n", ["private", "public", "own"][i * 31 % 7 % 3])
    };
    "x0,x1,work,y,s\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// A table as a file of another format; matrices have numbers of their own.
pub fn table(text: &str, ending: &str) -> Vec<u8> {
    match ending {
        "csv" => text.as_bytes().to_vec(),
        "csv.gz" => gzip(text.as_bytes()),
        "npz" => npz(),
        "safetensors" => tensors(),
        ending => rewritten(text, ending).expect("a table can be written"),
    }
}

const REQUESTS: [&str; 5] = [
    "c\nb\na",
    "a:number,b\nc:bins=3\na*b:class",
    ":features\nb,c:kernel\n",
    "a*b\na+c:kernel,a:b,b*d:class:class\nc",
    "b:class\nc:bins,a*b\na,a:b",
];

/// A path in a folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sarl-seeds-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
        Scratch(folder)
    }

    fn table(&self, text: &str) -> PathBuf {
        let path = self.0.join("table.csv");
        std::fs::write(&path, text).expect("a table can be written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The table in another format, with its columns handed through and a column of numbers.
fn rewritten(text: &str, ending: &str) -> Option<Vec<u8>> {
    let scratch = Scratch::new();
    let source = Source::open(&[scratch.table(text)]).ok()?;
    let names: Vec<String> = source.columns().iter().map(|c| c.name.clone()).collect();
    let keep = if ending == "npy" { Vec::new() } else { names.clone() };
    let features = names.first().map(|n| vec![sarl_data::ColumnRef::new(n.clone())]);
    let request = Request {
        features,
        max_categories: Some(9),
        missing: sarl_data::Missing::Mean,
        ..Request::default()
    };
    let schema = Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(())).ok()?;
    let options = BlockOptions { keep: keep.clone(), ..BlockOptions::default() };
    let path = scratch.0.join(format!("table.{ending}"));
    let columns = ["z0".to_owned(), "z1".to_owned()];
    let mut writer = Writer::create(&path, &columns, &keep).ok()?;
    for block in source.blocks(&schema, &options).ok()? {
        let block = block.ok()?;
        let z: Vec<f64> = (0..2 * block.rows).map(|i| i as f64 / 4.0).collect();
        writer.write(&z, block.rows, block.keep.as_ref()).ok()?;
    }
    writer.finish().ok()?;
    std::fs::read(path).ok()
}

fn schema(text: &str) -> Option<String> {
    let scratch = Scratch::new();
    let source = Source::open(&[scratch.table(text)]).ok()?;
    let mut names = source.columns().iter().rev().map(|c| c.name.clone());
    let sensitives = vec![names.next()?.parse().ok()?];
    let targets = Targets::parse(&[names.next()?]).ok()?;
    let missing = sarl_data::Missing::Mean;
    let request =
        Request { targets, sensitives, missing, max_categories: Some(3), ..Request::default() };
    Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(())).ok()?.to_json().ok()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).expect("memory can be written");
    writer.finish().expect("memory can be written")
}

/// An Arrow file with its buffers compressed, in both ways; our own writer does not compress.
pub fn packed(bytes: &[u8]) -> [Vec<u8>; 2] {
    use arrow_ipc::CompressionType;
    use arrow_ipc::reader::FileReader;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    [CompressionType::ZSTD, CompressionType::LZ4_FRAME].map(|way| {
        let pack = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
            let reader = FileReader::try_new(std::io::Cursor::new(bytes), None)?;
            let options = IpcWriteOptions::default().try_with_compression(Some(way))?;
            let schema = reader.schema();
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)?;
            for batch in reader {
                writer.write(&batch?)?;
            }
            Ok(writer.into_inner()?)
        };
        pack().expect("memory can be written")
    })
}

/// Rows of the matrices.
const ROWS: usize = 20;

/// X as our writer writes it, y and s beside it.
fn npz() -> Vec<u8> {
    let array = |columns: usize| {
        let scratch = Scratch::new();
        let path = scratch.0.join("a.npy");
        let names: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
        let mut writer = Writer::create(&path, &names, &[]).expect("an array can be begun");
        let values: Vec<f64> = (0..ROWS * columns).map(|i| (i * 7 % 5 % 2) as f64).collect();
        writer.write(&values, ROWS, None).expect("an array can be written");
        writer.finish().expect("an array can be finished");
        std::fs::read(path).expect("an array can be read")
    };
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, columns) in [("X.npy", 3), ("y.npy", 1), ("s.npy", 1)] {
        let options = zip::write::SimpleFileOptions::default();
        let options = options.compression_method(zip::CompressionMethod::Stored);
        zip.start_file(name, options).expect("memory can be written");
        zip.write_all(&array(columns)).expect("memory can be written");
    }
    zip.finish().expect("memory can be written").into_inner()
}

fn tensors() -> Vec<u8> {
    use safetensors::tensor::{Dtype, TensorView};
    let x: Vec<u8> =
        (0..3 * ROWS).flat_map(|i| ((i * i % 29) as f32 / 3.0).to_le_bytes()).collect();
    let labels: Vec<u8> = (0..ROWS as i64).flat_map(|i| (i % 7 % 2).to_le_bytes()).collect();
    let view = |dtype, shape: Vec<usize>, data| {
        TensorView::new(dtype, shape, data).expect("the shape is that of the data")
    };
    let tensors = [
        ("X", view(Dtype::F32, vec![ROWS, 3], x.as_slice())),
        ("y", view(Dtype::I64, vec![ROWS], labels.as_slice())),
        ("s", view(Dtype::I64, vec![ROWS], labels.as_slice())),
    ];
    safetensors::serialize(tensors, None).expect("memory can be written")
}

/// Fits of 24 rows: linear, scaled, with categories, with a kernel.
fn fits() -> Vec<Fit> {
    let x = Mat::from_fn(24, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 - 15.0);
    let y: Vec<u32> = (0..24).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
    let s: Vec<u32> = (0..24).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
    let codes: Vec<u32> = (0..24).map(|i| i % 3).collect();
    let mut kernel = KernelParams::new(Family::Rbf);
    kernel.landmarks = 4;
    let standard = FitParams { scale: Scale::Standard, folds: 2, ..FitParams::default() };
    let params = [
        FitParams { folds: 1, ..FitParams::default() },
        standard.clone(),
        FitParams { folds: 2, ..FitParams::kernel(kernel) },
    ];
    let fit = |(at, params): (usize, FitParams)| -> Result<Fit, sarl::Error> {
        let (mut layout, mut block) = (Layout::dense(2), Block::new(x.as_ref()));
        if at == 1 {
            (layout, block) = (layout.coded(&[3]), block.coded(&codes));
        }
        let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
        let block = block.class(&y).class(&s);
        let mut fit = Fit::new(params, layout)?;
        if fit.needs_sample() {
            fit.sample(&block)?;
            fit.choose(&|| false)?;
        }
        fit.push(&block)?;
        Ok(fit)
    };
    params.into_iter().enumerate().map(|seed| fit(seed).expect("it can be fitted")).collect()
}

fn models() -> Vec<Vec<u8>> {
    let model = |fit: Fit| {
        let fitted = fit.finish()?;
        let mut model = fitted.solve(Goal::Leakage(0.1))?;
        if let Some(heldout) = fitted.heldout_if_any()? {
            model.keep_heldout(heldout);
        }
        model.to_bytes()
    };
    let mut found: Vec<Vec<u8>> =
        fits().into_iter().map(|fit| model(fit).expect("it can be solved")).collect();
    found.extend([0.0, 0.1].into_iter().filter_map(erasing));
    found.extend(layers());
    found.extend(labelled().into_iter().flatten());
    found
}

/// So are erasures of rows whose labels are known.
fn labelled() -> Option<[Vec<u8>; 2]> {
    let x = Mat::from_fn(24, 3, |i, j| ((i * (5 + 2 * j)) % 13) as f64);
    let s: Vec<u32> = (0..24).map(|i| u32::from(x[(i, 0)] > 6.0)).collect();
    let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
    let block = Block::new(x.as_ref()).class(&s);
    let mut oracle = sarl::OracleSums::new(layout.clone()).ok()?;
    oracle.push(&block).ok()?;
    let mut quadratic = sarl::QuadraticSums::new(layout).ok()?;
    quadratic.push(&block).ok()?;
    Some([oracle.solve().ok()?.to_bytes().ok()?, quadratic.solve().ok()?.to_bytes().ok()?])
}

/// Erasures of layers of a network.
fn layers() -> Option<Vec<u8>> {
    let (found, taken) = (faer::mat![[1.0], [0.0]], faer::mat![[1.0, 0.5]]);
    let layer = sarl::Layer::new("h.0", vec![1.0, 2.0], found, taken).ok()?;
    sarl::Layers::new("parallel", vec![layer]).ok()?.to_bytes().ok()
}

/// A full or a partial erasure is a file of its own kind.
fn erasing(leakage: f64) -> Option<Vec<u8>> {
    let x = Mat::from_fn(24, 3, |i, j| ((i * (5 + 2 * j)) % 13) as f64);
    let s: Vec<u32> = (0..24).map(|i| u32::from(x[(i, 0)] > 6.0)).collect();
    let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).ok()?;
    fit.push(&Block::new(x.as_ref()).class(&s)).ok()?;
    fit.finish().ok()?.erase(Goal::Leakage(leakage)).ok()?.to_bytes().ok()
}

fn moments() -> Vec<Vec<u8>> {
    let fits = fits();
    let mut found: Vec<Vec<u8>> =
        fits.iter().map(|fit| fit.to_bytes(Default::default()).expect("sums are bytes")).collect();
    let maps = fits.iter().filter_map(|fit| fit.chosen().ok()?).map(|chosen| chosen.map);
    found.extend(maps);
    found
}
