//! What a solver is handed: photos under safe names and upright, cameras with what may be refined,
//! pairs, and the pairs that show only once photos are posed.

use super::assemble::Assembled;
use super::pairs::{self, PairLimits, PairPrior};
use super::posed::PoseSource;
use super::priors::VerticalDatum;
use super::run::{PoseError, Run};
use super::solver::{CameraGroup, Refine, SolveJob, SolvePhoto};
use super::unsolved::ASSUMED_HEIGHT_M;
use crate::ingest::{self, ScenePhoto};
use crate::opencv;
use crate::scene::{SceneError, files};
use calibration::Metres;
use calibration::ground::{Footprint, GroundView, ViewLimits};
use record::write_durably;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A gimbal yaw off by more than this has misled the choice of pairs.
const MISLEADING_YAW_DEG: f64 = 10.0;
/// Photos of one camera needed to solve for tangential distortion and two focal lengths.
const MIN_PHOTOS_FOR_FULL: usize = 20;
/// A focal length known to this share of itself is not asked of weak views.
const KNOWN_FOCAL_SHARE: f64 = 0.01;
/// Heights that differ by less than this share are one height.
const ONE_HEIGHT_SHARE: f64 = 0.1;
/// And how much their pitches must differ.
const PITCH_SPREAD_FOR_FULL_DEG: f64 = 8.0;

