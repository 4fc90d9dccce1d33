"""Words -> segments by the engine: what `encode` does without dropout, for codes that the engine can run.

Characters that the codes do not know pass through: for the engine they are one placeholder, and the segments
are cut out of the word itself. Version 0.1, whose mark is a symbol of its own, runs on words with one more
character in its place; byte mode on the bytes read as Latin-1. Leaves out: dropout, the vocabulary filter,
glossaries (`apply_bpe`), and codes whose merges make again what earlier ones use: those it refuses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from syllabary.formats.subword_nmt_codes import MARK, build, remade
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

Pair = tuple[str, str]


class Segmenter:
    """Codes of one file, ready to cut words."""

    def __init__(self, pairs: Sequence[Pair], apart: bool) -> None:
        """apart: version 0.1. Raises `ValueError` for codes that the engine would run otherwise."""
        known = {character for pair in pairs for part in pair for character in part}
        self.known = known.union(MARK)
        self.placeholder, end = _unused(self.known, 2)
        self.end = end if apart else ""
        self.apart = apart
        spec = _spec_apart(pairs, self.known, end) if apart else _spec(pairs, self.known, self.placeholder)
        if remade(spec) is not None:
            raise ValueError("a merge makes what an earlier one uses")
        self.tokenizer = Tokenizer(spec)
        self.texts = {token_id: token.decode() for token_id, token in spec.tokens.items()}

    def segments(self, word: str) -> tuple[str, ...]:
        """The segments of a word, without marks."""
        if not self.known.issuperset(word):
            known = "".join(character if character in self.known else self.placeholder for character in word)
            spans = self.tokenizer.offsets(known + self.end).tolist()
            return tuple(part for start, end in spans if (part := word[start:end]))
        parts = [self.texts[token_id] for token_id in self.tokenizer.encode(word + self.end)]
        parts[-1] = parts[-1].removesuffix(self.end or MARK)
        return tuple(parts if parts[-1] else parts[:-1])


def _unused(known: Collection[str], count: int) -> list[str]:
    """Characters for private use that the codes do not know."""
    free = (chr(code) for code in range(0xF0000, 0xFFFFE) if chr(code) not in known)
    return [next(free) for _one in range(count)]


def _spec(pairs: Sequence[Pair], known: Iterable[str], placeholder: str) -> TokenizerSpec:
    """Version 0.2: every character, within a word and at its end."""
    encoded = [(left.encode(), right.encode()) for left, right in pairs]
    more = [
        symbol.encode() for character in (*known, placeholder) for symbol in (character, character + MARK)
    ]
    return dataclasses.replace(build(encoded, "0.2", more=more), split=SplitSpec(None))


def _spec_apart(pairs: Sequence[Pair], known: set[str], end: str) -> TokenizerSpec:
    """Version 0.1: the mark is one character, so that it is a symbol of its own."""
    spelled = [(_with_end(left, end), _with_end(right, end)) for left, right in pairs]
    if any(MARK in left + right for left, right in spelled):
        raise ValueError("merges that spell out the mark")
    encoded = [(left.encode(), right.encode()) for left, right in spelled]
    placeholder = _unused(known, 1)[0]
    more = [character.encode() for character in (*known, placeholder, end)]
    spec = build(encoded, "0.2", more=more)
    return dataclasses.replace(spec, split=SplitSpec(None), end_of_word=None)


def _with_end(part: str, end: str) -> str:
    return part.removesuffix(MARK) + end if part.endswith(MARK) else part
