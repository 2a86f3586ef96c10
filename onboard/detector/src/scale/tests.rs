use super::*;

const INPUT: (u32, u32) = (1024, 1024);

/// Looking north with the given pitch (0 is level, -90 straight down).
fn view(pitch_deg: f64, height: f64, camera: CameraModel) -> ViewGeometry {
    // Camera axes in ENU: x east; z (forward) north tilted down; y completes the frame.
    let pitch = pitch_deg.to_radians();
    let forward = Vector3::new(0.0, pitch.cos(), pitch.sin());
    let right = Vector3::x();
    let down = forward.cross(&right);
    let matrix =
        nalgebra::Matrix3::from_rows(&[right.transpose(), down.transpose(), forward.transpose()]);
    ViewGeometry {
        camera,
        camera_from_enu: Rotation::from_matrix(&matrix),
        height_above_ground: Metres(height),
    }
}

#[test]
fn a_nadir_photo_is_one_level() {
    let camera = CameraModel::pinhole(4000, 3000, 3000.0);
    let range = CarRange::default();
    let plan = plan(
        (4000, 3000),
        Some(&view(-90.0, 60.0, camera)),
        ScaleChoice::Auto,
        &range,
        INPUT,
    )
    .unwrap();
    assert_eq!(plan.levels.len(), 1);
    let level = plan.levels[0];
    assert_eq!(level.region, whole((4000, 3000)));
    // 4.5 m at 60 m with 3000 px: 225 px, brought to the best size.
    assert!(
        (level.factor.0 - range.best_px / 225.0).abs() < 1e-3,
        "{level:?}"
    );
    assert!(plan.skipped_share.abs() < 1e-12);
}

#[test]
fn an_oblique_photo_has_bands_and_no_sky() {
    let camera = CameraModel::pinhole(4000, 3000, 3000.0);
    let view = view(-20.0, 60.0, camera);
    let range = CarRange::default();
    let plan = plan((4000, 3000), Some(&view), ScaleChoice::Auto, &range, INPUT).unwrap();
    assert!(plan.levels.len() >= 3, "{plan:?}");
    assert!(
        plan.skipped_share > 0.05 && plan.skipped_share < 0.35,
        "{plan:?}"
    );
    // Every place where a car could be seen is in a band that shows it within the model's range.
    for y in (0..3000).step_by(50) {
        for x in (0..4000).step_by(200) {
            let pixel = Pixel::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
            let Some(car) = view.car_px(pixel).filter(|&car| car >= 10.0) else {
                continue;
            };
            let good = plan.levels.iter().any(|level| {
                let Keep::CarsBetween {
                    shortest_px,
                    longest_px,
                } = level.keep
                else {
                    return false;
                };
                let seen = car * level.factor.0;
                let wanted = range.shortest_px;
                (shortest_px..=longest_px).contains(&car)
                    && seen >= wanted
                    && seen <= range.longest_px
                    && pixel.x >= level.region.x1_px
                    && pixel.x <= level.region.x2_px
                    && pixel.y >= level.region.y1_px
                    && pixel.y <= level.region.y2_px
            });
            assert!(good, "{pixel:?} {car}");
        }
    }
}

#[test]
fn car_length_agrees_with_hand_computation() {
    let camera = CameraModel::pinhole(800, 600, 700.0);
    let middle = Pixel::new(400.0, 300.0);
    let nadir = view(-90.0, 50.0, camera).car_px(middle).unwrap();
    assert!((nadir - 4.5 * 700.0 / 50.0).abs() < 1e-9);
    // At 30 degrees down the optical axis is twice as long.
    let oblique = view(-30.0, 50.0, camera).car_px(middle).unwrap();
    assert!((oblique - 4.5 * 700.0 / 100.0).abs() < 1e-9);
    assert!(
        view(0.0, 50.0, camera)
            .car_px(Pixel::new(400.0, 100.0))
            .is_none()
    );
}

#[test]
fn without_a_view_sizes_overlap_down_to_a_few_cars() {
    let range = CarRange::default();
    let plan = plan((4000, 3000), None, ScaleChoice::Auto, &range, INPUT).unwrap();
    assert_eq!(plan.basis, ScaleBasis::Pyramid);
    assert!(plan.levels.len() >= 3);
    // A hundredth of the longer side is the smallest that is looked for.
    for car_px in (41..400).map(f64::from) {
        let found = plan.levels.iter().any(|level| {
            let seen = car_px * level.factor.0;
            matches!(level.keep, Keep::LengthBetween { shortest_px, longest_px }
                if (shortest_px..=longest_px).contains(&seen))
                && (range.shortest_px..=range.longest_px).contains(&seen)
        });
        assert!(found, "{car_px}");
    }
}

#[test]
fn another_size_and_a_mad_factor_are_refused() {
    let range = CarRange::default();
    let camera = CameraModel::pinhole(800, 600, 700.0);
    let view = view(-90.0, 50.0, camera);
    assert!(plan((801, 600), Some(&view), ScaleChoice::Auto, &range, INPUT).is_err());
    for factor in [0.0, -1.0, f64::NAN, 100.0] {
        assert!(plan((800, 600), None, ScaleChoice::Factor(factor), &range, INPUT).is_err());
    }
}
