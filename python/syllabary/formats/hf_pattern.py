r"""Which patterns mean the same to Oniguruma (Ruby's dialect, in Hugging Face's library) and to us.

Adds `check_portable`: only what is on its list passes, so a pattern read from a file is never given another
meaning; and `portable`, which first spells so that they mean the same to us: `^` and `$`, that match at every
line in Ruby; `\w` in a set, where Oniguruma leaves out `¹²³¼½¾`, which it has outside; `[:punct:]` and the
like. Not on the list, because the dialects differ: `{1,3}+` and `{2}?`, flags other than `(?i:...)`,
letters that fold to or from several (`ss`), `\xE9`, named groups. Patterns of named splits that are known to
mean the same word for word (`ALIKE`) are not looked into, which takes a tenth of a second each.
Leaves out: writing our patterns for Oniguruma (`syllabary.reference.pattern.to_onig`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from syllabary import splits
from syllabary.errors import PatternError
from syllabary.on_demand import later

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")

# Named splits whose patterns are portable as they stand.
ALIKE = "kimi llama3 nemotron o200k qwen2 qwen3.5 superwords whitespace-split".split()
# Classes that both have, and on whose every character they agree.
NAMES = (
    "L N M P S Z C Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Han "
    "Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Hebrew Thai Alphabetic Uppercase Lowercase"
).split()
CLASS = rf"\\[pP]\{{\^?(?:{'|'.join(NAMES)})\}}|\\[sSdD]"
CHARACTER = r"\\x\{[0-9A-Fa-f]{1,8}\}|\\[nrt]|\\[^\w\s]"
PLAIN = r"[^\\\[\]&~-]|&(?!&)|~(?!~)"
# What may stand in a set, and what it means there, equal on every character (`test_formats_hf_pattern`).
WORD = r"[\w&&[^¹²³¼½¾]]"
IN_SETS = {
    r"\w": WORD,
    r"\W": rf"[^{WORD}]",
    r"\h": r"0-9A-Fa-f",
    "[:alpha:]": r"\p{Alphabetic}",
    "[:alnum:]": r"\p{Alphabetic}\p{Nd}",
    "[:upper:]": r"\p{Uppercase}",
    "[:lower:]": r"\p{Lowercase}",
    "[:punct:]": r"\p{P}\p{S}",
    "[:^punct:]": r"[^\p{P}\p{S}]",
    "[:digit:]": r"\p{Nd}",
    "[:^digit:]": r"[^\p{Nd}]",
    "[:space:]": r"\s",
    "[:^space:]": r"\S",
    "[:blank:]": r"\p{Zs}\t",
    "[:cntrl:]": r"\p{Cc}",
    "[:word:]": WORD,
    "[:^word:]": rf"[^{WORD}]",
    "[:ascii:]": r"\x{0}-\x{7F}",
    "[:xdigit:]": r"0-9A-Fa-f",
}
SEVERAL = re.compile("ss|st|ff|fi|fl|[^\x00-\x7f]", re.IGNORECASE)
# `'s`, or one letter of several where no letter beside it could fold along with it.
FOLDS = re.compile(r"(?:[A-Za-z'|]|(?<![A-Za-z\]])\[[A-Za-z]+\](?![A-Za-z\[]))*")
# Oniguruma's regexec.c: a line begins after a line feed, but not at the end of the text; it ends before one.
PLACES = {"^": r"(?:\A|(?<=\n)(?!\z))", "$": r"(?=\n|\z)"}


@cache
def token() -> re.Pattern[str]:
    """What a pattern is made of."""
    return re.compile(
        rf"""
    (?P<set> \[\^? )
  | (?P<fold> \(\?i: )
  | (?P<open> \( (?: \?(?:[:=!>]|<[=!]) )? (?![?*]) )
  | (?P<close> \) )
  | (?P<count> \{{ (?:[0-9]+(?:,[0-9]*)?|,[0-9]+) \}} (?![?+*]) )
  | (?P<repeat> [?*+][?+]? (?![?*+{{]) )
  | (?P<place> [\^$] (?![?*+{{]) )
  | (?P<item> {CLASS} | \\[wW] | {CHARACTER} | \\[AzbB] | [|.] | [^\\\[\](){{}}?*+^$|.] )
    """,
        re.VERBOSE,
    )


@cache
def member() -> re.Pattern[str]:
    """What a set is made of. Sets in sets mean the same to both, and so does `&&` between two parts."""
    return re.compile(
        rf"""
    (?P<ours> {re.escape(WORD)} )
  | (?P<theirs> (?:{"|".join(map(re.escape, IN_SETS))}) (?!-[^\]]) )
  | (?P<open> \[\^? (?!:) )
  | (?P<close> \] )
  | (?P<both> && )
  | (?P<member> (?:{CLASS}) (?!-[^\]])
      | (?:{CHARACTER} | {PLAIN}) (?:-(?:{CHARACTER}|[^\\\[\]-]))?
      | -(?=\]) )
    """,
        re.VERBOSE,
    )


def portable(pattern: str) -> str:
    r"""A pattern in Ruby's dialect -> one that means the same to both; `PatternError` if that is not known.

    >>> portable(r"\s+$|[^\w[:space:]]")
    '\\s+(?=\\n|\\z)|[^[\\w&&[^¹²³¼½¾]]\\s]'
    """
    if is_alike(pattern):
        return pattern
    written = _walk(pattern, PLACES, IN_SETS)
    patterns.to_regex(written, "onig")  # raises for what we cannot run
    return written


def is_alike(pattern: str) -> bool:
    r"""Whether a pattern is that of a named split and means the same to both as it stands.

    >>> is_alike(r"\S+"), is_alike(r"\s+")
    (True, False)
    """
    return pattern in _alike()


@lru_cache(maxsize=1)
def _alike() -> frozenset[str | None]:
    return frozenset(splits.get(name).pattern for name in ALIKE)


def check_portable(pattern: str) -> None:
    r"""Raise `PatternError` unless the pattern is known to mean the same in both dialects.

    >>> check_portable(r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+")
    >>> check_portable(r"\s++$")
    Traceback (most recent call last):
    syllabary.errors.PatternError: '$' at offset 4 may mean something else in Ruby's dialect of patterns
    """
    if not is_alike(pattern):
        patterns.to_regex(_walk(pattern, {}, {}), "onig")


def _walk(pattern: str, places: Mapping[str, str], in_sets: Mapping[str, str]) -> str:
    """The pattern with `^`, `$` and parts of sets spelled as is said; what is not is refused."""
    written, at, folds = "", 0, list[int]()  # where the open (?i: groups began, -1 for another group
    while at < len(pattern):
        found = token().match(pattern, at)
        if found is None or (found.lastgroup == "place" and found[0] not in places):
            raise _unknown(pattern, at)
        plain = places.get(found[0], found[0]) if found.lastgroup == "place" else found[0]
        plain, end = (plain, found.end()) if found.lastgroup != "set" else _set(pattern, at, in_sets)
        if found.lastgroup in ("open", "fold"):
            folds.append(found.end() if found.lastgroup == "fold" else -1)
        elif found.lastgroup == "close" and folds:
            _check_fold(pattern, folds.pop(), found.start())
        written += plain
        at = end
    return written


def _set(pattern: str, start: int, in_sets: Mapping[str, str]) -> tuple[str, int]:
    """The set that begins at `start`, and where it ends: none of its parts empty."""
    depth, last, at, written = 0, "", start, ""
    while True:
        found = member().match(pattern, at)
        kind = found.lastgroup if found is not None else None
        empty = last in ("open", "both") and kind in ("close", "both")
        if found is None or kind is None or empty or (kind == "theirs" and found[0] not in in_sets):
            raise _unknown(pattern, at)
        written += in_sets[found[0]] if kind == "theirs" else found[0]
        depth += {"open": 1, "close": -1}.get(kind, 0)
        at, last = found.end(), kind
        if depth == 0:
            return written, at


def _check_fold(pattern: str, start: int, end: int) -> None:
    """Without case, only ASCII letters, `'` and `|`, none of which fold together with a neighbour."""
    inside = pattern[start:end] if start >= 0 else ""
    letters = re.sub(r"\[[A-Za-z]+\]", "'", inside)
    if FOLDS.fullmatch(inside) is None or SEVERAL.search(letters):
        raise _unknown(pattern, start - len("(?i:"))


def _unknown(pattern: str, at: int) -> PatternError:
    return PatternError(
        f"{pattern[at : at + 8]!r} at offset {at} may mean something else in Ruby's dialect of patterns"
    )
