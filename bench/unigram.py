"""Measure `train(model="unigram")` against the unigram trainers of sentencepiece and tokenizers.

    python bench/unigram.py [--corpora FOLDER] [--corpus NAME ...] [--megabytes 3] [--size 8000]
        [--repeats 3] [--core N] [--output FOLDER]

Each run is a process of its own, on one core (or, without `--core`, on all): seconds of its processors and
of the clock, and the most memory above what it held before (VmHWM, begun anew behind the imports). Lanes
take turns; the medians count. The first megabytes are learned from, the 300 kB behind them are held out: how
unlikely are they, in nats a character, under the pieces and scores of each, by the best way to cut each word
(the lane's own words: spaces before them, or `▁`)? A character that no piece holds is ten worse than the
worst. Goals: a fifth of the peer's processor time, a third of its memory, no more nats (0.1 %); ours is held
to sentencepiece. Result: unigram.json in bench/results (or --output). Without a folder: `corpora` in
`shared` beside the repository.
Leaves out: whether both learn the same (`tests/test_train_unigram*.py`).
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
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import RESULTS, processor
from encode_text import read
from memory import forgotten, memory, ready_memory

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
SENTENCEPIECE, TOKENIZERS = "sentencepiece", "tokenizers"
OWN, LIKE_SENTENCEPIECE, LIKE_TOKENIZERS = "ours", "ours, like sentencepiece", "ours, like huggingface"
PEERS = {OWN: SENTENCEPIECE, LIKE_SENTENCEPIECE: SENTENCEPIECE, LIKE_TOKENIZERS: TOKENIZERS}
CPU, CLOCK, MEMORY = "cpu_seconds", "seconds", "megabytes"
HELD_OUT = 300_000
TIMES, PART = 5, 3  # the goals: so many times as fast as the peer, in that part of its memory
Scores = dict[str, float]


# ---- one lane, in a process of its own ----


def sentencepiece_trains(path: Path, size: int) -> bytes:
    """Their trainer, from the file."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(path), model_writer=written, model_type="unigram", vocab_size=size, minloglevel=3
    )
    return written.getvalue()


def tokenizers_trains(path: Path, size: int) -> Any:
    """Their trainer, on words with a mark for spaces."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    options = {"vocab_size": size, "unk_token": "<unk>", "special_tokens": ["<unk>"]}
    made.train([str(path)], trainers.UnigramTrainer(**options, show_progress=False))
    return made


def ours_trains(path: Path, size: int, like: str | None) -> Any:
    """Ours, in one of its three ways."""
    import syllabary

    options = None
    if like == "huggingface":
        options = {"pre_tokenizer": "Metaspace", "unk_token": "<unk>", "special_tokens": ["<unk>"]}
    # Of our own 256 tokens are bytes: so the number of pieces that are learned is the same.
    size += 256 if like is None else 0
    return syllabary.train(path, size, model="unigram", like=like, options=options)


LANES: dict[str, Callable[[Path, int], Any]] = {
    SENTENCEPIECE: sentencepiece_trains,
    TOKENIZERS: tokenizers_trains,
    OWN: lambda path, size: ours_trains(path, size, None),
    LIKE_SENTENCEPIECE: lambda path, size: ours_trains(path, size, "sentencepiece"),
    LIKE_TOKENIZERS: lambda path, size: ours_trains(path, size, "huggingface"),
}


def scores_of(lane: str, made: Any) -> Scores:
    """The pieces that text is cut into, with their scores."""
    if lane == SENTENCEPIECE:
        import sentencepiece

        made = sentencepiece.SentencePieceProcessor(model_proto=made)
        every = range(made.vocab_size())
        kept = [i for i in every if not (made.is_control(i) or made.is_unknown(i))]
        return {made.id_to_piece(i): made.get_score(i) for i in kept}
    if lane == TOKENIZERS:
        return {text: score for text, score in json.loads(made.to_str())["model"]["vocab"] if score < 0}
    spec = made.spec
    left_out = spec.byte_tokens.keys() | set(spec.special_tokens.values()) | {spec.unknown}
    return {spec.tokens[i].decode(): score for i, score in spec.scores.items() if i not in left_out}


def one(lane: str, text: Path, size: int, written: Path) -> dict[str, float]:
    """One run, here; the pieces go to a file."""
    import numpy
    import sentencepiece
    import tokenizers

    import syllabary
    from syllabary.errors import CorpusWarning

    assert numpy, (sentencepiece, tokenizers, syllabary)
    warnings.simplefilter("ignore", CorpusWarning)  # Greek is in no normal form
    ready_memory()
    if not forgotten():
        print("the peaks count what imports held: this system lets none begin anew", file=sys.stderr)
    before, clock, own = memory("VmHWM"), time.perf_counter(), time.process_time()
    made = LANES[lane](text, size)
    found = {CPU: time.process_time() - own, CLOCK: time.perf_counter() - clock}
    found[MEMORY] = memory("VmHWM") - before
    written.write_text(json.dumps(scores_of(lane, made)), encoding="utf-8")
    return found


# ---- held-out text ----


def words_of(lane: str, lines: list[str]) -> Counter[str]:
    """The words that the lane's tokenizer cuts, with their counts."""
    if lane in (SENTENCEPIECE, LIKE_SENTENCEPIECE):
        return Counter("▁" + w for line in lines for w in unicodedata.normalize("NFKC", line).split())
    if lane in (TOKENIZERS, LIKE_TOKENIZERS):
        return Counter("▁" + word for line in lines if line for word in line.split(" "))
    from syllabary import PieceCounts

    counted = PieceCounts.of(lines).most_common()
    return Counter({word if isinstance(word, str) else word.decode(): count for word, count in counted})


