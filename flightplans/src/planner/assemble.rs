//! The chosen and ordered cells as a [`FlightPlan`].

use super::choose::{Chosen, Selection};
use super::fly::Flown;
use super::{Context, PROMISE_STEP_M};
use crate::coverage::{self, Photo};
use crate::ground::Ground;
use crate::links;
use crate::plan::{
    BinRecord, CameraRecord, Cell, CellState, CellTolerance, FlightPlan, KeepOutRecord, MadeFrom,
    Matching, PlaceRecord, Pose, Purpose, SCHEMA, SiteRecord, Sortie, TimeRecord, Visit,
};
use crate::plane::{Place, Region};
use crate::site::{LonLat, Site};
use crate::sun;
use crate::terrain::Relief;

pub(super) fn assemble(context: &Context<'_>, selection: Selection, flown: Flown) -> FlightPlan {
    let request = context.request;
    let mut cells: Vec<Cell> = selection
        .photos
        .iter()
        .chain(&selection.infeasible)
        .map(|chosen| cell(context, chosen))
        .collect();
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    let sorties: Vec<Sortie> = flown
        .flights
        .iter()
        .map(|(photos, legs)| sortie(context, &selection.photos, photos, legs))
        .collect();
    let coverage = promise(context, &selection.photos);
    let mut plan = FlightPlan {
        schema: SCHEMA.to_owned(),
        made_from: MadeFrom {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            site_sha256: request.site.digest.clone(),
            terrain: request.relief.names(),
            repeats_sha256: request.repeat.as_ref().map(|(_, digest)| digest.clone()),
        },
        site: site_record(context),
        camera: camera_record(context),
        spec: request.spec.clone(),
        assumptions: assumptions(context),
        warnings: selection.warnings.clone(),
        bins: bin_records(context, &selection),
        cells,
        coverage,
        matching: matching(&selection),
        time: time(context, &sorties, &selection, flown.bound_s),
        sorties,
        sun: None,
    };
    plan.warnings.extend(shortcomings(&plan));
    if let Some(at) = request.at {
        let earlier = request.repeat.as_ref().map(|(plan, _)| *plan);
        let (record, warnings) = sun::record(&plan, at, earlier);
        plan.sun = Some(record);
        plan.warnings.extend(warnings);
    }
    plan
}

fn cell(context: &Context<'_>, chosen: &Chosen) -> Cell {
    let candidate = &chosen.candidate;
    let template = &context.bins[candidate.bin].template;
    let at = context.request.site.degrees(&candidate.place);
    let tolerance = &context.request.spec.tolerance;
    let is_planned = candidate.is_feasible();
    Cell {
        id: chosen.id.clone(),
        height_m: template.height_m,
        pitch_down_deg: template.pitch_down_deg,
        pattern: candidate.pattern,
        purpose: if is_planned {
            chosen.purpose
        } else {
            Purpose::None
        },
        state: if is_planned {
            CellState::Planned
        } else {
            CellState::Infeasible
        },
        reasons: candidate.reasons.clone(),
        pose: Pose {
            latitude_deg: at.latitude_deg,
            longitude_deg: at.longitude_deg,
            east_m: millimetres(candidate.place.x),
            north_m: millimetres(candidate.place.y),
            height_above_takeoff_m: millimetres(candidate.height_m(&context.bins)),
            ground_above_takeoff_m: millimetres(candidate.ground_m),
            yaw_deg: candidate.yaw_deg,
            gimbal_pitch_deg: -template.pitch_down_deg,
        },
        tolerance: CellTolerance {
            horizontal_m: tolerance.horizontal_m,
            vertical_m: tolerance.vertical_m,
            pitch_deg: template.pitch_tolerance_deg(tolerance),
            yaw_deg: tolerance.yaw_deg,
            speed_mps: (template.sharp_speed_mps(context.request.spec) * 100.0).floor() / 100.0,
            gimbal_rate_deg_s: tolerance.gimbal_rate_deg_s,
        },
    }
}

