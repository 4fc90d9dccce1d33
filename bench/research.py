"""The research options on real text: seconds, memory, and what they change.

    python bench/research.py --corpora FOLDER

FOLDER has `english.txt.xz` and its like, as the other measurements take them. Each measurement runs in a
process of its own, on one thread; its seconds are those that the processor worked for it, its memory the peak
above what was there before training. Bytes a token are of text that was not learned from, but for
translations, where it is the same. What is printed goes to bench/results/research.json too.
Leaves out: comparing other tools' training, but for parity (`compare.py`).
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, processor

import syllabary
from syllabary import Parity

Row = dict[str, Any]
SIZE = 5_000_000
HELD = 900_000
LANGUAGES = ("latin", "greek", "english", "chinese")


def prepare(corpora: Path, folder: Path) -> None:
    """The texts as plain files: a process that unpacked them itself would have had their size already."""
    for name in LANGUAGES:
        with lzma.open(corpora / f"{name}.txt.xz") as file:
            data = file.read()
        (folder / f"{name}-all.txt").write_bytes(data)
        (folder / f"{name}.txt").write_text(data[:SIZE].decode("utf-8", "ignore"), encoding="utf-8")
        held = data[SIZE + 100_000 : SIZE + 100_000 + HELD].decode("utf-8", "ignore")
        (folder / f"{name}-held.txt").write_text(held, encoding="utf-8")
    with lzma.open(corpora / "multilingual.txt.xz", "rt", encoding="utf-8") as lines:
        text = lines.read()
    (folder / "translations").mkdir()
    for part in re.split(r"(?=^Bible\()", text, flags=re.MULTILINE):
        if 7800 < part.count("\n") < 8100:  # those that have all of the New Testament
            (folder / "translations" / f"{part[6:9]}.txt").write_text(part, encoding="utf-8")


def peak() -> float:
    """The most memory this process has had, in MB."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1000 if found else 0.0


def trained(train: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, Row]:
    """What was trained, its seconds and MB."""
    before, start = peak(), time.process_time()
    made = train(*arguments, threads=1, **options)
    return made, {"seconds": round(time.process_time() - start, 1), "MB": round(peak() - before)}


def spread(sizes: Mapping[str, float]) -> str:
    """The largest over the smallest."""
    return f"{max(sizes.values()) / min(sizes.values()):.2f}"


def superwords(folder: Path, name: str, begin: int | None) -> Row:
    """Training to 32,000 tokens, those past `begin` may join words."""
    tok, row = trained(syllabary.train, folder / f"{name}.txt", 32_000, superwords=begin)
    held = (folder / f"{name.partition('-')[0]}-held.txt").read_text(encoding="utf-8")
    start = time.process_time()
    count = tok.count(held)
    speed = len(held.encode()) / 1e6 / (time.process_time() - start)
    return row | {"bytes a token": round(len(held.encode()) / count, 2), "count, MB/s": round(speed, 1)}


def parity_of_corpora(folder: Path, alike: bool, split: str = "o200k") -> Row:
    """Four corpora of 5 MB, 32,000 tokens: bytes a token of each."""
    paths = {name: folder / f"{name}.txt" for name in LANGUAGES}
    source = paths if alike else list(paths.values())
    tok, row = trained(syllabary.train, source, 32_000, split=split)
    held = {name: (folder / f"{name}-held.txt").read_text(encoding="utf-8") for name in LANGUAGES}
    sizes = {name: len(text.encode()) / tok.count(text) for name, text in held.items()}
    return row | {name: round(size, 2) for name, size in sizes.items()} | {"max/min": spread(sizes)}


