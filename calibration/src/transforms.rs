//! Rotations, rigid transforms and similarities that say which frames they join.

use crate::frames::{Direction, Frame, Point};
use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// How far the columns of a matrix from outside may be from orthonormal: files with four digits
/// pass.
const MAX_ORTHOGONALITY_ERROR: f64 = 1e-3;
/// Newton steps towards the nearest orthogonal matrix; each doubles the digits.
const ORTHOGONAL_STEPS: usize = 8;

/// `target_from_source` rotation.
#[derive(Clone, Copy, PartialEq)]
pub struct Rotation<Target: Frame, Source: Frame> {
    /// The rotation as a unit quaternion.
    pub quaternion: UnitQuaternion<f64>,
    frames: PhantomData<(Target, Source)>,
}

impl<T: Frame, S: Frame> Rotation<T, S> {
    /// Axes of both frames coincide.
    #[must_use]
    pub fn identity() -> Self {
        Self::from_quaternion(UnitQuaternion::identity())
    }

    /// From a unit quaternion that turns source components into target components.
    #[must_use]
    pub fn from_quaternion(quaternion: UnitQuaternion<f64>) -> Self {
        Self {
            quaternion,
            frames: PhantomData,
        }
    }

    /// From a rotation matrix; the nearest rotation when it is slightly off. For numbers from
    /// outside, which may be no rotation at all, see [`Self::try_from_matrix`].
    #[must_use]
    pub fn from_matrix(matrix: &Matrix3<f64>) -> Self {
        let rotation = Rotation3::from_matrix_unchecked(nearest_orthogonal(matrix));
        Self::from_quaternion(UnitQuaternion::from_rotation_matrix(&rotation))
    }

    /// From a matrix that someone says is a rotation: `None` when it mirrors, is not finite, or
    /// when the lengths and products of its columns are off by more than 1e-3.
    #[must_use]
    pub fn try_from_matrix(matrix: &Matrix3<f64>) -> Option<Self> {
        let off = (matrix.transpose() * matrix - Matrix3::identity()).amax();
        // Written so that anything not finite fails.
        (off <= MAX_ORTHOGONALITY_ERROR && matrix.determinant() > 0.0)
            .then(|| Self::from_matrix(matrix))
    }

    /// The 3x3 matrix: target components = matrix * source components.
    #[must_use]
    pub fn matrix(&self) -> Matrix3<f64> {
        *self.quaternion.to_rotation_matrix().matrix()
    }

    /// `source_from_target`.
    #[must_use]
    pub fn inverse(&self) -> Rotation<S, T> {
        Rotation::from_quaternion(self.quaternion.inverse())
    }

    /// The angle between two rotations, radians in [0, pi].
    #[must_use]
    pub fn angle_to(&self, other: &Self) -> f64 {
        self.quaternion.angle_to(&other.quaternion)
    }
}

impl<T: Frame, M: Frame, S: Frame> std::ops::Mul<Rotation<M, S>> for Rotation<T, M> {
    type Output = Rotation<T, S>;
    fn mul(self, right: Rotation<M, S>) -> Rotation<T, S> {
        Rotation::from_quaternion(self.quaternion * right.quaternion)
    }
}

impl<T: Frame, S: Frame> std::ops::Mul<Direction<S>> for Rotation<T, S> {
    type Output = Direction<T>;
    fn mul(self, direction: Direction<S>) -> Direction<T> {
        Direction::from_vector(self.quaternion * direction.vector)
    }
}

/// `target_from_source` rigid transform: `target = rotation * source + translation`.
#[derive(Clone, Copy, PartialEq)]
pub struct Rigid<Target: Frame, Source: Frame> {
    /// Rotation part.
    pub rotation: Rotation<Target, Source>,
    /// The source's origin in the target frame, metres.
    pub translation: Vector3<f64>,
}

