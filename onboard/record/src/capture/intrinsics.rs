//! Hints at the camera's intrinsics, each as a focal length in pixels of this picture with its
//! uncertainty; all are kept, the best first.

use super::cameras::KnownCamera;
use super::exif::ExifTags;
use super::number::parse_list;
use super::remark::Remark;
use super::values::{Block, Source};
use super::xmp::{Namespace, Xmp};
use exif::Tag;
use serde::{Deserialize, Serialize};

/// The maker's design value, where DJI states it ("Designed focal length", M3M and Matrice 4
/// manuals): single cameras differ from it by 1 to 3 %.
const DESIGN_SIGMA: f64 = 0.02;
/// A camera's own calibration.
const CALIBRATED_SIGMA: f64 = 0.005;
/// A calibration whose picture was straightened in the camera: the scale may have been changed.
const DEWARPED_SIGMA: f64 = 0.015;
/// Focal length and pixel pitch, both as the maker states them.
const FOCAL_PLANE_SIGMA: f64 = 0.025;
/// 35 mm equivalents are rounded to a millimetre and meant by width or by diagonal.
const EQUIVALENT_SIGMA: f64 = 0.07;
/// Without any hint: drone cameras see 55 to 95 degrees across.
const ASSUMED_SIGMA: f64 = 0.3;
const ASSUMED_FOCAL_PER_SIDE: f64 = 0.72;
/// Digital zoom is cut and scaled in the camera, in steps.
const ZOOM_SIGMA: f64 = 0.1;
/// Diagonal of a 36 x 24 mm frame, which the equivalent refers to (CIPA DCG-001).
const FULL_FRAME_DIAGONAL_MM: f64 = 43.266_615;
/// Sensors of drone cameras, millimetres across.
const SENSOR_WIDTH_MM: std::ops::Range<f64> = 1.0..60.0;
/// A principal point lies within this share of the picture's side from its middle.
const MAX_CENTRE_OFFSET: f64 = 0.15;

/// How a focal length in pixels was found, in order of trust at equal uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FocalBasis {
    /// XMP CalibratedFocalLength with the optical centre.
    CalibratedFocalLength,
    /// DJI DewarpData.
    DewarpData,
    /// Pix4D PerspectiveFocalLength and PrincipalPoint.
    Perspective,
    /// EXIF focal length and focal plane resolution.
    FocalPlane,
    /// EXIF focal length and the known sensor of that model.
    KnownSensor,
    /// EXIF 35 mm equivalent.
    Equivalent35mm,
    /// Nothing known: a typical lens.
    Assumed,
}

/// Brown-Conrady coefficients as OpenCV orders and applies them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrownDistortion {
    /// Radial, second power.
    pub k1: f64,
    /// Radial, fourth power.
    pub k2: f64,
    /// Tangential, first.
    pub p1: f64,
    /// Tangential, second.
    pub p2: f64,
    /// Radial, sixth power.
    pub k3: f64,
}

/// One hint at the intrinsics, in pixels of the stored picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FocalHint {
    /// Focal length (mean of both axes).
    pub focal_px: f64,
    /// One sigma of it.
    pub sigma_px: f64,
    /// Principal point, where stated; the centre of the first pixel is (0.5, 0.5).
    pub principal_point_px: Option<[f64; 2]>,
    /// Distortion, where stated and still in the picture.
    pub distortion: Option<BrownDistortion>,
    /// How it was found.
    pub basis: FocalBasis,
    /// Where it was read.
    pub source: Source,
}

/// The picture and what is known of its optics.
pub(super) struct Picture<'a> {
    /// Stored width and height.
    pub(super) size_px: [u32; 2],
    /// Width and height the metadata was written for.
    pub(super) recorded_px: [u32; 2],
    pub(super) focal_mm: Option<f64>,
    pub(super) zoom: Option<f64>,
    pub(super) known: Option<&'static KnownCamera>,
    pub(super) exif: &'a ExifTags,
    pub(super) xmp: &'a Xmp,
}

/// Every hint, the best first: smallest relative uncertainty, among equals the more direct one.
pub(super) fn hints(picture: &Picture, remarks: &mut Vec<Remark>) -> Vec<FocalHint> {
    let mut hints: Vec<FocalHint> = [
        picture.calibrated(remarks),
        picture.dewarp(remarks),
        picture.perspective(),
        picture.focal_plane(),
        picture.known_sensor(),
        picture.equivalent(),
        Some(picture.assumed()),
    ]
    .into_iter()
    .flatten()
    .filter(|hint| picture.is_possible(hint))
    .collect();
    hints.sort_by(|a, b| {
        let relative = |hint: &FocalHint| hint.sigma_px / hint.focal_px;
        relative(a)
            .total_cmp(&relative(b))
            .then(a.basis.cmp(&b.basis))
    });
    hints
}

