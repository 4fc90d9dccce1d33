"""The `model` of Hugging Face's `tokenizer.json`: its options, vocabulary and merges, as they are written.

Adds what the file must be for their library to take it (source: tokenizers 0.23.3, `models/bpe/model.rs`).
Leaves out: what its names mean as bytes (`hf_vocab`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from operator import add, contains
from typing import Any

from syllabary.formats.hf_listed import ListedVocab
from syllabary.formats.hf_values import probability
from syllabary.formats.strict_json import Json

KEYS = (
    "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback "
    "ignore_merges vocab merges"
).split()
OPTIONS = KEYS[1:-2]
Merge = tuple[int, int, int]
HEAD = "#version"  # of files of merges, which may stand before them here too


@dataclass(frozen=True, slots=True)
class Model:
    """A BPE model. merges: (left, right, result) by id, in rank order. where: of errors.

    unknown: the id of `unk_token`, `None` where it is not in the vocabulary (then their library fails
    where it would need it, as it does here).
    """

    where: Json
    vocab: Mapping[str, int]
    merges: tuple[Merge, ...]
    dropout: float
    unknown: int | None
    prefix: str | None
    suffix: str | None
    fuse_unknown: bool
    byte_fallback: bool
    whole_pieces: bool


def read_model(model: Json) -> Model:
    """The model; `FormatError` for another than BPE and for what does not fit together."""
    members = model.object(KEYS)
    kind = members.get("type")
    if kind is not None and kind.value != "BPE":
        raise kind.error(f"the model {kind.value!r} is none of BPE, WordPiece, Unigram and WordLevel")
    vocab = read_vocab(model.member("vocab"))
    prefix = model.optional("continuing_subword_prefix").optional_string() or None
    unknown = model.optional("unk_token").optional_string()
    return Model(
        where=model,
        vocab=vocab,
        merges=read_merges(model.member("merges"), vocab, prefix or ""),
        dropout=probability(model.optional("dropout")),
        unknown=None if unknown is None else vocab.get(unknown),
        prefix=prefix,
        suffix=model.optional("end_of_word_suffix").optional_string() or None,
        fuse_unknown=_flag(model.optional("fuse_unk")),
        byte_fallback=_flag(model.optional("byte_fallback")),
        whole_pieces=_flag(model.optional("ignore_merges")),
    )


def _flag(value: Json) -> bool:
    return value.value is not None and value.boolean()


def read_vocab(vocab: Json) -> dict[str, int]:
    """Name -> id; `FormatError` for two names with one id."""
    if isinstance(vocab.value, ListedVocab):
        return vocab.value
    ids = vocab.ids()
    if len(set(ids.values())) < len(ids):
        names: dict[int, str] = {}
        for name, token_id in ids.items():
            if token_id in names:
                raise vocab.error(f"{names[token_id]!r} and {name!r} have the same id {token_id}")
            names[token_id] = name
    return ids


def read_merges(merges: Json, vocab: Mapping[str, int], prefix: str = "") -> tuple[Merge, ...]:
    """Pairs, or strings with a space, in rank order; of a pair given twice the last counts, as there."""
    if isinstance(vocab, ListedVocab) and merges.value is vocab.merges:
        return vocab.merges
    plain = _plain_merges(merges.value, vocab, prefix)
    if plain is not None:
        return plain
    ranks: dict[Merge, int] = {}
    for rank, merge in enumerate(merges.list()):
        if isinstance(merge.value, str) and merge.value.startswith(HEAD):
            continue
        left, right = _pair(merge)
        if not right.startswith(prefix):
            raise merge.error(f"{right!r} does not begin with the prefix {prefix!r} of a continuing token")
        joined = left + right[len(prefix) :]
        for name in (left, right, joined):
            if name not in vocab:
                raise merge.error(f"{name!r} is not in the vocabulary")
        ranks[vocab[left], vocab[right], vocab[joined]] = rank
    return tuple(sorted(ranks, key=ranks.__getitem__))


def _plain_merges(merges: object, vocab: Mapping[str, int], prefix: str) -> tuple[Merge, ...] | None:
    """The same where nothing is wrong or special, column by column; else `None`."""
    if not isinstance(merges, list):
        return None
    columns = _columns(merges)
    if columns is None:
        return None
    lefts, rights = columns
    try:
        if prefix and not all(right.startswith(prefix) for right in rights):
            return None
        ends = [right[len(prefix) :] for right in rights] if prefix else rights
        left_ids, right_ids = list(map(vocab.__getitem__, lefts)), list(map(vocab.__getitem__, rights))
        made = _ids_of(list(map(add, lefts, ends)), vocab)
    except (AttributeError, KeyError, TypeError):  # not all are strings, or names of the vocabulary
        return None
    if len(set(made)) < len(made) and len(set(zip(left_ids, right_ids, strict=True))) < len(made):
        return None  # one pair makes one token
    return tuple(zip(left_ids, right_ids, made, strict=True))


def _columns(rows: list[Any]) -> tuple[list[Any], list[Any]] | None:
    """The left and the right ones of pairs, or of strings with one space; `None` if there are other rows,
    and if one may be the head of a file.
    """
    kinds = set(map(type, rows))
    if kinds == {str}:
        text = " ".join(rows)
        names = text.split(" ")
        # As many spaces as rows, and one in each at least.
        one_each = len(names) == 2 * len(rows) and all(map(contains, rows, repeat(" "))) and HEAD not in text
        return (names[::2], names[1::2]) if one_each else None
    if not kinds <= {list} or not set(map(len, rows)) <= {2}:
        return None
    return [row[0] for row in rows], [row[1] for row in rows]


def _ids_of(names: list[str], vocab: Mapping[str, int]) -> list[int]:
    """The ids of names, which mostly stand in the vocabulary in this order, one behind the other."""
    known = list(vocab)
    first = known.index(names[0]) if names and names[0] in vocab else 0
    behind = slice(first, first + len(names))
    return list(vocab.values())[behind] if known[behind] == names else list(map(vocab.__getitem__, names))


def _pair(merge: Json) -> tuple[str, str]:
    if isinstance(merge.value, str):
        parts = merge.string().split(" ")
    else:
        parts = [part.string() for part in merge.list()]
    if len(parts) != 2:
        raise merge.error("must be two tokens")
    return parts[0], parts[1]
