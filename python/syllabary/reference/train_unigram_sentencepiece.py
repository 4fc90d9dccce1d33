"""A unigram model as sentencepiece 0.2.3 trains it: `like="sentencepiece"` with `model="unigram"`.

    sentences -> normalized, symbols cut out -> alphabet -> words -> seeds, EM and pruning -> pieces by id

Everything before seeds and behind the last round is that of its BPE trainer (`train_sentencepiece`). Its
trainer is deterministic: the words in the order of their counts are dealt out to `num_threads` threads
(16), each of which adds in 32 bits, and the sums of the threads are added in order. So another
`num_threads` is another model, by a few pieces; here, as there, it says nothing about threads at work.
Saved as a `.model`, the tokenizer is the file that sentencepiece writes.

Where it may differ: by rounding with `split_by_whitespace=False`, where sentences come in another order; in
seeds, where no space stands before sentences (`add_dummy_prefix=False`, `treat_whitespace_as_suffix`: what
ends a sentence is a seed there if the next ones begin with different bytes), and beyond 500 MB of text,
which it takes part by part.
Source: sentencepiece 0.2.3, `unigram_model_trainer.cc`. Leaves out: its sparse pruning, and seeds from a
file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
from syllabary.reference.train_unigram_seed import LAST, MIDDLE, Ended
from syllabary.spec import TokenizerSpec


def train(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> TokenizerSpec:
    """Learn a tokenizer from sentences; raises and warns as `train_sentencepiece.train`."""
    check_options(options)
    meta = meta_pieces(options)
    rules = rules_of(options), denormalizer_of(options)
    texts, order = Counter[str](), list[str]()
    for text, count in normalized(sentences, options, meta, rules[0]):
        texts[text] += count
        order.append(text)
    if not texts:
        raise CorpusError("the corpus is empty: no sentence is left to train on")
    alphabet = alphabet_of(texts, options)
    room = check_size(alphabet, meta, options)
    words = Counter[Ended]()
    for text, count in texts.items():
        for word in ended_words(_within(text, alphabet), options):
            words[word] += count
    ended = ended_words(_within(last_of(order), alphabet), options)
    *_before, model = learn(
        list(words.items()),
        settings_of(options),
        lambda text: is_valid(text, options),
        ended[-1][0] if ended else "",
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


def last_of(texts: Sequence[str]) -> str:
    """The text that comes last when those that are empty are gone: their places are filled from the back.

    With n texts that are not, it is the first of these from the n-th of all on.

    >>> last_of(["a", "", "b", "c"]), last_of(["a", "", "", "b", ""])
    ('b', 'b')
    """
    full = sum(map(bool, texts))
    return next(filter(None, texts[max(full - 1, 0) :]), "")


def _within(text: str, alphabet: Mapping[str, int]) -> str:
    return "".join(character if character in alphabet else OUTSIDE for character in text)


def ended_words(text: str, options: SentencePieceOptions) -> list[Ended]:
    """The words of a sentence, the last one marked.

    >>> ended_words("▁to▁be", SentencePieceOptions())
    [('▁to', 'middle'), ('▁be', 'last')]
    """
    words = cut_words(text, options)
    return [(word, MIDDLE) for word in words[:-1]] + [(word, LAST) for word in words[-1:]]


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
