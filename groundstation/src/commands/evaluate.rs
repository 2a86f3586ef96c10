//! `groundstation evaluate`: a scene's identities against what is true.

use super::cluster::GroupOptions;
use super::stored::Stored;
use crate::anchor::{self, AnchorConfig};
use crate::detect::{PhotoDetections, SceneDetections};
use crate::entity::{self, Entities, EntityVisibility};
use crate::evaluate::{Calibration, Compared, Evaluation, PositionErrors, Truth, evaluate};
use crate::ingest::Scene;
use crate::review::{ReviewLog, fold};
use crate::scene::SceneFolder;
use clap::{Args, ValueEnum};
use console::{ExitStatus, print_json};
use detector::{Detection, VehicleClass};
use std::path::PathBuf;

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// The scene's folder.
    pub scene: PathBuf,
    /// What is true: a truth.json of the simulator.
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// Whose boxes: the scene's vehicles as they are, or vehicles made from the true boxes of what
    /// is visible.
    #[arg(long, value_enum, default_value = "detected")]
    boxes: Boxes,
    #[command(flatten)]
    group: GroupOptions,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Boxes {
    Detected,
    Truth,
}

pub(super) fn run(args: &EvaluateArgs) -> anyhow::Result<ExitStatus> {
    let folder = SceneFolder::open_to_read(&args.scene)?;
    let mut stored = Stored::read(&folder)?;
    let truth = Truth::read(&args.truth, &stored.scene, &stored.posed)?;
    let (boxes, (entities, visibility)) = match args.boxes {
        Boxes::Detected => ("detected", reviewed(&folder, &stored)?),
        Boxes::Truth => {
            stored.detections = true_boxes(&stored.scene, &truth, stored.detections);
            let config = AnchorConfig::default();
            let (posed, points) = (&stored.posed, &stored.points);
            let (anchored, anchors) = anchor::place_all(posed, points, &stored.detections, &config);
            (stored.anchored, stored.anchors) = (anchored, anchors);
            let made = entity::join(&stored.material(), &args.group.config()?, None);
            ("truth", made)
        }
    };
    let compared = Compared {
        common_sigma: stored.anchored.common_sigma,
        detections: &stored.detections,
        anchors: &stored.anchors,
        entities: &entities,
        visibility: &visibility,
        truth: &truth,
    };
    let evaluation = evaluate(&compared, boxes);
    if args.json {
        print_json(&evaluation)?;
    } else {
        print(&evaluation);
        for warning in &entities.warnings {
            println!("{warning}");
        }
    }
    Ok(ExitStatus::Done)
}

/// The vehicles with what people decided about them.
fn reviewed(
    folder: &SceneFolder,
    stored: &Stored,
) -> anyhow::Result<(Entities, Vec<EntityVisibility>)> {
    let entities = Stored::entities(folder)?;
    let log = ReviewLog::read(folder)?;
    if log.events().is_empty() {
        return Ok((entities, entity::visibility(folder)?));
    }
    let reviewed = fold(&entities, &log.state(), &stored.material());
    Ok((reviewed.entities, reviewed.visibility))
}

/// The boxes of everything visible, as a detector without fault would have them.
fn true_boxes(scene: &Scene, truth: &Truth, found: SceneDetections) -> SceneDetections {
    let photos = scene.photos.iter().zip(&truth.views).map(|(photo, views)| {
        let visible = views.iter().flatten().filter(|view| view.is_visible());
        let mut detections: Vec<Detection> = visible
            .filter_map(|view| {
                let hull = view.oriented_box.hull();
                Some(Detection {
                    oriented_box: view.oriented_box,
                    horizontal_box: hull.clipped(photo.width_px, photo.height_px)?,
                    class: VehicleClass::Vehicle,
                    score: view.visible_fraction.clamp(0.0, 1.0),
                    truncated: view.truncated,
                    corner_sigma_px: None,
                })
            })
            .collect();
        detections.sort_by(|a, b| {
            let place = |d: &Detection| (d.oriented_box.centre().x, d.oriented_box.centre().y);
            let (a_at, b_at) = (place(a), place(b));
            b.score
                .total_cmp(&a.score)
                .then(a_at.0.total_cmp(&b_at.0))
                .then(a_at.1.total_cmp(&b_at.1))
        });
        PhotoDetections {
            photo_id: photo.photo_id.clone(),
            width_px: photo.width_px,
            height_px: photo.height_px,
            detections,
            warnings: Vec::new(),
        }
    });
    SceneDetections {
        photos: photos.collect(),
        summary: found.summary,
    }
}

