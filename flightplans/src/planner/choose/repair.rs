//! What the coarse planning grid of a large area missed.

use super::{Context, Level, PROMISE_STEP_M};
use crate::candidates::Candidate;
use crate::cover::{self, Costs, Demand, Problem};
use crate::ground::Ground;
use crate::plan::Pattern;
use std::collections::{BTreeMap, BTreeSet};

/// Closes what the coarse planning grid of a large area missed, on the promise's own grid.
pub(super) fn repair(
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
