//! A world with known truth.
//!
//! `simulator render` generates a car park from a seed, photographs it from a plan of heights and
//! pitches with the errors a drone's sensors have, and writes the photos with `truth.json`. The
//! crate has its own projection, geodesy and EXIF/XMP writer and links none of the product's
//! crates, so that truth can disagree with the product.
//!
//! `simulator scene` writes what the ground station has of such a capture after ingest, pose and
//! detect, straight from the truth with errors of stated size ([`processed`]).
//!
//! # Frames
//! East-north-up metres, origin on the level ground in the middle of the lot. Camera: x right, y
//! down, z forward. Pixels: x right, y down, the first pixel's centre at (0.5, 0.5).
//!
//! # `truth.json`, schema `truth/1`
//! One object; units are in the keys. The types of [`truth`] are its exact form.
//!
//! | key | content |
//! | --- | --- |
//! | `schema`, `seed` | `truth/1`; the seed of the world |
//! | `site` | `origin` (`latitude_deg`, `longitude_deg`, `height_above_ellipsoid_m`, WGS84), `height_above_sea_m`, `zone` (IANA), `kind`, `weather`, `ground` (plane: `height_m + slope_east * east + slope_north * north`) |
//! | `sun` | `azimuth_deg` clockwise from north, `elevation_deg`; steady during the capture |
//! | `camera` | `make`, `model`, `serial` as in the metadata |
//! | `errors` | sizes of the metadata's errors ([`sensors::ErrorSpec`]) |
//! | `photos[]` | `file`, `sha256`, `utc`, `flight`, `camera_from_enu` (`rotation_wxyz`, `translation_m`), `center_in_enu_m`, `yaw_deg`, `pitch_deg`, `roll_deg`, `planned_height_m`, `planned_pitch_deg`, `link`, `intrinsics`, `has_xmp`, `has_gps` |
//! | `vehicles[]` | `id`, `brand`, `model`, `year`, `body`, `color`, `length_mm`, `width_mm`, `height_mm`, `center_in_enu_m`, `front_azimuth_deg` |
//! | `views[]` | `photo`, `vehicle`, `visible_fraction`, `truncated`, `oriented_box`, `horizontal_box`, `front_direction_deg` |
//! | `processed` | beside `simulator scene` only: `noise` (sizes of the errors), `shift_m` and `turn_deg` of the scene's frame, `detections[][]` (per photo and detection the vehicle, null for a false alarm) |
//!
//! Every vehicle of the world is in `vehicles`; a view exists for every vehicle of which any part
//! of the silhouette lies in the frame, hidden or not.
//!
//! `visible_fraction`: samples (four a pixel) on which the vehicle is seen, over the samples of
//! the vehicle drawn alone on an endless canvas; so both occlusion and the frame's edge lower it.
//! Mirrors and roof boxes count as vehicle.
//!
//! `oriented_box`: `[cx, cy, long, short, angle_deg]`, the rectangle of least area around the
//! convex hull of the projected body (all of it, also beyond the frame and behind other things;
//! mirrors and roof boxes left out, as in `length_mm` and `width_mm`). The angle is that of the
//! long side from +x, clockwise on screen, in [-90, 90). The same rule holds at every pitch: near
//! nadir the box lies along the vehicle; at a slant it is the smallest rectangle around what is
//! seen of roof and sides, and where a hull is nearly square its angle need not be the vehicle's.
//!
//! `horizontal_box`: `[x1, y1, x2, y2]` around the visible samples, inside the frame; null where
//! nothing is visible.
//!
//! `front_direction_deg`: direction on the picture of the projected ground segment from the
//! vehicle's centre to its front, clockwise from up.

pub mod camera;
pub mod dataset;
mod dice;
mod error;
pub mod facts;
pub mod geodesy;
mod ground;
mod noise;
mod photo;
pub mod poses;
pub mod processed;
pub mod render;
mod scene;
pub mod sensors;
mod site;
pub mod sun;
pub mod truth;
mod vec3;
mod vehicles;
mod views;

pub use error::SimulatorError;
pub use photo::jpeg::Picture;
pub use photo::metadata::{CAMERA_MAKE, CAMERA_MODEL};
pub use site::{SITE_KINDS, SiteKind, SiteSpec, Weather, World};
pub use vehicles::{Body, Model, Vehicle, catalogue};
