//! What columns are taken for: numbers and dates as text, gaps, identifiers, pools, whole numbers.
#![allow(clippy::unwrap_used, clippy::panic)] // tests

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, RecordBatch, StringArray, TimestampMillisecondArray};
use common::*;
use sarl_data::{
    BlockOptions, ColumnRef, DataError, DateOrder, Decimal, FeatureValues, Gaps, LabelValues,
    Labels, Missing, Request, Result, Schema, Source, Treat, UNSEEN, Written,
};

/// Numbers as they are, so that cells can be compared.
fn plain(request: Request) -> Request {
    request
}

/// A table with one feature `a` and labels.
fn one(cells: &[&str]) -> String {
    let rows = cells.iter().enumerate();
    let line = |(i, cell): (usize, &&str)| {
        format!("\"{cell}\",{},{}\n", ["u", "v"][i % 2], ["q", "p"][i % 2])
    };
    format!("a,y,s\n{}", rows.map(line).collect::<String>())
}

fn learned(text: &str, request: &Request) -> Result<(Schema, Vec<f64>)> {
    let (_folder, path) = text_file("a.csv", text);
    let schema = learn(&path, request)?;
    let source = Source::open(&[&path]).unwrap();
    let blocks = source.blocks(&schema, &BlockOptions::default())?;
    let dense = blocks.map(|b| b.map(|b| b.dense)).collect::<Result<Vec<_>>>()?.concat();
    Ok((schema, dense))
}

fn written(schema: &Schema) -> Written {
    match schema.features()[0].values {
        FeatureValues::Number { written, .. } => written,
        FeatureValues::Category { .. } => panic!("not a number"),
    }
}

#[test]
fn numbers_as_text() {
    let request = plain(request("y", "s"));
    let tables: [(&[&str], &[f64]); 6] = [
        (&["1,234.50", "7", "-2,000"], &[1234.5, 7.0, -2000.0]),
        (&["$5", "$1,000", "3"], &[5.0, 1000.0, 3.0]),
        (&["12 %", "7%", "100 %"], &[12.0, 7.0, 100.0]),
        (&["1.234,5", "7", "0,25"], &[1234.5, 7.0, 0.25]),
        (&["(3.5)", "2", "€4"], &[-3.5, 2.0, 4.0]),
        (&["1 000", "2\u{a0}000", "7"], &[1000.0, 2000.0, 7.0]),
    ];
    for (cells, values) in tables {
        let (schema, dense) = learned(&one(cells), &request).unwrap();
        assert_eq!(dense, values, "{cells:?}");
        assert!(schema.notes()[0].contains("read as numbers"), "{:?}", schema.notes());
    }
    let (schema, _) = learned(&one(&["1.234,5", "7"]), &request).unwrap();
    assert_eq!(written(&schema), Written::Number { decimal: Decimal::Comma, unit: None });
    // Mixed units and mixed conventions are no numbers.
    for cells in [["12 %", "0.5"], ["$5", "€5"], ["1.5", "1,5"]] {
        let (schema, _) = learned(&one(&cells), &request).unwrap();
        assert!(matches!(schema.features()[0].values, FeatureValues::Category { .. }), "{cells:?}");
    }
}

#[test]
fn dates_as_text() {
    let request = plain(request("y", "s"));
    let (schema, dense) = learned(
        &one(&["2013-08-13 06:00:00", "1970-01-02", "NULL", ""]),
        &Request { missing: Missing::Drop, ..request.clone() },
    )
    .unwrap();
    assert_eq!((dense, schema.dropped_rows()), (vec![15_930.25, 1.0], 2));
    let (schema, dense) = learned(&one(&["02/01/1970", "01/13/1970"]), &request).unwrap();
    assert_eq!(written(&schema), Written::Date { order: DateOrder::Mdy });
    assert_eq!(dense, [31.0, 12.0]);
    let (_, dense) = learned(&one(&["02/01/1970", "13/01/1970"]), &request).unwrap();
    assert_eq!(dense, [1.0, 12.0]);
    // Nobody can tell month and day apart here.
    let (schema, _) = learned(&one(&["02/01/1970", "03/01/1970"]), &request).unwrap();
    assert!(matches!(schema.features()[0].values, FeatureValues::Category { .. }));
    let explicit = Request { features: Some(vec!["a:number".parse().unwrap()]), ..request };
    let error = learned(&one(&["02/01/1970", "03/01/1970"]), &explicit).err().unwrap();
    assert!(matches!(error, DataError::EitherDate { .. }));
}

