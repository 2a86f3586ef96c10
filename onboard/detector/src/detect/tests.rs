//! The path from photo to boxes with a network that measures painted blobs: it sees of a vehicle
//! what the tile shows, as a real network does, so cut vehicles come out cut.

use super::*;
use crate::model::{InputSpec, ModelClass};
use crate::overrides::{Normalisation, PixelOrigin};
use crate::runtime::{EngineReport, Session, Tensor};
use crate::scale::{CarRange, Fit};
use calibration::frames::{Camera, Enu};
use calibration::{CameraModel, Direction, Metres, Point, Rotation};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

const GROUND: u8 = 20;
const PAINT: u8 = 240;

/// Finds connected bright blobs in the red plane and answers with the rectangle of equal moments,
/// described in ever another way (sides swapped, turned by half a turn).
struct Blobs;

impl Session for Blobs {
    fn run(&mut self, shape: [usize; 4], values: &[f32]) -> Result<Vec<Tensor>, DetectorError> {
        let (height, width) = (shape[2], shape[3]);
        let weight: Vec<f32> = values[..width * height]
            .iter()
            .map(|&v| ((v * 255.0 - f32::from(GROUND)) / f32::from(PAINT - GROUND)).clamp(0.0, 1.0))
            .collect();
        let mut seen = vec![false; width * height];
        let mut columns: Vec<[f32; 6]> = Vec::new();
        for start in 0..width * height {
            if seen[start] || weight[start] < 0.5 {
                continue;
            }
            let blob = flood(&weight, &mut seen, start, width, height);
            columns.push(rectangle(&blob, &weight, width, columns.len()));
        }
        let count = columns.len();
        let values = (0..6)
            .flat_map(|row| columns.iter().map(move |column| column[row]))
            .collect();
        Ok(vec![Tensor {
            shape: vec![1, 6, count],
            values,
        }])
    }
}

