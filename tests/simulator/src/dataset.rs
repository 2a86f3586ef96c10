//! A folder of photos with their truth.

use crate::camera::{Camera, Intrinsics};
use crate::dice::Dice;
use crate::error::{SimulatorError, within};
use crate::photo::metadata::{
    CAMERA_MAKE, CAMERA_MODEL, Carries, FOCAL_MM, SENSOR_WIDTH_MM, Shot, photo_file,
};
use crate::poses::{PlanSpec, PlannedPhoto, default_plan};
use crate::render::Film;
use crate::render::{RayTable, Stage};
use crate::sensors::{ErrorSpec, Reading, read_sensors};
use crate::site::{SiteSpec, World};
use crate::truth::{
    CameraTruth, GroundTruth, PhotoTruth, SiteTruth, SunTruth, TRUTH_SCHEMA, Truth, VehicleTruth,
    ViewTruth,
};
use crate::vehicles::Vehicle;
use crate::views::{Prospect, Sight, sights};
use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to render.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// The site.
    pub site: SiteSpec,
    /// How many photos.
    pub n_photos: usize,
    /// Heights above take-off, metres.
    pub heights_m: Vec<f64>,
    /// Downward pitches, degrees.
    pub pitches_deg: Vec<f64>,
    /// Picture size, pixels; each side 64 to 8000.
    pub size_px: [u32; 2],
    /// Errors of the metadata.
    pub errors: ErrorSpec,
    /// Share of photos without XMP, 0 to 1.
    pub share_without_xmp: f64,
    /// Share of photos without a position, 0 to 1.
    pub share_without_gps: f64,
    /// JPEG quality, 30 to 100.
    pub quality: u8,
    /// Threads; 0 takes as many as the machine has.
    pub threads: usize,
}

impl DatasetSpec {
    /// 60 photos of 1600x1200 over the default heights and pitches.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let plan = PlanSpec::new(seed, 60);
        Self {
            site: SiteSpec::new(seed),
            n_photos: plan.n_photos,
            heights_m: plan.heights_m,
            pitches_deg: plan.pitches_deg,
            size_px: [1600, 1200],
            errors: ErrorSpec::default(),
            share_without_xmp: 0.0,
            share_without_gps: 0.0,
            quality: 92,
            threads: 0,
        }
    }
}

/// What is reported while rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The world is laid out.
    World {
        /// Vehicles in it.
        n_vehicles: usize,
    },
    /// Meshes and shadows are ready.
    Stage,
    /// Photos finished so far.
    Photos {
        /// Finished.
        done: usize,
        /// Of so many.
        of: usize,
    },
}

/// File that marks a folder as ours, so that it may be written again.
const MARKER: &str = ".simulator-output";
/// The truth beside the photos.
pub const TRUTH_FILE: &str = "truth.json";

/// The lens of a camera of this seed: nominal focal length with a small error, some distortion.
#[must_use]
pub fn draw_intrinsics(seed: u64, size_px: [u32; 2]) -> Intrinsics {
    let mut dice = Dice::new(seed, "lens", "");
    let [width_px, height_px] = size_px;
    let (w, h) = (f64::from(width_px), f64::from(height_px));
    let focal = FOCAL_MM / SENSOR_WIDTH_MM * w * (1.0 + dice.normal(0.006).clamp(-0.015, 0.015));
    Intrinsics {
        width_px,
        height_px,
        fx_px: focal,
        fy_px: focal,
        cx_px: w / 2.0 + dice.normal(0.0006).clamp(-0.0012, 0.0012) * w,
        cy_px: h / 2.0 + dice.normal(0.0006).clamp(-0.0012, 0.0012) * w,
        k1: dice.range(-0.045, 0.02),
        k2: dice.range(-0.008, 0.02),
        p1: dice.normal(2.5e-4),
        p2: dice.normal(2.5e-4),
    }
}

