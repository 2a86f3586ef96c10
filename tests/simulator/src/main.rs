//! The command `simulator`.

fn main() {}
