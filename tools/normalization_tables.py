"""Write `python/syllabary/unicode/rewriting.txt`: what tokenizers knows of each character, measured.

Adds: decompositions, combining classes, lower case, scripts, the classes that steps test characters for, and
how characters join into what is read as one (grapheme clusters). Asked is the released library, code point by
code point, because each of its parts carries another version of Unicode, and none is Python's.
Leaves out: the classes of patterns (`unicode_tables.py`), the use of the tables (`syllabary.unicode`).

Run it as `python tools/normalization_tables.py` with tokenizers installed; `--check` compares with the file
that exists instead of writing it.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterable, Iterator
from importlib.metadata import version

from table_file import ROOT, main
from tokenizers import normalizers, pre_tokenizers

Ranges = tuple[tuple[int, int], ...]

TABLES = ROOT / "python" / "syllabary" / "unicode" / "rewriting.txt"
SCALARS = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
HANGUL = range(0xAC00, 0xD7A4)  # composed by arithmetic, in no table


def ranges(code_points: Iterable[int]) -> Ranges:
    """Ascending code points -> their maximal runs, both ends included."""
    runs: list[tuple[int, int]] = []
    for point in code_points:
        if runs and runs[-1][1] + 1 == point:
            runs[-1] = (runs[-1][0], point)
        else:
            runs.append((point, point))
    return tuple(runs)


def line(name: str, chars: Iterable[str]) -> str:
    """One line of the file: the name, then hexadecimal ranges."""
    spans = ranges(sorted(map(ord, chars)))
    return " ".join([name, *(f"{low:X}" if low == high else f"{low:X}-{high:X}" for low, high in spans)])


def code(text: str) -> str:
    """Characters as hexadecimal code points."""
    return " ".join(f"{ord(char):X}" for char in text)


def dropped(splitter: pre_tokenizers.PreTokenizer) -> set[str]:
    """The characters that a pre-tokenizer drops."""
    return set(SCALARS) - set("".join(piece for piece, _ in splitter.pre_tokenize_str(SCALARS)))


def removed(normalizer: normalizers.Normalizer, chars: Iterable[str]) -> set[str]:
    """The characters that a normalizer removes, each asked about alone between two letters."""
    return {char for char in chars if normalizer.normalize_str(f"x{char}x") == "xx"}


def changed(normalizer: normalizers.Normalizer) -> dict[str, str]:
    """The characters that a normalizer rewrites, each asked about alone, and what becomes of them."""
    answers = ((char, normalizer.normalize_str(char)) for char in SCALARS)
    return {char: answer for char, answer in answers if answer != char}


def classes(decomposed: dict[str, str]) -> Iterator[str]:
    """The lines of `[class]`: what the steps test characters for."""
    bert = normalizers.BertNormalizer(True, False, False, False)
    accents = normalizers.BertNormalizer(False, False, True, False)
    words = "".join(piece for piece, _ in pre_tokenizers.Whitespace().pre_tokenize_str(SCALARS))
    pieces = pre_tokenizers.Whitespace().pre_tokenize_str("\n".join(f"x{char}" for char in words))
    yield line("whitespace", dropped(pre_tokenizers.WhitespaceSplit()))
    yield line("pattern-space", set(SCALARS) - set(words))
    yield line("pattern-word", {piece[1] for piece, _ in pieces if len(piece) == 2})
    yield line("punctuation", dropped(pre_tokenizers.Punctuation("removed")))
    digits = pre_tokenizers.Digits(True).pre_tokenize_str("".join(f"x{char}x" for char in SCALARS))
    yield line("numeric", {piece for piece, _ in digits if len(piece) == 1 and piece != "x"})
    yield line("cleaned", removed(bert, SCALARS))
    whole = [char for char in SCALARS if char not in decomposed and ord(char) not in HANGUL]
    yield line("nonspacing", removed(accents, whole))
    yield line("combining", removed(normalizers.StripAccents(), SCALARS))


def combining_classes(decomposed: dict[str, str]) -> Iterator[str]:
    """The lines of `[ccc]`: class -> characters. Two marks trade places if the second has the lower class."""
    nfd = normalizers.NFD().normalize_str
    reference: dict[int, str] = {}
    for char in SCALARS:
        if (
            unicodedata.combining(char)
            and char not in decomposed
            and (nfd(char + "\u0334") != char + "\u0334" or nfd("\u0345" + char) != "\u0345" + char)
        ):
            reference.setdefault(unicodedata.combining(char), char)
    found: dict[int, list[str]] = {value: [] for value in sorted(reference)}
    for char in SCALARS:
        if char in decomposed or ord(char) in HANGUL:
            continue
        if nfd(char + "\u0334") == char + "\u0334" and nfd("\u0345" + char) == "\u0345" + char:
            continue
        same = [
            value
            for value, mark in reference.items()
            if nfd(char + mark) + nfd(mark + char) == char + mark * 2 + char
        ]
        if len(same) != 1:
            raise SystemExit(f"U+{ord(char):04X} is of the combining classes {same}")
        found[same[0]].append(char)
    for value, chars in found.items():
        yield line(str(value), chars)


def compositions(decomposed: dict[str, str]) -> Iterator[str]:
    """The lines of `[compose]`: two characters and the one that NFC makes of them."""
    nfc = normalizers.NFC().normalize_str
    for char, parts in decomposed.items():
        if nfc(char) == char:
            left = nfc(parts[:-1])
            if len(left) != 1 or nfc(left + parts[-1]) != char:
                raise SystemExit(f"U+{ord(char):04X} is not made of two characters")
            yield f"{code(left + parts[-1])} {code(char)}"


def scripts() -> Iterator[str]:
    """The lines of `[script]`: sets of characters between which `UnicodeScripts` does not cut."""
    splitter = pre_tokenizers.UnicodeScripts()

    def apart(text: str) -> bool:
        return len(splitter.pre_tokenize_str(text)) > 1

    found: list[tuple[str, list[str]]] = []  # a character of the script, and all of them
    for char in SCALARS:
        if not apart(f"a{char}") and not apart(f"α{char}"):
            continue  # goes with whatever stands before it
        for first, members in ([found[-1]] if found else []) + found:
            if not apart(first + char):
                members.append(char)
                break
        else:
            found.append((char, [char]))
    for index, (_, members) in enumerate(found):
        yield line(str(index), members)


def first_bytes() -> normalizers.Normalizer:
    """A `Precompiled` that makes one `!` of each cluster below 6 bytes, and of each character of the others.

    Its character map (a double array: unit 0 leads to the 256 after it, each of them to unit 512, the value)
    matches any first byte of a character but that of a line feed, and the library asks it of whole clusters
    where they are short.
    """
    units = [0] * 768
    units[0] = 256 << 10
    units[512] = 1 << 31
    for byte in {*range(1, 0x80), *range(0xC2, 0xF5)} - {0x0A}:
        units[256 + byte] = ((256 + byte) ^ 512) << 10 | 1 << 8 | byte
    return normalizers.Precompiled(struct.pack("<I768I", 3072, *units) + b"!\0")


def clusters() -> Iterator[str]:
    """The lines of `[cluster]` and `[conjunct]`: which characters join, found by counting clusters.

    With a mark of two bytes a character of three or fewer is a short cluster, if one begins there. What no
    count can show (flags) is left out, for it decides nothing.
    """
    normalizer = first_bytes()
    asked = [char for char in SCALARS if char not in "\r\n"]

    def where(template: str, count: int) -> set[str]:
        """The characters with which the template has so many clusters, or characters of long ones."""
        text = "\n".join(template.replace("@", char) for char in asked)
        answers = normalizer.normalize_str(text).split("\n")
        return {char for char, answer in zip(asked, answers, strict=True) if len(answer) == count}

    control = where("@\u0301\u0301", 2)
    short = {char for char in asked if ord(char) < 0x10000} - control
    joins = where("a@", 1)
    extend = (where("\xa9@\u200d\xa9\u0301", 5) & joins) - {"\u200d"}
    prepend = where("@a", 1) - joins
    letters = (where("@\u1100\u0301", 3) & short) - prepend
    tails = (where("\u11a8@\u0301", 3) & short) - joins
    after_letter = (where("\u1100@\u0301", 3) & short) - joins
    before_tail = where("@\u11a8\u0301", 3) - tails - prepend
    syllables = (after_letter & before_tail) - where("\u1161@\u0301", 3)
    open_syllables = syllables & where("@\u1161\u0301", 3)
    linker = where("\u0915@\u0937\u0301", 4) & joins
    yield "[cluster]"
    yield line("Control", control)
    yield line("Extend", extend)
    yield line("Prepend", prepend)
    yield line("SpacingMark", joins - extend - {"\u200d"})
    yield line("L", after_letter & letters)
    yield line("V", before_tail - syllables)
    yield line("T", tails)
    yield line("LV", open_syllables)
    yield line("LVT", syllables - open_syllables)
    yield line("Pictographic", where("\xa9\u200d@", 3) - joins)
    yield ""
    yield "[conjunct]"
    yield line("Consonant", where("@\u094d\u0937\u0301", 4) - prepend)
    yield line("Linker", linker)
    yield line("Extend", (where("\u0915\u094d@\u0937\u0301", 5) & joins) - linker)


def header() -> Iterator[str]:
    """The comment on top of the file."""
    yield f"# What tokenizers {version('tokenizers')} knows of each character, each scalar value asked about."
    yield "# Written by tools/normalization_tables.py; not edited by hand. All code points are hexadecimal."
    yield "# [class] name, members. [ccc] combining class (decimal), members. [script] number, members."
    yield "# [nfd], [nfkd], [lower]: a character and what it becomes; [nfkd] where that is not [nfd]'s."
    yield "# [compose]: two characters and the one they make. Hangul syllables are in none of these."
    yield "# [cluster], [conjunct]: how characters join into grapheme clusters (Unicode 17)."


def build() -> str:
    """The whole text of the tables file."""
    nfd, nfkd = (
        {char: parts for char, parts in changed(form).items() if ord(char) not in HANGUL}
        for form in (normalizers.NFD(), normalizers.NFKD())
    )
    lines = [*header(), "", "[class]", *classes(nfd), "", "[ccc]", *combining_classes(nfd), "", "[nfd]"]
    lines += [f"{code(char)} {code(parts)}" for char, parts in nfd.items()]
    lines += ["", "[nfkd]"]
    lines += [f"{code(char)} {code(parts)}" for char, parts in nfkd.items() if nfd.get(char) != parts]
    lines += ["", "[compose]", *compositions(nfd), "", "[lower]"]
    lines += [f"{code(char)} {code(parts)}" for char, parts in changed(normalizers.Lowercase()).items()]
    lines += ["", "[script]", *scripts(), "", *clusters()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(__doc__, TABLES, build, "the library answers"))
