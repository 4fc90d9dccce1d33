"""Damaged and hostile tokenizer files: a `FormatError` that names the file, and never another exception."""

from __future__ import annotations

import base64
import dataclasses
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_damage import positions, replaced
from peers import onig_pieces
from strategies import byte_strings, texts

import syllabary
from syllabary import formats, splits
from syllabary._engine import make_ready
from syllabary.errors import FormatError, PatternError, SyllabaryError
from syllabary.files import read_bounded
from syllabary.formats.hf_pattern import check_portable
from syllabary.reference.split import pieces
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TrainOptions

OURS, THEIRS, RANKS = "t.syllabary.json", "tokenizer.json", "t.tiktoken"
JSON_FILES = (OURS, THEIRS)
STRANGE: list[Any] = [
    None, True, 0, -1, 1.5, 2**32, 10**400, "", "x", "\ud800", [], [[]], {}, {"x": 1}, [1, 2, 3],
]  # fmt: skip


def written(folder: Path, name: str, unit: str = "byte") -> Path:
    """A small but complete file of a format."""
    options = TrainOptions(
        splits.get("whitespace-split"),
        unit=unit,
        num_merges=4,
        special_tokens=("<s>",),
        min_frequency=1,
        alphabet="all" if name == RANKS else "seen",
    )
    formats.write(train(["verbum erat verbum"], options), folder / name)
    return folder / name


def read(path: Path) -> None:
    """Read and use; `FormatError` is the only way to fail."""
    hints = {"split": "gpt2"} if path.name == RANKS else {}
    spec = formats.read(path, **hints)
    ReferenceTokenizer(spec).decode(list(spec.tokens))


def survives(path: Path, data: bytes) -> bool:
    """Whether `data` is refused, or harmless enough to be read and used."""
    path.write_bytes(data)
    try:
        read(path)
    except FormatError as error:
        if path.name not in str(error):
            raise AssertionError("the error does not name the file") from error
        return False
    return True


@pytest.mark.parametrize("name", [OURS, THEIRS, RANKS])
def test_every_prefix_is_refused(name: str, tmp_path: Path) -> None:
    whole = written(tmp_path, name).read_bytes()
    path = tmp_path / name
    full = len(whole.rstrip())
    ends = [*range(0, full - 400, 9), *range(max(0, full - 400), full - (name != RANKS))]
    readable = [end for end in ends if survives(path, whole[:end])]
    if name == RANKS:  # a rank file has no end of its own: cut at a digit or a line, it may be a smaller one
        last_byte = whole.index(base64.b64encode(b"\xff") + b" ")
        assert min(readable) >= last_byte
    else:
        assert readable == []
    assert survives(path, whole)


@pytest.mark.parametrize("unit", ["byte", "char"])
@pytest.mark.parametrize("name", JSON_FILES)
def test_the_wrong_value_anywhere(name: str, unit: str, tmp_path: Path, prove: bool) -> None:
    path = written(tmp_path, name, unit)
    document = json.loads(path.read_text("utf-8"))
    refused = 0
    for at in [*positions(document)][:: 1 if prove else 2]:
        for value in [*STRANGE, *([...] if at else [])]:
            changed = replaced(document, at, value)
            refused += not survives(path, json.dumps(changed).encode())
    assert refused > (500 if prove else 250)


@pytest.mark.parametrize("name", JSON_FILES)
@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": "syllabary", "format": "syllabary"}', "duplicate key 'format'"),
        (b'{"model": NaN}', "NaN is not JSON"),
        (b'{"model": 1' + b"0" * 5000 + b"}", "integer string conversion|must be an object"),
        (b'{"model": "\xff"}', "not UTF-8 at byte offset 11"),
        (b'{"model": {}\n "x"}', "line 2, column 2"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark: save it as UTF-8 without one"),
        (b"null", "must be an object"),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else "",
)
def test_broken_json(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    form = "syllabary" if name == OURS else "huggingface"
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / name, form)


def edited(folder: Path, name: str, **changes: Any) -> Path:
    """A small file with some members of the document (or of `model`) changed."""
    path = written(folder, name)
    document = json.loads(path.read_text("utf-8"))
    for key, value in changes.items():
        place = document if key in document else document["model"]
        place[key] = value
    path.write_text(json.dumps(document), "utf-8")
    return path