/// All pixels brighter than the padding's grey that hang together with the first.
fn flood(
    weight: &[f32],
    seen: &mut [bool],
    start: usize,
    width: usize,
    height: usize,
) -> Vec<usize> {
    let mut open = vec![start];
    let mut blob = Vec::new();
    seen[start] = true;
    while let Some(index) = open.pop() {
        blob.push(index);
        let (x, y) = (index % width, index / width);
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let (nx, ny) = (x as i64 + dx, y as i64 + dy);
            if nx >= 0 && ny >= 0 && (nx as usize) < width && (ny as usize) < height {
                let next = ny as usize * width + nx as usize;
                if !seen[next] && weight[next] > 0.05 {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
    }
    blob
}

fn rectangle(blob: &[usize], weight: &[f32], width: usize, turn: usize) -> [f32; 6] {
    let (mut total, mut x1, mut y1, mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for &index in blob {
        let w = f64::from(weight[index]);
        let (x, y) = ((index % width) as f64 + 0.5, (index / width) as f64 + 0.5);
        total += w;
        x1 += w * x;
        y1 += w * y;
        xx += w * x * x;
        yy += w * y * y;
        xy += w * x * y;
    }
    let (cx, cy) = (x1 / total, y1 / total);
    let (xx, yy, xy) = (
        xx / total - cx * cx,
        yy / total - cy * cy,
        xy / total - cx * cy,
    );
    let middle = (xx + yy) / 2.0;
    let spread = ((xx - yy) / 2.0).hypot(xy);
    let side = |variance: f64| (12.0 * variance.max(1e-3)).sqrt();
    let (long, short) = (side(middle + spread), side(middle - spread));
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    let (w, h, angle) = match turn % 3 {
        0 => (long, short, angle),
        1 => (short, long, angle + PI / 2.0),
        _ => (long, short, angle - PI),
    };
    [cx, cy, w, h, 0.9, angle].map(|number| number as f32)
}

fn detector(sides: Option<u32>, origin: PixelOrigin) -> Detector {
    let info = ModelInfo {
        sha256: String::new(),
        opset: None,
        description: None,
        license: None,
        layout: Layout::Raw { classes: 1 },
        input: InputSpec {
            name: "images".to_owned(),
            batch: None,
            height: sides,
            width: sides,
            half: false,
            multiple: 32,
        },
        classes: vec![ModelClass {
            name: "car".to_owned(),
            class: Some(VehicleClass::SmallVehicle),
        }],
        normalisation: Normalisation::default(),
        pixel_origin: origin,
        car_range: CarRange {
            best_px: 28.0,
            shortest_px: 19.6,
            longest_px: 42.0,
        },
        score_threshold: 0.25,
        corner_sigma: Some(0.05),
        engine: EngineReport {
            name: "blobs".to_owned(),
            version: String::new(),
            provider: "cpu".to_owned(),
            library: None,
            passed_over: Vec::new(),
        },
    };
    Detector {
        model: Model::with_session(info, Box::new(Blobs)),
        threads: 2,
    }
}

fn paint(width: u32, height: u32, boxes: &[OrientedBox]) -> RgbImage {
    let mut pixels = vec![GROUND; (width * height * 3) as usize];
    for oriented in boxes {
        let hull = oriented.hull();
        let (sin, cos) = oriented.angle().get().sin_cos();
        for y in hull.y1_px.floor().max(0.0) as u32..(hull.y2_px.ceil().max(0.0) as u32).min(height)
        {
            for x in
                hull.x1_px.floor().max(0.0) as u32..(hull.x2_px.ceil().max(0.0) as u32).min(width)
            {
                let inside = (0..64).filter(|sample| {
                    let px =
                        f64::from(x) + (f64::from(sample % 8) + 0.5) / 8.0 - oriented.centre().x;
                    let py =
                        f64::from(y) + (f64::from(sample / 8) + 0.5) / 8.0 - oriented.centre().y;
                    (px * cos + py * sin).abs() <= oriented.long_side_px() / 2.0
                        && (py * cos - px * sin).abs() <= oriented.short_side_px() / 2.0
                });
                let share = inside.count() as f64 / 64.0;
                let byte = f64::from(GROUND) + share * f64::from(PAINT - GROUND);
                let at = ((y * width + x) * 3) as usize;
                let brighter = pixels[at].max(byte.round() as u8);
                pixels[at..at + 3].fill(brighter);
            }
        }
    }
    RgbImage::new(width, height, pixels).unwrap()
}

fn oriented(x: f64, y: f64, along: f64, across: f64, degrees: f64) -> OrientedBox {
    OrientedBox::new(
        Pixel::new(x, y),
        along,
        across,
        Radians::from_degrees(degrees),
    )
    .unwrap()
}

fn at_scale(factor: f64) -> DetectOptions {
    DetectOptions {
        scale: ScaleChoice::Factor(factor),
        ..DetectOptions::default()
    }
}

/// Every painted box found once, none else, and close.
fn assert_same(found: &[Detection], painted: &[OrientedBox], max_px: f64, max_deg: f64) {
    assert_eq!(found.len(), painted.len());
    for wanted in painted {
        let hit = found
            .iter()
            .max_by(|a, b| {
                a.oriented_box
                    .iou(wanted)
                    .total_cmp(&b.oriented_box.iou(wanted))
            })
            .unwrap()
            .oriented_box;
        let apart = (hit.centre().x - wanted.centre().x).hypot(hit.centre().y - wanted.centre().y);
        assert!(apart <= max_px, "{wanted:?} {hit:?}");
        assert!(
            (hit.long_side_px() - wanted.long_side_px()).abs() <= 2.0 * max_px,
            "{wanted:?} {hit:?}"
        );
        assert!(
            (hit.short_side_px() - wanted.short_side_px()).abs() <= 2.0 * max_px,
            "{wanted:?} {hit:?}"
        );
        let turned = hit.axis_difference(wanted).to_degrees();
        assert!(turned <= max_deg, "{wanted:?} {hit:?} {turned}");
    }
}

#[test]
fn a_vehicle_on_every_tile_border_at_every_offset_is_found_once() {
    let mut detector = detector(Some(256), PixelOrigin::Corner);
    for step in 0..480 {
        let x = 60.0 + f64::from(step);
        let painted = [oriented(x, 60.0 + 0.7 * f64::from(step), 44.0, 18.0, 20.0)];
        let photo = paint(600, 460, &painted);
        let found = detector.detect(&photo, None, &at_scale(1.0)).unwrap();
        assert!(found.tiles >= 4);
        assert_same(&found.detections, &painted, 0.3, 0.5);
    }
}

#[test]
fn angles_through_the_full_circle() {
    let mut detector = detector(None, PixelOrigin::Corner);
    for degrees in 0..360 {
        let painted = [oriented(100.3, 90.7, 70.0, 26.0, f64::from(degrees))];
        for factor in [1.0, 0.5] {
            let photo = paint(200, 180, &painted);
            let found = detector.detect(&photo, None, &at_scale(factor)).unwrap();
            assert_same(&found.detections, &painted, 0.7, 1.0);
        }
    }
}

#[test]
fn a_car_park_of_600_is_counted() {
    let mut painted = Vec::new();
    for row in 0..20 {
        for place in 0..30 {
            let lean = if row % 2 == 0 { 45.0 } else { -45.0 };
            let x = 60.0 + 40.0 * f64::from(place);
            painted.push(oriented(x, 60.0 + 60.0 * f64::from(row), 45.0, 20.0, lean));
        }
    }
    let photo = paint(1320, 1320, &painted);
    for sides in [Some(320), None] {
        let found = detector(sides, PixelOrigin::Corner)
            .detect(&photo, None, &at_scale(1.0))
            .unwrap();
        assert_same(&found.detections, &painted, 0.3, 0.5);
    }
}

#[test]
fn an_oblique_view_finds_near_and_far_cars_once() {
    let camera = CameraModel::pinhole(2000, 1500, 1500.0);
    let pitch = -32f64.to_radians();
    let forward = Vector3::new(0.0, pitch.cos(), pitch.sin());
    let down = forward.cross(&Vector3::x());
    let camera_from_enu: Rotation<Camera, Enu> = Rotation::from_matrix(&Matrix3::from_rows(&[
        Vector3::x().transpose(),
        down.transpose(),
        forward.transpose(),
    ]));
    let view = ViewGeometry {
        camera,
        camera_from_enu,
        height_above_ground: Metres(40.0),
    };
    let mut painted = Vec::new();
    for row in 0..14 {
        for place in -6..=6 {
            let ground = Vector3::new(7.0 * f64::from(place), 25.0 + 9.0 * f64::from(row), -40.0);
            let in_camera = camera_from_enu * Direction::from_vector(ground);
            let Some(pixel) = camera.pixel_from_camera(Point::from_vector(in_camera.vector)) else {
                continue;
            };
            let car = view.car_px(pixel).unwrap();
            let whole = oriented(pixel.x, pixel.y, car, car * 0.42, 5.0);
            let hull = whole.hull();
            if hull.clipped(2000, 1500) == Some(hull) && car > 12.0 {
                painted.push(whole);
            }
        }
    }
    assert!(painted.len() > 100);
    let photo = paint(2000, 1500, &painted);
    let found = detector(None, PixelOrigin::Corner)
        .detect(&photo, Some(&view), &DetectOptions::default())
        .unwrap();
    assert_eq!(found.plan.basis, ScaleBasis::View);
    assert!(found.plan.levels.len() >= 3);
    assert_same(&found.detections, &painted, 2.0, 4.0);
    let unknown = detector(None, PixelOrigin::Corner)
        .detect(&photo, None, &DetectOptions::default())
        .unwrap();
    assert!(unknown.warnings.contains(&Warning::NoView));
}

#[test]
fn whole_photos_are_placed_back() {
    let painted = [
        oriented(300.0, 100.0, 90.0, 40.0, 0.0),
        oriented(900.0, 500.0, 40.0, 90.0, 0.0),
    ];
    let photo = paint(1200, 700, &painted);
    for fit in [Fit::Letterbox, Fit::Stretch] {
        let options = DetectOptions {
            scale: ScaleChoice::WholePhoto(fit),
            ..DetectOptions::default()
        };
        for sides in [Some(640), None] {
            let found = detector(sides, PixelOrigin::Corner)
                .detect(&photo, None, &options)
                .unwrap();
            assert_eq!(found.tiles, 1);
            assert_same(&found.detections, &painted, 1.5, 1.0);
        }
    }
}

#[test]
fn first_pixel_centre_is_a_half() {
    // One bright pixel in the first column and row, as the network sees it, at scale 1.
    let mut pixels = vec![GROUND; 64 * 64 * 3];
    pixels[..3].fill(PAINT);
    let photo = RgbImage::new(64, 64, pixels).unwrap();
    for (origin, expected) in [(PixelOrigin::Corner, 0.5), (PixelOrigin::Centre, 1.0)] {
        let found = detector(None, origin)
            .detect(&photo, None, &at_scale(1.0))
            .unwrap();
        let centre = found.detections[0].oriented_box.centre();
        assert!((centre.x - expected).abs() < 1e-6 && (centre.y - expected).abs() < 1e-6);
    }
}

#[test]
fn vehicles_at_the_photo_edge_are_marked() {
    let painted = [
        oriented(10.0, 100.0, 44.0, 18.0, 0.0),
        oriented(150.0, 100.0, 44.0, 18.0, 0.0),
    ];
    let found = detector(None, PixelOrigin::Corner)
        .detect(&paint(200, 200, &painted), None, &at_scale(1.0))
        .unwrap();
    let mut cut: Vec<_> = found
        .detections
        .iter()
        .map(|d| (d.oriented_box.centre().x as i64, d.truncated))
        .collect();
    cut.sort_unstable();
    assert_eq!(cut, [(16, true), (150, false)]);
    let inside = found
        .detections
        .iter()
        .all(|d| d.horizontal_box.x1_px >= 0.0);
    assert!(inside);
}

#[test]
fn options_out_of_range_are_refused() {
    let photo = paint(64, 64, &[]);
    for options in [
        DetectOptions {
            score_threshold: Some(1.5),
            ..DetectOptions::default()
        },
        DetectOptions {
            max_iou: f64::NAN,
            ..DetectOptions::default()
        },
        DetectOptions {
            tile_px: 1,
            ..DetectOptions::default()
        },
    ] {
        let refused = detector(None, PixelOrigin::Corner).detect(&photo, None, &options);
        assert!(matches!(refused, Err(DetectorError::Option { .. })));
        assert!(refused.unwrap_err().is_input_fault());
    }
}
