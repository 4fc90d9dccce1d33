"""GGUF's models `bert` (WordPiece) and `t5` (Unigram): written and read again, and as gguf-py writes them.

Leaves out: the container, and byte-pair encoding (`test_formats_gguf`).
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import sentencepiece_models as made
import streamed
from tokenizers import Tokenizer as Peer
from unigram_models import huggingface_file, sentencepiece_model

import syllabary
from syllabary import surgery
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats import gguf
from syllabary.formats.gguf_container import read_pairs, write_pairs
from syllabary.spec import Matching, Step, TokenizerSpec
from syllabary.verify import verify

LINES = ["The cat sat on the mat, unaffordable! École café", "學 校 the hat of a bat's 12 34 low lower"] * 5
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def wordpiece(**normalizer: bool) -> TokenizerSpec:
    """BERT's pipeline, trained as Hugging Face does."""
    options = {"special_tokens": SPECIAL, "vocab_size": 75}
    spec = syllabary.train(LINES, model="wordpiece", like="huggingface", options=options).spec
    (step,) = spec.normalizer
    return replace(spec, normalizer=(Step(step.kind, {**step.options, **normalizer}),))


def unigram(folder: Path, number: int = 0, **options: Any) -> bytes:
    """A `.model` that the file can hold: without bytes, spaces before words and escaped."""
    if options:
        return made.train(folder, model_type="unigram", vocab_size=300, hard_vocab_limit=False, **options)
    return sentencepiece_model(folder, number)


def saved(spec: TokenizerSpec, path: Path) -> tuple[syllabary.Tokenizer, tuple[str, ...]]:
    """A tokenizer after a file, and what was lost."""
    reduced, lost = gguf.reduce(spec)
    path.write_bytes(gguf.write(reduced))
    return syllabary.load(path), lost


def write(path: Path, pairs: dict[str, Any]) -> Path:
    """A file of these pairs."""
    path.write_bytes(write_pairs({f"tokenizer.ggml.{key}": pair for key, pair in pairs.items() if pair}))
    return path


# ---- bert ----


@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"strip_accents": True, "lowercase": False}])
def test_bert_and_back(options: dict[str, bool], tmp_path: Path) -> None:
    spec = wordpiece(**options)
    back, lost = saved(spec, tmp_path / "tok.gguf")
    assert replace(back.spec, carried={}) == replace(spec, record={}, longest_piece=None)
    assert sorted(loss.split(":")[0][:40] for loss in lost) == [
        "how it was trained, and what only other ",
        "that words of more than 100 characters a",
    ]
    tok, chance = syllabary.Tokenizer(replace(spec, longest_piece=None)), random.Random(3)
    for text in [*LINES, *(streamed.drawn(chance, ["[MASK]"]) for _ in range(60)), "ÉCOLE [CLS]"]:
        for special in ("allow", "text"):
            assert back.encode(text, special) == tok.encode(text, special)


def test_bert_is_spelled_as_the_converter_does(tmp_path: Path) -> None:
    """`▁` before what begins a word, nothing before what goes on, control tokens as they are."""
    spec = wordpiece()
    saved(spec, tmp_path / "tok.gguf")
    pairs = read_pairs(tmp_path / "tok.gguf", "")
    texts, kinds = pairs["tokenizer.ggml.tokens"], pairs["tokenizer.ggml.token_type"]
    assert isinstance(texts, list)
    assert isinstance(kinds, list)
    for token_id, token in spec.tokens.items():
        name = token.decode()
        if name in SPECIAL:
            assert (texts[token_id], kinds[token_id]) == (name, 3)
        else:
            assert texts[token_id] == (name[2:] if name.startswith("##") else "▁" + name)
            assert kinds[token_id] == 1
    told = {key.removeprefix("tokenizer.ggml."): value for key, value in pairs.items()}
    assert told["general.architecture"] == told["model"] == "bert"
    assert (told["unknown_token_id"], told["bos_token_id"], told["seperator_token_id"]) == (1, 2, 3)
    assert told["normalizer.lowercase"] is True


