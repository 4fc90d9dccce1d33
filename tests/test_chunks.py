"""Chunks of a text: none above the limit, cut at good places, in the place that they name."""

from __future__ import annotations

import itertools
import os
import random
from itertools import pairwise

import pytest
import regex
import streamed

import syllabary
from syllabary.errors import TextError, UnknownSymbolError
from syllabary.streaming.chunking import LEVELS
from syllabary.streaming.clusters import APART, FURTHEST, cluster_ends

TEXTS = 60 if os.environ.get("SYLLABARY_PROVE") else 3
PROSE = (
    "Call me Ishmael. Some years ago--never mind how long precisely--having little or no money in my purse. "
    "It was the best of times! It was the worst of times.\n\n"
) * 40


@pytest.mark.parametrize("name", ["gpt2", "o200k", "gpt4, NFC", "none, characters", "words"])
def test_chunks_are_a_text(name: str) -> None:
    tok, chance = streamed.trained()[name], random.Random(name)
    for _ in range(TEXTS):
        text = "".join(streamed.drawn(chance, []) for _ in range(5))
        limit = chance.choice((20, 30, 100))
        overlap = chance.choice((0, 5, 19))
        done = 0
        for chunk in tok.chunks(text, limit, overlap, special="text"):
            assert chunk.text == text[chunk.start : chunk.end]
            assert chunk.text.encode() == text.encode()[chunk.byte_start : chunk.byte_end]
            assert chunk.count == tok.count(chunk.text, "text") <= limit
            assert chunk.start <= done < chunk.end
            assert tok.count(text[chunk.start : done], "text") <= overlap
            done = chunk.end
        assert done == len(text)


def test_without_overlap_nothing_is_lost() -> None:
    tok = streamed.trained()["o200k"]
    chunks = list(tok.chunks(PROSE, 64))
    assert "".join(chunk.text for chunk in chunks) == PROSE
    assert all(left.end == right.start for left, right in pairwise(chunks))
    assert list(tok.chunks("", 5)) == []


@pytest.mark.parametrize(
    "boundaries, ends",
    [
        (tuple(LEVELS), ("\n\n", ". ", "! ")),
        (["sentence"], (". ", "! ", ".\n\n")),
        (["word"], (" ", "\n")),
    ],
)
def test_cuts_are_at_good_places(boundaries: list[str], ends: tuple[str, ...]) -> None:
    tok = streamed.trained()["o200k"]
    for chunk in list(tok.chunks(PROSE, 120, boundaries=boundaries)):
        # A word ends before its space as well as behind it.
        before = "word" in boundaries and PROSE[chunk.end : chunk.end + 1].isspace()
        assert before or chunk.text.endswith(ends)


def test_paragraphs_before_sentences() -> None:
    tok = streamed.trained()["o200k"]
    size = tok.count(PROSE[: PROSE.index("\n\n") + 2])
    chunks = list(tok.chunks(PROSE, size + 5))
    assert all(chunk.text.endswith("\n\n") for chunk in chunks)


def test_an_overlap_begins_with_a_word() -> None:
    tok = streamed.trained()["o200k"]
    chunks = list(tok.chunks(PROSE, 64, 16))
    assert len(chunks) > 10
    for left, right in pairwise(chunks):
        assert left.start < right.start < left.end
        assert PROSE[right.start - 1].isspace()


def test_text_without_spaces() -> None:
    tok = streamed.trained()["gpt2"]
    text = "人人生而自由,在尊严和权利上一律平等。" * 30 + "e\u0301" * 200
    chunks = list(tok.chunks(text, 40))
    assert "".join(chunk.text for chunk in chunks) == text
    assert not any(chunk.text.startswith("\u0301") for chunk in chunks)


