//! Noise that never repeats: value noise on hashed lattices, with octaves finer than the pixel's
//! footprint left out, so that it neither shimmers nor costs where it cannot be seen.

/// A well-mixed hash of a lattice point (the finaliser of lowbias32 by C. Wellons, public domain).
pub(crate) fn lattice_hash(x: i32, y: i32, seed: u32) -> u32 {
    let mut h = (x as u32)
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add((y as u32).wrapping_mul(0x85EB_CA77))
        .wrapping_add(seed.wrapping_mul(0xC2B2_AE3D));
    h ^= h >> 16;
    h = h.wrapping_mul(0x7FEB_352D);
    h ^= h >> 15;
    h = h.wrapping_mul(0x846C_A68B);
    h ^ (h >> 16)
}

/// The hash as a number in [0, 1).
pub(crate) fn lattice_unit(x: i32, y: i32, seed: u32) -> f32 {
    (lattice_hash(x, y, seed) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// The whole number below, without a call into the maths library; for |x| < 2^31.
fn floor(x: f32) -> (i32, f32) {
    let cut = x as i32;
    let below = cut - i32::from((cut as f32) > x);
    (below, below as f32)
}

fn fade(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// Value noise in [-1, 1] with lattice spacing one.
pub(crate) fn value_noise(x: f32, y: f32, seed: u32) -> f32 {
    let ((ix, fx), (iy, fy)) = (floor(x), floor(y));
    let (tx, ty) = (fade(x - fx), fade(y - fy));
    let a = lattice_unit(ix, iy, seed);
    let b = lattice_unit(ix + 1, iy, seed);
    let c = lattice_unit(ix, iy + 1, seed);
    let d = lattice_unit(ix + 1, iy + 1, seed);
    let low = a + (b - a) * tx;
    let high = c + (d - c) * tx;
    2.0 * (low + (high - low) * ty) - 1.0
}

/// Sum of octaves of value noise. `coarse_m` and `fine_m` are the first and the last wavelength
/// (lattice spacing), each octave half the one before and `gain` times as strong; octaves under
/// about 1.3 footprints fade out. Octaves are turned against each other so that no grid shows.
pub(crate) fn octaves(
    x: f32,
    y: f32,
    coarse_m: f32,
    fine_m: f32,
    gain: f32,
    footprint_m: f32,
    seed: u32,
) -> f32 {
    let mut sum = 0.0;
    let mut amplitude = 1.0;
    let mut wavelength = coarse_m;
    let (mut u, mut v) = (x, y);
    let mut octave_seed = seed;
    while wavelength >= fine_m {
        let visible = ((wavelength / footprint_m - 1.3) * 1.4).clamp(0.0, 1.0);
        if visible <= 0.0 {
            break;
        }
        let inverse = 1.0 / wavelength;
        sum += amplitude * visible * value_noise(u * inverse, v * inverse, octave_seed);
        // A turn by about 37 degrees.
        (u, v) = (0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v);
        amplitude *= gain;
        wavelength *= 0.5;
        octave_seed = octave_seed.wrapping_add(0x632B_E5AB);
    }
    sum
}

/// Distances to the nearest and second nearest point of a jittered lattice with spacing one, and
/// the hash of the nearest: pebbles, cells, patchwork.
pub(crate) fn cells(x: f32, y: f32, seed: u32) -> (f32, f32, u32) {
    let ((ix, fx), (iy, fy)) = (floor(x), floor(y));
    let (mut nearest, mut second, mut hash) = (9.0_f32, 9.0_f32, 0);
    for dy in -1..=1 {
        for dx in -1..=1 {
            let h = lattice_hash(ix + dx, iy + dy, seed);
            let px = fx + dx as f32 + 0.1 + 0.8 * (h & 0xFFFF) as f32 / 65_536.0;
            let py = fy + dy as f32 + 0.1 + 0.8 * (h >> 16) as f32 / 65_536.0;
            let distance = (px - x) * (px - x) + (py - y) * (py - y);
            if distance < nearest {
                second = nearest;
                nearest = distance;
                hash = h;
            } else if distance < second {
                second = distance;
            }
        }
    }
    (nearest.sqrt(), second.sqrt(), hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_in_range_and_is_continuous() {
        let mut last = value_noise(-3.0, 1.7, 5);
        for step in 1..6000 {
            let now = value_noise(-3.0 + step as f32 * 0.001, 1.7, 5);
            assert!((-1.0..=1.0).contains(&now));
            assert!((now - last).abs() < 0.01);
            last = now;
        }
    }

    #[test]
    fn octaves_vanish_under_a_large_footprint() {
        assert_eq!(octaves(3.3, 4.4, 2.0, 0.05, 0.6, 5.0, 1), 0.0);
        assert_ne!(octaves(3.3, 4.4, 2.0, 0.05, 0.6, 0.01, 1), 0.0);
    }
}
