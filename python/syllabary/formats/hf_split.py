"""Hugging Face's `pre_tokenizer` and our steps, split and unit, both ways.

Adds which of their components is a split of ours, and which sequences are plain bytes; named splits come
back as named splits. Leaves out: the components one by one (`hf_components`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from syllabary import splits
from syllabary.errors import PatternError
from syllabary.formats.hf_components import (
    NAME,
    NORMALIZER,
    PRE_TOKENIZER,
    Component,
    read_steps,
    write_steps,
)
from syllabary.formats.hf_pattern import check_portable, is_alike
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.on_demand import later
from syllabary.reference.symbols import shown
from syllabary.spec import SplitSpec, Step, StepValue

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")

# Components that are a split of ours by themselves.
BY_NAME = {"Whitespace": "whitespace", "WhitespaceSplit": "whitespace-split"}
# Places and classes on which Oniguruma has tables of its own.
WORDS = re.compile(r"\\[wWbB]")
# What ByteLevel's add_prefix_space does to each part of the text, as a step that leaves bytes alone.
PREFIX_SPACE = Step("Metaspace", {"replacement": " ", "prepend_scheme": "always", "split": False})
# Splits of ours that are there a sequence of several, by their patterns: each cuts what those before it left.
SEQUENCES = {
    "deepseek-v3": (
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^""" + "\r\n" + r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[" + "\r\n" + r"]*|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+",
    )
}


@dataclass(frozen=True, slots=True)
class Cutting:
    """How pieces come about: steps, then a split."""

    steps: tuple[Step, ...]
    split: SplitSpec


def read_cutting(component: Json) -> tuple[Cutting, Cutting | None]:
    """A `pre_tokenizer` -> how it cuts text into characters, and, where it ends with bytes, into bytes.

    In the second form the last ByteLevel is left out: the unit of bytes does the same.
    """
    steps = read_steps(component, PRE_TOKENIZER)
    if not steps or steps[-1].kind != "ByteLevel":
        return _with_split(steps), None
    before, last = steps[:-1], steps[-1]
    if last.options["add_prefix_space"]:
        before = (*before, PREFIX_SPACE)
    by_bytes = Cutting(before, splits.get("gpt2")) if last.options["use_regex"] else _with_split(before)
    return Cutting(steps, splits.get(None)), by_bytes


def cutting_of(components: Mapping[str, object]) -> tuple[tuple[Step, ...], Cutting, Cutting | None]:
    """The steps of the file's normalizer, and how its pre-tokenizer cuts, as `read_cutting` has it."""
    normalizer, pre_tokenizer = (
        Json(components.get(place), place, Path(NAME)) for place in ("normalizer", "pre_tokenizer")
    )
    return (read_steps(normalizer, NORMALIZER), *read_cutting(pre_tokenizer))


def _with_split(steps: tuple[Step, ...]) -> Cutting:
    """The last step as a split, where it is one, or the last few where they are a named one together."""
    for name, patterns in SEQUENCES.items():
        count = len(patterns)
        if steps[-count:] == tuple(_isolating(pattern) for pattern in patterns):
            return Cutting(steps[:-count], splits.get(name))
    split = _as_split(steps[-1]) if steps else None
    return Cutting(steps, splits.get(None)) if split is None else Cutting(steps[:-1], split)


@lru_cache(maxsize=64)
def _spellings(split: SplitSpec) -> tuple[str, ...]:
    """The patterns that mean there what a split by tiktoken's tables means: its own, where it does, first."""
    if split.pattern is None:
        return ()
    try:
        check_portable(split.pattern)
        own = [] if WORDS.search(split.pattern) else [split.pattern]
    except PatternError:
        own = []
    return (*own, patterns.to_onig(split.pattern))


def _means(pattern: str, split: SplitSpec) -> bool:
    """Whether a pattern means there what a split does; those that it cannot be are not compiled to see."""
    if pattern == split.pattern and is_alike(pattern):
        return True
    if split.pattern is None or pattern not in (split.pattern, patterns.to_onig(split.pattern)):
        return False
    return pattern in _spellings(split)


def _isolating(pattern: str) -> Step:
    options: dict[str, StepValue] = {
        "pattern": pattern,
        "regex": True,
        "behavior": "isolated",
        "invert": False,
    }
    return Step("Split", options)


def _as_split(step: Step) -> SplitSpec | None:
    if step.kind in BY_NAME:
        return splits.get(BY_NAME[step.kind])
    if step.kind != "Split" or not step.options["regex"]:
        return None
    if step.options["behavior"] == "isolated":
        keep = True
    elif step.options["behavior"] == "removed" and step.options["invert"]:
        keep = False
    else:
        return None
    pattern = str(step.options["pattern"])
    named = [known for known in map(splits.get, splits.names()) if known.keep_unmatched == keep]
    for known in sorted(named, key=lambda known: known.pattern != pattern):  # the one most likely first
        if _means(pattern, known):
            return known
    return SplitSpec(pattern, tables="onig", keep_unmatched=keep)


def write_cutting(steps: tuple[Step, ...], split: SplitSpec, with_bytes: bool) -> Component | None:
    """The `pre_tokenizer` that cuts the same; `FormatError` for a pattern that its engine cannot run.

    >>> write_cutting((), splits.get("whitespace"), with_bytes=False)
    {'type': 'Whitespace'}
    """
    written = list(steps)
    for name, patterns in SEQUENCES.items():
        if splits.same(split, splits.get(name)):
            written += [_isolating(pattern) for pattern in patterns]
            split = splits.get(None)
    gpt2 = with_bytes and splits.same(split, splits.get("gpt2"))
    if split.pattern is not None and not gpt2:
        written.append(_as_step(split, split.pattern))
    if with_bytes:
        prefix = bool(written) and written[-1] == PREFIX_SPACE
        options = {"add_prefix_space": prefix, "use_regex": gpt2}
        written = [*(written[:-1] if prefix else written), Step("ByteLevel", options)]
    return write_steps(tuple(written), PRE_TOKENIZER)


def _as_step(split: SplitSpec, pattern: str) -> Step:
    for component, name in BY_NAME.items():
        if splits.same(split, splits.get(name)):
            return Step(component)
    try:
        if split.tables == "onig":
            check_portable(pattern)
        regex = pattern if split.tables == "onig" else _spellings(split)[0]
    except PatternError as error:
        raise cannot_hold(NAME, f"the split {split.name or shown(pattern)}: {error}") from error
    behavior, invert = ("isolated", False) if split.keep_unmatched else ("removed", True)
    return Step("Split", {"pattern": regex, "regex": True, "behavior": behavior, "invert": invert})
