//! Lens distortion: Brown-Conrady and fisheye (Kannala-Brandt), with OpenCV's coefficients and
//! meaning. Coordinates here are on the plane at distance one in front of the camera.

use nalgebra::{Matrix2, Matrix2x3, Vector2, Vector3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Lens distortion, with OpenCV's coefficient names and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum Lens {
    /// Radial k1, k2, k3 and tangential p1, p2 on the pinhole image plane. All zero is a pure
    /// pinhole.
    BrownConrady {
        /// Radial, r^2.
        k1: f64,
        /// Radial, r^4.
        k2: f64,
        /// Tangential.
        p1: f64,
        /// Tangential.
        p2: f64,
        /// Radial, r^6.
        k3: f64,
    },
    /// Equidistant with a polynomial: theta_d = theta (1 + k1 theta^2 + ... + k4 theta^8).
    Fisheye {
        /// theta^2.
        k1: f64,
        /// theta^4.
        k2: f64,
        /// theta^6.
        k3: f64,
        /// theta^8.
        k4: f64,
    },
}

/// Newton steps for undistortion; each roughly doubles the digits, 20 is generous.
const MAX_UNDISTORT_STEPS: usize = 20;
/// Undistortion residual in normalised units at which we stop: 1e-12 is 1e-8 px at f = 10,000.
const UNDISTORT_TOLERANCE: f64 = 1e-12;
/// Largest distance from the axis of the plane at distance one that we search: 89.4 degrees.
const MAX_PLANE_RADIUS: f64 = 100.0;
/// Halvings when a root is bracketed: the interval shrinks to the last bit of a double.
const BISECTIONS: usize = 60;
/// Halvings of one careful step before we give up on it.
const MAX_STEP_HALVINGS: i32 = 30;
/// Careful steps: next to the fold Newton only halves the miss.
const MAX_CAREFUL_STEPS: usize = 60;

impl Lens {
    /// No distortion at all.
    pub const PINHOLE: Self = Self::BrownConrady {
        k1: 0.0,
        k2: 0.0,
        p1: 0.0,
        p2: 0.0,
        k3: 0.0,
    };

    /// The coefficients, in the order in which the variant declares them.
    #[must_use]
    pub fn coefficients(&self) -> Vec<f64> {
        match *self {
            Self::BrownConrady { k1, k2, p1, p2, k3 } => vec![k1, k2, p1, p2, k3],
            Self::Fisheye { k1, k2, k3, k4 } => vec![k1, k2, k3, k4],
        }
    }

    /// Where a point in camera axes appears on the plane at distance one. `None` behind a
    /// Brown-Conrady camera, or past the fold.
    pub(crate) fn distorted_from_camera(&self, point: &Vector3<f64>) -> Option<Vector2<f64>> {
        match *self {
            Self::BrownConrady { .. } => {
                let n = plane_from_camera(point)?;
                self.is_in_field(n).then(|| self.brown_conrady(n).0)
            }
            Self::Fisheye { k1, k2, k3, k4 } => {
                let k = [k1, k2, k3, k4];
                let across = point.x.hypot(point.y);
                if across == 0.0 {
                    return (point.z > 0.0).then_some(Vector2::zeros());
                }
                let theta = across.atan2(point.z);
                rises_until(&fisheye_slope(k), theta * theta)
                    .then(|| point.xy() * (fisheye(theta, k) / across))
            }
        }
    }

    /// [`Self::distorted_from_camera`] with its derivative by the point (2x3).
    pub(crate) fn distorted_and_jacobian(
        &self,
        point: &Vector3<f64>,
    ) -> Option<(Vector2<f64>, Matrix2x3<f64>)> {
        let distorted = self.distorted_from_camera(point)?;
        let jacobian = match *self {
            Self::BrownConrady { .. } => {
                let n = plane_from_camera(point)?;
                let plane_by_point =
                    Matrix2x3::new(1.0, 0.0, -n.x, 0.0, 1.0, -n.y).unscale(point.z);
                self.brown_conrady(n).1 * plane_by_point
            }
            Self::Fisheye { k1, k2, k3, k4 } => fisheye_jacobian(point, [k1, k2, k3, k4]),
        };
        Some((distorted, jacobian))
    }

