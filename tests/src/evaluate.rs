//! Poses and anchors against what is true, with geometry of its own.

use nalgebra::{Matrix2, Matrix3, Quaternion, Rotation2, UnitQuaternion, Vector2, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The current output folder of a room of a scene.
///
/// # Panics
/// When the room has not run.
#[must_use]
pub fn room_folder(scene: &Path, room: &str) -> PathBuf {
    let rooms = scene.join("rooms").join(room);
    let current = std::fs::read_to_string(rooms.join("current"))
        .unwrap_or_else(|error| panic!("{room} of {} has no output: {error}", scene.display()));
    rooms.join(current.trim())
}

/// A JSON file.
///
/// # Panics
/// When it cannot be read or is no JSON.
#[must_use]
pub fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{} is no JSON: {error}", path.display()))
}

/// A file of JSON lines.
///
/// # Panics
/// When it cannot be read or a line is no JSON.
#[must_use]
pub fn read_json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

/// A number of a JSON file.
///
/// # Panics
/// When it is none.
#[must_use]
#[track_caller]
pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|idx| value[idx].as_f64().expect("a number"))
}

/// Where a camera is, from `camera_from_enu` with its quaternion under `rotation`.
fn centre(pose: &Value, rotation: &str) -> Vector3<f64> {
    let [w, x, y, z] = numbers(&pose[rotation]);
    let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    -(rotation.inverse() * Vector3::from(numbers(&pose["translation_m"])))
}

/// What the photos of a scene are called and where the scene puts their cameras.
pub struct SceneCameras {
    /// First name of each photo, in the scene's order.
    pub names: Vec<String>,
    /// Camera centres, metres; `None` without a pose.
    pub centres: Vec<Option<Vector3<f64>>>,
    /// Whether the pose is from the images.
    pub solved: Vec<bool>,
    /// `pose.json`.
    pub posed: Value,
}

impl SceneCameras {
    /// Reads a processed scene.
    ///
    /// # Panics
    /// When ingest or pose have not run.
    #[must_use]
    pub fn read(scene: &Path) -> Self {
        let ingested = read_json(&room_folder(scene, "ingest").join("scene.json"));
        let posed = read_json(&room_folder(scene, "pose").join("pose.json"));
        let names = ingested["photos"]
            .as_array()
            .expect("photos")
            .iter()
            .map(|photo| photo["names"][0].as_str().expect("a name").to_owned())
            .collect();
        let photos = posed["photos"].as_array().expect("photos");
        let centres = photos
            .iter()
            .map(|photo| {
                let pose = &photo["pose"]["camera_from_enu"];
                pose.is_object().then(|| centre(pose, "quaternion_wxyz"))
            })
            .collect();
        let solved = photos
            .iter()
            .map(|photo| photo["pose"]["source"] == "solved")
            .collect();
        Self {
            names,
            centres,
            solved,
            posed,
        }
    }
}

/// True camera centres by file name, from a `truth.json`, in the truth's own frame.
///
/// # Panics
/// When the file is no truth.
#[must_use]
pub fn true_centres(truth: &Value) -> BTreeMap<String, Vector3<f64>> {
    truth["photos"]
        .as_array()
        .expect("photos")
        .iter()
        .map(|photo| {
            let name = photo["file"].as_str().expect("a name").to_owned();
            (name, centre(&photo["camera_from_enu"], "rotation_wxyz"))
        })
        .collect()
}

/// A common shift and turn about the vertical.
#[derive(Clone, Copy, Debug)]
pub struct HorizontalFit {
    /// Turn, radians anticlockwise, of `found` onto `truth`.
    pub yaw_rad: f64,
    /// Shift of the middle, metres: truth minus found.
    pub shift_m: Vector2<f64>,
    middle_found: Vector2<f64>,
    middle_true: Vector2<f64>,
}

impl HorizontalFit {
    /// The turn and shift that bring `found` nearest to `truth` on the map. `frame_shift` is added
    /// to found places first, to bring both frames' origins together.
    ///
    /// # Panics
    /// With fewer than two places.
    #[must_use]
    pub fn of(found: &[Vector2<f64>], truth: &[Vector2<f64>]) -> Self {
        assert!(
            found.len() >= 2 && found.len() == truth.len(),
            "{} places",
            found.len()
        );
        let n = found.len() as f64;
        let middle_found = found.iter().sum::<Vector2<f64>>() / n;
        let middle_true = truth.iter().sum::<Vector2<f64>>() / n;
        let mut products = Matrix2::zeros();
        for (f, t) in found.iter().zip(truth) {
            products += (t - middle_true) * (f - middle_found).transpose();
        }
        let yaw_rad = (products[(1, 0)] - products[(0, 1)]).atan2(products.trace());
        Self {
            yaw_rad,
            shift_m: middle_true - middle_found,
            middle_found,
            middle_true,
        }
    }

    /// A found place after the fit.
    #[must_use]
    pub fn apply(&self, place: Vector2<f64>) -> Vector2<f64> {
        Rotation2::new(self.yaw_rad) * (place - self.middle_found) + self.middle_true
    }
}

