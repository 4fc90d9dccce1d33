"""The exceptions and warnings: each says what is wrong, where, and what to do.

Every one is a child of `SyllabaryError` and of the built-in that a caller would expect
(`ValueError`, `KeyError` or `OSError`), so code that knows nothing of syllabary can catch it.
`outside` finds the line that a warning is about, where it is given from deep within.
Leaves out: policy (which error is raised when) stands where it is raised.
"""

from __future__ import annotations

import contextlib
import os
import sys

WITHIN = (os.path.dirname(__file__) + os.sep, contextlib.__file__)  # context managers call between ours


class SyllabaryError(Exception):
    """Parent of all exceptions that syllabary raises on purpose."""


class PatternError(SyllabaryError, ValueError):
    """A split pattern that does not compile, matches the empty string, or fails on a text."""


class SplitError(SyllabaryError, ValueError):
    """A split name that does not exist."""


class TextError(SyllabaryError, ValueError):
    """Text that cannot be read as Unicode: a lone surrogate or invalid UTF-8, with its position."""


class CorpusError(SyllabaryError, ValueError):
    """A corpus that cannot be used: empty, of the wrong type, or a file with undecodable bytes."""


class TrainingError(SyllabaryError, ValueError):
    """Training options that contradict each other or the corpus (a vocabulary below the alphabet)."""


class VocabularyError(SyllabaryError, ValueError):
    """A vocabulary that cannot be: colliding tokens or ids, a merge of tokens that do not exist."""


class SpecialTokenError(SyllabaryError, ValueError):
    """Text that holds a special token which the caller has neither allowed nor declared plain text."""


class UnknownSymbolError(SyllabaryError, ValueError):
    """Text with a symbol (byte, character or word) outside the tokenizer's alphabet."""


class UnknownTokenError(SyllabaryError, KeyError):
    """A token or an id that the vocabulary does not hold."""

    def __str__(self) -> str:
        """The message itself: `KeyError` alone would print its repr."""
        return str(self.args[0]) if self.args else ""


class UnknownEncodingError(SyllabaryError, KeyError):
    """A name that is neither a file nor a published encoding, or one whose file is not on this machine."""

    def __str__(self) -> str:
        """The message itself: `KeyError` alone would print its repr."""
        return str(self.args[0]) if self.args else ""


class FormatError(SyllabaryError, ValueError):
    """A tokenizer file that is damaged or unknown, or a format that cannot hold this tokenizer."""


class ShardError(SyllabaryError, ValueError):
    """Shards that are damaged, incomplete, or of another tokenizer than the one given."""


class ChatError(SyllabaryError, ValueError):
    """A chat template that is wrong, unsafe or without end, or a conversation that it does not take."""


class ModelError(SyllabaryError, ValueError):
    """A language model that cannot be or go on (a loss that is no number), or does not fit its shards."""


class CheckpointError(SyllabaryError, ValueError):
    """A checkpoint that is cut short, foreign, or of another model or run."""


class CorpusWarning(UserWarning):
    """Something about a corpus that its user should know: mixed normal forms, a guessed encoding."""


class EarlyStopWarning(UserWarning):
    """Training ended below the size asked for because no pair was left to merge."""


class LossWarning(UserWarning):
    """Something that a tokenizer's file said beside its vocabulary, and that goes with a token of it."""


def outside() -> int:
    """The `stacklevel` with which `warnings.warn` names the nearest line that is not this package's.

    For warnings that are given at the end of reading or in a generator, however deep that is.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(WITHIN):
        level, frame = level + 1, frame.f_back
    return level
