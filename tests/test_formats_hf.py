"""Hugging Face's `tokenizer.json`: read, it encodes and decodes as their library; written, it is the same.

Every normalizer x pre-tokenizer x decoder and random sequences of them (`hf_configurations`), over every
implementation. Leaves out: files that are damaged (`test_formats_hf_bad_input`), and writing tokenizers that
come from elsewhere (`test_formats_hf_write`).
"""

from __future__ import annotations

import dataclasses
import json
import lzma
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
import pytest
from hf_compare import NAME, compare, opened, panics, texts, usable
from hf_configurations import Document, added, cut, document, level, metaspace
from implementations import Implementation, each
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from syllabary import formats, splits
from syllabary.formats.hf_split import PREFIX_SPACE
from syllabary.spec import Step


@each
@pytest.mark.parametrize("start", range(4))
def test_every_combination(implementation: Implementation, start: int, prove: bool, tmp_path: Path) -> None:
    random = Random(start)
    chosen = list(configurations.combinations())[start :: 4 if prove else 92]
    missing = set[str]()
    compared = sum(
        compare(implementation, found, texts(random, 8 if prove else 4), tmp_path, missing)
        for found in chosen
    )
    assert compared > 2 * len(chosen)


@each
@pytest.mark.parametrize("seed", range(3))
def test_random_sequences(implementation: Implementation, seed: int, prove: bool, tmp_path: Path) -> None:
    random = Random(seed if not prove else None)
    drawn = [configurations.random_document(random) for _ in range(400 if prove else 25)]
    chosen = [found for found in drawn if usable(found)]
    missing = set[str]()
    compared = sum(
        compare(implementation, found, texts(random, 8 if prove else 5), tmp_path, missing)
        for found in chosen
    )
    assert compared > 2 * len(chosen)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_read_is_written_back(seed: int, prove: bool, tmp_path: Path) -> None:
    """Equal to itself, as their library would save it, and in its plainest words with the same ids."""
    random = Random(seed + 100)
    chosen = list(configurations.combinations())[seed :: 8 if prove else 90]
    chosen += [configurations.random_document(random) for _ in range(200 if prove else 20)]
    for found in filter(usable, chosen):
        spec, theirs = opened(found, tmp_path)
        formats.write(spec, tmp_path / "again.json")
        assert formats.read(tmp_path / "again.json") == spec
        again = json.loads((tmp_path / "again.json").read_text("utf-8"))
        assert again == json.loads(theirs.to_str())
        formats.write(dataclasses.replace(spec, carried={}), tmp_path / "plain.json")
        plain = Tokenizer.from_file(str(tmp_path / "plain.json"))
        for text in texts(random, 3):
            ids = theirs.encode(text, add_special_tokens=False).ids
            assert plain.encode(text, add_special_tokens=False).ids == ids
            options = {"skip_special_tokens": False}
            assert panics(plain.decode, ids, **options) == panics(theirs.decode, ids, **options)


@each
def test_a_plain_bpe_of_greek(implementation: Implementation, shared: Path, tmp_path: Path) -> None:
    """`BPE()` without an unknown token, words by `Whitespace`, special tokens first: the shortest recipe."""
    with lzma.open(shared / "corpora" / "greek.txt.xz", "rt", encoding="utf-8") as file:
        lines = file.read(60_000).splitlines()
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["[EOS]", "[UNK]"], show_progress=False)
    theirs.train_from_iterator(lines, trainer)
    theirs.save(str(tmp_path / NAME))
    spec = formats.read(tmp_path / NAME)
    assert (spec.unit, spec.split, spec.pretokenizer) == ("char", splits.get("whitespace"), ())
    assert spec.special_tokens == {"[EOS]": 0, "[UNK]": 1}
    ours = implementation.tokenizer(spec)
    for line in [*lines[:300], f"{lines[5]}[EOS]{lines[6]}[UNK]"]:
        encoding = theirs.encode(line)
        assert list(ours.encode(line, special="allow")) == encoding.ids
        assert [tuple(span) for span in ours.offsets(line, special="allow")] == encoding.offsets
        assert ours.decode(encoding.ids) == theirs.decode(encoding.ids, skip_special_tokens=False)


