"""Sentences as sentencepiece's trainer normalizes them: the step `SentencePiece`, without places, and fast.

It is the same function as `normalize_sentencepiece.sentencepiece` with no frozen tokens (user-defined symbols
are normalized here like any text), and reads undecodable bytes besides: each is one U+FFFD, to which no rule
applies. Such bytes are lone surrogates U+DC80 to U+DCFF in the `str` (Python's `surrogateescape`). Adds
`Normalizer`. Leaves out: where rules come from (`train_sentencepiece_rules`).
"""

from __future__ import annotations

from functools import lru_cache

from syllabary.reference.charsmap import Charsmap, charsmap
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_sentencepiece_valid import SPACE


class Normalizer:
    """The rules, made ready."""

    def __init__(self, options: SentencePieceOptions, rules: bytes) -> None:
        """`VocabularyError` for rules that are damaged."""
        self.options = options
        self.map = charsmap(rules)
        self.known: dict[str, tuple[int, str] | None] = {}

    def parts(self, text: str) -> list[str]:
        """What becomes of the text, rule by rule and character by character."""
        if self.map is None:
            return [_readable(character) for character in text]
        found = list[str]()
        known, at, end = self.known, 0, len(text)
        while at < end:
            rule = None
            for begin in (text[at], text[at : at + 2]):
                if begin not in known:
                    known[begin] = self.rule(begin)
                rule = known[begin]
                if rule is not None:
                    break
            taken, result = rule or self.far(text, at)
            found.append(result)
            at += taken
        return found

    def rule(self, begin: str) -> tuple[int, str] | None:
        """What becomes of one or two characters: how many are taken, and the result; `None` if it needs
        more."""
        if self.map is not None and goes_on(self.map, _bytes(begin)):
            return None
        return self.longest(begin)

    def far(self, text: str, at: int) -> tuple[int, str]:
        """The same for a place where more than two characters must be seen."""
        size = 4
        while (
            self.map is not None and at + size < len(text) and goes_on(self.map, _bytes(text[at : at + size]))
        ):
            size *= 2
        return self.longest(text[at : at + size])

    def longest(self, text: str) -> tuple[int, str]:
        """The longest rule that the text begins with, or its first character."""
        data = _bytes(text)
        found = self.map.longest(data, 0) if self.map is not None else None
        if found is None:
            return 1, _readable(text[0])
        return len(data[: found[0]].decode("utf-8")), found[1]

    def normalize(self, text: str) -> str:
        """The normalized text, which may be empty.

        >>> Normalizer(SentencePieceOptions(), b"").normalize("  to   be ")
        '▁to▁be'
        """
        options = self.options
        parts = self.parts(text)
        start = 0
        if options.remove_extra_whitespaces:
            while start < len(parts) and parts[start] == " ":
                start += 1
        if start == len(parts):
            return ""
        kept = parts[start:]
        if options.remove_extra_whitespaces:
            kept = _without_extra(kept)
        done = "".join(kept).replace(" ", SPACE)
        if options.remove_extra_whitespaces:
            done = done.rstrip(SPACE)  # subtle: of an empty text too, so that a prefix alone is taken away
        if not options.add_dummy_prefix:
            return done
        if options.treat_whitespace_as_suffix:
            return done + SPACE
        return SPACE + done if done or not options.remove_extra_whitespaces else ""


def goes_on(rules: Charsmap, data: bytes) -> bool:
    """Whether rules are left that begin with these bytes and are longer."""
    units = rules.units
    node = units[0] >> 10 << ((units[0] & 0x200) >> 6)
    for byte in data:
        node ^= byte
        unit = units[node]
        if unit & 0x800000FF != byte:
            return False
        node ^= unit >> 10 << ((unit & 0x200) >> 6)
    return any(units[node ^ byte] & 0x800000FF == byte for byte in range(1, 256))


def _without_extra(parts: list[str]) -> list[str]:
    """The parts, each without spaces in front if the one before it ended with one."""
    found, after_space = list[str](), True
    for part in parts:
        kept = part.lstrip(" ") if after_space else part
        if kept:
            after_space = kept.endswith(" ")
            found.append(kept)
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=4096)
def _readable(character: str) -> str:
    return "\ufffd" if "\udc80" <= character <= "\udcff" else character
