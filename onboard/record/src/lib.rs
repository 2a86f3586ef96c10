//! What a drone photo says about itself, the sealed scene bundle, and the two seams every part of
//! Overlook goes through: [`Storage`] for files and [`Clock`] for time.
//!
//! - [`read_capture`] and [`read_capture_file`] read a JPEG's EXIF, XMP and maker notes into one
//!   [`Capture`]: every value with its source and its uncertainty, in metres, radians, seconds and
//!   pixels, whatever the vendor's conventions.
//! - [`open_bundle`] reads a BagIt bag and [`Bundle::verify`] proves it whole and sealed, or names
//!   every file that is not.

pub mod bundle;
pub mod capture;
pub mod clock;
mod error;
pub mod schema;
pub mod storage;

pub use bundle::{Bundle, SealedBundle, VerifyReport, open_bundle};
pub use capture::{Capture, read_capture, read_capture_file};
pub use clock::{Clock, FakeClock, Moment, SystemClock};
pub use error::{BundleError, Fault, PhotoError};
pub use storage::{DiskStorage, FaultyStorage, Storage, StorageError, StorageFile, write_durably};
