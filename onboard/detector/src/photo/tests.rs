use super::*;
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat};

/// A smooth picture with a different colour in every corner, so that turns show.
fn pixels(width: u32, height: u32) -> Vec<u8> {
    (0..height)
        .flat_map(|y| {
            (0..width).flat_map(move |x| [(x * 250 / width) as u8, (y * 250 / height) as u8, 60])
        })
        .collect()
}

fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 95)
        .write_image(
            &pixels(width, height),
            width,
            height,
            ExtendedColorType::Rgb8,
        )
        .unwrap();
    bytes
}

/// The file with an EXIF segment that holds the orientation alone.
fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    tiff.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    let mut segment = b"Exif\0\0".to_vec();
    segment.extend(tiff);
    let length = u16::try_from(segment.len() + 2).unwrap();
    let mut bytes = jpeg[..2].to_vec();
    bytes.extend([0xff, 0xe1]);
    bytes.extend(length.to_be_bytes());
    bytes.extend(segment);
    bytes.extend(&jpeg[2..]);
    bytes
}

fn pixel(photo: &Photo, x: u32, y: u32) -> [i32; 3] {
    let at = ((y * photo.image.width() + x) * 3) as usize;
    [0, 1, 2].map(|channel| i32::from(photo.image.pixels()[at + channel]))
}

#[test]
fn reduced_decoding_keeps_places_and_colours() {
    let bytes = jpeg(643, 401);
    for (factor, expected) in [
        (1.0, 1),
        (0.5, 1),
        (0.45, 2),
        (0.22, 4),
        (0.11, 8),
        (0.01, 8),
    ] {
        let photo = Photo::decode_for(&bytes, factor).unwrap();
        assert_eq!(photo.reduction, expected, "{factor}");
        assert_eq!((photo.width, photo.height), (643, 401));
        assert_eq!(photo.image.width(), 643u32.div_ceil(expected));
        let (x, y) = (photo.image.width() / 2, photo.image.height() / 3);
        let place = |at: u32| (f64::from(at) + 0.5) * f64::from(expected);
        let wanted = [place(x) * 250.0 / 643.0, place(y) * 250.0 / 401.0, 60.0];
        for (found, wanted) in pixel(&photo, x, y).into_iter().zip(wanted) {
            assert!(
                (f64::from(found) - wanted).abs() < 4.0,
                "{factor} {found} {wanted}"
            );
        }
    }
}

#[test]
fn orientations_are_applied_once() {
    let plain = jpeg(64, 32);
    // Colour of the corner that must end up top left, as (right, bottom) of the stored picture.
    for (orientation, right, bottom, turned) in [
        (1, false, false, false),
        (2, true, false, false),
        (3, true, true, false),
        (4, false, true, false),
        (5, false, false, true),
        (6, false, true, true),
        (7, true, true, true),
        (8, true, false, true),
    ] {
        let bytes = with_orientation(&plain, orientation);
        let photo = Photo::decode_for(&bytes, 0.1).unwrap();
        assert_eq!(photo.exif_orientation, orientation);
        let size = if turned { (32, 64) } else { (64, 32) };
        assert_eq!((photo.width, photo.height), size);
        let header = Photo::header(&bytes).unwrap();
        assert_eq!((header.width, header.height), size);
        let [red, green, _] = pixel(&photo, 0, 0);
        assert_eq!(red > 125, right, "{orientation}");
        assert_eq!(green > 125, bottom, "{orientation}");
    }
}

#[test]
fn unusual_pictures_decode() {
    let mut grey = Vec::new();
    JpegEncoder::new_with_quality(&mut grey, 90)
        .write_image(&[90; 320 * 240], 320, 240, ExtendedColorType::L8)
        .unwrap();
    let photo = Photo::decode_for(&grey, 0.1).unwrap();
    assert_eq!(photo.reduction, 8);
    assert!(
        pixel(&photo, 3, 3)
            .iter()
            .all(|value| (value - 90).abs() < 3)
    );

    let deep = image::ImageBuffer::<image::Luma<u16>, _>::from_pixel(5, 4, image::Luma([40_000]));
    let mut png = Cursor::new(Vec::new());
    deep.write_to(&mut png, ImageFormat::Png).unwrap();
    let photo = Photo::decode(&png.into_inner()).unwrap();
    assert!((pixel(&photo, 0, 0)[0] - 40_000 / 257).abs() <= 1);

    let one = Photo::decode(&jpeg(1, 1)).unwrap();
    assert_eq!((one.width, one.height), (1, 1));
    let wide = Photo::decode_for(&jpeg(30_000, 16), 0.1).unwrap();
    assert_eq!((wide.width, wide.image.width()), (30_000, 3750));
}

#[test]
fn damaged_files_are_a_sentence() {
    let whole = jpeg(200, 100);
    let mut huge = whole.clone();
    // Claims 65,535 x 65,535 in its frame header.
    let frame = huge
        .windows(2)
        .position(|pair| pair == [0xff, 0xc0])
        .unwrap();
    huge[frame + 5..frame + 9].fill(0xff);
    for bytes in [
        &whole[..whole.len() / 3],
        &whole[..20],
        b"no picture",
        b"",
        &huge,
    ] {
        for factor in [1.0, 0.1] {
            let refused = Photo::decode_for(bytes, factor);
            let error = refused.expect_err("damaged");
            assert!(error.is_input_fault(), "{error}");
        }
    }
}
