"""What steps ask of a character: decompositions, classes, lower case, script; pinned to tokenizers.

Each part of that library carries a Unicode of its own (its NFD is of version 9, its punctuation older, its
lower case Rust's), so the tables hold what it answered (`tools/normalization_tables.py` -> `rewriting.txt`).
Leaves out: the steps themselves (`syllabary.reference.normalize`), and the classes of patterns. The file is
read at the first question, not at import.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

LETTERS, VOWELS, TAILS = 0x1100, 0x1161, 0x11A7  # Hangul: where jamo begin (Unicode 3.12)
SYLLABLES, VOWEL_COUNT, TAIL_COUNT = 0xAC00, 21, 28
LAST_SYLLABLE, LAST_LETTER = 0xD7A3, 0x1112


@lru_cache(maxsize=1)
def _sections() -> dict[str, list[str]]:
    """Section -> its lines."""
    sections: dict[str, list[str]] = {}
    text = Path(__file__).with_name("rewriting.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    return sections


def _members(section: str, only: str | None = None) -> dict[str, frozenset[str]]:
    """A section of sets: name -> characters. only: of this name alone; a set may hold half of Unicode."""
    found = {}
    for line in _sections()[section]:
        name, *spans = line.split()
        if only not in (None, name):
            continue
        pairs = (span.partition("-") for span in spans)
        found[name] = frozenset(
            chr(point) for low, _, high in pairs for point in range(int(low, 16), int(high or low, 16) + 1)
        )
    return found


def _mapping(section: str) -> dict[str, str]:
    """A section of characters and what each becomes."""
    lines = (line.split() for line in _sections()[section])
    return {chr(int(char, 16)): "".join(chr(int(part, 16)) for part in parts) for char, *parts in lines}


@lru_cache(maxsize=16)
def members(name: str) -> frozenset[str]:
    """The characters of a class of `rewriting.txt`.

    `whitespace`, `numeric` (Rust's `char`), `pattern-space`, `pattern-word` (Rust's regex), `punctuation`,
    `nonspacing` (crate unicode_categories), `cleaned` (what Bert's `clean_text` drops), `combining` (what
    `StripAccents` drops).

    >>> "\u3000" in members("whitespace"), "$" in members("punctuation")
    (True, True)
    """
    return _members("class", name)[name]


@lru_cache(maxsize=1)
def combining_classes() -> Mapping[str, int]:
    """Character -> canonical combining class, where that is not 0."""
    return {char: int(name) for name, chars in _members("ccc").items() for char in chars}


@lru_cache(maxsize=2)
def _decompositions(compatible: bool) -> Mapping[str, str]:
    found = _mapping("nfd")
    return found | _mapping("nfkd") if compatible else found


def decomposed(char: str, compatible: bool) -> str:
    """The full decomposition of one character, canonical or (`compatible`) of compatibility.

    >>> decomposed("é", False), decomposed("ﬁ", True), len(decomposed("각", False))
    ('e\u0301', 'fi', 3)
    """
    index = ord(char) - SYLLABLES
    if 0 <= index <= LAST_SYLLABLE - SYLLABLES:
        rest, tail = divmod(index, TAIL_COUNT)
        letter, vowel = divmod(rest, VOWEL_COUNT)
        return chr(LETTERS + letter) + chr(VOWELS + vowel) + (chr(TAILS + tail) if tail else "")
    return _decompositions(compatible).get(char, char)


@lru_cache(maxsize=1)
def _compositions() -> Mapping[tuple[str, str], str]:
    lines = ([chr(int(part, 16)) for part in line.split()] for line in _sections()["compose"])
    return {(left, right): whole for left, right, whole in lines}


def composed(left: str, right: str) -> str | None:
    """The one character that two compose to, or `None`.

    >>> composed("e", "\u0301"), composed("e", "x")
    ('é', None)
    """
    first, second = ord(left), ord(right)
    if LETTERS <= first <= LAST_LETTER and VOWELS <= second < VOWELS + VOWEL_COUNT:
        return chr(SYLLABLES + ((first - LETTERS) * VOWEL_COUNT + second - VOWELS) * TAIL_COUNT)
    whole = SYLLABLES <= first <= LAST_SYLLABLE and (first - SYLLABLES) % TAIL_COUNT == 0
    if whole and TAILS < second < TAILS + TAIL_COUNT:
        return chr(first + second - TAILS)
    return _compositions().get((left, right))


@lru_cache(maxsize=1)
def right_halves() -> frozenset[str]:
    """All characters that compose with one before them, marks and others.

    >>> "\u0301" in right_halves(), "\u1161" in right_halves(), "a" in right_halves()
    (True, True, False)
    """
    jamo = [*range(VOWELS, VOWELS + VOWEL_COUNT), *range(TAILS + 1, TAILS + TAIL_COUNT)]
    return frozenset(right for _, right in _compositions()).union(map(chr, jamo))


@lru_cache(maxsize=1)
def _lower() -> Mapping[str, str]:
    return _mapping("lower")


def lowered(char: str) -> str:
    """One character in lower case, without regard to its neighbours.

    >>> lowered("Σ"), len(lowered("İ"))
    ('σ', 2)
    """
    return _lower().get(char, char)


@lru_cache(maxsize=1)
def _scripts() -> Mapping[str, int]:
    return {char: int(name) for name, chars in _members("script").items() for char in chars}


def script(char: str) -> int | None:
    """A number for the script of a character as `UnicodeScripts` sees it; `None` goes with any.

    >>> script("か") == script("漢"), script("a") == script("α"), script(" ")
    (True, False, None)
    """
    return _scripts().get(char)


@lru_cache(maxsize=1)
def cluster_classes() -> Mapping[str, str]:
    """Character -> its Grapheme_Cluster_Break, or `Pictographic`, where it has one."""
    return {char: name for name, chars in _members("cluster").items() for char in chars}


@lru_cache(maxsize=1)
def conjunct_classes() -> Mapping[str, str]:
    """Character -> its Indic_Conjunct_Break, where it has one."""
    return {char: name for name, chars in _members("conjunct").items() for char in chars}
