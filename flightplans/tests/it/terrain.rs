//! Plans over terrain: made-up tiles whose heights are known everywhere.

use crate::common::{camera, rectangle, small_spec};
use flightplans::plan::Reason;
use flightplans::{PlanError, Relief, Request, Site, plan};
use std::io::Cursor;
use std::path::Path;
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

const SIDE: usize = 1201;

/// A tile of 3 seconds that rises eastwards by 10 m every 0.001 degrees (12.7 %).
fn slope_tile(folder: &Path, name: &str, void_row: Option<usize>) -> std::path::PathBuf {
    let mut bytes = Vec::with_capacity(SIDE * SIDE * 2);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let height = (column as f64 / 1200.0 * 10_000.0).round() as i16;
            let is_void = void_row.is_some_and(|void| row.abs_diff(void) <= 1);
            let height = if is_void { i16::MIN } else { height };
            bytes.extend(height.to_be_bytes());
        }
    }
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn plan_over(site: &Site, relief: &Relief) -> flightplans::FlightPlan {
    plan(&Request {
        site,
        profile: camera("dji-m3e"),
        spec: &small_spec(),
        relief,
        repeat: None,
        at: None,
        progress: None,
    })
    .unwrap()
}

#[test]
fn heights_are_above_the_ground_under_the_aim_point() {
    let folder = tempfile::tempdir().unwrap();
    slope_tile(folder.path(), "N45E009.hgt", None);
    let site = rectangle(9.5, 45.5);
    let relief = Relief::load(&[folder.path().to_owned()], &site).unwrap();
    let plan = plan_over(&site, &relief);
    assert!(plan.coverage.is_complete, "{:?}", plan.warnings);
    assert_eq!(plan.made_from.terrain, ["N45E009.hgt"]);
    assert!(!plan.assumptions.iter().any(|a| a.contains("flat")));
    let home_m = plan.site.home_height_above_sea_level_m.unwrap();
    let home_longitude = plan.site.home.longitude_deg;
    assert!(
        (home_m - (home_longitude - 9.0) * 10_000.0).abs() < 1.0,
        "{home_m}"
    );
    let mut lowest = f64::INFINITY;
    for cell in plan.planned() {
        let stand_off_m = cell.height_m / cell.pitch_down_deg.to_radians().tan();
        let yaw = cell.pose.yaw_deg.to_radians();
        let aim_longitude = cell.pose.longitude_deg
            + stand_off_m * yaw.sin() / (111_195.0 * 45.5f64.to_radians().cos());
        let ground_m = (aim_longitude - home_longitude) * 10_000.0;
        assert!(
            (cell.pose.ground_above_takeoff_m - ground_m).abs() < 0.8,
            "{cell:?}"
        );
        let height = cell.pose.ground_above_takeoff_m + cell.height_m;
        assert!((cell.pose.height_above_takeoff_m - height).abs() < 1e-6);
        lowest = lowest.min(cell.pose.height_above_takeoff_m);
    }
    assert!(lowest < 58.0, "{lowest}");
}

#[test]
fn voids_and_missing_tiles_are_named() {
    let folder = tempfile::tempdir().unwrap();
    // The tile's rows from latitude 45.4992 on are void; the site ends there.
    let path = slope_tile(folder.path(), "N45E009.hgt", Some(599));
    let site = rectangle(9.5, 45.4985);
    let relief = Relief::load(&[path], &site).unwrap();
    let plan = plan_over(&site, &relief);
    let unknown = plan
        .cells
        .iter()
        .filter(|cell| cell.reasons.contains(&Reason::TerrainUnknown));
    assert!(unknown.count() > 0);
    let elsewhere = rectangle(10.5, 45.5);
    let error = Relief::load(&[folder.path().to_owned()], &elsewhere).unwrap_err();
    assert!(error.to_string().contains("N45E009.hgt"), "{error}");
    let named = folder.path().join("tile.hgt");
    std::fs::copy(folder.path().join("N45E009.hgt"), &named).unwrap();
    let error = Relief::load(&[named], &site).unwrap_err();
    assert!(error.to_string().contains("N45E009.hgt"), "{error}");
    std::fs::write(folder.path().join("N46E009.hgt"), [0; 10]).unwrap();
    let error = Relief::load(&[folder.path().join("N46E009.hgt")], &site).unwrap_err();
    assert!(matches!(error, PlanError::Malformed { .. }) && error.to_string().contains("10 bytes"));
}

/// A GeoTIFF in degrees of the same slope, of pixels that are areas.
#[test]
fn geotiff_is_read_like_srtm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slope.tif");
    let (columns, rows, step) = (120u32, 100u32, 0.0001);
    let (west, north) = (9.496, 45.505);
    let heights: Vec<f32> = (0..rows * columns)
        .map(|i| ((west - 9.0 + (f64::from(i % columns) + 0.5) * step) * 10_000.0) as f32)
        .collect();
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    let mut image = encoder
        .new_image::<colortype::Gray32Float>(columns, rows)
        .unwrap();
    let tags = image.encoder();
    tags.write_tag(Tag::ModelPixelScaleTag, &[step, step, 0.0][..])
        .unwrap();
    tags.write_tag(
        Tag::ModelTiepointTag,
        &[0.0, 0.0, 0.0, west, north, 0.0][..],
    )
    .unwrap();
    tags.write_tag(
        Tag::GeoKeyDirectoryTag,
        &[1u16, 1, 0, 2, 1024, 0, 1, 2, 1025, 0, 1, 1][..],
    )
    .unwrap();
    image.write_data(&heights).unwrap();
    std::fs::write(&path, file.into_inner()).unwrap();
    let site = rectangle(9.5, 45.5);
    let from_tiff = Relief::load(&[path], &site).unwrap();
    slope_tile(folder.path(), "N45E009.hgt", None);
    let from_hgt = Relief::load(&[folder.path().join("N45E009.hgt")], &site).unwrap();
    for (east, north) in [(0.0, 0.0), (50.0, 30.0), (-120.0, 77.0)] {
        let at = nalgebra::Vector2::new(east, north);
        let (a, b) = (
            from_tiff.above_home(&site, &at),
            from_hgt.above_home(&site, &at),
        );
        assert!((a.unwrap() - b.unwrap()).abs() < 0.6, "{at}: {a:?} {b:?}");
    }
    let far = nalgebra::Vector2::new(3000.0, 0.0);
    assert_eq!(from_tiff.above_home(&site, &far), None);
}
