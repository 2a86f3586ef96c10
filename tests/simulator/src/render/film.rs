//! From light to an 8-bit picture as a small drone camera makes it: vignetting, exposure and
//! white balance, lens and motion blur, noise, tone curve, sharpening.

use crate::dice::Dice;
use crate::photo::jpeg::Picture;
use crate::vec3::{V3, v3};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// How one photo is taken.
#[derive(Clone, Copy, Debug)]
pub struct Film {
    /// Exposure beside the automatic one, in stops.
    pub exposure_ev: f64,
    /// Gains of red and blue against green.
    pub white_balance: [f64; 2],
    /// Loss of light in the corners, share.
    pub vignetting: f64,
    /// Blur of lens and sensor, standard deviation in pixels.
    pub blur_px: f64,
    /// Length of the path of the image during the exposure, pixels, and its direction, radians
    /// from +x clockwise on screen.
    pub motion_px: f64,
    /// See [`Self::motion_px`].
    pub motion_angle: f64,
    /// Noise against a good camera at base sensitivity; 0 for none.
    pub noise: f64,
    /// Strength of colours; 1 leaves them as they are.
    pub saturation: f64,
    /// Strength of the tone curve's S; 0 for none.
    pub contrast: f64,
    /// Strength of the sharpening; 0 for none.
    pub sharpening: f64,
    /// Seeds the noise.
    pub seed: u64,
}

impl Film {
    /// As a photo of this seed and name draws it.
    #[must_use]
    pub fn draw(seed: u64, photo: &str) -> Self {
        let mut flight = Dice::new(seed, "film", "");
        let warm = flight.normal(0.03);
        let vignetting = 0.16 + flight.range(0.0, 0.12);
        let saturation = flight.range(0.95, 1.25);
        let contrast = flight.range(0.05, 0.28);
        let sharpening = flight.range(0.25, 0.8);
        let grain = flight.range(0.7, 1.5);
        let mut dice = Dice::new(seed, "film", photo);
        let mut digest = Sha256::new();
        digest.update(seed.to_le_bytes());
        digest.update(photo.as_bytes());
        let digest = digest.finalize();
        let mut word = [0; 8];
        word.copy_from_slice(&digest[..8]);
        Self {
            exposure_ev: dice.normal(0.12).clamp(-0.35, 0.35),
            white_balance: [
                (1.0 + warm + dice.normal(0.012)).clamp(0.9, 1.1),
                (1.0 - warm + dice.normal(0.012)).clamp(0.9, 1.1),
            ],
            vignetting,
            blur_px: 0.36 + dice.range(0.0, 0.16),
            motion_px: dice.unit().powi(2) * 1.3,
            motion_angle: dice.range(0.0, std::f64::consts::TAU),
            noise: (0.7 + dice.range(0.0, 0.8)) * grain,
            saturation,
            contrast,
            sharpening,
            seed: u64::from_le_bytes(word),
        }
    }
}

/// Linear light, one colour a pixel.
#[derive(Debug)]
pub(crate) struct Exposure {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) light: Vec<V3>,
}

/// Gain that brings the picture to a pleasant brightness without losing the brightest parts.
fn automatic_gain(exposure: &Exposure) -> f32 {
    let mut levels: Vec<f32> = exposure
        .light
        .iter()
        .step_by(37)
        .map(|c| c.luminance())
        .collect();
    levels.sort_by(f32::total_cmp);
    if levels.is_empty() {
        return 1.0;
    }
    let mean_log = levels.iter().map(|l| (l + 1e-4).ln()).sum::<f32>() / levels.len() as f32;
    let bright = levels[levels.len() * 985 / 1000].max(1e-4);
    (0.165 / mean_log.exp())
        .min(0.95 / bright)
        .clamp(0.05, 60.0)
}

/// Weights of a 3x3 blur with this covariance.
fn blur_kernel(film: &Film) -> [[f32; 3]; 3] {
    let along = film.motion_px * film.motion_px / 12.0;
    let (sin, cos) = film.motion_angle.sin_cos();
    let iso = film.blur_px * film.blur_px;
    let (xx, yy, xy) = (
        iso + along * cos * cos,
        iso + along * sin * sin,
        along * sin * cos,
    );
    let det = xx * yy - xy * xy;
    let mut kernel = [[0.0_f32; 3]; 3];
    let mut sum = 0.0;
    for (j, row) in kernel.iter_mut().enumerate() {
        for (i, weight) in row.iter_mut().enumerate() {
            let (x, y) = (i as f64 - 1.0, j as f64 - 1.0);
            let exponent = (x * x * yy - 2.0 * x * y * xy + y * y * xx) / det;
            *weight = (-0.5 * exponent).exp() as f32;
            sum += *weight;
        }
    }
    kernel.map(|row| row.map(|w| w / sum))
}

/// Quantiles of the normal distribution, for cheap noise.
fn normal_table() -> Vec<f32> {
    let mut dice = Dice::new(0, "normal table", "");
    (0..4096).map(|_| dice.normal(1.0) as f32).collect()
}

const TONE_STEPS: usize = 4096;
const TONE_MAX: f32 = 4.0;

