"""sentencepiece's BPE trainer and ours, told the same: the files that they make.

Adds `check`, which lets both train and compares. Leaves out: what they are told (`test_train_sentencepiece`,
`test_train_sentencepiece_rules`).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from syllabary.errors import EarlyStopWarning, SyllabaryError
from syllabary.formats import sentencepiece_write
from syllabary.formats.sentencepiece_proto import parse
from syllabary.reference.train_sentencepiece import SentencePieceOptions, train
from syllabary.spec import TokenizerSpec

Sentences = Sequence[str | bytes]
DEFAULTS = SentencePieceOptions()


def theirs(sentences: Sentences, options: SentencePieceOptions) -> bytes:
    """The file that sentencepiece makes, told what is not its default; `ValueError` or `RuntimeError`."""
    given: dict[str, Any] = {"vocab_size": options.vocab_size}
    for name in SentencePieceOptions.__dataclass_fields__:
        if (value := getattr(options, name)) != getattr(DEFAULTS, name):
            given[name] = list(value) if isinstance(value, tuple) else value
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=out, model_type="bpe", minloglevel=3, **given
    )
    return out.getvalue()


def ours(sentences: Sentences, options: SentencePieceOptions) -> tuple[TokenizerSpec, bytes]:
    """Our tokenizer and its file; that it may stop early goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        spec = train(sentences, options)
    return spec, sentencepiece_write.write(spec)


def pieces(data: bytes) -> list[tuple[str, float, int]]:
    """Text, score and type of each piece of a file."""
    model = parse(data, Path("t.model"))
    return list(zip(model.texts, model.scores, model.types, strict=True))


def check(sentences: Sentences, options: SentencePieceOptions) -> bool:
    """Both make the same file, or both refuse; whether they made one."""
    try:
        expected = theirs(sentences, options)
    except (ValueError, RuntimeError):
        with pytest.raises(SyllabaryError):
            ours(sentences, options)
        return False
    _spec, data = ours(sentences, options)
    assert pieces(data) == pieces(expected)
    assert data == expected
    return True
