//! COLMAP as a process: 3.8 (Debian 12) and later generations, whose option names differ, and
//! `pycolmap` behind a script of ours that takes COLMAP's own commands.
//!
//! Its exit code is never believed: a corrupt photo or a pair list that names missing photos ends
//! with 0, a graphics context that cannot be had with a signal. What counts is what the database
//! and the model hold afterwards.

use super::process::{self, Ended, Outcome};
use super::{
    CameraGroup, DatabaseStats, EngineIdentity, OnProgress, PoseEngine, Refine, SolveError,
    SolveJob, Solved, Stage, StageTime, database, prepare_error,
};
use crate::pose::model::Model;
use calibration::{CameraModel, Lens};
use console::Cancel;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The script that makes `pycolmap` answer to COLMAP's commands.
const PYCOLMAP_SCRIPT: &str = include_str!("pycolmap_commands.py");
/// Asking a program for its version.
const PROBE_LIMIT: Duration = Duration::from_secs(60);

/// How COLMAP is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColmapProgram {
    /// The `colmap` binary.
    Binary(PathBuf),
    /// A Python interpreter that has `pycolmap`.
    Pycolmap {
        /// The interpreter.
        python: PathBuf,
    },
}

impl ColmapProgram {
    fn path(&self) -> &Path {
        match self {
            Self::Binary(path) => path,
            Self::Pycolmap { python } => python,
        }
    }

    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(self.path());
        if let Self::Pycolmap { .. } = self {
            command.args(["-c", PYCOLMAP_SCRIPT]);
        }
        // Debian's build is linked to Qt and aborts without a display otherwise.
        command.arg(subcommand).env("QT_QPA_PLATFORM", "offscreen");
        command
    }
}

/// A COLMAP that answered.
#[derive(Clone, Debug)]
pub struct Colmap {
    program: ColmapProgram,
    version: String,
    has_cuda: bool,
    names: OptionNames,
}

/// Options that were renamed in COLMAP 3.13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OptionNames {
    /// `use_gpu`, `num_threads`, `max_image_size` of extraction.
    extraction: &'static str,
    /// `use_gpu`, `num_threads` of matching.
    matching: &'static str,
}

const NAMES_TO_3_12: OptionNames = OptionNames {
    extraction: "SiftExtraction",
    matching: "SiftMatching",
};
const NAMES_FROM_3_13: OptionNames = OptionNames {
    extraction: "FeatureExtraction",
    matching: "FeatureMatching",
};

/// A `colmap` on the search path.
#[must_use]
pub fn find() -> Option<ColmapProgram> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("colmap"))
        .find(|candidate| candidate.is_file())
        .map(ColmapProgram::Binary)
}

impl Colmap {
    /// Starts the program once to learn its version and its option names.
    ///
    /// # Errors
    /// A sentence: it does not start, does not answer, or is not COLMAP.
    pub fn probe(program: ColmapProgram, cancel: &Cancel) -> Result<Self, String> {
        let help = ask(&program, &["help"], cancel)?;
        let version = help
            .iter()
            .find_map(|line| line.split_once("COLMAP ").map(|(_, rest)| rest))
            .and_then(|rest| rest.split_whitespace().next())
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .ok_or_else(|| {
                let first = help.first().map_or("nothing", String::as_str);
                format!(
                    "{} is not COLMAP: asked for help it printed \"{first}\"",
                    program.path().display()
                )
            })?
            .to_owned();
        let has_cuda = help.iter().any(|line| line.contains("with CUDA"));
        let options = ask(&program, &["feature_extractor", "--help"], cancel)?;
        let renamed = options
            .iter()
            .any(|line| line.contains("FeatureExtraction.use_gpu"));
        let names = if renamed {
            NAMES_FROM_3_13
        } else {
            NAMES_TO_3_12
        };
        Ok(Self {
            program,
            version,
            has_cuda,
            names,
        })
    }
}

