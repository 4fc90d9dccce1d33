"""Measure `train` against gigatoken, rustbpe, tokenizers and ffbpe: seconds, peak memory, equal merges.

    python bench/train.py --corpora FOLDER [--repeats 3] [--only NAME ...] [--output FOLDER]
        [--megabytes M] [--vocab-size N]

Every training has a process of its own (`train_lane.py`), which reads the file; the lanes take turns, the
order turning round each time, and the medians count. 32,000 tokens, GPT-2's split, two threads, all 256 bytes
in the alphabet. Beside that: one, two and seven threads (the saved bytes are compared); text without any
split; a gigabyte under `memory_limit`. gigatoken and ffbpe are measured where they are installed
(requirements-bench.txt).
Whose merges equal whose is looked at as well: tokenizers, ffbpe and rustbpe take lines as documents,
gigatoken and ours the file, so ours is trained once more on lines, tokenizers once more on the whole text.
Results go to train.json and train.png in bench/results (or --output). --only: a corpus, `unsplit`,
`memory-limit`. --megabytes, --vocab-size: for a trial (gigatoken goes on for long where no pair is left).
Leaves out: `like=` ("like.py").
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import train_text
from common import RESULTS, processor
from train_chart import draw
from train_goals import goals
from train_lane import Task

VOCAB_SIZE = 32_000
CORPORA = ("english", "greek", "multilingual", "code", "chinese")
PEERS = {"gigatoken": "file", "rustbpe": "lines", "tokenizers": "lines", "ffbpe": "lines"}  # documents
OURS, ONE, SEVEN = "syllabary", "syllabary, 1 thread", "syllabary, 7 threads"
UNSPLIT_SIZE = 256 + 8_000
UNSPLIT_MB = 20.0
LIMIT, LIMIT_BYTES = "256 MiB", 256 << 20
BIG = 1_000_000_000

Answer = dict[str, Any]


def run(task: Task) -> Answer:
    """What a process of its own says after this training; `RuntimeError` if it failed."""
    threads = {"RAYON_NUM_THREADS": str(task.threads), "TOKENIZERS_PARALLELISM": "true"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("train_lane.py")), json.dumps(task._asdict())],
        env=os.environ | threads,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RuntimeError(f"{task.lane}: {said}")
    answer: Answer = json.loads(done.stdout.splitlines()[-1])
    return answer


def turns(tasks: Mapping[str, Task], repeats: int) -> dict[str, list[Answer]]:
    """Answers of each lane, the order turning round each time. A peer that fails is out, and said."""
    answers: dict[str, list[Answer]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name in list(answers)[:: -1 if turn % 2 else 1]:
            try:
                answers[name].append(run(tasks[name]))
            except RuntimeError as error:
                if tasks[name].lane == OURS:
                    raise
                print(f"left out: {error}", file=sys.stderr)
                del answers[name]
                continue
            last = answers[name][-1]
            print(f"  {name:<21} {last['seconds']:>8.2f} s {last['peak_mb']:>8.1f} MB", flush=True)
    return answers


def row(corpus: str, name: str, task: Task, answers: Sequence[Answer]) -> dict[str, Any]:
    """A lane's medians, its turns, and what it learned; `SystemExit` if that changed from turn to turn."""
    digests = {key: answers[0][key] for key in ("learned", "tokens_digest", "merges_digest", "saved_digest")}
    if any(answer[key] != value for answer in answers for key, value in digests.items()):
        raise SystemExit(f"{name} learns something else in another turn: there is nothing to compare")
    seconds, peaks = ([round(answer[key], 4) for answer in answers] for key in ("seconds", "peak_mb"))
    return {
        "corpus": corpus,
        "lane": name,
        "bytes": Path(task.path).stat().st_size,
        "threads": task.threads,
        "documents": task.documents,
        "median_seconds": statistics.median(seconds),
        "median_peak_mb": statistics.median(peaks),
        "seconds": seconds,
        "peak_mb": peaks,
        **digests,
    }


def cells(ours: Task, repeats: int, peers: Sequence[str]) -> list[dict[str, Any]]:
    """A row a lane: ours with two, one and (once, for its bytes) seven threads, and the peers."""
    tasks = {OURS: ours, ONE: ours._replace(threads=1)}
    tasks |= {peer: ours._replace(lane=peer, documents=PEERS[peer]) for peer in peers}
    tasks[SEVEN] = ours._replace(threads=7)
    answers = turns({name: task for name, task in tasks.items() if name != SEVEN}, repeats)
    answers |= turns({SEVEN: tasks[SEVEN]}, 1)
    return [row(Path(ours.path).stem, name, tasks[name], found) for name, found in answers.items()]


