//! The cells of a column of any type as text, for CSV and for the names of categories.

use std::fmt::{self, Debug, Display, Write};
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as temporal;
use arrow_array::timezone::Tz;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, UnionArray};
use arrow_schema::{DataType, IntervalUnit, TimeUnit, UnionMode};
use chrono::SecondsFormat;

/// Appends the text of a row; an error where its value has none, such as a date beyond the calendar.
pub(crate) type Show<'a> = Box<dyn Fn(usize, &mut String) -> fmt::Result + 'a>;

/// What writes the cells of an array; nothing for missing ones.
pub(crate) fn show(array: &dyn Array) -> Show<'_> {
    let present = present(array);
    Box::new(move |row, out| if array.is_null(row) { Ok(()) } else { present(row, out) })
}

/// The same for cells that are there.
fn present(array: &dyn Array) -> Show<'_> {
    use DataType::*;
    match array.data_type() {
        Null => Box::new(|_, _| Ok(())),
        Boolean => each(|row| array.as_boolean().value(row)),
        Int8 => number::<Int8Type>(array),
        Int16 => number::<Int16Type>(array),
        Int32 => number::<Int32Type>(array),
        Int64 => number::<Int64Type>(array),
        UInt8 => number::<UInt8Type>(array),
        UInt16 => number::<UInt16Type>(array),
        UInt32 => number::<UInt32Type>(array),
        UInt64 => number::<UInt64Type>(array),
        Float16 => number::<Float16Type>(array),
        Float32 => digits::<Float32Type>(array),
        Float64 => digits::<Float64Type>(array),
        Decimal32(..) => decimal::<Decimal32Type>(array),
        Decimal64(..) => decimal::<Decimal64Type>(array),
        Decimal128(..) => decimal::<Decimal128Type>(array),
        Decimal256(..) => decimal::<Decimal256Type>(array),
        Utf8 => text(|row| array.as_string::<i32>().value(row)),
        LargeUtf8 => text(|row| array.as_string::<i64>().value(row)),
        Utf8View => text(|row| array.as_string_view().value(row)),
        Binary => bytes(|row| array.as_binary::<i32>().value(row)),
        LargeBinary => bytes(|row| array.as_binary::<i64>().value(row)),
        BinaryView => bytes(|row| array.as_binary_view().value(row)),
        FixedSizeBinary(_) => bytes(|row| array.as_fixed_size_binary().value(row)),
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) => time(array),
        Interval(unit) => interval(array, *unit),
        _ => nested(array),
    }
}

fn each<'a, T: Display>(value: impl Fn(usize) -> T + 'a) -> Show<'a> {
    Box::new(move |row, out| write!(out, "{}", value(row)))
}

fn text<'a>(value: impl Fn(usize) -> &'a str + 'a) -> Show<'a> {
    Box::new(move |row, out| out.write_str(value(row)))
}

fn bytes<'a>(value: impl Fn(usize) -> &'a [u8] + 'a) -> Show<'a> {
    Box::new(move |row, out| value(row).iter().try_for_each(|byte| write!(out, "{byte:02x}")))
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array) -> Show<'_>
where
    T::Native: Display,
{
    let array = array.as_primitive::<T>();
    each(|row| array.value(row))
}

/// With all digits, and a point or an exponent.
fn digits<T: ArrowPrimitiveType>(array: &dyn Array) -> Show<'_>
where
    T::Native: Debug,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row, out| write!(out, "{:?}", array.value(row)))
}

fn decimal<T: DecimalType>(array: &dyn Array) -> Show<'_> {
    let array = array.as_primitive::<T>();
    each(|row| array.value_as_string(row))
}

/// Something that there may be none of.
fn maybe<'a, T: Debug>(value: impl Fn(usize) -> Option<T> + 'a) -> Show<'a> {
    Box::new(move |row, out| write!(out, "{:?}", value(row).ok_or(fmt::Error)?))
}

