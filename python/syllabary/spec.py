"""A tokenizer as plain frozen data: what formats read and write, and what both implementations run.

Adds no behaviour: `syllabary.reference` and the engine give these records their meaning.
Leaves out: how a tokenizer was found (`encodings`), stored (`formats`) or spoken to (`tokenizer`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["byte", "char", "word"]
TieBreak = Literal["smallest-ids", "first-seen", "largest-pair"]
ByteOrder = Literal["raw", "gpt2"]
Tables = Literal["tiktoken", "onig"]
Alphabet = Literal["all", "seen"]


@dataclass(frozen=True, slots=True)
class SplitSpec:
    """How text is cut into pieces before any merge.

    pattern: leftmost matches of it are the pieces; `None` is no split (each run is one piece).
    tables: whose Unicode tables its classes mean (`syllabary.unicode`).
    keep_unmatched: text between matches is a piece of its own; `False` drops it.
    name: the name it is known by, or `None` for a pattern of the user's.
    """

    pattern: str | None
    tables: Tables = "tiktoken"
    keep_unmatched: bool = True
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TokenizerSpec:
    """Everything that decides which ids a text gets.

    tokens: id -> bytes of every token that is not special; gaps in the ids are legal.
    alphabet: initial symbol -> id. A symbol is one byte (`unit="byte"`), the UTF-8 of one character
        (`"char"`; the last one of a piece followed by `end_of_word`, where that is set) or of one piece
        (`"word"`).
    merges: `(left id, right id, id of the result)` in rank order, or `None` for rank order by id: any two
        neighbours whose joined bytes are a token merge, lowest id first (tiktoken's rule).
    special_tokens: text -> id, matched in text only as the caller's `special=` policy says.
    added_tokens: text -> id, always matched (Hugging Face's added tokens that are not special).
    end_of_word: the mark that stands for the end of a piece, as `</w>`; decoded as a space.
    fallback: a symbol outside the alphabet is spelled with smaller ones: a piece by its characters, a
        character by its bytes. `False`: it is an error.
    whole_pieces: a piece that is itself a token becomes it at once (tiktoken; Hugging Face's
        `ignore_merges`).
    record: how it was trained; plain JSON values.
    """

    unit: Unit
    split: SplitSpec
    tokens: Mapping[int, bytes]
    alphabet: Mapping[bytes, int]
    merges: tuple[tuple[int, int, int], ...] | None
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    added_tokens: Mapping[str, int] = field(default_factory=dict)
    end_of_word: str | None = None
    fallback: bool = False
    whole_pieces: bool = False
    record: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """What training needs to know besides the text; one of `vocab_size` and `num_merges` is set.

    vocab_size: special tokens + alphabet + merges, at most.
    special_first: special tokens take the lowest ids (Hugging Face), else those after the merges.
    cut_special: special tokens in the text are boundaries and not counted (ours), else plain text.
    min_frequency: a pair seen less often is never merged (inclusive limit).
    max_token_length: longest token, in initial symbols (inclusive), or `None`.
    byte_order: ids of the byte alphabet: `"raw"` by value, `"gpt2"` by GPT-2's printable characters.
    alphabet: `"all"` 256 bytes, or only those `"seen"` (`unit="byte"` alone reads it).
    """

    split: SplitSpec
    unit: Unit = "byte"
    vocab_size: int | None = None
    num_merges: int | None = None
    special_tokens: tuple[str, ...] = ()
    special_first: bool = False
    cut_special: bool = True
    min_frequency: int = 2
    max_token_length: int | None = None
    tie_break: TieBreak = "smallest-ids"
    byte_order: ByteOrder = "raw"
    alphabet: Alphabet = "all"
    end_of_word: str | None = None
    fallback: bool = False
