"""What full encodings have in common, made once: how tokens are spelled, and how rows are laid out.

Adds `Spellings`, of a tokenizer, and `Layout`, of what calls ask of it. Leaves out: the rows (`rows`),
and which layout a call asks for (`tokenizer_full`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.cached import cached_property
from syllabary.framing import Framing, Padding, Truncation
from syllabary.full.plan import Plan
from syllabary.reference.full import spelled_as_found
from syllabary.reference.spellings import both_ways, found_normalized, model_spellings, spellings
from syllabary.reference.trim import SPACE
from syllabary.spec import TokenizerSpec
from syllabary.unicode import rewriting

Plans = tuple[Plan | None, Plan | None]
STRATEGIES = ("longest_first", "only_first", "only_second")
WHITE = frozenset([SPACE, *rewriting.members("whitespace")])
STRIPPED, SPACES = "".join(WHITE), "".join(sorted(WHITE - {SPACE}))


class Spellings:
    """How the tokens of a tokenizer are spelled.

    names: id -> spelling. taken: ids of those spelled as they were found: white space goes along, Unigram
    does not know it, or an ordinary token may be found in normalized text. noted: of those the ones
    of which the engine notes what they were found as, or else their names count. apart: those that take
    white space along -> their names, by which they are known from what a model makes.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Of a tokenizer."""
        self.names = model_spellings(spec)
        self.taken, self.noted, self.apart = taken(spec), noted(spec), flagged(spec)

    def grown(self, spec: TokenizerSpec, before: TokenizerSpec) -> Spellings:
        """The same of a tokenizer that has only more added tokens than the one before, whose these are."""
        old = {**before.special_tokens, **before.added_tokens}
        new = {**spec.special_tokens, **spec.added_tokens}
        changed = {text: token_id for text, token_id in new.items() if old.get(text) != token_id}
        made = Spellings.__new__(Spellings)
        names = {**self.names}
        for text, token_id in old.items():
            if new.get(text) != token_id:
                names.pop(token_id, None)
        few = replace(spec, tokens={}, special_tokens=changed, added_tokens={})
        made.names = {**names, **spellings(few)}
        made.taken, made.noted, made.apart = taken(spec), noted(spec), flagged(spec)
        return made

    def of(self, ids: Sequence[int]) -> Spellings:
        """The same with the names of these ids only."""
        made = Spellings.__new__(Spellings)
        made.names = {token_id: self.names[token_id] for token_id in ids if token_id in self.names}
        made.taken, made.noted, made.apart = self.taken, self.noted, self.apart
        return made

    def is_found(self, token_id: int, text: str) -> bool:
        """Whether a token that stands for this was found in the text, and not made of it by the model."""
        names = self.apart.get(token_id, ())
        return any(name in text and name.strip(SPACES) == text.strip(SPACES) for name in names)

    @cached_property
    def ends(self) -> NDArray[np.uint32]:
        """Characters of white space at the ends of each token, by id, shape (ids, 2)."""
        ends = np.zeros((max(self.names, default=-1) + 1, 2), np.uint32)
        for token_id, name in self.names.items():
            if name[:1] in WHITE or name[-1:] in WHITE:
                ends[token_id] = white_ends(name)
        return ends


def taken(spec: TokenizerSpec) -> frozenset[int]:
    """The ids of the tokens that are spelled as the text."""
    found = set(flagged(spec))
    unknown = spelled_as_found(spec)
    if unknown is not None:
        found.add(unknown)
    return frozenset(found) | both_ways(spec)


def flagged(spec: TokenizerSpec) -> dict[int, set[str]]:
    """The tokens that take white space along -> their names."""
    named = {**spec.special_tokens, **spec.added_tokens}
    found: dict[int, set[str]] = {}
    for name, how in spec.matching.items():
        if (how.lstrip or how.rstrip) and name in named:
            found.setdefault(named[name], set()).add(name)
    return found


def noted(spec: TokenizerSpec) -> frozenset[int]:
    """Of those the ids of tokens that are looked for in text that steps have normalized."""
    return taken(spec) & found_normalized(spec)


def white_ends(text: str) -> tuple[int, int]:
    """How many characters at the beginning and at the end are white space (`reference.trim.white_ends`)."""
    return len(text) - len(text.lstrip(STRIPPED)), len(text) - len(text.rstrip(STRIPPED))


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows are laid out.

    plans: for one text and for a pair; None where no text needs it. told: plans, truncation and padding as
    the engine takes them. trims: whether white space is taken off offsets.
    """

    framing: Framing
    plans: Plans
    spelled: Spellings
    told: tuple[tuple[Any, Any], Any, Any]
    trims: bool

    @staticmethod
    def of(framing: Framing, plans: Plans, spelled: Spellings) -> Layout:
        """That of a framing and its plans."""
        told = (
            (_plan(plans[0]), _plan(plans[1])),
            _truncation(framing.truncation),
            _padding(framing.padding),
        )
        trims = any(plan is not None and bool(plan.trims) for plan in plans)
        return Layout(framing, plans, spelled, told, trims)

    @property
    def fill(self) -> str:
        """How padding is spelled."""
        return "" if self.framing.padding is None else self.framing.padding.pad_token


def _plan(plan: Plan | None) -> Any:
    if plan is None:
        return None
    items = [(item.token_id, item.type_id, item.over_type_id) for item in plan.items]
    return (
        items,
        [list(labels) for labels in plan.labels],
        [(add, list(firsts)) for add, firsts in plan.trims],
    )


def _truncation(truncation: Truncation | None) -> tuple[int, int, int, bool] | None:
    if truncation is None:
        return None
    strategy = STRATEGIES.index(truncation.strategy)
    return truncation.max_length, truncation.stride, strategy, truncation.direction == "left"


def _padding(padding: Padding | None) -> tuple[int | None, int, int, int, bool] | None:
    if padding is None:
        return None
    length = None if padding.length == "longest" else padding.length
    side = padding.direction == "left"
    return length, padding.multiple_of or 1, padding.pad_id, padding.pad_type_id, side