#[test]
fn the_cell_that_decides_may_be_far_down() {
    let request = plain(request("y", "s"));
    let mut cells = vec!["1,000"; 20_000];
    cells.push("2,5");
    let (schema, dense) = learned(&one(&cells), &request).unwrap();
    assert_eq!(written(&schema), Written::Number { decimal: Decimal::Comma, unit: None });
    assert_eq!((dense[0], dense[20_000]), (1.0, 2.5));
    cells.push("many");
    let (schema, _) = learned(&one(&cells), &request).unwrap();
    assert!(matches!(schema.features()[0].values, FeatureValues::Category { .. }));
}

#[test]
fn typed_files_are_read_alike() {
    let (folder, csv) = text_file(
        "a.csv",
        "a,d,t,y,s\n\"1,000\",1970-01-11,1970-01-02 12:00,u,p\n2,1970-01-21,1970-01-01 06:00,v,q\n-,1970-01-31,1970-01-01,u,q\n",
    );
    let text = |cells: [&str; 3]| Arc::new(StringArray::from(cells.to_vec())) as ArrayRef;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", text(["1,000", "2", "-"])),
        ("d", Arc::new(Date32Array::from(vec![10, 20, 30]))),
        ("t", Arc::new(TimestampMillisecondArray::from(vec![129_600_000, 21_600_000, 0]))),
        ("y", text(["u", "v", "u"])),
        ("s", text(["p", "q", "q"])),
    ];
    let parquet = folder.path().join("a.parquet");
    write_parquet(&parquet, &RecordBatch::try_from_iter(columns).unwrap(), 2);
    let request = plain(Request { missing: Missing::Mean, ..request("y", "s") });
    let dense = |fitted: &std::path::Path, read: &std::path::Path| {
        let schema = learn(fitted, &request).unwrap();
        let source = Source::open(&[read]).unwrap();
        let blocks = source.blocks(&schema, &BlockOptions::default()).unwrap();
        blocks.map(|b| b.unwrap().dense).collect::<Vec<_>>().concat()
    };
    let expected = [1000.0, 10.0, 1.5, 2.0, 20.0, 0.25, 501.0, 30.0, 0.0];
    for fitted in [&csv, &parquet] {
        for read in [&csv, &parquet] {
            assert_eq!(dense(fitted, read), expected, "{fitted:?} {read:?}");
        }
    }
}

#[test]
fn gaps_by_their_spelling() {
    let request = plain(Request { missing: Missing::Mean, ..request("y", "s") });
    let (schema, dense) = learned(&one(&["1", "None", "3", "-", ".", "N/A"]), &request).unwrap();
    assert_eq!((schema.features()[0].missing, dense[1]), (4, 2.0));
    assert!(schema.notes().iter().any(|n| n.contains("4 missing cells")), "{:?}", schema.notes());
    // Among words they are words.
    let (schema, _) = learned(&one(&["x", "None", "y", "-", "N/A"]), &request).unwrap();
    let FeatureValues::Category { values, .. } = &schema.features()[0].values else { panic!() };
    assert_eq!(values, &["-", "None", "x", "y"]);
    let tokens = Request {
        missing_values: vec!["-".to_owned(), "-999".to_owned(), "None".to_owned()],
        ..request
    };
    let (schema, _) = learned(&one(&["x", "None", "y", "-", "N/A"]), &tokens).unwrap();
    assert_eq!(schema.features()[0].missing, 3);
    let (schema, dense) = learned(&one(&["1", "-999", "3"]), &tokens).unwrap();
    assert_eq!((schema.features()[0].missing, dense[1]), (1, 2.0));
    // The model remembers them.
    let back = Schema::from_json(&schema.to_json().unwrap()).unwrap();
    assert_eq!(back.missing_values(), tokens.missing_values);
}

