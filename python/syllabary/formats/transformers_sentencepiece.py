"""A sentencepiece model as `transformers` has it: what `tokenizer.json` can hold, with its special tokens.

    control symbols, the unknown one: in no text  ->  special tokens of theirs, found wherever they stand
    what their files have no words for            ->  the nearest that they have (`hf_reduce`)

Adds `held`, which names each loss; a text without special tokens keeps its ids but where one of them says
otherwise, and a model of which all ids would change is refused. And `said`: roles and special tokens of the
model, what its class does to text first and puts around it. Source: transformers 5.23,
`tokenization_utils_tokenizers.py` (`_convert_from_sentencepiece`), `LlamaTokenizer` and `T5Tokenizer`. Leaves
out: how other classes number the pieces (`transformers_layouts`); classes outside that table, refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from syllabary.errors import FormatError
from syllabary.formats.hf_components import NAME as FILE
from syllabary.formats.hf_components import Component
from syllabary.formats.hf_reduce import IN_FRONT, SPACE, reduce_all_but_record
from syllabary.formats.loss import Loss
from syllabary.formats.protobuf import fields
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_carried import NAME as MODEL
from syllabary.formats.sentencepiece_carried import from_carried
from syllabary.formats.sentencepiece_proto import TRAINER
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_folder import (
    DECODER,
    EXTRA,
    beside,
    class_in,
    members_in,
    settings,
    with_beside,
)
from syllabary.formats.transformers_folder import NAME as BESIDE
from syllabary.formats.transformers_language import template
from syllabary.formats.transformers_layouts import LAYOUTS, Layout
from syllabary.formats.transformers_words import in_words
from syllabary.spec import Matching, Step, TokenizerSpec

# Their classes whose ids are those of the model, and text reaches it as it is; each also with `Fast`.
LLAMA, T5 = "LlamaTokenizer", "T5Tokenizer"
SAME_IDS = (LLAMA, T5, "PreTrainedTokenizer", "TokenizersBackend")
ROLE_IDS = {"unk_token": (40, 0), "bos_token": (41, 1), "eos_token": (42, 2), "pad_token": (43, -1)}
ENDS = ("bos_token", "eos_token")
# Settings with which text would be cut otherwise, and what they are else; and the classes that read them.
REFUSED = {"split_by_punct": False, "add_prefix_space": True}
READ_BY = {"split_by_punct": ("DebertaV2",), "add_prefix_space": (
    "Albert", "Barthez", "BigBird", "Camembert", "DebertaV2", "XLMRoberta"
)}  # fmt: skip
TEXT = ("add_prefix_space", "legacy", "keep_accents", "do_lower_case", "split_by_punct")  # change the text
CARRIED = "huggingface"
SENTINELS = 100  # `<extra_id_0>` has the highest id
INSTEAD = "use the tokenizer itself; `syllabary convert` to a tokenizer.json says what would change"


def is_sentencepiece(spec: TokenizerSpec) -> bool:
    """Whether a tokenizer is one of sentencepiece's, from whatever file, and no model of words."""
    return spec.surface_offsets and spec.model != "wordlevel"


