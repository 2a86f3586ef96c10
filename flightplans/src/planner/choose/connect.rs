//! All heights' photos together: linking photos until all hang together, then a search for a
//! shorter flight with the same promise.

use super::super::shorter::Pool;
use super::{
    BinChoice, Choices, Chosen, Context, Level, PROMISE_STEP_M, ROW_OVER_INTERVAL, Selection, costs,
};
use crate::candidates::{Candidate, Slot};
use crate::cover::{self, RowMates};
use crate::links::{self, Graph, Offer, Seen};
use crate::plan::Purpose;
use std::collections::{BTreeMap, BTreeSet};

/// Plans of fewer photos are as short as they get.
const MIN_SEARCHED: usize = 12;
/// Times that photos which nothing links are replaced by others.
const MAX_REPLACEMENTS: u32 = 4;

/// All heights' photos together, and the linking photos that they need. A photo that nothing links
/// gives way to others that see the same.
pub(super) fn connect(
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
    let order = shorten(context, &levels, &mut best);
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
        order,
        warnings,
    }
}

/// Puts a shorter flight with the same promise in the place of one, if there is one, and says in
/// which order it is flown.
fn shorten(context: &Context<'_>, levels: &[Level], found: &mut Linked) -> Option<Vec<usize>> {
    let rounds = context.request.spec.search.rounds;
    // On the coarse grid of a large area it is not sure what keeps the promise.
    let is_fine = context.ground.step_m() <= PROMISE_STEP_M;
    if !is_fine || !found.graph.holds() || rounds == 0 || found.photos.len() < MIN_SEARCHED {
        return None;
    }
    let pool = Pool::new(context, levels);
    let start: Vec<(usize, usize)> = found.photos.iter().map(|photo| photo.from).collect();
    let shorter = pool.shorter(&start, rounds)?;
    let seen: Vec<Seen> = shorter
        .iter()
        .filter_map(|(level, index)| levels[*level].seen(context, *index).cloned())
        .collect();
    let graph = Graph::of(&seen);
    // The search knows distances between heights to half a metre only.
    if !graph.holds() {
        return None;
    }
    let needed = needed_for_views(context, levels, &shorter);
    found.photos = shorter
        .iter()
        .zip(needed)
        .map(|(&(level, index), is_needed)| {
            let purpose = if is_needed {
                Purpose::Coverage
            } else {
                Purpose::Linking
            };
            levels[level].photo(context, level, index, purpose)
        })
        .collect();
    found.graph = graph;
    Some((0..found.photos.len()).collect())
}

/// Which photos the views need; the others are there for the links.
fn needed_for_views(
    context: &Context<'_>,
    levels: &[Level],
    photos: &[(usize, usize)],
) -> Vec<bool> {
    let is_oblique = is_oblique(context);
    let mut is_needed = vec![true; photos.len()];
    for (number, level) in levels.iter().enumerate() {
        let rows = vec![RowMates::default(); level.candidates.len()];
        let allowed = vec![true; level.candidates.len()];
        let choices = Choices {
            context,
            candidates: &level.candidates,
            is_oblique: &is_oblique,
            costs: level.costs,
            kept: &[],
            rows: &rows,
        };
        let problem = choices.problem(&allowed);
        let own = photos.iter().filter(|(level, _)| *level == number);
        let mut choice = problem.counted(own.map(|(_, index)| *index));
        for (photo, (level, index)) in photos.iter().enumerate() {
            if *level == number && problem.is_superfluous(&choice, *index) {
                problem.remove(&mut choice, *index);
                is_needed[photo] = false;
            }
        }
    }
    is_needed
}

fn is_oblique(context: &Context<'_>) -> Vec<bool> {
    context
        .bins
        .iter()
        .map(|bin| !bin.template.is_nadir())
        .collect()
}

/// Fills in for the loose photos of a level.
fn replace_loose(context: &Context<'_>, level: &mut Level) {
    if level.loose.is_empty() {
        return;
    }
    let is_oblique = is_oblique(context);
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
        let named = |index: usize, purpose| level.photo(context, number, index, purpose);
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
    let mut seen: Vec<Seen> = photos
        .iter()
        .filter_map(|photo| seen_by(context, levels, photo).cloned())
        .collect();
    let mut graph = Graph::of(&seen);
    // First what is on the way anyway, then everything.
    for is_cheap_only in [true, false] {
        if !graph.holds() {
            let added = link(
                context,
                levels,
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
    levels: &[Level],
    photos: &[Chosen],
    seen: &mut Vec<Seen>,
    graph: &mut Graph,
    spare: &[Chosen],
    is_cheap_only: bool,
) -> Vec<Chosen> {
    let extra = Extra::beside(context, photos);
    let offers: Vec<Offer<'_>> = spare
        .iter()
        .enumerate()
        .map(|(index, chosen)| (index, extra.cost_s(&chosen.candidate)))
        .filter(|(_, cost_s)| !is_cheap_only || *cost_s <= extra.row_s)
        .filter_map(|(index, cost_s)| {
            Some(Offer {
                index,
                seen: seen_by(context, levels, &spare[index])?,
                cost_s,
            })
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
    let is_oblique = is_oblique(context);
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

fn seen_by<'a>(context: &Context<'_>, levels: &'a [Level], photo: &Chosen) -> Option<&'a Seen> {
    let (level, index) = photo.from;
    levels[level].seen(context, index)
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
