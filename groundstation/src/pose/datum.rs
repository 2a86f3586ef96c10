//! The level of the take-off point, told by the ground.
//!
//! Barometric heights of a flight have an error in common, half a metre and more. A crew takes off
//! from the ground it photographs, as a rule: where the ground under the photos is flat and about
//! where heights above take-off put zero, it is the better witness.

use super::component::Component;
use crate::ground::Ground;
use calibration::Similarity;
use nalgebra::Vector3;

/// Ground further from zero than this is another level: a take-off from a roof, a slope.
const MAX_OFF_M: f64 = 1.5;
/// Take-off points on flat ground differ from it by a kerb, a table, a pad.
const TAKEOFF_SIGMA_M: f64 = 0.15;
/// Shifts below this are not worth a word.
const WORTH_SAYING_M: f64 = 0.05;
/// Points that fewer photos see are not asked.
const MIN_TRACK: usize = 3;

/// Shifts all components upwards so that the ground under the largest takes its weighted part in
/// saying where zero is; returns what to tell people.
pub(super) fn stand_on_the_ground(components: &mut [Component<'_>]) -> Option<String> {
    let main = components.first()?;
    let ground = ground_under(main);
    let ground_z = ground.typical().z;
    let relief_m = ground.relief_m()?;
    if ground_z.abs() > MAX_OFF_M {
        return None;
    }
    let of_heights = main.alignment.sigma.shift_vertical_m.powi(2);
    let of_ground = TAKEOFF_SIGMA_M.powi(2) + relief_m.powi(2);
    let up_m = -ground_z * of_heights / (of_heights + of_ground);
    let sigma_m = (1.0 / (1.0 / of_heights + 1.0 / of_ground)).sqrt();
    for component in components.iter_mut() {
        raise(component, up_m);
    }
    components[0].alignment.sigma.shift_vertical_m = sigma_m;
    (up_m.abs() >= WORTH_SAYING_M).then(|| {
        format!(
            "the photos' heights put the ground at {ground_z:+.2} m; take-off is taken to be on it: \
             heights changed by {up_m:+.2} m"
        )
    })
}

fn ground_under(component: &Component<'_>) -> Ground {
    let enu_from_solution = component.alignment.enu_from_solution;
    let points: Vec<Vector3<f64>> = component
        .model
        .points
        .iter()
        .filter(|point| point.track.len() >= MIN_TRACK)
        .map(|point| (enu_from_solution * point.point_in_solution).vector)
        .collect();
    Ground::from_points(&points, 0.0, MAX_OFF_M)
}

fn raise(component: &mut Component<'_>, up_m: f64) {
    let alignment = &mut component.alignment;
    let before = alignment.enu_from_solution;
    let translation = before.translation + Vector3::new(0.0, 0.0, up_m);
    alignment.enu_from_solution = Similarity::new(before.scale(), before.rotation, translation)
        .expect("its scale was valid before");
    // Measured minus aligned: what is left per photo stays what it was.
    for offset in &mut alignment.flight_offsets_m {
        offset.z -= up_m;
    }
}
