//! Which script a character belongs to, as the step `UnicodeScripts` sees it.
//!
//! Adds: `Scripts`, the scripts of Unicode 9 from `regex-syntax`; Hiragana and Katakana count as Han; space and what
//! had no script then join any. Leaves out: scripts and characters since Unicode 10, which `tokenizers` does not
//! know.
//!
//! Source: `tokenizers` 0.23.3, `pre_tokenizers/unicode_scripts`. The tests hold it to every code point.

use crate::{error::Error, split::ranges};

/// The number of no script.
const ANY: u8 = 0;

/// Each is known to regex-syntax by this name.
const NAMES: &str = "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak \
    Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma \
    Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan Egyptian_Hieroglyphs Elbasan \
    Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana \
    Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana \
    Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani \
    Malayalam Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi \
    Mongolian Mro Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic \
    Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya Pahawh_Hmong \
    Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian \
    Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham \
    Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi";

/// Characters whose script Unicode changed since.
const CHANGED: [(u32, &str); 4] =
    [(0x0589, "Common"), (0x061C, "Common"), (0x0953, "Devanagari"), (0x0954, "Devanagari")];

/// The script of every character.
pub(super) struct Scripts {
    ascii: [u8; 128],
    /// The first code point of every run of one script, and that script.
    runs: Vec<(u32, u8)>,
}

impl Scripts {
    pub(super) fn new() -> Result<Scripts, Error> {
        let number = |name: &str| {
            // Fewer than 256 names.
            NAMES.split(' ').position(|known| known == name).map_or(ANY, |at| at as u8 + 1)
        };
        let mut flat = vec![ANY; 0x11_0000];
        for name in NAMES.split(' ') {
            let script = if matches!(name, "Hiragana" | "Katakana") { number("Han") } else { number(name) };
            for (first, last) in ranges(&format!(r"[\p{{sc={name}}}&&\p{{age=9.0}}]"))? {
                flat[first as usize..=last as usize].fill(script);
            }
        }
        CHANGED.iter().for_each(|(code, name)| flat[*code as usize] = number(name));
        flat[0x20] = ANY;
        flat[0x30FC] = number("Han");
        let mut ascii = [ANY; 128];
        ascii.copy_from_slice(&flat[..128]);
        let mut runs: Vec<(u32, u8)> = Vec::new();
        for (code, script) in (0u32..).zip(flat) {
            if runs.last().is_none_or(|(_, last)| *last != script) {
                runs.push((code, script));
            }
        }
        Ok(Scripts { ascii, runs })
    }

    fn of(&self, c: char) -> u8 {
        if let Some(script) = self.ascii.get(c as usize) {
            return *script;
        }
        let next = self.runs.partition_point(|(first, _)| *first <= c as u32);
        next.checked_sub(1).and_then(|at| self.runs.get(at)).map_or(ANY, |(_, script)| *script)
    }

    /// Calls `emit` with every part of `text`. What stands before the first character with a script is in no part:
    /// `tokenizers` drops it.
    pub(super) fn cut(&self, text: &str, mut emit: impl FnMut(usize, usize)) {
        let mut last = None;
        let mut start = None;
        for (at, c) in text.char_indices() {
            let script = self.of(c);
            if script == ANY {
                continue;
            }
            if last != Some(script) {
                if let Some(start) = start.replace(at) {
                    emit(start, at);
                }
                last = Some(script);
            }
        }
        if let Some(start) = start {
            emit(start, text.len());
        }
    }
}
