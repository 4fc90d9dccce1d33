//! Says which vector instructions the engine is compiled for: `cfg(simd_x86)` on x86-64, where the processor is
//! asked at run time which it has, and `cfg(simd_neon)` on AArch64, where all have NEON.
//!
//! With `SYLLABARY_PORTABLE` set neither holds: so a machine with vectors builds and tests what runs without.

use std::env::{var, var_os};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SYLLABARY_PORTABLE");
    println!("cargo::rustc-check-cfg=cfg(simd_x86, simd_neon)");
    if var_os("SYLLABARY_PORTABLE").is_some() {
        return;
    }
    let target = |key: &str| var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let has_neon = target("FEATURE").split(',').any(|feature| feature == "neon");
    match target("ARCH").as_str() {
        "x86_64" => println!("cargo::rustc-cfg=simd_x86"),
        "aarch64" if has_neon && target("ENDIAN") == "little" => println!("cargo::rustc-cfg=simd_neon"),
        _ => {}
    }
}
