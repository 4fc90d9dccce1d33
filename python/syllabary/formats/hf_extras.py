"""What `tokenizer.json` says beside the ids: post-processor, truncation, padding. Checked, and carried along.

None of it is applied here: templates add tokens around a text, truncation shortens it, padding lengthens it,
and each is the caller's to ask for. Adds the one thing that touches what we give: whether offsets leave out
the whitespace of a token. Source: tokenizers 0.23.3, `processors/`, `utils/truncation.rs` and `padding.rs`.
"""

from __future__ import annotations

from collections.abc import Callable

from syllabary.formats.hf_components import unfolded
from syllabary.formats.hf_values import count
from syllabary.formats.strict_json import Json

Check = Callable[[Json], object]
SIDES = ("Left", "Right")


def check_extras(root: Json) -> None:
    """Raise `FormatError` for a truncation or padding that their library would not take."""
    truncation, padding = root.optional("truncation"), root.optional("padding")
    if truncation.value is not None:
        _members(
            truncation,
            {
                "max_length": count,
                "strategy": lambda value: value.choice("LongestFirst", "OnlyFirst", "OnlySecond"),
                "stride": count,
            },
            {"direction": _side},
        )
    if padding.value is not None:
        _members(
            padding,
            {
                "strategy": _strategy,
                "direction": _side,
                "pad_id": Json.id,
                "pad_type_id": count,
                "pad_token": Json.string,
            },
            {"pad_to_multiple_of": lambda value: value.value is None or count(value)},
        )


def trims_offsets(post_processor: Json) -> bool:
    """Whether offsets leave out whitespace; `FormatError` for a post-processor that is none of theirs."""
    trims = False
    for one in unfolded(post_processor, "processors"):
        kind = one.member("type").choice(*PROCESSORS, "Sequence")
        _members(one, {"type": Json.string, **PROCESSORS[kind]}, OPTIONAL.get(kind, {}))
        trims |= kind in TRIMMERS and one.member("trim_offsets").boolean()
    return trims


def _members(value: Json, needed: dict[str, Check], optional: dict[str, Check]) -> None:
    members = value.object((*needed, *optional))
    for name, check in needed.items():
        check(value.member(name))
    for name, check in optional.items():
        if name in members:
            check(members[name])


def _side(value: Json) -> str:
    return value.choice(*SIDES)


def _strategy(value: Json) -> object:
    return value.choice("BatchLongest") if isinstance(value.value, str) else count(_only(value, "Fixed"))


def _only(value: Json, *names: str) -> Json:
    """The one member of an object."""
    members = value.object(names)
    if len(members) != 1:
        raise value.error(f"must have one member, of {', '.join(names)}")
    return next(iter(members.values()))


def _token_and_id(value: Json) -> None:
    items = list(value.list())
    if len(items) != 2:
        raise value.error("must be [token, id]")
    items[0].string()
    items[1].id()


def _template(value: Json) -> None:
    for piece in value.list():
        inside = _only(piece, "Sequence", "SpecialToken")
        sequence = "Sequence" in piece.object()
        name: Check = (lambda one: one.choice("A", "B")) if sequence else Json.string
        _members(inside, {"id": name, "type_id": count}, {})


def _template_tokens(value: Json) -> None:
    for token in value.object().values():
        _members(token, {"id": Json.string, "ids": _list_of(Json.id), "tokens": _list_of(Json.string)}, {})


def _list_of(check: Check) -> Check:
    return lambda value: [check(item) for item in value.list()]


TRIMMERS = ("ByteLevel", "RobertaProcessing")
ENDS: dict[str, Check] = {"sep": _token_and_id, "cls": _token_and_id}
PROCESSORS: dict[str, dict[str, Check]] = {
    "ByteLevel": {"add_prefix_space": Json.boolean, "trim_offsets": Json.boolean},
    "RobertaProcessing": {**ENDS, "trim_offsets": Json.boolean, "add_prefix_space": Json.boolean},
    "BertProcessing": ENDS,
    "TemplateProcessing": {"single": _template, "pair": _template, "special_tokens": _template_tokens},
}
OPTIONAL: dict[str, dict[str, Check]] = {"ByteLevel": {"use_regex": Json.boolean}}
