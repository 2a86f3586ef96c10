//! What every point of the area gets from the chosen photos: the plan's promise.

use crate::ground::Ground;
use crate::plan::{BinCoverage, Coverage, Hole};
use crate::plane::Place;
use crate::site::Site;

/// Viewing azimuths are counted in sectors of 5 degrees.
const SECTORS: u32 = 72;

/// A photo as far as coverage goes.
#[derive(Clone, Debug)]
pub(crate) struct Photo {
    /// Index of the bin.
    pub(crate) bin: usize,
    /// East and north.
    pub(crate) place: Place,
    /// Its footprint on the map.
    pub(crate) border: Vec<Place>,
}

/// Views of every point, by index in the ground's table, of one bin's photos.
#[must_use]
pub(crate) fn views<'a>(
    ground: &Ground,
    photos: impl Iterator<Item = &'a Photo>,
) -> (Vec<u16>, Vec<u128>) {
    let mut counts = vec![0u16; ground.table_len()];
    let mut sectors = vec![0u128; ground.table_len()];
    for photo in photos {
        ground.for_each_covered(&photo.border, |index, point| {
            counts[index] = counts[index].saturating_add(1);
            let way = point - photo.place;
            let turn = way.x.atan2(way.y).rem_euclid(std::f64::consts::TAU);
            let sector = (turn / std::f64::consts::TAU * f64::from(SECTORS)) as u32;
            sectors[index] |= 1 << sector.min(SECTORS - 1);
        });
    }
    (counts, sectors)
}

/// The promise over the points of a grid: bin by bin (height, downward pitch) in the given order.
#[must_use]
pub(crate) fn promise(
    site: &Site,
    ground: &Ground,
    bins: &[(f64, f64)],
    photos: &[Photo],
    min_views: u32,
) -> Coverage {
    let records: Vec<BinCoverage> = bins
        .iter()
        .enumerate()
        .map(|(bin, &(height_m, pitch_down_deg))| {
            let own = photos.iter().filter(|photo| photo.bin == bin);
            let (counts, sectors) = views(ground, own);
            let mut seen: Vec<u32> = Vec::new();
            let mut ranges: Vec<f64> = Vec::new();
            for (index, _) in ground.points() {
                seen.push(u32::from(counts[index]));
                ranges.push(azimuth_range_deg(sectors[index]));
            }
            let mean_views = seen.iter().map(|n| f64::from(*n)).sum::<f64>() / seen.len() as f64;
            let n_short = seen.iter().filter(|n| **n < min_views).count();
            seen.sort_unstable();
            ranges.sort_by(f64::total_cmp);
            let at_5_percent = seen.len() / 20;
            BinCoverage {
                height_m,
                pitch_down_deg,
                min_views: seen.first().copied().unwrap_or(0),
                p5_views: seen.get(at_5_percent).copied().unwrap_or(0),
                mean_views: (mean_views * 100.0).round() / 100.0,
                n_short,
                min_azimuth_range_deg: ranges.first().copied().unwrap_or(0.0),
                p5_azimuth_range_deg: ranges.get(at_5_percent).copied().unwrap_or(0.0),
                holes: holes(site, ground, &counts, min_views),
            }
        })
        .collect();
    Coverage {
        grid_step_m: ground.step_m(),
        n_points: ground.len(),
        is_complete: records.iter().all(|bin| bin.n_short == 0),
        bins: records,
    }
}

/// The circle less its largest gap, where each sector counts as its middle.
fn azimuth_range_deg(sectors: u128) -> f64 {
    if sectors == 0 {
        return 0.0;
    }
    let has = |sector: u32| sectors >> (sector % SECTORS) & 1 == 1;
    let first = sectors.trailing_zeros();
    let (mut gap, mut largest) = (0u32, 0u32);
    for step in 1..=SECTORS {
        gap += 1;
        if has(first + step) {
            largest = largest.max(gap);
            gap = 0;
        }
    }
    f64::from(SECTORS - largest) * 360.0 / f64::from(SECTORS)
}

/// Neighbouring points with too few views, largest first.
fn holes(site: &Site, ground: &Ground, counts: &[u16], min_views: u32) -> Vec<Hole> {
    let mut left = ground.none();
    let mut short: Vec<usize> = Vec::new();
    for (index, _) in ground.points() {
        if u32::from(counts[index]) < min_views {
            left.insert(index);
            short.push(index);
        }
    }
    let mut holes = Vec::new();
    for &first in &short {
        if !left.has(first) {
            continue;
        }
        left.remove(first);
        let (mut open, mut members) = (vec![first], Vec::new());
        while let Some(index) = open.pop() {
            members.push(index);
            for next in ground.neighbours(index) {
                if left.has(next) {
                    left.remove(next);
                    open.push(next);
                }
            }
        }
        holes.push(hole(site, ground, counts, &members));
    }
    holes.sort_by(|a, b| b.area_m2.total_cmp(&a.area_m2));
    holes
}

fn hole(site: &Site, ground: &Ground, counts: &[u16], members: &[usize]) -> Hole {
    let sum: Place = members.iter().map(|index| ground.place_of(*index)).sum();
    let middle = site.degrees(&(sum / members.len() as f64));
    let fewest = members.iter().map(|index| counts[*index]).min();
    Hole {
        longitude_deg: middle.longitude_deg,
        latitude_deg: middle.latitude_deg,
        area_m2: members.len() as f64 * ground.step_m().powi(2),
        min_views: u32::from(fewest.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azimuth_ranges() {
        let of = |degrees: &[u32]| {
            azimuth_range_deg(degrees.iter().fold(0, |set, d| set | 1 << (d / 5)))
        };
        for (azimuths, expected) in [
            (&[][..], 0.0),
            (&[40], 0.0),
            (&[0, 90], 90.0),
            (&[350, 10], 20.0),
            (&[0, 120, 240], 240.0),
            (&[0, 90, 180, 270], 270.0),
        ] {
            assert_eq!(of(azimuths), expected, "{azimuths:?}");
        }
    }
}
