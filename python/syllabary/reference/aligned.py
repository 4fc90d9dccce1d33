"""Text on its way through the steps, each character with the place in the original that it came from.

Adds `Aligned` and its one way to rewrite text: the rules of tokenizers' `NormalizedString` (its
`tokenizer/normalizer.rs`), so that spans are the same. Leaves out: what is rewritten (`normalize`,
`pretokenize`). All places are counted in characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from syllabary.errors import TextError

Span = tuple[int, int]
# Steps may make a text so many times as long and so many characters longer: a few could fill any memory.
TIMES, MORE = 64, 4 << 20  # as the engine has it, in bytes


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text with, for each of its characters, the range `(start, end)` in the original text."""

    text: str
    spans: list[Span]

    @staticmethod
    def of(text: str, base: int = 0) -> Aligned:
        """A text that is still the original, or a run of it that begins at `base`.

        >>> Aligned.of("ab", 3).spans
        [(3, 4), (4, 5)]
        """
        return Aligned(text, [(at, at + 1) for at in range(base, base + len(text))])

    def __len__(self) -> int:
        return len(self.text)

    def slice(self, start: int, end: int) -> Aligned:
        """The characters `start` to `end`."""
        return Aligned(self.text[start:end], self.spans[start:end])

    def original(self, start: int, end: int) -> Span:
        """Where the characters `start` to `end` (one at least) stand in the original text."""
        return self.spans[start][0], self.spans[end - 1][1]

    def rewrite(self, changes: Iterable[tuple[str, int]], removed: int = 0) -> Aligned:
        """A new text, given character by character, and how each came about.

        changes: `(character, change)`. 0: it stands for the next character of the old text. Below 0: so it
            does, and so many more after that one are gone. Above 0: it is new, and has the span of the old
            character before it.
        removed: how many characters are gone at the start.

        >>> Aligned.of("ae\u0301").rewrite([("a", 0), ("\u00e9", -1)]).spans
        [(0, 1), (1, 2)]
        """
        text, spans, at = [], [], removed
        for char, change in changes:
            text.append(char)
            if change > 0:
                spans.append(self.spans[at - 1] if at else (self.spans[0][0],) * 2)
            else:
                spans.append(self.spans[at])
                at += 1 - change
        return Aligned("".join(text), spans)

    def replace(self, matches: Iterable[Span], content: str) -> Aligned:
        """Each match (`(start, end)` in this text, in order) replaced; its last character's span stays."""
        found = list(matches)
        check_length(len(self) + sum(len(content) + start - end for start, end in found), len(self))
        text, spans, last = [], list[Span](), 0
        for start, end in found:
            text += [self.text[last:start], content]
            spans += self.spans[last:start]
            spans += self.spans[end - 1 : end] * len(content)
            last = end
        return Aligned("".join(text) + self.text[last:], spans + self.spans[last:])


def check_length(length: int, before: int) -> None:
    """Raise `TextError` for a text that steps make much longer than the `before` characters it had."""
    if length > TIMES * before + MORE:
        raise TextError(
            f"a step makes a text of {before} characters more than {TIMES} times as long; use other steps"
        )
