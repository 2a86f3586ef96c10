//! The simulator from outside: its geometry against OpenCV, its metadata against exiftool, its
//! truth against independent reckoning, its command as a user meets it.

mod command;
mod facts;
mod fixture;
mod metadata;
mod plan;
mod projection;
mod scene;
mod truth;
mod world;
