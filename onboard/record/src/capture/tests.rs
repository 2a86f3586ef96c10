//! Whole photos built here: one JPEG header per case, with the tags that the case is about.

use super::*;
use ::exif::experimental::Writer;
use ::exif::{Field, In, Rational, Value};
use jiff::tz::TimeZone;

/// A JPEG header with the given EXIF fields and XMP attributes.
#[derive(Default)]
struct Photo {
    fields: Vec<Field>,
    xmp: String,
    size_px: Option<[u16; 2]>,
}

impl Photo {
    fn dji() -> Self {
        Self::default()
            .ascii(Tag::Make, "DJI")
            .ascii(Tag::Model, "M3E")
    }

    fn field(mut self, tag: Tag, value: Value) -> Self {
        self.fields.push(Field {
            tag,
            ifd_num: In::PRIMARY,
            value,
        });
        self
    }

    fn ascii(self, tag: Tag, text: &str) -> Self {
        self.field(tag, Value::Ascii(vec![text.as_bytes().to_vec()]))
    }

    fn rational(self, tag: Tag, parts: &[(u32, u32)]) -> Self {
        let parts = parts.iter().map(|(num, denom)| Rational {
            num: *num,
            denom: *denom,
        });
        self.field(tag, Value::Rational(parts.collect()))
    }

    fn short(self, tag: Tag, value: u16) -> Self {
        self.field(tag, Value::Short(vec![value]))
    }

    fn place(self, latitude: (u32, &str), longitude: (u32, &str)) -> Self {
        self.rational(Tag::GPSLatitude, &[(latitude.0, 1_000_000), (0, 1), (0, 1)])
            .ascii(Tag::GPSLatitudeRef, latitude.1)
            .rational(
                Tag::GPSLongitude,
                &[(longitude.0, 1_000_000), (0, 1), (0, 1)],
            )
            .ascii(Tag::GPSLongitudeRef, longitude.1)
    }

    /// Attributes of one description, all vocabularies declared.
    fn xmp(self, attributes: &str) -> Self {
        self.description(attributes, "")
    }

    fn description(mut self, attributes: &str, elements: &str) -> Self {
        self.xmp = format!(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \
             xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description \
             xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\" \
             xmlns:Camera=\"http://pix4d.com/camera/1.0\" \
             xmlns:drone-parrot=\"http://www.parrot.com/drone-parrot/1.0/\" \
             xmlns:drone-skydio=\"https://www.skydio.com/drone-skydio/1.0/\" \
             xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" \
             xmlns:GPano=\"http://ns.google.com/photos/1.0/panorama/\" \
             xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" {attributes}>{elements}</rdf:Description>\
             </rdf:RDF></x:xmpmeta>"
        );
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0xFF, 0xD8];
        let mut segment = |marker: u8, body: &[u8]| {
            let length = u16::try_from(body.len() + 2).unwrap();
            bytes.extend([0xFF, marker]);
            bytes.extend(length.to_be_bytes());
            bytes.extend(body);
        };
        if !self.fields.is_empty() {
            let mut writer = Writer::new();
            for field in &self.fields {
                writer.push_field(field);
            }
            let mut tiff = Cursor::new(Vec::new());
            writer.write(&mut tiff, false).unwrap();
            segment(0xE1, &[b"Exif\0\0", &tiff.into_inner()[..]].concat());
        }
        if !self.xmp.is_empty() {
            let id = b"http://ns.adobe.com/xap/1.0/\0";
            segment(0xE1, &[&id[..], self.xmp.as_bytes()].concat());
        }
        let [width, height] = self.size_px.unwrap_or([5280, 3956]);
        let size = [height.to_be_bytes(), width.to_be_bytes()].concat();
        segment(0xC0, &[&[8], &size[..], &[1, 1, 0x11, 0]].concat());
        bytes.extend([0xFF, 0xDA]);
        bytes
    }

    fn read(&self) -> Capture {
        read_capture(&self.bytes()).unwrap()
    }
}

fn degrees(reading: Option<&AttitudeReading>) -> [f64; 3] {
    let attitude = reading.unwrap().attitude;
    [attitude.yaw, attitude.pitch, attitude.roll].map(calibration::Radians::to_degrees)
}

fn near(found: [f64; 3], expected: [f64; 3]) {
    for (found_part, expected_part) in found.iter().zip(expected) {
        assert!(
            (found_part - expected_part).abs() < 1e-6,
            "{found:?} {expected:?}"
        );
    }
}