def parity_by_peer(folder: Path) -> Row:
    """The same four corpora by Hugging Face's trainer, with GPT-2's split; its threads are its own."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    lines = [(folder / f"{name}.txt").read_text(encoding="utf-8").splitlines(True) for name in LANGUAGES]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.ParityBpeTrainer(num_merges=31_744, min_frequency=2, show_progress=False)

    def train(threads: int) -> None:
        trainer.train_from_iterator(tokenizer, [iter(text) for text in lines], ratio=[1.0] * len(lines))

    return trained(train)[1]


def parity_of_translations(folder: Path, way: str) -> Row:
    """The New Testament in many languages, 32,000 tokens: tokens of the same text."""
    paths = {path.stem: path for path in sorted((folder / "translations").iterdir())}
    source = list(paths.values()) if way == "plain" else paths
    ways = {"dev": Parity(dev=paths), "dev, window": Parity(dev=paths, window=100)}
    tok, row = trained(syllabary.train, source, 32_000, parity=ways.get(way))
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    tokens = {name: float(tok.count(text)) for name, text in texts.items()}
    sizes = {name: len(text.encode()) / tokens[name] for name, text in texts.items()}
    totals = {"languages": len(texts), "tokens in all": round(sum(tokens.values()))}
    return row | totals | {"tokens max/min": spread(tokens), "bytes a token max/min": spread(sizes)}


def words(folder: Path, fallback: bool) -> Row:
    """All Latin, 8,000 merges of words."""
    options: Row = {"num_merges": 8000, "unit": "word", "fallback": fallback}
    tok, row = trained(syllabary.train, folder / "latin-all.txt", **options)
    return row | {"symbols": tok.vocab_size - len(tok.merges), "merges": len(tok.merges)}


def integers(folder: Path, name: str) -> Row:
    """20 million integers and 8,000 merges: bytes of a text without any split, or bases drawn at random."""
    if name == "bases":
        data = np.random.default_rng(1).integers(0, 4, 20_000_000, dtype=np.uint32)
    else:
        data = np.fromfile(folder / f"{name}-all.txt", np.uint8, 20_000_000).astype(np.uint32)
    tok, row = trained(syllabary.train_ids, [data], num_merges=8000)
    start = time.process_time()
    ids = tok.encode(data)
    seconds = time.process_time() - start
    assert np.array_equal(tok.decode(ids), data)
    return row | {"encode, seconds": round(seconds, 1), "integers a token": round(len(data) / len(ids), 2)}


MEASURES: dict[str, Callable[[Path], Row]] = {
    **{f"{name}, plain": partial(superwords, name=name, begin=None) for name in ("english", "latin")},
    **{
        f"{name}, superwords from 24,000": partial(superwords, name=name, begin=24_000)
        for name in ("english", "latin", "english-all")
    },
    "four corpora, plain": partial(parity_of_corpora, alike=False),
    "four corpora, parity": partial(parity_of_corpora, alike=True),
    "four corpora, parity, split gpt2": partial(parity_of_corpora, alike=True, split="gpt2"),
    "four corpora, parity, split gpt2, tokenizers 0.23.3": parity_by_peer,
    **{
        f"translations, {way}": partial(parity_of_translations, way=way)
        for way in ("plain", "own text", "dev", "dev, window")
    },
    "latin-all, words": partial(words, fallback=False),
    "latin-all, words with fallback": partial(words, fallback=True),
    "latin as 20 million integers": partial(integers, name="latin"),
    "20 million bases": partial(integers, name="bases"),
}


def main() -> None:
    """Run each measurement in a process of its own, or the one asked for here."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--corpora", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--one", choices=MEASURES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        warnings.simplefilter("ignore")
        print(json.dumps(MEASURES[arguments.one](arguments.corpora)))
        return
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as name:
        prepare(arguments.corpora, Path(name))
        for measure in MEASURES:
            command = [sys.executable, __file__, "--corpora", name, "--one", measure]
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True)
            rows[measure] = json.loads(done.stdout)
            told = ", ".join(f"{key} {value}" for key, value in rows[measure].items())
            print(f"- {measure}: {told}", flush=True)
    record = {"processor": processor(), "syllabary": syllabary.__version__, "rows": rows}
    (RESULTS / "research.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
