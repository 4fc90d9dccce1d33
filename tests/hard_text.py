"""Strings that break tokenizers: every kind that issue trackers speak of, drawn at random, the same each day.

Adds `hard_texts`. Leaves out: lone surrogates, which are no text (`SURROGATES`), and real text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

CONTROL = [chr(code) for code in (*range(1, 32), 127, 0x80, 0x85, 0x8F, 0x9F, 0xAD, 0)]
SPACES = list(" \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u2003\u2007\u2009\u200a\u2028\u2029\u202f\u205f\u3000")
INVISIBLE = list("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufffd\u2581\u00ad")
MARKS = [
    chr(code) for code in (*range(0x300, 0x345), 0x483, 0x5B0, 0x64B, 0x93C, 0xE31, 0x20D0, 0x302A, 0x3099)
]
EMOJI = ["👩", "👨", "👧", "\u200d", "\ufe0f", "🏽", "🇫", "🇷", "❤", "👍", "🏴", "\U000e0067", "1\u20e3"]
RIGHT_TO_LEFT = list("אבגדהּׁابتثجّٱ٠١٢\u200f\u202b\u202c")
SCRIPTS = list("abcXYZéßıİǅﬁςΣἄᾳжЩअक्षगთქᏣᎳ漢字カナがﾊﾞ한글ᄒ\u1161ﷺ①Ⅷ½²٣ａＡ𝔘𐍈")
SIGNS = list("'\"`~!@#$%^&*()_+-=[]{}|\\;:,./<>?¿«»—…€№·'’")
WORDS = (
    "the of and 'll I've DON'T don’t x1 22 333 4444 1,000.5 low lower foo_bar HTTPServer ##x @@ </w> <0x41> Ġ"
).split()
SPECIAL = [
    "<|endoftext|>",
    "<s>",
    "</s>",
    "<unk>",
    "[UNK]",
    "[EOS]",
    "[INST]",
    "<|im_start|>",
    "<pad>",
    "[MASK]",
]

# Code units of UTF-16 that are no text alone: first, second, swapped, within words.
SURROGATES = ["\ud83d", "\ude00", "\ude00\ud83d", "a\ud800b", "é\udfff"]

Draw = Callable[[random.Random], str]


def _join(alphabet: Sequence[str], most: int) -> Draw:
    return lambda chance: "".join(chance.choices(alphabet, k=chance.randint(1, most)))


def _run(chance: random.Random) -> str:
    """One thing again and again."""
    unit = chance.choice([*SPACES[:4], "a", "é", "漢", "👍", "0", ".", "-", "ab", " a", "\u0301", "<s>"])
    return unit * chance.choice((2, 3, 17, 100, 400, 3000))


def _in_words(chance: random.Random) -> str:
    word = chance.choice(WORDS)
    at = chance.randrange(len(word) + 1)
    return word[:at] + chance.choice(SPECIAL) + word[at:]


def _any(chance: random.Random) -> str:
    """Code points of anywhere."""
    codes = (chance.choice((chance.randrange(0x3000), chance.randrange(0x110000))) for _ in range(6))
    return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


KINDS: list[Draw] = [
    _join(CONTROL, 4),
    _join(SPACES, 6),
    _join(INVISIBLE, 3),
    _join(SCRIPTS, 8),
    _join(SCRIPTS + MARKS, 8),
    _join(EMOJI, 8),
    _join(RIGHT_TO_LEFT, 8),
    _join(SIGNS, 5),
    _join([*WORDS, " ", " ", "  "], 6),
    _join(list("aaabbc  \n"), 12),
    _in_words,
    _any,
]


def hard_texts(count: int, seed: int = 0) -> Iterator[str]:
    """`count` strings: each a few parts of different kinds; one in 50 has a very long run."""
    chance = random.Random(seed)
    for number in range(count):
        parts = [chance.choice(KINDS)(chance) for _ in range(chance.randint(1, 5))]
        if number % 50 == 0:
            parts.insert(chance.randrange(len(parts) + 1), _run(chance))
        yield "".join(parts)
