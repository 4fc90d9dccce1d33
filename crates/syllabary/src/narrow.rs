//! What x86-64 processors of the last ten years have: vectors of 32 bytes, and counting bits.
//!
//! Leaves out wider ones (`sixteen`), and other processors, which have their own.

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow(());

impl Narrow {
    pub(crate) fn new() -> Option<Narrow> {
        #[cfg(simd_x86)]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Some(Narrow(()));
        }
        None
    }
}
