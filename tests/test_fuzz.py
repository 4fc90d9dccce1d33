"""A short run of the fuzzer over every reader, and every input that once broke one.

Leaves out: the long run (`make fuzz`), whose result stands in docs/compatibility.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from syllabary import formats

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from readers import try_file  # noqa: E402
from run import fuzz  # noqa: E402

NAMES = sorted(path.name for path in (FUZZ / "seeds").iterdir())
BROKEN = sorted(path for path in (FUZZ / "broken").glob("*/*") if path.is_file())
INPUTS = 250 if os.environ.get("SYLLABARY_PROVE") else 120


@pytest.mark.parametrize(
    "path", [path for name in NAMES for path in sorted((FUZZ / "seeds" / name).iterdir())]
)
def test_the_seeds_are_whole(path: Path) -> None:
    assert try_file(path, path.parent.name) == "read"


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    results = fuzz(name, INPUTS, seed=1, folder=tmp_path)
    assert results["broken"] == 0
    assert results["read"] + results["refused"] == INPUTS
    assert results["refused"] > 0


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke_a_reader(path: Path, tmp_path: Path) -> None:
    name = path.parent.name
    copy = tmp_path / path.name.partition("-")[2]
    copy.write_bytes(path.read_bytes())
    assert try_file(copy, name) in ("read", "refused")


def test_every_format_has_seeds() -> None:
    """But GPT-2's pair, which is two files, and `.vocab`, which is only read beside its model."""
    assert set(formats.names()) - set(NAMES) == {"gpt2", "sentencepiece-vocab"}