impl<T: Frame, S: Frame> Rigid<T, S> {
    /// From its parts.
    #[must_use]
    pub fn new(rotation: Rotation<T, S>, translation: Vector3<f64>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// Frames coincide.
    #[must_use]
    pub fn identity() -> Self {
        Self::new(Rotation::identity(), Vector3::zeros())
    }

    /// From the orientation and where the *target's* origin lies in the source frame: for
    /// `camera_from_enu` that is the camera's centre.
    #[must_use]
    pub fn from_centre(rotation: Rotation<T, S>, centre_in_source: Point<S>) -> Self {
        Self::new(rotation, -(rotation.quaternion * centre_in_source.vector))
    }

    /// `source_from_target`.
    #[must_use]
    pub fn inverse(&self) -> Rigid<S, T> {
        let rotation = self.rotation.inverse();
        Rigid::new(rotation, -(rotation.quaternion * self.translation))
    }

    /// Where the target's origin lies in the source frame (the camera's centre).
    #[must_use]
    pub fn centre(&self) -> Point<S> {
        Point::from_vector(-(self.rotation.quaternion.inverse() * self.translation))
    }
}

impl<T: Frame, M: Frame, S: Frame> std::ops::Mul<Rigid<M, S>> for Rigid<T, M> {
    type Output = Rigid<T, S>;
    fn mul(self, right: Rigid<M, S>) -> Rigid<T, S> {
        Rigid::new(
            self.rotation * right.rotation,
            self.rotation.quaternion * right.translation + self.translation,
        )
    }
}

impl<T: Frame, S: Frame> std::ops::Mul<Point<S>> for Rigid<T, S> {
    type Output = Point<T>;
    fn mul(self, point: Point<S>) -> Point<T> {
        Point::from_vector(self.rotation.quaternion * point.vector + self.translation)
    }
}

impl<T: Frame, S: Frame> std::ops::Mul<Direction<S>> for Rigid<T, S> {
    type Output = Direction<T>;
    fn mul(self, direction: Direction<S>) -> Direction<T> {
        self.rotation * direction
    }
}

/// `target_from_source` similarity: `target = scale * rotation * source + translation`.
#[derive(Clone, Copy, PartialEq)]
pub struct Similarity<Target: Frame, Source: Frame> {
    scale: f64,
    /// Rotation part.
    pub rotation: Rotation<Target, Source>,
    /// The source's origin in the target frame, metres.
    pub translation: Vector3<f64>,
}

impl<T: Frame, S: Frame> Similarity<T, S> {
    /// From its parts; `None` unless the scale is finite and positive.
    #[must_use]
    pub fn new(scale: f64, rotation: Rotation<T, S>, translation: Vector3<f64>) -> Option<Self> {
        (scale.is_finite() && scale > 0.0).then_some(Self {
            scale,
            rotation,
            translation,
        })
    }

    /// Target metres per source unit, always positive.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// `source_from_target`.
    #[must_use]
    pub fn inverse(&self) -> Similarity<S, T> {
        let rotation = self.rotation.inverse();
        let scale = 1.0 / self.scale;
        Similarity {
            scale,
            rotation,
            translation: -(rotation.quaternion * self.translation) * scale,
        }
    }

    /// The pose, in the target frame, of something whose pose is known in the source frame:
    /// `camera_from_target` for a given `camera_from_source`. The camera's own axes keep their
    /// metric scale; its centre and orientation move.
    #[must_use]
    pub fn move_pose<C: Frame>(&self, camera_from_source: &Rigid<C, S>) -> Rigid<C, T> {
        let centre = *self * camera_from_source.centre();
        Rigid::from_centre(
            camera_from_source.rotation * self.rotation.inverse(),
            centre,
        )
    }
}

impl<T: Frame, M: Frame, S: Frame> std::ops::Mul<Similarity<M, S>> for Similarity<T, M> {
    type Output = Similarity<T, S>;
    fn mul(self, right: Similarity<M, S>) -> Similarity<T, S> {
        Similarity {
            scale: self.scale * right.scale,
            rotation: self.rotation * right.rotation,
            translation: self.rotation.quaternion * right.translation * self.scale
                + self.translation,
        }
    }
}

impl<T: Frame, S: Frame> std::ops::Mul<Point<S>> for Similarity<T, S> {
    type Output = Point<T>;
    fn mul(self, point: Point<S>) -> Point<T> {
        Point::from_vector(self.rotation.quaternion * point.vector * self.scale + self.translation)
    }
}

impl<T: Frame, S: Frame> fmt::Debug for Rotation<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_from_{}({})", T::NAME, S::NAME, self.quaternion)
    }
}

