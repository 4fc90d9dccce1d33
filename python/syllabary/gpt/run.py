"""The folder of a run: what is in it, whether a new call goes on with it, and which of its files stay.

    config.json               model, training, and the fingerprints of tokenizer and texts
    tokenizer.syllabary.json  the shards' tokenizer, so that the folder is enough to sample from
    log.jsonl, loss.png       what was measured (`log`, `plots`)
    checkpoint-<step>.safetensors   the newest two (`checkpoint`)
    best.safetensors          the weights of the lowest loss on validation

Leaves out: the files' contents.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syllabary import locks
from syllabary.errors import ModelError, ShardError
from syllabary.files import read_bounded, remove, write_atomic
from syllabary.gpt.config import ModelConfig, TrainConfig
from syllabary.gpt.leftovers import foreign
from syllabary.shards import Shards, layout

FORMAT = "syllabary-run"
VERSION = 1
CONFIG = "config.json"
TOKENIZER = "tokenizer.syllabary.json"
LOG = "log.jsonl"
PLOT = "loss.png"
BEST = "best.safetensors"
TENSORBOARD = "tensorboard"
LOCK = ".lock"
CHECKPOINT = re.compile(r"checkpoint-(\d+)\.safetensors")
KEPT = 2
HALF = re.compile(
    r"\.(?:(?:checkpoint-\d+|best)\.safetensors|[a-z.]+)\.[0-9a-f]{16}\.tmp"
)  # what a kill leaves
ELSEWHERE = "Give another folder for the run"
ANEW = f"{ELSEWHERE}; resume=False begins anew"
WAY_OUT = "Give the same, or another folder for the run; resume=False begins anew"

# Settings that may differ when a run goes on: they change when and where, not what.
FREE = frozenset({"device", "compile", "eval_every", "eval_batches", "save_every"})


@dataclass(frozen=True)
class Run:
    """A folder and what its `config.json` says."""

    path: Path
    model: ModelConfig
    train: TrainConfig
    data: Mapping[str, Any]  # the record of the shards: see `record`

    @property
    def config(self) -> dict[str, Any]:
        """What `config.json` holds."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model.to_json(),
            "train": self.train.to_json(),
            "data": dict(self.data),
        }

    def checkpoints(self) -> list[tuple[int, Path]]:
        """Step and file of the checkpoints, in order of steps."""
        return checkpoints(self.path)

    def checkpoint(self, step: int) -> Path:
        """The file for a step."""
        return self.path / f"checkpoint-{step}.safetensors"

    def discard(self) -> None:
        """Remove all checkpoints but the newest."""
        for _, path in self.checkpoints()[:-KEPT]:
            remove(path)


def checkpoints(path: Path) -> list[tuple[int, Path]]:
    """Step and file of the checkpoints in a folder, in order of steps."""
    if not path.is_dir():
        return []
    found = ((CHECKPOINT.fullmatch(file.name), file) for file in path.iterdir())
    return sorted((int(match[1]), file) for match, file in found if match)


def read(path: Path) -> Run | None:
    """The run in a folder; None if there is none, `ModelError` if its `config.json` is damaged or foreign."""
    file = path / CONFIG
    if not file.exists():
        return None
    found = _own(file)
    try:
        data = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: no JSON ({error}). {ANEW}") from error
    if data.get("version") != VERSION:
        raise ModelError(f"{file}: not the config of a run ({FORMAT}, version {VERSION}). {ANEW}")
    try:
        model, train = ModelConfig.from_json(data.get("model")), TrainConfig.from_json(data.get("train"))
    except ModelError as error:
        raise ModelError(f"{file}: {error}. {ANEW}") from error
    if not isinstance(data.get("data"), dict):
        raise ModelError(f"{file}: 'data' is missing. {ANEW}")
    return Run(path, model, train, data["data"])


