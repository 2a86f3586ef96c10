//! From a file's shapes to a checked [`Site`].

use super::{KeepOut, RawFeature, RawShape, Site};
use crate::error::SiteFault;
use crate::plane::{self, Place, Region};
use calibration::frames::Ecef;
use calibration::ground::polygon;
use calibration::{Geodetic, LocalOrigin, Metres, Point};
use jiff::tz::TimeZone;

/// Largest area that is planned, square kilometres.
pub const MAX_AREA_KM2: f64 = 25.0;
/// Nearer to a pole the direction of north changes by a degree within 60 m and less.
pub const MAX_LATITUDE_DEG: f64 = 85.0;
/// Everything of a site lies this close together.
const MAX_SPREAD_KM: f64 = 30.0;
/// Corners closer than this are one.
const SAME_CORNER_M: f64 = 0.01;
const ROLES: &str = "\"area\", \"keep_out\", \"fence\", \"home\"";
/// How far a time zone's own hour may lie from its longitude's: China's west is 3.5 hours off.
const MAX_ZONE_OFF_HOURS: f64 = 4.0;

type Fallible<T> = Result<T, SiteFault>;

pub(super) fn site(features: Vec<RawFeature>, stem: &str, digest: String) -> Fallible<Site> {
    let mut assumptions = Vec::new();
    check_coordinates(&features)?;
    let time_zone = one_time_zone(&features)?;
    if let Some(zone) = &time_zone {
        check_zone(zone, &features)?;
    }
    let origin = origin_of(&features)?;
    let frame = Frame { origin };
    let mut parts = Parts::default();
    for feature in &features {
        frame.sort(feature, &mut parts, &mut assumptions)?;
    }
    let name = first_name(&features).unwrap_or_else(|| stem.to_owned());
    check_area(&parts.area)?;
    let max_height = one_height(&features)?;
    let home = home_of(&parts, &mut assumptions)?;
    Ok(Site {
        name,
        time_zone,
        origin,
        area: parts.area,
        keep_outs: parts.keep_outs,
        fence: parts.fence,
        home,
        max_height,
        digest,
        assumptions,
    })
}

#[derive(Default)]
struct Parts {
    area: Vec<Region>,
    keep_outs: Vec<KeepOut>,
    fence: Option<Region>,
    home: Option<Place>,
}

fn is_area(feature: &RawFeature) -> bool {
    matches!(feature.shape, RawShape::Polygons(_))
        && feature.role.as_deref().is_none_or(|role| role == "area")
}

/// The site's name: that of the file as a whole, else of the area.
fn first_name(features: &[RawFeature]) -> Option<String> {
    let shapeless = features
        .iter()
        .filter(|feature| matches!(feature.shape, RawShape::None));
    let areas = features.iter().filter(|feature| is_area(feature));
    shapeless
        .chain(areas)
        .find_map(|feature| feature.name.clone())
}

fn positions(features: &[RawFeature]) -> impl Iterator<Item = (&RawFeature, [f64; 2])> {
    features.iter().flat_map(|feature| {
        let all: Vec<[f64; 2]> = match &feature.shape {
            RawShape::None => Vec::new(),
            RawShape::Point(position) => vec![*position],
            RawShape::Polygons(polygons) => polygons.iter().flatten().flatten().copied().collect(),
        };
        all.into_iter().map(move |position| (feature, position))
    })
}

/// Every coordinate is one; where only the order is wrong, that is said.
fn check_coordinates(features: &[RawFeature]) -> Fallible<()> {
    let fits = |[longitude, latitude]: [f64; 2]| {
        (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude)
    };
    let all: Vec<[f64; 2]> = positions(features).map(|(_, position)| position).collect();
    let Some((feature, [first, second])) =
        positions(features).find(|(_, position)| !fits(*position))
    else {
        return Ok(());
    };
    if all.iter().all(|[a, b]| fits([*b, *a])) {
        return Err(SiteFault::Swapped {
            evidence: format!("{} has a latitude of {second}", feature.label),
        });
    }
    Err(SiteFault::Coordinate {
        what: feature.label.clone(),
        found: format!("{first}, {second}"),
    })
}

