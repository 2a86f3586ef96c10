//! Cells of an earlier plan: kept, so that months compare.

use super::Context;
use crate::candidates::{Candidate, Scene};
use crate::error::PlanError;
use crate::plan::Cell;
use crate::plane::Place;
use std::collections::BTreeMap;

/// The cells that an earlier plan flew, if there is one.
pub(super) fn cells<'a>(
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

/// Cells of an earlier plan as candidates of their own, with their ids.
pub(super) fn add(
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