fn millimetres(metres: f64) -> f64 {
    (metres * 1000.0).round() / 1000.0
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn sortie(
    context: &Context<'_>,
    photos: &[Chosen],
    order: &[usize],
    legs: &[crate::tour::Leg],
) -> Sortie {
    let site = context.request.site;
    let corner = |place: &Place, height_m: f64| {
        let at = site.degrees(place);
        [at.longitude_deg, at.latitude_deg, millimetres(height_m)]
    };
    let mut clock_s = 0.0;
    let mut visits = Vec::new();
    let mut last_height_m = None;
    for (&photo, leg) in order.iter().zip(legs) {
        clock_s += leg.duration_s;
        let height_m = photos[photo].candidate.height_m(&context.bins);
        let on_way_m: f64 = last_height_m.map_or(height_m, |last: f64| last.max(height_m));
        visits.push(Visit {
            cell: photos[photo].id.clone(),
            photo_s: milliseconds(clock_s),
            in_passing: leg.end_mps > 0.0,
            speed_mps: (leg.end_mps * 1000.0).round() / 1000.0,
            way: leg
                .corners
                .iter()
                .map(|place| corner(place, on_way_m))
                .collect(),
        });
        last_height_m = Some(height_m);
    }
    let home_leg = legs.last();
    let way_home = home_leg
        .iter()
        .flat_map(|leg| &leg.corners)
        .map(|place| corner(place, last_height_m.unwrap_or(0.0)))
        .collect();
    Sortie {
        duration_s: milliseconds(legs.iter().map(|leg| leg.duration_s).sum()),
        path_m: legs.iter().map(|leg| leg.path_m).sum::<f64>().round(),
        visits,
        way_home,
    }
}

fn time(
    context: &Context<'_>,
    sorties: &[Sortie],
    selection: &Selection,
    order_bound_s: f64,
) -> TimeRecord {
    let first = sorties.first().and_then(|sortie| sortie.visits.first());
    let last = sorties.last().and_then(|sortie| sortie.visits.last());
    let flight_s: f64 = sorties.iter().map(|sortie| sortie.duration_s).sum();
    let before_last: f64 = sorties
        .iter()
        .rev()
        .skip(1)
        .map(|sortie| sortie.duration_s)
        .sum();
    let span_s = match (first, last) {
        (Some(first), Some(last)) => before_last + last.photo_s - first.photo_s,
        _ => 0.0,
    };
    TimeRecord {
        first_to_last_photo_s: milliseconds(span_s),
        flight_s: milliseconds(flight_s),
        path_m: sorties.iter().map(|sortie| sortie.path_m).sum(),
        n_photos: selection.photos.len(),
        n_batteries: sorties.len(),
        bound_of_order_s: milliseconds(order_bound_s),
        bound_of_any_plan_s: milliseconds(bound_of_any_plan_s(context)),
    }
}

/// Views of all points of a bin need at least the area times the views over the footprint photos;
/// the shutter bounds their time. Bins that cannot be flown ask for nothing. And the drone must
/// have been at the lowest and at the highest of the heights.
fn bound_of_any_plan_s(context: &Context<'_>) -> f64 {
    let site = context.request.site;
    let views = f64::from(context.request.spec.views.min_per_point);
    let flyable: Vec<_> = context
        .bins
        .iter()
        .filter(|bin| bin.reasons.is_empty())
        .collect();
    let photos: f64 = flyable
        .iter()
        .filter_map(|bin| bin.template.footprint.as_ref())
        .map(|footprint| {
            let seen_m2 = footprint.area_m2().min(site.area_m2());
            (views * site.area_m2() / seen_m2 - 1e-9).ceil()
        })
        .sum();
    let heights = flyable.iter().map(|bin| bin.template.height_m);
    let (low, high) = heights.fold((f64::INFINITY, 0.0f64), |(low, high), height| {
        (low.min(height), high.max(height))
    });
    let by_shutter = (photos - 1.0).max(0.0) * context.motion.interval_s();
    let rise_m = (high - low).max(0.0);
    let by_climb = context
        .motion
        .vertical_s(rise_m)
        .min(context.motion.vertical_s(-rise_m));
    by_shutter.max(if rise_m.is_finite() { by_climb } else { 0.0 })
}

fn promise(context: &Context<'_>, photos: &[Chosen]) -> crate::plan::Coverage {
    let photos: Vec<Photo> = photos
        .iter()
        .map(|chosen| {
            let candidate = &chosen.candidate;
            let template = &context.bins[candidate.bin].template;
            Photo {
                bin: candidate.bin,
                place: candidate.place,
                border: template.border_at(&candidate.place, candidate.yaw_deg),
            }
        })
        .collect();
    let bins: Vec<(f64, f64)> = context
        .bins
        .iter()
        .map(|bin| (bin.template.height_m, bin.template.pitch_down_deg))
        .collect();
    let site = context.request.site;
    let min_views = context.request.spec.views.min_per_point;
    let ground = Ground::inside(site, PROMISE_STEP_M);
    coverage::promise(site, &ground, &bins, &photos, min_views)
}

fn matching(selection: &Selection) -> Matching {
    let graph = &selection.graph;
    let n_linking = selection
        .photos
        .iter()
        .filter(|photo| photo.purpose == Purpose::Linking)
        .count();
    Matching {
        n_photos: selection.photos.len(),
        n_pairs: graph.n_pairs(),
        n_groups: graph.n_groups(),
        min_neighbours: graph.min_neighbours(),
        n_short: graph.n_short(),
        n_linking,
        holds: graph.holds(),
    }
}

fn bin_records(context: &Context<'_>, selection: &Selection) -> Vec<BinRecord> {
    context
        .bins
        .iter()
        .zip(&selection.bins)
        .enumerate()
        .map(|(index, (bin, choice))| {
            let count = |purpose| {
                selection
                    .photos
                    .iter()
                    .filter(|p| p.candidate.bin == index && p.purpose == purpose)
                    .count()
            };
            let (n_coverage, n_linking) = (count(Purpose::Coverage), count(Purpose::Linking));
            BinRecord {
                height_m: bin.template.height_m,
                pitch_down_deg: bin.template.pitch_down_deg,
                pattern: choice.pattern,
                why: choice.why.clone(),
                n_coverage,
                n_linking,
                n_infeasible: choice.n_infeasible,
                n_spare: choice.n_feasible.saturating_sub(n_coverage + n_linking),
                footprint_m: bin
                    .template
                    .border_at(&Place::zeros(), 0.0)
                    .iter()
                    .map(|corner| [millimetres(corner.x), millimetres(corner.y)])
                    .collect(),
                gsd_centre_m: (bin.template.gsd_centre_m * 1e5).round() / 1e5,
                useful_share: (bin.template.useful_share * 1e3).round() / 1e3,
                reasons: bin.reasons.clone(),
            }
        })
        .collect()
}

fn ring_record(site: &Site, ring: &[Place]) -> Vec<[f64; 2]> {
    ring.iter()
        .chain(ring.first())
        .map(|place| {
            let LonLat {
                longitude_deg,
                latitude_deg,
            } = site.degrees(place);
            [longitude_deg, latitude_deg]
        })
        .collect()
}

fn region_record(site: &Site, region: &Region) -> Vec<Vec<[f64; 2]>> {
    region.rings().map(|ring| ring_record(site, ring)).collect()
}

fn site_record(context: &Context<'_>) -> SiteRecord {
    let request = context.request;
    let site = request.site;
    let degrees = |place: &Place| {
        let at = site.degrees(place);
        PlaceRecord {
            longitude_deg: at.longitude_deg,
            latitude_deg: at.latitude_deg,
        }
    };
    SiteRecord {
        name: site.name.clone(),
        time_zone: site.time_zone.clone(),
        origin: degrees(&Place::zeros()),
        home: degrees(&site.home),
        home_enu_m: [millimetres(site.home.x), millimetres(site.home.y)],
        home_height_above_sea_level_m: request.relief.home_m(),
        area_m2: site.area_m2().round(),
        area: site
            .area
            .iter()
            .map(|region| region_record(site, region))
            .collect(),
        fence: site.fence.as_ref().map(|fence| region_record(site, fence)),
        keep_outs: site
            .keep_outs
            .iter()
            .map(|zone| KeepOutRecord {
                name: zone.name.clone(),
                rings: region_record(site, &zone.region),
                top_height_m: zone.top.map(calibration::Metres::get),
            })
            .collect(),
    }
}

fn camera_record(context: &Context<'_>) -> CameraRecord {
    let profile = context.request.profile;
    CameraRecord {
        id: profile.id.clone(),
        description: profile.description.clone(),
        width_px: profile.camera.width,
        height_px: profile.camera.height,
        focal_px: profile.camera.fx,
        interval_s: context.motion.interval_s(),
        pitch_min_deg: profile.gimbal.map(|limits| limits.pitch_min.to_degrees()),
        pitch_max_deg: profile.gimbal.map(|limits| limits.pitch_max.to_degrees()),
    }
}

fn assumptions(context: &Context<'_>) -> Vec<String> {
    let request = context.request;
    let mut all = request.site.assumptions.clone();
    if matches!(request.relief, Relief::Flat) {
        all.push("the ground is flat at take-off height: no terrain was given".to_owned());
    }
    if request.site.fence.is_none() {
        all.push(format!(
            "no fence is given; the line of sight of {:.0} m about home is the limit",
            context.airspace.line_of_sight_m()
        ));
    }
    if request.profile.min_shutter_interval.is_none() {
        all.push(format!(
            "the camera's shortest interval is not known; {} s is taken from the spec",
            request.spec.camera.min_interval_s
        ));
    }
    if request.profile.gimbal.is_none() && request.spec.gimbal.pitch_min_deg.is_none() {
        all.push(
            "the gimbal's range is not known; every pitch is taken to be reachable".to_owned(),
        );
    }
    if request.profile.rolling_shutter_readout.is_none() {
        all.push(
            "the camera's shutter is taken as global: its readout time is not known".to_owned(),
        );
    }
    all
}

/// What of the promise does not hold.
fn shortcomings(plan: &FlightPlan) -> Vec<String> {
    let mut all = Vec::new();
    for bin in &plan.coverage.bins {
        if bin.n_short > 0 {
            all.push(format!(
                "{}: {} of {} points have fewer than {} views",
                crate::candidates::bin_name(bin.height_m, bin.pitch_down_deg),
                bin.n_short,
                plan.coverage.n_points,
                plan.spec.views.min_per_point
            ));
        }
    }
    if !plan.matching.holds {
        all.push(format!(
            "the photos may not all match: {} groups, {} photos with fewer than {} neighbours",
            plan.matching.n_groups,
            plan.matching.n_short,
            links::MIN_NEIGHBOURS
        ));
    }
    all
}
