//! What is said, and in which order.

use sarl_eval::{Asked, Labels, Told};

use super::*;

/// Two groups of a hundred rows, half of each positive, and a number that goes with the group.
fn attributes() -> Attributes {
    let asked = |name: &str, classes: &[&str], test: Labels| Asked {
        name: name.to_owned(),
        classes: classes.iter().map(|c| (*c).to_owned()).collect(),
        train: test.clone(),
        test,
    };
    let codes = |of: fn(usize) -> usize| Labels::Classes {
        codes: (0..200).map(|i| of(i) as u32).collect(),
        count: 2,
    };
    let ages = Labels::Numbers((0..200).map(f64::from).collect());
    Attributes {
        all: vec![
            asked("income", &["low", "high"], codes(|i| i % 2)),
            asked("sex", &["f", "m"], codes(|i| i / 100)),
            asked("age", &[], ages),
        ],
        targets: 1,
    }
}

/// Told to be positive: one in `of` positive rows of the first group, and all of the second.
fn told(of: usize) -> Told {
    let one = |i: usize| i % 2 == 1 && (i >= 100 || (i / 2).is_multiple_of(of));
    Told::Classes((0..200).map(|i| u32::from(one(i))).collect())
}

fn side(z: &Told, raw: Option<&Told>) -> (Side, Attributes) {
    let attributes = attributes();
    let fairness = Judged::all(z, raw, &attributes, None);
    let side = Side {
        targets: Vec::new(),
        sensitives: Vec::new(),
        fairness,
        predictor: None,
        favourable: None,
    };
    (side, attributes)
}

#[test]
fn every_measure_is_said() {
    let (z, attributes) = side(&told(50), Some(&told(2)));
    let said = sentences(&z, &attributes);
    let expected = "Against raw features, between groups of sex: demographic parity is worse (0.250 → 0.490), \
                    equal opportunity is worse (0.500 → 0.980), equalized odds is worse (0.500 → 0.980).";
    assert_eq!(said[0], expected);
    assert!(said[1].starts_with("Against raw features, between fifths of age: "), "{}", said[1]);
    let (z, attributes) = side(&told(1), Some(&told(1)));
    assert!(sentences(&z, &attributes)[0].contains("shows no clear difference (0.000 → 0.000)"));
    let (z, attributes) = side(&told(2), None);
    let said = &sentences(&z, &attributes)[0];
    assert!(
        said.starts_with("Largest gaps between groups of sex (0 is fair): demographic"),
        "{said}"
    );
}

#[test]
fn what_became_worse_is_first() {
    let (mut z, _) = side(&told(50), Some(&told(2)));
    let change = z.fairness[0].change.as_mut().unwrap();
    change.demographic_parity.outcome = Outcome::Unclear;
    change.equal_opportunity.as_mut().unwrap().outcome = Outcome::Better;
    let names: Vec<&str> = moved(&z.fairness[0]).unwrap().iter().map(|m| m.0).collect();
    assert_eq!(names, ["equalized odds", "equal opportunity", "demographic parity"]);
}

#[test]
fn a_table_has_every_measure_and_every_group() {
    let (z, _) = side(&told(2), Some(&told(1)));
    let [sex, age] = &z.fairness[..] else { panic!("two attributes") };
    let table = gaps(sex, String::new());
    assert_eq!(table.header, ["largest gap", "z [95 %]", "raw features [95 %]", "z is"]);
    assert_eq!(table.rows[0][0], "demographic parity");
    assert!(table.rows[0][1].starts_with("0.250 [0.1"), "{:?}", table.rows);
    let verdicts: Vec<&str> = table.rows.iter().map(|row| row[3].as_str()).collect();
    assert_eq!(verdicts, ["no clear difference", "worse", "worse"]);
    let table = groups(sex, String::new());
    assert_eq!(
        table.header[2..],
        ["accuracy, z", "accuracy, raw", "predicted high, z", "predicted high, raw"]
    );
    assert_eq!(groups(age, String::new()).rows[0][..2], ["0 to 39", "40"]);
}
