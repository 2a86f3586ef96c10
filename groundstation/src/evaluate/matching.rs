//! Which true vehicle each detection is of.

use super::DetectionShare;
use super::truth::{TrueView, Truth};
use crate::detect::SceneDetections;
use detector::OrientedBox;
use std::collections::BTreeMap;

/// A detection is of a vehicle when their boxes overlap by this much.
const MIN_IOU: f64 = 0.5;

/// The vehicle of every detection in photos that the truth knows, by photo and detection.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// `None` for a box of nothing.
    pub vehicle_of: BTreeMap<(usize, usize), Option<usize>>,
}

impl Matching {
    /// Matches a scene's detections.
    #[must_use]
    pub fn of(detections: &SceneDetections, truth: &Truth) -> Self {
        let mut vehicle_of = BTreeMap::new();
        for (photo, (found, views)) in detections.photos.iter().zip(&truth.views).enumerate() {
            let Some(views) = views else {
                continue;
            };
            let boxes: Vec<OrientedBox> = found.detections.iter().map(|d| d.oriented_box).collect();
            for (detection, view) in match_photo(&boxes, views).into_iter().enumerate() {
                vehicle_of.insert((photo, detection), view.map(|view| views[view].vehicle));
            }
        }
        Self { vehicle_of }
    }

    /// Recall and precision of the boxes.
    pub(super) fn share(&self, truth: &Truth) -> DetectionShare {
        let found: std::collections::BTreeSet<(usize, usize)> = self
            .vehicle_of
            .iter()
            .filter_map(|(&(photo, _), &vehicle)| Some((photo, vehicle?)))
            .collect();
        let (mut visible, mut visible_found) = (0, 0);
        for (photo, views) in truth.views.iter().enumerate() {
            for view in views.iter().flatten().filter(|view| view.is_visible()) {
                visible += 1;
                visible_found += usize::from(found.contains(&(photo, view.vehicle)));
            }
        }
        let detections = self.vehicle_of.len();
        let matched = found.len();
        DetectionShare {
            detections,
            matched,
            visible,
            visible_found,
            recall: visible_found as f64 / visible.max(1) as f64,
            precision: matched as f64 / detections.max(1) as f64,
        }
    }
}

/// The view each box is of: pairs by falling overlap, at least a half, each used once.
#[must_use]
pub fn match_photo(boxes: &[OrientedBox], views: &[TrueView]) -> Vec<Option<usize>> {
    let mut pairs = Vec::new();
    for (at, found) in boxes.iter().enumerate() {
        for (view, truth) in views.iter().enumerate() {
            let iou = found.iou(&truth.oriented_box);
            if iou >= MIN_IOU {
                pairs.push((iou, at, view));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken = vec![None; boxes.len()];
    let mut used = vec![false; views.len()];
    for (_, at, view) in pairs {
        if taken[at].is_none() && !used[view] {
            taken[at] = Some(view);
            used[view] = true;
        }
    }
    taken
}
