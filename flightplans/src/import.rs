//! Plans of other programs, read: polygons of QGroundControl plans as sites, and waypoint files.

pub(crate) mod qgc;
pub mod waypoints;
