"""Training as sentencepiece 0.2.3 does it, `like="sentencepiece"`: the same pieces, order, scores and file.

    sentences -> normalized, symbols cut out -> alphabet -> words -> pairs joined -> pieces by id -> tokenizer

Adds `train`, and `train_steps` with each piece as it is learned. Leaves out, one a file: the options
(`train_sentencepiece_options`), normalization rules (`…_rules`, `…_nfkc`, `…_darts`), normalizing
(`…_normalize`), sentences, alphabet and words (`…_sentences`), which texts may be pieces (`…_valid`,
`…_scripts`), the merge loop (`…_merge`), choosing characters by what they save (`…_coverage`), the finished
tokenizer (`…_model`), and models of words or characters (`…_counted`; `train_unigram_sentencepiece`).

Where sentencepiece is not deterministic: only in the sample that `input_sentence_size` draws
(`…_sentences` says what is drawn here). Threads and the order of sentences change nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from syllabary.errors import EarlyStopWarning
from syllabary.reference.train_sentencepiece_coverage import choose
from syllabary.reference.train_sentencepiece_merge import Learned, Merging, merge_steps
from syllabary.reference.train_sentencepiece_model import arrange, spec_of
from syllabary.reference.train_sentencepiece_options import (
    Meta,
    SentencePieceOptions,
    check_options,
    meta_pieces,
)
from syllabary.reference.train_sentencepiece_rules import denormalizer_of, rules_of
from syllabary.reference.train_sentencepiece_sentences import (
    alphabet_of,
    check_size,
    read_sentences,
    read_words,
)
from syllabary.reference.train_sentencepiece_valid import is_valid
from syllabary.spec import TokenizerSpec

__all__ = ["SentencePieceOptions", "train", "train_steps"]


@dataclass(frozen=True, slots=True)
class Found:
    """What is known before the first merge.

    meta: the pieces that are there anyway. alphabet: characters -> counts (`{}` with
    `auto_character_coverage`). words: -> counts. room: how many pieces may be learned. rules: compiled.
    """

    meta: Meta
    alphabet: dict[str, int]
    words: dict[str, int]
    room: int
    rules: tuple[bytes, bytes]


def begun(
    sentences: Iterable[str | bytes], options: SentencePieceOptions
) -> tuple[Meta, tuple[bytes, bytes], dict[str, int], dict[str, int]]:
    """Meta pieces, rules, sentences -> counts, and the alphabet -> counts; raises what `train` does."""
    check_options(options)
    meta = meta_pieces(options)
    rules = rules_of(options), denormalizer_of(options)
    found = read_sentences(sentences, options, meta, rules[0])
    return meta, rules, found, alphabet_of(found, options)


def read_corpus(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> Found:
    """Everything before the first merge; raises what `train` does."""
    meta, rules, found, alphabet = begun(sentences, options)
    return Found(meta, alphabet, read_words(found, options), check_size(alphabet, meta, options), rules)


def learn(corpus: Found, options: SentencePieceOptions) -> Iterator[Learned]:
    """The pieces as they are learned, as many as there is room for."""
    alphabet = corpus.alphabet
    if options.auto_character_coverage:
        alphabet = dict.fromkeys(sorted(set().union(*corpus.words)), 0)
    state = Merging(corpus.words.items(), alphabet, lambda text: is_valid(text, options))
    return islice(merge_steps(state), corpus.room)


def train_steps(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> Iterator[Learned]:
    """Each piece as it is learned.

    >>> options = SentencePieceOptions(vocab_size=10, normalization_rule_name="identity")
    >>> [(step.left, step.right, step.count) for step in train_steps(["aba ab", "ba"], options)]
    [('a', 'b', 2), ('▁', 'ab', 2), ('b', 'a', 1), ('▁', 'ba', 1)]
    """
    return learn(read_corpus(sentences, options), options)


def train(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> TokenizerSpec:
    """Learn a tokenizer from sentences; `bytes` are UTF-8 in which undecodable bytes are U+FFFD, one each.

    Saved as a `.model`, it is the file that sentencepiece writes. Raises `TrainingError` for options that
    sentencepiece refuses or that this text cannot fulfil, `CorpusError` for a corpus that is empty or of
    another type, `TextError` for a lone surrogate. Warns `EarlyStopWarning` if `hard_vocab_limit` is off and
    fewer than `vocab_size` pieces are found.
    """
    corpus = read_corpus(sentences, options)
    return finish(corpus, list(learn(corpus, options)), options)


def finish(
    corpus: Found, learned: Sequence[Learned], options: SentencePieceOptions, stacklevel: int = 2
) -> TokenizerSpec:
    """The tokenizer of what was learned; of `corpus.words` only the counts of characters matter."""
    if options.auto_character_coverage:
        texts = choose(learned, corpus.words, corpus.room)
    else:
        texts = [step.text for step in learned]
    return finish_texts(corpus, texts, options, stacklevel + 1)


def finish_texts(
    corpus: Found, learned: Sequence[str], options: SentencePieceOptions, stacklevel: int = 2
) -> TokenizerSpec:
    """The same of texts, which with `auto_character_coverage` were chosen already."""
    order = sorted(corpus.alphabet, key=lambda character: (-corpus.alphabet[character], character))
    scored = [(text, -float(place)) for place, text in enumerate([*learned, *order])]
    return finish_pieces(corpus, scored, options, stacklevel + 1)


def finish_pieces(
    corpus: Found, scored: Sequence[tuple[str, float]], options: SentencePieceOptions, stacklevel: int = 2
) -> TokenizerSpec:
    """The same of all pieces that are no meta pieces, in order, with their scores."""
    pieces = arrange(scored, corpus.meta, options)
    what = "pair" if options.model_type == "bpe" else "piece"
    if len(pieces) < options.vocab_size and options.model_type != "char":
        warnings.warn(
            f"no {what} is left: training ended with a vocabulary of {len(pieces)}, not "
            f"{options.vocab_size}; give more text or ask for less",
            EarlyStopWarning,
            stacklevel=stacklevel + 1,
        )
    return spec_of(pieces, options, corpus.rules)
