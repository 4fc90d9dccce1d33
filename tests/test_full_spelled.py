"""Full encodings whose tokens are spelled as they were found, and fields that become lists when asked for.

Adds tokens that are looked for in normalized text and take white space along, and an unknown token that is a
byte, each as tokenizers has them, in the engine and in the specification. Leaves out drawn framings
(`test_full`, `test_full_reference`).
"""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Theirs

import syllabary
from syllabary.compat.tokenizers import Tokenizer as Compat
from syllabary.formats.hf_framing import framing
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.encoding import FIELDS, Encoding
from syllabary.reference.full import Asked, encode_full

TEXTS = ("ab<One>c", "<One>", "<one> x <ONE>", " [b] ab", "a [b] c", "▁<One>", "É é", "a<One>  b", "low e ")
NORMALIZERS = {
    "lowercase": normalizers.Lowercase(),
    "prepend": normalizers.Prepend("▁"),
    "as sentencepiece": normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    "without accents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
}
LETTERS = {letter: at for at, letter in enumerate("abcdefghijklmnopqrstuvwxyz▁ <>[]")}
BYTES = [(f"<0x{byte:02X}>", -5.0) for byte in range(256)]


def check(peer: Theirs, tmp_path: Path, texts: tuple[str, ...]) -> None:
    """Ids, tokens and offsets: the peer's, the engine's, the specification's, and by the compatible class."""
    path = tmp_path / "tokenizer.json"
    path.write_text(peer.to_str(), encoding="utf-8")
    tok, compat = syllabary.load(path), Compat.from_file(str(path))
    plain = ReferenceTokenizer(tok.spec)
    for text in texts:
        one = peer.encode(text)
        wanted = one.ids, one.tokens, one.offsets
        asked = Asked(framing(tok.spec), "allow")
        for found in (tok.encode_full(text, special="allow"), encode_full(plain, text, None, asked)):
            assert (found.ids, found.tokens, found.offsets) == wanted, text
        found = compat.encode(text)
        assert (found.ids, found.tokens, found.offsets) == wanted, text


@pytest.mark.parametrize("sides", ["", "lstrip", "rstrip", "lstrip rstrip"])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_tokens_found_in_normalized_text(name: str, sides: str, tmp_path: Path) -> None:
    flags = dict.fromkeys(sides.split(), True)
    merged = {**LETTERS, "lo": 100, "low": 101, "é": 102, "e ": 103}
    peer = Theirs(models.BPE(merged, [("l", "o"), ("lo", "w"), ("e", " ")], unk_token="a"))
    peer.normalizer = NORMALIZERS[name]
    peer.add_tokens([AddedToken(text, normalized=True, **flags) for text in ("<One>", " [b] ", "é", "low")])
    check(peer, tmp_path, TEXTS)


@pytest.mark.parametrize("kind", ["WordLevel", "WordPiece", "BPE"])
@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
@pytest.mark.parametrize(
    "processor", [None, processors.ByteLevel(), processors.ByteLevel(add_prefix_space=False)]
)
def test_what_the_model_makes_is_spelled_by_its_vocabulary(
    kind: str, side: str, processor: Any, tmp_path: Path
) -> None:
    """Though the token takes white space along where it is found: the unknown one, and `Ġ`."""
    vocab = {name: at for at, name in enumerate(["<unk>", " ", "Ġ", "a", "low", "▁", "aa"])}
    more = {"merges": []} if kind == "BPE" else {}
    peer = Theirs(getattr(models, kind)(vocab, unk_token="<unk>", **more))
    peer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    peer.post_processor = processor
    names = ["<unk>", "Ġ", " " if side == "lstrip" else "low"]
    peer.add_special_tokens([AddedToken(name, **{side: True}) for name in names])
    check(
        peer, tmp_path, ("low x ", "日本 a", "a <unk> é", "x\u3000<unk>y", "Ġ x Ġ", "low  low", "\u3000aa  x")
    )
    peer.normalizer = normalizers.Replace("é", "  low ")
    peer.add_tokens([AddedToken("aa", single_word=True)])
    check(peer, tmp_path, ("low x ", "é日本 a", "a <unk> é", "éé", "aa aaa", "éaa"))


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("text", ["x  a", "xx a b", "b a", " a", "a <b> c", "<b> <b>"])
def test_trimming_at_the_beginning(text: str, prefix: bool, tmp_path: Path) -> None:
    """One space in front of the first token is not taken off, wherever it stands in the text."""
    peer = Theirs(models.WordLevel({"<unk>": 0, "a": 1, "b": 2}, unk_token="<unk>"))
    peer.pre_tokenizer = pre_tokenizers.Split("x", "removed")
    peer.post_processor = processors.ByteLevel(add_prefix_space=prefix)
    peer.add_special_tokens([AddedToken(" ", lstrip=True), AddedToken("<b>", lstrip=True)])
    check(peer, tmp_path, (text,))


