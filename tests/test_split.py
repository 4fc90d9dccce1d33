"""Splits cut where their owners cut: examples, every short text, generated text, real text."""

from __future__ import annotations

import importlib
import itertools
import lzma
from functools import lru_cache
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from peers import cut, onig_pieces, tiktoken_pieces
from step_peers import code_points
from strategies import texts
from tiktoken.load import load_tiktoken_bpe
from tokenizers.pre_tokenizers import ByteLevel, Whitespace, WhitespaceSplit

from syllabary import splits
from syllabary.errors import PatternError, SplitError
from syllabary.reference.pattern import parse, to_onig
from syllabary.reference.pattern_nodes import Atomic, Chars, Choice, Group, LookAround, Node, Repeat, Sequence
from syllabary.reference.split import latin_tutorial, pieces
from syllabary.spec import SplitSpec
from syllabary.unicode import SCALARS, Ranges, difference, intersection

TIKTOKENS = ["gpt2", "gpt4", "o200k"]
RANKS = {"gpt2": "r50k_base", "gpt4": "cl100k_base", "o200k": "o200k_base"}
GPT2_ORIGINAL = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ENCLITICS = ("que", "ve", "ne", "met", "ce", "ci")


def pattern_of(name: str) -> str:
    pattern = splits.get(name).pattern
    assert pattern is not None
    return pattern


def classes(node: Node) -> list[Ranges]:
    """Every set of characters that a pattern asks about."""
    if isinstance(node, Chars):
        return [node.ranges]
    if isinstance(node, (Sequence, Choice)):
        return [spans for item in node.items for spans in classes(item)]
    if isinstance(node, (Repeat, Group, Atomic, LookAround)):
        return classes(node.item)
    return []


def representatives(pattern: str) -> str:
    """One character of each kind that the pattern tells apart: it can cut by nothing else."""
    parts = [SCALARS]
    for spans in set(classes(parse(pattern))):
        halves = [half for part in parts for half in (intersection(part, spans), difference(part, spans))]
        parts = [half for half in halves if half]
    return "".join(chr(part[-1][1]) for part in parts)


@pytest.mark.parametrize("name", splits.names())
def test_examples(name: str) -> None:
    examples = splits.examples(name)
    assert examples
    for text, expected in examples:
        assert pieces(text, splits.get(name)) == expected
        if splits.get(name).keep_unmatched:
            assert "".join(expected) == text


