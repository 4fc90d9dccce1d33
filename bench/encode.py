"""Measure encoding and decoding against gigatoken, fastokens, tiktoken, tokenizers and sentencepiece.

    python bench/encode.py [--corpora FOLDER] [--vocabs FOLDER] [--peers FOLDER] [--repeats 3]
        [--only PART ...] [--vocab NAME ...] [--corpus NAME ...] [--lane NAME ...] [--megabytes 14]
        [--clock wall|cpu] [--add] [--output FOLDER]

Every lane of a cell works in a process of its own (`encode_lane.py`), bound to one core unless it is about
threads, on documents of 3 KB spread over the corpus; the lanes take turns, the order turning round each time,
and the medians count. "first" is the first time that a process sees the text, after one short string; "warm"
are its passes after that. Digests of the ids are compared: a lane with other ids than ours is named, its row
is left out of the goals, and the exit status is 1.
Without folders: `corpora` and `vocabs` in `shared` beside the repository; peers: build/peers, where
`make bench` puts tokenizers 1.0.0rc3, which cannot be installed beside the released one. What is not
installed is left out, and said. Results: encode.json and encode.png in bench/results (or --output).
--clock cpu: for a machine that does other work as well. --add: cells that are not measured now stay as they
are in the record, which names the command and time of each series.
Leaves out: training (`train.py`).
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import RESULTS, processor
from encode_chart import draw
from encode_goals import goals, per_byte
from encode_lane import Task
from encode_parts import CORPORA, LISTED, OWN, PARTS, RANKS, Cell, Folders, Setup
from encode_peers import LANES, RC3

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

Answer = dict[str, Any]


def compile_ours() -> None:
    """Bytecode of our modules, which pip makes of a package that it installs, and so has every peer."""
    found = find_spec("syllabary")
    for folder in (found and found.submodule_search_locations) or ():
        compileall.compile_dir(folder, quiet=1)


def start(task: Task) -> subprocess.Popen[str]:
    """A process of its own."""
    threads = {"RAYON_NUM_THREADS": str(len(task.cores)), "TOKENIZERS_PARALLELISM": "true"}
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("encode_lane.py")), json.dumps(task._asdict())],
        env=os.environ | threads,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], task: Task) -> Answer:
    """What it says; `RuntimeError` if it failed."""
    said, error = process.communicate("\n" if task.gate else None)
    if process.returncode:
        last = (error.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
        raise RuntimeError(f"{task.lane}, {task.part}: {last}")
    answer: Answer = json.loads(said.splitlines()[-1])
    return answer


def run(task: Task) -> Answer:
    """A task without company."""
    return ended(start(task), task)


def run_pair(task: Task) -> Answer:
    """Two processes at once, each on a core and half of the texts: from the first start to the last end."""
    tasks = [task._replace(cores=(core,), share=(at, None, 2)) for at, core in enumerate(task.cores)]
    processes = [start(half) for half in tasks]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # "ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [ended(process, half) for process, half in zip(processes, tasks, strict=True)]
    began = min(answer["began"] for answer in answers)
    took = max(answer["began"] + answer["seconds"][0] for answer in answers) - began
    sums = {
        key: sum(answer[key] for answer in answers) for key in ("ids", "bytes", "load_peak_mb", "peak_mb")
    }
    return {"seconds": [took], "cpu_seconds": [took], "digest": None, "head_digest": None, **sums}


def turns(cell: Cell, repeats: int) -> dict[str, list[Answer]]:
    """Answers of each lane, the order turning round each time. A peer that fails is out, and said."""
    tasks = cell.tasks
    answers: dict[str, list[Answer]] = {name: [] for name in tasks}
    for turn in range(repeats):
        names = [name for name in answers if not turn or name not in cell.once]
        for name in names[:: -1 if turn % 2 else 1]:
            try:
                answers[name].append((run_pair if name in cell.pairs else run)(tasks[name]))
            except RuntimeError as error:
                if tasks[name].lane in OWN:
                    raise
                print(f"left out: {error}", file=sys.stderr)
                del answers[name]
    return answers


def row(cell: Cell, name: str, answers: Sequence[Answer], clock: str) -> dict[str, Any]:
    """A lane's medians and turns, and what came out."""
    key = "seconds" if clock == "wall" else "cpu_seconds"
    passes = [[float(f"{seconds:.4g}") for seconds in answer[key]] for answer in answers]
    warm = [seconds for times in passes for seconds in times[1:]]
    last = answers[-1]
    peaks = {
        f"median_{key}": round(statistics.median(answer[key] for answer in answers), 2)
        for key in ("load_peak_mb", "work_peak_mb", "peak_mb", "warm_peak_mb")
        if last.get(key) is not None
    }
    return {
        "part": cell.part,
        "corpus": cell.corpus,
        "vocab": cell.vocab,
        "lane": name,
        "bytes": last["bytes"],
        "ids": last["ids"],
        "median_first": statistics.median(times[0] for times in passes),
        "median_warm": statistics.median(warm) if warm else None,
        **peaks,
        "seconds": passes,
        "digest": last["digest"],
        "head_digest": last["head_digest"],
        "equal": True,
    }


