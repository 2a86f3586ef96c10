//! When the photo was taken: every way the file tells it, as UTC with the half-width of the
//! interval that holds the true instant.

mod stamp;
#[cfg(test)]
mod tests;

use super::exif::ExifTags;
use super::remark::Remark;
use super::values::{Block, Source};
use super::xmp::{Namespace, Xmp};
use calibration::Seconds;
use exif::Tag;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use serde::{Deserialize, Serialize};
use stamp::Stamp;

/// Half-width for DJI's `UTCAtExposure`, which has microseconds.
const EXPOSURE_S: f64 = 0.01;
/// Half-width for GPS time with fractions of a second: fixes are some tenths apart.
const GPS_FRACTION_S: f64 = 0.5;
/// Half-width for GPS time in whole seconds: truncated, and fixes come once a second.
const GPS_WHOLE_S: f64 = 1.0;
/// Half-width for a drone's own clock: photos that carry both clocks show 4 to 20 s between them.
const CAMERA_CLOCK_S: f64 = 30.0;
/// A camera clock this near to GPS time is set from it.
const SYNCED_CLOCK_S: f64 = 2.0;
/// Half-width where the time zone is unknown: zones reach from -12 h to +14 h.
const UNKNOWN_ZONE_S: f64 = 14.0 * 3600.0;
/// Zones are whole quarters of an hour.
const QUARTER_S: f64 = 900.0;
/// Cameras with GPS are younger; an earlier date is a clock that was never set.
const FIRST_YEAR: i16 = 1995;
/// Offsets beyond this from solar time are used nowhere (China's west is 3 h off).
const MAX_ZONE_FROM_SOLAR_H: f64 = 5.0;

/// How UTC was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeBasis {
    /// GPS date and time.
    Gps,
    /// The UTC instant of the exposure, as newer DJI models write it.
    UtcAtExposure,
    /// The camera's clock with the EXIF offset tag.
    OffsetTag,
    /// A date in XMP with its zone.
    XmpZone,
    /// The camera's clock in the site's time zone, given by the caller.
    SiteZone,
    /// The camera's clock taken as UTC: the zone is unknown.
    UnknownZone,
}

/// One reading of the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaptureTime {
    /// The best guess of the instant.
    pub utc: Timestamp,
    /// The true instant lies within this of `utc`.
    #[serde(rename = "plus_minus_s")]
    pub plus_minus: Seconds,
    /// How it was derived.
    pub basis: TimeBasis,
    /// Where it was read.
    pub source: Source,
}

/// What the camera's clock showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalTime {
    /// Date and time in the camera's zone, whichever that is.
    pub shown: DateTime,
    /// Where it was read.
    pub source: Source,
}

/// Reads every time; the best first.
pub(super) fn read(
    exif: &ExifTags,
    xmp: &Xmp,
    longitude_deg: Option<f64>,
    remarks: &mut Vec<Remark>,
) -> (Option<LocalTime>, Vec<CaptureTime>) {
    let local = local_time(exif, remarks);
    let gps = gps_time(exif, remarks);
    let mut clock_s = CAMERA_CLOCK_S;
    let mut times = Vec::new();
    if let Some(mut gps) = gps {
        let rest_s = local
            .as_ref()
            .and_then(|local| beyond_a_zone_s(&gps, local));
        if let Some(rest_s) = rest_s.filter(|rest_s| *rest_s > CAMERA_CLOCK_S) {
            // Either clock may be the wrong one: a receiver without a fix repeats its last time.
            remarks.push(Remark::ClocksDisagree { seconds: rest_s });
            clock_s = rest_s;
            gps.plus_minus = Seconds(rest_s);
        } else if let Some(rest_s) = rest_s.filter(|rest_s| *rest_s <= SYNCED_CLOCK_S) {
            // The camera's clock follows GPS; what is left is the age of the fix.
            gps.plus_minus = Seconds(gps.plus_minus.get().max(rest_s));
        }
        times.push(gps);
    }
    times.extend(utc_at_exposure(xmp, remarks));
    if let Some(local) = &local {
        times.extend(by_offset_tag(exif, local, clock_s, longitude_deg, remarks));
        times.push(CaptureTime {
            utc: instant(local.shown, 0).unwrap_or(Timestamp::UNIX_EPOCH),
            plus_minus: Seconds(UNKNOWN_ZONE_S),
            basis: TimeBasis::UnknownZone,
            source: local.source.clone(),
        });
    }
    times.extend(xmp_zone(xmp, local.as_ref(), clock_s));
    sort(&mut times);
    (local, times)
}

