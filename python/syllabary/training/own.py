"""Tools and models whose trainers have options of their own: which one a call of `train` means.

Leaves out: the options (`huggingface_options`, `sentencepiece`, `words`, `unigram`), and tools whose training
`TrainOptions` say (`call`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from syllabary.arguments import given_options
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.tokenizer import Tokenizer
from syllabary.training.huggingface import check_cut, train_huggingface
from syllabary.training.huggingface_options import UNIGRAM, Setup, setup_of_call
from syllabary.training.sentencepiece import options_of_call, told_of, train_sentencepiece
from syllabary.training.unigram import options_of_unigram, train_unigram
from syllabary.training.words import setup_of_words

HUGGINGFACE = "huggingface"
SENTENCEPIECE = "sentencepiece"

# Of a call of `train`: arguments that a tool may have a default for, those that are the same for all tools,
# and `options`.
Arguments = tuple[dict[str, Any], dict[str, Any], Any]
# What trains; it takes `threads`, `report` and `BOUNDS`.
Trains = Callable[..., Tokenizer]
BOUNDS = ("memory_limit", "checkpoint")


def own_trainer(
    like: str | None,
    source: Any,
    arguments: Arguments,
    refused: Mapping[str, object],
    model: str = "bpe",
) -> Trains | None:
    """What trains as a tool that has its own options; it takes `threads` and `report`. `None` where
    `TrainOptions` say it all.

    refused: by name, arguments that few tools take: for the others they must be None. Raises
    `TrainingError` for what the tool does not take. The early-stop warning points at the caller's caller.
    """
    if model != "bpe":
        if not isinstance(model, str):
            raise TypeError(f"model is {model!r}: give str")
        if model not in MODELS:
            raise TrainingError(f"model={model!r} is none of {', '.join(('bpe', *MODELS))}")
        _refuse(refused, f"model={model!r}")
        trains = MODELS[model](model, like, source, arguments)
    elif like == SENTENCEPIECE:
        _refuse(refused, f"like={SENTENCEPIECE!r}")
        trains = _sentencepiece(model, source, arguments)
    else:
        given, same, options = arguments
        by_name = given_options(options)
        if options is None:
            return None
        if like != HUGGINGFACE:
            raise TrainingError(
                f"options are a tool's own, and go with like={SENTENCEPIECE!r} or like={HUGGINGFACE!r} "
                "alone, or with model='wordpiece' or 'wordlevel'"
            )
        _refuse(refused, f"like={HUGGINGFACE!r} and options")
        trains = _huggingface(source, setup_of_call(given, same, by_name))
    return partial(trains, **{name: refused[name] for name in BOUNDS})


def _refuse(refused: Mapping[str, object], tool: str) -> None:
    for name, value in refused.items():
        if name not in BOUNDS and value is not None:
            raise TrainingError(f"{name} does not go with {tool}: leave it out")


def _sentencepiece(model: str, source: Any, arguments: Arguments) -> Trains:
    """Any model as sentencepiece trains it."""
    given, same, options = arguments
    by_name = given_options(options)
    if isinstance(source, PieceTable):
        raise TrainingError(f"like={SENTENCEPIECE!r} counts sentences, which a table of pieces does not hold")
    own = options_of_call(given, same, by_name, model)
    return partial(train_sentencepiece, _read(source), own, told=told_of(same, by_name))


def _huggingface(source: Any, setup: Setup) -> Trains:
    """Any model as Hugging Face's library trains it; a table must be cut as the set-up cuts."""
    read = _read(source)
    if isinstance(read, PieceTable):
        check_cut(setup, read.rules.split, read.rules.normalize)
    return partial(train_huggingface, read, setup)


def _read(source: Any) -> Any:
    """A `Corpus` or a table of counts."""
    return source if isinstance(source, (Corpus, PieceTable)) else Corpus(source)


# ---- models other than "bpe" ----


def _words(model: str, like: str | None, source: Any, arguments: Arguments) -> Trains:
    """WordPiece and WordLevel."""
    given, same, options = arguments
    return _huggingface(source, setup_of_words(model, like, (given, same, given_options(options))))


def _unigram(model: str, like: str | None, source: Any, arguments: Arguments) -> Trains:
    """Of sentencepiece, of Hugging Face, and our own."""
    given, same, options = arguments
    by_name = given_options(options)
    if like == SENTENCEPIECE:
        return _sentencepiece(model, source, arguments)
    if like == HUGGINGFACE:
        return _huggingface(source, setup_of_call(given, same, by_name, UNIGRAM))
    if like is not None:
        raise TrainingError(
            f"like={like!r} trains no model={model!r}: only like='sentencepiece' and like='huggingface' do"
        )
    if by_name:
        raise TrainingError(
            "options are a tool's own, and go with like='sentencepiece' or like='huggingface' alone"
        )
    made = options_of_unigram(source, given, same)
    return partial(train_unigram, _read(source), made)


def _counted(model: str, like: str | None, source: Any, arguments: Arguments) -> Trains:
    """sentencepiece's models of words and of characters; no other tool has them."""
    if like != SENTENCEPIECE:
        raise TrainingError(
            f"model={model!r} is sentencepiece's: give like={SENTENCEPIECE!r} too, or model='wordlevel' for "
            "words of our own"
        )
    return _sentencepiece(model, source, arguments)


MODELS: dict[str, Callable[[str, str | None, Any, Arguments], Trains]] = {
    "wordpiece": _words,
    "wordlevel": _words,
    "unigram": _unigram,
    "word": _counted,
    "char": _counted,
}