def held(spec: TokenizerSpec, changes: Mapping[str, Any]) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The nearest tokenizer that `tokenizer.json` can hold, and what is lost, one sentence each.

    changes: to `tokenizer_config.json`, of which those of BOS and EOS are put around a text at once.

    Raises `FormatError` for a class that gives other ids than the model, and for a model of which ids of
    all text would change.
    """
    name = class_of(spec)
    less, losses = reduce_all_but_record(_found(spec))
    if all_text := [loss for loss in losses if loss.ids == "all"]:
        raise cannot_hold(FILE, "; ".join(all_text), INSTEAD)
    less = _first(_with_sentinels(less) if name == T5 else less, spec, changes)
    if name == LLAMA:
        less, lost = _legacy(less, _members(spec))
        losses += lost
    less = replace(less, decoder=tuple(map(_one_space, less.decoder))) if less.decoder else less
    around = _around(spec, changes)
    carried = {} if around is None else {CARRIED: {"post_processor": around}}
    less = replace(less, record={}, carried=carried)
    return with_beside(less, beside(spec)), (*_said_of(spec), *losses)


def said(spec: TokenizerSpec) -> dict[str, Any]:
    """What the model says and the files beside it leave open, as members of `tokenizer_config.json`."""
    members = _members(spec)
    found: dict[str, Any] = _roles_left(spec)
    if class_of(spec) == LLAMA and "padding_side" not in members:
        found["padding_side"] = "left"
    if not any(key in members for key in EXTRA):
        special = (_with_sentinels(spec) if class_of(spec) == T5 else spec).special_tokens
        found["extra_special_tokens"] = [text for text, number in special.items() if number != spec.unknown]
    return found


def _members(spec: TokenizerSpec) -> dict[str, Json]:
    """What the files beside the model say."""
    return members_in(beside(spec), Path(BESIDE))


def class_of(spec: TokenizerSpec) -> str | None:
    """The class that the files name, without `Fast`; `FormatError` for one whose ids are other ones."""
    member = _members(spec).get("tokenizer_class")
    if member is None or not isinstance(member.value, str):
        return None
    name = member.value.removesuffix("Fast")
    if name not in SAME_IDS and name not in LAYOUTS:
        raise FormatError(
            f"tokenizer_class {member.value!r}: of a sentencepiece model, as_transformers knows only "
            f"{', '.join(sorted({*SAME_IDS, *LAYOUTS}))}: others move ids or change the text. Save the "
            "folder with transformers, which writes a tokenizer.json, or take "
            "with_settings(tokenizer_class=None) for the model's ids"
        )
    return name


def layout_of(spec: TokenizerSpec) -> Layout | None:
    """How the class that the files name numbers pieces, if it is in that table."""
    return LAYOUTS.get(class_of(spec) or "")


def _roles_left(spec: TokenizerSpec) -> dict[str, str]:
    """Role -> text of those that the model's training named, and neither files nor class say."""
    members = _members(spec)
    if MODEL not in spec.carried or class_in(members) is not None:
        return {}
    message = from_carried(spec.carried, {}).message(TRAINER)
    values: dict[int, object] = {part.number: part.value for part in fields(message)}
    names: dict[object, str] = {token_id: text for text, token_id in spec.special_tokens.items()}
    found = {role: names.get(values.get(number, left)) for role, (number, left) in ROLE_IDS.items()}
    if class_of(spec) == LLAMA:
        del found["pad_token"]
    return {role: text for role, text in found.items() if text is not None and role not in members}


def _never(spec: TokenizerSpec) -> list[str]:
    """The special tokens that are in no text."""
    return [text for text in spec.special_tokens if spec.matching.get(text, Matching()).stage == "never"]


def _found(spec: TokenizerSpec) -> TokenizerSpec:
    """The same with special tokens that are found in text before it is normalized, as the files say.

    Those that the files name are special, whatever the model has them for.
    """
    names, flags = _never(spec), _flags_said(_members(spec))
    added, roles = spec.added_tokens, settings(spec)
    special = {text: added[text] for text in (*roles.roles.values(), *roles.extra) if text in added}
    gone = {*names, *special}
    matching = {text: how for text, how in spec.matching.items() if text not in gone}
    there = {**spec.special_tokens, **special}
    return replace(
        spec,
        special_tokens=there,
        added_tokens={text: number for text, number in added.items() if text not in special},
        matching={**matching, **{text: how for text, how in flags.items() if text in there}},
    )


def _flags_said(members: Mapping[str, Json]) -> dict[str, Matching]:
    """How special tokens are found that `tokenizer_config.json` has as objects: by id, or else by role."""
    tokens = [one for key, one in members.items() if key.endswith("_token")]
    tokens += members[DECODER].object().values() if DECODER in members else []
    return {
        one.member("content").string(): Matching(
            "text", *(_flag(one.object(), key, False) for key in ("single_word", "lstrip", "rstrip"))
        )
        for one in tokens
        if isinstance(one.value, dict)
    }


def _said_of(spec: TokenizerSpec) -> tuple[Loss, ...]:
    names = _never(spec)
    if not names:
        return ()
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    sentence = (
        f"that {', '.join(map(repr, names[:5]))}{more} are in no text: there they are special tokens, "
        "wherever they stand, and what is on either side is encoded as a text of its own; ids of such text "
        "change"
    )
    return (Loss(sentence, "some"),)


def _first(less: TokenizerSpec, spec: TokenizerSpec, asked: Collection[str]) -> TokenizerSpec:
    """With what the class does to text before the model's own normalizer. less: of `spec`.

    asked: settings that the caller gave, which are refused of a class that would not read them, too. Raises
    `FormatError` for settings that would make other text of it.
    """
    members, layout = _members(spec), layout_of(spec)
    name = class_of(spec)
    for key, usual in REFUSED.items():
        reads = (name or "").removesuffix("Tokenizer") in READ_BY[key]
        follows = name == LLAMA and key == "add_prefix_space"  # in `_legacy`
        if (reads or (key in asked and not follows)) and _flag(members, key, usual) != usual:
            whose = name or "a tokenizer without a class"
            raise members[key].error(f"as_transformers does not know {whose} with it: take it out")
    if layout is None:
        return less
    steps = [Step("Replace", {"pattern": mark, "regex": False, "content": '"'}) for mark in ("``", "''")]
    steps = steps if layout.quotes else []
    if layout.quotes and not _flag(members, "keep_accents", False):
        steps += [Step("NFKD"), Step("StripAccents")]
    if layout.lowers is not None and _flag(members, "do_lower_case", layout.lowers):
        steps.append(Step("Lowercase"))
    less = less if layout.spaces is None else in_words(less, layout.spaces)
    return replace(less, normalizer=(*steps, *less.normalizer))


