//! Which cells: for each height the cheaper of grids and rings that gives every point its views,
//! then linking photos until all photos hang together.

mod connect;
mod earlier;
mod repair;

use super::{Context, PROMISE_STEP_M};
use crate::airspace::Station;
use crate::candidates::{Candidate, Scene};
use crate::cover::{self, Costs, Demand, Problem, RowMates};
use crate::error::PlanError;
use crate::ground::Ground;
use crate::links::{Graph, Seen};
use crate::motion;
use crate::plan::{Cell, Pattern, Purpose, Reason};
use crate::template;
use crate::terrain::Relief;
use calibration::Point;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Rebuilding rounds of a small site, per comparison of patterns and for the choice itself.
const TRIAL_ROUNDS: u32 = 4;
const FINAL_ROUNDS: u32 = 24;
/// What a photo of a row takes, in shutter intervals: rows are short, and their ends are flown from
/// rest.
const ROW_OVER_INTERVAL: f64 = 1.75;
/// Candidates times points beyond which rebuilding is left out.
const MAX_REBUILT: usize = 400_000_000;

/// The chosen cells.
pub(super) struct Selection {
    /// Feasible and needed.
    pub(super) photos: Vec<Chosen>,
    /// Wanted and infeasible.
    pub(super) infeasible: Vec<Chosen>,
    /// By bin.
    pub(super) bins: Vec<BinChoice>,
    /// The photos' pairs, in the photos' order.
    pub(super) graph: Graph,
    /// The order that the search for a short flight found, by index.
    pub(super) order: Option<Vec<usize>>,
    /// What a crew should know.
    pub(super) warnings: Vec<String>,
}

/// A candidate with its id and purpose.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) id: String,
    pub(super) candidate: Candidate,
    pub(super) purpose: Purpose,
    /// Its level and its index there.
    from: (usize, usize),
}

/// How a bin was decided.
#[derive(Clone, Default)]
pub(super) struct BinChoice {
    pub(super) pattern: Option<Pattern>,
    pub(super) why: String,
    pub(super) n_infeasible: usize,
    pub(super) n_feasible: usize,
}

/// One height's candidates and what was chosen among them.
pub(super) struct Level {
    pub(super) candidates: Vec<Candidate>,
    /// What each candidate sees, once it was asked for.
    seen: Vec<OnceCell<Option<Seen>>>,
    /// Ids that differ from the candidates' own: those of an earlier plan.
    ids: BTreeMap<usize, String>,
    chosen: Vec<usize>,
    /// Earlier cells among them.
    pub(super) kept: Vec<usize>,
    infeasible: Vec<usize>,
    pub(super) pattern: Pattern,
    /// What photos cost here.
    pub(super) costs: Costs,
    /// Feasible cells that no photo matches well enough.
    pub(super) loose: BTreeSet<usize>,
}

impl Level {
    /// What a candidate sees; `None` where nothing lies within the limits.
    pub(super) fn seen(&self, context: &Context<'_>, index: usize) -> Option<&Seen> {
        self.seen[index]
            .get_or_init(|| seen_of(context, &self.candidates[index]))
            .as_ref()
    }

    /// A candidate as a photo of the plan.
    fn photo(
        &self,
        context: &Context<'_>,
        number: usize,
        index: usize,
        purpose: Purpose,
    ) -> Chosen {
        let candidate = &self.candidates[index];
        let id = self.ids.get(&index).cloned();
        Chosen {
            id: id.unwrap_or_else(|| candidate.id(&context.bins)),
            candidate: candidate.clone(),
            purpose,
            from: (number, index),
        }
    }
}

fn seen_of(context: &Context<'_>, candidate: &Candidate) -> Option<Seen> {
    let bins = &context.bins;
    let yaw = (candidate.yaw_deg * 1e6).round() as u64;
    let is_level = matches!(context.request.relief, Relief::Flat);
    let kind = is_level.then_some((candidate.bin as u64) << 32 | yaw);
    let centre = Point::new(
        candidate.place.x,
        candidate.place.y,
        candidate.height_m(bins),
    );
    template::view_at(
        &context.request.profile.camera,
        centre,
        candidate.ground_m,
        candidate.yaw_deg,
        bins[candidate.bin].template.pitch_down_deg,
    )
    .footprint(&template::limits(context.request.spec))
    .map(|footprint| Seen::of(footprint, kind))
}

pub(super) fn choose(context: &Context<'_>) -> Result<Selection, PlanError> {
    let mut warnings = Vec::new();
    let mut bins = vec![BinChoice::default(); context.bins.len()];
    let mut levels = Vec::new();
    let mut first_place = 0;
    let earlier = earlier::cells(context, &mut warnings)?;
    for height_index in 0..context.request.spec.bins.heights_m.len() {
        let level = level(context, height_index, first_place, &earlier, &mut bins);
        first_place = level
            .candidates
            .iter()
            .map(|candidate| candidate.place_index + 1)
            .max()
            .unwrap_or(first_place);
        levels.push(level);
    }
    if levels.iter().all(|level| level.chosen.is_empty()) {
        return Err(nothing(context, &levels));
    }
    Ok(connect::connect(context, levels, bins, warnings))
}

