"""GGUF files judged by gguf-py, the library of the format: every key that is written, and all that it writes.

What llama.cpp itself makes of such files is no test here (it is compiled): docs/compatibility.md says what
was compared with it. Leaves out: what the files mean to us (`test_formats_gguf`, `test_formats_gguf_words`).
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece

import syllabary
from syllabary.convert import convert
from syllabary.formats import gguf
from syllabary.formats.gguf_container import read_pairs
from syllabary.framing import (
    BertProcessing,
    ByteLevelProcessing,
    Framing,
    RobertaProcessing,
    SlotTokens,
    SpecialSlot,
    TemplateProcessing,
    TextSlot,
)

peer = pytest.importorskip("gguf", reason="the PyPI package gguf is not installed")

LINES = ["low lower lowest newer newest widest", "μῆνιν ἄειδε θεὰ", "漢字かな 12 33", "a b c d e f g"] * 3
SPECIAL = ["<s>", "</s>", "<pad>", "<|m|>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TYPES = {
    "architecture": "STRING", "type": "STRING", "model": "STRING", "pre": "STRING",
    "tokens": "ARRAY STRING", "token_type": "ARRAY INT32", "scores": "ARRAY FLOAT32",
    "merges": "ARRAY STRING", "precompiled_charsmap": "ARRAY UINT8",
    "add_space_prefix": "BOOL", "remove_extra_whitespaces": "BOOL", "lowercase": "BOOL",
    "strip_accents": "BOOL", "add_bos_token": "BOOL", "add_eos_token": "BOOL", "token_type_count": "UINT32",
    "chat_template": "STRING", "chat_templates": "ARRAY STRING", "tool_use": "STRING",
}  # fmt: skip

NEWER = {"tokenizer.ggml.normalizer.lowercase", "tokenizer.ggml.normalizer.strip_accents"}  # than gguf 0.19


def sentencepiece_model(**options: Any) -> bytes:
    """What sentencepiece trains."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 4),
        model_writer=out,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    return out.getvalue()


def opened(model: str, folder: Path) -> syllabary.Tokenizer:
    """A tokenizer of each of the format's models."""
    if model == "gpt2":
        tok = syllabary.train(LINES, 300, split="llama3", special_tokens=SPECIAL)
        templates = {"default": "{{ bos_token }}", "tool_use": "T"}
        return tok.with_settings(bos_token="<s>", eos_token="</s>", chat_template=templates)
    if model == "bert":
        options = {"special_tokens": BERT, "vocab_size": 75}
        return syllabary.train(LINES, model="wordpiece", like="huggingface", options=options)
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    data = (
        sentencepiece_model(model_type="bpe", byte_fallback=True, vocab_size=330, pad_id=3, **plain)
        if model == "llama"
        else sentencepiece_model(model_type="unigram", vocab_size=60)
    )
    (folder / "x.model").write_bytes(data)
    return syllabary.load(folder / "x.model")


@pytest.mark.parametrize("model", ["gpt2", "llama", "bert", "t5"])
def test_it_reads_all_that_is_written(model: str, tmp_path: Path) -> None:
    """Every key is one it knows, of the type it gives to it, and has the value that we read."""
    tok = opened(model, tmp_path)
    path = tmp_path / "ours.gguf"
    path.write_bytes(gguf.write(gguf.reduce(tok.spec)[0]))
    ours = read_pairs(path, "")
    fields = dict(peer.GGUFReader(path).fields)
    assert fields.pop("GGUF.version").contents() == 3
    assert fields.pop("GGUF.tensor_count").contents() == 0
    assert fields.pop("GGUF.kv_count").contents() == len(ours)
    assert fields.keys() == ours.keys()
    known = {name for kind in (peer.Keys.General, peer.Keys.Tokenizer) for name in vars(kind).values()}
    assert ours.keys() <= known | NEWER | {"tokenizer.chat_template.tool_use"}
    for key, value in ours.items():
        last = key.rpartition(".")[2]
        found = "UINT32" if last.endswith("_token_id") else TYPES[last]
        assert " ".join(kind.name for kind in fields[key].types) == found, key
        assert fields[key].contents() == value
    assert fields["tokenizer.ggml.model"].contents() == model
    kinds = {"gpt2": {1, 3}, "llama": {1, 2, 3, 6}, "bert": {1, 3}, "t5": {1, 2, 3}}
    assert set(fields["tokenizer.ggml.token_type"].contents()) == kinds[model]
    assert {kind.value for kind in peer.TokenType} >= kinds[model]