fn has(capture: &Capture, code: &str) -> bool {
    capture
        .remarks
        .iter()
        .any(|remark| serde_json::to_value(remark).unwrap()["code"].as_str() == Some(code))
}

#[test]
fn a_photo_without_metadata_says_only_its_size() {
    let capture = Photo::default().read();
    assert_eq!((capture.width_px, capture.height_px), (5280, 3956));
    assert!(capture.times.is_empty() && capture.position.is_none() && capture.gimbal.is_none());
    assert_eq!(capture.focal().unwrap().basis, FocalBasis::Assumed);
    assert_eq!(capture.remarks, []);
}

#[test]
fn other_files_are_named() {
    let check = |bytes: &[u8], expected: FileFormat| match read_capture(bytes) {
        Err(PhotoError::NotJpeg { found }) => assert_eq!(found, expected),
        other => panic!("{expected}: {other:?}"),
    };
    check(b"", FileFormat::Empty);
    check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", FileFormat::Png);
    check(b"GIF89a", FileFormat::Gif);
    check(b"RIFF\x10\0\0\0WEBPVP8 ", FileFormat::Webp);
    check(b"\0\0\0\x18ftypheic\0\0\0\0", FileFormat::Heic);
    check(b"\0\0\0\x18ftypavif\0\0\0\0", FileFormat::Avif);
    check(b"\0\0\0\x20ftypisom\0\0\0\0", FileFormat::Video);
    check(b"\0\0\0\x14ftypqt  \0\0\0\0", FileFormat::Video);
    check(
        b"II*\0\x08\0\0\0\x01\0\0\x01\x04\0\x01\0\0\0\x10\0\0\0",
        FileFormat::Tiff,
    );
    check(
        b"II*\0\x08\0\0\0\x01\0\x12\xC6\x01\0\x04\0\0\0\x01\x04\0\0",
        FileFormat::Dng,
    );
    check(
        b"MM\0*\0\0\0\x08\0\x01\xC6\x12\0\x01\0\0\0\x04\x01\x04\0\0",
        FileFormat::Dng,
    );
    check(b"MM\0*\xFF\xFF\xFF\xFF", FileFormat::Tiff);
    check("Grüße".as_bytes(), FileFormat::Text);
    check(&[0, 1, 2, 3], FileFormat::Unknown);
    assert!(matches!(
        read_capture(&[0xFF, 0xD8, 0xFF, 0xD9]),
        Err(PhotoError::NoPicture { scanned_bytes: 4 })
    ));
    let missing = read_capture_file(Path::new("/nowhere/photo.jpg")).unwrap_err();
    assert_eq!(missing.fault().exit_code(), 1);
    assert!(
        missing
            .to_string()
            .starts_with("cannot read /nowhere/photo.jpg")
    );
}

#[test]
fn gps_time_is_preferred_to_a_clock_with_offset() {
    let clock = Photo::dji()
        .ascii(Tag::DateTimeOriginal, "2026:06:01 12:00:05")
        .ascii(Tag::SubSecTimeOriginal, "050")
        .ascii(Tag::OffsetTimeOriginal, "+02:00");
    let capture = clock.read();
    let time = capture.time().unwrap();
    assert_eq!(time.basis, TimeBasis::OffsetTag);
    assert_eq!(time.utc, "2026-06-01T10:00:05.05Z".parse().unwrap());
    assert_eq!(time.plus_minus.get(), 30.0);

    let with_gps = clock
        .ascii(Tag::GPSDateStamp, "2026:06:01")
        .rational(Tag::GPSTimeStamp, &[(10, 1), (0, 1), (4, 1)]);
    let capture = with_gps.read();
    let time = capture.time().unwrap();
    assert_eq!(time.basis, TimeBasis::Gps);
    assert_eq!(time.utc, "2026-06-01T10:00:04Z".parse().unwrap());
    // The fix is 1.05 s old by the camera's clock, which follows GPS.
    assert!((time.plus_minus.get() - 1.05).abs() < 1e-9);
    assert_eq!(capture.times.len(), 3, "every derivation is kept");
}

#[test]
fn a_stale_gps_time_loses_its_precision() {
    let capture = Photo::dji()
        .ascii(Tag::DateTimeOriginal, "2026:06:01 12:04:05")
        .ascii(Tag::GPSDateStamp, "2026:06:01")
        .rational(Tag::GPSTimeStamp, &[(10, 1), (0, 1), (5, 1)])
        .read();
    assert!(has(&capture, "clocks_disagree"));
    assert_eq!(capture.time().unwrap().plus_minus.get(), 240.0);
}

