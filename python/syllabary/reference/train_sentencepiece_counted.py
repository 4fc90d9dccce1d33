"""Models of words and of characters as sentencepiece 0.2.3 trains them: the most frequent ones.

    sentences -> normalized, symbols cut out -> alphabet -> words, or characters -> counted -> pieces by id

`like="sentencepiece"` with `model="word"` and `model="char"`. The score of a piece is the logarithm of its
count less that of all counts, in 32 bits; no id depends on it. Words are cut before spaces whatever the
options of other models say, and one with a character outside the alphabet counts, but is no piece.
`use_all_vocab` takes all, and all characters into the alphabet. Of characters fewer than `vocab_size` are no
error. Saved as a `.model`, the tokenizer is the file that sentencepiece writes, where the logarithm of 32
bits that it asks for is the nearest number: glibc's is since 2.41; before, of one count in 7000 it is not.
Source: sentencepiece 0.2.3, `word_model_trainer.cc`, `char_model_trainer.cc`. Leaves out: everything before
words (`train_sentencepiece_sentences`), and the finished tokenizer (`train_sentencepiece_model`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference.symbols import shown
from syllabary.reference.train_sentencepiece import Found, begun, finish_pieces
from syllabary.reference.train_sentencepiece_options import Meta, SentencePieceOptions
from syllabary.reference.train_sentencepiece_sentences import cut_words
from syllabary.reference.train_unigram_lattice import single
from syllabary.spec import TokenizerSpec

CUT = SentencePieceOptions()  # how words are cut


def train(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> TokenizerSpec:
    """Learn a tokenizer from sentences; raises and warns as `train_sentencepiece.train`."""
    meta, rules, texts, alphabet = begun(sentences, options)
    counts, total = alphabet, sum(alphabet.values())
    if options.model_type == "word":
        counts, total = words_of(texts, alphabet)
    return finish(Found(meta, alphabet, {}, 0, rules), list(counts.items()), total, options)


def words_of(texts: Mapping[str, int], alphabet: Mapping[str, int]) -> tuple[Counter[str], int]:
    """The words over the alphabet, and how often any word occurs.

    >>> words_of({"▁to▁be": 2, "▁to": 1}, {"▁": 3, "t": 3, "o": 3})
    (Counter({'▁to': 3}), 5)
    """
    found = Counter[str]()
    for text, count in texts.items():
        for word in cut_words(text, CUT) if text else ():
            found[word] += count
    total = found.total()
    return Counter({word: count for word, count in found.items() if alphabet.keys() >= set(word)}), total


def room_of(meta: Meta, options: SentencePieceOptions) -> int:
    """How many pieces there may be beside the meta pieces; `TrainingError` if these are too many."""
    if len(meta) > options.vocab_size:
        raise TrainingError(
            f"vocab_size is {options.vocab_size}, but there are {len(meta)} meta pieces: set it to "
            f"{len(meta)} or more"
        )
    return options.vocab_size - len(meta)


def finish(
    corpus: Found,
    counts: Sequence[tuple[str, int]],
    total: int,
    options: SentencePieceOptions,
    stacklevel: int = 2,
) -> TokenizerSpec:
    """The tokenizer of pieces with their counts, in any order. total: how often any piece occurs."""
    room = room_of(corpus.meta, options)
    if not total:
        raise CorpusError(f"the corpus is empty: no {options.model_type} is left to count")
    best = sorted(counts, key=lambda piece: (-piece[1], piece[0]))
    best = best if options.use_all_vocab else best[:room]
    never = next((text for text, count in best if not count), None)
    if never is not None:
        raise TrainingError(
            f"required_chars holds {shown(never)}, which does not occur: it would have no score, as the "
            "logarithm of 0 is no number"
        )
    taken = {text for text, _kind in corpus.meta.values()}
    if clash := next((text for text, _count in best if text in taken), None):
        raise TrainingError(f"the symbol {shown(clash)} is a piece of the text too")
    scored = [(text, score(count, total)) for text, count in best]
    if options.use_all_vocab:
        options = replace(options, vocab_size=len(best) + len(corpus.meta))
    return finish_pieces(corpus, scored, options, stacklevel + 1)


def score(count: int, total: int) -> float:
    """The logarithm of a share, each step in 32 bits.

    >>> round(score(1, 4), 6)
    -1.386294
    """
    return single(_log(count) - _log(total))


def _log(count: int) -> float:
    return single(math.log(single(count)))
