//! What was found in a photo.

use crate::oriented_box::{HorizontalBox, OrientedBox};
use serde::{Deserialize, Serialize};

/// What kind of vehicle a model says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VehicleClass {
    /// A vehicle; the model does not say which kind.
    Vehicle,
    /// A car, van, pickup or minibus.
    SmallVehicle,
    /// A truck, bus or trailer.
    LargeVehicle,
}

impl VehicleClass {
    /// The class of ours for a model's class name, compared in lower case with `-` and `_` as
    /// spaces. `None` for everything that is no parked road vehicle of the benchmark (ships,
    /// planes, two-wheelers, people).
    #[must_use]
    pub fn from_model_name(name: &str) -> Option<Self> {
        let normalised = name.trim().to_lowercase().replace(['-', '_'], " ");
        match normalised.as_str() {
            "vehicle" | "vehicles" | "motor vehicle" => Some(Self::Vehicle),
            "car" | "cars" | "van" | "minibus" | "minivan" | "pickup" | "pick up" | "suv"
            | "taxi" | "small vehicle" | "small car" | "camping car" | "light vehicle" => {
                Some(Self::SmallVehicle)
            }
            "truck" | "bus" | "lorry" | "trailer" | "tractor" | "large vehicle"
            | "heavy vehicle" | "freight car" | "cargo truck" | "dump truck" | "truck tractor" => {
                Some(Self::LargeVehicle)
            }
            _ => None,
        }
    }
}

/// One vehicle found in one photo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// The whole vehicle, also where the photo's edge cuts it.
    pub oriented_box: OrientedBox,
    /// Its hull, clipped to the photo.
    pub horizontal_box: HorizontalBox,
    /// What the model says it is.
    pub class: VehicleClass,
    /// The model's confidence in [0, 1]. Comparable only within one model.
    pub score: f64,
    /// Whether the photo's edge cuts the vehicle.
    pub truncated: bool,
    /// Standard deviation of each corner along x and along y, pixels of the photo; `None` where the
    /// model does not say how exact its boxes are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corner_sigma_px: Option<f64>,
}