fn scene<'a>(context: &'a Context<'_>, ground: &'a Ground, margin_m: f64) -> Scene<'a> {
    Scene {
        site: context.request.site,
        spec: context.request.spec,
        airspace: context.airspace,
        relief: context.request.relief,
        ground,
        bins: &context.bins,
        margin_m,
    }
}

/// One height as covering problems.
struct Choices<'a> {
    context: &'a Context<'a>,
    candidates: &'a [Candidate],
    is_oblique: &'a [bool],
    costs: Costs,
    /// Earlier cells that can be flown.
    kept: &'a [usize],
    rows: &'a [RowMates],
}

/// What one pattern comes to.
struct Trial {
    unmet: usize,
    cost_s: f64,
    chosen: Vec<usize>,
}

impl Choices<'_> {
    fn problem<'b>(&'b self, allowed: &'b [bool]) -> Problem<'b> {
        let spec = self.context.request.spec;
        Problem {
            ground: &self.context.ground,
            candidates: self.candidates,
            allowed,
            is_oblique: self.is_oblique,
            demand: Demand {
                views: spec.views.min_per_point as u8,
                headings: spec.views.min_headings as u8,
            },
            costs: self.costs,
            n_headings: spec.bins.headings_deg.len(),
            rows: self.rows,
        }
    }

    fn fits(&self, candidate: &Candidate, pattern: Pattern) -> bool {
        candidate.pattern == pattern || !self.is_oblique[candidate.bin]
    }

    fn feasible(&self, pattern: Pattern) -> Vec<bool> {
        self.candidates
            .iter()
            .map(|c| c.is_feasible() && self.fits(c, pattern))
            .collect()
    }

    fn solve(&self, allowed: &[bool], rounds: u32) -> Trial {
        let size = self
            .candidates
            .len()
            .saturating_mul(self.context.ground.len());
        let rounds = if size > MAX_REBUILT { 0 } else { rounds };
        let problem = self.problem(allowed);
        let chosen = problem.solve(self.kept, rounds);
        Trial {
            unmet: problem.unmet(&chosen).iter().sum(),
            cost_s: problem.cost_of(&chosen),
            chosen,
        }
    }

    /// Infeasible cells that would be chosen if everything could be flown, and earlier ones: the
    /// ones to name.
    fn infeasible(&self, pattern: Pattern, earlier: &[usize]) -> Vec<usize> {
        if self.candidates.iter().all(Candidate::is_feasible) {
            return Vec::new();
        }
        let all: Vec<bool> = self
            .candidates
            .iter()
            .map(|c| self.fits(c, pattern))
            .collect();
        let mut found: Vec<usize> = self
            .problem(&all)
            .solve(&[], 0)
            .into_iter()
            .chain(earlier.iter().copied())
            .filter(|index| !self.candidates[*index].is_feasible())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Chooses the cells of one height.
fn level(
    context: &Context<'_>,
    height_index: usize,
    first_place: usize,
    earlier: &[&Cell],
    bins: &mut [BinChoice],
) -> Level {
    let scene = scene(context, &context.ground, context.margin_m);
    let mut candidates = scene.candidates(height_index, first_place);
    let (earlier, ids) = earlier::add(context, &scene, height_index, earlier, &mut candidates);
    exclude_unreachable(context, &mut candidates);
    let kept: Vec<usize> = earlier
        .iter()
        .copied()
        .filter(|index| candidates[*index].is_feasible())
        .collect();
    let is_oblique: Vec<bool> = context
        .bins
        .iter()
        .map(|bin| !bin.template.is_nadir())
        .collect();
    let costs = costs(context, scene.grid_steps_m(height_index).0);
    let rows = cover::row_mates(&candidates);
    let choices = Choices {
        context,
        candidates: &candidates,
        is_oblique: &is_oblique,
        costs,
        kept: &kept,
        rows: &rows,
    };
    let (grid, ring) = (
        choices.feasible(Pattern::Grid),
        choices.feasible(Pattern::Ring),
    );
    let by_grid = choices.solve(&grid, TRIAL_ROUNDS);
    let by_ring = choices.solve(&ring, TRIAL_ROUNDS);
    let pattern = if (by_ring.unmet, by_ring.cost_s) < (by_grid.unmet, by_grid.cost_s) {
        Pattern::Ring
    } else {
        Pattern::Grid
    };
    let (allowed, trial) = match pattern {
        Pattern::Ring => (&ring, &by_ring),
        Pattern::Grid => (&grid, &by_grid),
    };
    let last = choices.solve(allowed, FINAL_ROUNDS);
    let why = reason_for(context, pattern, &by_grid, &by_ring);
    record_bins(context, height_index, pattern, &why, &candidates, bins);
    let mut level = Level {
        chosen: if last.cost_s < trial.cost_s {
            last.chosen
        } else {
            trial.chosen.clone()
        },
        infeasible: choices.infeasible(pattern, &earlier),
        kept: kept.clone(),
        pattern,
        costs,
        loose: BTreeSet::new(),
        ids,
        seen: vec![OnceCell::new(); candidates.len()],
        candidates,
    };
    repair::repair(context, &mut level, &is_oblique, costs, pattern);
    level
}

/// What a photo, a turn and a place cost: about the time of each with the drone's own numbers.
fn costs(context: &Context<'_>, step_m: f64) -> Costs {
    let motion = &context.motion;
    let spec = context.request.spec;
    let turn_s = 90.0 / spec.flight.yaw_rate_deg_s + motion.settle_s();
    let hop_s = motion::rest_to_rest_s(
        1.3 * step_m,
        motion.cruise_mps(),
        motion.acceleration_mps2(),
    ) + motion.settle_s();
    let photo_s = motion
        .interval_s()
        .max(15.0 / spec.gimbal.pitch_rate_deg_s + motion.settle_s());
    Costs {
        photo_s,
        turn_s: (turn_s - photo_s).max(0.1),
        place_s: (hop_s - photo_s).max(0.1),
        row_s: if spec.flight.fly_through {
            ROW_OVER_INTERVAL * motion.interval_s().max(1.0)
        } else {
            hop_s
        },
    }
}

/// Adds reasons to candidates that no way leads to, or that a battery does not reach.
fn exclude_unreachable(context: &Context<'_>, candidates: &mut [Candidate]) {
    let home = context.request.site.home;
    let limit_s = context.request.spec.usable_flight_s();
    for candidate in candidates.iter_mut().filter(|c| c.is_feasible()) {
        let station = Station {
            place: candidate.place,
            height_m: candidate.height_m(&context.bins),
        };
        if !context.airspace.is_reachable(&station) {
            candidate.reasons.push(Reason::Unreachable);
            continue;
        }
        let there = (station.place - home).norm();
        let motion = &context.motion;
        let needed_s = 2.0 * motion.straight_s(there, 0.0)
            + motion.vertical_s(station.height_m)
            + motion.vertical_s(-station.height_m)
            + motion.settle_s();
        if needed_s > limit_s {
            candidate
                .reasons
                .push(Reason::BeyondBattery { needed_s, limit_s });
        }
    }
}

fn reason_for(context: &Context<'_>, pattern: Pattern, grid: &Trial, ring: &Trial) -> String {
    let point_m2 = context.ground.step_m().powi(2);
    let words = |name: &str, trial: &Trial| {
        let (photos, cost_s) = (trial.chosen.len(), trial.cost_s);
        format!("{name} take {photos} photos and about {cost_s:.0} s")
    };
    let (grids, rings) = (words("grids", grid), words("rings", ring));
    let (taken, other) = match pattern {
        Pattern::Grid => (&grids, "rings"),
        Pattern::Ring => (&rings, "grids"),
    };
    let missing_m2 = grid.unmet.abs_diff(ring.unmet) as f64 * point_m2;
    if missing_m2 > 0.0 {
        return format!("{taken}; {other} would leave views missing on {missing_m2:.0} m2");
    }
    match pattern {
        Pattern::Grid => format!("{grids}, {rings}"),
        Pattern::Ring => format!("{rings}, {grids}"),
    }
}

fn record_bins(
    context: &Context<'_>,
    height_index: usize,
    pattern: Pattern,
    why: &str,
    candidates: &[Candidate],
    bins: &mut [BinChoice],
) {
    for (index, bin) in context.bins.iter().enumerate() {
        if bin.height_index != height_index {
            continue;
        }
        let pattern = if bin.template.is_nadir() {
            Pattern::Grid
        } else {
            pattern
        };
        let own = candidates
            .iter()
            .filter(|c| c.bin == index && c.pattern == pattern);
        let (feasible, infeasible): (Vec<_>, Vec<_>) = own.partition(|c| c.is_feasible());
        bins[index] = BinChoice {
            pattern: (!feasible.is_empty()).then_some(pattern),
            why: match (feasible.is_empty(), bin.template.is_nadir()) {
                (true, _) => "no cell of it can be flown".to_owned(),
                (_, true) => "a grid: straight down there are no headings".to_owned(),
                _ => why.to_owned(),
            },
            n_infeasible: infeasible.len(),
            n_feasible: feasible.len(),
        };
    }
}

fn nothing(context: &Context<'_>, levels: &[Level]) -> PlanError {
    let mut lines = Vec::new();
    for (index, bin) in context.bins.iter().enumerate() {
        let name = crate::candidates::bin_name(bin.template.height_m, bin.template.pitch_down_deg);
        let own = levels
            .iter()
            .flat_map(|level| &level.candidates)
            .filter(|c| c.bin == index);
        let least = own.min_by_key(|c| c.reasons.len());
        let reasons = match least {
            Some(candidate) => candidate.reasons.clone(),
            None => bin.reasons.clone(),
        };
        let words: Vec<String> = reasons.iter().map(Reason::to_string).collect();
        let words = if words.is_empty() {
            "nothing of the area lies within the limits of range and resolution".to_owned()
        } else {
            words.join("; ")
        };
        lines.push(format!("  {name}: {words}"));
    }
    PlanError::NothingFeasible {
        reasons: lines.join("\n"),
    }
}