@pytest.mark.parametrize("endianess", ["LITTLE", "BIG"])
def test_all_that_it_writes_is_read(endianess: str, tmp_path: Path) -> None:
    """Numbers of every type, alone and in lists, at another alignment, before tensors; version 2 too."""
    path, texts = tmp_path / "theirs.gguf", ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁a"]
    writer = peer.GGUFWriter(path, "llama", endianess=peer.GGUFEndian[endianess])
    writer.add_custom_alignment(128)
    values: dict[str, Any] = {}
    for name, value in {
        "uint8": 255, "int8": -128, "uint16": 65535, "int16": -(2**15), "uint32": 2**32 - 1,
        "int32": -(2**31), "uint64": 2**64 - 1, "int64": -(2**63), "float32": 0.5, "float64": 0.1,
        "bool": True,
    }.items():  # fmt: skip
        values[f"tokenizer.one.{name}"] = value
        getattr(writer, f"add_{name}")(f"tokenizer.one.{name}", value)
        kind = getattr(peer.GGUFValueType, name.upper())
        values[f"tokenizer.many.{name}"] = [value, value]
        writer.add_key_value(f"tokenizer.many.{name}", [value, value], peer.GGUFValueType.ARRAY, kind)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0, *[0.0] * 256, -1.5])
    writer.add_token_types([2, *[6] * 256, 1])
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_tensor("output", np.arange(64, dtype=np.float32).reshape(8, 8))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = path.read_bytes()
    for version in (3, 2):
        number = version.to_bytes(4, endianess.lower())  # type: ignore[arg-type]
        path.write_bytes(data[:4] + number + data[8:])
        found, fields = read_pairs(path, ""), peer.GGUFReader(path).fields
        assert {key: found[key] for key in values} == values
        for key, value in found.items():
            assert fields[key].contents() == value
        tok = syllabary.load(path)
        assert (tok.encode("a"), tok.encode("é")) == ([257], [1 + byte for byte in "▁é".encode()])
        assert tok.spec.scores is not None
        assert tok.spec.scores[257] == -1.5
        assert tok.spec.unknown == 0
        assert tok.spec.carried["gguf"]["ggml.add_bos_token"] is False  # type: ignore[index]


PLACED = {
    "before": (TemplateProcessing.of("<s> $A", "<s> $A $B", {"<s>": 296}),),
    "around": (
        ByteLevelProcessing(),
        TemplateProcessing.of("<s> $A </s>", "<s> $A </s> $B </s>", {"<s>": 296, "</s>": 297}),
    ),
    "roberta": (RobertaProcessing(("</s>", 297), ("<s>", 296)),),
    "nothing": (),
}
TOLD: dict[str, dict[str, Any]] = {
    "before": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "chat_template": "{{ bos_token }}",
    },
    "around": {"bos_token": "<s>", "eos_token": "</s>", "mask_token": "<|m|>", "unk_token": "<pad>"},
    "roberta": {"cls_token": "<s>", "sep_token": "</s>"},
    "nothing": {"bos_token": "<s>", "eos_token": "<s>"},
}
PUT = {"before": (True, False), "around": (True, True), "roberta": (True, True), "nothing": (False, False)}


@pytest.mark.parametrize("name", list(TOLD))
def test_what_stands_beside_a_tokenizer_is_taken_over_as_it_does(name: str, tmp_path: Path) -> None:
    """`SpecialVocab` is what llama.cpp's converter asks. It leaves open who is not put; we know."""
    tok = syllabary.train(LINES, 300, split="llama3", special_tokens=SPECIAL)
    tok.with_framing(Framing(PLACED[name])).save(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(TOLD[name]))
    convert(tmp_path, tmp_path / "x.gguf")
    found = read_pairs(tmp_path / "x.gguf", "tokenizer.")
    theirs = peer.SpecialVocab(tmp_path)
    ids = {key: value for key, value in found.items() if key.endswith("_token_id")}
    assert ids == {
        getattr(peer.Keys.Tokenizer, f"{role.upper()}_ID"): token_id
        for role, token_id in theirs.special_token_ids.items()
        if role != "cls"  # for which there is no key
    }
    assert found.get("tokenizer.chat_template") == theirs.chat_template
    puts = (found["tokenizer.ggml.add_bos_token"], found["tokenizer.ggml.add_eos_token"])
    assert puts == PUT[name]
    said = {role: put for role, put in theirs.add_special_token.items() if role != "sep"}
    assert said.items() <= {"bos": puts[0], "eos": puts[1]}.items()
    framed = syllabary.load(tmp_path / "tokenizer.json").encode_full("low")
    first, last = ids["tokenizer.ggml.bos_token_id"], ids["tokenizer.ggml.eos_token_id"]
    around = [*[first] * puts[0], *tok.encode("low"), *[last] * puts[1]]
    assert list(framed.ids) == around


