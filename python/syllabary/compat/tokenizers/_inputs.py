"""What may be given to `encode` and `encode_batch`: texts, words, pairs of them; lists, tuples, numpy arrays.

Adds the checks, with the words of tokenizers 0.23.3. Leaves out: encoding (`_tokenizer`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Text = str | list[str]
Input = tuple[Text, "Text | None"]
TEXT = "TextInputSequence must be str"
WORDS = "PreTokenizedInputSequence must be Union[List[str], Tuple[str]]"
TEXTS = "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
WORD_LISTS = (
    "PreTokenizedEncodeInput must be Union[PreTokenizedInputSequence, "
    "Tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]]"
)


def read_text(given: Any) -> str:
    """A text that can be UTF-8; `TypeError`."""
    if not isinstance(given, str):
        raise TypeError(TEXT)
    if not given.isascii():
        try:
            given.encode("utf-8")
        except UnicodeEncodeError as error:
            raise TypeError(f"{TEXT}: lone surrogate at character {error.start}") from error
    return given if type(given) is str else str(given)


def read_words(given: Any) -> list[str]:
    """A text as its words; `TypeError`."""
    if not isinstance(given, (list, tuple)) and not (isinstance(given, np.ndarray) and given.ndim == 1):
        raise TypeError(WORDS)
    words = list(given)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(WORDS)
    return [read_text(word) for word in words]


def read_sequence(given: Any, words: bool) -> Text:
    """A text, or its words."""
    return read_words(given) if words else read_text(given)


def read_inputs(given: Any, words: bool) -> list[Input]:
    """What `encode_batch` takes: texts and pairs of texts."""
    if isinstance(given, str):
        raise TypeError("Can't extract `str` to `Vec`")
    listed = hasattr(given, "__len__") and hasattr(given, "__getitem__") and not isinstance(given, Mapping)
    if not isinstance(given, (list, tuple, np.ndarray)) and not listed:
        raise TypeError(f"'{type(given).__name__}' object is not an instance of 'Sequence'")
    return [_read_input(one, words) for one in given]


def _read_input(given: Any, words: bool) -> Input:
    if type(given) is str and not words:
        return read_text(given), None
    try:
        return read_sequence(given, words), None
    except TypeError:
        if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != 2:
            raise TypeError(WORD_LISTS if words else TEXTS) from None
    return read_sequence(given[0], words), read_sequence(given[1], words)