SPLIT = {"type": "Split", "pattern": {"Regex": " "}, "behavior": "Isolated", "invert": False}
NOT_HONOURED: list[tuple[dict[str, Any], str]] = [
    ({"pre_tokenizer": {**SPLIT, "pattern": {"Regex": "(?i:ss)"}}}, "may mean something else"),
    ({"type": "Letters"}, "the model 'Letters'"),
    ({"continuing_subword_prefix": "##"}, "does not begin with the prefix '##'"),
    ({"added_tokens": [{"id": 99, "content": "<s>"}]}, "should be"),
    ({"added_tokens": [{"id": 99, "content": "<new>"}]}, "should be"),
    ({"added_tokens": [{"id": 99, "content": ""}]}, "empty or given twice"),
    ({"vocab": {"a": 1, "b": 1}}, "'a' and 'b' have the same id 1"),
    ({"merges": [["e", "q"]]}, r"\$.model.merges\[0\]: 'q' is not in the vocabulary"),
    ({"merges": ["e r t"]}, "must be two tokens"),
    ({"merges": [["e", "r"]], "vocab": {"e": 0, "r": 1, "er": 2}}, "'<s>' should be 3"),
]


@pytest.mark.parametrize(
    "changes, message", NOT_HONOURED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_cannot_be_honoured_is_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        formats.read(edited(tmp_path, THEIRS, **changes))


PORTABLE = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\w+|\W\b.|\W",
    r"[a-z]++|(?<=e)\d{2,}|[^\d_-]|\\?[\x{41}-\x{5A}]",
    r"(?i:que|ve|sat)\b|(?:[\p{Lu}\p{Lt}]*+\p{Ll}*?)x|.\B",
    r"(?<![^\n])a|\Ab|c\z|[\s\-]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",  # BLOOM's
    r"[\p{L}&&[^\p{Han}]]+|[^a[^b-z]]+|[a-z&&[^aeiou]&&[b-y]]",
    r"'(?i:[sdmt]|ll|ve|re)|[\p{Lu}\p{Mn}]+|[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]",
]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("pattern", PORTABLE)
@given(text=texts())
def test_a_pattern_that_is_read_cuts_as_their_library_does(pattern: str, keep: bool, text: str) -> None:
    check_portable(pattern)
    ours = pieces(text, SplitSpec(pattern, "onig", keep))
    assert ours == onig_pieces(pattern, text, drop=not keep)


@pytest.mark.parametrize(
    "pattern",
    ["^a", "a$", "a{2}+", "a{2}?", "(?i:ss)", "(?i:é)", "(?i)a", "(?s:.)", r"[\w]", r"[a&&]", r"[[:alpha:]b]",
     r"\h", r"\xE9", "(?<n>a)", r"(a)\1", "a**", r"\Z", r"\p{Foo}", "[b-a]", "(", "a)", "", "a*"],
)  # fmt: skip
def test_a_pattern_that_may_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        check_portable(pattern)


def test_ids_that_no_table_can_hold_are_the_files_fault(tmp_path: Path) -> None:
    """What the engine could not build is refused while the file's name is known."""
    path = edited(tmp_path, THEIRS, vocab={"a": 0, "<s>": 4_000_000_000}, merges=[])
    document = json.loads(path.read_text("utf-8"))
    document["added_tokens"][0]["id"] = 4_000_000_000
    path.write_text(json.dumps(document), "utf-8")
    ranks = written(tmp_path, RANKS)
    ranks.write_bytes(ranks.read_bytes() + b"enp6enp6eg== 4000000000\n")
    for file in (path, ranks):
        with pytest.raises(FormatError, match=rf"{file.name}: .* id 4000000000 is too far above"):
            syllabary.load(file, split="gpt2" if file == ranks else None)


