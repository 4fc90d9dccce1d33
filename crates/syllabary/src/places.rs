//! Memory whose places may not have been written yet.

use std::mem::MaybeUninit;

/// Writes as many places as there are values, or as both have.
#[inline(always)]
pub(crate) fn put<T: Copy>(places: &mut [MaybeUninit<T>], values: &[T]) {
    for (place, &value) in places.iter_mut().zip(values) {
        place.write(value);
    }
}

/// The values.
///
/// # Safety
/// All of them have been written.
#[inline(always)]
pub(crate) unsafe fn written<T>(places: &[MaybeUninit<T>]) -> &[T] {
    // SAFETY: as said; a place has the layout of its value.
    unsafe { std::slice::from_raw_parts(places.as_ptr().cast(), places.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut places = [MaybeUninit::uninit(); 5];
        put(&mut places[..3], &[1, 2, 3, 4]);
        put(&mut places[3..], &[7]);
        // SAFETY: those were written.
        assert_eq!(unsafe { written(&places[..4]) }, [1, 2, 3, 7]);
    }
}
