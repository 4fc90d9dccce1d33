"""`tok.truncate(n)`: the bytes that `train(..., n)` saves, for every way to train; published ones too.

Leaves out: the command line (`test_cli_surgery`, and here one run of it).
"""

from __future__ import annotations

import dataclasses
import json
import re
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import corpora

import syllabary
from syllabary import surgery
from syllabary.cli import main
from syllabary.errors import EarlyStopWarning, TrainingError, VocabularyError
from syllabary.formats import recover_merges, syllabary_json
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.truncation import truncate

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

LINE = "low lower lowest newer newest widest é 漢字 <s> the a b c xyzzy aaaa abab "
DOCUMENTS = [f"{LINE * 3}{number}" for number in range(20)]
TEXT = "Hello world, I'll say μῆνιν ἄειδε θεὰ 天地玄黃 1234 def f(x):\n\treturn  x**2 <b>"

WAYS: dict[str, dict[str, Any]] = {
    "ours": {},
    "special tokens last": {"special_tokens": ["<s>", "<e>"]},
    "largest pair, longest token": {"tie_break": "largest-pair", "max_token_length": 4, "min_frequency": 1},
    "normalized": {"normalize": "NFD"},
    "no split": {"split": None},
    "huggingface": {"like": "huggingface", "special_tokens": ["<s>"]},
    "rustbpe": {"like": "rustbpe"},
    "minbpe": {"like": "minbpe"},
    "tiktoken": {"like": "tiktoken"},
    "cs336": {"like": "cs336", "special_tokens": ["<s>"]},
    "char": {"unit": "char"},
    "char, mark and fallback": {"unit": "char", "end_of_word": "</w>", "fallback": True},
    "word": {"unit": "word", "special_tokens": ["<s>"]},
}