def compare(cell: Cell, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Marks rows whose ids are not ours on the same texts; an error for each."""
    ours: dict[str, dict[str, Any]] = {}
    for one in rows:
        task = cell.tasks[one["lane"]]
        if task.lane in OWN and not task.head:
            ours.setdefault(task.texts, one)
    errors = []
    for other in rows:
        task = cell.tasks[other["lane"]]
        same = ours[task.texts]
        if other["digest"] is None or same["digest"] is None:  # of a number only, or of halves
            part = task.head or task.share != Task._field_defaults["share"]
            other["equal"] = part or other["ids"] == same["ids"]
        else:
            other["equal"] = other["digest"] == same["head_digest" if task.head else "digest"]
        if not other["equal"]:
            where = ", ".join(filter(None, (cell.part, cell.corpus, cell.vocab)))
            errors.append(f"{other['lane']} gives other ids than ours: {where}")
    return errors


def told(cell: Cell, rows: Sequence[dict[str, Any]]) -> None:
    """A line a lane: first and warm, how many times as long as ours, and memory."""
    print(f"{cell.part}: {cell.corpus} {cell.vocab}")
    for one in rows:
        line = f"  {one['lane']:<30}"
        for key in ("median_first", "median_warm"):
            if one[key] is None:
                continue
            if cell.part.startswith(("short", "load")):
                line += f"{one[key] * 1e6:>10.2f} µs" if one[key] < 1e-3 else f"{one[key] * 1e3:>10.1f} ms"
            else:
                line += f"{one['bytes'] / one[key] / 1e6:>8.1f} MB/s"
            line += f" ({per_byte(one, key) / per_byte(rows[0], key):>5.2f})"
        peak = f"{one['median_peak_mb']:>8.1f} MB" if "median_peak_mb" in one else ""
        print(f"{line}{peak}{'' if one['equal'] else '  OTHER IDS'}", flush=True)


def installed(peers: Path) -> dict[str, str | None]:
    """Versions; None for what is not installed."""
    found: dict[str, str | None] = {}
    for name in (name for name in LANES if name != LISTED):
        try:
            found[name] = version(name) if name != RC3 else None
        except PackageNotFoundError:
            found[name] = None
    if (peers / "tokenizers-rc3" / "tokenizers").is_dir():
        found[RC3] = "1.0.0rc3"
    return found


def measured(
    options: argparse.Namespace, record: dict[str, Any], setup: Setup, earlier: dict[str, Any] | None
) -> list[str]:
    """All cells that were asked for; the record is written after each part: a run cut short is not lost."""
    errors: list[str] = []
    for part in options.only or PARTS:
        for cell in PARTS[part](setup, options.vocab or RANKS, options.corpus):
            answers = turns(cell, options.repeats)
            clock = "wall" if part == "threads" else options.clock
            rows = [row(cell, name, found, clock) for name, found in answers.items()]
            errors += compare(cell, rows)
            told(cell, rows)
            record["rows"] += rows
        write(record, options.output, earlier)
    return errors


def added(earlier: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """The earlier record with the cells of this one in the place of its own; both name their commands."""
    cells = {(one["part"], one["corpus"], one["vocab"]) for one in record["rows"]}
    kept = [one for one in earlier["rows"] if (one["part"], one["corpus"], one["vocab"]) not in cells]
    commands = f"{earlier['command']} ; {record['when'][:16]}: {record['command']}"
    processors = dict.fromkeys([*earlier["machine"]["processor"].split("; "), record["machine"]["processor"]])
    machine = record["machine"] | {"processor": "; ".join(processors)}
    minutes = {"minutes": round(earlier.get("minutes", 0) + record.get("minutes", 0), 1)}
    rows = {"command": commands, "machine": machine, "rows": [*kept, *record["rows"]]}
    return record | {"when": earlier["when"]} | rows | minutes


def write(record: dict[str, Any], output: Path, earlier: dict[str, Any] | None) -> None:
    """The record and its chart; with what is kept of an earlier one."""
    record = record if earlier is None else added(earlier, record)
    record["goals"] = goals(record)
    output.mkdir(parents=True, exist_ok=True)
    (output / "encode.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
    if any(row["part"] == "first-pass" for row in record["rows"]):
        draw(record, output / "encode.png")


def huge_pages() -> str | None:
    """What the system does with them unasked: the same for every lane."""
    path = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return path.read_text().partition("[")[2].partition("]")[0] if path.is_file() else None


def arguments() -> argparse.Namespace:
    """The options, names checked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora", help=".txt and .txt.xz files")
    parser.add_argument("--vocabs", type=Path, default=SHARED / "vocabs", help="published files")
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--vocab", action="append", choices=RANKS, metavar="NAME", help=", ".join(RANKS))
    parser.add_argument("--corpus", action="append", choices=CORPORA, metavar="NAME", help=", ".join(CORPORA))
    parser.add_argument("--lane", action="append", choices=LANES, metavar="NAME", help=", ".join(LANES))
    parser.add_argument("--megabytes", type=float, default=14)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--add", action="store_true", help="keep what is not measured now")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args()
    options.lane = options.lane or list(LANES)
    return options


def command(options: argparse.Namespace) -> str:
    """How to run it again."""
    told = f"python bench/encode.py --repeats {options.repeats}"
    told += f" --megabytes {options.megabytes:g}" if options.megabytes != 14 else ""
    told += f" --clock {options.clock}" if options.clock != "wall" else ""
    for name in ("only", "vocab", "corpus"):
        told += "".join(f" --{name} {value}" for value in getattr(options, name) or ())
    return told


def main() -> None:
    """Measure, print, write down."""
    options = arguments()
    compile_ours()
    versions = installed(options.peers)
    for peer in (name for name, found in versions.items() if found is None):
        print(f"left out: {peer} is not installed", file=sys.stderr)
    record: dict[str, Any] = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": command(options),
        "versions": versions,
        "python": platform.python_version(),
        "machine": {
            "system": platform.system(),
            "processor": processor(),
            "cores": os.cpu_count(),
            "huge_pages": huge_pages(),
        },
        "clock": options.clock,
        "rows": [],
    }
    there = options.output / "encode.json"
    earlier = json.loads(there.read_text("utf-8")) if options.add and there.exists() else None
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        names = [name for name, found in versions.items() if found]
        folders = Folders(options.corpora, options.vocabs, options.peers)
        setup = Setup(folders, Path(folder), options.megabytes, names, options.lane)
        options.corpus = [name for name in options.corpus or CORPORA if name in setup.corpora]
        errors = measured(options, record, setup, earlier)
    record["minutes"] = round((time.monotonic() - began) / 60, 1)
    write(record, options.output, earlier)
    for goal in goals(record):
        print(f"{'met ' if goal['met'] else 'NOT '} {goal['goal']}: {goal['reached']}")
    if errors:
        raise SystemExit("\n".join(errors))


if __name__ == "__main__":
    main()