/// Adds what the local time means in `zone`, with a remark where the photo's own offset differs.
pub(super) fn add_zone(
    local: Option<&LocalTime>,
    times: &mut Vec<CaptureTime>,
    zone: &TimeZone,
    remarks: &mut Vec<Remark>,
) {
    let Some(local) = local else {
        return;
    };
    let ambiguous = zone.to_ambiguous_timestamp(local.shown);
    // In the hour that comes twice, and in the one that does not exist, either offset may hold.
    let extra_s = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => 0.0,
        AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
            remarks.push(Remark::ZoneAmbiguous);
            f64::from((after.seconds() - before.seconds()).abs())
        }
    };
    let Ok(utc) = ambiguous.compatible() else {
        return;
    };
    times.retain(|time| time.basis != TimeBasis::SiteZone);
    let by_zone = CaptureTime {
        utc,
        plus_minus: Seconds(CAMERA_CLOCK_S + extra_s),
        basis: TimeBasis::SiteZone,
        source: Source::new(
            Block::Caller,
            zone.iana_name().unwrap_or("time zone").to_owned(),
        ),
    };
    if let Some(best) = times.first() {
        let apart_s = seconds_between(best.utc, by_zone.utc).abs();
        if apart_s > best.plus_minus.get() + by_zone.plus_minus.get() {
            remarks.push(Remark::ZoneDisagrees { seconds: apart_s });
        }
    }
    times.push(by_zone);
    sort(times);
}

/// The smallest uncertainty first; among equals the more direct derivation.
fn sort(times: &mut [CaptureTime]) {
    times.sort_by(|a, b| {
        (a.plus_minus.get().total_cmp(&b.plus_minus.get())).then(a.basis.cmp(&b.basis))
    });
}

fn local_time(exif: &ExifTags, remarks: &mut Vec<Remark>) -> Option<LocalTime> {
    let tags = [
        (
            Tag::DateTimeOriginal,
            Tag::SubSecTimeOriginal,
            "DateTimeOriginal",
        ),
        (
            Tag::DateTimeDigitized,
            Tag::SubSecTimeDigitized,
            "DateTimeDigitized",
        ),
        (Tag::DateTime, Tag::SubSecTime, "DateTime"),
    ];
    for (tag, subsec_tag, key) in tags {
        let Some(text) = exif.text(tag) else {
            continue;
        };
        let Some(stamp) = stamp::parse(&text).filter(|stamp| stamp.offset_s.is_none()) else {
            remarks.push(Remark::TimeInvalid {
                problem: format!("{key} {text:?}"),
            });
            continue;
        };
        if stamp.civil.year() < FIRST_YEAR {
            remarks.push(Remark::ClockNotSet { found: text });
            continue;
        }
        if tag == Tag::DateTime {
            remarks.push(Remark::OnlyModifyDate);
        }
        let fraction = exif
            .text(subsec_tag)
            .and_then(|digits| stamp::fraction(&digits));
        return Some(LocalTime {
            shown: stamp.with_fraction(fraction),
            source: Source::exif(key),
        });
    }
    None
}

fn gps_time(exif: &ExifTags, remarks: &mut Vec<Remark>) -> Option<CaptureTime> {
    let date_text = exif.text(Tag::GPSDateStamp)?;
    let parts = exif.numbers(Tag::GPSTimeStamp)?;
    let stamp = match parts[..] {
        [Some(hour), Some(minute), Some(second)] => stamp::gps(&date_text, hour, minute, second),
        _ => None,
    };
    let Some(stamp) = stamp.filter(|stamp| stamp.civil.year() >= FIRST_YEAR) else {
        remarks.push(Remark::TimeInvalid {
            problem: format!("GPS date {date_text:?} with its time"),
        });
        return None;
    };
    Some(CaptureTime {
        utc: instant(stamp.civil, 0)?,
        plus_minus: Seconds(if stamp.has_fraction {
            GPS_FRACTION_S
        } else {
            GPS_WHOLE_S
        }),
        basis: TimeBasis::Gps,
        source: Source::exif("GPSDateStamp, GPSTimeStamp"),
    })
}

/// What is left between GPS time and the camera's clock after the nearest time zone: zones are
/// whole quarters of an hour, the rest is an error of one of the two.
fn beyond_a_zone_s(gps: &CaptureTime, local: &LocalTime) -> Option<f64> {
    let apart_s = seconds_between(gps.utc, instant(local.shown, 0)?);
    let zone_s = (apart_s / QUARTER_S).round() * QUARTER_S;
    Some((apart_s - zone_s.clamp(-UNKNOWN_ZONE_S, UNKNOWN_ZONE_S)).abs())
}

