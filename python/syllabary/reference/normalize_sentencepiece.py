"""Normalizing as sentencepiece does it, the step `SentencePiece`.

Its rules, spaces at the ends and in a row taken away, a space in front (or behind), spaces spelled `▁`.
Source: sentencepiece's `normalizer.cc`. Adds `sentencepiece`, with its spans: a character reaches from where
it came from to where the next one came from. Leaves out: the rules (`charsmap`) and malformed UTF-8, which no
text holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from syllabary.reference.aligned import Aligned, Span, check_length
from syllabary.reference.charsmap import Charsmap

SPACE = "\u2581"


@dataclass(frozen=True)
class Rules:
    """What the step is told: its options, by their names, and the tokens that it leaves alone."""

    charsmap: Charsmap | None
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool
    frozen: Collection[str] = ()


def prefixes(text: str, rules: Rules) -> Iterator[tuple[str, int]]:
    """The text, prefix by prefix, as `(what becomes of it, where it began)`.

    A prefix is the longest of the frozen tokens, else of the rules, else one character.
    """
    lengths = sorted({len(token) for token in rules.frozen if token}, reverse=True)
    data = text.encode("utf-8")
    at = byte = 0
    while at < len(text):
        token = next((text[at : at + n] for n in lengths if text[at : at + n] in rules.frozen), None)
        found = rules.charsmap.longest(data, byte) if rules.charsmap and token is None else None
        if found is not None:
            length = len(data[byte : byte + found[0]].decode("utf-8"))
            result = found[1]
        else:
            result = token or text[at]
            length = len(result)
        yield result, at
        byte += len(text[at : at + length].encode("utf-8"))
        at += length


def normalized(text: str, rules: Rules) -> list[tuple[str, int]]:
    """The characters of the normalized text, each with where it came from, and the end with its place."""
    space = SPACE if rules.escape_whitespaces else " "
    parts = list(prefixes(text, rules))
    skipped = 0
    if rules.remove_extra_whitespaces:
        while skipped < len(parts) and parts[skipped][0] == " ":
            skipped += 1
    if skipped == len(parts):
        return []
    start = parts[skipped][1]
    before = rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix
    found = [(space, start)] if before else []
    after_space = rules.remove_extra_whitespaces
    for result, origin in parts[skipped:]:
        kept = result.lstrip(" ") if after_space else result
        found += [(space if char == " " else char, origin) for char in kept]
        check_length(len(found), len(text))
        if kept:
            after_space = rules.remove_extra_whitespaces and kept.endswith(" ")
    end = len(text)
    while rules.remove_extra_whitespaces and found and found[-1][0] == space:
        end = found.pop()[1]
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        found.append((space, end))
    return [*found, ("", end)]


def sentencepiece(text: Aligned, rules: Rules) -> Aligned:
    """A text normalized by these rules.

    >>> rules = Rules(None, True, True, True, False)
    >>> done = sentencepiece(Aligned.of(" to  be "), rules)
    >>> done.text, done.spans
    ('▁to▁be', [(1, 1), (1, 2), (2, 3), (3, 5), (5, 6), (6, 7)])
    """
    chars = normalized(text.text, rules)
    places = [start for start, _ in text.spans] + [end for _, end in text.spans[-1:]]
    spans: list[Span] = [(places[here], places[there]) for (_, here), (_, there) in pairwise(chars)]
    return Aligned("".join(char for char, _ in chars), spans)