impl<T: Frame, S: Frame> fmt::Debug for Rigid<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}_from_{}({}, {:?})",
            T::NAME,
            S::NAME,
            self.rotation.quaternion,
            self.translation.as_slice()
        )
    }
}

impl<T: Frame, S: Frame> fmt::Debug for Similarity<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}_from_{}({} * {}, {:?})",
            T::NAME,
            S::NAME,
            self.scale,
            self.rotation.quaternion,
            self.translation.as_slice()
        )
    }
}

/// The orthogonal factor of the polar decomposition (Higham 1986, Newton's iteration): the nearest
/// orthogonal matrix. A singular matrix is left as it is.
fn nearest_orthogonal(matrix: &Matrix3<f64>) -> Matrix3<f64> {
    let mut nearest = *matrix;
    for _ in 0..ORTHOGONAL_STEPS {
        let Some(inverse) = nearest.try_inverse() else {
            break;
        };
        let next = (nearest + inverse.transpose()) * 0.5;
        let moved = (next - nearest).amax();
        nearest = next;
        if moved < f64::EPSILON {
            break;
        }
    }
    nearest
}

/// In files: `quaternion` as [w, x, y, z] and `translation` as [x, y, z] metres.
#[derive(Serialize, Deserialize)]
struct RigidFile {
    quaternion_wxyz: [f64; 4],
    translation_m: [f64; 3],
}

/// In files: as [`RigidFile`], with target metres per source unit.
#[derive(Serialize, Deserialize)]
struct SimilarityFile {
    scale: f64,
    quaternion_wxyz: [f64; 4],
    translation_m: [f64; 3],
}

fn wxyz(quaternion: &UnitQuaternion<f64>) -> [f64; 4] {
    [quaternion.w, quaternion.i, quaternion.j, quaternion.k]
}

fn rotation_from_wxyz<T: Frame, S: Frame, E: serde::de::Error>(
    [w, x, y, z]: [f64; 4],
) -> Result<Rotation<T, S>, E> {
    let quaternion = Quaternion::new(w, x, y, z);
    let length = quaternion.norm();
    if !(length.is_finite() && length > 1e-12) {
        return Err(E::custom("quaternion_wxyz has no length"));
    }
    Ok(Rotation::from_quaternion(UnitQuaternion::new_normalize(
        quaternion,
    )))
}

fn finite_translation<E: serde::de::Error>(translation_m: [f64; 3]) -> Result<Vector3<f64>, E> {
    if translation_m.iter().all(|value| value.is_finite()) {
        Ok(Vector3::from(translation_m))
    } else {
        Err(E::custom("translation_m is not finite"))
    }
}

impl<T: Frame, S: Frame> Serialize for Rotation<T, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        wxyz(&self.quaternion).serialize(serializer)
    }
}

impl<'de, T: Frame, S: Frame> Deserialize<'de> for Rotation<T, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        rotation_from_wxyz(<[f64; 4]>::deserialize(deserializer)?)
    }
}

impl<T: Frame, S: Frame> Serialize for Similarity<T, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        SimilarityFile {
            scale: self.scale,
            quaternion_wxyz: wxyz(&self.rotation.quaternion),
            translation_m: self.translation.into(),
        }
        .serialize(serializer)
    }
}

impl<'de, T: Frame, S: Frame> Deserialize<'de> for Similarity<T, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = SimilarityFile::deserialize(deserializer)?;
        let rotation = rotation_from_wxyz(file.quaternion_wxyz)?;
        Self::new(
            file.scale,
            rotation,
            finite_translation(file.translation_m)?,
        )
        .ok_or_else(|| serde::de::Error::custom("scale is not finite and positive"))
    }
}

impl<T: Frame, S: Frame> Serialize for Rigid<T, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        RigidFile {
            quaternion_wxyz: wxyz(&self.rotation.quaternion),
            translation_m: self.translation.into(),
        }
        .serialize(serializer)
    }
}

impl<'de, T: Frame, S: Frame> Deserialize<'de> for Rigid<T, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = RigidFile::deserialize(deserializer)?;
        Ok(Self::new(
            rotation_from_wxyz(file.quaternion_wxyz)?,
            finite_translation(file.translation_m)?,
        ))
    }
}

#[cfg(test)]
mod tests;
