"""Truncation: the tokenizer of which training learned fewer tokens.

Adds `truncate`. Merges are learned one after the other, so what training would have made of a smaller
`vocab_size` is a beginning of what it made of the larger: the last merges go, with the tokens that only they
make. The ids that are left close up in their old order, so special tokens that follow the merges move down
with them; where they come first, or a model of sentencepiece fixes them, they stay.
Leaves out: taking out any token one likes (`surgery`), and how good a size is (`growth`).
"""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from heapq import merge as interleave
from typing import Any

from syllabary.errors import VocabularyError
from syllabary.formats import protobuf
from syllabary.formats import subword_nmt_codes as codes
from syllabary.formats.moved import SPOILT, carried_by
from syllabary.reference.check import token_bytes
from syllabary.reference.symbols import shown, they_are
from syllabary.reference.train_huggingface import BpeTrainerOptions
from syllabary.reference.train_sentencepiece_model import TRAINER_FIELDS, trainer_layout
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.spec import TokenizerSpec

Record = dict[str, Any]
COUNTED = ("wordpiece", "wordlevel")  # models whose record has no merges


def truncate(spec: TokenizerSpec, size: int) -> TokenizerSpec:
    """The tokenizer with the first `size` tokens, special ones and the alphabet included.

    Of one that `train` made it is, record and all, the one that `train` makes with `vocab_size=size` (or the
    `num_merges` that give it). Of any other it is the one without its last merges; without a merge list,
    without its highest ids; of a model by scores, without the lowest scores: of Unigram models too, though
    training, which takes pieces away, would leave others (so the record stays as it is). Tokens of
    subword-nmt's codes are characters of merges and what merges make: the longest list that fits into `size`.

    Raises `VocabularyError` for a size below what is not learned (alphabet, special tokens), above the
    tokens that there are, or where a merge that stays needs a token that goes. (Where whole pieces are looked
    up, as in Llama 3, such a merge goes and its token stays, for pieces that are the whole of it.)
    """
    return cut(spec, size)[0]


def cut(spec: TokenizerSpec, size: int) -> tuple[TokenizerSpec, dict[int, int]]:
    """`truncate`, and old id -> new id of the tokens that stay."""
    tokens, order = token_bytes(spec), learned(spec)
    total, least = len(tokens), len(tokens) - len(order)
    if size < (1 if _is_codes(spec) else max(least, 1)):
        raise VocabularyError(
            f"size is {size}, but {they_are(least, 'token')} there before any merge (the alphabet, special "
            f"tokens): set it to {least} or more"
        )
    if size > total and not _stopped_early(spec, total):
        raise VocabularyError(
            f"size is {size}, but only {they_are(total, 'token')} there: set it to {total} or less"
        )
    if size >= total and not trained(spec) and _size_asked(spec) is None:
        return spec, {token_id: token_id for token_id in tokens}
    if _is_codes(spec):
        return _truncated_codes(spec, size)
    gone = frozenset(order[max(size - least, 0) :])
    if spec.record.get("like") == "sentencepiece" and _size_asked(spec) is not None:
        return _without_counted(spec, gone, size)
    if spec.scores is not None:
        return _without_scores(spec, gone, size)
    return _without_merges(spec, gone, size)


def learned(spec: TokenizerSpec) -> list[int]:
    """The ids of the tokens that merges made, in the order in which they were learned.

    Without a merge list all tokens but the alphabet, by id or by score. Where whole pieces are looked up,
    tokens that no merge makes stand between the others by their ids.
    """
    named = {*spec.special_tokens.values(), *spec.added_tokens.values(), spec.unknown}
    fixed = named | {*spec.alphabet.values(), *spec.byte_tokens, *_characters(spec)}
    if spec.scores is not None:
        scores = spec.scores
        long = (one for one in scores if one not in fixed and len(spec.tokens[one].decode()) > 1)
        return sorted(long, key=lambda token_id: (-scores[token_id], token_id))
    if spec.merges is None:
        return [token_id for token_id in sorted(spec.tokens) if token_id not in fixed]
    made = [result for result in dict.fromkeys(row[2] for row in spec.merges) if result not in fixed]
    if not spec.whole_pieces:
        return made
    return list(interleave(made, sorted(set(spec.tokens) - fixed - set(made))))


def _characters(spec: TokenizerSpec) -> set[int]:
    """The characters that training began with, of WordPiece that `train` made, which has no alphabet."""
    if spec.model != "wordpiece" or _own_options(spec.record) is None:
        return set()
    prefix = (spec.continuing_prefix or "").encode()
    return {one for one, token in spec.tokens.items() if len(token.removeprefix(prefix).decode()) == 1}