def test_unknown_keys_are_named(tmp_path: Path) -> None:
    for name in JSON_FILES:
        path = written(tmp_path, name)
        document = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(document | {"extra": 1}), "utf-8")
        with pytest.raises(FormatError, match="unknown key 'extra'"):
            formats.read(path)
        path.write_text(json.dumps(document | {"k" * 70_000: 1}), "utf-8")
        with pytest.raises(FormatError, match=f"unknown key '{'k' * 80}'; known are") as caught:
            formats.read(path)
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"version": 3}, "reads versions 1 and 2"),
        ({"version": True}, "reads versions 1 and 2"),
        ({"unit": "bit"}, "must be one of byte, char, word"),
        ({"tokens": [[0, "a"], [0, "b"]]}, r"\$.tokens\[1\]: id 0 is given twice"),
        ({"tokens": [[0, {"bytes": "0g"}]]}, "hexadecimal"),
        ({"tokens": [[0, "a"], [True, "b"]]}, r"\$.tokens\[1\]\[0\]: must be an integer"),
        ({"tokens": [[0, "a"], [-1, "b"]]}, r"\$.tokens\[1\]\[0\]: is an id outside"),
        ({"tokens": [[0, "a"], [1, "b", 2]]}, r"\$.tokens\[1\]: must be \[id, token\]"),
        ({"tokens": [[0, "a"], {"1": "b"}]}, r"\$.tokens\[1\]: must be a list"),
        ({"tokens": [[0, "a"], [1, "\ud800"]]}, r"\$.tokens\[1\]\[1\]: lone surrogate U\+D800"),
        ({"tokens": [[0, "a"], [1, None]]}, r"\$.tokens\[1\]\[1\]: must be an object"),
        ({"merges": [[0, 1, 2], [0, 1, 2.0]]}, r"\$.merges\[1\]\[2\]: must be an integer"),
        ({"version": 2, "scores": [[0, 0.5], [0, 0.5]]}, r"\$.scores\[1\]: id 0 is given twice"),
        ({"version": 2, "scores": [[0, 0.5], [1, True]]}, r"\$.scores\[1\]\[1\]: must be a number"),
        ({"version": 2, "byte_tokens": [[0, 65], [1, 6.5]]}, r"\$.byte_tokens\[1\]\[1\]: must be an integer"),
        ({"alphabet": [4_000_000]}, "id 4000000 is no token"),
        ({"merges": [[0, 1]]}, r"must be \[left id"),
        ({"merges": [[0, 1, 0]]}, "its result, id 0"),
        ({"special_tokens": {"<s>": 0}}, "id 0 is both"),
        ({"special_tokens": {"": 900}}, "is empty"),
        (
            {"version": 2, "normalizer": [{"kind": "Precompiled", "options": {"charsmap": {"base64": "é"}}}]},
            r"\$.normalizer\[0\].options.charsmap: is not base64",
        ),
        (
            {"split": {"name": None, "pattern": "(", "tables": "onig", "keep_unmatched": True}},
            r"\$.split.pattern",
        ),
        (
            {"split": {"name": None, "pattern": "a*", "tables": "onig", "keep_unmatched": True}},
            "empty string",
        ),
    ],
    ids=str,
)
def test_our_own_file_must_fit_together(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, OURS)
    document = json.loads(path.read_text("utf-8")) | changes
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(FormatError, match=message):
        formats.read(path)


@pytest.mark.parametrize(
    "line, message",
    [
        (b"YWI=", "line 257: no rank"),
        (b"YWI= x", "line 257: b'x' is no rank"),
        (b"YWI= -1", "is no rank"),
        (b"YWI= 4294967295", "is no rank"),
        (b"YWI= " + b"9" * 10_000, "is no rank"),
        (b"YW= 300", "line 257: b'YW=' is not base64"),
        (b"Y*I= 300", "is not base64"),
        (b"YWI= 5", "line 257: rank 5 is on line 6 already"),
        (b"AQ== 300", r"line 257: token b'\\x01' is on line 2 already"),
        (b"\n\xff\xff 300", "line 258"),
    ],
)
def test_rank_lines(line: bytes, message: str, tmp_path: Path) -> None:
    lines = [b"%s %d" % (base64.b64encode(bytes([byte])), byte) for byte in range(256)]
    (tmp_path / RANKS).write_bytes(b"\n".join([*lines, line, b"YWFh 400"]))
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / RANKS, split="gpt2")
    (tmp_path / RANKS).write_bytes(b"\n".join(lines[:-1]))
    with pytest.raises(FormatError, match="single byte 0xFF"):
        formats.read(tmp_path / RANKS, split="gpt2")


def test_long_tokens_of_ranks(tmp_path: Path) -> None:
    """Up to 64 KiB; a longer one is refused, when read and when written."""
    lines = [b"%s %d" % (base64.b64encode(bytes([byte])), byte) for byte in range(256)]
    doubled = [b"%s %d" % (base64.b64encode(b"a" * 2**power), 255 + power) for power in range(1, 17)]
    (tmp_path / RANKS).write_bytes(b"\n".join([*lines, *doubled]))
    spec = formats.read(tmp_path / RANKS, split="none")
    tok = syllabary.Tokenizer(spec)
    assert tok.encode("a" * (2**16 + 5)) == [271, 257, 97]
    assert tok.merges == [(b"a" * 2**power, b"a" * 2**power) for power in range(16)]
    formats.write(spec, tmp_path / "again.tiktoken")
    start = time.process_time()
    line = b"%s 300" % base64.b64encode(b"ab" * 200_000)
    (tmp_path / RANKS).write_bytes(b"\n".join([*lines, line]))
    with pytest.raises(
        FormatError, match=r"t\.tiktoken: line 257: the token b'abab.*… has 400000 bytes"
    ) as error:
        formats.read(tmp_path / RANKS, split="gpt2")
    assert len(str(error.value)) < 300 + len(str(tmp_path))
    longer = dataclasses.replace(spec, tokens={**spec.tokens, 272: b"ab" * 200_000})
    with pytest.raises(FormatError, match="tiktoken cannot hold a token of 400000 bytes"):
        formats.write(longer, tmp_path / "longer.tiktoken")
    assert time.process_time() - start < 5


