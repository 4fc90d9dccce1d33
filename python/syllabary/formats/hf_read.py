"""Hugging Face's `tokenizer.json` -> a tokenizer with the same ids, or an error that names the rest.

Nothing in the file is passed over: each component is understood, or known not to touch ids (`hf_extras`,
carried along), or refused by name and place. What can be plain bytes is: the unit of bytes, one split, no
steps. Leaves out: writing (`hf_write`), and each part of the file (`hf_components`, `hf_split`, `hf_model`,
`hf_vocab`, `hf_words`, `hf_added`, `hf_extras`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from syllabary.formats import hf_unigram
from syllabary.formats.hf_added import Added, read_added
from syllabary.formats.hf_components import NORMALIZER, read_steps
from syllabary.formats.hf_decoder import read_decoder
from syllabary.formats.hf_extras import check_extras, trims_offsets
from syllabary.formats.hf_listed import open_document
from syllabary.formats.hf_model import Model, read_model, read_vocab
from syllabary.formats.hf_split import Cutting, read_cutting
from syllabary.formats.hf_vocab import Vocabulary, of_bytes, of_characters
from syllabary.formats.hf_words import MODELS, kind_of, read_fields
from syllabary.formats.hf_write import components, model_options
from syllabary.formats.record import Hints, checked
from syllabary.formats.strict_json import Json
from syllabary.spec import Matching, TokenizerSpec, Unit

TOP_KEYS = (
    "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model".split()
)
EXTRAS = ("truncation", "padding", "post_processor")
REWRITING = ("ByteLevel", "Metaspace")  # pre-tokenizers that give the model other text than they get


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a file; `FormatError` with the place of whatever is damaged or cannot be honoured."""
    hints.refuse(path, "tokenizer.json")
    return read_document(open_document(path))


def read_document(root: Json) -> TokenizerSpec:
    """The same of the file's content."""
    root.object(TOP_KEYS)
    version = root.optional("version")
    if version.value not in (None, "1.0"):
        raise version.error('must be "1.0", the only version of this format')
    check_extras(root)
    spec = _read_spec(root)
    return checked(replace(spec, carried=_carried(root, spec)), root.path)


def _read_spec(root: Json) -> TokenizerSpec:
    """Everything that the file says about ids, decoding and offsets."""
    if hf_unigram.is_unigram(root.member("model")):
        return hf_unigram.read_spec(root)
    kind = kind_of(root.member("model"))
    if kind in MODELS:
        return _read_words(root, read_fields(root.member("model"), kind))
    model = read_model(root.member("model"))
    normalizer = read_steps(root.optional("normalizer"), NORMALIZER)
    by_characters, by_bytes = read_cutting(root.optional("pre_tokenizer"))
    added = read_added(root.optional("added_tokens"), model.vocab, normalizes=bool(normalizer))
    unit, cutting, vocabulary = _choose(model, added, by_characters, by_bytes, bool(normalizer))
    spec = TokenizerSpec(
        unit=unit,
        split=cutting.split,
        tokens=vocabulary.tokens,
        alphabet=vocabulary.alphabet,
        merges=vocabulary.merges,
        special_tokens=added.special,
        added_tokens={**added.other, **vocabulary.unreached},
        end_of_word=model.suffix,
        fallback=vocabulary.fallback,
        whole_pieces=model.whole_pieces,
        normalizer=normalizer,
        pretokenizer=cutting.steps,
        matching={**added.matching, **dict.fromkeys(vocabulary.unreached, Matching(stage="never"))},
        unknown=model.unknown,
        fuse_unknown=model.fuse_unknown,
        byte_tokens=vocabulary.byte_tokens,
        continuing_prefix=model.prefix,
        dropout=model.dropout,
        trim_offsets=trims_offsets(root.optional("post_processor")),
    )
    decoder = read_decoder(root.optional("decoder"), spec, model.vocab)
    plain = decoder is None and all(byte >= 0x80 for byte in vocabulary.byte_tokens.values())
    # Where the tokens' bytes say it all, none need be named.
    return replace(spec, decoder=decoder, byte_tokens={} if plain else vocabulary.byte_tokens)


def _read_words(root: Json, fields: dict[str, Any]) -> TokenizerSpec:
    """The same of another model than BPE, whose fields are known."""
    normalizer = read_steps(root.optional("normalizer"), NORMALIZER)
    cutting, _by_bytes = read_cutting(root.optional("pre_tokenizer"))
    vocab = read_vocab(root.member("model").member("vocab"))
    added = read_added(root.optional("added_tokens"), vocab, normalizes=bool(normalizer))
    spec = TokenizerSpec(
        unit="char",
        split=cutting.split,
        alphabet={},
        merges=None,
        special_tokens=added.special,
        added_tokens=added.other,
        normalizer=normalizer,
        pretokenizer=cutting.steps,
        matching=added.matching,
        trim_offsets=trims_offsets(root.optional("post_processor")),
        **fields,
    )
    return replace(spec, decoder=read_decoder(root.optional("decoder"), spec, vocab))


def _choose(
    model: Model, added: Added, by_characters: Cutting, by_bytes: Cutting | None, normalizes: bool
) -> tuple[Unit, Cutting, Vocabulary]:
    """Bytes where the file is that plain, else characters."""
    plain = added.plain and not normalizes
    if by_bytes is not None:
        vocabulary = of_bytes(model, added, plain and not _rewrites(by_bytes))
        if vocabulary is not None:
            return "byte", by_bytes, vocabulary
    return "char", by_characters, of_characters(model, added, plain and not _rewrites(by_characters))


def _rewrites(cutting: Cutting) -> bool:
    return any(step.kind in REWRITING for step in cutting.steps)


def _carried(root: Json, spec: TokenizerSpec) -> dict[str, object]:
    """What the file says of no meaning for ids, or says in other words than `hf_write` would."""
    carried = {key: root.optional(key).value for key in EXTRAS if root.optional(key).value is not None}
    for key, written in components(spec).items():
        value = root.optional(key).value
        if value != written and (value or written):
            carried[key] = value
    model = root.member("model").object()
    options = {
        key: model[key].value
        for key, written in ({} if spec.model == "unigram" else model_options(spec, {})).items()
        if key in model and key != "unk_token" and model[key].value not in (None, written)
    }
    unknown = model.get("unk_token")
    if unknown is not None and spec.unknown is None and unknown.value is not None:
        options["unk_token"] = unknown.value
    if options:
        carried["model"] = options
    if spec.model == "unigram":  # the vocabulary is those with a score
        return {"huggingface": carried} if carried else {}
    vocab = model["vocab"].value
    if isinstance(vocab, dict) and not vocab.keys() >= spec.special_tokens.keys() | spec.added_tokens.keys():
        carried["model_size"] = len(vocab)
    return {"huggingface": carried} if carried else {}
