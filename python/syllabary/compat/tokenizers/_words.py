"""The words of a training text: how often each occurs after normalizing and cutting.

Adds `Words`: the engine counts, but for texts that components of Python code rewrite or cut, or that hold a
token which was added before: that is a word of its own, as it stands there. Those are counted here. Leaves
out: what is learned of them (`trainers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from syllabary import splits
from syllabary._engine import HuggingFaceTrainer
from syllabary.arguments import thread_count
from syllabary.compat.tokenizers._pipeline import Pipeline
from syllabary.formats.hf_split import cutting_of

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer


class Words:
    """Counts the words of texts for a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, lines: bool, spells: bool) -> None:
        """lines: each line of a text, with its end, is a text of its own. spells: where words are bytes, they
        are counted so, and spelled in GPT-2's characters later (`byte_level`)."""
        self.pipeline = Pipeline(tokenizer)
        parts = [one for one in (tokenizer.normalizer, tokenizer.pre_tokenizer) if one is not None]
        self.is_custom = any(one.is_custom for one in parts)
        self.finds = bool(self.pipeline.plain or self.pipeline.normalized)
        self.counted: Counter[str] = Counter()
        self.rest = ""  # of a text under way, where words are counted here
        components = {}
        if not self.is_custom:
            pairs = {"normalizer": tokenizer.normalizer, "pre_tokenizer": tokenizer.pre_tokenizer}
            components = {name: None if one is None else one.json() for name, one in pairs.items()}
        normalizer, by_characters, by_bytes = cutting_of(components)
        cutting = (by_bytes if spells and not self.finds else None) or by_characters
        self.byte_level = cutting is by_bytes
        split = splits.get(None) if self.is_custom else cutting.split
        self.engine = HuggingFaceTrainer(normalizer, cutting.steps, split, lines, thread_count(None))

    def feed(self, texts: Iterable[str]) -> None:
        """Count whole texts."""
        self.engine.feed(self._others(texts) if self.is_custom or self.finds else texts)

    def feed_part(self, part: str, last: bool) -> None:
        """Count the next part of a text."""
        if not (self.is_custom or self.finds):
            self.engine.feed_part(part, last)
            return
        *lines, self.rest = (self.rest + part).split("\n")
        texts = [f"{line}\n" for line in lines]
        if last and self.rest:
            texts.append(self.rest)
            self.rest = ""
        self.feed(texts)

    def _others(self, texts: Iterable[str]) -> Iterator[str]:
        """The texts that the engine is to count; the words of others are counted."""
        for text in texts:
            if self.is_custom or self._holds(text):
                self.counted.update(part.normalized for part, _tokens in self.pipeline.words(text)._parts)
            else:
                yield text

    def _holds(self, text: str) -> bool:
        """Whether an added token may be found in a text."""
        normalizer, normalized = self.pipeline.normalizer, self.pipeline.normalized
        if any(name in text for name in self.pipeline.plain):
            return True
        made = normalizer.normalize_str(text) if normalized and normalizer is not None else text
        return any(name in made for name in normalized)

    def finish(self) -> HuggingFaceTrainer:
        """All words counted, in the engine."""
        if self.counted:
            words = [word.encode() for word in self.counted]
            data = np.frombuffer(b"".join(words), np.uint8)
            ends = np.cumsum([len(word) for word in words], dtype=np.uint64)
            self.engine.feed_counts(data, ends, np.array(list(self.counted.values()), np.uint64))
        self.engine.finish()
        return self.engine
