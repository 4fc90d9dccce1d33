"""The model "wordlevel": a piece is a token, or unknown (tokenizers' `models/wordlevel`).

Adds `WordLevel`. Leaves out: how text is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterator

from syllabary.spec import TokenizerSpec


class WordLevel:
    """Looks each piece up.

    >>> from syllabary.spec import SplitSpec
    >>> fields = ("char", SplitSpec(None), {0: b"[UNK]", 1: b"cat"}, {}, None)
    >>> model = WordLevel(TokenizerSpec(*fields, unknown=0, model="wordlevel"))
    >>> list(model.states("cat")), list(model.states("cats"))
    ([[(1, 0, 3)]], [[(0, 0, 4)]])
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Of tokens with the same text, the lowest id counts."""
        self.ids = {token.decode(): token_id for token_id, token in sorted(spec.tokens.items(), reverse=True)}
        self.unknown = spec.unknown

    def states(self, piece: str) -> Iterator[list[tuple[int | None, int, int]]]:
        """The one state that there is."""
        yield [(self.ids.get(piece, self.unknown), 0, len(piece))]
