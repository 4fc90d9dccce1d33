"""The incremental decoder that is given several ids at once: lists, arrays, and what is wrong among them.

Leaves out: one id at a time (`test_reference_tokenizer`, `test_engine`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syllabary.errors import UnknownTokenError
from syllabary.reference import Decoder, IncrementalDecoder
from syllabary.spec import SplitSpec, Step, TokenizerSpec

BYTES = (b"a", b"b</w>", b"</w>", b" ", b"\xc3", b"\xa9</w>", b"ab")
SPELLED = ("a", "▁b", "▁", " ", "<0xC3>", "<0xA9>", "ab")
STEPS = (
    Step("ByteFallback"),
    Step("Metaspace", {"replacement": "▁", "prepend_scheme": "always", "split": True}),
)


def decoder_of(*tokens: bytes, **more: Any) -> IncrementalDecoder:
    spec = TokenizerSpec("byte", SplitSpec(None), dict(enumerate(tokens)), {}, merges=())
    return IncrementalDecoder(Decoder(replace(spec, **more)))


@given(st.lists(st.integers(0, 6), max_size=8), st.lists(st.integers(0, 8), max_size=3))
def test_several_ids_at_once_are_pushed_as_one_by_one(ids: list[int], cuts: list[int]) -> None:
    for made in (
        lambda: decoder_of(*BYTES),
        lambda: decoder_of(*BYTES, end_of_word="</w>", unit="char"),
        lambda: decoder_of(*[one.encode() for one in SPELLED], decoder=STEPS, unit="char"),
    ):
        alone, together = made(), made()
        for start, end in pairwise([0, *sorted(cuts), 8]):
            one_by_one = "".join(map(alone.push, ids[start:end]))
            assert together.push(np.array(ids[start:end], np.uint16)) == one_by_one
        assert together.flush() == alone.flush()


@pytest.mark.parametrize("bad", [-1, 3, 2**64])
def test_an_unknown_id_among_several_changes_nothing(bad: int) -> None:
    decoder = decoder_of(b"a", b"\xc3")
    assert decoder.push([0, 1]) == "a"
    with pytest.raises(UnknownTokenError, match=f"id {bad} at index 3 "):
        decoder.push([0, bad])
    assert decoder.push(iter([])) == ""
    assert decoder.push((0,)) == "\ufffda"


def test_an_array_without_dimensions_is_one_id() -> None:
    assert decoder_of(b"a", b"b").push(np.array(1)) == "b"


def test_arrays_of_every_type_of_integers() -> None:
    for dtype in "bBhHiIlLqQ":
        assert decoder_of(b"a", b"b").push(np.array([0, 1], dtype)) == "ab"


@pytest.mark.parametrize(
    "wrong", [np.array([[0]]), np.array([0.0]), np.array([False]), np.ma.array([0], mask=[True]), ["0"], "0"]
)
def test_what_is_no_id_among_several_is_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^id .* at index 0 is of type \w+: ids are integers"):
        decoder_of(b"a", b"b").push(wrong)
