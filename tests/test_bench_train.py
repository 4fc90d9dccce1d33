"""`make bench-train`: it runs on a little text with the trainers that are installed, and what it says is so.

Leaves out: how fast anything is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from syllabary import splits
from syllabary.reference.split import pieces

pytest.importorskip("matplotlib")

BENCH = Path(__file__).resolve().parent.parent / "bench"
LITTLE = ("--repeats", "1", "--megabytes", "0.05", "--vocab-size", "300")

# A lane is bound to a core, and what it takes is read from /proc.
MEASURED = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="benchmarks are for Linux")


def bench(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCH)
    return import_module(name)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / "train.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
    folder.mkdir()
    text = Path(argparse.__file__).read_text("utf-8")[:40_000]
    (folder / "english.txt").write_text("μῆνιν ἄειδε θεὰ\n" * 200 + text, "utf-8", newline="")
    return folder


@MEASURED
def test_it_measures_every_installed_trainer_and_their_merges_are_equal(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("--corpora", corpora, "--output", tmp_path / "out", *LITTLE)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads((tmp_path / "out" / "train.json").read_text("utf-8"))
    peers = {name for name, found in record["versions"].items() if found} - {"syllabary"}
    ours = {"syllabary", "syllabary, 1 thread", "syllabary, 7 threads"}
    assert {"tokenizers", "rustbpe"} <= peers
    assert {row["lane"] for row in record["cells"]} == ours | peers
    assert all(row["learned"] == 300 - 256 and row["median_seconds"] > 0 for row in record["cells"])
    assert {row["peer"] for row in record["equal"]} == peers | {"tokenizers, given the whole text"}
    assert all(row["equal"] for row in record["equal"])
    met = {goal["goal"]: goal["met"] for goal in record["goals"]}
    assert met["english: identical bytes from 1, 2 and 7 threads"]
    assert met["under the limit the same bytes as without"]
    assert [met[goal] for goal in met if "without a split: merges equal" in goal] == [True, True]
    assert (tmp_path / "out" / "train.png").read_bytes().startswith(b"\x89PNG")
    table = bench("readme", monkeypatch).training(record)
    assert "| english, 0 MB |" in table
    assert "; equal merges from" in table


def test_a_name_that_is_none_is_refused(corpora: Path, tmp_path: Path) -> None:
    done = run("--corpora", corpora, "--output", tmp_path / "out", "--only", "klingon", *LITTLE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--only klingon: there are english, unsplit, memory-limit" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_trainer_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    found = bench("train", monkeypatch).installed(["tokenizers", "no-such-trainer"])
    assert found["tokenizers"] is not None
    assert found["no-such-trainer"] is None


def test_blocks_are_cut_where_the_split_cuts(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = bench("train_lane", monkeypatch)
    monkeypatch.setattr(lane, "BLOCK", 500)
    path = tmp_path / "spaces.txt"
    hard = "a\n\n b\n c \nd\r\ne\n\u3000f\ng'\ns\n"
    path.write_text(hard + (corpora / "english.txt").read_text("utf-8") + hard, "utf-8", newline="")
    text, found = path.read_bytes().decode(), list(lane.blocks(str(path)))
    assert len(found) > 5
    split = splits.get("gpt2")
    assert [piece for block in found for piece in pieces(block, split)] == pieces(text, split)


def test_the_large_text_has_new_words_in_each_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = bench("train_text", monkeypatch)
    first = tmp_path / "first.txt"
    first.write_text("Arma virumque cano 12\nμῆνιν ἄειδε ΘΕΑ 詩經楚辭\n", "utf-8", newline="")
    size = first.stat().st_size
    data = text.varied({"first": first}, tmp_path, 3 * size - 1).read_bytes()
    assert len(data) == 3 * size - 1
    copies = [data[at : at + size].decode() for at in (0, size)]
    assert copies[0] == first.read_text("utf-8")
    assert [len(word) for word in copies[1].split()] == [len(word) for word in copies[0].split()]
    assert set(copies[0].split()) & set(copies[1].split()) == {"12"}
    assert copies[1].casefold() != copies[0].casefold()
    assert copies[1].split()[0][0].isupper()


@pytest.mark.parametrize("seconds, met", [(1.0, True), (1.5, False)])
def test_a_goal_is_met_or_not(seconds: float, met: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(lane: str, took: float, peak: float) -> dict[str, Any]:
        told = {"median_seconds": took, "median_peak_mb": peak, "saved_digest": "same"}
        return {"corpus": "greek", "lane": lane, **told}

    cells = [
        row("syllabary", seconds, 30.0),
        row("syllabary, 1 thread", 2.0, 20.0),
        row("syllabary, 7 threads", 1.0, 80.0),
        row("gigatoken", 5.0, 100.0),
        row("rustbpe", 9.0, 95.0),
    ]
    record: dict[str, Any] = {"cells": cells, "equal": [], "unsplit": [], "memory_limit": []}
    speed, memory, same = bench("train_goals", monkeypatch).goals(record, 2**28)
    assert (speed["met"], speed["reached"]) == (met, round(5.0 / seconds, 3))
    assert (memory["met"], memory["reached"]) == (True, 0.316)
    assert (same["met"], same["reached"]) == (True, True)
