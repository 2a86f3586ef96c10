//! Angles, heights, positions and RTK state, each vendor's convention turned into one.

use super::exif::ExifTags;
use super::makernote::DjiNote;
use super::number::parse_coordinate;
use super::remark::Remark;
use super::values::{AttitudeReading, Block, Height, Position, Rtk, RtkState, Source};
use super::xmp::{Namespace, Xmp};
use calibration::frames::{Body, Ned};
use calibration::{Attitude, Geodetic, LocalOrigin, Metres, Radians, Rotation};
use exif::Tag;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// GPS without corrections, horizontally (OpenDroneMap's `--gps-accuracy` default).
const GPS_SIGMA_M: f64 = 3.0;
/// A position the receiver itself marked as void.
const VOID_GPS_SIGMA_M: f64 = 50.0;
/// Receivers understate their RTK deviations; OpenDroneMap doubles them.
const RTK_STD_FACTOR: f64 = 2.0;
/// No RTK height or position is better than this.
const RTK_FLOOR_M: f64 = 0.02;
/// Barometric height above take-off within a flight.
const RELATIVE_SIGMA_M: f64 = 1.0;
/// DJI's absolute altitude without RTK: a standard atmosphere, 200 m off with the weather.
const BAROMETRIC_SIGMA_M: f64 = 100.0;
/// GPS height where the vendor leaves open whether the geoid was added.
const FUSED_SIGMA_M: f64 = 50.0;
/// GPS height above a documented datum.
const GPS_HEIGHT_SIGMA_M: f64 = 10.0;
/// EXIF GPSAltitude: any datum, any source.
const EXIF_HEIGHT_SIGMA_M: f64 = 100.0;
/// Heights beyond these are wrong numbers: below the Dead Sea, above any drone.
const POSSIBLE_HEIGHT_M: std::ops::RangeInclusive<f64> = -1000.0..=20_000.0;
/// Two positions of one photo further apart than this disagree.
const MAX_POSITION_GAP_M: f64 = 10.0;

/// Gimbal: compass errors of 2 to 5 degrees are usual, tilt is good to one.
const GIMBAL_YAW_SIGMA_DEG: f64 = 5.0;
const GIMBAL_TILT_SIGMA_DEG: f64 = 1.0;
/// Airframe, and cameras fixed to it.
const AIRFRAME_YAW_SIGMA_DEG: f64 = 5.0;
const AIRFRAME_TILT_SIGMA_DEG: f64 = 3.0;
/// No gimbal looks up more steeply than this; a larger pitch has the wrong sign.
const MAX_GIMBAL_PITCH_DEG: f64 = 60.0;
/// A roll beyond this means that the gimbal went past nadir.
const ROLLED_OVER_DEG: f64 = 90.0;

/// What the vendor functions read from.
pub(super) struct Tags<'a> {
    pub(super) exif: &'a ExifTags,
    pub(super) xmp: &'a Xmp,
    pub(super) dji_note: Option<DjiNote>,
    /// EXIF Make in lower case.
    pub(super) make: String,
    /// EXIF Model in lower case without blanks.
    pub(super) model: String,
}

/// RTK state, from DJI's tags.
pub(super) fn rtk(tags: &Tags) -> Option<Rtk> {
    let (flag, source) = tags.xmp.number(Namespace::Dji, &["RtkFlag"])?;
    if !(0.0..1000.0).contains(&flag) || flag.fract() != 0.0 {
        return None;
    }
    let std = |name| {
        tags.xmp
            .number(Namespace::Dji, &[name])
            .map(|(value, _)| Metres(value))
            .filter(|value| value.get() > 0.0)
    };
    // Whole and small as checked above.
    let flag = flag as u32;
    Some(Rtk {
        state: RtkState::from_flag(flag),
        flag,
        std_longitude: std("RtkStdLon"),
        std_latitude: std("RtkStdLat"),
        std_height: std("RtkStdHgt"),
        source,
    })
}

