//! Characters that become one byte, told for 64 bytes at once, with AVX-512 VBMI: control characters of
//! ASCII, as a line feed that becomes a space, and wide forms of ASCII, as a comma of Chinese.
//!
//! Leaves out all others (`calm_wide`).

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512,
    _mm512_mask_mov_epi8, _mm512_mask_permutexvar_epi8, _mm512_maskz_loadu_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_set1_epi8, _mm512_test_epi8_mask,
};

const BLOCK: usize = 64;
/// Bytes that are control characters are less.
const CONTROLS: usize = 0x20;
/// The first wide form, and the bytes that two times 64 of them begin with.
const FORMS: usize = 0xFF00;
const FIRST: u8 = 0xEF;
const SECOND: [u8; 2] = [0xBC, 0xBD];

/// What they become, a 0 for those that are to be asked for one by one.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Narrow {
    controls: [u8; BLOCK],
    forms: [[u8; BLOCK]; SECOND.len()],
}

/// A block with some characters changed, each into its first byte: which of one byte these are, and which of
/// three.
pub(super) struct Changed {
    pub(super) bytes: __m512i,
    pub(super) controls: __mmask64,
    pub(super) forms: __mmask64,
}

impl Narrow {
    /// Of what a character becomes if it is one byte that is not 0.
    pub(super) fn new(made: impl Fn(usize) -> Option<u8>) -> Narrow {
        let made = |code: usize| made(code).unwrap_or(0);
        Narrow {
            controls: std::array::from_fn(|code| if code < CONTROLS { made(code) } else { 0 }),
            forms: [0, BLOCK].map(|half| std::array::from_fn(|place| made(FORMS + half + place))),
        }
    }

    /// Which of some characters are control characters that are told here, and what they become.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn controls(&self, bytes: __m512i, strange: __mmask64) -> (__mmask64, __m512i) {
        let low = strange & _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(CONTROLS as i8));
        let made = _mm512_maskz_permutexvar_epi8(low, bytes, load_all(&self.controls));
        (_mm512_test_epi8_mask(made, made), made)
    }

    /// Changes those of some characters of a block, given where they begin, that are told here; `behind`
    /// gives the bytes so many places behind.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn change(
        &self,
        bytes: __m512i,
        behind: impl Fn(usize) -> __m512i,
        strange: __mmask64,
    ) -> Changed {
        let set = |byte: u8| _mm512_set1_epi8(byte as i8);
        let (controls, made) = self.controls(bytes, strange);
        let wide = strange & _mm512_cmpeq_epi8_mask(bytes, set(FIRST));
        let bytes = _mm512_mask_mov_epi8(bytes, controls, made);
        if wide == 0 {
            return Changed { bytes, controls, forms: 0 };
        }
        let (second, third) = (behind(1), behind(2));
        let of = |byte: u8| wide & _mm512_cmpeq_epi8_mask(second, set(byte));
        let made = _mm512_maskz_permutexvar_epi8(of(SECOND[0]), third, load_all(&self.forms[0]));
        let made = _mm512_mask_permutexvar_epi8(made, of(SECOND[1]), third, load_all(&self.forms[1]));
        let forms = _mm512_test_epi8_mask(made, made);
        Changed { bytes: _mm512_mask_mov_epi8(bytes, forms, made), controls, forms }
    }
}

/// The first 64 bytes; zeros for those that are not there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn load(text: &[u8]) -> __m512i {
    match text.first_chunk() {
        Some(block) => load_all(block),
        None => {
            let there: __mmask64 = (1 << text.len()) - 1;
            // SAFETY: what is not there is not read.
            unsafe { _mm512_maskz_loadu_epi8(there, text.as_ptr().cast()) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn load_all(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}
