//! What runs on the drone's companion computer. It needs nothing installed: vehicles are found with
//! the model and the inference engine that are built in, faster where ONNX Runtime is there.

pub mod commands;
pub mod output;
pub mod view;