/// Root mean square distance left after the best similarity of `found` onto `truth`.
///
/// # Panics
/// With fewer than three places.
#[must_use]
pub fn rms_after_similarity(found: &[Vector3<f64>], truth: &[Vector3<f64>]) -> f64 {
    assert!(
        found.len() >= 3 && found.len() == truth.len(),
        "{} places",
        found.len()
    );
    let n = found.len() as f64;
    let middle_found = found.iter().sum::<Vector3<f64>>() / n;
    let middle_true = truth.iter().sum::<Vector3<f64>>() / n;
    let mut products = Matrix3::zeros();
    let mut spread = 0.0;
    for (f, t) in found.iter().zip(truth) {
        products += (t - middle_true) * (f - middle_found).transpose();
        spread += (f - middle_found).norm_squared();
    }
    let svd = products.svd(true, true);
    let (u, v_t) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let mut sign = Vector3::repeat(1.0);
    sign.z = (u * v_t).determinant().signum();
    let rotation = u * Matrix3::from_diagonal(&sign) * v_t;
    let scale = svd.singular_values.dot(&sign) / spread;
    let sum: f64 = found
        .iter()
        .zip(truth)
        .map(|(f, t)| ((t - middle_true) - rotation * (f - middle_found) * scale).norm_squared())
        .sum();
    (sum / n).sqrt()
}

/// Corners of an oriented box [x, y, long, short, angle in degrees clockwise on screen].
fn corners(oriented: [f64; 5]) -> Vec<Vector2<f64>> {
    let [x, y, long, short, angle_deg] = oriented;
    let turn = Rotation2::new(angle_deg.to_radians());
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
        .map(|(a, b)| Vector2::new(x, y) + turn * Vector2::new(a * long, b * short))
        .to_vec()
}

fn area(polygon: &[Vector2<f64>]) -> f64 {
    let n = polygon.len();
    (0..n)
        .map(|i| polygon[i].perp(&polygon[(i + 1) % n]))
        .sum::<f64>()
        .abs()
        / 2.0
}

/// What of `subject` lies inside the convex `clip` (both in the same sense of rotation).
fn clipped(subject: Vec<Vector2<f64>>, clip: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    let mut kept = subject;
    for idx in 0..clip.len() {
        let (a, b) = (clip[idx], clip[(idx + 1) % clip.len()]);
        let inside = |p: &Vector2<f64>| (b - a).perp(&(p - a));
        let mut next = Vec::new();
        for at in 0..kept.len() {
            let (p, q) = (kept[at], kept[(at + 1) % kept.len()]);
            let (dp, dq) = (inside(&p), inside(&q));
            if dp >= 0.0 {
                next.push(p);
            }
            if dp * dq < 0.0 {
                next.push(p + (q - p) * (dp / (dp - dq)));
            }
        }
        kept = next;
    }
    kept
}

/// Intersection over union of two oriented boxes.
#[must_use]
pub fn oriented_iou(a: [f64; 5], b: [f64; 5]) -> f64 {
    let (a, b) = (corners(a), corners(b));
    let common = area(&clipped(a.clone(), &b));
    common / (area(&a) + area(&b) - common)
}

/// A detection that belongs to a vehicle of the truth.
#[derive(Clone, Debug)]
pub struct MatchedAnchor {
    /// The vehicle's id.
    pub vehicle: String,
    /// True downward angle of the photo, degrees.
    pub pitch_deg: f64,
    /// Index of the photo in the scene.
    pub photo: usize,
    /// Index of the detection in the photo.
    pub detection: usize,
    /// Where the scene puts it on the map.
    pub found: Vector2<f64>,
    /// Where the vehicle is, in the truth's frame.
    pub truth: Vector2<f64>,
}

/// Anchors of a scene that belong to vehicles of the truth (the truth box of highest overlap, at
/// least half, one to one within a photo), and how many boxes were searched for.
pub struct Matched {
    /// The pairs.
    pub anchors: Vec<MatchedAnchor>,
    /// Vehicles at least half visible, not cut, at least 12 px on their shorter side.
    pub n_visible: usize,
    /// Of those, found.
    pub n_visible_found: usize,
    /// Detections in all.
    pub n_detections: usize,
}

