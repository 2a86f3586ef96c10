//! What each photo sees, on drawings with few pixels: vehicles, and candidates for sparse points.

use super::points::Candidate;
use super::{DRAWN_SIDE_PX, points};
use crate::camera::{Camera, CameraFromEnu, Intrinsics};
use crate::render::raster::{Projector, SAMPLES, SampleBuffer};
use crate::scene::foliage::{MASK_SIDE, N_MASKS};
use crate::scene::{Object, Scene};
use crate::vehicles::Vehicle;
use crate::views::{Prospect, Sight, pixels, sights};
use nalgebra::{Vector2, Vector3};

/// What one photo sees.
pub(super) struct Sightings {
    pub(super) sights: Vec<Sight>,
    /// Candidate and exact pixel.
    pub(super) seen: Vec<(usize, Vector2<f64>)>,
}

/// Looks at the scene through one lens.
pub(super) struct Viewer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) masks: &'a [[u32; MASK_SIDE]; N_MASKS],
    pub(super) vehicles: &'a [Vehicle],
    pub(super) intrinsics: &'a Intrinsics,
    pub(super) candidates: &'a [Candidate],
}

/// The same lens with at most so many pixels a side.
fn with_fewer_pixels(lens: &Intrinsics) -> Intrinsics {
    let longer = lens.width_px.max(lens.height_px);
    let scale = f64::from(DRAWN_SIDE_PX.min(longer)) / f64::from(longer);
    let side = |px: u32| ((f64::from(px) * scale).round() as u32).max(1);
    Intrinsics {
        width_px: side(lens.width_px),
        height_px: side(lens.height_px),
        fx_px: lens.fx_px * scale,
        fy_px: lens.fy_px * scale,
        cx_px: lens.cx_px * scale,
        cy_px: lens.cy_px * scale,
        ..*lens
    }
}

/// Walls and roofs of this size and more hide sparse points, too, metres (half across).
const LARGE_M: f32 = 6.0;

/// The vehicles in the frame as balls seen from the camera: leaves and small things that cannot
/// hide one of them are not drawn, because there are so many.
struct Hidden {
    eye: Vector3<f64>,
    balls: Vec<Ball>,
}

/// A ball from somewhere: where it is, how far, and the half angle that it fills.
struct Ball {
    direction: Vector3<f64>,
    distance: f64,
    half_angle: f64,
}

impl Ball {
    fn of(object: &Object, eye: &Vector3<f64>) -> Self {
        let c = object.center;
        let offset = Vector3::new(c.x, c.y, c.z).map(f64::from) - eye;
        let distance = offset.norm();
        let share = f64::from(object.radius) / distance.max(1e-6);
        Self {
            direction: offset / distance.max(1e-6),
            distance,
            half_angle: share.min(1.0).asin(),
        }
    }
}

impl Hidden {
    fn of(scene: &Scene, projector: &Projector, camera: &Camera) -> Self {
        let eye = camera.camera_from_enu.center_in_enu();
        let balls = scene
            .objects
            .iter()
            .filter(|o| o.vehicle.is_some() && projector.may_see(o.center, o.radius))
            .map(|object| Ball::of(object, &eye))
            .collect();
        Self { eye, balls }
    }

    fn may_be_behind(&self, object: &Object) -> bool {
        let front = Ball::of(object, &self.eye);
        let reach = f64::from(object.radius);
        self.balls.iter().any(|ball| {
            let apart = front.half_angle + ball.half_angle;
            front.distance - reach < ball.distance
                && front.direction.dot(&ball.direction) >= apart.cos()
        })
    }
}

impl Viewer<'_> {
    /// Looks from one pose.
    pub(super) fn look(&self, camera_from_enu: &CameraFromEnu) -> Sightings {
        let camera = Camera {
            intrinsics: *self.intrinsics,
            camera_from_enu: *camera_from_enu,
        };
        let drawn = Camera {
            intrinsics: with_fewer_pixels(self.intrinsics),
            camera_from_enu: *camera_from_enu,
        };
        let projector = Projector::new(&drawn);
        let hidden = Hidden::of(self.scene, &projector, &camera);
        let wanted = |object: &Object| {
            let is_large = !object.leafy && object.radius > LARGE_M;
            object.vehicle.is_some() || is_large || hidden.may_be_behind(object)
        };
        let samples = SampleBuffer::draw_some(self.scene, self.masks, &drawn, &projector, wanted);
        let prospect = Prospect {
            scene: self.scene,
            vehicles: self.vehicles,
            camera: &camera,
            drawn: &drawn,
            samples: &samples,
        };
        let mut sights = sights(&prospect);
        for sight in &mut sights {
            sight.horizontal_box = sight
                .horizontal_box
                .map(|counted| self.sharpened(counted, sight.vehicle, &prospect));
        }
        let scale = SAMPLES as f64 * drawn.intrinsics.fx_px / self.intrinsics.fx_px;
        let seen = self
            .candidates
            .iter()
            .enumerate()
            .filter_map(|(idx, candidate)| {
                let pixel = points::visible_pixel(candidate, &camera, &samples, scale)?;
                Some((idx, pixel))
            })
            .collect();
        Sightings { sights, seen }
    }

    /// Sides of a box counted on the drawing that lie where the whole vehicle ends are moved there
    /// exactly.
    fn sharpened(&self, counted: [f64; 4], vehicle: usize, prospect: &Prospect) -> [f64; 4] {
        const NEAR_SAMPLES: f64 = 2.5;
        let lens = self.intrinsics;
        let sample_px = lens.fx_px / prospect.drawn.intrinsics.fx_px / SAMPLES as f64;
        let object = (self.scene.objects.iter()).find(|o| o.vehicle == Some(vehicle as u32));
        let whole = object.and_then(|o| pixels(self.scene, o.vertices.clone(), prospect.camera));
        let Some(whole) = whole else {
            return counted;
        };
        let fold = |start: f64, pick: fn(f64, f64) -> f64, axis: usize, side: u32| {
            let end = whole.iter().map(|p| p[axis]).fold(start, pick);
            end.clamp(0.0, f64::from(side))
        };
        let exact = [
            fold(f64::MAX, f64::min, 0, lens.width_px),
            fold(f64::MAX, f64::min, 1, lens.height_px),
            fold(f64::MIN, f64::max, 0, lens.width_px),
            fold(f64::MIN, f64::max, 1, lens.height_px),
        ];
        std::array::from_fn(|side| {
            if (exact[side] - counted[side]).abs() <= NEAR_SAMPLES * sample_px {
                exact[side]
            } else {
                counted[side]
            }
        })
    }
}