#[test]
fn dji_utc_at_exposure_and_dates_with_zone() {
    let capture = Photo::dji()
        .ascii(Tag::DateTimeOriginal, "2022:07:23 15:12:19")
        .xmp(
            "xmp:CreateDate=\"2022-07-23T15:12:19+08:00\" \
             drone-dji:UTCAtExposure=\"2022-07-23T07:12:22.872778\"",
        )
        .read();
    let bases: Vec<_> = capture.times.iter().map(|time| time.basis).collect();
    assert_eq!(
        bases,
        [
            TimeBasis::UtcAtExposure,
            TimeBasis::XmpZone,
            TimeBasis::UnknownZone
        ]
    );
    assert_eq!(
        capture.time().unwrap().utc,
        "2022-07-23T07:12:22.872778Z".parse().unwrap()
    );
    // An editor's date that shows another time says nothing of the capture.
    let edited = Photo::dji()
        .ascii(Tag::DateTimeOriginal, "2022:07:23 15:12:19")
        .xmp("xmp:CreateDate=\"2023-01-01T09:00:00+01:00\"")
        .read();
    assert_eq!(edited.times.len(), 1);
}

#[test]
fn without_a_zone_fourteen_hours_until_the_site_gives_one() {
    let photo = Photo::dji().ascii(Tag::DateTimeOriginal, "2018:04:29 12:12:44");
    let capture = photo.read();
    let time = capture.time().unwrap();
    assert_eq!(
        (time.basis, time.plus_minus.get()),
        (TimeBasis::UnknownZone, 50_400.0)
    );
    let zone = TimeZone::get("America/New_York").unwrap();
    let zoned = capture.with_zone(&zone);
    let time = zoned.time().unwrap();
    assert_eq!(
        (time.basis, time.plus_minus.get()),
        (TimeBasis::SiteZone, 30.0)
    );
    assert_eq!(time.utc, "2018-04-29T16:12:44Z".parse().unwrap());
    assert_eq!(zoned.clone().with_zone(&zone), zoned, "twice is once");

    let other = photo
        .ascii(Tag::OffsetTimeOriginal, "+02:00")
        .read()
        .with_zone(&zone);
    assert_eq!(other.time().unwrap().basis, TimeBasis::OffsetTag);
    assert!(has(&other, "zone_disagrees"));
}

#[test]
fn impossible_times_are_missing() {
    for text in ["0000:00:00 00:00:00", "    :  :     :  :  ", "yesterday"] {
        let capture = Photo::dji().ascii(Tag::DateTimeOriginal, text).read();
        assert!(capture.times.is_empty(), "{text}");
    }
    let capture = Photo::dji()
        .ascii(Tag::DateTimeOriginal, "1970:01:01 00:04:37")
        .read();
    assert!(capture.times.is_empty() && has(&capture, "clock_not_set"));
    let capture = Photo::dji()
        .place((46_000_000, "N"), (8_000_000, "E"))
        .ascii(Tag::DateTimeOriginal, "2026:06:01 12:00:05")
        .ascii(Tag::OffsetTimeOriginal, "-08:00")
        .read();
    assert!(has(&capture, "offset_implausible"));
}

#[test]
fn positions_that_cannot_be_are_missing() {
    let check = |photo: Photo, code: &str| {
        let capture = photo.read();
        assert!(
            capture.position.is_none() && has(&capture, code),
            "{:?}",
            capture.remarks
        );
    };
    check(Photo::dji().place((0, "N"), (0, "E")), "position_invalid");
    check(
        Photo::dji().place((91_000_000, "N"), (8_000_000, "E")),
        "position_invalid",
    );
    check(
        Photo::dji().place((47_000_000, "N"), (181_000_000, "E")),
        "position_invalid",
    );
    check(
        Photo::dji().xmp("drone-dji:GpsLatitude=\"nan\" drone-dji:GpsLongitude=\"8.5\""),
        "position_invalid",
    );
    check(
        Photo::dji().xmp("drone-dji:GpsLatitude=\"+0.0\" drone-dji:GpsLongitude=\"-0.0\""),
        "position_invalid",
    );
    let no_degrees = Photo::dji()
        .rational(Tag::GPSLatitude, &[(0, 0), (0, 0), (0, 0)])
        .rational(Tag::GPSLongitude, &[(8, 1), (0, 1), (0, 1)]);
    assert!(no_degrees.read().position.is_none());
}

