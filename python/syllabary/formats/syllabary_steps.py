"""The second half of `.syllabary.json`: what tokenizers of other libraries need besides.

Adds the members of version 2, each written only where it is not its default, so that a tokenizer without
them is a file of version 1. Leaves out: the members of version 1 (`syllabary_json`), what steps mean.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import cast, get_args

from syllabary.errors import PatternError
from syllabary.formats.patterns import check_runs
from syllabary.formats.strict_json import Json, are_ids
from syllabary.spec import Matching, Model, Stage, Step, StepValue, TokenizerSpec

STAGES = ("text", "normalized", "frozen", "never")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the file: a field of the spec to JSON and back."""

    write: Callable[[object], object]
    read: Callable[[Json], object]


def changed(spec: TokenizerSpec) -> dict[str, object]:
    """The members that are not their default, as plain JSON values, in the order of the law.

    >>> from syllabary.spec import SplitSpec
    >>> changed(TokenizerSpec("byte", SplitSpec(None), {0: b"a"}, {b"a": 0}, (), normalizer=(Step("NFC"),)))
    {'normalizer': [{'kind': 'NFC', 'options': {}}]}
    """
    return {
        name: member.write(getattr(spec, name))
        for name, member in MEMBERS.items()
        if getattr(spec, name) != _default(name)
    }


def read(members: Mapping[str, Json]) -> dict[str, object]:
    """The fields of the spec; those that the file does not have are left out."""
    return {name: member.read(members[name]) for name, member in MEMBERS.items() if name in members}


def _default(name: str) -> object:
    return DEFAULTS[name]


# ---- steps ----


def _write_steps(steps: object) -> object:
    return [
        {
            "kind": step.kind,
            "options": {key: _write_option(value) for key, value in sorted(step.options.items())},
        }
        for step in cast("tuple[Step, ...]", steps)
    ]


def _write_option(value: StepValue) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    return list(value) if isinstance(value, tuple) else value


def _read_steps(steps: Json) -> tuple[Step, ...]:
    return tuple(_read_step(step) for step in steps.list())


def _read_step(step: Json) -> Step:
    step.object(("kind", "options"))
    members = step.member("options").object()
    options = {key: _read_option(value) for key, value in members.items()}
    pattern = options.get("pattern")
    if options.get("regex") is True and isinstance(pattern, str):
        try:
            check_runs(pattern, "onig")
        except PatternError as error:
            raise members["pattern"].error(str(error)) from error
    return Step(step.member("kind").string(), options)


def _read_option(option: Json) -> StepValue:
    value = option.value
    if isinstance(value, dict):
        option.object(("base64",))
        try:
            return base64.b64decode(option.member("base64").string(), validate=True)
        except ValueError as error:  # binascii's own, or a letter that is not ASCII
            raise option.error(f"is not base64 ({error})") from error
    if isinstance(value, list):
        return tuple(item.string() for item in option.list())
    return option.string() if isinstance(value, str) else cast("bool | int | float | None", value)


# ---- the rest ----


def _write_matching(matching: object) -> object:
    return {
        text: {field.name: getattr(rule, field.name) for field in fields(Matching)}
        for text, rule in sorted(cast("Mapping[str, Matching]", matching).items())
    }


def _read_matching(matching: Json) -> dict[str, Matching]:
    return {text: _read_rule(rule) for text, rule in matching.object().items()}


def _read_rule(rule: Json) -> Matching:
    rule.object([field.name for field in fields(Matching)])
    return Matching(
        stage=cast(Stage, rule.member("stage").choice(*STAGES)),
        single_word=rule.member("single_word").boolean(),
        lstrip=rule.member("lstrip").boolean(),
        rstrip=rule.member("rstrip").boolean(),
    )


def _write_rows(rows: object) -> object:
    return None if rows is None else sorted([*item] for item in cast("Mapping[int, float]", rows).items())


def _read_rows(rows: Json, read_value: Callable[[Json], float]) -> dict[int, float]:
    columns = rows.columns(2)
    if columns is not None and are_ids(columns[0]) and len({*columns[0]}) == len(columns[0]):
        ids, values = columns
        if {*map(type, values)} == {float} and read_value is _number and all(map(math.isfinite, values)):
            return dict(zip(ids, values, strict=True))
    table: dict[int, float] = {}
    for row in rows.list():
        items = list(row.list())
        if len(items) != 2:
            raise row.wrong("[id, value]")
        token_id = items[0].id()
        if token_id in table:
            raise row.error(f"id {token_id} is given twice")
        table[token_id] = read_value(items[1])
    return table


def _number(value: Json) -> float:
    number = value.value
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise value.wrong("a number")
    return float(number)


def _read_ids(ids: Json) -> frozenset[int]:
    return frozenset(item.id() for item in ids.list())


def _read_carried(carried: Json) -> object:
    carried.object()
    return carried.flat()


def _same(value: object) -> object:
    return value


FLAG = Member(_same, Json.boolean)
STEPS = Member(_write_steps, _read_steps)
MEMBERS: Mapping[str, Member] = {
    "normalizer": STEPS,
    "pretokenizer": STEPS,
    "decoder": STEPS,
    "matching": Member(_write_matching, _read_matching),
    "scores": Member(_write_rows, lambda rows: _read_rows(rows, _number)),
    "unused": Member(lambda ids: sorted(cast("frozenset[int]", ids)), _read_ids),
    "unknown": Member(_same, Json.id),
    "fuse_unknown": FLAG,
    "byte_tokens": Member(_write_rows, lambda rows: _read_rows(rows, Json.id)),
    "continuing_prefix": Member(_same, Json.string),
    "mark_apart": FLAG,
    "dropout": Member(_same, _number),
    "trim_offsets": FLAG,
    "surface_offsets": FLAG,
    "carried": Member(_same, _read_carried),
    "model": Member(_same, lambda model: model.choice(*get_args(Model))),
    "longest_piece": Member(_same, Json.id),
    "single_precision": FLAG,
}
_DEFAULT_FACTORIES = {"matching": dict, "byte_tokens": dict, "carried": dict}
DEFAULTS: Mapping[str, object] = {
    field.name: _DEFAULT_FACTORIES[field.name]() if field.name in _DEFAULT_FACTORIES else field.default
    for field in fields(TokenizerSpec)
    if field.name in MEMBERS
}
