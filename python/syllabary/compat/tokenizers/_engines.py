"""Our engine made of a description: of a model alone, or of a whole tokenizer.

Adds what their library does and ours does not: a character that a BPE model without an unknown token does not
know is left out, and its neighbours may merge (here it is a token of its own first, `LOST`). Leaves out: what
calls it (`models`, `_pipeline`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syllabary.errors import UnknownSymbolError
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import Json
from syllabary.reference.dropout import Coins
from syllabary.reference.full import spelled_as_found
from syllabary.reference.groups import Ranked
from syllabary.spec import Matching, TokenizerSpec
from syllabary.tokenizer import Tokenizer

WHERE = Path("tokenizer")
LOST = "\ufdd0"  # no character, and so hardly the text of a token
Place = tuple[int, int]
Found = tuple[int, str, Place]  # id, name, bytes
MISSING = {
    "WordPiece": "WordPiece error: Missing {} token from the vocabulary",
    "WordLevel": "WordLevel error: Missing [UNK] token from the vocabulary",
    "Unigram": "Encountered an unknown token but `unk_id` is missing",
    "BPE": "Unk token `{}` not found in the vocabulary",
}


def spec_of(document: Mapping[str, Any]) -> tuple[TokenizerSpec, int | None]:
    """The tokenizer of a `tokenizer.json`, and the id that stands for what is to be left out.

    `FormatError` for what ours cannot do as theirs does.
    """
    spec = read_spec(document)
    return with_lost(spec, document["model"])


def read_spec(document: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of a `tokenizer.json`; `FormatError` for what ours cannot do as theirs does."""
    return read_document(Json(dict(document), "$", WHERE))


def with_lost(spec: TokenizerSpec, model: Mapping[str, Any]) -> tuple[TokenizerSpec, int | None]:
    """The same with an id for what is to be left out, and this id; `None` where nothing is, by the model."""
    if model.get("type", "BPE") != "BPE" or model.get("unk_token") is not None or spec.unknown is not None:
        return spec, None
    names = {*spec.special_tokens, *spec.added_tokens}
    name = next(text for count in itertools.count(1) if (text := LOST * count) not in names)
    lost = max((*spec.tokens, *spec.special_tokens.values(), *spec.added_tokens.values()), default=-1) + 1
    spec = dataclasses.replace(
        spec,
        unknown=lost,
        fuse_unknown=False,
        added_tokens={**spec.added_tokens, name: lost},
        matching={**spec.matching, name: Matching(stage="never")},
    )
    return spec, lost


def unknown_error(model: Mapping[str, Any]) -> Exception:
    """What their library raises for a word that it has no tokens for."""
    return Exception(MISSING[model.get("type", "BPE")].format(model.get("unk_token")))


def without(word: str, places: list[Place]) -> str:
    """A word without some of its characters: what stands on both sides of them merges, and moves left.

    >>> without("a漢b", [(1, 4)])
    'ab'
    """
    data = word.encode()
    ends = [0, *(end for _start, end in places)]
    starts = [*(start for start, _end in places), len(data)]
    return b"".join(data[end:start] for end, start in zip(ends, starts, strict=True)).decode()


class ModelEngine:
    """A model alone: the tokens of a word."""

    def __init__(self, model: Mapping[str, Any], stamp: tuple[object, ...]) -> None:
        """stamp: of the model that it was made of."""
        self.stamp, self.model = stamp, model
        vocab = model["vocab"]
        names = (
            vocab.items() if isinstance(vocab, Mapping) else ((one[0], at) for at, one in enumerate(vocab))
        )
        self.names = {number: name for name, number in names}
        self.alpha: float | None = None
        self.nbest: int | None = None
        self._spec, self.lost = spec_of({"model": dict(model)})
        self._tokenizer = Tokenizer(self._spec)
        self._found = spelled_as_found(self._spec)
        marks = (self._spec.continuing_prefix, self._spec.end_of_word)
        self._plain = marks == (None, None) and not self._spec.whole_pieces

    def tokens(self, word: str) -> list[Found]:
        """Ids, names and places (in bytes) of a word's tokens."""
        if not word and self.model.get("type") == "WordLevel":
            unknown = self._spec.unknown  # no text of ours is a word without characters
            return [] if unknown is None else [(unknown, self.names[unknown], (0, 0))]
        try:
            if drawn := bool(self._spec.dropout) or self.alpha is not None:
                ids, places = self._dropped(word) if self.alpha is None else self._draw(word)
            else:
                ids, places = self._tokenizer.encode(word, "text"), self._places(word)
            if self.lost in ids and (drawn or not self._plain):
                ids, places = self._left(word)
            elif self.lost in ids:
                word = without(
                    word, [place for at, place in zip(ids, places, strict=True) if at == self.lost]
                )
                ids, places = self._tokenizer.encode(word, "text"), self._places(word)
        except UnknownSymbolError as error:
            raise unknown_error(self.model) from error
        return [
            (number, self._name(number, word, place), place)
            for number, place in zip(ids, places, strict=True)
        ]

    def _left(self, word: str) -> tuple[list[int], list[Place]]:
        """The same as `without`, where that is another word: a character keeps its prefix or suffix.

        Nor is what is left a token at once (`ignore_merges`), for the word is none.
        """
        coins = Coins(self._spec.dropout, secrets.randbits(64)) if self._spec.dropout else None
        ids, places, at = list[int](), list[Place](), 0
        for group in self._tokenizer._reference.groups(word, "text", []):
            assert isinstance(group, Ranked)
            left = [token for token in group.symbols if token.id != self.lost]
            for token in Ranked(left, group.rule).tokens(coins):
                ids.append(token.id)
                places.append((at, at := at + sum(end - start for start, end in token.spans)))
        return ids, places

    def _dropped(self, word: str) -> tuple[list[int], list[Place]]:
        """One way of several: passing over merges."""
        row = self._tokenizer.encode_full(
            word, special="text", padding=False, truncation=False, post_processor=(), offsets="byte"
        )
        return row.ids, row.offsets

    def _draw(self, word: str) -> tuple[list[int], list[Place]]:
        """The same by the scores of the tokens (Unigram)."""
        assert self.alpha is not None
        if self.nbest is None:
            ids = self._tokenizer.sample(word, self.alpha, special="text")
            return ids, self._drawn(word, ids)
        ways = self._tokenizer.encode_nbest(word, self.nbest, special="text")
        best = max(score for _ids, score in ways)
        weights = [math.exp(self.alpha * (score - best)) for _ids, score in ways]
        ids = random.choices([ids for ids, _score in ways], weights)[0]
        return ids, self._drawn(word, ids)

    def _places(self, word: str) -> list[Place]:
        return [(start, end) for start, end in self._tokenizer.offsets(word, "byte", "text").tolist()]

    def _drawn(self, word: str, ids: list[int]) -> list[Place]:
        """The places of tokens of a way, which another call would draw anew: by their lengths."""
        data, places, at = word.encode(), list[Place](), 0
        for number in ids:
            length = len(self.names.get(number, "").encode())
            if number == self._spec.unknown:
                length = len(data[at:].decode()[:1].encode())
            elif number in self._spec.byte_tokens:
                length = 1
            places.append((at, at + length))
            at += length
        return places

    def _name(self, number: int, word: str, place: Place) -> str:
        """The token's name; of an unknown word in Unigram the word, as there."""
        if number == self._found:
            return word.encode()[slice(*place)].decode()
        return str(self.names.get(number, ""))
