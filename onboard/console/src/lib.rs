//! What both binaries share at the terminal.
