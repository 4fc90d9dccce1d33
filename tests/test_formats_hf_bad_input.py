"""Damaged and hostile `tokenizer.json`: soon a `FormatError` with the place, never another exception."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import time
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
import pytest
from hf_configurations import Document, added, cut, level, metaspace
from json_damage import positions, replaced

import syllabary
from syllabary import formats
from syllabary.errors import FormatError, UnknownSymbolError
from syllabary.formats.hf_components import MAX_NESTED
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER, unspell, unspell_all
from syllabary.reference.tokenizer import ReferenceTokenizer

NAME = "tokenizer.json"
STRANGE: list[Any] = [
    None, True, 0, -1, 1.5, 2**32, 10**400, "", "x", "ab", "\ud800", [], [[]], {}, {"x": 1}, ["a", 1], ...,
]  # fmt: skip
MODEL: Document = {
    "type": "BPE",
    "dropout": None,
    "unk_token": "[U]",
    "continuing_subword_prefix": None,
    "end_of_word_suffix": "</w>",
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
    "vocab": {"a": 0, "b</w>": 1, "ab</w>": 2, "[U]": 3},
    "merges": [["a", "b</w>"]],
}


def whole() -> Document:
    """A small file with one of everything."""
    normalizers = [one for one in configurations.NORMALIZERS if one]
    pre_tokenizers = [one for one in configurations.PRE_TOKENIZERS if one and one["type"] != "Sequence"]
    decoders = [one for one in configurations.DECODERS if one and one["type"] != "Sequence"]
    found = configurations.document(
        copy.deepcopy(MODEL),
        {"type": "Sequence", "normalizers": normalizers},
        {"type": "Sequence", "pretokenizers": pre_tokenizers},
        {"type": "Sequence", "decoders": decoders},
        added_tokens=[added("[U]", 3, special=True), added("<s>", 4, normalized=True, lstrip=True)],
        post_processor={
            "type": "Sequence",
            "processors": [one for one in configurations.POST_PROCESSORS if one],
        },
    )
    found["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    found["padding"] = {
        "strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 3, "pad_type_id": 0,
        "pad_token": "!",
    }  # fmt: skip
    return found


def survives(path: Path, document: Any) -> bool:
    """Whether a document is refused by name and place, or can be read, used and written again."""
    path.write_text(json.dumps(document), "utf-8")
    try:
        spec = formats.read(path, "huggingface")
    except FormatError as error:
        if path.name not in str(error):
            raise AssertionError("the error does not name the file") from error
        return False
    with contextlib.suppress(UnknownSymbolError):
        ReferenceTokenizer(spec).encode("a ab <s>", special="allow")
    formats.write(spec, path.with_name("again.json"))
    assert formats.read(path.with_name("again.json")) == spec
    return True


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    assert survives(tmp_path / NAME, whole())


def test_the_wrong_value_anywhere(prove: bool, tmp_path: Path) -> None:
    document, random = whole(), Random(0)
    places = [(at, value) for at in positions(document) for value in STRANGE if at or value is not ...]
    chosen = places if prove else random.sample(places, 700)
    refused = sum(not survives(tmp_path / NAME, replaced(document, at, value)) for at, value in chosen)
    assert refused > 0.8 * len(chosen)


SPLIT = cut({"Regex": " "}, "Isolated")
PLACES: list[tuple[dict[str, Any], str]] = [
    ({"version": "2.0"}, r'\$.version: must be "1.0"'),
    ({"truncation": {"max_length": 5}}, r"\$.truncation: 'strategy' is missing"),
    ({"padding": {}}, r"\$.padding: 'strategy' is missing"),
    ({"normalizer": {"type": "NFX"}}, r"\$.normalizer.type: unknown normalizer 'NFX'; known are BertNorm"),
    ({"normalizer": {}}, r"\$.normalizer: 'type' is missing"),
    ({"normalizer": {"type": "NFC", "more": 1}}, "unknown key 'more'"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"}}, "charsmap: is not base64"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAB"}}, "is not a precompiled map"),
    ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]}},
     r"\$.normalizer.normalizers\[1\]: 'strip_left' is missing"),
    ({"normalizer": {"type": "Replace", "pattern": {"Regex": "a*"}, "content": ""}}, "empty string"),
    ({"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": ""}}, "matches everywhere"),
    ({"pre_tokenizer": {"type": "Delimiter", "delimiter": "x"}}, "unknown pre-tokenizer 'Delimiter'"),
    ({"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "xy"}}, "must be one character, not 2"),
    ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "length: must be 1 or more"),
    ({"pre_tokenizer": {**SPLIT, "behavior": "isolated"}}, "must be one of Removed, Isolated"),
    ({"pre_tokenizer": {**SPLIT, "pattern": "x"}}, r"\$.pre_tokenizer.pattern: must be an object"),
    ({"pre_tokenizer": {**SPLIT, "pattern": {"Regex": "(?<n>a)"}}}, "may mean something else in Ruby's"),
    ({"pre_tokenizer": {**metaspace("always"), "add_prefix_space": False}}, "contradicts prepend_scheme"),
    ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "'trim_offsets' is missing"),
    ({"decoder": {"type": "WordPiece"}}, r"\$.decoder: 'prefix' is missing"),
    ({"decoder": {"type": "NFC"}}, "unknown decoder 'NFC'"),
    ({"post_processor": {"type": "Other"}}, r"\$.post_processor.type: must be one of ByteLevel"),
    ({"post_processor": {"type": "BertProcessing", "sep": ["a"], "cls": ["b", 1]}}, r"sep: must be \[token"),
    ({"model": {**MODEL, "dropout": 1.5}}, r"\$.model.dropout: must be a number in 0"),
    ({"model": {**MODEL, "dropout": True}}, "must be a number, not true"),
    ({"model": {**MODEL, "more": 1}}, "unknown key 'more'"),
    ({"model": {**MODEL, "byte_fallback": True, "vocab": {"a": 0, "<0x41>": 1}, "merges": []}}, "or suffix"),
    ({"model": {**MODEL, "merges": [["a", "b</w>"], "a b</w> c"]}}, r"merges\[1\]: must be two tokens"),
]  # fmt: skip


@pytest.mark.parametrize(
    "changes, message", PLACES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_errors_name_the_place(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    document = configurations.document(copy.deepcopy(MODEL), None, None, None) | changes
    (tmp_path / NAME).write_text(json.dumps(document), "utf-8")
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / NAME)


def nested(depth: int, key: str, members: str, inner: str) -> str:
    return f'{{"model": {json.dumps(MODEL)}, "{key}": ' + (
        f'{{"type": "Sequence", "{members}": [' * depth + inner + "]}" * depth + "}"
    )


@pytest.mark.parametrize("depth", [62, MAX_NESTED, MAX_NESTED + 1, 300, 100_000])
@pytest.mark.parametrize(
    "key, members, inner",
    [
        ("normalizer", "normalizers", '{"type": "NFC"}'),
        ("pre_tokenizer", "pretokenizers", json.dumps(level())),
        ("decoder", "decoders", '{"type": "Fuse"}'),
        ("post_processor", "processors", json.dumps(configurations.POST_PROCESSORS[2])),
    ],
)
def test_deep_sequences(depth: int, key: str, members: str, inner: str, tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(nested(depth, key, members, inner), "utf-8")
    start = time.process_time()
    if depth > MAX_NESTED:
        too_deep = rf"nested too deeply|\$.{key}: sequences are nested more than {MAX_NESTED} deep"
        with pytest.raises(FormatError, match=too_deep):
            formats.read(path)
    else:
        spec = formats.read(path)
        for name in ("again.json", "again.syllabary.json"):
            formats.write(spec, tmp_path / name)
            assert formats.read(tmp_path / name) == spec
        assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "pattern",
    ["(" * 3000 + "a" + ")" * 3000, "[" * 3000, "a" * 100_000, "(?=" * 500 + "a" + ")" * 500, "a{9}" * 9999],
)
def test_long_patterns(pattern: str, tmp_path: Path) -> None:
    start = time.process_time()
    split = cut({"Regex": pattern}, "Removed")
    survives(tmp_path / NAME, configurations.document(copy.deepcopy(MODEL), None, split, None))
    assert time.process_time() - start < 10


def test_merges_that_make_no_sense(tmp_path: Path) -> None:
    """Names that are empty, merges that make one of their own parts, ranks given again and again."""
    vocab = {"": 0, "a": 1, "##a": 2, "##": 3, "a##": 4, "aa": 5}
    model = {**MODEL, "unk_token": None, "end_of_word_suffix": None, "vocab": vocab}
    for merges in ([["", ""]], [["", "a"]], [["a", "##"]], [["a", "##a"]] * 1000, [["##", "##"]]):
        for prefix in ("##", None):
            document = {**model, "merges": merges, "continuing_subword_prefix": prefix}
            survives(tmp_path / NAME, configurations.document(document, None, None, None))


def test_ids_that_collide_or_are_too_large(tmp_path: Path) -> None:
    for changes, message in [
        ({"vocab": {"a": 0, "b": 0}, "merges": []}, "have the same id 0"),
        ({"vocab": {"a": 2**32 - 1}, "merges": []}, "outside 0"),
        ({"vocab": {"a": 3_000_000_000}, "merges": []}, "too far above"),
        ({"vocab": {"a": True}, "merges": []}, "must be an integer"),
    ]:
        document = configurations.document({**MODEL, **changes}, None, None, None)
        (tmp_path / NAME).write_text(json.dumps(document), "utf-8")
        with pytest.raises(FormatError, match=message):
            formats.read(tmp_path / NAME)


@pytest.mark.parametrize("token_id", [0, 2, 99])
def test_a_long_added_token_is_quoted_in_part(token_id: int, tmp_path: Path) -> None:
    token = {"id": token_id, "content": "x" * 10_000, "special": True}
    document = configurations.document(copy.deepcopy(MODEL), None, None, None)
    (tmp_path / NAME).write_text(json.dumps(document | {"added_tokens": [token, token]}), "utf-8")
    with pytest.raises(FormatError, match=r"'x{40}…'") as caught:
        formats.read(tmp_path / NAME)
    assert len(str(caught.value)) < 1000


def test_a_token_without_a_name_in_a_folder(tmp_path: Path) -> None:
    """Where the names are read first, for the roles that another file gives."""
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], []], "byte_fallback": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model}))
    (tmp_path / "special_tokens_map.json").write_text('{"unk_token": "<unk>"}')
    with pytest.raises(FormatError, match=r"vocab\[1\]: must be \[name, score\], not a list"):
        syllabary.load(tmp_path)


def test_characters_that_spell_no_byte() -> None:
    """Byte 0 is spelled `Ā`; U+0000 is none, though Python's tables hold it in that place."""
    spelled = {unspell(character): byte for byte, character in BYTE_TO_CHARACTER.items()}
    assert spelled == {bytes([byte]): byte for byte in range(256)}
    for character in {*map(chr, range(400)), "\ud800", "\U0001f600"} - {*BYTE_TO_CHARACTER.values()}:
        with pytest.raises(KeyError) as found:
            unspell_all(["Ā", f"a{character}"])
        assert found.value.args == (character,)
