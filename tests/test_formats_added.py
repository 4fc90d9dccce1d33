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
from syllabary.spec import TrainOptions

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
    "name, options",
    [
        ("é", {}),
        ("b</w>", {"unit": "char", "end_of_word": "</w>"}),
        ("<0xFF>", {"unit": "char", "special_tokens": ("<s>",)}),
    ],
)
def test_an_added_token_that_the_model_takes_for_other_text(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    path = trained_with_special(tmp_path, name, **options)
    if name == "<0xFF>":
        document = json.loads(path.read_text("utf-8"))
        document["model"]["byte_fallback"] = True
        document["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
        path.write_text(json.dumps(document).replace("<s>", name), "utf-8")
    with pytest.raises(FormatError, match=f"the added token '{name}' stands for other text"):
        formats.read(path)


def test_an_added_token_that_a_whole_piece_spells(tmp_path: Path) -> None:
    path = trained_with_special(tmp_path, "Ġb")
    assert formats.read(path).special_tokens == {"Ġb": 3}
    path.write_text(path.read_text("utf-8").replace('"ignore_merges": false', '"ignore_merges": true'))
    with pytest.raises(FormatError, match="the added token 'Ġb' stands for other text"):
        formats.read(path)
