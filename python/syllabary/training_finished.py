"""From what was learned to a `Tokenizer`.

Adds the way of the engine's merges: it spells their tokens, which become Python objects when somebody asks
for them. Leaves out: ids and checks (`reference.assemble`), and learning (`training`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Learned
from syllabary.formats import subword_nmt_codes as codes
from syllabary.reference.assemble import Spelled, assembled
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training_huggingface import CARRIED


def finished(
    options: TrainOptions,
    symbols: Sequence[bytes],
    merges: NDArray[np.uint32],
    record: Mapping[str, object],
    plain: bool,
) -> Tokenizer:
    """The tokenizer of what was learned.

    symbols: by local id. merges: in local ids, shape (n, 2). plain: it is saved as Hugging Face's trainer
    saves its own.
    """

    def spell(first: int) -> Spelled:
        with _uncollected():
            learned = Learned(list(symbols), merges, first)
        return ReadTokens(learned, learned.merges), learned.merges

    spec = assembled(options, symbols, spell)
    if plain:
        spec = dataclasses.replace(spec, carried=CARRIED)
    if record["like"] == "subword-nmt":
        spec = _as_codes(spec, options)
    return Tokenizer(dataclasses.replace(spec, record={**spec.record, **record}))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of garbage, which tuples of integers by the ten thousand would make look through
    every object of the process."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _as_codes(spec: TokenizerSpec, options: TrainOptions) -> TokenizerSpec:
    """The tokenizer of subword-nmt's codes file, if it can hold this one: it has no characters but those of
    merges, and ids of its own."""
    plain = options.split == codes.SPLIT and options.unit == "char" and options.end_of_word == codes.MARK
    if not plain or options.special_tokens or options.fallback or options.normalize is not None:
        return spec
    pairs = [(spec.tokens[left], spec.tokens[right]) for left, right, _id in spec.merges or ()]
    return dataclasses.replace(codes.build(pairs, "0.2"), record=spec.record)