fn one_time_zone(features: &[RawFeature]) -> Fallible<Option<String>> {
    let mut zones: Vec<&String> = features
        .iter()
        .filter_map(|feature| feature.time_zone.as_ref())
        .collect();
    zones.sort();
    zones.dedup();
    match zones.as_slice() {
        [] => Ok(None),
        [zone] => Ok(Some((*zone).clone())),
        several => Err(SiteFault::TooMany {
            what: "time zones",
            found: several.len(),
        }),
    }
}

/// The zone exists, and its hour fits the longitude; where it would fit the latitude instead, the
/// two are swapped.
fn check_zone(zone: &str, features: &[RawFeature]) -> Fallible<()> {
    let unknown = || SiteFault::TimeZone {
        found: zone.to_owned(),
    };
    let rules = TimeZone::get(zone).map_err(|_| unknown())?;
    let midwinter: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().map_err(|_| unknown())?;
    let hours = f64::from(rules.to_offset(midwinter).seconds()) / 3600.0;
    let off = |degrees: f64| ((degrees / 15.0 - hours + 12.0).rem_euclid(24.0) - 12.0).abs();
    let Some((_, [longitude, latitude])) = positions(features).next() else {
        return Ok(());
    };
    if zone.contains('/')
        && !zone.starts_with("Etc/")
        && off(longitude) > MAX_ZONE_OFF_HOURS
        && off(latitude) <= MAX_ZONE_OFF_HOURS
    {
        return Err(SiteFault::Swapped {
            evidence: format!(
                "the hour of {zone} does not fit the longitude {longitude}, it would fit {latitude}"
            ),
        });
    }
    Ok(())
}

fn geodetic([longitude, latitude]: [f64; 2]) -> Option<Geodetic> {
    Geodetic::from_degrees(latitude, longitude, Metres(0.0))
}

/// The middle of the area's corners, found through earth-centred coordinates, so that a site on
/// the antimeridian has its middle there too.
fn origin_of(features: &[RawFeature]) -> Fallible<LocalOrigin> {
    let corners: Vec<Point<Ecef>> = features
        .iter()
        .filter(|feature| is_area(feature))
        .flat_map(|feature| positions(std::slice::from_ref(feature)).map(|(_, place)| place))
        .filter_map(|place| geodetic(place).map(|place| place.ecef()))
        .collect();
    let first = corners.first().ok_or(SiteFault::NoArea)?;
    let sum: nalgebra::Vector3<f64> = corners.iter().map(|corner| corner.vector).sum();
    let middle = Geodetic::from_ecef(Point::from_vector(sum / corners.len() as f64));
    let spread_km = corners
        .iter()
        .map(|corner| corner.distance_to(first) / 1000.0)
        .fold(0.0, f64::max);
    if spread_km > MAX_SPREAD_KM {
        return Err(SiteFault::FarApart {
            what: "a corner of the area".to_owned(),
            distance_km: spread_km,
            limit_km: MAX_SPREAD_KM,
        });
    }
    // A tenth of a microdegree: the origin as written is the origin as used.
    let rounded = |degrees: f64| (degrees * 1e7).round() / 1e7;
    let latitude_deg = rounded(middle.latitude().to_degrees());
    if latitude_deg.abs() > MAX_LATITUDE_DEG {
        return Err(SiteFault::NearPole {
            latitude_deg: latitude_deg.abs(),
            limit_deg: MAX_LATITUDE_DEG,
        });
    }
    let longitude_deg = rounded(middle.longitude().to_degrees());
    geodetic([longitude_deg, latitude_deg])
        .map(LocalOrigin::new)
        .ok_or(SiteFault::NoArea)
}

struct Frame {
    origin: LocalOrigin,
}

impl Frame {
    fn sort(
        &self,
        feature: &RawFeature,
        parts: &mut Parts,
        assumptions: &mut Vec<String>,
    ) -> Fallible<()> {
        let what = &feature.label;
        let role = feature.role.as_deref();
        match (&feature.shape, role) {
            (RawShape::None, _) => Ok(()),
            (RawShape::Point(position), None | Some("home")) => {
                if parts.home.is_some() {
                    return Err(SiteFault::TooMany {
                        what: "home points",
                        found: 2,
                    });
                }
                parts.home = Some(self.place(*position, what)?);
                Ok(())
            }
            (RawShape::Polygons(polygons), None | Some("area" | "keep_out" | "fence")) => {
                for rings in polygons {
                    let region = self.region(rings, what, assumptions)?;
                    add(region, feature, parts)?;
                }
                Ok(())
            }
            (_, Some(found)) => Err(SiteFault::Role {
                what: what.clone(),
                found: found.to_owned(),
                expected: ROLES,
            }),
        }
    }

