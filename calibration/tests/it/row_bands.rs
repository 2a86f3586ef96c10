//! Sample distances by bands of rows.

use crate::{four_thirds_camera, view};
use calibration::camera::CameraModel;
use calibration::ground::ViewLimits;
use calibration::{Metres, Radians};

fn everything() -> ViewLimits {
    ViewLimits::down_from(Radians::from_degrees(0.5))
}

#[test]
fn bands_cover_all_rows_once() {
    let view = view(four_thirds_camera(), [0.0, 0.0, 60.0], [0.0, -45.0, 0.0]);
    for (band, count) in [(0, 3956), (1, 3956), (500, 8), (3956, 1), (u32::MAX, 1)] {
        let rows = view.rows(&everything(), band);
        assert_eq!(rows.len(), count, "{band}");
        assert_eq!(rows[0].top, 0);
        assert_eq!(rows[count - 1].bottom, 3956);
        assert!(rows.windows(2).all(|pair| pair[0].bottom == pair[1].top));
    }
}

#[test]
fn an_oblique_picture_gets_finer_towards_the_bottom() {
    let view = view(four_thirds_camera(), [0.0, 0.0, 60.0], [10.0, -45.0, 0.0]);
    let rows = view.rows(&everything(), 500);
    let grounds: Vec<_> = rows.iter().map(|row| row.ground.unwrap()).collect();
    for pair in grounds.windows(2) {
        // Without roll a row has one sample distance, so bands only touch.
        let gap = pair[0].finest_across.get() - pair[1].coarsest_across.get();
        assert!(gap.abs() < 0.02 * pair[1].coarsest_across.get(), "{pair:?}");
        assert!(pair[0].coarsest_along > pair[1].coarsest_along);
    }
    // The planning table's 1.48 and 4.8 cm for the edges' middles; the corners are 20 % off.
    let (top, bottom) = (grounds[0], grounds[7]);
    let near = bottom.finest_across.get() * 100.0;
    assert!((1.2..1.49).contains(&near), "{near}");
    let far = top.coarsest_across.get() * 100.0;
    assert!((4.7..5.8).contains(&far), "{far}");
    assert!(grounds.iter().all(|ground| ground.share_within == 1.0));
}

#[test]
fn straight_down_every_band_is_alike() {
    let camera = CameraModel::pinhole(4000, 3000, 2000.0);
    let view = view(camera, [0.0, 0.0, 60.0], [10.0, -90.0, 0.0]);
    for row in view.rows(&everything(), 600) {
        let ground = row.ground.unwrap();
        for value in [
            ground.finest_across,
            ground.coarsest_across,
            ground.finest_along,
            ground.coarsest_along,
        ] {
            assert!((value.get() - 0.03).abs() < 1e-12, "{ground:?}");
        }
    }
}

#[test]
fn roll_widens_the_range_of_a_band() {
    let spread = |roll: f64| {
        let view = view(four_thirds_camera(), [0.0, 0.0, 60.0], [0.0, -45.0, roll]);
        let ground = view.rows(&everything(), 400)[5].ground.unwrap();
        ground.coarsest_across.get() / ground.finest_across.get()
    };
    let level = spread(0.0);
    assert!((1.05..1.25).contains(&level), "{level}");
    assert!(spread(20.0) > 1.3 * level, "{}", spread(20.0));
    assert!((spread(20.0) / spread(-20.0) - 1.0).abs() < 1e-9);
}

#[test]
fn bands_beyond_the_limits_have_no_ground() {
    let view = view(four_thirds_camera(), [0.0, 0.0, 60.0], [0.0, -15.0, 0.0]);
    let limits = ViewLimits {
        max_range: Some(Metres(150.0)),
        ..everything()
    };
    let rows = view.rows(&limits, 250);
    assert!(rows[0].ground.is_none());
    assert!(rows[15].ground.is_some());
    let partly = rows.iter().filter_map(|row| row.ground);
    assert!(partly.clone().any(|ground| ground.share_within < 1.0));
    // Nothing within 150 m is coarser across than its slant distance allows.
    let coarsest = 150f64.hypot(60.0) / view.camera().fx;
    assert!(
        partly
            .into_iter()
            .all(|g| g.coarsest_across.get() <= coarsest * 1.001)
    );
}
