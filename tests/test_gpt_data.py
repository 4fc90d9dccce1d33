"""Batches: every window of an epoch once, nothing remembered, rows of several processes as those of one.

Leaves out: training with them (`test_gpt_train`).
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syllabary.errors import ModelError
from syllabary.gpt.data import Batches, check_ids, gather, spread


def numbers(count: int) -> np.ndarray:
    """Ids that are their own places."""
    return np.arange(count, dtype=np.uint32)


@given(count=st.integers(2, 400), block=st.integers(1, 40), seed=st.integers(0, 9), epoch=st.integers(0, 3))
def test_an_epoch_is_every_window_once(count: int, block: int, seed: int, epoch: int) -> None:
    if count <= block:
        return
    batches = Batches(numbers(count), block, 1, seed=seed)
    first = epoch * batches.windows
    starts = np.concatenate([batches.starts(first + number) for number in range(batches.windows)])
    phase = starts.min()
    assert sorted(starts) == [phase + block * number for number in range(batches.windows)]
    assert 0 <= phase < block
    assert starts.max() + block < count  # the id after the last window is there
    # Left out are ids of the beginning, of the end, or both, fewer than two windows.
    assert count - 1 - batches.windows * block < 2 * block


def test_windows_and_what_follows_them() -> None:
    x, y = Batches(numbers(1000), 8, 5, seed=3).batch(11)
    assert x.shape == y.shape == (5, 8)
    assert x.dtype == y.dtype == np.int64
    np.testing.assert_array_equal(y, x + 1)
    np.testing.assert_array_equal(x, x[:, :1] + np.arange(8))


@pytest.mark.parametrize("order", ["epoch", "random"])
def test_a_batch_is_a_function_of_its_number(order: str) -> None:
    forward, backward = (Batches(numbers(500), 7, 6, seed=5, order=order) for _ in range(2))
    there = [forward.starts(step) for step in range(60)]
    back = [backward.starts(step) for step in reversed(range(60))]
    np.testing.assert_array_equal(there, back[::-1])
    np.testing.assert_array_equal(there[37], Batches(numbers(500), 7, 6, seed=5, order=order).starts(37))


@pytest.mark.parametrize("order", ["epoch", "random"])
@pytest.mark.parametrize("change", [{"seed": 6}, {"seed": 5, "stream": 1}])
def test_another_seed_or_stream_is_another_order(order: str, change: dict[str, int]) -> None:
    ours, theirs = Batches(numbers(500), 7, 6, seed=5, order=order), None
    theirs = Batches(numbers(500), 7, 6, order=order, **change)
    assert any((ours.starts(step) != theirs.starts(step)).any() for step in range(3))


def test_epochs_differ_in_order_and_phase() -> None:
    batches = Batches(numbers(10_000), 50, 1, seed=1)
    epochs = [
        [int(batches.starts(epoch * batches.windows + number)[0]) for number in range(batches.windows)]
        for epoch in range(6)
    ]
    assert len({min(starts) for starts in epochs}) > 2
    orders = {tuple((start - min(starts)) // 50 for start in starts) for starts in epochs}
    assert len(orders) == 6


@pytest.mark.parametrize("order", ["epoch", "random"])
@pytest.mark.parametrize("world", [1, 2, 3, 6])
def test_rows_of_several_processes_are_those_of_one(order: str, world: int) -> None:
    whole = Batches(numbers(300), 9, 6, seed=2, order=order)
    parts = [Batches(numbers(300), 9, 6, seed=2, order=order, rank=r, world=world) for r in range(world)]
    for step in (0, 4, 5, 31):  # the fifth crosses into the next epoch
        together = np.concatenate([part.starts(step) for part in parts])
        np.testing.assert_array_equal(together, whole.starts(step))
    assert all(part.tokens == whole.tokens == 54 for part in parts)


def test_a_batch_may_be_larger_than_the_text() -> None:
    batches = Batches(numbers(20), 6, 10, seed=0)
    x, _ = batches.batch(3)
    assert batches.windows == 2
    assert x.shape == (10, 6)


def test_random_windows_begin_anywhere() -> None:
    starts = np.concatenate([Batches(numbers(20), 6, 10, order="random").starts(n) for n in range(40)])
    assert set(starts) == set(range(14))


def test_ids_stay_in_their_file(tmp_path: object) -> None:
    path = tmp_path / "ids.bin"
    np.arange(1000, dtype="<u2").tofile(path)
    ids = np.memmap(path, dtype="<u2", mode="r")
    x, y = Batches(ids, 10, 4, seed=0).batch(5)
    np.testing.assert_array_equal(y[:, -1], x[:, 0] + 10)
    with pytest.raises(ModelError, match=r"the val split has 1,000 ids, and a window of 1000 needs 1001"):
        Batches(ids, 1000, 1, name="the val split")


def test_what_cannot_be() -> None:
    with pytest.raises(ModelError, match=r"a batch of 6 windows cannot be split evenly over 4 processes"):
        Batches(numbers(100), 5, 6, world=4)
    with pytest.raises(ModelError, match=r"these ids has 0 ids"):
        Batches(numbers(0), 5, 6)
    with pytest.raises(ValueError, match=r"order='sorted'"):
        Batches(numbers(100), 5, 6, order="sorted")
    with pytest.raises(ValueError, match=r"block_size is 0"):
        Batches(numbers(100), 0, 6)


def test_an_id_outside_the_vocabulary_is_found_with_its_place() -> None:
    ids = np.full(100, 7, dtype=np.uint16)
    check_ids(ids, 8, "the train split")
    ids[63] = 9
    message = r"the train split: id 9 at position 63 is outside the model's vocabulary of 8"
    with pytest.raises(ModelError, match=message):
        check_ids(ids, 8, "the train split")
    with pytest.raises(ModelError, match=r"id -1 at position 2"):
        check_ids(np.array([0, 1, -1]), 8, "ids")


@given(count=st.integers(2, 300), block=st.integers(1, 30), limit=st.integers(1, 40))
def test_windows_of_a_measurement_do_not_overlap(count: int, block: int, limit: int) -> None:
    if count <= block:
        return
    starts = spread(numbers(count), block, limit, "ids")
    windows = (count - 1) // block
    assert len(starts) == min(limit, windows)
    assert (np.diff(starts) >= block).all()
    if limit >= windows:
        told = gather(numbers(count), starts, block)[:, 1:].ravel()
        np.testing.assert_array_equal(told, np.arange(1, windows * block + 1))
    else:
        assert starts[-1] >= (windows - windows // limit - 1) * block  # to the end
