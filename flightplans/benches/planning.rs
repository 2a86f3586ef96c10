//! Seconds to plan the comparison site and a square kilometre, with the numbers of cells. Prints
//! them; nothing is asserted.

use flightplans::{PlanSpec, Relief, Request, Site, plan};
use std::path::Path;
use std::time::Instant;

const SQUARE_KILOMETRE: &str = r#"{"type": "Feature", "properties": {"name": "square kilometre"},
    "geometry": {"type": "Polygon", "coordinates": [[[9.0, 45.0], [9.01268, 45.0],
    [9.01268, 45.009], [9.0, 45.009], [9.0, 45.0]]]}}"#;

fn measure(name: &str, site: &Site, spec: &PlanSpec, runs: usize) {
    let mut times = Vec::new();
    let mut words = String::new();
    for _ in 0..runs {
        let start = Instant::now();
        let plan = plan(&Request {
            site,
            profile: calibration::profiles::by_id("dji-m3e").expect("shipped"),
            spec,
            relief: &Relief::Flat,
            repeat: None,
            at: None,
            progress: None,
        })
        .expect("the site can be flown");
        times.push(start.elapsed().as_secs_f64());
        words = format!(
            "{} photos, {} batteries, covered: {}, matching: {}, {:.2} min first to last, {:.2} min flight, {:.0} m, no order under {:.2} min",
            plan.time.n_photos,
            plan.time.n_batteries,
            plan.coverage.is_complete,
            plan.matching.holds,
            plan.time.first_to_last_photo_s / 60.0,
            plan.time.flight_s / 60.0,
            plan.time.path_m,
            plan.time.bound_of_order_s / 60.0
        );
    }
    times.sort_by(f64::total_cmp);
    println!("{name:<24} {:>8.2} s   {words}", times[runs / 2]);
}

fn main() {
    let sites = Path::new(env!("CARGO_MANIFEST_DIR")).join("sites");
    let comparison = Site::load(&sites.join("comparison.geojson")).expect("an example site");
    let full = PlanSpec::load(&sites.join("comparison.toml")).expect("an example spec");
    // The default rounds, as for a plan that a crew waits for; then those of the file.
    let spec = PlanSpec {
        search: PlanSpec::default().search,
        ..full.clone()
    };
    measure("comparison", &comparison, &spec, 3);
    measure("comparison, searched", &comparison, &full, 1);
    let mut two_headings = spec.clone();
    two_headings.views.min_headings = 2;
    measure("two headings a point", &comparison, &two_headings, 3);
    let square =
        Site::parse(SQUARE_KILOMETRE.as_bytes(), Path::new("square.geojson")).expect("a square");
    let mut wide = PlanSpec::default();
    wide.airspace.line_of_sight_m = 2000.0;
    measure("square kilometre", &square, &wide, 1);
}
