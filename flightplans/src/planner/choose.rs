//! Which cells: for each height the cheaper of grids and rings that gives every point its views,
//! then linking photos until all photos hang together.

use super::{Context, PROMISE_STEP_M};
use crate::airspace::Station;
use crate::candidates::{Candidate, Scene, Slot};
use crate::cover::{self, Costs, Demand, Problem, RowMates};
use crate::error::PlanError;
use crate::ground::Ground;
use crate::links::{self, Graph, Offer, Seen};
use crate::motion;
use crate::plan::{Cell, Pattern, Purpose, Reason};
use crate::plane::Place;
use crate::template;
use calibration::Point;
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
struct Level {
    candidates: Vec<Candidate>,
    /// Ids that differ from the candidates' own: those of an earlier plan.
    ids: BTreeMap<usize, String>,
    chosen: Vec<usize>,
    /// Earlier cells among them.
    kept: Vec<usize>,
    infeasible: Vec<usize>,
    pattern: Pattern,
    /// Feasible cells that no photo matches well enough.
    loose: BTreeSet<usize>,
}

pub(super) fn choose(context: &Context<'_>) -> Result<Selection, PlanError> {
    let mut warnings = Vec::new();
    let mut bins = vec![BinChoice::default(); context.bins.len()];
    let mut levels = Vec::new();
    let mut first_place = 0;
    let earlier = earlier_cells(context, &mut warnings)?;
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
    Ok(connect(context, levels, bins, warnings))
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

/// The cells that an earlier plan flew, if there is one.
fn earlier_cells<'a>(
    context: &Context<'a>,
    warnings: &mut Vec<String>,
) -> Result<Vec<&'a Cell>, PlanError> {
    let Some((plan, _)) = &context.request.repeat else {
        return Ok(Vec::new());
    };
    let origin = context.request.site.degrees(&Place::zeros());
    let metres_a_degree = 111_195.0;
    let distance_m = metres_a_degree
        * (plan.site.origin.latitude_deg - origin.latitude_deg).hypot(
            (plan.site.origin.longitude_deg - origin.longitude_deg)
                * origin.latitude_deg.to_radians().cos(),
        );
    let size_m = context.request.site.area_m2().sqrt();
    if distance_m > size_m.max(100.0) {
        return Err(PlanError::OtherSite { distance_m });
    }
    if plan.camera.id != context.request.profile.id {
        warnings.push(format!(
            "the earlier plan was for the camera {}, this one is for {}: the same poses see other \
             footprints",
            plan.camera.id, context.request.profile.id
        ));
    }
    let (kept, dropped): (Vec<&Cell>, Vec<&Cell>) = plan
        .planned()
        .partition(|cell| bin_of(context, cell).is_some());
    if !dropped.is_empty() {
        warnings.push(format!(
            "{} cells of the earlier plan are of heights or pitches that the spec does not ask for \
             any more; they are left out",
            dropped.len()
        ));
    }
    Ok(kept)
}

fn bin_of(context: &Context<'_>, cell: &Cell) -> Option<usize> {
    context.bins.iter().position(|bin| {
        bin.template.height_m == cell.height_m && bin.template.pitch_down_deg == cell.pitch_down_deg
    })
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
    let (earlier, ids) = add_earlier(context, &scene, height_index, earlier, &mut candidates);
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
        loose: BTreeSet::new(),
        ids,
        candidates,
    };
    repair(context, &mut level, &is_oblique, costs, pattern);
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

