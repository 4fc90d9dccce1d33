r"""Which patterns mean the same to Oniguruma (Ruby's dialect, in Hugging Face's library) and to us.

Adds `check_portable`: only what is on its list passes, so a pattern read from a file is never given another
meaning. Not on it, because the dialects differ: `^` and `$` (every line, in Ruby), `{1,3}+` and `{2}?`, flags
other than `(?i:...)`, letters that fold to or from several (`ss`), sets in sets, `\w` in a set (where
Oniguruma leaves out `¹²³¼½¾`, which it has outside), `\h`, `\xE9`, named groups.
Leaves out: writing our patterns for Oniguruma (`syllabary.reference.pattern.to_onig`).
"""

from __future__ import annotations

import re

from syllabary.errors import PatternError
from syllabary.reference.pattern import to_regex

CLASS = r"\\[pP]\{\^?(?:L|N|M|P|S|Lu|Ll|Lt|Lm|Lo)\}|\\[sSdD]"
CHARACTER = r"\\x\{[0-9A-Fa-f]{1,8}\}|\\[nrt]|\\[^\w\s]"
TOKEN = re.compile(
    rf"""
    (?P<set> \[\^? (?:
        (?:{CLASS}) (?!-[^\]])
      | (?:{CHARACTER} | [^\\\[\]&~-]) (?:-(?:{CHARACTER}|[^\\\[\]-]))?
      | -(?=\])
      )+ \] )
  | (?P<fold> \(\?i: )
  | (?P<open> \( (?: \?(?:[:=!>]|<[=!]) )? (?![?*]) )
  | (?P<close> \) )
  | (?P<count> \{{ (?:[0-9]+(?:,[0-9]*)?|,[0-9]+) \}} (?![?+*]) )
  | (?P<repeat> [?*+][?+]? (?![?*+{{]) )
  | (?P<item> {CLASS} | \\[wW] | {CHARACTER} | \\[AzbB] | [|.] | [^\\\[\](){{}}?*+^$|.] )
    """,
    re.VERBOSE,
)
SEVERAL = re.compile("ss|st|ff|fi|fl|[^\x00-\x7f]", re.IGNORECASE)


def check_portable(pattern: str) -> None:
    r"""Raise `PatternError` unless the pattern is known to mean the same in both dialects.

    >>> check_portable(r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+")
    >>> check_portable(r"\s++$")
    Traceback (most recent call last):
    syllabary.errors.PatternError: '$' at offset 4 may mean something else in Ruby's dialect of patterns
    """
    at, folds = 0, list[int]()  # where the open (?i: groups began, -1 for another group
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None:
            raise _unknown(pattern, at)
        if found.lastgroup in ("open", "fold"):
            folds.append(found.end() if found.lastgroup == "fold" else -1)
        elif found.lastgroup == "close" and folds:
            _check_fold(pattern, folds.pop(), found.start())
        at = found.end()
    to_regex(pattern, "onig")  # raises for what we cannot run


def _check_fold(pattern: str, start: int, end: int) -> None:
    """Without case, only ASCII letters, signs and `|`, none of which fold together with a neighbour."""
    inside = pattern[start:end] if start >= 0 else ""
    plain = re.fullmatch(r"[A-Za-z'|]*", inside)
    if plain is None or SEVERAL.search(inside):
        raise _unknown(pattern, start - len("(?i:"))


def _unknown(pattern: str, at: int) -> PatternError:
    return PatternError(
        f"{pattern[at : at + 8]!r} at offset {at} may mean something else in Ruby's dialect of patterns"
    )