fn is_ours(name: &str) -> bool {
    let photo = name
        .strip_prefix("SIM_")
        .and_then(|rest| rest.strip_suffix(".JPG"));
    crate::facts::FILES.contains(&name)
        || photo
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Makes the folder, or empties it when it is marked and everything in it is an earlier output of
/// ours by its name.
pub(crate) fn prepare_folder(
    folder: &Path,
    is_ours: fn(&str) -> bool,
    note: &str,
) -> Result<(), SimulatorError> {
    let write = |file: &Path| {
        let file = file.to_owned();
        move |source| SimulatorError::Write { file, source }
    };
    let read = |source| SimulatorError::Read {
        file: folder.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(write(folder))?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        names.push(
            entry
                .map_err(read)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort();
    let marked = names.iter().any(|name| name == MARKER);
    let known = |name: &str| is_ours(name) || [MARKER, TRUTH_FILE].contains(&name);
    let foreign = names.iter().find(|name| !marked || !known(name));
    if let Some(first) = foreign {
        return Err(SimulatorError::ForeignFolder {
            folder: folder.to_owned(),
            first: first.clone(),
        });
    }
    // The marker stays, so that an interrupted clean-up can be repeated.
    let marker = folder.join(MARKER);
    std::fs::write(&marker, note).map_err(write(&marker))?;
    for name in names.iter().filter(|name| *name != MARKER) {
        let file = folder.join(name);
        let removed = if file.is_dir() {
            std::fs::remove_dir_all(&file)
        } else {
            std::fs::remove_file(&file)
        };
        removed.map_err(write(&file))?;
    }
    Ok(())
}

fn check(spec: &DatasetSpec) -> Result<(), SimulatorError> {
    for side in spec.size_px {
        within("--size (each side)", f64::from(side), 64.0, 8000.0)?;
    }
    within("--quality", f64::from(spec.quality), 30.0, 100.0)?;
    within("--without-xmp", spec.share_without_xmp, 0.0, 1.0)?;
    within("--without-gps", spec.share_without_gps, 0.0, 1.0)?;
    let errors = &spec.errors;
    for (what, value, high) in [
        ("--gps-sigma", errors.gps_sigma_m, 1000.0),
        ("--gps-correlation", errors.gps_correlation_s, 1e6),
        ("--height-offset-sigma", errors.height_offset_sigma_m, 500.0),
        ("--height-drift-sigma", errors.height_drift_sigma_m, 500.0),
        (
            "--absolute-height-sigma",
            errors.absolute_height_sigma_m,
            500.0,
        ),
        ("--gimbal-sigma", errors.gimbal_sigma_deg, 90.0),
        ("--yaw-offset-sigma", errors.yaw_offset_sigma_deg, 180.0),
        ("--clock-sigma", errors.clock_sigma_s, 1e6),
    ] {
        within(what, value, 0.0, high)?;
    }
    Ok(())
}

/// One photo while it is being made.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) photo: PlannedPhoto,
    pub(crate) reading: Reading,
    pub(crate) utc: Timestamp,
    pub(crate) carries: Carries,
}

/// What is known of a capture before any photo is made.
pub(crate) struct Outing {
    pub(crate) world: World,
    pub(crate) intrinsics: Intrinsics,
    /// Of the camera.
    pub(crate) serial: String,
    pub(crate) jobs: Vec<Job>,
}

impl Outing {
    /// The world, the camera and the photos to take.
    pub(crate) fn plan(spec: &DatasetSpec) -> Result<Self, SimulatorError> {
        check(spec)?;
        let world = World::generate(&spec.site)?;
        let intrinsics = draw_intrinsics(spec.site.seed, spec.size_px);
        let plan_spec = PlanSpec {
            n_photos: spec.n_photos,
            heights_m: spec.heights_m.clone(),
            pitches_deg: spec.pitches_deg.clone(),
            seed: spec.site.seed,
            site_heading: f64::from(world.heading),
        };
        let plan = default_plan(&plan_spec, &intrinsics)?;
        let jobs = jobs(spec, &world, plan);
        Ok(Self {
            world,
            intrinsics,
            serial: format!("SIM1{:08}", spec.site.seed % 100_000_000),
            jobs,
        })
    }
}

/// So many threads; 0 takes as many as the machine has.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool, SimulatorError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| SimulatorError::Threads { threads, source })
}

fn jobs(spec: &DatasetSpec, world: &World, plan: Vec<PlannedPhoto>) -> Vec<Job> {
    let seed = spec.site.seed;
    let readings = read_sensors(&plan, &spec.errors, seed);
    plan.into_iter()
        .zip(readings)
        .enumerate()
        .map(|(index, (photo, reading))| {
            let name = format!("SIM_{:04}.JPG", index + 1);
            let mut dice = Dice::new(seed, "carries", &name);
            let carries = Carries {
                xmp: !dice.chance(spec.share_without_xmp),
                gps: !dice.chance(spec.share_without_gps),
            };
            // Whole milliseconds, so that files hold exactly what happened.
            let elapsed = SignedDuration::from_millis((photo.seconds * 1000.0).round() as i64);
            let utc = world
                .start
                .saturating_add(elapsed)
                .expect("a duration of seconds is never ambiguous");
            Job {
                name,
                photo,
                reading,
                utc,
                carries,
            }
        })
        .collect()
}

struct Taken {
    bytes: Vec<u8>,
    sights: Vec<Sight>,
}

fn take(
    stage: &Stage,
    rays: &RayTable,
    intrinsics: &Intrinsics,
    serial: &str,
    job: &Job,
    quality: u8,
) -> Taken {
    let world = stage.world();
    let camera = Camera {
        intrinsics: *intrinsics,
        camera_from_enu: job.photo.camera_from_enu,
    };
    let film = Film::draw(world.seed, &job.name);
    let photograph = stage.photograph(&camera, rays, &film);
    let shot = Shot {
        world,
        serial,
        utc: job.utc,
        reading: &job.reading,
        carries: job.carries,
        film: &film,
    };
    let prospect = Prospect {
        scene: &stage.scene,
        vehicles: &world.vehicles,
        camera: &camera,
        drawn: &camera,
        samples: &photograph.samples,
    };
    Taken {
        bytes: photo_file(&shot, &photograph.picture, quality),
        sights: sights(&prospect),
    }
}

/// Renders the photos of a spec into a folder and writes their truth beside them.
///
/// The same spec gives the same bytes, whatever the number of threads.
///
/// # Errors
/// Wishes out of range, a folder with foreign files, a disk that refuses.
pub fn render_dataset(
    spec: &DatasetSpec,
    folder: &Path,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Truth, SimulatorError> {
    let outing = Outing::plan(spec)?;
    let Outing {
        world,
        intrinsics,
        serial,
        jobs,
    } = &outing;
    prepare_folder(
        folder,
        is_ours,
        "Written by `simulator render`; rendering here again replaces it.\n",
    )?;
    progress(Progress::World {
        n_vehicles: world.vehicles.len(),
    });
    let pool = pool(spec.threads)?;
    let results: Vec<Result<(PhotoTruth, Vec<Sight>), SimulatorError>> = pool.install(|| {
        let stage = Stage::build(world);
        progress(Progress::Stage);
        let rays = RayTable::new(intrinsics);
        let done = AtomicUsize::new(0);
        jobs.par_iter()
            .with_max_len(1)
            .map(|job| {
                let taken = take(&stage, &rays, intrinsics, serial, job, spec.quality);
                let file = folder.join(&job.name);
                std::fs::write(&file, &taken.bytes)
                    .map_err(|source| SimulatorError::Write { file, source })?;
                let count = done.fetch_add(1, Ordering::Relaxed) + 1;
                progress(Progress::Photos {
                    done: count,
                    of: jobs.len(),
                });
                Ok((photo_truth(job, intrinsics, &taken.bytes), taken.sights))
            })
            .collect()
    });
    let taken: Vec<(PhotoTruth, Vec<Sight>)> = results.into_iter().collect::<Result<_, _>>()?;
    let truth = assemble(&spec.errors, &outing, taken);
    let file: PathBuf = folder.join(TRUTH_FILE);
    std::fs::write(&file, truth.to_json())
        .map_err(|source| SimulatorError::Write { file, source })?;
    Ok(truth)
}

/// To so many decimals.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

pub(crate) fn photo_truth(job: &Job, intrinsics: &Intrinsics, bytes: &[u8]) -> PhotoTruth {
    let center = job.photo.camera_from_enu.center_in_enu();
    let sha256 = Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    PhotoTruth {
        file: job.name.clone(),
        sha256,
        utc: job.utc.to_string(),
        flight: job.photo.flight,
        camera_from_enu: (&job.photo.camera_from_enu).into(),
        center_in_enu_m: [center.x, center.y, center.z],
        yaw_deg: job.photo.yaw_deg,
        pitch_deg: job.photo.pitch_deg,
        roll_deg: job.photo.roll_deg,
        planned_height_m: job.photo.nominal_height_m,
        planned_pitch_deg: job.photo.nominal_pitch_deg,
        link: job.photo.link,
        intrinsics: *intrinsics,
        has_xmp: job.carries.xmp,
        has_gps: job.carries.gps,
    }
}

pub(crate) fn vehicle_truth(vehicle: &Vehicle) -> VehicleTruth {
    let model = vehicle.model;
    let [east, north] = vehicle.center_in_enu;
    VehicleTruth {
        id: vehicle.id.clone(),
        brand: model.brand.clone(),
        model: model.model.clone(),
        year: model.year,
        body: model.body,
        color: vehicle.color.to_owned(),
        length_mm: model.length_mm,
        width_mm: model.width_mm,
        height_mm: model.height_mm,
        center_in_enu_m: [east, north, 0.0],
        front_azimuth_deg: vehicle.front_azimuth_deg,
    }
}

/// The truth from what is known of each photo, in the order they were taken.
pub(crate) fn assemble(
    errors: &ErrorSpec,
    outing: &Outing,
    taken: Vec<(PhotoTruth, Vec<Sight>)>,
) -> Truth {
    let world = &outing.world;
    let mut photos = Vec::new();
    let mut views = Vec::new();
    for (photo, sights) in taken {
        for sight in sights {
            views.push(ViewTruth {
                photo: photo.file.clone(),
                vehicle: world.vehicles[sight.vehicle].id.clone(),
                visible_fraction: rounded(sight.visible_fraction, 4),
                truncated: sight.truncated,
                oriented_box: sight.oriented_box.map(|v| rounded(v, 3)),
                horizontal_box: sight.horizontal_box,
                front_direction_deg: rounded(sight.front_direction_deg, 3).rem_euclid(360.0),
            });
        }
        photos.push(photo);
    }
    Truth {
        schema: TRUTH_SCHEMA.to_owned(),
        seed: world.seed,
        site: SiteTruth {
            origin: world.origin,
            height_above_sea_m: world.origin.height_above_ellipsoid_m - world.geoid_undulation_m,
            zone: world.zone.clone(),
            kind: world.kind,
            weather: world.weather,
            ground: GroundTruth {
                height_m: 0.0,
                slope_east: 0.0,
                slope_north: 0.0,
            },
        },
        sun: SunTruth {
            azimuth_deg: rounded(world.sun.azimuth_deg, 4),
            elevation_deg: rounded(world.sun.elevation_deg, 4),
        },
        camera: CameraTruth {
            make: CAMERA_MAKE.to_owned(),
            model: CAMERA_MODEL.to_owned(),
            serial: outing.serial.clone(),
        },
        errors: *errors,
        photos,
        vehicles: world.vehicles.iter().map(vehicle_truth).collect(),
        views,
        processed: None,
    }
}
