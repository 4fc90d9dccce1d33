"""Hugging Face's `pre_tokenizer` and our `SplitSpec`, both ways.

Adds which of their components do what a split of ours does, and the inverse; named splits come back as
named splits. Leaves out: every other component (an error names it).
"""

from __future__ import annotations

from typing import TypeAlias

from syllabary import splits
from syllabary.errors import PatternError, SyllabaryError
from syllabary.formats.hf_pattern import check_portable
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.reference.pattern import to_onig
from syllabary.spec import SplitSpec

Component: TypeAlias = "dict[str, object]"

NAME = "tokenizer.json"
# Components that are a split of ours by themselves.
BY_NAME = {"Whitespace": "whitespace", "WhitespaceSplit": "whitespace-split"}
BEHAVIOR = {("Isolated", False): True, ("Removed", True): False}  # -> keep_unmatched


def byte_level(use_regex: bool) -> Component:
    """The component that turns a piece into the 256 characters of bytes, and may split as GPT-2 does."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def write_split(split: SplitSpec, with_bytes: bool) -> Component | None:
    """The `pre_tokenizer` that splits the same; `FormatError` for a pattern that its engine cannot run.

    >>> write_split(splits.get("whitespace"), with_bytes=False)
    {'type': 'Whitespace'}
    """
    if with_bytes and _same(split, splits.get("gpt2")):
        return byte_level(use_regex=True)
    steps = [] if split.pattern is None else [_write_step(split, split.pattern)]
    if with_bytes:
        steps.append(byte_level(use_regex=False))
    if len(steps) > 1:
        return {"type": "Sequence", "pretokenizers": steps}
    return steps[0] if steps else None


def _write_step(split: SplitSpec, pattern: str) -> Component:
    for component, name in BY_NAME.items():
        if _same(split, splits.get(name)):
            return {"type": component}
    try:
        if split.tables == "onig":
            check_portable(pattern)
        regex = pattern if split.tables == "onig" else to_onig(pattern)
    except PatternError as error:
        raise cannot_hold(NAME, f"the split {split.name or pattern!r}: {error}") from error
    behavior, invert = ("Isolated", False) if split.keep_unmatched else ("Removed", True)
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def read_split(pre_tokenizer: Json) -> tuple[SplitSpec, bool]:
    """A `pre_tokenizer` -> the split, and whether pieces are bytes; `FormatError` names what we cannot do."""
    steps = list(_steps(pre_tokenizer))
    with_bytes = bool(steps) and _type(steps[-1]) == "ByteLevel"
    split = None
    if with_bytes:
        split = _read_byte_level(steps.pop())
    for step in steps:
        if split is not None:
            raise step.error("a second split after another one is not supported yet")
        split = _read_step(step)
    return split or splits.get(None), with_bytes


def _steps(pre_tokenizer: Json) -> list[Json]:
    """The components in order, sequences unfolded."""
    if pre_tokenizer.value is None:
        return []
    if _type(pre_tokenizer) != "Sequence":
        return [pre_tokenizer]
    members = pre_tokenizer.object(("type", "pretokenizers"))
    steps = list(members.get("pretokenizers", pre_tokenizer.optional("pretokenizers")).list())
    for step in steps:
        if _type(step) == "Sequence":
            raise step.error("a sequence in a sequence is not supported")
    return steps


def _type(component: Json) -> str:
    return component.member("type").string()


def _read_byte_level(component: Json) -> SplitSpec | None:
    """GPT-2's split if the component does it, and nothing else that changes ids."""
    members = component.object(("type", "add_prefix_space", "trim_offsets", "use_regex"))
    prefix = component.member("add_prefix_space")
    if prefix.boolean():
        raise prefix.error("ByteLevel with add_prefix_space is not supported yet")
    if "trim_offsets" in members:
        members["trim_offsets"].boolean()
    use_regex = members["use_regex"].boolean() if "use_regex" in members else True
    return splits.get("gpt2") if use_regex else None


def _read_step(component: Json) -> SplitSpec:
    kind = _type(component)
    if kind in BY_NAME:
        component.object(("type",))
        return splits.get(BY_NAME[kind])
    if kind != "Split":
        raise component.error(f"the pre-tokenizer {kind} is not supported here")
    component.object(("type", "pattern", "behavior", "invert"))
    behavior, invert = component.member("behavior"), component.member("invert")
    keep = BEHAVIOR.get((behavior.string(), invert.boolean()))
    if keep is None:
        raise behavior.error(
            f"Split with behavior {behavior.value} and invert {str(invert.value).lower()} is not supported "
            "yet, only Isolated, and Removed with invert"
        )
    regex = component.member("pattern").object(("Regex", "String"))
    if list(regex) != ["Regex"]:
        raise component.member("pattern").error("only a pattern that is a Regex is supported yet")
    return _read_regex(regex["Regex"], keep)


def _read_regex(regex: Json, keep: bool) -> SplitSpec:
    """The named split that is written so, or a pattern by Oniguruma's tables."""
    text = regex.string()
    for name in splits.names():
        known = splits.get(name)
        if known.pattern is not None and known.keep_unmatched == keep and to_onig(known.pattern) == text:
            return known
    try:
        check_portable(text)
    except SyllabaryError as error:
        raise regex.error(f"this pattern is not supported: {error}") from error
    return SplitSpec(text, tables="onig", keep_unmatched=keep)


def _same(split: SplitSpec, other: SplitSpec) -> bool:
    """Whether two splits cut alike: all but the name."""

    def key(one: SplitSpec) -> tuple[object, ...]:
        return one.pattern, one.tables, one.keep_unmatched

    return key(split) == key(other)