def _own(file: Path) -> bytes:
    """A `config.json` that a run wrote, damaged or of another version too; `ModelError` for any other."""
    found = read_bounded(file)
    try:
        data = json.loads(found)
    except (ValueError, RecursionError) as error:
        if FORMAT.encode() in found:
            return found
        raise ModelError(f"{file}: no JSON ({error}). {ELSEWHERE}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ModelError(f"{file}: not the config of a run ({FORMAT}, version {VERSION}). {ELSEWHERE}")
    return found


def record(shards: Shards) -> dict[str, Any]:
    """What of shards a run must find again when it goes on, JSON-able."""
    splits = {name: {"tokens": each.tokens, "digest": each.digest} for name, each in shards.splits.items()}
    return {"tokenizer": shards.tokenizer_hash, "end": shards.index.end, **splits}


def same_data(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two records are of the same shards; early ones did not name the end."""
    return {"end": new["end"], **old} == dict(new)


def make_folder(path: Path) -> None:
    """The folder, if it is not there; `NotADirectoryError` for a file."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is a file, not a folder", str(path))
    path.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """The folder, made if it is new, for one process at a time; `ModelError` if another has it.

    The system lets go when the process ends, however it ends. Where it has no such locks, nothing is held.
    """
    new = not path.exists()
    make_folder(path)
    try:
        with _locked(path):
            yield
    except BaseException:
        if new:
            with contextlib.suppress(OSError):
                path.rmdir()  # only if nothing is in it
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock of a folder; on Windows, where none can be opened, that of a file in it, which goes then."""
    busy = ModelError(f"{path}: another process is training into this folder: wait for it, or give another")
    if sys.platform == "win32":
        with locks.holding(path / LOCK, lambda: locks.remove(path / LOCK), busy):
            yield
    else:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            locks.lock(descriptor, busy)
            yield
        finally:
            os.close(descriptor)


def start(path: Path, model: ModelConfig, train: TrainConfig, shards: Shards, *, resume: bool = True) -> Run:
    """The run to write into: a new one, or that of the folder if it is the same.

    resume: False begins anew and removes the files of an older run. Raises `ShardError` if the run's
    tokenizer is another than the shards', `ModelError` if its texts or settings are others, or if the
    folder has a `config.json` that is no run's, or without one a file of which nothing says that it is; then
    all files stay.
    """
    if (path / layout.INDEX).exists():
        raise ModelError(f"{path}: holds shards ({layout.INDEX}): give another folder for the run")
    tokenizer = read_bounded(shards.path / TOKENIZER)
    if (path / CONFIG).exists():
        _own(path / CONFIG)
    else:
        _check_leftovers(path, tokenizer)
    run = Run(path, model, train, record(shards))
    old = read(path) if resume else None
    if old is not None:
        _compare(old, run)
    else:
        shards.tokenizer()  # which checks that it is the one that made the ids, before anything is removed
    path.mkdir(parents=True, exist_ok=True)
    if not resume:
        _clear(path)
    if old is None:
        if left := checkpoints(path):
            raise ModelError(f"{left[-1][1]}: a checkpoint without {CONFIG} beside it. {ANEW}")
        write_atomic(path / TOKENIZER, tokenizer)
    for file in path.iterdir():
        if HALF.fullmatch(file.name):
            file.unlink(missing_ok=True)
    write_atomic(path / CONFIG, json.dumps(run.config, indent=2).encode() + b"\n")
    return run


def _check_leftovers(path: Path, tokenizer: bytes) -> None:
    """Raise `ModelError` for a file that a run would replace or remove and that may be somebody else's."""
    weights = [*(file for _step, file in checkpoints(path)), path / BEST]
    others = (path / PLOT, path / TENSORBOARD)
    other = foreign(weights, path / LOG, path / TOKENIZER, tokenizer, others)
    if other is not None:
        raise ModelError(
            f"{other}: has a name of a run's files, and nothing says that a run wrote it (no {CONFIG} beside "
            f"it). {ELSEWHERE}, or move the file out of this one"
        )


def check_tokenizer(run: Run, digest: str) -> None:
    """Raise `ShardError` if a run's tokenizer is not the one with this digest (`Shards.tokenizer_hash`)."""
    own = str(run.data.get("tokenizer"))
    if own != digest:
        raise ShardError(
            f"{run.path}: its tokenizer ({own[:12]}) is not that of the shards ({digest[:12]}). {WAY_OUT}"
        )


def _compare(old: Run, new: Run) -> None:
    """Raise if `new` would not go on with what `old` began."""
    check_tokenizer(old, new.data["tokenizer"])
    if not same_data(old.data, new.data):
        raise ModelError(f"{old.path}: it was trained on other texts than those of these shards. {WAY_OUT}")
    differ = [
        f"{name} is {was!r} there and {now!r} here"
        for before, after in ((old.model, new.model), (old.train, new.train))
        for (name, was), now in zip(before.to_json().items(), after.to_json().values(), strict=True)
        if was != now and not _free(name, new.train)
    ]
    if differ:
        raise ModelError(f"{old.path} holds a run with other settings: {'; '.join(differ)}. {WAY_OUT}")


def _free(name: str, train: TrainConfig) -> bool:
    """Whether a run may go on with another value: also more steps, where they do not bend the schedule."""
    return name in FREE or (name == "steps" and train.schedule == "constant")


def _clear(path: Path) -> None:
    """Remove what runs write, and nothing else; after a kill what is left still says that it is a run's."""
    (path / CONFIG).unlink(missing_ok=True)  # first: what is left without it is no run
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path / TENSORBOARD)
    for name in (PLOT, TOKENIZER, LOG, BEST):
        (path / name).unlink(missing_ok=True)
    for _, file in checkpoints(path):
        file.unlink()