impl Picture<'_> {
    /// Fields of view between 2 and 170 degrees across; anything else is a wrong number.
    fn is_possible(&self, hint: &FocalHint) -> bool {
        let side = f64::from(self.size_px[0].max(self.size_px[1]));
        (0.04..30.0).contains(&(hint.focal_px / side)) && hint.sigma_px.is_finite()
    }

    /// Pixels of the stored picture per recorded pixel.
    fn scale(&self) -> f64 {
        let longer = |size: [u32; 2]| f64::from(size[0].max(size[1]));
        longer(self.size_px) / longer(self.recorded_px)
    }

    fn zoomed(&self) -> Option<f64> {
        self.zoom.filter(|zoom| *zoom > 1.0)
    }

    fn hint(&self, focal_px: f64, sigma: f64, basis: FocalBasis, source: Source) -> FocalHint {
        let sigma = if self.zoomed().is_some() {
            sigma.hypot(ZOOM_SIGMA)
        } else {
            sigma
        };
        FocalHint {
            focal_px,
            sigma_px: focal_px * sigma,
            principal_point_px: None,
            distortion: None,
            basis,
            source,
        }
    }

    fn calibrated(&self, remarks: &mut Vec<Remark>) -> Option<FocalHint> {
        let (focal, centre, source, sigma) = if let Some((fx, source)) = self
            .xmp
            .number(Namespace::Skydio, &["CalibratedFocalLength/X"])
        {
            let fy = self
                .xmp
                .number(Namespace::Skydio, &["CalibratedFocalLength/Y"])
                .map_or(fx, |(fy, _)| fy);
            (
                f64::midpoint(fx, fy),
                self.optical_centre(Namespace::Skydio, "CalibratedOpticalCenter/"),
                source,
                CALIBRATED_SIGMA.hypot((fx - fy) / (fx + fy)),
            )
        } else {
            let (focal, source) = self
                .xmp
                .number(Namespace::Dji, &["CalibratedFocalLength"])?;
            let centre = self.optical_centre(Namespace::Dji, "CalibratedOpticalCenter");
            (focal, centre, source, DESIGN_SIGMA)
        };
        if focal <= 0.0 {
            return None;
        }
        // The calibration says which picture size it is for by its optical centre.
        let scale = match centre {
            None => self.scale(),
            Some(centre) => match self.scale_of_centre(centre) {
                Some(scale) => scale,
                None => {
                    remarks.push(Remark::CalibrationForOtherSize {
                        key: source.key.clone().into_owned(),
                    });
                    return None;
                }
            },
        };
        let mut hint = self.hint(
            focal * scale,
            sigma,
            FocalBasis::CalibratedFocalLength,
            source,
        );
        hint.principal_point_px = centre.map(|[x, y]| [x * scale, y * scale]);
        Some(hint)
    }

    fn optical_centre(&self, namespace: Namespace, stem: &str) -> Option<[f64; 2]> {
        let (x, _) = self.xmp.number(namespace, &[&format!("{stem}X")])?;
        let (y, _) = self.xmp.number(namespace, &[&format!("{stem}Y")])?;
        (x > 0.0 && y > 0.0).then_some([x, y])
    }

    /// Stored pixels per pixel of the calibration: as recorded if the centre is near the middle
    /// of that size, else by the centre itself if both sides agree.
    fn scale_of_centre(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let [width, height] = self.size_px.map(f64::from);
        let recorded = self.scale();
        let off_x = (x * recorded / width - 0.5).abs();
        let off_y = (y * recorded / height - 0.5).abs();
        if off_x.max(off_y) <= MAX_CENTRE_OFFSET {
            return Some(recorded);
        }
        let (by_width, by_height) = (width / (2.0 * x), height / (2.0 * y));
        ((by_width / by_height - 1.0).abs() <= 0.05).then_some(by_width)
    }

    /// `date;fx,fy,cx,cy,k1,k2,p1,p2,k3`: the centre counts from the picture's middle (M3M and
    /// Matrice 4 manuals). The numbers are for the recorded size.
    fn dewarp(&self, remarks: &mut Vec<Remark>) -> Option<FocalHint> {
        let (text, source) = self.xmp.text(Namespace::Dji, &["DewarpData"])?;
        let numbers = parse_list(text.rsplit(';').next().unwrap_or(text))?;
        let [fx, fy, cx, cy, k1, k2, p1, p2, k3] = numbers[..] else {
            return None;
        };
        if fx <= 0.0 || fy <= 0.0 {
            return None;
        }
        let [width, height] = self.size_px.map(f64::from);
        let scale = self.scale();
        let centre = [width / 2.0 + cx * scale, height / 2.0 + cy * scale];
        if (cx * scale).abs() > MAX_CENTRE_OFFSET * width
            || (cy * scale).abs() > MAX_CENTRE_OFFSET * height
        {
            remarks.push(Remark::CalibrationForOtherSize {
                key: source.key.clone().into_owned(),
            });
            return None;
        }
        let is_straightened = self
            .xmp
            .number(Namespace::Dji, &["DewarpFlag"])
            .is_some_and(|(flag, _)| flag == 1.0);
        let own_sigma = if is_straightened {
            DEWARPED_SIGMA
        } else {
            CALIBRATED_SIGMA
        };
        // Square pixels are certain, so a difference between the axes is an error.
        let sigma = own_sigma.hypot((fx - fy) / (fx + fy));
        let mut hint = self.hint(
            f64::midpoint(fx, fy) * scale,
            sigma,
            FocalBasis::DewarpData,
            source,
        );
        hint.principal_point_px = Some(centre);
        hint.distortion = (!is_straightened).then_some(BrownDistortion { k1, k2, p1, p2, k3 });
        Some(hint)
    }

    /// Pix4D's camera model in millimetres from the top left corner (developer.parrot.com
    /// photo-metadata); distortion R1, R2, R3, T1, T2.
    fn perspective(&self) -> Option<FocalHint> {
        let (focal_mm, source) = self
            .xmp
            .number(Namespace::Camera, &["PerspectiveFocalLength"])?;
        if let Some((units, _)) = self
            .xmp
            .text(Namespace::Camera, &["PerspectiveFocalLengthUnits"])
            && !units.eq_ignore_ascii_case("mm")
        {
            return None;
        }
        let centre_mm = self
            .xmp
            .text(Namespace::Camera, &["PrincipalPoint"])
            .and_then(|(text, _)| parse_list(text))
            .and_then(|numbers| <[f64; 2]>::try_from(numbers).ok())
            .filter(|[x, y]| *x > 0.0 && *y > 0.0);
        let (px_per_mm, sigma) = match (self.px_per_mm(), centre_mm) {
            (Some(px_per_mm), _) => (px_per_mm, CALIBRATED_SIGMA),
            // Twice the principal point is the sensor's width, as nearly as it is centred.
            (None, Some([x, _])) => (f64::from(self.size_px[0]) / (2.0 * x), 0.03),
            (None, None) => return None,
        };
        let mut hint = self.hint(focal_mm * px_per_mm, sigma, FocalBasis::Perspective, source);
        hint.principal_point_px = centre_mm.map(|[x, y]| [x * px_per_mm, y * px_per_mm]);
        hint.distortion = self
            .xmp
            .text(Namespace::Camera, &["PerspectiveDistortion"])
            .and_then(|(text, _)| parse_list(text))
            .and_then(|numbers| <[f64; 5]>::try_from(numbers).ok())
            .map(|[k1, k2, k3, p1, p2]| BrownDistortion { k1, k2, p1, p2, k3 });
        (focal_mm > 0.0).then_some(hint)
    }

    /// Stored pixels per millimetre of the sensor, from EXIF focal plane resolution.
    fn px_per_mm(&self) -> Option<f64> {
        let resolution = self.exif.number(Tag::FocalPlaneXResolution)?;
        let unit_mm = match self.exif.uint(Tag::FocalPlaneResolutionUnit) {
            None | Some(2) => 25.4,
            Some(3) => 10.0,
            Some(4) => 1.0,
            Some(5) => 0.001,
            Some(_) => return None,
        };
        let recorded_per_mm = resolution / unit_mm;
        let sensor_mm = f64::from(self.recorded_px[0].max(self.recorded_px[1])) / recorded_per_mm;
        SENSOR_WIDTH_MM
            .contains(&sensor_mm)
            .then_some(recorded_per_mm * self.scale())
    }

    fn focal_plane(&self) -> Option<FocalHint> {
        Some(self.hint(
            self.focal_mm? * self.px_per_mm()? * self.zoomed().unwrap_or(1.0),
            FOCAL_PLANE_SIGMA,
            FocalBasis::FocalPlane,
            Source::exif("FocalLength, FocalPlaneXResolution"),
        ))
    }

    fn known_sensor(&self) -> Option<FocalHint> {
        let known = self.known?;
        let recorded = known.focal_px(self.focal_mm?, self.recorded_px);
        Some(self.hint(
            recorded * self.scale() * self.zoomed().unwrap_or(1.0),
            known.sigma_percent / 100.0,
            FocalBasis::KnownSensor,
            Source::new(Block::CameraTable, known.source.as_str()),
        ))
    }

    fn equivalent(&self) -> Option<FocalHint> {
        let equivalent_mm = self.exif.number(Tag::FocalLengthIn35mmFilm)?;
        // Whether digital zoom is part of the equivalent differs between vendors.
        if equivalent_mm <= 0.0 || self.zoomed().is_some() {
            return None;
        }
        let [width, height] = self.size_px.map(f64::from);
        // Rounded to whole millimetres: uniform over one, so sigma is 1 / sqrt(12).
        let rounding = 0.29 / equivalent_mm;
        Some(self.hint(
            equivalent_mm * width.hypot(height) / FULL_FRAME_DIAGONAL_MM,
            EQUIVALENT_SIGMA.hypot(rounding),
            FocalBasis::Equivalent35mm,
            Source::exif("FocalLengthIn35mmFilm"),
        ))
    }

    fn assumed(&self) -> FocalHint {
        let side = f64::from(self.size_px[0].max(self.size_px[1]));
        self.hint(
            ASSUMED_FOCAL_PER_SIDE * side * self.zoomed().unwrap_or(1.0),
            ASSUMED_SIGMA,
            FocalBasis::Assumed,
            Source::new(Block::Assumption, ""),
        )
    }
}
