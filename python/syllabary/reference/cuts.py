"""Where a text can be cut so that the ids of the whole are those of its parts in a row.

    ids(left + right) = ids(left) + ids(right as it goes on)    for every `right` that begins so

Adds `Cuts`, which asks every stage of a tokenizer in turn: the tokens that are cut out first, each step of
normalizing, tokens found after it, each step of cutting, the split, and at last what merges may join. What a
stage says of two neighbouring characters holds whatever stands around them, so a cut is certain before the
rest of the text is there. Leaves out: what is done with it (`stream`).

Some tokenizers treat the beginning of a text in a way of its own (a space in front). There `right` goes on
where it is encoded behind `guard`, the last characters of `left`, the ids of which are then taken off. It has
ids: where an end of a word is not in the vocabulary, and no token stands for what is unknown, it is the word.

The sums of `unigram` are rounded, so they depend on all that stands before. Where all text is one piece,
`right` goes on with the sum of the way through `left` (`carries`, `ReferenceTokenizer.encode_behind`).

Digits are not cut between two of their groups where a token that is cut out first may end with a digit.
Nothing is ever cut where a token that is cut again depends on the whole run (`unused`), where unknown words
in a row are one token, where symbols are marked as the last or the first of their piece and the split says
nothing, inside a piece of WordPiece or WordLevel, and at steps of which nothing is certain: a pattern that
looks back, `FixedLength`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from syllabary.cached import cached_property
from syllabary.errors import UnknownSymbolError
from syllabary.reference import cut_steps
from syllabary.reference.added import PLAIN
from syllabary.reference.cut_parts import Known, Parts
from syllabary.reference.cut_steps import Verdict
from syllabary.reference.cut_tokens import Names, Neighbours, Weighed, Whole
from syllabary.reference.pipeline import later_names
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import TokenizerSpec

GROUP = -1  # of a context: as long as the group of digits before the place
NEAR = 64  # characters of context, with which a stretch of text is rewritten
# What is certain of a place between two characters that are rewritten each alone: no cut, a cut, or neither
# without more text. The others are no cut: white space takes along what follows, unchanged; the two
# are rewritten together for certain; or maybe, and then that is no answer.
NONE, CUT, UNSURE, SPACE, INSIDE, GLUED = range(6)
AROUND = 8  # characters before a cut, from which on the text behind it is looked at again


class Cut(NamedTuple):
    """A place in a text, in characters, and what of the text before it must be encoded with what follows."""

    at: int
    guard: str = ""


def fuses_words(spec: TokenizerSpec) -> bool:
    """Whether unknown words in a row are one token, and not bytes."""
    return spec.model == "wordlevel" and not (spec.fallback and len(spec.byte_tokens) == 256)


def openers(spec: TokenizerSpec) -> tuple[str, ...]:
    """The characters before which alone text can be cut; none if they are not known.

    Known of `Metaspace` where pieces are never cut and nothing is rewritten before: long text without a
    space is then not asked about place by place.
    """
    step = spec.pretokenizer[0] if len(spec.pretokenizer) == 1 else None
    in_pieces = spec.model == "bpe" or spec.unit == "word" or spec.split.pattern is not None
    if in_pieces or spec.normalizer or step is None or step.kind != "Metaspace":
        return ()
    return " ", str(step.options["replacement"])


class Cuts:
    """The places of one tokenizer. Text between a cut and the next is never longer than it must be.

    finds_special: whether special tokens are looked for; `special="text"` does not.
    """

    def __init__(self, spec: TokenizerSpec, finds_special: bool = True) -> None:
        """From a specification that has been checked."""
        self.spec, self.policy = spec, "allow" if finds_special else "text"
        self.guards: Known[bool] = Known()  # whether what may be a guard has ids
        self.pairs: Known[Verdict] = Known()  # what is certain of two characters, without steps
        self.sides: Known[int] = Known()  # and with steps, where each is rewritten alone
        self.contexts: Known[int] = Known()  # or else: two characters, and what becomes of them
        self.rewrites = bool(spec.normalizer or spec.pretokenizer)
        named = {**spec.added_tokens, **(spec.special_tokens if finds_special else {})}
        stages = {name: spec.matching.get(name, PLAIN).stage for name in named}
        first = {name: name for name in named if stages[name] in ("text", "frozen")}
        later = later_names(spec, named)
        self.first, self.later = Names(first, spec.matching), Names(later, spec.matching)
        self.cut_out = [*first, *later]
        self.frozen = [name for name in named if stages[name] == "frozen"]
        self.parts = Parts(spec.normalizer, self.frozen)
        whole_run = spec.model == "bpe" and spec.scores is not None
        cuts_pieces = bool(spec.pretokenizer) or spec.split.pattern is not None
        # Over what is dropped between pieces, words are joined, and unknown text in a row is one token.
        joins_words = spec.unit == "word" and (bool(spec.pretokenizer) or not spec.split.keep_unmatched)
        fuses = spec.fuse_unknown and ((whole_run and cuts_pieces) or fuses_words(spec))
        cuts_again = bool(spec.unused) and spec.model == "bpe"
        marks = spec.end_of_word is not None or spec.continuing_prefix is not None
        is_one = not cuts_pieces and (spec.model != "bpe" or marks)  # all text is a piece
        self.carries = is_one and spec.model == "unigram" and not later
        ends_words = any(step.options.get("treat_whitespace_as_suffix") for step in spec.normalizer)
        self.never = cuts_again or joins_words or fuses or ends_words or (is_one and not self.carries)
        self.openers = openers(spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return Cuts, (self.spec, self.policy == "allow")

    def last(self, text: str, low: int = 0, begins: bool = True) -> Cut | None:
        """The last cut above `low` and below the end of `text`, or `None`.

        begins: `text` begins where a text does or can be cut.
        """
        if self.never:
            return None
        if not self.rewrites:
            known = self.pairs.get
            places = range(len(text) - 1, low, -1)
            unglued = (at for at in places if known(text[at - 1 : at + 1]) != "glued")
            at = next((at for at in unglued if self.is_cut(text, at, begins)), 0)
            return Cut(at) if at else None
        if self.openers:
            place = max(text.rfind(char, low + 1, len(text) - 1) for char in self.openers)
            text = text[: place + 2]
            if place < 0:
                return None
        at, doubt = self.last_sure(text, low, begins) if self.parts.one_by_one else (0, True)
        if not at:
            return self.last_unsure(text, low, begins) if doubt else None
        start = max(0, at - AROUND)
        cut = next(self.rewritten(text[start:], begins and not start), None) if doubt else None
        if cut is None or start + cut.at <= at:
            return Cut(at, text[at - 1])
        return Cut(start + cut.at, cut.guard)

    def between(self, text: str, low: int, high: int) -> list[Cut]:
        """All cuts above `low` and below `high`, in order, that stay wherever the text begins.

        So none where a group of digits ends: where that is depends on where the digits begin. And none where
        ids depend on all that stands before.
        """
        if self.never or self.carries:
            return []
        if not self.rewrites:
            return [Cut(at) for at in range(low + 1, high) if self.is_cut(text, at, True, groups=False)]
        start = max(0, low - NEAR)
        found = self.rewritten(text[start : high + NEAR], not start, groups=False)
        return [Cut(start + cut.at, cut.guard) for cut in found if low < start + cut.at < high][::-1]

    # ---- without steps ----

    def is_cut(self, text: str, at: int, begins: bool, groups: bool = True) -> bool:
        """Whether text that no step rewrites can be cut at `at`; `groups`: at ends of groups of digits."""
        both, before, after = text[at - 1 : at + 1], text[at - 1], text[at]
        verdict = self.pairs.get(both)
        if verdict is None:
            verdict = self.pairs.note(both, self.pair(before, after))
        if verdict != "unsure":
            return verdict == "apart"
        return groups and bool(cut_steps.group_before(self.spec.split, text, at, begins))

    def pair(self, before: str, after: str) -> Verdict:
        """What is certain of two characters: a cut, none, or one where a group of digits ends."""
        if not (self.first.apart(before, after) and self.later.apart(before, after)):
            return "glued"
        verdict = cut_steps.split_apart(self.spec.split, before, after)
        if verdict != "unsure":
            return "apart" if self.merges_apart(before, after, verdict == "apart") else "glued"
        return "unsure" if self.in_group(before, after) else "glued"

    def in_group(self, before: str, after: str) -> bool:
        """Whether text is cut between two characters if a group of digits ends there."""
        grouped = all(cut_steps.is_grouped(self.spec.split, char) for char in (before, after))
        return grouped and self.has_groups and self.merges_apart(before, after, True)

    def merges_apart(self, before: str, after: str, pieces_end: bool) -> bool:
        """Whether no token joins two characters; `pieces_end`: a piece ends between them."""
        spec = self.spec
        if pieces_end != (spec.unit == "word"):
            return pieces_end  # words are merged over the ends of pieces, and are never cut themselves
        if self.carries:
            return self.weighed.apart(before, after)
        if spec.model != "bpe" or spec.end_of_word is not None or spec.continuing_prefix is not None:
            return False
        if spec.fuse_unknown and not (self.is_known(before) or self.is_known(after)):
            return False
        if self.neighbours.joined(before, after):
            return False
        return not (spec.whole_pieces and self.whole.between(before, after))

    def is_known(self, char: str) -> bool:
        """Whether a character is a symbol that is not unknown."""
        spec, data = self.spec, char.encode()
        if data in (self.scored if spec.scores is not None else spec.alphabet):
            return True
        return spec.fallback and all(byte in self.byte_values for byte in data)

    # ---- with steps ----

    def last_sure(self, text: str, low: int, begins: bool) -> tuple[int, bool]:
        """The last cut between two characters that are rewritten each alone, 0 if there is none above `low`.

        And whether one may stand behind it that only more of the text can tell (`rewritten`).
        """
        known, parts, end = self.sides.get, self.parts, len(text) - 1
        behind, here = (self.side(text, max(0, at), begins) for at in (end, end - 1))
        doubt = closed = False  # closed: a part ends behind, which is not the last one then
        for at in range(end - 1, low, -1):
            before = known(text[at - 2 : at])
            if before is None:
                before = self.side(text, at - 1, begins)
            closed = closed or behind < SPACE
            if (here or before or behind) and here != SPACE and here != INSIDE:
                if here > CUT or before >= INSIDE or behind >= INSIDE:
                    doubt = True
                elif here == CUT and closed:
                    if before != SPACE and (not parts.far or parts.stay_apart(text, at, begins)):
                        return at, doubt
                    doubt = True
            behind, here = here, before
        return 0, doubt

    def last_unsure(self, text: str, low: int, begins: bool) -> Cut | None:
        """The last cut above `low`, read off what becomes of the text, from as far behind as is needed."""
        size = NEAR // 4
        while True:
            start = max(0, low - 4 * NEAR, len(text) - size)
            for cut in self.rewritten(text[start:], begins and not start):
                if start + cut.at <= low:
                    return None
                return Cut(start + cut.at, cut.guard)
            if start <= low:
                return None
            size *= 4

    def side(self, text: str, at: int, begins: bool) -> int:
        """What is certain of a place, if neither of the two characters there is rewritten with another."""
        if at == 0:
            return NONE if begins else GLUED
        both, left, right = text[at - 1 : at + 1], text[at - 1], text[at]
        found = self.sides.get(both)
        if found is not None:
            return found
        made = self.parts.sides(left, right)
        if made is None:
            if self.parts.takes_along(left, right):
                return self.sides.note(both, SPACE)
            return self.sides.note(both, INSIDE if self.parts.inside(left, right) else GLUED)
        wanted = self.context(left, right, made[0][-1], made[1][0])
        if wanted == 1 and self.has_ids(left) and self.parts.alone(left).endswith(made[0]):
            return self.sides.note(both, CUT)
        return self.sides.note(both, UNSURE if wanted else NONE)

    def rewritten(self, text: str, begins: bool, groups: bool = True) -> Iterator[Cut]:
        """The cuts of text that steps rewrite, the last first; what becomes of its last part may change.

        Nor is it certain what becomes of its first, unless the text begins there (`begins`).
        """
        parts, known = self.parts.of(text, begins), 0 if begins else 1
        joined = "".join(part.text for part in parts)
        end = len(joined)
        row = end  # where the row of digits begins
        for at in range(len(parts) - 1, known, -1):
            end -= len(parts[at].text)
            if at == len(parts) - 1:
                continue
            place = parts[at].start
            # Of what stands behind a token, maybe nothing is left: the run behind it begins at the place.
            if any(map(self.first.may_end, text[parts[at - 1].start : place - 1])):
                continue
            both = text[place - 1 : place + 1] + joined[end - 1 : end + 1]
            wanted = self.contexts.get(both)
            if wanted is None:
                wanted = self.contexts.note(both, self.context(*both))
            if wanted == GROUP:
                row = row if row < end else cut_steps.row_of_digits(self.spec.split, joined, end)
                size = cut_steps.group_before(self.spec.split, joined, end, False, row)
                wanted = size if groups and self.has_groups else 0
            first, behind = at - 1, len(parts[at - 1].text)
            while behind < wanted and first > known:
                first -= 1
                behind += len(parts[first].text)
            if wanted == 1:
                starts = [part.start for part in parts[max(known, at - NEAR) : at]]
                first = at - self.guarded(text[:place], starts)
            guard = text[parts[first].start : place]
            made = "".join(part.text for part in parts[first:at])
            enough = wanted == 1 or (wanted and behind == wanted)
            if enough and self.has_ids(guard) and self.parts.alone(guard).endswith(made):
                yield Cut(place, guard)

    def guarded(self, text: str, starts: list[int]) -> int:
        """How many of the last parts of a text, which begin at `starts`, are a guard that has ids.

        Tried are one, two, four and so on, as far as they have `NEAR` characters; maybe none has ids.
        """
        size = 1
        while (
            size < len(starts)
            and len(text) - starts[-size] < NEAR
            and not self.has_ids(text[starts[-size] :])
        ):
            size = min(2 * size, len(starts))
        return size

    def context(self, left: str, right: str, before: str, after: str) -> int:
        """Whether text can be cut between `left` and `right`, of which `before` and `after` are made.

        0 if not, else how much of what is made must stand before the place for what follows to go on; `GROUP`
        where that is a group of digits.
        """
        first, later = self.first, self.later
        if first.may_end(left) or not first.apart(left, right):
            return 0
        if later.may_end(before) or not later.apart(before, after):
            return 0
        for step in self.spec.pretokenizer:
            verdict = cut_steps.cuts_apart(step, before, after)
            if verdict != "glued":
                return int(verdict == "apart" and self.merges_apart(before, after, True))
            before, after = cut_steps.turned(step, before, after)
        verdict = cut_steps.split_apart(self.spec.split, before, after)
        if verdict == "unsure":
            return GROUP if self.in_group(before, after) else 0
        return int(self.merges_apart(before, after, verdict == "apart"))

    def has_ids(self, guard: str) -> bool:
        """Whether text can be encoded by itself: `w` alone may be unknown where `low` is a token."""
        if self.spec.unknown is not None or self.has_all_bytes:
            return True
        found = self.guards.get(guard)
        if found is not None:
            return found
        try:
            self.reference.encode(guard, self.policy)
        except UnknownSymbolError:
            return self.guards.note(guard, False)
        return self.guards.note(guard, True)

    # ---- what tokens are made of ----

    @cached_property
    def has_all_bytes(self) -> bool:
        """Whether all text has ids, by its bytes if nothing else."""
        spec = self.spec
        marks = spec.end_of_word is not None or spec.continuing_prefix is not None
        bytewise = spec.model == "bpe" and not marks and (spec.unit == "byte" or spec.fallback)
        return bytewise and len(self.byte_values) == 256

    @cached_property
    def has_groups(self) -> bool:
        """Whether groups of digits begin where digits do: no token that is cut out ends with one."""
        made = map(self.parts.alone, self.cut_out)
        ends = {text[-1:] for text in (*self.cut_out, *made)} - {""}
        return not any(cut_steps.is_grouped(self.spec.split, char) for char in ends)

    @cached_property
    def reference(self) -> ReferenceTokenizer:
        """What encodes a guard."""
        return ReferenceTokenizer(self.spec)

    @cached_property
    def neighbours(self) -> Neighbours:
        """What stands side by side in tokens."""
        return Neighbours(self.spec.tokens.values())

    @cached_property
    def weighed(self) -> Weighed:
        """The tokens of Unigram."""
        return Weighed(self.spec)

    @cached_property
    def whole(self) -> Whole:
        """Tokens that only a whole piece becomes."""
        return Whole(self.spec)

    @cached_property
    def scored(self) -> frozenset[bytes]:
        """What merging by score may make."""
        return frozenset(self.spec.tokens[token_id] for token_id in self.spec.scores or ())

    @cached_property
    def byte_values(self) -> frozenset[int]:
        """The bytes that other characters are spelled with."""
        symbols = {symbol[0] for symbol in self.spec.alphabet if len(symbol) == 1}
        return frozenset({*self.spec.byte_tokens.values(), *symbols})
