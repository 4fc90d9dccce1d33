"""Kinds of values that options take: a whole number in a range, text as it was typed, the name of a file.

Leaves out: those of one verb (`corpus_options.Share`, `sizes.Size`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from syllabary.cli import words


class Number(click.ParamType):  # type: ignore[type-arg]
    """A whole number in a range, which an error names, and not every line of `--help` as click's does."""

    name = "number"

    def __init__(self, least: int, most: int | None = None) -> None:
        """Both inclusive."""
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """`value` as an `int`; wrong usage if it is none, or outside."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if number < self.least or (self.most is not None and number > self.most):
            upwards = "or more" if self.most is None else f"to {self.most}"
            self.fail(f"{number} is out of range: give {self.least} {upwards}", param, ctx)
        return number


class Text(click.ParamType):  # type: ignore[type-arg]
    """An option that is text, and no file's name: in UTF-8, whatever the locale says."""

    name = "text"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Any:
        """`value` as it was typed."""
        return words.reread(value) if isinstance(value, str) else value


class Name(click.ParamType):  # type: ignore[type-arg]
    """The name of a file or folder, which is not empty (`Path("")` would be the current folder), nor `-`."""

    name = "name"

    def __init__(self, kind: Callable[[str], Any] = str, dash: bool = False) -> None:
        """kind: what it becomes. dash: `-` is taken, which everybody writes for stdin or stdout."""
        self.kind, self.dash = kind, dash

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`value` as that; wrong usage if there is nothing in it."""
        if value == "":
            self.fail("an empty name is no file", param, ctx)
        if value == "-" and not self.dash:
            self.fail("'-' is no file's name here: give one, ./- if that is its name", param, ctx)
        return self.kind(value)
