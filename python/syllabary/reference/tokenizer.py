"""The tokenizer: text -> runs -> pieces -> symbols -> merges -> ids, each stage in its own file.

Adds `ReferenceTokenizer`, which runs the stages in order and shows every state between. Leaves out: speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Literal, SupportsIndex

from syllabary.errors import UnknownSymbolError
from syllabary.reference import merge, symbols
from syllabary.reference.check import check_spec, token_bytes
from syllabary.reference.decode import Decoder, IncrementalDecoder
from syllabary.reference.special import Policy, cut_by_policy
from syllabary.reference.split import spans
from syllabary.spec import TokenizerSpec


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece before any merge: the byte of the text where it starts, and the ids of its symbols."""

    start: int
    ids: list[int]


# The pieces within which merges join neighbours: one piece, or for the word unit all those of a run.
Group = list[Piece]
State = list[list[int]]


class ReferenceTokenizer:
    """A `TokenizerSpec` at work. Slow, plain, and right by definition."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Check the vocabulary (`VocabularyError`) and choose the rule of merging."""
        check_spec(spec)
        self.spec = spec
        self.decoder_table = Decoder(spec)
        self.bytes_of = token_bytes(spec)  # id -> bytes, marks and all
        self.rule = merge.by_rank_order(spec.tokens) if spec.merges is None else merge.by_merges(spec.merges)
        self.whole: dict[bytes, int] = {}  # piece -> id, where a piece that is a token becomes it at once
        if spec.whole_pieces:
            for token_id in sorted(spec.tokens, reverse=True):
                self.whole[spec.tokens[token_id]] = token_id

    # ---- encoding ----

    def encode(self, text: str, special: Policy = "raise") -> list[int]:
        """The ids of `text`: the last of `steps`, all pieces in a row."""
        done: dict[tuple[int, ...], list[int]] = {}  # within one text, equal pieces are merged once
        ids: list[int] = []
        for group in self.groups(text, special):
            start = tuple(symbol for piece in group for symbol in piece.ids)
            if start not in done:
                done[start] = merge.last(self.group_states(group))
            ids += done[start]
        return ids

    def steps(self, text: str, special: Policy = "raise") -> Iterator[State]:
        """Every state from single symbols to ids, one merge a step; one list a piece (word unit: a run)."""
        groups = self.groups(text, special)
        state = [next(self.group_states(group)) for group in groups]
        yield list(state)
        for place, group in enumerate(groups):
            for ids in islice(self.group_states(group), 1, None):
                state[place] = ids
                yield list(state)

    def tokens(self, text: str, special: Policy = "raise") -> list[bytes]:
        """The bytes of each token of `text`, end-of-word marks and all."""
        return [self.bytes_of[token_id] for token_id in self.encode(text, special)]

    def offsets(
        self, text: str, unit: Literal["char", "byte"] = "char", special: Policy = "raise"
    ) -> list[tuple[int, int]]:
        """Where each token is in `text`: `(start, end)` in bytes of its UTF-8, or in characters.

        In characters, a token begins with the character that holds its first byte and ends after the one that
        holds its last, so neighbours may share one. A token of no width is at `(k, k)`.
        """
        if unit not in ("char", "byte"):
            raise ValueError(f'unit={unit!r}: offsets are counted in "char" or "byte"')
        found = [span for group in self.groups(text, special) for span in self.group_offsets(group)]
        if unit == "byte":
            return found
        character = [index for index, symbol in enumerate(text) for _byte in symbol.encode()] + [len(text)]
        return [
            (character[start], character[end - 1] + 1 if start < end else character[start])
            for start, end in found
        ]

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

    # ---- the stages of encoding ----

    def groups(self, text: str, special: Policy) -> list[Group]:
        """Text -> special tokens and runs -> pieces -> symbols: everything before the first merge.

        `UnknownSymbolError` names the symbols outside the alphabet, `TextError` a lone surrogate.
        """
        data = symbols.utf8(text)
        groups: list[Group] = []
        unknown: list[tuple[bytes, int]] = []  # symbol, its byte in the text
        at = 0
        for run in cut_by_policy(text, self.spec.special_tokens, self.spec.added_tokens, special):
            if run.token is not None:
                groups.append([Piece(at, [run.token])])
            else:
                pieces = [self.piece(start, piece, unknown) for start, piece in self.split(run.text, at)]
                groups += [pieces] if self.spec.unit == "word" else [[piece] for piece in pieces]
            at += len(run.text.encode())
        if unknown:
            raise unknown_symbols(unknown, data)
        return groups

    def split(self, run: str, at: int) -> Iterator[tuple[int, str]]:
        """Each piece of a run that starts at byte `at`, with the byte where it starts."""
        widths = [0, *accumulate(len(character.encode()) for character in run)]
        for start, end in spans(run, self.spec.split):
            yield at + widths[start], run[start:end]

    def piece(self, start: int, text: str, unknown: list[tuple[bytes, int]]) -> Piece:
        """A piece as ids of the alphabet; symbols that have none are added to `unknown`."""
        spec, ids, at = self.spec, list[int](), start
        for symbol in symbols.symbols(text, spec.unit, spec.end_of_word):
            spelled = [symbol]
            if symbol not in spec.alphabet and spec.fallback:
                spelled = symbols.smaller_symbols(symbol, spec.unit, spec.alphabet, spec.end_of_word)
            if any(part not in spec.alphabet for part in spelled):
                unknown.append((symbol, at))
            ids += [spec.alphabet[part] for part in spelled if part in spec.alphabet]
            at += symbols.source_width(symbol, spec.end_of_word)
        return Piece(start, ids)

    def group_states(self, group: Group) -> Iterator[list[int]]:
        """The states of one group, from its symbols to its tokens."""
        ids = [symbol for piece in group for symbol in piece.ids]
        whole = self.whole.get(b"".join(self.bytes_of[symbol] for symbol in ids)) if len(ids) > 1 else None
        if whole is None:
            yield from merge.merge_states(ids, self.rule)
        else:
            yield ids
            yield [whole]

    def group_offsets(self, group: Group) -> Iterator[tuple[int, int]]:
        """The bytes of the text that each token of a group stands for: those of its initial symbols."""
        symbol_spans = self.symbol_spans(group)
        for token_id in merge.last(self.group_states(group)):
            start, end, length = next(symbol_spans)
            while length < len(self.bytes_of[token_id]):
                _start, end, more = next(symbol_spans)
                length += more
            yield start, end

    def symbol_spans(self, group: Group) -> Iterator[tuple[int, int, int]]:
        """For each initial symbol: where it starts and ends in the text, and its length in token bytes."""
        for piece in group:
            at = piece.start
            for symbol in piece.ids:
                token = self.bytes_of[symbol]
                mark = self.spec.end_of_word if symbol in self.spec.tokens else None
                width = symbols.source_width(token, mark)
                yield at, at + width, len(token)
                at += width


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
