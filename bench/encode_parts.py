"""The parts of `bench/encode.py`: which lane does what on which text, cell by cell.

Leaves out: running them; what the rows are to reach (`encode_goals.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import encode_text
from encode_lane import Task
from encode_peers import RC3, Source


class Folders(NamedTuple):
    """Where corpora, published vocabularies and peers that cannot be installed lie."""

    corpora: Path
    vocabs: Path
    peers: Path


CORPORA = ("english", "latin", "greek", "chinese", "multilingual", "code")
RANKS = ("r50k", "cl100k", "o200k")
FEW = ("english", "greek", "chinese")
FAST = ("gigatoken", "fastokens", RC3)
ALL = (*FAST, "tiktoken", "tokenizers")
OURS = "syllabary"
LISTED = "syllabary, tokenizer.json"
OWN = (OURS, LISTED)
TWO, PAIR = "syllabary, 2 threads", "syllabary, 2 processes"
QUARTER = "syllabary, a quarter"
THIRD = "syllabary, a third"
MODEL = "mistral_v1"
# No library has a scanner for this one.
PATTERN = r"\p{Lu}?[\p{Ll}\p{M}]+|\p{L}|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
SHORT = {"36 B": 36, "1 KB": 1000}
CALLS = 20_000
WORST = ("one letter", "spaces", "digits", "one emoji", "random characters", "one word")


class Cell(NamedTuple):
    """Lanes that take turns on the same work: those in `pairs` in two processes at once, in `once` once."""

    part: str
    corpus: str
    vocab: str
    tasks: dict[str, Task]
    pairs: tuple[str, ...] = ()
    once: tuple[str, ...] = ()


class Setup:
    """Texts and vocabularies, prepared when they are asked for."""

    def __init__(
        self, folders: Folders, work: Path, megabytes: float, installed: Sequence[str], lanes: Sequence[str]
    ) -> None:
        self.corpora, self.vocabs, self.peers = (
            encode_text.corpora(folders.corpora),
            folders.vocabs,
            folders.peers,
        )
        self.work, self.size = work, int(megabytes * 1e6)
        self.chosen = [name for name in (OURS, *lanes) if name in installed]
        self.cores = sorted(os.sched_getaffinity(0))
        self.corpus = cache(lambda name: encode_text.unpacked(self.corpora[name], work))
        self.texts = cache(self._texts)
        self.source = cache(self._source)

    def _texts(self, corpus: str, kind: str) -> str:
        """A file of documents.

        kind: "documents", "more" (three times as much), "little" (a quarter), "large" (some of a
        fourteenth each), "worst" and "quarter" (one; `corpus` may be a name in WORST), "36 B", "1 KB".
        """
        return str(encode_text.write(self.work / f"{corpus}-{kind}.docs", self._documents(corpus, kind)))

    def _documents(self, corpus: str, kind: str) -> list[bytes]:
        if kind in ("worst", "quarter"):
            size = self.size // 14 // (4 if kind == "quarter" else 1)
            if corpus in WORST:
                return [encode_text.worst(size)[corpus]]
            return [encode_text.head(encode_text.read(self.corpus(corpus), size), size)]
        data = encode_text.read(self.corpus(corpus))
        if kind in SHORT:
            return encode_text.strings(data, SHORT[kind], min(CALLS, self.size // 4 // SHORT[kind]) * 10 // 9)
        if kind == "large":
            return list(encode_text.cut(encode_text.head(data, self.size * 4 // 14), self.size // 14))
        return encode_text.spread(
            list(encode_text.cut(data)), int(self.size * {"more": 3, "little": 0.25}.get(kind, 1))
        )

    def _source(self, vocab: str, pattern: str | None = None) -> Source:
        """The published file, and its tokenizer.json for those who need one."""
        published = self.vocabs / encode_text.VOCABS[vocab]
        if not published.is_file():
            raise SystemExit(f"{published} is missing: give --vocabs a folder that has it")
        wanted = not pattern and {"fastokens", RC3, "tokenizers"} & set(self.chosen)
        made = str(encode_text.tokenizer_json(published, self.work)) if wanted else ""
        return Source(vocab, str(published), made, str(self.peers), pattern)

    def task(self, lane: str, part: str, vocab: str, texts: str, **options: Any) -> Task:
        """On one core, unless said."""
        source = self.source(vocab, options.pop("pattern", None))
        return Task(lane, part, tuple(source), texts, **{"cores": self.cores[-1:]} | options)

    def tasks(
        self, names: Sequence[str], part: str, vocab: str, texts: str, **options: Any
    ) -> dict[str, Task]:
        """Ours, and those of the names that are installed and chosen."""
        lanes = [name for name in (OURS, *names) if name in self.chosen]
        return {name: self.task(name, part, vocab, texts, **options) for name in lanes}


def first_pass(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Arrays: the first pass over documents, and warm ones."""
    for vocab in vocabs:
        for corpus in corpora:
            texts = setup.texts(corpus, "documents")
            tasks = setup.tasks(FAST, "array", vocab, texts, passes=4)
            tasks |= setup.tasks(["tiktoken"], "array", vocab, texts) | tasks
            yield Cell("first-pass", corpus, vocab, tasks, once=("tiktoken",))


