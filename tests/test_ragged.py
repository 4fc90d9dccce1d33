"""`Ragged` made by hand: documents are as its arrays say, or it says what is wrong with them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary import Ragged

IDS, OFFSETS = np.array([5, 6, 7], np.uint32), np.array([0, 2, 2, 3])
EMPTY = np.array([], np.uint32)


@pytest.mark.parametrize(
    "offsets, said",
    [
        ([0, 2, 1, 3], r"document 1 would go from 2 to 1: offsets never fall"),
        ([0, 4, 3], r"document 1 would go from 4 to 3"),
        ([1, 3], r"offsets go from 1 to 3: give the first as 0 and the last as 3"),
        ([-1, 3], r"offsets go from -1 to 3"),
        ([0, 4], r"offsets go from 0 to 4: .* the last as 3"),
        ([0, 2], r"offsets go from 0 to 2"),
        ([], r"offsets are none"),
    ],
)
def test_offsets_that_do_not_fit(offsets: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Ragged(IDS, np.array(offsets, np.int64))


@pytest.mark.parametrize(
    "ids, offsets, said",
    [
        (IDS.astype(np.int64), OFFSETS, r"ids is an array of int64, shape \(3,\): give one of uint32, 1-D"),
        (IDS.astype(float), OFFSETS, r"ids is an array of float64"),
        (IDS[None], OFFSETS, r"ids is an array of uint32, shape \(1, 3\)"),
        ([5, 6, 7], OFFSETS, r"ids is list: give an array of uint32"),
        (IDS, OFFSETS.astype(np.int32), r"offsets is an array of int32, .* give one of int64"),
        (IDS, OFFSETS.astype(np.uint64), r"offsets is an array of uint64"),
        (IDS, OFFSETS[:, None], r"offsets is an array of int64, shape \(4, 1\)"),
        (IDS, (0, 3), r"offsets is tuple: give an array of int64"),
        (np.ma.masked_array(IDS, [0, 1, 0]), OFFSETS, r"ids is MaskedArray: .* ids\.compressed"),  # type: ignore[no-untyped-call]
    ],
)
def test_arrays_of_another_kind(ids: Any, offsets: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Ragged(ids, offsets)


def test_what_fits() -> None:
    ragged = Ragged(IDS, OFFSETS)
    assert ragged.to_list() == [[5, 6], [], [7]]
    assert ragged.ids is IDS
    for other in (copy.deepcopy(ragged), pickle.loads(pickle.dumps(ragged)), dataclasses.replace(ragged)):
        assert other == ragged
    assert Ragged(EMPTY, np.array([0])).to_list() == []
    assert Ragged(EMPTY, np.array([0, 0])).to_list() == [[]]


def test_those_of_the_engine_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(_ragged: Ragged) -> None:
        raise AssertionError

    monkeypatch.setattr(Ragged, "__post_init__", looked)
    tok = syllabary.train(["low lower"], vocab_size=258)
    for texts in (["low lower", "", "low"], []):
        found = tok.encode_batch_array(texts)
        assert found.to_list() == tok.encode_batch(texts)
        monkeypatch.undo()
        assert Ragged(found.ids, found.offsets) == found  # as they would have been found right
        monkeypatch.setattr(Ragged, "__post_init__", looked)
    numbers = syllabary.train_ids([[60, 64, 67, 60, 64]], num_merges=1)
    assert numbers.encode_batch([[60, 64], []]).to_list() == [[3], []]