/// Cells of an earlier plan as candidates of their own, with their ids.
fn add_earlier(
    context: &Context<'_>,
    scene: &Scene<'_>,
    height_index: usize,
    earlier: &[&Cell],
    candidates: &mut Vec<Candidate>,
) -> (Vec<usize>, BTreeMap<usize, String>) {
    let (mut kept, mut ids) = (Vec::new(), BTreeMap::new());
    for cell in earlier {
        let Some(bin) = bin_of(context, cell) else {
            continue;
        };
        if context.bins[bin].height_index != height_index {
            continue;
        }
        let same = candidates
            .iter()
            .position(|c| c.bin == bin && c.id(&context.bins) == cell.id);
        match same {
            Some(index) if scene.is_same_pose(&candidates[index], cell) => kept.push(index),
            _ => {
                let next_place = candidates.iter().map(|c| c.place_index + 1).max();
                let place_index = next_place.unwrap_or_default();
                ids.insert(candidates.len(), cell.id.clone());
                kept.push(candidates.len());
                candidates.push(scene.of_cell(cell, bin, place_index));
            }
        }
    }
    (kept, ids)
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

/// Closes what the coarse planning grid of a large area missed, on the promise's own grid.
fn repair(
    context: &Context<'_>,
    level: &mut Level,
    is_oblique: &[bool],
    costs: Costs,
    pattern: Pattern,
) {
    if context.ground.step_m() <= PROMISE_STEP_M {
        return;
    }
    let fine = Ground::inside(context.request.site, PROMISE_STEP_M);
    let spec = context.request.spec;
    let hull = |candidate: &Candidate| {
        let template = &context.bins[candidate.bin].template;
        template.hull_at(&candidate.place, candidate.yaw_deg)
    };
    let mut short = vec![fine.none(); context.bins.len()];
    let mut counts: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for &index in &level.chosen {
        let candidate = &level.candidates[index];
        let counts = counts
            .entry(candidate.bin)
            .or_insert_with(|| vec![0; fine.table_len()]);
        let spans = fine.spans(&hull(candidate), 0.0);
        fine.all().for_each(&spans, |point| {
            counts[point] = counts[point].saturating_add(1)
        });
    }
    let mut is_short = false;
    for (bin, counts) in &counts {
        for (point, _) in fine.points() {
            if u32::from(counts[point]) < spec.views.min_per_point {
                short[*bin].insert(point);
                is_short = true;
            }
        }
    }
    if !is_short {
        return;
    }
    // Only those that would help, seen on the fine grid.
    let mut kept = Vec::new();
    let mut allowed = Vec::new();
    let mut helpful: Vec<Candidate> = Vec::new();
    let mut origin = Vec::new();
    let chosen: BTreeSet<usize> = level.chosen.iter().copied().collect();
    for (index, candidate) in level.candidates.iter().enumerate() {
        let is_chosen = chosen.contains(&index);
        let fits = candidate.pattern == pattern || !is_oblique[candidate.bin];
        if !(is_chosen || candidate.is_feasible() && fits) {
            continue;
        }
        let spans = fine.spans(&hull(candidate), if is_chosen { 0.0 } else { 0.5 });
        if !is_chosen && short[candidate.bin].covered(&spans) == 0 {
            continue;
        }
        if is_chosen {
            kept.push(helpful.len());
        }
        allowed.push(true);
        origin.push(index);
        helpful.push(Candidate {
            spans,
            ..candidate.clone()
        });
    }
    let problem = Problem {
        ground: &fine,
        candidates: &helpful,
        allowed: &allowed,
        is_oblique,
        demand: Demand {
            views: spec.views.min_per_point as u8,
            headings: 1,
        },
        costs,
        n_headings: spec.bins.headings_deg.len(),
        rows: &cover::row_mates(&helpful),
    };
    level.chosen = problem
        .solve(&kept, 0)
        .into_iter()
        .map(|index| origin[index])
        .collect();
}

/// Times that photos which nothing links are replaced by others.
const MAX_REPLACEMENTS: u32 = 4;

/// All heights' photos together, and the linking photos that they need. A photo that nothing links
/// gives way to others that see the same.
fn connect(
    context: &Context<'_>,
    mut levels: Vec<Level>,
    bins: Vec<BinChoice>,
    warnings: Vec<String>,
) -> Selection {
    let mut best = linked(context, &levels);
    let is_fine = context.ground.step_m() <= PROMISE_STEP_M;
    for _ in 0..MAX_REPLACEMENTS {
        if !is_fine || best.graph.holds() {
            break;
        }
        for photo in best.graph.loose() {
            let (level, index) = best.photos[photo].from;
            if !levels[level].kept.contains(&index) {
                levels[level].loose.insert(index);
            }
        }
        levels
            .iter_mut()
            .for_each(|level| replace_loose(context, level));
        let next = linked(context, &levels);
        let rank = |linked: &Linked| (linked.graph.n_groups(), linked.graph.n_short());
        if rank(&next) < rank(&best) {
            best = next;
        }
    }
    let Linked {
        mut photos,
        mut infeasible,
        graph,
    } = best;
    make_ids_unique(&mut photos, &mut infeasible);
    Selection {
        photos,
        infeasible,
        bins,
        graph,
        warnings,
    }
}

/// Fills in for the loose photos of a level.
fn replace_loose(context: &Context<'_>, level: &mut Level) {
    if level.loose.is_empty() {
        return;
    }
    let is_oblique: Vec<bool> = context
        .bins
        .iter()
        .map(|bin| !bin.template.is_nadir())
        .collect();
    let rows = cover::row_mates(&level.candidates);
    level.chosen.retain(|index| !level.loose.contains(index));
    let choices = Choices {
        context,
        candidates: &level.candidates,
        is_oblique: &is_oblique,
        costs: costs(context, context.bins[0].template.short_side_m() / 3.0),
        kept: &level.chosen,
        rows: &rows,
    };
    let mut allowed = choices.feasible(level.pattern);
    level.loose.iter().for_each(|index| allowed[*index] = false);
    level.chosen = choices.solve(&allowed, 0).chosen;
}

/// Chosen and linking photos with their pairs.
struct Linked {
    photos: Vec<Chosen>,
    infeasible: Vec<Chosen>,
    graph: Graph,
}

fn linked(context: &Context<'_>, levels: &[Level]) -> Linked {
    let mut photos = Vec::new();
    let mut infeasible = Vec::new();
    let mut spare = Vec::new();
    for (number, level) in levels.iter().enumerate() {
        let chosen: BTreeSet<usize> = level.chosen.iter().copied().collect();
        let named = |index: usize, purpose| Chosen {
            id: level
                .ids
                .get(&index)
                .cloned()
                .unwrap_or_else(|| level.candidates[index].id(&context.bins)),
            candidate: level.candidates[index].clone(),
            purpose,
            from: (number, index),
        };
        photos.extend(
            level
                .chosen
                .iter()
                .map(|index| named(*index, Purpose::Coverage)),
        );
        infeasible.extend(
            level
                .infeasible
                .iter()
                .map(|index| named(*index, Purpose::None)),
        );
        spare.extend(
            (0..level.candidates.len())
                .filter(|index| !chosen.contains(index) && !level.loose.contains(index))
                .filter(|index| level.candidates[*index].is_feasible())
                .map(|index| named(index, Purpose::Linking)),
        );
    }
    let mut seen: Vec<Seen> = photos.iter().filter_map(|p| seen_by(context, p)).collect();
    let mut graph = Graph::of(&seen);
    // First what is on the way anyway, then everything.
    for is_cheap_only in [true, false] {
        if !graph.holds() {
            let added = link(
                context,
                &photos,
                &mut seen,
                &mut graph,
                &spare,
                is_cheap_only,
            );
            let names: BTreeSet<String> = added.iter().map(|chosen| chosen.id.clone()).collect();
            spare.retain(|chosen| !names.contains(&chosen.id));
            photos.extend(added);
        }
    }
    graph = thin(context, levels, &mut photos, graph);
    Linked {
        photos,
        infeasible,
        graph,
    }
}

/// Linking photos out of the spare ones.
fn link(
    context: &Context<'_>,
    photos: &[Chosen],
    seen: &mut Vec<Seen>,
    graph: &mut Graph,
    spare: &[Chosen],
    is_cheap_only: bool,
) -> Vec<Chosen> {
    let extra = Extra::beside(context, photos);
    let offers_seen: Vec<(usize, f64, Seen)> = spare
        .iter()
        .enumerate()
        .map(|(index, chosen)| (index, extra.cost_s(&chosen.candidate)))
        .filter(|(_, cost_s)| !is_cheap_only || *cost_s <= extra.row_s)
        .filter_map(|(index, cost_s)| Some((index, cost_s, seen_by(context, &spare[index])?)))
        .collect();
    let offers: Vec<Offer<'_>> = offers_seen
        .iter()
        .map(|(index, cost_s, seen)| Offer {
            index: *index,
            seen,
            cost_s: *cost_s,
        })
        .collect();
    links::connect(seen, graph, &offers)
        .into_iter()
        .map(|index| spare[index].clone())
        .collect()
}

/// Takes back photos that neither the views nor the links need: linking photos see the area too.
/// Those alone at their place go first.
fn thin(context: &Context<'_>, levels: &[Level], photos: &mut Vec<Chosen>, graph: Graph) -> Graph {
    // On the coarse grid of a large area it is not sure what is superfluous.
    if context.ground.step_m() > PROMISE_STEP_M {
        return graph;
    }
    let is_oblique: Vec<bool> = context
        .bins
        .iter()
        .map(|bin| !bin.template.is_nadir())
        .collect();
    let mut is_gone = vec![false; photos.len()];
    let mut at_place: BTreeMap<usize, usize> = BTreeMap::new();
    for photo in photos.iter() {
        *at_place.entry(photo.candidate.place_index).or_default() += 1;
    }
    for (number, level) in levels.iter().enumerate() {
        let rows = vec![RowMates::default(); level.candidates.len()];
        let allowed = vec![true; level.candidates.len()];
        let choices = Choices {
            context,
            candidates: &level.candidates,
            is_oblique: &is_oblique,
            costs: costs(context, 1.0),
            kept: &[],
            rows: &rows,
        };
        let problem = choices.problem(&allowed);
        let mut own: Vec<usize> = (0..photos.len())
            .filter(|photo| photos[*photo].from.0 == number)
            .collect();
        let mut choice = problem.counted(own.iter().map(|photo| photos[*photo].from.1));
        own.retain(|photo| {
            !level.ids.contains_key(&photos[*photo].from.1)
                && !level.kept.contains(&photos[*photo].from.1)
        });
        own.sort_by_key(|photo| (at_place[&photos[*photo].candidate.place_index], *photo));
        for photo in own {
            let index = photos[photo].from.1;
            if problem.is_superfluous(&choice, index) && graph.holds_without(photo, &is_gone) {
                problem.remove(&mut choice, index);
                is_gone[photo] = true;
            }
        }
    }
    let mut gone = is_gone.iter();
    photos.retain(|_| !gone.next().copied().unwrap_or(false));
    graph.without(&is_gone)
}

/// What a photo more costs beside others.
struct Extra {
    photo_s: f64,
    row_s: f64,
    place_s: f64,
    places: BTreeSet<usize>,
    cells: BTreeSet<(usize, Slot)>,
}

impl Extra {
    fn beside(context: &Context<'_>, photos: &[Chosen]) -> Self {
        let motion = &context.motion;
        let photo_s = motion.interval_s().max(1.0);
        let steps = context.bins.iter().map(|bin| bin.template.short_side_m());
        let step_m = steps.fold(f64::INFINITY, f64::min) / 3.0;
        let hop_s = motion.straight_s(1.5 * step_m, 0.0) + motion.settle_s();
        Self {
            photo_s,
            row_s: ROW_OVER_INTERVAL * photo_s,
            place_s: photo_s + hop_s,
            places: photos.iter().map(|p| p.candidate.place_index).collect(),
            cells: photos
                .iter()
                .map(|p| (p.candidate.bin, p.candidate.slot))
                .collect(),
        }
    }

    fn cost_s(&self, extra: &Candidate) -> f64 {
        if self.places.contains(&extra.place_index) {
            return self.photo_s;
        }
        let is_beside = cover::slots_beside(extra.slot)
            .into_iter()
            .any(|slot| self.cells.contains(&(extra.bin, slot)));
        if is_beside { self.row_s } else { self.place_s }
    }
}

pub(super) fn seen_by(context: &Context<'_>, chosen: &Chosen) -> Option<Seen> {
    let candidate = &chosen.candidate;
    let bins = &context.bins;
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
    .map(Seen::of)
}

/// A new cell may have the number of an earlier one whose pose differs, when the site changed.
fn make_ids_unique(photos: &mut [Chosen], infeasible: &mut [Chosen]) {
    let mut used = BTreeSet::new();
    for chosen in photos.iter_mut().chain(infeasible) {
        let mut id = chosen.id.clone();
        while !used.insert(id.clone()) {
            id.push('b');
        }
        chosen.id = id;
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