/// Matches anchors with the truth.
///
/// # Panics
/// When the scene is not anchored or the truth is of another set of photos.
#[must_use]
pub fn match_anchors(scene: &Path, truth: &Value) -> Matched {
    let cameras = SceneCameras::read(scene);
    let detections = read_json_lines(&room_folder(scene, "detect").join("detections.jsonl"));
    let anchors = read_json_lines(&room_folder(scene, "anchor").join("anchors.jsonl"));
    let mut places: BTreeMap<(usize, usize), Vector2<f64>> = BTreeMap::new();
    for anchor in &anchors {
        let key = ["photo", "detection"].map(|k| anchor[k].as_u64().expect("an index") as usize);
        if anchor["placed"].is_object() {
            let [e, n, _] = numbers(&anchor["placed"]["enu_m"]);
            places.insert((key[0], key[1]), Vector2::new(e, n));
        }
    }
    let vehicles: BTreeMap<&str, Vector2<f64>> = truth["vehicles"]
        .as_array()
        .expect("vehicles")
        .iter()
        .map(|v| {
            let [e, n, _] = numbers(&v["center_in_enu_m"]);
            (v["id"].as_str().expect("an id"), Vector2::new(e, n))
        })
        .collect();
    let mut matched = Matched {
        anchors: Vec::new(),
        n_visible: 0,
        n_visible_found: 0,
        n_detections: 0,
    };
    for (idx, name) in cameras.names.iter().enumerate() {
        let Some(photo) = truth["photos"]
            .as_array()
            .and_then(|photos| photos.iter().find(|p| p["file"] == name.as_str()))
        else {
            panic!("the truth has no photo {name}");
        };
        let views: Vec<&Value> = truth["views"]
            .as_array()
            .expect("views")
            .iter()
            .filter(|view| view["photo"] == name.as_str())
            .collect();
        let found = detections[idx]["detections"]
            .as_array()
            .expect("detections");
        matched.n_detections += found.len();
        let pairs = pair_boxes(found, &views);
        for (at, view) in views.iter().enumerate() {
            let [_, _, _, short, _]: [f64; 5] = numbers(&view["oriented_box"]);
            let visible = view["visible_fraction"].as_f64().expect("a share") >= 0.5
                && view["truncated"] == false
                && short >= 12.0;
            matched.n_visible += usize::from(visible);
            matched.n_visible_found +=
                usize::from(visible && pairs.iter().any(|&(_, view_at)| view_at == at));
        }
        for (detection, view_at) in pairs {
            let Some(&place) = places.get(&(idx, detection)) else {
                continue;
            };
            let vehicle = views[view_at]["vehicle"].as_str().expect("an id");
            matched.anchors.push(MatchedAnchor {
                vehicle: vehicle.to_owned(),
                pitch_deg: photo["pitch_deg"].as_f64().expect("an angle").abs(),
                photo: idx,
                detection,
                found: place,
                truth: vehicles[vehicle],
            });
        }
    }
    matched
}

/// Pairs of (detection, view) by falling overlap, each used once, overlap at least a half.
fn pair_boxes(found: &[Value], views: &[&Value]) -> Vec<(usize, usize)> {
    let mut candidates = Vec::new();
    for (detection, box_found) in found.iter().enumerate() {
        let oriented = &box_found["oriented_box"];
        let a = oriented_box(oriented);
        for (view, truth) in views.iter().enumerate() {
            let b: [f64; 5] = numbers(&truth["oriented_box"]);
            if (a[0] - b[0]).hypot(a[1] - b[1]) > a[2] + b[2] {
                continue;
            }
            let iou = oriented_iou(a, b);
            if iou >= 0.5 {
                candidates.push((iou, detection, view));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut used_found, mut used_views) = (vec![false; found.len()], vec![false; views.len()]);
    let mut pairs = Vec::new();
    for (_, detection, view) in candidates {
        if !used_found[detection] && !used_views[view] {
            (used_found[detection], used_views[view]) = (true, true);
            pairs.push((detection, view));
        }
    }
    pairs
}

/// A detection's oriented box as [x, y, long, short, angle in degrees].
fn oriented_box(value: &Value) -> [f64; 5] {
    let number = |key: &str| {
        value[key]
            .as_f64()
            .unwrap_or_else(|| panic!("no {key} in {value}"))
    };
    [
        number("centre_x_px"),
        number("centre_y_px"),
        number("long_side_px"),
        number("short_side_px"),
        number("angle_deg"),
    ]
}

/// The value below which a share of the values lies.
///
/// # Panics
/// Without values.
#[must_use]
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_of_hand_worked_boxes() {
        let square = [0.0, 0.0, 2.0, 2.0, 0.0];
        for (other, expected) in [
            (square, 1.0),
            ([1.0, 0.0, 2.0, 2.0, 0.0], 1.0 / 3.0),
            ([5.0, 0.0, 2.0, 2.0, 0.0], 0.0),
            // A square turned by 45 degrees leaves a regular octagon of area 8 (sqrt 2 - 1).
            ([0.0, 0.0, 2.0, 2.0, 45.0], 3.313_708 / (8.0 - 3.313_708)),
        ] {
            let found = oriented_iou(square, other);
            assert!((found - expected).abs() < 1e-6, "{other:?}: {found}");
        }
    }

    #[test]
    fn a_known_turn_and_shift_is_found_and_removed() {
        let truth = [[0.0, 0.0], [10.0, 0.0], [3.0, 7.0]].map(Vector2::from);
        let turn = Rotation2::new(0.3);
        let found = truth.map(|p| turn * p + Vector2::new(2.0, -1.0));
        let fit = HorizontalFit::of(&found, &truth);
        assert!((fit.yaw_rad + 0.3).abs() < 1e-12, "{}", fit.yaw_rad);
        for (f, t) in found.iter().zip(&truth) {
            assert!((fit.apply(*f) - t).norm() < 1e-12);
        }
    }
}
