//! Where the camera looks and how the airframe is turned: every vendor's angles in NED with
//! pitch -90 degrees at nadir.

use super::Tags;
use crate::capture::remark::Remark;
use crate::capture::values::{AttitudeReading, Block, Source};
use crate::capture::xmp::{Namespace, Xmp};
use calibration::frames::{Body, Ned};
use calibration::{Attitude, Radians, Rotation};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

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

/// Where the camera looks, from the first vocabulary that says so.
pub(in crate::capture) fn gimbal(
    tags: &Tags,
    remarks: &mut Vec<Remark>,
) -> Option<AttitudeReading> {
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
pub(in crate::capture) fn aircraft(
    tags: &Tags,
    remarks: &mut Vec<Remark>,
) -> Option<AttitudeReading> {
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
