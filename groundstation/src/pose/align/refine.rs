//! Refinement of the alignment and its covariance.

use super::{
    AlignConfig, AlignmentSigma, Gravity, INLIER_SIGMAS, Residual, Sighting, cross_matrix,
};
use calibration::frames::{Enu, Solution};
use calibration::{Point, Rotation, Similarity, attitude};
use nalgebra::{DMatrix, DVector, Matrix3, UnitQuaternion, Vector2, Vector3};

const MAX_ITERATIONS: usize = 50;
/// Cauchy's constant for 95 % efficiency with normal errors.
const CAUCHY: f64 = 2.385;
/// A gimbal's angles carry a common error of about this much, however many photos there are.
const GRAVITY_SYSTEMATIC_RAD: f64 = 0.5_f64.to_radians();
/// A weak pull towards the start keeps directions without evidence where they are.
const KEEP_ROTATION_RAD: f64 = 1.0;
/// The gimbals' yaw as a tie-break: magnetometers err by tens of degrees.
const GIMBAL_YAW_SIGMA_RAD: f64 = 10.0_f64.to_radians();
/// Positions alone overrule the gimbals' vertical when their tilt is known to this and differs
/// from it by more than `GRAVITY_LIMIT_RAD`.
const TILT_KNOWN_RAD: f64 = 1.0_f64.to_radians();
const GRAVITY_LIMIT_RAD: f64 = 5.0_f64.to_radians();

/// The refined transform and what it rests on.
#[derive(Clone, Debug)]
pub(super) struct Refined {
    pub(super) enu_from_solution: Similarity<Enu, Solution>,
    pub(super) flight_offsets_m: Vec<Vector3<f64>>,
    pub(super) sigma: AlignmentSigma,
    pub(super) yaw_from_gimbal: bool,
    pub(super) gravity_used: bool,
}

/// What one scalar residual measures: errors of one kind at neighbouring times go together.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    East,
    North,
    Up,
    Independent,
}

struct Row {
    kind: Kind,
    jacobian: DVector<f64>,
    residual: f64,
    sigma: f64,
    /// Robust weight in (0, 1].
    trust: f64,
    /// How many photos share one independent error: positions close in time err together, so
    /// each counts for less beside gravity and the priors.
    shared_by: f64,
    time_s: Option<f64>,
}

impl Row {
    fn weight(&self) -> f64 {
        self.trust / (self.sigma * self.sigma * self.shared_by)
    }
}

/// Correlation of the position errors of two photos.
fn correlation(a_s: Option<f64>, b_s: Option<f64>, config: &AlignConfig) -> f64 {
    match (a_s, b_s) {
        (Some(a), Some(b)) => (-(a - b).abs() / config.gps_correlation_s).exp(),
        // Without times the worst case: errors that never average out.
        _ => 1.0,
    }
}

/// Photos per independent position error: the mean row sum of the correlation matrix.
fn photos_per_error(sightings: &[Sighting], config: &AlignConfig) -> f64 {
    let times: Vec<Option<f64>> = sightings
        .iter()
        .filter(|s| s.horizontal.is_some())
        .map(|s| s.time_s)
        .collect();
    let sum: f64 = times
        .iter()
        .flat_map(|&a| times.iter().map(move |&b| correlation(a, b, config)))
        .sum();
    sum / times.len() as f64
}

/// The parameters: log scale, a small rotation, the block's centre, and one offset per flight.
struct State {
    scale: f64,
    rotation: UnitQuaternion<f64>,
    centre_in_enu: Vector3<f64>,
    centre_in_solution: Vector3<f64>,
    offsets_m: Vec<Vector3<f64>>,
}

impl State {
    fn start(sightings: &[Sighting], start: &Similarity<Enu, Solution>) -> Self {
        let placed: Vec<&Sighting> = sightings
            .iter()
            .filter(|s| s.horizontal.is_some())
            .collect();
        let sum: Vector3<f64> = placed.iter().map(|s| s.centre_in_solution.vector).sum();
        let centre = Point::<Solution>::from_vector(sum / placed.len() as f64);
        let n_flights = sightings.iter().map(|s| s.flight + 1).max().unwrap_or(1);
        Self {
            scale: start.scale(),
            rotation: start.rotation.quaternion,
            centre_in_enu: (*start * centre).vector,
            centre_in_solution: centre.vector,
            offsets_m: vec![Vector3::zeros(); n_flights],
        }
    }

    fn n_parameters(&self) -> usize {
        7 + if self.has_offsets() {
            3 * self.offsets_m.len()
        } else {
            0
        }
    }

    /// With one flight its offset and the block's place are the same thing.
    fn has_offsets(&self) -> bool {
        self.offsets_m.len() > 1
    }

