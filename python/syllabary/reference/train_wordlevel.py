"""Training WordLevel: the most frequent words, as Hugging Face's `WordLevelTrainer` 0.23.3 takes them.

    ids: special tokens as they are given, then words, the most frequent first, equal ones by their characters

Adds `vocabulary`, and its one oddity. Leaves out: how words are read (`train_huggingface.read_words`),
encoding (`wordlevel`).
Source: tokenizers 0.23.3, `models/wordlevel/trainer.rs`; nothing in it depends on the order of a hash table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def vocabulary(
    words: Iterable[tuple[str, int]],
    *,
    vocab_size: int,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
) -> dict[str, int]:
    """Text -> id of distinct words with their counts; `vocab_size` counts special tokens too.

    A special token that is a word as well comes twice in their list, and keeps the second of its places: so
    its first id is nobody's.

    >>> vocabulary([("a", 2), ("b", 3), ("c", 1)], vocab_size=4, min_frequency=2, special_tokens=["?"])
    {'?': 0, 'b': 1, 'a': 2}
    >>> vocabulary([("a", 2), ("b", 3)], vocab_size=9, special_tokens=["a"])
    {'a': 2, 'b': 1}
    """
    ordered = sorted(words, key=lambda item: (-item[1], item[0]))
    often = [word for word, count in ordered if count >= min_frequency]
    return {text: number for number, text in enumerate([*special_tokens, *often][:vocab_size])}