def test_bert_as_gguf_py_writes_it(tmp_path: Path) -> None:
    """With its writer, as llama.cpp's converter calls it; what is not told has llama.cpp's defaults."""
    peer = pytest.importorskip("gguf", reason="the PyPI package gguf is not installed")
    path = tmp_path / "theirs.gguf"
    writer = peer.GGUFWriter(path, "bert")
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list(["[UNK]", "[CLS]", "▁un", "able", "afford", "▁[PAD5]", "▁<new>"])
    writer.add_token_types([3, 3, 1, 1, 1, 5, 4])
    writer.add_unk_token_id(0)
    writer.add_int32("tokenizer.ggml.low", -1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tok = syllabary.load(path)
    assert tok.encode("Ünaffordable x <new>[CLS]", "allow") == [2, 4, 3, 0, 6, 1]
    assert tok.spec.added_tokens == {"<new>": 6}
    assert tok.spec.matching == {"[PAD5]": Matching(stage="never")}
    again = tmp_path / "again.gguf"
    tok.save(again)
    ours, theirs = read_pairs(again, "tokenizer."), read_pairs(path, "tokenizer.")
    assert ours == {**theirs, "tokenizer.ggml.normalizer.lowercase": True}


def test_convert_and_verify_know_bert(tmp_path: Path) -> None:
    source = tmp_path / "tokenizer.json"
    syllabary.Tokenizer(wordpiece()).save(source)
    done = convert(source, tmp_path / "tok.gguf")
    assert any("more than 100 characters" in str(loss) for loss in done.losses)
    assert verify(tmp_path / "tok.gguf", source, LINES).difference is None
    (tmp_path / "back").mkdir()
    convert(tmp_path / "tok.gguf", tmp_path / "back" / "tokenizer.json")
    peer, back = Peer.from_file(str(source)), Peer.from_file(str(tmp_path / "back" / "tokenizer.json"))
    for text in LINES:
        ids = peer.encode(text, add_special_tokens=False).ids
        assert back.encode(text, add_special_tokens=False).ids == ids


@pytest.mark.parametrize(
    "change, what",
    [
        ({"pretokenizer": (Step("Whitespace"),)}, "other steps"),
        ({"normalizer": ()}, "other steps"),
        ({"unknown": None}, "without an unknown token"),
        ({"continuing_prefix": "@@"}, "another prefix"),
        ({"tokens": {0: b"[UNK]", 1: b"##"}, "special_tokens": {}}, "the token '##'"),
        ({"tokens": {0: b"[UNK]", 1: "##▁a".encode()}, "special_tokens": {}}, "would be misread"),
        ({"matching": {"[CLS]": Matching(stage="normalized")}}, None),
    ],
)
def test_what_bert_cannot_hold(change: dict[str, Any], what: str | None, tmp_path: Path) -> None:
    spec = replace(wordpiece(), **{"unknown": 0, **change})
    if what is None:
        assert any("are found in text" in loss for loss in saved(spec, tmp_path / "t.gguf")[1])
        return
    with pytest.raises(FormatError, match=f"gguf cannot hold .*{what}"):
        saved(spec, tmp_path / "t.gguf")


def test_ids_of_no_token_are_named(tmp_path: Path) -> None:
    """As in `test_formats_gguf`, of both models."""
    (tmp_path / "t.model").write_bytes(unigram(tmp_path, normalization_rule_name="nfkc"))
    for spec in (replace(wordpiece(), longest_piece=None), syllabary.load(tmp_path / "t.model").spec):
        whole = syllabary.Tokenizer(spec)
        gone = whole.encode(LINES[0])[-1]
        tok = surgery.remove(whole, [gone], renumber=False).tokenizer
        held = syllabary.Tokenizer(gguf.reduce(spec)[0])
        with pytest.raises(
            FormatError, match=f"gguf cannot hold ids with a gap: {gone} is no token's; convert"
        ):
            surgery.remove(held, [gone], renumber=False).tokenizer.save(tmp_path / "tok.gguf")
        back, lost = saved(tok.spec, tmp_path / "tok.gguf")
        named = (
            f"that 1 id is no token's: each gets one that no text becomes, as '[PAD{gone}]'; no id changes"
        )
        assert named in lost
        assert back.vocab[gone] == f"[PAD{gone}]".encode()
        for text in (*LINES, f"a [PAD{gone}]"):
            assert back.encode(text, "text") == tok.encode(text, "text")


# ---- t5 ----


@pytest.mark.parametrize("number", range(8))
def test_t5_and_back(number: int, tmp_path: Path) -> None:
    """Ids as before but for what is named; as sentencepiece's where nothing is."""
    data = unigram(tmp_path, number)
    (tmp_path / "t.model").write_bytes(data)
    tok = syllabary.load(tmp_path / "t.model")
    if tok.spec.normalizer[0].options["treat_whitespace_as_suffix"]:
        with pytest.raises(FormatError, match="a Unigram model with other steps than sentencepiece's"):
            saved(tok.spec, tmp_path / "tok.gguf")
        return
    back, lost = saved(tok.spec, tmp_path / "tok.gguf")
    assert back.spec.tokens == tok.spec.tokens
    assert back.spec.scores == tok.spec.scores
    assert back.spec.normalizer == tok.spec.normalizer
    exact = not tok.spec.fallback and not tok.spec.added_tokens
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in made.corpus(number, 20):
        if exact and not any(name in text for name in tok.special_tokens):
            assert back.encode(text, "text") == peer.encode(text)
    assert tok.spec.fallback == any("spelled with bytes" in loss for loss in lost)


def test_t5_keeps_the_whole_specification(tmp_path: Path) -> None:
    (tmp_path / "t.model").write_bytes(unigram(tmp_path, normalization_rule_name="nmt_nfkc"))
    spec = syllabary.load(tmp_path / "t.model").spec
    back, lost = saved(spec, tmp_path / "tok.gguf")
    assert replace(back.spec, carried={}, matching=spec.matching) == replace(spec, carried={})
    assert [loss.split(" ")[0] for loss in lost] == ["how", "how"]  # tokens in text, what is carried
    pairs = read_pairs(tmp_path / "tok.gguf", "tokenizer.")
    charsmap = pairs["tokenizer.ggml.precompiled_charsmap"]
    assert isinstance(charsmap, list)
    assert bytes(int(one) for one in charsmap) == spec.normalizer[0].options["precompiled_charsmap"]
    assert pairs["tokenizer.ggml.eos_token_id"] == 2


def test_t5_as_gguf_py_writes_it(tmp_path: Path) -> None:
    peer = pytest.importorskip("gguf", reason="the PyPI package gguf is not installed")
    data = unigram(tmp_path, normalization_rule_name="nfkc")
    (tmp_path / "t.model").write_bytes(data)
    model = syllabary.load(tmp_path / "t.model").spec
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    path = tmp_path / "theirs.gguf"
    writer = peer.GGUFWriter(path, "t5")
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    ids = range(theirs.vocab_size())
    writer.add_token_list([*(theirs.id_to_piece(one) for one in ids), "[PAD7]"])
    writer.add_token_scores([*(theirs.get_score(one) for one in ids), -10000.0])
    kinds = [2 if theirs.is_unknown(one) else 3 if theirs.is_control(one) else 1 for one in ids]
    writer.add_token_types([*kinds, 5])
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(model.normalizer[0].options["precompiled_charsmap"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tok = syllabary.load(path)
    assert tok.spec.unused == {len(ids)}
    for text in made.corpus(5, 30):
        assert tok.encode(text, "text") == theirs.encode(text)
        assert tok.decode(theirs.encode(text)) == theirs.decode(theirs.encode(text))


@pytest.mark.parametrize("pipeline", [("t5", "metaspace"), ("none", "metaspace"), ("t5", "words")])
def test_t5_of_a_tokenizer_json(pipeline: tuple[str, str], tmp_path: Path) -> None:
    """Its steps become sentencepiece's, and the losses say so."""
    (tmp_path / "tokenizer.json").write_text(huggingface_file(*pipeline, 0, 1))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    back, lost = saved(tok.spec, tmp_path / "tok.gguf")
    assert any("become" in loss for loss in lost)
    same = [
        back.encode(text, "text") == tok.encode(text, "text")
        for text in ["the cat sat", "arma virumque cano"]
    ]
    assert all(same)


CHARS = {"model": ("str", "t5"), "tokens": ("str", ["<unk>", "▁", "a"]), "token_type": ("i32", [2, 1, 1])}


@pytest.mark.parametrize(
    "change, message",
    [
        ({}, "ggml.scores: missing"),
        ({"scores": ("f32", [0.0, -1.0])}, "2 numbers for 3 tokens"),
        ({"precompiled_charsmap": ("str", ["a"])}, "precompiled_charsmap: is no list of bytes"),
        ({"precompiled_charsmap": ("i32", [1, 256])}, "is no list of bytes"),
        ({"precompiled_charsmap": ("u8", [9, 0, 0, 0, 1])}, "precompiled_charsmap: "),
        ({"token_type": ("i32", [2, 1, 6])}, "the type is that of a byte, and 'a' is none"),
        ({"token_type": ("i32", [1, 1, 1]), "unknown_token_id": ("u32", 7)}, "is 7, and there are 3 tokens"),
        ({"token_type": ("i32", [1, 1, 1]), "unknown_token_id": ("str", "x")}, "'x': an id"),
        ({"add_space_prefix": ("u32", 1)}, "add_space_prefix: is 1: true or false"),
    ],
)
def test_what_no_t5_is(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    scores = {} if not change else {"scores": ("f32", [0.0, -1.0, -2.0])}
    path = write(tmp_path / "bad.gguf", {**CHARS, **scores, **change})
    with pytest.raises(FormatError, match=message):
        syllabary.load(path)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"token_type": ("i32", [3, 6, 1])}, "a byte, in a vocabulary of the model bert"),
        ({"tokens": ("str", ["[UNK]", "▁##a", "a"])}, r"tokens\[2\]: '##a' is that of id 1 too"),
        ({"normalizer.lowercase": ("u32", 1)}, "normalizer.lowercase: is 1"),
        ({"unknown_token_id": ("u32", 3)}, "is 3, and there are 3 tokens"),
    ],
)
def test_what_no_bert_is(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    pairs = {**CHARS, "model": ("str", "bert"), "tokens": ("str", ["[UNK]", "▁a", "a"])}
    path = write(tmp_path / "bad.gguf", {**pairs, "token_type": ("i32", [3, 1, 1]), **change})
    with pytest.raises(FormatError, match=message):
        syllabary.load(path)


def test_t5_as_little_as_may_be(tmp_path: Path) -> None:
    """What llama.cpp takes where nothing is told: no space in front, and the unknown token is 2."""
    path = write(
        tmp_path / "t.gguf",
        {**CHARS, "token_type": ("i32", [1, 1, 1]), "scores": ("f32", [-1.0, -1.0, -1.0])},
    )
    tok = syllabary.load(path)
    assert tok.spec.unknown == 2
    assert tok.encode("zz") == [2]
    assert tok.spec.normalizer[0].options["add_dummy_prefix"] is False