    fn arm(&self, point: &Point<Solution>) -> Vector3<f64> {
        self.rotation * (point.vector - self.centre_in_solution) * self.scale
    }

    fn predicted(&self, s: &Sighting) -> Vector3<f64> {
        self.arm(&s.centre_in_solution) + self.centre_in_enu + self.offsets_m[s.flight]
    }

    fn step(&mut self, delta: &DVector<f64>) {
        self.scale *= delta[0].clamp(-0.5, 0.5).exp();
        let turn = Vector3::new(delta[1], delta[2], delta[3]);
        self.rotation = UnitQuaternion::from_scaled_axis(turn) * self.rotation;
        self.centre_in_enu += Vector3::new(delta[4], delta[5], delta[6]);
        if self.has_offsets() {
            for (flight, offset) in self.offsets_m.iter_mut().enumerate() {
                let at = 7 + 3 * flight;
                *offset += Vector3::new(delta[at], delta[at + 1], delta[at + 2]);
            }
        }
    }

    fn similarity(&self) -> Similarity<Enu, Solution> {
        let translation = self.centre_in_enu - self.rotation * self.centre_in_solution * self.scale;
        Similarity::new(
            self.scale,
            Rotation::from_quaternion(self.rotation),
            translation,
        )
        .expect("the scale only ever multiplies by exp of a bounded step")
    }
}

/// Refines `start`. Gravity is weighed against positions, and dropped where positions know the
/// vertical well and contradict it.
pub(super) fn refine(
    sightings: &[Sighting],
    gravity: Option<&Gravity>,
    start: &Similarity<Enu, Solution>,
    config: &AlignConfig,
) -> Refined {
    let alone = solve(sightings, None, start, config);
    let Some(gravity) = gravity else { return alone };
    let down = alone.enu_from_solution.rotation * gravity.down_in_solution;
    let disagreement = down.vector.angle(&-Vector3::z());
    if alone.sigma.tilt_rad < TILT_KNOWN_RAD && disagreement > GRAVITY_LIMIT_RAD {
        return alone;
    }
    solve(sightings, Some(gravity), start, config)
}

fn solve(
    sightings: &[Sighting],
    gravity: Option<&Gravity>,
    start: &Similarity<Enu, Solution>,
    config: &AlignConfig,
) -> Refined {
    let mut state = State::start(sightings, start);
    let yaw_from_gimbal = positions_leave_yaw_open(sightings);
    let mut rows = Vec::new();
    let mut normal = DMatrix::zeros(0, 0);
    let shared_by = photos_per_error(sightings, config);
    let mut spread = Spread::default();
    for iteration in 0..MAX_ITERATIONS {
        // Fixed in the end, so that the rest converges.
        if iteration < MAX_ITERATIONS / 2 {
            spread = Spread::of(&state, sightings);
        }
        rows = all_rows(&state, sightings, gravity, yaw_from_gimbal, &spread, config);
        for row in rows.iter_mut().filter(|row| row.kind != Kind::Independent) {
            row.shared_by = shared_by;
        }
        let n = state.n_parameters();
        normal = DMatrix::zeros(n, n);
        let mut right = DVector::zeros(n);
        for row in &rows {
            let weight = row.weight();
            normal.ger(weight, &row.jacobian, &row.jacobian, 1.0);
            right.axpy(weight * row.residual, &row.jacobian, 1.0);
        }
        let Some(cholesky) = normal.clone().cholesky() else {
            break;
        };
        let delta = cholesky.solve(&right);
        state.step(&delta);
        if delta.rows(0, 7).norm() < 1e-10 {
            break;
        }
    }
    let covariance = covariance(&rows, &normal, config);
    let sd = |idx: usize| covariance[(idx, idx)].max(0.0).sqrt();
    let both = |a: usize, b: usize| (f64::midpoint(sd(a).powi(2), sd(b).powi(2))).sqrt();
    Refined {
        enu_from_solution: state.similarity(),
        sigma: AlignmentSigma {
            scale: sd(0),
            tilt_rad: both(1, 2),
            yaw_rad: sd(3),
            shift_horizontal_m: both(4, 5),
            shift_vertical_m: sd(6),
        },
        flight_offsets_m: state.offsets_m,
        yaw_from_gimbal,
        gravity_used: gravity.is_some(),
    }
}

/// Whether the measured positions spread so little that their direction means nothing.
fn positions_leave_yaw_open(sightings: &[Sighting]) -> bool {
    let placed: Vec<(Vector2<f64>, f64)> = sightings
        .iter()
        .filter_map(|s| s.horizontal)
        .map(|h| (Vector2::new(h.east_m, h.north_m), h.sigma_m))
        .collect();
    let n = placed.len() as f64;
    let mean = placed.iter().map(|(p, _)| p).sum::<Vector2<f64>>() / n;
    let variance = placed
        .iter()
        .map(|(p, _)| (p - mean).norm_squared())
        .sum::<f64>()
        / n;
    let sigma = placed.iter().map(|(_, s)| s).sum::<f64>() / n;
    variance.sqrt() < 3.0 * sigma
}

