"""What settings change of a tokenizer of theirs, once it is made: the space in front of a text.

Their own classes make their components anew; here those of the file are changed, where a setting is told.
Adds `follow`. Leaves out: what the settings mean (`formats.transformers_space`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syllabary.compat.transformers.backend import TheirTokenizer
from syllabary.errors import FormatError
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_space import KEY, MEMBERS, spaced, told

SETTLED = "settled_by_syllabary"  # argument: the file is as the settings want it
NO_MODEL = {"type": "BPE", "vocab": {}, "merges": []}


def follow(theirs: Any, members: Mapping[str, Json], given: Mapping[str, Any]) -> None:
    """Change the components of a `tokenizers.Tokenizer` to what is told.

    members: of `tokenizer_config.json`. given: by the caller. Raises `FormatError` for what cannot be.
    """
    if given.get(KEY) is None and KEY not in members:
        return
    before = {name: _as_json(getattr(theirs, name)) for name in MEMBERS}
    changed = _changed(before, members, given)
    if changed:
        empty = {"version": "1.0", "added_tokens": [], "model": NO_MODEL, **changed}
        made = TheirTokenizer.from_str(json.dumps(empty))
        for name in changed:
            setattr(theirs, name, getattr(made, name))


def _changed(
    before: Mapping[str, Any], members: Mapping[str, Json], given: Mapping[str, Any]
) -> dict[str, Any]:
    prefix = given.get(KEY)
    named = {key: Json(given[key], key, Path(key)) for key in ("tokenizer_class", "legacy") if key in given}
    members = {**members, **named}
    if prefix is None:
        return told(members, before)
    if not isinstance(prefix, bool):
        raise FormatError(f"{KEY}={prefix!r}: give True or False")
    name, legacy = (members[key].value if key in members else None for key in ("tokenizer_class", "legacy"))
    return spaced(before, name, prefix, legacy=legacy is True)


def _as_json(component: Any) -> Any:
    return None if component is None else json.loads(component.__getstate__())
