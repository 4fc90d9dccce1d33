"""A tokenizer -> Hugging Face's `tokenizer.json`, with the same ids under their library.

Adds the layout of the file, and a refusal, by name, of what it cannot hold: words as symbols, a fallback to
bytes beside an end-of-word mark, two ids for one string, tokens that would become symbols. What the file was
read with in other words (`carried`) is written so again, where it still means the same.
Leaves out: reading (`hf_read`); spellings (`hf_names`); making a tokenizer that can be held of one that
cannot (`hf_reduce`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syllabary.errors import FormatError
from syllabary.formats import hf_unigram
from syllabary.formats.hf_added import read_added, write_added
from syllabary.formats.hf_components import NAME, NORMALIZER, Component, read_steps, write_steps
from syllabary.formats.hf_decoder import read_decoder, write_decoder
from syllabary.formats.hf_extras import trims_offsets
from syllabary.formats.hf_names import check_added, checked_names, merges_of, model_vocab, names_of
from syllabary.formats.hf_split import Cutting, read_cutting, write_cutting
from syllabary.formats.hf_words import write_model, write_options
from syllabary.formats.record import Facts, cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.on_demand import later
from syllabary.reference.check import check_spec
from syllabary.spec import TokenizerSpec

if TYPE_CHECKING:
    from syllabary.formats import hf_reduce
else:
    later(globals(), hf_reduce="syllabary.formats.hf_reduce")

TRIMMING: Component = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def write(spec: TokenizerSpec) -> bytes:
    """The file, laid out as their library does it; `FormatError` names what it cannot hold."""
    return dumps(document(spec)).encode("utf-8")


def dumps(found: dict[str, Any]) -> str:
    """The same as `json.dumps(found, ensure_ascii=False, indent=2)`, whose layout is Python's and slow."""
    model = found["model"]
    if (
        [*found][-1] != "model"
        or [*model][-2:] != ["vocab", "merges"]
        or not (model["vocab"] and model["merges"])
    ):
        return json.dumps(found, ensure_ascii=False, indent=2)
    head = json.dumps({**found, "model": {**model, "vocab": 0, "merges": 0}}, ensure_ascii=False, indent=2)
    head = head.removesuffix('"vocab": 0,\n    "merges": 0\n  }\n}')
    vocab = json.dumps(model["vocab"], ensure_ascii=False, separators=(",\n      ", ": "))
    lefts, rights = zip(*model["merges"], strict=True)
    names = [*{*lefts, *rights}]
    lines = json.dumps(names, ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n")
    shown = dict(zip(names, lines, strict=True))
    pairs = zip(map(shown.__getitem__, lefts), map(shown.__getitem__, rights), strict=True)
    merges = "\n      ],\n      [\n        ".join(map(",\n        ".join, pairs))
    return "".join(
        (
            f'{head}"vocab": {{\n      {vocab[1:-1]}\n    }},\n    "merges": [\n      [\n        ',
            f"{merges}\n      ]\n    ]\n  }}\n}}",
        )
    )


def document(spec: TokenizerSpec) -> dict[str, object]:
    """The file as plain values; `FormatError` names what it cannot hold."""
    check_spec(spec)
    spec = hf_reduce.rewritten(spec)
    if spec.model == "unigram":
        hf_unigram.check_unigram(spec)
        names = names_of(spec)
        model = hf_unigram.write_model(spec, names)
        hf_unigram.check_names(spec, names)
    elif spec.model != "bpe":
        check_fields(spec)
        names = names_of(spec)
        model = write_model(spec, names, _object(_carried(spec, names).get("model")))
        check_added(spec, names)
    else:
        model, names = merging_model(spec)
    carried = _carried(spec, names)
    plain = components(spec)
    return {
        "version": "1.0",
        "truncation": carried.get("truncation"),
        "padding": carried.get("padding"),
        "added_tokens": carried.get("added_tokens", plain["added_tokens"]),
        "normalizer": carried.get("normalizer", plain["normalizer"]),
        "pre_tokenizer": carried.get("pre_tokenizer", plain["pre_tokenizer"]),
        "post_processor": carried.get("post_processor", TRIMMING if spec.trim_offsets else None),
        "decoder": carried.get("decoder", plain["decoder"]),
        "model": model,
    }


def merging_model(spec: TokenizerSpec) -> tuple[dict[str, object], dict[int, str]]:
    """The member `model` of byte-pair encoding, and id -> name; `FormatError` names what it cannot hold."""
    check_fields(spec)
    merges = merges_of(spec)
    names, vocab = checked_names(spec, merges)
    model = {
        "type": "BPE",
        **model_options(spec, names),
        **_object(_carried(spec, names).get("model")),
        "vocab": vocab,
        "merges": [[names[left], names[right]] for left, right, _result in merges],
    }
    return model, names


def refuses(facts: Facts) -> FormatError | None:
    """The error for units and marks that the file has no words for."""
    if facts.unit == "word":
        return cannot_hold(NAME, "tokens whose symbols are whole pieces (unit 'word')")
    if facts.unit == "char" and facts.fallback and facts.end_of_word is not None:
        return cannot_hold(NAME, "a fallback to bytes together with an end-of-word mark")
    return None


def check_fields(spec: TokenizerSpec) -> None:
    """Raise `FormatError` for what no part of the file can say."""
    if error := refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)):
        raise error
    if spec.unit == "byte" and (spec.end_of_word or spec.continuing_prefix):
        raise cannot_hold(NAME, "bytes with an end-of-word mark or a prefix of continuing tokens")
    if spec.fallback and spec.continuing_prefix:
        raise cannot_hold(NAME, "a fallback to bytes together with a prefix of continuing tokens")
    if spec.mark_apart:
        raise cannot_hold(NAME, "an end-of-word mark that is a symbol of its own")
    if spec.unused:
        raise cannot_hold(NAME, "tokens that are cut again after they have been merged (unused)")
    if spec.surface_offsets:
        raise cannot_hold(NAME, "offsets that give all of a character to the last of its bytes")


