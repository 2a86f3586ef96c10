//! What a camera sees of level ground from a height at a pitch, looking north from the origin: the
//! same for every cell of a bin, moved and turned.

use crate::plane::{self, Place};
use crate::spec::{PlanSpec, Tolerance};
use calibration::frames::Enu;
use calibration::{
    Attitude, CameraModel, Footprint, GroundView, Metres, Pixel, Point, Radians, Rigid, ViewLimits,
};

/// Pixels across and down at which the useful share of a picture is sampled.
const SHARE_SAMPLES: (u32, u32) = (32, 24);

/// The view of one bin.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Height above the ground.
    pub(crate) height_m: f64,
    /// Downward angle.
    pub(crate) pitch_down_deg: f64,
    /// Footprint, anticlockwise; `None` when nothing lies within the limits.
    pub(crate) footprint: Option<Footprint>,
    /// Share of the picture within the limits.
    pub(crate) useful_share: f64,
    /// Across the view at the optical axis, metres per pixel.
    pub(crate) gsd_centre_m: f64,
    /// Finest along the view within the footprint, metres per pixel: what blurs first.
    pub(crate) gsd_finest_m: f64,
}

/// The limits of a spec.
#[must_use]
pub(crate) fn limits(spec: &PlanSpec) -> ViewLimits {
    ViewLimits {
        min_depression: Radians::from_degrees(spec.views.min_depression_deg),
        max_range: Some(Metres(spec.views.max_range_m)),
        max_gsd: Some(Metres(spec.views.max_gsd_m)),
    }
}

/// A camera at a place above level ground.
#[must_use]
pub(crate) fn view_at(
    camera: &CameraModel,
    centre: Point<Enu>,
    ground_m: f64,
    yaw_deg: f64,
    pitch_down_deg: f64,
) -> GroundView {
    let rotation = Attitude::from_degrees(yaw_deg, -pitch_down_deg, 0.0).camera_from_enu();
    GroundView::new(
        *camera,
        Rigid::from_centre(rotation, centre),
        Metres(ground_m),
    )
}

impl Template {
    /// The view of a bin.
    #[must_use]
    pub(crate) fn of(
        camera: &CameraModel,
        spec: &PlanSpec,
        height_m: f64,
        pitch_down_deg: f64,
    ) -> Self {
        let centre = Point::new(0.0, 0.0, height_m);
        let view = view_at(camera, centre, 0.0, 0.0, pitch_down_deg);
        let limits = limits(spec);
        let middle = Pixel::new(camera.cx, camera.cy);
        let bottom = Pixel::new(camera.cx, f64::from(camera.height));
        let along = |pixel| {
            view.ground_sample_distance(pixel)
                .map_or(f64::INFINITY, |gsd| gsd.across.get().min(gsd.along.get()))
        };
        Self {
            height_m,
            pitch_down_deg,
            footprint: view.footprint(&limits),
            useful_share: useful_share(&view, &limits),
            gsd_centre_m: view
                .ground_sample_distance(middle)
                .map_or(f64::INFINITY, |gsd| gsd.across.get()),
            gsd_finest_m: along(middle).min(along(bottom)),
        }
    }

    /// Whether it looks straight down, where headings make no different views.
    #[must_use]
    pub(crate) fn is_nadir(&self) -> bool {
        self.pitch_down_deg > 89.0
    }

    /// Distance on the map from the camera to where its axis meets the ground.
    #[must_use]
    pub(crate) fn stand_off_m(&self) -> f64 {
        if self.is_nadir() {
            0.0
        } else {
            self.height_m / self.pitch_down_deg.to_radians().tan()
        }
    }

    /// The footprint's convex hull for a camera at a place, turned to a heading.
    #[must_use]
    pub(crate) fn hull_at(&self, place: &Place, yaw_deg: f64) -> Vec<Place> {
        self.moved(Footprint::hull, place, yaw_deg)
    }

    /// The footprint's own border for a camera at a place, turned to a heading.
    #[must_use]
    pub(crate) fn border_at(&self, place: &Place, yaw_deg: f64) -> Vec<Place> {
        self.moved(Footprint::corners, place, yaw_deg)
    }

    fn moved(
        &self,
        of: impl Fn(&Footprint) -> &[Place],
        place: &Place,
        yaw_deg: f64,
    ) -> Vec<Place> {
        let yaw = yaw_deg.to_radians();
        self.footprint
            .iter()
            .flat_map(|footprint| {
                of(footprint)
                    .iter()
                    .map(|corner| place + plane::turned(corner, yaw))
            })
            .collect()
    }

