"""Progress of training: what is reported, and a bar on stderr for those who want to see it.

Adds memory and the time left to what training tells. Leaves out: when to report (`training.feed`,
`training.learning`) and whether stderr is a terminal (`cli`).
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from syllabary.reference.symbols import plural, shown

RECENT = 10.0  # seconds: merges get cheaper, so the time left is told by the speed of late
ENOUGH = 1.0  # seconds: of less than this no speed is told
STATM = "/proc/self/statm"
BRIEF = 16  # characters of a token on the bar
BAR = 16  # characters of the bar itself
LOOK = 0.1  # seconds between two looks of the line of counting

clock = time.monotonic


@dataclass(frozen=True, slots=True)
class Progress:
    """Where training stands.

    stage: `"counting"` (done: bytes of text; total: None, for nobody knows) or `"merging"` (done: merges,
    of total), or `"pruning"` (of a unigram model; done: of 100). pair, count: the last merged pair of
    tokens, and how often it occurred. memory: bytes of main memory that the process has now; None where the
    system does not tell (no `/proc`). seconds_left: an estimate by the speed of the last ten seconds; None
    where nobody knows.
    """

    stage: Literal["counting", "merging", "pruning"]
    done: int
    total: int | None
    count: int | None = None
    pair: tuple[bytes, bytes] | None = None
    memory: int | None = None
    seconds_left: float | None = None


Report = Callable[[Progress], object]


@contextmanager
def reporter(progress: bool | Report) -> Iterator[Report | None]:
    """The function to call: the caller's, that of a bar (`True`), or none (`False`).

    It takes a `Progress` and passes it on with memory and time. `TypeError` for what is none of these.
    """
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress is {progress!r}: give True, False or a function that takes Progress")
    if not isinstance(progress, bool):
        yield _Informed(progress)
    elif not progress:
        yield None
    else:
        with bar() as report:
            yield _Informed(report)


class _Informed:
    """Passes on what it is told, with memory and the time left."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._stage = ""
        self._late = deque[tuple[float, int]]()  # when how much was done: the last `RECENT` seconds

    def __call__(self, now: Progress) -> None:
        self._report(dataclasses.replace(now, memory=memory(), seconds_left=self._left(now)))

    def _left(self, now: Progress) -> float | None:
        """Seconds to the end at the speed of late; None as long as that is not known."""
        seconds = clock()
        if now.stage != self._stage:
            self._stage = now.stage
            self._late.clear()
        self._late.append((seconds, now.done))
        while len(self._late) > 2 and self._late[1][0] <= seconds - RECENT:
            self._late.popleft()
        since, before = self._late[0]
        if now.total is None:
            return None
        if now.done >= now.total:
            return 0.0
        if seconds - since < ENOUGH or now.done <= before:
            return None
        return (now.total - now.done) * (seconds - since) / (now.done - before)


def memory() -> int | None:
    """Bytes of main memory that this process has now; None where there is no `/proc/self/statm`."""
    if sys.platform != "win32":
        with suppress(OSError, ValueError, IndexError), open(STATM, "rb") as file:
            return int(file.read(200).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def size(number: int) -> str:
    """Bytes as one reads them.

    >>> size(56_100_000), size(2_300_000_000)
    ('56.1 MB', '2.30 GB')
    """
    return f"{number / 1e9:,.2f} GB" if number >= 1e9 else f"{number / 1e6:,.1f} MB"


def duration(seconds: float) -> str:
    """Whole seconds as one reads them.

    >>> duration(7.2), duration(75), duration(3675)
    ('0:07', '1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def told(now: Progress, room: int = 80) -> str:
    """What stands beside the bar: the time left, the pair and its count, memory; at most `room` characters.

    >>> told(Progress("merging", 9, 99, 1200, (b"t", b"he"), 56_100_000, 75.0))
    "1:15 left, 't' 'he' 1,200 times, 56.1 MB"
    """
    found = []
    if now.seconds_left:
        found.append(f"{duration(now.seconds_left)} left")
    if now.count is not None:
        pair = "" if now.pair is None else " ".join(map(_brief, now.pair)) + " "
        found.append(f"{pair}{plural(now.count, 'time', ',')}")
    if now.memory is not None:
        found.append(size(now.memory))
    return ", ".join(found)[: max(room, 0)]


def _brief(token: bytes) -> str:
    """A token as Python writes it, with control characters escaped; text where it is text."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return shown(token)
    return repr(text if len(text) <= BRIEF else text[:BRIEF] + "…")


@contextmanager
def bar() -> Iterator[Report]:
    """A bar on stderr, drawn by click."""
    import click

    with ExitStack() as stack:
        bars: list[Any] = []
        shown, latest = clock() - LOOK, list[Progress]()

        def count(now: Progress) -> None:
            held = "" if now.memory is None else f", {size(now.memory)} of memory"
            line, width = f"counting: {now.done / 1e6:,.1f} MB{held:<30}", shutil.get_terminal_size().columns
            click.echo(f"\r{line[: max(width - 1, 0)]}", nl=False, err=True)

        def report(now: Progress) -> None:
            nonlocal shown
            if now.stage == "counting":
                latest[:] = [now]
                if clock() - shown >= LOOK:
                    shown = clock()
                    count(now)
                return
            length = max(now.total or 0, 1)
            if not bars:
                for last in latest:
                    count(last)
                    click.echo(err=True)
                bars.append(_drawn(length, now.stage))
                stack.enter_context(bars[0])
            bars[0].length = length
            bars[0].update(now.done - bars[0].pos, now)

        try:
            yield report
        finally:
            if not bars:
                click.echo(err=True)  # the line of the counting


def _drawn(length: int, stage: str) -> Any:
    """click's bar with what is told beside it, together no wider than the terminal."""
    import click

    taken = len(f"{stage}  []    ") + BAR + 2 * len(str(length)) + 1
    return click.progressbar(
        length=length,
        label=stage,
        file=sys.stderr,
        show_pos=True,
        show_eta=False,
        show_percent=False,
        width=BAR,
        item_show_func=lambda now: now and told(now, shutil.get_terminal_size().columns - 1 - taken),
    )
