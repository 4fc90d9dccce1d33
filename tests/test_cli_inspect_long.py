"""`syllabary inspect` of long texts: rows are written as they are made, and look as all at once would.

Leaves out: what a row says (test_inspecting), how the rest looks (test_cli_inspect).
"""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import syllabary
from syllabary import inspecting
from syllabary.cli import common, main
from syllabary.errors import EarlyStopWarning
from syllabary.inspecting import Making, Row, reading
from syllabary.inspecting.making import spelling

LINE = "low lower lowest, newer widest é 漢字 <|end|>\n"
KINDS: dict[str, dict[str, Any]] = {
    "bytes": {"vocab_size": 280, "special_tokens": ["<|end|>"]},
    "scores": {"vocab_size": 260, "model": "unigram", "special_tokens": ["<|end|>"]},
    "characters": {"vocab_size": 36, "unit": "char", "special_tokens": ["<|end|>"]},
}


@pytest.fixture(params=KINDS)
def making(request: pytest.FixtureRequest, working_folder: Path) -> Making:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        tok = syllabary.train([LINE.replace("<|end|>", "") * 9], **KINDS[request.param])
    tok.save("tok.syllabary.json")
    return Making(tok)


def table(rows: Sequence[Row]) -> list[str]:
    """The lines of a text but the last, with the columns as wide as all rows together need."""
    last = "score" if any(row.kind == "score" for row in rows) else "rank"
    cells = [("id", "bytes", "chars", "piece", last)]
    for row in rows:
        number = row.score if row.kind == "score" else row.rank
        shown = row.kind if number is None else f"{number:g}" if row.kind == "score" else str(number)
        places = (f"{row.start}-{row.end}", f"{row.first}-{row.last}")
        cells.append((str(row.id), *places, str(row.piece), shown))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(one, widths, strict=True)) for one in cells]


@pytest.mark.parametrize("times", [0, 1, 2, 3, 40])
def test_columns_are_as_wide_as_all_rows_need(
    times: int, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LINE * times
    rows = [*inspecting.rows(making, text, "allow")]
    monkeypatch.setattr("syllabary.cli.inspect_shown.BLOCK", 7)
    monkeypatch.setattr(reading.Rows.blocks, "__defaults__", (5,))
    options = ["inspect", "-t", "tok.syllabary.json", "--special", "allow"]
    lines = CliRunner().invoke(main, [*options, text]).stdout.splitlines()
    assert len(lines) == len(rows) + 2
    for line, expected in zip(lines, table(rows), strict=False):
        assert line.startswith(f"{expected}  ")
    assert lines[-1].startswith(f"{len(text.encode()):,} bytes, ")


def test_json_is_that_of_one_object(making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading.Rows.blocks, "__defaults__", (5,))
    texts = [LINE, "low", ""]
    stepped = ["--steps"] if making.merging is not None else []
    options = ["inspect", "-t", "tok.syllabary.json", "--special", "allow", "--json", *stepped]
    found = CliRunner().invoke(main, [*options, "--token", "l", *texts]).stdout
    data = json.loads(found)
    assert found == json.dumps(data) + "\n"
    assert [*data] == ["tokens", "texts", "totals"]
    assert data["totals"] == inspecting.added(data["texts"])
    assert data["totals"]["bytes"] == sum(len(text.encode()) for text in texts)
    for text, one in zip(texts, data["texts"], strict=True):
        rows = inspecting.rows(making, text, "allow")
        totals = inspecting.totals(text, rows)
        assert [*one] == [*totals, "text", "rows", *(["steps"] if stepped else [])]
        assert {name: one[name] for name in totals} == totals
        assert [row["char_span"] for row in one["rows"]] == [[row.first, row.last] for row in rows]
        assert [row["bytes"] for row in one["rows"]] == [spelling(row.token)["bytes"] for row in rows]
    alone = CliRunner().invoke(main, [*options, *texts[:1]]).stdout
    assert json.loads(alone) == {"texts": data["texts"][:1]}


def test_rows_are_a_sequence(making: Making) -> None:
    rows = inspecting.rows(making, LINE * 3, "allow")
    listed = [*rows]
    assert (len(rows), rows[0], rows[-1], rows[2:9:3]) == (len(listed), listed[0], listed[-1], listed[2:9:3])
    assert [*reversed(rows)] == listed[::-1]
    assert [row for block in rows.blocks(4) for row in block] == listed
    for place in (len(listed), -len(listed) - 1):
        with pytest.raises(IndexError):
            rows[place]
    assert dataclasses.astuple(listed[0])[0] == making.tok.encode(LINE, special="allow")[0]


@pytest.mark.parametrize("as_json", [True, False])
def test_the_first_rows_are_written_before_the_last_are_made(
    as_json: bool, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    find = reading.Rows._made
    monkeypatch.setattr(reading.Rows, "_made", lambda rows, place: made.append(0) or find(rows, place))
    Path("long.txt").write_text(LINE * 2000, encoding="utf-8")
    written: list[int] = []
    monkeypatch.setattr(common, "data", lambda line, nl=True: written.append(len(made)))
    options = ["-i", "long.txt", "--special", "allow", *(["--json"] if as_json else [])]
    result = CliRunner().invoke(main, ["inspect", "-t", "tok.syllabary.json", *options])
    assert result.exit_code == 0, result.output
    assert written[0] == 0
    assert {*range(len(made))} <= {*written}
    assert len(made) > 5


def test_memory_of_rows_is_that_of_numbers() -> None:
    making = Making(syllabary.train([LINE * 9], vocab_size=280))
    text = LINE * 2_000
    count = making.tok.count(text)
    tracemalloc.start()
    rows = inspecting.rows(making, text)
    assert sum(1 for _row in rows) == count
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 25 * count + 500_000  # a list of rows takes more than 300 for each
    assert most < 120 * count + 500_000
