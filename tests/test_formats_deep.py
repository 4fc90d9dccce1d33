"""What a file has carried along may be nested so deep as all that comes after can bear, and no deeper.

Leaves out: sequences of components (test_formats_hf_bad_input).
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from test_formats_tekken import small

import syllabary
from syllabary.errors import FormatError
from syllabary.formats.strict_json import MAX_DEPTH, depth_of

MESSAGE = f"lists and objects are nested more than {MAX_DEPTH} deep"


def nested(depth: int) -> dict[str, Any]:
    """An object in which so many are nested, lists among them."""
    value: Any = 1
    for level in range(depth - 1):
        value = [value] if level % 2 else {"x": value}
    return {"x": value}


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(["low lower"] * 3, vocab_size=258)


@pytest.mark.parametrize("member", ["record", "carried"])
def test_our_own_file(member: str, tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tok.syllabary.json"
    tok.save(path)
    document = json.loads(path.read_text("utf-8")) | {"version": 2, "single_precision": True}
    path.write_text(json.dumps(document | {member: nested(MAX_DEPTH + 1)}), "utf-8")
    with pytest.raises(FormatError, match=rf"{path.name}: at \$.{member}: {MESSAGE}"):
        syllabary.load(path)


@pytest.mark.parametrize("member", ["record", "carried"])
def test_what_is_written_is_read(member: str, tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tok.syllabary.json"
    deep = syllabary.Tokenizer(dataclasses.replace(tok.spec, **{member: nested(MAX_DEPTH)}))
    assert depth_of(getattr(deep.spec, member)) == MAX_DEPTH
    deep.save(path)
    assert syllabary.load(path) == deep == pickle.loads(pickle.dumps(deep)) == copy.deepcopy(deep)
    for depth in (MAX_DEPTH + 1, 10_000):
        deeper = syllabary.Tokenizer(dataclasses.replace(tok.spec, **{member: nested(depth)}))
        with pytest.raises(FormatError, match=f"^{member}: {MESSAGE}, which is not read back$"):
            deeper.save(tmp_path / "deeper.syllabary.json")
    assert not (tmp_path / "deeper.syllabary.json").exists()


def test_tekken(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small(multimodal=nested(MAX_DEPTH - 2))), "utf-8")
    found = syllabary.load(path)
    path.write_text(json.dumps(small(multimodal=nested(MAX_DEPTH - 1))), "utf-8")
    with pytest.raises(FormatError, match=rf"at \$.multimodal: {MESSAGE}"):
        syllabary.load(path)
    found.save(tmp_path / "tok.syllabary.json")
    assert syllabary.load(tmp_path / "tok.syllabary.json") == pickle.loads(pickle.dumps(found)) == found


def test_a_tokenizer_of_integers(tmp_path: Path) -> None:
    path = tmp_path / "ids.json"
    syllabary.IdTokenizer([1, 2], [], nested(MAX_DEPTH)).save(path)
    assert depth_of(syllabary.IdTokenizer.load(path).record) == MAX_DEPTH
    with pytest.raises(FormatError, match=f"^record: {MESSAGE}"):
        syllabary.IdTokenizer([1, 2], [], nested(10_000)).save(path)
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(document | {"record": nested(MAX_DEPTH + 1)}), "utf-8")
    with pytest.raises(FormatError, match=rf"at \$.record: {MESSAGE}"):
        syllabary.IdTokenizer.load(path)
