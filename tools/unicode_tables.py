"""Write `python/syllabary/unicode/tables.txt`: the character classes of the peers, measured.

Adds: one question per class and peer, asked of every Unicode scalar value: which ones do you match?
Asked are the released binaries, never a Unicode data file, because a tokenizer means the tables of the
library that runs it: tiktoken (Rust's fancy-regex) and tokenizers (Oniguruma).
Leaves out: any use of the tables (`syllabary.unicode`), surrogates (no text holds them), and the classes
on which only Oniguruma has an opinion.

Run it as `python tools/unicode_tables.py` with both peers installed; it prints what differs between them.
`--check` compares with the file that exists instead of writing it. Names of classes are read from the file
`tools/unicode_names.txt`; case folding is asked of tiktoken as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import tiktoken
from table_file import ROOT, main
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

Ranges = tuple[tuple[int, int], ...]

NAMES = ROOT / "tools" / "unicode_names.txt"
TABLES = ROOT / "python" / "syllabary" / "unicode" / "tables.txt"
UNICODE_VERSION = "16.0.0"
SCALARS = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
BYTES = {bytes([value]): value for value in range(256)}
# Simple case folding touches only these categories (and `fold_orbits` asks every member of them).
CASED = ("Lu", "Ll", "Lt", "Lm", "Mn", "Nl", "So")


def ranges(code_points: Iterable[int]) -> Ranges:
    """Ascending code points -> their maximal runs, both ends included."""
    runs: list[tuple[int, int]] = []
    for point in code_points:
        if runs and runs[-1][1] + 1 == point:
            runs[-1] = (runs[-1][0], point)
        else:
            runs.append((point, point))
    return tuple(runs)


def tiktoken_matches(pattern: str, text: str) -> str:
    """The characters of `text` that tiktoken's engine matches: it drops all others."""
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    return bytes(encoding.encode_ordinary(text)).decode("utf-8")


def tiktoken_class(pattern: str) -> Ranges:
    """The scalar values in a class, by tiktoken."""
    return ranges(map(ord, tiktoken_matches(pattern, SCALARS)))


def onig_class(pattern: str) -> Ranges:
    """The scalar values in a class, by tokenizers' Oniguruma."""
    splitter = Split(Regex(pattern), "removed", invert=True)
    return ranges(ord(char) for piece, _ in splitter.pre_tokenize_str(SCALARS) for char in piece)


def spell(pattern_name: str) -> str:
    """A name of the names file -> the pattern that asks for it."""
    return pattern_name if pattern_name.startswith("\\") else f"\\p{{{pattern_name}}}"


def read_names(path: Path) -> list[tuple[str, str]]:
    """The names file -> [(section, name), ...]; `#` opens a comment, `[section]` a section."""
    names: list[tuple[str, str]] = []
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            section = line.strip("[]")
        else:
            names.extend((section, name) for name in line.split())
    return names


def class_text(members: Iterable[str]) -> str:
    """Characters -> a bracketed class of fancy-regex."""
    spans = ranges(sorted(map(ord, members)))
    return "[" + "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in spans) + "]"


def cased_characters(candidates: str) -> str:
    """The candidates that fold to, or from, another candidate.

    Two different code points differ in some bit. So for each bit and each value of it ask, without case,
    for the candidates that have it: whoever answers without having it has a partner.
    """
    found: set[str] = set()
    for bit in range(21):
        for value in (0, 1):
            asked = {char for char in candidates if ord(char) >> bit & 1 == value}
            if asked:
                found |= set(tiktoken_matches(f"(?i:{class_text(asked)})", candidates)) - asked
    return "".join(sorted(found))


def fold_orbits(candidates: str) -> list[Ranges]:
    """The sets of characters that are one without case, by tiktoken; each of two members or more."""
    cased = cased_characters(candidates)
    orbits = {
        tuple(sorted(map(ord, tiktoken_matches(f"(?i:\\x{{{ord(char):X}}})", cased)))) for char in cased
    }
    members = [point for orbit in orbits for point in orbit]
    if len(members) != len(set(members)) or len(members) != len(cased):
        raise SystemExit("case folding is not an equivalence: an orbit overlaps another")
    return [ranges(orbit) for orbit in sorted(orbits)]


def line(name: str, spans: Ranges) -> str:
    """One line of the file: the name, then hexadecimal ranges."""
    return " ".join([name, *(f"{low:X}" if low == high else f"{low:X}-{high:X}" for low, high in spans)])


def ask_all(names: list[str], ask: Callable[[str], Ranges]) -> dict[str, Ranges | None]:
    """Every class from one peer, `None` where it does not know the name."""

    def one(name: str) -> Ranges | None:
        try:
            return ask(spell(name))
        except Exception as error:  # noqa: BLE001 - both peers raise their own kinds
            print(f"{ask.__name__}: {name}: {error}", file=sys.stderr)
            return None

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def header() -> Iterator[str]:
    """The comment on top of the file."""
    yield "# Character classes of the peers, each asked about every Unicode scalar value."
    yield f"# Unicode {UNICODE_VERSION}; tiktoken {version('tiktoken')}; tokenizers {version('tokenizers')}."
    yield "# Written by tools/unicode_tables.py; not edited by hand."
    yield "# A line is a class and its code points, hexadecimal, ranges with both ends."
    yield "# [onig] holds the classes on which Oniguruma differs from tiktoken; the others it shares."
    yield "# [onig-unknown] holds the classes for which Oniguruma has no such name."
    yield "# [fold] holds the sets of characters that are equal without case (simple case folding)."


def build() -> str:
    """The whole text of the tables file."""
    names = read_names(NAMES)
    mine = ask_all([name for _, name in names], tiktoken_class)
    theirs = ask_all([name for _, name in names], onig_class)
    lines = list(header())
    for section, members in groupby(names, key=lambda item: item[0]):
        lines += ["", f"[{section}]"]
        for _, name in members:
            spans = mine[name]
            if spans is None:
                raise SystemExit(f"tiktoken does not know {name}")
            lines.append(line(name, spans))
    lines += ["", "[onig]"]
    lines += [
        line(name, spans) for name, spans in theirs.items() if spans is not None and spans != mine[name]
    ]
    lines += ["", "[onig-unknown]"]
    lines += [name for name, spans in theirs.items() if spans is None]
    candidates = {
        chr(point) for name in CASED for low, high in mine[name] or () for point in range(low, high + 1)
    }
    lines += ["", "[fold]"]
    lines += [line("=", orbit) for orbit in fold_orbits("".join(sorted(candidates)))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(__doc__, TABLES, build, "the peers answer"))
