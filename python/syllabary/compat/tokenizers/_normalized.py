"""`NormalizedString`: a text that is rewritten, each character with its place in the original.

Adds the class over `reference.aligned.Aligned`, and `NormalizedStringRefMut`, one that is lent to a
caller's normalizer. Leaves out: normalizers. All places are counted in characters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syllabary.compat.tokenizers._regex import matches
from syllabary.compat.tokenizers._values import instance
from syllabary.compat.tokenizers._values import text as read_text
from syllabary.reference import normalize
from syllabary.reference.aligned import Aligned
from syllabary.reference.step_match import arrange, cover
from syllabary.reference.steps import BEHAVIOR
from syllabary.spec import Step

Change = tuple[str, int]
WRONG_BEHAVIOR = (
    "Wrong value for SplitDelimiterBehavior, expected one of: "
    "`removed, isolated, merged_with_previous, merged_with_next, contiguous`"
)


class NormalizedString:
    """A text and what it was."""

    def __init__(self, sequence: str) -> None:
        """From the original text."""
        sequence = read_text(sequence)
        self._text = Aligned.of(sequence)
        self._source, self._range = sequence, (0, len(sequence))

    @classmethod
    def _of(cls, text: Aligned, source: str, place: tuple[int, int]) -> NormalizedString:
        """A part: its text, the whole original, and its place there."""
        made = object.__new__(cls)
        made._text, made._source, made._range = text, source, place
        return made

    def _aligned(self) -> Aligned:
        return self._text

    def _become(self, text: Aligned) -> None:
        self._text = text

    @property
    def normalized(self) -> str:
        """What it is now."""
        return self._text.text

    @property
    def original(self) -> str:
        """What it was."""
        return self._source[slice(*self._range)]

    # ---- rewriting ----

    def _apply(self, kind: str, **options: Any) -> None:
        self._become(normalize.apply([Step(kind, options)], self._aligned()))

    def nfd(self) -> None:
        """To the form NFD."""
        self._apply("NFD")

    def nfkd(self) -> None:
        """To the form NFKD."""
        self._apply("NFKD")

    def nfc(self) -> None:
        """To the form NFC."""
        self._apply("NFC")

    def nfkc(self) -> None:
        """To the form NFKC."""
        self._apply("NFKC")

    def lowercase(self) -> None:
        """To lower case."""
        self._apply("Lowercase")

    def uppercase(self) -> None:
        """To upper case."""
        self._become(normalize.spell(self._aligned(), str.upper))

    def lstrip(self) -> None:
        """Without white space in front."""
        self._apply("Strip", strip_left=True, strip_right=False)

    def rstrip(self) -> None:
        """Without white space behind."""
        self._apply("Strip", strip_left=False, strip_right=True)

    def strip(self) -> None:
        """Without white space at the ends."""
        self._apply("Strip", strip_left=True, strip_right=True)

    def prepend(self, s: str) -> None:
        """Put characters in front; an empty text stays."""
        self._become(normalize.prepend(self._aligned(), s))

    def append(self, s: str) -> None:
        """Put characters behind, which stand where the last one does."""
        text = self._aligned()
        last = text.spans[-1] if text.spans else (self._range[0],) * 2
        self._become(Aligned(text.text + s, text.spans + [last] * len(s)))

    def clear(self) -> None:
        """Take all away."""
        self._become(Aligned("", []))

    def filter(self, func: Callable[[str], bool]) -> None:
        """Keep the characters for which a function is true."""
        if not callable(func):
            raise TypeError("`filter` expect a callable with the signature: `fn(char) -> bool`")
        self._become(normalize.keep(self._aligned(), func))

    def map(self, func: Callable[[str], str]) -> None:
        """Make of each character the one that a function gives."""
        if not callable(func):
            raise TypeError("`map` expect a callable with the signature: `fn(char) -> char`")
        self._become(normalize.spell(self._aligned(), lambda char: func(char)[0]))

    def for_each(self, func: Callable[[str], object]) -> None:
        """Call a function with each character."""
        if not callable(func):
            raise TypeError("`for_each` expect a callable with the signature: `fn(char)`")
        for char in self.normalized:
            func(char)

    def replace(self, pattern: Any, content: str) -> None:
        """Replace what a text or a `Regex` finds."""
        text = self._aligned()
        self._become(text.replace(matches(pattern, text.text), content))

    # ---- parts ----

    def split(self, pattern: Any, behavior: Any) -> list[NormalizedString]:
        """The parts that a text or a `Regex` cuts it into."""
        instance(behavior, str)
        if behavior not in BEHAVIOR:
            raise ValueError(WRONG_BEHAVIOR)
        text = self._aligned()
        pieces = cover(len(text), matches(pattern, text.text)) or [(0, 0, False)]
        return [self._part(start, end) for start, end in arrange(pieces, behavior)]

    def slice(self, range: Any) -> NormalizedString | None:  # noqa: A002 (their name)
        """The characters of a range (a number, a pair, a slice); `None` for one that begins behind the last.

        A range that ends beyond the text, or before it begins, goes to the end.
        """
        size = len(self._aligned())
        if isinstance(range, slice):
            start, end, _step = range.indices(size)
        elif isinstance(range, int):
            if -range > size:
                raise ValueError(f"{-range} is bigger than max len")
            start = range + size if range < 0 else range
            end = start + 1
        else:
            instance(range, tuple, list)
            start, end = range
        if start >= size and (start, end) != (0, 0):
            return None
        return self._part(start, end if start <= end <= size else size)

    def __getitem__(self, range: Any) -> NormalizedString | None:  # noqa: A002 (their name)
        """`slice`."""
        return self.slice(range)

    def _part(self, start: int, end: int) -> NormalizedString:
        text = self._aligned()
        part = text.slice(start, end)
        if part.spans:
            place = part.spans[0][0], part.spans[-1][1]
        else:
            at = text.spans[start][0] if start < len(text) else self._range[1]
            place = at, at
        return NormalizedString._of(part, self._source, place)

    def __repr__(self) -> str:
        """Both texts."""
        return f'NormalizedString(original="{self.original}", normalized="{self.normalized}")'

    def __str__(self) -> str:
        """What it is now."""
        return self.normalized


class NormalizedStringRefMut(NormalizedString):
    """A string that is lent to a caller's normalizer: it can be used only while that runs."""

    def __init__(self, normalized: NormalizedString) -> None:
        """Stands for the string."""
        self._lent: NormalizedString | None = normalized
        self._source, self._range = normalized._source, normalized._range

    def _aligned(self) -> Aligned:
        return self._whole()._aligned()

    def _become(self, text: Aligned) -> None:
        self._whole()._become(text)

    def _whole(self) -> NormalizedString:
        if self._lent is None:
            raise Exception("Cannot use a NormalizedStringRefMut outside `normalize`")
        return self._lent

    def _end(self) -> None:
        self._lent = None

    @property
    def normalized(self) -> str:
        """What it is now."""
        return self._aligned().text

    @property
    def original(self) -> str:
        """What it was."""
        return self._whole().original