    /// The ray, of length one, that appears at a place on the plane at distance one. `None`
    /// outside the field that the model describes.
    pub(crate) fn ray_from_distorted(&self, distorted: Vector2<f64>) -> Option<Vector3<f64>> {
        if !(distorted.x.is_finite() && distorted.y.is_finite()) {
            return None;
        }
        match *self {
            Self::BrownConrady { .. } => {
                let n = self.undistort_brown_conrady(distorted)?;
                Some(Vector3::new(n.x, n.y, 1.0).normalize())
            }
            Self::Fisheye { k1, k2, k3, k4 } => {
                let radius = distorted.norm();
                let (sin, cos) = undistort_fisheye(radius, [k1, k2, k3, k4])?.sin_cos();
                let unit = if radius > 0.0 {
                    distorted / radius
                } else {
                    Vector2::zeros()
                };
                Some(Vector3::new(unit.x * sin, unit.y * sin, cos))
            }
        }
    }

    /// Whether the distortion has risen all the way from the axis to `n`, in every direction. False
    /// for anything not finite.
    fn is_in_field(&self, n: Vector2<f64>) -> bool {
        rises_until(&self.brown_conrady_slope(), n.norm_squared())
    }

    /// The least derivative of the distortion at a distance r from the axis, as a polynomial in
    /// r^2 that never exceeds it. That of the radial part is
    /// 1 + 3 k1 r^2 + 5 k2 r^4 + 7 k3 r^6; the tangential part takes away at most
    /// 6 (|p1| + |p2|) r, and r is at most (1 + r^2) / 2. Where this is positive on a whole disc the
    /// derivative is positive definite there and no two points of the disc share an image.
    fn brown_conrady_slope(&self) -> Slope {
        let Self::BrownConrady { k1, k2, p1, p2, k3 } = *self else {
            return [1.0, 0.0, 0.0, 0.0, 0.0];
        };
        let tangential = 3.0 * (p1.abs() + p2.abs());
        [
            1.0 - tangential,
            3.0 * k1 - tangential,
            5.0 * k2,
            7.0 * k3,
            0.0,
        ]
    }

    /// Distorted coordinates and their derivative by the undistorted ones.
    fn brown_conrady(&self, n: Vector2<f64>) -> (Vector2<f64>, Matrix2<f64>) {
        let Self::BrownConrady { k1, k2, p1, p2, k3 } = *self else {
            return (n, Matrix2::identity());
        };
        let (x, y) = (n.x, n.y);
        let r2 = x * x + y * y;
        let radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3));
        let slope = k1 + r2 * (2.0 * k2 + r2 * 3.0 * k3);
        let distorted = Vector2::new(
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        );
        let mixed = 2.0 * x * y * slope + 2.0 * p1 * x + 2.0 * p2 * y;
        let jacobian = Matrix2::new(
            radial + 2.0 * x * x * slope + 2.0 * p1 * y + 6.0 * p2 * x,
            mixed,
            mixed,
            radial + 2.0 * y * y * slope + 6.0 * p1 * y + 2.0 * p2 * x,
        );
        (distorted, jacobian)
    }

    fn undistort_brown_conrady(&self, distorted: Vector2<f64>) -> Option<Vector2<f64>> {
        // Nearly every pixel of nearly every lens converges from its distorted place. Near the
        // fold that start may overshoot into the branch that is turned inside out; there we start
        // from the bracketed radial solution and watch every step.
        self.newton(distorted, distorted)
            .or_else(|| self.careful_newton(distorted, self.radial_start(distorted)?))
    }

    fn newton(&self, distorted: Vector2<f64>, start: Vector2<f64>) -> Option<Vector2<f64>> {
        let mut n = start;
        for _ in 0..MAX_UNDISTORT_STEPS {
            let (seen, jacobian) = self.brown_conrady(n);
            let miss = seen - distorted;
            if miss.norm_squared() < UNDISTORT_TOLERANCE * UNDISTORT_TOLERANCE {
                return self.is_in_field(n).then_some(n);
            }
            if jacobian.determinant() <= 0.0 {
                return None;
            }
            n -= jacobian.try_inverse()? * miss;
        }
        None
    }

    /// Newton with a line search: a step is halved until the miss shrinks inside the field.
    fn careful_newton(&self, distorted: Vector2<f64>, start: Vector2<f64>) -> Option<Vector2<f64>> {
        let mut n = start;
        for _ in 0..MAX_CAREFUL_STEPS {
            let (seen, jacobian) = self.brown_conrady(n);
            let miss = seen - distorted;
            if miss.norm() < UNDISTORT_TOLERANCE {
                return self.is_in_field(n).then_some(n);
            }
            let step = jacobian.try_inverse()? * miss;
            let is_better = |share: f64| {
                let next = n - step * share;
                (self.brown_conrady(next).0 - distorted).norm() < miss.norm()
                    && self.is_in_field(next)
            };
            let shares = (0..MAX_STEP_HALVINGS).map(|halvings| 0.5f64.powi(halvings));
            n -= step * shares.into_iter().find(|share| is_better(*share))?;
        }
        None
    }

    /// The place where the radial part alone would put a point, on the rising branch. `None` when
    /// the point is further out than the lens ever puts one.
    fn radial_start(&self, distorted: Vector2<f64>) -> Option<Vector2<f64>> {
        let Self::BrownConrady { k1, k2, p1, p2, k3 } = *self else {
            return Some(distorted);
        };
        let radius = distorted.norm();
        let fold = first_root(
            self.brown_conrady_slope(),
            MAX_PLANE_RADIUS * MAX_PLANE_RADIUS,
        );
        // Just inside the fold, where the derivative can still be inverted.
        let end = fold.map_or(MAX_PLANE_RADIUS, |s| s.sqrt() * (1.0 - 1e-6));
        let seen = |r: f64| r * polynomial(&[1.0, k1, k2, k3], r * r);
        let most_tangential = 3.0 * (p1.abs() + p2.abs()) * end * end;
        let is_reachable = radius <= seen(end) * (1.0 + 1e-6) + most_tangential;
        (is_reachable && radius > 0.0)
            .then(|| distorted * (rising_root(seen, radius, end) / radius))
    }
}

