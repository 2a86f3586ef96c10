//! The plan's promise about coverage, against random points that are projected through every
//! planned camera with geometry of its own: no footprint, no grid and no camera model of ours.

use crate::common::{camera, plan_of, polygon_about, site};
use flightplans::plan::{Cell, FlightPlan};
use flightplans::{PlanSpec, Site};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

const N_SITES: u64 = 20;
const N_POINTS: usize = 1500;

struct Dice(ChaCha8Rng);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A star-shaped polygon, slender or round, convex or with dents, turned anyhow.
fn random_site(dice: &mut Dice) -> Site {
    let n = 3 + (dice.between(0.0, 9.0) as usize);
    let (length, width) = (dice.between(25.0, 80.0), dice.between(15.0, 60.0));
    let dent = dice.between(0.35, 1.0);
    let turn = dice.between(0.0, std::f64::consts::TAU);
    let corners: Vec<[f64; 2]> = (0..n)
        .map(|i| {
            let angle = (i as f64 + dice.between(-0.3, 0.3)) * std::f64::consts::TAU / n as f64;
            let share = dice.between(dent, 1.0);
            let (x, y) = (length * share * angle.cos(), width * share * angle.sin());
            [
                x * turn.cos() - y * turn.sin(),
                x * turn.sin() + y * turn.cos(),
            ]
        })
        .collect();
    let place = (dice.between(-179.0, 179.0), dice.between(-70.0, 70.0));
    site(&polygon_about(place.0, place.1, &corners)).unwrap()
}

/// Even-odd rule, written for this test.
fn is_inside(site: &Site, x: f64, y: f64) -> bool {
    let ring = &site.area[0].outer;
    let mut inside = false;
    for i in 0..ring.len() {
        let (a, b) = (ring[i], ring[(i + ring.len() - 1) % ring.len()]);
        if (a.y > y) != (b.y > y) && x < (b.x - a.x) * (y - a.y) / (b.y - a.y) + a.x {
            inside = !inside;
        }
    }
    inside
}

/// Whether a cell's photo shows a point of the ground: a pinhole, by dot products with its axes.
fn shows(plan: &FlightPlan, cell: &Cell, x: f64, y: f64) -> bool {
    let camera = &plan.camera;
    let (yaw, down) = (
        cell.pose.yaw_deg.to_radians(),
        cell.pitch_down_deg.to_radians(),
    );
    let to = [
        x - cell.pose.east_m,
        y - cell.pose.north_m,
        -cell.pose.height_above_takeoff_m,
    ];
    let dot = |a: [f64; 3]| a[0] * to[0] + a[1] * to[1] + a[2] * to[2];
    let ahead = dot([yaw.sin() * down.cos(), yaw.cos() * down.cos(), -down.sin()]);
    let right = dot([yaw.cos(), -yaw.sin(), 0.0]);
    let up = dot([yaw.sin() * down.sin(), yaw.cos() * down.sin(), down.cos()]);
    let range = to[0].hypot(to[1]);
    let views = &plan.spec.views;
    ahead > 0.0
        && (right / ahead * camera.focal_px).abs() <= f64::from(camera.width_px) / 2.0
        && (up / ahead * camera.focal_px).abs() <= f64::from(camera.height_px) / 2.0
        && range <= views.max_range_m
        && (-to[2]).atan2(range).to_degrees() >= views.min_depression_deg
        && ahead / camera.focal_px <= views.max_gsd_m
}

#[test]
fn random_points_of_random_sites_have_the_promised_views() {
    assert_eq!(camera("dji-m3e").camera.lens, calibration::Lens::PINHOLE);
    for seed in 0..N_SITES {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let site = random_site(&mut dice);
        let mut spec = PlanSpec::default();
        // Other heights and pitches each time, near enough to each other to match.
        let low = dice.between(25.0, 55.0).round();
        spec.bins.heights_m = vec![low, (1.8 * low).round()];
        spec.bins.pitches_deg = [
            vec![30.0, 45.0, 60.0],
            vec![45.0, 60.0, 90.0],
            vec![60.0, 90.0],
        ][seed as usize % 3]
            .clone();
        let plan = plan_of(&site, &spec).unwrap();
        check(seed, &site, &plan, &mut dice);
    }
}

fn check(seed: u64, site: &Site, plan: &FlightPlan, dice: &mut Dice) {
    assert!(plan.coverage.is_complete, "{seed}: {:?}", plan.warnings);
    assert!(plan.matching.holds, "{seed}: {:?}", plan.matching);
    let (low, high) = flightplans::plane::bounds(&site.area[0].outer).unwrap();
    let mut points = Vec::new();
    while points.len() < N_POINTS {
        let (x, y) = (dice.between(low.x, high.x), dice.between(low.y, high.y));
        if is_inside(site, x, y) {
            points.push((x, y));
        }
    }
    for bin in &plan.coverage.bins {
        let cells: Vec<&Cell> = plan
            .planned()
            .filter(|c| c.height_m == bin.height_m && c.pitch_down_deg == bin.pitch_down_deg)
            .collect();
        let views: Vec<u32> = points
            .iter()
            .map(|(x, y)| {
                cells
                    .iter()
                    .filter(|cell| shows(plan, cell, *x, *y))
                    .count() as u32
            })
            .collect();
        let name = format!(
            "seed {seed}, {} m, {} deg",
            bin.height_m, bin.pitch_down_deg
        );
        let fewest = *views.iter().min().unwrap();
        assert!(fewest >= plan.spec.views.min_per_point, "{name}: {fewest}");
        // Of the promise's one-metre grid the worst point may be missed, not undercut by much.
        assert!(
            fewest + 1 >= bin.min_views,
            "{name}: {fewest} {}",
            bin.min_views
        );
        let mean = views.iter().map(|n| f64::from(*n)).sum::<f64>() / views.len() as f64;
        let deviation = views
            .iter()
            .map(|n| (f64::from(*n) - mean).powi(2))
            .sum::<f64>();
        let sigma = (deviation / views.len() as f64 / views.len() as f64).sqrt();
        let miss = (mean - bin.mean_views).abs();
        assert!(
            miss <= 4.0 * sigma + 0.02 * mean,
            "{name}: {mean} {}",
            bin.mean_views
        );
    }
}
