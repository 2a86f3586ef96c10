//! What a posed camera sees of a horizontal ground plane: where a pixel meets it and how
//! uncertain that is, how large a pixel is there, what the picture covers, and how two pictures
//! overlap.
//!
//! The plane is `z = ground_z` in [`Enu`]; the camera must be above it. Rays go through the
//! undistorted pixel. A ray that does not go down meets nothing.

mod footprint;
mod overlap;
pub mod polygon;
mod rows;

pub use footprint::{Footprint, POINTS_PER_EDGE, ViewLimits};
pub use overlap::{Overlap, overlap};
pub use rows::{RowBand, RowBandGround};

use crate::attitude;
use crate::camera::{CameraModel, Pixel};
use crate::frames::{Camera, Direction, Enu, Point};
use crate::transforms::{Rigid, Rotation};
use crate::units::{Metres, Radians};
use nalgebra::{
    Matrix2, Matrix2x3, Matrix3, Matrix3x2, Matrix6, SMatrix, Vector2, Vector3, Vector6,
};

/// A camera, its pose and the ground plane under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundView {
    camera: CameraModel,
    camera_from_enu: Rigid<Camera, Enu>,
    ground_z: f64,
    enu_from_camera: Matrix3<f64>,
    centre: Vector3<f64>,
    /// Unit vector (east, north) of the way the camera looks on the map.
    heading: Vector2<f64>,
}

/// Where a pixel's ray meets the ground, and how that place moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundPoint {
    /// The place; its z is the plane's.
    pub point: Point<Enu>,
    /// East and north by the pixel's x and y, metres per pixel.
    pub by_pixel: Matrix2<f64>,
    /// East and north by a small rotation vector in ENU axes that turns the camera:
    /// `enu_from_camera` becomes `exp(vector) * enu_from_camera`. Metres per radian.
    pub by_rotation: Matrix2x3<f64>,
    /// East and north by the camera's centre, metres per metre.
    pub by_centre: Matrix2x3<f64>,
    /// East, north and up by the plane's height, metres per metre; up moves one for one.
    pub by_ground_z: Vector3<f64>,
    /// Unit vector (east, north) of the way the ray points on the map; the camera's heading
    /// straight down, where there is none.
    pub direction: Vector2<f64>,
}

/// Covariances of what a ground point is made from. The three are taken as independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundNoise {
    /// Of the pixel's x and y, square pixels.
    pub pixel: Matrix2<f64>,
    /// Of the pose: the rotation vector of [`GroundPoint::by_rotation`] (square radians), then the
    /// centre in ENU (square metres).
    pub pose: Matrix6<f64>,
    /// Of the plane's height, square metres.
    pub ground_z: f64,
}

/// A pose's standard deviations as a navigation system and a gimbal have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseSigmas {
    /// Of the centre, east and north alike.
    pub horizontal: Metres,
    /// Of the centre's height.
    pub vertical: Metres,
    /// About the vertical.
    pub yaw: Radians,
    /// About the image's horizontal axis.
    pub pitch: Radians,
    /// About the optical axis.
    pub roll: Radians,
}

/// The size of a pixel on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundSampleDistance {
    /// Metres per pixel across the view: horizontally at right angles to the camera's heading
    /// ([`crate::attitude::heading`]). Without distortion this is the distance along the optical
    /// axis over the focal length.
    pub across: Metres,
    /// Metres per pixel along the camera's heading; the larger one in an oblique view.
    pub along: Metres,
    /// The side of a square as large as the pixel's patch of ground.
    pub mean: Metres,
}

impl GroundView {
    /// A camera with its pose over the plane `z = ground_z`.
    #[must_use]
    pub fn new(camera: CameraModel, camera_from_enu: Rigid<Camera, Enu>, ground_z: Metres) -> Self {
        Self {
            camera,
            camera_from_enu,
            ground_z: ground_z.get(),
            enu_from_camera: camera_from_enu.rotation.inverse().matrix(),
            centre: camera_from_enu.centre().vector,
            heading: heading_on_map(&camera_from_enu.rotation),
        }
    }

    /// The camera's intrinsics.
    #[must_use]
    pub fn camera(&self) -> &CameraModel {
        &self.camera
    }

    /// The camera's pose.
    #[must_use]
    pub fn camera_from_enu(&self) -> &Rigid<Camera, Enu> {
        &self.camera_from_enu
    }