/// The horizontal position with its uncertainty.
pub(super) fn position(
    tags: &Tags,
    rtk: Option<&Rtk>,
    remarks: &mut Vec<Remark>,
) -> Option<Position> {
    let from_exif = exif_position(tags.exif, remarks);
    let from_dji = xmp_position(
        tags.xmp,
        Namespace::Dji,
        &["GpsLatitude", "Latitude"],
        // Sic: old firmware misspells the longitude.
        &["GpsLongitude", "GpsLongtitude", "Longitude"],
        remarks,
    );
    if let (Some(a), Some(b)) = (&from_exif, &from_dji) {
        let distance_m = distance_m(a, b);
        if distance_m > MAX_POSITION_GAP_M {
            remarks.push(Remark::PositionsDisagree { distance_m });
        }
    }
    // DJI's XMP has more digits than its EXIF; others' EXIF has more than their XMP.
    let (latitude_deg, longitude_deg, source) = from_dji.or(from_exif).or_else(|| {
        let names = [
            (Namespace::Skydio, "Latitude", "Longitude"),
            (Namespace::Exif, "GPSLatitude", "GPSLongitude"),
        ];
        names
            .into_iter()
            .find_map(|(namespace, latitude, longitude)| {
                xmp_position(tags.xmp, namespace, &[latitude], &[longitude], remarks)
            })
    })?;
    if let Some(datum) = tags.exif.text(Tag::GPSMapDatum)
        && !is_wgs84(&datum)
    {
        remarks.push(Remark::OtherDatum { datum });
    }
    Some(Position {
        latitude: Radians::from_degrees(latitude_deg),
        longitude: Radians::from_degrees(longitude_deg),
        sigma: Metres(horizontal_sigma_m(tags, rtk, remarks)),
        source,
    })
}

fn is_wgs84(datum: &str) -> bool {
    let letters: String = datum.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.is_empty() || letters.eq_ignore_ascii_case("WGS84")
}

fn horizontal_sigma_m(tags: &Tags, rtk: Option<&Rtk>, remarks: &mut Vec<Remark>) -> f64 {
    if let Some(rtk) = rtk
        && matches!(rtk.state, RtkState::Fixed | RtkState::Float)
        && let (Some(lon), Some(lat)) = (rtk.std_longitude, rtk.std_latitude)
    {
        return (RTK_STD_FACTOR * lon.get().max(lat.get())).max(RTK_FLOOR_M);
    }
    if tags
        .exif
        .text(Tag::GPSStatus)
        .is_some_and(|status| status == "V")
    {
        remarks.push(Remark::PositionVoid);
        return VOID_GPS_SIGMA_M;
    }
    let stated = tags
        .exif
        .number(Tag::GPSHPositioningError)
        .or_else(|| Some(tags.xmp.number(Namespace::Camera, &["GPSXYAccuracy"])?.0));
    stated
        .filter(|sigma| (RTK_FLOOR_M..1000.0).contains(sigma))
        .unwrap_or(GPS_SIGMA_M)
}

type PlaceDeg = (f64, f64, Source);

fn exif_position(exif: &ExifTags, remarks: &mut Vec<Remark>) -> Option<PlaceDeg> {
    let mut axis = |tag, reference, negative| -> Option<f64> {
        let parts = exif.numbers(tag)?;
        let mut degrees = 0.0;
        for (part, per_degree) in parts.iter().zip([1.0, 60.0, 3600.0]) {
            // A fraction 0/0 in minutes or seconds means none.
            degrees += match part {
                Some(part) => part / per_degree,
                None if per_degree > 1.0 => 0.0,
                None => return None,
            };
        }
        let Some(reference) = exif.text(reference) else {
            if degrees != 0.0 {
                remarks.push(Remark::HemisphereMissing);
            }
            return Some(degrees);
        };
        Some(if reference.starts_with(negative) {
            -degrees
        } else {
            degrees
        })
    };
    let latitude = axis(Tag::GPSLatitude, Tag::GPSLatitudeRef, ['S', 's'])?;
    let longitude = axis(Tag::GPSLongitude, Tag::GPSLongitudeRef, ['W', 'w'])?;
    possible_place(
        latitude,
        longitude,
        Source::exif("GPSLatitude, GPSLongitude"),
        remarks,
    )
}

