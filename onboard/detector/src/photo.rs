//! Photo files: decoded once, the right way up, and no larger than needed.
//!
//! JPEG with 8 bits of grey or colour goes through a decoder that can leave out detail while
//! decoding (scaled inverse DCT), which costs two thirds of a full decode and a fraction of its
//! memory; everything else goes through the `image` crate.

use crate::error::DetectorError;
use crate::rgb::RgbImage;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader};
use jpeg_decoder::{Decoder, PixelFormat};
use std::io::Cursor;

/// Photos with more pixels are refused: three bytes each would not fit beside everything else on
/// a companion computer.
const MAX_PIXELS: u64 = 500_000_000;
/// A photo is decoded at a reduced size only if that is larger than needed by this factor, so that
/// the resampling that follows still decides about sharpness.
const SPARE: f64 = 1.1;

/// A decoded photo. Its orientation tag is applied: width, height and pixels are as a person sees
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Photo {
    /// The pixels, one per `reduction` x `reduction` of the file's.
    pub image: RgbImage,
    /// Width of the whole photo, pixels.
    pub width: u32,
    /// Height of the whole photo, pixels.
    pub height: u32,
    /// How many pixels of the file along each axis make one of `image`: 1, 2, 4 or 8.
    pub reduction: u32,
    /// The file's EXIF orientation (1 to 8; 1 where it has none), already applied.
    pub exif_orientation: u8,
}

/// What a photo file says before it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhotoHeader {
    /// Width the right way up, pixels.
    pub width: u32,
    /// Height the right way up, pixels.
    pub height: u32,
    /// EXIF orientation, 1 where there is none.
    pub exif_orientation: u8,
}

impl Photo {
    /// Size and orientation of a photo file.
    ///
    /// # Errors
    /// [`DetectorError::PhotoDecode`] when it is no picture we read, [`DetectorError::PhotoTooLarge`]
    /// when it has too many pixels.
    pub fn header(bytes: &[u8]) -> Result<PhotoHeader, DetectorError> {
        let mut decoder = reader(bytes)?.into_decoder().map_err(undecodable)?;
        let (width, height) = decoder.dimensions();
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(DetectorError::PhotoTooLarge {
                width,
                height,
                limit: MAX_PIXELS,
            });
        }
        let (width, height) = if is_on_its_side(orientation) {
            (height, width)
        } else {
            (width, height)
        };
        Ok(PhotoHeader {
            width,
            height,
            exif_orientation: orientation.to_exif(),
        })
    }

    /// Decodes a photo file completely.
    ///
    /// # Errors
    /// As [`Photo::header`], and where the file is damaged or ends early.
    pub fn decode(bytes: &[u8]) -> Result<Self, DetectorError> {
        Self::decode_for(bytes, f64::INFINITY)
    }

    /// Decodes a photo file with just enough detail for scaling it by `factor`.
    pub(crate) fn decode_for(bytes: &[u8], factor: f64) -> Result<Self, DetectorError> {
        let header = Self::header(bytes)?;
        if jpeg_ends_early(bytes) {
            return Err(DetectorError::PhotoDecode {
                reason: "the file ends before the picture does".to_owned(),
            });
        }
        // A reduced picture has a last column of fewer pixels; turning it would move it to the
        // front and shift everything by a part of a pixel.
        let most = if header.exif_orientation == 1 { 8 } else { 1 };
        let reduction = [8, 4, 2, 1]
            .into_iter()
            .find(|&reduction| reduction <= most && factor * SPARE * f64::from(reduction) <= 1.0)
            .unwrap_or(1);
        if reduction > 1
            && let Some(image) = decode_reduced(bytes, &header, reduction)
        {
            return Ok(Self {
                image,
                width: header.width,
                height: header.height,
                reduction,
                exif_orientation: header.exif_orientation,
            });
        }
        let mut decoder = reader(bytes)?.into_decoder().map_err(undecodable)?;
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut picture = DynamicImage::from_decoder(decoder).map_err(undecodable)?;
        picture.apply_orientation(orientation);
        let picture = picture.into_rgb8();
        Ok(Self {
            width: picture.width(),
            height: picture.height(),
            image: RgbImage::new(picture.width(), picture.height(), picture.into_raw())?,
            reduction: 1,
            exif_orientation: header.exif_orientation,
        })
    }
}

/// Whether a JPEG file lacks its end marker: decoders fill the missing part with grey, in which no
/// vehicle is found, and say nothing.
fn jpeg_ends_early(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    const END: [u8; 2] = [0xff, 0xd9];
    if !bytes.starts_with(&[0xff, 0xd8]) {
        return false;
    }
    // Segments before the scan say how long they are; previews inside them have ends of their own.
    let mut at = 2;
    while let Some(&[0xff, marker, high, low]) = bytes.get(at..at + 4) {
        if marker == START_OF_SCAN {
            // Within a scan 0xff is followed by 0x00 or a restart marker.
            return !bytes[at..].windows(2).any(|pair| pair == END);
        }
        at += if marker == 0xff {
            1
        } else {
            2 + usize::from(u16::from_be_bytes([high, low]))
        };
    }
    true
}

fn undecodable(error: image::ImageError) -> DetectorError {
    DetectorError::PhotoDecode {
        reason: error.to_string(),
    }
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, DetectorError> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| undecodable(error.into()))?;
    // Our own limit on pixels stands in for the crate's on memory.
    reader.no_limits();
    Ok(reader)
}

fn is_on_its_side(orientation: Orientation) -> bool {
    orientation.to_exif() >= 5
}

/// `None` where the file is none that this decoder reads; the caller takes the other one then.
fn decode_reduced(bytes: &[u8], header: &PhotoHeader, reduction: u32) -> Option<RgbImage> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.read_info().ok()?;
    let info = decoder.info()?;
    if (u32::from(info.width), u32::from(info.height)) != (header.width, header.height) {
        return None;
    }
    let wanted = |side: u32| u16::try_from(side.div_ceil(reduction)).ok();
    let size = decoder
        .scale(wanted(header.width)?, wanted(header.height)?)
        .ok()?;
    let (width, height) = (u32::from(size.0), u32::from(size.1));
    if width != header.width.div_ceil(reduction) || height != header.height.div_ceil(reduction) {
        return None;
    }
    let pixels = decoder.decode().ok()?;
    let pixels = match info.pixel_format {
        PixelFormat::RGB24 => pixels,
        PixelFormat::L8 => pixels.into_iter().flat_map(|grey| [grey; 3]).collect(),
        PixelFormat::L16 | PixelFormat::CMYK32 => return None,
    };
    RgbImage::new(width, height, pixels).ok()
}

#[cfg(test)]
mod tests;
