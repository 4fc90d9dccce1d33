"""What tests of ended trainings share: a corpus, the modes of training, one way to run each, ways to end it.

Every few documents count as a long time here, so that a small corpus has many checkpoints. Leaves out: the
tests (`test_train_resume`, `test_train_checkpoint`).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary.corpus import Care, Corpus, Reading
from syllabary.progress import Progress
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training import feed as training_feed
from syllabary.training import learning as training_learning
from syllabary.training import watched as training_watched

GUARD = 120  # seconds after which a process that does not end is a failure
CHARACTERS = 150_000
FAMILIAR = "arma virumque cano Troiae qui primus ab oris Ἄνδρα μοι ἔννεπε Μοῦσα né a\u0301 <|e|> 北京".split()
LINES = Reading(documents="line")
SPECIAL = ("<|e|>",)

# What decides the result, from every part of the code that does: care of documents, and options.
MODES: dict[str, tuple[Reading, Care, dict[str, Any]]] = {
    "default": (Reading(), Care(), {"num_merges": 1000}),
    "first-seen": (LINES, Care(), {"num_merges": 500, "like": "minbpe"}),
    "largest-pair": (LINES, Care(), {"vocab_size": 700, "like": "cs336", "special_tokens": SPECIAL}),
    "huggingface": (LINES, Care(), {"vocab_size": 700, "like": "huggingface", "max_token_length": 9}),
    "subword-nmt": (LINES, Care(), {"num_merges": 400, "like": "subword-nmt"}),
    "char": (
        LINES,
        Care(drop_duplicates=True, fraction=0.8),
        {
            "num_merges": 400,
            "unit": "char",
            "end_of_word": "</w>",
            "normalize": "NFC",
            "fallback": True,
            "special_tokens": SPECIAL,
            "tie_break": "first-seen",
        },
    ),
    "word": (LINES, Care(drop_duplicates=True), {"num_merges": 200, "unit": "word", "max_token_length": 3}),
    "start": (LINES, Care(), {"num_merges": 300, "start": "arma virumque né Ἄνδρα"}),
    "sentencepiece": (LINES, Care(), {"like": "sentencepiece", "options": {"vocab_size": 600}}),
    "sentencepiece, long lines": (
        Reading(),
        Care(fraction=0.9),
        {
            "like": "sentencepiece",
            "options": {"vocab_size": 9000, "hard_vocab_limit": False, "max_sentence_length": 60},
        },
    ),
    "options": (
        LINES,
        Care(fraction=0.8),
        {
            "like": "huggingface",
            "options": {
                "vocab_size": 500,
                "pre_tokenizer": "Whitespace",
                "end_of_word_suffix": "</w>",
                "limit_alphabet": 30,
            },
        },
    ),
    # Two pairs make one text: their own loop, from the first merge.
    "options, names again": (
        Reading(),
        Care(),
        {"like": "huggingface", "special_tokens": ["ar", "us"], "options": {"vocab_size": 400}},
    ),
    "wordpiece": (LINES, Care(), {"model": "wordpiece", "like": "huggingface", "vocab_size": 500}),
    "likelihood": (LINES, Care(drop_duplicates=True), {"model": "wordpiece", "vocab_size": 500}),
    "no split": (LINES, Care(), {"num_merges": 500, "split": None, "tie_break": "first-seen"}),
}
# Learned in one call of the engine, which tells of merges once in a while only.
ONE_CALL = [mode for mode, (_, _, options) in MODES.items() if "options" in options or "model" in options]


def write_corpus(folder: Path, characters: int = CHARACTERS) -> Path:
    """A file of lines with familiar words, new ones, and some lines twice; the same each time."""
    draw = random.Random(5)
    lines: list[str] = []
    size = 0
    while size < characters:
        new = ["".join(draw.choices("aeiouklmnst", k=draw.randint(1, 9))) for _ in range(6)]
        words = draw.choices([*FAMILIAR, *new], k=draw.randint(0, 40))
        lines.append(draw.choice(lines) if lines and draw.random() < 0.05 else " ".join(words))
        size += len(lines[-1])
    path = folder / "corpus.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def make_often(patch: Any) -> None:
    """Write a checkpoint at every chance, and make many chances.

    patch: has pytest's `setattr`, or, in a process of its own, is `builtins`.
    """
    patch.setattr(
        os, "fsync", lambda _descriptor: None
    )  # what a killed process wrote is there: it saves time
    patch.setattr(training_checkpoint, "SECONDS", 0.0)
    patch.setattr(training_checkpoint, "SHARE", 0.0)
    patch.setattr(training_feed, "BATCH_CHARACTERS", 15_000)
    patch.setattr(training_feed, "BATCH_DOCUMENTS", 200)
    patch.setattr(training_watched, "MARK", 10_000)
    patch.setattr(training_learning, "MOST", 40)
    patch.setattr(training_learning, "SLICE", 1000.0)  # so that no slice ends by the clock


@cache
def start_of(text: str) -> syllabary.Tokenizer:
    """A tokenizer to go on from."""
    return syllabary.train([text], num_merges=9, min_frequency=1)


def train(path: Path, mode: str, folder: Path | None = None, **more: Any) -> syllabary.Tokenizer:
    """The call that is ended and made again. folder: of the checkpoint."""
    reading, care, options = MODES[mode]
    source = Corpus(path, reading, care)
    if "start" in options:
        options = {**options, "start": start_of(options["start"])}
    return syllabary.train(source, checkpoint=folder, **{"threads": 1, **options, **more})


def saved(tok: syllabary.Tokenizer, folder: Path) -> bytes:
    """The file of a tokenizer, which holds all that is known of it."""
    path = folder / "saved.syllabary.json"
    tok.save(path)
    return path.read_bytes()


def stop_in(stage: str, after: int = 1, error: type[BaseException] = KeyboardInterrupt) -> Any:
    """A function for `progress=` that raises when it was told of a stage so often."""
    left = after

    def report(now: Progress) -> None:
        nonlocal left
        left -= now.stage == stage
        if left == 0 and now.stage == stage:
            raise error("stopped")

    return report


@contextmanager
def stopped(error: type[BaseException] = KeyboardInterrupt) -> Iterator[None]:
    """What is inside ends by `stop_in`."""
    with pytest.raises(error, match="stopped"):
        yield


def held(folder: Path) -> dict[str, bytes]:
    """Every file of a checkpoint and its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def change(data: bytes, how: str) -> bytes:
    """Damage: cut, a bit turned, something behind it, empty, or of something else."""
    middle = len(data) // 2
    changes: dict[str, Callable[[], bytes]] = {
        "cut": lambda: data[:middle],
        "last byte": lambda: data[:-1],
        "bit": lambda: data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :],
        "longer": lambda: data + b"\0" * 9,
        "empty": lambda: b"",
        "foreign": lambda: b'{"format": "nanoGPT"}\n',
    }
    return changes[how]()


DAMAGE = ("bit", "cut", "empty", "foreign", "last byte", "longer")
