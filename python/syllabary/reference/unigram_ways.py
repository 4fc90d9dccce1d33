"""What a Unigram tokenizer can do besides `encode`: other ways to cut a text, each with its score.

Adds four methods of `ReferenceTokenizer`; those that the pieces of a text have are put together here. Leaves
out: the ways of one piece (`unigram_paths`).
"""

from __future__ import annotations

import secrets
from heapq import nlargest
from math import fsum

from syllabary.reference.check_models import check_weighs
from syllabary.reference.dropout import Coins
from syllabary.reference.groups import Group
from syllabary.reference.models import Modelled
from syllabary.reference.special import Policy
from syllabary.reference.unigram_paths import chosen
from syllabary.reference.unknown import Unknown, check_known
from syllabary.spec import TokenizerSpec


class UnigramWays:
    """Methods of a tokenizer; all raise `VocabularyError` for another model than Unigram."""

    spec: TokenizerSpec

    def groups(self, text: str, special: Policy, unknown: Unknown) -> list[Group]:
        """See `ReferenceTokenizer.groups`."""
        raise NotImplementedError

    def encode_behind(
        self, text: str, guard: str, score: float, special: Policy = "raise"
    ) -> tuple[list[int], float]:
        """The ids of what stands behind `guard`, with which `text` begins, where it is cut there (`cuts`).

        score: of the way through all that stands before. Gives that of the way through all of it, too.
        Errors as of `encode`; `VocabularyError` for another model than Unigram.
        """
        check_weighs(self.spec, "encode_behind")
        unknown: Unknown = []
        groups = self.groups(guard, special, [])
        lead = sum(len(group.piece) for group in groups if isinstance(group, Modelled))
        before, ids = score, list[int]()
        for group in self.groups(text, special, unknown):
            if isinstance(group, Modelled):
                tokens, score = group.behind(lead, before)
            else:
                tokens, score = group.tokens(), 0.0
            ids += [token.id for token in tokens]
            lead, before = 0, 0.0
        check_known(unknown, text)
        return ids, score

    def encode_nbest(self, text: str, n: int, special: Policy = "raise") -> list[tuple[list[int], float]]:
        """The `n` best ways to encode `text`, the best first: the ids and the score of each.

        Where text is cut into several pieces, scores are added. `VocabularyError` for another model.
        """
        check_weighs(self.spec, "encode_nbest")
        unknown: Unknown = []
        ways: list[tuple[list[int], float]] = [([], 0.0)]
        for group in self.groups(text, special, unknown):
            if isinstance(group, Modelled):
                more = group.nbest(n)
                joined = ((ids + later, score + plus) for ids, score in ways for later, plus in more)
                ways = nlargest(n, joined, key=lambda way: way[1])
            else:
                ways = [(ids + [token.id for token in group.tokens()], score) for ids, score in ways]
        check_known(unknown, text)
        return ways

    def sample(
        self,
        text: str,
        alpha: float,
        seed: int | None = None,
        special: Policy = "raise",
        index: int = 0,
        nbest: int | None = None,
    ) -> list[int]:
        """The ids of a way to encode `text` drawn with a probability that goes by `exp(alpha * score)`.

        seed, index: as in `encode`. nbest: one of so many best ways, not of all; of one, that is `encode`'s.
        `VocabularyError` for another model than Unigram.
        """
        check_weighs(self.spec, "sample")
        coins = Coins(0.0, secrets.randbits(64) if seed is None else seed, index)
        if nbest is not None:
            ways = self.encode_nbest(text, nbest, special)
            return ways[chosen([score for _ids, score in ways], alpha, coins)][0]
        unknown: Unknown = []
        ids: list[int] = []
        for group in self.groups(text, special, unknown):
            if isinstance(group, Modelled):
                ids += group.drawn(alpha, coins)
            else:
                ids += [token.id for token in group.tokens()]
        check_known(unknown, text)
        return ids

    def entropy(self, text: str, alpha: float, special: Policy = "raise") -> float:
        """The entropy of the ways to encode `text`, in nats, with the probabilities of `sample`.

        That of several pieces is a sum. `UnknownSymbolError` for what some way cannot spell,
        `VocabularyError` for another model than Unigram.
        """
        check_weighs(self.spec, "entropy")
        unknown: Unknown = []
        groups = self.groups(text, special, unknown)
        found = fsum(group.entropy(alpha) for group in groups if isinstance(group, Modelled))
        check_known(unknown, text)
        return found
