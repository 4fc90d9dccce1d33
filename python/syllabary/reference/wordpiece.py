"""The model "wordpiece": the longest token first, from the left, as BERT encodes (tokenizers' `wordpiece`).

    playing -> play ##ing        the first token is spelled as it is, the others with `continuing_prefix`

Adds `WordPiece`. Leaves out: how text is cut into pieces, and training (`train_wordpiece`).

Greedy is not clever: where no token goes on, nothing is taken back, and the whole piece is unknown, even if
other tokens would have spelled it. So is a piece of more characters than `longest_piece`, which is not
looked at.
Source: Devlin et al. 2018 (`WordpieceTokenizer` in the code of BERT), tokenizers 0.23.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from syllabary.spec import TokenizerSpec


class WordPiece:
    """Takes the longest token that the rest of the piece begins with, until there is no rest.

    >>> from syllabary.spec import SplitSpec
    >>> tokens = {0: b"[UNK]", 1: b"play", 2: b"##ing", 3: b"##i"}
    >>> spec = TokenizerSpec("char", SplitSpec(None), tokens, {}, None, unknown=0, model="wordpiece")
    >>> from dataclasses import replace
    >>> model = WordPiece(replace(spec, continuing_prefix="##"))
    >>> for state in model.states("playing"):
    ...     print(state)
    [(0, 0, 7)]
    [(1, 0, 4), (0, 4, 7)]
    [(1, 0, 4), (2, 4, 7)]
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Of tokens with the same text, the lowest id counts."""
        self.ids = {token.decode(): token_id for token_id, token in sorted(spec.tokens.items(), reverse=True)}
        self.most = max(map(len, self.ids), default=0)  # characters of a token: no longer part is one
        self.prefix = spec.continuing_prefix or ""
        self.unknown = spec.unknown
        self.longest = spec.longest_piece

    def states(self, piece: str) -> Iterator[list[tuple[int | None, int, int]]]:
        """After each token what has been found; what is still to be spelled stands as unknown behind it.

        The first state is the whole piece, unknown; so is the last one of a piece that cannot be spelled.
        """
        size = len(piece)
        nothing: list[tuple[int | None, int, int]] = [(self.unknown, 0, size)]
        yield nothing
        if self.longest is not None and size > self.longest:
            return
        found: list[tuple[int | None, int, int]] = []
        at = 0
        while at < size:
            token = self.longest_token(piece, at)
            if token is None:
                if found:
                    yield nothing
                return
            found.append((token[0], at, token[1]))
            at = token[1]
            yield [*found, (self.unknown, at, size)] if at < size else found

    def longest_token(self, piece: str, start: int) -> tuple[int, int] | None:
        """The longest token that the piece goes on with at `start`, and its end; `None` if there is none.

        >>> from syllabary.spec import SplitSpec
        >>> spec = TokenizerSpec("char", SplitSpec(None), {0: b"a", 1: b"ab"}, {}, None, model="wordpiece")
        >>> WordPiece(spec).longest_token("abc", 0)
        (1, 2)
        """
        prefix = self.prefix if start > 0 else ""
        for end in range(min(len(piece), start + self.most), start, -1):
            token_id = self.ids.get(prefix + piece[start:end])
            if token_id is not None:
                return token_id, end
        return None
