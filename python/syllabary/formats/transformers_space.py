"""`add_prefix_space`: whether a space is put in front of a text, as the classes of `transformers` read it.

    {"type": "ByteLevel", "add_prefix_space": false}   ->   {"type": "ByteLevel", "add_prefix_space": true}

Adds `spaced`, which changes the components of a `tokenizer.json`. Source: transformers 5.23, where each class
makes its components anew; here only what the setting says is taken over, and only where it is told. Leaves
out: what a class does where nothing tells the setting; where it is told (`transformers_text`); sentencepiece
models (`transformers_sentencepiece`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from syllabary.errors import FormatError
from syllabary.formats.transformers_classes import class_named

KEY = "add_prefix_space"
MEMBERS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
LISTS = ("pretokenizers", "normalizers", "decoders", "processors")  # of a component that is a sequence
# Classes, without `Tokenizer`, that have it in the ByteLevel of their pre-tokenizer; of some also in the
# RobertaProcessing that trims offsets.
TRIMS = frozenset(("Roberta", "Bart", "Longformer", "LED", "Mvp", "LayoutLMv3"))
BYTES = TRIMS | {
    *("GPT2", "Blenderbot", "CodeGen", "Cohere", "Deberta", "GPTNeoX", "Luke", "MarkupLM", "Qwen2"),
    *("Qwen3_5", "Whisper"),
}
# Classes that have it in Metaspace, and its prepend_scheme with a space and without.
MARKS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("Albert", "Barthez", "BigBird", "Camembert", "LayoutXLM", "RemBert", "XGLM", "XLMRoberta"),
        ("always", "never"),
    ),
    "DebertaV2": ("always", "first"),
    "CodeLlama": ("first", "never"),
    "Llama": ("first", "never"),
}
FIXED = frozenset(("CLIP", "FNet"))  # and all of `transformers_classes` that are in neither table
UNMARKED = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}  # of Llama's decoder
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
IN_FRONT = {"type": "Metaspace", "replacement": " ", "prepend_scheme": "always", "split": False}

Part = dict[str, Any]
Components = dict[str, Any]


def spaced(
    components: Mapping[str, Any],
    name: object,
    prefix: bool,
    *,
    asked: bool = True,
    legacy: bool = False,
) -> Components:
    """The members of a `tokenizer.json` that change: with a space in front of a text, or without one.

    name: the `tokenizer_class`. asked: by the caller; a folder's own word counts only for a class that reads
    it. legacy: Llama's. Raises `FormatError` where it is asked, and the class or the components have no such
    thing.
    """
    kind = kind_of(name)
    before = {key: components.get(key) for key in MEMBERS}
    bytewise = bool(of_kind(before["pre_tokenizer"], "ByteLevel"))
    if kind in BYTES and bytewise:
        found = _bytes(before, prefix, trims=("RobertaProcessing",) if kind in TRIMS else ())
    elif kind in MARKS and not bytewise:
        always = prefix and legacy and kind == "Llama"
        scheme = "always" if always else MARKS[kind][not prefix]
        found = _marked(before, scheme, strips=kind != "CodeLlama")
    elif not asked:
        return {}
    else:
        found = _plain(before, prefix)
    changed = {key: value for key, value in found.items() if value != before[key]}
    fixed = kind in FIXED or (class_named(name) is not None and kind not in {*BYTES, *MARKS})
    if fixed and not {"normalizer", "pre_tokenizer"}.isdisjoint(changed):
        raise FormatError(
            f"{KEY}={prefix}: {name} has no such setting, and ids stay as they are there; leave it out, or "
            "say with_settings(tokenizer_class=None) first"
        )
    changed = {} if fixed else changed
    if asked and prefix and not _puts_one({**before, **changed}):
        raise FormatError(
            f"{KEY}=True: this tokenizer has neither bytes nor ▁ to put a space before: leave it out"
        )
    return changed


def kind_of(name: object) -> str:
    """What a `tokenizer_class` is called without its endings; nothing if it is no name.

    >>> kind_of("RobertaTokenizerFast"), kind_of(None)
    ('Roberta', '')
    """
    return name.removesuffix("Fast").removesuffix("Tokenizer") if isinstance(name, str) else ""


# ---- components ----


def parts(component: Any) -> list[Part]:
    """A component, or those of a sequence."""
    if not isinstance(component, dict):
        return []
    for key in LISTS:
        if isinstance(component.get(key), list):
            return [part for one in component[key] for part in parts(one)]
    return [component]


def of_kind(component: Any, kind: str) -> list[Part]:
    """Those of one type."""
    return [part for part in parts(component) if part.get("type") == kind]


def mapped(component: Any, change: Callable[[Part], Part | None]) -> Any:
    """The component with each part changed; one that becomes `None` is taken out."""
    if not isinstance(component, dict):
        return component
    for key in LISTS:
        if isinstance(component.get(key), list):
            parts = [mapped(one, change) for one in component[key]]
            return {**component, key: [one for one in parts if one is not None]}
    return change(component)


def _flagged(component: Any, kinds: Iterable[str], prefix: bool) -> Any:
    kinds = tuple(kinds)
    return mapped(component, lambda one: {**one, KEY: prefix} if one.get("type") in kinds else one)


def _bytes(before: Components, prefix: bool, trims: Iterable[str]) -> Components:
    return {
        "pre_tokenizer": _flagged(before["pre_tokenizer"], ["ByteLevel"], prefix),
        "post_processor": _flagged(before["post_processor"], trims, prefix),
    }


def _marked(before: Components, scheme: str, strips: bool = True) -> Components:
    """With the scheme in Metaspace; a normalizer that prepends the mark, as Llama's files have it, may go.

    strips: the decoder takes a space off the text where one was put there, and none else.
    """

    def change(part: Part) -> Part:
        if part.get("type") != "Metaspace":
            return part
        return {**{key: value for key, value in part.items() if key != KEY}, "prepend_scheme": scheme}

    found = {key: mapped(before[key], change) for key in ("pre_tokenizer", "decoder")}
    if scheme == "never":
        found["normalizer"] = mapped(before["normalizer"], _unless("Prepend"))
    steps = parts(before["decoder"])
    if strips and UNMARKED in steps:
        left = [part for part in steps if part.get("type") != "Strip"]
        found["decoder"] = {"type": "Sequence", "decoders": [*left, *([] if scheme == "never" else [STRIP])]}
    return found


def _unless(kind: str) -> Callable[[Part], Part | None]:
    return lambda part: None if part.get("type") == kind else part


def _plain(before: Components, prefix: bool) -> Components:
    """What the setting plainly means, of a tokenizer without a class that reads it."""
    pre = before["pre_tokenizer"]
    steps = parts(pre)
    if not of_kind(pre, "ByteLevel"):
        schemes = [part.get("prepend_scheme") for part in of_kind(pre, "Metaspace")]
        return {} if prefix and "first" in schemes else _marked(before, "always" if prefix else "never")
    processor = _flagged(before["post_processor"], ["ByteLevel", "RobertaProcessing"], prefix)
    if not prefix:
        pre = mapped(pre, lambda part: None if part == IN_FRONT else part)
        pre = _flagged(pre, ["ByteLevel"], prefix)
    elif steps[0].get("type") == "ByteLevel":
        pre = _flagged(pre, ["ByteLevel"], prefix)
    elif steps[0] != IN_FRONT:  # behind a split, ByteLevel would put one in front of every piece
        pre = {"type": "Sequence", "pretokenizers": [IN_FRONT, *steps]}
    return {"pre_tokenizer": pre, "post_processor": processor}


def _puts_one(components: Components) -> bool:
    """Whether something puts a space, or a mark, in front of a text."""
    flags = [part.get(KEY) for part in of_kind(components["pre_tokenizer"], "ByteLevel")]
    schemes = [part.get("prepend_scheme") for part in of_kind(components["pre_tokenizer"], "Metaspace")]
    return (
        any(flags)
        or any(one != "never" for one in schemes)
        or bool(of_kind(components["normalizer"], "Prepend"))
    )
