//! From a solver's frame to metres: a robust similarity between camera centres and what the
//! photos say about their positions, with gravity from the gimbal.
//!
//! The steps: gravity as the robust mean of what each gimbal calls down; hypotheses from minimal
//! sets (pairs of photos once gravity is known, triples otherwise) scored with the positions' own
//! sigmas; refinement of scale, rotation, translation and one offset per flight by iteratively
//! re-weighted least squares; a covariance that knows that GPS errors of neighbouring photos are
//! not independent. Yaw comes from positions; the gimbal's yaw is used only where positions leave
//! it open (all photos over one place).

mod hypotheses;
mod refine;
mod similarity;
#[cfg(test)]
mod tests;

pub use similarity::similarity_from_points;

use crate::statistics::median;
use calibration::frames::{Camera, Direction, Enu, Solution};
use calibration::{Point, Radians, Rotation, Similarity, attitude};
use nalgebra::{Matrix3, Vector3};

/// One registered photo: where the solver puts it and what the photo says.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Camera centre in the solver's frame.
    pub centre_in_solution: Point<Solution>,
    /// Orientation in the solver's frame.
    pub camera_from_solution: Rotation<Camera, Solution>,
    /// Measured east and north, metres, where known.
    pub horizontal: Option<Horizontal>,
    /// Measured height in the scene's vertical datum, where known.
    pub height: Option<Height>,
    /// Measured orientation of the (upright) picture, where known.
    pub measured_rotation: Option<Rotation<Camera, Enu>>,
    /// Index of the flight.
    pub flight: usize,
    /// Seconds since any fixed instant, where known: GPS errors of photos close in time go
    /// together.
    pub time_s: Option<f64>,
}

/// A measured horizontal position.
#[derive(Clone, Copy, Debug)]
pub struct Horizontal {
    /// East, metres.
    pub east_m: f64,
    /// North, metres.
    pub north_m: f64,
    /// One sigma of each, metres.
    pub sigma_m: f64,
}

/// A measured height.
#[derive(Clone, Copy, Debug)]
pub struct Height {
    /// Height, metres.
    pub height_m: f64,
    /// One sigma within a flight, metres.
    pub sigma_m: f64,
}

/// How to align.
#[derive(Clone, Debug)]
pub struct AlignConfig {
    /// Seed of the hypothesis sampling.
    pub seed: u64,
    /// What the heights are measured from, with the sigma of a flight's common error.
    pub flight_height_sigma_m: f64,
    /// Sigma of a flight's common horizontal error, metres (1.5: two flights of one drone, five
    /// minutes apart, were measured 0.6 m apart; several metres are reported by users).
    pub flight_horizontal_sigma_m: f64,
    /// Correlation time of GPS errors, seconds.
    pub gps_correlation_s: f64,
}

impl Default for AlignConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            flight_height_sigma_m: 3.0,
            flight_horizontal_sigma_m: 1.5,
            gps_correlation_s: 120.0,
        }
    }
}

/// The alignment found.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The transform.
    pub enu_from_solution: Similarity<Enu, Solution>,
    /// Measured minus aligned position, one vector per flight (zero with a single flight).
    pub flight_offsets_m: Vec<Vector3<f64>>,
    /// Measured minus aligned position per photo after its flight's offset; `None` components
    /// where nothing was measured.
    pub residuals: Vec<Residual>,
    /// One sigma of the alignment itself.
    pub sigma: AlignmentSigma,
    /// What the gimbals say of the vertical.
    pub gravity: Option<Gravity>,
    /// Solved against measured gimbal angles per photo.
    pub gimbal_offsets: Vec<Option<GimbalOffset>>,
    /// Whether the yaw had to be taken from the gimbals because positions leave it open.
    pub yaw_from_gimbal: bool,
    /// Whether the vertical was taken from the gimbals.
    pub tilt_from_gimbal: bool,
}

/// What is left of a photo's measured position after the alignment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Residual {
    /// East and north, metres.
    pub horizontal_m: Option<[f64; 2]>,
    /// Up, metres.
    pub vertical_m: Option<f64>,
    /// Whether the photo's position takes part: within three sigma of the alignment.
    pub inlier: bool,
}

