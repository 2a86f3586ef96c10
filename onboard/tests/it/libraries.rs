//! The program is copied to the drone as one file: it may need nothing but the C library.

use std::process::Command;

/// What a Linux program of ours may be linked with: the C library, its parts, and the kernel's.
const ALLOWED: [&str; 6] = [
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
    "linux-vdso.so.1",
];

#[test]
fn it_is_linked_with_the_c_library_only() {
    let output = Command::new("ldd")
        .arg(env!("CARGO_BIN_EXE_onboard"))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: ldd absent");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("libc.so.6"), "{text}");
    for line in text.lines() {
        let library = line.split_whitespace().next().unwrap_or_default();
        let name = library.rsplit('/').next().unwrap_or_default();
        assert!(ALLOWED.contains(&name), "{line}");
    }
}
