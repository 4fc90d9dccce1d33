"""What goes beyond symbols, merges and a split: whether a format without words for it must refuse.

Formats that hold nothing else (rank files, codes, minbpe's models) share `refuse_extras`, which names the
first thing that they cannot hold, and `without_extras`, which leaves out what can be left out and says what
that changes. Leaves out: what each format holds (the format modules).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from syllabary.formats.record import cannot_hold
from syllabary.spec import Matching, Step, TokenizerSpec

NO_IDS = "no id changes"  # said of a loss that is no excuse for a difference of ids, in these words alone
# Field -> what it is, and what its loss changes; `None`: without it, it is another tokenizer altogether.
EXTRAS: Mapping[str, tuple[str, str | None]] = {
    "normalizer": ("its normalizer", "ids can change"),
    "pretokenizer": ("its pre-tokenizer", "ids can change"),
    "scores": ("scores of tokens", None),
    "unused": ("tokens that are cut again once merged", None),
    "continuing_prefix": ("a prefix of continuing tokens", None),
    "mark_apart": ("an end-of-word mark that is a symbol of its own", None),
    "byte_tokens": ("tokens that stand for bytes", None),
    "decoder": ("its decoder", "decoded text can change; no id changes"),
    "matching": ("how its special and added tokens match", "ids can change around those tokens"),
    "unknown": ("an id for unknown symbols", "text with unknown symbols has no ids any more"),
    "fuse_unknown": ("fusing of unknown symbols", "text with unknown symbols gets other ids"),
    "dropout": ("dropout", "ids can change where encoding is not told a dropout"),
    "trim_offsets": ("trimming of offsets", "offsets change; no id changes"),
    "surface_offsets": ("offsets by sentencepiece's rule", "offsets change; no id changes"),
}
_DEFAULTS = {one.name: one for one in dataclasses.fields(TokenizerSpec)}


def extras(spec: TokenizerSpec, held: Collection[str] = ()) -> list[str]:
    """The fields of `EXTRAS` in use that are not `held`; a token that is matched plainly needs no words."""
    found = [name for name in EXTRAS if name not in held and getattr(spec, name) != _default(name)]
    plain = all(matching == Matching() for matching in spec.matching.values())
    return [name for name in found if name != "matching" or not plain]


def refuse_extras(spec: TokenizerSpec, name: str, held: Collection[str] = ()) -> None:
    """Raise `FormatError` that names the first of them."""
    for extra in extras(spec, held):
        raise cannot_hold(name, EXTRAS[extra][0] + _detail(getattr(spec, extra)))


def without_extras(
    spec: TokenizerSpec, name: str, held: Collection[str] = ()
) -> tuple[TokenizerSpec, tuple[str, ...]]:
    """The tokenizer without those that can be left out, and one sentence for each.

    What other formats carry (`carried`) goes as well, with a sentence for each format but `name`.
    """
    losses: list[str] = []
    changed: dict[str, object] = {}
    for extra in extras(spec, held):
        what, effect = EXTRAS[extra]
        if effect is not None:
            changed[extra] = _default(extra)
            subject = what[0].upper() + what[1:] + _detail(getattr(spec, extra))
            losses.append(f"{subject}: lost; {effect}.")
    others = sorted(set(spec.carried) - {name})
    losses += [f"What only {other} holds beside the tokenizer is lost; {NO_IDS}." for other in others]
    changed["carried"] = {key: value for key, value in spec.carried.items() if key == name}
    return dataclasses.replace(spec, **changed), tuple(losses)  # type: ignore[arg-type]  # by field name


def _default(name: str) -> object:
    field = _DEFAULTS[name]
    return field.default_factory() if callable(field.default_factory) else field.default


def _detail(value: object) -> str:
    """The kinds of steps, a number or a text; nothing of larger things."""
    if isinstance(value, tuple):
        kinds = [step.kind for step in value if isinstance(step, Step)]
        return f" ({', '.join(kinds[:5])}{', …' if len(kinds) > 5 else ''})" if kinds else ""
    return f" ({value!r})" if isinstance(value, (float, str)) else ""
