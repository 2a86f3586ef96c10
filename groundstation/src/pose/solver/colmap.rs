//! COLMAP as a process, `pycolmap` behind it or not.
//!
//! Its exit code is never believed: a corrupt photo or a pair list that names missing photos ends
//! with 0, a graphics context that cannot be had with a signal. What counts is what the database
//! and the model hold afterwards.

use super::probe::{Colmap, ColmapProgram, limit};
use super::process::{self, Bounds, Ended, Outcome};
use super::{
    CameraGroup, DatabaseStats, EngineIdentity, OnProgress, PoseEngine, Refine, SolveError,
    SolveJob, SolvePhoto, Solved, Stage, StageTime, database, prepare_error,
};
use crate::pose::model::{Model, ModelError};
use calibration::{CameraModel, Lens};
use console::Cancel;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Pairs are handed over in so many parts (COLMAP keeps what it matched only at the end of each
/// call, and says nothing before), of at least so many pairs (starting it takes time, too).
const MATCHING_PARTS: usize = 20;
const MIN_PAIRS_PER_PART: usize = 50;
/// Longer sides below this are small pictures for feature finding.
const SMALL_PICTURE_PX: u32 = 1400;

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
        let mut work = Work::prepare(self, job, cancel)?;
        let mut stages = Vec::new();
        let mut remarks = Vec::new();
        match work.find_and_match(on_progress, &mut stages) {
            Err(SolveError::Failed { how, .. }) if work.uses_gpu => {
                remarks.push(format!(
                    "the solver could not use the graphics card ({how}): done without it"
                ));
                work.uses_gpu = false;
                work.find_and_match(on_progress, &mut stages)?;
            }
            outcome => outcome?,
        }
        let stats = database::stats(&work.database)?;
        let refine_focal = job
            .groups
            .iter()
            .any(|g| matches!(g.refine, Refine::FocalAndRadial | Refine::Full));
        let models = work.map(
            "sparse",
            refine_focal,
            on_progress,
            &mut stages,
            &mut remarks,
        )?;
        Ok(Solved {
            models,
            stages,
            stats,
            remarks,
        })
    }

    fn solve_with_fixed_focal(
        &self,
        job: &SolveJob,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<Solved, SolveError> {
        let work = Work::prepare(self, job, cancel)?;
        let stats = database::stats(&work.database)?;
        let (mut stages, mut remarks) = (Vec::new(), Vec::new());
        let models = work.map(
            "sparse-fixed",
            false,
            on_progress,
            &mut stages,
            &mut remarks,
        )?;
        Ok(Solved {
            models,
            stages,
            stats,
            remarks,
        })
    }
}

/// A job being done: its folders and files.
struct Work<'a> {
    engine: &'a Colmap,
    job: &'a SolveJob,
    cancel: &'a Cancel,
    images: PathBuf,
    masks: Option<PathBuf>,
    database: PathBuf,
    log: PathBuf,
    pid_file: PathBuf,
    uses_gpu: bool,
}

impl<'a> Work<'a> {
    /// Links the photos under their safe names and sees to what an interrupted run left.
    fn prepare(
        engine: &'a Colmap,
        job: &'a SolveJob,
        cancel: &'a Cancel,
    ) -> Result<Self, SolveError> {
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
        let pid_file = job.work.join("solver.pid");
        process::end_leftover(&pid_file);
        let database = job.work.join("database.db");
        database::remove_unsound(&database).map_err(prepare_error(&database))?;
        Ok(Self {
            engine,
            job,
            cancel,
            images,
            masks,
            database,
            log: job.work.join("solver.log"),
            pid_file,
            // Without CUDA the option would look for a graphics context and abort.
            uses_gpu: engine.has_cuda,
        })
    }

    fn find_and_match(
        &self,
        on_progress: &mut OnProgress<'_>,
        stages: &mut Vec<StageTime>,
    ) -> Result<(), SolveError> {
        let started = Instant::now();
        self.extract(on_progress)?;
        stages.push(stage_time(Stage::Features, started));
        let started = Instant::now();
        self.match_pairs(on_progress)?;
        stages.push(stage_time(Stage::Matching, started));
        Ok(())
    }

