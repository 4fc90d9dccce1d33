"""Measure WordPiece, Unigram, bytes behind steps, text of ids and full encodings against their libraries.

    python bench/models.py [--corpora FOLDER] [--peers FOLDER] [--repeats 3] [--megabytes 4]
        [--only ROW ...] [--corpus NAME ...] [--clock wall|cpu] [--output FOLDER]

For each corpus the peers train a tokenizer on one part of it: tokenizers a WordPiece (BERT's steps,
uncased), a Unigram (T5's), byte-level ones (behind NFC, as Qwen's; cut at digits, as SmolLM's; by the three
splits of DeepSeek V3; by the steps of DeepSeek's coder, of Falcon and of CLIP; behind a space) and some of
characters (Gemma's steps; spaces as marks; cut at words, as in its tour; words with marked ends, as
GPT-1's), sentencepiece a Unigram. tokenizers 1.0.0rc3 refuses the steps of DeepSeek, Falcon and CLIP, and the
space, and gives a word of one letter with a marked end another id. Then every lane encodes other documents
of 3 KB in a process of its own, bound to one core, which sees the text for the first time; lanes take turns,
medians count. Digests of the ids (and, of full encodings, of offsets and masks) must be equal, else the exit
status is 1. A second pass is noted as "warm". "decode" makes text of the ids, a call a document. Result:
models.json in bench/results (or --output).
Without folders: `corpora` in `shared` beside the repository; peers: build/peers, as for `bench/encode.py`.
Leaves out: how they are trained (`models_made.py`), byte-pair encoding without such steps (`encode.py`),
training (`unigram.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import RESULTS, processor
from memory import ready_memory
from models_made import TRAINED_ON, train

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
CORPORA = ("english", "latin", "greek", "chinese", "multilingual", "code")
RC3 = "tokenizers 1.0.0rc3"
DOCUMENT = 3_000
# Row -> the tokenizer's file, its lanes, and how many times the speed of each is wanted.
ROWS: dict[str, tuple[str, dict[str, float]]] = {
    "wordpiece": ("wordpiece.json", {"tokenizers": 5, RC3: 2}),
    "words": ("words.json", {"tokenizers": 5, RC3: 2}),
    "tour": ("tour.json", {"tokenizers": 5, RC3: 2}),
    "ends": ("ends.json", {"tokenizers": 5}),
    "unigram": ("unigram.json", {"tokenizers": 5, RC3: 2}),
    "sentencepiece": ("sentencepiece.model", {"sentencepiece": 5}),
    "normalized": ("normalized.json", {"tokenizers": 5, RC3: 2}),
    "digits": ("digits.json", {"tokenizers": 5, RC3: 2}),
    "gemma": ("gemma.json", {"tokenizers": 5, RC3: 2}),
    "marks": ("marks.json", {"tokenizers": 5, RC3: 2}),
    "deepseek": ("deepseek.json", {"tokenizers": 5}),
    "coder": ("coder.json", {"tokenizers": 5}),
    "falcon": ("falcon.json", {"tokenizers": 5}),
    "clip": ("clip.json", {"tokenizers": 5}),
    "space": ("space.json", {"tokenizers": 5}),
    "decode-sentencepiece": ("sentencepiece.model", {"sentencepiece": 4}),
    "decode-wordpiece": ("wordpiece.json", {"tokenizers": 4, RC3: 4}),
    "full-wordpiece": ("wordpiece.json", {"tokenizers": 5}),
    "full-bytes": ("bytes.json", {"tokenizers": 5}),
}
Ids = Iterable[Iterable[int]]


# ---- one lane, in a process of its own ----


def plain(lane: str, path: str) -> Callable[[list[str]], Ids]:
    """Documents -> ids of each, as lists."""
    if lane == "syllabary":
        import syllabary

        tok = syllabary.load(path)
        return lambda texts: tok.encode_batch(texts, special="allow", threads=1)
    if lane == "sentencepiece":
        import sentencepiece

        model = sentencepiece.SentencePieceProcessor(model_file=path)
        return lambda texts: model.encode(texts, num_threads=1)
    from tokenizers import Tokenizer

    peer = Tokenizer.from_file(path)
    batch = peer.encode_batch if lane == RC3 else peer.encode_batch_fast  # that has one way for all
    return lambda texts: [one.ids for one in batch(texts, add_special_tokens=False)]


def full(lane: str, path: str) -> Callable[[list[str]], Any]:
    """Documents -> ids, offsets and masks, padded to the longest."""
    if lane == "syllabary":
        import syllabary

        tok = syllabary.load(path)
        return lambda texts: tok.encode_full_batch(texts, special="allow", threads=1)
    from tokenizers import Tokenizer

    peer = Tokenizer.from_file(path)
    return lambda texts: peer.encode_batch(texts)


def decoding(lane: str, path: str, texts: list[str]) -> Callable[[list[str]], list[str]]:
    """Documents -> the text of their ids, which are made here and now."""
    ids = [list(one) for one in plain(lane, path)(texts)]
    decode: Callable[[list[int]], str]
    if lane == "syllabary":
        import syllabary

        decode = syllabary.load(path).decode
    elif lane == "sentencepiece":
        import sentencepiece

        decode = sentencepiece.SentencePieceProcessor(model_file=path).decode
    else:
        from tokenizers import Tokenizer

        peer = Tokenizer.from_file(path)
        return lambda _texts: [peer.decode(one, skip_special_tokens=False) for one in ids]
    return lambda _texts: [decode(one) for one in ids]


def digest(lane: str, row: str, found: Any) -> str:
    """Of ids, and of full encodings of offsets and masks too."""
    total = hashlib.sha256()
    for one in found:
        if row.startswith("decode"):
            total.update(one.encode() + b"\0")
            continue
        if not row.startswith("full"):
            total.update(array("I", one).tobytes())
            continue
        total.update(array("I", one.ids).tobytes())
        total.update(array("I", one.attention_mask).tobytes())
        total.update(array("q", [int(place) for span in one.offsets for place in span]).tobytes())
    return total.hexdigest()[:16]


def work(task: dict[str, Any]) -> dict[str, Any]:
    """Two passes over the texts; seconds by the clock, and the digest."""
    os.sched_setaffinity(0, {0})
    texts = json.loads(Path(task["texts"]).read_text(encoding="utf-8"))
    lane, row = task["lane"], task["row"]
    if row.startswith("decode"):
        encode: Callable[[list[str]], Any] = decoding(lane, task["tokenizer"], texts)
    else:
        encode = (full if row.startswith("full") else plain)(lane, task["tokenizer"])
        encode(["A short one, first."])
    ready_memory()
    clock = time.process_time if task["clock"] == "cpu" else time.perf_counter
    seconds = []
    for _ in range(2):
        start = clock()
        found = encode(texts)
        seconds.append(clock() - start)
    return {"seconds": seconds, "digest": digest(lane, row, found)}


def run(task: dict[str, Any], peers: Path) -> dict[str, Any]:
    """The answer of a process; `RuntimeError` if it fails."""
    environment = os.environ | {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    if task["lane"] == RC3:
        path = [str(peers / "tokenizers-rc3"), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    command = [sys.executable, __file__, "--lane", json.dumps(task)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{task['lane']}, {task['row']}: {last}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


# ---- texts and tokenizers ----


def read(folder: Path, corpus: str) -> bytes:
    """A corpus, whole."""
    plain_file = folder / f"{corpus}.txt"
    if plain_file.is_file():
        return plain_file.read_bytes()
    return lzma.decompress((folder / f"{corpus}.txt.xz").read_bytes())


def documents(data: bytes, megabytes: float) -> list[str]:
    """Documents spread over all of a text but its beginning, on which the tokenizers were trained."""
    data = data[TRAINED_ON:]
    count = max(1, min(int(megabytes * 1e6), len(data)) // DOCUMENT)
    step = len(data) // count
    return [data[at * step : at * step + DOCUMENT].decode("utf-8", "ignore") for at in range(count)]


# ---- turns ----


def measure(row: str, task: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """MB/s of every lane of one row and corpus, and how many times the peers' speed ours is."""
    lanes = ["syllabary", *ROWS[row][1]]
    answers: dict[str, list[dict[str, Any]]] = {lane: [] for lane in lanes}
    for turn in range(given.repeats):
        for lane in lanes[:: -1 if turn % 2 else 1]:
            answers[lane].append(run(task | {"lane": lane, "row": row}, given.peers))
    rates = {
        lane: [task["bytes"] / statistics.median(each["seconds"][at] for each in told) / 1e6 for at in (0, 1)]
        for lane, told in answers.items()
    }
    own = rates["syllabary"]
    return {
        "first_mb_s": {lane: round(rate[0], 1) for lane, rate in rates.items()},
        "warm_mb_s": {lane: round(rate[1], 1) for lane, rate in rates.items()},
        "times": {lane: round(own[0] / rate[0], 2) for lane, rate in rates.items() if lane != "syllabary"},
        "goals": ROWS[row][1],
        "equal": len({each["digest"] for told in answers.values() for each in told}) == 1,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", help=argparse.SUPPRESS)
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--only", action="append", choices=[*ROWS])
    parser.add_argument("--corpus", action="append", choices=CORPORA)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.lane is not None:
        print(json.dumps(work(json.loads(given.lane))))
        return
    results: dict[str, dict[str, Any]] = {}
    equal = True
    for corpus in given.corpus or CORPORA:
        data = read(given.corpora, corpus)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            train(data, folder)
            texts = documents(data, given.megabytes)
            (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
            size = sum(len(text.encode()) for text in texts)
            for row in given.only or ROWS:
                task = {
                    "texts": str(folder / "texts.json"),
                    "tokenizer": str(folder / ROWS[row][0]),
                    "bytes": size,
                    "clock": given.clock,
                }
                cell = results.setdefault(row, {})[corpus] = measure(row, task, given)
                equal &= cell["equal"]
                print(
                    row,
                    corpus,
                    cell["first_mb_s"],
                    cell["times"],
                    "" if cell["equal"] else "NOT EQUAL",
                    flush=True,
                )
    write(results, given)
    sys.exit(0 if equal else 1)


def write(results: dict[str, dict[str, Any]], given: argparse.Namespace) -> None:
    """models.json."""
    record = {
        "command": " ".join(["python", "bench/models.py", *sys.argv[1:]]),
        "clock": given.clock,
        "versions": {name: version(name) for name in ("sentencepiece", "tokenizers")},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "results": results,
    }
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "models.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
