"""The engine reads strings where they lie, of each width or a class of their own, and keeps nothing of them.

Leaves out lone surrogates (`test_bad_input`).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import pytest

import syllabary
from syllabary.reference.tokenizer import ReferenceTokenizer

TOK = syllabary.train(["low lower ἀρχή ἀρχῆς 字字典 café 😀😀"], vocab_size=268)
PARTS = ["low lower ", "café ÿ ", "ἀρχῆς ", "字字典ab", "😀 low 字", "\x00\x7f\x80߿ࠀ￿\U00010000\U0010ffff"]
# Of every width, shorter and longer than what is read at a time.
TEXTS = [part * times for part in PARTS for times in (1, 2, 5, 40)] + ["".join(PARTS), "a" * 33 + "ä", "Ω"]
ONE: list[Callable[[str], Any]] = [
    TOK.encode,
    lambda text: TOK.encode_array(text).tolist(),
    lambda text: TOK.encode_batch([text])[0],
    lambda text: TOK.encode_batch_array([text]).ids.tolist(),
    lambda text: list(TOK.encode_full(text).ids),
]


class Own(str):
    """A `str` of a class of its own."""

    __slots__ = ()


def fresh(text: str) -> str:
    """An equal string that nobody has asked for its UTF-8."""
    return "".join(list(text))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_width_gives_the_ids_of_the_specification(text: str) -> None:
    ids = ReferenceTokenizer(TOK.spec).encode(text)
    asked = fresh(text)
    ctypes.pythonapi.PyUnicode_AsUTF8AndSize(ctypes.py_object(asked), None)
    for encode in ONE:
        assert encode(fresh(text)) == encode(asked) == encode(Own(text)) == ids
    assert TOK.count(fresh(text)) == TOK.count_batch([fresh(text)])[0] == len(ids)
    assert TOK.decode(ids) == text


def test_widths_in_one_batch() -> None:
    alone = [TOK.encode(text) for text in TEXTS]
    for threads in (1, 2, 7):
        assert TOK.encode_batch([*map(fresh, TEXTS)], threads=threads) == alone
        assert [
            ids.tolist() for ids in TOK.encode_batch_array([*map(fresh, TEXTS)], threads=threads)
        ] == alone
        assert TOK.count_batch([*map(fresh, TEXTS)], threads=threads).tolist() == [*map(len, alone)]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="of CPython's strings")
def test_strings_keep_no_second_form() -> None:
    """What CPython keeps of a string once it was asked for UTF-8 counts in its size."""
    text = fresh("ἀρχῆς " * 100)
    before = sys.getsizeof(text)
    for encode in [*ONE, TOK.count, lambda text: TOK.count_batch([text])]:
        encode(text)
    assert sys.getsizeof(text) == before


TRAINED_ON = ["low lower ἀρχή ἀρχῆς 字字典 café 😀😀"]
MARKED = syllabary.train(TRAINED_ON, vocab_size=268, special_tokens=["<|a|>", "ς."])


@pytest.mark.parametrize("odd", ["ÿ", "ω", "😀"])
def test_long_text_is_made_utf8_part_by_part(odd: str) -> None:
    """Beside the same string after its UTF-8 was asked for, which is encoded as a whole."""
    end = "x." if odd == "ÿ" else f"ἀρχή{odd}ς."
    part = f"low {odd}lower<|a|>\n{odd * 40} café. {end}"
    text = "".join(part + "\n" * (at % 5) + odd * (at % 7) for at in range(1 + 1_300_000 // len(part)))
    asked = fresh(text)
    ctypes.pythonapi.PyUnicode_AsUTF8AndSize(ctypes.py_object(asked), None)
    for special in ("allow", "text"):
        ids = MARKED.encode_array(asked, special=special)
        assert (MARKED.encode_array(fresh(text), special=special) == ids).all()
        assert MARKED.encode(fresh(text), special=special) == ids.tolist()
        assert MARKED.count(fresh(text), special=special) == len(ids)
        batch = MARKED.encode_batch_array(["a ω", fresh(text), "", fresh(text)], special=special)
        assert (batch[1] == ids).all()
        assert (batch[3] == ids).all()
        assert MARKED.count_batch([fresh(text), "b"], special=special)[0] == len(ids)
    assert MARKED.decode(ids) == text
    told = []
    for one in (asked, fresh(text)):
        with pytest.raises(syllabary.SpecialTokenError) as caught:
            MARKED.encode(one)
        told.append(str(caught.value))
    assert told[0] == told[1]
    with pytest.raises(ValueError, match=str(len(text))):
        MARKED.encode(text + "\ud800 ", special="text")