/// The lines that a program prints for a question.
fn ask(program: &ColmapProgram, question: &[&str], cancel: &Cancel) -> Result<Vec<String>, String> {
    let mut command = program.command(question[0]);
    command.args(&question[1..]);
    let mut lines = Vec::new();
    let name = program.path().display();
    let outcome = process::run(
        &mut command,
        Path::new("/dev/null"),
        PROBE_LIMIT,
        cancel,
        |line| lines.push(line.to_owned()),
        || {},
    )
    .map_err(|error| format!("cannot start {name}: {error}"))?;
    match outcome.ended {
        Ended::TimedOut => Err(format!(
            "{name} did not answer within {} s",
            PROBE_LIMIT.as_secs()
        )),
        Ended::Signal(signal) => Err(format!("{name} was ended by signal {signal}")),
        Ended::Cancelled => Err("interrupted".to_owned()),
        Ended::Code(0) => Ok(lines),
        Ended::Code(code) => {
            let last = lines.last().map_or("nothing", String::as_str);
            Err(format!(
                "{name} ended with code {code} and printed \"{last}\""
            ))
        }
    }
}

/// The folders and files of a job.
struct Layout<'a> {
    job: &'a SolveJob,
    images: PathBuf,
    masks: Option<PathBuf>,
    database: PathBuf,
    log: PathBuf,
}

impl PoseEngine for Colmap {
    fn identity(&self) -> EngineIdentity {
        let name = match self.program {
            ColmapProgram::Binary(_) => "colmap",
            ColmapProgram::Pycolmap { .. } => "pycolmap",
        };
        EngineIdentity {
            name: name.to_owned(),
            version: self.version.clone(),
        }
    }

