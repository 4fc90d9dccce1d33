"""What settings change of a tokenizer of theirs, once it is made: a space in front of a text, its letters.

Their own classes make their components anew; here those of the file are changed, where a setting is told.
Adds `follow`. Leaves out: what the settings mean (`formats.transformers_text`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from syllabary.compat.transformers.backend import TheirTokenizer
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_space import MEMBERS
from syllabary.formats.transformers_text import SUFFIX, changed

SETTLED = "settled_by_syllabary"  # argument: the file is as the settings want it
NO_MODEL = {"type": "BPE", "vocab": {}, "merges": []}


def follow(theirs: Any, members: Mapping[str, Json], given: Mapping[str, Any]) -> None:
    """Change the components of a `tokenizers.Tokenizer` to what is told.

    members: of `tokenizer_config.json`. given: by the caller. Raises `FormatError` for what cannot be.
    """
    before = {name: _as_json(getattr(theirs, name)) for name in MEMBERS}
    more = changed(before, members, given, getattr(theirs.model, SUFFIX, None))
    if more:
        empty = {"version": "1.0", "added_tokens": [], "model": NO_MODEL, **more}
        made = TheirTokenizer.from_str(json.dumps(empty))
        for name in more:
            setattr(theirs, name, getattr(made, name))


def _as_json(component: Any) -> Any:
    return None if component is None else json.loads(component.__getstate__())
