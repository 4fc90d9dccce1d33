"""The splits of well-known models cut as the libraries that those models run on.

tiktoken runs the same pattern; Oniguruma (in tokenizers) runs what the model's own `tokenizer.json` says.
DeepSeek's three splits, one inside the other, are held to tokenizers' own sequence of three.
"""

from __future__ import annotations

import itertools
import lzma
from pathlib import Path

import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from peers import cut, onig_pieces, tiktoken_pieces
from published import ranks
from strategies import chars, texts
from test_split import pattern_of, representatives
from tokenizers import Regex
from tokenizers.pre_tokenizers import Sequence, Split

import syllabary
from syllabary import formats, splits
from syllabary._engine import Split as Engine
from syllabary.reference.pattern import to_onig
from syllabary.reference.split import pieces

SINGLE = ["kimi", "llama3", "nemotron", "qwen2", "qwen3.5"]
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
]
DEEPSEEK_SPLIT = Sequence([Split(Regex(pattern), "isolated") for pattern in DEEPSEEK])
# What the second split has besides letters: signs, a mark, and code points that are not assigned.
KANA = list("漢ア゛゠・ー\u3099\u3040\u3097\u3098\u30ff\u9fa5\u9fa6\u3100")
LLAMA3_NAMED = {
    0: "<|begin_of_text|>", 1: "<|end_of_text|>", 6: "<|start_header_id|>", 7: "<|end_header_id|>",
    9: "<|eot_id|>",
}  # fmt: skip


def engine_pieces(name: str, text: str) -> list[str]:
    return Engine(splits.get(name)).pieces(text)


def kana_texts() -> st.SearchStrategy[str]:
    """Text that is in and out of DeepSeek's second split."""
    return st.lists(st.one_of(st.sampled_from(KANA), chars()), max_size=20).map("".join)


@pytest.mark.parametrize("name", [*SINGLE, "deepseek-v3"])
def test_the_engine_gives_the_examples(name: str) -> None:
    assert len(splits.examples(name)) >= 14
    for text, expected in splits.examples(name):
        assert engine_pieces(name, text) == expected


@pytest.mark.parametrize("name", SINGLE)
def test_examples_are_the_peers(name: str) -> None:
    inputs = [text for text, _ in splits.examples(name)]
    assert tiktoken_pieces(pattern_of(name), inputs) == [expected for _, expected in splits.examples(name)]


def test_deepseeks_examples_are_tokenizers() -> None:
    for text, expected in splits.examples("deepseek-v3"):
        assert cut(DEEPSEEK_SPLIT, text) == expected


@pytest.mark.parametrize(
    "name,length", [("kimi", 3), ("llama3", 3), ("nemotron", 3), ("qwen2", 3), ("qwen3.5", 3)]
)
def test_every_short_text_of_one_character_of_each_kind(name: str, length: int) -> None:
    kinds = representatives(pattern_of(name))
    short = ["".join(chars) for n in range(length + 1) for chars in itertools.product(kinds, repeat=n)]
    split, engine = splits.get(name), Engine(splits.get(name))
    theirs = tiktoken_pieces(pattern_of(name), short)
    assert [engine.pieces(text) for text in short] == theirs
    assert [pieces(text, split) for text in short] == theirs
    assert [onig_pieces(pattern_of(name), text) for text in short] == theirs


def test_deepseeks_one_pattern_is_its_three_splits_on_every_short_text() -> None:
    kinds = representatives("|".join([pattern_of("deepseek-v3"), *DEEPSEEK]))
    split, engine = splits.get("deepseek-v3"), Engine(splits.get("deepseek-v3"))
    for n in range(4):
        for parts in itertools.product(kinds, repeat=n):
            text = "".join(parts)
            assert engine.pieces(text) == cut(DEEPSEEK_SPLIT, text), text
            if n < 3:
                assert pieces(text, split) == cut(DEEPSEEK_SPLIT, text), text


@given(st.one_of(texts(40), kana_texts()))
def test_deepseeks_one_pattern_is_its_three_splits(text: str) -> None:
    theirs = cut(DEEPSEEK_SPLIT, text)
    assert pieces(text, splits.get("deepseek-v3")) == theirs
    assert engine_pieces("deepseek-v3", text) == theirs


