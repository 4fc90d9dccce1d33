"""YouTokenToMe's models: the ids that it gives itself, and damage.

`testdata/peers/youtokentome.json` holds models, and what YouTokenToMe 1.0.6 made of texts with them
(`tools/youtokentome_cases.py`); the cases that are written out here follow from its source.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers

import syllabary
from syllabary.convert import convert
from syllabary.errors import FormatError

GOLDEN = Path(__file__).parent.parent / "testdata" / "peers" / "youtokentome.json"
# low lower: ▁ l o w e r; merges lo, low, ▁low, er
MODEL = """6 4
9601 4
108 5
111 6
119 7
101 8
114 9
5 6 10
10 7 11
4 11 12
8 9 13
1 0 2 3
"""


def load(tmp_path: Path, model: str, name: str = "model.yttm") -> syllabary.Tokenizer:
    path = tmp_path / name
    path.write_text(model)
    return syllabary.load(path)


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("low lower", ["▁low", "▁low", "er"]),
        ("  low \t\n", ["▁low"]),
        ("", []),
        (" \v\f\r", []),
        ("▁low▁▁lo", ["▁low", "▁", "lo"]),
        ("lowxyzlow", ["▁low", "<UNK>", "low"]),
        ("xy z", ["▁", "<UNK>", "▁", "<UNK>"]),
        ("low\u00a0low", ["▁low", "<UNK>", "low"]),
        ("<BOS>lo", ["▁", "<UNK>", "lo"]),
        ("wlolow", ["▁", "w", "lo", "low"]),
    ],
)
def test_words(text: str, tokens: list[str], tmp_path: Path) -> None:
    tok = load(tmp_path, MODEL)
    assert [token.decode() for token in tok.tokens(text)] == tokens


def test_decoding(tmp_path: Path) -> None:
    tok = load(tmp_path, MODEL)
    assert tok.decode(tok.encode("  low lower")) == "low lower"
    assert tok.decode([2, 12, 12, 3]) == "<BOS> low low<EOS>"
    assert tok.special_tokens == {"<UNK>": 1, "<PAD>": 0, "<BOS>": 2, "<EOS>": 3}


def test_without_some_special_tokens(tmp_path: Path) -> None:
    tok = load(tmp_path, MODEL.replace("1 0 2 3", "0 -1 -1 -1"))
    assert tok.special_tokens == {"<UNK>": 0}


def test_any_name(tmp_path: Path) -> None:
    """By content, and not taken for a rank file."""
    assert load(tmp_path, MODEL, "model.txt").vocab_size == 14
    assert load(tmp_path, MODEL + "\n \r\n", "model.txt").vocab_size == 14


def test_golden(tmp_path: Path) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for number, model in enumerate(golden):
        tok = load(tmp_path, model["model"], f"{number}.yttm")
        for text, ids in model["cases"]:
            assert tok.encode(text) == ids, text
        for ids, text in model["decoded"]:
            assert tok.decode(ids) == text


def test_as_tokenizer_json(tmp_path: Path) -> None:
    """Hugging Face's library gives the same ids from the file that `convert` writes."""
    (tmp_path / "small.yttm").write_text(MODEL)
    convert(tmp_path / "small.yttm", tmp_path / "small.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "small.json"))
    ours = syllabary.load(tmp_path / "small.yttm")
    for space in " \t\n\v\f\r▁\u00a0\u0085\u2028":
        text = f"low{space}lower{space}{space}lo"
        assert theirs.encode(text).ids == ours.encode(text), text
    for number, model in enumerate(json.loads(GOLDEN.read_text(encoding="utf-8"))):
        (tmp_path / f"{number}.yttm").write_text(model["model"])
        convert(tmp_path / f"{number}.yttm", tmp_path / f"{number}.json")
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / f"{number}.json"))
        for text, ids in model["cases"]:
            assert theirs.encode(text).ids == ids, text


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("6 4\n", "6 5\n", r"line 1: 6 characters and 5 rules|line 12"),
        ("6 4\n", "99999999 4\n", "line 1: 99999999 characters"),
        ("108 5", "108", "line 3: .*: 2 numbers should stand there"),
        ("108 5", "108 x", "line 3: .*: 2 numbers should stand there"),
        ("108 5", "55296 5", "line 3: .*: 55296 is no character"),
        ("108 5", "108 4", "line 3: .*: id 4 is there already"),
        ("111 6", "108 6", "a character has two ids"),
        ("5 6 10", "5 66 10", "line 8: .*: a rule of tokens that no line before it makes"),
        ("5 6 10", "5 6 9", "line 8: .*: id 9 is there already"),
        ("5 6 10", "5 6 -10", "line 8: .*: id -10 is negative"),
        ("1 0 2 3", "1 0 2", "line 12: .*: 4 numbers should stand there"),
        ("1 0 2 3", "-1 0 2 3", "needs an unknown token"),
        ("1 0 2 3", "1 0 2 13", "13"),
        ("9601 4", "9602 4", "needs an unknown token, and '▁'"),
        ("1 0 2 3\n", "1 0 2 3\n\n6 4\n", "line 14: .*: the model ends on the line of four ids"),
        ("111 6", f"111 {'9' * 30}", "line 4: .*: 2 numbers should stand there"),
    ],
)
def test_damage(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yttm"
    path.write_text(MODEL.replace(old, new, 1))
    with pytest.raises(FormatError, match=message) as caught:
        syllabary.formats.read(path, "youtokentome")
    assert "bad.yttm" in str(caught.value)
