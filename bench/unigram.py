"""Measure `train(model="unigram")` against sentencepiece's unigram trainer, and write it down.

    python bench/unigram.py FILE... [--sizes 8000 32000] [--repeats 3]

Each run is a process of its own: seconds of CPU and of the clock, and the most memory above what the
imports took (VmHWM). Lanes take turns; the medians count. Of each file the last twentieth of the lines is
held out: how likely is it, in nats a character, under the vocabulary and scores that each has learned
(best way to cut). Results go to bench/results/unigram_train.json. Leaves out: whether both learn the same
(`tests/test_train_unigram.py`).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from common import RESULTS, processor

PEER, SAME, OWN = "sentencepiece", "ours, like sentencepiece", "ours"
HELD_OUT = 20


def sentencepiece_trains(path: Path, size: int, model: Path) -> None:
    """Their trainer, from the file."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(path), model_writer=written, model_type="unigram", vocab_size=size, minloglevel=3
    )
    model.write_bytes(written.getvalue())


def same_trains(path: Path, size: int, model: Path) -> None:
    """Ours, to the same model."""
    import syllabary

    syllabary.train(path, size, model="unigram", like="sentencepiece").save(model)


def own_trains(path: Path, size: int, model: Path) -> None:
    """Our own."""
    import syllabary

    syllabary.train(path, size, model="unigram").save(model, "syllabary")


LANES: dict[str, Callable[[Path, int, Path], None]] = {
    PEER: sentencepiece_trains,
    SAME: same_trains,
    OWN: own_trains,
}


def peak() -> int:
    """The most memory of this process so far, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def one(lane: str, path: Path, size: int, model: Path) -> dict[str, float]:
    """One run, here."""
    import numpy
    import sentencepiece

    import syllabary

    assert numpy, (sentencepiece, syllabary)
    before, clock, processor_time = peak(), time.perf_counter(), time.process_time()
    LANES[lane](path, size, model)
    return {
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - processor_time,
        "bytes": peak() - before,
    }


def nats(model: Path, text: str) -> float:
    """How unlikely text is, in nats a character, under the best way to cut each line."""
    import syllabary

    tok = syllabary.load(model)
    scores = tok.spec.scores or {}
    worst = min(scores.values()) - 10
    lines = text.split("\n")
    total = sum(scores.get(token, worst) for ids in tok.encode_batch(lines) for token in ids)
    return -total / sum(map(len, lines))


def measured(path: Path, size: int, repeats: int, folder: Path) -> dict[str, dict[str, float]]:
    """The medians of each lane."""
    lines = path.read_text(encoding="utf-8").split("\n")
    cut = len(lines) - len(lines) // HELD_OUT
    text = folder / "text.txt"
    text.write_text("\n".join(lines[:cut]), encoding="utf-8")
    rows: dict[str, list[dict[str, float]]] = {lane: [] for lane in LANES}
    for _turn in range(repeats):
        for lane in LANES:
            model = folder / ("own.syllabary.json" if lane == OWN else f"{lane.split()[0]}.model")
            command = [sys.executable, __file__, "--one", lane, "--model", str(model), str(text)]
            found = subprocess.run([*command, "--sizes", str(size)], check=True, stdout=subprocess.PIPE)
            rows[lane].append(json.loads(found.stdout))
            rows[lane][-1]["nats"] = nats(model, "\n".join(lines[cut:]))
    return {
        lane: {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        for lane, runs in rows.items()
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8_000, 32_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", choices=LANES, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one, given.files[0], given.sizes[0], given.model)))
        return
    results = []
    for path in given.files:
        for size in given.sizes:
            with tempfile.TemporaryDirectory() as folder:
                lanes = measured(path, size, given.repeats, Path(folder))
            row = {"file": path.name, "file_bytes": path.stat().st_size, "pieces": size, "lanes": lanes}
            results.append(row)
            print(json.dumps(row), flush=True)
    record = {
        "command": " ".join(["python", "bench/unigram.py", *sys.argv[1:]]),
        "versions": {name: version(name) for name in ("sentencepiece", "syllabary")},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "unigram_train.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
