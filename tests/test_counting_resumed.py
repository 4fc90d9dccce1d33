"""`count_pieces` with a checkpoint under a memory limit: it ends anywhere, goes on, and makes the same file.

Leaves out: checkpoints of training (`test_train_resume`), and limits alone (`test_counting`).
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest
from limited_runs import EndedError, ending, make_small, text

from syllabary import PieceCounts, count_pieces
from syllabary.errors import CheckpointError
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training.checkpoint_files import read_counts, write_counts


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return make_small(monkeypatch, tmp_path)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("file", [True, False])
def test_it_goes_on_after_each_end_whatever_the_limit(file: bool, threads: int, small: Path) -> None:
    kept, out = small / "kept", small / "out.parquet"
    source: Any = [small / "0.txt", small / "1.txt"]
    if not file:
        source = [text(number, 300) for number in range(400)]
    PieceCounts.of(source, split="latin").save(small / "whole.parquet")
    told: dict[str, Any] = {"split": "latin", "checkpoint": kept, "threads": threads}
    limits, ends = [200_000, 150_000, None, 1 << 40], 0
    while not out.exists():
        limit = limits[ends % len(limits)]
        try:
            count_pieces(source, out, **told, memory_limit=limit, progress=ending(1 + ends))
        except EndedError:
            ends += 1
            assert training_checkpoint.holds(kept)
            assert list((small / "spilled").iterdir()) == []
    assert ends > 2
    assert out.read_bytes() == (small / "whole.parquet").read_bytes()
    count_pieces(source, small / "again.parquet", **told, memory_limit=150_000)
    assert (small / "again.parquet").read_bytes() == out.read_bytes()
    assert list((small / "spilled").iterdir()) == []


def test_a_table_that_was_kept_in_order_is_read(small: Path) -> None:
    """As checkpoints were before they were written in blocks."""
    kept, out = small / "kept", small / "out.parquet"
    with pytest.raises(EndedError):
        count_pieces(small / "0.txt", out, split="latin", checkpoint=kept, progress=ending(2))
    (table,) = kept.glob("counts-*.bin")
    blocks = list(read_counts(table))
    data = b"".join(text for text, _, _ in blocks)
    sizes = [size for _, ends, _ in blocks for size in [int(ends[0]), *(ends[1:] - ends[:-1]).tolist()]]
    ends = [sum(sizes[: row + 1]) for row in range(len(sizes))]
    counts = [count for _, _, counts in blocks for count in counts.tolist()]
    columns: list[Any] = [ends, counts, list(range(len(ends)))]
    write_counts(table, data, *columns)
    count_pieces(small / "0.txt", out, split="latin", checkpoint=kept, memory_limit=200_000)
    PieceCounts.of(small / "0.txt", split="latin").save(small / "whole.parquet")
    assert out.read_bytes() == (small / "whole.parquet").read_bytes()


def test_a_table_in_blocks_that_is_damaged_is_no_table(small: Path) -> None:
    kept = small / "kept"
    whole = PieceCounts.of(small / "0.txt", split="latin", checkpoint=kept)
    (table,) = kept.glob("counts-*.bin")
    data = table.read_bytes()
    blocks = list(read_counts(table))
    assert len(blocks) > 3
    assert sum(len(ends) for _, ends, _ in blocks) == len(whole)
    assert b"".join(text for text, _, _ in blocks) == whole.data.tobytes()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    for broken in (b"", data[:10], data[:20], data[:60], data[:-1], data + b"x", bytes(flipped)):
        table.write_bytes(broken)
        with pytest.raises(CheckpointError, match=r"delete .* to begin again"):
            list(read_counts(table))
    # Well kept, but of no table: no end, an end that is none, pieces that are not there, ends that fall.
    head, end = data[:20], struct.pack("<QQ", 0, 0)
    falling = struct.pack("<QQ4Q", 2, 1, 4, 1, 1, 1) + b"a"
    huge = struct.pack("<QQ", 2**62, 2**63)
    for body in (b"", end[:-1], end + end, struct.pack("<QQ", 0, 5) + b"abcde", huge, falling + end):
        table.write_bytes(head + body + hashlib.blake2b(head + body, digest_size=16).digest())
        with pytest.raises(CheckpointError, match="contradicts itself"):
            list(read_counts(table))


def test_what_ends_while_a_table_is_written_is_not_written_again(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second Ctrl-C may stop the engine while it adds up: it no longer has what was read."""
    for seconds in (0.0, 9e9):  # while text comes, and at its end
        monkeypatch.setattr(training_checkpoint, "SECONDS", seconds)
        asked: list[bool] = []

        def ended(*_: object, asked: list[bool] = asked, **told: bool) -> None:
            asked.append(told.get("whole", False))
            raise KeyboardInterrupt

        monkeypatch.setattr(training_checkpoint.Checkpoint, "save", ended)
        with pytest.raises(KeyboardInterrupt):
            count_pieces(small / "0.txt", small / "out.parquet", split="latin", checkpoint=small / "kept")
        assert asked == [seconds > 0]
