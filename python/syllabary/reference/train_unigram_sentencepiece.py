"""A unigram model as sentencepiece 0.2.3 trains it: `like="sentencepiece"` with `model="unigram"`.

    sentences -> normalized, symbols cut out -> alphabet -> words -> seeds, EM and pruning -> pieces by id

Everything before seeds and behind the last round is that of its BPE trainer (`train_sentencepiece`). Its
trainer is deterministic: the words in the order of their counts are dealt out to `num_threads` threads
(16), each of which adds in 32 bits, and the sums of the threads are added in order. So another
`num_threads` is another model, by a few pieces; here, as there, it says nothing about threads at work.
Saved as a `.model`, the tokenizer is the file that sentencepiece writes.

The order of sentences matters twice: what ends a sentence may be a seed, by what the next one begins with
(`train_unigram_seed`), and without `split_by_whitespace` EM takes the sentences as they come. Where it may
differ: beyond 500 MB of text, which it takes part by part.
Source: sentencepiece 0.2.3, `unigram_model_trainer.cc`. Leaves out: its sparse pruning, and seeds from a
file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from syllabary.errors import CorpusError
from syllabary.reference.train_sentencepiece import Found, finish_pieces
from syllabary.reference.train_sentencepiece_options import (
    SentencePieceOptions,
    check_options,
    meta_pieces,
)
from syllabary.reference.train_sentencepiece_rules import denormalizer_of, rules_of
from syllabary.reference.train_sentencepiece_sentences import (
    alphabet_of,
    check_size,
    cut_words,
    normalized,
)
from syllabary.reference.train_sentencepiece_valid import is_valid
from syllabary.reference.train_unigram import OUTSIDE, UnigramSettings, learn, with_alphabet
from syllabary.reference.train_unigram_lattice import Piece, single
from syllabary.reference.train_unigram_seed import END, Ended
from syllabary.spec import TokenizerSpec


def train(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> TokenizerSpec:
    """Learn a tokenizer from sentences; raises and warns as `train_sentencepiece.train`."""
    check_options(options)
    meta = meta_pieces(options)
    rules = rules_of(options), denormalizer_of(options)
    texts = in_places(normalized(sentences, options, meta, rules[0]))
    if not texts:
        raise CorpusError("the corpus is empty: no sentence is left to train on")
    counts = Counter[str]()
    for text, count in texts:
        counts[text] += count
    alphabet = alphabet_of(counts, options)
    room = check_size(alphabet, meta, options)
    texts = [(_within(text, alphabet), count) for text, count in texts]
    *_before, model = learn(
        list(followed(texts, options).items()),
        settings_of(options),
        lambda text: is_valid(text, options),
        None if options.split_by_whitespace else texts,
    )
    pieces = choose(model.pieces, alphabet, room + len(alphabet))
    return finish_pieces(Found(meta, alphabet, {}, room, rules), pieces, options)


def settings_of(options: SentencePieceOptions) -> UnigramSettings:
    """How its trainer learns."""
    return UnigramSettings(
        desired=int(options.vocab_size * 1.1),
        seed_size=options.seed_sentencepiece_size,
        longest=options.max_sentencepiece_length,
        shrinking_factor=single(options.shrinking_factor),
        sub_iterations=options.num_sub_iterations,
        lanes=options.num_threads,
        single=True,
        branching="bytes",
        settle=False,
        unknown="first",
    )


def in_places(sentences: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The sentences that hold something; the places of those that do not are filled from the back.

    >>> in_places([("a", 1), ("", 1), ("b", 2), ("c", 1), ("", 1)])
    [('a', 1), ('c', 1), ('b', 2)]
    """
    found, at = list(sentences), 0
    while at < len(found):
        if found[at][0]:
            at += 1
        else:
            found[at] = found[-1]
            found.pop()
    return found


def _within(text: str, alphabet: Mapping[str, int]) -> str:
    return "".join(character if character in alphabet else OUTSIDE for character in text)


def followed(sentences: Sequence[tuple[str, int]], options: SentencePieceOptions) -> Counter[Ended]:
    """Words with what follows them -> how often. A sentence that counts twice follows itself once.

    >>> for word, count in followed([("▁to▁be", 2), ("▁be", 1)], SentencePieceOptions()).items():
    ...     print(word, count)
    ('▁to', b'\\xe2') 2
    ('▁be', b'\\x00\\xe2') 2
    ('▁be', b'\\x00') 1
    """
    found = Counter[Ended]()
    nexts = [text.encode()[:1] for text, _count in sentences[1:]] + [b""]
    for (text, count), after in zip(sentences, nexts, strict=True):
        words = cut_words(text, options)
        for word, other in pairwise(words):
            found[word, other.encode()[:1]] += count
        if count > 1:
            found[words[-1], END + text.encode()[:1]] += count - 1
        found[words[-1], END + after] += 1
    return found


def choose(pieces: Sequence[Piece], alphabet: Mapping[str, int], room: int) -> list[Piece]:
    """The pieces of the vocabulary with their scores, the best first: the alphabet, then the best others.

    >>> choose([("ab", -1.0), ("b", -2.0), ("ba", -3.0)], {"a": 3, "b": 2}, 3)
    [('ab', -1.0), ('b', -2.0), ('a', -3.0)]
    """
    order = sorted(alphabet, key=lambda character: (-alphabet[character], character))
    found = with_alphabet(pieces, order, single)
    for text, score in sorted(pieces, key=_best_first):
        if len(found) >= room:
            break
        found.setdefault(text, score)
    return sorted(found.items(), key=_best_first)


def _best_first(piece: Piece) -> tuple[float, str]:
    return -piece[1], piece[0]
