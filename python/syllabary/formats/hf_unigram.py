"""The Unigram `model` of Hugging Face's `tokenizer.json`, both ways.

Adds what the file must be, and what its vocabulary means: the place in the list is the id; every name is
found in text, those of special tokens too where they reach the model, and bytes (`<0x0A>`) by that very
name as well. Of a name that stands there more than once the last id is found, with its score; the ids before
it are decoded, and their scores count where the lowest is looked for (`hidden`).
Source: tokenizers 0.23.3, `models/unigram/model.rs` and `serialization.rs`. Leaves out: the best way to cut a
piece (`reference.unigram`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from syllabary.formats.hf_added import Added, read_added, write_added
from syllabary.formats.hf_components import NAME, NORMALIZER, read_steps
from syllabary.formats.hf_decoder import read_decoder
from syllabary.formats.hf_extras import trims_offsets
from syllabary.formats.hf_listed import ScoredVocab
from syllabary.formats.hf_split import read_cutting
from syllabary.formats.hf_vocab import named_bytes
from syllabary.formats.hidden import hidden, hidden_of
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.reference.check_foreign import are_scores, is_score
from syllabary.spec import Step, TokenizerSpec

KIND = "Unigram"
REWRITING = ("ByteLevel", "Metaspace")  # pre-tokenizers that give the model other text than they get
KEYS = ("type", "unk_id", "vocab", "byte_fallback")


@dataclass(frozen=True, slots=True)
class UnigramModel:
    """The model. vocab: name -> its last id. hidden: the ids before it. scores: by id. where: of errors."""

    where: Json
    vocab: Mapping[str, int]
    hidden: Mapping[int, str]
    scores: Mapping[int, float]
    unknown: int | None
    byte_fallback: bool


def is_unigram(model: Json) -> bool:
    """Whether a model is Unigram: it says so, or says nothing and has a list of names with scores."""
    members = model.object()
    kind = members.get("type")
    if kind is None or kind.value is None:
        return "vocab" in members and isinstance(members["vocab"].value, (list, ScoredVocab))
    return kind.value == KIND


def read_unigram(model: Json) -> UnigramModel:
    """The model; `FormatError` with the place of what is none."""
    members = model.object(KEYS)
    names, scores = _columns(model.member("vocab"))
    unknown = None
    if "unk_id" in members and members["unk_id"].value is not None:
        unknown = members["unk_id"].id()
        if unknown >= len(names):
            last = f"ends with id {len(names) - 1}" if names else "is empty"
            raise members["unk_id"].error(f"is {unknown}, and the vocabulary {last}")
    fallback = members.get("byte_fallback")
    vocab = dict(zip(names, count(), strict=False))
    return UnigramModel(
        where=model,
        vocab=vocab,
        hidden=hidden_of(dict(enumerate(names))) if len(vocab) < len(names) else {},
        scores=dict(enumerate(scores)),
        unknown=unknown,
        byte_fallback=fallback is not None and fallback.value is not None and fallback.boolean(),
    )


def _columns(vocab: Json) -> tuple[list[str], list[float]]:
    """The names and the scores of all rows; `FormatError` with the place of a row that is none."""
    rows = vocab.value
    if isinstance(rows, ScoredVocab):
        return rows.names, rows.scores
    if isinstance(rows, list) and set(map(type, rows)) <= {list} and set(map(len, rows)) <= {2}:
        names, scores = [row[0] for row in rows], [row[1] for row in rows]
        if _are_names(names) and are_scores(scores):
            return names, list(map(float, scores))
    names, scores = [], []
    for row in vocab.list():  # which say where the error is
        items = list(row.list())
        if len(items) != 2:
            raise row.wrong("[name, score]")
        name, score = items[0].string(), items[1].value
        if not name:
            raise row.error("the name is empty")
        if not is_score(score):
            raise items[1].error(f"must be a score, a finite number of 32 bits, not {score!r}")
        names.append(name)
        scores.append(float(score))  # type: ignore[arg-type]
    return names, scores


def _are_names(values: list[object]) -> bool:
    """Whether all are strings that are not empty and can be UTF-8."""
    if not set(map(type, values)) <= {str} or "" in values:
        return False
    try:
        "".join(map(str, values)).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def tokens_of(model: UnigramModel, added: Added, always_cut: bool) -> tuple[dict[int, bytes], dict[int, int]]:
    """The tokens that the model may find in text or that are hidden, and those that stand for a byte.

    always_cut: whether no text that holds an added token reaches the model.
    """
    tokens = dict(zip(model.vocab.values(), map(str.encode, model.vocab), strict=True))
    for name in added.ids.keys() & model.vocab.keys() if always_cut else ():
        del tokens[model.vocab[name]]
    tokens |= {token_id: name.encode() for token_id, name in model.hidden.items()}
    bytes_found = named_bytes(model.vocab) if model.byte_fallback else {}
    for token_id, name in model.hidden.items():
        if model.vocab[name] in bytes_found:
            bytes_found[token_id] = bytes_found[model.vocab[name]]
    tokens |= {token_id: bytes([byte]) for token_id, byte in bytes_found.items()}
    return dict(sorted(tokens.items())), dict(sorted(bytes_found.items()))


def read_spec(root: Json) -> TokenizerSpec:
    """The tokenizer of a whole file with such a model, but for what is carried along."""
    model = read_unigram(root.member("model"))
    normalizer = read_steps(root.optional("normalizer"), NORMALIZER)
    cutting, _by_bytes = read_cutting(root.optional("pre_tokenizer"))
    size = len(model.scores)
    added = read_added(root.optional("added_tokens"), model.vocab, bool(normalizer), size)
    tokens, byte_tokens = tokens_of(model, added, _always_cut(added, normalizer, cutting.steps))
    spec = TokenizerSpec(
        unit="char",
        split=cutting.split,
        tokens=tokens,
        alphabet={},
        merges=None,
        special_tokens=added.special,
        added_tokens=added.other,
        fallback=bool(byte_tokens),
        normalizer=normalizer,
        pretokenizer=cutting.steps,
        matching=added.matching,
        scores=model.scores,
        unused=frozenset(model.hidden),
        unknown=model.unknown,
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        trim_offsets=trims_offsets(root.optional("post_processor")),
        model="unigram",
    )
    return replace(spec, decoder=read_decoder(root.optional("decoder"), spec, model.vocab))


def _always_cut(added: Added, normalizer: tuple[Step, ...], pretokenizer: tuple[Step, ...]) -> bool:
    """Whether no text that holds an added token reaches the model."""
    return added.plain and not normalizer and not any(step.kind in REWRITING for step in pretokenizer)


def write_model(spec: TokenizerSpec, names: Mapping[int, str]) -> dict[str, object]:
    """The member `model` of the file; `FormatError` names what it cannot hold."""
    scores = spec.scores or {}
    missing = next((token_id for token_id in range(len(scores)) if token_id not in scores), None)
    if missing is not None:
        raise cannot_hold(NAME, f"a Unigram vocabulary where id {missing} has no score")
    if spec.unknown is not None and spec.unknown not in scores:
        raise cannot_hold(NAME, f"an unknown token (id {spec.unknown}) without a score")
    unknown = spec.unknown
    if unknown is None and spec.fallback:  # theirs needs one, or it refuses what it would spell with bytes
        found = named_bytes({names[token_id]: token_id for token_id in scores})
        # A byte, which theirs then takes for none; it spells that with bytes too.
        unknown = min(found) if len(found) == 256 else None
    return {
        "type": KIND,
        "unk_id": unknown,
        "vocab": [[names[token_id], scores[token_id]] for token_id in range(len(scores))],
        "byte_fallback": spec.fallback,
    }


def check_unigram(spec: TokenizerSpec) -> None:
    """Raise `FormatError` for what a Unigram model of theirs does otherwise."""
    faults = {
        "scores that are added in 32 bits": spec.single_precision,
        "pieces that are never made (unused)": not spec.unused <= hidden(spec).keys(),
        "unknown characters in a row that stay apart": not spec.fuse_unknown,
        "offsets that give all of a character to the last of its bytes": spec.surface_offsets,
    }
    for fault, there in faults.items():
        if there:
            raise cannot_hold(NAME, fault)


def check_names(spec: TokenizerSpec, names: Mapping[int, str]) -> None:
    """Raise `FormatError` unless the names, read again, are the tokens that they were written from."""
    here = Json({"byte_fallback": True}, "$.model", Path(NAME))
    scores = spec.scores or {}
    listed = {token_id: names[token_id] for token_id in sorted(scores) if token_id in names}
    vocab = {name: token_id for token_id, name in listed.items()}
    model = UnigramModel(here, vocab, hidden_of(listed), scores, spec.unknown, spec.fallback)
    entries = Json(write_added(spec), "$.added_tokens", Path(NAME))
    added = read_added(entries, vocab, bool(spec.normalizer), len(scores))
    tokens, bytes_found = tokens_of(model, added, _always_cut(added, spec.normalizer, spec.pretokenizer))
    for token_id in spec.tokens.keys() ^ tokens.keys():
        there = "no text becomes" if token_id in spec.tokens else "text becomes"
        raise cannot_hold(NAME, f"id {token_id}, which {there} there")
    if tokens != dict(spec.tokens) or (spec.fallback and bytes_found != dict(spec.byte_tokens)):
        raise cannot_hold(NAME, "tokens that their names do not tell apart")