    /// Finds features in the photos that the database does not have yet.
    fn extract(&self, on_progress: &mut OnProgress<'_>) -> Result<(), SolveError> {
        let n_photos = self.job.n_photos() as u64;
        let before = database::Progress::read(&self.database)?;
        let is_missing = |photo: &&SolvePhoto| !before.has_features(&photo.name);
        let n_missing = self.job.photos().filter(is_missing).count() as u64;
        let mut n_done = n_photos - n_missing;
        on_progress(Stage::Features, n_done, n_photos);
        for group in &self.job.groups {
            // From 4.0 on a photo without a mask is left out when there is a folder of masks.
            let (masked, bare): (Vec<&SolvePhoto>, Vec<&SolvePhoto>) = group
                .photos
                .iter()
                .filter(is_missing)
                .partition(|photo| photo.mask.is_some());
            for (photos, masks) in [(bare, None), (masked, self.masks.as_deref())] {
                self.extract_some(group, &photos, masks, &mut |done| {
                    on_progress(Stage::Features, n_done + done, n_photos);
                })?;
                n_done += photos.len() as u64;
            }
        }
        let after = database::stats(&self.database)?;
        if after.photos.values().all(|photo| photo.features == 0) {
            return Err(self.failed(
                Stage::Features,
                format!("it ended with code 0 but found no features in any of {n_photos} photos"),
                &[],
            ));
        }
        Ok(())
    }

    /// Finds features in some photos of a group, which are all masked or all not.
    fn extract_some(
        &self,
        group: &CameraGroup,
        photos: &[&SolvePhoto],
        masks: Option<&Path>,
        on_done: &mut dyn FnMut(u64),
    ) -> Result<(), SolveError> {
        if photos.is_empty() {
            return Ok(());
        }
        let list = self.job.work.join("photos.txt");
        let names: String = photos.iter().map(|p| format!("{}\n", p.name)).collect();
        fs::write(&list, names).map_err(prepare_error(&list))?;
        // Photos added to a group must share its camera, not get one of their own.
        let known = database::Progress::read(&self.database)?;
        let camera_id = group.photos.iter().find_map(|p| known.camera_of(&p.name));
        let mut command = self.extraction_command(group, &list, masks, camera_id);
        let limit_s = 60.0 + 6.0 * 8.0 * photos.len() as f64;
        self.run_checked(&mut command, Stage::Features, limit_s, &mut |line| {
            if let Some(done) = counted(line, "Processed file [") {
                on_done(done);
            }
        })?;
        Ok(())
    }

