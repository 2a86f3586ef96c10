//! Where the photos are taken from: spokes of several headings, each with all pitches and heights,
//! tied together over nadir photos, so that every photo can be matched with one flown before it.

use crate::camera::{Camera, CameraFromEnu, Intrinsics};
use crate::dice::Dice;
use crate::error::{SimulatorError, within};
use nalgebra::{Vector2, Vector3};
use std::f64::consts::TAU;

/// What is asked of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSpec {
    /// How many photos, 1 to 2000.
    pub n_photos: usize,
    /// Heights above take-off, metres, 5 to 150.
    pub heights_m: Vec<f64>,
    /// Downward pitches of the optical axis, degrees, 20 to 90.
    pub pitches_deg: Vec<f64>,
    /// Seeds headings, aims and hover errors.
    pub seed: u64,
    /// Direction of the site's rows, counter-clockwise from east, radians: aims follow the lot.
    pub site_heading: f64,
}

impl PlanSpec {
    /// 30, 60 and 100 m at 30, 45, 60 and 90 degrees.
    #[must_use]
    pub fn new(seed: u64, n_photos: usize) -> Self {
        Self {
            n_photos,
            heights_m: vec![30.0, 60.0, 100.0],
            pitches_deg: vec![30.0, 45.0, 60.0, 90.0],
            seed,
            site_heading: 0.0,
        }
    }
}

/// One photo to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedPhoto {
    /// True place and attitude.
    pub camera_from_enu: CameraFromEnu,
    /// True yaw of the optical axis, clockwise from north, degrees.
    pub yaw_deg: f64,
    /// True pitch, up positive, degrees: nadir is -90.
    pub pitch_deg: f64,
    /// True roll, right side down, degrees.
    pub roll_deg: f64,
    /// The height it belongs to, metres.
    pub nominal_height_m: f64,
    /// The downward pitch it belongs to, degrees.
    pub nominal_pitch_deg: f64,
    /// Taken only to tie others together: its height or pitch was not asked for.
    pub link: bool,
    /// Which flight, from 1.
    pub flight: u32,
    /// Seconds after the first photo of all.
    pub seconds: f64,
}

/// Largest angle between two optical axes that still match, degrees.
pub const MAX_LINK_ANGLE_DEG: f64 = 20.0;
/// Largest ratio of distances to the ground along the axes.
pub const MAX_LINK_SCALE: f64 = 2.0;
/// Least common part of the smaller footprint.
pub const MIN_LINK_OVERLAP: f64 = 0.5;
/// Rays closer to the horizon than this are cut off there, degrees.
const MIN_DEPRESSION_DEG: f64 = 8.0;

/// The part of the level ground a camera sees, as a convex polygon; rays near the horizon are
/// bent down to `MIN_DEPRESSION_DEG`.
fn footprint(camera: &Camera) -> Vec<Vector2<f64>> {
    let lens = &camera.intrinsics;
    let (w, h) = (f64::from(lens.width_px), f64::from(lens.height_px));
    let center = camera.camera_from_enu.center_in_enu();
    let back = camera.camera_from_enu.rotation.inverse();
    [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)]
        .iter()
        .map(|&(x, y)| {
            let ray = back * lens.ray_from_pixel(&Vector2::new(x, y));
            let flat = ray.x.hypot(ray.y).max(1e-12);
            let drop = (-ray.z / flat).max(MIN_DEPRESSION_DEG.to_radians().tan());
            let reach = center.z / drop;
            Vector2::new(
                center.x + ray.x / flat * reach,
                center.y + ray.y / flat * reach,
            )
        })
        .collect()
}

fn area(polygon: &[Vector2<f64>]) -> f64 {
    let n = polygon.len();
    let twice: f64 = (0..n)
        .map(|i| {
            let (a, b) = (polygon[i], polygon[(i + 1) % n]);
            a.x * b.y - b.x * a.y
        })
        .sum();
    twice / 2.0
}

/// The common part of two convex polygons (Sutherland and Hodgman).
fn common(subject: &[Vector2<f64>], clip: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    let sign = area(clip).signum();
    let mut out = subject.to_vec();
    for i in 0..clip.len() {
        let (a, b) = (clip[i], clip[(i + 1) % clip.len()]);
        let side =
            |p: &Vector2<f64>| sign * ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x));
        let input = std::mem::take(&mut out);
        for k in 0..input.len() {
            let (p, q) = (input[k], input[(k + 1) % input.len()]);
            let (sp, sq) = (side(&p), side(&q));
            if sp >= 0.0 {
                out.push(p);
            }
            if sp * sq < 0.0 {
                out.push(p + (q - p) * (sp / (sp - sq)));
            }
        }
    }
    out
}

