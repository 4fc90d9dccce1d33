"""GGUF: what is written is read again and means the same; the container as its own library has it; damage."""

from __future__ import annotations

import io
import random
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import streamed

import syllabary
from syllabary import formats, surgery
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats import gguf
from syllabary.formats.gguf_container import read_pairs, smallest, write_pairs
from syllabary.formats.ranks import recover_merges
from syllabary.spec import TokenizerSpec

LINES = ["low lower lowest newer newest widest", "μῆνιν ἄειδε θεὰ", "漢字かな 12 33", "a b c d e f g"] * 3
TYPED = {"<unk>": 2, "<s>": 3, "</s>": 3, "<sep>": 4}


def model(tmp_path: Path, **options: Any) -> Path:
    """A model of sentencepiece's that GGUF can hold."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 4),
        model_writer=out,
        model_type="bpe",
        vocab_size=330,
        hard_vocab_limit=False,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    path = tmp_path / "plain.model"
    path.write_bytes(out.getvalue())
    return path


def saved(tok: syllabary.Tokenizer, path: Path) -> syllabary.Tokenizer:
    """A tokenizer after a GGUF file."""
    path.write_bytes(gguf.write(gguf.reduce(tok.spec)[0]))
    return syllabary.load(path)


@pytest.mark.parametrize("split", ["gpt2", "llama3", "qwen2", "qwen3.5", "o200k", "deepseek-v3", "kimi"])
def test_byte_level_and_back(split: str, tmp_path: Path) -> None:
    tok = syllabary.train(LINES, 300, split=split, special_tokens=["<s>", "<|end|>"])
    back = saved(tok, tmp_path / "tok.gguf")
    assert (back.spec.tokens, back.special_tokens) == (tok.spec.tokens, tok.special_tokens)
    assert (back.merges, back.spec.split) == (tok.merges, tok.spec.split)
    chance = random.Random(split)
    for _ in range(20):
        text = streamed.drawn(chance, ["<s>"])
        assert back.encode(text, "allow") == tok.encode(text, "allow")


def test_ranks_become_merges(shared: Path, tmp_path: Path) -> None:
    tok = syllabary.load(shared / "vocabs" / "r50k_base.tiktoken")
    back = saved(tok, tmp_path / "gpt2.gguf")
    chance = random.Random(5)
    for _ in range(40):
        text = streamed.drawn(chance, [])
        assert back.encode(text, "text") == tok.encode(text, "text")


def test_merges_that_ranks_give_have_both_names(tmp_path: Path) -> None:
    """Whether a piece that is a token becomes it at once changes nothing where merging makes every token."""
    ranks = syllabary.train(["low lower lowest slow"] * 3, vocab_size=264, split="o200k").spec
    listed = replace(ranks, merges=recover_merges(ranks.tokens), whole_pieces=True)
    (tmp_path / "tok.gguf").write_bytes(gguf.write(listed))
    back = syllabary.load(tmp_path / "tok.gguf").spec
    assert (back.split.name, back.merges, back.whole_pieces) == ("o200k", listed.merges, False)
    first, second, *more = listed.merges or ()
    for merges in ((second, first, *more), (second, *more)):
        with pytest.raises(FormatError, match="'o200k' where pieces that are a token become it at once"):
            gguf.write(replace(listed, merges=merges))


def test_scores_are_sentencepieces(tmp_path: Path) -> None:
    path = model(tmp_path)
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    back = saved(syllabary.load(path), tmp_path / "tok.gguf")
    chance = random.Random(6)
    for _ in range(60):
        text = streamed.drawn(chance, [])
        assert back.encode(text, "text") == peer.encode(text)
        assert back.decode(peer.encode(text)) == peer.decode(peer.encode(text))


def test_mistral(shared: Path, tmp_path: Path) -> None:
    path = shared / "vocabs" / "mistral_v1.model"
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    back = saved(syllabary.load(path), tmp_path / "tok.gguf")
    text = "It was the best of times;  μῆνιν ἄειδε θεὰ\n\t人人生而自由 12345 👩‍👩‍👧"
    assert back.encode(text) == peer.encode(text)
    assert back.encode("<s>a", "allow")[0] == 1  # found in text, as llama.cpp does


def test_types_of_tokens(tmp_path: Path) -> None:
    spec = gguf.reduce(syllabary.load(model(tmp_path, user_defined_symbols=["<sep>"])).spec)[0]
    path = tmp_path / "tok.gguf"
    path.write_bytes(gguf.write(spec))
    pairs = read_pairs(path, "tokenizer.")
    texts, kinds = pairs["tokenizer.ggml.tokens"], pairs["tokenizer.ggml.token_type"]
    assert isinstance(texts, list)
    assert isinstance(kinds, list)
    found = dict(zip(texts, kinds, strict=True))
    assert {text: found[text] for text in TYPED} == TYPED
    assert {found[f"<0x{byte:02X}>"] for byte in range(256)} == {6}
    tok = syllabary.load(path)
    assert tok.spec.added_tokens == {"<sep>": texts.index("<sep>")}
    assert texts.index("<sep>") in tok.encode("a<sep>b")


@pytest.mark.parametrize("name, whole", [("glm4", True), ("chatglm-bpe", False)])
def test_two_names_of_one_split(name: str, whole: bool, tmp_path: Path) -> None:
    """They differ in whether a piece that is a token becomes it at once, where merging does not make it."""
    spec = replace(syllabary.train(LINES, 300, split="llama3").spec, whole_pieces=whole, record={})
    spec = replace(spec, merges=(spec.merges or ())[:-1], carried={"gguf": {"ggml.pre": name}})
    back = saved(syllabary.Tokenizer(spec), tmp_path / "tok.gguf").spec
    assert (back.carried["gguf"]["ggml.pre"], back.whole_pieces) == (name, whole)  # type: ignore[index]


def test_what_is_not_understood_is_carried(tmp_path: Path) -> None:
    seed = gguf.write(syllabary.train(LINES, 300, split="gpt2", special_tokens=["<s>"]).spec)
    path = tmp_path / "tok.gguf"
    path.write_bytes(seed)
    pairs: dict[str, Any] = {}
    for key, value in read_pairs(path, "").items():
        one = value[0] if isinstance(value, list) else value
        kind = {bool: "bool", int: "i32", float: "f32", str: "str"}[type(one)]
        pairs[key] = (kind, value)
    pairs |= {
        "tokenizer.ggml.bos_token_id": ("u32", 299),
        "tokenizer.ggml.add_bos_token": ("bool", True),
        "tokenizer.chat_template": ("str", "{{ bos_token }}"),
        "tokenizer.ggml.pre": ("str", "olmo"),
    }
    path.write_bytes(write_pairs(pairs))
    spec = syllabary.load(path).spec
    assert spec.split.name == "gpt2"
    path.write_bytes(gguf.write(spec))
    again = read_pairs(path, "tokenizer.")
    for key in ("ggml.bos_token_id", "ggml.add_bos_token", "ggml.pre"):
        assert again[f"tokenizer.{key}"] == pairs[f"tokenizer.{key}"][1]
    assert again["tokenizer.chat_template"] == "{{ bos_token }}"


CARRIED: dict[str, tuple[str, Any]] = {
    "ggml.small": ("i32", -1),
    "ggml.large": ("u64", 2**40),
    "ggml.low": ("i64", -(2**40)),
    "ggml.half": ("f32", 0.5),
    "ggml.tenth": ("f64", 0.1),
    "ggml.eog_token_ids": ("i32", [1, 2]),
    "ggml.ids": ("u32", [1, 2**31]),
    "ggml.signs": ("i32", [-1, 2]),
    "ggml.wide": ("i64", [-1, 2**40]),
    "ggml.halves": ("f32", [0.5, float("inf")]),
    "ggml.flags": ("bool", [True, False]),
    "ggml.none": ("i32", []),
    "chat_templates": ("str", ["default", "tool_use"]),
    "chat_template.tool_use": ("str", "{{ bos_token }}"),
    "nested": ("list", [["a", "b"], [], [1.5], [[-1], [True]]]),
}


def test_what_is_carried_keeps_its_value_and_type(tmp_path: Path) -> None:
    spec = syllabary.train(LINES, 300, split="gpt2").spec
    carried = {key: value for key, (_name, value) in CARRIED.items()}
    (tmp_path / "a.gguf").write_bytes(gguf.write(replace(spec, carried={"gguf": carried})))
    done = convert(tmp_path / "a.gguf", tmp_path / "b.gguf", strict=True)
    assert (done.losses, (tmp_path / "a.gguf").read_bytes()) == ((), (tmp_path / "b.gguf").read_bytes())
    found = read_pairs(tmp_path / "b.gguf", "tokenizer.")
    assert {key: found[f"tokenizer.{key}"] for key in CARRIED} == carried
    assert {key: smallest(value) for key, value in carried.items()} == {
        key: name for key, (name, _value) in CARRIED.items()
    }


@pytest.mark.parametrize("value", [2**64, [-1, 2**63], [1, 0.5], None, {"a": 1}, [[[[[1]]]]]])
def test_what_no_type_holds_is_a_loss(value: Any, tmp_path: Path) -> None:
    spec = syllabary.train(LINES, 300, split="gpt2").spec
    tok = syllabary.Tokenizer(replace(spec, record={}, carried={"gguf": {"ggml.a": value, "ggml.b": -1}}))
    with pytest.raises(FormatError, match=r"gguf cannot hold what is carried as 'ggml\.a'"):
        tok.save(tmp_path / "tok.gguf")
    done = convert(tok, tmp_path / "tok.gguf")
    assert done.losses == ("what is carried as 'ggml.a': GGUF has no type for it; no id changes",)
    assert syllabary.load(tmp_path / "tok.gguf").spec.carried["gguf"]["ggml.b"] == -1  # type: ignore[index]


def test_convert_names_what_is_lost(tmp_path: Path) -> None:
    done = convert(model(tmp_path, user_defined_symbols=["<sep>"]), tmp_path / "tok.gguf")
    assert any("found in text" in str(loss) for loss in done.losses)
    assert formats.find(tmp_path / "tok.gguf")[0].name == "gguf"


def check_gaps(whole: TokenizerSpec, gone: list[int], names: list[str], path: Path) -> None:
    """`save` refuses ids of no token, `convert` says what stands there, and no text becomes it."""
    tok = surgery.remove(syllabary.Tokenizer(whole), gone, renumber=False).tokenizer
    with pytest.raises(FormatError, match=f"gguf cannot hold ids with a gap: {gone[0]} is no token's; conv"):
        tok.save(path)
    done = convert(tok, path)
    many = "1 id is" if len(gone) == 1 else f"{len(gone)} ids are"
    said = f"that {many} no token's: each gets one that no text becomes, as {names[0]!r}; no id changes"
    assert done.losses == (said,)
    back = syllabary.load(path)
    assert [back.vocab[token_id].decode() for token_id in gone] == names
    assert {**back.vocab, **tok.vocab} == back.vocab
    for text in (*LINES, " ".join(names)):
        assert back.encode(text, "text") == tok.encode(text, "text")
    back.save(path)
    assert syllabary.load(path).spec == back.spec


def test_ids_of_no_token_are_named(tmp_path: Path) -> None:
    """The second has the name of the other gap for itself already."""
    path, spec = tmp_path / "tok.gguf", syllabary.train(LINES, 300, split="gpt2").spec
    check_gaps(replace(spec, record={}), [297, 298], ["[PAD297]", "[PAD298]"], path)
    spec = replace(spec, record={}, special_tokens={"[PAD298]": 300})
    check_gaps(spec, [298], ["[[PAD298]]"], path)
    spec = gguf.reduce(syllabary.load(model(tmp_path)).spec)[0]
    token_id = max(one for one, token in spec.tokens.items() if len(token) > 6)
    check_gaps(spec, [token_id], [f"[PAD{token_id}]"], path)


@pytest.mark.parametrize(
    "options, what",
    [
        ({"split": "gpt4"}, "the split 'gpt4'"),
        ({"split": r"\\S+|\\s+"}, "the split"),
        ({"split": "gpt2", "normalize": "NFC"}, "byte-level tokenizer with steps"),
        ({"unit": "char"}, "other BPE than of bytes"),
        ({"unit": "char", "end_of_word": "</w>"}, "end_of_word"),
    ],
)
def test_what_it_cannot_hold(options: dict[str, Any], what: str) -> None:
    spec = syllabary.train(LINES, min_frequency=1, num_merges=20, **options).spec
    with pytest.raises(FormatError, match=f"gguf cannot hold .*{what}"):
        gguf.write(gguf.reduce(spec)[0])


def test_the_container_is_that_of_its_own_library(tmp_path: Path) -> None:
    peer = pytest.importorskip("gguf", reason="the PyPI package gguf is not installed")
    tok = syllabary.train(LINES, 300, split="llama3", special_tokens=["<s>"])
    path = tmp_path / "ours.gguf"
    path.write_bytes(gguf.write(tok.spec))
    fields = peer.GGUFReader(path).fields
    ours = read_pairs(path, "tokenizer.")
    for key, value in ours.items():
        assert fields[key].contents() == value
    for endianess in (peer.GGUFEndian.LITTLE, peer.GGUFEndian.BIG):
        theirs = tmp_path / f"theirs-{endianess.name}.gguf"
        writer = peer.GGUFWriter(theirs, "llama", endianess=endianess)
        writer.add_uint64("other.number", 7)
        writer.add_array("other.numbers", [1.5, 2.5])
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("dbrx")
        writer.add_token_list(ours["tokenizer.ggml.tokens"])
        writer.add_token_types(ours["tokenizer.ggml.token_type"])
        writer.add_token_merges(ours["tokenizer.ggml.merges"])
        writer.add_bos_token_id(299)
        writer.add_chat_template(
            [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]
        )
        writer.add_int32("tokenizer.ggml.low", -1)
        writer.add_uint64("tokenizer.ggml.large", 2**40)
        writer.add_array("tokenizer.ggml.nested", [[1, 2], [3]])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        back = syllabary.load(theirs)
        assert (back.spec.tokens, back.merges) == (tok.spec.tokens, tok.merges)
        assert back.spec.carried["gguf"]["ggml.bos_token_id"] == 299  # type: ignore[index]
        back.save(path)
        again, fields = peer.GGUFReader(path).fields, read_pairs(theirs, "tokenizer.")
        for key, value in fields.items():
            assert again[key].types == peer.GGUFReader(theirs).fields[key].types
            assert read_pairs(path, key)[key] == value


# ---- damage ----


def text(value: str, order: str = "<") -> bytes:
    return struct.pack(order + "Q", len(value.encode())) + value.encode()


def header(*pairs: bytes, version: int = 3, count: int | None = None, order: str = "<") -> bytes:
    return (
        b"GGUF"
        + struct.pack(order + "IQQ", version, 0, len(pairs) if count is None else count)
        + b"".join(pairs)
    )


MODEL = text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("gpt2")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [2, 3])
def test_both_orders_of_bytes(order: str, version: int, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    pairs = [
        text("general.list", order) + struct.pack(order + "IIQ3f", 9, 6, 3, 1, 2, 3),
        text("general.names", order) + struct.pack(order + "IIQ", 9, 8, 1) + text("name", order),
        text("tokenizer.a", order) + struct.pack(order + "II", 4, 70000),
        text("tokenizer.b", order) + struct.pack(order + "IIQ2h", 9, 3, 2, -1, 2),
    ]
    path.write_bytes(header(*pairs, version=version, order=order))
    assert read_pairs(path, "tokenizer.") == {"tokenizer.a": 70000, "tokenizer.b": [-1, 2]}


@pytest.mark.parametrize(
    "data, message",
    [
        (b"GGUF", "byte 4: the version should have 4 bytes, but 0 are left"),
        (header(version=1), "version 1, of which only 2 and 3"),
        (header(version=1 << 31), "GGUF version"),
        (header(count=2**63), "pairs, more than"),
        (header(count=1), "byte 24: the length of a key"),
        (header(struct.pack("<Q", 2**62)), "a key is said to have"),
        (header(text("k") + struct.pack("<I", 77)), "type 77"),
        (header(text("k") + struct.pack("<IQ", 8, 2**60)), "k should have 1152921504606846976 bytes"),
        (header(text("k") + struct.pack("<IIQ", 9, 4, 2**61)), "k should have"),
        (header(text("tokenizer.k") + struct.pack("<IIQ", 9, 4, 2**61)), "larger than|should have"),
        (header(text("k") + struct.pack("<IIQ", 9, 8, 2**61)), "items, but 0 bytes are left"),
        (header(text("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9), "nested more than 4 deep"),
        (header(text("tokenizer.k") + struct.pack("<IB", 7, 3)), "truth value"),
        (header(MODEL, MODEL), "is there twice"),
        (header(text("tokenizer.k") + struct.pack("<IQ", 8, 1) + b"\xff"), "is not UTF-8"),
        (header(), "no tokenizer"),
        (header(text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("rwkv")), "the model 'rwkv'"),
        (header(MODEL), "tokenizer.ggml.tokens: missing"),
    ],
)
def test_damaged_headers(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        syllabary.load(path)
    assert "bad.gguf" in str(caught.value)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"ggml.pre": ("str", "falcon")}, "'falcon' names no split that is known: gpt-2, llama-bpe"),
        ({"ggml.pre": None}, "None names no split"),
        ({"ggml.merges": ("str", ["a b", "ab"])}, r"merges\[1\]: 'ab' is no two tokens"),
        ({"ggml.merges": None}, "ggml.merges: missing"),
        ({"ggml.tokens": ("str", ["a", "b", "a"])}, r"tokens\[2\]: the text 'a' is that of id 0 too"),
        ({"ggml.tokens": ("str", ["a", "", "ab"])}, r"tokens\[1\]: the text '' is empty"),
        ({"ggml.tokens": ("str", ["a", "b", "漢"])}, "'漢' is not spelled in GPT-2's characters"),
        ({"ggml.token_type": ("i32", [1, 1])}, "2 numbers for 3 tokens"),
        ({"ggml.token_type": ("i32", [1, 1, 9])}, "the type 9 is not known"),
        ({"ggml.token_type": ("i32", [1, 1, 6])}, "a byte, in a vocabulary of the model gpt2"),
        ({"ggml.model": ("str", "llama")}, "ggml.scores: missing"),
    ],
)
def test_what_no_tokenizer_is(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    pairs = {
        "ggml.model": ("str", "gpt2"),
        "ggml.pre": ("str", "gpt-2"),
        "ggml.tokens": ("str", ["a", "b", "ab"]),
        "ggml.token_type": ("i32", [1, 1, 1]),
        "ggml.merges": ("str", ["a b"]),
        **change,
    }
    path = tmp_path / "bad.gguf"
    path.write_bytes(write_pairs({f"tokenizer.{key}": pair for key, pair in pairs.items() if pair}))
    with pytest.raises(FormatError, match=message):
        syllabary.load(path)


def test_a_model_is_not_read(tmp_path: Path) -> None:
    """Only the header: behind it there may be anything."""
    path = tmp_path / "large.gguf"
    tok = syllabary.train(LINES, 300, split="gpt2")
    with path.open("wb") as file:
        file.write(gguf.write(tok.spec))
        file.truncate(1 << 33)  # a hole of 8 GB
    assert syllabary.load(path).spec.tokens == tok.spec.tokens
    assert sys.getsizeof(syllabary.load(path)) < 1 << 20