def saved(tok: syllabary.Tokenizer) -> bytes:
    return syllabary_json.write(tok.spec)


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_truncated_vocabulary_is_the_one_that_training_gives(way: str) -> None:
    options = WAYS[way]
    tok = syllabary.train(DOCUMENTS, 320, **options)
    merges = len(tok.merges)
    assert merges > 5
    for size in sorted({tok.vocab_size - less for less in (0, 1, 2, 5, merges // 2, merges)}):
        assert saved(tok.truncate(size)) == saved(syllabary.train(DOCUMENTS, size, **options))


@pytest.mark.parametrize("way", sorted(WAYS))
def test_so_is_one_by_number_of_merges(way: str) -> None:
    options = WAYS[way]
    tok = syllabary.train(DOCUMENTS, num_merges=20, **options)
    for less in (0, 1, 7, len(tok.merges)):
        smaller = syllabary.train(DOCUMENTS, num_merges=len(tok.merges) - less, **options)
        assert saved(tok.truncate(smaller.vocab_size)) == saved(smaller)


def test_of_a_training_that_stopped_early_any_size_above_is_the_same_vocabulary() -> None:
    tok = syllabary.train(["ab ab"], 1000)
    assert tok.vocab_size < 300
    for size in (tok.vocab_size, 300, 1000):
        assert saved(tok.truncate(size)) == saved(syllabary.train(["ab ab"], size))


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_where_nothing_goes_ids_stay_with_their_gaps() -> None:
    """A special token that is a word too is left out of the ids that training gives."""
    text, more = ["low lower lowest x " * 5], {"model": "wordlevel", "special_tokens": ["low", "<p>"]}
    tok = syllabary.train(text, 500, **more)  # type: ignore[arg-type]
    assert sorted(tok.vocab) != list(range(tok.vocab_size))
    for size in (max(tok.vocab) + 1, 100):
        assert saved(tok.truncate(size)) == saved(syllabary.train(text, size, **more))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize(
    "model, like", [("wordlevel", None), ("wordlevel", "huggingface"), ("wordpiece", None), ("word", None)]
)
def test_so_are_those_of_models_without_merges(model: str, like: str | None) -> None:
    more: dict[str, Any] = {"model": model, "like": like}
    if model == "word":
        more = {"model": model, "like": "sentencepiece", "options": {"hard_vocab_limit": False}}
    tok = syllabary.train(["a b b c c c d d d d"], 30, **more)
    assert tok.vocab_size < 25
    for size in (tok.vocab_size, 25, 30, 40):
        assert saved(tok.truncate(size)) == saved(syllabary.train(["a b b c c c d d d d"], size, **more))
    with pytest.raises(VocabularyError, match=r"only \d+ tokens are there"):
        syllabary.Tokenizer(dataclasses.replace(tok.spec, record={})).truncate(25)


def test_options_of_hugging_face_are_those_of_the_smaller_size() -> None:
    options: dict[str, Any] = {"pre_tokenizer": "Whitespace", "min_frequency": 2, "special_tokens": ["<s>"]}
    tok = syllabary.train(DOCUMENTS, 90, like="huggingface", options=options)
    for size in (50, 70, 89, 90):
        smaller = syllabary.train(DOCUMENTS, size, like="huggingface", options=options)
        assert saved(tok.truncate(size)) == saved(smaller)
    early = syllabary.train(DOCUMENTS, like="huggingface", options=options)
    for size in (early.vocab_size, 20_000, 30_000):
        smaller = syllabary.train(DOCUMENTS, size, like="huggingface", options=options)
        assert saved(early.truncate(size)) == saved(smaller)


@pytest.mark.parametrize("like", [None, "huggingface"])
@pytest.mark.parametrize("model", ["wordpiece", "wordlevel"])
def test_word_models_note_the_smaller_size(model: str, like: str | None) -> None:
    text = ["low lower lowest newer newest widest wide new the cat sat on the mat " * 3] * 4
    large = syllabary.train(text, 35 if model == "wordpiece" else 13, model=model, like=like)
    size = large.vocab_size - 3
    assert large.truncate(size).spec == syllabary.train(text, size, model=model, like=like).spec
    edited = dataclasses.replace(large.spec, record={**large.spec.record, "options": {"vocab_size": "35"}})
    assert syllabary.Tokenizer(edited).truncate(size).spec.record == edited.record


@pytest.mark.parametrize("like", [None, "huggingface"])
def test_wordpiece_keeps_its_characters(like: str | None) -> None:
    """As training does, which refuses a size below them."""
    text = ["low lower lowest newer newest widest wide new the cat sat on the mat # ## " * 3] * 4
    large = syllabary.train(text, 50, model="wordpiece", like=like)
    with pytest.raises(TrainingError, match="the alphabet has") as found:
        syllabary.train(text, 5, model="wordpiece", like=like)
    least = int(re.findall(r"set it to (\d+) or more", str(found.value))[0])
    smaller = syllabary.train(text, least, model="wordpiece", like=like)
    assert large.truncate(least).spec == smaller.spec
    with pytest.raises(VocabularyError, match=rf"size is {least - 1}, but {least} .*set it to {least} or"):
        large.truncate(least - 1)


@pytest.mark.parametrize("options", [{}, {"pad_id": 5, "user_defined_symbols": ["<sep>"]}])
def test_words_of_sentencepiece_are_those_of_the_smaller_size(
    options: dict[str, Any], tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"like": "sentencepiece", "model": "word", "options": options}
    text = ["low lower lowest newer newest widest wide new the cat sat on the mat " * 3] * 4
    large = syllabary.train(text, 14, **asked)
    for size in (8, 11, 13):
        cut, smaller = large.truncate(size), syllabary.train(text, size, **asked)
        assert cut.spec == smaller.spec
        cut.save(tmp_path / "cut.model")
        smaller.save(tmp_path / "trained.model")
        assert (tmp_path / "cut.model").read_bytes() == (tmp_path / "trained.model").read_bytes()
    if options:
        late = syllabary.train(text, 14, **{**asked, "options": {"pad_id": 9}})
        with pytest.raises(VocabularyError, match="id 9 is fixed by the options of training"):
            late.truncate(8)
    added = surgery.add(large, ["x"]).tokenizer
    with pytest.warns(
        syllabary.LossWarning, match="What only sentencepiece holds beside the tokenizer is lost"
    ):
        assert added.truncate(14).spec.record == large.spec.record


@pytest.mark.parametrize("size", [270, 280, 299, 300])
def test_superwords_are_those_of_the_smaller_size(size: int) -> None:
    tok = syllabary.train(DOCUMENTS, 300, superwords=270)
    assert saved(tok.truncate(size)) == saved(syllabary.train(DOCUMENTS, size, superwords=270))
    with pytest.raises(VocabularyError, match="size is 269, but from 270 tokens on merges join words"):
        tok.truncate(269)


def test_of_several_languages_all_but_what_became_of_each_is_kept() -> None:
    source = {"a": DOCUMENTS, "b": ["alpha beta gamma beta " * 5] * 4}
    tok, smaller = syllabary.train(source, 290), syllabary.train(source, 275)
    cut = tok.truncate(275)
    assert "languages" in tok.truncate(290).spec.record
    record = {name: value for name, value in smaller.spec.record.items() if name != "languages"}
    assert cut.spec == dataclasses.replace(smaller.spec, record=record)


def test_codes_of_subword_nmt_lose_the_characters_of_lost_merges() -> None:
    tok = syllabary.train(DOCUMENTS, num_merges=40, like="subword-nmt")
    for merges in (1, 7, 20, len(tok.merges)):
        smaller = syllabary.train(DOCUMENTS, num_merges=merges, like="subword-nmt")
        assert saved(tok.truncate(smaller.vocab_size)) == saved(smaller)
    assert tok.truncate(9).vocab_size <= 9  # a merge may bring two characters along


@pytest.mark.parametrize("hard", [True, False])
def test_a_model_of_sentencepiece_is_the_file_of_the_smaller_size(hard: bool, tmp_path: Path) -> None:
    options = {"hard_vocab_limit": hard, "user_defined_symbols": ["<sep>"], "pad_id": 4}
    tok = syllabary.train(DOCUMENTS, 70, like="sentencepiece", options=options)
    for size in (40, 55, 69, 70):
        smaller = syllabary.train(DOCUMENTS, size, like="sentencepiece", options=options)
        assert saved(tok.truncate(size)) == saved(smaller)
        tok.truncate(size).save(tmp_path / "cut.model")
        smaller.save(tmp_path / "trained.model")
        assert (tmp_path / "cut.model").read_bytes() == (tmp_path / "trained.model").read_bytes()
    with pytest.raises(VocabularyError, match="before any merge"):
        tok.truncate(20)


@settings(max_examples=40)
@given(
    corpora(),
    st.sampled_from(sorted(WAYS)),
    st.integers(0, 30),
    st.sampled_from([1, 2]),
)
def test_drawn_corpora(documents: list[str], way: str, less: int, min_frequency: int) -> None:
    options = {"min_frequency": min_frequency} | WAYS[way]
    if options.get("end_of_word") and any("</w>" in document for document in documents):
        return
    try:
        tok = syllabary.train(documents, num_merges=30, **options)
        tok = syllabary.train(documents, tok.vocab_size, **options)
    except syllabary.SyllabaryError:
        assume(False)
    size = tok.vocab_size - min(less, len(tok.merges))
    try:
        again = syllabary.train(documents, size, **options)
    except TrainingError:
        assert size < tok.vocab_size - len(tok.merges)
        return
    cut = tok.truncate(size)
    assert dataclasses.replace(cut.spec, record={}) == dataclasses.replace(again.spec, record={})
    assert cut.spec.record["counts"] == again.spec.record["counts"]


# ---- tokenizers from elsewhere ----


@pytest.mark.parametrize(
    "file, split",
    [
        ("gpt2_tokenizer.json", None),
        ("gpt2_vocab.bpe", None),
        ("r50k_base.tiktoken", None),
        ("cl100k_base.tiktoken", None),
        ("llama3.tiktoken", "llama3"),
        ("mistral_v1.model", None),
    ],
)
def test_published_vocabularies_lose_their_last_merges(
    shared: Path, file: str, split: str | None, tmp_path: Path
) -> None:
    tok = syllabary.load(shared / "vocabs" / file, split=split)
    change = surgery.truncate(tok, 20_000)
    cut = change.tokenizer
    assert sorted(cut.vocab) == list(range(20_000))
    assert list(cut.special_tokens) == list(tok.special_tokens)
    for old, new in enumerate(change.new_ids.tolist()):
        assert new == surgery.REMOVED or cut.vocab[new] == tok.vocab[old]
    assert int((change.new_ids >= 0).sum()) == 20_000
    ids = cut.encode(TEXT)
    assert len(tok.encode(TEXT)) <= len(ids)
    assert cut.decode(ids) == TEXT
    assert ids == ReferenceTokenizer(cut.spec).encode(TEXT)
    if file == "gpt2_tokenizer.json":
        cut.save(tmp_path / "tokenizer.json")
        peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert peer.encode(TEXT).ids == ids
    if file.endswith(".model"):
        cut.save(tmp_path / "cut.model")
        model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "cut.model"))
        assert model.encode(TEXT) == ids


def test_gpt2_by_merges_and_by_ranks_is_cut_to_the_same(shared: Path) -> None:
    by_merges, by_ranks = (
        syllabary.load(shared / "vocabs" / file).truncate(3000)
        for file in ("gpt2_tokenizer.json", "r50k_base.tiktoken")
    )
    assert by_merges.vocab == by_ranks.vocab
    assert by_merges.special_tokens == by_ranks.special_tokens == {"<|endoftext|>": 2999}
    assert by_merges.encode(TEXT) == by_ranks.encode(TEXT)


# ---- what cannot be ----


def test_sizes_that_cannot_be() -> None:
    tok = syllabary.train(DOCUMENTS, 280, special_tokens=["<s>"])
    there, most = "257 tokens are there", "only 280 tokens"
    for size, sentence in ((0, there), (256, there), (281, most)):
        with pytest.raises(VocabularyError, match=sentence):
            tok.truncate(size)
    assert tok.truncate(257).merges == []
    with pytest.raises(TypeError):
        tok.truncate(260.5)  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match="only 281 tokens"):
        surgery.add(tok, ["x y"]).tokenizer.truncate(282)


