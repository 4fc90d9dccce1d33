"""A unigram model as Hugging Face's `UnigramTrainer` 0.23.3 trains it: `model="unigram", like="huggingface"`.

    words -> characters and seeds -> EM and pruning (`train_unigram`) -> characters, then pieces, to the size

Where it differs from the other two ways:
  1. Seeds are counted in distinct words, each once; of equals the larger text comes first, as with
     characters. A zero character stands between words there: it is in no piece, and is unknown while the
     model is learned.
  2. The unknown piece is one of the pieces: where these are counted, and where pruning asks what stands for a
     piece. Pruning keeps a piece that nothing stands for, used or not; and it takes the number of all pieces
     for the number of those that stand for one (`alternatives.len()` in its source).
  3. Learning ends with EM, where there are `vocab_size * 11 // 10` pieces or fewer. Their order is the one of
     the last pruning (by loss), not that of scores, and in this order they fill the vocabulary, behind all
     characters of the text and of `initial_alphabet`. If characters fill it alone, all pieces are taken.
  4. Then come scores: special tokens first (0.0), the unknown token before them if it is none of them, and
     the pieces, the most likely first. A special token that stands in the text too is learned like any
     other: its name then has two ids, of which text becomes the second.

What their trainer learns does not depend on the order of its hash tables, but for rounding (its scores differ
from one run to the next by 1e-11), and for characters that were dropped on the way: each has a score of its
own, in the order of a hash table. Here they come in the order of characters: the most frequent first, of
equals the larger; then those of `initial_alphabet`, as they are given. Counts are exact, where theirs wrap
around at 2^32; and a piece `<UNK>`, which panics there, is learned and left out.
Source: tokenizers 0.23.3, `models/unigram/trainer.rs`, `lattice.rs`. Leaves out: how text becomes words
(`train_huggingface.read_words`), the file (`syllabary.training.huggingface`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference.assemble import check_special_tokens
from syllabary.reference.symbols import plural, there_are, utf8
from syllabary.reference.train_unigram import UnigramSettings, by_count, learn, with_alphabet
from syllabary.reference.train_unigram_lattice import Piece, double
from syllabary.reference.train_unigram_seed import END, TEXTS

ZERO = "\0"
UNK = "<UNK>"  # what the unknown piece is called while the model is learned


@dataclass(frozen=True, slots=True)
class UnigramTrainerOptions:
    """The options of `UnigramTrainer`, by its names.

    vocab_size: tokens in all, special ones included. n_sub_iterations: of EM between two rounds of pruning.
    shrinking_factor: the part of the pieces that a round keeps. special_tokens: with the first ids, in order.
    initial_alphabet: characters (of longer texts the first) that are tokens in any case. unk_token: the text
    of the unknown token; `None`: there is none. max_piece_length: in characters. seed_size: pieces at most
    to begin with.
    """

    vocab_size: int = 8_000
    n_sub_iterations: int = 2
    shrinking_factor: float = 0.75
    special_tokens: tuple[str, ...] = ()
    initial_alphabet: tuple[str, ...] = ()
    unk_token: str | None = None
    max_piece_length: int = 16
    seed_size: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Scored:
    """What was learned: tokens with their scores by id, and the id of the unknown one."""

    vocab: list[Piece]
    unknown: int | None


def check_options(options: UnigramTrainerOptions) -> None:
    """`TrainingError` for numbers out of range, `VocabularyError` for special tokens empty or given twice."""
    for name in ("vocab_size", "n_sub_iterations", "max_piece_length", "seed_size"):
        value = getattr(options, name)
        if value < 0:
            raise TrainingError(f"{name} is {value}: set it to 0 or more")
    if not 0 <= options.shrinking_factor < 1:
        raise TrainingError(
            f"shrinking_factor is {options.shrinking_factor}: give the part of the pieces that a round "
            "keeps, from 0 to below 1"
        )
    for index, text in enumerate(options.initial_alphabet):
        utf8(text, f"initial_alphabet[{index}]")
    if options.unk_token is not None:
        utf8(options.unk_token, "unk_token")
        if not options.unk_token:
            raise TrainingError("unk_token is empty: give a text as '<unk>', or None")
    check_special_tokens(options.special_tokens)


def settings_of(options: UnigramTrainerOptions) -> UnigramSettings:
    """How their trainer learns."""
    return UnigramSettings(
        desired=options.vocab_size * 11 // 10,
        seed_size=options.seed_size,
        longest=options.max_piece_length,
        shrinking_factor=options.shrinking_factor,
        sub_iterations=options.n_sub_iterations,
        branching=TEXTS,
        unknown="own",
        all_grow=True,
        logarithms=True,
        outside=ZERO,
    )


def train(words: Mapping[str, int], options: UnigramTrainerOptions) -> Scored:
    """Learn from words with their counts.

    Raises `CorpusError` where there is none, `TrainingError` where the characters or special tokens do not
    fit, and as `check_options`.

    >>> found = train({"to": 3, "be": 2, "or": 2}, UnigramTrainerOptions(7, unk_token="<unk>"))
    >>> [text for text, _score in found.vocab]
    ['<unk>', 'o', 't', 'r', 'e', 'b']
    """
    check_options(options)
    words = {word: count for word, count in words.items() if word}
    if not words:
        raise CorpusError("the corpus is empty: there is no word to learn from")
    counts = Counter[str]()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    alphabet = alphabet_of([character for character, _count in by_count(counts, TEXTS)], options)
    check_room(alphabet, options)
    within = [((word, END), count) for word, count in words.items()]
    *_before, model = learn(within, settings_of(options), lambda text: ZERO not in text)
    return finish(model.pieces, alphabet, options)


def alphabet_of(characters: Sequence[str], options: UnigramTrainerOptions) -> list[str]:
    """All characters that become tokens. characters: those of the text, the most frequent first."""
    more = [text[0] for text in options.initial_alphabet if text]
    return list(dict.fromkeys([*characters, *more]))


def check_room(alphabet: Sequence[str], options: UnigramTrainerOptions) -> None:
    """`TrainingError` if the characters, or the special tokens, are more than the vocabulary."""
    size, special = options.vocab_size, len(options.special_tokens)
    if len(alphabet) > size:
        raise TrainingError(
            f"vocab_size is {size}, but the text and initial_alphabet have "
            f"{plural(len(alphabet), 'character')}: set it to {len(alphabet) + special} or more"
        )
    if special + _adds_unknown(options) > size:
        more = " and the unknown one" if _adds_unknown(options) else ""
        raise TrainingError(f"vocab_size is {size}, but {there_are(special, 'special token')}{more}")


def _adds_unknown(options: UnigramTrainerOptions) -> bool:
    return options.unk_token is not None and options.unk_token not in options.special_tokens


def finish(pieces: Sequence[Piece], alphabet: Sequence[str], options: UnigramTrainerOptions) -> Scored:
    """The vocabulary of what was learned; a special token that was learned too is in it twice.

    >>> options = UnigramTrainerOptions(5, special_tokens=("<s>",), unk_token="?")
    >>> finish([("ab", -1.0), ("b", -2.0), ("ba", -0.5)], ["a", "b"], options)
    Scored(vocab=[('?', 0.0), ('<s>', 0.0), ('ab', -1.0), ('a', -2.0), ('b', -2.0)], unknown=0)
    """
    first = [(text, 0.0) for text in options.special_tokens]
    unknown = None
    if options.unk_token is not None:
        if _adds_unknown(options):
            first.insert(0, (options.unk_token, 0.0))
        unknown = [text for text, _score in first].index(options.unk_token)
    found = with_alphabet(pieces, alphabet, double)
    room = options.vocab_size - len(first)
    for text, score in pieces:
        if text in found or text == UNK:
            continue
        found[text] = score
        if len(found) == room:
            break
    return Scored(first + sorted(found.items(), key=lambda piece: -piece[1]), unknown)
