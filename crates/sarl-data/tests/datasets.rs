//! The known data sets: fetched, made tidy, and, where the real files are here, compared with
//! what the paper's authors made of them.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests, which say when they skip

#[path = "common/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sarl_data::{
    DataError, Dataset, DatasetFile, DatasetTable, DownloadOptions, ExitClass, Missing, Places,
    RawForm, Remote, Request, Schema, Source, Targets, download, tidy,
};
use server::{Answer, Server, names, sha256};

/// A data set of one raw table on a server.
fn dataset(url: &str, raw: &str) -> Dataset {
    let (url, sha256) = (url.to_owned().leak(), sha256(raw.as_bytes()).leak());
    let remote = Remote { url, bytes: raw.len() as u64, sha256 };
    let files = vec![
        DatasetFile { name: "adult.data", remote: Some(remote) },
        DatasetFile { name: "features.npz", remote: None },
    ];
    let form = RawForm::Adult;
    Dataset {
        name: "people",
        description: "",
        source: "",
        licence: "",
        files: files.leak(),
        tables: vec![DatasetTable { name: "train.csv", from: "adult.data", form }].leak(),
        advice: Some("make the features and save them"),
    }
}

const RAW: &str = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, \
                   Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n";

#[test]
fn a_data_set_is_fetched_and_made_tidy_once() {
    let server = Server::new(|_, _| Answer::whole(RAW.as_bytes()));
    let set = dataset(&server.url, RAW);
    let home = tempfile::tempdir().unwrap();
    let places = Places { user: Some(home.path().to_owned()), ..Places::default() };
    let mut told = Vec::new();
    let mut fetch = || {
        set.fetch(&places, &mut |file, transfer| {
            told.push((file.name, transfer.done));
            ControlFlow::Continue(())
        })
    };
    let fetched = fetch().unwrap();
    let folder = home.path().join("people");
    assert_eq!(fetched.files, [folder.join("adult.data")]);
    assert_eq!(fetched.tables, [folder.join("train.csv")]);
    assert_eq!(fetched.missing, ["features.npz"]);
    let advice = format!("make the features and save them as features.npz in {}", folder.display());
    assert_eq!(fetched.advice, Some(advice));
    assert_eq!(fetch().unwrap(), fetched);
    assert_eq!(server.ranges().len(), 1);
    assert_eq!(told.last(), Some(&("adult.data", RAW.len() as u64)));
    assert_eq!(names(&folder), ["adult.data", "train.csv"]);
}

#[test]
fn folders_that_cannot_be_written_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let (chosen, user) = (root.path().join("chosen"), root.path().join("user"));
    fs::create_dir_all(chosen.join("people")).unwrap();
    fs::write(chosen.join("people/adult.data"), RAW).unwrap();
    let read_only = |folder: &Path, on: bool| {
        let mut permissions = fs::metadata(folder).unwrap().permissions();
        permissions.set_readonly(on);
        fs::set_permissions(folder, permissions).unwrap();
    };
    read_only(&chosen.join("people"), true);
    let set = dataset("http://127.0.0.1:9/not-asked", RAW);
    let places = Places { chosen: Some(chosen.clone()), user: Some(user.clone()), near: vec![] };
    let fetched = set.fetch(&places, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(fetched.files, [chosen.join("people/adult.data")]);
    assert_eq!(fetched.tables, [user.join("people/train.csv")]);
    assert_eq!(names(&chosen.join("people")), ["adult.data"]);
    // Without another folder that is an error.
    let places = Places { chosen: Some(chosen.clone()), ..Places::default() };
    let error = set.tidy(&places).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Machine);
    read_only(&chosen.join("people"), false);
    // Where it can be written the table goes beside the raw file.
    assert_eq!(set.tidy(&places).unwrap(), [chosen.join("people/train.csv")]);
}

