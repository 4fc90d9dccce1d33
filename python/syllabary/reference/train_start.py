"""Going on: training that begins with a tokenizer instead of an alphabet.

Adds `start_of` (a tokenizer in the local ids of training), `read_from` (the corpus as that tokenizer encodes
it) and `continued` (the tokenizer with what was learned since). The tokenizer itself decides everything that
comes before merging: special and added tokens, wherever it finds them, are boundaries; text is normalized,
cut and spelled as in its `encode`, with smaller symbols if it has a fallback. Symbols of the text that it
lacks otherwise come first, in the order of an alphabet, then one token a merge; their ids follow the largest
that there is. Nothing that was there changes: what `encode` gives now is what it gave before, with neighbours
joined further (only what was unknown is a token now).
Local ids: the old tokens in the order of their ids, new symbols, then merges.
Leaves out: the loop, which is the same (`train`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from syllabary.errors import CorpusError, EarlyStopWarning, TrainingError
from syllabary.reference import merge
from syllabary.reference.aligned import Aligned
from syllabary.reference.assemble import initial_alphabet, nothing_left, training_record
from syllabary.reference.check import token_bytes
from syllabary.reference.first_tokens import Source
from syllabary.reference.groups import Ranked
from syllabary.reference.pipeline import Pipeline
from syllabary.reference.special import cut_by_policy
from syllabary.reference.symbols import plural, shown, utf8
from syllabary.reference.ties import Pair
from syllabary.reference.train_corpus import EMPTY, Corpus
from syllabary.reference.unknown import Unknown
from syllabary.spec import TokenizerSpec, TrainOptions

Merge = tuple[int, int, int]
NOTHING_NEW = "there is nothing to learn: each piece of the corpus is a whole token of start"


@dataclass(frozen=True, slots=True)
class Start:
    """A tokenizer in local ids.

    spec: with its merges as a list. ids: local id -> id, of symbols and of what merges make. tokens: local id
    -> bytes. merges: each pair once, in rank order, in local ids. unmade: the bytes of all other tokens and
    their ids; they are there as whole pieces only. size: tokens in all, special and added ones included.
    """

    spec: TokenizerSpec
    ids: list[int]
    tokens: list[bytes]
    merges: list[Merge]
    unmade: dict[bytes, int]
    size: int


def check_start(spec: TokenizerSpec) -> None:
    """Raise `TrainingError` for a tokenizer that learning cannot go on from."""
    reason = None
    if spec.model in ("unigram", "wordlevel"):
        reason = f"its model is {spec.model!r}, which has no merges that others could follow"
    elif spec.scores is not None:
        reason = "it merges by score (sentencepiece) and has no list of merges"
    elif spec.dropout:
        reason = f"its encode passes over merges at random (dropout {spec.dropout})"
    elif spec.continuing_prefix is not None:
        reason = f"its pieces go on with the prefix {spec.continuing_prefix!r}"
    elif spec.fallback and spec.unit == "word":
        reason = "its words fall back to characters"
    elif spec.fallback and len({byte for byte in spelled(spec) if len(byte) == 1}) < 256:
        reason = "it falls back to bytes, and has not all of them"
    elif spec.end_of_word is not None and (spec.mark_apart or spec.byte_tokens or spec.unit == "byte"):
        reason = f"its end_of_word {spec.end_of_word!r} is no part of a character"
    if reason is not None:
        raise TrainingError(f"start cannot be continued: {reason}")


def spelled(spec: TokenizerSpec) -> dict[bytes, int]:
    """Initial symbol -> id: the alphabet, and what fallback spells bytes with."""
    symbols = dict(spec.alphabet)
    for token_id, byte in spec.byte_tokens.items() if spec.fallback else ():
        if byte >= 0x80 or bytes([byte]) not in symbols:  # else it is a character
            symbols[bytes([byte])] = token_id
    return symbols


def start_of(spec: TokenizerSpec, merges: Iterable[Merge] | None = None) -> Start:
    """The tokenizer as training takes it up; `TrainingError` where that cannot be.

    merges: those of a vocabulary without a list, if they are known already.
    """
    check_start(spec)
    listed = tuple(listed_merges(spec) if merges is None else merges)
    symbols = {*spelled(spec).values()}
    last = {(left, right): rank for rank, (left, right, _result) in enumerate(listed)}
    rows = [row for rank, row in enumerate(listed) if last[row[:2]] == rank]  # as `merge.by_merges`
    rows = reachable(rows, symbols)
    made = {result for _left, _right, result in rows}
    if made & symbols:
        raise TrainingError(f"start cannot be continued: a merge makes the symbol {min(made & symbols)}")
    ids = sorted(made | symbols)
    local = {token_id: place for place, token_id in enumerate(ids)}
    named = {*spec.special_tokens.values(), *spec.added_tokens.values(), spec.unknown, *spec.byte_tokens}
    others = spec.tokens.keys() - made - symbols - named
    return Start(
        replace(spec, merges=listed),
        ids,
        [spec.tokens[token_id] for token_id in ids],
        [(local[left], local[right], local[result]) for left, right, result in rows],
        {spec.tokens[token_id]: token_id for token_id in others},
        len(token_bytes(spec)),
    )


def reachable(merges: list[Merge], symbols: Iterable[int]) -> list[Merge]:
    """The merges whose parts come about from symbols by other merges.

    >>> reachable([(3, 0, 4), (0, 1, 3), (7, 0, 8)], [0, 1])
    [(3, 0, 4), (0, 1, 3)]
    """
    there, before = set(symbols), -1
    while len(there) != before:
        before = len(there)
        for left, right, result in merges:
            if left in there and right in there:
                there.add(result)
    return [row for row in merges if row[0] in there and row[1] in there]


def listed_merges(spec: TokenizerSpec) -> Iterable[Merge]:
    """The merges of a tokenizer; of one that has ranks only, the last pair that each token's bytes become.

    >>> from syllabary.spec import SplitSpec
    >>> tokens = {0: b"a", 1: b"b", 2: b"ab", 3: b"aba"}
    >>> list(listed_merges(TokenizerSpec("byte", SplitSpec(None), tokens, {b"a": 0, b"b": 1}, None)))
    [(0, 1, 2), (2, 0, 3)]
    """
    if spec.merges is not None:
        yield from spec.merges
        return
    rule = merge.by_rank_order(spec.tokens)
    for token_id, token in sorted(spec.tokens.items()):
        symbols = [token[at : at + 1] for at in range(len(token))]
        if len(symbols) > 1 and all(symbol in spec.alphabet for symbol in symbols):
            state = [spec.alphabet[symbol] for symbol in symbols]
            for left, *rest in merge.merge_states(state, rule):
                if len(rest) == 1:
                    yield left, rest[0], token_id


@dataclass(frozen=True, slots=True)
class Continued(Corpus):
    """A corpus as a tokenizer encodes it: the alphabet is its tokens and the new symbols.

    start: the tokenizer. symbols: those that its own alphabet lacks.
    """

    start: Start
    symbols: tuple[bytes, ...]

    def budget(self, options: TrainOptions) -> int:
        """As of `Corpus`, beside the tokens that are there."""
        return budget(options, self.start, len(self.symbols))

    def lengths(self) -> list[int]:
        """As of `Corpus`: what merges of the tokenizer make is longer than a symbol."""
        return [*lengths(self.start), *[1] * len(self.symbols)]

    def cost(self, options: TrainOptions, token: bytes) -> int:
        """See `cost`."""
        return cost(options, self.start, token)

    def finished(self, options: TrainOptions, merges: Sequence[Pair], stacklevel: int = 2) -> TokenizerSpec:
        """The tokenizer with the new merges; warns of an early stop."""
        spec = continued(self.start, options, self.symbols, merges)
        warn_early_stop(self.start, options, spec, stacklevel)
        return spec


def read_on(documents: Iterable[str], start: Start, options: TrainOptions) -> Continued:
    """The corpus as a tokenizer encodes it; `CorpusError` if it is empty, and as `read_from`."""
    new, found = read_from(documents, start, options)
    if not found:
        raise CorpusError(EMPTY)
    sequences = [list(ids) for ids in found]
    return Continued([*start.tokens, *new], sequences, list(found.values()), start, tuple(new))


def read_from(
    documents: Iterable[str], start: Start, options: TrainOptions
) -> tuple[list[bytes], dict[tuple[int, ...], int]]:
    """The symbols of the corpus that are not in the alphabet, and its distinct sequences -> count.

    Sequences are in local ids, as the tokenizer encodes their pieces, in order of their first appearance.
    `CorpusError` for a document of the wrong type, `TextError` for a lone surrogate, `TrainingError` for one
    that holds the end-of-word mark.
    """
    texts = list(documents)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise CorpusError(f"document {index} is of type {type(text).__name__}: give str")
        utf8(text, f"document {index}")
        check_mark(text, index, start.spec)
    new = new_symbols(texts, start, options)
    spec = with_symbols(start, new)
    local = {token_id: place for place, token_id in enumerate(start.ids)}
    local |= {spec.alphabet[symbol]: len(local) + place for place, symbol in enumerate(new)}
    pipeline = Pipeline(spec, merge.by_merges(spec.merges or ()))
    found: dict[tuple[int, ...], int] = {}
    whole = False
    for text in texts:
        for group in pipeline.groups(text, "allow", []):
            ids = [token.id for token in group.tokens()]
            whole |= isinstance(group, Ranked) and bool(ids)
            if ids and all(token_id in local for token_id in ids):  # others are boundaries, or whole pieces
                sequence = tuple(local[token_id] for token_id in ids)
                found[sequence] = found.get(sequence, 0) + 1
    if whole and not found:
        raise CorpusError(NOTHING_NEW)
    return new, found


def check_mark(text: str, index: int, spec: TokenizerSpec) -> None:
    """Raise `TrainingError` if a document holds the end-of-word mark, once it is normalized."""
    mark = spec.end_of_word
    if mark is None:
        return
    if not spec.normalizer and mark in text:
        raise TrainingError(
            f"document {index} holds the end_of_word mark {mark!r} at character {text.index(mark)}: "
            "choose another mark"
        )
    pipeline, source = Pipeline(spec, merge.by_merges(())), Source(text, exact=False)
    for run in cut_by_policy(text, spec.special_tokens, spec.added_tokens, "allow", spec.matching):
        parts = pipeline.normalized(Aligned.of(run.text), "allow", source) if run.token is None else ()
        if any(isinstance(part, Aligned) and mark in part.text for part in parts):
            raise TrainingError(
                f"document {index}, normalized, holds the end_of_word mark {mark!r}: choose another mark"
            )


def new_symbols(texts: Iterable[str], start: Start, options: TrainOptions) -> list[bytes]:
    """The symbols of texts that are not in the alphabet, in the order of an alphabet; none with fallback."""
    if start.spec.fallback:
        return []
    pipeline = Pipeline(replace(start.spec, unknown=None), merge.by_merges(()))
    unknown: Unknown = []
    for text in texts:
        pipeline.groups(text, "allow", unknown)
    like_alphabet = replace(options, unit=start.spec.unit, alphabet="seen", fallback=False)
    return initial_alphabet(like_alphabet, {symbol for symbol, _at in unknown})


def with_symbols(start: Start, symbols: Iterable[bytes]) -> TokenizerSpec:
    """The tokenizer with more symbols; one that is a token already has its id, others the next ones."""
    spec = start.spec
    tokens, alphabet = dict(spec.tokens), dict(spec.alphabet)
    after = 1 + max(token_bytes(spec), default=-1)
    for symbol in symbols:
        token_id = start.unmade.get(symbol)
        if token_id is None:
            token_id, after = after, after + 1
        alphabet[symbol], tokens[token_id] = token_id, symbol
    return replace(spec, tokens=tokens, alphabet=alphabet)


def lengths(start: Start) -> list[int]:
    """How many initial symbols each old token is made of, by local id."""
    found = [1] * len(start.tokens)
    for left, right, result in start.merges:
        found[result] = found[left] + found[right]
    return found


def no_room(vocab_size: int, size: int) -> TrainingError:
    """The error for a vocabulary no larger than the one it begins with: nothing would be learned."""
    return TrainingError(
        f"vocab_size is {vocab_size}, but start has {plural(size, 'token')}, so that nothing would be "
        f"learned: set it to {size + 1} or more"
    )


def budget(options: TrainOptions, start: Start, symbols: int) -> int:
    """How many tokens there is room for beside new symbols; `TrainingError` if not even for these."""
    if options.num_merges is not None:
        return options.num_merges
    size = options.vocab_size or 0
    room = size - start.size - symbols
    if room + symbols <= 0:
        raise no_room(size, start.size)
    if room < 0:
        raise TrainingError(
            f"vocab_size is {options.vocab_size}, but start has {plural(start.size, 'token')} and the text "
            f"{plural(symbols, 'new symbol')}: set it to {start.size + symbols} or more"
        )
    return room


def cost(options: TrainOptions, start: Start, token: bytes) -> int:
    """The room that a merge takes: with `vocab_size` none, if its token was there as a whole piece."""
    return int(options.num_merges is not None or token not in start.unmade)


def kept(options: TrainOptions, start: Start, spelled: Iterable[bytes], room: int) -> int:
    """How many of the merges that make `spelled`, in their order, there is room for."""
    count = 0
    for token in spelled:
        if room == 0:
            break
        room -= cost(options, start, token)
        count += 1
    return count


def warn_early_stop(start: Start, options: TrainOptions, spec: TokenizerSpec, stacklevel: int = 2) -> None:
    """An `EarlyStopWarning` that says at which size training ended, if below the size asked for."""
    size, learned = len(token_bytes(spec)), len(spec.merges or ()) - len(start.spec.merges or ())
    if size < (options.vocab_size or 0) or learned < (options.num_merges or 0):
        warnings.warn(
            f"{nothing_left(options.min_frequency, options.max_token_length)}: training ended "
            f"after {learned} new merges with a vocabulary of {size}; give more text or ask for less",
            EarlyStopWarning,
            stacklevel=stacklevel + 1,
        )


def continued(
    start: Start, options: TrainOptions, symbols: Sequence[bytes], pairs: Sequence[tuple[int, int]]
) -> TokenizerSpec:
    """The tokenizer with new symbols and the pairs that were learned, in local ids.

    A pair that spells a token which was there only as a whole piece makes that token.
    """
    extended = with_symbols(start, symbols)
    tokens = dict(extended.tokens)
    after = 1 + max(token_bytes(extended), default=-1)
    ids = [*start.ids, *(extended.alphabet[symbol] for symbol in symbols)]
    rows: list[Merge] = []
    for left, right in pairs:
        joined = tokens[ids[left]] + tokens[ids[right]]
        result = start.unmade.get(joined)
        if result is None:
            result, after = after, after + 1
            tokens[result] = joined
        ids.append(result)
        rows.append((ids[left], ids[right], result))
    merges = extended.merges or ()
    check_named(extended, {tokens[result] for _left, _right, result in rows})
    record = {**training_record(options), "start": start_record(start)}
    return replace(extended, tokens=tokens, merges=(*merges, *rows), record=record)


def check_named(spec: TokenizerSpec, learned: Iterable[bytes]) -> None:
    """Raise `TrainingError` if a new token is spelled as a special or added one."""
    for token in {text.encode() for text in (*spec.special_tokens, *spec.added_tokens)}.intersection(learned):
        raise TrainingError(
            f"the merges spell {shown(token)}, which is a special or added token of start: take it out of "
            "the text, or out of the tokenizer"
        )


def start_record(start: Start) -> Mapping[str, object]:
    """What the record says of the tokenizer that training began with."""
    spec = start.spec
    return {"vocab_size": start.size, "merges": len(spec.merges or ()), "record": dict(spec.record)}
