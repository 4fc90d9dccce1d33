"""sentencepiece's models (`.model`), read as they are: a ModelProto in protocol buffers.

BPE: a pair of neighbours merges where its text is a piece, the highest score first. Unigram: the pieces with
the highest sum of scores; user-defined ones have a score of their own. Characters: BPE in which nothing
merges, as no piece of several characters has a score. Words: each `▁` with what follows it, and what stands
before the first, is a piece (`wordlevel`), a user-defined one too. Control and unknown pieces are special
tokens that no text matches; user-defined ones are added tokens that the normalizer leaves alone; byte pieces
spell what no piece does. Whatever else the file says is carried along, so that an unchanged tokenizer is
written byte for byte. The rules are those of sentencepiece 0.2.3 (bpe_model.cc, char_model.cc,
word_model.cc, model_interface.cc, normalizer.cc); the self-test, which it no longer runs, is run here.
Leaves out: the wire format (`sentencepiece_proto`), writing (`sentencepiece_write`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, count
from pathlib import Path
from typing import TYPE_CHECKING

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.loss import Loss
from syllabary.formats.record import Facts, Format, Hints, cannot_hold, checked
from syllabary.formats.sentencepiece_carried import NAME, to_carried
from syllabary.formats.sentencepiece_charsmap import charsmap_fault
from syllabary.formats.sentencepiece_proto import (
    BPE,
    BYTE,
    BYTE_FALLBACK,
    CHAR,
    CHARSMAP,
    CONTROL,
    DENORMALIZER,
    DUMMY_PREFIX,
    ESCAPE,
    EXTRA_SPACES,
    MODEL_TYPE,
    NORMAL,
    NORMALIZER,
    SUFFIX,
    TRAINER,
    UNIGRAM,
    UNK_SURFACE,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WORD,
    Model,
    parse,
)
from syllabary.formats.sentencepiece_selftest import check_samples
from syllabary.formats.signs import SIGNS
from syllabary.on_demand import later
from syllabary.reference.symbols import byte_name, shown
from syllabary.reference.wordlevel import WORDS
from syllabary.spec import Matching, SplitSpec, Step, StepValue, TokenizerSpec
from syllabary.spec import Model as Model_

if TYPE_CHECKING:
    from syllabary.formats import sentencepiece_reduce, sentencepiece_write
else:
    later(
        globals(),
        sentencepiece_reduce="syllabary.formats.sentencepiece_reduce",
        sentencepiece_write="syllabary.formats.sentencepiece_write",
    )

MODELS: dict[int, Model_] = {UNIGRAM: "unigram", BPE: "bpe", WORD: "wordlevel", CHAR: "bpe"}
BYTE_NAMES = frozenset(byte_name(byte) for byte in range(256))


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a model.

    Raises `FormatError`, with the byte offset where there is one, for a file that is damaged, a model of
    another type, pieces that sentencepiece would not take, and a self-test sample that comes out otherwise.
    """
    hints.refuse(path, NAME)
    model = parse(read_bounded(path), path)
    return checked(check_samples(to_spec(model, path), model, path), path)


def to_spec(model: Model, path: Path) -> TokenizerSpec:
    """The tokenizer that a model means; `FormatError` for one that sentencepiece would not take."""
    trainer = model.options(TRAINER)
    kind = trainer.number(MODEL_TYPE)
    if kind not in MODELS:
        raise FormatError(f"{path}: a model of the type {kind}, which sentencepiece does not know")
    fallback = bool(trainer.number(BYTE_FALLBACK))
    kinds = _checked_types(model, fallback, path)
    by_kind = {one: [*compress(count(), map(one.__eq__, kinds))] for one in range(NORMAL, BYTE + 1)}
    byte_tokens = {token_id: int(model.texts[token_id][3:5], 16) for token_id in by_kind[BYTE]}
    plain = sorted(by_kind[NORMAL] + by_kind[UNUSED])
    texts = model.texts
    alphabet = _alphabet(texts, by_kind[NORMAL], byte_tokens) if MODELS[kind] == "bpe" else {}
    scores = {} if kind == WORD else dict(zip(plain, map(model.scores.__getitem__, plain), strict=True))
    if kind == CHAR:
        scores = {token_id: score for token_id, score in scores.items() if len(texts[token_id]) == 1}
    special = sorted(by_kind[UNKNOWN] + by_kind[CONTROL])
    added = by_kind[USER_DEFINED]
    matching = {texts[token_id]: Matching(stage="never") for token_id in special}
    matching |= {texts[token_id]: Matching(stage="frozen") for token_id in added}
    tokens = dict(zip(plain, map(str.encode, map(texts.__getitem__, plain)), strict=True))
    if kind == WORD:  # an unused word is unknown
        added = sorted(added + by_kind[UNUSED])
        matching |= {texts[token_id]: Matching(stage="never") for token_id in by_kind[UNUSED]}
        tokens = {token_id: texts[token_id].encode() for token_id in by_kind[NORMAL]}
    tokens |= {token_id: bytes([byte]) for token_id, byte in byte_tokens.items()}
    normalizer, decoder = _steps(model, path)
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(WORDS if kind == WORD else None),
        tokens=dict(sorted(tokens.items())),
        alphabet=alphabet,
        merges=None,
        special_tokens={texts[token_id]: token_id for token_id in special},
        added_tokens={texts[token_id]: token_id for token_id in added},
        fallback=fallback,
        normalizer=(normalizer,),
        decoder=(decoder,),
        matching=matching,
        scores=None if kind == WORD else scores,
        unused=frozenset(scores.keys() & by_kind[UNUSED]),
        unknown=by_kind[UNKNOWN][0] if by_kind[UNKNOWN] else None,
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        surface_offsets=True,
        carried={NAME: to_carried(model, [token_id for token_id in plain if token_id not in scores])},
        model=MODELS[kind],
        single_precision=kind == UNIGRAM,
    )


