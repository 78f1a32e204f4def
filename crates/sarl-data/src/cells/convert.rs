//! From arrays of the types that a column may have to those that this crate works with.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Float64Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;

use super::shown::show;
use crate::column::ColumnKind;
use crate::text::days_of_timestamp;

/// The texts of a column, as long as its file has them.
pub(crate) enum Texts {
    Short(StringArray),
    Long(LargeStringArray),
    View(StringViewArray),
}

impl Texts {
    /// The texts of an array, or none if it has others; dates and times as ISO 8601 has them.
    pub(crate) fn of(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Short(array.as_string().clone()),
            DataType::LargeUtf8 => Self::Long(array.as_string().clone()),
            DataType::Utf8View => Self::View(array.as_string_view().clone()),
            DataType::Dictionary(..) => return Self::of(&unpacked(array)?),
            DataType::Null => Self::Short(StringArray::new_null(array.len())),
            _ if ColumnKind::of(array.data_type()) == ColumnKind::Date => {
                Self::Short(written(array)?)
            }
            _ => return None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Short(a) => a.len(),
            Self::Long(a) => a.len(),
            Self::View(a) => a.len(),
        }
    }

    /// The text of a row, or none where it is missing.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Short(a) => a.is_valid(row).then(|| a.value(row)),
            Self::Long(a) => a.is_valid(row).then(|| a.value(row)),
            Self::View(a) => a.is_valid(row).then(|| a.value(row)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// A dictionary as an array of its values.
fn unpacked(array: &ArrayRef) -> Option<ArrayRef> {
    let dictionary = array.as_any_dictionary_opt()?;
    take(dictionary.values(), dictionary.keys(), None).ok()
}

fn written(array: &ArrayRef) -> Option<StringArray> {
    let show = show(array);
    let mut cell = String::new();
    let text = |row| {
        cell.clear();
        show(row, &mut cell).ok()?;
        Some(array.is_valid(row).then(|| cell.clone()))
    };
    let texts: Option<Vec<Option<String>>> = (0..array.len()).map(text).collect();
    Some(StringArray::from(texts?))
}

/// The whole numbers of an array, or none if it has others.
pub(crate) fn integers(array: &ArrayRef) -> Option<Int64Array> {
    use DataType::*;
    Some(match array.data_type() {
        Int8 => whole::<Int8Type>(array),
        Int16 => whole::<Int16Type>(array),
        Int32 => whole::<Int32Type>(array),
        Int64 => array.as_primitive::<Int64Type>().clone(),
        UInt8 => whole::<UInt8Type>(array),
        UInt16 => whole::<UInt16Type>(array),
        UInt32 => whole::<UInt32Type>(array),
        UInt64 => {
            let array = array.as_primitive::<UInt64Type>();
            array.try_unary::<_, Int64Type, _>(i64::try_from).ok()?
        }
        Dictionary(..) => integers(&unpacked(array)?)?,
        _ => return None,
    })
}

fn whole<T: ArrowPrimitiveType>(array: &ArrayRef) -> Int64Array
where
    i64: From<T::Native>,
{
    array.as_primitive::<T>().unary(i64::from)
}

/// The numbers of an array, NaN for a missing one; or none if it does not hold any.
pub(crate) fn floats(array: &ArrayRef) -> Option<Float64Array> {
    use DataType::*;
    Some(match array.data_type() {
        Null => Float64Array::from_value(f64::NAN, array.len()),
        Boolean => {
            let cell = |v: Option<bool>| v.map_or(f64::NAN, |v| f64::from(u8::from(v)));
            Float64Array::from_iter_values(array.as_boolean().iter().map(cell))
        }
        Int8 => real::<Int8Type>(array, f64::from),
        Int16 => real::<Int16Type>(array, f64::from),
        Int32 => real::<Int32Type>(array, f64::from),
        Int64 => real::<Int64Type>(array, |v| v as f64),
        UInt8 => real::<UInt8Type>(array, f64::from),
        UInt16 => real::<UInt16Type>(array, f64::from),
        UInt32 => real::<UInt32Type>(array, f64::from),
        UInt64 => real::<UInt64Type>(array, |v| v as f64),
        Float16 => real::<Float16Type>(array, f64::from),
        Float32 => real::<Float32Type>(array, f64::from),
        Float64 => real::<Float64Type>(array, |v| v),
        Decimal32(_, scale) => real::<Decimal32Type>(array, scaled(*scale, f64::from)),
        Decimal64(_, scale) => real::<Decimal64Type>(array, scaled(*scale, |v| v as f64)),
        Decimal128(_, scale) => real::<Decimal128Type>(array, scaled(*scale, |v| v as f64)),
        Decimal256(_, scale) => real::<Decimal256Type>(
            array,
            // All of them are within the range of a double.
            scaled(*scale, |v: <Decimal256Type as ArrowPrimitiveType>::Native| {
                v.to_string().parse().unwrap_or(f64::NAN)
            }),
        ),
        Dictionary(..) => floats(&unpacked(array)?)?,
        _ => return None,
    })
}

fn scaled<N>(scale: i8, of: impl Fn(N) -> f64) -> impl Fn(N) -> f64 {
    let unit = 10_f64.powi(scale.into());
    move |value| of(value) / unit
}

fn real<T: ArrowPrimitiveType>(array: &ArrayRef, of: impl Fn(T::Native) -> f64) -> Float64Array {
    let array = array.as_primitive::<T>();
    match array.null_count() {
        0 => Float64Array::from_iter_values(array.values().iter().map(|&v| of(v))),
        _ => Float64Array::from_iter_values(array.iter().map(|v| v.map_or(f64::NAN, &of))),
    }
}

/// Dates and times as days, NaN for a missing one.
pub(crate) fn days(array: &ArrayRef) -> Option<Float64Array> {
    use DataType::{Date32, Date64, Duration, Time32, Time64, Timestamp};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    const MILLI: i64 = 1000;
    const MICRO: i64 = 1_000_000;
    const NANO: i64 = 1_000_000_000;
    Some(match array.data_type() {
        Date32 => real::<Date32Type>(array, f64::from),
        Date64 => counted::<Date64Type>(array, MILLI),
        Time32(Second) => counted::<Time32SecondType>(array, 1),
        Time32(Millisecond) => counted::<Time32MillisecondType>(array, MILLI),
        Time64(Microsecond) => counted::<Time64MicrosecondType>(array, MICRO),
        Time64(Nanosecond) => counted::<Time64NanosecondType>(array, NANO),
        Timestamp(Second, _) => counted::<TimestampSecondType>(array, 1),
        Timestamp(Millisecond, _) => counted::<TimestampMillisecondType>(array, MILLI),
        Timestamp(Microsecond, _) => counted::<TimestampMicrosecondType>(array, MICRO),
        Timestamp(Nanosecond, _) => counted::<TimestampNanosecondType>(array, NANO),
        Duration(Second) => counted::<DurationSecondType>(array, 1),
        Duration(Millisecond) => counted::<DurationMillisecondType>(array, MILLI),
        Duration(Microsecond) => counted::<DurationMicrosecondType>(array, MICRO),
        Duration(Nanosecond) => counted::<DurationNanosecondType>(array, NANO),
        _ => return None,
    })
}

fn counted<T: ArrowPrimitiveType>(array: &ArrayRef, per_second: i64) -> Float64Array
where
    i64: From<T::Native>,
{
    real::<T>(array, |units| days_of_timestamp(units.into(), per_second))
}
