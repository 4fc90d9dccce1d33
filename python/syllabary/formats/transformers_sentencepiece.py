"""A sentencepiece model as `transformers` has it: what `tokenizer.json` can hold, with its special tokens.

    control symbols, the unknown one: in no text  ->  special tokens of theirs, found wherever they stand
    what their files have no words for            ->  the nearest that they have (`hf_reduce`)

Adds `held`, which names each loss; a text without special tokens keeps its ids but where one of them says
otherwise, and a model of which all ids would change is refused. And `said`: roles and special tokens of the
model, what its class puts around a text. Source: transformers 5.23, `tokenization_utils_tokenizers.py`
(`_convert_from_sentencepiece`) and `T5Tokenizer`. Leaves out: classes whose ids are not those of the model
(XLM-RoBERTa, mBART, Pegasus, …) or that change the text first (Albert, XLNet): refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from syllabary.errors import FormatError
from syllabary.formats.hf_components import NAME as FILE
from syllabary.formats.hf_components import Component
from syllabary.formats.hf_reduce import reduce
from syllabary.formats.protobuf import fields
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_carried import NAME as MODEL
from syllabary.formats.sentencepiece_carried import from_carried
from syllabary.formats.sentencepiece_proto import TRAINER
from syllabary.formats.strict_json import Json
from syllabary.formats.transformers_folder import EXTRA, beside, class_in, members_in, settings, with_beside
from syllabary.formats.transformers_folder import NAME as BESIDE
from syllabary.spec import Matching, TokenizerSpec

# Their classes whose ids are those of the model, and text reaches it as it is; each also with `Fast`.
LLAMA, T5 = "LlamaTokenizer", "T5Tokenizer"
SAME_IDS = (LLAMA, T5, "PreTrainedTokenizer", "TokenizersBackend")
ROLE_IDS = {"unk_token": (40, 0), "bos_token": (41, 1), "eos_token": (42, 2), "pad_token": (43, -1)}
ENDS = ("bos_token", "eos_token")
CARRIED = "huggingface"
SENTINELS = 100  # `<extra_id_0>` has the highest id
INSTEAD = "use the tokenizer itself; `syllabary convert` to a tokenizer.json says what would change"


def is_sentencepiece(spec: TokenizerSpec) -> bool:
    """Whether a tokenizer is one of sentencepiece's, from whatever file, and no model of words."""
    return spec.surface_offsets and spec.model != "wordlevel"


def held(spec: TokenizerSpec, changes: Mapping[str, Any]) -> tuple[TokenizerSpec, tuple[str, ...]]:
    """The nearest tokenizer that `tokenizer.json` can hold, and what is lost, one sentence each.

    changes: to `tokenizer_config.json`, of which those of BOS and EOS are put around a text at once.

    Raises `FormatError` for a class that gives other ids than the model, and for a model of which ids of
    all text would change.
    """
    name = _class_of(spec)
    less, losses = reduce(_found(spec))
    if all_text := [loss for loss in losses if loss.endswith(": ids change")]:
        raise cannot_hold(FILE, "; ".join(all_text), INSTEAD)
    losses = (*_said_of(spec), *(loss for loss in losses if not loss.startswith("the record of training")))
    less = _with_sentinels(less) if name == T5 else less
    around = _around(spec, name, changes)
    carried = {} if around is None else {CARRIED: {"post_processor": around}}
    return with_beside(replace(less, carried=carried), beside(spec)), losses


def said(spec: TokenizerSpec) -> dict[str, Any]:
    """What the model says and the files beside it leave open, as members of `tokenizer_config.json`."""
    members = _members(spec)
    found: dict[str, Any] = _roles_left(spec)
    if _class_of(spec) == LLAMA and "padding_side" not in members:
        found["padding_side"] = "left"
    if not any(key in members for key in EXTRA):
        special = (_with_sentinels(spec) if _class_of(spec) == T5 else spec).special_tokens
        found["extra_special_tokens"] = [text for text, number in special.items() if number != spec.unknown]
    return found


def _members(spec: TokenizerSpec) -> dict[str, Json]:
    """What the files beside the model say."""
    return members_in(beside(spec), Path(BESIDE))