/// Dates, times and durations as ISO 8601 has them.
fn time(array: &dyn Array) -> Show<'_> {
    use DataType::*;
    use TimeUnit::*;
    match array.data_type() {
        Date32 => moments::<Date32Type, _>(array, |v| temporal::as_date::<Date32Type>(v.into())),
        Date64 => moments::<Date64Type, _>(array, temporal::date64_to_datetime),
        Time32(Second) => moments::<Time32SecondType, _>(array, temporal::time32s_to_time),
        Time32(_) => moments::<Time32MillisecondType, _>(array, temporal::time32ms_to_time),
        Time64(Nanosecond) => moments::<Time64NanosecondType, _>(array, temporal::time64ns_to_time),
        Time64(_) => moments::<Time64MicrosecondType, _>(array, temporal::time64us_to_time),
        Timestamp(Second, zone) => stamp::<TimestampSecondType>(array, zone.as_deref()),
        Timestamp(Millisecond, zone) => stamp::<TimestampMillisecondType>(array, zone.as_deref()),
        Timestamp(Microsecond, zone) => stamp::<TimestampMicrosecondType>(array, zone.as_deref()),
        Timestamp(Nanosecond, zone) => stamp::<TimestampNanosecondType>(array, zone.as_deref()),
        Duration(Second) => duration::<DurationSecondType>(array),
        Duration(Millisecond) => duration::<DurationMillisecondType>(array),
        Duration(Microsecond) => duration::<DurationMicrosecondType>(array),
        _ => duration::<DurationNanosecondType>(array),
    }
}

fn moments<T: ArrowPrimitiveType, M: Debug>(
    array: &dyn Array,
    of: impl Fn(T::Native) -> Option<M> + 'static,
) -> Show<'_> {
    let array = array.as_primitive::<T>();
    maybe(move |row| of(array.value(row)))
}

/// In its zone where that is an offset from UTC, otherwise in UTC.
fn stamp<'a, T: ArrowTimestampType>(array: &'a dyn Array, zone: Option<&str>) -> Show<'a> {
    let array: &PrimitiveArray<T> = array.as_primitive();
    let Some(zone) = zone else {
        return maybe(|row| temporal::as_datetime::<T>(array.value(row)));
    };
    let zone = zone.parse::<Tz>().or_else(|_| "+00:00".parse()).ok();
    Box::new(move |row, out| {
        let time = zone
            .and_then(|zone| temporal::as_datetime_with_timezone::<T>(array.value(row), zone))
            .ok_or(fmt::Error)?;
        out.write_str(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    })
}

fn duration<T: ArrowTemporalType>(array: &dyn Array) -> Show<'_>
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row, out| write!(out, "{}", array.value_as_duration(row).ok_or(fmt::Error)?))
}

fn interval(array: &dyn Array, unit: IntervalUnit) -> Show<'_> {
    match unit {
        IntervalUnit::YearMonth => {
            let array = array.as_primitive::<IntervalYearMonthType>();
            Box::new(move |row, out| {
                let months = array.value(row);
                write!(out, "{} years {} mons", months.div_euclid(12), months.rem_euclid(12))
            })
        }
        IntervalUnit::DayTime => {
            let array = array.as_primitive::<IntervalDayTimeType>();
            Box::new(move |row, out| {
                let value = array.value(row);
                span(out, &[(value.days, "days")], value.milliseconds.into(), 3)
            })
        }
        IntervalUnit::MonthDayNano => {
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row, out| {
                let value = array.value(row);
                span(out, &[(value.months, "mons"), (value.days, "days")], value.nanoseconds, 9)
            })
        }
    }
}