def listed(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Arrays by a tokenizer.json, whose merges are a list: the first pass, and warm ones."""
    if not setup.source(vocabs[0], None).json:
        return
    for corpus in corpora:
        texts = setup.texts(corpus, "documents")
        tasks = setup.tasks(FAST, "array", vocabs[0], texts, passes=4)
        yield Cell("listed", corpus, vocabs[0], tasks | {OURS: tasks[OURS]._replace(lane=LISTED)})


def lists(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Lists of ids, all corpora with the first vocabulary, one with the last."""
    for vocab in dict.fromkeys((vocabs[0], vocabs[-1])):
        for corpus in corpora if vocab == vocabs[0] else corpora[:1]:
            texts = setup.texts(corpus, "documents")
            tasks = setup.tasks(FAST, "lists", vocab, texts, passes=3)
            tasks |= setup.tasks(["tiktoken"], "lists", vocab, texts) | tasks
            tasks |= setup.tasks(["tokenizers"], "lists", vocab, texts, head=True) | tasks
            yield Cell("lists", corpus, vocab, tasks, once=("tokenizers",))


def short(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Many different short strings, a call each; to a list, then to an array."""
    for into, names in (("list", ALL), ("array", (*FAST, "tiktoken"))):
        for kind in SHORT:
            for corpus in [name for name in FEW if name in corpora][:2]:
                texts = setup.texts(corpus, kind)
                yield Cell(
                    f"short, {kind} to {'a list' if into == 'list' else 'an array'}",
                    corpus,
                    vocabs[0],
                    setup.tasks(names, f"one-{into}", vocabs[0], texts),
                )


def threads(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Two threads, two processes, one thread; first passes over three times the text."""
    if len(setup.cores) < 2:
        return
    two = {"cores": setup.cores[-2:]}
    for corpus in [name for name in ("english", "chinese", "code") if name in corpora]:
        texts, vocab = setup.texts(corpus, "more"), vocabs[0]
        tasks = setup.tasks([], "array", vocab, texts)
        tasks[TWO] = setup.task(OURS, "array", vocab, texts, **two)
        tasks[PAIR] = setup.task(OURS, "array", vocab, texts, gate=True, **two)
        for name, task in setup.tasks(FAST, "array", vocab, texts, **two).items():
            tasks.setdefault(f"{name}, 2 threads", task)
        yield Cell("threads", corpus, vocab, tasks, (PAIR,))


def decode(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Ids of documents of 1 MB back to str and to bytes, from arrays and from lists."""
    vocab = vocabs[0]
    for corpus in [name for name in ("english", "chinese") if name in corpora]:
        texts = setup.texts(corpus, "large")
        for into, names in (("str", (*FAST, "tiktoken")), ("bytes", ("gigatoken", "tiktoken"))):
            for given in ("array", "list"):
                tasks = setup.tasks(names, f"decode-{into}-{given}", vocab, texts, passes=3)
                yield Cell(f"decode, {into} from {given}s", corpus, vocab, tasks)


def count(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """Our counting beside our encoding to an array: text by text; in one call, and of a third for memory."""
    for corpus in [name for name in FEW if name in corpora][:2]:
        for part, counting, encoding, kind in (
            ("count", "count", "single", "large"),
            ("count, batch", "count_batch", "array", "more"),
        ):
            texts = setup.texts(corpus, kind)
            tasks = setup.tasks([], counting, vocabs[0], texts, passes=3)
            tasks["syllabary, encoding"] = setup.task(OURS, encoding, vocabs[0], texts, passes=3)
            if kind == "more":
                tasks[THIRD] = tasks[OURS]._replace(share=(0, None, 3), passes=1)
            yield Cell(part, corpus, vocabs[0], tasks, once=(THIRD,))


def load(setup: Setup, vocabs: Sequence[str], _corpora: Sequence[str]) -> Iterator[Cell]:
    """From the file to the ids of a first string; ours from both files."""
    for vocab in vocabs:
        tasks = setup.tasks(ALL, "load", vocab, "")
        if setup.source(vocab, None).json:
            tasks[LISTED] = tasks[OURS]._replace(lane=LISTED)
        yield Cell("load", "", vocab, tasks)


def sentencepiece(setup: Setup, _vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """A sentencepiece model, a quarter of the text; lists for the first corpus."""
    for corpus in [name for name in (*FEW, "code") if name in corpora]:
        texts = setup.texts(corpus, "little")
        for form in ("array", "lists") if corpus == corpora[0] else ("array",):
            tasks = setup.tasks((*FAST, "sentencepiece"), form, MODEL, texts, passes=2)
            yield Cell(f"sentencepiece, {form}", corpus, MODEL, tasks)


def worst(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """1 MB, beside a quarter of it, whose ids are compared to tiktoken's."""
    for vocab in vocabs:
        for name in (*corpora[:1], *WORST):
            tasks = setup.tasks([], "single", vocab, setup.texts(name, "worst"))
            quarter = setup.tasks(["tiktoken"], "array", vocab, setup.texts(name, "quarter"))
            tasks[QUARTER] = quarter.pop(OURS)._replace(part="single")
            compared = {f"{lane}, a quarter": task for lane, task in quarter.items()}
            yield Cell("worst", name, vocab, tasks | compared, once=tuple(compared))


def pattern(setup: Setup, vocabs: Sequence[str], corpora: Sequence[str]) -> Iterator[Cell]:
    """A pattern of one's own, a quarter of the text."""
    for corpus in [name for name in FEW if name in corpora]:
        texts = setup.texts(corpus, "little")
        tasks = setup.tasks(["tiktoken", "fastokens"], "array", vocabs[0], texts, passes=2, pattern=PATTERN)
        yield Cell("pattern", corpus, vocabs[0], tasks)


PARTS: dict[str, Callable[[Setup, Sequence[str], Sequence[str]], Iterator[Cell]]] = {
    "first-pass": first_pass,
    "listed": listed,
    "lists": lists,
    "short": short,
    "threads": threads,
    "decode": decode,
    "count": count,
    "load": load,
    "sentencepiece": sentencepiece,
    "worst": worst,
    "pattern": pattern,
}