fn xmp_position(
    xmp: &Xmp,
    namespace: Namespace,
    latitude_names: &[&str],
    longitude_names: &[&str],
    remarks: &mut Vec<Remark>,
) -> Option<PlaceDeg> {
    let (latitude, latitude_source) = xmp.text(namespace, latitude_names)?;
    let (longitude, longitude_source) = xmp.text(namespace, longitude_names)?;
    let key = format!("{}, {}", latitude_source.key, longitude_source.key);
    match (parse_coordinate(latitude), parse_coordinate(longitude)) {
        (Some(latitude), Some(longitude)) => {
            possible_place(latitude, longitude, Source::new(Block::Xmp, key), remarks)
        }
        _ => {
            remarks.push(Remark::PositionInvalid {
                problem: format!("{key} are {latitude:?}, {longitude:?}"),
            });
            None
        }
    }
}

/// Refuses (0, 0), which receivers without a fix write, and what is not on the globe.
fn possible_place(
    latitude: f64,
    longitude: f64,
    source: Source,
    remarks: &mut Vec<Remark>,
) -> Option<PlaceDeg> {
    let is_zero = latitude.abs() < 1e-6 && longitude.abs() < 1e-6;
    if is_zero || Geodetic::from_degrees(latitude, longitude, Metres(0.0)).is_none() {
        remarks.push(Remark::PositionInvalid {
            problem: format!("{source} are {latitude}, {longitude}"),
        });
        return None;
    }
    Some((latitude, longitude, source))
}

fn distance_m(a: &PlaceDeg, b: &PlaceDeg) -> f64 {
    let place = |p: &PlaceDeg| Geodetic::from_degrees(p.0, p.1, Metres(0.0));
    match (place(a), place(b)) {
        (Some(a), Some(b)) => {
            let there = LocalOrigin::new(a).enu_from_geodetic(b);
            there.x().hypot(there.y())
        }
        _ => 0.0,
    }
}

/// Every height a photo states, each above its own datum.
#[derive(Debug, Default)]
pub(super) struct Heights {
    pub(super) above_takeoff: Option<Height>,
    pub(super) above_ground: Option<Height>,
    pub(super) above_sea_level: Option<Height>,
    pub(super) above_ellipsoid: Option<Height>,
    pub(super) exif_gps: Option<Height>,
}

/// Reads the heights.
pub(super) fn heights(tags: &Tags, rtk: Option<&Rtk>, remarks: &mut Vec<Remark>) -> Heights {
    let mut heights = Heights {
        above_takeoff: height(
            tags.xmp.number(Namespace::Dji, &["RelativeAltitude"]),
            RELATIVE_SIGMA_M,
            remarks,
        ),
        above_ground: height(
            tags.xmp.number(Namespace::Camera, &["AboveGroundAltitude"]),
            GPS_HEIGHT_SIGMA_M,
            remarks,
        ),
        exif_gps: exif_height(tags, remarks),
        ..Heights::default()
    };
    absolute_height(tags, rtk, &mut heights, remarks);
    heights
}

fn height(
    stated: Option<(f64, Source)>,
    sigma_m: f64,
    remarks: &mut Vec<Remark>,
) -> Option<Height> {
    let (value, source) = stated?;
    if !POSSIBLE_HEIGHT_M.contains(&value) {
        remarks.push(Remark::HeightInvalid {
            problem: format!("{source} is {value}"),
        });
        return None;
    }
    Some(Height {
        height: Metres(value),
        sigma: Metres(sigma_m),
        source,
    })
}

fn exif_height(tags: &Tags, remarks: &mut Vec<Remark>) -> Option<Height> {
    let value = tags.exif.number(Tag::GPSAltitude)?;
    let is_below = match tags.exif.uint(Tag::GPSAltitudeRef) {
        Some(1 | 3) => true,
        Some(_) => false,
        // Written as text by some tools.
        None => tags
            .exif
            .text(Tag::GPSAltitudeRef)
            .is_some_and(|text| text == "1"),
    };
    let value = if is_below { -value } else { value };
    height(
        Some((value, Source::exif("GPSAltitude, GPSAltitudeRef"))),
        EXIF_HEIGHT_SIGMA_M,
        remarks,
    )
}

