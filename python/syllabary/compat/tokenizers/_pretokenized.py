"""`PreTokenizedString`: a text on its way into tokens, cut into parts; and `Token`.

Adds both, and `PreTokenizedStringRefMut`, one that is lent to a caller's pre-tokenizer. Leaves out: what
cuts (`pre_tokenizers`) and what makes tokens (`models`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._normalized import NormalizedString, NormalizedStringRefMut
from syllabary.compat.tokenizers._values import count, text, token_id
from syllabary.reference import pretokenize
from syllabary.reference.aligned import Span
from syllabary.spec import Step


class Token:
    """A token of a part: its id, its text, and its bytes in the part's UTF-8."""

    __slots__ = ("id", "offsets", "value")

    def __init__(self, id: int, value: str, offsets: Span) -> None:  # noqa: A002 (their name)
        """From what it is."""
        self.id, self.value, self.offsets = token_id(id), value, tuple(map(count, offsets))

    def as_tuple(self) -> tuple[int, str, tuple[int, ...]]:
        """The same as a tuple."""
        return self.id, self.value, self.offsets


Part = tuple[NormalizedString, "list[Token] | None"]


class PreTokenizedString:
    """A text, cut into parts; some of them are tokens already."""

    def __init__(self, s: str) -> None:
        """From a text, in one part."""
        self._source = text(s)
        self._parts: list[Part] = [(NormalizedString(s), None)]

    # ---- what callers do with it ----

    def split(self, func: Callable[[int, NormalizedString], Iterable[NormalizedString]]) -> None:
        """Cut each part that is not yet tokens: `func(index, part)` gives its parts."""
        if not callable(func):
            raise TypeError(
                "`split` expect a callable with the signature: "
                "`fn(index: int, normalized: NormalizedString) -> List[NormalizedString]`"
            )
        self._replace(lambda index, part: ((one, None) for one in func(index, _copy(part))))

    def normalize(self, func: Callable[[NormalizedString], object]) -> None:
        """Rewrite each part that is not yet tokens: `func(part)` does it in place."""
        if not callable(func):
            raise TypeError(
                "`normalize` expect a callable with the signature: `fn(normalized: NormalizedString)`"
            )
        for part, tokens in self._whole()._parts:
            if tokens is None:
                reference = NormalizedStringRefMut(part)
                func(reference)
                reference._end()

    def tokenize(self, func: Callable[[str], list[Token]]) -> None:
        """Give each part that has none its tokens: `func(text)`."""
        if not callable(func):
            raise TypeError("`tokenize` expect a callable with the signature: `fn(str) -> List[Token]`")
        whole = self._whole()
        whole._parts = [
            (part, list(func(part.normalized)) if tokens is None else tokens) for part, tokens in whole._parts
        ]

    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        """All tokens; their words are the parts, or all `word_idx`. An `Exception` if a part has none."""
        type_id, word_idx = token_id(type_id), None if word_idx is None else token_id(word_idx)
        encoding = Encoding()
        for index, (part, tokens) in enumerate(self._whole()._parts):
            if tokens is None:
                raise Exception("Split has not been tokenized, call `PreTokenizedString::tokenize` first")
            word = index if word_idx is None else word_idx
            for token, place in zip(tokens, places(part, tokens), strict=True):
                encoding._add(token.id, token.value, type_id, word, place)
        return encoding

    def get_splits(
        self, offset_referential: str = "original", offset_type: str = "char"
    ) -> list[tuple[str, Span, list[Token] | None]]:
        """The parts: text, where it stands in the original (or normalized) text, tokens."""
        if text(offset_referential) not in ("original", "normalized"):
            raise ValueError("Wrong value for OffsetReferential, expected one of `original, normalized`")
        if text(offset_type) not in ("byte", "char"):
            raise ValueError("Wrong value for OffsetType, expected one of `byte, char`")
        whole = self._whole()
        found, at = [], 0
        for part, tokens in whole._parts:
            start, end = part._range
            source = whole._source
            if offset_referential == "normalized":
                start, end, source = at, at + len(part.normalized), ""
                at = end
            elif offset_type == "byte":
                start, end = len(source[:start].encode()), len(source[:end].encode())
            found.append((part.normalized, (start, end), tokens))
        return found

    # ---- what the pipeline does with it ----

    def _whole(self) -> PreTokenizedString:
        return self

    def _replace(self, cut: Callable[[int, NormalizedString], Iterable[Part]]) -> None:
        """Each part without tokens by its parts; empty ones are left out."""
        whole, parts = self._whole(), list[Part]()
        for index, (part, tokens) in enumerate(whole._parts):
            found = [(part, tokens)] if tokens is not None else cut(index, part)
            parts += [one for one in found if one[1] is not None or one[0].normalized]
        whole._parts = parts

    def _cut(self, steps: tuple[Step, ...]) -> None:
        """Cut by our steps."""

        def cut(_index: int, part: NormalizedString) -> Iterable[Part]:
            for one in pretokenize.apply(steps, [part._aligned()]):
                place = one.spans[0][0], one.spans[-1][1]
                yield NormalizedString._of(one, part._source, place), None

        self._replace(cut)


class PreTokenizedStringRefMut(PreTokenizedString):
    """One that is lent to a caller's pre-tokenizer: it can be used only while that runs."""

    def __init__(self, pretok: PreTokenizedString) -> None:
        """Stands for the text."""
        self._lent: PreTokenizedString | None = pretok

    def _whole(self) -> PreTokenizedString:
        if self._lent is None:
            raise Exception("Cannot use a PreTokenizedStringRefMut outside `pre_tokenize`")
        return self._lent._whole()

    def _end(self) -> None:
        self._lent = None


def _copy(part: NormalizedString) -> NormalizedString:
    return NormalizedString._of(part._aligned(), part._source, part._range)


def places(part: NormalizedString, tokens: list[Token]) -> list[Span]:
    """Where the tokens of a part stand in the original text, in characters."""
    text = part._aligned()
    of_byte = [index for index, char in enumerate(text.text) for _ in char.encode()]
    found: list[Span] = []
    for token in tokens:
        start, end = token.offsets
        if start < end <= len(of_byte):
            found.append((text.spans[of_byte[start]][0], text.spans[of_byte[end - 1]][1]))
        else:
            found.append((part._range[0] + start, part._range[0] + end))
    return found
