"""Measure `train(like=...)` against sentencepiece and subword-nmt on one file, and write it down.

    python bench/like.py FILE [--repeats 3]

The lanes take turns in one process; the medians count. 8,000 pieces (or merges) each.
Results go to bench/results/like.json with command, versions and machine. Leaves out: memory, and
whether both learn the same (`tests/test_like_sentencepiece.py`, `tests/test_like_subword_nmt.py`).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import sys
from importlib.metadata import version
from pathlib import Path

import sentencepiece
from common import RESULTS, Lane, measure, processor
from subword_nmt import learn_bpe

import syllabary

SIZE = 8_000


def sentencepiece_trains(path: Path) -> None:
    """Their BPE trainer, from the file."""
    sentencepiece.SentencePieceTrainer.train(
        input=str(path), model_writer=io.BytesIO(), model_type="bpe", vocab_size=SIZE, minloglevel=3
    )


def subword_nmt_trains(path: Path) -> None:
    """Their learner, from the file's lines."""
    with path.open(encoding="utf-8", newline="\n") as file:
        learn_bpe.learn_bpe(file, io.StringIO(), SIZE)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    lanes: dict[str, dict[str, Lane]] = {
        "sentencepiece": {
            "theirs": lambda: sentencepiece_trains(given.file),
            "ours": lambda: syllabary.train(given.file, SIZE, like="sentencepiece"),
        },
        "subword-nmt": {
            "theirs": lambda: subword_nmt_trains(given.file),
            "ours": lambda: syllabary.train(given.file, num_merges=SIZE, like="subword-nmt"),
        },
    }
    rows = {}
    for name, pair in lanes.items():
        turns = measure(pair, given.repeats)
        peer, own = (statistics.median(turns[lane]) for lane in ("theirs", "ours"))
        rows[name] = {"theirs_s": round(peer, 3), "ours_s": round(own, 3), "times": round(peer / own, 1)}
        print(name, rows[name], flush=True)
    record = {
        "command": " ".join(["python", "bench/like.py", given.file.name, *sys.argv[2:]]),
        "bytes": given.file.stat().st_size,
        "pieces": SIZE,
        "versions": {name: version(name) for name in ("sentencepiece", "subword-nmt")},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "results": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "like.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