    fn place(&self, position: [f64; 2], what: &str) -> Fallible<Place> {
        let geodetic = geodetic(position).ok_or_else(|| SiteFault::Coordinate {
            what: what.to_owned(),
            found: format!("{}, {}", position[0], position[1]),
        })?;
        let point = self.origin.enu_from_geodetic(geodetic);
        // On the globe's other side the plane's coordinates are small again.
        let distance_km = geodetic.ecef().distance_to(&self.origin.geodetic().ecef()) / 1000.0;
        if distance_km > MAX_SPREAD_KM {
            let [longitude, latitude] = position;
            let swapped = Geodetic::from_degrees(longitude, latitude, Metres(0.0));
            let would_fit = swapped.is_some_and(|place| {
                place.ecef().distance_to(&self.origin.geodetic().ecef()) / 1000.0 <= MAX_SPREAD_KM
            });
            return Err(if would_fit {
                SiteFault::Swapped {
                    evidence: format!(
                        "{what} lies {distance_km:.0} km from the area, with its numbers exchanged \
                         it lies within"
                    ),
                }
            } else {
                SiteFault::FarApart {
                    what: what.to_owned(),
                    distance_km,
                    limit_km: MAX_SPREAD_KM,
                }
            });
        }
        Ok(point.vector.xy())
    }

    fn region(
        &self,
        rings: &[Vec<[f64; 2]>],
        what: &str,
        assumptions: &mut Vec<String>,
    ) -> Fallible<Region> {
        let mut built = Vec::new();
        for (index, ring) in rings.iter().enumerate() {
            let label = match index {
                0 => what.to_owned(),
                hole => format!("hole {hole} of {what}"),
            };
            built.push(self.ring(ring, &label, index == 0, assumptions)?);
        }
        if built.is_empty() {
            return Err(SiteFault::TooFewCorners {
                what: what.to_owned(),
                found: 0,
            });
        }
        let outer = built.remove(0);
        for hole in &built {
            let leaves = hole.iter().any(|corner| !polygon::contains(&outer, corner))
                || plane::ring_sides(hole).any(|(a, b)| {
                    plane::ring_sides(&outer).any(|(c, d)| plane::segments_meet(&a, &b, &c, &d))
                });
            if leaves {
                return Err(SiteFault::HoleOutside {
                    what: what.to_owned(),
                });
            }
        }
        Ok(Region {
            outer,
            holes: built,
        })
    }

    /// A ring without its closing corner, anticlockwise when outer, clockwise when a hole.
    fn ring(
        &self,
        positions: &[[f64; 2]],
        what: &str,
        is_outer: bool,
        assumptions: &mut Vec<String>,
    ) -> Fallible<Vec<Place>> {
        let is_closed = positions.len() > 1 && positions.first() == positions.last();
        if !is_closed && positions.len() > 2 {
            assumptions.push(format!(
                "{what} was not closed; it is closed to its first corner"
            ));
        }
        let mut corners: Vec<Place> = Vec::new();
        for position in positions {
            let place = self.place(*position, what)?;
            let is_new = corners
                .last()
                .is_none_or(|last| (last - place).norm() > SAME_CORNER_M);
            if is_new {
                corners.push(place);
            }
        }
        while corners.len() > 1 && (corners[0] - corners[corners.len() - 1]).norm() <= SAME_CORNER_M
        {
            corners.pop();
        }
        if corners.len() < 3 {
            return Err(SiteFault::TooFewCorners {
                what: what.to_owned(),
                found: corners.len(),
            });
        }
        let area_m2 = polygon::signed_area(&corners);
        if let Some((first, second)) = plane::crossing(&corners) {
            // A line walked there and back crosses itself, but what is wrong is that it is a line.
            if area_m2.abs() >= 1.0 || plane::bounds(&corners).is_none() || !is_line(&corners) {
                return Err(SiteFault::CrossesItself {
                    what: what.to_owned(),
                    first: first + 1,
                    second: second + 1,
                });
            }
        }
        if area_m2.abs() < 1.0 {
            return Err(SiteFault::ZeroArea {
                what: what.to_owned(),
                area_m2: area_m2.abs(),
            });
        }
        if (area_m2 > 0.0) != is_outer {
            if is_outer {
                assumptions.push(format!(
                    "{what} runs clockwise, against RFC 7946; its inside is taken all the same"
                ));
            }
            corners.reverse();
        }
        Ok(corners)
    }
}

