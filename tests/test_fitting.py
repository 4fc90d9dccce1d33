"""Text cut to so many tokens: the longest that fits, and never a character or cluster in two."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
import regex
import streamed

import syllabary
from syllabary.errors import SpecialTokenError, SyllabaryError, TextError, UnknownSymbolError

TEXTS = 100 if os.environ.get("SYLLABARY_PROVE") else 3
NAMES = ["gpt2", "o200k", "gpt4, NFC", "none, characters", "none, NFD", "words, dropped spaces", "superwords"]


def longest(tok: syllabary.Tokenizer, parts: list[str], limit: int) -> str:
    """By definition."""
    return next(part for part in parts if tok.count(part, "text") <= limit)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["char", "grapheme"])
def test_it_is_the_longest(name: str, unit: str) -> None:
    tok, chance = streamed.trained()[name], random.Random(f"{name} {unit}")
    for _ in range(TEXTS):
        text = streamed.drawn(chance, [])[:150]
        try:
            total = tok.count(text, "text")
        except SyllabaryError:
            continue
        ends = [0, *(found.end() for found in regex.finditer(r"\X", text))]
        if unit == "char":
            ends = list(range(len(text) + 1))
        for limit in {0, 1, total, total - 1, chance.randrange(total + 3)}:
            if limit < 0:
                continue
            kept = tok.truncate_text(text, limit, unit=unit, special="text")
            assert kept == longest(tok, [text[:end] for end in reversed(ends)], limit), (text, limit)
            kept = tok.truncate_text(text, limit, side="left", unit=unit, special="text")
            assert kept == longest(tok, [text[end:] for end in ends], limit), (text, limit)


@pytest.mark.parametrize("name", ["gpt2", "o200k", "none, characters"])
@pytest.mark.parametrize(
    "text",
    ["Y" + "\u1161" * 47, "one, 5\u0301\u0301", "a \u0301b \u0301", "\r\n\r\n", "\u0938\u094d\u0935\u0903"],
)
def test_no_cluster_is_cut_whatever_fits(name: str, text: str) -> None:
    tok = streamed.trained()[name]
    ends = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    for limit in range(tok.count(text, "text")):
        kept = tok.truncate_text(text, limit, unit="grapheme", special="text")
        assert kept == longest(tok, [text[:end] for end in reversed(ends)], limit)
        kept = tok.truncate_text(text, limit, side="left", unit="grapheme", special="text")
        assert kept == longest(tok, [text[end:] for end in ends], limit)


def test_a_long_text_is_cut_near_the_limit() -> None:
    tok = streamed.trained()["o200k"]
    text = "It was the best of times, it was the worst of times. " * 3000
    for limit in (10, 1000, 20_000):
        for side in ("left", "right"):
            kept = tok.truncate_text(text, limit, side=side)
            assert limit - 3 <= tok.count(kept) <= limit
            assert text.startswith(kept) if side == "right" else text.endswith(kept)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_word_without_end(side: str) -> None:
    tok = streamed.trained()["gpt2"]
    kept = tok.truncate_text("-" * 5000, 17, side=side)
    assert tok.count(kept) <= 17 < tok.count(kept + "-")


@pytest.mark.parametrize("rest", ["", " and more", "x" * 90])
def test_digits_are_grouped_from_where_the_kept_text_begins(rest: str) -> None:
    tok = syllabary.train(["000"] * 9, num_merges=2, split="gpt4")
    for text in ("0" * 88 + rest, "0" * 900 + rest):
        total = tok.count(text)
        for limit in (total // 2, total - 5, total - 1):
            kept = tok.truncate_text(text, limit, side="left")
            assert kept == longest(tok, [text[at:] for at in range(len(text) + 1)], limit), limit


def test_a_character_that_is_known_at_the_end_of_a_word_alone() -> None:
    tok = syllabary.train(
        ["ab acb"] * 2, num_merges=3, unit="char", end_of_word="_", split="whitespace-split"
    )
    assert tok.truncate_text("acb", 0) == ""
    assert tok.truncate_text("acb", 1) == "acb"
    with pytest.raises(UnknownSymbolError, match=r"'z'.* character 2 of the text"):
        tok.truncate_text("acbz", 2)


def test_a_cluster_stays_whole() -> None:
    tok = streamed.trained()["gpt2"]
    text = "👩‍👩‍👧‍👦 e\u0301\r\n"
    kept = {tok.truncate_text(text, limit, unit="grapheme") for limit in range(tok.count(text) + 1)}
    assert kept <= {"", "👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦 ", "👩‍👩‍👧‍👦 e\u0301", text}


def test_wrong_arguments() -> None:
    tok = streamed.trained()["gpt2"]
    with pytest.raises(ValueError, match='on the "left" or on the "right"'):
        tok.truncate_text("a", 1, side="middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='"char" or "grapheme"'):
        tok.truncate_text("a", 1, unit="byte")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_tokens is -1: give 0 or more"):
        tok.truncate_text("a", -1)
    with pytest.raises(TypeError, match=r"max_tokens is 1\.5: give an integer"):
        tok.truncate_text("a", 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, b"text", ["text"], [], 3])
def test_what_is_no_text(wrong: Any) -> None:
    tok = streamed.trained()["gpt2"]
    for call in (tok.truncate_text, tok.count_until, tok.chunks):
        with pytest.raises(TypeError, match=f"text must be a str, not {type(wrong).__name__}"):
            call(wrong, 3)


def test_errors_are_told_as_those_of_the_whole_text() -> None:
    """With their place in it, whatever part was being read."""
    lines = ["some words and more of them"] * 3
    model = syllabary.train(lines, 40, like="sentencepiece", options={"hard_vocab_limit": False})
    own = syllabary.train(lines, 270, special_tokens=["<s>"])
    text = "some words " * 1000
    for tok in (model, own):
        for call in (tok.count_until, tok.truncate_text):
            with pytest.raises(TextError, match="at character 11000,"):
                call(text + "\ud800 more", 10**6)
    for side in ("left", "right"):
        with pytest.raises(SpecialTokenError, match=r"'<s>' at character 11000\."):
            own.truncate_text(text + "<s>" + text, 10**6, side=side)  # type: ignore[arg-type]
