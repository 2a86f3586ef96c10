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
/// Halvings of one Newton step before we give up on it: it is then under the tolerance.
const MAX_STEP_HALVINGS: usize = 40;

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
                let (distorted, jacobian) = self.brown_conrady(n);
                self.is_in_field(n, &jacobian).then_some(distorted)
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

    /// Whether the distortion has kept its orientation and risen all the way from the axis to
    /// `n`. False for anything not finite.
    fn is_in_field(&self, n: Vector2<f64>, jacobian: &Matrix2<f64>) -> bool {
        let Self::BrownConrady { k1, k2, k3, .. } = *self else {
            return true;
        };
        jacobian.determinant() > 0.0
            && rises_until(&brown_conrady_slope([k1, k2, k3]), n.norm_squared())
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
        // Mild lenses converge from the distorted place itself. Near the fold that start may
        // overshoot into the branch that is turned inside out; there we start from the bracketed
        // radial solution.
        self.newton(distorted, distorted)
            .or_else(|| self.newton(distorted, self.radial_start(distorted)))
    }

    /// Newton with a line search: a step is halved until the miss shrinks inside the field.
    fn newton(&self, distorted: Vector2<f64>, start: Vector2<f64>) -> Option<Vector2<f64>> {
        let mut n = start;
        let (mut seen, mut jacobian) = self.brown_conrady(n);
        for _ in 0..MAX_UNDISTORT_STEPS {
            let miss = seen - distorted;
            if miss.norm() < UNDISTORT_TOLERANCE {
                return self.is_in_field(n, &jacobian).then_some(n);
            }
            let mut step = jacobian.try_inverse()? * miss;
            let mut halvings = 0;
            loop {
                (seen, jacobian) = self.brown_conrady(n - step);
                if (seen - distorted).norm() < miss.norm() && self.is_in_field(n - step, &jacobian)
                {
                    break;
                }
                halvings += 1;
                if halvings > MAX_STEP_HALVINGS {
                    return None;
                }
                step *= 0.5;
            }
            n -= step;
        }
        None
    }

    /// The place where the radial part alone would put a point, on the rising branch.
    fn radial_start(&self, distorted: Vector2<f64>) -> Vector2<f64> {
        let Self::BrownConrady { k1, k2, k3, .. } = *self else {
            return distorted;
        };
        let radius = distorted.norm();
        if radius == 0.0 {
            return distorted;
        }
        let slope = brown_conrady_slope([k1, k2, k3]);
        let fold = first_sign_change(&slope, MAX_PLANE_RADIUS * MAX_PLANE_RADIUS);
        // Just inside the fold, where the derivative can still be inverted.
        let end = fold.map_or(MAX_PLANE_RADIUS, |s| s.sqrt() * (1.0 - 1e-6));
        let seen = |r: f64| r * polynomial(&[1.0, k1, k2, k3], r * r);
        distorted * (rising_root(seen, radius, end) / radius)
    }
}

fn plane_from_camera(point: &Vector3<f64>) -> Option<Vector2<f64>> {
    (point.z > 0.0).then(|| point.xy() / point.z)
}

/// Derivative of r (1 + k1 r^2 + k2 r^4 + k3 r^6) by r, as a polynomial in r^2.
fn brown_conrady_slope([k1, k2, k3]: [f64; 3]) -> [f64; 4] {
    [1.0, 3.0 * k1, 5.0 * k2, 7.0 * k3]
}

fn fisheye(theta: f64, [k1, k2, k3, k4]: [f64; 4]) -> f64 {
    theta * polynomial(&[1.0, k1, k2, k3, k4], theta * theta)
}

/// Derivative of the fisheye polynomial by theta, as a polynomial in theta^2.
fn fisheye_slope([k1, k2, k3, k4]: [f64; 4]) -> [f64; 5] {
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
    let end = first_sign_change(&slope, PI * PI).map_or(PI, f64::sqrt);
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

/// Whether a slope polynomial that is 1 at zero stays positive up to and including `s`. False for
/// anything not finite.
fn rises_until(slope: &[f64], s: f64) -> bool {
    // The negative terms alone bound the polynomial from below everywhere in between.
    let bound = slope
        .iter()
        .skip(1)
        .rev()
        .fold(0.0, |sum, &c| (sum + c.min(0.0)) * s);
    if bound > -1.0 {
        return polynomial(slope, s) > 0.0;
    }
    polynomial(slope, s) > 0.0 && first_sign_change(slope, s).is_none()
}

/// The first place in (0, end) where a polynomial changes its sign.
fn first_sign_change(coefficients: &[f64], end: f64) -> Option<f64> {
    sign_changes(coefficients, end).first().copied()
}

/// All places in (0, end) where a polynomial changes its sign, ascending: between two
/// neighbouring sign changes of its derivative there is at most one.
fn sign_changes(coefficients: &[f64], end: f64) -> Vec<f64> {
    if coefficients.len() < 2 {
        return Vec::new();
    }
    let derivative: Vec<f64> = (1u8..)
        .zip(&coefficients[1..])
        .map(|(power, c)| f64::from(power) * c)
        .collect();
    let mut knots = vec![0.0];
    knots.extend(sign_changes(&derivative, end));
    knots.push(end);
    knots
        .windows(2)
        .filter_map(|pair| {
            let (mut low, mut high) = (pair[0], pair[1]);
            let positive_at_low = polynomial(coefficients, low) > 0.0;
            if positive_at_low == (polynomial(coefficients, high) > 0.0) {
                return None;
            }
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (low + high);
                if positive_at_low == (polynomial(coefficients, middle) > 0.0) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            Some(low)
        })
        .collect()
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
    fn sign_changes_of_hand_factored_polynomials() {
        let check = |coefficients: &[f64], expected: &[f64]| {
            let found = sign_changes(coefficients, 10.0);
            assert_eq!(found.len(), expected.len(), "{coefficients:?}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{coefficients:?}");
            }
        };
        check(&[1.0], &[]);
        check(&[1.0, -0.25], &[4.0]);
        // (s-1)(s-2)(s-3) = s^3 - 6 s^2 + 11 s - 6
        check(&[-6.0, 11.0, -6.0, 1.0], &[1.0, 2.0, 3.0]);
        // (s-2)^2 + 0.01 comes close to zero without reaching it.
        check(&[4.01, -4.0, 1.0], &[]);
        // A root beyond the end does not count.
        check(&[-11.0, 1.0], &[]);
    }

    #[test]
    fn the_field_ends_at_the_first_fold_even_if_the_lens_rises_again() {
        // 1 - 2.5 s + s^2 = (1 - s/2)(1 - 2s): falls at 0.5, rises again at 2.
        let slope = [1.0, -2.5, 1.0];
        assert!(rises_until(&slope, 0.49));
        assert!(!rises_until(&slope, 0.51));
        assert!(!rises_until(&slope, 3.0));
        assert!(!rises_until(&slope, f64::NAN));
    }
}
