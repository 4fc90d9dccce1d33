"""Training: the methods of `Tokenizer` that learn a model.

Adds the ways of text to a trainer: files, line by line, and iterators of texts or of lists of them. Leaves
out: what is learned (`trainers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from syllabary.compat.tokenizers._values import listed, text
from syllabary.compat.tokenizers._words import Words

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer

PART = 1 << 20  # characters of a file at a time


class Training:
    """The part of `Tokenizer` that trains."""

    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Learn from files, each line with its end a text; `OSError`, `UnicodeDecodeError`."""
        paths = [Path(text(path)) for path in listed(files)]
        self._train(trainer, lambda words: _feed_files(words, paths), lines=True)

    def train_from_iterator(self, iterator: Any, trainer: Any = None, length: int | None = None) -> None:
        """Learn from texts, or lists of texts. length: how many there are; here it says nothing."""
        self._train(trainer, lambda words: words.feed(_texts(iterator)), lines=False)

    def _train(self, trainer: Any, feed: Any, lines: bool) -> None:
        from syllabary.compat.tokenizers.trainers import Trainer

        me = cast("Tokenizer", self)
        chosen = me.model.get_trainer() if trainer is None else trainer
        if not isinstance(chosen, Trainer):
            raise TypeError(f"'{type(chosen).__name__}' object is not an instance of 'Trainer'")
        chosen._check_model(me.model)
        words = Words(me, lines, chosen.spells)
        feed(words)
        chosen._learn(words, me.model)
        me.add_special_tokens([token._copy() for token in chosen.special_tokens])


def _feed_files(words: Words, paths: Iterable[Path]) -> None:
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            while text := file.read(PART):
                words.feed_part(text, last=False)
        words.feed_part("", last=True)


def _texts(iterator: Iterable[Any]) -> Iterator[str]:
    for one in iterator:
        if isinstance(one, str):
            yield str(one)
        else:
            for text in one:
                if not isinstance(text, str):
                    raise TypeError(f"'{type(text).__name__}' object is not an instance of 'str'")
                yield str(text)
