//! The reviewer's sheets agree with the truth.

use crate::fixture::small;
use simulator::facts::{FILES, write_facts};

fn rows(folder: &std::path::Path, name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(name)).expect("a sheet");
    // No cell of these fixtures needs quotes but the notes.
    text.lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn sheets_hold_what_a_perfect_reviewer_knows() {
    let truth = &small().truth;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("sheets");
    write_facts(truth, &out).expect("a writable folder");
    for name in FILES {
        assert!(out.join(name).is_file(), "{name}");
    }
    let vehicles = rows(&out, "vehicles.csv");
    assert_eq!(vehicles.len(), truth.vehicles.len() + 1);
    for (row, vehicle) in vehicles[1..].iter().zip(&truth.vehicles) {
        assert_eq!(row[0], vehicle.id);
        assert_eq!(
            row[3].parse::<f64>().expect("degrees"),
            vehicle.front_azimuth_deg
        );
    }
    let catalogue = rows(&out, "catalogue.csv");
    for vehicle in &truth.vehicles {
        let row = catalogue
            .iter()
            .find(|r| r[0] == vehicle.brand && r[1] == vehicle.model);
        assert_eq!(
            row.expect("in the catalogue")[3],
            vehicle.length_mm.to_string()
        );
    }
    let visibility = rows(&out, "visibility.csv");
    assert_eq!(visibility.len(), truth.views.len() + 1);
    for (row, view) in visibility[1..].iter().zip(&truth.views) {
        let visible = view.visible_fraction >= 0.5 && view.oriented_box[3] >= 12.0;
        let doubt = (0.25..0.5).contains(&view.visible_fraction);
        let expected = if visible {
            "yes"
        } else if doubt {
            "doubt"
        } else {
            "no"
        };
        assert_eq!(row[3], expected, "{row:?}");
        assert_eq!(row[4].is_empty(), view.horizontal_box.is_none());
    }
    let photos = rows(&out, "photos.csv");
    assert_eq!(photos.len(), truth.photos.len() + 1);
    for row in &photos[1..] {
        // Seen by a quarter or more, yet not boxed: hidden in part, or too small.
        let unboxed = truth.views.iter().any(|v| {
            let yes = v.visible_fraction >= 0.5 && v.oriented_box[3] >= 12.0;
            v.photo == row[0] && v.visible_fraction >= 0.25 && !yes
        });
        assert_eq!(row[2] == "no", unboxed, "{row:?}");
    }
    assert!(rows(&out, "scene.csv")[1][0] == truth.site.weather.word());
}
