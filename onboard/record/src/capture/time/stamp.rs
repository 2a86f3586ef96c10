//! Dates and times as text: EXIF `2018:04:29 12:12:44`, ISO 8601 with fraction and zone.

use jiff::civil::{Date, DateTime, Time};

/// A date and time that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    pub(super) civil: DateTime,
    /// Whether fractions of a second are given.
    pub(super) has_fraction: bool,
    /// Stated offset from UTC, east positive.
    pub(super) offset_s: Option<i32>,
}

impl Stamp {
    /// The date and time, with a fraction of a second from another tag unless it has its own.
    pub(super) fn with_fraction(self, nanoseconds: Option<i32>) -> DateTime {
        let Some(nanoseconds) = nanoseconds.filter(|_| !self.has_fraction) else {
            return self.civil;
        };
        self.civil
            .with()
            .subsec_nanosecond(nanoseconds)
            .build()
            .unwrap_or(self.civil)
    }
}

/// `Y:M:D h:m:s` with `-` or `/` for the colons of the date and `T` for the blank, an optional
/// fraction and an optional zone (`Z` or `+hh:mm`). Nothing for dates without a time.
pub(super) fn parse(text: &str) -> Option<Stamp> {
    let mut rest = Cursor(text.trim());
    let year = rest.digits(4)?;
    rest.one_of(&[':', '-', '/'])?;
    let month = rest.digits(2)?;
    rest.one_of(&[':', '-', '/'])?;
    let day = rest.digits(2)?;
    rest.one_of(&[' ', 'T', 't'])?;
    let hour = rest.digits(2)?;
    rest.one_of(&[':'])?;
    let minute = rest.digits(2)?;
    // ISO 8601 allows leaving the seconds out.
    let second = match rest.one_of(&[':']) {
        Some(_) => rest.digits(2)?,
        None => 0,
    };
    let mut nanoseconds = None;
    if rest.one_of(&['.', ',']).is_some() {
        nanoseconds = Some(fraction(rest.take_digits())?);
    }
    let rest = rest.0.trim();
    let offset_s = if rest.is_empty() {
        None
    } else {
        Some(parse_offset(rest)?)
    };
    Some(Stamp {
        civil: civil(
            year,
            month,
            day,
            hour,
            minute,
            second,
            nanoseconds.unwrap_or(0),
        )?,
        has_fraction: nanoseconds.is_some(),
        offset_s,
    })
}

/// GPS date text with hours, minutes and seconds as numbers.
pub(super) fn gps(date: &str, hour: f64, minute: f64, second: f64) -> Option<Stamp> {
    let mut rest = Cursor(date.trim());
    let year = rest.digits(4)?;
    rest.one_of(&[':', '-', '/'])?;
    let month = rest.digits(2)?;
    rest.one_of(&[':', '-', '/'])?;
    let day = rest.digits(2)?;
    let in_range = (0.0..24.0).contains(&hour)
        && (0.0..60.0).contains(&minute)
        && (0.0..60.0).contains(&second)
        && hour.fract() == 0.0
        && minute.fract() == 0.0;
    if !in_range {
        return None;
    }
    // Whole and in range as checked just above; microseconds are more than receivers state.
    let (whole, micros) = (second.trunc() as u32, (second.fract() * 1e6).round() as i32);
    let (hour, minute) = (hour as u32, minute as u32);
    let nanoseconds = micros.min(999_999) * 1000;
    Some(Stamp {
        civil: civil(year, month, day, hour, minute, whole, nanoseconds)?,
        has_fraction: micros != 0,
        offset_s: None,
    })
}

/// `Z`, `+hh:mm`, `-hhmm` or `+hh` as seconds east of UTC, at most 15 hours.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    const MAX_OFFSET_S: i32 = 15 * 3600;
    let text = text.trim();
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let mut rest = Cursor(text);
    let sign = match rest.one_of(&['+', '-'])? {
        '-' => -1,
        _ => 1,
    };
    let hours = rest.digits(2)?;
    let minutes = if rest.0.is_empty() {
        0
    } else {
        // The colon is left out by some writers.
        let _ = rest.one_of(&[':']);
        rest.digits(2)?
    };
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
    (rest.0.is_empty() && minutes < 60 && seconds <= MAX_OFFSET_S).then_some(sign * seconds)
}

/// Digits after the point of a second as nanoseconds: `050` is 50 ms.
pub(super) fn fraction(digits: &str) -> Option<i32> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().ok()
}

fn civil(
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanoseconds: i32,
) -> Option<DateTime> {
    let small = |value: u32| i8::try_from(value).ok();
    let date = Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?;
    let time = Time::new(small(hour)?, small(minute)?, small(second)?, nanoseconds).ok()?;
    Some(date.to_datetime(time))
}

/// What is left of the text.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn digits(&mut self, n: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(n)?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.0 = rest;
        digits.parse().ok()
    }

    fn take_digits(&mut self) -> &'a str {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }

    fn one_of(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.0.chars().next().filter(|c| wanted.contains(c))?;
        self.0 = &self.0[next.len_utf8()..];
        Some(next)
    }
}