#[test]
fn positions_carry_their_uncertainty() {
    let south_west = Photo::dji().place((33_500_000, "S"), (70_250_000, "W"));
    let capture = south_west.read();
    let position = capture.position.as_ref().unwrap();
    assert!((position.latitude.to_degrees() + 33.5).abs() < 1e-12);
    assert!((position.longitude.to_degrees() + 70.25).abs() < 1e-12);
    assert_eq!(position.sigma.get(), 3.0);

    let sigma = |photo: Photo| photo.read().position.unwrap().sigma.get();
    let base = || Photo::dji().place((47_000_000, "N"), (8_000_000, "E"));
    let stds = "drone-dji:RtkStdLon=\"0.02\" drone-dji:RtkStdLat=\"0.03\"";
    assert_eq!(
        sigma(base().xmp(&format!("drone-dji:RtkFlag=\"50\" {stds}"))),
        0.06
    );
    assert_eq!(
        sigma(base().xmp(&format!("drone-dji:RtkFlag=\"16\" {stds}"))),
        3.0
    );
    let fixed = base().xmp("drone-dji:RtkFlag=\"50\"");
    assert_eq!(sigma(fixed), 0.1);
    assert_eq!(
        sigma(base().rational(Tag::GPSHPositioningError, &[(446, 1000)])),
        0.446
    );
    assert_eq!(
        sigma(base().xmp("Camera:GPSXYAccuracy=\"845389/2097152\"")),
        845389.0 / 2097152.0
    );
    assert_eq!(sigma(base().ascii(Tag::GPSStatus, "V")), 50.0);

    // DJI's XMP wins, its old misspelling included, and a contradiction is said.
    let both = base()
        .xmp("drone-dji:GpsLatitude=\"47.5\" drone-dji:GpsLongtitude=\"+8.25\"")
        .read();
    assert!((both.position.as_ref().unwrap().longitude.to_degrees() - 8.25).abs() < 1e-12);
    assert!(has(&both, "positions_disagree"));
    let tokyo = base().ascii(Tag::GPSMapDatum, "TOKYO").read();
    assert!(has(&tokyo, "other_datum"));
    let bare = Photo::dji()
        .rational(Tag::GPSLatitude, &[(47, 1), (30, 1), (0, 1)])
        .rational(Tag::GPSLongitude, &[(8, 1), (15, 1), (0, 1)])
        .read();
    assert!(bare.position.is_some() && has(&bare, "hemisphere_missing"));
}

#[test]
fn heights_go_to_their_own_datum() {
    let heights = |capture: &Capture| {
        [
            &capture.height_above_takeoff,
            &capture.height_above_sea_level,
            &capture.height_above_ellipsoid,
            &capture.exif_gps_height,
        ]
        .map(|height| height.as_ref().map(|height| height.height.get()))
    };
    let absolute = "drone-dji:AbsoluteAltitude=\"+349.53\" drone-dji:RelativeAltitude=\"44,44\"";
    let barometric = Photo::dji()
        .rational(Tag::GPSAltitude, &[(5377, 1000)])
        .field(Tag::GPSAltitudeRef, Value::Byte(vec![1]))
        .xmp(absolute)
        .read();
    assert_eq!(
        heights(&barometric),
        [Some(44.44), Some(349.53), None, Some(-5.377)]
    );
    assert_eq!(barometric.exif_gps_height.unwrap().sigma.get(), 100.0);
    for (tags, sigma) in [
        (
            "drone-dji:RtkFlag=\"50\" drone-dji:RtkStdHgt=\"0.02\"",
            0.04,
        ),
        (
            "drone-dji:AltitudeType=\"RtkAlt\" drone-dji:RtkFlag=\"16\"",
            50.0,
        ),
    ] {
        let rtk = Photo::dji().xmp(&format!("{absolute} {tags}")).read();
        assert_eq!(
            heights(&rtk),
            [Some(44.44), None, Some(349.53), None],
            "{tags}"
        );
        assert_eq!(rtk.height_above_ellipsoid.unwrap().sigma.get(), sigma);
    }
    let parrot = |model: &str| {
        Photo::default()
            .ascii(Tag::Make, "Parrot")
            .ascii(Tag::Model, model)
            .rational(Tag::GPSAltitude, &[(100, 1)])
            .xmp("Camera:GPSZAccuracy=\"2.5\"")
            .read()
    };
    assert_eq!(
        heights(&parrot("ANAFI")),
        [None, Some(100.0), None, Some(100.0)]
    );
    assert_eq!(
        heights(&parrot("ANAFI Ai")),
        [None, None, Some(100.0), Some(100.0)]
    );
    let nonsense = Photo::dji()
        .xmp("drone-dji:RelativeAltitude=\"1e9\"")
        .read();
    assert!(nonsense.height_above_takeoff.is_none() && has(&nonsense, "height_invalid"));
    let missing = Photo::dji().xmp("drone-dji:RelativeAltitude=\"\"").read();
    assert_eq!(missing.height_above_takeoff, None, "missing is not zero");
}

