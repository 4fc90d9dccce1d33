"""Measure `tok.as_transformers()` against `PreTrainedTokenizerFast` on a file, and write it down.

    python bench/as_transformers.py TEXT tokenizer.json [--repeats 5] [--documents 2000] [--batch 256]

Both open the same folder: the tokenizer given, and a BERT of 8,000 tokens trained here on the same text. The
lanes take turns in one process; each turn takes the whole file, batch after batch, and no document twice. The
medians count, in seconds of the clock and of the processor (all threads). Results go to
bench/results/as_transformers.json. Leaves out: whether both give the same (`tests/test_transformers.py`; what
is compared here is compared once more).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import RESULTS, processor
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from syllabary.compat.transformers import SyllabaryTokenizer

Batches = list[list[str]]
Call = Callable[[Any, Batches], Any]
FIT: dict[str, Any] = {"padding": True, "truncation": True, "max_length": 512}


def each(**options: Any) -> Call:
    """A call of the tokenizer on each batch."""
    return lambda tok, batches: [tok(batch, **options) for batch in batches]


CALLS: dict[str, Call] = {
    "ids and mask": each(),
    "padded, numpy": each(return_tensors="np", **FIT),
    "padded, torch": each(return_tensors="pt", **FIT),
    "offsets": each(return_offsets_mapping=True),
    "one by one": lambda tok, batches: [tok(text) for batch in batches for text in batch],
}


def bert(texts: list[str], path: Path) -> None:
    """An uncased BERT tokenizer, trained on the texts."""
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer, tok.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special, show_progress=False)
    tok.train_from_iterator(texts, trainer)
    tok.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tok.save(str(path))


def folder(name: str, path: Path, texts: list[str], given: Path) -> dict[str, Any]:
    """Both tokenizers on one folder."""
    path.mkdir()
    if name == "bert":
        bert(texts, path / "tokenizer.json")
    else:
        (path / "tokenizer.json").write_bytes(given.read_bytes())
    classes = {"theirs": PreTrainedTokenizerFast, "ours": SyllabaryTokenizer}
    found = {lane: made.from_pretrained(path, model_max_length=10**9) for lane, made in classes.items()}
    for tok in found.values():
        tok.pad_token = "[PAD]" if name == "bert" else next(iter(tok.get_added_vocab()))
    return found


def plain(value: Any) -> Any:
    """Arrays and tensors as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def check(toks: dict[str, Any], call: Call, batches: Batches) -> None:
    """Stop where the two differ."""
    found = [call(tok, batches[:1]) for tok in toks.values()]
    for one, other in zip(*found, strict=True):
        assert {key: plain(one[key]) for key in one} == {key: plain(other[key]) for key in other}


def turns(toks: dict[str, Any], call: Call, batches: Batches, repeats: int) -> dict[str, float]:
    """Medians of both lanes, and how many times faster ours is."""
    clock: dict[str, list[float]] = {lane: [] for lane in toks}
    busy: dict[str, list[float]] = {lane: [] for lane in toks}
    for turn in range(repeats):
        for lane in list(toks)[:: -1 if turn % 2 else 1]:
            start, worked = time.perf_counter(), time.process_time()
            call(toks[lane], batches)
            clock[lane].append(time.perf_counter() - start)
            busy[lane].append(time.process_time() - worked)
    row: dict[str, float] = {}
    for name, seconds in (("", clock), ("_cpu", busy)):
        theirs, ours = (statistics.median(seconds[lane]) for lane in ("theirs", "ours"))
        row |= {f"theirs{name}_s": round(theirs, 4), f"ours{name}_s": round(ours, 4)}
        row[f"times{name}"] = round(theirs / ours, 1)
    return row


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=256)
    given = parser.parse_args()
    text = given.text.read_text(encoding="utf-8")
    size = max(1, min(2000, len(text) // given.documents))
    texts = [text[start : start + size] for start in range(0, size * given.documents, size)]
    batches = [texts[start : start + given.batch] for start in range(0, len(texts), given.batch)]
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        for name in ("given", "bert"):
            toks = folder(name, Path(place) / name, texts, given.tokenizer)
            for said, call in CALLS.items():
                check(toks, call, batches)
                results.setdefault(name, {})[said] = row = turns(toks, call, batches, given.repeats)
                print(name, said, row, flush=True)
    record = {
        "command": " ".join(
            ["python", "bench/as_transformers.py", given.text.name, given.tokenizer.name, *sys.argv[3:]]
        ),
        "characters": len(text),
        "documents": len(texts),
        "characters_each": size,
        "versions": {name: version(name) for name in ("transformers", "tokenizers")},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "as_transformers.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