def test_what_a_folder_says_of_bos_counts(tmp_path: Path) -> None:
    """As `SpecialVocab`: before what the post-processor does; and a GGUF file's own word before all."""
    tok = syllabary.train(LINES, 300, split="llama3", special_tokens=SPECIAL)
    tok.save(tmp_path / "tokenizer.json")
    said = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": False}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    spec = syllabary.load(tmp_path).spec
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf.write(spec))
    assert read_pairs(path, "tokenizer.ggml.add") == {
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": False,
    }
    assert peer.SpecialVocab(tmp_path).add_special_token == {"bos": True, "eos": False}
    own = {"ggml.bos_token_id": 298, "chat_template": "own"}
    path.write_bytes(gguf.write(replace(spec, carried={**spec.carried, "gguf": own})))
    found = read_pairs(path, "tokenizer.")
    assert (found["tokenizer.ggml.bos_token_id"], found["tokenizer.chat_template"]) == (298, "own")
    assert found["tokenizer.ggml.eos_token_id"] == 297
    assert "tokenizer.ggml.add_bos_token" not in found


def test_a_special_token_of_a_template_may_have_no_ids(tmp_path: Path) -> None:
    tok = syllabary.train(LINES, 300, split="llama3", special_tokens=SPECIAL)
    slots = (SpecialSlot("none"), TextSlot("A"), SpecialSlot("end"))
    end = tok.special_tokens["</s>"]
    known = {"none": SlotTokens((), ()), "end": SlotTokens((end,), ("</s>",))}
    tok.with_framing(Framing((TemplateProcessing(slots, slots, known),))).save(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>"}))
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf.write(syllabary.load(tmp_path).spec))
    assert read_pairs(path, "tokenizer.ggml.add") == {
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": True,
    }


@pytest.mark.parametrize(
    "ids, told",
    [
        ({}, {"bos": 1, "eos": 2, "unknown": 0}),
        (
            {"pad_id": 0, "unk_id": 3, "bos_id": 2, "eos_id": 1},
            {"bos": 2, "eos": 1, "unknown": 3, "padding": 0},
        ),
        ({"bos_id": -1}, {"eos": 2, "unknown": 0, "puts bos": False}),
        ({"bos_id": -1, "eos_id": -1}, {"unknown": 0, "puts bos": False, "puts eos": False}),
    ],
)
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_ids_that_llama_cpp_has_by_default_are_said(
    kind: str, ids: dict[str, int], told: dict[str, Any], tmp_path: Path
) -> None:
    """It takes 1 and 2 for BOS and EOS of `llama`, and puts them; 1 for the EOS of `t5`."""
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    more = {"byte_fallback": True, "vocab_size": 330} if kind == "bpe" else {"vocab_size": 60}
    (tmp_path / "x.model").write_bytes(sentencepiece_model(model_type=kind, **plain, **more, **ids))
    convert(tmp_path / "x.model", tmp_path / "x.gguf")
    found = read_pairs(tmp_path / "x.gguf", "tokenizer.ggml.")
    said = {key.removeprefix("tokenizer.ggml."): value for key, value in found.items()}
    ours = {key.removesuffix("_token_id"): value for key, value in said.items() if key.endswith("_token_id")}
    ours |= {
        f"puts {role}": said[f"add_{role}_token"] for role in ("bos", "eos") if f"add_{role}_token" in said
    }
    assert ours == told


def test_bert_is_as_it_was(tmp_path: Path) -> None:
    """Its roles have other names; what is put around a text, llama.cpp knows by itself."""
    tok = opened("bert", tmp_path).with_framing(Framing((BertProcessing(("[SEP]", 3), ("[CLS]", 2)),)))
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf.write(gguf.reduce(tok.spec)[0]))
    found = read_pairs(path, "tokenizer.ggml.")
    ids = {key.split(".")[2]: value for key, value in found.items() if key.endswith("_token_id")}
    assert ids == {
        "unknown_token_id": 1, "bos_token_id": 2, "seperator_token_id": 3, "padding_token_id": 0,
        "mask_token_id": 4,
    }  # fmt: skip
    assert not {key for key in found if "add_" in key}