#[test]
fn gimbal_conventions_become_one() {
    let dji = |yaw: &str, pitch: &str, roll: &str| {
        Photo::dji()
            .xmp(&format!(
                "drone-dji:GimbalYawDegree=\"{yaw}\" drone-dji:GimbalPitchDegree=\"{pitch}\" \
                 drone-dji:GimbalRollDegree=\"{roll}\""
            ))
            .read()
    };
    near(
        degrees(dji("+120.5", "-45.0", "+0.0").gimbal.as_ref()),
        [120.5, -45.0, 0.0],
    );
    near(
        degrees(dji("350", "-30", "0").gimbal.as_ref()),
        [-10.0, -30.0, 0.0],
    );

    // Pix4D's camera looks down at zero; 45 looks ahead and down.
    let pix4d = |make: &str, angles: [f64; 3]| {
        let [yaw, pitch, roll] = angles;
        Photo::default()
            .ascii(Tag::Make, make)
            .xmp(&format!(
                "Camera:Yaw=\"{yaw}\" Camera:Pitch=\"{pitch}\" Camera:Roll=\"{roll}\""
            ))
            .read()
    };
    near(
        degrees(pix4d("ACME", [120.0, 45.0, 0.0]).gimbal.as_ref()),
        [120.0, -45.0, 0.0],
    );
    let nadir = pix4d("ACME", [120.0, 0.0, 0.0]);
    near(degrees(nadir.gimbal.as_ref()), [120.0, -90.0, 0.0]);
    // A bank to the right tips a camera that looks down to the left: axis to the west here.
    let banked = pix4d("ACME", [0.0, 0.0, 10.0]).gimbal.unwrap();
    let axis = |reading: &AttitudeReading| {
        (reading.attitude.camera_from_enu().inverse() * calibration::Direction::new(0.0, 0.0, 1.0))
            .vector
    };
    assert!((axis(&banked).x + 10f64.to_radians().sin()).abs() < 1e-9);
    assert!(
        banked
            .heading()
            .to_degrees()
            .min(360.0 - banked.heading().to_degrees())
            < 1e-6
    );
    let sensefly = pix4d("senseFly", [0.0, 0.0, 10.0]).gimbal.unwrap();
    assert!((axis(&sensefly).x - 10f64.to_radians().sin()).abs() < 1e-9);

    // Parrot states NED and Pix4D angles of the same pose.
    let parrot = Photo::default()
        .ascii(Tag::Make, "Parrot")
        .xmp(
            "drone-parrot:CameraYawDegree=\"146.848038\" \
             drone-parrot:CameraPitchDegree=\"-51.988888\" \
             drone-parrot:CameraRollDegree=\"0\"",
        )
        .read();
    near(
        degrees(parrot.gimbal.as_ref()),
        [146.848038, -51.988888, 0.0],
    );
    let by_pix4d = pix4d("Parrot", [146.848038, 38.011112, 0.0]);
    near(
        degrees(by_pix4d.gimbal.as_ref()),
        degrees(parrot.gimbal.as_ref()),
    );

    // Teal: the camera's angles count from the platform's.
    let teal = Photo::default()
        .ascii(Tag::Make, "Teledyne FLIR")
        .xmp(
            "exif:PlatformYaw=\"100/1\" exif:PlatformPitch=\"0/1\" exif:PlatformRoll=\"0/1\" \
             exif:CameraYaw=\"20/1\" exif:CameraPitch=\"-45/1\" exif:CameraRoll=\"0/1\"",
        )
        .read();
    near(degrees(teal.gimbal.as_ref()), [120.0, -45.0, 0.0]);
}

