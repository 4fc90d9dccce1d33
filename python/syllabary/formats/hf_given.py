"""Components of `tokenizer.json` as a user gives them -> as Hugging Face's library saves them.

A component is given by its name (`"Whitespace"`), as the file has it (`{"type": "Split", …}`), or as a list
of these: a sequence. What is left out is what their Python constructors take then (tokenizers 0.23.3). Adds
`component`, for the four places of a file. Leaves out: what components mean (`hf_components`, `hf_extras`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from syllabary.formats.hf_components import (
    DECODER,
    NORMALIZER,
    PRE_TOKENIZER,
    Component,
    Kind,
    Needed,
    Place,
    read_steps,
)
from syllabary.formats.hf_extras import trims_offsets
from syllabary.formats.strict_json import Json

__all__ = ["PLACES", "component"]

PLACES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
STEPS = {"normalizer": NORMALIZER, "pre_tokenizer": PRE_TOKENIZER, "decoder": DECODER}
MARK = "\u2581"
# What a constructor takes where nothing is given, if the file itself has no such default or another.
DEFAULTS: dict[tuple[str, str], Component] = {
    ("normalizer", "BertNormalizer"): {"clean_text": True, "handle_chinese_chars": True, "lowercase": True},
    ("normalizer", "Strip"): {"strip_left": True, "strip_right": True},
    ("normalizer", "Prepend"): {"prepend": MARK},
    ("pre_tokenizer", "ByteLevel"): {"add_prefix_space": True},
    ("pre_tokenizer", "Metaspace"): {"replacement": MARK},
    ("pre_tokenizer", "Digits"): {"individual_digits": False},
    ("pre_tokenizer", "Punctuation"): {"behavior": "Isolated"},
    ("pre_tokenizer", "Split"): {"invert": False},
    ("decoder", "BPEDecoder"): {"suffix": "</w>"},
    ("decoder", "ByteLevel"): {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    ("decoder", "WordPiece"): {"prefix": "##", "cleanup": True},
    ("decoder", "Metaspace"): {"replacement": MARK},
    ("decoder", "CTC"): {"pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
    ("decoder", "Strip"): {"content": " ", "start": 0, "stop": 0},
}
ONE = {"Sequence": {"id": "A", "type_id": 0}}
POST_PROCESSORS: dict[str, Component] = {
    "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "RobertaProcessing": {"sep": Needed, "cls": Needed, "trim_offsets": True, "add_prefix_space": True},
    "BertProcessing": {"sep": Needed, "cls": Needed},
    "TemplateProcessing": {
        "single": [ONE], "pair": [ONE, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {}
    },
}  # fmt: skip


def component(place: str, given: object, path: Path) -> Component | None:
    """The component as it is saved; `None` is none. place: one of `PLACES`.

    Raises `FormatError`, which names `path` and the place within, for what their library would not take.

    >>> component("pre_tokenizer", ["Digits", {"type": "Split", "pattern": {"String": "-"},
    ...                                        "behavior": "Removed"}], Path("options"))["pretokenizers"][0]
    {'type': 'Digits', 'individual_digits': False}
    """
    if given is None:
        return None
    made = _made(place, Json(given, place, path))
    if place == "post_processor":
        trims_offsets(Json(made, place, path))
    else:
        read_steps(Json(made, place, path), STEPS[place])
    return made


def _made(place: str, given: Json) -> Component:
    if isinstance(given.value, str):
        return _filled(place, Json({"type": given.value}, given.where, given.path))
    if isinstance(given.value, (list, tuple)):
        members = "processors" if place == "post_processor" else STEPS[place].members
        items = Json(list(given.value), given.where, given.path).list()
        return {"type": "Sequence", members: [_made(place, item) for item in items]}
    if isinstance(given.value, Mapping):
        given = Json(dict(given.value), given.where, given.path)
    else:
        raise given.wrong("a name, an object as tokenizer.json has it, or a list of these")
    found = given.object()
    if "type" in found and found["type"].value == "Sequence":
        members = "processors" if place == "post_processor" else STEPS[place].members
        given.object(("type", members))
        return {"type": "Sequence", members: [_made(place, item) for item in given.member(members).list()]}
    return _filled(place, given)


def _filled(place: str, given: Json) -> Component:
    """A component with all its members, in the order of the file; unknown ones stay, to be refused."""
    members = {key: member.value for key, member in given.object().items()}
    name = members.pop("type", None)
    if place == "post_processor":
        if not isinstance(name, str) or name not in POST_PROCESSORS:
            return {"type": name, **members}
        order = {
            key: value
            for key, value in POST_PROCESSORS[name].items()
            if value is not Needed or key in members
        }
        return {"type": name, **order, **members}
    found = _kind(STEPS[place], name)
    if found is None:
        return {"type": name, **members}
    name, kind = found
    defaults = DEFAULTS.get((place, name), {})
    made: Component = {"type": name}
    for option in kind.options:
        if option.name in members:
            made[option.name] = members.pop(option.name)
        elif option.name in defaults:
            made[option.name] = defaults[option.name]
        elif option.kept and option.default is not Needed:
            made[option.name] = _written(option.kind, option.default)
        elif not option.kept and option.written is not None:
            made[option.name] = option.written
    return {**made, **members}


def _kind(place: Place, name: object) -> tuple[str, Kind] | None:
    """The name in the file, and the kind, of a component that may be called otherwise too."""
    for known, kind in place.kinds.items():
        if name == known or name in kind.other_names:
            return known, kind
    return None


def _written(kind: str, default: object) -> object:
    return default.capitalize() if kind == "behavior" and isinstance(default, str) else default
