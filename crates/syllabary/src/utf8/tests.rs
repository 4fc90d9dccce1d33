//! Every way of writing UTF-8 beside the portable one and the standard library's.

use super::*;

/// What all ways of this processor and the portable one write.
fn all_ways<'b, T: Character>(characters: &[T], buffer: &'b mut Buffer) -> Result<&'b str, usize> {
    let mut other = vec![0; T::WIDEST * characters.len() + ROOM];
    let written = write(characters, buffer);
    let filled = by_blocks(characters, &mut other);
    assert_eq!(written.map(str::as_bytes), filled.map(|filled| &other[..filled]));
    #[cfg(simd_x86)]
    if let Some(filled) = packed::fill(characters, &mut other) {
        assert_eq!(written.map(str::as_bytes), filled.map(|filled| &other[..filled]));
    }
    written
}

/// Every character, at every place of a block and in ends of all lengths.
#[test]
fn every_character_is_written_as_it_is() {
    let mut buffer = Buffer::default();
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for first in (0..all.len()).step_by(977) {
        let wide: Vec<u32> = all[first..all.len().min(first + 1000)].iter().map(|&c| c.into()).collect();
        for text in [&wide[..], &wide[..first % 40]] {
            let expected: String = text.iter().filter_map(|&code| char::from_u32(code)).collect();
            assert_eq!(all_ways(text, &mut buffer), Ok(expected.as_str()));
            let two: Option<Vec<u16>> = text.iter().map(|&code| code.try_into().ok()).collect();
            if let Some(two) = two {
                assert_eq!(all_ways(&two, &mut buffer), Ok(expected.as_str()));
            }
        }
    }
    let latin: Vec<u8> = (0..=255).collect();
    let expected: String = latin.iter().map(|&byte| char::from(byte)).collect();
    assert_eq!(all_ways(&latin, &mut buffer), Ok(expected.as_str()));
    assert_eq!(all_ways::<u8>(&[], &mut buffer), Ok(""));
}

#[test]
fn mixed_widths() {
    let (mut state, mut buffer) = (1_u64, Buffer::default());
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % most
    };
    for _ in 0..2000 {
        let length = draw(70);
        let some = || ["a", "é", "ᾳ", "字", "😀", "\0", "\u{7FF}", "\u{800}", "\u{FFFF}"][draw(9) as usize];
        let text: String = std::iter::repeat_with(some).take(length as usize).collect();
        let wide: Vec<u32> = text.chars().map(u32::from).collect();
        assert_eq!(all_ways(&wide, &mut buffer), Ok(text.as_str()));
    }
}

#[test]
fn what_is_no_character_is_named_by_its_place() {
    let mut buffer = Buffer::default();
    for length in 1..50 {
        for at in 0..length {
            for wrong in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
                let mut units = vec![0x3B1_u16; length];
                units[at] = wrong;
                assert_eq!(all_ways(&units, &mut buffer), Err(at));
                units[length - 1] = wrong;
                assert_eq!(all_ways(&units, &mut buffer), Err(at));
            }
            let mut wide = vec![0x1F600_u32; length];
            wide[at] = 0x11_0000;
            assert_eq!(all_ways(&wide, &mut buffer), Err(at));
        }
    }
}

/// Blocks that are all ASCII, and those that are not for one character.
#[test]
fn one_character_among_ascii() {
    let mut buffer = Buffer::default();
    for length in [63, 64, 65, 200] {
        for at in 0..=length {
            for other in ["", "\u{7F}", "\u{80}", "ÿ", "’", "😀"] {
                let text = format!("{}{other}{}", "a".repeat(at), "z".repeat(length - at));
                let wide: Vec<u32> = text.chars().map(u32::from).collect();
                assert_eq!(all_ways(&wide, &mut buffer), Ok(text.as_str()));
                let two: Option<Vec<u16>> = wide.iter().map(|&code| code.try_into().ok()).collect();
                assert!(two.is_none_or(|two| all_ways(&two, &mut buffer) == Ok(text.as_str())));
                let one: Option<Vec<u8>> = wide.iter().map(|&code| code.try_into().ok()).collect();
                assert!(one.is_none_or(|one| all_ways(&one, &mut buffer) == Ok(text.as_str())));
            }
        }
    }
}

/// Beyond what a short text needs, after which short ones come.
#[test]
fn long_text_is_written_too() {
    let mut buffer = Buffer::default();
    for length in [5, LARGE / 3, LARGE, 7, LARGE / 2, 3 * LARGE] {
        let text: String = "aé’字".chars().cycle().take(length).collect();
        let two: Vec<u16> = text.encode_utf16().collect();
        assert_eq!(write(&two, &mut buffer), Ok(text.as_str()));
        assert_eq!(buffer.long.is_some(), length > 5);
    }
    buffer.give_back();
    assert!(buffer.long.is_none());
}
