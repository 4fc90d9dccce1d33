"""A tokenizer as plain frozen data: what formats read and write, and what both implementations run.

Adds no behaviour: `syllabary.reference` and the engine give these records their meaning.
Leaves out: how a tokenizer was found (`encodings`), stored (`formats`) or spoken to (`tokenizer`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Unit = Literal["byte", "char", "word", "id"]
Model = Literal["bpe", "wordpiece", "unigram", "wordlevel"]
TieBreak = Literal["smallest-ids", "first-seen", "largest-pair"]
ByteOrder = Literal["raw", "gpt2"]
Tables = Literal["tiktoken", "onig"]
Alphabet = Literal["all", "seen"]
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
Stage = Literal["text", "normalized", "frozen", "never"]
StepValue: TypeAlias = bool | int | float | str | bytes | tuple[str, ...] | None


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
class Step:
    """One step of normalizing, cutting or decoding: what it is called and its options.

    kind: as Hugging Face's `tokenizer.json` calls it (`"NFC"`, `"Metaspace"`, `"ByteFallback"`), or
        `"SentencePiece"` (sentencepiece's own normalizer and decoder) or `"Join"`. `reference/normalize.py`,
        `pretokenize.py` and `step_decoders.py` list them, with their options.
    options: all of them, none left to a default.
    """

    kind: str
    options: Mapping[str, StepValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Matching:
    """How a special or added token is found in text.

    stage: `"text"` before normalizing; `"normalized"` after it, and normalized itself (Hugging Face's
        `normalized`); `"frozen"` after it, spelled as it is, and the normalizer leaves it alone
        (sentencepiece's user-defined symbols); `"never"`: not in text at all (its control symbols).
    single_word: not where a letter, mark, digit or `_` (`\\w`) touches it.
    lstrip, rstrip: takes the whitespace on that side along.
    """

    stage: Stage = "text"
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


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

    What the fields above leave open, for tokenizers of other libraries:

    normalizer: rewrites text before anything but tokens of the stage `"text"` is cut out of it.
    pretokenizer: cuts (and may rewrite) the normalized text; `split` then cuts each part.
    decoder: makes text of the tokens' spellings; `None`: their bytes joined, `end_of_word` as a space.
    matching: how a special or added token is found, where that is not plainly in the text.
    scores: id -> score, with `merges=None`: any two neighbours whose joined bytes have a score merge, the
        highest score first, then leftmost (sentencepiece).
    unused: ids that may be merged through and are cut again into the two symbols they were last considered
        to be made of (sentencepiece's UNUSED pieces); with `model="unigram"` they are never made: of a name
        that stands twice in Hugging Face's list, the last id is the one that text becomes.
    unknown: id of a symbol that is not in the alphabet and has no fallback; `None`: it is an error.
    fuse_unknown: unknown symbols in a row become one token.
    byte_tokens: id -> the byte that it stands for, where other libraries spell it `<0x0A>`.
    continuing_prefix: a mark (`##`) in front of every symbol of a piece but the first.
    mark_apart: `end_of_word` is a symbol of its own, not a part of the last one (subword-nmt 0.1).
    dropout: probability of passing over a merge, when `encode` is not told another.
    trim_offsets: offsets leave out whitespace at the ends of a token (Hugging Face's ByteLevel).
    surface_offsets: of a character spelled with bytes, the last byte has its whole span, the others none
        (sentencepiece).
    model: how a piece becomes tokens. `"bpe"`: as said above. The others have `unit="char"`, no alphabet and
        no merges: `"wordpiece"` takes the longest token that the rest of the piece begins with, spelled with
        `continuing_prefix` but for the first; a piece without such a way is `unknown`. `"unigram"`: the
        tokens whose `scores`, logarithms of probabilities, have the largest sum. `"wordlevel"`: the piece is
        a token, or its bytes, or `unknown`; with `fuse_unknown` several such pieces of a text are one token.
    longest_piece: a piece of more characters is `unknown` without being looked at (`"wordpiece"` alone).
    single_precision: scores are added in 32 bits, as sentencepiece does, not in 64, as Hugging Face's library
        (`"unigram"` alone): of nearly equal ways, another may win.
    carried: format name -> what only that format holds and no id of text depends on (padding, templates,
        the options of another tool's training); plain JSON values.
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
    normalizer: tuple[Step, ...] = ()
    pretokenizer: tuple[Step, ...] = ()
    decoder: tuple[Step, ...] | None = None
    matching: Mapping[str, Matching] = field(default_factory=dict)
    scores: Mapping[int, float] | None = None
    unused: frozenset[int] = frozenset()
    unknown: int | None = None
    fuse_unknown: bool = False
    byte_tokens: Mapping[int, int] = field(default_factory=dict)
    continuing_prefix: str | None = None
    mark_apart: bool = False
    dropout: float = 0.0
    trim_offsets: bool = False
    surface_offsets: bool = False
    carried: Mapping[str, object] = field(default_factory=dict)
    model: Model = "bpe"
    longest_piece: int | None = None
    single_precision: bool = False


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
    normalize: the normal form that text is brought into, between special tokens; the tokenizer does it too.
    lines: no piece crosses a line feed: each line, with its end, is counted as a document of its own.
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
    normalize: Form | None = None
    lines: bool = False
