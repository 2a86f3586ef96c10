//! The table of known cameras (`data/cameras.toml`): sensor widths, each with its source.

use serde::Deserialize;
use std::sync::LazyLock;

/// One camera, or one lens of a camera with several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownCamera {
    make: String,
    models: Vec<String>,
    focal_mm: Option<[f64; 2]>,
    sensor_width_mm: f64,
    native_px: [u32; 2],
    pub(super) sigma_percent: f64,
    #[serde(default)]
    pub(super) thermal: bool,
    pub(super) source: String,
}

impl KnownCamera {
    /// The focal length in pixels of a picture of that size. A picture that has one native side in
    /// full is cut out of the native one (other aspect ratio); else it is scaled.
    pub(super) fn focal_px(&self, focal_mm: f64, size_px: [u32; 2]) -> f64 {
        let [width, height] = self.native_px.map(f64::from);
        let scale = (f64::from(size_px[0]) / width).max(f64::from(size_px[1]) / height);
        focal_mm / self.sensor_width_mm * width * scale
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    camera: Vec<KnownCamera>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../data/cameras.toml"))
        .expect("the embedded table is parsed by a test")
});

/// The camera of that make and model whose lens has that focal length in millimetres. A row that
/// names a range of focal lengths needs one.
pub(super) fn known_camera(
    make: &str,
    model: &str,
    focal_mm: Option<f64>,
) -> Option<&'static KnownCamera> {
    let (make, model) = (key(make), key(model));
    TABLE.camera.iter().find(|row| {
        key(&row.make) == make
            && row.models.iter().any(|known| key(known) == model)
            && row
                .focal_mm
                .is_none_or(|[from, to]| focal_mm.is_some_and(|focal| (from..=to).contains(&focal)))
    })
}

fn key(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_sensible_and_sourced() {
        assert!((30..=80).contains(&TABLE.camera.len()));
        for row in &TABLE.camera {
            assert!((1.0..60.0).contains(&row.sensor_width_mm), "{row:?}");
            assert!((2.5..=6.0).contains(&row.sigma_percent), "{row:?}");
            assert!(!row.source.is_empty() && !row.models.is_empty(), "{row:?}");
            assert!(row.focal_mm.is_none_or(|[from, to]| from < to), "{row:?}");
            assert!(row.native_px[0] >= row.native_px[1], "{row:?}");
        }
    }

    #[test]
    fn cut_pictures_keep_the_focal_length_and_scaled_ones_do_not() {
        let row = known_camera("DJI", "FC6310", None).unwrap();
        let native = row.focal_px(8.8, [5472, 3648]);
        assert!((native - 3667.5).abs() < 1.0, "{native}");
        assert_eq!(row.focal_px(8.8, [4864, 3648]), native, "4:3");
        assert_eq!(row.focal_px(8.8, [5472, 3078]), native, "16:9");
        let half = row.focal_px(8.8, [2736, 1824]);
        assert!((half * 2.0 - native).abs() < 1e-9);
    }

    #[test]
    fn cameras_are_told_by_model_and_lens() {
        let width = |make, model, focal| {
            known_camera(make, model, focal).map(|row| (row.sensor_width_mm, row.thermal))
        };
        for (make, model, focal) in [
            ("DJI", "FC300S", 3.61),
            ("DJI", "FC6310", 8.8),
            ("DJI", "FC6310S", 8.8),
            ("DJI", "FC220", 4.73),
            ("DJI", "FC330", 3.61),
            ("Hasselblad", "L1D-20c", 10.26),
            ("DJI", "FC3170", 4.5),
            ("DJI", "FC3582", 6.7),
            ("DJI", "FC7303", 4.5),
            ("Hasselblad", "L2D-20c", 12.29),
            ("DJI", "M3E", 12.29),
            ("DJI", "FC6360", 5.74),
            ("DJI", "ZenmuseP1", 35.0),
            ("DJI", "ZH20", 4.5),
            ("DJI", "ZH20T", 4.5),
            ("DJI", "M30T", 4.5),
            ("Autel Robotics", "XT701", 4.74),
            ("Autel Robotics", "XT709", 4.7),
            ("Skydio", "2", 3.7),
            ("Parrot", "Anafi", 4.04),
        ] {
            let found = width(make, model, Some(focal));
            assert!(
                matches!(found, Some((_, false))),
                "{make} {model}: {found:?}"
            );
        }
        assert_eq!(width("dji", " fc6310 ", None), Some((13.13, false)));
        assert_eq!(width("DJI", "ZH20T", Some(13.5)), Some((7.68, true)));
        assert_eq!(width("DJI", "M30T", None), None, "which lens?");
        assert_eq!(width("DJI", "FC9999", Some(4.0)), None);
        assert_eq!(width("", "", None), None);
    }
}
