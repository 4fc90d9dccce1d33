"""Measure training and encoding against tiktoken and Hugging Face's tokenizers, and write down everything.

    python bench/run.py [--corpora FOLDER] [--megabytes 10] [--repeats 5]

Every lane works on the same text and, in encoding, with the same tokenizer, trained here; the vocabularies
learned and the ids given are compared before anything is timed. The lanes take turns inside one process, so
that a busy machine slows all of them; the median of the turns counts. A corpus shorter than `--megabytes` is
used once, as it is: text that repeats flatters caches. Results go to bench/results/ as JSON with command,
versions and machine.
Leaves out: memory, latency of short texts and scaling over threads (each lane has one thread).
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Before the libraries start their thread pools.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import tiktoken
import tokenizers
from common import RESULTS, Lane, measure, processor

import syllabary
from syllabary import splits
from syllabary.cli import sample
from syllabary.reference.bytes_to_unicode import spell

VOCAB_SIZE = 8_000
SPLIT = "gpt2"
LIKE: dict[str, Any] = {"alphabet": "all", "min_frequency": 2}
LINES = 200  # a document in encoding: tokenizers slows down on texts of megabytes, which would flatter us


def corpora(folder: Path | None, megabytes: float) -> dict[str, str]:
    """Name -> text, cut to the size asked for; without a folder, Python's own library."""
    size = int(megabytes * 1e6)
    if folder is None:
        return {"python-library": head("\n".join(sample.library().documents).encode(), size)}
    found = {}
    for path in sorted([*folder.glob("*.txt"), *folder.glob("*.txt.xz")]):
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            found[path.name.split(".")[0]] = head(file.read(size), size)
    if not found:
        raise SystemExit(f"{folder} holds no .txt or .txt.xz file")
    return found


def head(data: bytes, size: int) -> str:
    """The first `size` bytes, without a character cut in two."""
    return data[:size].decode("utf-8", "ignore")


def documents(text: str) -> list[str]:
    """The text in documents of some lines each; together they are the text."""
    lines = text.splitlines(keepends=True)
    return ["".join(lines[start : start + LINES]) for start in range(0, len(lines), LINES)]


def train_lanes(texts: list[str]) -> dict[str, Lane]:
    """The same task for each: a GPT-2-like tokenizer of VOCAB_SIZE tokens."""

    def peer() -> Any:
        model = tokenizers.Tokenizer(tokenizers.models.BPE())
        model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE, initial_alphabet=alphabet, show_progress=False, min_frequency=2
        )
        model.train_from_iterator(texts, trainer)
        return model

    def ours() -> Any:
        return syllabary.train(
            texts, vocab_size=VOCAB_SIZE, like="huggingface", split=SPLIT, threads=1, **LIKE
        )

    return {"syllabary": ours, "tokenizers": peer}


def encode_lanes(tok: syllabary.Tokenizer, texts: list[str]) -> dict[str, Lane]:
    """Text to lists of ids, one thread, the same tokenizer in each library."""
    with tempfile.TemporaryDirectory() as folder:
        tok.save(Path(folder, "tokenizer.json"))
        huggingface = tokenizers.Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
    ranks = {token: id_ for id_, token in tok.vocab.items()}
    pattern = splits.get(SPLIT).pattern
    openai = tiktoken.Encoding("bench", pat_str=str(pattern), mergeable_ranks=ranks, special_tokens={})
    return {
        "syllabary": lambda: tok.encode_batch(texts, special="text", threads=1),
        "tokenizers": lambda: [
            one.ids for one in huggingface.encode_batch_fast(texts, add_special_tokens=False)
        ],
        "tiktoken": lambda: openai.encode_ordinary_batch(texts, num_threads=1),
    }


def same_vocab(ours: syllabary.Tokenizer, peer: Any) -> None:
    """Stop if the two trainings have not learned the same tokens under the same ids."""
    if {spell(token): token_id for token_id, token in ours.vocab.items()} != peer.get_vocab():
        raise SystemExit("tokenizers has learned other tokens than syllabary: there is nothing to compare")


def same_answers(lanes: dict[str, Lane]) -> None:
    """Stop if the lanes do not do the same work. It also warms every lane up."""
    answers = {name: lane() for name, lane in lanes.items()}
    for name, answer in answers.items():
        if answer != answers["syllabary"]:
            raise SystemExit(f"{name} gives other ids than syllabary: there is nothing to compare")


def rows(corpus: str, task: str, size: int, seconds: dict[str, list[float]]) -> list[dict[str, Any]]:
    """A row a lane: the median, all turns, the rate, and how many times slower than ours."""
    ours = statistics.median(seconds["syllabary"])
    return [
        {
            "corpus": corpus,
            "task": task,
            "lane": lane,
            "bytes": size,
            "median_seconds": statistics.median(turns),
            "seconds": turns,
            "mb_per_second": size / statistics.median(turns) / 1e6,
            "times_of_syllabary": statistics.median(turns) / ours,
        }
        for lane, turns in seconds.items()
    ]


def bench(name: str, text: str, repeats: int) -> list[dict[str, Any]]:
    """Both tasks on one corpus."""
    texts, size = documents(text), len(text.encode())
    training = train_lanes(texts)
    tok = training["syllabary"]()
    same_vocab(tok, training["tokenizers"]())
    trained = rows(name, "train", size, measure(training, repeats))
    encoding = encode_lanes(tok, texts)
    same_answers(encoding)
    return trained + rows(name, "encode", size, measure(encoding, repeats))


def report(results: Sequence[dict[str, Any]], options: argparse.Namespace) -> Path:
    """Print the table and write the file."""
    print(f"{'corpus':<16} {'task':<7} {'lane':<11} {'MB':>6} {'median s':>9} {'MB/s':>8} {'x ours':>7}")
    for row in results:
        rate = f"{row['median_seconds']:>9.3f} {row['mb_per_second']:>8.1f} {row['times_of_syllabary']:>7.2f}"
        print(f"{row['corpus']:<16} {row['task']:<7} {row['lane']:<11} {row['bytes'] / 1e6:>6.1f} {rate}")
    stamp = datetime.now(timezone.utc)
    record = {
        "when": stamp.isoformat(timespec="seconds"),
        "command": f"python bench/run.py --megabytes {options.megabytes} --repeats {options.repeats}"
        + (" --corpora FOLDER" if options.corpora else ""),
        "versions": {name: version(name) for name in ("syllabary", "tokenizers", "tiktoken")},
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": processor(), "cores": os.cpu_count()},
        "vocab_size": VOCAB_SIZE,
        "results": list(results),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{stamp:%Y-%m-%dT%H%M%SZ}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, help="folder of .txt and .txt.xz files")
    parser.add_argument("--megabytes", type=float, default=10, help="of each corpus, at most")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    for name, text in corpora(options.corpora, options.megabytes).items():
        print(f"{name} …", file=sys.stderr)
        results += bench(name, text, options.repeats)
    print(f"\n{report(results, options)}")


if __name__ == "__main__":
    main()
