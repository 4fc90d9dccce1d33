"""`.syllabary.json` read by the engine equals the same file read by Python, and so do the errors.

Adds drawn damage to files of every model. Leaves out: what the format holds (`test_formats`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from both_ways import Both, Never, both_ways, written

import syllabary
from syllabary.formats import syllabary_json
from syllabary.reference.tokens import ReadTokens

Document = dict[str, Any]
TEXTS = ["low lower lowest newest é日本 日本語 the a theta"] * 3
PROSE = Path(json.__file__).read_text("utf-8").splitlines()[:80]
MADE: dict[str, Callable[[], syllabary.Tokenizer]] = {
    "bytes": lambda: syllabary.train(TEXTS, 280, special_tokens=["<|e|>"]),
    "ranks": lambda: syllabary.train(TEXTS, 280, like="tiktoken"),
    "characters": lambda: syllabary.train(TEXTS, 35, unit="char", end_of_word="</w>"),
    "wordpiece": lambda: syllabary.train(TEXTS, 35, model="wordpiece"),
    "unigram": lambda: syllabary.train([*TEXTS, *PROSE], 340, model="unigram"),
    "scores": lambda: syllabary.train(TEXTS, 300, like="sentencepiece", fallback=True),
}
TOKENS: list[Any] = [
    [0, "a"], [5, "zz"], [70000, "z"], [10**7, "z"], [2**32 - 1, "z"], [-1, "z"], [1.0, "z"], [True, "z"],
    ["7", "z"], [400, ""], [400, "\ud800"], [400, {"bytes": "ff"}], [400, {"bytes": "F F"}],
    [400, {"bytes": "f"}], [400, {"bytes": "é"}], [400, {}], [400, {"bytes": "ff", "x": 1}], [400], [],
    [400, "z", 1], "z", None, [400, 7]
]  # fmt: skip
MERGES: list[Any] = [
    [0, 0, 0], [97, 98, 300], [0, 1], [0, 1, 2, 3], "0 1", None, [0, 1, -1], [0, 1, 2.0], [2**32 - 1, 0, 0]
]  # fmt: skip


@pytest.fixture(scope="module", params=MADE)
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Document:
    path = tmp_path_factory.mktemp("own") / "t.syllabary.json"
    MADE[request.param]().save(path)
    return dict(json.loads(path.read_text("utf-8")))


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Both:
    """Specification or error of a file, by the engine and by Python."""
    path = tmp_path / "t.syllabary.json"
    return both_ways(monkeypatch, path, syllabary_json.read, syllabary_json, read_own=Never.read)


def test_a_file_as_it_ought_to_be(document: Document, both: Both) -> None:
    for data in (json.dumps(document).encode(), json.dumps(document, ensure_ascii=False, indent=1).encode()):
        by_engine, by_python = both(data)
        assert isinstance(by_engine.tokens, ReadTokens)
        assert isinstance(by_python.tokens, dict)
        assert by_engine == by_python
        assert [*by_engine.alphabet] == [*by_python.alphabet]
        made = [syllabary.Tokenizer._read(spec) for spec in (by_engine, by_python)]
        ids = [tok.encode_batch([*TEXTS[:1], "lowest", "the low", ""]) for tok in made]
        assert ids[0] == ids[1]
        assert made[0].decode_batch(ids[0]) == made[1].decode_batch(ids[0])


def test_damage_is_told_alike(document: Document, both: Both, prove: bool) -> None:
    draw = Random(3)
    by_engine_too = 0
    rounds = 400 if prove else 160
    for round_ in range(rounds):
        changed = json.loads(json.dumps(document))
        for _ in range(round_ % 3):
            kind = draw.randrange(8)
            rows = changed["merges"] if kind > 4 and changed["merges"] else changed["tokens"]
            if not isinstance(rows, list) or not rows:
                continue
            place = draw.randrange(len(rows))
            if kind in (0, 1, 5):
                rows.insert(place, draw.choice((MERGES if kind == 5 else TOKENS) + rows[:9]))
            elif kind in (2, 6):
                del rows[place]
            elif kind == 3:
                draw.shuffle(rows)
            else:
                changed[draw.choice([*changed])] = draw.choice([None, [], {}, 7, "char", "unigram", True])
        data = written(changed, round_, draw)
        by_engine_too += syllabary_json.read_own(data) is not None
        by_engine, by_python = both(data)
        assert by_engine == by_python
    assert 0.1 * rounds < by_engine_too < 0.9 * rounds


def test_two_tokens_alike_without_merges(both: Both, tmp_path: Path) -> None:
    """Without merges tokens are told by their bytes: two alike are refused, whoever reads them."""
    MADE["ranks"]().save(tmp_path / "t.syllabary.json")
    document = json.loads((tmp_path / "t.syllabary.json").read_text("utf-8"))
    document["merges"] = None
    last = document["tokens"][-1]
    document["tokens"].append([last[0] + 1, last[1]])
    by_engine, by_python = both(json.dumps(document).encode())
    assert by_engine == by_python
    assert "are both" in by_engine[1]
