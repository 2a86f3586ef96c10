//! Copies of one photo that are not the same bytes: re-encoded, resized or re-saved. Two boxes of
//! one vehicle in two such copies would look like two views from one place.

use record::Capture;

/// Brightness grids of copies differ by rounding and compression only.
const MAX_GRID_DIFFERENCE: f64 = 3.0;
/// About a millimetre.
const SAME_PLACE_RAD: f64 = 1e-9;

/// What copies share.
pub(super) struct Likeness<'a> {
    pub(super) capture: &'a Capture,
    pub(super) brightness: &'a [u8],
    pub(super) bytes: u64,
}

/// For each photo the index of the photo it is a copy of, if any. Of copies the one with the most
/// pixels, then the most bytes, then the first is kept.
pub(super) fn copies(photos: &[Likeness<'_>]) -> Vec<Option<usize>> {
    let mut copy_of = vec![None; photos.len()];
    let mut by_rank: Vec<usize> = (0..photos.len()).collect();
    let pixels = |idx: usize| {
        let capture = photos[idx].capture;
        u64::from(capture.width_px) * u64::from(capture.height_px)
    };
    by_rank.sort_by_key(|&idx| (std::cmp::Reverse((pixels(idx), photos[idx].bytes)), idx));
    for (rank, &idx) in by_rank.iter().enumerate() {
        copy_of[idx] = by_rank[..rank]
            .iter()
            .copied()
            .find(|&kept| copy_of[kept].is_none() && are_copies(&photos[kept], &photos[idx]));
    }
    copy_of
}

/// The same instant, place and picture. Without a time or a place nothing is called a copy.
fn are_copies(a: &Likeness<'_>, b: &Likeness<'_>) -> bool {
    let same_time = match (&a.capture.local_time, &b.capture.local_time) {
        (Some(a), Some(b)) => a.shown == b.shown,
        _ => false,
    };
    let same_place = match (&a.capture.position, &b.capture.position) {
        (Some(a), Some(b)) => {
            (a.latitude - b.latitude).abs().get() < SAME_PLACE_RAD
                && (a.longitude - b.longitude).abs().get() < SAME_PLACE_RAD
        }
        _ => false,
    };
    same_time && same_place && grid_difference(a.brightness, b.brightness) < MAX_GRID_DIFFERENCE
}

/// Mean absolute difference of two brightness grids, 0 to 255.
fn grid_difference(a: &[u8], b: &[u8]) -> f64 {
    if a.len() != b.len() || a.is_empty() {
        return f64::INFINITY;
    }
    let sum: u64 = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| u64::from(a.abs_diff(b)))
        .sum();
    sum as f64 / a.len() as f64
}
