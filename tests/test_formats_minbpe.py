"""minbpe's models: read and written byte for byte, with the ids of minbpe's own few lines.

minbpe is no package; its algorithm stands below, from its description: pairs by the lowest new id, all
occurrences at once, in each match of `regex.findall`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, few, texts

from syllabary import formats, splits
from syllabary._engine import Split
from syllabary.errors import FormatError
from syllabary.formats import minbpe, minbpe_pattern
from syllabary.formats.record import Facts, Hints
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, Step, TokenizerSpec, TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training import GPT4_2023

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
PATTERNS = ["", GPT4_2023, GPT2, r"\w+", r"[a-z]+|\d", r"\p{Lu}[^\s]*+|\S"]
MODEL = b"minbpe v1\n\n1\n<|endoftext|> 100257\n97 98\n256 97\n257 257\n"


ASSIGNED = Split(SplitSpec(r"\P{Cn}+", keep_unmatched=False))


def assigned(text: str) -> str:
    """The text without code points that a later Unicode, that of the module `regex`, may know as letters."""
    return "".join(ASSIGNED.pieces(text))


def read(data: bytes, folder: Path) -> TokenizerSpec:
    (folder / "x.model").write_bytes(data)
    return minbpe.FORMAT.read(folder / "x.model", Hints())


# ---- minbpe ----


def merged(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out, at = [], 0
    while at < len(ids):
        found = tuple(ids[at : at + 2]) == pair
        out.append(new if found else ids[at])
        at += 1 + found
    return out


def their_chunk(data: bytes, merges: Mapping[tuple[int, int], int]) -> list[int]:
    ids = list(data)
    while len(ids) >= 2:
        pair = min(pairwise(ids), key=lambda pair: merges.get(pair, float("inf")))
        if pair not in merges:
            break
        ids = merged(ids, pair, merges[pair])
    return ids


def their_ids(model: bytes, text: str) -> list[int]:
    """What minbpe's `load` and `encode_ordinary` make of a model and a text."""
    lines = iter(model.decode().splitlines())
    assert next(lines).strip() == "minbpe v1"
    pattern = next(lines).strip()
    for _special in range(int(next(lines).strip())):
        next(lines)
    merges = {tuple(map(int, line.split())): 256 + place for place, line in enumerate(lines)}
    chunks = regex.findall(pattern, text) if pattern else [text]
    return [token for chunk in chunks for token in their_chunk(chunk.encode(), merges)]  # type: ignore[arg-type]


def model_of(documents: list[str], split: SplitSpec, **changes: object) -> bytes:
    options = TrainOptions(split, num_merges=30, min_frequency=1, tie_break="first-seen", **changes)  # type: ignore[arg-type]
    return minbpe.write(train(["ab ab", *documents], options))


# ---- the same ids, the same bytes ----


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("pattern", PATTERNS)
@few(25)
@given(documents=corpora(), other=texts(40))
def test_ids_are_those_of_minbpe(pattern: str, documents: list[str], other: str) -> None:
    documents, other = [*map(assigned, documents)], assigned(other)
    model = model_of(documents, SplitSpec(pattern or None, keep_unmatched=not pattern))
    spec = minbpe.parse(model, Path("x.model"))
    assert minbpe.write(spec) == model
    for tok in (ReferenceTokenizer(spec), Tokenizer(spec)):
        for text in [*documents, other]:
            assert tok.encode(text) == their_ids(model, text)


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("split", ["gpt2", "gpt4", "o200k", r"a+|\s", r"\w+"])
@given(documents=corpora(), other=texts(40))
def test_our_splits_cut_alike_there(split: str, documents: list[str], other: str) -> None:
    """Text between matches, a piece of its own here and dropped there, is matched by a branch more."""
    documents, other = [*map(assigned, documents)], assigned(other)
    spec = train(["ab ab", *documents], TrainOptions(splits.get(split), num_merges=30, min_frequency=1))
    model = minbpe.write(spec)
    for text in [*documents, other]:
        assert their_ids(model, text) == ReferenceTokenizer(spec).encode(text)


