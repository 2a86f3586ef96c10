//! The world: what is asked for, and what was generated from the seed.

use crate::dice::Dice;
use crate::error::{SimulatorError, within};
use crate::geodesy::Place;
use crate::ground::surfaces::Surface;
use crate::ground::{Ground, GroundPainter};
use crate::sun::{SkyDirection, sun_direction};
use crate::vehicles::Vehicle;
use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use props::Prop;
use serde::{Deserialize, Serialize};
use streets::Streets;
use yard::{Season, Yard};

mod distractors;
mod gardens;
mod layout;
mod neighbourhood;
mod parking;
mod plot;
pub(crate) mod props;
mod rows;
mod signs;
mod streets;
mod wear;
mod yard;

/// What kind of car park the site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteKind {
    /// Marked bays at right angles to the aisles.
    Perpendicular,
    /// Marked bays at 45 degrees.
    Herringbone,
    /// Parallel parking along two crossing streets.
    Street,
    /// An unmarked gravel lot.
    Gravel,
}

/// All kinds of site.
pub const SITE_KINDS: [SiteKind; 4] = [
    SiteKind::Perpendicular,
    SiteKind::Herringbone,
    SiteKind::Street,
    SiteKind::Gravel,
];

/// The sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weather {
    /// Sun and sharp shadows.
    Clear,
    /// Sun through haze: soft contrast, shadows still there.
    Hazy,
    /// No sun.
    Overcast,
}

impl Weather {
    /// As written in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Hazy => "hazy",
            Self::Overcast => "overcast",
        }
    }
}

/// What is asked for; `None` leaves the choice to the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSpec {
    /// Everything random follows from it.
    pub seed: u64,
    /// Kind of car park.
    pub kind: Option<SiteKind>,
    /// Sky.
    pub weather: Option<Weather>,
    /// How many vehicles, 0 to 120; by default 20 to 60.
    pub n_vehicles: Option<usize>,
    /// Distance between the centres of neighbouring places in a row, metres, 2.5 to 8 (across
    /// the bays in a herringbone; along a street at least the vehicle plus a gap). By default 2.5
    /// to 3.
    pub spacing_m: Option<f64>,
    /// Time of the first photo; by default a day and hour with the sun 22 to 60 degrees high.
    pub start: Option<Timestamp>,
}

impl SiteSpec {
    /// Everything left to the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            kind: None,
            weather: None,
            n_vehicles: None,
            spacing_m: None,
            start: None,
        }
    }
}

/// A generated site with its vehicles, in an east-north-up frame whose origin lies on the level
/// ground in the middle of the lot.
#[derive(Debug)]
pub struct World {
    /// The seed it came from.
    pub seed: u64,
    /// Kind of car park.
    pub kind: SiteKind,
    /// Sky.
    pub weather: Weather,
    /// The frame's origin.
    pub origin: Place,
    /// What to subtract from ellipsoidal heights for heights above the sea, metres.
    pub geoid_undulation_m: f64,
    /// IANA name of the time zone.
    pub zone: String,
    /// Time of the first photo.
    pub start: Timestamp,
    /// Where the sun stands then; it is not moved during the flight.
    pub sun: SkyDirection,
    /// The site's x axis (its rows), counter-clockwise from east, radians.
    pub(crate) heading: f32,
    /// Parked vehicles, by id.
    pub vehicles: Vec<Vehicle>,
    pub(crate) props: Vec<Prop>,
    pub(crate) ground: Ground,
}

struct Region {
    latitude_deg: f64,
    longitude_deg: f64,
    zone: &'static str,
    height_above_sea_m: f64,
    geoid_undulation_m: f64,
    dryness: f32,
}

/// Rough geoid undulations (EGM96, to a metre or two): only their order of magnitude matters.
const REGIONS: [Region; 8] = [
    region(52.12, 11.43, "Europe/Berlin", 62.0, 45.0, 0.3),
    region(47.93, 1.88, "Europe/Paris", 118.0, 46.0, 0.35),
    region(53.41, -1.43, "Europe/London", 85.0, 49.0, 0.15),
    region(40.22, -3.61, "Europe/Madrid", 640.0, 52.0, 0.8),
    region(59.41, 17.93, "Europe/Stockholm", 22.0, 24.0, 0.2),
    region(41.61, -93.67, "America/Chicago", 270.0, -31.0, 0.45),
    region(33.52, -112.21, "America/Phoenix", 345.0, -30.0, 0.95),
    region(-37.83, 145.12, "Australia/Melbourne", 95.0, 4.0, 0.6),
];

const fn region(
    latitude_deg: f64,
    longitude_deg: f64,
    zone: &'static str,
    height_above_sea_m: f64,
    geoid_undulation_m: f64,
    dryness: f32,
) -> Region {
    Region {
        latitude_deg,
        longitude_deg,
        zone,
        height_above_sea_m,
        geoid_undulation_m,
        dryness,
    }
}

/// Month counted as in the northern hemisphere, 1 to 12, fractional.
fn northern_month(origin: &Place, start: Timestamp) -> f64 {
    let zoned = start.to_zoned(TimeZone::UTC);
    let month = f64::from(zoned.month()) + f64::from(zoned.day()) / 31.0;
    if origin.latitude_deg >= 0.0 {
        month
    } else {
        (month + 5.0).rem_euclid(12.0) + 1.0
    }
}

