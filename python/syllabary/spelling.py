"""What a vocabulary makes of its own tokens: the ids that the merges give to a token's symbols.

Adds the questions that `surgery` asks of each token, answered by the rules of `reference.merge`. Leaves out:
normalizers and pre-tokenizers, which can only make fewer tokens come up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syllabary._engine import Split
from syllabary._engine import Tokenizer as Engine
from syllabary.reference import merge
from syllabary.spec import SplitSpec, TokenizerSpec

# What may stand before and after a token in a text: nothing, a letter of two scripts, a digit, signs, spaces.
NEIGHBOURS = ["", "x", " ", "1", ".", "\n", "字", "'", "s", "m", "ll", "X"]
CUT, INSIDE, WHOLE = range(3)  # what a split leaves of a token


class Speller:
    """A vocabulary and its merges, asked about its own tokens."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """From the data; the split is asked only in `cut_everywhere` and `whole_pieces`."""
        self.spec = spec
        self.bytes_of = dict(spec.tokens)
        self.alphabet = dict(spec.alphabet)
        self.rule = self._rule()
        self.made_by: dict[int, tuple[int, int]] = {}
        for left, right, result in spec.merges or ():
            self.made_by.setdefault(result, (left, right))
        self.ids = {token: token_id for token_id, token in spec.tokens.items()}
        self.split = Split(spec.split)
        self.kept: dict[int, int] = {}  # what `whole_pieces` found out of each token

    def _rule(self) -> merge.Rule:
        if self.spec.merges is not None:
            return merge.by_merges(self.spec.merges)
        if self.spec.scores is None:
            return merge.by_rank_order(self.spec.tokens)
        self._number_characters()
        scores, bytes_of = self.spec.scores, self.bytes_of
        ids = {bytes_of[token_id]: token_id for token_id in scores if token_id not in self.spec.byte_tokens}

        def rule(left: int, right: int) -> tuple[float, int] | None:
            joined = ids.get(bytes_of[left] + bytes_of[right])
            return None if joined is None else (-scores[joined], joined)

        return rule  # type: ignore[return-value]  # a score ranks as an integer does

    def _number_characters(self) -> None:
        """Characters that are no token but parts of tokens: sentencepiece joins them all the same."""
        for token in self.spec.tokens.values():
            for character in token.decode("utf-8", "ignore"):
                symbol = character.encode()
                if symbol not in self.alphabet:
                    self.alphabet[symbol] = -1 - len(self.alphabet)
                    self.bytes_of[self.alphabet[symbol]] = symbol

    def encode(self, token: bytes) -> tuple[int, ...] | None:
        """The ids of a token's symbols once they are merged; `None` for what has no symbols."""
        symbols = self.symbols(token)
        return None if symbols is None else tuple(merge.last(merge.merge_states(symbols, self.rule)))

    def own_encodings(self) -> dict[int, tuple[int, ...] | None]:
        """`encode` of every token, `None` where nothing spells it; plain ones by the engine, far faster."""
        spec = self.spec
        marked = spec.unit == "word" or spec.end_of_word is not None or spec.continuing_prefix is not None
        texts = {} if marked else dict(self._texts(set(spec.tokens) - set(spec.byte_tokens)))
        plain = TokenizerSpec(
            spec.unit,
            SplitSpec(None),
            spec.tokens,
            spec.alphabet,
            spec.merges,
            fallback=spec.fallback,
            scores=spec.scores,
            byte_tokens=spec.byte_tokens,
        )
        encoded: dict[int, tuple[int, ...] | None] = {}
        texts = {
            token_id: text
            for token_id, text in texts.items()
            if all(symbol.encode() in spec.alphabet for symbol in text) or spec.unit == "byte"
        }
        if texts:
            batches = Engine(plain).encode_batch(list(texts.values()), "text", 1)
            encoded = {token_id: tuple(ids) for token_id, ids in zip(texts, batches, strict=True)}
        for token_id in set(spec.tokens) - set(texts):
            encoded[token_id] = self.encode(spec.tokens[token_id])
        return encoded

    def symbols(self, token: bytes) -> list[int] | None:
        """The ids of the initial symbols of a token."""
        token_id = self.ids.get(token)
        if token_id is not None and token_id in self.made_by:
            return list(self._leaves(token_id))
        if token in self.alphabet:
            return [self.alphabet[token]]
        if token_id in self.spec.byte_tokens:
            return [token_id] if token_id is not None else None
        return self._spelled(token)

    def _leaves(self, token_id: int) -> Iterator[int]:
        """The symbols that the first merges of each token come from."""
        open_ids = [token_id]
        while open_ids:
            top = open_ids.pop()
            if top in self.made_by:
                left, right = self.made_by[top]
                open_ids += [right, left]
            else:
                yield top

    def _spelled(self, token: bytes) -> list[int] | None:
        if self.spec.unit == "byte" and self.spec.end_of_word is None:
            parts = [token[at : at + 1] for at in range(len(token))]
        elif self.spec.unit == "char" and self.spec.end_of_word is None:
            parts = self._characters(token)
        else:
            return None  # merges spell it, or nothing does
        if not parts or any(part not in self.alphabet for part in parts):
            return None
        return [self.alphabet[part] for part in parts]

    def _characters(self, token: bytes) -> list[bytes]:
        """The characters of a token, with the mark that continuing ones bear."""
        prefix = (self.spec.continuing_prefix or "").encode()
        continues = bool(prefix) and token.startswith(prefix) and token != prefix
        try:
            characters = [one.encode() for one in token.removeprefix(prefix).decode()]
        except UnicodeDecodeError:
            return []
        first = prefix if continues else b""
        return [(prefix if at else first) + one for at, one in enumerate(characters)]

    # ---- the split ----

    def whole_pieces(self) -> frozenset[int]:
        """Tokens that are a piece by themselves somewhere: they become their id at once."""
        whole = set()
        for token_id, text in self._texts(self.spec.tokens):
            self.kept[token_id] = self._kept(text, enough=WHOLE)
            if self.kept[token_id] == WHOLE:
                whole.add(token_id)
        return frozenset(whole)

    def cut_everywhere(self, ids: Iterable[int]) -> Iterator[int]:
        """Of the ids given those whose text no context leaves in one piece."""
        if self.spec.unit == "word" or self.spec.normalizer or self.spec.pretokenizer:
            return
        for token_id, text in self._texts(ids):
            kept = self.kept.get(token_id)
            if (self._kept(text, enough=INSIDE) if kept is None else kept) == CUT:
                yield token_id

    def _texts(self, ids: Iterable[int]) -> Iterator[tuple[int, str]]:
        mark = (self.spec.end_of_word or "").encode()
        for token_id in ids:
            try:
                yield token_id, self.spec.tokens[token_id].removesuffix(mark).decode()
            except UnicodeDecodeError:
                continue

    def _kept(self, text: str, enough: int) -> int:
        """The most that a context does for a text: `CUT`, `INSIDE` a piece, `WHOLE`; ends at `enough`."""
        return self.split.leaves(text, NEIGHBOURS, enough == INSIDE)
