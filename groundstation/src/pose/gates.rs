//! Checks that a solution must pass, because a solver "succeeds" at nonsense: reprojection error
//! says nothing about focal length, height or an upside-down block.

use super::posed::{
    AlignmentReport, Gate, Level, MadeBy, PoseSource, PosedCamera, PosedPhoto, Verdict,
};

/// What the gates look at.
pub(super) struct Checked<'a> {
    pub(super) made_by: &'a MadeBy,
    pub(super) photos: &'a [PosedPhoto],
    pub(super) cameras: &'a [PosedCamera],
    pub(super) alignment: Option<&'a AlignmentReport>,
    pub(super) is_rtk: bool,
    /// Photos turned by a viewer after the flight.
    pub(super) turned: &'a [String],
    pub(super) median_pairs: Option<f64>,
}

/// The limits of a number: good up to the first, doubtful up to the second.
fn up_to(value: f64, good: f64, doubtful: f64) -> Level {
    if value <= good {
        Level::Good
    } else if value <= doubtful {
        Level::Doubtful
    } else {
        Level::Bad
    }
}

struct Gates(Vec<Gate>);

impl Gates {
    fn add(&mut self, name: &str, level: Level, found: String, good: &str, advice: &str) {
        self.0.push(Gate {
            name: name.to_owned(),
            found,
            good: good.to_owned(),
            level,
            advice: if level == Level::Good {
                String::new()
            } else {
                advice.to_owned()
            },
        });
    }
}

/// All checks of a result.
pub(super) fn judge(checked: &Checked<'_>) -> Verdict {
    let mut gates = Gates(Vec::new());
    registered(checked, &mut gates);
    if let Some(alignment) = checked.alignment {
        residuals(checked, alignment, &mut gates);
        heights(alignment, &mut gates);
        gimbal(checked, alignment, &mut gates);
        connections(checked, alignment, &mut gates);
    }
    focal_lengths(checked.cameras, &mut gates);
    let level = gates
        .0
        .iter()
        .map(|gate| gate.level)
        .max()
        .unwrap_or(Level::Bad);
    let summary = summary(checked, level, &gates.0);
    Verdict {
        level,
        summary,
        gates: gates.0,
    }
}

fn n_with(photos: &[PosedPhoto], source: PoseSource) -> usize {
    photos
        .iter()
        .filter(|p| p.pose.as_ref().is_some_and(|pose| pose.source == source))
        .count()
}

fn registered(checked: &Checked<'_>, gates: &mut Gates) {
    let n = checked.photos.len();
    let solved = n_with(checked.photos, PoseSource::Solved);
    let share = solved as f64 / n.max(1) as f64;
    let level = match share {
        _ if solved < 4 => Level::Bad,
        0.95.. => Level::Good,
        0.65..0.95 => Level::Doubtful,
        _ => Level::Bad,
    };
    gates.add(
        "photos posed from the images",
        level,
        format!("{solved} of {n}"),
        "95 % or more",
        "the rest is posed from GPS and gimbal, or not at all where they say too little: look at \
         their reasons; photos between heights and pitches that are far apart connect them",
    );
}

fn residuals(checked: &Checked<'_>, alignment: &AlignmentReport, gates: &mut Gates) {
    if let Some(stats) = alignment.horizontal {
        let (good, doubtful) = if checked.is_rtk {
            (0.10, 0.30)
        } else {
            (1.5, 4.0)
        };
        gates.add(
            "horizontal residual to GPS",
            up_to(stats.rms_m, good, doubtful),
            format!("{:.2} m rms", stats.rms_m),
            if checked.is_rtk {
                "0.10 m or less (RTK)"
            } else {
                "1.5 m or less"
            },
            "the GPS positions are worse than usual or the block is bent",
        );
    }
    if let Some(stats) = alignment.vertical {
        gates.add(
            "vertical residual within flights",
            up_to(stats.rms_m, 0.5, 1.5),
            format!("{:.2} m rms", stats.rms_m),
            "0.5 m or less",
            "heights drift within a flight or the block is bent",
        );
    }
    let share = alignment.n_inliers as f64 / alignment.n_positions.max(1) as f64;
    let level = match share {
        _ if alignment.n_inliers < 4 => Level::Bad,
        0.8.. => Level::Good,
        0.5..0.8 => Level::Doubtful,
        _ => Level::Bad,
    };
    gates.add(
        "positions that agree",
        level,
        format!("{} of {}", alignment.n_inliers, alignment.n_positions),
        "80 % or more",
        "many GPS positions contradict the block: check that all photos are of one site",
    );
}

