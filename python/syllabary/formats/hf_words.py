"""The models WordPiece and WordLevel of Hugging Face's `tokenizer.json`, both ways.

Their names are tokens as they stand, special ones too: a piece that is spelled as one becomes it. Adds the
members of `model` and what they are to us. Source: tokenizers 0.23.3, `models/wordpiece` and
`models/wordlevel`. Leaves out: what stands around the model (`hf_read`, `hf_write`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syllabary.formats.hf_components import NAME
from syllabary.formats.hf_listed import ListedVocab
from syllabary.formats.hf_model import read_vocab
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.spec import TokenizerSpec

# The largest number of their 64 bits: no piece is so long.
NO_LIMIT = 2**64 - 1
KEYS = {
    "WordPiece": ("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"),
    "WordLevel": ("type", "vocab", "unk_token"),
}
MODELS = {"WordPiece": "wordpiece", "WordLevel": "wordlevel"}
UNKNOWN = {"wordpiece": "[UNK]", "wordlevel": "<unk>"}  # where theirs are not told another


def kind_of(model: Json) -> str:
    """Which model it is; an older file without `type` is told by its members, as their library does it.

    >>> from pathlib import Path
    >>> kind_of(Json({"vocab": {}, "unk_token": "?"}, "$.model", Path("tokenizer.json")))
    'WordLevel'
    """
    kind = model.optional("type")
    if kind.value is not None:
        return kind.string()
    members = model.object()
    if "merges" in members or not {"vocab", "unk_token"} <= members.keys():
        return "BPE"
    return "WordPiece" if members.keys() >= {*KEYS["WordPiece"][1:]} else "WordLevel"


def read_fields(model: Json, kind: str) -> dict[str, Any]:
    """The fields of a `TokenizerSpec` that the model says; `FormatError` for what does not fit together."""
    model.object(KEYS[kind])
    vocab = read_vocab(model.member("vocab"))
    fields: dict[str, Any] = {
        "model": MODELS[kind],
        "tokens": tokens_of(vocab),
        "unknown": vocab.get(model.member("unk_token").string()),
    }
    if kind == "WordPiece":
        fields["continuing_prefix"] = model.member("continuing_subword_prefix").string() or None
        limit = model.member("max_input_chars_per_word")
        if not isinstance(limit.value, int) or isinstance(limit.value, bool):
            raise limit.error("must be a number of characters")
        if not 0 <= limit.value <= NO_LIMIT:
            raise limit.error(f"must be from 0 to {NO_LIMIT}")
        fields["longest_piece"] = None if limit.value == NO_LIMIT else limit.value
    return fields


def tokens_of(vocab: Mapping[str, int]) -> Mapping[int, bytes]:
    """The names as they stand.

    >>> tokens_of({"a": 0, "##é": 1})
    {0: b'a', 1: b'##\\xc3\\xa9'}
    """
    if isinstance(vocab, ListedVocab) and (tokens := vocab.tokens((), False, {})) is not None:
        return tokens
    return {token_id: name.encode() for name, token_id in vocab.items()}


def write_options(spec: TokenizerSpec, names: Mapping[int, str]) -> dict[str, object]:
    """The members of the model but `type` and `vocab`; `FormatError` for an unknown token that it has not."""
    unknown = UNKNOWN[spec.model]
    if spec.unknown is not None:
        unknown = names.get(spec.unknown, unknown)
    if spec.model == "wordlevel":
        return {"unk_token": unknown}
    limit = NO_LIMIT if spec.longest_piece is None else spec.longest_piece
    return {
        "unk_token": unknown,
        "continuing_subword_prefix": spec.continuing_prefix or "",
        "max_input_chars_per_word": limit,
    }


def check_unknown(spec: TokenizerSpec, unknown: object) -> None:
    """Raise `FormatError` where the name that is written for the unknown token means another there."""
    vocab = {token.decode(): token_id for token_id, token in spec.tokens.items()}
    if vocab.get(str(unknown)) != spec.unknown:
        raise cannot_hold(NAME, f"a model whose unknown token is none of its own, beside a token {unknown!r}")


def write_model(
    spec: TokenizerSpec, names: Mapping[int, str], told: Mapping[str, object]
) -> dict[str, object]:
    """The member `model`, in the order of their file. told: options as a file has said them before."""
    for what, there in {
        "one token for unknown words in a row": spec.fuse_unknown,
        "bytes": spec.fallback,
    }.items():
        if there:
            raise cannot_hold(NAME, f"a {spec.model} model with {what}")
    options = {**write_options(spec, names), **told}
    check_unknown(spec, options["unk_token"])
    vocab = {names[token_id]: token_id for token_id in sorted(spec.tokens)}
    if spec.model == "wordlevel":
        return {"type": "WordLevel", "vocab": vocab, **options}
    return {"type": "WordPiece", **options, "vocab": vocab}
