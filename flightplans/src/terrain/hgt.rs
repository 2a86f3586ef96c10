//! SRTM tiles: one degree square, big-endian 16-bit metres, rows from north to south, 3601 (1
//! second) or 1201 (3 seconds) samples a side, -32768 where nothing is known. The name says the
//! south-west corner: `N45E009.hgt`. Source: USGS, SRTM topography, section 2.

use super::Raster;

const VOID: i16 = -32768;
const SIDES: [usize; 2] = [1201, 3601];

pub(super) fn read(bytes: &[u8], name: &str) -> Result<Raster, String> {
    let (south, west) = corner(name).ok_or_else(|| {
        format!("its name is {name:?}, expected the south-west corner, such as N45E009.hgt")
    })?;
    let side = SIDES
        .into_iter()
        .find(|side| side * side * 2 == bytes.len())
        .ok_or_else(|| {
            format!(
                "it has {} bytes, expected {} (3 seconds) or {} (1 second)",
                bytes.len(),
                SIDES[0] * SIDES[0] * 2,
                SIDES[1] * SIDES[1] * 2
            )
        })?;
    let heights_m = bytes
        .chunks_exact(2)
        .map(|pair| i16::from_be_bytes([pair[0], pair[1]]))
        .map(|height| (height != VOID).then_some(f32::from(height)))
        .collect();
    let step = 1.0 / (side - 1) as f64;
    Ok(Raster {
        name: name.to_owned(),
        west_deg: west,
        north_deg: south + 1.0,
        step_longitude_deg: step,
        step_latitude_deg: step,
        columns: side,
        rows: side,
        heights_m,
    })
}

/// South and west in degrees from a name such as `N45E009.hgt`.
fn corner(name: &str) -> Option<(f64, f64)> {
    let name = name.to_uppercase();
    let digits = |range| {
        name.get(range)
            .and_then(|text: &str| text.parse::<u32>().ok())
    };
    let sign = |at: usize, plus: &str, minus: &str| match name.get(at..=at)? {
        letter if letter == plus => Some(1.0),
        letter if letter == minus => Some(-1.0),
        _ => None,
    };
    let south = sign(0, "N", "S")? * f64::from(digits(1..3)?);
    let west = sign(3, "E", "W")? * f64::from(digits(4..7)?);
    Some((south, west))
}
