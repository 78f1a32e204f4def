//! Schemas that do not fit, are hostile or not known.

use super::*;

#[test]
fn data_that_the_schema_does_not_fit() {
    let (folder, path) = text_file("a.csv", "age,work,y,s\n1,private,u,p\n2,public,v,q\n");
    let schema = learn(&path, &request("y", "s")).unwrap();
    let skip = BlockOptions { labels: Labels::Skip, ..BlockOptions::default() };
    let other = folder.path().join("b.csv");
    let says = |text: &str, options: &BlockOptions| {
        fs::write(&other, text).unwrap();
        said(blocks(&other, &schema, options), folder.path())
    };
    let (message, hint, class) = says("age,work\n1,private\n2,retired\n", &skip);
    assert_eq!(
        message,
        "b.csv: column `work`, row 2: new category `retired`, expected one of the 2 learned"
    );
    assert_eq!(hint.unwrap(), "use --unseen ignore to encode new categories as all zeros");
    assert_eq!(class, ExitClass::Data);
    let (message, hint, _) = says("ages,work\n1,private\n", &skip);
    assert_eq!(message, "b.csv: no column `age`, which the model needs");
    assert_eq!(hint.unwrap(), "did you mean `ages`?");
    let (message, ..) = says("age,work\nold,private\n", &skip);
    assert_eq!(message, "b.csv: column `age`, row 1: found `old`, expected a number");
    let (message, ..) = says("age,work\n1,private\n,public\n", &skip);
    assert_eq!(message, "b.csv: column `age`, row 2: the value is missing");
    let (message, ..) = says("age,work\n1,private\n", &BlockOptions::default());
    assert_eq!(message, "b.csv: no column `y`, which the model needs");
    let keep = BlockOptions { keep: vec!["id".to_owned()], ..skip.clone() };
    let (message, ..) = says("age,work\n1,private\n", &keep);
    assert_eq!(message, "unknown column `id`");

    fs::write(&other, "age,work\n1,private\n2,retired\n").unwrap();
    let ignore = BlockOptions { unseen: Unseen::Ignore, ..skip.clone() };
    let block = blocks(&other, &schema, &ignore).unwrap().remove(0);
    assert_eq!(block.codes[0].codes, [0, UNSEEN]);
    assert_eq!(block.densify()[3..], [2.0, 0.0, 0.0]);

    // A typed column of the wrong type.
    let typed = folder.path().join("b.parquet");
    let renamed = table(10).project(&[2, 2]).unwrap();
    let columns = ["age", "work"].into_iter().zip(renamed.columns().iter().cloned());
    write_parquet(&typed, &arrow_array::RecordBatch::try_from_iter(columns).unwrap(), 10);
    let (message, ..) = said(blocks(&typed, &schema, &skip), folder.path());
    assert_eq!(message, "b.parquet: column `age` holds text, expected numbers");
}

#[test]
fn rows_are_counted_past_those_left_out() {
    let (folder, path) = text_file("a.csv", "a,b,y,s\n1,x,u,p\n2,z,v,q\n");
    let schema = learn(&path, &Request { missing: Missing::Drop, ..request("y", "s") }).unwrap();
    let other = folder.path().join("b.csv");
    fs::write(&other, "a,b\n1,x\n,x\n,z\n3,new\n").unwrap();
    let skip = BlockOptions { labels: Labels::Skip, ..BlockOptions::default() };
    let (message, ..) = said(blocks(&other, &schema, &skip), folder.path());
    assert_eq!(
        message,
        "b.csv: column `b`, row 4: new category `new`, expected one of the 2 learned"
    );
}

#[test]
fn bytes_are_no_feature() {
    use arrow_array::{ArrayRef, BinaryArray};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![b"a".as_slice(), b"b", b"c"]));
    let mut columns: Vec<(&str, ArrayRef)> = vec![("raw", bytes)];
    let base = table(3);
    columns.push(("income", base.column(5).clone()));
    columns.push(("sex", base.column(6).clone()));
    write_parquet(&path, &arrow_array::RecordBatch::try_from_iter(columns).unwrap(), 10);
    let (message, hint, _) = said(learn(&path, &request("income", "sex")), folder.path());
    assert_eq!(
        message,
        "a.parquet: column `raw` holds Binary, expected text, booleans, dates or numbers"
    );
    assert_eq!(hint.unwrap(), "convert the column, or leave it out with --drop raw");
}

#[test]
fn hostile_schemas() {
    let (_folder, path) = text_file("a.csv", "age,work,y,s\n1,private,u,p\n2,public,v,q\n");
    let json = learn(&path, &request("y", "s")).unwrap().to_json().unwrap();
    let says = |from: &str, to: &str| {
        let changed = json.replacen(from, to, 1);
        assert_ne!(changed, json, "`{from}` is not in {json}");
        let error = Schema::from_json(&changed).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Data);
        error.to_string()
    };
    assert_eq!(
        says("\"version\":2", "\"version\":7"),
        "unusable schema: found version 7, expected 2"
    );
    assert_eq!(
        says("\"std\":0.5", "\"std\":-1.0"),
        "unusable schema: column `age`: found mean 1.5 and standard deviation -1, expected finite numbers"
    );
    assert_eq!(
        says("\"fill\":0", "\"fill\":4000000000"),
        "unusable schema: column `work`: found the fill 4000000000, expected less than 2"
    );
    assert_eq!(
        says("\"public\"", "\"private\""),
        "unusable schema: column `work`: a category comes twice"
    );
    assert_eq!(
        says("[\"u\",\"v\"]", "[\"u\"]"),
        "unusable schema: column `y`: found 1 categories, expected 2 to 10000"
    );
    assert_eq!(
        says("\"name\":\"work\"", "\"name\":\"age\""),
        "unusable schema: the feature `age` has no name or comes twice"
    );
    assert_eq!(
        says("\"counts\":[1,1]", "\"counts\":[1]"),
        "unusable schema: label `y`: found 1 counts, expected 2"
    );
    assert!(says("\"rows\":2", "\"rows\":-2").starts_with("unusable schema: "));
    let found = says("\"missing\":\"error\"", "\"scales\":\"error\"");
    assert!(found.starts_with("unusable schema: unknown field `scales`"), "{found}");
    for junk in ["", "null", "[]", "{}", "{\"version\":1}", &"[".repeat(100_000)] {
        assert!(matches!(Schema::from_json(junk), Err(DataError::BadSchema { .. })));
    }
}

#[test]
fn a_pass_can_be_stopped() {
    let (folder, path) = text_file("a.csv", "a,y,s\n1,u,p\n2,v,q\n");
    let source = Source::open(&[&path]).unwrap();
    let stopped = Schema::learn(&source, &request("y", "s"), &mut |_| ControlFlow::Break(()));
    assert_eq!(said(stopped, folder.path()).0, "interrupted");
}

#[test]
fn data_sets_that_are_not_known() {
    let error = sarl_data::dataset("mnist").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown data set `mnist`; known: gaussian, adult, german, yaleb, cifar100, acs"
    );
    assert_eq!(error.exit_class(), ExitClass::Usage);
}
