use super::*;
use crate::frames::{Camera, Enu};
use nalgebra::Unit;
use std::f64::consts::PI;

type CameraFromEnu = Rotation<Camera, Enu>;

#[test]
fn matrices_come_back_also_at_half_turns() {
    let axes = [
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        Vector3::new(1.0, 1.0, 0.0),
        Vector3::new(-1.0, 1.0, 1e-9),
        Vector3::new(0.3, -0.5, 0.8),
    ];
    let angles = [
        0.0,
        1e-12,
        1e-6,
        1.0,
        PI - 1e-3,
        PI - 1e-9,
        PI,
        PI + 1e-9,
        -PI,
        -2.0,
    ];
    for axis in axes {
        for angle in angles {
            let quaternion = UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis), angle);
            let matrix = *quaternion.to_rotation_matrix().matrix();
            let back = CameraFromEnu::from_matrix(&matrix);
            let off = (back.matrix() - matrix).norm();
            assert!(off < 1e-14, "{axis} {angle}: {off}");
        }
    }
}

#[test]
fn a_matrix_that_is_slightly_off_gives_the_nearest_rotation() {
    let rotation =
        CameraFromEnu::from_quaternion(UnitQuaternion::from_euler_angles(0.1, 2.0, -3.0));
    // A symmetric factor is what the polar decomposition takes away again.
    let stretch = Matrix3::new(1.01, 0.002, 0.0, 0.002, 0.99, 0.001, 0.0, 0.001, 1.005);
    let back = CameraFromEnu::from_matrix(&(rotation.matrix() * stretch));
    assert!(
        back.angle_to(&rotation) < 1e-12,
        "{}",
        back.angle_to(&rotation)
    );
}

#[test]
fn what_is_no_rotation_is_refused() {
    let turned = *UnitQuaternion::from_euler_angles(0.1, 2.0, -3.0)
        .to_rotation_matrix()
        .matrix();
    assert!(CameraFromEnu::try_from_matrix(&turned).is_some());
    assert!(CameraFromEnu::try_from_matrix(&(turned * (1.0 + 1e-5))).is_some());
    let refused = [
        Matrix3::zeros(),
        -turned,
        turned * 1.1,
        turned * f64::NAN,
        turned * f64::INFINITY,
        Matrix3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    ];
    for matrix in refused {
        assert_eq!(CameraFromEnu::try_from_matrix(&matrix), None, "{matrix}");
    }
}

#[test]
fn transforms_survive_toml_and_refuse_what_is_not_finite() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stored {
        rigid: Rigid<Camera, Enu>,
        rotation: CameraFromEnu,
        similarity: Similarity<Enu, crate::frames::Solution>,
    }
    let turned = UnitQuaternion::from_euler_angles(0.1, 2.0, -3.0);
    let stored = Stored {
        rigid: Rigid::new(
            Rotation::from_quaternion(turned),
            Vector3::new(1.0, -2.0, 0.1),
        ),
        rotation: Rotation::from_quaternion(turned),
        similarity: Similarity::new(0.7, Rotation::from_quaternion(turned), Vector3::zeros())
            .unwrap(),
    };
    let text = toml::to_string(&stored).unwrap();
    let back: Stored = toml::from_str(&text).unwrap();
    assert!(back.rigid.rotation.angle_to(&stored.rigid.rotation) < 1e-15);
    assert!(back.rotation.angle_to(&stored.rotation) < 1e-15);
    assert_eq!(back.rigid.translation, stored.rigid.translation);
    assert_eq!(back.similarity.scale(), 0.7);
    for (good, bad) in [
        ("-2.0", "nan"),
        ("-2.0", "inf"),
        ("scale = 0.7", "scale = -1.0"),
        ("scale = 0.7", "scale = nan"),
    ] {
        assert!(text.contains(good), "{text}");
        let broken = text.replacen(good, bad, 1);
        assert!(toml::from_str::<Stored>(&broken).is_err(), "{bad}");
    }
}
