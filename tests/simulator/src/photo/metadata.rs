//! What a photo says about itself: EXIF and XMP as DJI drones write them, for an invented camera.

use crate::geodesy::{Place, place_from_enu};
use crate::photo::jpeg::{Picture, Segment, encode, encode_grey};
use crate::photo::tiff::{Directory, Value, tiff};
use crate::render::Film;
use crate::sensors::Reading;
use crate::site::World;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The invented camera.
pub const CAMERA_MAKE: &str = "OVERLOOK";
/// The invented camera.
pub const CAMERA_MODEL: &str = "SIM1";
/// Nominal focal length, millimetres; the true one differs a little.
pub(crate) const FOCAL_MM: f64 = 12.29;
/// Width of the sensor's used part, millimetres: 17.3 as a 4/3 inch sensor has.
pub(crate) const SENSOR_WIDTH_MM: f64 = 17.3;
/// The focal length on a 36 x 24 mm frame that the files state, millimetres.
pub(crate) const EQUIVALENT_MM: u16 = 24;
/// What the files name as the camera's program.
pub(crate) const FIRMWARE: &str = "10.12.03.45";

/// Which metadata a photo carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carries {
    pub(crate) xmp: bool,
    pub(crate) gps: bool,
}

/// All that the metadata of one photo is made of.
pub(crate) struct Shot<'a> {
    pub(crate) world: &'a World,
    pub(crate) serial: &'a str,
    pub(crate) utc: Timestamp,
    pub(crate) reading: &'a Reading,
    pub(crate) carries: Carries,
    pub(crate) film: &'a Film,
}

impl Shot<'_> {
    pub(crate) fn place(&self) -> Place {
        place_from_enu(&self.world.origin, &self.reading.position_in_enu)
    }

    /// Height above the sea as the drone believes it.
    pub(crate) fn absolute_height_m(&self) -> f64 {
        self.place().height_above_ellipsoid_m - self.world.geoid_undulation_m
            + self.reading.absolute_height_error_m
    }

    pub(crate) fn zone(&self) -> TimeZone {
        TimeZone::get(&self.world.zone).expect("the world's zone comes from the bundled zones")
    }

    /// What the camera's own clock showed.
    pub(crate) fn camera_time(&self) -> Timestamp {
        let shift = jiff::SignedDuration::from_secs_f64(self.reading.clock_error_s);
        self.utc
            .saturating_add(shift)
            .expect("a shift by seconds is never ambiguous")
    }
}

/// Seconds in 1/10000, as DJI writes them.
fn degrees(value: f64) -> Value {
    let total = (value.abs() * 3600.0 * 10_000.0).round() as u64;
    let (minutes, rest) = (total / 600_000, total % 600_000);
    Value::Rational(vec![
        ((minutes / 60) as u32, 1),
        ((minutes % 60) as u32, 1),
        (rest as u32, 10_000),
    ])
}

fn rational(value: f64, denominator: u32) -> Value {
    Value::Rational(vec![(
        (value * f64::from(denominator)).round().max(0.0) as u32,
        denominator,
    )])
}

fn gps_directory(shot: &Shot) -> Directory {
    let place = shot.place();
    let height = shot.absolute_height_m();
    let mut gps = Directory::default();
    gps.set(0x0000, Value::Byte(vec![2, 3, 0, 0]));
    gps.text(0x0001, if place.latitude_deg < 0.0 { "S" } else { "N" });
    gps.set(0x0002, degrees(place.latitude_deg));
    gps.text(0x0003, if place.longitude_deg < 0.0 { "W" } else { "E" });
    gps.set(0x0004, degrees(place.longitude_deg));
    gps.set(0x0005, Value::Byte(vec![u8::from(height < 0.0)]));
    gps.set(0x0006, rational(height.abs(), 1000));
    let utc = shot.utc.to_zoned(TimeZone::UTC);
    let thousandths = utc.second() as u32 * 1000 + utc.subsec_nanosecond() as u32 / 1_000_000;
    gps.set(
        0x0007,
        Value::Rational(vec![
            (utc.hour() as u32, 1),
            (utc.minute() as u32, 1),
            (thousandths, 1000),
        ]),
    );
    gps.text(0x0009, "A");
    gps.text(0x0012, "WGS-84");
    gps.text(0x001D, &utc.strftime("%Y:%m:%d").to_string());
    gps
}