def bytes_document(pre_tokenizer: Any, **more: Any) -> Document:
    model = configurations.trained_models()["bytes"]
    decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return document(model, more.pop("normalizer", None), pre_tokenizer, decoder, **more)


def in_sequence(*components: Document) -> Document:
    return {"type": "Sequence", "pretokenizers": list(components)}


LLAMA3 = splits.get("llama3").pattern
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
FAST: dict[str, tuple[Document, str, tuple[Step, ...]]] = {
    "gpt2": (level(), "gpt2", ()),
    "llama3": (in_sequence(cut({"Regex": LLAMA3}, "Isolated"), level(False, False)), "llama3", ()),
    "deepseek-v3": (
        in_sequence(*(cut({"Regex": pattern}, "Isolated") for pattern in DEEPSEEK), level(False, False)),
        "deepseek-v3",
        (),
    ),
    "nested": (
        in_sequence(in_sequence({"type": "Whitespace"}), in_sequence(level(False, False))), "whitespace", ()
    ),
    "prefix": (level(True), "gpt2", (PREFIX_SPACE,)),
    "digits": (
        in_sequence({"type": "Digits", "individual_digits": True}, level()),
        "gpt2",
        (Step("Digits", {"individual_digits": True}),),
    ),
}  # fmt: skip


@each
@pytest.mark.parametrize("case", FAST)
def test_bytes_stay_plain(implementation: Implementation, case: str, tmp_path: Path) -> None:
    pre_tokenizer, split, steps = FAST[case]
    found = bytes_document(pre_tokenizer)
    spec, _theirs = opened(found, tmp_path)
    assert (spec.unit, spec.split, spec.pretokenizer) == ("byte", splits.get(split), steps)
    assert (spec.decoder, spec.normalizer, spec.unknown) == (None, (), None)
    missing = set[str]()
    compare(implementation, found, texts(Random(7), 60), tmp_path, missing)
    assert missing == set()
    formats.write(spec, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8"))["pre_tokenizer"] == pre_tokenizer


@each
def test_sentencepiece_like_models_of_their_library(implementation: Implementation, tmp_path: Path) -> None:
    """Llama's and Gemma's way: spaces become ▁, what is unknown its bytes."""
    model = {**configurations.trained_models()["fallback"], "fuse_unk": True}
    decoder = configurations.DECODERS[-1]
    prepend = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]}  # fmt: skip
    for normalizer, pre_tokenizer in [
        (prepend, None),
        (configurations.NORMALIZERS[11], cut({"String": " "}, "MergedWithPrevious")),
        (None, metaspace("first", False)),
    ]:
        eos = added("</s>", len(model["vocab"]), special=True)
        entries = [*configurations.unknown_of(model), eos]
        found = document(model, normalizer, pre_tokenizer, decoder, added_tokens=entries)
        spec, _theirs = opened(found, tmp_path)
        assert len(spec.byte_tokens) == 256
        missing = set[str]()
        compare(implementation, found, ["", "</s>Hello", *texts(Random(3), 60)], tmp_path, missing)
        assert missing == set()


BERT = configurations.BERT
META = {"type": "Metaspace", "replacement": "▁"}
LEGACY: list[tuple[str, Any, Any]] = [
    ("normalizer", {**BERT, "type": "Bert"}, BERT),
    ("normalizer", {key: value for key, value in BERT.items() if key != "strip_accents"}, BERT),
    ("normalizer", {key: value for key, value in BERT.items() if key != "type"}, BERT),
    ("normalizer", {"prepend": "▁"}, {"type": "Prepend", "prepend": "▁"}),
    ("normalizer", {"strip_left": True, "strip_right": False}, None),
    ("normalizer", {"normalizers": [{"type": "NFC"}, {"pattern": {"String": "a"}, "content": "b"}]}, None),
    ("pre_tokenizer", {**META, "add_prefix_space": True}, metaspace("always")),
    ("pre_tokenizer", {**META, "add_prefix_space": False, "prepend_scheme": "never"}, metaspace("never")),
    ("pre_tokenizer", {**META, "str_rep": "▁", "split": None}, metaspace("always")),
    ("pre_tokenizer", {"type": "Punctuation"}, {"type": "Punctuation", "behavior": "Isolated"}),
    ("pre_tokenizer", {"type": "FixedLength"}, {"type": "FixedLength", "length": 5}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}, None),
    ("decoder", {"suffix": "</w>"}, {"type": "BPEDecoder", "suffix": "</w>"}),
    ("decoder", {"prefix": "##", "cleanup": False}, None),
    ("decoder", {"content": "a", "start": 1, "stop": 0}, None),
    ("decoder", {**META, "add_prefix_space": True}, metaspace("always")),
]