@pytest.mark.parametrize("overlap", [0, 5])
@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "e\u0301\u0323", "🇩🇪", "क्षत्रि", "\u1100\u1161\u11a8"])
def test_a_cluster_that_fits_is_not_cut(cluster: str, overlap: int) -> None:
    tok = streamed.trained()["gpt2"]
    text = f"x{cluster}" * 3 + cluster * 60
    ends = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    chunks = list(tok.chunks(text, tok.count(cluster) * 5 // 2, overlap))
    assert len(chunks) > 20
    assert {place for chunk in chunks for place in (chunk.start, chunk.end)} <= ends


@pytest.mark.parametrize(
    "text", ["🇩🇪", "🇩", "가 나", "가", "e\u0301", "क्षत्रि", "\u0600a ", "\r\n", "👨‍👩‍👧", "\u1100"]
)
def test_clusters_of_a_part_are_those_of_the_whole(text: str) -> None:
    text = (text + "x" + text + " " + text) * 40 + text * 301
    ends = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    chance = random.Random(text)
    for _ in range(100):
        low, high = sorted(chance.choices(range(len(text) + 1), k=2))
        assert cluster_ends(text, low, high) == [end for end in ends if low <= end <= high]


def test_a_run_without_ends_is_not_looked_at_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    class Counted:
        def match(self, text: str, at: int) -> object:
            nonlocal asked
            asked += 1
            return APART.match(text, at)

    monkeypatch.setattr("syllabary.streaming.clusters.APART", Counted())
    text = "🇩🇪" * 100_000
    assert cluster_ends(text, 200_000 - 7, 200_000)[-1] == 200_000
    assert asked <= FURTHEST
    asked = 0
    cluster_ends("가 나다 " * 100_000, 200_000, 200_010)
    assert asked < 9


def test_a_character_above_the_limit() -> None:
    tok = streamed.trained()["gpt2"]
    with pytest.raises(ValueError, match=r"max_tokens is 1: the character '𐐀' at 1 alone has \d tokens"):
        list(tok.chunks("a𐐀", 1))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"max_tokens": 0}, "max_tokens is 0: give 1 or more"),
        ({"max_tokens": 4, "overlap": 4}, "overlap is 4: give less than max_tokens, which is 4"),
        ({"max_tokens": 4, "overlap": -1}, "overlap is -1"),
        ({"max_tokens": 4, "boundaries": ["page"]}, "boundaries=.'page'.: give some of paragraph, line"),
        ({"max_tokens": 4, "boundaries": "word"}, "boundaries='word'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        streamed.trained()["gpt2"].chunks("text", **arguments)
    with pytest.raises(TypeError, match="boundaries=None: give a list, of paragraph, line"):
        streamed.trained()["gpt2"].chunks("text", 4, boundaries=None)  # type: ignore[arg-type]


def test_a_word_that_is_known_as_a_whole_alone() -> None:
    texts = ["ab acb"] * 2
    tok = syllabary.train(texts, num_merges=3, unit="char", end_of_word="_", split="whitespace-split")
    for text in ("acb acb ab", "acb acb ab acb ab acb", "ab\n\nacb acb"):
        for limit in range(1, 8):
            found = list(tok.chunks(text, limit))
            assert "".join(chunk.text for chunk in found) == text
            assert all(tok.count(chunk.text) == chunk.count <= limit for chunk in found)
    with pytest.raises(UnknownSymbolError, match=r"from character 8 on, .* not in the alphabet: 'z'"):
        list(tok.chunks("acb acb zab", 2))
    tok = syllabary.train(texts, num_merges=1, unit="char", end_of_word="_", split="whitespace-split")
    with pytest.raises(TextError, match="the word 'acb' at 3 alone has 3 tokens"):
        list(tok.chunks("ab acb", 2))


def test_what_fits_is_one_chunk() -> None:
    whole = 0
    for tok in streamed.trained().values():
        for limit, start in itertools.product((2, 3, 8, 33), range(0, 900, 37)):
            part = tok.truncate_text(PROSE[start : start + 300], limit)
            assert [chunk.text for chunk in tok.chunks(part, limit)] == ([part] if part else [])
            whole += bool(part)
    assert whole > 200


def test_sentences_end_where_they_did_and_rows_of_signs_are_read_once() -> None:
    plain = regex.compile(r"[.!?…\u037e·।॥؟۔։።]+[\"'”’»)\]]*\s+|[。！？｡]+[”’」』）]*")
    sentence, draw, ends = LEVELS["sentence"], random.Random(3), 0
    assert sentence is not None
    for _ in range(20_000):
        text = "".join(draw.choices(".!?\"')] \na。」b…", k=draw.randint(0, 14)))
        low, high = sorted(draw.choices(range(len(text) + 1), k=2))
        found = [match.end() for match in sentence.finditer(text, low, high)]
        assert found == [match.end() for match in plain.finditer(text, low, high)], (text, low, high)
        ends += len(found)
    assert ends > 5_000
    row = "." * 2_000_000  # hours, if it were looked at from each of its signs
    assert sentence.search(row) is None
