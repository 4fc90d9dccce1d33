"""A trained model and its tokenizer, from the folder of a run.

Adds the choice of the checkpoint, and of the token that ends a document. Leaves out: what is in the files
(`checkpoint`) and in the rest of the folder (`run`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syllabary.errors import CheckpointError, ModelError
from syllabary.files import read_bounded
from syllabary.gpt import checkpoint as checkpoints
from syllabary.gpt import run as runs
from syllabary.gpt.checkpoint import Checkpoint
from syllabary.gpt.model import GPT
from syllabary.opening import load
from syllabary.shards import layout
from syllabary.tokenizer import Tokenizer

END_NAMES = ("<|endoftext|>", "<|end|>", "<|end_of_text|>", "</s>", "<eos>")  # in order of preference


@dataclass(frozen=True, slots=True)
class Trained:
    """What `open_trained` found.

    path: the checkpoint's file. model: on its device, in eval mode. tok: None where no tokenizer lies beside
    the checkpoint. end: the id that ends a document, where there is one.
    """

    path: Path
    step: int
    model: GPT
    tok: Tokenizer | None
    end: int | None

    @property
    def never(self) -> list[int]:
        """Ids of the model that no token has: gaps in the vocabulary, rows that pad it."""
        if self.tok is None:
            return []
        known = self.tok.vocab
        return [each for each in range(self.model.config.vocab_size) if each not in known]


def open_trained(
    source: str | os.PathLike[str], checkpoint: str | None = None, device: str = "cpu"
) -> Trained:
    """Open the model of a run's folder, or of one checkpoint's file.

    checkpoint: a file, of the folder or elsewhere; without it the best on validation (`best.safetensors`), or
    else the newest.

    Raises `ModelError` if there is none, `CheckpointError` for a damaged one, or one whose model is too
    small for the tokenizer beside it or was trained with another, as its fingerprint says; `OSError`.
    """
    folder, file = _choose(Path(source), checkpoint)
    others = runs.checkpoints(folder) if checkpoint is None and Path(source).is_dir() else []
    saved = _load(file, others)
    beside = folder / runs.TOKENIZER
    tok = load(beside) if beside.exists() else None
    size = saved.model_config.vocab_size
    if tok is not None and max(tok.vocab, default=0) >= size:
        raise CheckpointError(
            f"{file}: its model has a vocabulary of {size}, and {beside.name} has ids up to "
            f"{max(tok.vocab)}: one of them is of another run"
        )
    if tok is not None:
        _check_trained_with(tok, beside, saved)
    return Trained(file, saved.step, saved.build(device), tok, _end(tok, saved.extra))


def _load(file: Path, others: Sequence[tuple[int, Path]]) -> Checkpoint:
    """The weights of a checkpoint; the error for a damaged one names the newest of others."""
    try:
        return checkpoints.load(file, parts=("model",))
    except CheckpointError as error:
        names = [other.name for _, other in others if other.name != file.name]
        if not names:
            raise
        raise CheckpointError(f"{error}; checkpoint={names[-1]} is another one of this run") from error


def _check_trained_with(tok: Tokenizer, beside: Path, saved: Checkpoint) -> None:
    """`CheckpointError` for another tokenizer than that of the training, which its checkpoints name."""
    data = saved.extra.get("data")
    told = data.get("tokenizer") if isinstance(data, Mapping) else None
    if told is None or told == layout.hash_of(read_bounded(beside)):  # a copy of the shards', as a rule
        return
    if told == (found := layout.fingerprint(tok)):
        return
    raise CheckpointError(
        f"{beside}: not the tokenizer that {saved.path.name} was trained with: its SHA-256 is {found[:16]}…, "
        f"that one's is {str(told)[:16]}…; put the {beside.name} of the run's shards there"
    )


def _choose(source: Path, checkpoint: str | None) -> tuple[Path, Path]:
    """The folder of the run, and the checkpoint's file."""
    if not source.is_dir():
        if checkpoint is not None:
            raise ModelError(f"{source}: no folder of a run, in which to look for {checkpoint}")
        return source.parent, source
    if checkpoint is not None:
        inside = source / checkpoint
        return source, inside if inside.exists() else Path(checkpoint)
    if (source / runs.BEST).exists():
        return source, source / runs.BEST
    if found := runs.checkpoints(source):
        return source, found[-1][1]
    raise ModelError(f"{source}: no checkpoint in this folder; `syllabary gpt train` writes them")


def _end(tok: Tokenizer | None, extra: Mapping[str, Any]) -> int | None:
    """The end token: what the checkpoint says of its shards, or else by name, or the only special token.

    Shards without one taught the model none, whatever the tokenizer has.
    """
    data = extra.get("data")
    if isinstance(data, Mapping) and "end" in data:
        end = data["end"]
        return end if isinstance(end, int) and (tok is None or end in tok.vocab) else None
    if tok is None:
        return None
    special = tok.special_tokens
    named = [special[name] for name in END_NAMES if name in special]
    if not named and len(special) == 1:
        named = list(special.values())
    return named[0] if named else None