@pytest.mark.parametrize("place, older, now", LEGACY, ids=str)
def test_older_spellings(place: str, older: Any, now: Any, tmp_path: Path) -> None:
    """What their library takes is read, and means what it would save it as."""
    model = configurations.trained_models()["spaces"]
    found = {**document(model, None, None, {"type": "Fuse"}), place: older}
    spec, theirs = opened(found, tmp_path)
    saved = json.loads(theirs.to_str())[place]
    assert now in (None, saved)
    again, _theirs = opened({**found, place: saved}, tmp_path)
    assert dataclasses.replace(spec, carried={}) == dataclasses.replace(again, carried={})


def test_a_model_without_a_type_and_merges_as_strings(tmp_path: Path) -> None:
    found = {"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["#version: 0.2", "a b"]}}
    spec, theirs = opened(found, tmp_path)
    assert spec.merges == ((0, 1, 2),)
    assert spec.decoder == (Step("Join", {"separator": " "}),)
    assert theirs.decode(theirs.encode("abb").ids) == "ab b"


def test_extras_are_carried(tmp_path: Path) -> None:
    """Truncation, padding and templates are the caller's to apply: here they change no id."""
    extras = {
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None,
                    "pad_id": 3, "pad_type_id": 0, "pad_token": "!"},
        "post_processor": configurations.POST_PROCESSORS[-1],
    }  # fmt: skip
    spec, theirs = opened({**bytes_document(level()), **extras}, tmp_path)
    assert spec.carried["huggingface"] == {
        **extras,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    }
    formats.write(spec, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text("utf-8") == theirs.to_str(pretty=True)
    moved = dataclasses.replace(spec, normalizer=(Step("NFC"),))
    formats.write(moved, tmp_path / "again.json")
    assert formats.read(tmp_path / "again.json") == moved


@pytest.mark.parametrize("processor", [p for p in configurations.POST_PROCESSORS if p])
@pytest.mark.parametrize("depth", range(3))
def test_trimming_is_found_in_sequences(processor: Document, depth: int, tmp_path: Path) -> None:
    for _ in range(depth):
        processor = {"type": "Sequence", "processors": [processor, configurations.POST_PROCESSORS[-1]]}
    spec, _theirs = opened(bytes_document(level(), post_processor=processor), tmp_path)
    assert spec.trim_offsets == ('"trim_offsets": true' in json.dumps(processor))


def test_options_that_say_nothing_are_kept(tmp_path: Path) -> None:
    found = bytes_document(level())
    idle = {"dropout": 0.0, "unk_token": "<none>", "continuing_subword_prefix": "", "byte_fallback": True}
    spec, theirs = opened({**found, "model": {**found["model"], **idle}}, tmp_path)
    assert (spec.unit, spec.unknown, spec.continuing_prefix, spec.fallback) == ("byte", None, None, False)
    formats.write(spec, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(theirs.to_str())


def test_a_name_that_no_text_reaches(tmp_path: Path) -> None:
    """A name outside the characters of bytes is a token of its own, which only decoding meets."""
    found = bytes_document(level())
    vocab = {**found["model"]["vocab"], "日本": 400}
    spec, theirs = opened({**found, "model": {**found["model"], "vocab": vocab}}, tmp_path)
    assert (spec.unit, spec.added_tokens, spec.matching["日本"].stage) == ("byte", {"日本": 400}, "never")
    formats.write(spec, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(theirs.to_str())
