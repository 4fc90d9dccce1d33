"""`make bench`: it runs on a little text with the peers that are installed, and what it says is so.

Leaves out: how fast anything is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("matplotlib")

BENCH = Path(__file__).resolve().parent.parent / "bench"
KEY = ("first-pass", "english", "r50k")

# A lane is bound to a core, and what it takes is read from /proc.
MEASURED = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="benchmarks are for Linux")


def bench(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCH)
    return import_module(name)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / "encode.py"), "--repeats", "1", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
    folder.mkdir()
    text = (BENCH.parent / "README.md").read_text("utf-8") + (BENCH / "encode.py").read_text("utf-8")
    (folder / "english.txt").write_text(text + "μῆνιν ἄειδε θεὰ <|endoftext|>\n" * 9, "utf-8", newline="")
    return folder


@MEASURED
def test_it_measures_and_all_ids_are_equal(
    corpora: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("--vocab", "r50k", "--megabytes", "0.02", "--lane", "tiktoken", "--only", "first-pass")
    parts = {"first-pass", "threads"}
    folders = ("--corpora", corpora, "--vocabs", shared / "vocabs", "--output", tmp_path / "out")
    done = run(*folders, *few, "--only", "threads")
    assert (done.returncode, "other ids" in done.stderr) == (0, False), done.stderr
    record: dict[str, Any] = json.loads((tmp_path / "out" / "encode.json").read_text("utf-8"))
    rows = {(row["part"], row["lane"]): row for row in record["rows"]}
    assert set(rows) >= {("first-pass", "syllabary"), ("first-pass", "tiktoken")}
    if len(bench("encode_lane", monkeypatch).os.sched_getaffinity(0)) > 1:
        names = ("syllabary", "syllabary, 2 threads", "syllabary, 2 processes")
        assert len({rows["threads", name]["ids"] for name in names}) == 1
    assert all(row["equal"] and row["ids"] and row["median_first"] > 0 for row in rows.values())
    first = rows["first-pass", "syllabary"]
    assert first["digest"] == rows["first-pass", "tiktoken"]["digest"] is not None
    assert (len(first["seconds"][0]), first["median_peak_mb"] > 0) == (4, True)
    assert record["versions"]["tiktoken"]
    assert {goal["goal"].partition(",")[0] for goal in record["goals"]} <= parts
    assert (tmp_path / "out" / "encode.png").read_bytes().startswith(b"\x89PNG")
    assert "| english |" in bench("readme", monkeypatch).encoding(record)


@MEASURED
@pytest.mark.parametrize("part", "lists short decode count load sentencepiece worst pattern".split())
def test_the_lanes_of_each_part_give_the_same(
    part: str, corpora: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, lane, encode = (bench(name, monkeypatch) for name in ("encode_parts", "encode_lane", "encode"))
    folders = parts.Folders(corpora, shared / "vocabs", tmp_path)
    known = ("syllabary", "sentencepiece") if part == "sentencepiece" else ("syllabary", "tiktoken")
    setup = parts.Setup(folders, tmp_path, 0.02, known, known)
    rows, wanted = [], {"syllabary"} if part == "count" else set(known)
    for cell in parts.PARTS[part](setup, ["r50k"], ["english"]):
        assert {task.lane for task in cell.tasks.values()} == wanted
        found = [encode.row(cell, name, [lane.answer(task)], "cpu") for name, task in cell.tasks.items()]
        assert encode.compare(cell, found) == []
        rows += found
    assert all(row["equal"] and row["ids"] for row in rows)
    assert {row["part"].partition(",")[0] for row in rows} == {part}
    goals = bench("encode_goals", monkeypatch).goals({"rows": rows})
    assert [goal for goal in goals if goal["goal"].startswith(part)] == goals
    assert bool(goals) == (part != "load")  # r50k's loading has no goal


@MEASURED
def test_a_list_of_merges_gives_the_ids_of_the_ranks(
    corpora: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, lane = (bench(name, monkeypatch) for name in ("encode_parts", "encode_lane"))
    folders = parts.Folders(corpora, shared / "vocabs", tmp_path)
    setup = parts.Setup(folders, tmp_path, 0.02, ["syllabary", "tokenizers"], ["tokenizers"])
    (cell,) = parts.PARTS["listed"](setup, ["r50k"], ["english"])
    (task,) = cell.tasks.values()
    listed, ranked = lane.answer(task), lane.answer(task._replace(lane="syllabary"))
    assert task.lane == "syllabary, tokenizer.json"
    assert listed["digest"] == ranked["digest"] is not None
    alone = parts.Setup(folders, tmp_path, 0.02, ["syllabary"], [])  # then no tokenizer.json is made
    assert list(parts.PARTS["listed"](alone, ["r50k"], ["english"])) == []


@MEASURED
def test_what_is_missing_is_said(corpora: Path, tmp_path: Path) -> None:
    done = run("--corpora", corpora, "--vocabs", tmp_path, "--output", tmp_path / "out", "--only", "load")
    assert done.returncode == 1
    assert "r50k_base.tiktoken is missing: give --vocabs a folder that has it" in done.stderr
    done = run("--corpora", tmp_path, "--only", "load")
    assert done.returncode == 1
    assert f"{tmp_path} holds no .txt or .txt.xz file" in done.stderr


@pytest.mark.parametrize("data", ["abcd\n" * 100, "μῆνιν" * 60, "", "詩\n" + "x" * 300])
def test_documents_are_all_of_the_text_and_are_read_back(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = bench("encode_text", monkeypatch)
    documents = list(text.cut(data.encode(), 40, 8))
    assert b"".join(documents) == data.encode()
    assert all(document.decode() for document in documents)
    path = text.write(tmp_path / "a.docs", documents)
    assert "".join(text.load(str(path), slice(None))) == data
    assert text.load(str(path), slice(1, None, 2)) == [document.decode() for document in documents[1::2]]


def test_a_spread_reaches_from_the_first_document_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = bench("encode_text", monkeypatch)
    documents = [bytes([65 + number]) * 10 for number in range(20)]
    assert text.spread(documents, 50) == documents[::4]
    assert text.spread(documents, 1000) == documents


def test_short_strings_differ_and_cut_no_character(monkeypatch: pytest.MonkeyPatch) -> None:
    data = " ".join(f"{number} θεὰ" for number in range(999)).encode()
    found = bench("encode_text", monkeypatch).strings(data, 36, 100)
    assert len(set(found)) == len(found) == 100
    assert {len(one) for one in found} <= {35, 36}
    assert all(one.decode() for one in found)


def test_each_worst_case_is_of_the_size_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = bench("encode_text", monkeypatch).worst(1000)
    assert tuple(found) == bench("encode_parts", monkeypatch).WORST
    assert {len(text) for text in found.values()} <= {1000, 999, 998, 975}
    assert all(text.decode() for text in found.values())
    assert found == bench("encode_text", monkeypatch).worst(1000)


def told(lane: str, seconds: float, **more: object) -> dict[str, Any]:
    part, corpus, vocab = KEY
    found = {"part": part, "corpus": corpus, "vocab": vocab, "lane": lane, "bytes": 10**6, "ids": 7}
    times = {"median_first": seconds, "median_warm": seconds / 2, "equal": True}
    return found | times | {"median_peak_mb": 20.0, "median_warm_peak_mb": 30.0} | more


@pytest.mark.parametrize("seconds, met", [(0.01, True), (0.03, False)])
def test_a_goal_is_met_or_not(seconds: float, met: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [told("syllabary", seconds), told("gigatoken", 0.06), told("fastokens", 0.05)]
    first, warm, rate, memory = bench("encode_goals", monkeypatch).goals({"rows": rows})
    assert (
        first["goal"] == "first-pass, english, r50k, first pass: times the speed of fastokens, at least 2.5"
    )
    assert (first["met"], first["reached"]) == (met, round(0.05 / seconds, 3))
    assert warm["met"]
    assert (rate["met"], rate["reached"]) == (False, round(2 / seconds, 3))
    assert (memory["met"], memory["reached"]) == (True, 30.0)


def test_a_lane_with_other_ids_is_named_and_is_no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, goals = bench("encode_parts", monkeypatch), bench("encode_goals", monkeypatch)
    lane = bench("encode_lane", monkeypatch)
    task = lane.Task("syllabary", "array", (), "texts", (0,))
    tasks = {name: task._replace(lane=name) for name in ("syllabary", "gigatoken", "fastokens")}
    rows = [told(name, 0.01, digest="same", head_digest="head") for name in tasks]
    rows[1]["digest"] = "other"
    errors = bench("encode", monkeypatch).compare(cells.Cell(*KEY, tasks), rows)
    assert errors == ["gigatoken gives other ids than ours: first-pass, english, r50k"]
    assert [row["equal"] for row in rows] == [True, False, True]
    found = {goal["goal"]: goal["met"] for goal in goals.goals({"rows": rows})}
    assert found["first-pass, english, r50k: gigatoken gives our ids"] is False
    assert not any("speed of gigatoken" in text for text in found)


@pytest.mark.parametrize("changed, grown", [(0.04, 4.0), (0.08, 8.0)])
def test_worst_cases_are_linear_and_a_token_costs_what_english_costs(
    changed: float, grown: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = {"part": "worst", "vocab": "r50k"}
    rows = [
        told("syllabary", 0.02, corpus=name, ids=ids) | cell | {"median_first": seconds, "lane": lane}
        for name, lane, seconds, ids in (
            ("english", "syllabary", 0.01, 1000),
            ("english", "syllabary, a quarter", 0.0025, 250),
            ("spaces", "syllabary", changed, 1000),
            ("spaces", "syllabary, a quarter", 0.01, 250),
        )
    ]
    linear, cost = bench("encode_goals", monkeypatch).goals({"rows": rows})
    assert (linear["reached"], linear["met"]) == (grown, grown <= 5)
    assert (cost["reached"], cost["met"]) == (round(changed / 0.01, 3), changed <= 0.04)
