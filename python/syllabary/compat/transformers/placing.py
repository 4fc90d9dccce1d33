"""The ids that a class of `transformers` gives the pieces of a sentencepiece model.

    XLM-RoBERTa's:  <unk> <s> </s> , the …   ->   <s> <pad> </s> <unk> , the … <mask>

Adds `placed`. Leaves out: the table of classes (`formats.transformers_layouts`), and what they put around a
text or do to it (`formats.transformers_sentencepiece`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syllabary.errors import FormatError
from syllabary.formats.transformers_classes import Class, class_named
from syllabary.formats.transformers_folder import ROLES, beside, settings, with_beside
from syllabary.formats.transformers_layouts import Layout
from syllabary.formats.transformers_sentencepiece import T5, class_of, layout_of
from syllabary.spec import Matching, TokenizerSpec
from syllabary.truncation import renumbered

PIECE = "="  # in front of a name that is a piece, and no special token
NEVER = Matching(stage="never")


def placed(spec: TokenizerSpec, changes: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of a sentencepiece model with the class's ids, and the special tokens that it adds.

    changes: to `tokenizer_config.json`; roles among them name tokens. Raises `FormatError` for a class that
    is not known, and for a model that is not numbered as those of the class are.
    """
    layout, known = layout_of(spec), class_named(class_of(spec))
    if layout is None or known is None or class_of(spec) == T5:
        return spec
    roles = {**known.named(), **settings(spec).roles}
    roles |= {role: str(text) for role, text in changes.items() if role in ROLES and text}
    moved = _moved(spec, layout, roles) if layout.first else spec
    wanted = [roles.get(f"{name}_token", name) for name in layout.last]
    wanted += [roles[role] for role in ROLES if role in roles]
    there = {**moved.special_tokens, **moved.added_tokens}
    new = [text for text in dict.fromkeys(wanted) if text not in there]
    size = 1 + max([*moved.tokens, *there.values()])
    ids = {text: size + place for place, text in enumerate(new)}
    if not ids and moved is spec:
        return spec
    more = replace(
        moved,
        special_tokens={**moved.special_tokens, **ids},
        matching={**moved.matching, **_mask(known, roles, ids)},
        carried={},
    )
    return with_beside(more, beside(spec))


def _mask(known: Class, roles: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, Matching]:
    """How a mask token that is new is found."""
    text = roles.get("mask_token", "")
    return {text: Matching(lstrip=True)} if known.strips and text in ids else {}


def _moved(spec: TokenizerSpec, layout: Layout, roles: Mapping[str, str]) -> TokenizerSpec:
    """With the first tokens of the class in the place of the model's."""
    names = [roles.get(f"{name}_token", name) for name in layout.first]
    named = {**spec.special_tokens, **spec.added_tokens}
    gone = {text: number for text, number in spec.special_tokens.items() if number < layout.instead}
    kept = {number: number + len(names) - layout.instead for number in {*spec.tokens, *named.values()}}
    kept = {old: new for old, new in kept.items() if old >= layout.instead}
    there = {text for text, number in named.items() if number in kept and number != spec.unknown}
    unknown, name = roles["unk_token"], class_of(spec)
    number = spec.unknown
    if len(gone) != layout.instead or number is None or (number < layout.instead) != (unknown in names):
        raise FormatError(
            f"{name} takes a model that begins with {layout.instead} special pieces, as its own does; this "
            "one begins otherwise: with_settings(tokenizer_class=None) for the model's ids"
        )
    if twice := there.intersection(names):
        first = min(twice)
        raise FormatError(
            f"{name} adds {first!r}, and the model has it already, as id {named[first]}: "
            "with_settings(tokenizer_class=None) for the model's ids"
        )
    if unknown in names:
        kept[number] = names.index(unknown)
    moved = renumbered(replace(spec, carried={}), kept)
    special = {text: number for text, number in moved.special_tokens.items() if number != moved.unknown}
    special |= {text: place for place, text in enumerate(names) if not text.startswith(PIECE)}
    special |= {unknown: kept[number]}
    rules = {**moved.matching, **dict.fromkeys((*gone, unknown), NEVER)}
    pieces = {place: text[1:].encode() for place, text in enumerate(names) if text.startswith(PIECE)}
    scores = moved.scores or {}
    lowest = min((score for number, score in scores.items() if number not in moved.unused), default=0.0)
    return replace(
        moved,
        tokens=dict(sorted({**moved.tokens, **pieces}.items())),
        scores=dict(sorted({**scores, **dict.fromkeys(pieces, lowest)}.items())),
        special_tokens=dict(sorted(special.items(), key=lambda item: item[1])),
        matching={text: how for text, how in rules.items() if text in special or text in moved.added_tokens},
    )