/// One sigma of the alignment's parameters at the block's centre. They are common to all photos:
/// nothing inside the scene can reveal these errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlignmentSigma {
    /// East and north shift, metres (each).
    pub shift_horizontal_m: f64,
    /// Vertical shift, metres, relative to the datum.
    pub shift_vertical_m: f64,
    /// Relative error of lengths.
    pub scale: f64,
    /// About the vertical, radians.
    pub yaw_rad: f64,
    /// About horizontal axes, radians.
    pub tilt_rad: f64,
}

/// Solved minus measured orientation of one photo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GimbalOffset {
    /// Azimuth of the optical axis (of the image's top at nadir), clockwise.
    pub yaw: Radians,
    /// Of the optical axis, up positive.
    pub pitch: Radians,
    /// Turn of the picture about the optical axis: near 90, 180 or 270 degrees when a viewer
    /// has turned the pixels after the flight.
    pub in_image: Radians,
}

/// The vertical as the gimbals give it.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    /// Down in the solver's frame.
    pub down_in_solution: Direction<Solution>,
    /// Median angle of a photo's own down to it, radians.
    pub spread_rad: f64,
    /// Angle to the aligned vertical, radians (after the alignment).
    pub disagreement_rad: f64,
    /// Photos that had an attitude.
    pub n_photos: usize,
}

/// Why no metric frame can be had.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum AlignError {
    /// Fewer than three photos with a position.
    #[error(
        "only {found} of the solved photos carry a usable GPS position and 3 are needed: \
         there is no metric frame; check that geotagging was on"
    )]
    TooFewPositions {
        /// Photos with a position.
        found: usize,
    },
    /// All positions are the same place, or the solution's centres are.
    #[error(
        "the {what} of the photos spread over {spread_m:.2} m only: scale cannot be found; \
         photos must be taken from places at least a few metres apart"
    )]
    NoSpread {
        /// GPS positions, or solved positions.
        what: &'static str,
        /// Largest distance found.
        spread_m: f64,
    },
    /// Positions on a line (or heights unknown) and no gimbal angles to say what is up.
    #[error(
        "the photos lie on a line or carry no heights, and none carries gimbal angles: \
         the vertical cannot be found"
    )]
    NoVertical,
    /// No similarity brings enough photos near their positions.
    #[error(
        "no scaling and turning of the solution brings more than {inliers} of {total} photos \
         within {within_m:.1} m of their GPS positions: the solution or the positions are wrong"
    )]
    NoAgreement {
        /// Photos that agree under the best transform.
        inliers: usize,
        /// Photos with a position.
        total: usize,
        /// The limit.
        within_m: f64,
    },
}

/// A photo whose residual exceeds this many sigma does not take part.
pub(crate) const INLIER_SIGMAS: f64 = 3.0;

/// Aligns one model.
///
/// # Errors
/// [`AlignError`] when there is no metric frame to be had, saying why.
pub fn align(sightings: &[Sighting], config: &AlignConfig) -> Result<Alignment, AlignError> {
    check_spread(sightings)?;
    let gravity = gravity_in_solution(sightings);
    let start = hypotheses::best(sightings, gravity.as_ref(), config)?;
    let refined = refine::refine(sightings, gravity.as_ref(), &start, config);
    Ok(finish(sightings, gravity, &refined))
}

fn check_spread(sightings: &[Sighting]) -> Result<(), AlignError> {
    let placed: Vec<(&Sighting, Horizontal)> = sightings
        .iter()
        .filter_map(|s| Some((s, s.horizontal?)))
        .collect();
    if placed.len() < 3 {
        return Err(AlignError::TooFewPositions {
            found: placed.len(),
        });
    }
    let spread = |values: &[Vector3<f64>]| {
        let first = values[0];
        values
            .iter()
            .map(|v| (v - first).norm())
            .fold(0.0, f64::max)
    };
    let measured: Vec<Vector3<f64>> = placed
        .iter()
        .map(|(s, h)| Vector3::new(h.east_m, h.north_m, s.height.map_or(0.0, |z| z.height_m)))
        .collect();
    let spread_m = spread(&measured);
    let sigma_m = placed
        .iter()
        .map(|(_, h)| h.sigma_m)
        .fold(f64::INFINITY, f64::min);
    if spread_m < sigma_m.min(1.0) {
        return Err(AlignError::NoSpread {
            what: "GPS positions",
            spread_m,
        });
    }
    let solved: Vec<Vector3<f64>> = placed
        .iter()
        .map(|(s, _)| s.centre_in_solution.vector)
        .collect();
    let spread_solved = spread(&solved);
    if spread_solved < 1e-9 {
        return Err(AlignError::NoSpread {
            what: "solved positions",
            spread_m: spread_solved,
        });
    }
    Ok(())
}

