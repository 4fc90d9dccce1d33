"""The methods of `Tokenizer` for text that comes in parts, grows, or is longer than what reads its tokens.

Adds `TextMethods`, of which `Tokenizer` is a child. Leaves out: how it is done (`streaming`, `fitting`,
`chunking`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from syllabary import streaming
from syllabary.arguments import integer
from syllabary.reference.cuts import Cuts
from syllabary.spec import TokenizerSpec
from syllabary.streaming import Appender, IncrementalEncoder, Part

if TYPE_CHECKING:
    from syllabary._engine import Tokenizer as Engine

Special = Literal["raise", "allow", "text"] | Collection[str]


class TextMethods:
    """What `Tokenizer` does with text in parts; without dropout, as its counts."""

    _spec: TokenizerSpec
    _engine: Engine
    _policy: Callable[[Special], Any]

    def encoder(self, special: Special = "raise") -> IncrementalEncoder:
        """An encoder that takes a text part by part and gives each id as soon as it is final.

        `.push(text)` gives ids that no text to come can change, `.flush()` the rest; joined they are those of
        the whole text. A part is `str`, or UTF-8 as `bytes`, cut anywhere.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
        >>> encoder = tok.encoder()
        >>> [[tok.vocab[i] for i in encoder.push(part)] for part in ("lowe", "st lo", "w")]
        [[], [b'low', b'e', b'st'], []]
        >>> [tok.vocab[i] for i in encoder.flush()]
        [b' low']
        """
        policy = self._policy(special)
        return IncrementalEncoder(self._cuts(special), lambda text: self._engine.encode(text, policy))

    def encode_stream(
        self, chunks: Iterable[Part], special: Special = "raise"
    ) -> Iterator[NDArray[np.uint32]]:
        """The ids of a text whose parts come from an iterable: a socket, a pipe, a file of any size.

        chunks: parts of one text, `str` or UTF-8 as `bytes`, cut anywhere; an open file gives its lines.
        Gives arrays, which joined are the ids of the whole text; each comes as soon as its ids are final.
        Raises what `encode` does, and `TextError` for what is no UTF-8, with its byte.
        """
        return streaming.encode_stream(self.encoder(special), streaming.parts(chunks))

    def appender(self, special: Special = "raise") -> Appender:
        """A text to which one appends, with the count of its tokens at every step: `.append(text) -> int`.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
        >>> text = tok.appender()
        >>> [text.append(part) for part in ("lo", "w", " lowest")]
        [1, 1, 4]
        """
        return Appender(self._cuts(special), self._counter(special))

    def count_until(self, text: str, limit: int, special: Special = "raise") -> int | None:
        """The number of ids of `text`, or `None` if it is above `limit`: then most of it is never read."""
        most = integer("limit", limit)
        if most < 0:
            raise ValueError(f"limit is {most}: give 0 or more")
        return streaming.count_until(self._cuts(special), self._counter(special), text, most)

    # ---- inside ----

    def _counter(self, special: Special) -> Callable[[str], int]:
        """What counts the ids of a text."""
        policy = self._policy(special)
        return lambda text: self._engine.count(text, policy)

    def _cuts(self, special: Special) -> Cuts:
        """Where text can be cut."""
        return self._cuts_of["text" if special == "text" else "raise"]

    @cached_property
    def _cuts_of(self) -> dict[str, Cuts]:
        return {"raise": Cuts(self._spec), "text": Cuts(self._spec, finds_special=False)}
