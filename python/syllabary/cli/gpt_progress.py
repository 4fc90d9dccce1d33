"""What one sees while a model is trained: a live line on a terminal, and a line for each measurement.

Leaves out: what is measured, and when (`syllabary.gpt.loop`).
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from syllabary.cli import common
from syllabary.cli.words import plural, printable

if TYPE_CHECKING:
    from syllabary.gpt.train import Event

SECONDS = 0.2  # between two looks of the live line
SMOOTH = 0.9  # of speed and loss: how much of the old stays


class Progress:
    """Draws the events of a run on stderr: `show` takes each; the line is gone when this is left."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.live = quiet, common.draws()
        self.run: dict[str, Any] = {}
        self.loss = self.speed = 0.0
        self.drawn = -SECONDS
        self.saved: int | None = None

    def show(self, event: Event) -> None:
        """Take an event."""
        entry = event.entry
        if event.kind == "save":
            self.saved = entry["step"]
        if self.quiet:
            return
        if event.kind == "start":
            self.run = entry
            common.talk(_start(entry))
        elif event.kind == "step":
            self._step(entry)
        elif event.kind == "eval":
            self._clear()
            common.talk(_eval(entry, self.loss, self._rate()))

    def interrupted(self, folder: Path) -> None:
        """Say what a run that Ctrl-C ended has kept."""
        self._clear()
        if self.saved is not None and not self.quiet:
            place = printable(str(folder))
            common.talk(f"step {self.saved:,} is saved in {place}; the same command goes on from there")

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clear()

    def _step(self, entry: dict[str, Any]) -> None:
        self.loss = SMOOTH * self.loss + (1 - SMOOTH) * entry["loss"] if self.loss else entry["loss"]
        speed = entry["tokens_per_second"]
        self.speed = SMOOTH * self.speed + (1 - SMOOTH) * speed if self.speed else speed
        now = time.monotonic()
        if self.live and now - self.drawn >= SECONDS:
            self.drawn = now
            left = (self.run["steps"] - entry["step"]) * self.run["tokens_per_step"] / self.speed
            line = (
                f"step {entry['step']:,} of {self.run['steps']:,}  loss {self.loss:.3f}  "
                f"{self._rate()}  {duration(left)} left"
            )
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r{line[:width]:<{width}}", nl=False, err=True)

    def _rate(self) -> str:
        """Speed, and how much of the device's that is, where its peak is known."""
        if not self.speed:
            return ""
        peak = self.run["peak_flops"]
        used = "" if not peak else f", {self.speed * self.run['flops_per_token'] / peak:.1%} MFU"
        return f"{self.speed:,.0f} tokens/s{used}"

    def _clear(self) -> None:
        """Take the live line away."""
        if self.live and self.drawn > 0 and not self.quiet:
            width = shutil.get_terminal_size().columns - 1
            click.echo("\r" + " " * width + "\r", nl=False, err=True)
            self.drawn = -SECONDS


def duration(seconds: float) -> str:
    """Seconds as one reads them.

    >>> duration(7.25), duration(75), duration(3675)
    ('7.2 s', '1:15', '1:01:15')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _start(entry: dict[str, Any]) -> str:
    """What a run is, in a line."""
    tokens = entry["steps"] * entry["tokens_per_step"]
    many = "" if entry["processes"] == 1 else f" in {entry['processes']} processes"
    return (
        f"{entry['parameters'] / 1e6:.1f} M parameters on {entry['device']}{many}, {entry['dtype']}"
        f"{', compiled' if entry['compiled'] else ''}; {plural(entry['steps'], 'step')} of "
        f"{plural(entry['tokens_per_step'], 'token')}, {tokens / entry['train_tokens']:.2f} epochs"
        + (f"; goes on from step {entry['step']:,}" if entry["step"] else "")
    )


def _eval(entry: dict[str, Any], loss: float, rate: str) -> str:
    """A measurement, in a line."""
    bits = entry["bits_per_byte"]
    return "  ".join(
        [
            f"step {entry['step']:>6,}",
            f"train {entry.get('train_loss') or loss:.3f}" if loss else "train     -",
            f"validation {entry['val_loss']:.3f}",
            "" if bits is None else f"{bits:.3f} bits/byte",
            duration(entry["seconds"]),
            rate,
        ]
    ).rstrip()