/// The absolute height where the vendor says above what.
fn absolute_height(
    tags: &Tags,
    rtk: Option<&Rtk>,
    heights: &mut Heights,
    remarks: &mut Vec<Remark>,
) {
    if let Some(stated) = tags.xmp.number(Namespace::Dji, &["AbsoluteAltitude"]) {
        let altitude_type = tags.xmp.text(Namespace::Dji, &["AltitudeType"]);
        let is_rtk = altitude_type
            .as_ref()
            .is_some_and(|(text, _)| *text == "RtkAlt")
            || rtk.is_some_and(|rtk| matches!(rtk.state, RtkState::Fixed | RtkState::Float));
        if is_rtk {
            // "Geodetic height" in the manuals of RTK models: above the ellipsoid.
            let sigma_m = rtk
                .and_then(|rtk| rtk.std_height)
                .map_or(FUSED_SIGMA_M, |std| {
                    (RTK_STD_FACTOR * std.get()).max(RTK_FLOOR_M)
                });
            heights.above_ellipsoid = height(Some(stated), sigma_m, remarks);
        } else {
            let sigma_m = if altitude_type.is_some_and(|(text, _)| text == "GpsFusionAlt") {
                FUSED_SIGMA_M
            } else {
                BAROMETRIC_SIGMA_M
            };
            heights.above_sea_level = height(Some(stated), sigma_m, remarks);
        }
        return;
    }
    // Skydio writes heights above the EGM96 geoid (OpenAthena).
    if let Some(stated) = tags.xmp.number(Namespace::Skydio, &["AbsoluteAltitude"]) {
        heights.above_sea_level = height(Some(stated), GPS_HEIGHT_SIGMA_M, remarks);
        return;
    }
    let Some(exif) = &heights.exif_gps else {
        return;
    };
    // developer.parrot.com photo-metadata: ANAFI 4K, Thermal and USA above the EGM96 geoid,
    // ANAFI Ai above the ellipsoid.
    if tags.make == "parrot" && tags.model.starts_with("anafi") {
        let sigma_m = tags
            .xmp
            .number(Namespace::Camera, &["GPSZAccuracy"])
            .map_or(GPS_HEIGHT_SIGMA_M, |(sigma, _)| {
                sigma.clamp(RTK_FLOOR_M, 100.0)
            });
        let documented = Height {
            sigma: Metres(sigma_m),
            ..exif.clone()
        };
        if tags.model.starts_with("anafiai") {
            heights.above_ellipsoid = Some(documented);
        } else {
            heights.above_sea_level = Some(documented);
        }
    }
}

/// Where the camera looks, from the first vocabulary that says so.
pub(super) fn gimbal(tags: &Tags, remarks: &mut Vec<Remark>) -> Option<AttitudeReading> {
    let is_set = |name| {
        tags.xmp
            .number(Namespace::Dji, &[name])
            .is_some_and(|(value, _)| value == 1.0)
    };
    if is_set("GimbalReverse") || is_set("CamReverse") {
        remarks.push(Remark::MountedUpsideDown);
    }
    let ned = [
        (
            Namespace::Dji,
            ["GimbalYawDegree", "GimbalPitchDegree", "GimbalRollDegree"],
        ),
        (
            Namespace::Parrot,
            ["CameraYawDegree", "CameraPitchDegree", "CameraRollDegree"],
        ),
        (
            Namespace::Skydio,
            [
                "CameraOrientationNED/Yaw",
                "CameraOrientationNED/Pitch",
                "CameraOrientationNED/Roll",
            ],
        ),
    ];
    for (namespace, names) in ned {
        if let Some((angles, source)) = xmp_angles(tags.xmp, namespace, &names) {
            return gimbal_reading(angles, source, remarks);
        }
    }
    if let Some(reading) = skydio_quaternion(tags.xmp, "CameraOrientationQuatNED") {
        return Some(reading);
    }
    if let Some(reading) = teal(tags.xmp) {
        return Some(reading);
    }
    if let Some(reading) = pix4d(tags, remarks) {
        return Some(reading);
    }
    let note = tags.dji_note?;
    let angles = [
        note.camera_yaw_deg,
        note.camera_pitch_deg,
        note.camera_roll_deg,
    ];
    let source = Source::new(Block::MakerNote, "DJI CameraYaw, CameraPitch, CameraRoll");
    gimbal_reading(complete(angles)?, source, remarks)
}

