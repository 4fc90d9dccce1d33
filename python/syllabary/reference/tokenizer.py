"""The tokenizer: text -> runs -> pieces -> symbols -> merges -> ids, each stage in its own file.

Adds `ReferenceTokenizer`, which runs the stages in order and shows every state between. Leaves out: speed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from heapq import nlargest
from math import fsum
from typing import Literal, SupportsIndex

from syllabary.cached import cached_property
from syllabary.errors import UnknownSymbolError
from syllabary.reference import merge, symbols
from syllabary.reference.aligned import Span
from syllabary.reference.check import check_spec, token_bytes
from syllabary.reference.check_models import check_drops, check_weighs
from syllabary.reference.decode import Decoder, IncrementalDecoder, spellings
from syllabary.reference.dropout import Coins
from syllabary.reference.groups import Fixed, Group, Ranked, Scored
from syllabary.reference.models import Modelled
from syllabary.reference.pipeline import Pipeline, Unknown
from syllabary.reference.special import Policy
from syllabary.reference.trim import Trim
from syllabary.reference.unigram_paths import chosen
from syllabary.spec import TokenizerSpec

State = list[list[int]]


class ReferenceTokenizer:
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


def check_known(unknown: Unknown, text: str) -> None:
    """Raise `UnknownSymbolError` if there are any."""
    if unknown:
        raise unknown_symbols(unknown, text.encode())


def unknown_symbols(unknown: list[tuple[bytes, int]], data: bytes) -> UnknownSymbolError:
    """Names the first ten symbols without an id, and where the first of them is."""
    names = list(dict.fromkeys(name_symbol(symbol) for symbol, _at in unknown))
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    character = len(data[: unknown[0][1]].decode("utf-8", "ignore"))
    return UnknownSymbolError(
        f"not in the alphabet: {listed}; the first is at character {character} of the text. "
        "Train on text that has them, with all bytes, or with fallback=True"
    )


def name_symbol(symbol: bytes) -> str:
    """How an error shows a symbol: 40 characters of it at most.

    >>> name_symbol(b"m"), name_symbol(b"\\xc3")
    ("'m'", 'byte 0xC3')
    """
    try:
        return symbols.shown(symbol.decode())
    except UnicodeDecodeError:
        return f"byte 0x{symbol.hex().upper()}"