fn plane_from_camera(point: &Vector3<f64>) -> Option<Vector2<f64>> {
    (point.z > 0.0).then(|| point.xy() / point.z)
}

/// A lens's slope along its radius, as a polynomial in the square of the radius.
type Slope = [f64; 5];

fn fisheye(theta: f64, [k1, k2, k3, k4]: [f64; 4]) -> f64 {
    theta * polynomial(&[1.0, k1, k2, k3, k4], theta * theta)
}

/// Derivative of the fisheye polynomial by theta, as a polynomial in theta^2.
fn fisheye_slope([k1, k2, k3, k4]: [f64; 4]) -> Slope {
    [1.0, 3.0 * k1, 5.0 * k2, 7.0 * k3, 9.0 * k4]
}

fn fisheye_jacobian(point: &Vector3<f64>, k: [f64; 4]) -> Matrix2x3<f64> {
    let across = point.x.hypot(point.y);
    if across == 0.0 {
        // On the axis the lens is a pinhole.
        return Matrix2x3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0).unscale(point.z);
    }
    let theta = across.atan2(point.z);
    let unit = point.xy() / across;
    let theta_by_point = Vector3::new(unit.x * point.z, unit.y * point.z, -across)
        .unscale(point.norm_squared())
        .transpose();
    let slope = polynomial(&fisheye_slope(k), theta * theta);
    let turn = (Matrix2::identity() - unit * unit.transpose()) * (fisheye(theta, k) / across);
    let mut jacobian = unit * theta_by_point * slope;
    let sideways = jacobian.fixed_columns::<2>(0) + turn;
    jacobian.fixed_columns_mut::<2>(0).copy_from(&sideways);
    jacobian
}

fn undistort_fisheye(radius: f64, k: [f64; 4]) -> Option<f64> {
    let slope = fisheye_slope(k);
    let mut theta = radius.min(PI);
    for _ in 0..MAX_UNDISTORT_STEPS {
        let miss = fisheye(theta, k) - radius;
        if miss.abs() < UNDISTORT_TOLERANCE {
            break;
        }
        theta -= miss / polynomial(&slope, theta * theta);
    }
    if is_fisheye_root(theta, radius, k) {
        return Some(theta);
    }
    // Newton left the rising branch or stalled: bracket the root on it.
    let end = first_root(slope, PI * PI).map_or(PI, f64::sqrt);
    let theta = rising_root(|theta| fisheye(theta, k), radius, end);
    is_fisheye_root(theta, radius, k).then_some(theta)
}

fn is_fisheye_root(theta: f64, radius: f64, k: [f64; 4]) -> bool {
    (0.0..=PI).contains(&theta)
        && (fisheye(theta, k) - radius).abs() < UNDISTORT_TOLERANCE
        && rises_until(&fisheye_slope(k), theta * theta)
}

/// Value of c0 + c1 s + c2 s^2 + ...
fn polynomial(coefficients: &[f64], s: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * s + c)
}

