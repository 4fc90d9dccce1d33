"""Post-processor, truncation and padding of `tokenizer.json`, both ways: JSON <-> `Framing`.

What a file said stands in `carried["huggingface"]`, exactly; here it is read as records, and records are
written as their library writes them. Leaves out: what they do (`reference.full`); the rest of the file.
Source: tokenizers 0.23.3, `processors/`, `utils/truncation.rs` and `padding.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from syllabary.formats.hf_components import NAME, unfolded
from syllabary.formats.hf_extras import check_extras, trims_offsets
from syllabary.formats.strict_json import Json
from syllabary.framing import (
    BertProcessing,
    ByteLevelProcessing,
    Framing,
    Padding,
    PostProcessor,
    RobertaProcessing,
    Side,
    Slot,
    SlotTokens,
    SpecialSlot,
    Strategy,
    TemplateProcessing,
    TextSlot,
    Truncation,
)
from syllabary.spec import TokenizerSpec

Object = dict[str, object]
STRATEGIES: dict[str, Strategy] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}


# ---- JSON -> records ----


def framing(spec: TokenizerSpec) -> Framing:
    """What the file of a tokenizer says; of one from elsewhere, whether its offsets are trimmed.

    Raises `FormatError` for values that their library would not take.
    """
    root = Json(_carried(spec), "$", Path(NAME))
    check_extras(root)
    found = root.optional("post_processor")
    processors = read_processors(found)
    if found.value is None and spec.trim_offsets:
        processors = (ByteLevelProcessing(add_prefix_space=False),)
    return Framing(processors, _truncation(root.optional("truncation")), _padding(root.optional("padding")))


def read_frame(members: Mapping[str, object]) -> tuple[Truncation | None, Padding | None]:
    """`truncation` and `padding` of a file that its own library wrote."""
    root = Json(dict(members), "$", Path(NAME))
    return _truncation(root.optional("truncation")), _padding(root.optional("padding"))


def read_processors(value: Json) -> tuple[PostProcessor, ...]:
    """The steps of a post-processor, those of sequences in a row; `FormatError` for what is none."""
    trims_offsets(value)
    found = tuple(_processor(one) for one in unfolded(value, "processors"))
    if not found and value.value is not None:  # a sequence of none does say which text a token is of
        return (ByteLevelProcessing(add_prefix_space=False, trim_offsets=False),)
    return found


def _processor(one: Json) -> PostProcessor:
    members = one.object()
    kind = members["type"].string()
    if kind == "TemplateProcessing":
        tokens = {name: _tokens(value) for name, value in members["special_tokens"].object().items()}
        return TemplateProcessing(_slots(members["single"]), _slots(members["pair"]), tokens)
    if kind == "BertProcessing":
        return BertProcessing(_end(members["sep"]), _end(members["cls"]))
    trim, prefix = members["trim_offsets"].boolean(), members["add_prefix_space"].boolean()
    if kind == "RobertaProcessing":
        return RobertaProcessing(_end(members["sep"]), _end(members["cls"]), trim, prefix)
    return ByteLevelProcessing(prefix, trim, "use_regex" not in members or members["use_regex"].boolean())


def _end(value: Json) -> tuple[str, int]:
    token, number = value.list()
    return token.string(), number.id()


def _tokens(value: Json) -> SlotTokens:
    members = value.object()
    return SlotTokens(
        tuple(one.id() for one in members["ids"].list()),
        tuple(one.string() for one in members["tokens"].list()),
    )


def _slots(value: Json) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    for one in value.list():
        ((kind, inside),) = one.object().items()
        name, type_id = inside.member("id").string(), cast(int, inside.member("type_id").value)
        if kind == "Sequence":
            slots.append(TextSlot("A" if name == "A" else "B", type_id))
        else:
            slots.append(SpecialSlot(name, type_id))
    return tuple(slots)


def _truncation(value: Json) -> Truncation | None:
    if value.value is None:
        return None
    members = {name: member.value for name, member in value.object().items()}
    return Truncation(
        max_length=cast(int, members["max_length"]),
        stride=cast(int, members["stride"]),
        strategy=STRATEGIES[cast(str, members["strategy"])],
        direction=_side(members.get("direction", "Right")),
    )


def _padding(value: Json) -> Padding | None:
    if value.value is None:
        return None
    members = {name: member.value for name, member in value.object().items()}
    strategy = members["strategy"]
    return Padding(
        length=cast(int, strategy["Fixed"]) if isinstance(strategy, Mapping) else "longest",
        pad_id=cast(int, members["pad_id"]),
        pad_type_id=cast(int, members["pad_type_id"]),
        pad_token=cast(str, members["pad_token"]),
        direction=_side(members["direction"]),
        multiple_of=cast("int | None", members.get("pad_to_multiple_of")),
    )


def _side(value: object) -> Side:
    return "left" if value == "Left" else "right"


# ---- records -> JSON ----


def with_framing(spec: TokenizerSpec, framing: Framing) -> TokenizerSpec:
    """The tokenizer, its file saying so; whether its offsets are trimmed goes along."""
    kept = {name: value for name, value in _carried(spec).items() if name not in EXTRAS}
    said = {
        "truncation": framing.truncation and write_truncation(framing.truncation),
        "padding": framing.padding and write_padding(framing.padding),
        "post_processor": write_processors(framing.post_processor),
    }
    kept |= {name: value for name, value in said.items() if value is not None}
    trims = trims_offsets(Json(said["post_processor"], "$.post_processor", Path(NAME)))
    others = {name: value for name, value in spec.carried.items() if name != "huggingface"}
    carried = {**others, "huggingface": kept} if kept else others
    return replace(spec, carried=carried, trim_offsets=trims)


def write_processors(processors: tuple[PostProcessor, ...]) -> Object | None:
    """One step as itself, several as a sequence, none as null."""
    written = [write_processor(one) for one in processors]
    return (
        {"type": "Sequence", "processors": written} if len(written) > 1 else written[0] if written else None
    )


def write_processor(one: PostProcessor) -> Object:
    """One step, its members in the order of their library."""
    if isinstance(one, TemplateProcessing):
        tokens = {
            name: {"id": name, "ids": list(found.ids), "tokens": list(found.tokens)}
            for name, found in sorted(one.special_tokens.items())
        }
        single, pair = ([_slot(slot) for slot in slots] for slots in (one.single, one.pair))
        return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}
    if isinstance(one, ByteLevelProcessing):
        return {
            "type": "ByteLevel",
            "add_prefix_space": one.add_prefix_space,
            "trim_offsets": one.trim_offsets,
            "use_regex": one.use_regex,
        }
    ends: Object = {"sep": list(one.sep), "cls": list(one.cls)}
    if isinstance(one, BertProcessing):
        return {"type": "BertProcessing", **ends}
    flags = {"trim_offsets": one.trim_offsets, "add_prefix_space": one.add_prefix_space}
    return {"type": "RobertaProcessing", **ends, **flags}


def _slot(slot: Slot) -> Object:
    if isinstance(slot, TextSlot):
        return {"Sequence": {"id": slot.text, "type_id": slot.type_id}}
    return {"SpecialToken": {"id": slot.name, "type_id": slot.type_id}}


def write_truncation(truncation: Truncation) -> Object:
    """As the file has it."""
    names = {strategy: name for name, strategy in STRATEGIES.items()}
    return {
        "direction": truncation.direction.capitalize(),
        "max_length": truncation.max_length,
        "strategy": names[truncation.strategy],
        "stride": truncation.stride,
    }


def write_padding(padding: Padding) -> Object:
    """As the file has it."""
    return {
        "strategy": "BatchLongest" if padding.length == "longest" else {"Fixed": padding.length},
        "direction": padding.direction.capitalize(),
        "pad_to_multiple_of": padding.multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    }


def _carried(spec: TokenizerSpec) -> Object:
    found = spec.carried.get("huggingface")
    return dict(found) if isinstance(found, Mapping) else {}


EXTRAS = ("truncation", "padding", "post_processor")