/// Whole units that are not zero, then hours, minutes and seconds of a count of their 10⁻ᵈ.
fn span(out: &mut String, whole: &[(i32, &str)], ticks: i64, digits: u32) -> fmt::Result {
    let second = 10_i64.pow(digits);
    let (seconds, rest) = (ticks / second, ticks % second);
    let mut parts: Vec<String> =
        whole.iter().filter(|w| w.0 != 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    for (n, unit) in [(seconds / 3600, "hours"), (seconds / 60 % 60, "mins")] {
        if n != 0 {
            parts.push(format!("{n} {unit}"));
        }
    }
    let left = seconds % 60;
    if left != 0 || rest != 0 {
        let sign = if left < 0 || rest < 0 { "-" } else { "" };
        let (left, rest, digits) = (left.abs(), rest.abs(), digits as usize);
        parts.push(format!("{sign}{left}.{rest:0digits$} secs"));
    }
    out.write_str(if parts.is_empty() { "0 secs" } else { "" })?;
    out.write_str(&parts.join(" "))
}

/// Arrays of arrays.
fn nested(array: &dyn Array) -> Show<'_> {
    use DataType::*;
    match array.data_type() {
        Dictionary(..) => dictionary(array),
        RunEndEncoded(..) => runs(array),
        List(_) => {
            let list = array.as_list::<i32>();
            items(list.values(), |row| from(list.value_offsets(), row))
        }
        LargeList(_) => {
            let list = array.as_list::<i64>();
            items(list.values(), |row| from(list.value_offsets(), row))
        }
        ListView(_) => {
            let list = array.as_list_view::<i32>();
            items(list.values(), |row| {
                let start = list.value_offset(row) as usize;
                start..start + list.value_size(row) as usize
            })
        }
        LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            items(list.values(), |row| {
                let start = list.value_offset(row) as usize;
                start..start + list.value_size(row) as usize
            })
        }
        FixedSizeList(_, size) => {
            let size = *size as usize;
            items(array.as_fixed_size_list().values(), move |row| row * size..(row + 1) * size)
        }
        Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let named = fields.iter().map(|f| f.name().as_str());
            let columns: Vec<_> = named.zip(columns.map(|c| show(c))).collect();
            Box::new(move |row, out| {
                let columns = columns.iter();
                listed(out, ('{', '}'), columns, |(name, show), out| {
                    write!(out, "{name}: ")?;
                    show(row, out)
                })
            })
        }
        Map(..) => {
            let map = array.as_map();
            let (keys, values) = (show(map.keys()), show(map.values()));
            Box::new(move |row, out| {
                listed(out, ('{', '}'), from(map.value_offsets(), row), |row, out| {
                    keys(row, out)?;
                    out.write_str(": ")?;
                    values(row, out)
                })
            })
        }
        Union(..) => union(array.as_union()),
        _ => Box::new(|_, _| Err(fmt::Error)),
    }
}

fn from<O: Copy + TryInto<usize>>(offsets: &[O], row: usize) -> Range<usize> {
    let at = |i: usize| offsets.get(i).and_then(|&o| o.try_into().ok()).unwrap_or(0);
    at(row)..at(row + 1)
}

fn listed<I: IntoIterator>(
    out: &mut String,
    around: (char, char),
    items: I,
    show: impl Fn(I::Item, &mut String) -> fmt::Result,
) -> fmt::Result {
    out.push(around.0);
    for (i, item) in items.into_iter().enumerate() {
        out.write_str(if i > 0 { ", " } else { "" })?;
        show(item, out)?;
    }
    out.write_char(around.1)
}

fn items<'a>(values: &'a dyn Array, range: impl Fn(usize) -> Range<usize> + 'a) -> Show<'a> {
    let show = show(values);
    Box::new(move |row, out| listed(out, ('[', ']'), range(row), &show))
}

fn dictionary(array: &dyn Array) -> Show<'_> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return Box::new(|_, _| Ok(()));
    }
    let (keys, show) = (dictionary.normalized_keys(), show(dictionary.values()));
    Box::new(move |row, out| show(keys[row], out))
}

fn runs(array: &dyn Array) -> Show<'_> {
    fn of<T: RunEndIndexType>(array: &dyn Array) -> Option<Show<'_>> {
        let runs = array.as_run_opt::<T>()?;
        let show = show(runs.values());
        Some(Box::new(move |row, out| show(runs.get_physical_index(row), out)))
    }
    of::<Int16Type>(array)
        .or_else(|| of::<Int32Type>(array))
        .or_else(|| of::<Int64Type>(array))
        .unwrap_or_else(|| Box::new(|_, _| Err(fmt::Error)))
}

fn union(array: &UnionArray) -> Show<'_> {
    let DataType::Union(fields, mode) = array.data_type() else {
        return Box::new(|_, _| Err(fmt::Error));
    };
    let children: Vec<_> =
        fields.iter().map(|(id, field)| (id, field.name(), show(array.child(id)))).collect();
    let dense = *mode == UnionMode::Dense;
    Box::new(move |row, out| {
        let id = array.type_id(row);
        let (_, name, show) = children.iter().find(|c| c.0 == id).ok_or(fmt::Error)?;
        write!(out, "{{{name}=")?;
        show(if dense { array.value_offset(row) } else { row }, out)?;
        out.write_char('}')
    })
}
