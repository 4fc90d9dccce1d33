"""`train(like=...)` learns what the tool itself learns, through the public call; the tool is the judge.

Leaves out: minbpe, which is not on PyPI: its twenty lines stand here.
"""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
import rustbpe  # type: ignore[import-untyped]
import train_peers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import corpora
from tiktoken import _educational
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import syllabary
from syllabary import splits
from syllabary.counts import PieceCounts
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.bytes_to_unicode import spell
from syllabary.training import GPT4_2023


def trained(documents: list[str], vocab_size: int, **options: Any) -> syllabary.Tokenizer:
    """Our tokenizer; that it may stop early goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        return syllabary.train(documents, vocab_size, threads=2, **options)


# Python's `regex` has letters of a newer Unicode than our tables: its users' texts stay with the older ones.
def of_both_unicodes(documents: list[str]) -> bool:
    return all(regex.findall(GPT4_2023, text) == pieces_of(text) for text in documents)


def pieces_of(text: str) -> list[str]:
    from syllabary import splits
    from syllabary.reference import pieces

    return pieces(text, splits.get(GPT4_2023))


@settings(max_examples=150)
@given(
    documents=corpora().filter(any),
    num_merges=st.integers(0, 30),
    min_frequency=st.integers(0, 3),
    max_token_length=st.sampled_from([None, None, 1, 2, 3, 4, 6]),
    specials=st.sampled_from([[], ["<pad>"], ["<pad>", "<unk>"]]),
)
def test_hugging_face(
    documents: list[str],
    num_merges: int,
    min_frequency: int,
    max_token_length: int | None,
    specials: list[str],
) -> None:
    symbols = len({byte for text in documents for byte in text.encode()})
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    size = len(specials) + symbols + num_merges
    limit = {} if max_token_length is None else {"max_token_length": max_token_length}
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=min_frequency, special_tokens=specials, show_progress=False, **limit
    )
    peer.train_from_iterator(documents, trainer)
    model = json.loads(peer.to_str())["model"]
    tok = trained(
        documents, size, like="huggingface", min_frequency=min_frequency, special_tokens=specials, **limit
    )
    ordinary = {spell(token): token_id for token_id, token in tok.spec.tokens.items()}
    assert ordinary | tok.special_tokens == model["vocab"]
    assert [(spell(left), spell(right)) for left, right in tok.merges] == [tuple(m) for m in model["merges"]]


def test_the_least_frequency_that_hugging_face_has_by_default_is_taken() -> None:
    """0 is 1 there; elsewhere it is an error, as it was."""
    assert trainers.BpeTrainer().min_frequency == 0
    least, one = (trained(["ab ab"], 257, like="huggingface", min_frequency=least) for least in (0, 1))
    assert least.spec == one.spec == trained(["ab ab"], 257, like="huggingface").spec
    for like in (None, "rustbpe"):
        with pytest.raises(syllabary.TrainingError, match="min_frequency is 0: set it to 1 or more"):
            syllabary.train(["ab ab"], 257, like=like, min_frequency=0)
    with pytest.raises(syllabary.TrainingError, match="min_frequency is -1: set it to 1 or more"):
        syllabary.train(["ab ab"], 257, like="huggingface", min_frequency=-1)


@given(corpora().filter(any), st.integers(0, 30))
def test_rustbpe(documents: list[str], num_merges: int) -> None:
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator(iter(documents), 256 + num_merges)
    assert peer.get_pattern() == GPT4_2023
    tok = trained(documents, 256 + num_merges, like="rustbpe")
    ranks = {token_id: bytes(token) for token, token_id in peer.get_mergeable_ranks()}
    assert dict(tok.vocab) == dict(sorted(ranks.items()))


@given(corpora(max_documents=1).filter(any), st.integers(0, 20))
def test_tiktoken_educational(documents: list[str], num_merges: int) -> None:
    assume(of_both_unicodes(documents))
    tok = trained(documents, 256 + num_merges, like="tiktoken", split=GPT4_2023)
    ranks = _educational.bpe_train(documents[0], len(tok.vocab), GPT4_2023, visualise=None)
    assert {token: token_id for token_id, token in tok.vocab.items()} == ranks


def minbpe(text: str, num_merges: int, pattern: str = GPT4_2023) -> list[tuple[bytes, bytes]]:
    """minbpe's RegexTokenizer.train: count all, take the first of the most frequent, merge, again."""
    chunks = [[bytes([byte]) for byte in chunk.encode()] for chunk in regex.findall(pattern, text)]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(num_merges):
        counts: dict[tuple[bytes, bytes], int] = {}
        for chunk in chunks:
            for pair in pairwise(chunk):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.__getitem__)
        merges.append(best)
        chunks = [replaced(chunk, best) for chunk in chunks]
    return merges


