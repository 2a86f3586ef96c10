//! From a scaled picture to the network's numbers.

use crate::overrides::{ColourOrder, Normalisation};
use crate::rgb::RgbImage;
use crate::tiles::Span;

/// Colour that fills what lies beyond the photo: the grey that these networks are trained with.
const PAD: u8 = 114;

/// Where a tile's first pixel lies in the network's input, pixels.
pub(crate) fn corner_of(
    (column, row): (&Span, &Span),
    (width, height): (usize, usize),
    centred: bool,
) -> (u32, u32) {
    // Ultralytics' rounding, so that whole photos are placed as by its own code.
    let half = |free: usize| (free as f64 / 2.0 - 0.1).round().max(0.0) as u32;
    if centred {
        (
            half(width.saturating_sub(column.length as usize)),
            half(height.saturating_sub(row.length as usize)),
        )
    } else {
        (0, 0)
    }
}

/// Appends one tile as three planes of `size`, its first pixel at `corner`, grey around it.
pub(crate) fn fill(
    values: &mut Vec<f32>,
    scaled: &RgbImage,
    (column, row): (&Span, &Span),
    corner: (u32, u32),
    (width, height): (usize, usize),
    normalisation: &Normalisation,
) {
    let stride = scaled.width() as usize * 3;
    let (left, top) = (corner.0 as usize, corner.1 as usize);
    let (columns, rows) = (column.length as usize, row.length as usize);
    for plane in 0..3 {
        let channel = match normalisation.order {
            ColourOrder::Rgb => plane,
            ColourOrder::Bgr => 2 - plane,
        };
        let scale = 1.0 / normalisation.deviation[plane];
        let offset = -normalisation.mean[plane] * scale;
        let number = |byte: u8| f32::from(byte) * scale + offset;
        for y in 0..height {
            let line_end = values.len() + width;
            if (top..top + rows).contains(&y) {
                values.resize(values.len() + left, number(PAD));
                let start = (row.start as usize + y - top) * stride + column.start as usize * 3;
                let line = &scaled.pixels()[start..start + columns * 3];
                values.extend(line[channel..].iter().step_by(3).map(|&byte| number(byte)));
            }
            values.resize(line_end, number(PAD));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, length: u32) -> Span {
        Span {
            start,
            length,
            core_from: f64::NEG_INFINITY,
            core_to: f64::INFINITY,
        }
    }

    #[test]
    fn planes_pads_and_colour_order() {
        let pixels = (0..4 * 3).flat_map(|i| [i, 100 + i, 200 + i]).collect();
        let picture = RgbImage::new(4, 3, pixels).unwrap();
        let normalisation = Normalisation {
            order: ColourOrder::Bgr,
            mean: [200.0, 100.0, 0.0],
            deviation: [1.0, 1.0, 2.0],
        };
        let mut values = Vec::new();
        let tile = (&span(1, 2), &span(1, 2));
        fill(&mut values, &picture, tile, (1, 0), (4, 3), &normalisation);
        let pad = [114.0 - 200.0, 14.0, 57.0];
        for plane in 0..3 {
            let scale = [1.0, 1.0, 0.5][plane];
            let p = pad[plane];
            let expected = [
                [p, 5.0 * scale, 6.0 * scale, p],
                [p, 9.0 * scale, 10.0 * scale, p],
                [p, p, p, p],
            ];
            assert_eq!(
                values[plane * 12..plane * 12 + 12],
                expected.concat(),
                "{plane}"
            );
        }
    }

    #[test]
    fn odd_pads_are_split_as_ultralytics_does() {
        let sides = |free: usize| corner_of((&span(0, 10), &span(0, 10)), (10 + free, 10), true).0;
        assert_eq!([0, 1, 2, 3, 4].map(sides), [0, 0, 1, 1, 2]);
    }
}
