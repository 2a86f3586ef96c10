//! The ground sample distance by bands of image rows: an oblique picture is fine at the bottom and
//! coarse at the top, and whoever looks for things of a known size resamples it band by band.

use super::{GroundView, ViewLimits};
use crate::camera::Pixel;
use crate::units::Metres;

/// Places across a row at which it is sampled: with roll its ends differ, with distortion its
/// middle too.
const SAMPLES_ACROSS: u32 = 8;

/// A band of image rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBand {
    /// First row.
    pub top: u32,
    /// One past the last row.
    pub bottom: u32,
    /// What the band sees of the ground; `None` when all of it is beyond the limits.
    pub ground: Option<RowBandGround>,
}

/// Ground sample distances in a band, over the samples within the limits, metres per pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBandGround {
    /// Smallest across the view.
    pub finest_across: Metres,
    /// Largest across the view.
    pub coarsest_across: Metres,
    /// Smallest along the view.
    pub finest_along: Metres,
    /// Largest along the view.
    pub coarsest_along: Metres,
    /// Share of the band's samples that lie within the limits, in (0, 1].
    pub share_within: f64,
}

impl GroundView {
    /// The picture's rows from top to bottom in bands of `band_height` (the last may be lower;
    /// zero counts as one), each with its range of ground sample distances. Roll is part of the
    /// pose, so a rolled picture's bands have wider ranges.
    #[must_use]
    pub fn rows(&self, limits: &ViewLimits, band_height: u32) -> Vec<RowBand> {
        let height = self.camera().height;
        let step = band_height.clamp(1, height.max(1));
        (0..height)
            .step_by(step as usize)
            .map(|top| {
                let bottom = top.saturating_add(step).min(height);
                RowBand {
                    top,
                    bottom,
                    ground: self.row_band(limits, top, bottom),
                }
            })
            .collect()
    }

    fn row_band(&self, limits: &ViewLimits, top: u32, bottom: u32) -> Option<RowBandGround> {
        let (top, bottom) = (f64::from(top), f64::from(bottom));
        let width = f64::from(self.camera().width);
        let rows = [top, 0.5 * (top + bottom), bottom];
        let samples = rows.into_iter().flat_map(|y| {
            (0..=SAMPLES_ACROSS)
                .map(move |step| Pixel::new(width * f64::from(step) / f64::from(SAMPLES_ACROSS), y))
        });
        let mut total = 0u32;
        let mut within = 0u32;
        let mut across = (f64::INFINITY, f64::NEG_INFINITY);
        let mut along = across;
        for pixel in samples {
            total += 1;
            let Some(gsd) = self
                .ground_within(pixel, limits)
                .and_then(|_| self.ground_sample_distance(pixel))
            else {
                continue;
            };
            within += 1;
            across = widened(across, gsd.across);
            along = widened(along, gsd.along);
        }
        (within > 0).then(|| RowBandGround {
            finest_across: Metres(across.0),
            coarsest_across: Metres(across.1),
            finest_along: Metres(along.0),
            coarsest_along: Metres(along.1),
            share_within: f64::from(within) / f64::from(total),
        })
    }
}

fn widened((low, high): (f64, f64), Metres(value): Metres) -> (f64, f64) {
    (low.min(value), high.max(value))
}
