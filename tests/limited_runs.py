"""What tests of work under a memory limit that ends anywhere share: rare words, small limits, ways to end.

Leaves out: the tests (`test_counting_resumed`, `test_train_resume_limited`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syllabary import piece_table
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training import memory as training_memory


def text(seed: int, words: int) -> str:
    """Rare words; the same each time."""
    draw = random.Random(seed)
    return " ".join("".join(draw.choices("aeiouklmnsté", k=draw.randint(1, 30))) for _ in range(words))


def allow_little(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Limits of a few hundred kilobytes; what exceeds them goes to files in `spilled`."""
    monkeypatch.setattr(training_memory, "LEAST", 0)
    monkeypatch.setattr(training_memory, "READING", 0)
    monkeypatch.setattr(piece_table, "HAND_BYTES", 9_000)
    (tmp_path / "spilled").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "spilled"))


def make_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with texts; such limits, and a table written whenever text has come."""
    allow_little(monkeypatch, tmp_path)
    monkeypatch.setattr(training_checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(training_checkpoint, "SHARE", 0.0)
    for seed in range(2):
        (tmp_path / f"{seed}.txt").write_text(text(seed, 20_000), encoding="utf-8")
    return tmp_path


class EndedError(Exception):
    """What a progress function raises."""


def ending(after: int) -> Any:
    """A progress function that raises `EndedError` when it was called so often."""
    steps = iter(range(after))

    def end(_told: object, steps: Iterator[int] = steps) -> None:
        if next(steps, None) is None:
            raise EndedError

    return end
