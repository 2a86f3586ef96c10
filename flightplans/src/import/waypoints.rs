//! Waypoint files of the format `QGC WPL 110`: tab-separated `index current frame command p1 p2 p3
//! p4 latitude longitude height autocontinue`; line 0 is home. The format's own published example
//! writes longitude first; a file in which only that order makes sense is refused with the reason.

use crate::error::PlanError;
use std::path::Path;

/// One line of a waypoint file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// `MAV_FRAME`: 0 above the sea, 3 above home, 10 above the terrain.
    pub frame: u8,
    /// `MAV_CMD`.
    pub command: u16,
    /// The command's parameters 1 to 4.
    pub params: [f64; 4],
    /// Degrees, or parameter 5 of a command without a place.
    pub latitude_deg: f64,
    /// Degrees, or parameter 6 of a command without a place.
    pub longitude_deg: f64,
    /// Metres, or parameter 7.
    pub height_m: f64,
}

/// Reads a waypoint file from its text; `path` names it in errors.
///
/// # Errors
/// It is no such file, a line has too few columns or no numbers, or latitude and longitude are
/// exchanged.
pub fn parse(text: &str, path: &Path) -> Result<Vec<Waypoint>, PlanError> {
    let malformed = |found: String| PlanError::Malformed {
        path: path.to_owned(),
        expected: "waypoint file (QGC WPL 110)",
        found,
    };
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default().trim();
    if header != "QGC WPL 110" {
        return Err(malformed(format!("its first line is {header:?}")));
    }
    let mut waypoints = Vec::new();
    for (index, line) in lines
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let waypoint = waypoint(line)
            .ok_or_else(|| malformed(format!("line {} has not 12 numbers: {line:?}", index + 2)))?;
        waypoints.push(waypoint);
    }
    let beyond = waypoints.iter().any(|w| w.latitude_deg.abs() > 90.0);
    if beyond && waypoints.iter().all(|w| w.longitude_deg.abs() <= 90.0) {
        return Err(malformed(
            "latitude and longitude look swapped; the format writes latitude first".to_owned(),
        ));
    }
    Ok(waypoints)
}

fn waypoint(line: &str) -> Option<Waypoint> {
    let numbers = line
        .split_whitespace()
        .map(|text| text.parse::<f64>().ok().filter(|number| number.is_finite()))
        .collect::<Option<Vec<f64>>>()?;
    let [
        _,
        _,
        frame,
        command,
        p1,
        p2,
        p3,
        p4,
        latitude,
        longitude,
        height,
        _,
    ] = <[f64; 12]>::try_from(numbers).ok()?;
    Some(Waypoint {
        frame: frame as u8,
        command: command as u16,
        params: [p1, p2, p3, p4],
        latitude_deg: latitude,
        longitude_deg: longitude,
        height_m: height,
    })
}