# ---- merges ----


def _without_merges(
    spec: TokenizerSpec, gone: Collection[int], size: int
) -> tuple[TokenizerSpec, dict[int, int]]:
    """Without the tokens in `gone` and what is learned after the last token that stays."""
    merges = spec.merges
    if merges is not None:
        first: dict[int, int] = {}  # token -> rank of the merge that first makes it
        for rank, (_left, _right, result) in enumerate(merges):
            first.setdefault(result, rank)
        free = set(learned(spec))
        kept = 1 + max((rank for one, rank in first.items() if one in free and one not in gone), default=-1)
        merges = merges[:kept]
        if spec.whole_pieces:  # what a merge made of a token that goes is a whole piece still
            merges = tuple(row for row in merges if row[0] not in gone and row[1] not in gone)
        _check_whole(spec, merges, gone)
    record = _record(spec, None if merges is None else len(merges), size)
    left = [token_id for token_id in sorted(token_bytes(spec)) if token_id not in gone]
    new = dict(zip(left, range(len(left)) if gone else left, strict=True))
    smaller = renumbered(replace(spec, merges=merges), new)
    return replace(smaller, record=record), new


def _check_whole(spec: TokenizerSpec, merges: Sequence[tuple[int, int, int]], gone: Collection[int]) -> None:
    """Raise `VocabularyError` if one of the merges that stay needs a token that goes."""
    for rank, row in enumerate(merges):
        for token_id in row:
            if token_id in gone:
                raise VocabularyError(
                    f"merge {rank} needs the token {shown(spec.tokens[token_id])} (id {token_id}), which "
                    "only a later merge makes: the merges are not in an order in which they can be cut off"
                )


def renumbered(spec: TokenizerSpec, new: Mapping[int, int]) -> TokenizerSpec:
    """The same tokenizer with only the ids in `new`, by their new numbers, in what is carried too."""

    def rows(table: Mapping[int, float]) -> dict[int, float]:
        return {new[token_id]: value for token_id, value in table.items() if token_id in new}

    def named(table: Mapping[str, int]) -> dict[str, int]:
        return {text: new[token_id] for text, token_id in table.items() if token_id in new}

    special, added = named(spec.special_tokens), named(spec.added_tokens)
    return replace(
        spec,
        tokens={new[token_id]: token for token_id, token in spec.tokens.items() if token_id in new},
        alphabet={symbol: new[token_id] for symbol, token_id in spec.alphabet.items()},
        merges=None
        if spec.merges is None
        else tuple(
            (new[left], new[right], new[result])
            for left, right, result in spec.merges
            if left in new and right in new and result in new
        ),
        special_tokens=special,
        added_tokens=added,
        matching={text: rule for text, rule in spec.matching.items() if text in special or text in added},
        scores=None if spec.scores is None else rows(spec.scores),
        unused=frozenset(new[token_id] for token_id in spec.unused if token_id in new),
        unknown=None if spec.unknown is None else new[spec.unknown],
        byte_tokens={new[one]: byte for one, byte in spec.byte_tokens.items() if one in new},
        carried=carried_by(spec, new),
    )


# ---- codes of subword-nmt ----


def _kind(spec: TokenizerSpec) -> codes.Kind:
    return "byte" if spec.unit == "byte" else "0.1" if spec.mark_apart else "0.2"


def _pairs(spec: TokenizerSpec) -> list[codes.Pair]:
    return [(spec.tokens[left], spec.tokens[right]) for left, right, _result in spec.merges or ()]


def _is_codes(spec: TokenizerSpec) -> bool:
    """Whether merges alone make this tokenizer, as those of a codes file do."""
    if spec.split != codes.SPLIT or spec.end_of_word != codes.MARK or not spec.merges:
        return False
    made = codes.build(_pairs(spec), _kind(spec))
    return replace(made, record=spec.record, carried=spec.carried) == spec


def _truncated_codes(spec: TokenizerSpec, size: int) -> tuple[TokenizerSpec, dict[int, int]]:
    """The codes of the longest beginning of the merges with at most `size` tokens."""
    pairs, kind = _pairs(spec), _kind(spec)
    kept = (
        bisect_right(range(len(pairs) + 1), size, key=lambda n: len(codes.build(pairs[:n], kind).tokens)) - 1
    )
    record = spec.record if not trained(spec) else _record(spec, kept, size) | {"num_merges": kept}
    record = {**record, "vocab_size": None} if "vocab_size" in record else record
    smaller = replace(codes.build(pairs[:kept], kind), record=record)
    ids = {token: token_id for token_id, token in smaller.tokens.items()}
    new = {old: ids[token] for old, token in spec.tokens.items() if token in ids}
    return replace(smaller, carried=carried_by(spec, new)), new