def best(word: str, scores: Mapping[str, float], unknown: float, longest: int) -> float:
    """The score of the best way to cut a word."""
    reached = [0.0]
    for end in range(1, len(word) + 1):
        ways = [reached[end - 1] + unknown]
        for start in range(max(end - longest, 0), end):
            score = scores.get(word[start:end])
            if score is not None:
                ways.append(reached[start] + score)
        reached.append(max(ways))
    return reached[-1]


def nats(lane: str, scores: Scores, lines: list[str]) -> float:
    """How unlikely lines are, in nats a character."""
    unknown, longest = min(scores.values()) - 10, max(map(len, scores))
    total = sum(count * best(word, scores, unknown, longest) for word, count in words_of(lane, lines).items())
    return -total / sum(map(len, lines))


# ---- all lanes ----


def run(lane: str, text: Path, given: argparse.Namespace, folder: Path) -> dict[str, float]:
    """The answer of a process."""
    written = folder / "scores.json"
    command = [sys.executable, __file__, "--lane", lane, "--text", str(text), "--written", str(written)]
    bound = None if given.core is None else (lambda: os.sched_setaffinity(0, {given.core}))
    done = subprocess.run(
        [*command, "--size", str(given.size)], check=True, stdout=subprocess.PIPE, preexec_fn=bound
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"scores": json.loads(written.read_text(encoding="utf-8"))}


def measured(data: bytes, given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The medians of each lane, and its nats on what is held out."""
    cut = data.rindex(b"\n", 0, int(given.megabytes * 1e6)) + 1
    held_out = data[cut : cut + HELD_OUT].decode("utf-8", "ignore").split("\n")
    rows: dict[str, list[dict[str, float]]] = {lane: [] for lane in LANES}
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_bytes(data[:cut])
        for _turn in range(given.repeats):
            for lane in LANES:
                row: dict[str, Any] = run(lane, text, given, Path(folder))
                scores = row.pop("scores")
                rows[lane].append(row)
                found.setdefault(lane, {"nats": round(nats(lane, scores, held_out), 4)})
    for lane, runs in rows.items():
        found[lane] |= {
            name: round(statistics.median(row[name] for row in runs), 2) for name in (CPU, CLOCK, MEMORY)
        }
    return found


def goals(lanes: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """How each lane of ours stands to the peer that it is held to."""
    found = {}
    for lane, peer in PEERS.items():
        row, theirs = lanes[lane], lanes[peer]
        found[lane] = {
            "peer": peer,
            "times": round(theirs[CPU] / row[CPU], 2),
            "memory": round(row[MEMORY] / theirs[MEMORY], 3),
            "nats": round(row["nats"] - theirs["nats"], 4),
            "fast": theirs[CPU] >= TIMES * row[CPU],
            "small": PART * row[MEMORY] <= theirs[MEMORY],
            "likely": row["nats"] <= theirs["nats"] * 1.001,
        }
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--corpus", action="append", help="its name; else english and greek")
    parser.add_argument("--megabytes", type=float, default=3)
    parser.add_argument("--size", type=int, default=8_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--core", type=int)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--lane", choices=LANES, help=argparse.SUPPRESS)
    parser.add_argument("--text", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--written", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lane:
        print(json.dumps(one(given.lane, given.text, given.size, given.written)))
        return
    results = {}
    for name in given.corpus or ("english", "greek"):
        data = read(given.corpora / f"{name}.txt.xz", int(given.megabytes * 1e6) + HELD_OUT + 100_000)
        lanes = measured(data, given)
        results[name] = {"lanes": lanes, "goals": goals(lanes)}
        print(json.dumps({name: results[name]}, indent=1), flush=True)
    record = {
        "command": " ".join(["python", "bench/unigram.py", *sys.argv[1:]]),
        "versions": {name: version(name) for name in (SENTENCEPIECE, TOKENIZERS)},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "pieces": given.size,
        "megabytes": given.megabytes,
        "results": results,
    }
    given.output.mkdir(exist_ok=True)
    (given.output / "unigram.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