/// Whether two photos can be expected to match: at least half of the smaller footprint in common,
/// optical axes within 20 degrees, distances to the ground within a factor of two.
#[must_use]
pub fn can_match(a: &Camera, b: &Camera) -> bool {
    let (axis_a, axis_b) = (
        a.camera_from_enu.axis_in_enu(),
        b.camera_from_enu.axis_in_enu(),
    );
    if axis_a.angle(&axis_b).to_degrees() > MAX_LINK_ANGLE_DEG {
        return false;
    }
    let range = |camera: &Camera, axis: &Vector3<f64>| {
        camera.camera_from_enu.center_in_enu().z / (-axis.z).max(1e-6)
    };
    let (range_a, range_b) = (range(a, &axis_a), range(b, &axis_b));
    if range_a.max(range_b) / range_a.min(range_b) > MAX_LINK_SCALE {
        return false;
    }
    let (foot_a, foot_b) = (footprint(a), footprint(b));
    let shared = area(&common(&foot_a, &foot_b)).abs();
    shared >= MIN_LINK_OVERLAP * area(&foot_a).abs().min(area(&foot_b).abs())
}

/// Values asked for and those put between to keep steps small.
#[derive(Clone, Copy, Debug)]
struct Level {
    value: f64,
    link: bool,
}

/// Sorted, without duplicates, with links inserted wherever `too_far` holds.
fn levels(
    wanted: &[f64],
    too_far: impl Fn(f64, f64) -> bool,
    between: impl Fn(f64, f64) -> f64,
) -> Vec<Level> {
    let mut values = wanted.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut out: Vec<Level> = values
        .iter()
        .map(|&value| Level { value, link: false })
        .collect();
    let mut i = 0;
    while i + 1 < out.len() {
        let (a, b) = (out[i].value, out[i + 1].value);
        if too_far(a, b) {
            out.insert(
                i + 1,
                Level {
                    value: between(a, b),
                    link: true,
                },
            );
        } else {
            i += 1;
        }
    }
    out
}

/// What kind of photo comes next, before its exact aim is drawn.
#[derive(Clone, Copy, Debug)]
struct Slot {
    height: Level,
    pitch: Level,
    heading: f64,
    /// How far from the lot's middle it may aim, metres.
    spread: f64,
}

/// The order of creation: each slot can be tied to one before it, so every beginning of the list
/// is connected.
fn slots(spec: &PlanSpec, dice: &mut Dice) -> Vec<Slot> {
    let heights = levels(
        &spec.heights_m,
        |a, b| b / a > 2.0 + 1e-9,
        |a, b| (a * b).sqrt(),
    );
    let mut pitches = levels(&spec.pitches_deg, |a, b| b - a > 18.0, |a, b| (a + b) / 2.0);
    // Without steep views nothing ties the headings together.
    while pitches[pitches.len() - 1].value < 80.0 {
        let value = (pitches[pitches.len() - 1].value + 15.0).min(90.0);
        pitches.push(Level { value, link: true });
    }
    let first_heading = dice.range(0.0, TAU);
    let mut out = Vec::new();
    let mut round = 0_u32;
    while out.len() < spec.n_photos {
        let turn = f64::from(round.reverse_bits()) / 4_294_967_296.0;
        spoke(
            &heights,
            &pitches,
            first_heading + TAU * turn,
            round == 0,
            &mut out,
        );
        if round > 0 {
            more_nadir(&heights, pitches[pitches.len() - 1], round, &mut out);
        }
        round += 1;
    }
    out.truncate(spec.n_photos);
    out
}

