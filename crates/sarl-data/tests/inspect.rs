//! What `inspect` says of a column is what learning does with it.
#![allow(clippy::unwrap_used)] // tests

mod common;

use std::ops::ControlFlow;

use common::*;
use sarl_data::{Request, Source};

#[test]
fn inspection_says_what_learning_does() {
    let rows = 300;
    let mut text = "id,fee,when,name,city,flag,mark,age,nothing,same,almost,y,s\n".to_owned();
    for i in 0..rows {
        let almost = usize::from(i == 7);
        let mark = if i == 40 { "bad".to_owned() } else { format!("{}.5", i % 9) };
        text.push_str(&format!(
            "{},\"${},000\",2013-08-{:02},n{i},c{},{},{mark},{},,k,{almost},{},{}\n",
            i + 1,
            i % 7 + 1,
            i % 28 + 1,
            i % 5,
            ["None", "x"][i % 2],
            i % 30 + 20,
            i % 2,
            i % 3
        ));
    }
    let (_folder, path) = text_file("a.csv", &text);
    let source = Source::open(&[&path]).unwrap();
    let request = Request { drop: vec!["same".to_owned()], ..request("y", "s,age") };
    let request =
        Request { sensitives: vec!["s".parse().unwrap(), "age".parse().unwrap()], ..request };
    let found = source.inspect(&request, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(found.rows, rows as u64);
    let of = |name: &str| found.columns.iter().find(|c| c.name == name).unwrap();
    let facts = |name: &str| {
        let c = of(name);
        (c.kind.word(), c.role.word(), c.values, c.missing, c.refused.is_some())
    };
    assert_eq!(facts("id"), ("number", "feature", 300, 0, false));
    assert_eq!(facts("fee"), ("text-number", "feature", 7, 0, false));
    assert_eq!(facts("when"), ("date", "feature", 28, 0, false));
    assert_eq!(facts("name"), ("identifier", "feature", 300, 0, true));
    assert_eq!(facts("city"), ("category", "feature", 5, 0, false));
    assert_eq!(facts("flag"), ("category", "feature", 2, 0, false));
    assert_eq!(facts("mark"), ("number", "feature", 10, 0, true));
    assert_eq!(facts("age"), ("number", "sensitive", 30, 0, false));
    assert_eq!(facts("nothing"), ("empty", "feature", 0, 300, true));
    assert_eq!(facts("same"), ("constant", "dropped", 1, 0, false));
    assert_eq!(facts("y"), ("class", "target", 2, 0, false));
    for (name, remark) in [
        ("id", "rises from row to row"),
        ("fee", "1,234.5 is 1234.5"),
        ("flag", "`None` taken as a value"),
        ("mark", "row 41 is `bad`"),
        ("age", "taken as a number"),
        ("almost", "one value but for 1 rows"),
    ] {
        assert!(of(name).remarks.join("; ").contains(remark), "{name}: {:?}", of(name).remarks);
    }
    let refused: Vec<String> =
        found.columns.iter().filter(|c| c.refused.is_some()).map(|c| c.name.clone()).collect();
    assert!(learn(&path, &request).is_err());
    let request = Request { drop: [request.drop.clone(), refused].concat(), ..request };
    let schema = learn(&path, &request).unwrap();
    let width: usize = found
        .columns
        .iter()
        .filter(|c| c.role.word() == "feature" && c.refused.is_none())
        .map(|c| c.width)
        .sum();
    assert_eq!(schema.width(), width);
    assert_eq!(source.rising_features(&schema).unwrap(), ["id"]);
}