#[test]
fn a_token_is_a_gap_in_numbers_of_typed_files_too() {
    let batch = table(60);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_parquet(&path, &batch, 50);
    let tokens = Request {
        missing: Missing::Drop,
        missing_values: vec!["18".to_owned(), "private".to_owned()],
        ..table_request()
    };
    let schema = learn(&path, &tokens).unwrap();
    let missing = |name: &str| schema.features().iter().find(|f| f.name == name).unwrap().missing;
    assert_eq!((missing("age"), missing("work")), (1, 20));
}

/// A label of the whole numbers 0, 1, …, `different` − 1.
fn whole(different: usize, more: &str) -> String {
    let line = |i: usize| format!("{},{},{}\n", i * i % 7, i % different, ["p", "q"][i / 3 % 2]);
    format!("a,y,s\n{}{more}", (0..200).map(line).collect::<String>())
}

#[test]
fn whole_numbers_as_labels() {
    let values = |text: &str, target: &str| {
        let (_folder, path) = text_file("a.csv", text);
        let schema = learn(&path, &request(target, "s")).unwrap();
        (schema.targets()[0].values.clone(), schema.notes())
    };
    let (few, notes) = values(&whole(20, ""), "y");
    assert!(matches!(few, LabelValues::Class { values, .. } if values.len() == 20));
    assert_eq!(notes, Vec::<String>::new());
    let (many, notes) = values(&whole(21, ""), "y");
    assert!(
        matches!(many, LabelValues::Number { whole: Some(21), mean, .. } if (mean - 9.725).abs() < 1e-12)
    );
    assert_eq!(
        notes,
        ["`y`: 21 different whole numbers, taken as a number; `y:class` makes them classes"]
    );
    let (classes, notes) = values(&whole(21, ""), "y:class");
    assert!(matches!(classes, LabelValues::Class { values, .. } if values.len() == 21));
    assert!(notes.is_empty());
    // One real among them makes all of them numbers, wherever it is.
    let (real, _) = values(&whole(3, "1,0.5,p\n"), "y");
    assert!(matches!(real, LabelValues::Number { whole: None, .. }));
}

/// Rows whose text `a` comes as often as the numbers say.
fn frequent(counts: &[usize]) -> String {
    let mut text = "a,b,y,s\n".to_owned();
    for (value, count) in counts.iter().enumerate() {
        for i in 0..*count {
            text.push_str(&format!("v{value},{i},{},{}\n", (i + value) % 2, (i + value) % 3));
        }
    }
    text
}

#[test]
fn rare_values_are_pooled() {
    let text = frequent(&[5, 1, 7, 2, 2]);
    let pooled = Request { max_categories: Some(3), ..request("y", "s") };
    let (_folder, path) = text_file("a.csv", &text);
    let schema = learn(&path, &pooled).unwrap();
    let FeatureValues::Category { values, pooled, fill, .. } = &schema.features()[0].values else {
        panic!()
    };
    assert_eq!(
        (values.as_slice(), *pooled, *fill),
        (&["v0", "v2", "other"].map(String::from)[..], true, 1)
    );
    // New values are among the others, without being asked.
    let (_folder, new) = text_file("b.csv", "a,b\nv2,1\nv4,1\nnew,1\nother,1\n");
    let skip = BlockOptions { labels: Labels::Skip, ..BlockOptions::default() };
    let mut blocks = Source::open(&[&new]).unwrap().blocks(&schema, &skip).unwrap();
    assert_eq!(blocks.next().unwrap().unwrap().codes[0].codes, [1, 2, 2, 2]);
    // Enough categories for all: nothing is pooled.
    let all = Request { max_categories: Some(5), ..request("y", "s") };
    let schema = learn(&path, &all).unwrap();
    assert!(
        matches!(&schema.features()[0].values, FeatureValues::Category { values, pooled: false, .. } if values.len() == 5)
    );
}