/// A time between 8 and 18 local with the sun 22 to 60 degrees high, in the leafy months of 2025
/// or 2026.
fn draw_start(dice: &mut Dice, origin: &Place, zone: &TimeZone) -> Timestamp {
    let mut best = None;
    for _ in 0..600 {
        let day = date(2025, 3, 1)
            .checked_add((dice.below(660) as i64).days())
            .expect("two years after 2025 are in range");
        let local = day.at(
            8 + dice.below(10) as i8,
            dice.below(60) as i8,
            dice.below(60) as i8,
            0,
        );
        let Ok(zoned) = local.to_zoned(zone.clone()) else {
            continue;
        };
        let time = zoned.timestamp();
        let elevation = sun_direction(origin, time).elevation_deg;
        if !(22.0..=60.0).contains(&elevation) {
            continue;
        }
        if (4.3..11.4).contains(&northern_month(origin, time)) {
            return time;
        }
        best = best.or(Some(time));
    }
    best.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Autumn comes in October and November, and a little drought in August.
fn draw_season(dice: &mut Dice, region: &Region, origin: &Place, start: Timestamp) -> Season {
    let month = northern_month(origin, start);
    let autumn = ((month - 9.6) / 2.0).clamp(0.0, 0.9) as f32;
    let drought = (0.25 - (month - 8.2).abs() * 0.12).max(0.0) as f32;
    Season {
        dryness: (region.dryness + drought + dice.range32(-0.25, 0.15)).clamp(0.0, 1.0),
        autumn: (autumn * dice.range32(0.6, 1.3) + dice.range32(0.0, 0.08)).clamp(0.0, 0.95),
    }
}

fn draw_origin(dice: &mut Dice, region: &Region) -> Place {
    Place {
        latitude_deg: region.latitude_deg + dice.range(-0.1, 0.1),
        longitude_deg: region.longitude_deg + dice.range(-0.1, 0.1),
        height_above_ellipsoid_m: region.height_above_sea_m
            + region.geoid_undulation_m
            + dice.range(-15.0, 15.0),
    }
}

fn draw_kind(dice: &mut Dice) -> SiteKind {
    *dice.pick_weighted(&SITE_KINDS, |kind| match kind {
        SiteKind::Perpendicular => 4.0,
        SiteKind::Herringbone => 2.5,
        SiteKind::Street => 2.0,
        SiteKind::Gravel => 1.5,
    })
}

fn draw_weather(dice: &mut Dice) -> Weather {
    let skies = [Weather::Clear, Weather::Hazy, Weather::Overcast];
    *dice.pick_weighted(&skies, |weather| match weather {
        Weather::Clear => 6.0,
        Weather::Hazy => 1.5,
        Weather::Overcast => 2.5,
    })
}

impl World {
    /// Everything that follows from the seed and the wishes.
    ///
    /// # Errors
    /// Wishes out of range, or more vehicles than the site has room for.
    pub fn generate(spec: &SiteSpec) -> Result<Self, SimulatorError> {
        if let Some(spacing) = spec.spacing_m {
            within("--spacing", spacing, 2.5, 8.0)?;
        }
        if let Some(n) = spec.n_vehicles {
            within("--cars", n as f64, 0.0, 120.0)?;
        }
        // Everything is drawn whether it is wished otherwise or not, so that one wish leaves the
        // rest of the site as the seed has it.
        let mut dice = Dice::new(spec.seed, "site", "");
        let kind = draw_kind(&mut dice);
        let kind = spec.kind.unwrap_or(kind);
        let weather = draw_weather(&mut dice);
        let region = dice.pick(&REGIONS);
        let origin = draw_origin(&mut dice, region);
        let zone = TimeZone::get(region.zone).expect("the bundled zones hold every region's");
        let heading = dice.range32(-0.6, 0.6);
        let n_vehicles = 20 + dice.below(41);
        let spacing_m = f64::from((dice.range32(2.5, 3.0) * 20.0).round() / 20.0);
        let spacing_m = spec.spacing_m.unwrap_or(spacing_m);
        let ground_seed = dice.bits();
        let drawn_start = draw_start(&mut dice, &origin, &zone);
        let start = spec.start.unwrap_or(drawn_start);
        let season = draw_season(&mut dice, region, &origin, start);

        let mut yard = Yard::new(GroundPainter::new(ground_seed), spec.seed, season);
        let streets = Streets::of(kind);
        streets::pave(&mut yard, &streets);
        layout::lay_out(&mut yard, kind, spacing_m as f32);
        neighbourhood::settle(&mut yard, kind, &streets);
        wear::age(&mut yard, kind);
        let n_vehicles = spec.n_vehicles.unwrap_or(n_vehicles);
        let vehicles = parking::park(&mut yard, n_vehicles, spacing_m, heading)?;
        distractors::scatter(&mut yard, kind);
        Ok(Self {
            seed: spec.seed,
            kind,
            weather: spec.weather.unwrap_or(weather),
            sun: sun_direction(&origin, start),
            origin,
            geoid_undulation_m: region.geoid_undulation_m,
            zone: region.zone.to_owned(),
            start,
            heading,
            vehicles,
            props: yard.props,
            ground: yard.painter.finish(Surface::Country {
                dryness: season.dryness,
            }),
        })
    }

    /// Height of the ground under a point, metres: the site is level.
    #[must_use]
    pub fn ground_height_m(&self, _east_m: f64, _north_m: f64) -> f64 {
        0.0
    }
}
