"""Tokens that a folder names beside its `tokenizer.json`, and that file does not add: added, as there.

A role's token may be an ordinary one of the vocabulary, or none at all; `transformers` then finds it in text
all the same. Adds `read_folder`. Source: transformers 5.23, `tokenization_utils_tokenizers.py`. Leaves out:
flags in which the files contradict each other (`tokenizer.json` is right); what only slow tokenizers read
(`added_tokens.json`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from syllabary.files import read_bounded
from syllabary.formats.hf_added import FLAGS
from syllabary.formats.hf_floats import read_float
from syllabary.formats.hf_read import read_document
from syllabary.formats.record import Hints
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_classes import Class
from syllabary.formats.transformers_folder import CONFIG, EXTRA, MAP, ROLES, class_in, left_open
from syllabary.formats.transformers_language import template
from syllabary.spec import TokenizerSpec

DECODER = "added_tokens_decoder"
Flags = dict[str, bool]


def read_folder(path: Path, hints: Hints, texts: Mapping[str, str]) -> TokenizerSpec:
    """The tokenizer of a `tokenizer.json`, with the tokens that the files beside it name."""
    hints.refuse(path, "tokenizer.json")
    root = parse(read_bounded(path), path, read_float)
    vocab = _vocab(root.member("model").member("vocab"))
    entries = root.optional("added_tokens")
    held = {entry.member("content").string() for entry in entries.list()} if entries.value else set()
    new = len(vocab) + len(held - vocab.keys())
    more, added = [], dict[str, int]()
    for text, flags in _all_named(texts, path.parent, vocab).items():
        if text and text not in held:
            added[text] = vocab.get(text, new)
            more.append({"id": added[text], "content": text, **flags})
            new += text not in vocab
    values = [entry.value for entry in entries.list()] if entries.value else []
    members = {key: one.value for key, one in root.object().items()}
    own = {one.member("content").string(): one.member("id").id() for one in entries.list()} if values else {}
    config = parse(texts.get(CONFIG, "{}").encode("utf-8"), path.parent / CONFIG).object()
    told = template(config, {**own, **added, **vocab})
    if not more and told is None:
        return read_document(root)
    if told is not None:
        members["post_processor"] = told
    return read_document(Json({**members, "added_tokens": [*values, *more]}, root.where, path))


def _vocab(vocab: Json) -> dict[str, int]:
    """Name -> id; of Unigram, in the order of the list."""
    if not isinstance(vocab.value, list):
        return vocab.ids()
    found: dict[str, int] = {}
    for index, row in enumerate(vocab.list()):
        if row.value == []:
            raise row.wrong("[name, score]")
        found[next(iter(row.list())).string()] = index
    return found


def _all_named(texts: Mapping[str, str], folder: Path, vocab: Mapping[str, int]) -> dict[str, Flags]:
    """The same with the roles that a class of `transformers` has, where the vocabulary has their tokens."""
    known = class_in(parse(texts.get(CONFIG, "{}").encode("utf-8"), folder / CONFIG).object())
    named = _named(texts, folder, known)
    for role, text in left_open(texts, folder)[0].items():
        if text in vocab:
            flags = {**dict.fromkeys(FLAGS, False), "special": True}
            named.setdefault(text, flags | _of_class(role, known))
    return named


def _of_class(role: str, known: Class | None) -> Flags:
    """What a class makes of the token of a role that is no more than a text."""
    return {"lstrip": True} if role == "mask_token" and known is not None and known.strips else {}


def _named(texts: Mapping[str, str], folder: Path, known: Class | None) -> dict[str, Flags]:
    """Text -> flags of the tokens that the files name, in the order in which they are added."""
    config = parse(texts.get(CONFIG, "{}").encode("utf-8"), folder / CONFIG).object()
    members, named = dict(config), dict[str, Flags]()
    if DECODER in config:
        decoder = config[DECODER].object()
        for key in sorted(decoder, key=lambda key: (len(key), key)):
            named.setdefault(decoder[key].member("content").string(), _flags(decoder[key], special=False))
    else:
        members |= parse(texts.get(MAP, "{}").encode("utf-8"), folder / MAP).object()
    for role, token in _roles(members):
        if isinstance(token.value, dict):
            named.setdefault(token.member("content").string(), _flags(token, special=True))
        else:
            named.setdefault(token.string(), _flags(token, special=True) | _of_class(role, known))
    return named


def _roles(members: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The special tokens and their roles: the usual ones, a model's own, the others."""
    usual = [(role, members[role]) for role in ROLES if role in members]
    own = [(key, value) for key, value in members.items() if key.endswith("_token") and key not in ROLES]
    for key in EXTRA:
        value = members.get(key)
        if value is not None and value.value:
            more = value.object().values() if isinstance(value.value, dict) else value.list()
            usual += [(key, one) for one in more]
    yield from ((role, one) for role, one in (*usual, *own) if isinstance(one.value, (str, dict)))


def _flags(token: Json, special: bool) -> Flags:
    """What is said of a token; one given as text is special, and found before normalizing."""
    members = token.object() if isinstance(token.value, dict) else {}
    flags = {name: name in members and members[name].boolean() for name in FLAGS}
    flags["special"] |= special
    if "normalized" not in members:
        flags["normalized"] = not flags["special"]
    return flags