#[test]
fn all_identifiers_are_named_at_once() {
    let line = |i: usize| format!("n{i},x{},c{},{},{},\n", i % 80, i % 40, i % 2, i % 3);
    let text = format!("name,often,kind,y,s,nothing\n{}", (0..120).map(line).collect::<String>());
    let (_folder, path) = text_file("a.csv", &text);
    let error = learn(&path, &request("y", "s")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "nothing can be learned from columns `name` (120 different texts), \
         `often` (80 different texts), `nothing` (empty) in 120 rows"
    );
    assert_eq!(
        error.hint().unwrap(),
        "leave them out: --drop name,often,nothing; or keep the most frequent values: \
         --max-categories 50"
    );
    // Who says that they are categories is believed.
    let said = Request {
        categorical: vec!["name".to_owned(), "often".to_owned()],
        drop: vec!["nothing".to_owned()],
        ..request("y", "s")
    };
    assert_eq!(learn(&path, &said).unwrap().width(), 240);
}

#[test]
fn names_that_come_twice_or_end_in_space() {
    let (_folder, path) =
        text_file("a.csv", "a,a,\u{a0}b\u{a0},a.1,y,s\n1,2,3,4,u,p\n5,6,8,8,v,q\n");
    let source = Source::open(&[&path]).unwrap();
    let names: Vec<&str> = source.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "a.2", "b", "a.1", "y", "s"]);
    assert_eq!(source.renamed(), ["a.2"]);
    let drop = ["a.2".to_owned(), "b\u{a0}".to_owned()];
    let schema = learn(&path, &Request { drop: drop.to_vec(), ..request("y", "s") }).unwrap();
    assert_eq!(schema.feature_names(), ["a", "a.1"]);
}

#[test]
fn other_delimiters_and_endings() {
    for (name, text) in [
        ("a.tsv", "a\ty\ts\n1\tu\tp\n2\tv\tq\n"),
        ("a.txt", "a|y|s\n1|u|p\n2|v|q\n"),
        ("a.psv", "a|y|s\n1|u|p\n2|v|q\n"),
        ("a.tab", "a;y;s\n1;u;p\n2;v;q\n"),
    ] {
        let (_folder, path) = text_file(name, text);
        assert_eq!(learn(&path, &request("y", "s")).unwrap().feature_names(), ["a"], "{name}");
    }
}

#[test]
fn rows_with_gaps_keep_their_place() {
    let text = "a,k,y,s\n1,x,u,p\n,z,v,q\n3,x,,q\n4,only here,,p\n5,y,v,q\n";
    let (_folder, path) = text_file("a.csv", text);
    let request = plain(Request { missing: Missing::Drop, ..request("y", "s") });
    let schema = learn(&path, &request).unwrap();
    let FeatureValues::Category { values, spare, .. } = &schema.features()[1].values else {
        panic!()
    };
    assert_eq!((values.join(","), spare.join(",")), ("x,y".to_owned(), "only here,z".to_owned()));
    let options = BlockOptions { labels: Labels::Skip, gaps: Gaps::Mark, ..Default::default() };
    let source = Source::open(&[&path]).unwrap();
    let blocks: Vec<_> = source.blocks(&schema, &options).unwrap().map(Result::unwrap).collect();
    assert_eq!((blocks[0].rows, blocks[0].gaps.as_slice()), (5, &[1][..]));
    assert_eq!(blocks[0].dense, [1.0, 3.0, 3.0, 4.0, 5.0]);
    assert_eq!(blocks[0].codes[0].codes, [0, UNSEEN, 0, UNSEEN, 1]);
    // Another policy than that of the fit.
    let filled = BlockOptions { missing: Some(Missing::Mean), ..options };
    let blocks: Vec<_> = source.blocks(&schema, &filled).unwrap().map(Result::unwrap).collect();
    assert!(blocks[0].gaps.is_empty());
}

#[test]
fn space_around_what_is_typed_does_not_count() {
    for text in ["age:kernel", " age:kernel ", "age :kernel\u{a0}", "\u{b}age:kernel\t"] {
        let column: ColumnRef = text.parse().unwrap();
        assert_eq!(column.to_string(), "age:kernel", "{text:?}");
        assert_eq!(column.treat, Some(Treat::Kernel), "{text:?}");
    }
}
