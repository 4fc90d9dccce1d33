"""The parts of `bench/encode.py`: which lane does what on which text, cell by cell.

Leaves out: running them; what the rows are to reach (`encode_goals.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import encode_text
from encode_lane import Task
from encode_peers import RC3, Source

CORPORA = ("english", "latin", "greek", "chinese", "multilingual", "code")
RANKS = ("r50k", "cl100k", "o200k")
FEW = ("english", "greek", "chinese")
FAST = ("gigatoken", "fastokens", RC3)
OURS = "syllabary"
# No library has a scanner for this one.
PATTERN = r"\p{Lu}?[\p{Ll}\p{M}]+|\p{L}|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
SHORT = {"36 B": 36, "1 KB": 1000}
CALLS = 20_000


class Cell(NamedTuple):
    """Lanes that take turns on the same work. compared: their ids are to be equal.

    pair: a lane's name -> the lane that runs in two processes at once, each on half of the texts.
    """

    part: str
    corpus: str
    vocab: str
    tasks: dict[str, Task]
    compared: bool = True


class Setup:
    """Texts and vocabularies, prepared when they are asked for."""

    def __init__(
        self, corpora: Path, vocabs: Path, peers: Path, folder: Path, megabytes: float, installed: Sequence[str]
    ) -> None:
        self.corpora, self.vocabs, self.peers = encode_text.corpora(corpora), vocabs, peers
        self.folder, self.size, self.installed = folder, int(megabytes * 1e6), installed
        self.cores = sorted(os.sched_getaffinity(0))
        self.texts = cache(self._texts)
        self.source = cache(self._source)

    def _write(self, name: str, documents: Sequence[bytes]) -> str:
        return str(encode_text.write(self.folder / f"{name}.docs", documents))

    def _texts(self, corpus: str, kind: str) -> str:
        """A file of documents: "documents", "more" (twice as much), "whole" (1 MB each), "36 B", "1 KB"."""
        data = encode_text.read(self.corpora[corpus])
        name = f"{corpus}-{kind.replace(' ', '')}"
        if kind in SHORT:
            calls = min(CALLS, len(data) // SHORT[kind] // 2) * 10 // 9
            return self._write(name, encode_text.strings(data, SHORT[kind], calls))
        if kind == "whole":
            return self._write(name, list(encode_text.cut(data[: self.size * 2 // 7], max(1, self.size // 14))))
        size = self.size * (2 if kind == "more" else 1)
        return self._write(name, encode_text.spread(list(encode_text.cut(data)), size))

    def _source(self, vocab: str, pattern: str | None = None) -> Source:
        """The published file, and its tokenizer.json for those who need one."""
        published = self.vocabs / encode_text.VOCABS[vocab]
        made = "" if pattern else str(encode_text.tokenizer_json(published, self.folder))
        return Source(vocab, str(published), made, str(self.peers), pattern)

    def task(self, lane: str, part: str, vocab: str, texts: str, **options: object) -> Task:
        """On one core, unless said."""
        options = {"cores": (self.cores[-1],)} | options
        return Task(lane, part, self.source(vocab), texts, **options)  # type: ignore[arg-type]

    def lanes(self, *names: str) -> list[str]:
        """Ours, and those of the names that are installed."""
        return [OURS, *(name for name in names if name in self.installed)]


def first_pass(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Arrays: the first pass over documents, and warm ones."""
    for vocab in vocabs:
        for corpus in corpora:
            texts = setup.texts(corpus, "documents")
            tasks = {
                name: setup.task(name, "array", vocab, texts, passes=4 if name in (OURS, *FAST) else 1)
                for name in setup.lanes(*FAST, "tiktoken")
            }
            yield Cell("first-pass", corpus, vocab, tasks)


Part = Callable[[Setup, Sequence[str], Sequence[str]], Iterator[Cell]]
PARTS: dict[str, Part] = {"first-pass": first_pass}
