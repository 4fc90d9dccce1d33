"""Tokens that a folder names beside its `tokenizer.json`, and that file does not add: added, as there.

A role's token may be an ordinary one of the vocabulary, or none at all; `transformers` then finds it in text
all the same. Adds `read_folder`. Source: transformers 5.23, `tokenization_utils_base.py` (which file is read)
and `tokenization_utils_tokenizers.py` (in what order tokens are added). Leaves out: flags in which the files
contradict `tokenizer.json`, which is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from syllabary.formats import transformers_text
from syllabary.formats.hf_added import FLAGS
from syllabary.formats.hf_listed import ScoredVocab, open_document
from syllabary.formats.hf_model import read_vocab
from syllabary.formats.hf_read import read_document
from syllabary.formats.record import Hints
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_classes import Class
from syllabary.formats.transformers_folder import (
    ADDED,
    CONFIG,
    DECODER,
    EXTRA,
    ROLES,
    class_in,
    left_open,
    members_in,
)
from syllabary.formats.transformers_language import template
from syllabary.spec import TokenizerSpec

Flags = dict[str, bool]
Role = tuple[str, Json]


def read_folder(path: Path, hints: Hints, texts: Mapping[str, str]) -> TokenizerSpec:
    """The tokenizer of a `tokenizer.json`, with the tokens that the files beside it name."""
    hints.refuse(path, "tokenizer.json")
    root = open_document(path)
    vocab = _vocab(root.member("model").member("vocab"))
    entries = root.optional("added_tokens")
    held = {entry.member("content").string() for entry in entries.list()} if entries.value else set()
    new = len(vocab) + len(held - vocab.keys())
    more, added = [], dict[str, int]()
    own = {one.member("content").string(): one.member("id").id() for one in entries.list()} if held else {}
    for text, flags in _all_named(texts, path.parent, own, vocab).items():
        if text and text not in held:
            added[text] = vocab.get(text, new)
            more.append({"id": added[text], "content": text, **flags})
            new += text not in vocab
    values = [entry.value for entry in entries.list()] if entries.value else []
    members = {key: one.value for key, one in root.object().items()}
    config = parse(texts.get(CONFIG, "{}").encode("utf-8"), path.parent / CONFIG).object()
    told = template(config, {**own, **added, **vocab}, {**own, **added})
    changed = transformers_text.changed(members, config, {}, _suffix(root))
    if told is not None:
        changed["post_processor"] = told
    if not more and not changed:
        return read_document(root)
    members |= changed
    return read_document(Json({**members, "added_tokens": [*values, *more]}, root.where, path))


def _suffix(root: Json) -> str | None:
    """What the model has at the ends of words."""
    return root.member("model").optional(transformers_text.SUFFIX).optional_string()


def _vocab(vocab: Json) -> dict[str, int]:
    """Name -> id; of Unigram, in the order of the list."""
    if isinstance(vocab.value, ScoredVocab):
        return dict(zip(vocab.value.names, count(), strict=False))
    if not isinstance(vocab.value, list):
        return read_vocab(vocab)
    found: dict[str, int] = {}
    for index, row in enumerate(vocab.list()):
        if row.value == []:
            raise row.wrong("[name, score]")
        found[next(iter(row.list())).string()] = index
    return found


def _all_named(
    texts: Mapping[str, str], folder: Path, own: Mapping[str, int], vocab: Mapping[str, int]
) -> dict[str, Flags]:
    """Text -> flags of the tokens that the files name, in the order in which they are added.

    With the roles that a class of `transformers` has, where the vocabulary has their tokens.
    own: the added tokens of `tokenizer.json`.
    """
    members = members_in(texts, folder)
    known, roles = class_in(members), list(_roles(members))
    if DECODER in members:
        named = _of_decoder(members[DECODER], roles)
    else:
        file = parse(texts.get(ADDED, "{}").encode("utf-8"), folder / ADDED)
        named = _of_file(file, set(own.values()), roles)
    named |= {text: flags for text, flags in _of_roles(roles, known).items() if text not in named}
    for role, text in left_open(texts, folder)[0].items():
        if text in vocab:
            flags = {**dict.fromkeys(FLAGS, False), "special": True}
            named.setdefault(text, flags | _of_class(role, known))
    return named


def _of_class(role: str, known: Class | None) -> Flags:
    """What a class makes of the token of a role that is no more than a text."""
    return {"lstrip": True} if role == "mask_token" and known is not None and known.strips else {}


def _of_decoder(decoder: Json, roles: Sequence[Role]) -> dict[str, Flags]:
    """The tokens that `tokenizer_config.json` lists by id; one with a role is special, whatever it says."""
    special = {_text(token) for role, token in roles if role not in EXTRA}
    named = dict[str, Flags]()
    for _key, token in sorted(decoder.object().items(), key=lambda item: (len(item[0]), item[0])):
        text = token.member("content").string()
        named[text] = _flags(token, special=text in special)
    return named


def _of_file(file: Json, taken: Collection[int], roles: Sequence[Role]) -> dict[str, Flags]:
    """The tokens of `added_tokens.json`, by id; not those whose ids are `taken`.

    Special ones are found before normalizing, but for those of a model's own role, and of roles for which
    `tokenizer_config.json` has an object.
    """
    usual = {
        _text(token)
        for role, token in roles
        if role in EXTRA or (role in ROLES and not (_is_object(token) and token.path.name == CONFIG))
    }
    special = {_text(token) for _role, token in roles}
    texts = {token_id: text for text, token_id in file.ids().items() if token_id not in taken}
    none = dict.fromkeys(FLAGS, False)
    return {
        text: {**none, "normalized": text not in usual, "special": text in special}
        for _id, text in sorted(texts.items())
    }


def _of_roles(roles: Sequence[Role], known: Class | None) -> dict[str, Flags]:
    """The tokens that have roles; of several roles of one, the last that says something new is right."""
    named, said = dict[str, Flags](), set[tuple[object, ...]]()
    for role, token in roles:
        more = {} if _is_object(token) else _of_class(role, known)
        flags = _flags(token, special=True) | more
        saying = (_text(token), *(flags.values() if more or _is_object(token) else ()))
        if saying not in said:
            said.add(saying)
            named[_text(token)] = flags
    return named


def _roles(members: Mapping[str, Json]) -> Iterator[Role]:
    """The special tokens and their roles: the usual ones, a model's own, the others."""
    found = [(role, members[role]) for role in ROLES if role in members]
    found += [(key, one) for key, one in members.items() if key.endswith("_token") and key not in ROLES]
    others = [(key, members[key]) for key in EXTRA if key in members and members[key].value]
    for _key, value in others:
        found += value.object().items() if isinstance(value.value, dict) else ()
    for key, value in others:
        found += [] if isinstance(value.value, dict) else [(key, one) for one in value.list()]
    yield from ((role, one) for role, one in found if isinstance(one.value, (str, dict)))


def _is_object(token: Json) -> bool:
    return isinstance(token.value, dict)


def _text(token: Json) -> str:
    return token.member("content").string() if _is_object(token) else token.string()


def _flags(token: Json, special: bool) -> Flags:
    """What is said of a token; one given as text is special, and found before normalizing."""
    members = token.object() if _is_object(token) else {}
    flags = {name: name in members and members[name].boolean() for name in FLAGS}
    flags["special"] |= special
    if "normalized" not in members:
        flags["normalized"] = not flags["special"]
    return flags