#[test]
fn data_sets_that_cannot_be_downloaded_say_what_to_do() {
    let places = Places { user: Some(PathBuf::from("home")), ..Places::default() };
    for (name, files, advice) in [
        ("gaussian", "train.npz and test.npz", "`sarl demo` draws such a sample"),
        ("yaleb", "train.npz and test.npz", "get the pictures at http://vision.ucsd.edu/"),
        ("acs", "acs_income_2018.parquet", "get the person records of 2018 at https://www.census"),
    ] {
        let set = sarl_data::dataset(name).unwrap();
        let error = set.fetch(&places, &mut |_, _| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(error.to_string(), format!("data set `{name}`: {files} cannot be downloaded"));
        assert_eq!(error.exit_class(), ExitClass::Machine);
        let hint = error.hint().unwrap();
        assert!(hint.starts_with(advice), "{hint}");
        let end = format!(" as {files} in {}", Path::new("home").join(name).display());
        assert!(hint.ends_with(&end), "{hint}");
    }
}

/// What `tidy` makes of a text, or what it says.
fn tidied(form: RawForm, text: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let (raw, table) = (folder.path().join("raw"), folder.path().join("table.csv"));
    fs::write(&raw, text).unwrap();
    match tidy(form, &raw, &table) {
        Ok(rows) => {
            let text = fs::read_to_string(table).unwrap();
            assert_eq!(text.lines().count() as u64, rows + 1);
            Ok(text)
        }
        Err(error) => {
            assert_eq!(names(folder.path()), ["raw"]);
            Err(error.to_string().replace(&raw.display().to_string(), "raw"))
        }
    }
}

#[test]
fn adult_as_a_table() {
    let raw = "|1x3 Cross validator\n\
        25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n\
        18, ?, 103497, Some-college, 10, Never-married, ?, Own-child, White, Female, 0, 0, 30, ?, >50K.\r\n\
        39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K\n\n";
    let table = "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,income\n\
        25,Private,226802,11th,7,Never-married,Machine-op-inspct,Own-child,Black,Male,0,0,40,United-States,<=50K\n\
        18,,103497,Some-college,10,Never-married,,Own-child,White,Female,0,0,30,,>50K\n\
        39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K\n";
    assert_eq!(tidied(RawForm::Adult, raw).unwrap(), table);
}

#[test]
fn german_credit_as_a_table() {
    let raw = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n\
        A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 25 A143 A152 1 A173 1 A191 A201 2\n\
        A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 26 A143 A152 1 A173 1 A191 A201 2\n";
    let table = "checking_status,duration,credit_history,purpose,credit_amount,savings,employment,installment_rate,personal_status_sex,other_debtors,residence_since,property,age,other_installment_plans,housing,existing_credits,job,dependents,telephone,foreign_worker,credit,age_group\n\
        A11,6,A34,A43,1169,A65,A75,4,A93,A101,4,A121,67,A143,A152,2,A173,1,A192,A201,good,old\n\
        A12,48,A32,A43,5951,A61,A73,2,A92,A101,2,A121,25,A143,A152,1,A173,1,A191,A201,bad,young\n\
        A12,48,A32,A43,5951,A61,A73,2,A92,A101,2,A121,26,A143,A152,1,A173,1,A191,A201,bad,old\n";
    assert_eq!(tidied(RawForm::German, raw).unwrap(), table);
}

#[test]
fn raw_files_that_are_not_what_they_should_be() {
    let adult = |text: &str| tidied(RawForm::Adult, text).unwrap_err();
    let german = |text: &str| tidied(RawForm::German, text).unwrap_err();
    assert_eq!(adult("|only a remark\n"), "raw: no rows");
    assert_eq!(
        adult(&format!("{RAW}1, 2\n")),
        "raw: not a readable UCI Adult file: line 2: found 2 cells, expected 15"
    );
    assert_eq!(
        adult(&RAW.replace("<=50K", "50K")),
        "raw: not a readable UCI Adult file: line 1: found `50K`, expected <=50K or >50K"
    );
    let row = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1";
    assert_eq!(
        german(&row.replace(" 67 ", " old ")),
        "raw: not a readable UCI German credit file: line 1: found the age `old`, expected a \
         whole number"
    );
    assert_eq!(
        german(&row.replace("A201 1", "A201 3")),
        "raw: not a readable UCI German credit file: line 1: found `3`, expected 1 or 2"
    );
    let missing = tidy(RawForm::Adult, Path::new("nowhere/raw"), Path::new("table.csv"));
    assert!(matches!(missing, Err(DataError::NotFound { .. })), "{missing:?}");
}

/// A real file, or word that the test is skipped.
fn data(name: &str) -> Option<PathBuf> {
    let set = std::env::var_os("SARL_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let found = set.into_iter().chain([beside]).map(|f| f.join(name)).find(|p| p.exists());
    if found.is_none() {
        // Past the harness, which swallows what passing tests print.
        let mut out = std::io::stderr();
        assert!(std::env::var_os("SARL_REQUIRE_DATA").is_none(), "the real data is required");
        writeln!(out, "SKIPPED: no {name} in SARL_DATA or beside the repository").unwrap();
    }
    found
}

/// A file as UCI has it: our copy of `adult.test` may lack the remark on its first line.
fn as_distributed(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    match path.ends_with("adult.test") && !bytes.starts_with(b"|") {
        true => [b"|1x3 Cross validator\n", &bytes[..]].concat(),
        false => bytes,
    }
}

#[test]
fn the_known_checksums_are_those_of_the_real_files() {
    for set in ["adult", "german"].map(|name| sarl_data::dataset(name).unwrap()) {
        for file in set.files {
            let Some(path) = data(&format!("{}/{}", set.name, file.name)) else { continue };
            let bytes = as_distributed(&path);
            let folder = tempfile::tempdir().unwrap();
            let server = Server::new(move |_, asked| Answer::part(&bytes, asked));
            let remote = Remote { url: &server.url, ..file.remote.unwrap() };
            let mut go_on = |_| ControlFlow::Continue(());
            let target = folder.path().join(file.name);
            download(&remote, &target, &DownloadOptions::default(), &mut go_on).unwrap();
            assert_eq!(names(folder.path()), [file.name]);
        }
    }
}

type Rows = Vec<BTreeMap<String, String>>;

/// The rows of the table of a real raw file, read by the `csv` crate alone, and its path.
fn real_table(folder: &Path, form: RawForm, raw: &Path, name: &str) -> (PathBuf, Rows) {
    let distributed = folder.join("raw");
    fs::write(&distributed, as_distributed(raw)).unwrap();
    let table = folder.join(name);
    let rows = tidy(form, &distributed, &table).unwrap();
    let mut reader = csv::Reader::from_path(&table).unwrap();
    let read: Rows = reader.deserialize().map(|row| row.unwrap()).collect();
    assert_eq!(read.len() as u64, rows);
    (table, read)
}

/// How often each pair of values occurs.
fn counts<T: Ord>(pairs: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    pairs.for_each(|pair| *counts.entry(pair).or_default() += 1);
    counts
}

/// An array of the authors' encoding.
fn array<T: npyz::Deserialize>(path: &Path, name: &str) -> Vec<T> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let member = archive.by_name(&format!("{name}.npy")).unwrap();
    npyz::NpyFile::new(member).unwrap().into_vec().unwrap()
}

#[test]
fn adult_is_what_the_authors_encoded() {
    for (raw, encoded, all, complete) in [
        ("adult/adult.data", "adult/train.npz", 32_561, 30_162),
        ("adult/adult.test", "adult/test.npz", 16_281, 15_060),
    ] {
        let (Some(raw), Some(encoded)) = (data(raw), data(encoded)) else { return };
        let folder = tempfile::tempdir().unwrap();
        let (table, rows) = real_table(folder.path(), RawForm::Adult, &raw, "table.csv");
        assert_eq!(rows.len(), all);
        let whole: Rows =
            rows.into_iter().filter(|row| row.values().all(|cell| !cell.is_empty())).collect();
        assert_eq!(whole.len(), complete);
        let ours =
            whole.iter().map(|r| ((r["income"] == ">50K") as i64, (r["sex"] == "Male") as i64));
        let (y, s) = (array::<i64>(&encoded, "y"), array::<i64>(&encoded, "s"));
        assert_eq!(counts(ours), counts(y.into_iter().zip(s)));
        // And our own reader takes it as it is.
        let request = Request {
            targets: Targets::parse(&["income"]).unwrap(),
            sensitives: vec!["sex".parse().unwrap()],
            missing: Missing::Drop,
            ..Request::default()
        };
        let source = Source::open(&[&table]).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        let schema = Schema::learn(&source, &request, go_on).unwrap();
        assert_eq!(
            (schema.rows(), schema.dropped_rows()),
            (complete as u64, (all - complete) as u64)
        );
    }
}

#[test]
fn german_credit_is_what_the_authors_encoded() {
    let (Some(raw), Some(encoded)) = (data("german/german.data"), data("german/all.npz")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_, rows) = real_table(folder.path(), RawForm::German, &raw, "german.csv");
    assert_eq!(rows.len(), 1000);
    let (x, y, s) =
        (array::<f32>(&encoded, "X"), array::<i64>(&encoded, "y"), array::<i64>(&encoded, "s"));
    // Their rows are shuffled, but the tenth feature is the age in years.
    let ages: Vec<i64> = x.chunks(24).map(|row| row[9] as i64).collect();
    assert!(ages.iter().zip(&s).all(|(&age, &s)| (age > 25) == (s == 1)));
    let theirs = ages.into_iter().zip(y).zip(s);
    let ours = rows.iter().map(|r| {
        let age: i64 = r["age"].parse().unwrap();
        ((age, (r["credit"] == "bad") as i64), (r["age_group"] == "old") as i64)
    });
    assert_eq!(counts(ours), counts(theirs));
}
