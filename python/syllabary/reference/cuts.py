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
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from syllabary.errors import UnknownSymbolError
from syllabary.reference import cut_steps, normalize
from syllabary.reference.added import PLAIN
from syllabary.reference.aligned import Aligned
from syllabary.reference.cut_steps import Verdict
from syllabary.reference.cut_tokens import Names, Neighbours, Weighed, Whole
from syllabary.reference.pipeline import later_names
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.spec import Step, TokenizerSpec

Found = TypeVar("Found")
GROUP = -1  # of a context: as long as the group of digits before the place
NEAR = 64  # characters of context, with which a stretch of text is rewritten
MEMORY = 10_000  # parts, and places, of which it is noted what a step makes of them


class Cut(NamedTuple):
    """A place in a text, in characters, and what of the text before it must be encoded with what follows."""

    at: int
    guard: str = ""


class Part(NamedTuple):
    """A stretch of text that is rewritten as if it stood alone: where it begins, and what becomes of it."""

    start: int
    text: str


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
        self.guards: dict[str, bool] = {}  # whether what may be a guard has ids
        self.guards_alone: dict[str, str] = {}  # and what becomes of it
        self.pairs: dict[str, Verdict] = {}  # what is certain of two characters, without steps
        self.contexts: dict[str, int] = {}  # and with steps: two characters, and what becomes of them
        self.rewritten_apart: dict[int, dict[str, bool]] = {}  # step -> two characters -> its answer
        self.rewrites = bool(spec.normalizer or spec.pretokenizer)
        self.known: dict[int, dict[str, str]] = {}  # step -> part -> what becomes of it
        named = {**spec.added_tokens, **(spec.special_tokens if finds_special else {})}
        stages = {name: spec.matching.get(name, PLAIN).stage for name in named}
        first = {name: name for name in named if stages[name] in ("text", "frozen")}
        later = later_names(spec, named)
        self.first, self.later = Names(first, spec.matching), Names(later, spec.matching)
        self.cut_out = [*first, *later]
        self.frozen = [name for name in named if stages[name] == "frozen"]
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
            places = (at for at in range(len(text) - 1, low, -1) if self.is_cut(text, at, begins))
            at = next(places, None)
            return None if at is None else Cut(at)
        if self.openers:
            place = max(text.rfind(char, low + 1, len(text) - 1) for char in self.openers)
            text = text[: place + 2]
            if place < 0:
                return None
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
            verdict = noted(self.pairs, both, self.pair(before, after))
        if verdict != "unsure":
            return verdict == "apart"
        ends = groups and self.has_groups and cut_steps.group_before(self.spec.split, text, at, begins)
        return bool(ends) and self.merges_apart(before, after, True)

    def pair(self, before: str, after: str) -> Verdict:
        """What is certain of two characters: a cut, none, or one where a group of digits ends."""
        if not (self.first.apart(before, after) and self.later.apart(before, after)):
            return "glued"
        verdict = cut_steps.split_apart(self.spec.split, before, after)
        if verdict == "unsure":
            return verdict
        return "apart" if self.merges_apart(before, after, verdict == "apart") else "glued"

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

    def rewritten(self, text: str, begins: bool, groups: bool = True) -> Iterator[Cut]:
        """The cuts of text that steps rewrite, the last first; what becomes of its last part may change."""
        parts = self.parts(text, begins)
        joined = "".join(part.text for part in parts)
        end = len(joined)
        for at in range(len(parts) - 1, 0, -1):
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
                wanted = noted(self.contexts, both, self.context(*both))
            if wanted == GROUP:
                wanted = self.behind_group(joined, end) if groups else 0
            first, behind = at - 1, len(parts[at - 1].text)
            while behind < wanted and first > 0:
                first -= 1
                behind += len(parts[first].text)
            if wanted == 1:
                while first > 0 and not self.has_ids(text[parts[first].start : place]):
                    first -= 1
            guard = text[parts[first].start : place]
            made = "".join(part.text for part in parts[first:at])
            enough = wanted == 1 or (wanted and behind == wanted)
            if enough and self.has_ids(guard) and self.alone(guard).endswith(made):
                yield Cut(place, guard)

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
            return GROUP if self.merges_apart(before, after, True) else 0
        return int(self.merges_apart(before, after, verdict == "apart"))

    def behind_group(self, joined: str, end: int) -> int:
        """How long the group of digits is that ends at a place of rewritten text; 0 if none does."""
        return cut_steps.group_before(self.spec.split, joined, end, False) if self.has_groups else 0

    def parts(self, text: str, begins: bool) -> list[Part]:
        """A text as the normalizer rewrites it, part by part; the last may change with what follows.

        Where the text begins in the middle of another, its first parts are one: what becomes of its first
        characters is not certain.
        """
        parts = [Part(at, char) for at, char in enumerate(text)]
        for step in self.spec.normalizer:
            joined = "".join(part.text for part in parts)
            grown, end = parts[:1], len(parts[0].text) if parts else 0
            known = {} if cut_steps.reads_on(step) else self.rewritten_apart.setdefault(id(step), {})
            for part in parts[1:]:
                apart = known.get(joined[end - 1 : end + 1])
                if apart is None:
                    apart = self.rewrites_apart(step, joined, end, begins)
                grown = add(grown, part, apart and (begins or len(grown) > 1 or part is not parts[1]))
                end += len(part.text)
            parts = self.applied(step, grown)
        return parts

    def rewrites_apart(self, step: Step, text: str, at: int, begins: bool) -> bool:
        """What a step says of a place; of most steps it is noted for the two characters there."""
        found = cut_steps.rewrites_apart(step, text, at, self.frozen, begins)
        if not cut_steps.reads_on(step):
            noted(self.rewritten_apart[id(step)], text[at - 1 : at + 1], found)
        return found

    def applied(self, step: Step, parts: list[Part]) -> list[Part]:
        """Parts after a step; one that is empty then, or ends as a text would, is none of its own."""
        found: list[Part] = []
        known = self.known.setdefault(id(step), {})
        for part in parts:
            text = known.get(part.text)
            if text is None:
                made = normalize.apply([cut_steps.inner(step)], Aligned.of(part.text), self.frozen)
                text = noted(known, part.text, made.text)
            last = found[-1].text if found else ""
            found = add(
                found,
                Part(part.start, text),
                bool(last and text) and not cut_steps.ends_with_space(step, last),
            )
        return found

    def alone(self, guard: str) -> str:
        """What normalizing makes of a guard by itself: a step may put something in front (`Prepend`)."""
        found = self.guards_alone.get(guard)
        if found is not None:
            return found
        made = normalize.apply(self.spec.normalizer, Aligned.of(guard), self.frozen)
        return noted(self.guards_alone, guard, made.text)

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
            return noted(self.guards, guard, False)
        return noted(self.guards, guard, True)

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
        made = (
            normalize.apply(self.spec.normalizer, Aligned.of(name), self.frozen).text for name in self.cut_out
        )
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


def noted(known: dict[str, Any], key: str, found: Found) -> Found:
    """What was found, once it is kept for the next time. Threads may share `known`: none looks again."""
    if len(known) > MEMORY:
        known.clear()
    known[key] = found
    return found


def add(parts: list[Part], part: Part, apart: bool) -> list[Part]:
    """Parts with one more, or with the last of them grown by it."""
    if apart or not parts:
        parts.append(part)
    else:
        parts[-1] = Part(parts[-1].start, parts[-1].text + part.text)
    return parts
