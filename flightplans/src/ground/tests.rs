use super::*;
use crate::site::Site;
use std::path::Path;

fn site() -> Site {
    let text = r#"{"type": "Polygon", "coordinates":
        [[[9.0, 45.0], [9.0015, 45.0], [9.0015, 45.0007], [9.0007, 45.0003], [9.0, 45.0007]]]}"#;
    Site::parse(text.as_bytes(), Path::new("site.json")).unwrap()
}

#[test]
fn the_grid_has_the_area_s_size_and_reaches_its_border() {
    let site = site();
    for step in [1.0, 3.0] {
        let inside = Ground::inside(&site, step);
        let area = inside.len() as f64 * step * step;
        assert!((area / site.area_m2() - 1.0).abs() < 0.02, "{step}: {area}");
        assert!(inside.points().all(|(_, place)| site.is_in_area(&place)));
        let around = Ground::around(&site, step);
        let places: Vec<Place> = around.points().map(|(_, place)| place).collect();
        for corner in site.corners() {
            let nearest = places
                .iter()
                .map(|place| (place - corner).norm())
                .fold(f64::INFINITY, f64::min);
            assert!(nearest <= 0.71 * step, "{step}: {nearest}");
        }
    }
}

#[test]
fn spans_are_the_points_inside_the_shrunk_polygon() {
    let ground = Ground::inside(&site(), 1.0);
    let hull: Vec<Place> = (0..7)
        .map(|i| {
            let angle = f64::from(i) * std::f64::consts::TAU / 7.0;
            Place::new(10.0 + 22.0 * angle.cos(), -3.0 + 17.0 * angle.sin())
        })
        .collect();
    for margin in [0.0, 0.5, 4.0] {
        let spans = ground.spans(&hull, margin);
        let region = plane::Region::simple(hull.clone());
        let expected = ground
            .points()
            .filter(|(_, p)| region.contains(p) && region.border_distance(p) >= margin)
            .count();
        assert_eq!(ground.all().covered(&spans), expected, "{margin}");
        let mut visited = 0;
        ground.all().for_each(&spans, |_| visited += 1);
        assert_eq!(visited, expected);
    }
    let mut exact = 0;
    ground.for_each_covered(&hull, |_, _| exact += 1);
    assert_eq!(exact, ground.all().covered(&ground.spans(&hull, 0.0)));
}
