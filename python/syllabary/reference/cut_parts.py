"""What normalizing makes of a text part by part, and of two neighbouring characters each by itself.

Adds `Parts`, which finds the stretches of a text that a normalizer rewrites as if each stood alone, and notes
what becomes of them. Most are one character: what is certain of a place between two such (`sides`) is read
off the two, whatever stands around them. Leaves out: what each step says of a place (`cut_steps`), and
whether text can be cut there (`cuts`).
"""

from __future__ import annotations

from collections.abc import Collection
from operator import add
from sys import getsizeof
from typing import NamedTuple, TypeVar

from syllabary.reference import cut_steps, normalize
from syllabary.reference.aligned import Aligned, check_length
from syllabary.reference.charsmap import charsmap
from syllabary.spec import Step

Found = TypeVar("Found")
MEMORY = 10_000  # parts, and places, of which it is noted what a step makes of them
ROOM = 1 << 22  # bytes that these may have: a part may be as long as the text


class Known(dict[str, Found]):
    """What was found for texts, as far as there is room. Threads may share one: none looks again."""

    size = 0  # bytes, about: threads may note at the same time

    def note(self, text: str, found: Found) -> Found:
        """What was found, once it is kept for the next time."""
        size = getsizeof(text) + getsizeof(found)
        if size > ROOM:
            return found
        if len(self) > MEMORY or self.size + size > ROOM:
            self.clear()
            self.size = 0
        self[text] = found
        self.size += size
        return found


class Part(NamedTuple):
    """A stretch of text that is rewritten as if it stood alone: where it begins, and what becomes of it."""

    start: int
    text: str


class Parts:
    """The normalizer of one tokenizer; `frozen`: tokens that it passes over.

    far: whether a step reads more of a text than two characters to know whether it may be parted.
    one_by_one: whether `sides` can tell anything: only the first step is such a one.
    """

    def __init__(self, steps: tuple[Step, ...], frozen: Collection[str]) -> None:
        self.steps, self.frozen = steps, frozen
        self.apart: dict[int, Known[bool]] = {}  # step -> two characters -> its answer
        self.known: dict[int, Known[str]] = {}  # step -> part -> what becomes of it
        self.alone_known: Known[str] = Known()
        self.far = bool(steps) and cut_steps.reads_on(steps[0])
        self.one_by_one = not any(map(cut_steps.reads_on, steps[1:]))

    def of(self, text: str, begins: bool) -> list[Part]:
        """A text part by part; the last may change with what follows.

        Where the text begins in the middle of another, its first parts are one: what becomes of its first
        characters is not certain.
        """
        parts = [Part(at, char) for at, char in enumerate(text)]
        for step in self.steps:
            joined = "".join([part.text for part in parts])
            known = {} if cut_steps.reads_on(step) else self.apart.setdefault(id(step), Known())
            groups = [parts[:1]] if parts else []
            end = len(parts[0].text) if parts else 0
            for part in parts[1:]:
                apart = known.get(joined[end - 1 : end + 1])
                if apart is None:
                    apart = self.parts_at(step, joined, end, begins)
                if apart and (begins or len(groups) > 1 or part is not parts[1]):
                    groups.append([part])
                else:
                    groups[-1].append(part)
                end += len(part.text)
            parts = self.applied(step, whole(groups))
            check_length(sum(len(part.text) for part in parts), len(text))
        return parts

    def parts_at(self, step: Step, text: str, at: int, begins: bool) -> bool:
        """What a step says of a place; of most steps it is noted for the two characters there."""
        found = cut_steps.rewrites_apart(step, text, at, self.frozen, begins)
        if not cut_steps.reads_on(step):
            self.apart.setdefault(id(step), Known()).note(text[at - 1 : at + 1], found)
        return found

    def applied(self, step: Step, parts: list[Part]) -> list[Part]:
        """Parts after a step; one that is empty then, or ends as a text would, is none of its own."""
        groups: list[list[Part]] = []
        last = ""  # the last character so far of the last group
        for part in parts:
            text = self.made(step, part.text)
            made = Part(part.start, text)
            if not groups or (last and text and not cut_steps.ends_with_space(step, last)):
                groups.append([made])
                last = text[-1:]
            else:
                groups[-1].append(made)
                last = text[-1:] or last
        return whole(groups)

    def made(self, step: Step, part: str) -> str:
        """What a step makes of a part."""
        known = self.known.setdefault(id(step), Known())
        text = known.get(part)
        if text is None:
            made = normalize.apply([cut_steps.inner(step)], Aligned.of(part), self.frozen)
            text = known.note(part, made.text)
        return text

    def alone(self, text: str) -> str:
        """What becomes of a text by itself: a step may put something in front (`Prepend`)."""
        found = self.alone_known.get(text)
        if found is not None:
            return found
        return self.alone_known.note(text, normalize.apply(self.steps, Aligned.of(text), self.frozen).text)

    def sides(self, before: str, after: str) -> tuple[str, str] | None:
        """What becomes of two characters that are each a part; `None` where they may be one together.

        Of the first step, where it is `far`, that is only so if `stay_apart` says so too.
        """
        for step in self.steps:
            far = cut_steps.reads_on(step)
            if not far and not cut_steps.rewrites_apart(step, before + after, len(before), self.frozen):
                return None
            before, after = self.made(step, before), self.made(step, after)
            check_length(len(before) + len(after), 2)
            if not before or not after or cut_steps.ends_with_space(step, before):
                return None
        return before, after

    def takes_along(self, before: str, after: str) -> bool:
        """Whether a character is white space that is one part with what follows, as it may be taken away.

        What becomes of the two is the same: only that nothing is parted there. So of a single step.
        """
        step = self.steps[0]
        if len(self.steps) > 1 or not cut_steps.ends_with_space(step, self.made(step, before)):
            return False
        return self.far or cut_steps.rewrites_apart(step, before + after, 1, self.frozen)

    def inside(self, before: str, after: str) -> bool:
        """Whether two characters are never parted, as the first step rewrites them together."""
        step = self.steps[0]
        if self.far:
            return False
        if not cut_steps.rewrites_apart(step, before + after, 1, self.frozen):
            return True
        return cut_steps.ends_with_space(step, self.made(step, before))

    def stay_apart(self, text: str, at: int, begins: bool) -> bool:
        """Whether the first step, which is `far`, parts a text at a place, and one character around it."""
        step = self.steps[0]
        rules = charsmap(step.options["precompiled_charsmap"])
        low = at - 2 - (0 if rules is None else rules.longest_rule)
        if rules is not None and not self.frozen and (begins or low >= 0):
            near = text[max(0, low) : at + 2]
            if not any(map(rules.begins_with, map(add, near, near[1:]))):
                return True  # no rule begins anywhere near
        places = range(max(1, at - 1), at + 2)
        return all(cut_steps.rewrites_apart(step, text, place, self.frozen, begins) for place in places)


def whole(groups: list[list[Part]]) -> list[Part]:
    """Each group of parts as one part."""
    return [
        group[0] if len(group) == 1 else Part(group[0].start, "".join([part.text for part in group]))
        for group in groups
    ]