fn heights(alignment: &AlignmentReport, gates: &mut Gates) {
    let Some(ratio) = alignment.height_ratio else {
        return;
    };
    let off = (ratio - 1.0).abs();
    gates.add(
        "height above the ground found, over height above take-off",
        up_to(off, 0.08, 0.15),
        format!("{ratio:.3}"),
        "0.92 to 1.08",
        "the take-off point was not at the height of the site, or the focal length is wrong \
         (photos straight down from one height cannot tell)",
    );
}

fn gimbal(checked: &Checked<'_>, alignment: &AlignmentReport, gates: &mut Gates) {
    if let Some(pitch) = alignment.gimbal_pitch_offset_deg {
        gates.add(
            "pitch against the gimbal",
            up_to(pitch.median_deg.abs(), 2.0, 5.0),
            format!(
                "{:+.1} degrees, spread {:.1}",
                pitch.median_deg, pitch.spread_deg
            ),
            "2 degrees or less",
            "the block is tilted, or the gimbal's pitch is off",
        );
    }
    if let Some(yaw) = alignment.gimbal_yaw_offset_deg {
        // The block's yaw comes from positions; a wrong gimbal yaw is reported, never followed.
        let level = if yaw.median_deg.abs() <= 5.0 {
            Level::Good
        } else {
            Level::Doubtful
        };
        gates.add(
            "yaw against the gimbal",
            level,
            format!(
                "{:+.1} degrees, spread {:.1}",
                yaw.median_deg, yaw.spread_deg
            ),
            "5 degrees or less",
            "the gimbal's yaw is off by this much; poses do not depend on it",
        );
    }
    if !checked.turned.is_empty() {
        gates.add(
            "photos turned after the flight",
            Level::Doubtful,
            checked.turned.join(", "),
            "none",
            "a viewer has turned the pixels of these photos; their poses are right, their gimbal \
             angles are not",
        );
    }
}

fn connections(checked: &Checked<'_>, alignment: &AlignmentReport, gates: &mut Gates) {
    if alignment.components.len() > 1 {
        gates.add(
            "connected reconstructions",
            Level::Doubtful,
            format!("{:?} photos", alignment.components),
            "one",
            "parts are joined by GPS only: identities across parts are less sure",
        );
    }
    if let Some(pairs) = checked.median_pairs {
        let level = match pairs {
            8.0.. => Level::Good,
            4.0..8.0 => Level::Doubtful,
            _ => Level::Bad,
        };
        gates.add(
            "matched photos per photo (median)",
            level,
            format!("{pairs:.0}"),
            "8 or more",
            "the photos overlap too little",
        );
    }
    if let Some(length) = alignment.mean_track_length {
        let level = match length {
            3.5.. => Level::Good,
            2.5..3.5 => Level::Doubtful,
            _ => Level::Bad,
        };
        gates.add(
            "photos per sparse point",
            level,
            format!("{length:.1}"),
            "3.5 or more",
            "the photos overlap too little",
        );
    }
    if let Some(error) = alignment.reprojection_px {
        gates.add(
            "reprojection error",
            up_to(error, 1.2, 2.0),
            format!("{error:.2} px"),
            "1.2 px or less",
            "the camera model does not fit, or photos are blurred",
        );
    }
}

fn focal_lengths(cameras: &[PosedCamera], gates: &mut Gates) {
    for (idx, camera) in cameras.iter().enumerate() {
        let Some(change) = camera.focal_change else {
            continue;
        };
        gates.add(
            &format!("focal length of camera {}", idx + 1),
            up_to(change.abs(), 0.01, 0.05),
            format!(
                "{:.1} px, changed by {:+.2} %",
                camera.solved.fx,
                100.0 * change
            ),
            "within 1 % of what was known",
            "a measured camera profile would settle it",
        );
    }
}