    /// The camera's centre.
    #[must_use]
    pub fn centre(&self) -> Point<Enu> {
        Point::from_vector(self.centre)
    }

    /// Height of the plane.
    #[must_use]
    pub fn ground_z(&self) -> Metres {
        Metres(self.ground_z)
    }

    /// Height of the camera above the plane; negative under it.
    #[must_use]
    pub fn height_above_ground(&self) -> Metres {
        Metres(self.centre.z - self.ground_z)
    }

    /// The ray through a pixel, of length one. `None` outside the lens's field.
    #[must_use]
    pub fn ray_in_enu(&self, pixel: Pixel) -> Option<Direction<Enu>> {
        let ray_in_camera = self.camera.ray_from_pixel(pixel)?;
        Some(Direction::from_vector(
            self.enu_from_camera * ray_in_camera.vector,
        ))
    }

    /// How far a pixel's ray points below the horizontal: pi/2 at the nadir, negative above the
    /// horizon. `None` outside the lens's field.
    #[must_use]
    pub fn depression(&self, pixel: Pixel) -> Option<Radians> {
        self.ray_in_enu(pixel).map(|ray| depression_of(&ray.vector))
    }

    /// Whether the picture's border looks at or above the horizon somewhere.
    #[must_use]
    pub fn has_horizon_in_frame(&self) -> bool {
        footprint::border(&self.camera)
            .into_iter()
            .filter_map(|pixel| self.depression(pixel))
            .any(|depression| depression.get() <= 0.0)
    }

    /// Where a pixel's ray meets the ground. `None` at or above the horizon, outside the lens's
    /// field, or when the camera is not above the plane.
    #[must_use]
    pub fn ground_from_pixel(&self, pixel: Pixel) -> Option<Point<Enu>> {
        let ray = self.ray_in_enu(pixel)?.vector;
        self.meet(&ray).map(Point::from_vector)
    }

    /// [`Self::ground_from_pixel`] with all derivatives.
    #[must_use]
    pub fn ground_point(&self, pixel: Pixel) -> Option<GroundPoint> {
        let (ray_in_camera, ray_by_pixel) = self.camera.ray_and_jacobian(pixel)?;
        let ray = self.enu_from_camera * ray_in_camera.vector;
        let point = self.meet(&ray)?;
        let distance = (self.ground_z - self.centre.z) / ray.z;
        let by_ground_z = ray / ray.z;
        // Moving the centre moves the place, less what the plane takes back along the ray.
        let by_centre = Matrix2x3::new(
            1.0,
            0.0,
            -by_ground_z.x, //
            0.0,
            1.0,
            -by_ground_z.y,
        );
        let by_ray = by_centre * distance;
        let ray_by_pixel: Matrix3x2<f64> = self.enu_from_camera * ray_by_pixel;
        Some(GroundPoint {
            point: Point::from_vector(point),
            by_pixel: by_ray * ray_by_pixel,
            by_rotation: -by_ray * ray.cross_matrix(),
            by_centre,
            by_ground_z,
            direction: ray.xy().try_normalize(1e-12).unwrap_or(self.heading),
        })
    }

    /// Where a point appears, whether or not inside the picture. `None` behind the camera or
    /// outside the lens's field.
    #[must_use]
    pub fn pixel_from_enu(&self, point: Point<Enu>) -> Option<Pixel> {
        self.camera.pixel_from_camera(self.camera_from_enu * point)
    }

    /// The size of a pixel where its ray meets the ground, from the exact derivative. `None` where
    /// [`Self::ground_from_pixel`] is.
    #[must_use]
    pub fn ground_sample_distance(&self, pixel: Pixel) -> Option<GroundSampleDistance> {
        let at = self.ground_point(pixel)?;
        let pixel_by_ground = at.pixel_by_ground()?;
        let metres_per_pixel = |way: Vector2<f64>| Metres(1.0 / (pixel_by_ground * way).norm());
        Some(GroundSampleDistance {
            across: metres_per_pixel(across(self.heading)),
            along: metres_per_pixel(self.heading),
            mean: Metres(at.by_pixel.determinant().abs().sqrt()),
        })
    }

    /// Where a ray from the centre meets the plane.
    fn meet(&self, ray: &Vector3<f64>) -> Option<Vector3<f64>> {
        let fall = self.ground_z - self.centre.z;
        // Written so that anything not finite fails.
        if !(fall < 0.0 && ray.z < 0.0) {
            return None;
        }
        let point = self.centre + ray * (fall / ray.z);
        (point.x.is_finite() && point.y.is_finite())
            .then(|| Vector3::new(point.x, point.y, self.ground_z))
    }
}