def components(spec: TokenizerSpec) -> dict[str, object]:
    """The members of the file that are components, and the added tokens, in their plainest words."""
    return {
        "added_tokens": write_added(spec),
        "normalizer": write_steps(spec.normalizer, NORMALIZER),
        "pre_tokenizer": write_cutting(spec.pretokenizer, spec.split, with_bytes=spec.unit == "byte"),
        "decoder": write_decoder(spec),
    }


def model_options(spec: TokenizerSpec, names: Mapping[int, str]) -> dict[str, object]:
    """The options of the model, in the order of the file."""
    if spec.model != "bpe":
        return write_options(spec, names)
    return {
        "dropout": spec.dropout or None,
        "unk_token": None if spec.unknown is None else names.get(spec.unknown),
        "continuing_subword_prefix": spec.continuing_prefix,
        "end_of_word_suffix": spec.end_of_word,
        "fuse_unk": spec.fuse_unknown,
        "byte_fallback": spec.fallback,
        "ignore_merges": spec.whole_pieces,
    }


# ---- what the file said in other words ----


def _carried(spec: TokenizerSpec, names: Mapping[int, str]) -> dict[str, object]:
    """The members that the file was read with, without those that no longer mean what the tokenizer says."""
    found = _object(spec.carried.get("huggingface"))
    if not found:
        return {}
    root = Json(found, "carried.huggingface", Path(NAME))
    kept: dict[str, object] = {key: found[key] for key in ("truncation", "padding") if key in found}
    if trims_offsets(root.optional("post_processor")) == spec.trim_offsets:
        kept |= {key: found[key] for key in ("post_processor",) if key in found}
    if "normalizer" in found and read_steps(root.member("normalizer"), NORMALIZER) == spec.normalizer:
        kept["normalizer"] = found["normalizer"]
    cutting = Cutting(spec.pretokenizer, spec.split)
    if (
        "pre_tokenizer" in found
        and cutting == read_cutting(root.member("pre_tokenizer"))[spec.unit == "byte"]
    ):
        kept["pre_tokenizer"] = found["pre_tokenizer"]
    if "decoder" in found and read_decoder(root.member("decoder"), spec, names.values()) == spec.decoder:
        kept["decoder"] = found["decoder"]
    if "added_tokens" in found and _same_added(spec, root.member("added_tokens"), names):
        kept["added_tokens"] = found["added_tokens"]
    kept["model"] = _same_options(spec, _object(found.get("model")))
    return kept


def _same_added(spec: TokenizerSpec, entries: Json, names: Mapping[int, str]) -> bool:
    vocab, normalizes = model_vocab(spec, names), bool(spec.normalizer)
    size = len(spec.scores) if spec.model == "unigram" and spec.scores is not None else None
    try:
        found = read_added(entries, vocab, normalizes, size)
    except FormatError:
        return False
    written = Json(write_added(spec), entries.where, entries.path)
    return found == read_added(written, vocab, normalizes, size)


def _same_options(spec: TokenizerSpec, options: Mapping[str, object]) -> dict[str, object]:
    """Options that say nothing: an empty prefix, a fallback without bytes, an unknown token that is none."""
    idle = {
        "dropout": not spec.dropout,
        "unk_token": spec.unknown is None,
        "continuing_subword_prefix": spec.continuing_prefix is None,
        "end_of_word_suffix": spec.end_of_word is None,
        "byte_fallback": not spec.fallback,
    }
    return {key: value for key, value in options.items() if idle.get(key)}


def _object(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}
