//! All cells that a site could have: poses on grids and rings, each feasible or not with its
//! reasons. The planner chooses among them.

use crate::airspace::{Airspace, Station};
use crate::ground::{Ground, Spans};
use crate::motion;
use crate::plan::{Cell, Pattern, Reason};
use crate::plane::{self, Place};
use crate::site::Site;
use crate::spec::PlanSpec;
use crate::template::Template;
use crate::terrain::Relief;
use calibration::{Geodetic, Metres};

/// Grid places a nadir footprint's shorter side: three, so that three views overlap everywhere.
const PLACES_A_FOOTPRINT: f64 = 3.0;
/// Grid places a strip: two for strips side by side with one between them, so that an even number
/// of strips and an odd one both have a row in their middle.
const PLACES_A_STRIP: f64 = 4.0;
/// Slots of a ring: 15 degrees, the widest step that still matches well.
pub(crate) const RING_SLOTS: u32 = 24;
/// A cell must see at least this share of what the best of its bin sees of the area.
const MIN_SHARE_OF_BEST: f64 = 0.25;
/// The finest grid, metres: nothing flies more exactly.
const MIN_STEP_M: f64 = 2.0;

/// A pose that could be a cell.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Index of the bin: height, then pitch.
    pub(crate) bin: usize,
    /// Ring or grid.
    pub(crate) pattern: Pattern,
    /// Which of the headings, or which part of the ring: what counts as different.
    pub(crate) heading: usize,
    /// Its number in the pattern: ring slot, or row and column.
    pub(crate) slot: Slot,
    /// Index of its place among all places.
    pub(crate) place_index: usize,
    /// East and north.
    pub(crate) place: Place,
    /// Clockwise from north, in [0, 360).
    pub(crate) yaw_deg: f64,
    /// Ground under the aim point above that at home.
    pub(crate) ground_m: f64,
    /// What it sees of the area.
    pub(crate) spans: Spans,
    /// Why it cannot be flown.
    pub(crate) reasons: Vec<Reason>,
}

/// A cell's number in its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// Counted clockwise from north.
    Ring(u32),
    /// Heading, row, column.
    Grid(usize, usize, usize),
}

/// One height and pitch with its view and its own limits.
#[derive(Clone, Debug)]
pub(crate) struct Bin {
    /// Index of the height.
    pub(crate) height_index: usize,
    /// The view.
    pub(crate) template: Template,
    /// Why nothing of it can be flown.
    pub(crate) reasons: Vec<Reason>,
}

/// What candidates are made from.
pub(crate) struct Scene<'a> {
    /// The site.
    pub(crate) site: &'a Site,
    /// The spec.
    pub(crate) spec: &'a PlanSpec,
    /// The airspace.
    pub(crate) airspace: &'a Airspace<'a>,
    /// The ground's shape.
    pub(crate) relief: &'a Relief,
    /// The points to see.
    pub(crate) ground: &'a Ground,
    /// All bins.
    pub(crate) bins: &'a [Bin],
    /// How far inside a footprint points are counted on.
    pub(crate) margin_m: f64,
}

impl Candidate {
    /// The cell's id; `H030-P45-R07` or `H030-P45-G1R03C11`.
    #[must_use]
    pub(crate) fn id(&self, bins: &[Bin]) -> String {
        let template = &bins[self.bin].template;
        let bin = bin_name(template.height_m, template.pitch_down_deg);
        match self.slot {
            Slot::Ring(slot) => format!("{bin}-R{slot:02}"),
            Slot::Grid(heading, row, column) => format!("{bin}-G{heading}R{row:02}C{column:02}"),
        }
    }

    /// Height above take-off.
    #[must_use]
    pub(crate) fn height_m(&self, bins: &[Bin]) -> f64 {
        self.ground_m + bins[self.bin].template.height_m
    }