    fn extraction_command(
        &self,
        group: &CameraGroup,
        list: &Path,
        masks: Option<&Path>,
        camera_id: Option<i64>,
    ) -> Command {
        let settings = &self.job.settings;
        let (model, parameters) = camera_parameters(&group.prior, group.refine);
        let names = self.engine.names.extraction;
        let mut command = self.engine.program.command("feature_extractor");
        option(&mut command, "database_path", &self.database);
        option(&mut command, "image_path", &self.images);
        option(&mut command, "image_list_path", list);
        option(&mut command, "ImageReader.single_camera", "1");
        option(&mut command, "ImageReader.camera_model", model);
        option(&mut command, "ImageReader.camera_params", parameters);
        if let Some(camera_id) = camera_id {
            let camera_id = camera_id.to_string();
            option(&mut command, "ImageReader.existing_camera_id", camera_id);
        }
        if let Some(masks) = masks {
            option(&mut command, "ImageReader.mask_path", masks);
        }
        self.common_options(&mut command, names);
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

    /// Graphics card and threads, which extraction and matching share.
    fn common_options(&self, command: &mut Command, names: &str) {
        let use_gpu = if self.uses_gpu { "1" } else { "0" };
        option(command, &format!("{names}.use_gpu"), use_gpu);
        let threads = self.job.settings.threads.to_string();
        option(command, &format!("{names}.num_threads"), threads);
    }

    /// Matches the pairs that the database does not have yet, part by part.
    fn match_pairs(&self, on_progress: &mut OnProgress<'_>) -> Result<(), SolveError> {
        let names: Vec<&str> = self.job.photos().map(|p| p.name.as_str()).collect();
        let before = database::Progress::read(&self.database)?;
        let pairs: Vec<(&str, &str)> = self
            .job
            .pairs
            .iter()
            .map(|&(a, b)| (names[a], names[b]))
            // A photo that the solver could not read is not in its database.
            .filter(|(a, b)| before.has_features(a) && before.has_features(b))
            .collect();
        let missing: Vec<(&str, &str)> = pairs
            .iter()
            .copied()
            .filter(|(a, b)| !before.is_matched(a, b))
            .collect();
        let n_pairs = pairs.len() as u64;
        let mut n_done = n_pairs - missing.len() as u64;
        on_progress(Stage::Matching, n_done, n_pairs);
        let part = MIN_PAIRS_PER_PART.max(pairs.len().div_ceil(MATCHING_PARTS));
        for pairs in missing.chunks(part) {
            self.match_part(pairs)?;
            n_done += pairs.len() as u64;
            on_progress(Stage::Matching, n_done, n_pairs);
        }
        Ok(())
    }

    fn match_part(&self, pairs: &[(&str, &str)]) -> Result<(), SolveError> {
        let list = self.job.work.join("pairs.txt");
        let text: String = pairs.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
        fs::write(&list, text).map_err(prepare_error(&list))?;
        let mut command = self.engine.program.command("matches_importer");
        option(&mut command, "database_path", &self.database);
        option(&mut command, "match_list_path", &list);
        option(&mut command, "match_type", "pairs");
        self.common_options(&mut command, self.engine.names.matching);
        let limit_s = 60.0 + 6.0 * 2.0 * pairs.len() as f64;
        let outcome = self.run_checked(&mut command, Stage::Matching, limit_s, &mut |_| {})?;
        let after = database::Progress::read(&self.database)?;
        if !pairs.iter().any(|(a, b)| after.is_matched(a, b)) {
            let how = format!(
                "it ended with code 0 but matched none of {} pairs",
                pairs.len()
            );
            return Err(self.failed(Stage::Matching, how, &outcome.last_lines));
        }
        Ok(())
    }

    fn map(
        &self,
        folder: &str,
        refine_focal: bool,
        on_progress: &mut OnProgress<'_>,
        stages: &mut Vec<StageTime>,
        remarks: &mut Vec<String>,
    ) -> Result<Vec<Model>, SolveError> {
        let started = Instant::now();
        let output = self.job.work.join(folder);
        if output.exists() {
            fs::remove_dir_all(&output).map_err(prepare_error(&output))?;
        }
        fs::create_dir_all(&output).map_err(prepare_error(&output))?;
        let mut command = self.mapping_command(&output, refine_focal);
        let n_photos = self.job.n_photos() as u64;
        let mut n_registered = 0;
        on_progress(Stage::Mapping, 0, n_photos);
        let limit_s = 300.0 + 6.0 * 20.0 * n_photos as f64;
        let outcome = self.run(&mut command, Stage::Mapping, limit_s, &mut |line| {
            if line.contains("Registering image #") || line.contains("Registering frame #") {
                n_registered += 1;
                on_progress(Stage::Mapping, n_registered.min(n_photos), n_photos);
            }
        })?;
        let models = read_models(&output, remarks)?;
        // Code 1 with this sentence is how it says that nothing could be posed.
        let found_nothing = outcome.ended == Ended::Code(1)
            && outcome
                .last_lines
                .iter()
                .any(|l| l.contains("failed to create sparse model"));
        match how_it_failed(&outcome) {
            Some(how) if models.is_empty() && !found_nothing => {
                return Err(self.failed(Stage::Mapping, how, &outcome.last_lines));
            }
            Some(how) if !models.is_empty() => remarks.push(format!(
                "the solver did not end well ({how}); what it had written before was used"
            )),
            _ => {}
        }
        stages.push(stage_time(Stage::Mapping, started));
        Ok(models)
    }

    fn mapping_command(&self, output: &Path, refine_focal: bool) -> Command {
        let job = self.job;
        let refine_lens = job.groups.iter().any(|g| g.refine != Refine::Nothing);
        let flag = |on: bool| if on { "1" } else { "0" };
        let mut command = self.engine.program.command("mapper");
        option(&mut command, "database_path", &self.database);
        option(&mut command, "image_path", &self.images);
        option(&mut command, "output_path", output);
        let threads = job.settings.threads.to_string();
        option(&mut command, "Mapper.num_threads", threads);
        option(&mut command, "Mapper.extract_colors", "0");
        let size = job.settings.min_model_size.to_string();
        option(&mut command, "Mapper.min_model_size", size);
        option(&mut command, "Mapper.ba_refine_principal_point", "0");
        let refine_focal = flag(refine_focal);
        option(&mut command, "Mapper.ba_refine_focal_length", refine_focal);
        let refine_lens = flag(refine_lens);
        option(&mut command, "Mapper.ba_refine_extra_params", refine_lens);
        command
    }

    fn run(
        &self,
        command: &mut Command,
        stage: Stage,
        limit_s: f64,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Outcome, SolveError> {
        let limit_s = limit_s * self.job.settings.patience;
        let bounds = Bounds {
            log: Some(&self.log),
            pid_file: Some(&self.pid_file),
            limit: limit(limit_s),
            cancel: self.cancel,
        };
        let outcome =
            process::run(command, &bounds, on_line).map_err(|source| SolveError::Start {
                program: self.engine.program.path().to_owned(),
                source,
            })?;
        match outcome.ended {
            Ended::TimedOut => Err(SolveError::TimedOut {
                stage,
                limit_s,
                log: self.log.clone(),
            }),
            Ended::Cancelled => Err(console::Interrupted.into()),
            _ => Ok(outcome),
        }
    }

    fn run_checked(
        &self,
        command: &mut Command,
        stage: Stage,
        limit_s: f64,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Outcome, SolveError> {
        let outcome = self.run(command, stage, limit_s, on_line)?;
        match how_it_failed(&outcome) {
            Some(how) => Err(self.failed(stage, how, &outcome.last_lines)),
            None => Ok(outcome),
        }
    }

    fn failed(&self, stage: Stage, how: String, last_lines: &[String]) -> SolveError {
        let spoken = last_lines.iter().rev().find(|line| !line.trim().is_empty());
        SolveError::Failed {
            stage,
            how,
            last_line: spoken.cloned(),
            log: self.log.clone(),
        }
    }
}

fn stage_time(stage: Stage, started: Instant) -> StageTime {
    StageTime {
        stage,
        seconds: started.elapsed().as_secs_f64(),
    }
}

fn how_it_failed(outcome: &Outcome) -> Option<String> {
    match outcome.ended {
        Ended::Code(0) | Ended::TimedOut | Ended::Cancelled => None,
        Ended::Code(code) => Some(format!("it ended with code {code}")),
        Ended::Signal(signal) => Some(format!("signal {signal} ended it")),
    }
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

/// Every sub-model in `output`, the largest first. Damaged ones are left out with a remark, unless
/// there is no other.
fn read_models(output: &Path, remarks: &mut Vec<String>) -> Result<Vec<Model>, SolveError> {
    let entries = fs::read_dir(output).map_err(prepare_error(output))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.join("images.bin").is_file())
        .collect();
    folders.sort();
    let mut models = Vec::new();
    let mut damage: Option<ModelError> = None;
    for folder in &folders {
        match Model::read(folder) {
            Ok(model) => models.push(model),
            Err(error) => {
                remarks.push(format!("a reconstruction was left out: {error}"));
                damage.get_or_insert(error);
            }
        }
    }
    models.retain(|model| !model.photos.is_empty());
    if let (true, Some(error)) = (models.is_empty(), damage) {
        return Err(error.into());
    }
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
        crate::statistics::median(&mut pairs)
    }
}
