"""Measure `syllabary.shards.write` against `Tokenizer.encode_files`, which it must come near: at least 80 %.

    python bench/shards.py --corpora FOLDER [--corpus english ...] [--megabytes 250] [--repeats 5]

The same text twice: as one file with documents by separator, and as files in a folder. Both lanes use every
core, start from the same files and take turns, the order turning round each time; the median of the turns
counts. What `encode_files` gives stays in memory, what `write` gives is on the disk, the start of its
processes included; that both gave the same ids is looked at before anything is timed. The result goes to
bench/results/shards.json with command, versions and machine.
The start of a process and the tokenizer's copy take some tenths of a second, whatever the size, so that the
corpus should be of hundreds of megabytes: several are read as one. Leaves out: formats that are slow to read
(XML, compression), where reading is what is measured.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import shutil
import statistics
import sys
import tempfile
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, Lane, measure, processor

import syllabary
from syllabary import shards
from syllabary.arguments import cores
from syllabary.corpus import Corpus, Reading
from syllabary.tokenizer import Tokenizer

SEPARATOR = "\n\n"
VOCAB_SIZE = 16_000
FILE_BYTES = 100_000  # of a file in the folder


def text_of(folder: Path, names: list[str], size: int) -> str:
    """The first `size` bytes of the corpora, one after the other."""
    data = bytearray()
    for name in names:
        path = next(path for path in (folder / f"{name}.txt", folder / f"{name}.txt.xz") if path.exists())
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            data += file.read(size - len(data))
    return data.decode("utf-8", "ignore")


def in_files(text: str, folder: Path) -> list[Path]:
    """The text as files of about FILE_BYTES characters."""
    folder.mkdir()
    paths = []
    for number, start in enumerate(range(0, len(text), FILE_BYTES)):
        paths.append(folder / f"{number:06d}.txt")
        paths[-1].write_text(text[start : start + FILE_BYTES], "utf-8", newline="")
    return paths


def lanes(tok: Tokenizer, text: str, folder: Path) -> dict[str, dict[str, Lane]]:
    """Shape of the corpus -> lane -> what is timed."""
    one = folder / "one.txt"
    one.write_text(text, "utf-8", newline="")
    many = in_files(text, folder / "many")
    out = folder / "shards"

    def write(source: Path, reading: Reading) -> shards.Shards:
        return shards.write(Corpus(source, reading), tok, out, special="text", force=True)

    by_separator = Reading(separator=SEPARATOR)
    return {
        "separator": {
            "encode_files": lambda: tok.encode_files(one, separator=SEPARATOR, special="text"),
            "shards.write": lambda: write(one, by_separator),
        },
        "folder": {
            "encode_files": lambda: tok.encode_files(many, special="text"),
            "shards.write": lambda: write(folder / "many", Reading()),
        },
    }


def same_answers(pair: dict[str, Lane]) -> int:
    """Stop if the two lanes do not give the same ids; the number of documents. Warms both up."""
    ours, theirs = pair["shards.write"](), pair["encode_files"]()
    if not np.array_equal(ours.train.ids, theirs.ids) or not np.array_equal(
        ours.train.offsets, theirs.offsets
    ):
        raise SystemExit("the shards hold other ids than encode_files gives: there is nothing to compare")
    return len(theirs)


def bench(folder: Path, names: list[str], megabytes: float, repeats: int) -> list[dict[str, Any]]:
    """A row for each shape of a corpus."""
    text = text_of(folder, names, int(megabytes * 1e6))
    size, name = len(text.encode()), "+".join(names)
    tok = syllabary.train([text[:10_000_000]], vocab_size=VOCAB_SIZE)
    results = []
    work = Path(tempfile.mkdtemp())
    try:
        for shape, pair in lanes(tok, text, work).items():
            documents = same_answers(pair)
            seconds = measure(pair, repeats)
            rates = {lane: size / statistics.median(turns) / 1e6 for lane, turns in seconds.items()}
            share = rates["shards.write"] / rates["encode_files"]
            print(f"{name:<12} {shape:<10} {size / 1e6:>6.1f} MB {documents:>8} documents", end="")
            print("".join(f" {lane} {rate:.1f} MB/s" for lane, rate in rates.items()), f"{share:.0%}")
            results.append(
                {
                    "corpus": name,
                    "shape": shape,
                    "bytes": size,
                    "documents": documents,
                    "seconds": seconds,
                    "mb_per_second": rates,
                    "share": share,
                }
            )
    finally:
        shutil.rmtree(work)
    return results


def main() -> None:
    """Measure, print, write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--corpus", action="append", help="its name without suffix (repeatable)")
    parser.add_argument("--megabytes", type=float, default=250)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    names = options.corpus or ["english"]
    results = bench(options.corpora, names, options.megabytes, options.repeats)
    record = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python bench/shards.py --corpora FOLDER --megabytes {options.megabytes:g} "
        f"--repeats {options.repeats} " + " ".join(f"--corpus {name}" for name in names),
        "versions": {name: version(name) for name in ("syllabary", "numpy")},
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": processor(), "cores": os.cpu_count()},
        "cores_used": cores(),
        "vocab_size": VOCAB_SIZE,
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "shards.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
