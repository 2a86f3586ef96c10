//! The text format `QGC WPL 110`: line 0 is home, then the items; latitude before longitude.

use super::items::{FRAME_ABOVE_HOME, FRAME_MISSION, Item, command, missions};
use crate::error::PlanError;
use crate::plan::FlightPlan;
use std::fmt::Write as _;

pub(super) fn write(plan: &FlightPlan) -> Result<Vec<Vec<u8>>, PlanError> {
    let files = missions(plan)?
        .iter()
        .map(|items| text(plan, items).into_bytes())
        .collect();
    Ok(files)
}

fn text(plan: &FlightPlan, items: &[Item]) -> String {
    let home = &plan.site.home;
    let height_m = plan.site.home_height_above_sea_level_m.unwrap_or(0.0);
    let mut text = format!(
        "QGC WPL 110\n0\t1\t0\t{}\t0\t0\t0\t0\t{:.8}\t{:.8}\t{height_m:.3}\t1\n",
        command::NAV_WAYPOINT,
        home.latitude_deg,
        home.longitude_deg
    );
    for (index, item) in items.iter().enumerate() {
        let number = index + 1;
        let (frame, [first, second, third]) = match item.place {
            Some([longitude, latitude, height]) => {
                (FRAME_ABOVE_HOME, [latitude, longitude, height])
            }
            None => (FRAME_MISSION, item.rest),
        };
        let [p1, p2, p3, p4] = item.params.map(|param| param.unwrap_or(0.0));
        writeln!(
            text,
            "{number}\t0\t{frame}\t{}\t{p1:.6}\t{p2:.6}\t{p3:.6}\t{p4:.6}\t{first:.8}\t{second:.8}\t{third:.3}\t1",
            item.command
        )
        .expect("writing to a String does not fail");
    }
    text
}
