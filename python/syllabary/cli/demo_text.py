"""Text for the demo, and a part of it that no training sees.

Without a path: what any Python installation carries, the source of its standard library and the chapters of
its language reference (`pydoc_data.topics`). With one: whatever `syllabary.corpus` reads there.
Leaves out: streaming; the demo holds its text in memory to encode it again.
"""

from __future__ import annotations

import ast
import platform
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from syllabary import corpus, errors

TESTS = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}
TOPICS = "pydoc_data/topics.py"
EVERY = 10  # of many documents each tenth is held out
SHARE = 0.01  # of the library's source, this share
PART = 0.05  # of few, this share of the last
MOST = 500_000  # characters held out, at most


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents to train on, and text held out. `name` says in a few words what it is."""

    name: str
    documents: list[str]
    held_out: str

    @property
    def size(self) -> int:
        """Bytes of the documents in UTF-8."""
        return sum(len(document.encode()) for document in self.documents)


def library() -> Sample:
    """Python's own library: held out are each tenth chapter of documentation and 1 % of the source."""
    chapters = list(_chapters())
    sources, unseen = set_aside(_sources())
    documents = [*sources, *(chapter for number, chapter in enumerate(chapters, 1) if number % EVERY)]
    held_out = "\n\n".join([*chapters[EVERY - 1 :: EVERY], *unseen])
    return Sample(
        f"the library of Python {platform.python_version()}, source and documentation", documents, held_out
    )


def user(path: str) -> Sample:
    """The documents of a file or folder."""
    documents = [document.text for document in corpus.read(Path(path)) if document.text.strip()]
    if not documents:
        raise errors.CorpusError(f"{path}: the corpus is empty: there is no text in it to learn from")
    kept, held_out = split_off(documents)
    return Sample(Path(path).name or path, kept, held_out)


def set_aside(documents: Iterable[str]) -> tuple[list[str], list[str]]:
    """Documents to train on, and those held out: the next one whenever fewer than `SHARE` have been so far.

    >>> [len(part) for part in set_aside(["some text"] * 1000)]
    [990, 10]
    """
    kept: list[str] = []
    unseen: list[str] = []
    read = held = 0
    for document in documents:
        read += len(document)
        if held < SHARE * read and held + len(document) <= MOST:
            unseen.append(document)
            held += len(document)
        else:
            kept.append(document)
    return kept, unseen


def split_off(documents: list[str]) -> tuple[list[str], str]:
    """Documents to train on and text held out: each tenth, or the end of the last if they are few.

    Of a text of a few words nothing may be left to hold out: it is then "".

    >>> split_off(["one paragraph\\n" * 20])
    (['one paragraph\\n...one paragraph\\n'], 'one paragraph\\n')
    """
    if len(documents) >= EVERY:
        kept = [document for number, document in enumerate(documents, 1) if number % EVERY]
        return kept, "\n\n".join(documents[EVERY - 1 :: EVERY])[:MOST]
    last = documents[-1]
    start = len(last) - min(MOST, int(len(last) * PART))
    for mark in ("\n\n", "\n", " "):
        if (found := last.rfind(mark, len(last) // 2, start)) >= 0:
            start = found + len(mark)
            break
    if not last[start:].strip():
        return documents, ""
    return [*documents[:-1], last[:start]], last[start:]


def paragraph(text: str, least: int = 200, most: int = 600) -> str:
    """The first paragraph of a size that fits a screen, else the beginning of the text."""
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n")]
    fitting = (block for block in blocks if least <= len(block) <= most)
    return next(fitting, text.strip()[:most])


def _sources() -> Iterator[str]:
    """Every module of the standard library but its tests, in the order of paths; those in UTF-8."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py"), key=lambda path: path.parts):
        inside = path.relative_to(root)
        if TESTS.isdisjoint(inside.parts) and inside.as_posix() != TOPICS:
            try:
                yield path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a module that declares another encoding


def _chapters() -> Iterator[str]:
    """The chapters of `pydoc_data.topics` by title; read as data, not run."""
    path = Path(sysconfig.get_paths()["stdlib"], TOPICS)
    if path.is_file():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):
                topics = ast.literal_eval(node.value)
                yield from (topics[title] for title in sorted(topics))