@pytest.mark.parametrize("name", TIKTOKENS)
def test_patterns_are_tiktokens_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    public = importlib.import_module("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})  # the pattern, without the file
    assert pattern_of(name) == public.ENCODING_CONSTRUCTORS[RANKS[name]]()["pat_str"]


@pytest.mark.parametrize("name", TIKTOKENS)
def test_examples_are_tiktokens(name: str) -> None:
    inputs = [text for text, _ in splits.examples(name)]
    assert tiktoken_pieces(pattern_of(name), inputs) == [expected for _, expected in splits.examples(name)]


@pytest.mark.parametrize(
    "name,length",
    [("gpt2", 4), ("gpt4", 3), ("o200k", 3), ("latin", 3), ("whitespace", 6), ("whitespace-split", 8)],
)
def test_every_short_text_of_one_character_of_each_kind(name: str, length: int) -> None:
    split = splits.get(name)
    kinds = representatives(pattern_of(name))
    short = ["".join(chars) for n in range(length + 1) for chars in itertools.product(kinds, repeat=n)]
    rewritten = to_onig(pattern_of(name))
    mine = [pieces(text, split) for text in short]
    assert mine == tiktoken_pieces(pattern_of(name), short)
    assert mine == [onig_pieces(rewritten, text, drop=not split.keep_unmatched) for text in short]


@given(st.lists(texts(10), min_size=1, max_size=6), st.sampled_from([*TIKTOKENS, "latin"]))
def test_generated_text_is_cut_as_tiktoken_cuts_it(inputs: list[str], name: str) -> None:
    mine = [pieces(text, splits.get(name)) for text in inputs]
    assert mine == tiktoken_pieces(pattern_of(name), inputs)


@given(texts(40), st.sampled_from([*TIKTOKENS, "latin"]))
def test_generated_text_is_cut_as_onig_cuts_it(text: str, name: str) -> None:
    assert pieces(text, splits.get(name)) == onig_pieces(to_onig(pattern_of(name)), text)


@given(texts(40))
def test_gpt2s_faster_pattern_is_the_original(text: str) -> None:
    assert pieces(text, splits.get("gpt2")) == pieces(text, SplitSpec(GPT2_ORIGINAL))
    assert pieces(text, splits.get("gpt2")) == onig_pieces(GPT2_ORIGINAL, text)


def test_gpt2s_faster_pattern_is_the_original_on_every_short_text() -> None:
    kinds = representatives(GPT2_ORIGINAL + "|" + pattern_of("gpt2"))
    for n in range(5):
        for chars in itertools.product(kinds, repeat=n):
            text = "".join(chars)
            assert pieces(text, splits.get("gpt2")) == pieces(text, SplitSpec(GPT2_ORIGINAL)), text


@given(texts(40))
def test_gpt2_is_tokenizers_byte_level(text: str) -> None:
    spans = [span for _, span in ByteLevel(add_prefix_space=False).pre_tokenize_str(text)]
    assert [text[start:end] for start, end in spans] == pieces(text, splits.get("gpt2"))


@given(texts(40))
def test_whitespace_and_whitespace_split_are_tokenizers_own(text: str) -> None:
    assert pieces(text, splits.get("whitespace")) == cut(Whitespace(), text)
    assert pieces(text, splits.get("whitespace-split")) == cut(WhitespaceSplit(), text)


def test_whitespace_and_whitespace_split_on_every_code_point(prove: bool) -> None:
    text = code_points(prove)
    assert pieces(text, splits.get("whitespace")) == cut(Whitespace(), text)
    assert pieces(text, splits.get("whitespace-split")) == cut(WhitespaceSplit(), text)


@given(texts(40), st.sampled_from(splits.names()))
def test_no_character_is_lost_unless_the_split_drops_it(text: str, name: str) -> None:
    found = "".join(pieces(text, splits.get(name)))
    assert found == (text if splits.get(name).keep_unmatched else "".join(cut(WhitespaceSplit(), text)))


@lru_cache(maxsize=3)
def encoding_of(name: str, ranks: Path) -> tiktoken.Encoding:
    """tiktoken's encoding of the ranks that go with a split."""
    return tiktoken.Encoding(
        name, pat_str=pattern_of(name), mergeable_ranks=load_tiktoken_bpe(str(ranks)), special_tokens={}
    )


@pytest.mark.parametrize("name", TIKTOKENS)
@pytest.mark.parametrize("corpus", ["english", "greek", "chinese", "code", "multilingual"])
def test_real_text_is_cut_as_tiktoken_cuts_it(shared: Path, name: str, corpus: str, prove: bool) -> None:
    with lzma.open(shared / "corpora" / f"{corpus}.txt.xz", "rt", encoding="utf-8") as file:
        text = file.read(200_000 if prove else 15_000)
    encoding = encoding_of(name, shared / "vocabs" / f"{RANKS[name]}.tiktoken")
    mine = pieces(text, splits.get(name))
    cut_first = [i for ids in encoding.encode_ordinary_batch(mine) for i in ids]
    assert cut_first == encoding.encode_ordinary(text)
    assert mine == onig_pieces(to_onig(pattern_of(name)), text)


def same_boundaries(text: str) -> bool:
    """Whether `latin` cuts where the tutorial cuts, the spaces that the tutorial loses apart."""
    found = pieces(text, splits.get("latin"))
    return [p.strip() if p.strip() in ENCLITICS else p for p in found] == latin_tutorial(text)


@given(st.text(alphabet="qemtvnci Aa,.1\n", max_size=12))
def test_latin_cuts_where_the_tutorial_cuts(text: str) -> None:
    assert same_boundaries(text)


@given(
    st.lists(st.sampled_from([*ENCLITICS, "at", "a", " ", ",", "1", "\n", "ō", "Que"]), max_size=8).map(
        "".join
    )
)
def test_latin_cuts_enclitics_where_the_tutorial_cuts_them(text: str) -> None:
    assert same_boundaries(text)


def test_latin_and_the_tutorial_on_the_letters_to_atticus(shared: Path, prove: bool) -> None:
    with lzma.open(shared / "corpora" / "perseus" / "cic.att_lat.xml.xz", "rt", encoding="utf-8") as file:
        assert same_boundaries(file.read(None if prove else 300_000))


@pytest.mark.parametrize(
    "text,expected",
    [
        ("atque", ["at", "que"]),
        ("bene", ["be", "ne"]),
        ("hocine", ["hoci", "ne"]),
        ("quid ne", ["quid", "ne"]),
        ("ATQUE", ["ATQUE"]),
        ("quene", ["que", "ne"]),
        ("arma virumque cano.", ["arma", " virum", "que", " cano", "."]),
    ],
)
def test_the_tutorials_function_keeps_its_flaws(text: str, expected: list[str]) -> None:
    assert latin_tutorial(text) == expected


def test_names_patterns_and_none() -> None:
    assert splits.get("cl100k") == splits.get("gpt4")
    assert splits.get(None) == splits.get("none") == SplitSpec(None, name="none")
    assert splits.get(r"\w+") == SplitSpec(r"\w+")
    assert all(splits.get(name).name == name and splits.source(name) for name in splits.names())


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(SplitError) as caught:
        splits.get("gpt5")
    assert all(name in str(caught.value) for name in ["'gpt5'", *splits.names(), "cl100k"])


def test_a_pattern_that_is_none_is_an_error_when_used() -> None:
    with pytest.raises(PatternError):
        pieces("a", splits.get("(a"))