@given(st.lists(texts(10), min_size=1, max_size=6), st.sampled_from(SINGLE))
def test_generated_text_is_cut_as_tiktoken_cuts_it(inputs: list[str], name: str) -> None:
    theirs = tiktoken_pieces(pattern_of(name), inputs)
    assert [pieces(text, splits.get(name)) for text in inputs] == theirs
    assert [engine_pieces(name, text) for text in inputs] == theirs


@given(texts(40), st.sampled_from(SINGLE))
def test_generated_text_is_cut_as_tokenizers_cuts_it(text: str, name: str) -> None:
    assert engine_pieces(name, text) == onig_pieces(pattern_of(name), text)


@given(st.one_of(texts(40), kana_texts()), st.sampled_from([*SINGLE, "deepseek-v3"]))
def test_rewritten_for_oniguruma_they_cut_the_same(text: str, name: str) -> None:
    assert engine_pieces(name, text) == onig_pieces(to_onig(pattern_of(name)), text)


@given(st.text("abcXYZ 0123'!?.\n\t/sdtéΩж漢字ア", max_size=40), st.sampled_from(SINGLE))
def test_assigned_text_is_cut_as_regex_cuts_it(text: str, name: str) -> None:
    found = regex.compile(pattern_of(name), regex.VERSION1).finditer(text)
    assert engine_pieces(name, text) == [match[0] for match in found]


def test_real_text(shared: Path, prove: bool) -> None:
    characters = 2_000_000 if prove else 60_000
    for path in sorted((shared / "corpora").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            text = file.read(characters)
        for name in SINGLE:
            assert engine_pieces(name, text) == onig_pieces(pattern_of(name), text)
        assert engine_pieces("deepseek-v3", text) == cut(DEEPSEEK_SPLIT, text)


def llama3_special() -> dict[str, int]:
    """The 256 special tokens of Llama 3, after its 128,000 ranks."""
    names = [LLAMA3_NAMED.get(n) for n in range(256)]
    reserved = iter(f"<|reserved_special_token_{n}|>" for n in range(256))
    return {name or next(reserved): 128_000 + n for n, name in enumerate(names)}


@pytest.fixture(scope="module")
def llama3(shared: Path) -> tuple[tiktoken.Encoding, syllabary.Tokenizer]:
    """Theirs and ours."""
    file = "llama3.tiktoken"
    special = llama3_special()
    theirs = tiktoken.Encoding(
        "llama3", pat_str=pattern_of("llama3"), mergeable_ranks=ranks(shared, file), special_tokens=special
    )
    return theirs, syllabary.load(shared / "vocabs" / file, split="llama3", special_tokens=special)


def test_llama3_is_tiktokens(llama3: tuple[tiktoken.Encoding, syllabary.Tokenizer], shared: Path) -> None:
    theirs, ours = llama3
    assert len(ours.special_tokens) == 256
    assert ours.vocab_size == theirs.n_vocab == 128_256
    for path in sorted((shared / "corpora").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            text = file.read(100_000)
        ids = theirs.encode_ordinary(text)
        assert ours.encode(text, special="text") == ids
        assert ours.decode(ids) == text
    chat = (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n<|eot_id|><|reserved_special_token_7|>"
    )
    assert ours.encode(chat, special="allow") == theirs.encode(chat, allowed_special="all")


def test_llama3_is_tiktokens_on_generated_text(
    llama3: tuple[tiktoken.Encoding, syllabary.Tokenizer],
) -> None:
    theirs, ours = llama3

    @given(texts(40))
    def same(text: str) -> None:
        assert ours.encode(text, special="text") == theirs.encode_ordinary(text)

    same()


def test_a_rank_file_by_its_split(shared: Path, tmp_path: Path) -> None:
    spec = formats.read(shared / "vocabs" / "llama3.tiktoken", split="llama3")
    formats.write(spec, tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == (shared / "vocabs" / "llama3.tiktoken").read_bytes()


def test_names_with_a_version_and_aliases() -> None:
    assert splits.get("qwen3.5").name == "qwen3.5"
    assert {splits.get(alias).name for alias in ("olmo", "llama3")} == {"llama3"}
    assert splits.get("tekken") == splits.get("nemotron")
    with pytest.raises(syllabary.SplitError, match=r"unknown split 'qwen9\.5'"):
        splits.get("qwen9.5")
    assert splits.get(".").pattern == "."
