"""Offsets without the white space at the ends of a token, as Hugging Face's ByteLevel trims them.

Adds `Trim`. Leaves out: what a token's span is before (`groups`).
Source: `pre_tokenizers/byte_level.rs`, `process_offsets`: white space is what begins or ends the token's
spelling, in which a space of the byte alphabet is `Ġ`. It counts characters off the offsets and guesses
which space is not in the text; here each symbol knows what it stands for, and takes just that off.
"""

from __future__ import annotations

from syllabary.reference.added import is_in
from syllabary.reference.aligned import Span
from syllabary.reference.bytes_to_unicode import BYTE_TO_CHARACTER, spell
from syllabary.reference.groups import Token
from syllabary.spec import TokenizerSpec

SPACE = BYTE_TO_CHARACTER[ord(" ")]


class Trim:
    """What is trimmed of the tokens of a specification."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """See how white space is spelled."""
        self.spec = spec
        self.untouched = {spec.unknown, *spec.byte_tokens}
        spelled = spec.unit == "byte" or any(step.kind == "ByteLevel" for step in spec.pretokenizer)
        self.only_spaces = spelled and not spec.normalizer  # then no other white space is spelled as such
        self.ends: dict[int, Span] = {}  # id -> how many symbols of white space there are before and after

    def span(self, token: Token, source: bytes, text: str | None = None) -> Span:
        """The bytes of the original, `source`, that are left of a token.

        Of one that is all white space none: its end, or its start if that white space is not in the original.
        text: of a special or added token, with the white space that it took along.
        """
        if text is None and token.id not in self.ends:
            self.ends[token.id] = white_ends(self.spelling(token.id))
        before, after = self.ends[token.id] if text is None else white_ends(text)
        if before < len(token.spans):
            start = token.spans[before][0]  # a prefix (##) is no symbol: all of them may be white space
            return start, token.spans[-1 - after][1] if after < len(token.spans) else start
        start, end = token.spans[-1]
        return (end, end) if text is not None or self.is_there(source[start:end].decode()) else (start, start)

    def is_there(self, original: str) -> bool:
        """Whether white space that a token ends with comes from this, or was put in front of it."""
        if self.only_spaces:
            return original == " "
        return all(is_in(character, r"\s") for character in original)

    def spelling(self, token_id: int) -> str:
        """The characters of a token, one for each of its symbols; none of one that stands for other text."""
        if token_id in self.untouched or token_id not in self.spec.tokens:
            return ""
        token = self.spec.tokens[token_id]
        return spell(token) if self.spec.unit == "byte" else token.decode("utf-8", "replace")


def white_ends(text: str) -> Span:
    """How many characters at the beginning and at the end are white space.

    >>> white_ends("Ġa \\t"), white_ends("  ")
    ((1, 2), (2, 2))
    """
    white = [character == SPACE or is_in(character, r"\s") for character in text]
    before = [*white, False].index(False)
    return before, [*white[::-1], False].index(False)
