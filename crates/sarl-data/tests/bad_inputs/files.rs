//! Files that disagree, are damaged or have the wrong shape.

use super::*;

#[test]
fn files_that_do_not_agree() {
    let (folder, first) = text_file("1.csv", "a,y,s\n1,u,p\n2,v,q\n");
    let second = folder.path().join("2.csv");
    fs::write(&second, "a,s,z\n1,p,3\n").unwrap();
    let (message, _, class) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "2.csv: column `y` is not there, but it is in 1.csv");
    assert_eq!(class, ExitClass::Data);
    fs::write(&second, "a,s,y,z\n1,p,u,3\n").unwrap();
    let (message, ..) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "1.csv: column `z` is not there, but it is in 2.csv");
    fs::write(&second, "s,y,a\np,u,word\n").unwrap();
    let (message, ..) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "2.csv: column `a` holds text, expected integers as in 1.csv");
}

#[test]
fn damaged_archives() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_parquet(&at("a.parquet"), &table(2000), 500);
    let whole = fs::read(at("a.parquet")).unwrap();
    fs::write(at("cut.parquet"), &whole[..whole.len() / 2]).unwrap();
    let (message, _, class) = said(Source::open(&[at("cut.parquet")]), folder.path());
    assert!(message.starts_with("cut.parquet: not a readable Parquet file: "), "{message}");
    assert_eq!(class, ExitClass::Data);

    write_gz(&at("a.csv.gz"), &csv_text(&table(2000)));
    let whole = fs::read(at("a.csv.gz")).unwrap();
    fs::write(at("cut.csv.gz"), &whole[..whole.len() / 2]).unwrap();
    let (message, _, class) = said(learn(&at("cut.csv.gz"), &table_request()), folder.path());
    assert!(message.starts_with("cut.csv.gz: not a readable gzip file: "), "{message}");
    assert_eq!(class, ExitClass::Data);

    write_arrow(&at("a.arrow"), &table(2000), 500);
    let whole = fs::read(at("a.arrow")).unwrap();
    fs::write(at("cut.arrow"), &whole[..whole.len() / 2]).unwrap();
    let (message, ..) = said(Source::open(&[at("cut.arrow")]), folder.path());
    assert!(message.starts_with("cut.arrow: not a readable Arrow file: "), "{message}");

    write_safetensors(&at("a.safetensors"), &matrix(100));
    let whole = fs::read(at("a.safetensors")).unwrap();
    fs::write(at("cut.safetensors"), &whole[..whole.len() - 100]).unwrap();
    let (message, ..) = said(Source::open(&[at("cut.safetensors")]), folder.path());
    assert_eq!(
        message,
        "cut.safetensors: not a readable safetensors file: it has 3500 bytes of data, expected 3600"
    );

    let x = npy(&[10, 5], &[0.5f32; 50], Order::C);
    open_says(
        "a.npy",
        &x[..x.len() - 8],
        "a.npy: not a readable NPY file: array `X` has 192 bytes, expected 200",
    );
    open_says(
        "a.npy",
        b"hello numpy",
        "a.npy: not a readable NPY file: it does not start with NumPy's magic number",
    );
    open_says(
        "a.arrow",
        b"hello arrow",
        "a.arrow: not a readable Arrow file: it starts with neither the file nor the stream marker",
    );
}

#[test]
fn arrays_of_the_wrong_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let says = |arrays: &[(&str, Vec<u8>)]| {
        write_npz(&path, arrays, false);
        said(Source::open(&[&path]), folder.path()).0
    };
    let x = || npy(&[4, 2], &[1f32; 8], Order::C);
    assert_eq!(says(&[("features", x())]), "a.npz: no array `X`; found: features");
    assert_eq!(
        says(&[("X", npy(&[8], &[1f32; 8], Order::C))]),
        "a.npz: array `X` has 1 dimensions, expected two dimensions, rows by features"
    );
    assert_eq!(
        says(&[("X", x()), ("y", npy(&[2, 2, 1], &[1i64; 4], Order::C))]),
        "a.npz: array `y` has 3 dimensions, expected one or two dimensions"
    );
    assert_eq!(
        says(&[("X", x()), ("y", npy(&[3], &[1i64; 3], Order::C))]),
        "a.npz: array `y` has 3 rows, expected 4 as in `X`"
    );
    assert_eq!(says(&[("X", npy::<f32>(&[0, 2], &[], Order::C))]), "a.npz: no rows");
    let header = |descr: &str, shape: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes
    };
    assert_eq!(
        says(&[("X", header("'|O'", "(4, 2)"))]),
        "a.npz: array `X` has pickled Python objects, expected plain numbers (objects are never unpickled)"
    );
    assert_eq!(
        says(&[("X", header("'<c16'", "(4, 2)"))]),
        "a.npz: array `X` has the type `<c16`, expected numbers, booleans or text"
    );
    assert_eq!(
        says(&[("X", header("'<f8'", "(4000000000, 4000000000, 4000000000)"))]),
        "a.npz: not a readable NPZ file: its shape is beyond all bounds"
    );
    assert!(
        says(&[("X", header("[('a', '<f8')]", "(4, 2)"))]).contains("the type `[('a', '<f8')]`")
    );
}
