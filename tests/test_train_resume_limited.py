"""Training under a memory limit that ends anywhere goes on with what was counted, to the same bytes.

Leaves out: the same of `count_pieces` (`test_counting_resumed`), and of no limit (`test_train_resume`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from limited_runs import EndedError, ending, make_small, text

import syllabary
from syllabary.errors import CheckpointError, TrainingError
from syllabary.progress import Progress

LITTLE = 300_000  # bytes: counting goes to disk; merging takes more
ENOUGH = 24 << 20
LIMITS = [400_000, LITTLE, None, ENOUGH]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return make_small(monkeypatch, tmp_path)


def state(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "checkpoint.json").read_bytes())
    return found


@pytest.mark.parametrize(
    "file, threads, options",
    [
        (True, 1, {}),
        (False, 3, {}),
        (True, 3, {"tie_break": "largest-pair"}),
        (False, 1, {"unit": "char", "end_of_word": "</w>"}),
        (True, 3, {"like": "huggingface"}),
    ],
)
def test_what_was_counted_is_not_counted_again(
    file: bool, options: dict[str, Any], threads: int, small: Path
) -> None:
    source: Any = [small / "0.txt", small / "1.txt"]
    if not file:
        source = [text(number, 300) for number in range(400)]
    options = {"split": "latin", "num_merges": 30, "threads": threads, **options}
    if "like" in options:
        options["vocab_size"] = 256 + options.pop("num_merges")
    whole = syllabary.train(source, **options).spec
    kept, found, counted, too_little = small / "kept", None, [0], []
    while found is None:
        told: dict[str, Any] = {"memory_limit": LIMITS[len(counted) % len(LIMITS)], "checkpoint": kept}
        try:
            found = syllabary.train(source, **options, **told, progress=ending(1 + len(counted)))
        except EndedError:
            pass
        except TrainingError as error:
            too_little.append(str(error))
        if found is None:
            now = state(kept)
            counted.append(now["seen"]["counted"])
            assert counted[-1] >= counted[-2]
            assert (kept / now["table"]).exists()
            assert list((small / "spilled").iterdir()) == []
    assert all("the memory limit is too small" in message for message in too_little)
    assert found.spec == whole
    assert len(set(counted)) > 2
    again: list[Progress] = []
    limit = {"memory_limit": ENOUGH, "checkpoint": kept}
    assert syllabary.train(source, **options, **limit, progress=again.append).spec == whole
    if file:  # documents that are handed over are compared
        assert {now.stage for now in again} == {"merging"}


def test_first_seen_asks_for_an_order(small: Path) -> None:
    """Under a limit, pieces that are kept have none; so none are, and merges are kept alone."""
    kept, source = small / "kept", small / "0.txt"
    options: dict[str, Any] = {"split": "latin", "num_merges": 30}
    first = {**options, "tie_break": "first-seen"}
    with pytest.raises(EndedError):
        syllabary.train(source, **options, memory_limit=LITTLE, checkpoint=kept, progress=ending(1))
    assert state(kept)["ordered"] is False
    for limit in (LITTLE, None):
        with pytest.raises(CheckpointError, match="tie_break='first-seen' asks for it"):
            syllabary.train(source, **first, memory_limit=limit, checkpoint=kept)
    whole = syllabary.train(source, **first).spec
    for merges in (1, 3):
        told = ending(merges)
        with pytest.raises(EndedError):
            syllabary.train(source, **first, memory_limit=ENOUGH, checkpoint=small / "first", progress=told)
        assert not list((small / "first").glob("counts-*"))
    assert syllabary.train(source, **first, memory_limit=ENOUGH, checkpoint=small / "first").spec == whole


def test_a_table_without_an_order_stays_one(small: Path) -> None:
    """Whoever writes it again, without a limit."""
    kept, source = small / "kept", [small / "0.txt", small / "1.txt"]
    options: dict[str, Any] = {"split": "latin", "num_merges": 30, "checkpoint": kept}
    for limit in (LITTLE, None):
        with pytest.raises(EndedError):
            syllabary.train(source, **options, memory_limit=limit, progress=ending(2))
        assert state(kept)["ordered"] is False
    with pytest.raises(CheckpointError, match="counts have no order"):
        syllabary.train(source, **options, tie_break="first-seen")