impl Run<'_> {
    /// The job (its folder is still to be named), the scene's photo index per photo of the job, and
    /// the solver's name per photo of the scene.
    pub(super) fn job(&self) -> Result<(SolveJob, Vec<usize>, Vec<String>), PoseError> {
        let mut groups: Vec<CameraGroup> = Vec::new();
        let mut order = Vec::new();
        let mut names = vec![String::new(); self.scene.photos.len()];
        for (camera_idx, camera) in self.scene.cameras.iter().enumerate() {
            let members: Vec<usize> = (0..self.scene.photos.len())
                .filter(|&idx| self.scene.photos[idx].camera == camera_idx)
                .collect();
            let mut photos = Vec::new();
            for &idx in &members {
                let photo = &self.scene.photos[idx];
                names[idx] = format!("c{camera_idx:02}_{idx:05}.jpg");
                photos.push(SolvePhoto {
                    name: names[idx].clone(),
                    file: self.upright_file(photo)?,
                    mask: self.mask_of(photo),
                });
            }
            groups.push(CameraGroup {
                prior: camera.prior,
                refine: self.refine(camera, &members),
                photos,
            });
            order.extend(members);
        }
        let pair_priors: Vec<PairPrior> = order.iter().map(|&idx| self.pair_prior(idx)).collect();
        let pairs = if self.config.exhaustive {
            (0..order.len())
                .flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)))
                .collect()
        } else {
            pairs::choose(&pair_priors, self.pair_limits())
        };
        let settings = self.config.settings.clone();
        Ok((
            SolveJob {
                work: PathBuf::new(),
                groups,
                pairs,
                settings,
            },
            order,
            names,
        ))
    }

    fn pair_limits(&self) -> PairLimits {
        PairLimits {
            partners_per_photo: self.config.settings.partners_per_photo,
            ..PairLimits::default()
        }
    }

    /// What self-calibration can find out from these photos.
    fn refine(&self, camera: &ingest::CameraGroup, members: &[usize]) -> Refine {
        let found = self.refine_from_views(members);
        // From one height and one angle a focal length cannot be found better than a maker or a
        // calibration knew it.
        let is_known = camera.focal_sigma_px <= KNOWN_FOCAL_SHARE * camera.prior.fx;
        match found {
            Refine::FocalAndRadial if is_known && self.has_one_height(members) => Refine::Nothing,
            other => other,
        }
    }

    fn has_one_height(&self, members: &[usize]) -> bool {
        let heights = members
            .iter()
            .filter_map(|&idx| self.priors.photos[idx].height)
            .map(|height| height.height_m);
        let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| {
            (low.min(z), high.max(z))
        });
        high - low < ONE_HEIGHT_SHARE * high.abs()
    }

    fn refine_from_views(&self, members: &[usize]) -> Refine {
        let pitches: Vec<f64> = members
            .iter()
            .filter_map(|&idx| self.priors.photos[idx].rotation)
            .map(|rotation| {
                let axis = rotation.inverse().quaternion * nalgebra::Vector3::z();
                axis.z.clamp(-1.0, 1.0).asin().to_degrees()
            })
            .collect();
        let n = pitches.len() as f64;
        if members.len() < MIN_PHOTOS_FOR_FULL || n < 2.0 {
            return Refine::FocalAndRadial;
        }
        let mean = pitches.iter().sum::<f64>() / n;
        let spread = (pitches.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n).sqrt();
        if spread > PITCH_SPREAD_FOR_FULL_DEG {
            Refine::Full
        } else {
            Refine::FocalAndRadial
        }
    }

    /// The photo's pixels upright: the original where it is stored so.
    fn upright_file(&self, photo: &ScenePhoto) -> Result<PathBuf, PoseError> {
        let original = self.folder.photo_path(&photo.photo_id);
        let orientation = ingest::orientation_of(&photo.capture);
        if orientation.exif_value() == 1 {
            return Ok(original);
        }
        let upright = self.folder.cache_path().join("upright");
        let path = upright.join(format!("{}.jpg", photo.photo_id.as_str()));
        if !path.exists() {
            files::create_dirs(self.folder.storage(), &upright).map_err(SceneError::from)?;
            let bytes = fs::read(&original).map_err(|source| SceneError::Read {
                path: original.clone(),
                source,
            })?;
            match opencv::upright_jpeg(&bytes, orientation) {
                Ok(turned) => write_durably(self.folder.storage(), &path, &turned)
                    .map_err(SceneError::from)?,
                // The solver will say that it cannot read it either, and go on without it.
                Err(error) => {
                    tracing::warn!("cannot turn {} upright: {error}", photo.name());
                    return Ok(original);
                }
            }
        }
        Ok(path)
    }

    fn mask_of(&self, photo: &ScenePhoto) -> Option<PathBuf> {
        let masks = self.config.masks.as_ref()?;
        photo
            .names
            .iter()
            .map(|name| masks.join(format!("{name}.png")))
            .find(|path| path.is_file())
    }

    /// Masks must fit: a solver says of a bad one that the photo is bad.
    ///
    /// # Errors
    /// [`PoseError::Setting`] for a mask that is no PNG or of another size, and where no photo has
    /// one.
    pub(super) fn check_masks(&self) -> Result<(), PoseError> {
        let Some(folder) = &self.config.masks else {
            return Ok(());
        };
        let mut n_masks = 0;
        for photo in &self.scene.photos {
            let Some(mask) = self.mask_of(photo) else {
                continue;
            };
            n_masks += 1;
            let size = png_size(&mask);
            let wanted = (photo.width_px, photo.height_px);
            if size != Some(wanted) {
                let found = size.map_or_else(
                    || "no PNG".to_owned(),
                    |(width, height)| format!("of {width} x {height} pixels"),
                );
                return Err(PoseError::Mask {
                    path: mask,
                    found,
                    photo: photo.name().to_owned(),
                    width_px: wanted.0,
                    height_px: wanted.1,
                });
            }
        }
        if n_masks == 0 {
            return Err(PoseError::NoMask {
                folder: folder.clone(),
                example: format!("{}.png", self.scene.photos[0].name()),
            });
        }
        tracing::info!(
            "{n_masks} of {} photos have a mask",
            self.scene.photos.len()
        );
        Ok(())
    }

    /// Which photo has which mask; `None` when no masks are used.
    pub(super) fn digest_of_masks(&self) -> Result<Option<String>, SceneError> {
        if self.config.masks.is_none() {
            return Ok(None);
        }
        let mut text = String::new();
        for photo in &self.scene.photos {
            if let Some(mask) = self.mask_of(photo) {
                let digest = files::sha256_of_file(&mask)?;
                text.push_str(&format!("{} {digest}\n", photo.photo_id.as_str()));
            }
        }
        Ok(Some(files::sha256(text.as_bytes())))
    }

    fn pair_prior(&self, idx: usize) -> PairPrior {
        let prior = &self.priors.photos[idx];
        let with_heights = self.priors.heights.datum() == VerticalDatum::TakeOff;
        let mut placed = prior.clone();
        if !with_heights {
            placed.height = None;
        }
        let pose = placed.pose((!with_heights).then_some(ASSUMED_HEIGHT_M));
        let camera = self.scene.cameras[self.scene.photos[idx].camera].prior;
        PairPrior {
            footprint: pose.and_then(|pose| footprint(camera, pose)),
            position: prior.horizontal.map(|h| [h.east_m, h.north_m]),
            time_s: prior.time_s,
        }
    }

    /// Pairs chosen once more from the poses that came out, where the priors have misled the first
    /// choice; `None` when nothing would be added.
    pub(super) fn pairs_seen_afterwards(
        &self,
        job: &SolveJob,
        order: &[usize],
        found: Option<&Assembled>,
    ) -> Option<Vec<(usize, usize)>> {
        let posed = &found?.posed;
        let all_posed = posed.n_solved() == posed.photos.len();
        let yaw_misled = posed
            .alignment
            .as_ref()
            .and_then(|alignment| alignment.gimbal_yaw_offset_deg)
            .is_some_and(|yaw| yaw.median_deg.abs() > MISLEADING_YAW_DEG);
        let in_one_piece = posed
            .alignment
            .as_ref()
            .is_some_and(|a| a.components.len() == 1);
        if self.config.exhaustive || (all_posed && in_one_piece && !yaw_misled) {
            return None;
        }
        let seen: Vec<PairPrior> = order
            .iter()
            .map(|&idx| {
                let photo = &posed.photos[idx];
                let pose = photo.pose.as_ref();
                let solved = pose.filter(|pose| pose.source == PoseSource::Solved);
                match solved {
                    Some(pose) => PairPrior {
                        footprint: footprint(*posed.camera_of(photo), pose.camera_from_enu),
                        ..self.pair_prior(idx)
                    },
                    // What could not be posed is matched widely.
                    None => PairPrior {
                        footprint: None,
                        ..self.pair_prior(idx)
                    },
                }
            })
            .collect();
        let mut union: BTreeSet<(usize, usize)> = job.pairs.iter().copied().collect();
        union.extend(pairs::choose(&seen, self.pair_limits()));
        (union.len() > job.pairs.len()).then(|| union.into_iter().collect())
    }
}

/// Width and height as a PNG's header says them; `None` when it is none.
fn png_size(path: &Path) -> Option<(u32, u32)> {
    const START: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let mut header = [0_u8; 24];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    if read.is_err() || !header.starts_with(START) {
        return None;
    }
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u32::from_be_bytes(bytes)
    };
    Some((number(16), number(20)))
}

fn footprint(
    camera: calibration::CameraModel,
    pose: calibration::Rigid<calibration::frames::Camera, calibration::frames::Enu>,
) -> Option<Footprint> {
    let view = GroundView::new(camera, pose, Metres(0.0));
    view.footprint(&ViewLimits::for_pairs(view.height_above_ground()))
}
