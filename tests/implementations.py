"""The implementations that one test body runs over: each a small adapter with the same methods.

Adds `each`, the parametrization. A new implementation is one class and one line in `IMPLEMENTATIONS`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Protocol

import pytest

import syllabary
from syllabary.reference import train
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.training import train_with


class Implementation(Protocol):
    """What a test may ask of any implementation.

    corpus_characters: how much of a corpus of 2 MB it encodes in a test's time.
    """

    corpus_characters: int

    def train(self, documents: Iterable[str], options: TrainOptions) -> TokenizerSpec: ...

    def tokenizer(self, spec: TokenizerSpec) -> Any: ...


class Reference:
    """`syllabary.reference`."""

    corpus_characters = 100_000 if os.environ.get("SYLLABARY_PROVE") else 10_000

    def train(self, documents: Iterable[str], options: TrainOptions) -> TokenizerSpec:
        return train.train(documents, options)

    def tokenizer(self, spec: TokenizerSpec) -> ReferenceTokenizer:
        return ReferenceTokenizer(spec)

    def __str__(self) -> str:
        return "reference"


class Engine:
    """The compiled engine, through the facade."""

    corpus_characters = 2_000_000

    def train(self, documents: Iterable[str], options: TrainOptions) -> TokenizerSpec:
        return train_with(documents, options, threads=2).spec

    def tokenizer(self, spec: TokenizerSpec) -> syllabary.Tokenizer:
        return syllabary.Tokenizer(spec)

    def __str__(self) -> str:
        return "engine"


IMPLEMENTATIONS: list[Implementation] = [Reference(), Engine()]

each = pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=str)


def merges_of(spec: TokenizerSpec) -> list[tuple[bytes, bytes]]:
    """The merges learned, as pairs of bytes in rank order."""
    assert spec.merges is not None
    return [(spec.tokens[left], spec.tokens[right]) for left, right, _result in spec.merges]


def train_merges(
    implementation: Implementation, documents: Iterable[str], options: TrainOptions
) -> list[tuple[bytes, bytes]]:
    """Train, and show the merges alone."""
    return merges_of(implementation.train(documents, options))
