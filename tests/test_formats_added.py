"""Added tokens of a tokenizer.json whose names are symbols, or would be taken for other text by its model.

Leaves out: other added tokens (`test_formats`), and other things not honoured (`test_formats_bad_input`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Peer

from syllabary import formats, splits
from syllabary.errors import FormatError
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import Matching, TrainOptions

NAME = "tokenizer.json"


def trained_with_special(folder: Path, name: str, **options: Any) -> Path:
    """A tokenizer.json of `aa a`, in which `b` alone is a special token, now called `name`."""
    chosen = {"num_merges": 1, "special_tokens": ("b",), "alphabet": "seen", "min_frequency": 1} | options
    spec = train(["aa a"] * 3, TrainOptions(splits.get("gpt2"), **chosen))
    formats.write(spec, folder / NAME)
    text = (folder / NAME).read_text("utf-8").replace('"b"', json.dumps(name))
    (folder / NAME).write_text(text, "utf-8")
    return folder / NAME


@pytest.mark.parametrize("unit", ["byte", "char"])
def test_an_added_token_of_one_character_is_no_symbol(unit: str, tmp_path: Path) -> None:
    path = trained_with_special(tmp_path, "b", unit=unit)
    spec = formats.read(path)
    assert b"b" not in spec.alphabet
    assert spec.special_tokens["b"] not in spec.tokens
    ids = ReferenceTokenizer(spec).encode("aab a", "allow")
    assert Peer.from_file(str(path)).encode("aab a").ids == ids == [1, 1, 3, 2]


@pytest.mark.parametrize(
    "name, options, text, unit",
    [
        ("é", {}, "aé a", "char"),
        ("b</w>", {"unit": "char", "end_of_word": "</w>"}, "ab</w> a", "char"),
        ("Ġb", {}, "aĠb", "byte"),
    ],
)
def test_an_added_token_that_the_model_takes_for_other_text(
    name: str, options: dict[str, Any], text: str, unit: str, tmp_path: Path
) -> None:
    """`é` is byte 0xE9 to a model of bytes, `b</w>` a last `b`: they stay what they are there, both."""
    path = trained_with_special(tmp_path, name, **options)
    spec = formats.read(path)
    assert (spec.unit, list(spec.special_tokens)) == (unit, [name])
    assert Peer.from_file(str(path)).encode(text).ids == ReferenceTokenizer(spec).encode(text, "allow")


def test_an_added_token_that_a_whole_piece_spells(tmp_path: Path) -> None:
    path = trained_with_special(tmp_path, "Ġb")
    assert formats.read(path).special_tokens == {"Ġb": 3}
    path.write_text(path.read_text("utf-8").replace('"ignore_merges": false', '"ignore_merges": true'))
    spec = formats.read(path)
    assert (spec.unit, spec.tokens[3]) == ("char", "Ġb".encode())


def entry(content: str, token_id: int, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": token_id, "content": content, **plain, **flags}


def with_added(folder: Path, *entries: dict[str, Any]) -> Path:
    """A file with gaps in its ids (4 names, the last of them 7) and these added tokens."""
    vocab = {"a": 0, "b": 1, "[U]": 2, "ab": 7}
    document = {"added_tokens": list(entries), "model": {"vocab": vocab, "merges": ["a b"]}}
    (folder / NAME).write_text(json.dumps(document), "utf-8")
    return folder / NAME


def test_ids_are_those_that_their_library_gives(tmp_path: Path) -> None:
    """A token of its own takes the number of names as its id, and the next ones follow, gaps or not."""
    path = with_added(tmp_path, entry("x", 4), entry("ab", 7), entry("y", 5, special=True), entry("z", 6))
    spec = formats.read(path)
    assert (spec.special_tokens, spec.added_tokens) == ({"y": 5}, {"x": 4, "ab": 7, "z": 6})
    assert Peer.from_file(str(path)).encode("xabyz").ids == [4, 7, 5, 6]
    for wrong in (entry("x", 8), entry("ab", 4)):
        with pytest.raises(FormatError, match="which their library would give it"):
            formats.read(with_added(tmp_path, wrong))
    four = [entry(text, 4 + place) for place, text in enumerate("wxyz")]
    with pytest.raises(FormatError, match="'z' has the id 7 of 'ab'"):
        formats.read(with_added(tmp_path, *four))


def test_flags_become_stages(tmp_path: Path) -> None:
    path = with_added(tmp_path, entry("x", 4, normalized=True, lstrip=True), entry("y", 5, single_word=True))
    assert formats.read(path).matching == {
        "x": Matching("normalized", lstrip=True),
        "y": Matching("text", single_word=True),
    }
    path = with_added(tmp_path, entry("x", 4, normalized=True), entry("y", 5, normalized=True))
    assert formats.read(path).matching == {}  # without a normalizer it makes no difference
    formats.write(formats.read(path), tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text("utf-8"))
    assert [one["normalized"] for one in again["added_tokens"]] == [True, True]
    assert again["model"]["vocab"] == {"a": 0, "b": 1, "[U]": 2, "ab": 7}
