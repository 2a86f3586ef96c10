//! Cutting a level into tiles that the network takes.

/// One tile along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// Where it starts, pixels of the level.
    pub(crate) start: u32,
    /// How long it is.
    pub(crate) length: u32,
    /// Boxes count whose centre is from here ...
    pub(crate) core_from: f64,
    /// ... up to here, so that every place belongs to a tile that sees the whole vehicle.
    pub(crate) core_to: f64,
}

/// Two tiles may see one vehicle at slightly different places; near the line between their cores
/// both keep it, and merging removes the double. Pixels.
const CORE_SLACK_PX: f64 = 6.0;

/// Covers `length` pixels with tiles of at most `longest`, neighbours sharing at least `overlap`.
/// A vehicle no longer than `overlap - 2 * slack` lies whole inside each tile whose core holds its
/// centre.
pub(crate) fn spans(length: u32, longest: u32, overlap: u32) -> Vec<Span> {
    if length <= longest {
        return vec![Span {
            start: 0,
            length,
            core_from: f64::NEG_INFINITY,
            core_to: f64::INFINITY,
        }];
    }
    // Tiles must advance; half a tile is the most that can be shared.
    let overlap = overlap.min(longest / 2);
    let count = (length - overlap).div_ceil(longest - overlap);
    let start = |index: u32| {
        let free = f64::from(length - longest);
        (free * f64::from(index) / f64::from(count - 1)).round() as u32
    };
    let seam = |index: u32| f64::from(start(index) + longest + start(index + 1)) / 2.0;
    (0..count)
        .map(|index| Span {
            start: start(index),
            length: longest,
            core_from: if index == 0 {
                f64::NEG_INFINITY
            } else {
                seam(index - 1) - CORE_SLACK_PX
            },
            core_to: if index + 1 == count {
                f64::INFINITY
            } else {
                seam(index) + CORE_SLACK_PX
            },
        })
        .collect()
}

/// What tiles must share so that a vehicle of this length is whole in one of them, pixels.
pub(crate) fn overlap_for(longest_vehicle_px: f64) -> u32 {
    (longest_vehicle_px + 2.0 * CORE_SLACK_PX).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vehicle_lies_whole_in_the_tile_that_owns_it() {
        for (length, longest, vehicle) in [
            (100, 100, 40.0),
            (101, 100, 38.0),
            (1000, 256, 80.0),
            (4096, 640, 120.0),
            (333, 64, 16.0),
        ] {
            let found = spans(length, longest, overlap_for(vehicle));
            assert_eq!(found[0].start, 0);
            let end = found.last().map(|span| span.start + span.length);
            assert_eq!(end, Some(length));
            for tenth in 0..length * 10 {
                let centre = f64::from(tenth) / 10.0;
                let owners: Vec<_> = found
                    .iter()
                    .filter(|span| (span.core_from..=span.core_to).contains(&centre))
                    .collect();
                assert!(!owners.is_empty(), "{length} {centre}");
                for span in owners {
                    let (from, to) = (centre - vehicle / 2.0, centre + vehicle / 2.0);
                    let start = f64::from(span.start);
                    let end = start + f64::from(span.length);
                    assert!(from.max(0.0) >= start, "{length} {centre} {span:?}");
                    assert!(
                        to.min(f64::from(length)) <= end,
                        "{length} {centre} {span:?}"
                    );
                }
            }
        }
    }
}
