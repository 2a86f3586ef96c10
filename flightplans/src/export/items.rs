//! A plan as mission items of an autopilot: fly there, point the gimbal, let it settle, fire, wait
//! until the picture is taken. Photos taken in passing have no stop: the gimbal stands since the
//! row's first photo.

use crate::error::PlanError;
use crate::plan::{Cell, FlightPlan, Visit};

/// `MAV_CMD` numbers of the MAVLink common message set.
pub(crate) mod command {
    pub(crate) const NAV_WAYPOINT: u16 = 16;
    pub(crate) const NAV_RETURN_TO_LAUNCH: u16 = 20;
    pub(crate) const NAV_TAKEOFF: u16 = 22;
    pub(crate) const NAV_DELAY: u16 = 93;
    pub(crate) const DO_CHANGE_SPEED: u16 = 178;
    pub(crate) const DO_MOUNT_CONTROL: u16 = 205;
    pub(crate) const IMAGE_START_CAPTURE: u16 = 2000;
}

/// `MAV_FRAME_GLOBAL_RELATIVE_ALT` and `MAV_FRAME_MISSION`.
pub(crate) const FRAME_ABOVE_HOME: u8 = 3;
pub(crate) const FRAME_MISSION: u8 = 2;
/// `MAV_MOUNT_MODE_MAVLINK_TARGETING`.
const MOUNT_TARGETING: f64 = 2.0;
/// Standing still after the shutter, so that a slow camera has exposed, seconds.
const AFTER_SHUTTER_S: f64 = 0.5;

/// Items of a photo from rest: speed, place, gimbal, settling, shutter, exposure.
const ITEMS_FROM_REST: usize = 6;

/// One mission item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// `MAV_CMD`.
    pub(crate) command: u16,
    /// Parameters 1 to 4; `None` is "not a number": as it is.
    pub(crate) params: [Option<f64>; 4],
    /// Longitude, latitude, height above home; `None` for what has no place.
    pub(crate) place: Option<[f64; 3]>,
    /// Parameters 5 to 7 of what has no place.
    pub(crate) rest: [f64; 3],
}

impl Item {
    fn at(command: u16, params: [Option<f64>; 4], place: [f64; 3]) -> Self {
        Self {
            command,
            params,
            place: Some(place),
            rest: [0.0; 3],
        }
    }

    fn bare(command: u16, params: [f64; 4]) -> Self {
        Self {
            command,
            params: params.map(Some),
            place: None,
            rest: [0.0; 3],
        }
    }
}

/// The missions of a plan: its sorties, cut where an autopilot's capacity ends.
///
/// # Errors
/// [`PlanError::Capacity`] when not even one photo fits.
pub(crate) fn missions(plan: &FlightPlan) -> Result<Vec<Vec<Item>>, PlanError> {
    let capacity = plan.spec.autopilot.max_items;
    let mut missions = Vec::new();
    for sortie in &plan.sorties {
        let mut groups: Vec<(Vec<Item>, &Cell)> = Vec::new();
        let mut last: Option<&Cell> = None;
        for (visit, cell) in super::visited(plan, &sortie.visits) {
            groups.push((photo_items(plan, visit, cell, last), cell));
            last = Some(cell);
        }
        // A mission also takes off and comes home, and its first photo is taken from rest.
        let largest = groups.iter().map(|(items, _)| items.len()).max();
        let least = 2 + largest.unwrap_or(0).max(ITEMS_FROM_REST) + sortie.way_home.len();
        if capacity < least {
            return Err(PlanError::Capacity { capacity, least });
        }
        let mut open: Vec<Item> = Vec::new();
        for (index, (items, cell)) in groups.iter().enumerate() {
            let needed = open.len() + items.len() + 1 + sortie.way_home.len();
            if !open.is_empty() && needed > capacity {
                open.push(return_home());
                missions.push(std::mem::take(&mut open));
            }
            if open.is_empty() {
                open.push(take_off(plan, cell));
                // What an earlier mission had set is not known any more, and a row that it began
                // goes on from rest.
                let visit = Visit {
                    in_passing: false,
                    ..sortie.visits[index].clone()
                };
                open.extend(photo_items(plan, &visit, cell, None));
            } else {
                open.extend(items);
            }
        }
        for corner in &sortie.way_home {
            open.push(waypoint(*corner, 0.0));
        }
        if !open.is_empty() {
            open.push(return_home());
            missions.push(open);
        }
    }
    Ok(missions)
}

fn take_off(plan: &FlightPlan, first: &Cell) -> Item {
    let home = &plan.site.home;
    Item::at(
        command::NAV_TAKEOFF,
        [Some(0.0), Some(0.0), Some(0.0), None],
        [
            home.longitude_deg,
            home.latitude_deg,
            first.pose.height_above_takeoff_m,
        ],
    )
}

fn return_home() -> Item {
    Item::bare(command::NAV_RETURN_TO_LAUNCH, [0.0; 4])
}

fn waypoint(place: [f64; 3], yaw_deg: f64) -> Item {
    Item::at(
        command::NAV_WAYPOINT,
        [Some(0.0), Some(0.0), Some(0.0), Some(yaw_deg)],
        place,
    )
}

fn photo_items(plan: &FlightPlan, visit: &Visit, cell: &Cell, last: Option<&Cell>) -> Vec<Item> {
    let pose = &cell.pose;
    let mut items: Vec<Item> = visit
        .way
        .iter()
        .map(|corner| waypoint(*corner, pose.yaw_deg))
        .collect();
    let speed = if visit.in_passing {
        visit.speed_mps
    } else {
        plan.spec.flight.cruise_mps
    };
    // Ground speed (1), metres a second, throttle as it is (-1).
    items.push(Item::bare(
        command::DO_CHANGE_SPEED,
        [1.0, speed, -1.0, 0.0],
    ));
    items.push(waypoint(
        [
            pose.longitude_deg,
            pose.latitude_deg,
            pose.height_above_takeoff_m,
        ],
        pose.yaw_deg,
    ));
    if !visit.in_passing {
        let pitch_deg = pose.gimbal_pitch_deg;
        let turn_deg = last.map_or(90.0, |last| (last.pose.gimbal_pitch_deg - pitch_deg).abs());
        let mut point = Item::bare(command::DO_MOUNT_CONTROL, [pitch_deg, 0.0, 0.0, 0.0]);
        point.rest = [0.0, 0.0, MOUNT_TARGETING];
        items.push(point);
        let wait_s = turn_deg / plan.spec.gimbal.pitch_rate_deg_s + plan.spec.flight.settle_s;
        items.push(delay(wait_s));
    }
    items.push(Item::bare(
        command::IMAGE_START_CAPTURE,
        [0.0, 0.0, 1.0, 0.0],
    ));
    if !visit.in_passing {
        items.push(delay(AFTER_SHUTTER_S));
    }
    items
}

/// Whole seconds upwards: ArduPilot's delay knows no fractions.
fn delay(seconds: f64) -> Item {
    Item::bare(command::NAV_DELAY, [seconds.ceil(), -1.0, -1.0, -1.0])
}
