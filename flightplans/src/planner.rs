//! From a site, a camera and a spec to a plan.

mod assemble;
mod choose;
mod fly;
mod shorter;

use crate::airspace::Airspace;
use crate::candidates::Bin;
use crate::error::PlanError;
use crate::ground::Ground;
use crate::motion::Motion;
use crate::plan::{FlightPlan, Reason};
use crate::site::Site;
use crate::spec::PlanSpec;
use crate::template::Template;
use crate::terrain::Relief;
use calibration::CameraProfile;
use jiff::Timestamp;

/// Points up to which the area is planned on the promise's own grid.
const MAX_FINE_POINTS: f64 = 40_000.0;
/// Points of the planning grid of larger areas.
const COARSE_POINTS: f64 = 160_000.0;
/// The promise's grid, metres.
pub const PROMISE_STEP_M: f64 = 1.0;

/// What a plan is made from.
pub struct Request<'a> {
    /// The site.
    pub site: &'a Site,
    /// The camera.
    pub profile: &'a CameraProfile,
    /// What is asked for.
    pub spec: &'a PlanSpec,
    /// The ground's shape.
    pub relief: &'a Relief,
    /// An earlier plan whose cells are kept, with the SHA-256 of its file.
    pub repeat: Option<(&'a FlightPlan, String)>,
    /// When it is to be flown.
    pub at: Option<Timestamp>,
    /// Told before each round of the search how many are done, and of how many; says whether to go
    /// on. When not, the plan is the best so far.
    pub progress: Option<&'a dyn Fn(u32, u32) -> bool>,
}

/// What every step of planning reads.
struct Context<'a> {
    request: &'a Request<'a>,
    airspace: &'a Airspace<'a>,
    motion: Motion,
    bins: Vec<Bin>,
    ground: Ground,
    margin_m: f64,
}

/// Plans a capture.
///
/// # Errors
/// The spec's numbers cannot be or contradict each other or the site; the earlier plan is another
/// site's; or nothing at all can be flown ([`PlanError::NothingFeasible`] holds the reasons). What
/// can be flown only in part is a plan that says so.
pub fn plan(request: &Request<'_>) -> Result<FlightPlan, PlanError> {
    request.spec.clone().checked()?;
    check_against_site(request)?;
    let airspace = Airspace::of(request.site, request.spec);
    let interval = request
        .profile
        .min_shutter_interval
        .map(calibration::Seconds::get);
    let (ground, margin_m) = planning_grid(request);
    let context = Context {
        request,
        airspace: &airspace,
        motion: Motion::of(request.spec, interval),
        bins: bins(request),
        ground,
        margin_m,
    };
    let selection = choose::choose(&context)?;
    let flown = fly::fly(&context, &selection)?;
    Ok(assemble::assemble(&context, selection, flown))
}

fn check_against_site(request: &Request<'_>) -> Result<(), PlanError> {
    let spec = request.spec;
    let lowest = spec
        .bins
        .heights_m
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    let limit = request
        .site
        .max_height
        .map_or(f64::INFINITY, calibration::Metres::get);
    let limit = limit.min(spec.airspace.max_height_m);
    if lowest > limit && matches!(request.relief, Relief::Flat) {
        return Err(PlanError::Contradiction {
            first: format!("the lowest height of {lowest} m"),
            second: format!("the highest allowed of {limit} m"),
        });
    }
    Ok(())
}

/// The grid to plan on, and how far inside a footprint its points are counted on.
fn planning_grid(request: &Request<'_>) -> (Ground, f64) {
    let margin_m = request.spec.views.border_margin_m;
    let area_m2 = request.site.area_m2();
    if area_m2 <= MAX_FINE_POINTS * PROMISE_STEP_M.powi(2) {
        return (Ground::inside(request.site, PROMISE_STEP_M), margin_m);
    }
    let step_m = (area_m2 / COARSE_POINTS).sqrt().max(PROMISE_STEP_M);
    (
        Ground::around(request.site, step_m),
        margin_m + 0.25 * step_m,
    )
}

fn bins(request: &Request<'_>) -> Vec<Bin> {
    let mut bins = Vec::new();
    for (height_index, &height_m) in request.spec.bins.heights_m.iter().enumerate() {
        for &pitch_down_deg in &request.spec.bins.pitches_deg {
            let template = Template::of(
                &request.profile.camera,
                request.spec,
                height_m,
                pitch_down_deg,
            );
            let reasons = bin_reasons(request, &template);
            bins.push(Bin {
                height_index,
                template,
                reasons,
            });
        }
    }
    bins
}

/// Why nothing of a bin can be flown, wherever the drone is.
fn bin_reasons(request: &Request<'_>, template: &Template) -> Vec<Reason> {
    let spec = request.spec;
    let mut reasons = Vec::new();
    let (min_deg, max_deg) = gimbal_range_deg(request);
    let pitch_deg = -template.pitch_down_deg;
    if pitch_deg < min_deg - 1e-6 || pitch_deg > max_deg + 1e-6 {
        reasons.push(Reason::GimbalLimit {
            pitch_deg,
            min_deg,
            max_deg,
        });
    }
    if template.useful_share < spec.views.min_useful_share {
        reasons.push(Reason::HorizonInFrame {
            useful_share: template.useful_share,
            needed_share: spec.views.min_useful_share,
        });
    }
    let slowest = spec.flight.min_speed_mps;
    if slowest > 0.0 {
        let needed_s = Motion::of(
            spec,
            request
                .profile
                .min_shutter_interval
                .map(calibration::Seconds::get),
        )
        .interval_s();
        let interval_s = template.short_side_m() / 3.0 / slowest;
        if interval_s < needed_s {
            reasons.push(Reason::IntervalTooShort {
                interval_s,
                needed_s,
            });
        }
        let blur_px = slowest * spec.camera.exposure_s / template.gsd_finest_m;
        if blur_px > spec.camera.max_blur_px {
            reasons.push(Reason::Blurred {
                blur_px,
                limit_px: spec.camera.max_blur_px,
            });
        }
    }
    reasons
}

/// The narrower of the spec's and the profile's gimbal range; everything where neither says.
fn gimbal_range_deg(request: &Request<'_>) -> (f64, f64) {
    let profile = request.profile.gimbal;
    let spec = &request.spec.gimbal;
    let low = profile.map_or(-180.0, |limits| limits.pitch_min.to_degrees());
    let high = profile.map_or(180.0, |limits| limits.pitch_max.to_degrees());
    (
        low.max(spec.pitch_min_deg.unwrap_or(-180.0)),
        high.min(spec.pitch_max_deg.unwrap_or(180.0)),
    )
}