@pytest.mark.parametrize("pattern", [GPT2, GPT4_2023])
def test_every_character_is_cut_as_by_regex(pattern: str) -> None:
    """The tables "tiktoken" and those of the module `regex`, for what these patterns look at."""
    splitter = Split(SplitSpec(pattern, keep_unmatched=False))
    for start in range(0, 0x110000, 256):
        characters = [chr(code) for code in range(start, start + 256) if not 0xD800 <= code < 0xE000]
        text = "".join(f"a{one}1{one} {one}'S" for one in assigned("".join(characters)))
        assert splitter.pieces(text) == regex.findall(pattern, text), hex(start)


def test_special_tokens(tmp_path: Path) -> None:
    spec = read(MODEL, tmp_path)
    assert minbpe.write(spec) == MODEL
    tok = Tokenizer(spec)
    assert tok.encode("abaaba<|endoftext|>", special="allow") == [258, 100257]
    assert tok.tokens("abaaba") == [b"abaaba"]
    assert spec.split == SplitSpec(None)


def test_it_is_known_by_its_first_line() -> None:
    assert minbpe.FORMAT.sniff(Path("x.model"), MODEL)
    assert not minbpe.FORMAT.sniff(Path("x.model"), b"\n\x0e\n\x05<unk>")


# ---- what is refused ----

BAD = [
    (b"", "line 1: is not 'minbpe v1'"),
    (b"minbpe v2\n", "line 1"),
    (b"minbpe v1\n", "ends before line 2, the pattern"),
    (b"minbpe v1\n\n", "ends before line 3"),
    (b"minbpe v1\n\nx\n", "line 3: 'x' is not the number"),
    (b"minbpe v1\n\n1\n", "ends before line 4, a special token"),
    (b"minbpe v1\n\n1\na b 3\n", "line 4: 'a b 3' is not a special token and its id"),
    (b"minbpe v1\n\n1\na -3\n", "line 4"),
    (b"minbpe v1\n\n2\na 300\na 301\n", "line 5: the special token 'a' is given twice"),
    (b"minbpe v1\n\n1\nb 97\n", "id 97 is both"),
    (b"minbpe v1\n\n1\na 99999999\n", "too far above"),
    (b"minbpe v1\n\n0\n97 98\n97 98\n", "line 5: the pair 97 98 is given twice"),
    (b"minbpe v1\n\n0\n97 256\n", "line 4: merges id 256, but this line makes id 256"),
    (b"minbpe v1\n\n0\n97\n", "line 4: '97' is not two ids"),
    (b"minbpe v1\n\n0\n97 98\n\n97 99\n", "line 5: '' is not two ids"),
    (b"minbpe v1\n\xff\n0\n", "line 2: not UTF-8"),
    (b"minbpe v1\n(a|b)+\n0\n", "line 2: .*findall would return what its group captures"),
    (b"minbpe v1\n(?<x>a)\n0\n", "line 2: .*named group"),
    (b"minbpe v1\n \\w+\n0\n", "line 2: .*white space"),
    (b"minbpe v1\na$|.\n0\n", "line 2: .*last line end"),
    (b"minbpe v1\n[[a]b]+\n0\n", "line 2: .*no operator"),
    (b"minbpe v1\n[a\n0\n", "line 2"),
    (b"minbpe v1\n\\h+\n0\n", "line 2"),
]