SPACED = ["<unk>", "Ġthe", "Ġ", "a", "##b", "Ġab", "##Ġ", "ĠĠ", "the", "ab", "bĠ"]


@pytest.mark.parametrize("kind", ["WordPiece", "WordLevel", "Unigram"])
@pytest.mark.parametrize("cuts", [True, False])
@pytest.mark.parametrize(
    "text", ["the ab the", " the  ab ", "a the", "ab  日本 the", "", " ", "é the\u3000a"]
)
def test_trimmed_offsets_of_other_models(kind: str, cuts: bool, text: str, tmp_path: Path) -> None:
    """Space by space, as of merges: `tok.offsets` too."""
    vocab = {name: at for at, name in enumerate(SPACED)}
    scored = [(name, -len(SPACED) + at / 2) for name, at in vocab.items()]
    model = (
        models.Unigram(scored, 0) if kind == "Unigram" else getattr(models, kind)(vocab, unk_token="<unk>")
    )
    peer = Theirs(model)
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=cuts)
    peer.post_processor = processors.ByteLevel(add_prefix_space=False)
    check(peer, tmp_path, (text,))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    places = [(start, end) for start, end in tok.offsets(text).tolist()]
    assert places == ReferenceTokenizer(tok.spec).offsets(text)
    if kind != "Unigram" and "日" not in text and "é" not in text:  # no unknown token, which is not trimmed
        assert places == peer.encode(text).offsets


@pytest.mark.parametrize("unknown", [0, 3 + 0x41, 3 + 0xC3])
@pytest.mark.parametrize("falls", [False, True])
def test_an_unknown_token_that_is_a_byte(falls: bool, unknown: int, tmp_path: Path) -> None:
    vocab = [("<unk>", 0.0), ("▁", -2.0), ("a", -1.0), *BYTES, ("ab", -1.5)]
    peer = Theirs(models.Unigram(vocab, unk_id=unknown, byte_fallback=falls))
    check(peer, tmp_path, ("a", "abA", "é", "aéb", "日本", "Ab<0x41>", "Ã"))


def slots(row: Encoding) -> list[str]:
    """The fields that are there."""
    found = []
    for name in FIELDS:
        try:
            vars(Encoding)[name].__get__(row)
            found.append(name)
        except AttributeError:
            pass
    return found


def test_a_field_is_made_when_it_is_asked_for() -> None:
    tok = syllabary.train(["low lower lowest widest"] * 9, vocab_size=262)
    row = tok.encode_full("low lower" * 3)
    assert slots(row) == []
    assert row.ids is row.ids
    assert slots(row) == ["ids"]
    assert row.offsets[0] == (0, 3)
    assert slots(row) == ["ids", "offsets"]
    parts = tok.encode_full("low lower" * 3, truncation=syllabary.framing.Truncation(4, 1))
    assert slots(parts.overflowing[1]) == ["overflowing"]
    with pytest.raises(AttributeError, match="'Row' object has no attribute 'id'"):
        row.id  # noqa: B018


def test_it_is_an_encoding_as_any_other() -> None:
    tok = syllabary.train(["low lower lowest widest"] * 9, vocab_size=262)
    asked = Asked(framing(tok.spec))
    plain = encode_full(ReferenceTokenizer(tok.spec), "low wide", None, asked)
    plain.ranges = {0: (0, len(plain))}  # it is all one text, either way
    made: list[Any] = [tok.encode_full("low wide") for _ in range(5)]
    assert made[0] == plain
    assert plain == made[1]
    assert made[0] != tok.encode_full("low")
    assert made[0] != 3
    for other in (pickle.loads(pickle.dumps(made[2])), copy.copy(made[3]), copy.deepcopy(made[4])):
        assert type(other) is Encoding
        assert other == plain
    assert repr(tok.encode_full("low wide")) == repr(plain)
    batch = tok.encode_full_batch(["low", "wide", "low wide"])
    assert [*batch] == [tok.encode_full(text) for text in ("low", "wide", "low wide")]


def test_as_json_lays_it_out() -> None:
    from syllabary.formats.hf_write import document, dumps

    for vocab_size, split in itertools.product((257, 262), ("gpt2", "none")):
        tok = syllabary.train(
            ['low lower "lowest"\n\u2028 \\widest'] * 9, vocab_size, split=split, special_tokens=["<|a|>"]
        )
        found = document(tok.spec)
        assert dumps(found) == json.dumps(found, ensure_ascii=False, indent=2)
