//! Says what of the machine the engine is compiled for: `cfg(simd_x86)` on x86-64, where the processor is asked at
//! run time which vectors it has; `cfg(simd_neon)` on AArch64, where all have NEON; `cfg(large_pages)` on Linux.
//!
//! With `SYLLABARY_PORTABLE` set none of them holds: so any machine builds and tests what all others run.

use std::env::{var, var_os};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SYLLABARY_PORTABLE");
    println!("cargo::rustc-check-cfg=cfg(simd_x86, simd_neon, large_pages)");
    if var_os("SYLLABARY_PORTABLE").is_some() {
        return;
    }
    let target = |key: &str| var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" {
        println!("cargo::rustc-cfg=large_pages");
    }
    let has_neon = target("FEATURE").split(',').any(|feature| feature == "neon");
    match target("ARCH").as_str() {
        "x86_64" => println!("cargo::rustc-cfg=simd_x86"),
        "aarch64" if has_neon && target("ENDIAN") == "little" => println!("cargo::rustc-cfg=simd_neon"),
        _ => {}
    }
}
