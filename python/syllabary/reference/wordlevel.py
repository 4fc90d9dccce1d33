"""The model "wordlevel": a piece is a token, or unknown (tokenizers' `models/wordlevel`).

Where unknown pieces in a row are one token (`fuse_unknown`), the pieces of a text are taken together: that is
sentencepiece's model of words, whose unknown words may be spelled with bytes instead (`fallback`). Its
user-defined symbols are tokens as any other, but for the normalizer, which leaves them alone.

Adds `WordLevel`, and the split `WORDS` of that model. Leaves out: how text is cut into pieces.
Source: tokenizers 0.23.3, `models/wordlevel/mod.rs`; sentencepiece 0.2.3, `src/word_model.cc`, and
`src/sentencepiece_processor.cc` (`PopulateSentencePieceText`) for unknown words.
"""

from __future__ import annotations

from collections.abc import Iterator

from syllabary.reference.normalize_sentencepiece import SPACE
from syllabary.reference.split import spans
from syllabary.spec import Matching, TokenizerSpec

Row = tuple[int | None, int, int]  # as `models.Part`
WORDS = f"{SPACE}[^{SPACE}]*|[^{SPACE}]+"  # the split of sentencepiece's model of words


class WordLevel:
    """Looks each piece up.

    >>> from syllabary.spec import SplitSpec
    >>> fields = ("char", SplitSpec("▁[^▁]*|[^▁]+"), {0: b"[UNK]", 1: b"cat"}, {}, None)
    >>> model = WordLevel(TokenizerSpec(*fields, unknown=0, model="wordlevel"))
    >>> list(model.states("cat")), list(model.states("cats"))
    ([[(1, 0, 3)]], [[(0, 0, 4)]])
    >>> model = WordLevel(TokenizerSpec(*fields, unknown=0, model="wordlevel", fuse_unknown=True))
    >>> list(model.states("cat▁is▁no"))
    [[(1, 0, 3), (0, 3, 9)]]
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Of tokens with the same text, the lowest id counts."""
        self.spec = spec
        self.cuts = spec.fuse_unknown  # a piece is then a text, which the model cuts
        plain = {
            token_id: token for token_id, token in spec.tokens.items() if token_id not in spec.byte_tokens
        }
        self.ids = {token.decode(): token_id for token_id, token in sorted(plain.items(), reverse=True)}
        for text, token_id in spec.added_tokens.items():
            if spec.matching.get(text, Matching()).stage == "frozen":
                self.ids[text] = token_id
        self.byte_ids = {value: token_id for token_id, value in spec.byte_tokens.items()}

    def states(self, piece: str) -> Iterator[list[Row]]:
        """The one state that there is."""
        words = spans(piece, self.spec.split) if self.cuts else [(0, len(piece))]
        rows: list[Row] = []
        for start, end in words:
            for row in self.word(piece, start, end):
                if rows and self.cuts and row[0] is not None and row[0] == rows[-1][0] == self.spec.unknown:
                    rows[-1] = (row[0], rows[-1][1], end)
                else:
                    rows.append(row)
        yield rows

    def word(self, piece: str, start: int, end: int) -> list[Row]:
        """A word: its token, its bytes if each has one, or the unknown token."""
        text = piece[start:end]
        if text in self.ids or not self.spec.fallback:
            return [(self.ids.get(text, self.spec.unknown), start, end)]
        ids = [self.byte_ids.get(byte) for byte in text.encode()]
        if None in ids:
            return [(self.spec.unknown, start, end)]
        first = start if self.spec.surface_offsets else end  # the last byte has the place of the word
        return [*((token_id, start, first) for token_id in ids[:-1]), (ids[-1], start, end)]
