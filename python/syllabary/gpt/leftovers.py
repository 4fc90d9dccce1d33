"""Files with the names of a run's, in a folder without its `config.json`: whether a run wrote them.

    checkpoint-<step>.safetensors, best.safetensors   say so in their headers
    log.jsonl                                         begins with an entry
    tokenizer.syllabary.json                          a run's beside one of these; else if it is the one given
    loss.png, tensorboard                             a run's beside one of these

Adds `foreign`, which tells before anything is replaced or removed. Loads no torch.
Leaves out: what becomes of the files (`run`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from syllabary.files import read_bounded
from syllabary.gpt import log

CHECKPOINT = "syllabary-checkpoint"  # the format that a checkpoint's header names
ENTRY = 1 << 16  # bytes of a line of a log, at most
HEADER = 16 << 20  # bytes of a header of safetensors, at most: configs and the names of the tensors


def foreign(
    weights: Iterable[Path], logged: Path, tokenizer: Path, own: bytes, others: Iterable[Path]
) -> Path | None:
    """The first file there of which nothing says that a run wrote it, or `None`.

    weights: checkpoints. own: the shards' tokenizer. others: what says nothing of itself.
    """
    told = {file: _is_checkpoint(file) for file in weights if file.exists()}
    if logged.exists() and (logged.is_dir() or logged.stat().st_size):  # an empty one is nobody's loss
        told[logged] = _is_log(logged)
    if not any(told.values()):
        told |= {file: False for file in others if file.exists()}
        if tokenizer.exists():
            told[tokenizer] = read_bounded(tokenizer) == own
    return next((file for file, is_own in told.items() if not is_own), None)


def _is_checkpoint(file: Path) -> bool:
    """Whether the header of a safetensors file says so, whatever comes behind it."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = opened.read(length) if length <= HEADER else b""
    try:
        said = json.loads(json.loads(header)["__metadata__"]["syllabary"])
        return bool(said["format"] == CHECKPOINT)
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _is_log(file: Path) -> bool:
    """Whether the first line is an entry."""
    with file.open("rb") as opened:
        return log.is_entry(opened.readline(ENTRY))
