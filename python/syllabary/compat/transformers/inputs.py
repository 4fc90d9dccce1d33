"""Which texts a call means: one or a batch, pairs, lists of words.

Source of the rules: transformers 5.23, `tokenization_utils_tokenizers.py`, and what its backend takes for a
pair. Leaves out: encoding them (`encode`).
"""

from __future__ import annotations

from typing import Any

from syllabary.compat.transformers.asked import Texts
from syllabary.reference.symbols import plural

MANY = (list, tuple)
WRONG = (
    "give a text, a list of texts, or a list of pairs of texts; with is_split_into_words=True a list of "
    "words, a list of such lists, or a list of pairs of them"
)


def read(text: Any, pair: Any, words: bool) -> Texts:
    """The texts; `ValueError` or `TypeError` for anything else, as `transformers` has it."""
    if isinstance(text, str) and pair is None and not words:
        return Texts([text], None, False)
    for name, one in (("text", text), ("text_pair", pair)):
        if one is not None and not isinstance(one, (str, *MANY)):
            raise ValueError(f"{name} is {type(one).__name__}: {WRONG}")
    batched = isinstance(text, MANY) and (not words or bool(text and isinstance(text[0], MANY)))
    if not batched:
        second = [pair] if pair else None  # an empty pair is none, as there
        return Texts([_one(text, words, "text")], second, False)
    if isinstance(pair, str):
        raise TypeError("text is a batch and text_pair a str: give as many pairs as texts")
    if pair is not None and len(text) != len(pair):
        raise ValueError(f"{plural(len(text), 'text')} and {len(pair)} of text_pair: give as many of both")
    if pair is not None:
        return Texts(
            [_one(one, words, "text") for one in text], [_one(one, words, "pair") for one in pair], True
        )
    return _unpaired(list(text), words)


def _unpaired(items: list[Any], words: bool) -> Texts:
    """A batch of texts, or of pairs: an item of two texts is a pair."""
    pairs = [_is_pair(item, words) for item in items]
    if not any(pairs):
        return Texts([_one(item, words, "text") for item in items], None, True)
    first = [item[0] if paired else item for item, paired in zip(items, pairs, strict=True)]
    second = [item[1] if paired else None for item, paired in zip(items, pairs, strict=True)]
    return Texts([_one(one, words, "text") for one in first], second, True)


def _is_pair(item: Any, words: bool) -> bool:
    if not isinstance(item, MANY) or len(item) != 2:
        return False
    return isinstance(item[0], MANY) if words else True


def _one(item: Any, words: bool, name: str) -> Any:
    """A text, or a list of words."""
    if words and isinstance(item, MANY) and all(isinstance(word, str) for word in item):
        return list(item)
    if not words and isinstance(item, str):
        return item
    raise ValueError(f"a {name} of the batch is {type(item).__name__}: {WRONG}")
