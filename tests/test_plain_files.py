"""Plain files that the engine reads: the same counts, report, warnings and errors as if read in Python.

Leaves out: what reading means (`test_corpus`), and counting (`test_counts`).
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary import PieceCounts
from syllabary.corpus import Corpus, Reading
from syllabary.corpus.encoding import CHUNK, SAMPLE
from syllabary.errors import SyllabaryError
from syllabary.progress import Progress
from syllabary.training import feed as training_feed

WORDS = [
    "low",
    "lower",
    "newest\n",
    "né",
    "ne\u0301",
    "\u1f71",
    "北京",
    "𝄞",
    "don't",
    "  ",
    "<end>",
    "12",
    "\r\n",
]


def text_of(seed: int, size: int, words: list[str]) -> bytes:
    """About so many bytes of words."""
    draw = random.Random(seed)
    return " ".join(draw.choices(words, k=size // 4)).encode()[:size]


def both(
    source: Any, monkeypatch: pytest.MonkeyPatch, reading: dict[str, Any], **options: Any
) -> tuple[Any, Any]:
    """What comes of it: read by the engine, and read in Python."""
    found = []
    for by_engine in (True, False):
        seen: list[Progress] = []
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            if not by_engine:
                patch.setattr(training_feed, "Trainer", type(None))  # a trainer that reads no files
            corpus = Corpus(source, Reading(**reading))
            try:
                counts = PieceCounts.of(corpus, progress=seen.append, **options)
                came: Any = (
                    bytes(counts.data),
                    counts.ends.tolist(),
                    counts.counts.tolist(),
                    counts.size,
                    counts.corpus,
                )
            except SyllabaryError as error:
                came = type(error), str(error)
        found.append(
            (came, corpus.report, [str(one.message) for one in warned], [now.done for now in seen[-1:]])
        )
    return found[0], found[1]


ASCII = ["low", "lower", "newest\n", "12"]
FILES = {
    "ascii": text_of(1, 300_000, ASCII),
    "of one form": text_of(2, 2_500_000, [*ASCII, "né", "北京"]),
    "of all forms": text_of(3, 700_000, WORDS),
    "odd late": text_of(4, 3 * CHUNK, ASCII) + "\u1f71".encode() + text_of(5, CHUNK, WORDS),
    "character across a chunk": b"a" * (SAMPLE - 2) + "𝄞".encode() * CHUNK,
    "as long as a chunk": b"low " * (SAMPLE // 4),
    "some chunks, and no more": b"low " * (SAMPLE // 2),
    "marked": b"\xef\xbb\xbf" + text_of(6, 200_000, WORDS),
    "no line end": b"x" * 3_000_000,
    "bad byte at once": b"\xff" + text_of(7, 200_000, ASCII),
    "bad byte in a later chunk": text_of(8, 2 * CHUNK + 77, ASCII) + b"\xff" + text_of(9, CHUNK, WORDS),
    "bad byte behind half a character": b"a" * (2 * CHUNK - 1) + "é".encode()[:1] + b"a" * CHUNK,
    "ends in a character": text_of(10, 2 * CHUNK, ASCII) + "𝄞".encode()[:3],
    "half a character is all that is left": b"a" * (2 * CHUNK) + "𝄞".encode()[:2],
    "much of it bad": text_of(11, SAMPLE, ASCII) + bytes(range(128, 256)) * 3_000,
    "in another encoding": ("é war, là où" * 20_000).encode("cp1252"),
    "UTF-16": ("low né " * 60_000).encode("utf-16"),
}


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str, errors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(FILES[name])
    by_engine, in_python = both(path, monkeypatch, {"errors": errors}, threads=2)
    assert by_engine == in_python


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("split", ["gpt2", "o200k", "none", r"\w+|\W+"])
def test_many_files_between_documents(
    split: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source: list[Any] = ["low <end> né"]
    for number, data in enumerate(FILES.values()):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(data[:400_000])
        source += [path, "a document between <end> them"]
    options = {"split": split, "threads": threads, "special_tokens": ["<end>"]}
    by_engine, in_python = both(source, monkeypatch, {"on_error": "skip"}, **options)
    assert by_engine == in_python
    assert len(by_engine[1].skipped) == 7


@pytest.mark.parametrize(
    "reading", [{"documents": "line"}, {"separator": "\n\n"}, {"encoding": "utf-8"}, {"encoding": "latin-1"}]
)
def test_as_it_is_told(reading: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(FILES["of all forms"][:200_000])
    by_engine, in_python = both(path, monkeypatch, reading, like="huggingface")
    assert by_engine == in_python


@pytest.mark.parametrize("tie_break", ["first-seen", "largest-pair"])
def test_where_pieces_were_first_seen(
    tie_break: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(FILES["of all forms"])
    source = ["lower newest", path, "low", path]
    options: dict[str, Any] = {"num_merges": 12, "tie_break": tie_break}
    by_engine = syllabary.train(source, **options)
    monkeypatch.setattr(training_feed, "Trainer", type(None))
    assert syllabary.train(source, **options).spec == by_engine.spec


@pytest.mark.parametrize("options", [{"normalize": "NFC"}, {"unit": "char", "end_of_word": "</w>"}])
def test_text_that_must_be_seen_is_read_in_python(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(FILES["of one form"][:300_000])
    text = path.read_bytes().decode("utf-8", "ignore")
    path.write_bytes(text.encode())
    whole = syllabary.train([text], num_merges=9, **options).spec
    assert syllabary.train(path, num_merges=9, **options).spec == whole
    if "end_of_word" in options:
        path.write_bytes(text.encode() + b"</w>")
        with pytest.raises(syllabary.TrainingError, match=f"at character {len(text)}"):
            syllabary.train(path, num_merges=9, **options)


def test_what_is_raised_while_the_engine_reads_comes_out(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"low lower " * 1_000_000)

    def stop(now: Any) -> None:
        if now.done > 1 << 20:
            raise ZeroDivisionError(now.done)

    with pytest.raises(ZeroDivisionError):
        syllabary.train(path, 300, progress=stop)