#[test]
fn skydio_quaternions_mean_the_angles_beside_them() {
    // Camera and vehicle of one photo of a Skydio X2: quaternion, then yaw, pitch, roll.
    let cases = [
        (
            "CameraOrientationQuatNED",
            [-0.867413, 0.001496, -0.497575, -0.003496],
            [0.10035, -59.679573, -0.519399],
        ),
        (
            "VehicleOrientationQuatNED",
            [-0.997941, -0.000529, -0.063539, 0.008771],
            [-0.003376, -7.286198, 1.007294],
        ),
    ];
    for (name, [x, y, z, w], angles) in cases {
        let capture = Photo::default()
            .description(
                "",
                &format!(
                    "<drone-skydio:{name} drone-skydio:X=\"{x}\" drone-skydio:Y=\"{y}\" \
                     drone-skydio:Z=\"{z}\" drone-skydio:W=\"{w}\"/>"
                ),
            )
            .read();
        let reading = capture.gimbal.or(capture.aircraft).unwrap();
        let [yaw, pitch, roll] = angles;
        let expected = calibration::Attitude::from_degrees(yaw, pitch, roll).ned_from_body();
        let apart = reading.attitude.ned_from_body().angle_to(&expected);
        assert!(apart.to_degrees() < 0.01, "{name}: {apart}");
    }
    let stretched = Photo::default().description(
        "",
        "<drone-skydio:CameraOrientationQuatNED drone-skydio:X=\"2\" drone-skydio:Y=\"0\" \
         drone-skydio:Z=\"0\" drone-skydio:W=\"0\"/>",
    );
    assert!(stretched.read().gimbal.is_none());
}

#[test]
fn odd_gimbal_angles_are_mended_or_missing() {
    let dji = |yaw: f64, pitch: f64, roll: f64| {
        Photo::dji()
            .xmp(&format!(
                "drone-dji:GimbalYawDegree=\"{yaw}\" drone-dji:GimbalPitchDegree=\"{pitch}\" \
                 drone-dji:GimbalRollDegree=\"{roll}\""
            ))
            .read()
    };
    let zero = dji(0.0, 0.0, 0.0);
    assert!(zero.gimbal.is_none() && has(&zero, "angles_all_zero"));
    let up = dji(30.0, 90.0, 0.0);
    near(degrees(up.gimbal.as_ref()), [30.0, -90.0, 0.0]);
    assert!(has(&up, "pitch_sign_turned"));
    let steep = dji(30.0, 25.0, 0.0);
    near(degrees(steep.gimbal.as_ref()), [30.0, 25.0, 0.0]);
    assert_eq!(steep.remarks, []);
    let wild = dji(30.0, -900.0, 0.0);
    assert!(wild.gimbal.is_none() && has(&wild, "angle_invalid"));

    // Rolled over at nadir: the image's top is opposite to the stated yaw.
    let rolled = dji(10.0, -90.0, 180.0);
    assert!(has(&rolled, "rolled_over"));
    near(degrees(rolled.gimbal.as_ref()), [-170.0, -90.0, 0.0]);
    // Past nadir by a degree: the same rotation as 91 degrees down, and it still looks down.
    let past = dji(10.0, -89.0, 180.0).gimbal.unwrap();
    assert!((past.heading().to_degrees() - 190.0).abs() < 1e-6);
    let unrolled = calibration::Attitude::from_degrees(-170.0, -91.0, 0.0).camera_from_enu();
    assert!(past.attitude.camera_from_enu().angle_to(&unrolled) < 1e-9);
    let mounted = Photo::dji().xmp("drone-dji:CamReverse=\"1\"").read();
    assert!(has(&mounted, "mounted_upside_down"));
}

