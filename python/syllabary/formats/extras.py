"""What goes beyond symbols, merges and a split: whether a format without words for it must refuse.

Formats that hold nothing else (rank files, codes, minbpe's models) share `refuse_extras`, which names the
first thing that they cannot hold, and `without_extras`, which leaves out what can be left out and says what
that changes. Leaves out: what each format holds (the format modules).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from syllabary.formats.loss import Loss
from syllabary.formats.record import cannot_hold
from syllabary.spec import Matching, Step, TokenizerSpec

NO_IDS = "no id changes"  # said of a loss whose `ids` are "same", in these words alone
# Field -> what it is, and what its loss changes; `None`: without it, it is another tokenizer altogether.
EXTRAS: Mapping[str, tuple[str, Loss | None]] = {
    "normalizer": ("its normalizer", Loss("ids can change", "some")),
    "pretokenizer": ("its pre-tokenizer", Loss("ids can change", "some")),
    "scores": ("scores of tokens", None),
    "unused": ("tokens that are cut again once merged", None),
    "continuing_prefix": ("a prefix of continuing tokens", None),
    "mark_apart": ("an end-of-word mark that is a symbol of its own", None),
    "byte_tokens": ("tokens that stand for bytes", None),
    "decoder": ("its decoder", Loss(f"decoded text can change; {NO_IDS}", "same")),
    "matching": (
        "how its special and added tokens match",
        Loss("ids can change around those tokens", "some"),
    ),
    "unknown": ("an id for unknown symbols", Loss("text with unknown symbols has no ids any more", "some")),
    "fuse_unknown": ("fusing of unknown symbols", Loss("text with unknown symbols gets other ids", "some")),
    "dropout": ("dropout", Loss("ids can change where encoding is not told a dropout", "some")),
    "trim_offsets": ("trimming of offsets", Loss(f"offsets change; {NO_IDS}", "same")),
    "surface_offsets": ("offsets by sentencepiece's rule", Loss(f"offsets change; {NO_IDS}", "same")),
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
    spec: TokenizerSpec, name: str, held: Collection[str] = (), said: Collection[str] = ()
) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The tokenizer without those that can be left out, and one sentence for each.

    What other formats carry (`carried`) goes as well, with a sentence for each format but `name` and those of
    which the files say it all the same (`said`).
    """
    losses: list[Loss] = []
    changed: dict[str, object] = {}
    for extra in extras(spec, held):
        what, effect = EXTRAS[extra]
        if effect is not None:
            changed[extra] = _default(extra)
            subject = what[0].upper() + what[1:] + _detail(getattr(spec, extra))
            losses.append(Loss(f"{subject}: lost; {effect}.", effect.ids))
    losses += [carried_loss(other) for other in sorted({*spec.carried} - {name, *said})]
    changed["carried"] = {key: value for key, value in spec.carried.items() if key == name}
    return dataclasses.replace(spec, **changed), tuple(losses)  # type: ignore[arg-type]  # by field name


def carried_loss(name: str) -> Loss:
    """That all goes which is carried for the format `name`."""
    return Loss(f"What only {name} holds beside the tokenizer is lost; {NO_IDS}.", "same")


def _default(name: str) -> object:
    field = _DEFAULTS[name]
    return field.default_factory() if callable(field.default_factory) else field.default


def _detail(value: object) -> str:
    """The kinds of steps, a number or a text; nothing of larger things."""
    if isinstance(value, tuple):
        kinds = [step.kind for step in value if isinstance(step, Step)]
        return f" ({', '.join(kinds[:5])}{', …' if len(kinds) > 5 else ''})" if kinds else ""
    return f" ({value!r})" if isinstance(value, (float, str)) else ""