/// One heading at all heights: the middle height first with all pitches from the steepest down,
/// then the others, each pitch tied to the same pitch at the next height. Nadir photos, which
/// have no heading, come with the first spoke only.
fn spoke(heights: &[Level], pitches: &[Level], heading: f64, first: bool, out: &mut Vec<Slot>) {
    let middle = heights.len() / 2;
    let mut by_distance: Vec<usize> = (0..heights.len()).collect();
    by_distance.sort_by_key(|&i| i.abs_diff(middle));
    for (k, &h) in by_distance.iter().enumerate() {
        let height = heights[h];
        let spread = if first { 0.05 } else { 0.16 } * height.value.min(100.0) + 3.0;
        for (n_steeper, &pitch) in pitches.iter().rev().enumerate() {
            let tie_only = pitch.link && k > 0;
            let nadir_again = n_steeper == 0 && !first;
            if !tie_only && !nadir_again {
                out.push(Slot {
                    height,
                    pitch,
                    heading,
                    spread,
                });
            }
        }
    }
}

/// More of the steepest photos, mostly low ones, which see least.
fn more_nadir(heights: &[Level], pitch: Level, round: u32, out: &mut Vec<Slot>) {
    let middle = heights.len() / 2;
    let top = if round.is_multiple_of(2) {
        heights.len() - 1
    } else {
        middle
    };
    let heading = f64::from(round) * 2.4;
    for (h, spread) in [(middle, 24.0), (0, 30.0), (top, 12.0), (0, 38.0)] {
        let height = heights[h];
        if !height.link {
            out.push(Slot {
                height,
                pitch,
                heading,
                spread,
            });
        }
    }
}

fn draw_photo(spec: &PlanSpec, slot: &Slot, dice: &mut Dice, shrink: f64) -> PlannedPhoto {
    // The lot is longer than wide.
    let aim_x = dice.range(-1.0, 1.0) * slot.spread * 1.25 * shrink;
    let aim_y = dice.range(-1.0, 1.0) * slot.spread * 0.8 * shrink;
    let (sin, cos) = spec.site_heading.sin_cos();
    let aim = Vector2::new(aim_x * cos - aim_y * sin, aim_x * sin + aim_y * cos);
    let z = slot.height.value + (dice.normal(0.12) * shrink).clamp(-0.4, 0.4);
    let pitch_deg = (slot.pitch.value + dice.normal(0.35) * shrink).min(90.0);
    let heading = slot.heading + (dice.normal(1.2) * shrink).to_radians();
    let back = if pitch_deg > 89.99 {
        0.0
    } else {
        z / pitch_deg.to_radians().tan()
    };
    let hover = Vector2::new(dice.normal(0.25), dice.normal(0.25)) * shrink;
    let center = Vector3::new(
        aim.x - back * heading.sin() + hover.x,
        aim.y - back * heading.cos() + hover.y,
        z,
    );
    let yaw_deg = heading.to_degrees().rem_euclid(360.0);
    let roll_deg = dice.normal(0.25);
    PlannedPhoto {
        camera_from_enu: CameraFromEnu::looking(&center, yaw_deg, -pitch_deg, roll_deg),
        yaw_deg,
        pitch_deg: -pitch_deg,
        roll_deg,
        nominal_height_m: slot.height.value,
        nominal_pitch_deg: slot.pitch.value,
        link: slot.height.link || slot.pitch.link,
        flight: 1,
        seconds: 0.0,
    }
}

/// Photos over all heights and pitches, in the order they are flown, whose graph of matching
/// pairs ([`can_match`]) is connected.
///
/// Where neighbouring pitches lie more than 18 degrees apart, or heights more than a factor of
/// two, photos in between (`link`) tie them together. With fewer photos than combinations, the
/// lowest pitches at the outer heights are left out first.
///
/// # Errors
/// When a wish is out of range.
pub fn default_plan(
    spec: &PlanSpec,
    intrinsics: &Intrinsics,
) -> Result<Vec<PlannedPhoto>, SimulatorError> {
    within("--photos", spec.n_photos as f64, 1.0, 2000.0)?;
    for (what, values, low, high) in [
        ("--heights", &spec.heights_m, 5.0, 150.0),
        ("--pitches", &spec.pitches_deg, 20.0, 90.0),
    ] {
        within(what, values.len() as f64, 1.0, 20.0)?;
        for &value in values {
            within(what, value, low, high)?;
        }
    }
    let mut dice = Dice::new(spec.seed, "plan", "");
    let mut photos: Vec<PlannedPhoto> = Vec::new();
    let mut cameras: Vec<Camera> = Vec::new();
    for slot in slots(spec, &mut dice) {
        let mut shrink = 1.0;
        // Aims are pulled to the middle and hover errors made smaller until the photo is tied.
        let (photo, camera) = loop {
            let photo = draw_photo(spec, &slot, &mut dice, shrink);
            let camera = Camera {
                intrinsics: *intrinsics,
                camera_from_enu: photo.camera_from_enu,
            };
            if cameras.is_empty() || shrink < 1e-3 || cameras.iter().any(|c| can_match(c, &camera))
            {
                break (photo, camera);
            }
            shrink *= 0.8;
        };
        photos.push(photo);
        cameras.push(camera);
    }
    Ok(fly(photos, &mut dice))
}

