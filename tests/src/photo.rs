//! Small JPEGs that say about themselves what a test wants them to.

use crate::tiff::{Tags, Value, block};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder, RgbImage};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use std::collections::BTreeMap;

/// A photo to be written. Every field is written as it stands; `None` is not written.
#[derive(Clone, Debug)]
pub struct Photo {
    /// Width and height of the stored picture, pixels.
    pub size_px: [u32; 2],
    /// What the picture shows: photos of one number show the same.
    pub picture: u64,
    /// JPEG quality: the same picture in other bytes.
    pub quality: u8,
    /// EXIF Make.
    pub make: Option<String>,
    /// EXIF Model.
    pub model: Option<String>,
    /// EXIF BodySerialNumber.
    pub body_serial: Option<String>,
    /// EXIF Software.
    pub software: Option<String>,
    /// EXIF Orientation.
    pub orientation: Option<u16>,
    /// EXIF DateTimeOriginal, such as `2026:05:12 10:00:00`.
    pub local_time: Option<String>,
    /// EXIF GPSDateStamp and GPSTimeStamp, such as `2026:05:12 08:00:00`.
    pub gps_time: Option<String>,
    /// EXIF FocalLength, millimetres.
    pub focal_mm: Option<f64>,
    /// Focal length in pixels, as EXIF FocalPlaneXResolution together with the length in
    /// millimetres.
    pub focal_px: Option<f64>,
    /// EXIF latitude and longitude, degrees.
    pub place_deg: Option<[f64; 2]>,
    /// EXIF GPSAltitude, metres; negative is below the sea.
    pub altitude_m: Option<f64>,
    /// Attributes of the XMP packet, such as `drone-dji:RelativeAltitude`; without any there is no
    /// packet.
    pub xmp: BTreeMap<String, String>,
}

impl Default for Photo {
    fn default() -> Self {
        Self {
            size_px: [80, 60],
            picture: 0,
            quality: 85,
            make: Some("DJI".to_owned()),
            model: Some("TEST1".to_owned()),
            body_serial: None,
            software: None,
            orientation: Some(1),
            local_time: None,
            gps_time: None,
            focal_mm: Some(8.8),
            focal_px: Some(58.0),
            place_deg: None,
            altitude_m: None,
            xmp: BTreeMap::new(),
        }
    }
}

impl Photo {
    /// A picture without any word about itself, as a screenshot or a video still is.
    #[must_use]
    pub fn bare(size_px: [u32; 2], picture: u64) -> Self {
        Self {
            size_px,
            picture,
            make: None,
            model: None,
            orientation: None,
            focal_mm: None,
            focal_px: None,
            ..Self::default()
        }
    }

    /// Sets an XMP attribute of DJI's, such as `RelativeAltitude`.
    pub fn set_dji(&mut self, name: &str, value: impl Into<String>) {
        self.xmp.insert(format!("drone-dji:{name}"), value.into());
    }

    /// Removes an XMP attribute of DJI's.
    pub fn remove_dji(&mut self, name: &str) {
        self.xmp.remove(&format!("drone-dji:{name}"));
    }

    /// Takes the position out of EXIF and XMP.
    pub fn remove_place(&mut self) {
        self.place_deg = None;
        self.remove_dji("GpsLatitude");
        self.remove_dji("GpsLongitude");
    }