fn exif_directory(shot: &Shot, [width, height]: [usize; 2]) -> Directory {
    let local = shot.camera_time().to_zoned(shot.zone());
    let stamp = local.strftime("%Y:%m:%d %H:%M:%S").to_string();
    let offset = local.strftime("%:z").to_string();
    let subsecond = format!("{:03}", local.subsec_nanosecond() / 1_000_000);
    let shutter = (800.0 * (-shot.film.exposure_ev).exp2()).round().max(60.0);
    let mut exif = Directory::default();
    exif.set(0x829A, Value::Rational(vec![(1, shutter as u32)]));
    exif.set(0x829D, rational(2.8, 10));
    exif.short(0x8822, 2);
    exif.short(0x8827, 100);
    exif.short(0x8830, 2);
    exif.set(0x9000, Value::Undefined(b"0232".to_vec()));
    exif.text(0x9003, &stamp);
    exif.text(0x9004, &stamp);
    exif.text(0x9010, &offset);
    exif.text(0x9011, &offset);
    exif.text(0x9012, &offset);
    exif.set(0x9101, Value::Undefined(vec![1, 2, 3, 0]));
    exif.set(
        0x9201,
        Value::SignedRational(vec![((shutter.log2() * 1000.0).round() as i32, 1000)]),
    );
    exif.set(0x9202, rational(2.97, 100));
    exif.set(0x9204, Value::SignedRational(vec![(0, 10)]));
    exif.set(0x9205, rational(2.97, 100));
    exif.short(0x9207, 2);
    exif.short(0x9208, 1);
    exif.short(0x9209, 32);
    exif.set(0x920A, rational(FOCAL_MM, 100));
    exif.text(0x9290, &subsecond);
    exif.text(0x9291, &subsecond);
    exif.text(0x9292, &subsecond);
    exif.set(0xA000, Value::Undefined(b"0100".to_vec()));
    exif.short(0xA001, 1);
    exif.set(0xA002, Value::Long(vec![width as u32]));
    exif.set(0xA003, Value::Long(vec![height as u32]));
    let per_cm = width as f64 / (SENSOR_WIDTH_MM / 10.0);
    exif.set(0xA20E, rational(per_cm, 1000));
    exif.set(0xA20F, rational(per_cm, 1000));
    exif.short(0xA210, 3);
    exif.set(0xA300, Value::Undefined(vec![3]));
    exif.set(0xA301, Value::Undefined(vec![1]));
    exif.short(0xA401, 0);
    exif.short(0xA402, 0);
    exif.short(0xA403, 0);
    exif.set(0xA404, Value::Rational(vec![(1, 1)]));
    exif.short(0xA405, EQUIVALENT_MM);
    exif.short(0xA406, 0);
    exif.text(0xA431, shot.serial);
    exif
}

fn main_directory(shot: &Shot) -> Directory {
    let local = shot.camera_time().to_zoned(shot.zone());
    let mut main = Directory::default();
    main.text(0x010E, "default");
    main.text(0x010F, CAMERA_MAKE);
    main.text(0x0110, CAMERA_MODEL);
    main.short(0x0112, 1);
    main.set(0x011A, Value::Rational(vec![(72, 1)]));
    main.set(0x011B, Value::Rational(vec![(72, 1)]));
    main.short(0x0128, 2);
    main.text(0x0131, FIRMWARE);
    main.text(0x0132, &local.strftime("%Y:%m:%d %H:%M:%S").to_string());
    main.short(0x0213, 1);
    main
}

/// An angle as the files hold it; DJI never writes "-0.00".
pub(crate) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

