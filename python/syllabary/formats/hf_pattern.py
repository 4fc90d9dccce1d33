r"""Which patterns mean the same to Oniguruma (Ruby's dialect, in Hugging Face's library) and to us.

Adds `check_portable`: only what is on its list passes, so a pattern read from a file is never given another
meaning; and `portable`, which first spells `^` and `$`, that match at every line in Ruby, so that they do
for us. Not on the list, because the dialects differ: `{1,3}+` and `{2}?`, flags other than `(?i:...)`,
letters that fold to or from several (`ss`), `[:alpha:]`, `\w` in a set (where Oniguruma leaves out
`¹²³¼½¾`, which it has outside), `\h`, `\xE9`, named groups.
Leaves out: writing our patterns for Oniguruma (`syllabary.reference.pattern.to_onig`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from syllabary.errors import PatternError
from syllabary.reference.pattern import to_regex

# Classes that both have, and on whose every character they agree.
NAMES = (
    "L N M P S Z C Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Han "
    "Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Hebrew Thai"
).split()
CLASS = rf"\\[pP]\{{\^?(?:{'|'.join(NAMES)})\}}|\\[sSdD]"
CHARACTER = r"\\x\{[0-9A-Fa-f]{1,8}\}|\\[nrt]|\\[^\w\s]"
PLAIN = r"[^\\\[\]&~-]|&(?!&)|~(?!~)"
TOKEN = re.compile(
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
# What a set is made of. Sets in sets mean the same to both, and so does `&&` between two parts.
MEMBER = re.compile(
    rf"""
    (?P<open> \[\^? (?!:) )
  | (?P<close> \] )
  | (?P<both> && )
  | (?P<member> (?:{CLASS}) (?!-[^\]])
      | (?:{CHARACTER} | {PLAIN}) (?:-(?:{CHARACTER}|[^\\\[\]-]))?
      | -(?=\]) )
    """,
    re.VERBOSE,
)
SEVERAL = re.compile("ss|st|ff|fi|fl|[^\x00-\x7f]", re.IGNORECASE)
# `'s`, or one letter of several where no letter beside it could fold along with it.
FOLDS = re.compile(r"(?:[A-Za-z'|]|(?<![A-Za-z\]])\[[A-Za-z]+\](?![A-Za-z\[]))*")
# Oniguruma's regexec.c: a line begins after a line feed, but not at the end of the text; it ends before one.
PLACES = {"^": r"(?:\A|(?<=\n)(?!\z))", "$": r"(?=\n|\z)"}


def portable(pattern: str) -> str:
    r"""A pattern in Ruby's dialect -> one that means the same to both; `PatternError` if that is not known.

    >>> portable(r"\s+$")
    '\\s+(?=\\n|\\z)'
    """
    written = _walk(pattern, PLACES)
    to_regex(written, "onig")  # raises for what we cannot run
    return written


def check_portable(pattern: str) -> None:
    r"""Raise `PatternError` unless the pattern is known to mean the same in both dialects.

    >>> check_portable(r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+")
    >>> check_portable(r"\s++$")
    Traceback (most recent call last):
    syllabary.errors.PatternError: '$' at offset 4 may mean something else in Ruby's dialect of patterns
    """
    to_regex(_walk(pattern, {}), "onig")


def _walk(pattern: str, places: Mapping[str, str]) -> str:
    """The pattern with `^` and `$` spelled as `places` says; one that it does not spell is refused."""
    written, at, folds = "", 0, list[int]()  # where the open (?i: groups began, -1 for another group
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None or (found.lastgroup == "place" and found[0] not in places):
            raise _unknown(pattern, at)
        end = found.end() if found.lastgroup != "set" else _end_of_set(pattern, at)
        if found.lastgroup in ("open", "fold"):
            folds.append(found.end() if found.lastgroup == "fold" else -1)
        elif found.lastgroup == "close" and folds:
            _check_fold(pattern, folds.pop(), found.start())
        written += places[found[0]] if found.lastgroup == "place" else pattern[at:end]
        at = end
    return written


def _end_of_set(pattern: str, start: int) -> int:
    """Where the set that begins at `start` ends: none of its parts empty, nor `[:alpha:]`."""
    depth, last, at = 0, "", start
    while True:
        found = MEMBER.match(pattern, at)
        kind = found.lastgroup if found is not None else None
        empty = last in ("open", "both") and kind in ("close", "both")
        if found is None or kind is None or empty:
            raise _unknown(pattern, at)
        depth += {"open": 1, "close": -1}.get(kind, 0)
        at, last = found.end(), kind
        if depth == 0:
            return at


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
