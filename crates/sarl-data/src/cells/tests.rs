//! Every type of a column. What is expected here is what arrow-cast 59 gives, but for named zones,
//! which it refuses, and for numbers under 0.0001, which it writes without an exponent.

use std::sync::Arc;

use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::Field;

use super::convert::{Texts, days, floats, integers};
use super::show;

type Big = <Decimal256Type as ArrowPrimitiveType>::Native;

/// The texts of an array; `-` for a value that has none.
fn shown(array: &dyn Array) -> Vec<String> {
    let show = show(array);
    let cell = |row| {
        let mut out = String::new();
        show(row, &mut out).map_or_else(|_| "-".to_owned(), |()| out)
    };
    (0..array.len()).map(cell).collect()
}

#[test]
fn numbers_are_shown_with_all_digits() {
    assert_eq!(shown(&NullArray::new(1)), [""]);
    assert_eq!(shown(&BooleanArray::from(vec![Some(true), None])), ["true", ""]);
    assert_eq!(shown(&Int8Array::from(vec![Some(-128), None])), ["-128", ""]);
    assert_eq!(shown(&UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
    let halves = [0.1, 3.0].map(half::f16::from_f32);
    assert_eq!(shown(&Float16Array::from(halves.to_vec())), ["0.099975586", "3"]);
    assert_eq!(shown(&Float32Array::from(vec![0.1, 3.0, 1e20])), ["0.1", "3.0", "1e20"]);
    let doubles = Float64Array::from(vec![0.1, -0.0, 1e15, 1e16, f64::NAN, f64::INFINITY]);
    assert_eq!(shown(&doubles), ["0.1", "-0.0", "1000000000000000.0", "1e16", "NaN", "inf"]);
    let decimals = Decimal32Array::from(vec![123_456, -5]).with_precision_and_scale(9, 3).unwrap();
    assert_eq!(shown(&decimals), ["123.456", "-0.005"]);
    let decimals = Decimal128Array::from(vec![Some(-5), None]).with_precision_and_scale(38, 2);
    assert_eq!(shown(&decimals.unwrap()), ["-0.05", ""]);
    let decimals = Decimal256Array::from(vec![Big::from_i128(12)]).with_precision_and_scale(76, -2);
    assert_eq!(shown(&decimals.unwrap()), ["1200"]);
}

#[test]
fn texts_and_bytes_are_shown() {
    assert_eq!(shown(&StringArray::from(vec![Some("a"), None, Some("")])), ["a", "", ""]);
    assert_eq!(shown(&LargeStringArray::from(vec!["ä"])), ["ä"]);
    assert_eq!(
        shown(&StringViewArray::from(vec!["longer than is inline"])),
        ["longer than is inline"]
    );
    let bytes = vec![&b"\x00\xff"[..]];
    assert_eq!(shown(&BinaryArray::from(bytes.clone())), ["00ff"]);
    assert_eq!(shown(&LargeBinaryArray::from(bytes.clone())), ["00ff"]);
    assert_eq!(shown(&BinaryViewArray::from(bytes)), ["00ff"]);
    let fixed = FixedSizeBinaryArray::try_from_iter([vec![1_u8, 2]].into_iter()).unwrap();
    assert_eq!(shown(&fixed), ["0102"]);
}

#[test]
fn dates_and_times_are_shown_as_iso_8601_has_them() {
    let dates = Date32Array::from(vec![Some(19_000), None, Some(-800_000), Some(i32::MAX)]);
    assert_eq!(shown(&dates), ["2022-01-08", "", "-0221-09-04", "-"]);
    let dates = Date64Array::from(vec![0, 1_700_000_000_123, i64::MAX]);
    assert_eq!(shown(&dates), ["1970-01-01T00:00:00", "2023-11-14T22:13:20.123", "-"]);
    assert_eq!(shown(&Time32SecondArray::from(vec![86_399, 90_000])), ["23:59:59", "-"]);
    assert_eq!(shown(&Time32MillisecondArray::from(vec![86_399_123])), ["23:59:59.123"]);
    assert_eq!(shown(&Time64MicrosecondArray::from(vec![86_399_123_456])), ["23:59:59.123456"]);
    assert_eq!(shown(&Time64NanosecondArray::from(vec![1])), ["00:00:00.000000001"]);
    let stamps = vec![Some(1_700_000_000), None];
    assert_eq!(shown(&TimestampSecondArray::from(stamps.clone())), ["2023-11-14T22:13:20", ""]);
    assert_eq!(
        shown(&TimestampNanosecondArray::from(stamps.clone())),
        ["1970-01-01T00:00:01.700", ""]
    );
    let stamps = TimestampMillisecondArray::from(stamps);
    let zoned = |zone: &str| shown(&stamps.clone().with_timezone(zone));
    assert_eq!(zoned("+00:00"), ["1970-01-20T16:13:20Z", ""]);
    assert_eq!(zoned("+02:00"), ["1970-01-20T18:13:20+02:00", ""]);
    assert_eq!(zoned("UTC"), ["1970-01-20T16:13:20Z", ""]);
    assert_eq!(zoned("Europe/Berlin"), ["1970-01-20T16:13:20Z", ""]);
    assert_eq!(shown(&DurationSecondArray::from(vec![100_000, i64::MAX])), ["PT100000S", "-"]);
    assert_eq!(shown(&DurationNanosecondArray::from(vec![-5])), ["-PT0.000000005S"]);
}

#[test]
fn intervals_are_shown() {
    let months = IntervalYearMonthArray::from(vec![0, 14, -14]);
    assert_eq!(shown(&months), ["0 years 0 mons", "1 years 2 mons", "-2 years 10 mons"]);
    let days = [(0, 0), (3, 3_661_001), (-1, -61_001)];
    let days = days.map(|(days, ms)| IntervalDayTime::new(days, ms)).to_vec();
    assert_eq!(
        shown(&IntervalDayTimeArray::from(days)),
        ["0 secs", "3 days 1 hours 1 mins 1.001 secs", "-1 days -1 mins -1.001 secs"]
    );
    let all = vec![IntervalMonthDayNano::new(1, 2, 3_661_000_000_001)];
    assert_eq!(
        shown(&IntervalMonthDayNanoArray::from(all)),
        ["1 mons 2 days 1 hours 1 mins 1.000000001 secs"]
    );
}

#[test]
fn arrays_of_arrays_are_shown() {
    let dictionary: DictionaryArray<Int8Type> = [Some("a"), None, Some("b")].into_iter().collect();
    assert_eq!(shown(&dictionary.slice(1, 2)), ["", "b"]);
    let runs: RunArray<Int16Type> = [Some("a"), Some("a"), None, Some("b")].into_iter().collect();
    assert_eq!(shown(&runs.slice(1, 3)), ["a", "", "b"]);
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None, Some(3)]);
    list.append_null();
    list.append_value([]);
    assert_eq!(shown(&list.finish()), ["[1, , 3]", "", "[]"]);
    let mut list = ListViewBuilder::new(Int32Builder::new());
    list.append_value([Some(1), Some(2)]);
    assert_eq!(shown(&list.finish()), ["[1, 2]"]);
    let mut list = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    list.values().append_slice(&[1.0, 2.5, 3.0, 4.0]);
    list.append(true);
    list.append(true);
    assert_eq!(shown(&list.finish().slice(1, 1)), ["[3.0, 4.0]"]);
    let column = |name: &str, array: ArrayRef| {
        (Arc::new(Field::new(name, array.data_type().clone(), true)), array)
    };
    let structs = StructArray::from(vec![
        column("a", Arc::new(Int32Array::from(vec![Some(1), None]))),
        column("b", Arc::new(StringArray::from(vec!["x", "y"]))),
    ]);
    assert_eq!(shown(&structs), ["{a: 1, b: x}", "{a: , b: y}"]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("k");
    map.values().append_value(1);
    map.keys().append_value("l");
    map.values().append_null();
    map.append(true).unwrap();
    assert_eq!(shown(&map.finish()), ["{k: 1, l: }"]);
    for mut union in [UnionBuilder::new_dense(), UnionBuilder::new_sparse()] {
        union.append::<Int32Type>("i", 1).unwrap();
        union.append::<Float64Type>("f", 2.5).unwrap();
        assert_eq!(shown(&union.build().unwrap()), ["{i=1}", "{f=2.5}"]);
    }
}

/// Bits, so that NaN is equal to itself.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn numbers_of_every_type_become_doubles_and_whole_ones_integers() {
    let nan = f64::NAN;
    let keys = Int8Array::from(vec![Some(0), None, Some(1)]);
    let decimal = Decimal128Array::from(vec![Some(-5), None]).with_precision_and_scale(38, 2);
    let big = vec![Big::from_i128(123_456), Big::from_i128(-98_765_432_109_876_543_210)];
    let big = Decimal256Array::from(big).with_precision_and_scale(76, -2);
    let cases: Vec<(ArrayRef, Vec<f64>)> = vec![
        (Arc::new(NullArray::new(1)), vec![nan]),
        (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), vec![1.0, nan, 0.0]),
        (Arc::new(Int8Array::from(vec![Some(-128), None])), vec![-128.0, nan]),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), vec![18_446_744_073_709_551_615.0]),
        (Arc::new(Float16Array::from(vec![half::f16::from_f32(0.5)])), vec![0.5]),
        (Arc::new(Float32Array::from(vec![Some(0.1), None])), vec![f64::from(0.1_f32), nan]),
        (Arc::new(decimal.unwrap()), vec![-0.05, nan]),
        (Arc::new(big.unwrap()), vec![12_345_600.0, -9_876_543_210_987_654_321_000.0]),
        (
            Arc::new(DictionaryArray::new(keys, Arc::new(Int32Array::from(vec![Some(7), None])))),
            vec![7.0, nan, nan],
        ),
    ];
    for (array, expected) in &cases {
        let found = floats(array).unwrap();
        assert_eq!(bits(found.values()), bits(expected), "{}", array.data_type());
    }
    let whole = |array: ArrayRef| integers(&array).map(|a| a.iter().collect::<Vec<_>>());
    assert_eq!(whole(cases[2].0.clone()), Some(vec![Some(-128), None]));
    assert_eq!(whole(cases[8].0.clone()), Some(vec![Some(7), None, None]));
    assert_eq!(whole(Arc::new(UInt64Array::from(vec![Some(5), None]))), Some(vec![Some(5), None]));
    assert_eq!(whole(cases[3].0.clone()), None, "beyond 64 bits with a sign");
}

