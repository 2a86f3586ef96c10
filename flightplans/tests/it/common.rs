//! Sites, cameras and plans for the tests, and a Python with other people's readers.

use calibration::{CameraProfile, profiles};
use flightplans::{FlightPlan, PlanError, PlanSpec, Relief, Request, Site, plan};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn camera(id: &str) -> &'static CameraProfile {
    profiles::by_id(id).unwrap()
}

/// A site from GeoJSON text.
pub(crate) fn site(text: &str) -> Result<Site, PlanError> {
    Site::parse(text.as_bytes(), Path::new("site.geojson"))
}

/// GeoJSON of a polygon about a place, its corners in metres east and north of it.
pub(crate) fn polygon_about(longitude: f64, latitude: f64, corners: &[[f64; 2]]) -> String {
    let metres_a_degree = 111_195.0;
    let shrink = latitude.to_radians().cos();
    let mut ring: Vec<String> = corners
        .iter()
        .map(|[east, north]| {
            format!(
                "[{:.9}, {:.9}]",
                longitude + east / (metres_a_degree * shrink),
                latitude + north / metres_a_degree
            )
        })
        .collect();
    ring.push(ring[0].clone());
    format!(
        r#"{{"type": "Polygon", "coordinates": [[{}]]}}"#,
        ring.join(", ")
    )
}

/// A 120 m x 80 m rectangle with its south-west corner there.
pub(crate) fn rectangle(longitude: f64, latitude: f64) -> Site {
    let corners = [[0.0, 0.0], [120.0, 0.0], [120.0, 80.0], [0.0, 80.0]];
    site(&polygon_about(longitude, latitude, &corners)).unwrap()
}

/// Few photos: one height, two pitches.
pub(crate) fn small_spec() -> PlanSpec {
    let mut spec = PlanSpec::default();
    spec.bins.heights_m = vec![60.0];
    spec.bins.pitches_deg = vec![60.0, 90.0];
    spec
}

pub(crate) fn plan_of(site: &Site, spec: &PlanSpec) -> Result<FlightPlan, PlanError> {
    plan(&Request {
        site,
        profile: camera("dji-m3e"),
        spec,
        relief: &Relief::Flat,
        repeat: None,
        at: None,
        progress: None,
    })
}

/// Runs a script beside these tests with the Python that `make setup` made. `None`, said plainly,
/// when there is none.
pub(crate) fn python(script: &str, args: &[&Path]) -> Option<String> {
    let Some(python) = std::env::var_os("OVERLOOK_PYTHON").filter(|path| Path::new(path).exists())
    else {
        eprintln!("skipped: OVERLOOK_PYTHON is not set or absent");
        return None;
    };
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(script);
    let output = Command::new(python)
        .arg(script)
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(String::from_utf8(output.stdout).unwrap())
}
