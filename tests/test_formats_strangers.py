"""Files that are no tokenizer's, or that another program wrote anew: told apart by their first bytes.

Leaves out: files that are damaged (`test_formats_bad_input`, `test_fuzz`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import syllabary
from syllabary import formats
from syllabary.errors import FormatError

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


@pytest.mark.parametrize(
    "data, what",
    [
        (b"", "it is empty: save it again"),
        (b"\n\n", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\x1f\x8b\x08\0", "packed: unpack it"),
        (b"PK\x03\x04", "packed: unpack it"),
        (b"PAR1\x15\x04", "Parquet, not a tokenizer: .* `train` learns one"),
        (b"\x93NUMPY\x01\0", "an array of numpy, .* `decode` reads"),
    ],
)
def test_a_file_that_is_something_else_is_called_what_it_is(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=f"model.json: .*{what}"):
        syllabary.load(path)


@pytest.mark.parametrize("name", ["t.syllabary.json", "t.json", "t.codes", "t.tiktoken", "vocab.txt"])
def test_a_byte_order_mark_is_told_of(tmp_path: Path, name: str) -> None:
    """In codes of subword-nmt it would make the first line a merge, and other tokens."""
    lines = ["low lower lowest"] * 3
    made = {
        "t.codes": lambda: syllabary.train(lines, like="subword-nmt", num_merges=3),
        "vocab.txt": lambda: syllabary.train(lines, 30, model="wordpiece"),
    }.get(name, lambda: syllabary.train(lines, 260))()
    path = tmp_path / name
    made.save(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for asked in ({}, {"format": formats.format_of(path).name}):
        with pytest.raises(FormatError, match="it begins with a byte order mark"):
            syllabary.load(path, **asked)


def test_ours_is_known_however_it_is_spaced(tmp_path: Path) -> None:
    """As another program writes it again, or Windows."""
    made = syllabary.train(["low lower lowest"] * 3, 260)
    made.save(tmp_path / "t.syllabary.json")
    data = (tmp_path / "t.syllabary.json").read_bytes()
    for number, other in enumerate(
        [data.replace(b"\n", b"\r\n"), json.dumps(json.loads(data), indent="\t").encode()]
    ):
        (tmp_path / f"{number}.json").write_bytes(other)
        assert syllabary.load(tmp_path / f"{number}.json").spec == made.spec