fn utc_at_exposure(xmp: &Xmp, remarks: &mut Vec<Remark>) -> Option<CaptureTime> {
    let (text, source) = xmp.text(Namespace::Dji, &["UTCAtExposure"])?;
    let Some(stamp) = stamp::parse(text).filter(|stamp| stamp.civil.year() >= FIRST_YEAR) else {
        remarks.push(Remark::TimeInvalid {
            problem: format!("UTCAtExposure {text:?}"),
        });
        return None;
    };
    Some(CaptureTime {
        utc: instant(stamp.civil, stamp.offset_s.unwrap_or(0))?,
        plus_minus: Seconds(if stamp.has_fraction {
            EXPOSURE_S
        } else {
            GPS_WHOLE_S
        }),
        basis: TimeBasis::UtcAtExposure,
        source,
    })
}

fn by_offset_tag(
    exif: &ExifTags,
    local: &LocalTime,
    clock_s: f64,
    longitude_deg: Option<f64>,
    remarks: &mut Vec<Remark>,
) -> Option<CaptureTime> {
    let (tag, key) = match &*local.source.key {
        "DateTimeOriginal" => (Tag::OffsetTimeOriginal, "OffsetTimeOriginal"),
        "DateTimeDigitized" => (Tag::OffsetTimeDigitized, "OffsetTimeDigitized"),
        _ => (Tag::OffsetTime, "OffsetTime"),
    };
    let (text, key) = match exif.text(tag) {
        Some(text) => (text, key),
        None => (exif.text(Tag::OffsetTime)?, "OffsetTime"),
    };
    let Some(offset_s) = stamp::parse_offset(&text) else {
        remarks.push(Remark::TimeInvalid {
            problem: format!("{key} {text:?}"),
        });
        return None;
    };
    let offset_h = f64::from(offset_s) / 3600.0;
    if let Some(solar_h) = longitude_deg.map(|degrees| degrees / 15.0) {
        // A camera set to UTC is right everywhere; at the date line the sides differ by a day.
        let fits = [-24.0, 0.0, 24.0]
            .iter()
            .any(|day| (offset_h - solar_h + day).abs() <= MAX_ZONE_FROM_SOLAR_H);
        if offset_s != 0 && !fits {
            remarks.push(Remark::OffsetImplausible { offset_h, solar_h });
        }
    }
    Some(CaptureTime {
        utc: instant(local.shown, offset_s)?,
        plus_minus: Seconds(clock_s),
        basis: TimeBasis::OffsetTag,
        source: Source::exif(key),
    })
}

/// A date in XMP with a zone. Dates of the last change are not looked at.
fn xmp_zone(xmp: &Xmp, local: Option<&LocalTime>, clock_s: f64) -> Option<CaptureTime> {
    let candidates = [
        (Namespace::Exif, "DateTimeOriginal"),
        (Namespace::Xmp, "CreateDate"),
    ];
    for (namespace, name) in candidates {
        let Some((text, source)) = xmp.text(namespace, &[name]) else {
            continue;
        };
        let Some((stamp, offset_s)) =
            stamp::parse(text).and_then(|stamp: Stamp| Some((stamp, stamp.offset_s?)))
        else {
            continue;
        };
        if stamp.civil.year() < FIRST_YEAR {
            continue;
        }
        // An editor may write its own zone beside another time: only a date that shows the same
        // wall clock as EXIF speaks of the same moment.
        let same_moment =
            local.is_none_or(
                |local| match (instant(local.shown, 0), instant(stamp.civil, 0)) {
                    (Some(a), Some(b)) => seconds_between(a, b).abs() <= clock_s,
                    _ => false,
                },
            );
        if same_moment {
            return Some(CaptureTime {
                utc: instant(stamp.civil, offset_s)?,
                plus_minus: Seconds(clock_s),
                basis: TimeBasis::XmpZone,
                source,
            });
        }
    }
    None
}

fn instant(civil: DateTime, offset_s: i32) -> Option<Timestamp> {
    let offset = Offset::from_seconds(offset_s).ok()?;
    offset.to_timestamp(civil).ok()
}

/// `later - earlier` in seconds.
fn seconds_between(earlier: Timestamp, later: Timestamp) -> f64 {
    later.duration_since(earlier).as_secs_f64()
}