def compared(ours: Task, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Peer by peer: whether what it learned is what ours learns from the same documents with its ties."""
    found = {row["lane"]: row for row in rows}
    corpus, known = Path(ours.path).stem, {"the same": found[OURS]}
    equal = []

    def compare(peer: str, theirs: Answer, how: str, task: Task) -> None:
        if how not in known:
            known[how] = run(task)
        keys = ("tokens_digest", "merges_digest") if theirs["merges_digest"] else ("tokens_digest",)
        same = all(theirs[key] == known[how][key] for key in keys)
        sizes = {"theirs": theirs["learned"], "ours": known[how]["learned"]}
        equal.append({"corpus": corpus, "peer": peer, "ours": how, "equal": same, "learned": sizes})
        print(f"  {peer}: {'equal' if same else 'NOT EQUAL'} to ours ({how})", flush=True)

    if "gigatoken" in found:
        compare("gigatoken", found["gigatoken"], "the same", ours)
    for peer in ("tokenizers", "ffbpe"):
        if peer in found:
            compare(peer, found[peer], "lines as documents", ours._replace(documents="lines"))
    if "rustbpe" in found:
        like = ours._replace(documents="lines", like="rustbpe")
        how = "lines as documents, like='rustbpe': bytes ordered by value"
        compare("rustbpe", found["rustbpe"], how, like)
    if "tokenizers" in found:
        whole = run(ours._replace(lane="tokenizers", documents="blocks"))
        compare("tokenizers, given the whole text", whole, "the same", ours)
    return equal


def unsplit(
    corpora: Mapping[str, Path], folder: Path, megabytes: float, peer: bool, repeats: int
) -> list[dict[str, Any]]:
    """No split at all: ours on the whole, and on a hundredth of it beside tokenizers (which is quadratic)."""
    chosen = [corpora[name] for name in ("english", "chinese") if name in corpora] or [*corpora.values()][:1]
    paths = [train_text.head(path, folder, megabytes) for path in chosen]
    paths.append(train_text.dna(folder, megabytes))
    rows = []
    for path in paths:
        name = path.stem.removesuffix("-head")
        print(f"unsplit: {name}", flush=True)
        whole = Task(OURS, str(path), UNSPLIT_SIZE, split=None)
        rows.append(row(name, OURS, whole, turns({OURS: whole}, repeats)[OURS]))
        little = whole._replace(path=str(train_text.head(path, folder, megabytes / 100)))
        lanes = {OURS: little} | ({"tokenizers": little._replace(lane="tokenizers")} if peer else {})
        answers = turns(lanes, 1)  # the peer takes minutes
        rows += [row(f"{name}, a hundredth", lane, lanes[lane], found) for lane, found in answers.items()]
    return rows


def memory_limit(
    corpora: Mapping[str, Path], folder: Path, size: int, vocab_size: int
) -> list[dict[str, Any]]:
    """A varied text of that size, without a limit and under it."""
    path = train_text.varied(corpora, folder, size)
    free = Task(OURS, str(path), vocab_size)
    tasks = {"no limit": free, LIMIT: free._replace(memory_limit=LIMIT)}
    print(f"memory limit: {path.stat().st_size / 1e6:.0f} MB", flush=True)
    answers = turns(tasks, 1)
    rows = [row("varied", name, tasks[name], found) for name, found in answers.items()]
    path.unlink()  # a gigabyte
    return rows


def installed(peers: Sequence[str]) -> dict[str, str | None]:
    """Versions; None for what is not installed."""
    found: dict[str, str | None] = {}
    for name in peers:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def measured(options: argparse.Namespace, record: dict[str, Any], folder: Path) -> None:
    """All parts that were asked for; the record is written after each: a run cut short is not lost."""
    corpora = train_text.unpack(options.corpora, folder, options.megabytes)
    names = [name for name in CORPORA if name in corpora] or list(corpora)
    wanted = options.only or [*names, "unsplit", "memory-limit"]
    if unknown := sorted(set(wanted) - {*corpora, "unsplit", "memory-limit"}):
        raise SystemExit(f"--only {unknown[0]}: there are {', '.join(corpora)}, unsplit, memory-limit")
    peers = [name for name in PEERS if record["versions"][name] is not None]
    for name in (name for name in dict.fromkeys([*names, *corpora]) if name in wanted):
        print(f"{name}: {corpora[name].stat().st_size / 1e6:.1f} MB", flush=True)
        ours = Task(OURS, str(corpora[name]), options.vocab_size)
        rows = cells(ours, options.repeats, peers)
        record["cells"] += rows
        record["equal"] += compared(ours, rows)
        write(record, options.output)
    share = 1.0 if options.megabytes is None else min(1.0, options.megabytes / 50)
    if "unsplit" in wanted:
        peer = "tokenizers" in peers
        record["unsplit"] = unsplit(corpora, folder, UNSPLIT_MB * share, peer, options.repeats)
        write(record, options.output)
    if "memory-limit" in wanted:
        record["memory_limit"] = memory_limit(corpora, folder, int(BIG * share), options.vocab_size)
        write(record, options.output)


def write(record: dict[str, Any], output: Path) -> None:
    """The record and its chart."""
    record["goals"] = goals(record, LIMIT_BYTES)
    output.mkdir(parents=True, exist_ok=True)
    (output / "train.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
    if record["cells"]:
        draw(record, output / "train.png")


def main() -> None:
    """Measure, print, write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, help="folder of .txt and .txt.xz files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="NAME", help="repeatable")
    parser.add_argument("--megabytes", type=float, help="of each corpus, at most: for a trial")
    parser.add_argument("--vocab-size", type=int, default=VOCAB_SIZE)
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args()
    command = f"python bench/train.py --repeats {options.repeats}"
    command += " --corpora FOLDER" if options.corpora else ""
    command += f" --megabytes {options.megabytes:g}" if options.megabytes is not None else ""
    command += f" --vocab-size {options.vocab_size}" if options.vocab_size != VOCAB_SIZE else ""
    versions = installed(["syllabary", *PEERS])
    for peer in (name for name, found in versions.items() if found is None):
        print(f"left out: {peer} is not installed", file=sys.stderr)
    record: dict[str, Any] = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": command + "".join(f" --only {name}" for name in options.only or ()),
        "versions": versions,
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": processor(), "cores": os.cpu_count()},
        "vocab_size": options.vocab_size,
        "threads": 2,
        "cells": [],
        "equal": [],
        "unsplit": [],
        "memory_limit": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        measured(options, record, Path(folder))
    for goal in record["goals"]:
        print(f"{'met ' if goal['met'] else 'NOT '} {goal['goal']}: {goal['reached']}")


if __name__ == "__main__":
    main()
