//! Dates and times as numbers: days since the beginning of 1970, with the time as a fraction.

use super::DateOrder;

const SECONDS: f64 = 86_400.0;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The days since 1970 of a trimmed cell.
pub(super) fn parse(text: &str, order: DateOrder) -> Option<f64> {
    let (day, time) = match order {
        DateOrder::Named => {
            let (date, time) = split_named(text);
            (named(date)?, time)
        }
        _ => {
            let (date, time) = split_numeric(text);
            (numeric(date, order)?, time)
        }
    };
    let seconds = match time {
        Some(time) => seconds(time)?,
        None => 0.0,
    };
    Some(day as f64 + seconds / SECONDS)
}

/// The share of the day of a trimmed cell such as `13:45` or `1:45 pm`.
pub(super) fn parse_time(text: &str) -> Option<f64> {
    let seconds = seconds(text)?;
    (0.0..SECONDS).contains(&seconds).then_some(seconds / SECONDS)
}

/// Days from a whole number of units since 1970.
pub(crate) fn days_of_timestamp(units: i64, units_per_second: i64) -> f64 {
    let per_day = units_per_second * 86_400;
    let (day, rest) = (units.div_euclid(per_day), units.rem_euclid(per_day));
    day as f64 + rest as f64 / per_day as f64
}

/// `2013-08-13T06:03` at the first `T` or space.
fn split_numeric(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time.trim())),
        None => (text, None),
    }
}

/// `13 Aug 2013 06:03` before the word with the first colon.
fn split_named(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else { return (text, None) };
    match text[..colon].rfind(' ') {
        Some(space) => (text[..space].trim_end(), Some(text[space + 1..].trim())),
        None => (text, None),
    }
}

fn numeric(text: &str, order: DateOrder) -> Option<i64> {
    let separator = text.chars().find(|c| !c.is_ascii_digit())?;
    let usual =
        matches!((separator, order), ('-' | '/', _) | ('.', DateOrder::Dmy | DateOrder::Ymd));
    let mut parts = text.split(separator);
    let parts = (parts.next()?, parts.next()?, parts.next()?, parts.next());
    let (year, month, day) = match (parts, order) {
        ((y, m, d, None), DateOrder::Ymd) => (y, m, d),
        ((m, d, y, None), DateOrder::Mdy) => (y, m, d),
        ((d, m, y, None), DateOrder::Dmy) => (y, m, d),
        _ => return None,
    };
    match usual {
        true => day_of(whole(year, 4..=4)?, whole(month, 1..=2)?, whole(day, 1..=2)?),
        false => None,
    }
}

fn named(text: &str) -> Option<i64> {
    let mut words = text.split([' ', '-', ',']).filter(|w| !w.is_empty());
    let (a, b, year) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let (day, month) = match month(a) {
        Some(month) => (b, month),
        None => (a, month(b)?),
    };
    day_of(whole(year, 4..=4)?, month, whole(day, 1..=2)?)
}

fn month(word: &str) -> Option<i64> {
    let word = word.trim_end_matches('.').to_lowercase();
    let fits = |name: &str| name == word || (word.len() == 3 && name.starts_with(&word));
    MONTHS.iter().position(|name| fits(name)).map(|i| i as i64 + 1)
}

fn whole(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let fine = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if fine { text.parse().ok() } else { None }
}

/// The day since 1970, if there is such a day in the calendar.
fn day_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=last).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// `6:03`, `06:03:42.5`, `6:03 pm`, with `Z`, `UTC` or `+02:00`.
fn seconds(text: &str) -> Option<f64> {
    let (text, ahead) = zone(text)?;
    let (text, afternoon) = half(text);
    let mut parts = text.trim_end().split(':');
    let (hour, minute) = (whole(parts.next()?, 1..=2)?, whole(parts.next()?, 2..=2)?);
    let second = match parts.next() {
        Some(second) => second_of(second)?,
        None => 0.0,
    };
    let hour = match (afternoon, hour) {
        (None, 0..=23) => hour,
        (Some(afternoon), 1..=12) => hour % 12 + 12 * i64::from(afternoon),
        _ => return None,
    };
    let fine = parts.next().is_none() && minute < 60 && second < 60.0;
    fine.then_some((hour * 3600 + minute * 60 - ahead * 60) as f64 + second)
}

fn second_of(text: &str) -> Option<f64> {
    let (whole_part, decimals) = text.split_once(['.', ',']).unwrap_or((text, ""));
    whole(whole_part, 2..=2)?;
    let digits = decimals.bytes().all(|b| b.is_ascii_digit());
    if digits { format!("{whole_part}.{decimals}").parse().ok() } else { None }
}