#[test]
fn intrinsics_are_ranked_and_follow_the_picture_size() {
    let calibrated = "drone-dji:CalibratedFocalLength=\"3725.151611\" \
                      drone-dji:CalibratedOpticalCenterX=\"2640\" \
                      drone-dji:CalibratedOpticalCenterY=\"1978\"";
    let dewarp = "drone-dji:DewarpFlag=\"0\" drone-dji:DewarpData=\"2022-06-17;\
                  3689.98,3689.98,7.44,-13.29,-0.1125,0.0149,-0.0001,0.0,-0.027\"";
    let capture = Photo::dji()
        .rational(Tag::FocalLength, &[(1229, 100)])
        .short(Tag::FocalLengthIn35mmFilm, 24)
        .xmp(&format!("{calibrated} {dewarp}"))
        .read();
    let bases: Vec<_> = capture.focal_hints.iter().map(|hint| hint.basis).collect();
    assert_eq!(
        bases,
        [
            FocalBasis::DewarpData,
            FocalBasis::CalibratedFocalLength,
            FocalBasis::KnownSensor,
            FocalBasis::Equivalent35mm,
            FocalBasis::Assumed
        ]
    );
    let best = capture.focal().unwrap();
    assert!((best.focal_px - 3689.98).abs() < 1e-9);
    assert_eq!(
        best.principal_point_px,
        Some([2640.0 + 7.44, 1978.0 - 13.29])
    );
    assert_eq!(best.distortion.unwrap().k3, -0.027);
    // Every hint lies within three of its sigmas of the calibration.
    for hint in &capture.focal_hints {
        assert!(
            (hint.focal_px - best.focal_px).abs() < 3.0 * hint.sigma_px,
            "{hint:?}"
        );
    }

    // Half the size: with the recorded size stated, or told by the optical centre.
    let half = Photo {
        size_px: Some([2640, 1978]),
        ..Photo::dji().xmp(calibrated)
    };
    let found = half.read().focal().unwrap().clone();
    assert!((found.focal_px - 1862.5758).abs() < 1e-3, "{found:?}");
    assert_eq!(found.principal_point_px, Some([1320.0, 989.0]));
    let half = Photo {
        size_px: Some([2640, 1978]),
        ..Photo::dji()
            .short(Tag::PixelXDimension, 5280)
            .short(Tag::PixelYDimension, 3956)
            .xmp(dewarp)
    };
    let capture = half.read();
    assert!((capture.focal().unwrap().focal_px - 1844.99).abs() < 1e-9);
    assert!(has(&capture, "resized"));
    // A calibration of another camera of the same drone is refused.
    let foreign = Photo {
        size_px: Some([640, 512]),
        ..Photo::dji().xmp(calibrated)
    };
    let capture = foreign.read();
    assert!(has(&capture, "calibration_for_other_size"));
    assert_eq!(capture.focal().unwrap().basis, FocalBasis::Assumed);
    // Straightened in the camera: the distortion is gone.
    let straight = Photo::dji()
        .xmp(&dewarp.replace("Flag=\"0\"", "Flag=\"1\""))
        .read();
    assert_eq!(straight.focal().unwrap().distortion, None);
}

#[test]
fn focal_plane_units_and_zoom() {
    let focal = |unit: u16, resolution: (u32, u32)| {
        Photo {
            size_px: Some([4608, 3456]),
            ..Photo::default()
                .rational(Tag::FocalLength, &[(488, 100)])
                .rational(Tag::FocalPlaneXResolution, &[resolution])
                .short(Tag::FocalPlaneResolutionUnit, unit)
        }
        .read()
        .focal_hints
        .iter()
        .find(|hint| hint.basis == FocalBasis::FocalPlane)
        .map(|hint| hint.focal_px)
    };
    let expected = 4.88 * 746.2686793;
    for (unit, resolution) in [
        (4, (7_462_686, 10_000)),
        (3, (7_462_686, 1000)),
        (2, (189_552_225, 10_000)),
        (5, (7_462_686, 10_000_000)),
    ] {
        let found = focal(unit, resolution).unwrap();
        assert!((found - expected).abs() < 0.01, "unit {unit}: {found}");
    }
    assert_eq!(focal(2, (72, 1)), None, "a sensor of 1.6 m");
    assert_eq!(focal(9, (7_462_686, 10_000)), None);

    let zoomed = Photo::dji()
        .rational(Tag::FocalLength, &[(1229, 100)])
        .short(Tag::FocalLengthIn35mmFilm, 24)
        .rational(Tag::DigitalZoomRatio, &[(2, 1)])
        .read();
    assert!(has(&zoomed, "digital_zoom"));
    let best = zoomed.focal().unwrap();
    assert_eq!(best.basis, FocalBasis::KnownSensor);
    assert!((best.focal_px - 2.0 * 12.29 / 17.4 * 5280.0).abs() < 0.1);
    assert!(best.sigma_px / best.focal_px > 0.1);
}

