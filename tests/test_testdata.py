"""The cases in `testdata/`, on reference and engine (`crates/syllabary/tests/cases.rs`: on the crate alone).

Adds the check that the files are what the reference gives today. Leaves out: where the cases come from
(`tools/write_testdata.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from implementations import Implementation, each

import syllabary
from syllabary import errors
from syllabary._engine import Split
from syllabary.reference import pieces
from syllabary.reference.assemble import assemble
from syllabary.reference.train import train_steps
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions
from syllabary.training import train_with

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "testdata"


def read(name: str) -> dict[str, Any]:
    """A file of cases, in which nothing is empty."""
    data: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert data, f"{name} holds nothing"
    for key, cases in data.items():
        assert cases, f"{name}: {key} holds no case"
    return data


SPLITS, TRAINING, TOKENIZERS = (read(f"{name}.json") for name in ("splits", "training", "tokenizers"))


def flat(name: str) -> list[Any]:
    """Every case of a file by tokenizer, named for pytest."""
    return [
        pytest.param(key, case, id=f"{key} {number}")
        for key, cases in read(name).items()
        for number, case in enumerate(cases)
    ]


def split(name: str) -> SplitSpec:
    record = SPLITS[name]
    return SplitSpec(record["pattern"], record["tables"], record["keep_unmatched"], name)


def latin1(texts: Sequence[str]) -> list[bytes]:
    """Bytes as the files write them."""
    return [text.encode("latin-1") for text in texts]


def spec(name: str) -> TokenizerSpec:
    record = TOKENIZERS[name]
    tokens = {token_id: token.encode("latin-1") for token_id, token in record["tokens"]}
    merges = record["merges"]
    read = {
        "split": split(record["split"]),
        "tokens": tokens,
        "alphabet": {tokens[token_id]: token_id for token_id in record["alphabet"]},
        "merges": None if merges is None else tuple((left, right, result) for left, right, result in merges),
    }
    return TokenizerSpec(**record | read)


def test_the_files_are_what_the_reference_gives() -> None:
    command = [sys.executable, "tools/write_testdata.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_kind_has_cases() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == {
        f"{name}.json" for name in "splits training tokenizers encoding special decoding".split()
    }
    assert set(SPLITS) >= set(syllabary.splits.names())
    assert {record["unit"] for record in TOKENIZERS.values()} == {"byte", "char", "word"}
    assert set(read("encoding.json")) == set(read("decoding.json")) == set(TOKENIZERS)
    assert {str(case["special"]) for case in read("special.json")["special"]} >= {"raise", "allow", "text"}


@pytest.mark.parametrize("name", SPLITS)
def test_splits(name: str) -> None:
    known = split(name)
    if name in syllabary.splits.names():
        assert known == syllabary.splits.get(name)
    assert SPLITS[name]["cases"]
    for case in SPLITS[name]["cases"]:
        assert pieces(case["text"], known) == case["pieces"]
        assert Split(known).pieces(case["text"]) == case["pieces"]


@pytest.mark.parametrize("name", TRAINING)
@pytest.mark.parametrize("tie_break", ["smallest-ids", "first-seen", "largest-pair"])
def test_training(name: str, tie_break: str) -> None:
    record = TRAINING[name]
    given = record["options"] | {
        "split": split(record["options"]["split"]),
        "special_tokens": tuple(record["options"]["special_tokens"]),
        "tie_break": tie_break,
    }
    options, expected = TrainOptions(**given), record["merges"][tie_break]
    wanted = assemble(options, latin1(record["alphabet"]), [(left, right) for left, right, _ in expected])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        by_reference = syllabary.reference.train.train(record["documents"], options)
        by_engine = train_with(record["documents"], options, threads=1).spec
    assert by_reference == wanted
    steps = train_steps(record["documents"], options)
    assert [[*step.pair, step.count] for step in steps] == expected
    assert (by_engine.tokens, by_engine.alphabet, by_engine.merges, by_engine.special_tokens) == (
        wanted.tokens, wanted.alphabet, wanted.merges, wanted.special_tokens
    )  # fmt: skip
    assert by_engine.record["counts"] == [count for _left, _right, count in expected]


@each
@pytest.mark.parametrize("name, case", [*flat("encoding.json"), *flat("special.json")])
def test_encoding(implementation: Implementation, name: str, case: dict[str, Any]) -> None:
    tok = implementation.tokenizer(spec(name))
    text, special = case["text"], case["special"]
    special = set(special) if isinstance(special, list) else special
    if "error" in case:
        with pytest.raises(getattr(errors, case["error"]), match=f"at character {case['character']}\\b"):
            tok.encode(text, special)
        return
    assert tok.encode(text, special) == case["ids"]
    for unit in ("byte", "char"):
        assert [list(span) for span in tok.offsets(text, unit, special)] == case[f"{unit}s"]


@each
@pytest.mark.parametrize("name, case", flat("decoding.json"))
def test_decoding(implementation: Implementation, name: str, case: dict[str, Any]) -> None:
    tok = implementation.tokenizer(spec(name))
    if "error" in case:
        with pytest.raises(getattr(errors, case["error"]), match=f"at index {case['index']}\\b"):
            tok.decode_bytes(case["ids"])
        return
    assert tok.decode_bytes(case["ids"]) == case["bytes"].encode("latin-1")
    assert tok.decode(case["ids"]) == case["text"]