fn all_rows(
    state: &State,
    sightings: &[Sighting],
    gravity: Option<&Gravity>,
    yaw_from_gimbal: bool,
    spread: &Spread,
    config: &AlignConfig,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for s in sightings {
        position_rows(state, s, spread, &mut rows);
    }
    if let Some(gravity) = gravity {
        gravity_rows(state, gravity, &mut rows);
    }
    if yaw_from_gimbal {
        rows.extend(yaw_row(state, sightings));
    }
    let n = state.n_parameters();
    let mut prior = |at: usize, residual: f64, sigma: f64| {
        let mut jacobian = DVector::zeros(n);
        jacobian[at] = 1.0;
        rows.push(independent(jacobian, residual, sigma));
    };
    for axis in 1..4 {
        prior(axis, 0.0, KEEP_ROTATION_RAD);
    }
    // Without any height the vertical place is set later, from the ground.
    if !sightings.iter().any(|s| s.height.is_some()) {
        prior(6, 0.0, 1.0);
    }
    if state.has_offsets() {
        for (flight, offset) in state.offsets_m.iter().enumerate() {
            for axis in 0..3 {
                let sigma = if axis == 2 {
                    config.flight_height_sigma_m
                } else {
                    config.flight_horizontal_sigma_m
                };
                prior(7 + 3 * flight + axis, -offset[axis], sigma);
            }
        }
    }
    rows
}

fn independent(jacobian: DVector<f64>, residual: f64, sigma: f64) -> Row {
    let kind = Kind::Independent;
    Row {
        kind,
        jacobian,
        residual,
        sigma,
        trust: 1.0,
        shared_by: 1.0,
        time_s: None,
    }
}

fn cauchy(squared_sigmas: f64) -> f64 {
    1.0 / (1.0 + squared_sigmas / (CAUCHY * CAUCHY))
}

/// How many times larger than stated the errors of the middle photo are, never less than once: a
/// reconstruction bends, and receivers overrate themselves. Without it heights good to 4 cm would
/// all count as outliers of a block that is bent by half a metre, and the block would tilt freely.
#[derive(Clone, Copy)]
struct Spread {
    horizontal: f64,
    up: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            horizontal: 1.0,
            up: 1.0,
        }
    }
}

/// Medians of the length of two, and of the size of one, standard normal values.
const MEDIAN_OF_TWO: f64 = 1.1774;
const MEDIAN_OF_ONE: f64 = 0.6745;

impl Spread {
    fn of(state: &State, sightings: &[Sighting]) -> Self {
        let (mut horizontal, mut up) = (Vec::new(), Vec::new());
        for s in sightings {
            let predicted = state.predicted(s);
            if let Some(h) = s.horizontal {
                let off = (h.east_m - predicted.x).hypot(h.north_m - predicted.y);
                horizontal.push(off / h.sigma_m);
            }
            if let Some(z) = s.height {
                up.push((z.height_m - predicted.z).abs() / z.sigma_m);
            }
        }
        let times = |sigmas: &mut [f64], normal: f64| {
            crate::statistics::median(sigmas).map_or(1.0, |found| (found / normal).max(1.0))
        };
        Self {
            horizontal: times(&mut horizontal, MEDIAN_OF_TWO),
            up: times(&mut up, MEDIAN_OF_ONE),
        }
    }
}

fn position_rows(state: &State, s: &Sighting, spread: &Spread, rows: &mut Vec<Row>) {
    let predicted = state.predicted(s);
    let arm = state.arm(&s.centre_in_solution);
    let turn = -cross_matrix(&arm);
    let row_jacobian = |axis: usize| {
        let mut jacobian = DVector::zeros(state.n_parameters());
        jacobian[0] = arm[axis];
        for column in 0..3 {
            jacobian[1 + column] = turn[(axis, column)];
        }
        jacobian[4 + axis] = 1.0;
        if state.has_offsets() {
            jacobian[7 + 3 * s.flight + axis] = 1.0;
        }
        jacobian
    };
    if let Some(h) = s.horizontal {
        let residual = Vector2::new(h.east_m - predicted.x, h.north_m - predicted.y);
        let sigma = h.sigma_m * spread.horizontal;
        let trust = cauchy(residual.norm_squared() / (sigma * sigma));
        for (axis, kind) in [(0, Kind::East), (1, Kind::North)] {
            rows.push(Row {
                kind,
                jacobian: row_jacobian(axis),
                residual: residual[axis],
                sigma,
                trust,
                shared_by: 1.0,
                time_s: s.time_s,
            });
        }
    }
    if let Some(z) = s.height {
        let residual = z.height_m - predicted.z;
        let sigma = z.sigma_m * spread.up;
        rows.push(Row {
            kind: Kind::Up,
            jacobian: row_jacobian(2),
            residual,
            sigma,
            trust: cauchy((residual / sigma).powi(2)),
            shared_by: 1.0,
            time_s: s.time_s,
        });
    }
}