/// The XMP packet with DJI's namespace and spelling.
fn xmp_packet(shot: &Shot) -> String {
    let place = shot.place();
    let reading = shot.reading;
    let local = shot.camera_time().to_zoned(shot.zone());
    let stamp = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    let exposed = shot
        .utc
        .to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%S%.6f")
        .to_string();
    let gps = if shot.carries.gps {
        format!(
            "   drone-dji:GpsStatus=\"Normal\"\n   drone-dji:AltitudeType=\"GpsFusionAlt\"\n   \
             drone-dji:GpsLatitude=\"{:+.7}\"\n   drone-dji:GpsLongitude=\"{:+.7}\"\n   \
             drone-dji:AbsoluteAltitude=\"{:+.3}\"\n",
            place.latitude_deg,
            place.longitude_deg,
            shot.absolute_height_m()
        )
    } else {
        "   drone-dji:GpsStatus=\"Invalid\"\n".to_owned()
    };
    let signed = |value: f64| format!("{:+.2}", hundredths(value));
    format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n  \
         <rdf:Description rdf:about=\"DJI Meta Data\"\n    xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\"\n    \
         xmlns:exif=\"http://ns.adobe.com/exif/1.0/\"\n    xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\"\n    \
         xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\"\n    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n    \
         xmlns:crs=\"http://ns.adobe.com/camera-raw-settings/1.0/\"\n    \
         xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\"\n    \
         xmlns:GPano=\"http://ns.google.com/photos/1.0/panorama/\"\n   \
         xmp:ModifyDate=\"{stamp}\"\n   xmp:CreateDate=\"{stamp}\"\n   tiff:Make=\"{make}\"\n   tiff:Model=\"{model}\"\n   \
         dc:format=\"image/jpg\"\n   drone-dji:Version=\"1.6\"\n   drone-dji:ImageSource=\"WideCamera\"\n{gps}   \
         drone-dji:RelativeAltitude=\"{relative:+.3}\"\n   \
         drone-dji:GimbalRollDegree=\"{roll}\"\n   drone-dji:GimbalYawDegree=\"{yaw}\"\n   \
         drone-dji:GimbalPitchDegree=\"{pitch}\"\n   drone-dji:FlightRollDegree=\"{flight_roll}\"\n   \
         drone-dji:FlightYawDegree=\"{flight_yaw}\"\n   drone-dji:FlightPitchDegree=\"{flight_pitch}\"\n   \
         drone-dji:FlightXSpeed=\"+0.0\"\n   drone-dji:FlightYSpeed=\"+0.0\"\n   drone-dji:FlightZSpeed=\"+0.0\"\n   \
         drone-dji:CamReverse=\"0\"\n   drone-dji:GimbalReverse=\"0\"\n   drone-dji:SelfData=\"\"\n   \
         drone-dji:UTCAtExposure=\"{exposed}\"\n   drone-dji:ShutterType=\"Electronic\"\n   \
         drone-dji:CameraSerialNumber=\"{serial}\"\n   drone-dji:DroneModel=\"{model}\"\n   \
         drone-dji:DroneSerialNumber=\"D{serial}\"\n   drone-dji:WhiteBalanceCCT=\"5500\"\n   \
         crs:Version=\"7.0\"\n   crs:HasSettings=\"False\"\n   crs:HasCrop=\"False\"\n   crs:AlreadyApplied=\"False\">\n  \
         </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n{padding}<?xpacket end=\"w\"?>",
        make = CAMERA_MAKE,
        model = CAMERA_MODEL,
        relative = reading.height_above_takeoff_m,
        roll = signed(reading.gimbal_roll_deg),
        yaw = signed(reading.gimbal_yaw_deg),
        pitch = signed(reading.gimbal_pitch_deg),
        flight_roll = signed(reading.flight_roll_deg),
        flight_yaw = signed(reading.flight_yaw_deg),
        flight_pitch = signed(reading.flight_pitch_deg),
        serial = shot.serial,
        padding = format!("{:100}\n", "").repeat(20),
    )
}

/// A small copy for the thumbnail directory.
fn thumbnail(picture: &Picture) -> Picture {
    let (width, height) = (160, (160 * picture.height / picture.width.max(1)).max(1));
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let (x0, x1) = (
                x * picture.width / width,
                ((x + 1) * picture.width / width).max(x * picture.width / width + 1),
            );
            let (y0, y1) = (
                y * picture.height / height,
                ((y + 1) * picture.height / height).max(y * picture.height / height + 1),
            );
            let mut sums = [0_u32; 3];
            let mut n = 0;
            for row in (y0..y1).step_by(2) {
                for column in (x0..x1).step_by(2) {
                    let at = (row * picture.width + column) * 3;
                    for (sum, value) in sums.iter_mut().zip(&picture.rgb[at..at + 3]) {
                        *sum += u32::from(*value);
                    }
                    n += 1;
                }
            }
            rgb.extend(sums.map(|sum| (sum / n) as u8));
        }
    }
    Picture { width, height, rgb }
}

/// EXIF and XMP of a picture of a size; `small` is the JPEG for the thumbnail directory.
fn segments(shot: &Shot, size: [usize; 2], small: &[u8]) -> Vec<Segment> {
    let gps = shot.carries.gps.then(|| gps_directory(shot));
    let block = tiff(
        &main_directory(shot),
        &exif_directory(shot, size),
        gps.as_ref(),
        small,
    );
    let mut segments = vec![Segment {
        code: 0xE1,
        body: [b"Exif\0\0".as_slice(), &block].concat(),
    }];
    if shot.carries.xmp {
        let packet = xmp_packet(shot);
        let body = [
            b"http://ns.adobe.com/xap/1.0/\0".as_slice(),
            packet.as_bytes(),
        ]
        .concat();
        segments.push(Segment { code: 0xE1, body });
    }
    segments
}

/// The whole file: picture, EXIF, XMP.
pub(crate) fn photo_file(shot: &Shot, picture: &Picture, quality: u8) -> Vec<u8> {
    let small = encode(&thumbnail(picture), 80, &[]);
    let segments = segments(shot, [picture.width, picture.height], &small);
    encode(picture, quality, &segments)
}

/// A grey picture of a size with the EXIF and XMP of a photo.
pub(crate) fn placeholder_file(shot: &Shot, size: [usize; 2]) -> Vec<u8> {
    let small = encode_grey([160, 120], 80, &[]);
    encode_grey(size, 80, &segments(shot, size, &small))
}
