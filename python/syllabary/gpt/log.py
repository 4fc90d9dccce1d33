"""What a run writes down: one JSON object a line, and TensorBoard's events where they are wanted.

Adds `Log`, which a resumed run continues without a line twice, and `read`.
Leaves out: the line in the terminal (`syllabary.cli.gpt`) and pictures (`plots`).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from syllabary.errors import ModelError
from syllabary.files import write_atomic

Entry = Mapping[str, Any]
NEEDED = {"step": ("loss",), "eval": ("val_loss",), "final": ("val_loss",)}  # besides what all have


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of a log, in order. A last line that was cut short is left out.

    Each has `kind`, step, tokens (trained on so far), and seconds (of the run so far, all its parts
    together). `"step"`: loss, bits_per_byte, learning_rate, grad_norm, tokens_per_second. `"eval"`: val_loss
    and bits_per_byte, and where windows are drawn train_loss and train_bits_per_byte. `"final"`: val_loss
    and bits_per_byte of the whole validation split. Losses are nats a token.
    """
    if not path.exists():
        return []
    entries: list[dict[str, Any]] = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if number == len(lines):
            break  # empty, or never finished
        try:
            entry = _checked(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"{path}, line {number}: no entry of a log ({error}); delete the line: the run goes on "
                "without it"
            ) from error
        entries.append(entry)
    return entries


def _checked(entry: Any) -> dict[str, Any]:
    """The entry; `ValueError` unless it has what its kind must have."""
    if not isinstance(entry, dict) or entry.get("kind") not in NEEDED:
        raise ValueError(f"no object of a kind out of {', '.join(NEEDED)}")
    for name in ("step", "tokens", "seconds", *NEEDED[entry["kind"]]):
        value = entry.get(name)
        if isinstance(value, bool) or not isinstance(value, int if name == "step" else (int, float)):
            raise ValueError(f"{name} is {value!r}, which is no number")
    return entry


def is_entry(line: bytes) -> bool:
    """Whether it is a line of a log, of whatever run."""
    try:
        return bool(_checked(json.loads(line)))
    except (ValueError, RecursionError):
        return False


class Log:
    """The log of a run, from `step` on: what an earlier part wrote beyond it is taken off first."""

    def __init__(self, path: Path, step: int, tensorboard: Path | None = None) -> None:
        """tensorboard: the folder of its events, which needs that library."""
        self.path = path
        self.entries: list[dict[str, Any]] = [entry for entry in read(path) if entry["step"] <= step]
        write_atomic(path, b"".join(_line(entry) for entry in self.entries))
        self._file = path.open("ab")
        self._board = None if tensorboard is None else _board(tensorboard, step)

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry; the system has it before this returns. `OSError` with the path."""
        self.entries.append(entry)
        try:
            self._file.write(_line(entry))
            self._file.flush()
        except OSError as error:
            error.filename = str(self.path)
            raise
        if self._board is not None:
            for name, value in entry.items():
                if name not in ("kind", "step") and value is not None:
                    self._board.add_scalar(f"{entry['kind']}/{name}", value, entry["step"])

    def of(self, kind: str) -> Sequence[dict[str, Any]]:
        """The entries of one kind."""
        return [entry for entry in self.entries if entry["kind"] == kind]

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(", ", ": ")).encode() + b"\n"


def _board(folder: Path, step: int) -> Any:
    """TensorBoard's writer, through torch."""
    try:
        module = importlib.import_module("torch.utils.tensorboard")
    except ImportError as error:
        raise ModelError("TensorBoard is not installed: pip install tensorboard, or go without") from error
    return module.SummaryWriter(log_dir=str(folder), purge_step=step + 1)
