//! Every call to OpenCV. Its Rust interface is generated from the installed headers (4.6 here), so
//! all of it stays in this file.

use opencv::core::{self, Mat, MatTraitConst, MatTraitConstManual, Scalar, Size, Vector};
use opencv::prelude::*;
use opencv::{calib3d, imgcodecs, imgproc};
use record::capture::Orientation;

/// A picture in upright orientation: rows from the top, RGB interleaved, one byte each.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

/// What OpenCV could not do.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The bytes are no picture that can be decoded.
    #[error("the picture cannot be decoded: {what}")]
    Undecodable {
        /// What was found.
        what: String,
    },
    /// OpenCV refused something it should not have.
    #[error("OpenCV failed: {0}")]
    OpenCv(#[from] opencv::Error),
}

/// Keeps OpenCV from starting threads of its own: we work on whole photos in parallel.
pub fn use_one_thread() {
    // Fails only for negative numbers.
    let _ = core::set_num_threads(1);
}

fn decode(bytes: &[u8], flags: i32) -> Result<Mat, PictureError> {
    let buffer = Mat::from_slice(bytes)?;
    let picture = imgcodecs::imdecode(&buffer, flags | imgcodecs::IMREAD_IGNORE_ORIENTATION)?;
    if picture.empty() {
        let what = format!(
            "{} bytes that OpenCV does not take for a picture",
            bytes.len()
        );
        return Err(PictureError::Undecodable { what });
    }
    Ok(picture)
}

/// Turns stored pixels upright, as the EXIF orientation says.
fn upright(stored: Mat, orientation: Orientation) -> Result<Mat, PictureError> {
    const FLIP_LEFT_RIGHT: i32 = 1;
    let (turn, mirrored) = match orientation.exif_value() {
        2 => (None, true),
        3 => (Some(core::ROTATE_180), false),
        4 => (Some(core::ROTATE_180), true),
        5 => (Some(core::ROTATE_90_CLOCKWISE), true),
        6 => (Some(core::ROTATE_90_CLOCKWISE), false),
        7 => (Some(core::ROTATE_90_COUNTERCLOCKWISE), true),
        8 => (Some(core::ROTATE_90_COUNTERCLOCKWISE), false),
        _ => (None, false),
    };
    let mut picture = stored;
    if let Some(turn) = turn {
        let mut turned = Mat::default();
        core::rotate(&picture, &mut turned, turn)?;
        picture = turned;
    }
    if mirrored {
        let mut flipped = Mat::default();
        core::flip(&picture, &mut flipped, FLIP_LEFT_RIGHT)?;
        picture = flipped;
    }
    Ok(picture)
}

/// Decodes a photo and turns it upright.
///
/// # Errors
/// [`PictureError::Undecodable`] for bytes that are no picture.
pub fn decode_upright(bytes: &[u8], orientation: Orientation) -> Result<Picture, PictureError> {
    let picture = upright(decode(bytes, imgcodecs::IMREAD_COLOR)?, orientation)?;
    let mut rgb = Mat::default();
    imgproc::cvt_color_def(&picture, &mut rgb, imgproc::COLOR_BGR2RGB)?;
    let size = rgb.size()?;
    Ok(Picture {
        width: side(size.width),
        height: side(size.height),
        rgb: rgb.data_bytes()?.to_vec(),
    })
}

fn side(pixels: i32) -> u32 {
    u32::try_from(pixels).expect("OpenCV's picture sides are not negative")
}

/// A small JPEG of a photo, upright, its longer side at most `max_px`. Decodes at an eighth or a
/// quarter of the size where that is enough.
///
/// # Errors
/// [`PictureError::Undecodable`] for bytes that are no picture.
pub fn thumbnail(
    bytes: &[u8],
    longer_side_px: u32,
    orientation: Orientation,
    max_px: u32,
) -> Result<Vec<u8>, PictureError> {
    let flags = match longer_side_px / max_px.max(1) {
        0..2 => imgcodecs::IMREAD_COLOR,
        2..4 => imgcodecs::IMREAD_REDUCED_COLOR_2,
        4..8 => imgcodecs::IMREAD_REDUCED_COLOR_4,
        _ => imgcodecs::IMREAD_REDUCED_COLOR_8,
    };
    let picture = upright(decode(bytes, flags)?, orientation)?;
    let shrunk = shrink(&picture, max_px)?;
    encode_jpeg(&shrunk, 85)
}

fn shrink(picture: &Mat, max_px: u32) -> Result<Mat, PictureError> {
    let size = picture.size()?;
    let scale = f64::from(max_px) / f64::from(size.width.max(size.height));
    if scale >= 1.0 {
        return Ok(picture.clone());
    }
    let target = |pixels: i32| ((f64::from(pixels) * scale).round() as i32).max(1);
    let mut shrunk = Mat::default();
    imgproc::resize(
        picture,
        &mut shrunk,
        Size::new(target(size.width), target(size.height)),
        0.0,
        0.0,
        imgproc::INTER_AREA,
    )?;
    Ok(shrunk)
}

fn encode_jpeg(picture: &Mat, quality: i32) -> Result<Vec<u8>, PictureError> {
    let mut jpeg = Vector::<u8>::new();
    let parameters = Vector::from_slice(&[imgcodecs::IMWRITE_JPEG_QUALITY, quality]);
    imgcodecs::imencode(".jpg", picture, &mut jpeg, &parameters)?;
    Ok(jpeg.to_vec())
}