fn is_line(corners: &[Place]) -> bool {
    polygon::convex_hull(corners).len() < 3 || polygon::area(&polygon::convex_hull(corners)) < 1.0
}

fn add(region: Region, feature: &RawFeature, parts: &mut Parts) -> Fallible<()> {
    match feature.role.as_deref() {
        Some("keep_out") => {
            let number = parts.keep_outs.len() + 1;
            parts.keep_outs.push(KeepOut {
                name: feature
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("keep-out {number}")),
                region,
                top: height("top_height_m", feature.top_height_m)?,
            });
        }
        Some("fence") => {
            if parts.fence.replace(region).is_some() {
                return Err(SiteFault::TooMany {
                    what: "fences",
                    found: 2,
                });
            }
        }
        _ => parts.area.push(region),
    }
    Ok(())
}

fn height(key: &'static str, value_m: Option<f64>) -> Fallible<Option<Metres>> {
    match value_m {
        None => Ok(None),
        Some(value) if value.is_finite() && value > 0.0 => Ok(Some(Metres(value))),
        Some(value) => Err(SiteFault::Value {
            key,
            found: value.to_string(),
            expected: "a positive number of metres",
        }),
    }
}

/// The lowest of the heights that the file names.
fn one_height(features: &[RawFeature]) -> Fallible<Option<Metres>> {
    let mut lowest: Option<Metres> = None;
    for feature in features {
        if let Some(found) = height("max_height_m", feature.max_height_m)? {
            lowest = Some(lowest.map_or(found, |known| Metres(known.get().min(found.get()))));
        }
    }
    Ok(lowest)
}

fn check_area(area: &[Region]) -> Fallible<()> {
    if area.is_empty() {
        return Err(SiteFault::NoArea);
    }
    let total_km2 = area.iter().map(Region::area_m2).sum::<f64>() / 1e6;
    if total_km2 > MAX_AREA_KM2 {
        return Err(SiteFault::TooLarge {
            found_km2: total_km2,
            limit_km2: MAX_AREA_KM2,
        });
    }
    Ok(())
}

/// Home as given, or the area's middle; checked against fence and keep-out zones.
fn home_of(parts: &Parts, assumptions: &mut Vec<String>) -> Fallible<Place> {
    let is_allowed = |place: &Place| {
        parts
            .fence
            .as_ref()
            .is_none_or(|fence| fence.contains(place))
            && !parts
                .keep_outs
                .iter()
                .any(|zone| zone.region.contains(place))
    };
    let Some(home) = parts.home else {
        let home = middle_of(&parts.area, &is_allowed).ok_or_else(|| SiteFault::Home {
            why: "nowhere: none is given, and no corner or middle of the area is allowed"
                .to_owned(),
        })?;
        assumptions
            .push("no home is given; take-off is taken in the middle of the area".to_owned());
        return Ok(home);
    };
    if parts
        .fence
        .as_ref()
        .is_some_and(|fence| !fence.contains(&home))
    {
        return Err(SiteFault::Home {
            why: "outside the fence".to_owned(),
        });
    }
    match parts
        .keep_outs
        .iter()
        .find(|zone| zone.region.contains(&home))
    {
        Some(zone) => Err(SiteFault::Home {
            why: format!("in the keep-out zone {:?}", zone.name),
        }),
        None => Ok(home),
    }
}

fn middle_of(area: &[Region], is_allowed: &impl Fn(&Place) -> bool) -> Option<Place> {
    let largest = area
        .iter()
        .max_by(|a, b| a.area_m2().total_cmp(&b.area_m2()))?;
    let centre = polygon::centroid(&largest.outer);
    centre
        .into_iter()
        .chain(largest.outer.iter().copied())
        .find(is_allowed)
}