@pytest.mark.parametrize(
    "damage",
    [
        {"counts": "many"},
        {"counts": []},
        {"start": {"merges": 3}},
        {"start": {"merges": -7, "record": {}}},
        {"start": 5},
        {"vocab_size": "large"},
        {"character_coverage": "x", "control_symbols": 5},
    ],
)
@pytest.mark.parametrize("like", ["rustbpe", "sentencepiece"])
def test_a_record_that_was_edited_by_hand_does_no_harm(like: str, damage: dict[str, Any]) -> None:
    tok = syllabary.train(DOCUMENTS, 60 if like == "sentencepiece" else 290, like=like)
    spec = dataclasses.replace(tok.spec, record={**tok.spec.record, **damage})
    gone = pytest.warns(syllabary.LossWarning, match="What only sentencepiece holds beside the tokenizer is")
    with gone if like == "sentencepiece" and "counts" in damage else nullcontext():
        cut = syllabary.Tokenizer(spec).truncate(tok.vocab_size - 9)
    assert cut.vocab == tok.truncate(tok.vocab_size - 9).vocab
    assert cut.encode("low lower") == tok.truncate(tok.vocab_size - 9).encode("low lower")
    bare = dataclasses.replace(spec, carried={})
    assert syllabary.Tokenizer(bare).truncate(tok.vocab_size - 9).vocab == cut.vocab