fn summary(checked: &Checked<'_>, level: Level, gates: &[Gate]) -> String {
    if let MadeBy::Priors { because } = checked.made_by {
        if n_with(checked.photos, PoseSource::Priors) == 0 {
            return format!(
                "No photo has a pose: {because}, and GPS and gimbal angles do not amount to one. \
                 Nothing can be placed in metres."
            );
        }
        return format!(
            "Poses are approximate, from GPS and gimbal only ({because}). Parked vehicles side by \
             side cannot be told apart: review everything."
        );
    }
    let bad: Vec<&str> = gates
        .iter()
        .filter(|g| g.level == level)
        .map(|g| g.name.as_str())
        .collect();
    match level {
        Level::Good => "The poses are good.".to_owned(),
        Level::Doubtful => format!("The poses are usable; look at: {}.", bad.join("; ")),
        Level::Bad => format!("Do not rely on these poses: {}.", bad.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::posed::{CommonSigma, OffsetStats, ResidualStats};

    /// A report in which everything is good.
    fn good() -> AlignmentReport {
        let stats = |rms_m| {
            Some(ResidualStats {
                median_m: rms_m,
                rms_m,
                max_m: rms_m,
            })
        };
        let offset = |median_deg| {
            Some(OffsetStats {
                median_deg,
                spread_deg: 1.0,
            })
        };
        AlignmentReport {
            horizontal: stats(0.5),
            vertical: stats(0.2),
            n_inliers: 20,
            n_positions: 20,
            flight_offsets_m: Vec::new(),
            sigma: CommonSigma {
                shift_horizontal_m: 1.0,
                shift_vertical_m: 1.0,
                scale: 0.01,
                yaw_deg: 1.0,
                tilt_deg: 1.0,
            },
            gimbal_yaw_offset_deg: offset(1.0),
            gimbal_pitch_offset_deg: offset(0.5),
            gravity_disagreement_deg: Some(0.1),
            tilt_from_gimbal: true,
            yaw_from_gimbal: false,
            height_above_ground_m: Some(40.0),
            height_ratio: Some(1.0),
            reprojection_px: Some(0.5),
            n_points: 1000,
            mean_track_length: Some(5.0),
            components: vec![20],
        }
    }

    fn level(name: &str, report: &AlignmentReport, is_rtk: bool, pairs: f64) -> Level {
        let made_by = MadeBy::Priors {
            because: String::new(),
        };
        let verdict = judge(&Checked {
            made_by: &made_by,
            photos: &[],
            cameras: &[],
            alignment: Some(report),
            is_rtk,
            turned: &[],
            median_pairs: Some(pairs),
        });
        let found = verdict
            .gates
            .iter()
            .find(|gate| gate.name.starts_with(name));
        let gate = found.unwrap_or_else(|| panic!("no gate {name}"));
        assert_eq!(gate.advice.is_empty(), gate.level == Level::Good, "{name}");
        gate.level
    }

    /// Both sides of every limit.
    #[test]
    fn limits_are_where_they_are_said_to_be() {
        type Set = fn(&mut AlignmentReport, f64);
        let cases: [(&str, Set, [f64; 4]); 8] = [
            (
                "horizontal residual",
                |r, v| r.horizontal.as_mut().expect("set").rms_m = v,
                [1.49, 1.51, 3.99, 4.01],
            ),
            (
                "vertical residual",
                |r, v| r.vertical.as_mut().expect("set").rms_m = v,
                [0.49, 0.51, 1.49, 1.51],
            ),
            (
                "positions that agree",
                |r, v| r.n_inliers = (20.0 * v).round() as usize,
                [0.80, 0.75, 0.50, 0.45],
            ),
            (
                "height above",
                |r, v| r.height_ratio = Some(v),
                [1.07, 1.09, 0.86, 0.84],
            ),
            (
                "pitch against",
                |r, v| r.gimbal_pitch_offset_deg.as_mut().expect("set").median_deg = v,
                [-1.9, -2.1, 4.9, 5.1],
            ),
            (
                "photos per sparse point",
                |r, v| r.mean_track_length = Some(v),
                [3.6, 3.4, 2.6, 2.4],
            ),
            (
                "reprojection",
                |r, v| r.reprojection_px = Some(v),
                [1.1, 1.3, 1.9, 2.1],
            ),
            (
                "connected",
                |r, v| r.components = vec![10; v as usize],
                [2.0, 2.0, 2.0, 2.0],
            ),
        ];
        for (name, set, values) in cases {
            for (value, expected) in
                values
                    .into_iter()
                    .zip([Level::Good, Level::Doubtful, Level::Doubtful, Level::Bad])
            {
                let mut report = good();
                set(&mut report, value);
                let expected = if name == "connected" {
                    Level::Doubtful
                } else {
                    expected
                };
                assert_eq!(
                    level(name, &report, false, 10.0),
                    expected,
                    "{name} {value}"
                );
            }
        }
        for (pairs, expected) in [
            (8.0, Level::Good),
            (7.0, Level::Doubtful),
            (3.0, Level::Bad),
        ] {
            assert_eq!(level("matched photos", &good(), false, pairs), expected);
        }
        // A yaw that is off is told, and never makes poses bad: they do not rest on it.
        let mut turned = good();
        turned
            .gimbal_yaw_offset_deg
            .as_mut()
            .expect("set")
            .median_deg = 50.0;
        assert_eq!(level("yaw against", &turned, false, 10.0), Level::Doubtful);
        // What is good for GPS is bad for RTK.
        assert_eq!(
            level("horizontal residual", &good(), true, 10.0),
            Level::Bad
        );
    }
}
