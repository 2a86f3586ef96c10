//! Integration tests of `record`: real photos against exiftool, damaged input, and bags made by
//! Python's `bagit`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bagit;
mod fuzz;
mod oracle;
mod shared;
