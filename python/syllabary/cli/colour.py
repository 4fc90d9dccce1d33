"""Tokens made visible: quoted on one line, or side by side in colours that fit a terminal's width.

Without colours a bar stands between tokens, so the picture loses nothing on paper or under `NO_COLOR`.
Leaves out: when to use colours, which `wanted` asks and the verbs decide.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator

import click

from syllabary.visible import BACKGROUNDS, BAR, FOREGROUND, NEWLINE, escape
from syllabary.visible import quoted as quoted
from syllabary.visible import visible as visible


def wanted() -> bool:
    """Whether stdout takes colours: a terminal and `NO_COLOR` unset or empty, or `FORCE_COLOR` set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout is not None and sys.stdout.isatty())


def picture(tokens: Iterable[bytes], width: int, colours: bool) -> list[str]:
    r"""Lines of at most `width` columns with the tokens side by side; a line end in the text ends a line.

    A token wider than what is left of a line begins the next; one wider than `width` goes on over several.

    >>> picture([b"the", b" cat", b" sat\n"], 12, colours=False)
    ['the│ cat│', ' sat⏎│']
    """
    lines, used = [""], 0
    for number, token in enumerate(tokens):
        parts = list(_parts(token, width - 1))
        for place, part in enumerate(parts, 1):
            shown = part if colours or place < len(parts) else part + BAR
            if used and used + columns(shown) > width:
                lines.append("")
                used = 0
            lines[-1] += painted(shown, number) if colours else shown
            used += columns(shown)
            if NEWLINE in part:
                lines.append("")
                used = 0
    return lines if lines[-1] else lines[:-1]


def columns(text: str) -> int:
    r"""Columns that a terminal gives the text: two for wide characters, none for combining ones.

    >>> columns("abc"), columns("漢字"), columns("e\u0301")
    (3, 4, 1)
    """
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _parts(token: bytes, width: int) -> Iterator[str]:
    """The token as parts of at most `width` columns, cut after each line end, which shows as a sign."""
    part = ""
    for char in token.decode("utf-8", "surrogateescape"):
        cell = NEWLINE if char == "\n" else escape(char)
        if part and columns(part) + columns(cell) > width:
            yield part
            part = ""
        part += cell
        if char == "\n":
            yield part
            part = ""
    if part:
        yield part


def painted(
    part: str, number: int, ink: tuple[int, int, int] = FOREGROUND, underline: bool | None = None
) -> str:
    """The text on one of the backgrounds, in turn."""
    return click.style(part, fg=ink, bg=BACKGROUNDS[number % len(BACKGROUNDS)], underline=underline)