    /// Whether it can be flown.
    #[must_use]
    pub(crate) fn is_feasible(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// `H030-P45`; halves of metres and degrees are written as such.
#[must_use]
pub(crate) fn bin_name(height_m: f64, pitch_down_deg: f64) -> String {
    let number = |value: f64, width: usize| {
        if value.fract() == 0.0 {
            format!("{value:0width$.0}")
        } else {
            format!("{value:0width$.1}", width = width + 2)
        }
    };
    format!("H{}-P{}", number(height_m, 3), number(pitch_down_deg, 2))
}

impl Scene<'_> {
    /// The candidates of one height: its grid, and for every oblique bin a ring. `first_place` is
    /// the index that the first of its places gets.
    #[must_use]
    pub(crate) fn candidates(&self, height_index: usize, first_place: usize) -> Vec<Candidate> {
        let bins: Vec<usize> = (0..self.bins.len())
            .filter(|bin| self.bins[*bin].height_index == height_index)
            .filter(|bin| self.bins[*bin].template.footprint.is_some())
            .collect();
        let mut all = Vec::new();
        for (place_index, (row, column, place)) in
            self.grid_places(height_index).into_iter().enumerate()
        {
            for &bin in &bins {
                let headings = self.spec.bins.headings_deg.len();
                for heading in 0..headings {
                    let slot = Slot::Grid(heading, row, column);
                    all.extend(self.on_grid(bin, slot, first_place + place_index, place));
                }
            }
        }
        let mut place_index = all
            .iter()
            .map(|c| c.place_index + 1)
            .max()
            .unwrap_or(first_place);
        for &bin in bins
            .iter()
            .filter(|bin| !self.bins[**bin].template.is_nadir())
        {
            for slot in 0..RING_SLOTS {
                all.extend(self.on_ring(bin, slot, place_index));
                place_index += 1;
            }
        }
        self.drop_marginal(all)
    }

    /// Distances between grid places at a height: along the area's long axis, where three views
    /// overlap, and across it, where whole strips of a photo's width fit the area.
    #[must_use]
    pub(crate) fn grid_steps_m(&self, height_index: usize) -> (f64, f64) {
        let steepest = self
            .bins
            .iter()
            .filter(|bin| bin.height_index == height_index)
            .max_by(|a, b| {
                a.template
                    .pitch_down_deg
                    .total_cmp(&b.template.pitch_down_deg)
            });
        let size = steepest.map_or(Place::zeros(), |bin| bin.template.size_m());
        let seen = |side: f64| (side - 2.0 * self.margin_m).max(MIN_STEP_M);
        let along_m = (seen(size.y) / PLACES_A_FOOTPRINT).max(MIN_STEP_M);
        let width_m = self.extent_m().1.max(MIN_STEP_M);
        let strips = (width_m / seen(size.x)).ceil();
        let across_m = width_m / strips / PLACES_A_STRIP;
        (
            along_m,
            across_m.clamp(0.7 * along_m, 1.5 * along_m).max(MIN_STEP_M),
        )
    }

    /// Length of the area along its long axis and across it.
    fn extent_m(&self) -> (f64, f64) {
        let (low, high) = self.extent();
        (high.x - low.x, high.y - low.y)
    }

    /// Ends of the area along its long axis (x) and across it (y).
    fn extent(&self) -> (Place, Place) {
        let (along, across) = self.axes();
        let corners: Vec<Place> = self
            .site
            .corners()
            .iter()
            .map(|corner| Place::new(corner.dot(&along), corner.dot(&across)))
            .collect();
        plane::bounds(&corners).unwrap_or((Place::zeros(), Place::zeros()))
    }

    fn axes(&self) -> (Place, Place) {
        let axis = self.axis_rad();
        (
            plane::towards(axis),
            plane::towards(axis + std::f64::consts::FRAC_PI_2),
        )
    }

    /// Places of the grid from which the area may be seen, with row and column; the grid is
    /// centred on the area and runs along its long axis.
    fn grid_places(&self, height_index: usize) -> Vec<(usize, usize, Place)> {
        let (along_m, across_m) = self.grid_steps_m(height_index);
        let reach = self
            .bins
            .iter()
            .filter(|bin| bin.height_index == height_index)
            .map(|bin| bin.template.reach_m())
            .fold(0.0, f64::max);
        let (along, across) = self.axes();
        let (low, high) = self.extent();
        let middle = (low + high) / 2.0;
        let half = |span: f64, step: f64| ((span / 2.0 + reach) / step).ceil() as i64;
        let half_columns = half(high.x - low.x, along_m);
        let half_rows = half(high.y - low.y, across_m);
        let mut places = Vec::new();
        for row in -half_rows..=half_rows {
            for column in -half_columns..=half_columns {
                let at = middle + Place::new(column as f64 * along_m, row as f64 * across_m);
                places.push((
                    (row + half_rows) as usize,
                    (column + half_columns) as usize,
                    along * at.x + across * at.y,
                ));
            }
        }
        places
    }

    fn axis_rad(&self) -> f64 {
        plane::long_axis(&self.site.corners())
    }

    fn on_grid(
        &self,
        bin: usize,
        slot: Slot,
        place_index: usize,
        place: Place,
    ) -> Option<Candidate> {
        let Slot::Grid(heading, ..) = slot else {
            return None;
        };
        let axis_deg = self.axis_rad().to_degrees();
        let heading_deg = self.spec.bins.headings_deg[heading];
        // Straight down a half turn sees the same.
        if self.bins[bin].template.is_nadir() && heading_deg >= 180.0 {
            return None;
        }
        let yaw_deg = wrapped_deg(axis_deg + heading_deg);
        let mut candidate = Candidate {
            bin,
            pattern: Pattern::Grid,
            heading,
            slot,
            place_index,
            place,
            yaw_deg,
            ground_m: 0.0,
            spans: Spans::default(),
            reasons: Vec::new(),
        };
        self.complete(&mut candidate).then_some(candidate)
    }

    /// On the circle from which the axis meets the ground in the area's middle.
    fn on_ring(&self, bin: usize, slot: u32, place_index: usize) -> Option<Candidate> {
        let corners = self.site.corners();
        let (low, high) = plane::bounds(&corners)?;
        let middle = (low + high) / 2.0;
        let azimuth_deg = f64::from(slot) * 360.0 / f64::from(RING_SLOTS);
        let stand_off = self.bins[bin].template.stand_off_m();
        let place = middle + plane::towards(azimuth_deg.to_radians()) * stand_off;
        let headings = self.spec.bins.headings_deg.len();
        let mut candidate = Candidate {
            bin,
            pattern: Pattern::Ring,
            heading: slot as usize * headings / RING_SLOTS as usize,
            slot: Slot::Ring(slot),
            place_index,
            place,
            yaw_deg: wrapped_deg(azimuth_deg + 180.0),
            ground_m: 0.0,
            spans: Spans::default(),
            reasons: Vec::new(),
        };
        self.complete(&mut candidate).then_some(candidate)
    }

    /// Fills in what it sees and why it cannot be flown; false when it sees nothing.
    fn complete(&self, candidate: &mut Candidate) -> bool {
        let bin = &self.bins[candidate.bin];
        let hull = bin.template.hull_at(&candidate.place, candidate.yaw_deg);
        candidate.spans = self.ground.spans(&hull, self.margin_m);
        if candidate.spans.is_empty() {
            return false;
        }
        let aim = candidate.place
            + plane::towards(candidate.yaw_deg.to_radians()) * bin.template.stand_off_m();
        candidate.reasons = bin.reasons.clone();
        let (under, at_aim) = (
            self.relief.above_home(self.site, &candidate.place),
            self.relief.above_home(self.site, &aim),
        );
        let (Some(under), Some(at_aim)) = (under, at_aim) else {
            candidate.reasons.push(Reason::TerrainUnknown);
            return true;
        };
        candidate.ground_m = at_aim;
        let height_m = at_aim + bin.template.height_m;
        let clearance_m = self.spec.airspace.clearance_m;
        if height_m - under < clearance_m {
            candidate.reasons.push(Reason::NoClearance {
                to: "the ground".to_owned(),
                distance_m: (height_m - under).max(0.0),
                needed_m: clearance_m,
            });
        }
        candidate.reasons.extend(self.airspace.faults(&Station {
            place: candidate.place,
            height_m,
        }));
        true
    }

    /// Whether a candidate is a cell of an earlier plan to the centimetre.
    #[must_use]
    pub(crate) fn is_same_pose(&self, candidate: &Candidate, cell: &Cell) -> bool {
        let place = self.place_of_cell(cell);
        let height_m = candidate.height_m(self.bins);
        (candidate.place - place).norm() < 0.01
            && (height_m - cell.pose.height_above_takeoff_m).abs() < 0.01
            && motion::turn_deg(candidate.yaw_deg, cell.pose.yaw_deg) < 0.01
    }

    /// A cell of an earlier plan as a candidate, with that plan's pose.
    #[must_use]
    pub(crate) fn of_cell(&self, cell: &Cell, bin: usize, place_index: usize) -> Candidate {
        let headings = self.spec.bins.headings_deg.len();
        let turned = motion::turn_right_deg(self.axis_rad().to_degrees(), cell.pose.yaw_deg);
        let mut candidate = Candidate {
            bin,
            pattern: cell.pattern,
            heading: (turned / 360.0 * headings as f64).round() as usize % headings,
            slot: Slot::Ring(0),
            place_index,
            place: self.place_of_cell(cell),
            yaw_deg: cell.pose.yaw_deg,
            ground_m: 0.0,
            spans: Spans::default(),
            reasons: Vec::new(),
        };
        self.complete(&mut candidate);
        candidate
    }

    fn place_of_cell(&self, cell: &Cell) -> Place {
        let pose = &cell.pose;
        Geodetic::from_degrees(pose.latitude_deg, pose.longitude_deg, Metres(0.0))
            .map_or(Place::new(pose.east_m, pose.north_m), |place| {
                self.site.origin.enu_from_geodetic(place).vector.xy()
            })
    }

    /// Leaves out what sees hardly anything of the area.
    fn drop_marginal(&self, mut all: Vec<Candidate>) -> Vec<Candidate> {
        let points = self.ground.all();
        let seen: Vec<usize> = all.iter().map(|c| points.covered(&c.spans)).collect();
        let mut best = vec![0; self.bins.len()];
        for (candidate, seen) in all.iter().zip(&seen) {
            best[candidate.bin] = best[candidate.bin].max(*seen);
        }
        let mut seen = seen.into_iter();
        all.retain(|candidate| {
            let seen = seen.next().unwrap_or(0);
            seen > 0 && seen as f64 >= MIN_SHARE_OF_BEST * best[candidate.bin] as f64
        });
        all
    }
}

/// An azimuth in [0, 360), rounded to a millionth of a degree.
fn wrapped_deg(azimuth_deg: f64) -> f64 {
    let rounded = (azimuth_deg.rem_euclid(360.0) * 1e6).round() / 1e6;
    if rounded >= 360.0 { 0.0 } else { rounded }
}
