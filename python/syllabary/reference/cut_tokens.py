"""Which characters stand side by side in a token, and which special and added tokens a place may touch.

    no token holds `ab`    =>    no merge joins what stands on both sides of a place between `a` and `b`

A merge makes a token, and a token that reaches over the place has both characters there. So the two sides are
merged as if each stood alone. Adds `Neighbours`, `Whole` and `Names`. Leaves out: pieces (`cut_steps`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from syllabary.reference.added import PLAIN, is_in
from syllabary.reference.merge import by_merges, by_rank_order, last, merge_states
from syllabary.reference.symbols import symbols
from syllabary.reference.unigram import Unigram
from syllabary.spec import Matching, TokenizerSpec


class Neighbours:
    """What stands side by side in tokens."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        """Read all tokens; they may begin and end inside a character."""
        self.characters: set[tuple[str, str]] = set()
        self.bytes: set[tuple[int, int]] = set()  # where one of the two characters is not whole
        for token in tokens:
            text = token.decode("utf-8", "surrogateescape")
            if len(text) > 1:
                self.characters.update(pairwise(text))
        for pair in [pair for pair in self.characters if max(pair) >= "\ud800"]:
            left, right = (stray(char) for char in pair)
            if left or right:
                self.characters.remove(pair)
                self.bytes.add((left or pair[0].encode()[-1], right or pair[1].encode()[0]))

    def joined(self, before: str, after: str) -> bool:
        """Whether a token may hold the end of one character and the beginning of the other.

        >>> found = Neighbours(["ab".encode(), "é".encode()[1:] + b"a"])
        >>> found.joined("a", "b"), found.joined("b", "a"), found.joined("é", "a")
        (True, False, True)
        """
        return (before, after) in self.characters or (before.encode()[-1], after.encode()[0]) in self.bytes


def stray(char: str) -> int:
    """The byte that stands in a decoded token for itself, as it is no whole character; else 0."""
    return ord(char) - 0xDC00 if "\udc80" <= char <= "\udcff" else 0


class Whole:
    """Tokens that a piece becomes at once, but that merging its symbols would not make.

    A part of a piece that is one would become it alone, and not as a part: no cut may stand there.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """From a specification whose `whole_pieces` is set."""
        self.spec = spec
        self.rule = by_rank_order(spec.tokens) if spec.merges is None else by_merges(spec.merges)
        self.first: dict[str, list[str]] = {}
        self.last: dict[str, list[str]] = {}
        for token_id, token in spec.tokens.items():
            text = token.decode("utf-8", "ignore")
            several = len(token if spec.unit == "byte" else text) > 1  # symbols
            if several and text.encode() == token and token_id not in spec.byte_tokens:
                self.first.setdefault(text[0], []).append(text)
                self.last.setdefault(text[-1], []).append(text)
        self.known: dict[tuple[str, bool], bool] = {}

    def between(self, before: str, after: str) -> bool:
        """Whether such a token may end with the one character or begin with the other."""
        return self.has(before, False) or self.has(after, True)

    def has(self, char: str, begins: bool) -> bool:
        """Whether one begins, or ends, with a character."""
        if (char, begins) not in self.known:
            texts = (self.first if begins else self.last).get(char, [])
            self.known[char, begins] = not all(map(self.is_made, texts))
        return self.known[char, begins]

    def is_made(self, text: str) -> bool:
        """Whether merging the symbols of a token makes it."""
        ids = [self.spec.alphabet.get(symbol, -1) for symbol in symbols(text, self.spec.unit)]
        return -1 not in ids and len(last(merge_states(ids, self.rule))) == 1


class Weighed:
    """The tokens of Unigram, where all text is one piece."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """From a specification of that model."""
        self.entries = Unigram(spec).entries
        # Text that is the unknown token by its name is unknown too.
        self.unknown = set("".join(name for name, entry in self.entries.items() if entry.id == spec.unknown))
        self.neighbours = Neighbours(name.encode() for name in self.entries)
        by_bytes = spec.single_precision and spec.fallback and len(spec.byte_tokens) == 256
        # Unknown characters in a row are one token, or looked up together.
        self.fuses = not by_bytes and (spec.fuse_unknown or not spec.single_precision)

    def apart(self, before: str, after: str) -> bool:
        """Whether no token, and no unknown text, reaches over a place."""
        if (before, after) in self.neighbours.characters:
            return False
        return not self.fuses or self.is_known(before) or self.is_known(after)

    def is_known(self, char: str) -> bool:
        """Whether a character has a token, and is no part of unknown text."""
        return char in self.entries and char not in self.unknown


class Names:
    """Tokens that are looked for in a text, and the places that none of them reaches over."""

    def __init__(self, names: Mapping[str, str], matching: Mapping[str, Matching]) -> None:
        """`names`: how each is spelled in this text -> its name, under which `matching` has its flags."""
        flags = {text: matching.get(name, PLAIN) for text, name in names.items()}
        self.inside = {pair for text in names for pair in pairwise(text)}
        self.lasts = {text[-1] for text in names}
        self.word_firsts = {text[0] for text in names if flags[text].single_word}
        self.word_lasts = {text[-1] for text in names if flags[text].single_word}
        self.left_firsts = {text[0] for text in names if flags[text].lstrip}
        self.right_lasts = {text[-1] for text in names if flags[text].rstrip}

    def apart(self, before: str, after: str) -> bool:
        """Whether the names in both sides are found as if each stood alone.

        >>> found = Names({"<s>": "<s>"}, {"<s>": Matching(rstrip=True)})
        >>> found.apart("a", "<"), found.apart("<", "s"), found.apart(">", " "), found.apart(" ", " ")
        (True, False, False, False)
        """
        if (before, after) in self.inside:
            return False
        if before in self.word_lasts and is_in(after, r"\w"):
            return False
        if after in self.word_firsts and is_in(before, r"\w"):
            return False
        if not self.left_firsts and not self.right_lasts:
            return True
        spaces = is_in(before, r"\s"), is_in(after, r"\s")
        if self.left_firsts and spaces[0] and (spaces[1] or after in self.left_firsts):
            return False
        return not (self.right_lasts and spaces[1] and (spaces[0] or before in self.right_lasts))

    def may_end(self, char: str) -> bool:
        """Whether a token, with the white space that it takes along, may end with a character."""
        return char in self.lasts or (bool(self.right_lasts) and is_in(char, r"\s"))