def replaced(chunk: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    out: list[bytes] = []
    at = 0
    while at < len(chunk):
        if tuple(chunk[at : at + 2]) == pair:
            out.append(pair[0] + pair[1])
            at += 2
        else:
            out.append(chunk[at])
            at += 1
    return out


@given(corpora(max_documents=1).filter(any), st.integers(0, 25))
def test_minbpe(documents: list[str], num_merges: int) -> None:
    assume(of_both_unicodes(documents))
    tok = trained(documents, 256 + num_merges, like="minbpe")
    assert tok.merges == minbpe(documents[0], num_merges)


# Patterns that leave text unmatched, which mean the same in all of them.
GAPS = [r"[a-zA-Z]+|[0-9]+|\s+", r"[a-z]+", r"[^aeiou]{1,3}", r"aa?|b+(?=[^c])"]


def check_gaps(tok: syllabary.Tokenizer, text: str, ids: list[int]) -> None:
    """The engine and the specification drop what the peer drops, from a file too."""
    assert tok.encode(text) == ReferenceTokenizer(tok.spec).encode(text) == ids


@given(corpora(), st.sampled_from(GAPS), st.integers(0, 20))
def test_rustbpe_drops_what_its_pattern_leaves(documents: list[str], pattern: str, num_merges: int) -> None:
    documents = ["ab1bb", *documents]
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator(iter(documents), 256 + num_merges, pattern=pattern)
    tok = trained(documents, 256 + num_merges, like="rustbpe", split=pattern)
    ranks = {token_id: bytes(token) for token, token_id in peer.get_mergeable_ranks()}
    assert dict(tok.vocab) == dict(sorted(ranks.items()))
    for text in documents:
        check_gaps(tok, text, peer.encode(text))


@given(corpora(max_documents=1), st.sampled_from(GAPS), st.integers(0, 20))
def test_minbpe_and_tiktoken_drop_what_their_pattern_leaves(
    documents: list[str], pattern: str, num_merges: int
) -> None:
    text = "".join(["ab1bb", *documents])
    assume(of_both_unicodes([text]))
    merges = minbpe(text, num_merges, pattern)
    for like in ("minbpe", "tiktoken"):
        tok = trained([text], 256 + num_merges, like=like, split=pattern)
        assert tok.merges == merges
        check_gaps(tok, text, train_peers.minbpe_ids(regex.findall(pattern, text), merges))
    ranks = _educational.bpe_train(text, len(tok.vocab), pattern, visualise=None)
    assert {token: token_id for token_id, token in tok.vocab.items()} == ranks


def test_a_pattern_that_leaves_nothing_goes_into_a_rank_file(tmp_path: Path) -> None:
    """As nanochat's, which is GPT-4's of 2023 but for its digits."""
    pattern = GPT4_2023.replace("{1,3}", "{1,2}")
    tok = trained(["low lower 1234, lowest!"] * 3, 262, like="rustbpe", split=pattern)
    tok.save(tmp_path / "a.tiktoken")
    assert syllabary.load(tmp_path / "a.tiktoken", split=pattern).encode("low 1234") == tok.encode("low 1234")
    with pytest.raises(syllabary.errors.FormatError, match="drops the text between its matches"):
        trained(["low, lower"], 258, like="rustbpe", split=r"\w+").save(tmp_path / "b.tiktoken")


def test_what_drops_and_what_does_not() -> None:
    """A table of counts cuts alike; a named split, and a pattern of other tools, are as they were."""
    text = "ab, ab, ab!"
    for like in ("minbpe", "tiktoken", "rustbpe", "cs336"):
        tok = trained([text], 258, like=like, split="[a-z]+")
        assert tok.merges == [(b"a", b"b")]
        assert tok.decode(tok.encode(text)) == "ababab"
        table = PieceCounts.of([text], like=like, split="[a-z]+")
        assert dict(table) == {"ab": 3}
        assert trained([text], 258, like=like, split="gpt2").spec.split == splits.get("gpt2")
        assert trained(
            [text], 258, like=like, split=r"\p{L}+|\P{L}"
        ).spec.split.keep_unmatched  # there is none
    tok = trained([text], 258, split="[a-z]+")
    assert tok.decode(tok.encode(text)) == text


def test_cs336() -> None:
    """The course's example: ties to the largest pair of byte strings."""
    text = "low low low low low lower lower widest widest widest newest newest newest newest newest newest"
    tok = trained([text], 262, like="cs336", split="whitespace-split")
    expected = [b"st", b"est", b"ow", b"low", b"west", b"ne"]
    assert [left + right for left, right in tok.merges] == expected


def test_unknown_tools_are_named() -> None:
    with pytest.raises(syllabary.TrainingError, match=r"gigatoken.*huggingface.*sentencepiece"):
        syllabary.train(["a"], like="gigatoken")
