"""From what was learned to a `Tokenizer`.

Adds the way of the engine's merges: it spells their tokens, which become Python objects when somebody asks
for them. Leaves out: ids and checks (`reference.assemble`), and learning (`call`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Learned
from syllabary.formats import subword_nmt_codes as codes
from syllabary.formats import uncollected
from syllabary.reference.assemble import Spelled, assembled, training_record
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, unspell
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.huggingface import CARRIED


def finished(
    options: TrainOptions,
    symbols: Sequence[bytes],
    merges: NDArray[np.uint32],
    record: Mapping[str, object],
    plain: bool,
) -> Tokenizer:
    """The tokenizer of what was learned.

    symbols: by local id. merges: in local ids, shape (n, 2). plain: it is saved as Hugging Face's trainer
    saves its own.
    """

    def spell(first: int) -> Spelled:
        with uncollected():
            learned = Learned(list(symbols), merges, first)
        return ReadTokens(learned, learned.merges), learned.merges

    spec = assembled(options, symbols, spell)
    if plain:
        spec = dataclasses.replace(spec, carried=CARRIED)
    if record["like"] == "subword-nmt":
        spec = _as_codes(spec, options)
    return Tokenizer(dataclasses.replace(spec, record={**spec.record, **record}))


def reuses(options: TrainOptions, symbols: Sequence[bytes], merges: Iterable[tuple[int, int]]) -> bool:
    """Whether Hugging Face's trainer may have used an id again: then two tokens have one name, or a special
    token has the name of another or of a byte.

    symbols: the alphabet. merges: in local ids, as learned with a new id each.
    """
    spelled = [bytes(symbol) for symbol in symbols]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    return has_one_name(options, spelled)


def has_one_name(options: TrainOptions, spelled: Sequence[bytes]) -> bool:
    """The same of tokens, so spelled; or whether a special token is the text of another."""
    names, special = set(spelled), options.special_tokens
    as_names = [unspell(text) for text in special if all(map(CHARACTER_TO_BYTE.__contains__, text))]
    return (
        len(names) < len(spelled)
        or any(len(name) == 1 or name in names for name in as_names)
        or any(text.encode("utf-8", "surrogatepass") in names for text in special)
    )


def as_plain(trained: Tokenizer, options: TrainOptions) -> Tokenizer:
    """What these options gave of a source that is read once, with the record of one that is read again."""
    spec, vocab = trained.spec, trained.vocab
    spelled = [*spec.alphabet, *(vocab[new] for _left, _right, new in spec.merges or ())]
    plain, learned = training_record(options), ("like", "corpus_bytes", "counts", "corpus")
    if has_one_name(options, spelled):
        about = {name: spec.record[name] for name in ("like", "corpus") if name in spec.record}
        record = {**spec.record, **plain, **about}
    else:
        record = {**plain, **{name: spec.record[name] for name in learned if name in spec.record}}
    return Tokenizer(as_asked(dataclasses.replace(spec, record=record), options))


def as_asked(spec: TokenizerSpec, options: TrainOptions) -> TokenizerSpec:
    """The same with the split that was asked for, which their file says in Oniguruma's words; where tokens
    keep names that are no bytes, pieces are spelled by a step, and are cut as the file has it."""
    return spec if spec.pretokenizer else dataclasses.replace(spec, split=options.split)


def _as_codes(spec: TokenizerSpec, options: TrainOptions) -> TokenizerSpec:
    """The tokenizer of subword-nmt's codes file, if it can hold this one: it has no characters but those of
    merges, and ids of its own."""
    plain = options.split == codes.SPLIT and options.unit == "char" and options.end_of_word == codes.MARK
    if not plain or options.special_tokens or options.fallback or options.normalize is not None:
        return spec
    pairs = [(spec.tokens[left], spec.tokens[right]) for left, right, _id in spec.merges or ()]
    return dataclasses.replace(codes.build(pairs, "0.2"), record=spec.record)