def _class_of(spec: TokenizerSpec) -> str | None:
    """The class that the files name, without `Fast`; `FormatError` for one whose ids are other ones."""
    member = _members(spec).get("tokenizer_class")
    if member is None or not isinstance(member.value, str):
        return None
    name = member.value.removesuffix("Fast")
    if name not in SAME_IDS:
        raise FormatError(
            f"tokenizer_class {member.value!r}: of a sentencepiece model, as_transformers knows only "
            f"{', '.join(SAME_IDS)}: others move ids or change the text. Save the folder with transformers, "
            "which writes a tokenizer.json, or take with_settings(tokenizer_class=None) for the model's ids"
        )
    return name


def _roles_left(spec: TokenizerSpec) -> dict[str, str]:
    """Role -> text of those that the model's training named, and neither files nor class say."""
    members = _members(spec)
    if MODEL not in spec.carried or class_in(members) is not None:
        return {}
    message = from_carried(spec.carried, {}).message(TRAINER)
    values: dict[int, object] = {part.number: part.value for part in fields(message)}
    names: dict[object, str] = {token_id: text for text, token_id in spec.special_tokens.items()}
    found = {role: names.get(values.get(number, left)) for role, (number, left) in ROLE_IDS.items()}
    if _class_of(spec) == LLAMA:
        del found["pad_token"]
    return {role: text for role, text in found.items() if text is not None and role not in members}


def _never(spec: TokenizerSpec) -> list[str]:
    """The special tokens that are in no text."""
    return [text for text in spec.special_tokens if spec.matching.get(text, Matching()).stage == "never"]


def _found(spec: TokenizerSpec) -> TokenizerSpec:
    """The same with special tokens that are found in text, before it is normalized."""
    names = _never(spec)
    matching = {text: how for text, how in spec.matching.items() if text not in names}
    return replace(spec, matching=matching)


def _said_of(spec: TokenizerSpec) -> tuple[str, ...]:
    names = _never(spec)
    if not names:
        return ()
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return (
        f"that {', '.join(map(repr, names[:5]))}{more} are in no text: there they are special tokens, "
        "wherever they stand, and what is on either side is encoded as a text of its own; ids of such text "
        "change",
    )


def _with_sentinels(spec: TokenizerSpec) -> TokenizerSpec:
    """With the special tokens that T5's class adds, if there is none of them."""
    ids = {**spec.special_tokens, **spec.added_tokens}
    sentinels = [f"<extra_id_{number}>" for number in reversed(range(SENTINELS))]
    if any(text in ids for text in sentinels):
        return spec
    first = 1 + max([*spec.tokens, *ids.values()])
    special = {text: first + place for place, text in enumerate(sentinels)}
    return replace(spec, special_tokens={**spec.special_tokens, **special})


def _around(spec: TokenizerSpec, name: str | None, changes: Mapping[str, Any]) -> Component | None:
    """What is put around a text: as the class does it, or else as `add_bos_token`, `add_eos_token` say."""
    members = _members(spec)
    given = {role: str(changes[role]) for role in ENDS if role in changes}
    roles = {**_roles_left(spec), **settings(spec).roles, **given}
    asked = {role: f"add_{role}" in members and members[f"add_{role}"].value is True for role in ENDS}
    second = 1
    if name == T5:
        asked, second = {"bos_token": False, "eos_token": True}, 0
    ids = {
        role: spec.special_tokens[roles[role]]
        for role in ENDS
        if asked[role] and roles.get(role) in spec.special_tokens
    }
    if not ids:
        return None
    tokens = {roles[role]: token_id for role, token_id in ids.items()}
    bos, eos = ([roles[role]] if role in ids else [] for role in ENDS)
    single = _slots(bos, "A", eos, 0)
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + _slots(bos, "B", eos, second),
        "special_tokens": {
            text: {"id": text, "ids": [token_id], "tokens": [text]} for text, token_id in tokens.items()
        },
    }


def _slots(bos: list[str], text: str, eos: list[str], type_id: int) -> list[object]:
    def tokens(named: list[str]) -> list[object]:
        return [{"SpecialToken": {"id": one, "type_id": type_id}} for one in named]

    return [*tokens(bos), {"Sequence": {"id": text, "type_id": type_id}}, *tokens(eos)]
