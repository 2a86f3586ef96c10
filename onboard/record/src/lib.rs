//! What a drone photo says about itself, and the sealed scene bundle.