/// Linear 0 to `TONE_MAX` to display 0 to 255: a filmic shoulder, some contrast, the sRGB curve.
fn tone_table(contrast: f32) -> Vec<f32> {
    (0..=TONE_STEPS)
        .map(|i| {
            let x = (i as f32 / TONE_STEPS as f32).powi(2) * TONE_MAX;
            let knee = 0.62;
            let shouldered = if x < knee {
                x
            } else {
                knee + (1.0 - knee) * (1.0 - (-(x - knee) / (1.0 - knee)).exp())
            };
            let srgb = if shouldered <= 0.003_130_8 {
                12.92 * shouldered
            } else {
                1.055 * shouldered.powf(1.0 / 2.4) - 0.055
            };
            // An S about the middle.
            let s = srgb.clamp(0.0, 1.0);
            255.0 * (s + contrast * (s - 0.42) * s * (1.0 - s) * 4.0).clamp(0.0, 1.0)
        })
        .collect()
}

fn tone(table: &[f32], x: f32) -> f32 {
    let place = (x.clamp(0.0, TONE_MAX) / TONE_MAX).sqrt() * TONE_STEPS as f32;
    let i = (place as usize).min(TONE_STEPS - 1);
    let t = place - i as f32;
    table[i] + (table[i + 1] - table[i]) * t
}

/// Fades saturation up a little as cameras do.
fn vivid(c: V3, saturation: f32) -> V3 {
    let l = c.luminance();
    let out = V3::splat(l) + (c - V3::splat(l)) * saturation;
    v3(out.x.max(0.0), out.y.max(0.0), out.z.max(0.0))
}

/// Develops the picture.
pub(crate) fn develop(exposure: &Exposure, film: &Film) -> Picture {
    let (w, h) = (exposure.width, exposure.height);
    let gain = automatic_gain(exposure) * (film.exposure_ev as f32).exp2();
    let balance = v3(
        film.white_balance[0] as f32,
        1.0,
        film.white_balance[1] as f32,
    ) * gain;
    let kernel = blur_kernel(film);
    let table = tone_table(film.contrast as f32);
    let normals = normal_table();
    let saturation = film.saturation as f32;
    let mut display = vec![V3::ZERO; w * h];
    let corner2 = (w * w + h * h) as f32 / 4.0;
    for (y, line) in display.chunks_mut(w).enumerate() {
        let mut noise = row_noise(film.seed, y);
        let rows = [y.saturating_sub(1) * w, y * w, (y + 1).min(h - 1) * w];
        let dy = y as f32 + 0.5 - h as f32 / 2.0;
        for (x, out) in line.iter_mut().enumerate() {
            let columns = [x.saturating_sub(1), x, (x + 1).min(w - 1)];
            let mut c = V3::ZERO;
            for (row, weights) in rows.iter().zip(&kernel) {
                for (column, weight) in columns.iter().zip(weights) {
                    c += exposure.light[row + column] * *weight;
                }
            }
            let dx = x as f32 + 0.5 - w as f32 / 2.0;
            let r2 = (dx * dx + dy * dy) / corner2;
            let c = c.times(balance) * (1.0 - film.vignetting as f32 * r2 * (0.6 + 0.4 * r2));
            let c = vivid(
                with_noise(c, film.noise as f32, &normals, &mut noise),
                saturation,
            );
            *out = v3(tone(&table, c.x), tone(&table, c.y), tone(&table, c.z));
        }
    }
    Picture {
        width: w,
        height: h,
        rgb: sharpen(w, h, &display, film.sharpening as f32),
    }
}

fn row_noise(seed: u64, row: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(row as u64);
    rng
}

/// Shot and read noise, mostly shared by the channels as demosaicing leaves it.
fn with_noise(c: V3, strength: f32, normals: &[f32], rng: &mut ChaCha8Rng) -> V3 {
    let bits = rng.next_u64();
    let draw = |shift: u32| normals[(bits >> shift) as usize & 4095];
    let shared = draw(0);
    let sigma = |x: f32| strength * (0.00009 * x.max(0.0) + 0.000_002_5).sqrt();
    v3(
        c.x + sigma(c.x) * (0.75 * shared + 0.65 * draw(12)),
        c.y + sigma(c.y) * (0.75 * shared + 0.65 * draw(24)),
        c.z + sigma(c.z) * (0.75 * shared + 0.65 * draw(36)),
    )
}

/// Unsharp mask on the mean of the channels.
fn sharpen(w: usize, h: usize, display: &[V3], amount: f32) -> Vec<u8> {
    let luma: Vec<f32> = display
        .iter()
        .map(|c| 0.3 * c.x + 0.59 * c.y + 0.11 * c.z)
        .collect();
    let mut rgb = Vec::with_capacity(w * h * 3);
    for y in 0..h {
        let (up, down) = (y.saturating_sub(1) * w, (y + 1).min(h - 1) * w);
        for x in 0..w {
            let (left, right) = (x.saturating_sub(1), (x + 1).min(w - 1));
            let at = y * w + x;
            let cross = luma[up + x] + luma[down + x] + luma[y * w + left] + luma[y * w + right];
            let corners =
                luma[up + left] + luma[up + right] + luma[down + left] + luma[down + right];
            let blurred = luma[at] * 0.25 + cross * 0.125 + corners * 0.0625;
            let add = (amount * (luma[at] - blurred)).clamp(-24.0, 24.0);
            let c = display[at];
            for value in [c.x, c.y, c.z] {
                rgb.push((value + add + 0.5).clamp(0.0, 255.0) as u8);
            }
        }
    }
    rgb
}