def test_gaps_and_an_empty_token_are_legal_ranks(tmp_path: Path) -> None:
    lines = [b"%s %d" % (base64.b64encode(bytes([byte])), byte) for byte in range(256)]
    (tmp_path / RANKS).write_bytes(b"\n".join([*lines, b"= 300", b"YWI= 400"]) + b"\n")
    spec = formats.read(tmp_path / RANKS, split="gpt2", special_tokens={"<s>": 350})
    assert (spec.tokens[300], spec.tokens[400], len(spec.tokens)) == (b"", b"ab", 258)
    formats.write(spec, tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == (tmp_path / RANKS).read_bytes()
    with pytest.raises(FormatError, match="id 400 is both"):
        formats.read(tmp_path / RANKS, split="gpt2", special_tokens={"<s>": 400})


@given(data=byte_strings(), form=st.sampled_from(formats.names()))
def test_any_bytes(data: bytes, form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "vocab.json"
    path.write_bytes(data)
    path.with_name("merges.txt").write_bytes(data)
    with pytest.raises(SyllabaryError):
        formats.read(path, form, split="gpt2")


@pytest.mark.parametrize("name", [OURS, THEIRS, RANKS])
@given(data=st.data())
def test_flipped_bytes(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = written(tmp_path_factory.mktemp("flip"), name)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255) | st.sampled_from(b'0123456789"[]{},: ='))
    survives(path, bytes(content))


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    (tmp_path / RANKS).write_bytes(b"0123456789")
    assert read_bounded(tmp_path / RANKS, limit=10) == b"0123456789"
    with pytest.raises(FormatError, match=r"t\.tiktoken: larger than 9 bytes"):
        read_bounded(tmp_path / RANKS, limit=9)


@pytest.mark.parametrize("size", [(1 << 18) - 1, 1 << 18, 3 << 20])
def test_large_files_are_read_whole(tmp_path: Path, size: int) -> None:
    """For these memory is seen to beforehand."""
    data = random.Random(size).randbytes(size)
    (tmp_path / RANKS).write_bytes(data)
    assert read_bounded(tmp_path / RANKS) == data


def test_memory_is_seen_to_whatever_is_asked() -> None:
    for count in (0, 1, 1 << 20, 5 << 20, (1 << 64) - 1):
        before = bytes(range(256)) * 20_000
        make_ready(count)
        assert before == bytes(range(256)) * 20_000
    with pytest.raises(OverflowError):
        make_ready(-1)


@pytest.mark.parametrize("name", ["tok.json", "tok.syllabary.json", "tok.tiktoken"])
def test_a_file_too_large_to_be_read_is_not_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_BYTES", 1000)
    tok = syllabary.train(["low lower lowest"], num_merges=3)
    with pytest.raises(
        FormatError, match=rf"{name}: would have \d+ bytes, and no tokenizer file of more than 1000"
    ):
        tok.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_published_merges_that_are_cut_short(shared: Path, tmp_path: Path) -> None:
    """GPT-2's vocabulary is known by its SHA-256, so its merges must make all of it."""
    vocabs = shared / "vocabs"
    whole = (vocabs / "gpt2_vocab.bpe").read_text("utf-8").split("\n")
    (tmp_path / "vocab.json").write_bytes((vocabs / "gpt2_encoder.json").read_bytes())
    merges = tmp_path / "merges.txt"
    for lines, kept in ((whole[:0], 0), (whole[:101], 100), (whole[:-2], 49_999)):
        merges.write_text("\n".join(lines), "utf-8")
        unmade = "1 token" if kept == 49_999 else f"{50_000 - kept} tokens"
        with pytest.raises(FormatError, match=rf"merges\.txt: {kept} merges, and {unmade} of"):
            formats.read(tmp_path)
        assert len(formats.read(tmp_path, split="gpt2").merges or ()) == kept
    merges.write_text("\n".join(whole[:-1]), "utf-8")
    assert formats.read(tmp_path) == formats.read(tmp_path, special_tokens={"<|endoftext|>": 50_256})
    assert len(formats.read(tmp_path, special_tokens={}).tokens) == 50_257
