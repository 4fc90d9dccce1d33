"""More than the best way to encode a text: the n best ways, and one drawn at random (Unigram).

Adds the methods of `Tokenizer` for tokenizers whose tokens have scores. Leaves out: how ways are found and
drawn (`reference.unigram_paths`, the engine).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from syllabary.arguments import integer, iterated, seeded, special_policy, thread_count
from syllabary.errors import TextError
from syllabary.ragged import Ragged
from syllabary.reference.check_models import check_weighs
from syllabary.reference.symbols import utf8
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary._engine import Tokenizer as Engine
    from syllabary.reference.tokenizer import ReferenceTokenizer

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
        count = integer("n", n)
        if count < 1:
            raise ValueError(f"n={count}: ask for 1 way or more")
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        check_weighs(self._spec, "encode_nbest")
        policy = special_policy(special, self._spec.special_tokens)
        found = self._engine.encode_nbest(text, policy, min(count, MOST_WAYS))
        if count == 1 and found[0][0] != self._engine.encode(text, policy):
            # The search rounds other sums, and may find another way that is as good: not often, so slowly.
            given = special if isinstance(special, str) else set(special)
            return self._reference.encode_nbest(text, 1, given)
        return found

    def sample(
        self, text: str, alpha: float = 0.1, seed: int | None = None, special: Any = "raise"
    ) -> list[int]:
        """The ids of a way to encode `text`, drawn at random: Unigram's subword regularization.

        A way has the probability `exp(alpha * score)`, but for a constant: with 0 all ways are equally
        likely, the larger `alpha` the more often it is the best. seed: the same gives the same ids, `None` is
        a new one each time. `VocabularyError` for another model, which has `dropout=` instead.
        """
        weight, number = self._drawn(alpha, seed)
        policy = special_policy(special, self._spec.special_tokens)
        return self._engine.sample(text, policy, weight, number)

    def sample_batch(
        self,
        texts: Iterable[str],
        alpha: float = 0.1,
        seed: int | None = None,
        special: Any = "raise",
        threads: int | None = None,
    ) -> Ragged:
        """The same of every text, each with coins of its own; the same ids for any number of threads."""
        weight, number = self._drawn(alpha, seed)
        policy = special_policy(special, self._spec.special_tokens)
        many = list(iterated("texts", texts, "str"))
        try:
            rows = self._engine.sample_batch(many, policy, thread_count(threads), weight, number)
        except TextError:
            for index, text in enumerate(many):
                utf8(text, f"text {index} of the batch")
            raise
        return Ragged.made(*rows)

    def _drawn(self, alpha: float, seed: int | None) -> tuple[float, int]:
        """What the engine is told; `VocabularyError` for a model that has no scores."""
        check_weighs(self._spec, "sample")
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
            raise TypeError(f"alpha is {alpha!r}: give a number, 0 or more")
        if not 0 <= alpha < float("inf"):
            raise ValueError(f"alpha is {alpha!r}: give a finite number, 0 or more")
        return float(alpha), seeded(seed)
