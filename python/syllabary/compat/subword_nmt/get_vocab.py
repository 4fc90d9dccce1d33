"""subword-nmt's `get_vocab`: how often each token of a text occurs.

Leaves out: reading such files (`apply_bpe.read_vocabulary`, `syllabary.formats.subword_nmt_vocab`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from syllabary.compat.subword_nmt.learn_bpe import get_vocabulary
from syllabary.compat.subword_nmt.parsers import vocab_parser as create_parser
from syllabary.formats.subword_nmt_vocab import write_vocabulary

__all__ = ["create_parser", "get_vocab"]


def get_vocab(train_file: Iterable[str], vocab_file: IO[str]) -> None:
    """Write `token count`, the most frequent first, equals in the order of the text."""
    vocab_file.write(write_vocabulary(get_vocabulary(train_file)))
