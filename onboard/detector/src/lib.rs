//! Oriented vehicle boxes from ONNX models.