fn gravity_rows(state: &State, gravity: &Gravity, rows: &mut Vec<Row>) {
    let down = state.rotation * gravity.down_in_solution.vector;
    let random = 1.25 * gravity.spread_rad / (gravity.n_photos as f64).sqrt();
    let sigma = random.hypot(GRAVITY_SYSTEMATIC_RAD);
    let turn: Matrix3<f64> = -cross_matrix(&down);
    for axis in 0..2 {
        let mut jacobian = DVector::zeros(state.n_parameters());
        for column in 0..3 {
            jacobian[1 + column] = turn[(axis, column)];
        }
        rows.push(independent(jacobian, -down[axis], sigma));
    }
}

/// The circular mean of measured minus solved heading, as one observation of the yaw.
fn yaw_row(state: &State, sightings: &[Sighting]) -> Option<Row> {
    let mut sum = Vector2::zeros();
    for s in sightings {
        let Some(measured) = s.measured_rotation else {
            continue;
        };
        let solved =
            Rotation::from_quaternion(s.camera_from_solution.quaternion * state.rotation.inverse());
        let difference = attitude::heading(&measured) - attitude::heading(&solved);
        sum += Vector2::new(difference.get().cos(), difference.get().sin());
    }
    if sum.norm() < 1e-9 {
        return None;
    }
    let mut jacobian = DVector::zeros(state.n_parameters());
    jacobian[3] = 1.0;
    // Headings run clockwise, rotations about z anticlockwise.
    Some(independent(
        jacobian,
        -sum.y.atan2(sum.x),
        GIMBAL_YAW_SIGMA_RAD,
    ))
}

/// (J' W J)^-1 J' W C W J (J' W J)^-1 with C the errors' real covariance: neighbours in time go
/// together. Scaled up when residuals are larger than their sigmas say.
fn covariance(rows: &[Row], normal: &DMatrix<f64>, config: &AlignConfig) -> DMatrix<f64> {
    let n = normal.nrows();
    let Some(inverse) = normal.clone().try_inverse() else {
        return DMatrix::from_diagonal_element(n, n, f64::MAX.sqrt());
    };
    let mut middle = DMatrix::zeros(n, n);
    for (idx, row) in rows.iter().enumerate() {
        let own = row.weight() * row.sigma;
        middle.ger(own * own, &row.jacobian, &row.jacobian, 1.0);
        if row.kind == Kind::Independent {
            continue;
        }
        let mut together = DVector::zeros(n);
        for other in rows[idx + 1..]
            .iter()
            .filter(|other| other.kind == row.kind)
        {
            let share = correlation(row.time_s, other.time_s, config);
            together.axpy(share * other.weight() * other.sigma, &other.jacobian, 1.0);
        }
        middle.ger(own, &row.jacobian, &together, 1.0);
        middle.ger(own, &together, &row.jacobian, 1.0);
    }
    let positions: Vec<&Row> = rows
        .iter()
        .filter(|r| r.kind != Kind::Independent)
        .collect();
    let trusted: f64 = positions.iter().map(|r| r.trust).sum();
    let misfit: f64 = positions
        .iter()
        .map(|r| r.trust * (r.residual / r.sigma).powi(2))
        .sum::<f64>()
        / trusted;
    &inverse * middle * &inverse * misfit.max(1.0)
}

/// What is left after the alignment and the flights' offsets.
pub(super) fn residuals(sightings: &[Sighting], refined: &Refined) -> Vec<Residual> {
    sightings
        .iter()
        .map(|s| {
            let aligned = (refined.enu_from_solution * s.centre_in_solution).vector
                + refined.flight_offsets_m[s.flight];
            let horizontal_m = s
                .horizontal
                .map(|h| [h.east_m - aligned.x, h.north_m - aligned.y]);
            let vertical_m = s.height.map(|z| z.height_m - aligned.z);
            let inlier = match (horizontal_m, s.horizontal) {
                (Some([e, n]), Some(h)) => e.hypot(n) <= INLIER_SIGMAS * h.sigma_m,
                _ => false,
            };
            Residual {
                horizontal_m,
                vertical_m,
                inlier,
            }
        })
        .collect()
}
