"""The options of sentencepiece's trainers, by its own names, and the pieces that they fix.

Adds `SentencePieceOptions`, the checks that sentencepiece makes before it reads a sentence, and the ids of
its meta pieces: the unknown piece, control and user-defined symbols, bytes.
Source: sentencepiece 0.2.3, `trainer_interface.cc` (`VerifySpec`, `InitMetaPieces`). Leaves out: options of
its log and of self-tests, which change no model; its sparse pruning; differential privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

from syllabary.errors import TrainingError
from syllabary.reference.symbols import byte_name, shown, utf8

SPACE = "\u2581"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # the types of pieces in its files


@dataclass(frozen=True, slots=True)
class SentencePieceOptions:
    """What sentencepiece is told (`spm_train --help` describes each), with its defaults.

    vocab_size: meta pieces, characters and merges. It is reached, or with `hard_vocab_limit` an error.
    input_format: `"tsv"` reads sentences as `sentence TAB count`; `""` and `"text"` as they are.
    max_sentence_length: in bytes; longer sentences are passed over.
    precompiled_charsmap: the compiled rules themselves, in place of those of `normalization_rule_name`.
    normalization_rule_tsv: a file of rules, in place of those of `normalization_rule_name`.
    denormalization_rule_tsv: a file of rules for decoding.
    auto_character_coverage: characters are chosen by the tokens that they save, not by `character_coverage`
        (BPE alone).
    num_threads: the lanes in which a unigram model is added up: another number is another rounding.
    seed_sentencepiece_size, shrinking_factor, num_sub_iterations: of a unigram model (`train_unigram`).
    use_all_vocab: all words, or all characters, whatever `vocab_size` says (`"word"` and `"char"` alone).
    model_type: `"bpe"`, `"unigram"`, `"word"` or `"char"`.
    """

    vocab_size: int = 8000
    input_format: str = ""
    character_coverage: float = 0.9995
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    max_sentence_length: int = 4192
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_whitespace: bool = True
    split_by_number: bool = True
    treat_whitespace_as_suffix: bool = False
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()
    vocabulary_output_piece_score: bool = True
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False
    byte_fallback: bool = False
    required_chars: str = ""
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    pretokenization_delimiter: str = ""
    auto_character_coverage: bool = False
    normalization_rule_name: str = "nmt_nfkc"
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    precompiled_charsmap: bytes | None = None
    normalization_rule_tsv: str = ""
    denormalization_rule_tsv: str = ""
    seed_sentencepiece_size: int = 1_000_000
    shrinking_factor: float = 0.75
    num_threads: int = 16
    num_sub_iterations: int = 2
    model_type: str = "bpe"


RANGES: dict[str, tuple[float, float]] = {
    "vocab_size": (1, 2**31 - 1),
    "character_coverage": (0.98, 1.0),
    "max_sentencepiece_length": (1, 512),
    "max_sentence_length": (10, 1 << 30),
    "input_sentence_size": (0, 2**64 - 1),
    "seed_sentencepiece_size": (1, 2**31 - 1),
    "shrinking_factor": (0.5, 0.95),
    "num_threads": (1, 1024),
    "num_sub_iterations": (1, 10),
}
LEARNED, COUNTED = ("bpe", "unigram"), ("word", "char")  # types of models
NAMES = ("unk_piece", "bos_piece", "eos_piece", "pad_piece")


def check_options(options: SentencePieceOptions) -> None:
    """Raise `TrainingError` for what sentencepiece refuses before it reads a sentence."""
    for name, (low, high) in RANGES.items():
        value = getattr(options, name)
        if not low <= value <= high:
            raise TrainingError(f"{name} is {value}: sentencepiece takes {low} to {high}")
    if 0 < options.input_sentence_size <= 100:
        raise TrainingError(
            f"input_sentence_size is {options.input_sentence_size}: give 0 for all, or over 100"
        )
    if options.input_format not in ("", "text", "tsv"):
        raise TrainingError(f'input_format is {options.input_format!r}: give "text" or "tsv"')
    symbols = (*options.control_symbols, *options.user_defined_symbols)
    for text in (*(str(getattr(options, name)) for name in NAMES), *symbols):
        utf8(text, "a symbol")
        if not text or "\0" in text:
            raise TrainingError(
                f"the symbol {shown(text)} is {'empty' if not text else 'of no use: it has a NUL'}"
            )
    utf8(options.required_chars, "required_chars")
    if bad := next((char for char in " \u2585" if char in options.required_chars), None):
        raise TrainingError(f"required_chars holds {bad!r}, which sentencepiece keeps for itself")
    _check_kind(options)
    if options.auto_character_coverage and (options.required_chars or not options.byte_fallback):
        raise TrainingError("auto_character_coverage needs byte_fallback=True, and no required_chars")


def _check_kind(options: SentencePieceOptions) -> None:
    """What does not go with the type of the model."""
    if options.model_type not in (*LEARNED, *COUNTED):
        raise TrainingError(
            f"model_type is {options.model_type!r}: give one of {', '.join((*LEARNED, *COUNTED))}"
        )
    if options.auto_character_coverage and options.model_type != "bpe":
        raise TrainingError("auto_character_coverage goes with BPE alone: leave it out")
    if options.use_all_vocab and options.model_type in LEARNED:
        raise TrainingError("use_all_vocab goes with words and characters alone: leave it out")
    if options.pretokenization_delimiter and options.model_type in COUNTED:
        raise TrainingError("pretokenization_delimiter goes with BPE and unigram models alone: leave it out")


Meta = dict[int, tuple[str, int]]  # id -> text and type


def meta_pieces(options: SentencePieceOptions) -> Meta:
    """The pieces that are there whatever the corpus is: id -> text and type.

    The four named ones take the ids they are given. Then control symbols, user-defined ones and bytes take
    the free ids from 0 on; one with the text of a named piece gives that piece its type. In a model of words
    a user-defined symbol is there with a space before it too.

    >>> meta_pieces(SentencePieceOptions(control_symbols=("<c>", "</s>"), user_defined_symbols=("<s>",)))
    {0: ('<unk>', 2), 1: ('<s>', 4), 2: ('</s>', 3), 3: ('<c>', 3)}
    """
    found = _named(options)
    named = {
        options.bos_piece: options.bos_id,
        options.eos_piece: options.eos_id,
        options.pad_piece: options.pad_id,
    }
    others = [(text, CONTROL) for text in options.control_symbols]
    for text in options.user_defined_symbols:
        others.append((text, USER_DEFINED))
        if options.model_type == "word" and not text.startswith(SPACE):
            others.append((SPACE + text, USER_DEFINED))
    if options.byte_fallback:
        others += [(byte_name(byte), BYTE) for byte in range(256)]
    seen = set[str]()
    free = 0
    for text, kind in others:
        if text in seen:
            raise TrainingError(f"the symbol {shown(text)} is given twice")
        if text == options.unk_piece:
            raise TrainingError(
                f"the symbol {shown(text)} is the unknown piece: it cannot be another one too"
            )
        seen.add(text)
        place = named.get(text, -1)
        if place < 0:
            while free in found:
                free += 1
            place = free
        found[place] = text, kind
    return found


def _named(options: SentencePieceOptions) -> Meta:
    """The unknown piece, beginning, end and padding, each unless its id is negative."""
    found: Meta = {}
    for name in ("unk", "bos", "eos", "pad"):
        token_id, text = int(getattr(options, f"{name}_id")), str(getattr(options, f"{name}_piece"))
        if token_id < 0:
            continue
        if token_id >= options.vocab_size or token_id in found:
            why = "taken" if token_id in found else f"outside of the vocabulary of {options.vocab_size}"
            raise TrainingError(f"{name}_id is {token_id}, which is {why}")
        if text in (other for other, _kind in found.values()):
            raise TrainingError(f"{name}_piece is {shown(text)}, as another piece is")
        found[token_id] = text, UNKNOWN if text == options.unk_piece else CONTROL
    if not options.byte_fallback and UNKNOWN not in (kind for _text, kind in found.values()):
        raise TrainingError(
            f"unk_id is {options.unk_id}: without a piece for the unknown, set byte_fallback=True"
        )
    return found
