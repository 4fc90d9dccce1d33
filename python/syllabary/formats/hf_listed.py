"""`tokenizer.json` with its vocabulary and merges read by the engine, as if Python had read it.

Most of such a file are names, which need not all be Python objects. Adds `open_document`, and `ListedVocab`,
which remembers that the engine has looked at each name. A file that is damaged, or has anything unusual in
the two, Python reads: it is the definition, and says what is wrong. Leaves out: JSON (`strict_json`), and
what it means (`hf_read`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from syllabary._engine import Listed, read_scored
from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.hf_floats import read_float
from syllabary.formats.strict_json import Json, parse
from syllabary.reference.tokens import ReadTokens

Merges = tuple[tuple[int, int, int], ...]


class ListedVocab(dict[str, int]):
    """Name -> id: names that have UTF-8 and are not empty, ids in range, none of either given twice."""

    __slots__ = ("listed",)

    def __init__(self, listed: Listed) -> None:
        """Of what the engine has read."""
        super().__init__(listed.vocab)
        self.listed = listed

    @property
    def merges(self) -> Merges:
        """Those of the file, by ids: each of names of the vocabulary, none given twice."""
        return self.listed.merges

    def unspelled(self) -> set[str]:
        """The names that spell no bytes as GPT-2 does."""
        ids = set(self.listed.unspelled())
        return {name for name, token_id in self.items() if token_id in ids} if ids else set()

    def merged(self, ids: Iterable[int]) -> set[int]:
        """Those of some ids that are in merges."""
        return set(self.listed.merged(list(ids)))

    def tokens(
        self, without: Iterable[int], spelled: bool, byte_tokens: Mapping[int, int]
    ) -> ReadTokens | None:
        """The names as tokens, but those of some ids; `None` if that is not so simple.

        spelled: the bytes that they spell as GPT-2 does, of those that spell any. byte_tokens: id -> byte of
        those that stand for one.
        """
        learned = self.listed.learned(list(without), spelled, dict(byte_tokens))
        return None if learned is None else ReadTokens(learned, learned.merges)


@dataclass(frozen=True, slots=True)
class ScoredVocab:
    """Names that have UTF-8 and are not empty, and the score of each, finite in 32 bits."""

    names: list[str]
    scores: list[float]


def open_document(path: Path) -> Json:
    """The JSON of a file; `FormatError` with the place of what is damaged."""
    data = read_bounded(path)
    if (root := read_listed(data, path)) is not None:
        return root
    scored = read_scored(data)
    root = None if scored is None else _filled(scored[2], path, ScoredVocab(*scored[:2]), ())
    return parse(data, path, read_float) if root is None else root


def read_listed(data: bytes, path: Path) -> Json | None:
    """The JSON of the content of a file that has a `ListedVocab`; `None` of any other. path: of errors."""
    listed = Listed.read(data)
    return None if listed is None else _filled(listed.rest, path, ListedVocab(listed), listed.merges)


def _filled(rest: str, path: Path, vocab: ListedVocab | ScoredVocab, merges: Merges) -> Json | None:
    """The rest of a file, with these where its model has some; `None` if it is damaged."""
    try:
        root = parse(rest.encode(), path, read_float)
    except FormatError:
        return None  # of the whole file it is said where
    model = root.member("model").value
    if isinstance(model, dict):
        model["vocab"] = vocab
        if "merges" in model:
            model["merges"] = merges
    return root
