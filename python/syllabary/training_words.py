"""`train(model="wordpiece")` and `train(model="wordlevel")`: as Hugging Face's trainers, or our own way.

Adds which options each has and what they are where not given. Options, components around the model and the
way of documents are those of `like="huggingface"`. Leaves out: options (`training_huggingface_options`),
training (`training_huggingface`), and what is learned (`reference.train_wordpiece`, `train_wordlevel`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from syllabary.arguments import given_options
from syllabary.corpus.corpus import Corpus
from syllabary.errors import TrainingError
from syllabary.piece_table import PieceTable
from syllabary.tokenizer import Tokenizer
from syllabary.training_huggingface import check_cut, train_huggingface
from syllabary.training_huggingface_options import LONGEST, Family, Setup, setup_of_call

Arguments = tuple[dict[str, Any], dict[str, Any], Any]

BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
WORD_PIECES = {
    "normalizer": {**BERT, "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
}
WORDS = {"pre_tokenizer": {"type": "Whitespace"}, "decoder": None}
THEIRS: dict[str, Family] = {
    "wordpiece": Family(
        kind="WordPiece",
        tool="model='wordpiece'",
        trainer={
            "vocab_size": 30_000,
            "min_frequency": 0,
            "special_tokens": (),
            "limit_alphabet": None,
            "initial_alphabet": (),
            "continuing_subword_prefix": "##",
            "end_of_word_suffix": None,
        },
        model={"unk_token": "[UNK]", LONGEST: 100},
        components=WORD_PIECES,
    ),
    "wordlevel": Family(
        kind="WordLevel",
        tool="model='wordlevel'",
        trainer={"vocab_size": 30_000, "min_frequency": 0, "special_tokens": ()},
        model={"unk_token": "<unk>"},
        components=WORDS,
    ),
}
SIZES = {"vocab_size": 32_000, "min_frequency": 2}
OURS: dict[str, Family] = {
    "wordpiece": dataclasses.replace(
        THEIRS["wordpiece"],
        trainer={**THEIRS["wordpiece"].trainer, **SIZES},
        components={**WORD_PIECES, "normalizer": {**BERT, "lowercase": False}},
        likelihood=True,
    ),
    "wordlevel": dataclasses.replace(
        THEIRS["wordlevel"],
        trainer={**THEIRS["wordlevel"].trainer, **SIZES},
        model={"unk_token": "[UNK]"},
    ),
}


def words_trainer(
    model: str, like: str | None, source: Any, arguments: Arguments
) -> Callable[..., Tokenizer]:
    """What trains the model as a call of `train` says; it takes `threads` and `report`.

    arguments: those that are given, those that are the same for all tools, and `options`. Raises
    `TrainingError` for what the model does not take.
    """
    given, same, options = arguments
    options = given_options(options)
    setup = setup_of_words(model, like, (given, same, options))
    read = source if isinstance(source, (Corpus, PieceTable)) else Corpus(source)
    if isinstance(read, PieceTable):
        check_cut(setup, read.rules.split, read.rules.normalize)
    return partial(train_huggingface, read, setup)


def setup_of_words(model: str, like: str | None, arguments: Arguments) -> Setup:
    """The set-up of a call; ours has the unknown token in any case."""
    if like not in (None, "huggingface"):
        raise TrainingError(f"like={like!r} trains no model={model!r}: only like='huggingface' does")
    given, same, options = arguments
    if like is not None:
        return setup_of_call(given, same, options, THEIRS[model])
    setup = setup_of_call(given, same, options, OURS[model])
    unknown, special = str(setup.model["unk_token"]), setup.trainer.special_tokens
    if not unknown:
        raise TrainingError("unk_token is empty: give the text of the unknown token, as '[UNK]'")
    if unknown in special:
        return setup
    trainer = dataclasses.replace(setup.trainer, special_tokens=(unknown, *special))
    return dataclasses.replace(setup, trainer=trainer)
