//! Decoded pictures and their resampling.

use crate::error::DetectorError;

/// A picture as interleaved 8-bit RGB, rows from the top, without padding.
#[derive(Clone, PartialEq, Eq)]
pub struct RgbImage {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl std::fmt::Debug for RgbImage {
    /// The size alone; nobody reads millions of bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RgbImage({}x{})", self.width, self.height)
    }
}

impl RgbImage {
    /// From its pixels.
    ///
    /// # Errors
    /// [`DetectorError::PixelCount`] unless there are exactly width x height x 3 bytes and neither
    /// side is zero.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Result<Self, DetectorError> {
        let expected = (width as usize)
            .saturating_mul(height as usize)
            .saturating_mul(3);
        if expected == 0 || pixels.len() != expected {
            return Err(DetectorError::PixelCount {
                width,
                height,
                expected,
                found: pixels.len(),
            });
        }
        Ok(Self {
            width,
            height,
            pixels,
        })
    }

    /// Width, pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height, pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The bytes: R, G, B of the first row's first pixel, and so on.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The bytes, by value.
    #[must_use]
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    fn row(&self, row: usize) -> &[u8] {
        let stride = self.width as usize * 3;
        &self.pixels[row * stride..(row + 1) * stride]
    }
}

/// Which source samples make one output sample along one axis.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

/// Triangle filter as wide as one output pixel (at least as one source pixel): the filter of the
/// training photos, so that the network sees the same sharpness. Pixels beyond the picture's edge
/// do not count.
fn taps(origin: f64, factor: f64, count: usize, available: usize) -> Vec<Taps> {
    let support = (1.0 / factor).max(1.0);
    (0..count)
        .map(|index| {
            let centre = origin + (index as f64 + 0.5) / factor;
            let last_sample = available - 1;
            let first = ((centre - support).floor().max(0.0) as usize).min(last_sample);
            let last = ((centre + support).ceil().max(0.0) as usize).min(last_sample);
            let mut weights: Vec<f32> = (first..=last)
                .map(|sample| {
                    let distance = (sample as f64 + 0.5 - centre).abs() / support;
                    (1.0 - distance).max(0.0) as f32
                })
                .collect();
            let total: f32 = weights.iter().sum();
            if total > 0.0 {
                weights.iter_mut().for_each(|weight| *weight /= total);
            } else {
                // Beyond the edge: the nearest sample alone.
                let nearest = (centre.max(0.0) as usize).clamp(first, last);
                weights[nearest - first] = 1.0;
            }
            Taps { first, weights }
        })
        .collect()
}

/// The picture scaled by `factor` (along x, along y), `size` pixels of it, starting where the
/// source pixel position `origin` (continuous: the first pixel's corner is (0, 0)) becomes the
/// corner. Rows are shared among `threads`.
pub(crate) fn resample(
    source: &RgbImage,
    origin: (f64, f64),
    factor: (f64, f64),
    (width, height): (u32, u32),
    threads: usize,
) -> RgbImage {
    let columns = taps(origin.0, factor.0, width as usize, source.width as usize);
    let rows = taps(origin.1, factor.1, height as usize, source.height as usize);
    let stride = width as usize * 3;
    let mut pixels = vec![0u8; stride * height as usize];
    let rows_each = (height as usize).div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (part, row_taps) in pixels
            .chunks_mut(rows_each * stride)
            .zip(rows.chunks(rows_each))
        {
            let columns = &columns;
            scope.spawn(move || resample_rows(source, columns, row_taps, part, stride));
        }
    });
    RgbImage {
        width,
        height,
        pixels,
    }
}

fn resample_rows(
    source: &RgbImage,
    columns: &[Taps],
    rows: &[Taps],
    part: &mut [u8],
    stride: usize,
) {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
        return;
    };
    let from = first.first * 3;
    let to = (last.first + last.weights.len()) * 3;
    let mut summed = vec![0f32; to - from];
    for (output, row) in part.chunks_mut(stride).zip(rows) {
        // Down first: whole source rows are added, which the compiler turns into wide code.
        summed.fill(0.0);
        for (index, &weight) in row.weights.iter().enumerate() {
            if weight > 0.0 {
                let samples = &source.row(row.first + index)[from..to];
                for (sum, &sample) in summed.iter_mut().zip(samples) {
                    *sum += weight * f32::from(sample);
                }
            }
        }
        for (pixel, column) in output.chunks_exact_mut(3).zip(columns) {
            let mut colour = [0f32; 3];
            let samples = &summed[column.first * 3 - from..];
            for (sample, &weight) in samples.chunks_exact(3).zip(&column.weights) {
                for (value, &channel) in colour.iter_mut().zip(sample) {
                    *value += weight * channel;
                }
            }
            for (byte, value) in pixel.iter_mut().zip(colour) {
                *byte = (value + 0.5) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: u32, height: u32) -> RgbImage {
        let pixels = (0..height)
            .flat_map(|y| (0..width).flat_map(move |x| [(x * 4) as u8, (y * 4) as u8, 77]))
            .collect();
        RgbImage::new(width, height, pixels).unwrap()
    }

    #[test]
    fn wrong_sizes_are_refused() {
        assert!(RgbImage::new(2, 2, vec![0; 11]).is_err());
        assert!(RgbImage::new(0, 2, vec![]).is_err());
        assert!(RgbImage::new(u32::MAX, u32::MAX, vec![]).is_err());
    }

    #[test]
    fn places_survive_scaling() {
        // On a ramp a pixel's value tells where it was taken from.
        let source = ramp(60, 40);
        for (factor, origin, threads) in [
            (1.0, (0.0, 0.0), 1),
            (0.5, (4.0, 8.0), 2),
            (0.3, (2.5, 1.25), 3),
            (2.0, (10.0, 10.0), 2),
        ] {
            let scaled = resample(&source, origin, (factor, factor), (8, 6), threads);
            for y in 1..5usize {
                for x in 1..7usize {
                    let from_x = origin.0 + (x as f64 + 0.5) / factor - 0.5;
                    let from_y = origin.1 + (y as f64 + 0.5) / factor - 0.5;
                    let pixel = &scaled.pixels()[(y * 8 + x) * 3..][..3];
                    assert!(
                        (f64::from(pixel[0]) - 4.0 * from_x).abs() <= 1.0,
                        "{factor} {pixel:?}"
                    );
                    assert!(
                        (f64::from(pixel[1]) - 4.0 * from_y).abs() <= 1.0,
                        "{factor} {pixel:?}"
                    );
                    assert_eq!(pixel[2], 77);
                }
            }
        }
    }

    #[test]
    fn identity_keeps_every_byte() {
        let source = ramp(17, 9);
        assert_eq!(
            resample(&source, (0.0, 0.0), (1.0, 1.0), (17, 9), 4),
            source
        );
    }
}