#[test]
fn texts_of_every_type_are_the_same() {
    let keys = Int8Array::from(vec![Some(0), None, Some(1)]);
    let (short, long) = (StringArray::from(vec!["x", "y"]), LargeStringArray::from(vec!["x", "y"]));
    let view = StringViewArray::from(vec!["x", "y"]);
    let expected = [Some("x"), None, Some("y")];
    let arrays: [ArrayRef; 6] = [
        Arc::new(StringArray::from(expected.to_vec())),
        Arc::new(LargeStringArray::from(expected.to_vec())),
        Arc::new(StringViewArray::from(expected.to_vec())),
        Arc::new(DictionaryArray::new(keys.clone(), Arc::new(short))),
        Arc::new(DictionaryArray::new(keys.clone(), Arc::new(long))),
        Arc::new(DictionaryArray::new(keys, Arc::new(view))),
    ];
    for array in &arrays {
        let found = Texts::of(array).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{}", array.data_type());
    }
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(19_000), None]));
    assert_eq!(Texts::of(&dates).unwrap().iter().collect::<Vec<_>>(), [Some("2022-01-08"), None]);
    let lists: ArrayRef = Arc::new(ListBuilder::new(Int32Builder::new()).finish());
    assert!(Texts::of(&lists).is_none());
}

