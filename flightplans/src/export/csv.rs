//! A table of the photos in the order of flying.

use crate::plan::FlightPlan;
use std::fmt::Write as _;

pub(super) fn write(plan: &FlightPlan) -> Vec<u8> {
    let mut text = String::from(
        "sortie,number,cell,latitude_deg,longitude_deg,height_above_takeoff_m,height_m,\
         pitch_down_deg,yaw_deg,gimbal_pitch_deg,photo_s,in_passing,speed_mps,purpose\n",
    );
    for (sortie_index, sortie) in plan.sorties.iter().enumerate() {
        for (index, (visit, cell)) in super::visited(plan, &sortie.visits).enumerate() {
            let pose = &cell.pose;
            let purpose = match cell.purpose {
                crate::plan::Purpose::Linking => "linking",
                _ => "coverage",
            };
            writeln!(
                text,
                "{},{},{},{:.8},{:.8},{},{},{},{},{},{},{},{},{purpose}",
                sortie_index + 1,
                index + 1,
                cell.id,
                pose.latitude_deg,
                pose.longitude_deg,
                pose.height_above_takeoff_m,
                cell.height_m,
                cell.pitch_down_deg,
                pose.yaw_deg,
                pose.gimbal_pitch_deg,
                visit.photo_s,
                visit.in_passing,
                visit.speed_mps
            )
            .expect("writing to a String does not fail");
        }
    }
    text.into_bytes()
}