def characters(tokens: list[bytes], merges: tuple[tuple[int, int, int], ...]) -> TokenizerSpec:
    alphabet = {token: token_id for token_id, token in enumerate(tokens) if len(token) == 1}
    return TokenizerSpec("char", SplitSpec(None), dict(enumerate(tokens)), alphabet, merges)


def test_merges_in_an_order_in_which_they_cannot_be_cut_off() -> None:
    spec = characters([b"a", b"b", b"ab", b"aba"], ((2, 0, 3), (0, 1, 2)))
    with pytest.raises(VocabularyError, match=r"merge 0 needs the token b'ab' \(id 2\)"):
        truncate(spec, 3)


def test_where_whole_pieces_are_looked_up_such_a_token_stays_for_them(shared: Path) -> None:
    spec = characters([b"a", b"b", b"aba", b"ab", b"abab"], ((3, 0, 2), (0, 1, 3), (3, 3, 4)))
    cut = syllabary.Tokenizer(truncate(dataclasses.replace(spec, whole_pieces=True), 3))
    assert [cut.tokens(text) for text in ("aba", "abab")] == [[b"aba"], [b"a", b"b", b"a", b"b"]]
    ranks = syllabary.load(shared / "vocabs" / "llama3.tiktoken", split="llama3")
    listed = dataclasses.replace(ranks.spec, merges=recover_merges(ranks.spec.tokens))
    assert truncate(listed, 110_000).tokens == truncate(ranks.spec, 110_000).tokens


def test_a_token_that_two_merges_make_goes_with_the_first() -> None:
    spec = characters([b"a", b"b", b"aa", b"aaa", b"ab"], ((0, 0, 2), (2, 0, 3), (0, 2, 3), (0, 1, 4)))
    assert truncate(spec, 5) == spec
    assert truncate(spec, 4).merges == ((0, 0, 2), (2, 0, 3))
    assert truncate(spec, 3).merges == ((0, 0, 2),)


def test_an_edited_vocabulary_keeps_what_was_added() -> None:
    tok = syllabary.train(DOCUMENTS, 280)
    edited = surgery.add(surgery.add(tok, ["low lower"]).tokenizer, ["<pad>"], special=True).tokenizer
    cut = edited.truncate(270)
    assert cut.spec.added_tokens == {"low lower": 268}
    assert cut.special_tokens == {"<pad>": 269}
    assert cut.merges == tok.merges[:12]


def test_edit_truncates_with_the_map(working_folder: Path) -> None:
    tok = syllabary.train(DOCUMENTS, 280, special_tokens=["<s>"])
    tok.save("tok.json")
    command = ["edit", "tok.json", "-o", "cut.json", "--truncate", "270", "--map", "map.json"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.stderr
    assert syllabary.load("cut.json").vocab == tok.truncate(270).vocab
    new_ids = np.array(json.loads(Path("map.json").read_text("utf-8"))["new_ids"])
    assert new_ids.tolist() == [*range(269), *[-1] * 10, 269]
    refused = CliRunner().invoke(main, ["edit", "tok.json", "-o", "cut.json", "--truncate", "8k"])
    assert refused.exit_code == 1
    assert "error: --truncate is 8000, but only 280 tokens are there" in refused.stderr


def test_early_stops_are_still_said() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        syllabary.train(["ab ab"], 1000).truncate(257)
    assert [one.category for one in said] == [EarlyStopWarning]
