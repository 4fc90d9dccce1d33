"""More than the best way to encode a text: the n best ways, one drawn at random, their entropy (Unigram).

Adds the methods of `Tokenizer` for tokenizers whose tokens have scores. Leaves out: how ways are found and
drawn (`reference.unigram_paths`, the engine).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from syllabary.arguments import integer, iterated, portion, seeded, special_policy, thread_count
from syllabary.errors import SyllabaryError, TextError
from syllabary.on_demand import later
from syllabary.ragged import Ragged
from syllabary.reference.check_models import check_weighs
from syllabary.reference.symbols import utf8
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary._engine import Tokenizer as Engine
    from syllabary.reference import dropout, unigram_paths
    from syllabary.reference.tokenizer import ReferenceTokenizer
else:
    later(
        globals(),
        dropout="syllabary.reference.dropout",
        unigram_paths="syllabary.reference.unigram_paths",
    )

MOST_WAYS = 2**31  # no text has more that memory holds


class Drawing:
    """What `Tokenizer` does with scores; a part of it."""

    _spec: TokenizerSpec
    _engine: Engine

    @property
    def _reference(self) -> ReferenceTokenizer:
        raise NotImplementedError

    def encode_nbest(self, text: str, n: int, special: Any = "raise") -> list[tuple[list[int], float]]:
        """The `n` best ways to encode `text` with a Unigram tokenizer, the best first: ids and score of each.

        The score is the sum of the tokens' scores, logarithms of probabilities. There may be fewer ways than
        `n`: the search keeps 10,000 open ends at most, as sentencepiece's does, so that memory is bounded.
        The one best way is that of `encode`, also where others have the same score, but for rounding.
        `VocabularyError` for another model.

        >>> from syllabary.spec import SplitSpec, TokenizerSpec
        >>> from syllabary import Tokenizer
        >>> fields = ("char", SplitSpec(None), {0: b"a", 1: b"b", 2: b"ab"}, {}, None)
        >>> tok = Tokenizer(TokenizerSpec(*fields, model="unigram", scores={0: -2.0, 1: -2.0, 2: -3.0}))
        >>> tok.encode_nbest("ab", 2)
        [([2], -3.0), ([0, 1], -4.0)]
        """
        count = _ways("n", n)
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        check_weighs(self._spec, "encode_nbest")
        policy = special_policy(special, self._spec.special_tokens)
        found = self._engine.encode_nbest(text, policy, count)
        if count == 1 and found[0][0] != self._engine.encode(text, policy):
            # The search rounds other sums, and may find another way that is as good: not often, so slowly.
            given = special if isinstance(special, str) else set(special)
            return self._reference.encode_nbest(text, 1, given)
        return found

    def sample(
        self,
        text: str,
        alpha: float = 0.1,
        seed: int | None = None,
        special: Any = "raise",
        nbest: int | None = None,
    ) -> list[int]:
        """The ids of a way to encode `text`, drawn at random: Unigram's subword regularization.

        A way has the probability `exp(alpha * score)`, but for a constant: with 0 all ways are equally
        likely, the larger `alpha` the more often it is the best. seed: the same gives the same ids, `None` is
        a new one each time. nbest: one of so many best ways (`encode_nbest`); `None`: of all. Of the 1 best,
        the ids are those of `encode`. `VocabularyError` for another model, which has `dropout=` instead.
        """
        weight, number = self._drawn(alpha, seed)
        policy = special_policy(special, self._spec.special_tokens)
        if nbest is None:
            return self._engine.sample(text, policy, weight, number)
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        return self._one_of(text, policy, _ways("nbest", nbest), weight, dropout.Coins(0.0, number))

    def sample_batch(
        self,
        texts: Iterable[str],
        alpha: float = 0.1,
        seed: int | None = None,
        special: Any = "raise",
        threads: int | None = None,
        nbest: int | None = None,
    ) -> Ragged:
        """The same of every text, each with coins of its own; the same ids for any number of threads.

        With `nbest` it is one thread, whatever `threads` says.
        """
        weight, number = self._drawn(alpha, seed)
        policy = special_policy(special, self._spec.special_tokens)
        many = list(iterated("texts", texts, "str"))
        workers = thread_count(threads)
        if nbest is not None:
            most = _ways("nbest", nbest)
            return _ragged(self._each_of(many, policy, most, weight, number))
        try:
            rows = self._engine.sample_batch(many, policy, workers, weight, number)
        except TextError:
            for index, text in enumerate(many):
                utf8(text, f"text {index} of the batch")
            raise
        return Ragged.made(*rows)

    def entropy(self, text: str, alpha: float = 0.1, special: Any = "raise") -> float:
        """The entropy of the ways to encode `text` with a Unigram tokenizer, in nats (0.0 of one way).

        Each way has the probability `exp(alpha * score)`, but for a constant, scores being those of
        `encode_nbest`: with `alpha` 0 it is the logarithm of their number. All ways count, also where
        `encode_nbest` would give up; what one of them cannot spell is an `UnknownSymbolError`.
        `VocabularyError` for another model. Computed by `syllabary.reference`: slow on long text.

        >>> from syllabary.spec import SplitSpec, TokenizerSpec
        >>> from syllabary import Tokenizer
        >>> fields = ("char", SplitSpec(None), {0: b"a", 1: b"b", 2: b"ab"}, {}, None)
        >>> tok = Tokenizer(TokenizerSpec(*fields, model="unigram", scores={0: -2.0, 1: -2.0, 2: -3.0}))
        >>> round(tok.entropy("ab", alpha=1.0), 4), round(tok.entropy("ab", alpha=0.0), 4)
        (0.5822, 0.6931)
        """
        check_weighs(self._spec, "entropy")
        weight = _weight(alpha)
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        special_policy(special, self._spec.special_tokens)
        return self._reference.entropy(text, weight, special if isinstance(special, str) else set(special))

    # ---- inside ----

    def _drawn(self, alpha: float, seed: int | None) -> tuple[float, int]:
        """What the engine is told; `VocabularyError` for a model that has no scores."""
        check_weighs(self._spec, "sample")
        return _weight(alpha), seeded(seed)

    def _one_of(self, text: str, policy: Any, most: int, alpha: float, coins: dropout.Coins) -> list[int]:
        """The ids of one of the best ways."""
        if most == 1:
            return self._engine.encode(text, policy)
        ways = self._engine.encode_nbest(text, policy, most)
        return ways[unigram_paths.chosen([score for _ids, score in ways], alpha, coins)][0]

    def _each_of(
        self, texts: list[str], policy: Any, most: int, alpha: float, seed: int
    ) -> Iterator[list[int]]:
        """The same of every text; an error names the text."""
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"texts[{index}] is {type(text).__name__}: give str")
            utf8(text, f"text {index} of the batch")
            try:
                yield self._one_of(text, policy, most, alpha, dropout.Coins(0.0, seed, index))
            except SyllabaryError as error:
                raise type(error)(f"text {index} of the batch: {error}") from None


def _weight(alpha: object) -> float:
    """`alpha` as a float; `TypeError` for what is no number, `ValueError` for one below 0 or without end."""
    number = portion("alpha", alpha, "a number, 0 or more")
    if not 0 <= number < float("inf"):
        raise ValueError(f"alpha is {alpha!r}: give a finite number, 0 or more")
    return float(min(number, unigram_paths.STEEPEST))


def _ways(name: str, value: object) -> int:
    """How many ways are asked for; `ValueError` for less than one."""
    count = integer(name, value)
    if count < 1:
        raise ValueError(f"{name}={count}: ask for 1 way or more")
    return min(count, MOST_WAYS)


def _ragged(rows: Iterable[list[int]]) -> Ragged:
    """Lists of ids in one array."""
    many = list(rows)
    ids = np.fromiter(chain.from_iterable(many), np.uint32)
    return Ragged.made(ids, np.cumsum([0, *map(len, many)], dtype=np.int64))
