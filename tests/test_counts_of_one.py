"""One of a thing is not several: the grammar of messages and of what the prompt shows.

Leaves out: what the errors are about (their own tests).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import syllabary
from syllabary.framing import Padding, Truncation
from syllabary.progress import Progress, told
from syllabary.surgery import remove

TOK = syllabary.train(["low low lower"], num_merges=2)
WORDS = syllabary.train(["low low lower"], num_merges=2, split="whitespace")
ONE = syllabary.IdTokenizer([7, 8], [(0, 1)])


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: syllabary.train([" "], split="whitespace"), "1 byte of text was read and .* found in it$"),
        (
            lambda: syllabary.train([" "], split="whitespace-split", model="unigram"),
            "1 byte of text was read",
        ),
        (lambda: syllabary.train([" "], start=WORDS), "1 byte of text was read"),
        (
            lambda: syllabary.train(["aa"], 1, unit="char", special_tokens=["<a>"]),
            "1 symbol and there is 1 s",
        ),
        (lambda: TOK.encode_full_batch(["a"], ["b", "c"]), "there is 1 text and 2 pairs"),
        (lambda: TOK.encode_full_batch(["a", "b"], ["c"]), "there are 2 texts and 1 pair: "),
        (
            lambda: TOK.encode_full("lowx", truncation=Truncation(1, stride=1)),
            "truncation leaves 1 token of a text",
        ),
        (lambda: remove(TOK, [b"lo"]), r"1 token only comes about .* remove it too"),
    ],
)
def test_errors(call: Callable[[], object], said: str) -> None:
    with pytest.raises((ValueError, syllabary.SyllabaryError), match=said):
        call()


def test_training_that_ends_early() -> None:
    with pytest.warns(syllabary.EarlyStopWarning, match=r"occurs 1 time .* after 0 of 1 merge with"):
        syllabary.train(["a"], num_merges=1, min_frequency=1)


def test_the_prompt() -> None:
    assert repr(ONE) == "<IdTokenizer: 2 symbols, 1 merge>"
    assert repr(TOK.encode_full_batch(["a"])) == "<EncodingBatch: 1 row of 1 token>"
    assert repr(TOK.encode_full_batch(["a", "ab"])) == "<EncodingBatch: 2 rows of 1 to 2 tokens>"
    padding = Padding(length=3, pad_id=0, pad_token="<pad>")
    assert repr(TOK.encode_full_batch(["a"], padding=padding)) == "<EncodingBatch: 1 row of 1 token>"
    word = syllabary.train(["a"], 1, model="wordlevel", special_tokens=[])
    assert "1 token," in repr(word)
    assert told(Progress("merging", 1, 2, 1)).endswith("1 time")
