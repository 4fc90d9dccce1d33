"""Ids: from the symbols seen and the merges learned to a finished `TokenizerSpec`.

Adds the order of the initial alphabet, the place of the special tokens, and the checks of what was asked
for. Reference and engine both end here: training works in local ids (alphabet 0, 1, …, then one for each
merge) and this file makes them the tokenizer's. Leaves out: learning the merges (`train`).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from syllabary.errors import EarlyStopWarning, TrainingError, VocabularyError
from syllabary.reference.bytes_to_unicode import byte_alphabet
from syllabary.reference.symbols import plural, shown, there_are, utf8
from syllabary.spec import Form, Step, TokenizerSpec, TrainOptions

# Tokens by id, and merges as the specification has them.
Spelled = tuple[Mapping[int, bytes], tuple[tuple[int, int, int], ...]]


def check_options(options: TrainOptions) -> None:
    """Raise `TrainingError` for options that contradict each other, `VocabularyError` for special tokens."""
    if (options.vocab_size is None) == (options.num_merges is None):
        raise TrainingError(
            f"set one of vocab_size (now {options.vocab_size}) and num_merges (now {options.num_merges})"
        )
    if options.num_merges is not None and options.num_merges < 0:
        raise TrainingError(f"num_merges is {options.num_merges}: set it to 0 or more")
    if options.min_frequency < 1:
        raise TrainingError(f"min_frequency is {options.min_frequency}: set it to 1 or more")
    if options.max_token_length is not None and options.max_token_length < 1:
        raise TrainingError(f"max_token_length is {options.max_token_length}: set it to 1 or more, or None")
    if options.fallback and options.unit == "byte":
        raise TrainingError('fallback=True needs unit="char" or "word": nothing is smaller than a byte')
    if options.normalize is not None and options.normalize not in get_args(Form):
        raise TrainingError(f"normalize={options.normalize!r} is none of {', '.join(get_args(Form))}")
    check_end_of_word(options)
    check_special_tokens(options.special_tokens)
    check_collisions(options, certain_symbols(options))


def check_end_of_word(options: TrainOptions) -> None:
    """The mark stands on characters, and must be told from the bytes that fallback adds."""
    mark = options.end_of_word
    if mark is None:
        return
    if options.unit != "char":
        raise TrainingError(f'end_of_word={mark!r} needs unit="char", not {options.unit!r}')
    if not mark:
        raise TrainingError('end_of_word is empty: give a mark as "</w>", or None')
    if options.fallback and len(mark) == 1:
        raise TrainingError(
            f'end_of_word={mark!r} with fallback=True must be longer than one character, as "</w>": '
            "alone it could not be told from that character in a text"
        )
    utf8(mark, "end_of_word")


def check_special_tokens(special_tokens: Sequence[str]) -> None:
    """Raise `VocabularyError` if one is empty or given twice, `TextError` for a lone surrogate."""
    before = set[str]()
    for index, token in enumerate(special_tokens):
        if not token:
            raise VocabularyError(f"special token {index} is empty: it would match everywhere")
        if token in before:
            raise VocabularyError(f"special token {shown(token)} is given twice")
        before.add(token)
        utf8(token, f"special token {index}")


def check_collisions(options: TrainOptions, tokens: Iterable[bytes]) -> None:
    """Raise `VocabularyError` if a special token has the bytes of one of `tokens`."""
    ordinary = set(tokens if options.special_tokens else ())
    for token in options.special_tokens:
        if token.encode() in ordinary:
            raise VocabularyError(
                f"special token {shown(token)} has the bytes of an ordinary token: choose another text"
            )


def certain_symbols(options: TrainOptions) -> list[bytes]:
    """The initial symbols that are there whatever the corpus is.

    >>> from syllabary.spec import SplitSpec
    >>> certain_symbols(TrainOptions(SplitSpec(None), unit="char", fallback=True, end_of_word="</w>"))[-2:]
    [b'\\xff', b'</w>']
    """
    if options.fallback or (options.unit == "byte" and options.alphabet == "all"):
        return initial_alphabet(options, ())
    return []


def initial_alphabet(options: TrainOptions, seen: Iterable[bytes]) -> list[bytes]:
    """The initial symbols in the order of their ids; `seen` are those of the corpus, in any order.

    byte: all 256 or those seen, by value or in GPT-2's order. char, word: those seen, sorted by their
    bytes; with fallback, before them the 256 bytes, then for char the bare end-of-word mark, for word the
    characters above ASCII that the pieces hold.

    >>> from syllabary.spec import SplitSpec
    >>> options = TrainOptions(SplitSpec(None), unit="char", end_of_word="</w>")
    >>> initial_alphabet(options, [b"w</w>", b"o", b"l"])
    [b'l', b'o', b'w</w>']
    """
    symbols = set(seen)
    if options.unit == "byte":
        return [
            byte for byte in byte_alphabet(options.byte_order) if options.alphabet == "all" or byte in symbols
        ]
    order: list[bytes] = []
    if options.fallback:
        order += byte_alphabet("raw")
        if options.unit == "word":
            order += sorted({character.encode() for symbol in symbols for character in symbol.decode()})
        elif options.end_of_word is not None:
            order.append(options.end_of_word.encode())
    return list(dict.fromkeys([*order, *sorted(symbols)]))  # subtle: a symbol keeps its first place


def merge_budget(options: TrainOptions, alphabet_size: int) -> int:
    """How many merges fit; `TrainingError` if the vocabulary is smaller than what it starts with."""
    if options.num_merges is not None:
        return options.num_merges
    specials = len(options.special_tokens)
    budget = (options.vocab_size or 0) - specials - alphabet_size
    if budget < 0:
        raise TrainingError(
            f"vocab_size is {options.vocab_size}, but the alphabet has {plural(alphabet_size, 'symbol')} and "
            f"{there_are(specials, 'special token')}: set it to {alphabet_size + specials} or more"
        )
    return budget


def nothing_left(min_frequency: int, longest: int | None) -> str:
    """Why training ends early. longest: the symbols of a token, at most.

    >>> nothing_left(2, None)
    'no pair is left that occurs 2 times (min_frequency)'
    """
    found = f"no pair is left that occurs {plural(min_frequency, 'time')} (min_frequency)"
    if longest is None:
        return found
    return f"{found} and makes no more than {plural(longest, 'symbol')} (max_token_length)"


def warn_early_stop(options: TrainOptions, alphabet_size: int, learned: int, stacklevel: int = 2) -> None:
    """An `EarlyStopWarning` that says at which size training ended, if below the size asked for."""
    budget = merge_budget(options, alphabet_size)
    if learned < budget:
        size = len(options.special_tokens) + alphabet_size + learned
        warnings.warn(
            f"{nothing_left(options.min_frequency, options.max_token_length)}: training ended "
            f"after {learned} of {plural(budget, 'merge')} with a vocabulary of {size}; give more text or "
            "ask for less",
            EarlyStopWarning,
            stacklevel=stacklevel + 1,
        )


def assemble(
    options: TrainOptions, alphabet: Sequence[bytes], merges: Sequence[tuple[int, int]]
) -> TokenizerSpec:
    """The tokenizer of an alphabet and merges in local ids (merge k makes id len(alphabet) + k).

    Special tokens take the lowest ids or the highest, as `options.special_first` says.
    Raises `VocabularyError` for colliding tokens, `TrainingError` for contradictions.

    >>> from syllabary.spec import SplitSpec
    >>> options = TrainOptions(SplitSpec(None), unit="char", num_merges=1, special_tokens=("<s>",))
    >>> spec = assemble(dataclasses.replace(options, special_first=True), [b"a", b"b"], [(0, 1)])
    >>> spec.tokens, spec.merges, spec.special_tokens
    ({1: b'a', 2: b'b', 3: b'ab'}, ((1, 2, 3),), {'<s>': 0})
    """
    return assembled(options, alphabet, lambda first: spelled(alphabet, merges, first))


def spelled(alphabet: Sequence[bytes], merges: Sequence[tuple[int, int]], first: int) -> Spelled:
    """Tokens and merges of an alphabet and merges in local ids, the lowest id being `first`.

    >>> spelled([b"a", b"b"], [(0, 1)], 5)
    ({5: b'a', 6: b'b', 7: b'ab'}, ((5, 6, 7),))
    """
    spelling = list(alphabet)
    for left, right in merges:
        spelling.append(spelling[left] + spelling[right])
    triples = [
        (first + left, first + right, result)
        for result, (left, right) in enumerate(merges, first + len(alphabet))
    ]
    return dict(enumerate(spelling, first)), tuple(triples)


def assembled(
    options: TrainOptions, alphabet: Sequence[bytes], spell: Callable[[int], Spelled]
) -> TokenizerSpec:
    """`assemble` with tokens from elsewhere: `spell(first)` is `spelled(alphabet, merges, first)`."""
    check_options(options)
    merge_budget(options, len(alphabet))
    specials = len(options.special_tokens)
    first = specials if options.special_first else 0
    tokens, merges = spell(first)
    if specials:
        check_collisions(options, tokens.values())
    first_special = 0 if options.special_first else len(tokens)
    return TokenizerSpec(
        unit=options.unit,
        split=options.split,
        tokens=tokens,
        alphabet={symbol: first + local for local, symbol in enumerate(alphabet)},
        merges=merges,
        special_tokens={token: first_special + place for place, token in enumerate(options.special_tokens)},
        end_of_word=options.end_of_word,
        fallback=options.fallback,
        record=training_record(options),
        normalizer=normalizer(options),
    )


def normalizer(options: TrainOptions) -> tuple[Step, ...]:
    """The steps that a tokenizer trained so rewrites text with, and its training too."""
    return () if options.normalize is None else (Step(options.normalize),)


def training_record(options: TrainOptions) -> dict[str, object]:
    """The options as plain JSON values, for `TokenizerSpec.record`.

    >>> from syllabary.spec import SplitSpec
    >>> training_record(TrainOptions(SplitSpec(None), num_merges=3))["tie_break"]
    'smallest-ids'
    """
    record = dataclasses.asdict(options)
    record["special_tokens"] = list(options.special_tokens)
    return record
