"""The methods of `Tokenizer` for text that comes in parts, grows, is too long, or is normalized alone.

Adds `TextMethods`, of which `Tokenizer` is a child. Leaves out: how it is done (`streaming`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from syllabary.arguments import integer
from syllabary.cached import cached_property
from syllabary.errors import SyllabaryError
from syllabary.on_demand import later
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary._engine import Tokenizer as Engine
    from syllabary.reference import ReferenceTokenizer
    from syllabary.reference import cuts as all_cuts
    from syllabary.streaming import chunking, fitting, incremental
else:
    later(
        globals(),
        chunking="syllabary.streaming.chunking",
        all_cuts="syllabary.reference.cuts",
        fitting="syllabary.streaming.fitting",
        incremental="syllabary.streaming.incremental",
    )

Special = Literal["raise", "allow", "text"] | Collection[str]
Result = TypeVar("Result")


class TextMethods:
    """What `Tokenizer` does with text in parts; without dropout, as its counts."""

    _spec: TokenizerSpec
    _engine: Engine
    _policy: Callable[[Special], Any]
    _reference: ReferenceTokenizer

    def encoder(self, special: Special = "raise") -> incremental.IncrementalEncoder:
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
        policy, cuts = self._policy(special), self._cuts(special)
        encode = incremental.behind_guard(lambda text: self._engine.encode(text, policy))
        if cuts.carries:
            encode = self._behind(special, lambda ids: ids.tolist())
        found = incremental.IncrementalEncoder(cuts, encode)
        found.made_by = partial(self.encoder, _kept(special))
        return found

    def encode_stream(
        self, chunks: Iterable[incremental.Part], special: Special = "raise"
    ) -> Iterator[NDArray[np.uint32]]:
        """The ids of a text whose parts come from an iterable: a socket, a pipe, a file of any size.

        chunks: parts of one text, `str` or UTF-8 as `bytes`, cut anywhere; an open file gives its lines.
        Gives arrays, which joined are the ids of the whole text; each comes as soon as its ids are final.
        Raises what `encode` does, and `TextError` for what is no UTF-8, with its byte.
        """
        policy, cuts = self._policy(special), self._cuts(special)
        encode = incremental.behind_guard(lambda text: self._engine.encode_array(text, policy))
        if cuts.carries:
            encode = self._behind(special, lambda ids: ids)
        return incremental.encode_stream(cuts, encode, incremental.parts(chunks))

    def appender(self, special: Special = "raise") -> incremental.Appender:
        """A text to which one appends, with the count of its tokens at every step: `.append(text) -> int`.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
        >>> text = tok.appender()
        >>> [text.append(part) for part in ("lo", "w", " lowest")]
        [1, 1, 3]
        """
        found = incremental.Appender(self._cuts(special), self._counting(special))
        found.made_by = partial(self.appender, _kept(special))
        return found

    def normalize(self, text: str, special: Special = "raise") -> str:
        """The text as the normalizer leaves it, before it is cut into pieces: what the model sees.

        Special and added tokens stay as they were found. Without a normalizer it is the text itself. Step by
        step in Python: a second for a megabyte.
        Raises `TextError` for a lone surrogate, `SpecialTokenError` as `special` says.

        >>> import syllabary
        >>> syllabary.train(["to be or not to be"] * 3, num_merges=9, normalize="NFKC").normalize("ﬁne")
        'fine'
        """
        self._policy(special)  # raises for what is none
        _text(text)
        return self._reference.normalize(text, _kept(special))

    def count_until(self, text: str, limit: int, special: Special = "raise") -> int | None:
        """The number of ids of `text`, or `None` if it is above `limit`: then most of it is never read."""
        most, count = at_least("limit", limit, 0), self._counting(special)
        cuts, whole = self._cuts(special), self._counter(special)
        return _placed(text, whole, lambda: incremental.count_until(cuts, count, text, most))

    def truncate_text(
        self,
        text: str,
        max_tokens: int,
        side: Literal["left", "right"] = "right",
        unit: Literal["char", "grapheme"] = "char",
        special: Special = "raise",
    ) -> str:
        """The longest beginning of `text` that has at most `max_tokens` ids when it is encoded itself.

        side: where text is cut away; `"left"` keeps the longest end.
        unit: between which the cut is: characters (code points), or grapheme clusters, so that no letter
            loses its marks.

        Where more than 1024 characters stand in a row that cannot be cut for certain (one endless word), the
        result still has at most `max_tokens`, and one character more would have too many; a longer one might
        fit again. `truncate` is another thing: a smaller vocabulary.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
        >>> tok.truncate_text("lower lowest", 3), tok.truncate_text("lower lowest", 3, side="left")
        ('lower', 'r lowest')
        """
        if side not in ("left", "right"):
            raise ValueError(f'side={side!r}: text is cut away on the "left" or on the "right"')
        if unit not in ("char", "grapheme"):
            raise ValueError(f'unit={unit!r}: text is cut between "char" or "grapheme"')
        most, count = at_least("max_tokens", max_tokens, 0), self._counter(special)
        counts = (count, self._counting(special))
        return _placed(
            text, count, lambda: fitting.fitting(self._cuts(special), counts, text, most, side, unit)
        )

    def chunks(
        self,
        text: str,
        max_tokens: int,
        overlap: int = 0,
        boundaries: Collection[str] = ("paragraph", "line", "sentence", "word", "character"),
        special: Special = "raise",
    ) -> Iterator[chunking.Chunk]:
        """`text` in chunks of at most `max_tokens` ids each, cut at good places.

        overlap: so many ids at the end of a chunk, at most, stand at the beginning of the next one too.
        boundaries: the places to cut at, of `"paragraph"`, `"line"`, `"sentence"`, `"word"`, `"character"`:
            the best kind that is in the second half of what fits, and there the last. Where none of them is,
            the cut is between any two characters.

        Without overlap, the chunks' texts joined are `text`. `Chunk.count` is that of the chunk encoded
        itself. `TextError` where one character alone has more than `max_tokens`.

        >>> import syllabary
        >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
        >>> [(chunk.text, chunk.count, chunk.start) for chunk in tok.chunks("low. lower! lowest", 4)]
        [('low. lower!', 4, 0), (' lowest', 2, 11)]
        """
        most, shared = at_least("max_tokens", max_tokens, 1), at_least("overlap", overlap, 0)
        if shared >= most:
            raise ValueError(f"overlap is {shared}: give less than max_tokens, which is {most}")
        if not isinstance(boundaries, Collection):
            raise TypeError(f"boundaries={boundaries!r}: give a list, of {', '.join(chunking.LEVELS)}")
        unknown = [name for name in boundaries if name not in list(chunking.LEVELS)]
        if isinstance(boundaries, str) or unknown:
            raise ValueError(f"boundaries={boundaries!r}: give some of {', '.join(chunking.LEVELS)}")
        _text(text)
        return chunking.Chunker(self._counter(special), text, most, shared, boundaries).chunks()

    # ---- inside ----

    def _counter(self, special: Special) -> Callable[[str], int]:
        """What counts the ids of a text."""
        policy = self._policy(special)
        return lambda text: self._engine.count(text, policy)

    def _counting(self, special: Special) -> incremental.Onwards[int]:
        """What counts the ids of a part of a text."""
        carries, count = self._cuts(special).carries, self._counter(special)
        return self._behind(special, len) if carries else incremental.counted(count)

    def _behind(
        self, special: Special, made: Callable[[NDArray[np.uint32]], Result]
    ) -> incremental.Onwards[Result]:
        """What encodes a part of a text behind all that stands before, and makes something of the ids."""
        policy = self._policy(special)
        encode = self._engine.encode_behind
        return incremental.behind_score(lambda text, guard, score: encode(text, guard, score, policy), made)

    def _cuts(self, special: Special) -> all_cuts.Cuts:
        """Where text can be cut."""
        return self._cuts_of["text" if special == "text" else "raise"]

    @cached_property
    def _cuts_of(self) -> dict[str, all_cuts.Cuts]:
        return {"raise": all_cuts.Cuts(self._spec), "text": all_cuts.Cuts(self._spec, finds_special=False)}


def _kept(special: Special) -> Special:
    """The policy, which a change to a list of the caller's no longer changes."""
    return special if isinstance(special, str) else frozenset(special)


def _text(text: object) -> None:
    """Raise `TypeError` for what is no text."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")


def _placed(text: str, count: Callable[[str], int], run: Callable[[], Result]) -> Result:
    """What `run` finds by reading parts of `text`; an error of a part is told as that of the whole."""
    _text(text)
    try:
        return run()
    except (SyllabaryError, UnicodeEncodeError) as error:
        found = error
    count(text)  # raises it, with its place
    raise found


def at_least(name: str, value: object, least: int) -> int:
    """`value` as an integer; `TypeError` and `ValueError` that name it."""
    number = integer(name, value)
    if number < least:
        raise ValueError(f"{name} is {number}: give {least} or more")
    return number
