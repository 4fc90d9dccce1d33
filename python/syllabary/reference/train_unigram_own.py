"""Our own unigram tokenizer, `model="unigram"`: which words it learns from, and the finished tokenizer.

    documents -> cut at special tokens -> normalized, if asked -> words, by the split -> learned -> ids

Nothing is lost: text is not rewritten unless `normalize` says so, a space is a space (the split leaves it
before its word), and what is no token is spelled with the 256 bytes, which are always there, with the ids
of their values. Then come the learned tokens, the best first, then the special tokens. The alphabet is the
most frequent characters until they are 0.9995 of the text, at most half of the room; others are bytes.
Leaves out: learning (`train_unigram`), counting (`counts`).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence

from syllabary.errors import CorpusError, EarlyStopWarning, TrainingError
from syllabary.reference.assemble import normalizer, training_record
from syllabary.reference.symbols import plural
from syllabary.reference.train_unigram import OUTSIDE, UnigramSettings, learn
from syllabary.reference.train_unigram_lattice import Piece
from syllabary.reference.train_unigram_seed import END, Ended
from syllabary.spec import TokenizerSpec, TrainOptions

BYTES = 256
LONGEST = 16


def room_of(options: TrainOptions) -> int:
    """How many tokens may be learned; `TrainingError` if there is no room."""
    size = 32_000 if options.vocab_size is None else options.vocab_size
    least = BYTES + len(options.special_tokens) + 1
    if size < least:
        special = plural(len(options.special_tokens), "special token")
        raise TrainingError(
            f"vocab_size is {size}, but the 256 bytes and {special} leave no room for "
            f"a token: set it to {least} or more"
        )
    return size - least + 1


def settings_of(options: TrainOptions) -> UnigramSettings:
    """How it is learned."""
    room = room_of(options)
    return UnigramSettings(
        desired=int(room * 1.1),
        longest=LONGEST if options.max_token_length is None else options.max_token_length,
        most_characters=max(room // 2, 1),
        shrinking_factor=0.8,
        last_iterations=2,
        last_size=room,
    )


def alphabet_of(words: Mapping[str, int], most: int) -> set[str]:
    """The most frequent characters, of equals the smaller, until they are 0.9995 of all, or `most`.

    >>> sorted(alphabet_of({"aab": 2, "b": 1, "c": 1}, 2))
    ['a', 'b']
    """
    counts = Counter[str]()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    total, reached, found = sum(counts.values()), 0, set[str]()
    del counts[OUTSIDE]
    for character in sorted(counts, key=lambda character: (-counts[character], character))[:most]:
        if reached * 10_000 >= total * 9_995:
            break
        reached += counts[character]
        found.add(character)
    return found


def train(words: Mapping[str, int], options: TrainOptions) -> TokenizerSpec:
    """Learn a tokenizer from pieces of the split with their counts; warns as `warn_of_few`.

    >>> from syllabary.spec import SplitSpec
    >>> made = train({" to": 3, " be": 2, " or": 2}, TrainOptions(SplitSpec(r"\\s*\\S+"), vocab_size=257))
    >>> [made.tokens[token_id] for token_id in range(256, len(made.tokens))]
    [b' ']
    """
    if not words:
        raise CorpusError("the corpus is empty: no piece was found")
    settings = settings_of(options)
    alphabet = alphabet_of(words, settings.most_characters or 1)
    within = Counter[Ended]()
    for word, count in words.items():
        text = "".join(character if character in alphabet else OUTSIDE for character in word)
        within[text, END] += count
    *_before, model = learn(list(within.items()), settings, lambda text: OUTSIDE not in text)
    spec = finish(model.pieces, options)
    warn_of_few(spec, options)
    return spec


def warn_of_few(spec: TokenizerSpec, options: TrainOptions, stacklevel: int = 2) -> None:
    """An `EarlyStopWarning` that says at which size training ended, if below the size asked for."""
    few, room = len(spec.scores or ()), room_of(options)
    if few < room:
        size = len(spec.tokens) + len(spec.special_tokens)
        warnings.warn(
            f"no more pieces are worth keeping: training ended with a vocabulary of {size}, not "
            f"{size + room - few}; give more text, or ask for another size",
            EarlyStopWarning,
            stacklevel=stacklevel + 1,
        )


def finish(pieces: Sequence[Piece], options: TrainOptions) -> TokenizerSpec:
    """The tokenizer of what was learned. Of scores that differ only by rounding the smaller text is first."""
    best = sorted(pieces, key=lambda piece: (-round(piece[1], 9), piece[0]))[: room_of(options)]
    tokens = {byte: bytes([byte]) for byte in range(BYTES)}
    tokens |= {token_id: text.encode() for token_id, (text, _score) in enumerate(best, BYTES)}
    return TokenizerSpec(
        unit="char",
        split=options.split,
        tokens=tokens,
        alphabet={},
        merges=None,
        special_tokens={text: token_id for token_id, text in enumerate(options.special_tokens, len(tokens))},
        fallback=True,
        scores={token_id: score for token_id, (_text, score) in enumerate(best, BYTES)},
        byte_tokens={byte: byte for byte in range(BYTES)},
        model="unigram",
        normalizer=normalizer(options),
        record={**training_record(options), "model": "unigram"},
    )