#[test]
fn dates_and_times_are_days() {
    let noon = |array: ArrayRef| bits(days(&array).unwrap().values());
    let expected = bits(&[0.5, f64::NAN]);
    let at = |per_second: i64| vec![Some(43_200 * per_second), None];
    assert_eq!(noon(Arc::new(Date64Array::from(at(1000)))), expected);
    assert_eq!(noon(Arc::new(Time32SecondArray::from(vec![Some(43_200), None]))), expected);
    assert_eq!(
        noon(Arc::new(Time32MillisecondArray::from(vec![Some(43_200_000), None]))),
        expected
    );
    assert_eq!(noon(Arc::new(Time64MicrosecondArray::from(at(1_000_000)))), expected);
    assert_eq!(noon(Arc::new(Time64NanosecondArray::from(at(1_000_000_000)))), expected);
    assert_eq!(noon(Arc::new(TimestampSecondArray::from(at(1)))), expected);
    assert_eq!(noon(Arc::new(TimestampMillisecondArray::from(at(1000)))), expected);
    assert_eq!(noon(Arc::new(TimestampMicrosecondArray::from(at(1_000_000)))), expected);
    assert_eq!(noon(Arc::new(TimestampNanosecondArray::from(at(1_000_000_000)))), expected);
    assert_eq!(noon(Arc::new(DurationSecondArray::from(at(1)))), expected);
    assert_eq!(noon(Arc::new(DurationMillisecondArray::from(at(1000)))), expected);
    assert_eq!(noon(Arc::new(DurationMicrosecondArray::from(at(1_000_000)))), expected);
    assert_eq!(noon(Arc::new(DurationNanosecondArray::from(at(1_000_000_000)))), expected);
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![-3]));
    assert_eq!(days(&dates).unwrap().values(), &[-3.0]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    assert!(days(&texts).is_none() && floats(&texts).is_none() && integers(&texts).is_none());
}