/// How the airframe is turned.
pub(super) fn aircraft(tags: &Tags, remarks: &mut Vec<Remark>) -> Option<AttitudeReading> {
    let ned = [
        (
            Namespace::Dji,
            ["FlightYawDegree", "FlightPitchDegree", "FlightRollDegree"],
        ),
        (
            Namespace::Parrot,
            ["DroneYawDegree", "DronePitchDegree", "DroneRollDegree"],
        ),
        (
            Namespace::Skydio,
            [
                "VehicleOrientationNED/Yaw",
                "VehicleOrientationNED/Pitch",
                "VehicleOrientationNED/Roll",
            ],
        ),
    ];
    for (namespace, names) in ned {
        if let Some((angles, source)) = xmp_angles(tags.xmp, namespace, &names) {
            return airframe_reading(angles, source, remarks);
        }
    }
    if let Some(reading) = skydio_quaternion(tags.xmp, "VehicleOrientationQuatNED") {
        return Some(reading);
    }
    let note = tags.dji_note?;
    let source = Source::new(Block::MakerNote, "DJI Yaw, Pitch, Roll");
    airframe_reading(
        complete([note.yaw_deg, note.pitch_deg, note.roll_deg])?,
        source,
        remarks,
    )
}

/// Yaw, pitch and roll in degrees; a missing roll is taken as level.
fn xmp_angles(xmp: &Xmp, namespace: Namespace, names: &[&str; 3]) -> Option<([f64; 3], Source)> {
    let [yaw, pitch, roll] = names.map(|name| xmp.number(namespace, &[name]));
    let ((yaw, source), (pitch, pitch_source)) = (yaw?, pitch?);
    let mut key = format!("{}, {}", source.key, pitch_source.key);
    let roll = roll.map_or(0.0, |(roll, source)| {
        key = format!("{key}, {}", source.key);
        roll
    });
    Some(([yaw, pitch, roll], Source::new(Block::Xmp, key)))
}

fn complete([yaw, pitch, roll]: [Option<f64>; 3]) -> Option<[f64; 3]> {
    Some([yaw?, pitch?, roll.unwrap_or(0.0)])
}

/// Angles that can be angles: all zero is what firmware writes when it has none.
fn possible_angles(angles: [f64; 3], source: &Source, remarks: &mut Vec<Remark>) -> bool {
    if angles == [0.0; 3] {
        remarks.push(Remark::AnglesAllZero {
            key: source.key.clone().into_owned(),
        });
        return false;
    }
    let [yaw, pitch, roll] = angles;
    let possible = yaw.abs() <= 360.0 && pitch.abs() <= 180.0 && roll.abs() <= 360.0;
    if !possible {
        remarks.push(Remark::AngleInvalid {
            problem: format!("{source} are {yaw}, {pitch}, {roll}"),
        });
    }
    possible
}

/// A gimbal's angles in NED, pitch -90 at nadir.
fn gimbal_reading(
    angles: [f64; 3],
    source: Source,
    remarks: &mut Vec<Remark>,
) -> Option<AttitudeReading> {
    if !possible_angles(angles, &source, remarks) {
        return None;
    }
    let [yaw, mut pitch, roll] = angles;
    if pitch > MAX_GIMBAL_PITCH_DEG {
        remarks.push(Remark::PitchSignTurned { found_deg: pitch });
        pitch = -pitch;
    }
    let roll_wrapped = Radians::from_degrees(roll).wrapped().to_degrees();
    if roll_wrapped.abs() > ROLLED_OVER_DEG {
        remarks.push(Remark::RolledOver { roll_deg: roll });
    }
    Some(reading(
        normal(Attitude::from_degrees(yaw, pitch, roll)),
        [GIMBAL_YAW_SIGMA_DEG, GIMBAL_TILT_SIGMA_DEG],
        source,
    ))
}

fn airframe_reading(
    angles: [f64; 3],
    source: Source,
    remarks: &mut Vec<Remark>,
) -> Option<AttitudeReading> {
    possible_angles(angles, &source, remarks).then(|| {
        reading(
            normal(Attitude::from_degrees(angles[0], angles[1], angles[2])),
            [AIRFRAME_YAW_SIGMA_DEG, AIRFRAME_TILT_SIGMA_DEG],
            source,
        )
    })
}

fn reading(attitude: Attitude, [yaw, tilt]: [f64; 2], source: Source) -> AttitudeReading {
    AttitudeReading {
        attitude,
        yaw_sigma: Radians::from_degrees(yaw),
        tilt_sigma: Radians::from_degrees(tilt),
        source,
    }
}

