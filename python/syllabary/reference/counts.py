"""Tables of counts: all that counting leaves of a corpus, how two are added, and training from one.

A table is piece -> how often the split yields it in the text between special tokens (each run normalized
before, where that is asked for), in order of the pieces' bytes. So it is the same whatever the order of the
documents, and the table of two corpora is the sum of theirs. What needs the order of the text (`first-seen`
ties) or more than a piece at once (the unit "word") cannot be learned from it.
Leaves out: arrays and files (`syllabary.counts`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from syllabary.errors import CorpusError, TrainingError
from syllabary.reference.assemble import assemble, check_options
from syllabary.reference.train import merge_steps
from syllabary.reference.train_corpus import Corpus, corpus_of, read_sequences
from syllabary.spec import TokenizerSpec, TrainOptions

Table = dict[str, int]


def count_pieces(documents: Iterable[str], options: TrainOptions) -> Table:
    """The table of some documents: `options` tell the split, the special tokens and the normal form.

    >>> from syllabary.spec import SplitSpec
    >>> options = TrainOptions(SplitSpec(r"[a-z]+| "), special_tokens=("<s>",), num_merges=0)
    >>> count_pieces(["to be<s>", "be to be"], options)
    {' ': 3, 'be': 3, 'to': 2}
    """
    plain = dataclasses.replace(options, unit="byte", end_of_word=None)
    return add([{piece: count} for (piece,), count in read_sequences(documents, plain).items()])


def add(tables: Iterable[Mapping[str, int]]) -> Table:
    """The sum: of each piece all its counts; in order of bytes.

    >>> add([{"to": 2}, {"be": 1, "to": 1}])
    {'be': 1, 'to': 3}
    """
    total: Table = {}
    for table in tables:
        for piece, count in table.items():
            total[piece] = total.get(piece, 0) + count
    return dict(sorted(total.items(), key=lambda item: item[0].encode()))


def read_table(table: Mapping[str, int], options: TrainOptions) -> Corpus:
    """The corpus that training counts, made of a table; `TrainingError` for options that it cannot serve."""
    check_options(options)
    check_orderless(options)
    if not table:
        raise CorpusError("the table of counts is empty: it holds no piece")
    mark = options.end_of_word
    for piece in table:
        if mark is not None and mark in piece:
            raise TrainingError(f"piece {piece!r} holds the end_of_word mark {mark!r}: choose another mark")
    return corpus_of({(piece,): count for piece, count in table.items()}, options)


def check_orderless(options: TrainOptions) -> None:
    """`TrainingError` for what cannot be learned without the order of the text."""
    if options.unit not in ("byte", "char"):
        raise TrainingError(
            f'unit="{options.unit}" cannot be learned from a table of counts, which holds single pieces in '
            'no order: train on the text itself, or with unit="byte" or "char"'
        )
    if options.tie_break == "first-seen":
        raise TrainingError(
            'tie_break="first-seen" cannot be learned from a table of counts, which does not know what came '
            "first: train on the text itself, or break ties otherwise"
        )


def train(table: Mapping[str, int], options: TrainOptions) -> TokenizerSpec:
    """The tokenizer of a table: the one of any text that has these pieces."""
    corpus = read_table(table, options)
    merges = [step.pair for step, _places in merge_steps(corpus, options)]
    return assemble(options, corpus.alphabet, merges)
