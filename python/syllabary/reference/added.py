r"""Where special and added tokens are in a text: leftmost, longest, with the flags of Hugging Face's library.

Adds `find`. Leaves out: which tokens are looked for and when (`special`, `pipeline`).
Source: `tokenizer/added_vocabulary.rs`, `find_matches`; `\w` and white space are those of the Rust crate
`regex`. One rule is ours: the search goes on behind the white space that a token took along, where
tokenizers finds tokens inside it and gives that text twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from syllabary.on_demand import later
from syllabary.spec import Matching

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")

PLAIN = Matching()


@dataclass(frozen=True, slots=True)
class Match:
    """A token found: the characters it takes, white space and all, and its name."""

    start: int
    end: int
    name: str


@lru_cache(maxsize=64)
def alternation(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """The leftmost of these texts, and of those that start together the longest."""
    return re.compile("|".join(map(re.escape, sorted(spellings, key=len, reverse=True))))


def find(text: str, names: Mapping[str, str], matching: Mapping[str, Matching]) -> Iterator[Match]:
    """The tokens in `text`, none overlapping another.

    names: how each is spelled in this text -> its name, under which `matching` has its flags.

    >>> flags = {"<m>": Matching(lstrip=True), "is": Matching(single_word=True)}
    >>> [(m.start, m.end) for m in find("is this  <m>", {"<m>": "<m>", "is": "is"}, flags)]
    [(0, 2), (7, 12)]
    """
    if not names:
        return
    pattern = alternation(tuple(names))
    floor = at = 0  # where the last token ended; where to search
    while found := pattern.search(text, at):
        start, end = found.span()
        name = names[found[0]]
        flags = matching.get(name, PLAIN)
        at = end
        if flags.single_word and touches_a_word(text, start, end):
            continue
        while flags.lstrip and start > floor and is_in(text[start - 1], r"\s"):
            start -= 1
        while flags.rstrip and end < len(text) and is_in(text[end], r"\s"):
            end += 1
        yield Match(start, end, name)
        floor = at = end


def touches_a_word(text: str, start: int, end: int) -> bool:
    """Whether a word character stands right before or after these characters."""
    return (start > 0 and is_in(text[start - 1], r"\w")) or (end < len(text) and is_in(text[end], r"\w"))


@lru_cache(maxsize=4096)
def is_in(character: str, character_class: str) -> bool:
    """Whether a class of Rust's regexes has this character."""
    return patterns.to_regex(character_class, "tiktoken").match(character) is not None