#[test]
fn kinds_orientation_and_editors() {
    let kind = |photo: Photo| photo.read().kind.value;
    assert_eq!(kind(Photo::dji()), PhotoKind::Photo);
    let thermal = Photo::dji().xmp("drone-dji:ImageSource=\"InfraredCamera\"");
    assert_eq!(kind(thermal), PhotoKind::Thermal);
    let hot = Photo::dji().ascii(Tag::ImageDescription, "WhiteHot");
    assert_eq!(kind(hot), PhotoKind::Thermal);
    let panorama = Photo::dji().xmp("GPano:ProjectionType=\"equirectangular\"");
    assert_eq!(kind(panorama), PhotoKind::Panorama);
    let by_name = |name: &str| {
        Photo::dji()
            .read()
            .with_file_name(Path::new(name))
            .kind
            .value
    };
    assert_eq!(by_name("x/DJI_20230101_0001_T.JPG"), PhotoKind::Thermal);
    assert_eq!(by_name("x/DJI_20230101_0001_V.JPG"), PhotoKind::Photo);
    assert_eq!(by_name("plan_T.jpg"), PhotoKind::Photo);

    let turned = Photo {
        size_px: Some([3956, 5280]),
        ..Photo::dji()
            .short(Tag::Orientation, 6)
            .short(Tag::PixelXDimension, 5280)
            .short(Tag::PixelYDimension, 3956)
            .ascii(Tag::Software, "Microsoft Windows Photo Viewer 10.0")
    }
    .read();
    assert!(turned.orientation.unwrap().swaps_sides());
    assert!(has(&turned, "sides_exchanged") && has(&turned, "edited"));
    for invalid in [0, 9, 65535] {
        let capture = Photo::dji().short(Tag::Orientation, invalid).read();
        assert!(capture.orientation.is_none() && has(&capture, "orientation_invalid"));
    }
    let firmware = Photo::dji().ascii(Tag::Software, "10.00.08.09").read();
    assert!(!has(&firmware, "edited"));
    let padded = Photo::default()
        .field(
            Tag::Make,
            Value::Ascii(vec![b"".to_vec(), b"DJI".to_vec(), b"".to_vec()]),
        )
        .ascii(Tag::BodySerialNumber, "0")
        .read();
    assert_eq!(padded.camera.make.unwrap().value, "DJI");
    assert_eq!(padded.camera.body_serial, None, "zero is no serial number");
}

#[test]
fn json_says_units_and_reads_back() {
    let capture = Photo::dji()
        .place((47_123_456, "N"), (8_654_321, "E"))
        .ascii(Tag::DateTimeOriginal, "2026:06:01 12:00:05")
        .rational(Tag::GPSAltitude, &[(100, 1)])
        .xmp(
            "drone-dji:RtkFlag=\"50\" drone-dji:RtkStdLon=\"0.01\" drone-dji:RtkStdLat=\"0.02\" \
             drone-dji:GimbalYawDegree=\"-12.3\" drone-dji:GimbalPitchDegree=\"-45.6\" \
             drone-dji:GimbalRollDegree=\"0.1\" drone-dji:RelativeAltitude=\"+30.0\"",
        )
        .read();
    let json = serde_json::to_value(&capture).unwrap();
    assert_eq!(json["schema"], "capture/1");
    assert_eq!(json["position"]["latitude_deg"], 47.123456);
    assert_eq!(json["position"]["sigma_m"], 0.04);
    assert_eq!(json["position"]["source"]["block"], "exif");
    assert_eq!(json["gimbal"]["pitch_deg"], -45.6);
    assert_eq!(json["height_above_takeoff"]["height_m"], 30.0);
    assert_eq!(json["times"][0]["plus_minus_s"], 50_400.0);
    assert_eq!(json["times"][0]["basis"], "unknown_zone");
    assert_eq!(json["rtk"]["state"], "fixed");
    assert_eq!(json["rtk"]["std_latitude_m"], 0.02);
    let text = serde_json::to_string(&capture).unwrap();
    let back: Capture = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    let newer = text.replace("capture/1", "capture/2");
    let refused = serde_json::from_str::<Capture>(&newer)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("capture/1") && refused.contains("capture/2"),
        "{refused}"
    );
}

#[test]
fn rows_come_in_a_fixed_order_with_sources() {
    let capture = Photo::dji()
        .place((47_123_456, "N"), (8_654_321, "E"))
        .ascii(Tag::DateTimeOriginal, "2026:06:01 12:00:05")
        .xmp("drone-dji:RelativeAltitude=\"+30.0\" drone-dji:CamReverse=\"1\"")
        .read();
    let rows = capture.rows();
    let labels: Vec<_> = rows.iter().map(|row| row.label).collect();
    assert_eq!(
        labels,
        [
            "picture",
            "kind",
            "make",
            "model",
            "camera clock",
            "UTC",
            "position",
            "height above take-off",
            "focal length in pixels",
            "remark"
        ]
    );
    let row = &rows[7];
    assert_eq!(
        [&row.value, &row.source, &row.uncertainty],
        ["30 m", "XMP drone-dji:RelativeAltitude", "sigma 1 m"]
    );
    assert_eq!(rows[5].uncertainty, "+- 14 h");
}