# ---- merging by score ----


def _without_scores(
    spec: TokenizerSpec, gone: Collection[int], size: int
) -> tuple[TokenizerSpec, dict[int, int]]:
    """Without the tokens in `gone`; what sentencepiece gives an id of its own keeps it, if we trained it."""
    by_id = sorted(token_bytes(spec))
    new = {old: place for place, old in enumerate(one for one in by_id if one not in gone)}
    if trained(spec):
        new = _placed(spec, gone, len(new))
    smaller = renumbered(spec, new)
    scores = dict(sorted((spec.scores or {}).items()))
    if all(score == -place for place, score in enumerate(scores.values())):
        scores = {token_id: -float(place) for place, token_id in enumerate(sorted(smaller.scores or ()))}
        smaller = replace(smaller, scores=scores)
    tokens = dict(sorted(smaller.tokens.items()))
    smaller = replace(smaller, tokens=tokens)
    if not trained(spec):
        return smaller, new
    record = _record(spec, len(learned(spec)) - len(gone), size)
    return replace(smaller, record=record, carried=_model_of(spec, smaller, record)), new


def _without_counted(
    spec: TokenizerSpec, gone: Collection[int], size: int
) -> tuple[TokenizerSpec, dict[int, int]]:
    """Of words or characters that were learned as sentencepiece does, without those in `gone`."""
    new = _placed(spec, gone, len(token_bytes(spec)) - len(gone))
    smaller, record = renumbered(spec, new), {**spec.record, "vocab_size": size}
    carried: Any = _model_of(spec, smaller, record)
    try:
        model, names = (
            carried["sentencepiece"],
            {one.decode("utf-8", "replace") for one in smaller.tokens.values()},
        )
        for key in {"idle"} & model.keys():  # of words alone
            model = {**model, key: {name: value for name, value in model[key].items() if name in names}}
        carried = {**carried, "sentencepiece": model}
    except (TypeError, LookupError, AttributeError):  # edited by hand
        carried = {name: value for name, value in carried.items() if name != "sentencepiece"}
    return replace(smaller, tokens=dict(sorted(smaller.tokens.items())), record=record, carried=carried), new


def _asked(spec: TokenizerSpec) -> int | None:
    """The size that was asked of sentencepiece's trainer; `None` if none was, or more was added since."""
    asked = spec.record.get("vocab_size")
    if spec.record.get("like") != "sentencepiece" or not isinstance(asked, int):
        return None
    return asked if asked >= len(token_bytes(spec)) else None


def _size_asked(spec: TokenizerSpec) -> int | None:
    """The same of any trainer of whole words, characters or WordPiece, whose record has no merges."""
    if spec.model not in COUNTED and spec.record.get("model_type") != "char":
        return None
    if _own_options(spec.record) is None:
        return _asked(spec)
    own: Any = spec.record["options"]
    asked = own.get("vocab_size", BpeTrainerOptions().vocab_size)
    return asked if isinstance(asked, int) and asked >= len(token_bytes(spec)) else None


def _placed(spec: TokenizerSpec, gone: Collection[int], size: int) -> dict[int, int]:
    """old id -> new id: special, added and byte tokens at theirs, the pieces on the ids between."""
    pieces = set(learned(spec) if spec.scores is None else spec.scores)
    fixed = {token_id for token_id in token_bytes(spec) if token_id not in pieces}
    if max(fixed, default=0) >= size:
        raise VocabularyError(f"id {max(fixed)} is fixed by the options of training, and above {size} tokens")
    free = (token_id for token_id in range(size) if token_id not in fixed)
    kept = (token_id for token_id in sorted(pieces) if token_id not in gone)
    return dict(zip(kept, free, strict=True)) | {token_id: token_id for token_id in fixed}