/// Whether a slope is positive from the axis up to and including `s`. False for anything not finite.
fn rises_until(slope: &Slope, s: f64) -> bool {
    // The negative terms alone bound the polynomial from below everywhere in between.
    let negative = |sum: f64, c: &f64| (sum + c.min(0.0)) * s;
    let bound = slope.iter().skip(1).rev().fold(0.0, negative);
    let rises_at_the_end = polynomial(slope, s) > 0.0;
    if slope[0] + bound > 0.0 {
        return rises_at_the_end;
    }
    slope[0] > 0.0 && rises_at_the_end && first_root(*slope, s).is_none()
}

/// The first place in (0, end) where a slope falls through zero. Between two neighbouring
/// sign changes of its derivative it does so at most once.
fn first_root(slope: Slope, end: f64) -> Option<f64> {
    let [_, b, c, d, e] = slope;
    let derivative = [b, 2.0 * c, 3.0 * d, 4.0 * e];
    let second = [2.0 * c, 6.0 * d, 12.0 * e];
    let mut turns = [end; 4];
    let mut from = 0.0;
    let mut count = 0;
    for to in quadratic_roots(second, end) {
        if let Some(turn) = sign_change(&derivative, from, to) {
            turns[count] = turn;
            count += 1;
        }
        from = to;
    }
    let mut from = 0.0;
    turns.into_iter().find_map(|to| {
        let root = sign_change(&slope, from, to);
        from = to;
        root
    })
}

/// The real roots of c0 + c1 s + c2 s^2 in (0, end), ascending, filled up with `end`.
fn quadratic_roots([c0, c1, c2]: [f64; 3], end: f64) -> [f64; 3] {
    let discriminant = c1 * c1 - 4.0 * c0 * c2;
    // The form that does not cancel; a root that does not exist comes out as not finite.
    let q = -0.5 * (c1 + c1.signum() * discriminant.sqrt());
    let inside = |root: f64| if root > 0.0 && root < end { root } else { end };
    let (a, b) = (inside(q / c2), inside(c0 / q));
    [a.min(b), a.max(b), end]
}

/// Where a polynomial changes its sign between two places.
fn sign_change(coefficients: &[f64], from: f64, to: f64) -> Option<f64> {
    let is_positive = |s: f64| polynomial(coefficients, s) > 0.0;
    let (mut low, mut high) = (from, to);
    let at_low = is_positive(low);
    if at_low == is_positive(high) {
        return None;
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if at_low == is_positive(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Where a function that rises on [0, end] reaches `value`; `end` when it never does.
fn rising_root(function: impl Fn(f64) -> f64, value: f64, end: f64) -> f64 {
    if function(end) <= value {
        return end;
    }
    let (mut low, mut high) = (0.0, end);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if function(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_roots_of_hand_factored_slopes() {
        let check = |slope: Slope, end: f64, expected: Option<f64>| {
            let found = first_root(slope, end);
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-9, "{slope:?}: {found}");
                }
                (found, expected) => assert_eq!(found, expected, "{slope:?}"),
            }
        };
        check([1.0, 0.0, 0.0, 0.0, 0.0], 10.0, None);
        check([1.0, -0.25, 0.0, 0.0, 0.0], 10.0, Some(4.0));
        check([1.0, -0.25, 0.0, 0.0, 0.0], 3.9, None);
        // (1 - s/2)(1 - 2s)
        check([1.0, -2.5, 1.0, 0.0, 0.0], 10.0, Some(0.5));
        // (1 - s)(1 - s/2)(1 - s/3)
        check([1.0, -11.0 / 6.0, 1.0, -1.0 / 6.0, 0.0], 10.0, Some(1.0));
        // (1 + s)(1 - s/2)(1 - s/3)(1 - s/5): the first root is at 2.
        check([1.0, -1.0 / 30.0, -0.7, 0.3, -1.0 / 30.0], 10.0, Some(2.0));
        // (1 - s/2)^2 + 0.0025 comes close to zero without reaching it.
        check([1.0025, -1.0, 0.25, 0.0, 0.0], 10.0, None);
        // 1 - s^4 / 16
        check([1.0, 0.0, 0.0, 0.0, -0.0625], 10.0, Some(2.0));
    }

    #[test]
    fn the_field_ends_at_the_first_fold_even_if_the_lens_rises_again() {
        let slope = [1.0, -2.5, 1.0, 0.0, 0.0];
        assert!(rises_until(&slope, 0.49));
        assert!(!rises_until(&slope, 0.51));
        assert!(!rises_until(&slope, 3.0));
        assert!(!rises_until(&slope, f64::NAN));
    }
}
