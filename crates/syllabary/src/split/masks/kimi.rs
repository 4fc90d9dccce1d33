//! The law of `kimi`, by masks.
//!
//! Adds: where pieces begin among 64 bytes. A run of Han characters begins one; all else is as in `o200k`, without
//! slashes among line ends, where Han characters are neither letters nor signs. Leaves out Han characters that are
//! odd; the masks do not tell.

use super::words::Words;
use super::{Carry, Law, Masks, Place, after};

#[derive(Clone, Copy)]
pub(in super::super) struct Kimi;

impl Law for Kimi {
    #[inline(always)]
    fn word(self) -> u8 {
        Words::O200K.word()
    }

    #[inline(always)]
    fn starts(self, masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> Option<u64> {
        let han = masks.upper & masks.lower;
        if han & masks.mark != 0 {
            return None;
        }
        let first_han = han & !after(han, &mut carry.apart);
        let starts =
            Words::O200K.starts_beside(han, &without_han(masks), &without_han(next), carry, place)?;
        Some(starts | first_han)
    }
}

/// The masks of words that Han characters are not in, and no slashes.
#[inline(always)]
fn without_han(masks: &Masks) -> Masks {
    let not = !(masks.upper & masks.lower);
    Masks { word: masks.word & not, upper: masks.upper & not, lower: masks.lower & not, slash: 0, ..*masks }
}
