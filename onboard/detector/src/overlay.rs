//! Photos with the boxes drawn into them, for people to look at.

use crate::detection::{Detection, VehicleClass};
use crate::error::DetectorError;
use crate::rgb::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};

/// Quality of the pictures written; boxes stay crisp, files small.
const JPEG_QUALITY: u8 = 88;
/// Lines are this share of the longer side wide, and at least one pixel.
const LINE_SHARE: f64 = 1.0 / 1600.0;

/// Colour per class; a box that the photo's edge cuts is darker.
fn colour_of(detection: &Detection) -> [u8; 3] {
    let colour = match detection.class {
        VehicleClass::Vehicle => [255, 60, 40],
        VehicleClass::SmallVehicle => [255, 200, 0],
        VehicleClass::LargeVehicle => [60, 170, 255],
    };
    if detection.truncated {
        colour.map(|channel: u8| channel / 2)
    } else {
        colour
    }
}

/// The photo with every oriented box as an outline; `scale` is the photo's pixels per pixel of the
/// boxes (1 when both are of one size).
#[must_use]
pub fn draw_overlay(photo: &RgbImage, scale: f64, detections: &[Detection]) -> RgbImage {
    let mut canvas = Canvas {
        width: i64::from(photo.width()),
        height: i64::from(photo.height()),
        pixels: photo.pixels().to_vec(),
    };
    let longer = f64::from(photo.width().max(photo.height()));
    let thickness = (longer * LINE_SHARE).round().max(1.0) as i64;
    // The least certain first, so that the sure ones lie on top.
    for detection in detections.iter().rev() {
        let colour = colour_of(detection);
        let corners = detection.oriented_box.corners();
        for (index, from) in corners.iter().enumerate() {
            let to = corners[(index + 1) % 4];
            canvas.line(
                (from.x * scale, from.y * scale),
                (to.x * scale, to.y * scale),
                thickness,
                colour,
            );
        }
    }
    RgbImage::new(photo.width(), photo.height(), canvas.pixels)
        .expect("the canvas has the photo's size")
}

/// A picture as a JPEG file.
///
/// # Errors
/// [`DetectorError::OverlayEncode`] when the encoder refuses, as for sides above 65,535.
pub fn encode_jpeg(picture: &RgbImage) -> Result<Vec<u8>, DetectorError> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY)
        .write_image(
            picture.pixels(),
            picture.width(),
            picture.height(),
            ExtendedColorType::Rgb8,
        )
        .map_err(|error| DetectorError::OverlayEncode {
            reason: error.to_string(),
        })?;
    Ok(bytes)
}

struct Canvas {
    width: i64,
    height: i64,
    pixels: Vec<u8>,
}

impl Canvas {
    fn line(&mut self, from: (f64, f64), to: (f64, f64), thickness: i64, colour: [u8; 3]) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        // Corners far outside of the photo would only cost time.
        let longest = (self.width + self.height) as f64 * 2.0;
        if !length.is_finite() || length > longest {
            return;
        }
        let steps = length.ceil().max(1.0) as i64;
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let x = (from.0 + (to.0 - from.0) * share).floor() as i64 - thickness / 2;
            let y = (from.1 + (to.1 - from.1) * share).floor() as i64 - thickness / 2;
            self.square(x, y, thickness, colour);
        }
    }

    fn square(&mut self, x: i64, y: i64, side: i64, colour: [u8; 3]) {
        for row in y.max(0)..(y + side).min(self.height) {
            for column in x.max(0)..(x + side).min(self.width) {
                let at = ((row * self.width + column) * 3) as usize;
                self.pixels[at..at + 3].copy_from_slice(&colour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oriented_box::OrientedBox;
    use calibration::{Pixel, Radians};

    #[test]
    fn outlines_are_where_the_boxes_are() {
        let photo = RgbImage::new(100, 60, vec![0; 100 * 60 * 3]).unwrap();
        let detection = |x: f64, score: f64| {
            let oriented_box =
                OrientedBox::new(Pixel::new(x, 60.0), 80.0, 40.0, Radians(0.0)).unwrap();
            Detection {
                oriented_box,
                horizontal_box: oriented_box.hull(),
                class: VehicleClass::Vehicle,
                score,
                truncated: false,
                corner_sigma_px: None,
            }
        };
        // Boxes of a photo twice as large; one lies partly outside.
        let drawn = draw_overlay(&photo, 0.5, &[detection(80.0, 0.9), detection(190.0, 0.5)]);
        let at = |x: usize, y: usize| drawn.pixels()[(y * 100 + x) * 3];
        assert_eq!(at(20, 20), 255);
        assert_eq!(at(60, 40), 255);
        assert_eq!(at(40, 30), 0);
        assert_eq!(at(75, 30), 255);
        assert_eq!(at(19, 20), 0);
        let bytes = encode_jpeg(&drawn).unwrap();
        assert!(bytes.starts_with(&[0xff, 0xd8]));
    }
}