    /// The file.
    ///
    /// # Panics
    /// When the encoder fails, which it does on no picture of ours.
    #[must_use]
    pub fn jpeg(&self) -> Vec<u8> {
        let picture = self.pixels();
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, self.quality)
            .write_image(
                picture.as_raw(),
                picture.width(),
                picture.height(),
                ExtendedColorType::Rgb8,
            )
            .expect("a small picture in memory can be encoded");
        let mut file = jpeg[..2].to_vec();
        let exif = [b"Exif\0\0".as_slice(), &self.exif()].concat();
        file.extend(segment(&exif));
        if !self.xmp.is_empty() {
            let header = b"http://ns.adobe.com/xap/1.0/\0".as_slice();
            file.extend(segment(&[header, self.xmp_packet().as_bytes()].concat()));
        }
        file.extend(&jpeg[2..]);
        file
    }

    /// Coarse blocks of different brightness: told apart also when small.
    fn pixels(&self) -> RgbImage {
        const BLOCKS: u32 = 8;
        let mut rng = ChaCha8Rng::seed_from_u64(self.picture);
        let blocks: Vec<[u8; 3]> = (0..BLOCKS * BLOCKS)
            .map(|_| {
                let [r, g, b, _] = rng.next_u32().to_le_bytes();
                [r, g, b]
            })
            .collect();
        let [width, height] = self.size_px;
        RgbImage::from_fn(width, height, |x, y| {
            let block = (y * BLOCKS / height) * BLOCKS + x * BLOCKS / width;
            image::Rgb(blocks[block as usize])
        })
    }

    fn exif(&self) -> Vec<u8> {
        let mut main: Tags = Vec::new();
        let mut exif: Tags = Vec::new();
        let text = |tags: &mut Tags, tag, value: &Option<String>| {
            tags.extend(value.clone().map(|value| (tag, Value::Text(value))));
        };
        text(&mut main, 0x010F, &self.make);
        text(&mut main, 0x0110, &self.model);
        text(&mut main, 0x0131, &self.software);
        text(&mut exif, 0x9003, &self.local_time);
        text(&mut exif, 0xA431, &self.body_serial);
        main.extend(self.orientation.map(|value| (0x0112, Value::Short(value))));
        exif.push((0xA002, Value::Long(self.size_px[0])));
        exif.push((0xA003, Value::Long(self.size_px[1])));
        exif.extend(self.focal_mm.map(|mm| (0x920A, rational(mm))));
        if let (Some(mm), Some(px)) = (self.focal_mm, self.focal_px) {
            const MILLIMETRES: u16 = 4;
            exif.push((0xA20E, rational(px / mm)));
            exif.push((0xA20F, rational(px / mm)));
            exif.push((0xA210, Value::Short(MILLIMETRES)));
        }
        block(main, exif, self.gps())
    }

    fn gps(&self) -> Tags {
        let mut gps: Tags = Vec::new();
        if let Some([latitude, longitude]) = self.place_deg {
            let half = |negative: bool, a: &str, b: &str| {
                Value::Text(if negative { b } else { a }.to_owned())
            };
            gps.push((0x0000, Value::Bytes(vec![2, 3, 0, 0])));
            gps.push((0x0001, half(latitude < 0.0, "N", "S")));
            gps.push((0x0002, degrees(latitude)));
            gps.push((0x0003, half(longitude < 0.0, "E", "W")));
            gps.push((0x0004, degrees(longitude)));
        }
        if let Some(altitude) = self.altitude_m {
            gps.push((0x0005, Value::Bytes(vec![u8::from(altitude < 0.0)])));
            gps.push((0x0006, rational(altitude.abs())));
        }
        if let Some((date, time)) = self.gps_time.as_deref().and_then(|t| t.split_once(' ')) {
            let parts = time.split(':').map(|part| (part.parse().unwrap_or(0), 1));
            gps.push((0x0007, Value::Rationals(parts.collect())));
            gps.push((0x001D, Value::Text(date.to_owned())));
        }
        gps
    }

    fn xmp_packet(&self) -> String {
        let attributes: String = self
            .xmp
            .iter()
            .map(|(name, value)| format!("   {name}=\"{value}\"\n"))
            .collect();
        format!(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n \
             <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n  \
             <rdf:Description rdf:about=\"DJI Meta Data\"\n   \
             xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\"\n   \
             xmlns:GPano=\"http://ns.google.com/photos/1.0/panorama/\"\n{attributes}  />\n \
             </rdf:RDF>\n</x:xmpmeta>"
        )
    }
}

fn rational(value: f64) -> Value {
    const BELOW: u32 = 100_000;
    Value::Rationals(vec![((value * f64::from(BELOW)).round() as u32, BELOW)])
}

/// Degrees, minutes and hundred-thousandths of a second: a third of a millimetre.
fn degrees(value: f64) -> Value {
    const PER_SECOND: u64 = 100_000;
    let total = (value.abs() * 3600.0 * PER_SECOND as f64).round() as u64;
    let (minutes, rest) = (total / (60 * PER_SECOND), total % (60 * PER_SECOND));
    Value::Rationals(vec![
        ((minutes / 60) as u32, 1),
        ((minutes % 60) as u32, 1),
        (rest as u32, PER_SECOND as u32),
    ])
}

fn segment(body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 2).expect("the metadata of a test fits a segment");
    [&[0xFF, 0xE1], &length.to_be_bytes()[..], body].concat()
}
