//! Oriented vehicle boxes from ONNX models.
//!
//! [`Detector`] loads a model (our own small one is built in) into an inference engine and searches
//! photos with it. Scale comes first: a photo is resampled until cars have the size the model sees
//! best, from the camera's height and attitude where they are known ([`ViewGeometry`]), else at
//! several sizes; only then is it cut into tiles, and doubles are merged by exact polygon overlap.
//!
//! Boxes are canonical ([`OrientedBox`]): long side first, its angle from +x clockwise on screen in
//! [-90, 90) degrees. Pixels count from the first pixel's corner, so that its centre is (0.5, 0.5).

mod detect;
mod detection;
mod error;
mod evaluate;
mod export;
mod input;
mod layout;
mod literal;
mod merge;
mod model;
mod onnx;
mod oriented_box;
mod overlay;
mod overrides;
mod photo;
mod polygon;
mod rgb;
mod runtime;
mod scale;
mod self_test;
mod tiles;

pub use detect::{DetectOptions, Detections, Detector, Warning};
pub use detection::{Detection, VehicleClass};
pub use error::DetectorError;
pub use evaluate::{
    AngleErrors, CornerErrors, CurvePoint, EvaluatedPhoto, Evaluation, Group, GroupResult,
    Precision, TruthBox, evaluate,
};
pub use export::{
    DETECTIONS_SCHEMA, DetectionsLine, coco, dota, json_line, read_json_line, yolo_class_names,
    yolo_obb,
};
pub use layout::Layout;
pub use merge::suppress;
pub use model::{InputSpec, ModelClass, ModelInfo};
pub use oriented_box::{HorizontalBox, OrientedBox};
pub use overlay::{draw_overlay, encode_jpeg};
pub use overrides::{ColourOrder, ModelOverrides, Normalisation, PixelOrigin};
pub use photo::{Photo, PhotoHeader};
pub use rgb::RgbImage;
pub use runtime::{EngineChoice, EngineOptions, EngineReport, LIBRARY_VARIABLE, Provider};
pub use scale::{
    CAR_LENGTH_M, CarRange, Fit, Keep, Level, ScaleBasis, ScaleChoice, ScalePlan, ViewGeometry,
};
pub use self_test::SelfTest;
