//! Bytes of all kinds beside the standard library, all ways of writing beside each other.

use super::*;

/// A way of `write`.
type Way<T> = fn(&[u8], &mut [MaybeUninit<T>], bool) -> Option<(usize, usize)>;

/// The best, and that of processors without AVX-512.
fn ways<T: Unit>() -> Vec<Way<T>> {
    #[cfg_attr(not(simd_x86), expect(unused_mut))]
    let mut ways: Vec<Way<T>> = vec![write];
    #[cfg(simd_x86)]
    if Avx2::new().is_some() {
        ways.push(|bytes, out, is_last| Avx2::new()?.write(bytes, out, is_last));
    }
    ways
}

/// The units of bytes that are given some at a time, or nothing, on which all ways agree.
fn units<T: Unit + PartialEq + std::fmt::Debug>(bytes: &[u8], part: usize, room: usize) -> Option<Vec<T>> {
    let all: Vec<_> = ways::<T>().into_iter().map(|way| units_by(way, bytes, part, room)).collect();
    assert!(all.iter().all(|units| *units == all[0]), "{bytes:X?}");
    all.into_iter().next().unwrap()
}

/// The same by one way; going one by one agrees with it on each part.
fn units_by<T: Unit + PartialEq + std::fmt::Debug>(
    write: Way<T>,
    bytes: &[u8],
    part: usize,
    room: usize,
) -> Option<Vec<T>> {
    let (mut out, mut other) = (vec![MaybeUninit::uninit(); room], vec![MaybeUninit::<T>::uninit(); room]);
    let (mut at, mut made, mut end) = (0, 0, 0);
    while end < bytes.len() || end == 0 {
        end = bytes.len().min(end + part);
        let is_last = end == bytes.len();
        let (read, written) = write(&bytes[at..end], &mut out[made..], is_last)?;
        // All that is read of the one way can be read of the other.
        assert_eq!(one_by_one(&bytes[at..at + read], &mut other[made..], true), Some((read, written)));
        assert!(end - at - read < REACH && (!is_last || at + read == end));
        (at, made) = (at + read, made + written);
        if end == 0 {
            break;
        }
    }
    // SAFETY: so many were written.
    Some(unsafe { crate::places::written(&out[..made]) }.to_vec())
}

fn compare(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).ok();
    let codes = text.map(|text| text.chars().map(u32::from).collect::<Vec<_>>());
    let room = codes.as_ref().map_or(bytes.len(), Vec::len);
    for part in [1, 7, 64, 90, bytes.len().max(1)] {
        assert_eq!(units::<u32>(bytes, part, room), codes, "{bytes:X?}");
    }
    let two = |codes: Vec<u32>| codes.into_iter().map(|code| code.try_into().ok()).collect();
    assert_eq!(units::<u16>(bytes, bytes.len().max(1), room), codes.clone().and_then(two));
    let one = |codes: Vec<u32>| codes.into_iter().map(|code| code.try_into().ok()).collect();
    assert_eq!(units::<u8>(bytes, bytes.len().max(1), room), codes.and_then(one));
    if room > 0 && text.is_some() {
        assert_eq!(units::<u32>(bytes, bytes.len(), room - 1), None);
    }
    let expected = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    assert_eq!(starts(bytes), (expected, bytes.iter().copied().max().unwrap_or(0)));
    assert_eq!(counted(bytes), starts(bytes));
}

#[test]
fn every_character() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for first in (0..all.len()).step_by(997) {
        let text: String = all[first..all.len().min(first + 1000)].iter().collect();
        compare(text.as_bytes());
    }
}

/// Two bytes of every kind, and three and four of those that matter, behind and before others.
#[test]
fn bytes_that_are_no_text() {
    let edges = [
        0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xDF, 0xE0, 0xE1, 0xEC,
        0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ];
    for before in [0, 3, 60, 61, 62, 63, 64, 79] {
        for after in [0, 1, 100] {
            let around = |some: &[u8]| {
                compare(&[&vec![b'a'; before][..], some, &vec![b'b'; after]].concat());
            };
            for first in edges {
                for second in edges {
                    around(&[first, second]);
                    if before % 3 == 0 {
                        for third in [0x7F, 0x80, 0xBF, 0xC2] {
                            around(&[first, second, third]);
                            around(&[first, second, third, 0x80]);
                        }
                    }
                }
            }
        }
    }
}

/// Sixteen characters at once are of three bytes each, or not quite.
#[test]
fn one_character_of_another_width_among_those_of_three_bytes() {
    for length in [15, 16, 17, 33, 40] {
        for at in 0..=length {
            for other in ["a", "é", "𠀀", "𠀀𠀀", "字"] {
                let text = format!("{}{other}{}", "字".repeat(at), "本".repeat(length - at));
                compare(text.as_bytes());
            }
        }
    }
}