/// A photo's pixels turned upright and stored again as a JPEG, for a solver that does not look at
/// the EXIF orientation.
///
/// # Errors
/// [`PictureError::Undecodable`] for bytes that are no picture.
pub fn upright_jpeg(bytes: &[u8], orientation: Orientation) -> Result<Vec<u8>, PictureError> {
    let picture = upright(decode(bytes, imgcodecs::IMREAD_COLOR)?, orientation)?;
    encode_jpeg(&picture, 97)
}

/// Brightness on a 16 x 16 grid: the same for a re-encoded or resized copy of a picture up to
/// small differences.
///
/// # Errors
/// [`PictureError::Undecodable`] for bytes that are no picture.
pub fn brightness_grid(thumbnail: &[u8]) -> Result<Vec<u8>, PictureError> {
    let picture = decode(thumbnail, imgcodecs::IMREAD_GRAYSCALE)?;
    let mut grid = Mat::default();
    let size = Size::new(16, 16);
    imgproc::resize(&picture, &mut grid, size, 0.0, 0.0, imgproc::INTER_AREA)?;
    Ok(grid.data_bytes()?.to_vec())
}

/// Cuts a part out of a picture and scales it to `width` x `height`, as a JPEG. Parts outside the
/// picture are grey.
///
/// # Errors
/// When OpenCV fails.
pub fn crop_jpeg(
    picture: &Picture,
    centre: [f64; 2],
    side_px: f64,
    output_px: u32,
) -> Result<Vec<u8>, PictureError> {
    let rows = i32::try_from(picture.height).unwrap_or(i32::MAX);
    let rgb = Mat::from_slice(&picture.rgb)?;
    let rgb = rgb.reshape(3, rows)?;
    let scale = f64::from(output_px) / side_px;
    // Source pixel centres lie at half-integers in our count and at integers in OpenCV's.
    let shift = |c: f64| f64::from(output_px) / 2.0 - 0.5 - (c - 0.5) * scale;
    let map = Mat::from_slice_2d(&[
        [scale, 0.0, shift(centre[0])],
        [0.0, scale, shift(centre[1])],
    ])?;
    let mut crop = Mat::default();
    let output = i32::try_from(output_px).unwrap_or(i32::MAX);
    imgproc::warp_affine(
        &rgb,
        &mut crop,
        &map,
        Size::new(output, output),
        if scale < 1.0 {
            imgproc::INTER_AREA
        } else {
            imgproc::INTER_LINEAR
        },
        core::BORDER_CONSTANT,
        Scalar::all(128.0),
    )?;
    let mut bgr = Mat::default();
    imgproc::cvt_color_def(&crop, &mut bgr, imgproc::COLOR_RGB2BGR)?;
    encode_jpeg(&bgr, 80)
}

/// OpenCV's own projection of points in the camera frame, pixels in OpenCV's count (the first
/// pixel's centre is 0, 0): the oracle of our camera models.
///
/// # Errors
/// When OpenCV fails.
pub fn project_points(
    points: &[[f64; 3]],
    focal: [f64; 2],
    centre: [f64; 2],
    distortion: &[f64],
    is_fisheye: bool,
) -> Result<Vec<[f64; 2]>, PictureError> {
    let flat: Vec<core::Point3d> = points
        .iter()
        .map(|p| core::Point3d::new(p[0], p[1], p[2]))
        .collect();
    let object = Mat::from_slice(&flat)?;
    let matrix = Mat::from_slice_2d(&[
        [focal[0], 0.0, centre[0]],
        [0.0, focal[1], centre[1]],
        [0.0, 0.0, 1.0],
    ])?;
    let coefficients = Mat::from_slice(distortion)?;
    let zero = Mat::from_slice(&[0.0, 0.0, 0.0])?;
    let mut projected = Mat::default();
    if is_fisheye {
        calib3d::fisheye_project_points_vec_def(
            &object,
            &mut projected,
            &zero,
            &zero,
            &matrix,
            &coefficients,
        )?;
    } else {
        calib3d::project_points_def(
            &object,
            &zero,
            &zero,
            &matrix,
            &coefficients,
            &mut projected,
        )?;
    }
    let pixels = projected.data_typed::<core::Point2d>()?;
    Ok(pixels.iter().map(|p| [p.x, p.y]).collect())
}

/// OpenCV's own undistortion of pixels (in its count) to the plane at distance one.
///
/// # Errors
/// When OpenCV fails.
pub fn undistort_points(
    pixels: &[[f64; 2]],
    focal: [f64; 2],
    centre: [f64; 2],
    distortion: &[f64],
    is_fisheye: bool,
) -> Result<Vec<[f64; 2]>, PictureError> {
    let flat: Vec<core::Point2d> = pixels
        .iter()
        .map(|p| core::Point2d::new(p[0], p[1]))
        .collect();
    let source = Mat::from_slice(&flat)?;
    let matrix = Mat::from_slice_2d(&[
        [focal[0], 0.0, centre[0]],
        [0.0, focal[1], centre[1]],
        [0.0, 0.0, 1.0],
    ])?;
    let coefficients = Mat::from_slice(distortion)?;
    let mut undistorted = Mat::default();
    if is_fisheye {
        calib3d::fisheye_undistort_points_def(&source, &mut undistorted, &matrix, &coefficients)?;
    } else {
        calib3d::undistort_points_def(&source, &mut undistorted, &matrix, &coefficients)?;
    }
    let points = undistorted.data_typed::<core::Point2d>()?;
    Ok(points.iter().map(|p| [p.x, p.y]).collect())
}
