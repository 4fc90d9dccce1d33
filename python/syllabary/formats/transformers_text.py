"""Settings of a folder that change what a class of `transformers` does to text, where they are told.

    {"tokenizer_class": "BertTokenizer", "do_lower_case": false}   ->   BertNormalizer's "lowercase": false

Adds `changed`, the components of a `tokenizer.json` that settings change, and `with_text`, the same of a
tokenizer of ours: the space in front (`transformers_space`), BERT's and DebertaV2's letters, CLIP's decoding.
Source: transformers 5.23, the classes. Leaves out: what a class does where nothing is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syllabary.errors import FormatError
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_folder import NAME, beside, members_in, with_beside
from syllabary.formats.transformers_space import (
    KEY,
    Components,
    Part,
    kind_of,
    mapped,
    of_kind,
    parts,
    spaced,
)
from syllabary.on_demand import later
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary.formats import hf_write
else:
    later(globals(), hf_write="syllabary.formats.hf_write")

LOWER, PUNCT = "do_lower_case", "split_by_punct"
BERT = {
    LOWER: "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
BERTS = frozenset(
    ("Bert", "DistilBert", "DPRQuestionEncoder", "DPRReader", "Electra", "Funnel", "LayoutLM", "LayoutLMv2")
) | {"Lxmert", "MobileBert", "MPNet", "Splinter", "SqueezeBert"}
KEYS = (KEY, PUNCT, *BERT)
SUFFIX = "end_of_word_suffix"
ENDS = "\\A[\\s\x1c\x1d\x1e\x1f]+|[\\s\x1c\x1d\x1e\x1f]+\\z"  # what Python's `strip` takes away


def changed(
    components: Mapping[str, Any],
    members: Mapping[str, Json],
    asked: Mapping[str, Any],
    suffix: str | None = None,
) -> Components:
    """The members of a `tokenizer.json` that change. components: all of them but the model.

    members: of `tokenizer_config.json`. asked: what the caller says instead. suffix: what the model has at
    the ends of words. Raises `FormatError` for what is asked and no class, or not this one, can do.
    """
    asked = {key: value for key, value in asked.items() if value is not None}
    for key in (KEY, PUNCT, LOWER):
        if key in asked and not isinstance(asked[key], bool):
            raise FormatError(f"{key}={asked[key]!r}: give True or False")
    said = {key: one for key, one in members.items() if one.value is not None}
    said |= {key: Json(value, key, Path(key)) for key, value in asked.items() if key in (*KEYS, "legacy")}
    if "tokenizer_class" in asked:
        said["tokenizer_class"] = Json(asked["tokenizer_class"], "tokenizer_class", Path(NAME))
    name = said["tokenizer_class"].value if "tokenizer_class" in said else None
    found = Components()
    if KEY in said:
        legacy = "legacy" in said and said["legacy"].value is True
        found |= spaced(components, name, said[KEY].boolean(), asked=KEY in asked, legacy=legacy)
    kind = kind_of(name)
    flags = {key: said[key].boolean() for key in (PUNCT, *BERT) if key in said and _counts(key, kind, asked)}
    now = {**components, **found}
    found |= _lettered(now, kind, flags)
    if kind == "CLIP" and suffix:
        found |= _without_marks(now, suffix)
    return {key: value for key, value in found.items() if value != components.get(key)}


def with_text(spec: TokenizerSpec, given: Mapping[str, object]) -> TokenizerSpec:
    """The tokenizer as those settings ask for it that are given anew."""
    told = {key: given[key] for key in KEYS if given.get(key) is not None}
    if not told or spec.surface_offsets:
        return spec
    document, members = hf_write.document(spec), members_in(beside(spec), Path(NAME))
    more = changed(document, {key: one for key, one in members.items() if key not in KEYS}, told)
    if not more:
        return spec
    made = read_document(Json({**document, **more}, "$", Path("settings")))
    return with_beside(replace(made, carried={**spec.carried, **made.carried}), beside(spec))


def _counts(key: str, kind: str, asked: Mapping[str, Any]) -> bool:
    """Whether a setting is followed: a folder's own word only by a class that reads it."""
    return key in asked or (kind in BERTS and key in BERT) or (kind == "DebertaV2" and key in (LOWER, PUNCT))


def _lettered(components: Mapping[str, Any], kind: str, flags: Mapping[str, bool]) -> Components:
    normalizer, pre = components.get("normalizer"), components.get("pre_tokenizer")
    found = Components()
    bert = {BERT[key]: value for key, value in flags.items() if key in BERT}
    if bert and of_kind(normalizer, "BertNormalizer"):
        found["normalizer"] = mapped(
            normalizer, lambda part: {**part, **bert} if part.get("type") == "BertNormalizer" else part
        )
    elif LOWER in flags and kind == "DebertaV2":
        found["normalizer"] = _led(normalizer, "normalizers", {"type": "Lowercase"}, flags[LOWER])
    elif LOWER in flags and flags[LOWER] != bool(of_kind(normalizer, "Lowercase")):
        raise _unknown(LOWER, flags[LOWER])
    if PUNCT in flags and kind == "DebertaV2":
        cut = {"type": "Punctuation", "behavior": "Isolated"}
        found["pre_tokenizer"] = _led(pre, "pretokenizers", cut, flags[PUNCT])
    elif flags.get(PUNCT):
        raise _unknown(PUNCT, True)
    return found


def _led(component: Any, key: str, first: Part, wanted: bool) -> Any:
    """A sequence that begins with a part, or has none of its kind."""
    if wanted == bool(of_kind(component, first["type"])):
        return component
    rest = [part for part in parts(component) if part.get("type") != first["type"]]
    return {"type": "Sequence", key: [first, *rest] if wanted else rest}


def _unknown(key: str, value: bool) -> FormatError:
    return FormatError(
        f"{key}={value}: as_transformers does not know the class of this folder with it: leave it out"
    )


def _without_marks(components: Mapping[str, Any], suffix: str) -> Components:
    """CLIP's class puts a space in the place of the marks, once the text is decoded, and none at its ends."""
    decoder = components.get("decoder")
    if [part.get("type") for part in parts(decoder)] != ["ByteLevel"]:
        return {}
    steps = [
        {"type": "Replace", "pattern": {"String": suffix}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": ENDS}, "content": ""},
    ]
    return {"decoder": {"type": "Sequence", "decoders": [*parts(decoder), *steps]}}
