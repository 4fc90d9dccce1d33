"""The tokenizer: text -> runs -> pieces -> symbols -> merges -> ids, each stage in its own file.

Adds `ReferenceTokenizer`, which runs the stages in order and shows every state between. Leaves out: speed,
and what only a Unigram model can do (`unigram_ways`).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Literal, SupportsIndex

from syllabary.cached import cached_property
from syllabary.reference import merge, symbols
from syllabary.reference.aligned import Span
from syllabary.reference.check import check_spec, token_bytes
from syllabary.reference.check_models import check_drops
from syllabary.reference.decode import Decoder, IncrementalDecoder
from syllabary.reference.dropout import Coins
from syllabary.reference.groups import Fixed, Group, Ranked, Scored
from syllabary.reference.models import Modelled
from syllabary.reference.pipeline import Pipeline
from syllabary.reference.special import Policy
from syllabary.reference.spellings import spellings
from syllabary.reference.trim import Trim
from syllabary.reference.unigram_ways import UnigramWays
from syllabary.reference.unknown import Unknown, check_known
from syllabary.spec import TokenizerSpec

State = list[list[int]]


class ReferenceTokenizer(UnigramWays):
    """A `TokenizerSpec` at work. Slow, plain, and right by definition.

    >>> from syllabary.spec import SplitSpec
    >>> alphabet = {b"l": 0, b"o": 1, b"w": 2}
    >>> tokens = {0: b"l", 1: b"o", 2: b"w", 3: b"lo", 4: b"low"}
    >>> merges = ((0, 1, 3), (3, 2, 4))
    >>> tok = ReferenceTokenizer(TokenizerSpec("byte", SplitSpec(None), tokens, alphabet, merges))
    >>> list(tok.steps("lowl"))  # one list a piece, and there is one
    [[[0, 1, 2, 0]], [[3, 2, 0]], [[4, 0]]]
    >>> tok.encode("lowl"), tok.tokens("lowl"), tok.offsets("lowl"), tok.decode([4, 0])
    ([4, 0], [b'low', b'l'], [(0, 3), (3, 4)], 'lowl')
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Check the vocabulary (`VocabularyError`) and choose the rule of merging."""
        check_spec(spec)
        self.spec = spec
        self.decoder_table = Decoder(spec)
        self.bytes_of = token_bytes(spec)  # id -> bytes, marks and all
        if spec.merges is not None:
            self.rule = merge.by_merges(spec.merges)
        elif spec.scores is None and spec.model == "bpe":
            self.rule = merge.by_rank_order(spec.tokens)
        else:
            self.rule = merge.by_merges(())  # nothing merges by rank
        self.pipeline = Pipeline(spec, self.rule)
        self.trim = Trim(spec)

    @cached_property
    def names(self) -> dict[int, str]:
        """id -> how the vocabulary spells the token."""
        return spellings(self.spec)

    # ---- encoding ----

    def encode(
        self,
        text: str,
        special: Policy = "raise",
        dropout: float | None = None,
        seed: int | None = None,
        index: int = 0,
    ) -> list[int]:
        """The ids of `text`: the last of `steps`, all pieces in a row.

        dropout: probability of passing over a merge; `None` is the specification's own. seed: the same gives
        the same ids; `None` is a new one each time. index: of the text in its batch: each has its own coins.
        `UnknownSymbolError` names the symbols outside the alphabet, `TextError` a lone surrogate,
        `SpecialTokenError` a special token that is not allowed, `VocabularyError` dropout without merges.
        """
        probability = self.spec.dropout if dropout is None else dropout
        check_drops(self.spec, probability)
        coins = (
            Coins(probability, secrets.randbits(64) if seed is None else seed, index) if probability else None
        )
        unknown: Unknown = []
        groups = self.groups(text, special, unknown)
        done: dict[tuple[int | None, ...], list[int]] = {}  # within one text, equal pieces are merged once
        ids: list[int] = []
        for group in groups:
            if coins is not None or not isinstance(group, Ranked):
                ids += [token.id for token in group.tokens(coins)]
                continue
            whole = None if group.whole is None else group.whole.id
            start = (whole, *(token.id for token in group.symbols))
            if start not in done:
                done[start] = [token.id for token in group.tokens()]
            ids += done[start]
        check_known(unknown, text)
        return ids

    def steps(self, text: str, special: Policy = "raise") -> Iterator[State]:
        """Every state from single symbols to ids, one merge a step; one list a piece.

        For the word unit and merging by score, one list a run. No merge is passed over.
        """
        groups = self.all_known(text, special)
        state = [[token.id for token in next(group.states())] for group in groups]
        yield list(state)
        for place, group in enumerate(groups):
            for number, tokens in enumerate(group.states()):
                if number:
                    state[place] = [token.id for token in tokens]
                    yield list(state)

    def tokens(
        self,
        text: str,
        special: Policy = "raise",
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[bytes]:
        """The bytes of each token of `text`, marks and all."""
        return [self.bytes_of[token_id] for token_id in self.encode(text, special, dropout, seed)]

    def offsets(
        self, text: str, unit: Literal["char", "byte"] = "char", special: Policy = "raise"
    ) -> list[Span]:
        """Where each token of the ids without dropout is in `text`: `(start, end)` in bytes or in characters.

        In characters, a token begins with the character that holds its first byte and ends after the one that
        holds its last, so neighbours may share one. A token of no width is at `(k, k)`. In bytes (of the
        UTF-8 of `text`) each has its own, unless steps are at the text: then those of whole characters.
        """
        if unit not in ("char", "byte"):
            raise ValueError(f'unit={unit!r}: offsets are counted in "char" or "byte"')
        found: list[Span] = []
        data = symbols.utf8(text)
        for group in self.all_known(text, special):
            taken = group.text if isinstance(group, Fixed) else None
            for token in group.tokens():
                if self.spec.trim_offsets:
                    found.append(self.trim.span(token, data, taken))
                else:
                    found.append((token.spans[0][0], token.spans[-1][1]))
        return found if unit == "byte" else to_characters(found, text)

    # ---- decoding ----

    def decode_bytes(self, ids: Iterable[SupportsIndex]) -> bytes:
        """See `decode.Decoder.decode_bytes`."""
        return self.decoder_table.decode_bytes(ids)

    def decode(self, ids: Iterable[SupportsIndex], errors: str = "replace") -> str:
        """See `decode.Decoder.decode`."""
        return self.decoder_table.decode(ids, errors)

    def decoder(self, errors: str = "replace") -> IncrementalDecoder:
        """A decoder that takes one id at a time."""
        return IncrementalDecoder(self.decoder_table, errors)

    def normalize(self, text: str, special: Policy = "raise") -> str:
        """What `text` is before it is cut into pieces; errors of a special token and a lone surrogate."""
        return self.pipeline.normalize(text, special)

    # ---- inside ----

    def groups(self, text: str, special: Policy, unknown: Unknown) -> list[Group]:
        """Everything before the first merge; `UnknownSymbolError` where it is certain by now.

        Merging by score may find more symbols that are `unknown`.
        """
        groups = self.pipeline.groups(text, special, unknown)
        check_known(unknown, text)
        return groups

    def all_known(self, text: str, special: Policy) -> list[Group]:
        """The same, and what merging by score finds unknown is an error too."""
        unknown: Unknown = []
        groups = self.groups(text, special, unknown)
        for group in groups:
            if isinstance(group, (Scored, Modelled)):
                group.tokens()
        check_known(unknown, text)
        return groups


def to_characters(spans: Iterable[Span], text: str) -> list[Span]:
    """Bytes of the UTF-8 of `text` -> characters: from that of the first to past that of the last.

    >>> to_characters([(0, 2), (2, 3), (3, 3)], "a\u00e9")
    [(0, 2), (1, 2), (2, 2)]
    """
    character = [index for index, symbol in enumerate(text) for _byte in symbol.encode()] + [len(text)]
    return [
        (character[start], character[end - 1] + 1 if start < end else character[start])
        for start, end in spans
    ]