/// What a photo's gimbal calls down, in camera axes.
fn down_in_camera(measured: &Rotation<Camera, Enu>) -> Vector3<f64> {
    measured.quaternion * -Vector3::z()
}

/// Beyond this angle a photo's down hardly counts in the mean.
const DOWN_SCALE_RAD: f64 = 3.0_f64.to_radians();

/// The robust mean of every photo's down in the solver's frame: a geometric median on the sphere,
/// which half the photos cannot overturn, then a mean with Cauchy weights, which far ones do not
/// bias.
fn gravity_in_solution(sightings: &[Sighting]) -> Option<Gravity> {
    let downs: Vec<Vector3<f64>> = sightings
        .iter()
        .filter_map(|s| {
            let down = down_in_camera(&s.measured_rotation?);
            Some(s.camera_from_solution.quaternion.inverse() * down)
        })
        .collect();
    if downs.len() < 3 {
        return None;
    }
    let mut mean = downs.iter().sum::<Vector3<f64>>().try_normalize(1e-9)?;
    for _ in 0..50 {
        let weighted: Vector3<f64> = downs.iter().map(|d| d / (d - mean).norm().max(1e-3)).sum();
        mean = weighted.try_normalize(1e-9)?;
    }
    for _ in 0..20 {
        let weighted: Vector3<f64> = downs
            .iter()
            .map(|d| d / (1.0 + (d.angle(&mean) / DOWN_SCALE_RAD).powi(2)))
            .sum();
        mean = weighted.try_normalize(1e-9)?;
    }
    let mut angles: Vec<f64> = downs.iter().map(|d| d.angle(&mean)).collect();
    let spread_rad = median(&mut angles)?;
    Some(Gravity {
        down_in_solution: Direction::from_vector(mean),
        spread_rad,
        disagreement_rad: 0.0,
        n_photos: downs.len(),
    })
}

fn finish(
    sightings: &[Sighting],
    gravity: Option<Gravity>,
    refined: &refine::Refined,
) -> Alignment {
    let enu_from_solution = refined.enu_from_solution;
    let residuals = refine::residuals(sightings, refined);
    let gravity = gravity.map(|mut g| {
        let down = enu_from_solution.rotation * g.down_in_solution;
        g.disagreement_rad = down.vector.angle(&-Vector3::z());
        g
    });
    let gimbal_offsets = sightings
        .iter()
        .map(|s| {
            let measured = s.measured_rotation?;
            let camera_from_enu = s.camera_from_solution * enu_from_solution.rotation.inverse();
            Some(gimbal_offset(camera_from_enu, measured))
        })
        .collect();
    Alignment {
        enu_from_solution,
        flight_offsets_m: refined.flight_offsets_m.clone(),
        residuals,
        sigma: refined.sigma,
        gravity,
        gimbal_offsets,
        yaw_from_gimbal: refined.yaw_from_gimbal,
        tilt_from_gimbal: refined.gravity_used,
    }
}

/// Solved minus measured. The yaw is the difference of [`attitude::heading`], which stays
/// defined at nadir.
#[must_use]
pub fn gimbal_offset(
    solved: Rotation<Camera, Enu>,
    measured: Rotation<Camera, Enu>,
) -> GimbalOffset {
    let yaw = attitude::heading(&solved) - attitude::heading(&measured);
    let axis_pitch = |rotation: &Rotation<Camera, Enu>| {
        let axis = rotation.inverse().quaternion * Vector3::z();
        axis.z.clamp(-1.0, 1.0).asin()
    };
    let between = (solved * measured.inverse()).quaternion;
    GimbalOffset {
        yaw: yaw.wrapped(),
        pitch: Radians(axis_pitch(&solved) - axis_pitch(&measured)),
        in_image: Radians(2.0 * between.k.atan2(between.w)).wrapped(),
    }
}

/// The matrix of the cross product with `v`.
pub(crate) fn cross_matrix(v: &Vector3<f64>) -> Matrix3<f64> {
    v.cross_matrix()
}
