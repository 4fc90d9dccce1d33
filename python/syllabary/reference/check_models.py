"""What a tokenizer whose model is not byte-pair encoding may not be: a part of `check`.

Adds `check_model`, called when all parts are of their types, and `check_weighs` and `check_drops`, for what
one model alone can do. Leaves out: what holds for every tokenizer (`check`, `check_foreign`), and what the
models do (`models`).
"""

from __future__ import annotations

from syllabary.errors import VocabularyError
from syllabary.reference.check_foreign import not_utf8
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec


def check_model(spec: TokenizerSpec) -> None:
    """Raise `VocabularyError` for fields that the model does not go with, or that it needs."""
    if spec.longest_piece is not None and (spec.model != "wordpiece" or spec.longest_piece < 0):
        raise VocabularyError(
            f"longest_piece is {shown(spec.longest_piece)}: give a number of characters, "
            '0 or more, with model="wordpiece", or None'
        )
    if spec.single_precision and spec.model != "unigram":
        raise VocabularyError(f"single_precision with model={spec.model!r}: only unigram adds scores")
    if spec.model == "bpe":
        return
    _check_absent(spec)
    if spec.model == "unigram" and spec.scores is None:
        raise VocabularyError('model="unigram" needs scores: the logarithm of the probability of each token')
    if spec.model != "unigram" and spec.scores is not None:
        raise VocabularyError(f"scores with model={spec.model!r}: only bpe and unigram have them")


def _check_absent(spec: TokenizerSpec) -> None:
    """What belongs to byte-pair encoding alone."""
    given = {
        "merges": spec.merges is not None,
        "alphabet": bool(spec.alphabet),
        "end_of_word": spec.end_of_word is not None,
        "mark_apart": spec.mark_apart,
        "whole_pieces": spec.whole_pieces,
        "dropout": bool(spec.dropout),
        "continuing_prefix": spec.continuing_prefix is not None and spec.model != "wordpiece",
    }
    for name, is_given in given.items():
        if is_given:
            raise VocabularyError(
                f"{name} with model={spec.model!r}: it has none; leave {name} at its default"
            )
    if spec.unit != "char":
        raise VocabularyError(f'model={spec.model!r} needs unit="char", not {spec.unit!r}')
    found = not_utf8(spec)
    if found is not None:
        token = shown(spec.tokens[found])
        raise VocabularyError(f"token {found} is {token}, no UTF-8: model={spec.model!r} is of text")


def check_weighs(spec: TokenizerSpec, name: str) -> None:
    """Raise `VocabularyError` if a tokenizer has one way to cut a text only."""
    if spec.model != "unigram":
        raise VocabularyError(
            f'{name} needs model="unigram", and this is {spec.model!r}: '
            "only scores make one way to cut a text more likely than another; merges have dropout="
        )


def check_drops(spec: TokenizerSpec, dropout: float) -> None:
    """Raise `VocabularyError` for dropout with a model that has no merges to pass over."""
    if dropout and spec.model != "bpe":
        way = "draw a way by its score with sample(alpha=)" if spec.model == "unigram" else "leave it out"
        raise VocabularyError(
            f"dropout={dropout} passes over merges, and model={spec.model!r} has none: {way}"
        )