    fn solve(
        &self,
        job: &SolveJob,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<Solved, SolveError> {
        let layout = lay_out(job)?;
        let mut stages = vec![self.extract(&layout, on_progress, cancel)?];
        stages.push(self.match_pairs(&layout, on_progress, cancel)?);
        let stats = database::stats(&layout.database)?;
        let refine_focal = job
            .groups
            .iter()
            .any(|g| matches!(g.refine, Refine::FocalAndRadial | Refine::Full));
        let (models, time) = self.map(&layout, "sparse", refine_focal, on_progress, cancel)?;
        stages.push(time);
        Ok(Solved {
            models,
            stages,
            stats,
        })
    }

    fn solve_with_fixed_focal(
        &self,
        job: &SolveJob,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<Solved, SolveError> {
        let layout = lay_out(job)?;
        let stats = database::stats(&layout.database)?;
        let (models, time) = self.map(&layout, "sparse-fixed", false, on_progress, cancel)?;
        Ok(Solved {
            models,
            stages: vec![time],
            stats,
        })
    }
}

impl Colmap {
    fn extract(
        &self,
        layout: &Layout<'_>,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<StageTime, SolveError> {
        let started = Instant::now();
        let n_photos = layout.job.n_photos() as u64;
        let mut done_before = 0;
        for (idx, group) in layout.job.groups.iter().enumerate() {
            let list = layout.job.work.join(format!("photos_{idx}.txt"));
            let names: Vec<&str> = group.photos.iter().map(|p| p.name.as_str()).collect();
            fs::write(&list, names.join("\n") + "\n").map_err(prepare_error(&list))?;
            let mut command = self.extraction_command(layout, group, &list);
            let mut report = |line: &str| {
                if let Some(done) = counted(line, "Processed file [") {
                    on_progress(Stage::Features, done_before + done, n_photos);
                }
            };
            let limit = 60.0 + 6.0 * 8.0 * group.photos.len() as f64;
            let outcome = self.stage(
                &mut command,
                layout,
                Stage::Features,
                limit,
                cancel,
                &mut report,
                &mut || {},
            )?;
            check(&outcome, Stage::Features, layout)?;
            done_before += group.photos.len() as u64;
        }
        Ok(StageTime {
            stage: Stage::Features,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn extraction_command(&self, layout: &Layout<'_>, group: &CameraGroup, list: &Path) -> Command {
        let settings = &layout.job.settings;
        let (model, parameters) = camera_parameters(&group.prior, group.refine);
        let names = self.names.extraction;
        let mut command = self.program.command("feature_extractor");
        option(&mut command, "database_path", &layout.database);
        option(&mut command, "image_path", &layout.images);
        option(&mut command, "image_list_path", list);
        option(&mut command, "ImageReader.single_camera", "1");
        option(&mut command, "ImageReader.camera_model", model);
        option(&mut command, "ImageReader.camera_params", parameters);
        if let Some(masks) = &layout.masks {
            option(&mut command, "ImageReader.mask_path", masks);
        }
        option(&mut command, &format!("{names}.use_gpu"), self.gpu());
        option(
            &mut command,
            &format!("{names}.num_threads"),
            settings.threads.to_string(),
        );
        let size = settings.max_image_size_px.to_string();
        option(&mut command, &format!("{names}.max_image_size"), size);
        option(
            &mut command,
            "SiftExtraction.max_num_features",
            settings.max_features.to_string(),
        );
        // Doubling the picture finds features smaller than a pixel: needed on small pictures,
        // three quarters of the time wasted on large ones.
        let work_size = group
            .prior
            .width
            .max(group.prior.height)
            .min(settings.max_image_size_px);
        let first_octave = if work_size >= SMALL_PICTURE_PX {
            "0"
        } else {
            "-1"
        };
        option(&mut command, "SiftExtraction.first_octave", first_octave);
        command
    }

    fn match_pairs(
        &self,
        layout: &Layout<'_>,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<StageTime, SolveError> {
        let job = layout.job;
        let started = Instant::now();
        let list = job.work.join("pairs.txt");
        let names: Vec<&str> = job.photos().map(|p| p.name.as_str()).collect();
        let mut text = String::new();
        for &(a, b) in &job.pairs {
            text.push_str(names[a]);
            text.push(' ');
            text.push_str(names[b]);
            text.push('\n');
        }
        fs::write(&list, text).map_err(prepare_error(&list))?;
        let matching = self.names.matching;
        let mut command = self.program.command("matches_importer");
        option(&mut command, "database_path", &layout.database);
        option(&mut command, "match_list_path", &list);
        option(&mut command, "match_type", "pairs");
        option(&mut command, &format!("{matching}.use_gpu"), self.gpu());
        option(
            &mut command,
            &format!("{matching}.num_threads"),
            job.settings.threads.to_string(),
        );
        let n_pairs = job.pairs.len() as u64;
        let mut last_look = Instant::now();
        let mut look = || {
            // COLMAP says nothing inside a block of pairs, but its database grows.
            if last_look.elapsed() >= Duration::from_secs(2) {
                last_look = Instant::now();
                if let Some(done) = database::matched_pairs(&layout.database) {
                    on_progress(Stage::Matching, done.min(n_pairs), n_pairs);
                }
            }
        };
        let limit = 60.0 + 6.0 * 2.0 * n_pairs as f64;
        let outcome = self.stage(
            &mut command,
            layout,
            Stage::Matching,
            limit,
            cancel,
            &mut |_| {},
            &mut look,
        )?;
        check(&outcome, Stage::Matching, layout)?;
        Ok(StageTime {
            stage: Stage::Matching,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn map(
        &self,
        layout: &Layout<'_>,
        folder: &str,
        refine_focal: bool,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<(Vec<Model>, StageTime), SolveError> {
        let job = layout.job;
        let started = Instant::now();
        let output = job.work.join(folder);
        if output.exists() {
            fs::remove_dir_all(&output).map_err(prepare_error(&output))?;
        }
        fs::create_dir_all(&output).map_err(prepare_error(&output))?;
        let refine_lens = job.groups.iter().any(|g| g.refine != Refine::Nothing);
        let flag = |on: bool| if on { "1" } else { "0" };
        let mut command = self.program.command("mapper");
        option(&mut command, "database_path", &layout.database);
        option(&mut command, "image_path", &layout.images);
        option(&mut command, "output_path", &output);
        option(
            &mut command,
            "Mapper.num_threads",
            job.settings.threads.to_string(),
        );
        option(&mut command, "Mapper.extract_colors", "0");
        option(
            &mut command,
            "Mapper.min_model_size",
            job.settings.min_model_size.to_string(),
        );
        option(&mut command, "Mapper.ba_refine_principal_point", "0");
        option(
            &mut command,
            "Mapper.ba_refine_focal_length",
            flag(refine_focal),
        );
        option(
            &mut command,
            "Mapper.ba_refine_extra_params",
            flag(refine_lens),
        );
        let n_photos = job.n_photos() as u64;
        let mut n_registered = 0;
        let mut report = |line: &str| {
            if line.contains("Registering image #") || line.contains("Registering frame #") {
                n_registered += 1;
                on_progress(Stage::Mapping, n_registered.min(n_photos), n_photos);
            }
        };
        let limit = 300.0 + 6.0 * 20.0 * n_photos as f64;
        let outcome = self.stage(
            &mut command,
            layout,
            Stage::Mapping,
            limit,
            cancel,
            &mut report,
            &mut || {},
        )?;
        // Code 1 with this sentence is how it says that nothing could be posed.
        let found_nothing = outcome.ended == Ended::Code(1)
            && outcome
                .last_lines
                .iter()
                .any(|l| l.contains("failed to create sparse model"));
        if !found_nothing {
            check(&outcome, Stage::Mapping, layout)?;
        }
        let models = read_models(&output)?;
        Ok((
            models,
            StageTime {
                stage: Stage::Mapping,
                seconds: started.elapsed().as_secs_f64(),
            },
        ))
    }

    fn gpu(&self) -> &'static str {
        // Without CUDA the option would look for a graphics context and abort.
        if self.has_cuda { "1" } else { "0" }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "the two callbacks and the limit differ per stage"
    )]
    fn stage(
        &self,
        command: &mut Command,
        layout: &Layout<'_>,
        stage: Stage,
        limit_s: f64,
        cancel: &Cancel,
        on_line: &mut dyn FnMut(&str),
        on_tick: &mut dyn FnMut(),
    ) -> Result<Outcome, SolveError> {
        let limit_s = limit_s * layout.job.settings.patience;
        let outcome = process::run(
            command,
            &layout.log,
            Duration::from_secs_f64(limit_s),
            cancel,
            on_line,
            on_tick,
        )
        .map_err(|source| SolveError::Start {
            program: self.program.path().to_owned(),
            source,
        })?;
        match outcome.ended {
            Ended::TimedOut => Err(SolveError::TimedOut {
                stage,
                limit_s,
                log: layout.log.clone(),
            }),
            Ended::Cancelled => Err(console::Interrupted.into()),
            _ => Ok(outcome),
        }
    }
}

/// Longer sides below this are small pictures for feature finding.
const SMALL_PICTURE_PX: u32 = 1400;

fn check(outcome: &Outcome, stage: Stage, layout: &Layout<'_>) -> Result<(), SolveError> {
    let how = match outcome.ended {
        Ended::Code(0) => return Ok(()),
        Ended::Code(code) => format!("it ended with code {code}"),
        Ended::Signal(signal) => format!("signal {signal} ended it"),
        Ended::TimedOut | Ended::Cancelled => return Ok(()),
    };
    let last_line = outcome
        .last_lines
        .iter()
        .rev()
        .find(|l| !l.trim().is_empty())
        .cloned();
    Err(SolveError::Failed {
        stage,
        how,
        last_line,
        log: layout.log.clone(),
    })
}

fn option(command: &mut Command, name: &str, value: impl Into<OsString>) {
    command.arg(format!("--{name}")).arg(value.into());
}

/// The number after `marker` and before the next `/`.
fn counted(line: &str, marker: &str) -> Option<u64> {
    let (_, rest) = line.split_once(marker)?;
    rest.split_once('/')?.0.trim().parse().ok()
}

/// COLMAP's camera model and its parameters for a prior.
fn camera_parameters(prior: &CameraModel, refine: Refine) -> (&'static str, String) {
    let CameraModel { fx, fy, cx, cy, .. } = *prior;
    let (model, values) = match prior.lens {
        Lens::Fisheye { k1, k2, k3, k4 } => {
            ("OPENCV_FISHEYE", vec![fx, fy, cx, cy, k1, k2, k3, k4])
        }
        Lens::BrownConrady { k1, k2, p1, p2, k3 } => match refine {
            Refine::Nothing if k3 != 0.0 => (
                "FULL_OPENCV",
                vec![fx, fy, cx, cy, k1, k2, p1, p2, k3, 0.0, 0.0, 0.0],
            ),
            Refine::Nothing | Refine::Full => ("OPENCV", vec![fx, fy, cx, cy, k1, k2, p1, p2]),
            Refine::FocalAndRadial | Refine::RadialOnly => {
                ("SIMPLE_RADIAL", vec![f64::midpoint(fx, fy), cx, cy, k1])
            }
        },
    };
    let text: Vec<String> = values.iter().map(f64::to_string).collect();
    (model, text.join(","))
}

/// Links the photos under their safe names and makes the folders.
fn lay_out(job: &SolveJob) -> Result<Layout<'_>, SolveError> {
    let images = job.work.join("photos");
    fs::create_dir_all(&images).map_err(prepare_error(&images))?;
    let has_masks = job.photos().any(|photo| photo.mask.is_some());
    let masks = has_masks.then(|| job.work.join("masks"));
    if let Some(masks) = &masks {
        fs::create_dir_all(masks).map_err(prepare_error(masks))?;
    }
    for photo in job.photos() {
        link(&photo.file, &images.join(&photo.name))?;
        if let (Some(masks), Some(mask)) = (&masks, &photo.mask) {
            link(mask, &masks.join(format!("{}.png", photo.name)))?;
        }
    }
    Ok(Layout {
        job,
        images,
        masks,
        database: job.work.join("database.db"),
        log: job.work.join("solver.log"),
    })
}

/// A symbolic link: the solver only reads.
fn link(target: &Path, at: &Path) -> Result<(), SolveError> {
    let target = target.canonicalize().map_err(prepare_error(target))?;
    if fs::read_link(at).is_ok_and(|existing| existing == target) {
        return Ok(());
    }
    if at.symlink_metadata().is_ok() {
        fs::remove_file(at).map_err(prepare_error(at))?;
    }
    std::os::unix::fs::symlink(&target, at).map_err(prepare_error(at))
}

/// Every sub-model in `output`, the largest first.
fn read_models(output: &Path) -> Result<Vec<Model>, SolveError> {
    let entries = fs::read_dir(output).map_err(prepare_error(output))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.join("images.bin").is_file())
        .collect();
    folders.sort();
    let mut models = folders
        .iter()
        .map(|f| Model::read(f))
        .collect::<Result<Vec<_>, _>>()?;
    models.retain(|model| !model.photos.is_empty());
    models.sort_by_key(|model| std::cmp::Reverse((model.photos.len(), model.points.len())));
    Ok(models)
}

/// Statistics for a job whose engine keeps a COLMAP database.
impl DatabaseStats {
    /// Median number of verified pairs per photo; `None` without photos.
    #[must_use]
    pub fn median_pairs(&self) -> Option<f64> {
        let mut pairs: Vec<f64> = self
            .photos
            .values()
            .map(|photo| photo.verified_pairs as f64)
            .collect();
        crate::pose::align::median(&mut pairs)
    }
}