def _model_of(spec: TokenizerSpec, smaller: TokenizerSpec, record: Record) -> dict[str, object]:
    """What is carried, with the `.model` of the smaller size."""
    others = {name: value for name, value in smaller.carried.items() if name != "sentencepiece"}
    known = {item.name for item in fields(SentencePieceOptions)}
    told: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in record.items()
        if name in known
    }
    carried: Any = spec.carried.get("sentencepiece")
    try:
        written = _written(carried["layout"][1])
        size = len(token_bytes(smaller))
        layout = [*trainer_layout(size, SentencePieceOptions(**told), written), *carried["layout"][2:]]
    except SPOILT:  # a record or a layout that was edited by hand
        return others
    return {**others, "sentencepiece": {**carried, "layout": layout}}


def _written(message: str) -> set[str]:
    """The options that a `TrainerSpec`, as the layout has it, says."""
    (outer,) = protobuf.fields(b64decode(message))
    there = {field.number for field in protobuf.fields(outer.bytes_value)}
    return {name for name, number in TRAINER_FIELDS.items() if number in there}


# ---- the record ----


def trained(spec: TokenizerSpec) -> bool:
    """Whether the record is that of the merges that are there: nothing was taken out or added since."""
    counts = spec.record.get("counts")
    if not isinstance(counts, list):
        return False
    if spec.scores is not None:
        return spec.record.get("like") == "sentencepiece" and len(counts) == len(learned(spec))
    return spec.merges is not None and len(counts) + _before(spec) == len(spec.merges)


def _before(spec: TokenizerSpec) -> int:
    """How many merges were there before those of the record."""
    start = spec.record.get("start")
    if not isinstance(start, dict) or not isinstance(start.get("record"), dict):
        return 0
    merges = start.get("merges")
    return max(merges, 0) if isinstance(merges, int) else 0


def _stopped_early(spec: TokenizerSpec, total: int) -> bool:
    """Whether training asked for more than it found: then it would have given the same for more."""
    without_merges = _size_asked(spec)
    if without_merges is not None:
        return without_merges > total
    if not trained(spec):
        return False
    asked, merges = spec.record.get("vocab_size"), spec.record.get("num_merges")
    if _own_options(spec.record) is not None:
        own: Any = spec.record["options"]
        asked = own.get("vocab_size", BpeTrainerOptions().vocab_size)
    if isinstance(asked, int):
        return asked > total
    counts: Any = spec.record["counts"]
    return isinstance(merges, int) and merges > len(counts)


def _record(spec: TokenizerSpec, merges: int | None, size: int) -> Record:
    """The record of the training that would have ended after so many merges."""
    record: Record = dict(spec.record)
    if merges is None or not trained(spec):
        noted = _own_options(record) if _size_asked(spec) is not None else None
        return record if noted is None else {**record, "options": _noted(noted, size)}
    before = _before(spec)
    if merges < before:
        older = replace(spec, record=record["start"]["record"], merges=(spec.merges or ())[:before])
        return _record(older, merges, size)
    record |= _superwords(record, merges, size)
    if merges < len(record["counts"]) and isinstance(record.get("parity"), dict):
        record.pop("languages", None)  # what became of each is known of the end alone
    options = _own_options(record)
    if options is not None:
        record["options"] = _noted(options, size)
    counts = record["counts"]
    missing = max(size - len(token_bytes(spec)), 0)  # of a training that stopped early
    record["counts"] = counts[: merges - before]
    if record.get("vocab_size") is not None:
        record["vocab_size"] = size
    elif record.get("num_merges") is not None:
        record["num_merges"] = merges - before + missing
    return record


def _noted(options: Record, size: int) -> Record:
    """The options with the size; what is as it is by default is not noted."""
    return options if size == BpeTrainerOptions().vocab_size else {"vocab_size": size, **options}


def _own_options(record: Mapping[str, object]) -> Record | None:
    """The options of Hugging Face's trainer that are noted, but for the size; `None` if it was not theirs."""
    options = record.get("options")
    if record.get("like") != "huggingface" or not isinstance(options, dict):
        return None
    return {name: value for name, value in options.items() if name != "vocab_size"}


def _superwords(record: Record, merges: int, size: int) -> Record:
    """What else changes of a training with superwords.

    Raises `VocabularyError` for a size below the one from which merges join words: there text is split in
    another way.
    """
    counts = len(record["counts"])
    about = record.get("superwords")
    if not isinstance(about, dict):
        return {}
    begin, joined = about.get("from"), about.get("merges")
    if not isinstance(begin, int) or not isinstance(joined, int):
        return {}
    if size < begin:
        raise VocabularyError(
            f"size is {size}, but from {begin} tokens on merges join words (superwords), and text is split "
            f"for them: set it to {begin} or more, or train again without superwords"
        )
    return {"superwords": {**about, "merges": max(joined - counts + merges, 0)}}