    /// The furthest corner of the footprint from the point under the camera.
    #[must_use]
    pub(crate) fn reach_m(&self) -> f64 {
        self.footprint
            .iter()
            .flat_map(Footprint::hull)
            .map(|corner| corner.norm())
            .fold(0.0, f64::max)
    }

    /// The footprint's box: across and along the heading.
    #[must_use]
    pub(crate) fn size_m(&self) -> Place {
        self.footprint
            .as_ref()
            .and_then(|footprint| plane::bounds(footprint.hull()))
            .map_or(Place::zeros(), |(low, high)| high - low)
    }

    /// The shorter side of the footprint's box.
    #[must_use]
    pub(crate) fn short_side_m(&self) -> f64 {
        let Some(footprint) = &self.footprint else {
            return 0.0;
        };
        plane::bounds(footprint.hull()).map_or(0.0, |(low, high)| (high - low).min())
    }

    /// Pitch tolerance: what moves the middle of the view by the allowed shift, at most the
    /// spec's. A pitch error moves it by height / sin^2(pitch) a radian.
    #[must_use]
    pub(crate) fn pitch_tolerance_deg(&self, tolerance: &Tolerance) -> f64 {
        let sine = self.pitch_down_deg.to_radians().sin();
        let shift = tolerance.ground_shift_m * sine * sine / self.height_m;
        // Tenths of a degree: no gimbal states more.
        let rounded = (shift.to_degrees() * 10.0).floor() / 10.0;
        rounded.clamp(0.1, tolerance.pitch_deg)
    }

    /// Fastest speed at which the picture stays sharp.
    #[must_use]
    pub(crate) fn sharp_speed_mps(&self, spec: &PlanSpec) -> f64 {
        spec.camera.max_blur_px * self.gsd_finest_m / spec.camera.exposure_s
    }
}

fn useful_share(view: &GroundView, limits: &ViewLimits) -> f64 {
    let (columns, rows) = SHARE_SAMPLES;
    let (width, height) = (
        f64::from(view.camera().width),
        f64::from(view.camera().height),
    );
    let at = |index: u32, count: u32| (f64::from(index) + 0.5) / f64::from(count);
    let useful = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .filter(|(row, column)| {
            let pixel = Pixel::new(width * at(*column, columns), height * at(*row, rows));
            view.ground_within(pixel, limits).is_some()
        })
        .count();
    useful as f64 / f64::from(columns * rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibration::profiles;

    /// The reference table of 4/3 inch views: ranges near and far, and sample distances.
    #[test]
    fn views_of_the_m3e_are_those_worked_by_hand() {
        let camera = profiles::by_id("dji-m3e").unwrap().camera;
        let mut spec = PlanSpec::default();
        spec.views.min_depression_deg = 1.0;
        spec.views.max_range_m = 1e4;
        spec.views.max_gsd_m = 10.0;
        for (height, pitch, near, far, gsd) in [
            (20.0, 45.0, 6.0, 65.0, 0.0075),
            (20.0, 60.0, 1.0, 32.0, 0.0062),
            (60.0, 45.0, 18.0, 195.0, 0.0226),
            (120.0, 60.0, 4.0, 191.0, 0.0369),
        ] {
            let template = Template::of(&camera, &spec, height, pitch);
            let hull = template.hull_at(&Place::zeros(), 0.0);
            let (low, high) = plane::bounds(&hull).unwrap();
            assert!((low.y - near).abs() < 0.8, "{height} {pitch}: {low}");
            assert!(
                (high.y / far - 1.0).abs() < 0.01,
                "{height} {pitch}: {high}"
            );
            assert!(
                (template.gsd_centre_m - gsd).abs() < 1e-4,
                "{height} {pitch}"
            );
            assert_eq!(template.useful_share, 1.0);
        }
        let flat = Template::of(&camera, &PlanSpec::default(), 30.0, 30.0);
        assert!(
            (0.6..0.9).contains(&flat.useful_share),
            "{}",
            flat.useful_share
        );
        assert!((flat.reach_m() - 112.0).abs() < 0.1, "{}", flat.reach_m());
        // 1 degree at 120 m and 30 degrees down moves the view by 8.4 m.
        let far = Template::of(&camera, &PlanSpec::default(), 120.0, 30.0);
        let tolerance = Tolerance {
            ground_shift_m: 8.4,
            ..Tolerance::default()
        };
        assert_eq!(far.pitch_tolerance_deg(&tolerance), 1.0);
    }
}
