"""Tools whose trainers have options of their own: which one a call of `train` means, and what it gives it.

Leaves out: the options (`training_huggingface_options`, `training_sentencepiece`), and tools whose training
`TrainOptions` say (`training`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from syllabary.arguments import given_options
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training_huggingface import check_cut, train_huggingface
from syllabary.training_huggingface_options import Setup, setup_of_call
from syllabary.training_sentencepiece import options_of_call, told_of, train_sentencepiece
from syllabary.training_unigram import unigram_trainer
from syllabary.training_words import words_trainer

HUGGINGFACE = "huggingface"
SENTENCEPIECE = "sentencepiece"

Own = SentencePieceOptions | Setup
Arguments = tuple[dict[str, Any], dict[str, Any], Any]


def counted_trainer(
    model: str, like: str | None, source: Any, arguments: Arguments
) -> Callable[..., Tokenizer]:
    """What trains sentencepiece's models of words and of characters; no other tool has them."""
    if like != SENTENCEPIECE:
        raise TrainingError(
            f"model={model!r} is sentencepiece's: give like={SENTENCEPIECE!r} too, or model='wordlevel' for "
            "words of our own"
        )
    own = _sentencepiece_options(source, *arguments, model)
    told = told_of(arguments[1], arguments[2] or {})
    corpus = source if isinstance(source, Corpus) else Corpus(source)
    return partial(train_sentencepiece, corpus, own, told=told)


# model -> what makes of (model, like, source, arguments) what trains it; that takes `threads` and `report`
MODELS: dict[str, Callable[[str, str | None, Any, Arguments], Callable[..., Tokenizer]]] = {
    "wordpiece": words_trainer,
    "wordlevel": words_trainer,
    "unigram": unigram_trainer,
    "word": counted_trainer,
    "char": counted_trainer,
}
BOUNDS = ("memory_limit", "checkpoint")


def own_trainer(
    like: str | None,
    source: Any,
    arguments: Arguments,
    refused: Mapping[str, object],
    model: str = "bpe",
) -> Callable[..., Tokenizer] | None:
    """What trains as a tool that has its own options; it takes `threads` and `report`. `None` where
    `TrainOptions` say it all.

    arguments: of `train`, those that are given, those that are the same for all, and `options`. refused: by
    name, arguments that few tools take: for the others they must be None. Raises `TrainingError` for what
    the tool does not take. The early-stop warning points at the caller's caller.
    """
    bounds: dict[str, Any] = {name: refused[name] for name in BOUNDS}
    if model != "bpe":
        if not isinstance(model, str):
            raise TypeError(f"model is {model!r}: give str")
        if model not in MODELS:
            raise TrainingError(f"model={model!r} is none of {', '.join(('bpe', *MODELS))}")
        _refuse(refused, f"model={model!r}")
        return partial(MODELS[model](model, like, source, arguments), **bounds)
    own = _own_options(like, source, *arguments)
    if own is None:
        return None
    tool = f"{HUGGINGFACE!r} and options" if isinstance(own, Setup) else repr(SENTENCEPIECE)
    _refuse(refused, f"like={tool}")
    if not isinstance(source, (Corpus, PieceTable)):
        source = Corpus(source)
    if not isinstance(own, Setup):
        told = told_of(arguments[1], arguments[2] or {})
        return partial(train_sentencepiece, source, own, told=told, **bounds)
    if isinstance(source, PieceTable):
        check_cut(own, source.rules.split, source.rules.normalize)
    return partial(train_huggingface, source, own, **bounds)


def _refuse(refused: Mapping[str, object], tool: str) -> None:
    for name, value in refused.items():
        if name not in BOUNDS and value is not None:
            raise TrainingError(f"{name} does not go with {tool}: leave it out")


def _own_options(
    like: str | None, source: object, given: dict[str, Any], same: dict[str, Any], options: Any
) -> Own | None:
    if like == SENTENCEPIECE:
        return _sentencepiece_options(source, given, same, options)
    by_name = given_options(options)
    if options is None:
        return None
    if like == HUGGINGFACE:
        return setup_of_call(given, same, by_name)
    raise TrainingError(
        f"options are a tool's own, and go with like={SENTENCEPIECE!r} or like={HUGGINGFACE!r} alone, or "
        "with model='wordpiece' or 'wordlevel'"
    )


def _sentencepiece_options(
    source: object, given: dict[str, Any], same: dict[str, Any], options: Any, model: str = "bpe"
) -> SentencePieceOptions:
    by_name = given_options(options)
    if isinstance(source, PieceTable):
        raise TrainingError(f"like={SENTENCEPIECE!r} counts sentences, which a table of pieces does not hold")
    return options_of_call(given, same, by_name, model)
