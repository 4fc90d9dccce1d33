"""What a GGUF file says beside the vocabulary: the ids of BOS, EOS and their like, who puts them, templates.

    bos_token "<s>", a template "<s> $A"    ->    ggml.bos_token_id 1, ggml.add_bos_token true

Adds `told`: what the file said that the tokenizer was read from, and what stands beside a `tokenizer.json`,
as llama.cpp's converter takes it over (gguf-py, `SpecialVocab`); of a tokenizer from elsewhere, the names
that sentencepiece's and BERT's tokens have by custom too. Where nothing is said, llama.cpp takes 11 for the
BOS and the EOS of the model `gpt2`, 1 and 2 for those of `llama`, and has rules of its own on who puts them:
a file without the one says that none is put. Leaves out: whether they are those of the model it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from syllabary.formats import hf_framing
from syllabary.formats import transformers_folder as folder
from syllabary.formats.gguf_file import NAME
from syllabary.framing import BertProcessing, RobertaProcessing, Slot, SpecialSlot, TemplateProcessing
from syllabary.spec import TokenizerSpec

# The role, as a folder calls it -> as a key of GGUF does, which spells "separator" so.
KEYS = {
    "bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "sep_token": "seperator",
    "pad_token": "padding", "mask_token": "mask",
}  # fmt: skip
BERT = {"[CLS]": "bos", "[SEP]": "seperator", "[PAD]": "padding", "[MASK]": "mask"}
SENTENCEPIECE = {"<s>": "bos", "</s>": "eos", "<pad>": "padding"}


def told(spec: TokenizerSpec) -> dict[str, object]:
    """Key, without `tokenizer.`, -> value; `FormatError` for files beside it that are damaged."""
    kept = spec.carried.get(NAME, {})
    found = {**kept} if isinstance(kept, Mapping) else {}
    for role, token_id in _ids(spec).items():
        found.setdefault(f"ggml.{role}_token_id", token_id)
    if NAME not in spec.carried:
        found |= _puts(spec, found)
    if "chat_template" not in found and "chat_templates" not in found:
        found |= _templates(folder.settings(spec).chat_templates)
    return found


def _ids(spec: TokenizerSpec) -> dict[str, int]:
    """Role -> id, of the tokens that have one."""
    known = {**spec.special_tokens, **spec.added_tokens}
    roles = folder.settings(spec).roles
    for role, stands_for in (("cls_token", "bos_token"), ("sep_token", "eos_token")):
        if role in roles and spec.model != "wordpiece":
            roles = {stands_for: roles[role], **roles}
    found = {KEYS[role]: known[text] for role, text in roles.items() if role in KEYS and text in known}
    if NAME in spec.carried:  # read from such a file, where the rest is what llama.cpp has by default
        return found
    custom = {"wordpiece": BERT}.get(spec.model, SENTENCEPIECE if spec.scores is not None else {})
    for text, role in custom.items():
        if text in spec.special_tokens:
            found.setdefault(role, spec.special_tokens[text])
    if spec.unknown is not None and spec.model == "bpe":
        found["unknown"] = spec.unknown
    return found


def _puts(spec: TokenizerSpec, found: Mapping[str, object]) -> dict[str, object]:
    """Whether BOS stands before a text and EOS behind it: as is said, and never one that is not known."""
    if spec.model == "wordpiece":
        return {}
    members = folder.members_in(folder.beside(spec), Path(folder.NAME))
    ends = _ends(spec)
    puts: dict[str, object] = {}
    for role, end in (("bos", 0), ("eos", 1)):
        key, token_id = f"ggml.add_{role}_token", found.get(f"ggml.{role}_token_id")
        said = members.get(f"add_{role}_token")
        if token_id is None:
            puts[key] = False
        elif said is not None and isinstance(said.value, bool):
            puts[key] = said.value
        elif ends is not None:
            puts[key] = ends[end] == token_id
    return puts


def _ends(spec: TokenizerSpec) -> tuple[int | None, int | None] | None:
    """The ids that stand around one text, `None` for none; nothing where no post-processor is known."""
    for step in hf_framing.framing(spec).post_processor:
        if isinstance(step, (BertProcessing, RobertaProcessing)):
            return step.cls[1], step.sep[1]
        if isinstance(step, TemplateProcessing):
            ids = [token_id for slot in step.single for token_id in _slot_ids(step, slot)]
            return (ids[0], ids[-1]) if ids else (None, None)
    return (None, None) if spec.unit == "byte" and spec.carried.keys() - {NAME} else None


def _slot_ids(step: TemplateProcessing, slot: Slot) -> Sequence[int | None]:
    """The ids of a special token of a template, which may be none; `None` for the text."""
    return step.special_tokens[slot.name].ids if isinstance(slot, SpecialSlot) else (None,)


def _templates(given: Mapping[str, str]) -> dict[str, object]:
    """Chat templates, as gguf-py names them."""
    found: dict[str, object] = {}
    names: list[object] = []
    for name, text in given.items():
        if name == folder.DEFAULT:
            found["chat_template"] = text
        else:
            plain = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name)
            found[f"chat_template.{plain}"] = text
            names.append(plain)
    return {**found, "chat_templates": names} if names else found
