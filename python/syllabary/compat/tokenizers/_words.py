"""The words of a training text: how often each occurs after normalizing and cutting.

Adds `Words`: the engine counts, unless a component is Python code; then words are counted here. Leaves out:
what is learned of them (`trainers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from syllabary import splits
from syllabary._engine import HuggingFaceTrainer
from syllabary.arguments import thread_count
from syllabary.compat.tokenizers._pretokenized import PreTokenizedString
from syllabary.formats.hf_split import cutting_of

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer


class Words:
    """Counts the words of texts for a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, lines: bool, spells: bool) -> None:
        """lines: each line of a text, with its end, is a text of its own. spells: where words are bytes, they
        are counted so, and spelled in GPT-2's characters later (`byte_level`)."""
        self.normalizer, self.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
        self.lines = lines
        parts = [one for one in (self.normalizer, self.pre_tokenizer) if one is not None]
        self.counted: Counter[str] | None = Counter() if any(one.is_custom for one in parts) else None
        self.rest = ""  # of a text under way, where words are counted here
        components = {}
        if self.counted is None:
            components = {
                "normalizer": None if self.normalizer is None else self.normalizer.json(),
                "pre_tokenizer": None if self.pre_tokenizer is None else self.pre_tokenizer.json(),
            }
        normalizer, by_characters, by_bytes = cutting_of(components)
        cutting = (by_bytes if spells else None) or by_characters
        self.byte_level = cutting is by_bytes
        split = cutting.split if self.counted is None else splits.get(None)
        self.engine = HuggingFaceTrainer(normalizer, cutting.steps, split, lines, thread_count(None))

    def feed(self, texts: Iterable[str]) -> None:
        """Count whole texts."""
        if self.counted is None:
            self.engine.feed(texts)
        else:
            for text in texts:
                self._count(text)

    def feed_part(self, part: str, last: bool) -> None:
        """Count the next part of a text."""
        if self.counted is None:
            self.engine.feed_part(part, last)
            return
        *lines, self.rest = (self.rest + part).split("\n")
        for line in lines:
            self._count(line + "\n")
        if last and self.rest:
            self._count(self.rest)
            self.rest = ""

    def finish(self) -> HuggingFaceTrainer:
        """All words counted, in the engine."""
        if self.counted:
            words = [word.encode() for word in self.counted]
            data = np.frombuffer(b"".join(words), np.uint8)
            ends = np.cumsum([len(word) for word in words], dtype=np.uint64)
            self.engine.feed_counts(data, ends, np.array(list(self.counted.values()), np.uint64))
        self.engine.finish()
        return self.engine

    def _count(self, text: str) -> None:
        pretok = PreTokenizedString(text)
        if self.normalizer is not None:
            self.normalizer.normalize(pretok._parts[0][0])
        if self.pre_tokenizer is not None:
            self.pre_tokenizer.pre_tokenize(pretok)
        assert self.counted is not None
        self.counted.update(part.normalized for part, _tokens in pretok._parts)