const CRUISE_M_S: f64 = 8.0;
const CLIMB_M_S: f64 = 2.5;
const YAW_DEG_S: f64 = 45.0;
const PITCH_DEG_S: f64 = 30.0;
const SETTLE_AND_SHUTTER_S: f64 = 3.0;
/// One battery lasts so long in the air, seconds.
const BATTERY_S: f64 = 21.0 * 60.0;

fn seconds_between(a: &PlannedPhoto, b: &PlannedPhoto) -> f64 {
    let (ca, cb) = (
        a.camera_from_enu.center_in_enu(),
        b.camera_from_enu.center_in_enu(),
    );
    let flat = (ca.xy() - cb.xy()).norm();
    let turn = ((a.yaw_deg - b.yaw_deg + 180.0).rem_euclid(360.0) - 180.0).abs();
    // About two seconds go into speeding up and slowing down.
    let travel = if flat > 0.5 {
        2.0 + flat / CRUISE_M_S
    } else {
        0.0
    };
    travel
        .max((ca.z - cb.z).abs() / CLIMB_M_S)
        .max(turn / YAW_DEG_S)
        .max((a.pitch_deg - b.pitch_deg).abs() / PITCH_DEG_S)
        + SETTLE_AND_SHUTTER_S
}

/// Shortest tour found by nearest neighbour and exchanges; times; flights by battery.
fn fly(photos: Vec<PlannedPhoto>, dice: &mut Dice) -> Vec<PlannedPhoto> {
    let mut order = nearest_neighbours(&photos);
    improve(&photos, &mut order);
    let mut out = Vec::with_capacity(photos.len());
    let (mut now, mut take_off, mut flight) = (0.0, -25.0, 1);
    for (k, &index) in order.iter().enumerate() {
        if k > 0 {
            now += seconds_between(&photos[order[k - 1]], &photos[index]) + dice.range(0.0, 1.6);
            if now - take_off > BATTERY_S {
                flight += 1;
                now += dice.range(330.0, 560.0);
                take_off = now - 30.0;
            }
        }
        out.push(PlannedPhoto {
            flight,
            seconds: now,
            ..photos[index]
        });
    }
    out
}

fn nearest_neighbours(photos: &[PlannedPhoto]) -> Vec<usize> {
    // The lowest photo comes first after take-off.
    let height = |i: usize| photos[i].camera_from_enu.center_in_enu().z;
    let mut left: Vec<usize> = (0..photos.len()).collect();
    left.sort_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
    let mut order = vec![left.remove(0)];
    while !left.is_empty() {
        let here = order[order.len() - 1];
        let mut best = 0;
        for candidate in 1..left.len() {
            if seconds_between(&photos[here], &photos[left[candidate]])
                < seconds_between(&photos[here], &photos[left[best]])
            {
                best = candidate;
            }
        }
        order.push(left.remove(best));
    }
    order
}

/// 2-opt: reverses stretches while that saves time; the first photo stays.
fn improve(photos: &[PlannedPhoto], order: &mut [usize]) {
    let cost = |a: usize, b: usize| seconds_between(&photos[a], &photos[b]);
    for _ in 0..6 {
        let mut changed = false;
        for i in 0..order.len().saturating_sub(2) {
            for j in i + 2..order.len() {
                let before = cost(order[i], order[i + 1])
                    + if j + 1 < order.len() {
                        cost(order[j], order[j + 1])
                    } else {
                        0.0
                    };
                let after = cost(order[i], order[j])
                    + if j + 1 < order.len() {
                        cost(order[i + 1], order[j + 1])
                    } else {
                        0.0
                    };
                if after + 1e-9 < before {
                    order[i + 1..=j].reverse();
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
}
