"""`encode`, `encode_array` and `count`, which are the engine's for a usual call and Python's for a rare one.

Leaves out what the ids are (`test_engine`, `test_reference_tokenizer`).
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary.reference import ReferenceTokenizer

TEXT = "low lower <|end|> lowest <|pad|> slow"


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    """One with two special tokens."""
    special = ["<|end|>", "<|pad|>"]
    return syllabary.train(["low lower lowest slow"] * 3, vocab_size=266, special_tokens=special)


def _all(tok: syllabary.Tokenizer, text: str, *given: Any, **named: Any) -> tuple[list[int], list[int], int]:
    return (
        tok.encode(text, *given, **named),
        tok.encode_array(text, *given, **named).tolist(),
        tok.count(text, *given, **named),
    )


@pytest.mark.parametrize("special", ["allow", "text", {"<|end|>", "<|pad|>"}])
def test_words_by_any_spelling_and_place(tok: syllabary.Tokenizer, special: Any) -> None:
    expected = list(ReferenceTokenizer(tok.spec).encode(TEXT, special))
    # A string that is equal to the usual word, and another object.
    spelled = "".join(list(special)) if isinstance(special, str) else frozenset(special)
    assert spelled is not special
    for ids, array, count in [
        _all(tok, TEXT, special),
        _all(tok, TEXT, spelled),
        _all(tok, TEXT, special=special),
        _all(tok, text=TEXT, special=spelled),
    ]:
        assert ids == array == expected
        assert count == len(expected)
    assert tok.encode_array(TEXT, special).dtype == np.uint32


@pytest.mark.parametrize("call", ["encode", "encode_array", "count"])
def test_wrong_arguments_are_told_of_by_the_name_of_the_class(tok: syllabary.Tokenizer, call: str) -> None:
    run: Callable[..., Any] = getattr(tok, call)
    with pytest.raises(TypeError, match=rf"^Tokenizer\.{call}\(\) .*'specal'"):
        run(TEXT, specal="allow")
    with pytest.raises(TypeError, match=rf"^Tokenizer\.{call}\(\) "):
        run()


@pytest.mark.parametrize("call", ["encode", "encode_array", "count"])
def test_errors_are_the_same(tok: syllabary.Tokenizer, call: str) -> None:
    run: Callable[..., Any] = getattr(tok, call)
    for special in ["raise", "".join(list("raise")), {"<|pad|>"}]:
        with pytest.raises(syllabary.SpecialTokenError, match=r"<\|end\|>"):
            run(TEXT, special)
    with pytest.raises(syllabary.SpecialTokenError):
        run(TEXT)
    for wrong in [None, 3, b"allow", "sometimes"]:
        with pytest.raises((TypeError, ValueError)):
            run("low", wrong)
    with pytest.raises(TypeError, match="bytes"):
        run(b"low")
    with pytest.raises(syllabary.TextError, match="surrogate"):
        run("low \ud800")
    with pytest.raises(TypeError):
        run()
    with pytest.raises(TypeError):
        run("low", whatever=1)


def test_dropout_of_a_call_and_of_a_tokenizer(tok: syllabary.Tokenizer) -> None:
    single = [tok.token_to_id(bytes([byte])) for byte in b"lowest"]
    assert tok.encode("lowest", dropout=1.0, seed=3) == single
    assert tok.encode_array("lowest", "raise", 1.0, 3).tolist() == single
    assert tok.encode("lowest", dropout=0.0) == tok.encode("lowest", seed=5) == tok.encode("lowest") != single
    dropping = syllabary.Tokenizer(replace(tok.spec, dropout=1.0))
    assert dropping.encode("lowest") == dropping.encode_array("lowest").tolist() == single
    assert dropping.encode("lowest", dropout=0.0) == tok.encode("lowest")
    # Counts are without.
    assert dropping.count("lowest") == tok.count("lowest")


class Shouting(syllabary.Tokenizer):
    """A child class with an own `encode`."""

    def encode(self, text: str, *given: Any, **named: Any) -> list[int]:
        """The ids of what is said louder."""
        return super().encode(text.upper(), *given, **named)


def test_a_child_class_has_its_own(tok: syllabary.Tokenizer) -> None:
    child = Shouting(tok.spec)
    for one in (child, pickle.loads(pickle.dumps(child))):
        assert one.encode("low") == tok.encode("LOW")
        assert one.encode("low<|end|>", "text") == tok.encode("LOW<|END|>")
        assert one.encode_array("low").tolist() == tok.encode("low")
        assert one.tokens("low") == tok.tokens("LOW")


def test_it_is_made_once(tok: syllabary.Tokenizer) -> None:
    with pytest.raises(TypeError, match="immutable"):
        tok.__init__(tok.spec)  # type: ignore[misc]
    unmade = syllabary.Tokenizer.__new__(syllabary.Tokenizer)
    with pytest.raises(AttributeError, match="_engine"):
        unmade.encode("low")


@pytest.mark.parametrize("call", ["encode", "encode_array", "count"])
def test_help_says_what_there_is(call: str) -> None:
    method = getattr(syllabary.Tokenizer, call)
    given = inspect.signature(method).parameters
    assert list(given)[:3] == ["self", "text", "special"]
    assert given["special"].default == "raise"
    assert "ids of `text`" in method.__doc__
