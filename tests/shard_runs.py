"""What tests of ended runs share: a small corpus of several units, one way to write it, ways to end it.

Leaves out: the tests (`test_shards_resume`, `test_shards_disk`).
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus, Reading
from syllabary.shards import assembly, writing

GUARD = 120  # seconds after which a process that does not end is a failure
END = "<|end|>"
LINES = Reading(documents="line")
SMALL = 3_000  # bytes of a unit, and of a checkpoint


def make_corpus(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """A file of several units with duplicates in it."""
    patch.setattr(writing, "UNIT_BYTES", SMALL)
    patch.setattr(assembly, "CHECKPOINT_BYTES", SMALL)
    draw = random.Random(0)
    texts = [" ".join(draw.choices(["low", "lower", "lowest"], k=draw.randint(1, 30))) for _ in range(100)]
    (folder / "corpus.txt").write_text("\n".join(texts) + "\n", "utf-8")
    return folder / "corpus.txt"


def make_tokenizer() -> syllabary.Tokenizer:
    """Five merges and the token that ends a document, of id 261."""
    return syllabary.train(["low lower lowest " * 9] * 3, num_merges=5, special_tokens=[END])


def write(corpus: Path, tok: syllabary.Tokenizer, out: Path, **options: Any) -> shards.Shards:
    """The command that is ended and given again."""
    source = Corpus(corpus, LINES, Care(drop_duplicates=True))
    return shards.write(source, tok, out, val=0.3, end=END, **{"processes": 1, **options})


def whole(corpus: Path, tok: syllabary.Tokenizer, folder: Path) -> dict[str, bytes]:
    """What it writes if nothing ends it."""
    return held(write(corpus, tok, folder / "whole").path)


def held(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def stop_after(times: int, corpus: Path, tok: syllabary.Tokenizer, out: Path, **options: Any) -> int:
    """A run that is interrupted when it has told its progress some times; how many bytes were done."""
    told: list[int] = []

    def stop(now: shards.Progress) -> None:
        told.append(now.done)
        if len(told) == times:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(corpus, tok, out, progress=stop, **options)
    return told[-1]