@pytest.mark.parametrize("data, message", BAD)
def test_damaged_files(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        read(data, tmp_path)


def test_tokens_that_double_and_double_end_at_a_limit(tmp_path: Path) -> None:
    rows = "".join(f"{256 + place} {256 + place}\n" for place in range(60))
    with pytest.raises(FormatError, match="the tokens so far have more than"):
        read(f"minbpe v1\n\n0\n97 97\n{rows}".encode(), tmp_path)


@given(data=st.binary(max_size=30), at=st.integers(0, len(MODEL) - 1), bit=st.integers(0, 7))
def test_any_bytes_are_a_tokenizer_or_a_format_error(data: bytes, at: int, bit: int) -> None:
    flipped = MODEL[:at] + bytes([MODEL[at] ^ (1 << bit)]) + MODEL[at + 1 :]
    for damaged in (data, MODEL[:at], flipped, MODEL[:at] + data, b"minbpe v1\n" + data):
        try:
            spec = minbpe.parse(damaged, Path("x.model"))
        except FormatError:
            continue
        Tokenizer(spec).encode("abaaba")


def test_what_a_model_cannot_hold(tmp_path: Path) -> None:
    spec = read(MODEL, tmp_path)
    changes: list[tuple[dict[str, object], str]] = [
        ({"split": SplitSpec("a\n")}, "line end"),
        ({"split": SplitSpec(" a", keep_unmatched=False)}, "white space"),
        ({"split": SplitSpec("(a)+", keep_unmatched=False)}, "captures"),
        ({"split": SplitSpec(r"\w+", "onig")}, "Unicode tables 'onig'"),
        ({"special_tokens": {"a b": 300}}, "special token 'a b'"),
        ({"special_tokens": {"a\u2028": 300}}, "special token"),
        ({"added_tokens": {"a": 300}}, "added tokens"),
        ({"normalizer": (Step("NFC"),)}, "its normalizer"),
        ({"merges": spec.merges[1:]}, "ids of merges"),
        ({"merges": ()}, "id 256.*which no merge makes"),
        ({"dropout": 0.1}, r"dropout \(0.1\)"),
    ]
    for change, message in changes:
        with pytest.raises(FormatError, match=f"minbpe cannot hold .*{message}"):
            minbpe.write(dataclasses.replace(spec, **change))  # type: ignore[arg-type]
    assert minbpe.refuses(Facts("char")) is not None
    assert minbpe.refuses(Facts(alphabet="seen")) is not None
    assert minbpe.refuses(Facts()) is None


def test_losses_are_named(tmp_path: Path) -> None:
    spec = read(MODEL, tmp_path)
    assert minbpe.reduce(spec) == (spec, ())
    shifted = dataclasses.replace(
        spec,
        tokens={token_id + 7: token for token_id, token in spec.tokens.items()},
        alphabet={symbol: token_id + 7 for symbol, token_id in spec.alphabet.items()},
        merges=tuple((left + 7, right + 7, made + 7) for left, right, made in spec.merges or ()),
        special_tokens={"<s>": 0},
        added_tokens={"a b": 1},
        normalizer=(Step("NFC"),),
    )
    reduced, losses = minbpe.reduce(shifted)
    assert minbpe.write(reduced) == MODEL.replace(b"<|endoftext|> 100257", b"<s> 259")
    assert len(losses) == 5
    assert all("id" in loss for loss in losses)


def test_a_published_vocabulary_can_be_held(shared: Path) -> None:
    spec = formats.read(shared / "vocabs" / "r50k_base.tiktoken")
    reduced, losses = minbpe.reduce(spec)
    assert any("ids change" in loss for loss in losses)
    model = minbpe.write(reduced)
    again, tok = Tokenizer(minbpe.parse(model, Path("x.model"))), Tokenizer(spec)
    text = "Hello world, don't   stop\n\n漢字 1234 <|endoftext|>"
    assert again.tokens(text, special="text") == tok.tokens(text, special="text")
    assert again.special_tokens == {"<|endoftext|>": 50256}


def test_foreign_patterns_are_told_from_those_of_both() -> None:
    for pattern in (*PATTERNS, r"\s++$|a", r"(?>a|b)c", r"(?<=a)b(?=c)(?!d)", r"[^\]a]|\[", "[]a]"):
        assert minbpe_pattern.foreign(pattern) is None, pattern