/// Takes `am` or `pm` off: whether it is afternoon.
fn half(text: &str) -> (&str, Option<bool>) {
    let end = text.len().saturating_sub(2);
    match text.get(end..) {
        Some(word) if word.eq_ignore_ascii_case("am") => (&text[..end], Some(false)),
        Some(word) if word.eq_ignore_ascii_case("pm") => (&text[..end], Some(true)),
        _ => (text, None),
    }
}

/// Takes the zone off: how many minutes it is ahead.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(rest) = text.strip_suffix('Z').or(text.strip_suffix("UTC")) {
        return Some((rest.trim_end(), 0));
    }
    let Some(place) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (time, offset) = text.split_at(place);
    let (sign, digits) = offset.split_at(1);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2)?,
    };
    let hours = whole(hours, 2..=2).filter(|h| *h <= 14)?;
    let minutes = if minutes.is_empty() { 0 } else { whole(minutes, 2..=2).filter(|m| *m < 60)? };
    let ahead = hours * 60 + minutes;
    Some((time.trim_end(), if sign == "-" { -ahead } else { ahead }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DateOrder::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let mut day = -719_162; // the first of January of the year 1
        for year in 1..=2400 {
            for month in 1..=12 {
                for date in 1..=31 {
                    if let Some(found) = day_of(year, month, date) {
                        assert_eq!(found, day, "{year}-{month}-{date}");
                        day += 1;
                    }
                }
            }
        }
        assert_eq!(day_of(1970, 1, 1), Some(0));
        assert_eq!(day_of(2013, 8, 13), Some(15_930));
        assert_eq!((day_of(2013, 2, 29), day_of(1900, 2, 29)), (None, None));
    }

    #[test]
    fn every_usual_way() {
        let noon = 15_930.5;
        let table = [
            ("2013-08-13 12:00:00", Ymd, noon),
            ("2013-08-13T12:00", Ymd, noon),
            ("2013-08-13T12:00:00Z", Ymd, noon),
            ("2013-08-13T14:00:00.000+02:00", Ymd, noon),
            ("2013-08-13 04:00-0800", Ymd, noon),
            ("2013/8/13 12:00 PM", Ymd, noon),
            ("08/13/2013 12:00", Mdy, noon),
            ("8/13/2013", Mdy, 15_930.0),
            ("13.08.2013", Dmy, 15_930.0),
            ("13/8/2013 12:00 am", Dmy, 15_930.0),
            ("13 Aug 2013", Named, 15_930.0),
            ("13-AUG-2013", Named, 15_930.0),
            ("August 13, 2013 12:00", Named, noon),
            ("Aug. 13, 2013 11:60", Named, f64::NAN),
        ];
        for (text, order, days) in table {
            let expected = Some(days).filter(|d| !d.is_nan());
            assert_eq!(parse(text, order), expected, "{text}");
        }
        let exact = parse("2013-08-13 06:03:42", Ymd).unwrap_or_default();
        assert!((exact - (15_930.0 + 21_822.0 / 86_400.0)).abs() < 1e-9);
        assert_eq!(parse_time("18:00"), Some(0.75));
        assert_eq!(parse_time("6:00:00 pm"), Some(0.75));
    }

    #[test]
    fn what_is_no_date() {
        let words = [
            "",
            "2013",
            "2013-08",
            "13-08-13",
            "2013-13-01",
            "2013-02-30",
            "2013-08-13 25:00",
            "2013-08-13 x",
            "2013-8/13",
            "a-b-c",
            "2013-08-13-01",
            "0000-00-00",
            "20130813",
        ];
        for text in words {
            assert_eq!(parse(text, Ymd), None, "{text}");
        }
        assert_eq!(parse("13/08/13", Dmy), None);
        assert_eq!(parse("13/08/2013", Mdy), None);
        assert_eq!(parse("13 Foo 2013", Named), None);
        assert_eq!(
            (parse_time("24:00"), parse_time("7"), parse_time("07:00+02")),
            (None, None, Some(5.0 / 24.0))
        );
    }

    #[test]
    fn timestamps_before_1970() {
        assert_eq!(days_of_timestamp(-1, 1_000_000_000), -1.0 + (86_399_999_999_999.0 / 86_400e9));
        assert_eq!(days_of_timestamp(15_930 * 86_400_000 + 43_200_000, 1000), 15_930.5);
    }
}