/// The same rotation with every angle in its range. At nadir itself yaw and roll turn about one
/// axis: there yaw carries both, so that a roll of 180 becomes a yaw turned by 180.
fn normal(attitude: Attitude) -> Attitude {
    let quarter = std::f64::consts::FRAC_PI_2;
    let pitch = attitude.pitch.wrapped();
    if (pitch.get().abs() - quarter).abs() < 1e-9 || pitch.get().abs() > quarter {
        return Attitude::from_ned_from_body(attitude.ned_from_body());
    }
    Attitude {
        yaw: attitude.yaw.wrapped(),
        pitch,
        roll: attitude.roll.wrapped(),
    }
}

/// Skydio's quaternion takes a forward-left-up body to NED: in its photos it equals the NED angles
/// beside it after half a turn about the forward axis.
fn skydio_quaternion(xmp: &Xmp, name: &str) -> Option<AttitudeReading> {
    let part = |axis: &str| {
        Some(
            xmp.number(Namespace::Skydio, &[&format!("{name}/{axis}")])?
                .0,
        )
    };
    let quaternion = Quaternion::new(part("W")?, part("X")?, part("Y")?, part("Z")?);
    if (quaternion.norm() - 1.0).abs() > 0.01 {
        return None;
    }
    let ned_from_flu = UnitQuaternion::from_quaternion(quaternion);
    let flu_from_body = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let ned_from_body: Rotation<Ned, Body> =
        Rotation::from_quaternion(ned_from_flu * flu_from_body);
    Some(reading(
        Attitude::from_ned_from_body(ned_from_body),
        [GIMBAL_YAW_SIGMA_DEG, GIMBAL_TILT_SIGMA_DEG],
        Source::new(Block::Xmp, format!("drone-skydio:{name}")),
    ))
}

/// Teal 2 states the camera's angles relative to the platform's, both in the EXIF vocabulary of
/// XMP (OpenAthenaAndroid, `handleTeal`).
fn teal(xmp: &Xmp) -> Option<AttitudeReading> {
    let attitude = |names: [&str; 3]| {
        let [yaw, pitch, roll] = names.map(|name| Some(xmp.number(Namespace::Exif, &[name])?.0));
        let [yaw, pitch, roll] = complete([yaw, pitch, roll])?;
        Some(Attitude::from_degrees(yaw, pitch, roll).ned_from_body())
    };
    let ned_from_platform = attitude(["PlatformYaw", "PlatformPitch", "PlatformRoll"])?;
    let platform_from_camera = attitude(["CameraYaw", "CameraPitch", "CameraRoll"])?;
    let ned_from_body: Rotation<Ned, Body> =
        Rotation::from_quaternion(ned_from_platform.quaternion * platform_from_camera.quaternion);
    Some(reading(
        Attitude::from_ned_from_body(ned_from_body),
        [GIMBAL_YAW_SIGMA_DEG, AIRFRAME_TILT_SIGMA_DEG],
        Source::new(Block::Xmp, "exif:PlatformYaw, CameraYaw and the like"),
    ))
}

/// Pix4D's `Camera:Yaw, Pitch, Roll`: a body whose camera looks along its down axis with the
/// image's top forward, so all zero is nadir and pitch 90 looks at the horizon ahead
/// (support.pix4d.com 202558969). senseFly inverts the roll (OpenDroneMap).
fn pix4d(tags: &Tags, remarks: &mut Vec<Remark>) -> Option<AttitudeReading> {
    let ([yaw, pitch, mut roll], source) =
        xmp_angles(tags.xmp, Namespace::Camera, &["Yaw", "Pitch", "Roll"])?;
    if !possible_angles([yaw, pitch, roll], &source, remarks) {
        return None;
    }
    if tags.make == "sensefly" {
        roll = -roll;
    }
    let ned_from_down_looking = Attitude::from_degrees(yaw, pitch, roll).ned_from_body();
    // The gimbal's forward is the body's down, its down the body's backward.
    let down_looking_from_gimbal =
        UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -std::f64::consts::FRAC_PI_2);
    let ned_from_gimbal: Rotation<Ned, Body> =
        Rotation::from_quaternion(ned_from_down_looking.quaternion * down_looking_from_gimbal);
    Some(reading(
        Attitude::from_ned_from_body(ned_from_gimbal),
        [AIRFRAME_YAW_SIGMA_DEG, AIRFRAME_TILT_SIGMA_DEG],
        source,
    ))
}
