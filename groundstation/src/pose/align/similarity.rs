//! Least-squares similarity between two point sets.

use calibration::frames::Frame;
use calibration::{Point, Rotation, Similarity};
use nalgebra::{Matrix3, Vector3};

/// The similarity that brings `source` nearest to `target` in the least-squares sense
/// (Umeyama, IEEE TPAMI 13(4), 1991, eq. 40-43), always a proper rotation. `None` with fewer
/// than three points, or when either set has no extent in two directions (a line leaves the
/// rotation about itself open).
#[must_use]
pub fn similarity_from_points<T: Frame, S: Frame>(
    target: &[Point<T>],
    source: &[Point<S>],
) -> Option<Similarity<T, S>> {
    if target.len() != source.len() || target.len() < 3 {
        return None;
    }
    let n = target.len() as f64;
    let mean_target = target.iter().map(|p| p.vector).sum::<Vector3<f64>>() / n;
    let mean_source = source.iter().map(|p| p.vector).sum::<Vector3<f64>>() / n;
    let mut covariance = Matrix3::zeros();
    let mut variance_source = 0.0;
    for (t, s) in target.iter().zip(source) {
        let (t, s) = (t.vector - mean_target, s.vector - mean_source);
        covariance += t * s.transpose();
        variance_source += s.norm_squared();
    }
    covariance /= n;
    variance_source /= n;
    let svd = covariance.svd(true, true);
    let (u, v_t) = (svd.u?, svd.v_t?);
    let singular = svd.singular_values;
    if singular[1] <= singular[0] * 1e-9 || variance_source <= 0.0 {
        return None;
    }
    let mut sign = Vector3::new(1.0, 1.0, 1.0);
    if (u * v_t).determinant() < 0.0 {
        sign.z = -1.0;
    }
    let rotation = u * Matrix3::from_diagonal(&sign) * v_t;
    let scale = singular.dot(&sign) / variance_source;
    let translation = mean_target - rotation * mean_source * scale;
    Similarity::new(scale, Rotation::from_matrix(&rotation), translation)
}
