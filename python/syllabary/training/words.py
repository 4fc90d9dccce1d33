"""`train(model="wordpiece")` and `train(model="wordlevel")`: the options of Hugging Face's trainers and ours.

Adds which options each has and what they are where not given. Components around the model and the way of
documents are those of `like="huggingface"`. Leaves out: reading options (`huggingface_options`), training
(`huggingface`), and what is learned (`reference.train_wordpiece`, `train_wordlevel`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from syllabary.errors import TrainingError
from syllabary.training.huggingface_options import LONGEST, Family, Setup, setup_of_call

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


def setup_of_words(model: str, like: str | None, arguments: Arguments) -> Setup:
    """The set-up of a call of `train`; ours has the unknown token in any case.

    arguments: those that are given, those that are the same for all tools, and `options`. Raises
    `TrainingError` for what the model does not take.
    """
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