fn heading_on_map(camera_from_enu: &Rotation<Camera, Enu>) -> Vector2<f64> {
    let (sin, cos) = attitude::heading(camera_from_enu).get().sin_cos();
    Vector2::new(sin, cos)
}

/// A quarter turn to the left.
fn across(direction: Vector2<f64>) -> Vector2<f64> {
    Vector2::new(-direction.y, direction.x)
}

fn depression_of(ray: &Vector3<f64>) -> Radians {
    Radians((-ray.z).atan2(ray.x.hypot(ray.y)))
}

impl GroundPoint {
    /// The pixel's x and y by east and north, pixels per metre: the inverse of `by_pixel`. `None`
    /// where the ray grazes the plane so flatly that it cannot be inverted.
    #[must_use]
    pub fn pixel_by_ground(&self) -> Option<Matrix2<f64>> {
        self.by_pixel.try_inverse()
    }

    /// Covariance of the point (east, north, up), square metres, to first order. The upper left
    /// 2x2 block is that on the map.
    #[must_use]
    pub fn covariance(&self, noise: &GroundNoise) -> Matrix3<f64> {
        let mut by_pose = SMatrix::<f64, 2, 6>::zeros();
        by_pose
            .fixed_columns_mut::<3>(0)
            .copy_from(&self.by_rotation);
        by_pose.fixed_columns_mut::<3>(3).copy_from(&self.by_centre);
        let on_map = self.by_pixel * noise.pixel * self.by_pixel.transpose()
            + by_pose * noise.pose * by_pose.transpose();
        let mut covariance = self.by_ground_z * self.by_ground_z.transpose() * noise.ground_z;
        let mut map_block = covariance.fixed_view_mut::<2, 2>(0, 0);
        map_block += on_map;
        covariance
    }

    /// Standard deviations along and across the ray's direction on the map of a covariance there.
    #[must_use]
    pub fn along_and_across(&self, covariance: &Matrix3<f64>) -> (Metres, Metres) {
        let on_map = covariance.fixed_view::<2, 2>(0, 0);
        let sigma = |way: Vector2<f64>| Metres(way.dot(&(on_map * way)).max(0.0).sqrt());
        (sigma(self.direction), sigma(across(self.direction)))
    }
}

impl GroundNoise {
    /// From a pixel standard deviation (both axes alike), a pose covariance and the standard
    /// deviation of the plane's height.
    #[must_use]
    pub fn new(pixel_sigma_px: f64, pose: Matrix6<f64>, ground_z_sigma: Metres) -> Self {
        Self {
            pixel: Matrix2::identity() * pixel_sigma_px.powi(2),
            pose,
            ground_z: ground_z_sigma.get().powi(2),
        }
    }
}

impl PoseSigmas {
    /// The covariance for [`GroundNoise::pose`] of a camera that looks this way: rotation vector
    /// in ENU axes, then centre.
    #[must_use]
    pub fn covariance(&self, camera_from_enu: &Rotation<Camera, Enu>) -> Matrix6<f64> {
        let enu_from_camera = camera_from_enu.inverse().matrix();
        let axes = [
            (Vector3::z(), self.yaw),
            (enu_from_camera.column(0).into_owned(), self.pitch),
            (enu_from_camera.column(2).into_owned(), self.roll),
        ];
        let mut rotation = Matrix3::zeros();
        for (axis, sigma) in axes {
            rotation += axis * axis.transpose() * sigma.get().powi(2);
        }
        let horizontal = self.horizontal.get().powi(2);
        let vertical = self.vertical.get().powi(2);
        let mut covariance = Matrix6::from_diagonal(&Vector6::new(
            0.0, 0.0, 0.0, horizontal, horizontal, vertical,
        ));
        covariance.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotation);
        covariance
    }
}

impl GroundSampleDistance {
    /// How many pixels a length across the view covers.
    #[must_use]
    pub fn pixels_across(&self, length: Metres) -> f64 {
        length.get() / self.across.get()
    }

    /// How many pixels a length along the view covers.
    #[must_use]
    pub fn pixels_along(&self, length: Metres) -> f64 {
        length.get() / self.along.get()
    }
}