fn print(found: &Evaluation) {
    let a = &found.agreement;
    let c = &found.count;
    let e = &found.errors;
    let d = &found.detection;
    println!("boxes: {}", found.boxes);
    println!(
        "pairwise F1          {:.4}  (precision {:.4}, recall {:.4})",
        a.pairwise_f1, a.pairwise_precision, a.pairwise_recall
    );
    println!(
        "B-cubed F1           {:.4}  (precision {:.4}, recall {:.4})",
        a.b_cubed_f1, a.b_cubed_precision, a.b_cubed_recall
    );
    println!(
        "V-measure            {:.4}  AssA {:.4}  IDF1 {:.4}",
        a.v_measure, a.ass_a, a.idf1
    );
    println!(
        "cannot-link          {} violations",
        found.cannot_link_violations
    );
    println!(
        "vehicles             {} confirmed of {} visible in three photos and more: {:.3} each \
         ({} true in all, {} entities)",
        c.confirmed, c.visible_vehicles, c.confirmed_per_vehicle, c.vehicles, c.entities
    );
    println!(
        "per 100 vehicles     {:.1} merged wrongly, {:.1} split off ({:.1} of them confirmed); {} \
         detections astray, {} confirmed of nothing",
        e.merges_per_100_vehicles,
        e.splits_per_100_vehicles,
        e.confirmed_splits_per_100_vehicles,
        e.strays,
        e.confirmed_of_nothing
    );
    println!(
        "detection            recall {:.4} of {} visible, precision {:.4} of {}",
        d.recall, d.visible, d.precision, d.detections
    );
    print_places(found);
}

fn print_places(found: &Evaluation) {
    if let Some(common) = &found.alignment {
        let stated = match (common.stated_shift_sigma_m, common.stated_turn_sigma_deg) {
            (Some(shift), Some(turn)) => format!("stated: {shift:.2} m, {turn:.2} degrees"),
            _ => "nothing stated".to_owned(),
        };
        println!(
            "in common            {:+.2} m east, {:+.2} m north, {:+.2} degrees ({stated})",
            common.east_m, common.north_m, common.turn_deg
        );
    }
    for (name, errors) in [
        ("vehicles off by", &found.entity_position),
        ("anchors off by", &found.anchor_position),
    ] {
        if let Some(PositionErrors {
            n,
            median_m,
            p95_m,
            rms_m,
        }) = errors
        {
            println!(
                "{name:<20} {median_m:.3} m median, {p95_m:.3} m at 95 %, {rms_m:.3} m rms ({n})"
            );
        }
    }
    for (name, sigmas) in [
        ("sigmas of vehicles", &found.entity_sigmas),
        ("sigmas of anchors", &found.anchor_sigmas),
    ] {
        if let Some(sigmas) = sigmas {
            println!("{name:<20} {}", in_words(sigmas));
        }
    }
    if let Some(seen) = &found.visibility {
        println!(
            "visibility           {:.1} % of {} photos that should show a vehicle do, {:.1} % of {} \
             that do should",
            100.0 * seen.precision,
            seen.predicted,
            100.0 * seen.recall,
            seen.visible
        );
    }
    if let Some(shape) = &found.shape {
        println!(
            "footprints           length {:.2} m ({:.0} % within sigma), width {:.2} m ({:.0} %), \
             axis {:.1} degrees ({:.0} %), {} of {} fronts right",
            shape.length_median_m,
            100.0 * shape.length_within_one_sigma,
            shape.width_median_m,
            100.0 * shape.width_within_one_sigma,
            shape.axis_median_deg,
            100.0 * shape.axis_within_one_sigma,
            shape.fronts_right,
            shape.fronts_suggested
        );
    }
}

fn in_words(sigmas: &Calibration) -> String {
    format!(
        "{:.1} % within one (long axis {:.1}, short {:.1}; 68 is right), {:.1} % within two; \
         Mahalanobis {:.2} of what it should be (median), {:.2} (mean)",
        100.0 * sigmas.within_one_sigma_share,
        100.0 * sigmas.major_share,
        100.0 * sigmas.minor_share,
        100.0 * sigmas.within_two_sigma_share,
        sigmas.mahalanobis_median_ratio,
        sigmas.mahalanobis_mean_ratio
    )
}
