"""Progress of training: what is reported, and a bar on stderr for those who want to see it.

Leaves out: when to report (`training`) and whether stderr is a terminal (`cli`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """Where training stands.

    stage: `"counting"` (done: bytes of text; total: None, for nobody knows) or `"merging"` (done: merges,
    of total). count: how often the last merged pair occurred.
    """

    stage: Literal["counting", "merging"]
    done: int
    total: int | None
    count: int | None = None


Report = Callable[[Progress], object]


@contextmanager
def reporter(progress: bool | Report) -> Iterator[Report | None]:
    """The function to call: the caller's, that of a bar (`True`), or none (`False`)."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        with bar() as report:
            yield report


@contextmanager
def bar() -> Iterator[Report]:
    """A bar on stderr, drawn by click."""
    import click

    with ExitStack() as stack:
        bars: list[Any] = []

        def report(now: Progress) -> None:
            if now.stage == "counting":
                click.echo(f"\rcounting: {now.done / 1e6:,.1f} MB", nl=False, err=True)
                return
            length = max(now.total or 0, 1)
            if not bars:
                bars.append(click.progressbar(length=length, label="merging", file=sys.stderr, show_pos=True))
                stack.enter_context(bars[0])
            bars[0].length = length
            bars[0].update(now.done - bars[0].pos)

        try:
            yield report
        finally:
            if not bars:
                click.echo(err=True)  # the line of the counting