def _legacy(less: TokenizerSpec, members: Mapping[str, Json]) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """With a space only where Llama's class puts one, and what is lost by it.

    `add_prefix_space: false`: none. `legacy: false`: in front of all text, not of each part, and not where
    one is already.
    """
    legacy, prefix = _flag(members, "legacy", True), _flag(members, "add_prefix_space", True)
    added = [step for step in less.normalizer if step.kind == "Prepend"]
    if (legacy and prefix) or not added:
        return less, ()
    added += [step for step in less.normalizer if prefix and step.options.get("pattern") == IN_FRONT]
    less = replace(less, normalizer=tuple(step for step in less.normalizer if step not in added))
    if prefix:
        first = Step("Metaspace", {"replacement": SPACE, "prepend_scheme": "first", "split": False})
        lost = "(legacy: false) the space before text that begins with a space or follows a special token"
        return replace(less, pretokenizer=(first,)), (Loss(f"{lost}: ids change there", "some"),)
    decoder = tuple(step for step in less.decoder or () if step.kind != "Strip")
    lost = Loss("(add_prefix_space: false) the space in front of a text: ids change there", "some")
    return replace(less, decoder=decoder), (lost,)


def _one_space(step: Step) -> Step:
    """Their decoders leave out one space in front, whatever the model says."""
    if step.kind != "Strip" or step.options.get("start") == 0:
        return step
    return Step("Strip", {**step.options, "start": 1})


def _flag(members: Mapping[str, Json], key: str, default: bool) -> bool:
    return default if key not in members or members[key].value is None else members[key].boolean()


def _with_sentinels(spec: TokenizerSpec) -> TokenizerSpec:
    """With the special tokens that T5's class adds, if there is none of them."""
    ids = {**spec.special_tokens, **spec.added_tokens}
    sentinels = [f"<extra_id_{number}>" for number in reversed(range(SENTINELS))]
    if any(text in ids for text in sentinels):
        return spec
    first = 1 + max([*spec.tokens, *ids.values()])
    special = {text: first + place for place, text in enumerate(sentinels)}
    return replace(spec, special_tokens={**spec.special_tokens, **special})


def _around(spec: TokenizerSpec, changes: Mapping[str, Any]) -> Component | None:
    """What is put around a text: as the class does it, or else as `add_bos_token`, `add_eos_token` say."""
    members, ids = _members(spec), {**spec.added_tokens, **spec.special_tokens}
    if (told := template(members, ids, ids)) is not None:
        return told
    roles = {**_roles_left(spec), **settings(spec).roles}
    roles |= {role: str(text) for role, text in changes.items() if role.endswith("_token") and text}
    layout = layout_of(spec)
    if layout is not None and layout.single:
        single, pair = layout.single.split(), layout.pair.split()
    else:
        asked = [f"add_{role}" in members and members[f"add_{role}"].value is True for role in ENDS]
        asked = [flag and roles.get(role) in ids for flag, role in zip(asked, ENDS, strict=True)]
        single, pair = ([*["bos"] * asked[0], text, *["eos"] * asked[1]] for text in ("A", "B"))
        pair = [*single, *(f"{one}:1" for one in pair)]
    names = {one: roles.get(f"{one}_token", "") for slot in pair if (one := slot.split(":")[0]) not in "AB"}
    if not names:
        return None
    for one, text in names.items():
        if text not in ids:
            raise FormatError(f"{one}_token: {class_of(spec)} puts it around a text, and the model has none")
    return {
        "type": "TemplateProcessing",
        "single": [_slot(one, names) for one in single],
        "pair": [_slot(one, names) for one in pair],
        "special_tokens": {
            text: {"id": text, "ids": [ids[text]], "tokens": [text]} for text in names.values()
        },
    }


def _slot(slot: str, names: Mapping[str, str]) -> object:
    """One place of a template: `A`, `cls`, `sep:1`. names: role -> text."""
    name, _, number = slot.partition(":")
    kind, found = ("SpecialToken", names[name]) if name in names else ("Sequence", name)
    return {kind: {"id": found, "type_id": int(number or 0)}}
