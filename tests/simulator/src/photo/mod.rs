//! The files a camera writes: JPEG, EXIF, XMP.

pub(crate) mod jpeg;
pub(crate) mod metadata;
mod tiff;