def _alphabet(
    texts: Sequence[str], normal: Sequence[int], byte_tokens: Mapping[int, int]
) -> dict[bytes, int]:
    """The bytes, and the plain pieces of one character."""
    found = {bytes([byte]): token_id for token_id, byte in byte_tokens.items()}
    return found | {texts[token_id].encode(): token_id for token_id in normal if len(texts[token_id]) == 1}


def _checked_types(model: Model, fallback: bool, path: Path) -> list[int]:
    """The types of the pieces, if they fit together; with byte fallback a NUL piece is an unused one.

    The checks are model_interface.cc's `InitializePieces`.
    """
    kinds, names = list(model.types), {*model.texts}
    spelled = {text for text, kind in zip(model.texts, kinds, strict=True) if kind == BYTE}
    known = BYTE_NAMES if fallback else frozenset()
    if len(names) < len(kinds) or "\0" in "".join(names) or not spelled <= known:
        _check_each(model, kinds, fallback, path)
    bytes_found = kinds.count(BYTE)
    if fallback and bytes_found != 256:
        raise FormatError(
            f"{path}: byte_fallback is on, but {256 - bytes_found} of 256 byte pieces are missing"
        )
    unknown = kinds.count(UNKNOWN)
    if unknown > 1 or (unknown == 0 and not fallback):
        raise FormatError(f"{path}: {unknown or 'no'} pieces are of the type UNKNOWN, and one should be")
    return kinds


def _check_each(model: Model, kinds: list[int], fallback: bool, path: Path) -> None:
    """The same piece by piece: `FormatError` for the first that is wrong, and in `kinds` those of NULs."""
    first = dict[str, int]()
    for token_id, text in enumerate(model.texts):
        why = None
        if text == "\0" and (fallback or kinds[token_id] == UNUSED):
            kinds[token_id] = UNUSED
        elif "\0" in text:
            why = "holds a NUL, which sentencepiece refuses"
        elif text in first:
            why = f"is piece {first[text]} already"
        elif kinds[token_id] == BYTE and not (fallback and text in BYTE_NAMES):
            why = "is no byte <0x00> to <0xFF>" if fallback else "is a byte, but byte_fallback is off"
        if why is not None:
            raise FormatError(
                f"{path}: byte {model.starts[token_id]}: piece {token_id}, {shown(text)}, {why}"
            )
        first[text] = token_id


def _steps(model: Model, path: Path) -> tuple[Step, Step]:
    """The steps of normalizing and decoding."""
    trainer, forward = model.options(TRAINER), model.options(NORMALIZER)
    backward = model.options(DENORMALIZER)
    for name, options in (("normalizer_spec", forward), ("denormalizer_spec", backward)):
        if fault := charsmap_fault(options.data(CHARSMAP)):
            raise FormatError(f"{path}: {name}: {fault}")
    if backward.data(CHARSMAP) and (
        backward.number(DUMMY_PREFIX) or backward.number(EXTRA_SPACES) or backward.number(ESCAPE)
    ):
        raise FormatError(
            f"{path}: denormalizer_spec adds, removes or escapes whitespace, which cannot be honoured: "
            "set add_dummy_prefix, remove_extra_whitespaces and escape_whitespaces of it to false"
        )
    shared: dict[str, StepValue] = {
        "add_dummy_prefix": bool(forward.number(DUMMY_PREFIX)),
        "remove_extra_whitespaces": bool(forward.number(EXTRA_SPACES)),
        "treat_whitespace_as_suffix": bool(trainer.number(SUFFIX)),
    }
    try:
        unknown_surface = trainer.data(UNK_SURFACE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: unk_surface {shown(trainer.data(UNK_SURFACE))} is not UTF-8") from error
    escape: dict[str, StepValue] = {"escape_whitespaces": bool(forward.number(ESCAPE))}
    normalizer = Step("SentencePiece", {"precompiled_charsmap": forward.data(CHARSMAP), **shared, **escape})
    surfaces: dict[str, StepValue] = {
        "unknown_surface": unknown_surface,
        "denormalizer_charsmap": backward.data(CHARSMAP),
    }
    return normalizer, Step("SentencePiece", {**shared, **surfaces})


def write(spec: TokenizerSpec) -> bytes:
    """The model of a tokenizer (`sentencepiece_write`)."""
    return sentencepiece_write.write(spec)


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The nearest tokenizer that a model can hold, and what was lost (`sentencepiece_reduce`)."""
    return sentencepiece_reduce.reduce(spec)


def refuses(facts: Facts) -> FormatError | None:
    """The error for other symbols than characters, and for marks at the end of words."""
    if facts.unit != "char":
        return cannot_hold(NAME, f"tokens of the unit {facts.unit!r}, only characters")
    if facts.end_of_word is not None:
        return cannot_hold(NAME, f"the end-of-word mark {facts.end_of_word!r}: it has ▁ before words")
    return None


FORMAT = Format(
    SIGNS[NAME],
    read,
    write,
    refuses,
    reduce=reduce,
    models=("bpe", "unigram", "wordlevel"),
)
