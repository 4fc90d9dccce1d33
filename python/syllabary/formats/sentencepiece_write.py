"""Writing sentencepiece's models.

Adds `write`: an unchanged tokenizer becomes the very file that it was read from; one of other origin becomes
a model that sentencepiece encodes with as we do, or is refused by name. Leaves out: what can be lost on the
way (`sentencepiece_reduce`), scores for a list of merges (`sentencepiece_scores`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from syllabary.errors import FormatError
from syllabary.formats.hidden import refuse_hidden
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_carried import NAME, from_carried, idle_of
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
    FLOAT,
    MAX_PIECE,
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
    VOCAB_SIZE,
    WORD,
    Model,
)
from syllabary.formats.sentencepiece_reduce import KIND, NEVER, first_loss, refuse_bytes, rewritten
from syllabary.formats.sentencepiece_scores import scores_of
from syllabary.reference.check import check_spec
from syllabary.reference.symbols import byte_name, shown
from syllabary.reference.wordlevel import WORDS
from syllabary.spec import StepValue, TokenizerSpec

UNK_ID, BOS_ID, EOS_ID, PAD_ID, UNK_PIECE, LONGEST = 40, 41, 42, 43, 45, 20  # of a TrainerSpec
USUAL = {BOS_ID: "<s>", EOS_ID: "</s>", PAD_ID: "<pad>"}
FLAGS = {
    DUMMY_PREFIX: "add_dummy_prefix",
    EXTRA_SPACES: "remove_extra_whitespaces",
    ESCAPE: "escape_whitespaces",
}
Pieces = dict[int, tuple[str, int]]  # id -> text and type


def write(spec: TokenizerSpec) -> bytes:
    """The `.model` of a tokenizer; `FormatError` names what it cannot hold."""
    return to_model(spec).write()


def to_model(spec: TokenizerSpec) -> Model:
    """The model of a tokenizer; `FormatError` names what it cannot hold."""
    check_spec(spec)
    _check_kind(spec)
    refuse_hidden(spec, NAME)
    refuse_bytes(spec)
    spec = rewritten(spec)
    if (loss := first_loss(spec)) is not None:
        raise cannot_hold(NAME, f"this tokenizer as it is: {loss}")
    forward, backward = _steps(spec)
    pieces = _pieces(spec)
    denormalizer = _map(backward["denormalizer_charsmap"])
    charsmaps = {NORMALIZER: _map(forward["precompiled_charsmap"]), DENORMALIZER: denormalizer}
    model = from_carried(spec.carried, charsmaps)
    fresh = not model.layout
    known = sum(item for item in model.layout if isinstance(item, int))
    _set_pieces(model, spec, pieces)
    size: dict[int, int | bytes] = {VOCAB_SIZE: len(pieces)} if known != len(pieces) else {}
    surface = str(backward["unknown_surface"]).encode()
    suffix = int(bool(forward["treat_whitespace_as_suffix"]))
    training: dict[int, int | bytes] = {
        MODEL_TYPE: _type(model, spec),
        SUFFIX: suffix,
        BYTE_FALLBACK: int(spec.fallback),
        UNK_SURFACE: surface,
    }
    model.set_options(TRAINER, {**training, **size})
    flags = {option: int(bool(forward[name])) for option, name in FLAGS.items()}
    model.set_options(NORMALIZER, {CHARSMAP: charsmaps[NORMALIZER], **flags})
    if denormalizer or model.message(DENORMALIZER):
        off = dict.fromkeys(FLAGS, 0) if denormalizer else {}
        model.set_options(DENORMALIZER, {CHARSMAP: denormalizer, **off})
    if fresh:
        _name_pieces(model, spec, pieces)
    return model


def _type(model: Model, spec: TokenizerSpec) -> int:
    """The type of a model; of characters, if it was that, and no piece of several has a score now."""
    if spec.model != "bpe":
        return UNIGRAM if spec.model == "unigram" else WORD
    single = all(len(spec.tokens[token_id].decode()) == 1 for token_id in spec.scores or ())
    was = spec.scores is not None and model.options(TRAINER).number(MODEL_TYPE) == CHAR
    return CHAR if was and single else BPE


def _steps(spec: TokenizerSpec) -> tuple[Mapping[str, StepValue], Mapping[str, StepValue]]:
    """The options of the normalizer and of the decoder."""
    if [step.kind for step in spec.normalizer] != [KIND] or spec.pretokenizer:
        steps = ", ".join(step.kind for step in (*spec.normalizer, *spec.pretokenizer))
        raise cannot_hold(NAME, f"the steps {steps}")
    forward, backward = spec.normalizer[0].options, (spec.decoder or spec.normalizer)[0].options
    for name in ("add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix"):
        if forward[name] != backward[name]:
            raise cannot_hold(NAME, f"{name} of the normalizer and another one of the decoder")
    return forward, backward


def _check_kind(spec: TokenizerSpec) -> None:
    """What is another kind of tokenizer altogether."""
    split = WORDS if spec.model == "wordlevel" else None
    faults = {
        f"tokens of the unit {spec.unit!r}, only characters": spec.unit != "char",
        f"the split {shown(spec.split.name or spec.split.pattern)}": spec.split.pattern != split,
        f"the end-of-word mark {spec.end_of_word!r}": spec.end_of_word is not None,
        f"the prefix {spec.continuing_prefix!r}": spec.continuing_prefix is not None,
        "pieces that become a token at once (whole_pieces)": spec.whole_pieces,
        f"the model {spec.model!r}": spec.model == "wordpiece",
    }
    for fault, there in faults.items():
        if there:
            raise cannot_hold(NAME, fault)


def _pieces(spec: TokenizerSpec) -> Pieces:
    """id -> text and type of every piece, from 0 without a gap, each text once."""
    pieces: Pieces = {}
    idle = idle_of(spec.carried)
    for token_id, token in spec.tokens.items():
        if token_id in spec.byte_tokens:
            pieces[token_id] = byte_name(spec.byte_tokens[token_id]), BYTE
            continue
        text = token.decode()
        kind = idle.get(text, (0.0, NORMAL))[1] if token_id not in (spec.scores or ()) else NORMAL
        pieces[token_id] = text, UNUSED if token_id in spec.unused else kind
    for text, token_id in spec.special_tokens.items():
        pieces[token_id] = text, CONTROL
    for text, token_id in spec.added_tokens.items():
        pieces[token_id] = text, UNUSED if spec.matching.get(text) == NEVER else USER_DEFINED
    if spec.unknown is not None:
        pieces[spec.unknown] = pieces[spec.unknown][0], UNKNOWN
    _check_pieces(pieces, spec)
    return dict(sorted(pieces.items()))


def _check_pieces(pieces: Pieces, spec: TokenizerSpec) -> None:
    missing = next((token_id for token_id in range(len(pieces)) if token_id not in pieces), None)
    if missing is not None:
        raise cannot_hold(NAME, f"ids with a gap: {missing} is no token's")
    first: dict[str, int] = {}
    for token_id, (text, kind) in sorted(pieces.items()):
        if not 0 < len(text.encode()) <= MAX_PIECE:
            raise cannot_hold(
                NAME, f"a token of {len(text.encode())} bytes (id {token_id}), only of {MAX_PIECE}"
            )
        if "\0" in text and not (text == "\0" and kind == UNUSED):
            raise cannot_hold(NAME, f"a token with a NUL (id {token_id}, {shown(text)})")
        if first.setdefault(text, token_id) != token_id and text != "\0":
            raise cannot_hold(NAME, f"two ids ({first[text]}, {token_id}) for the token {shown(text)}")
    kinds = [kind for _text, kind in pieces.values()]
    if (spec.fallback or spec.byte_tokens) and not (spec.fallback and kinds.count(BYTE) == 256):
        raise cannot_hold(NAME, "bytes for some symbols only: it has all 256 as byte pieces, or none")
    if UNKNOWN not in kinds and not spec.fallback:
        raise cannot_hold(NAME, "a tokenizer without a token for unknown symbols")
    if spec.model == "bpe":
        _check_alphabet(pieces, spec)


def _check_alphabet(pieces: Pieces, spec: TokenizerSpec) -> None:
    """Every plain piece of one character must be in the alphabet, and nothing else but bytes."""
    expected = {bytes([byte]): token_id for token_id, byte in spec.byte_tokens.items()}
    expected |= {
        text.encode(): token_id
        for token_id, (text, kind) in pieces.items()
        if kind == NORMAL and len(text) == 1
    }
    if dict(spec.alphabet) != expected:
        odd = next(iter(dict(spec.alphabet).items() ^ expected.items()))
        raise cannot_hold(NAME, f"an alphabet where {shown(odd[0])} is not just the token of one character")


def _set_pieces(model: Model, spec: TokenizerSpec, pieces: Pieces) -> None:
    """Texts, types and scores; a special or added token has the score that it was read with, else 0."""
    plain = {token_id: text for token_id, (text, kind) in pieces.items() if kind in (NORMAL, UNUSED)}
    scores = spec.scores
    if _type(model, spec) in (WORD, CHAR):
        idle = idle_of(spec.carried)
        scores = {i: idle.get(text, (0.0, NORMAL))[0] for i, text in plain.items()} | dict(scores or {})
    elif scores is None:
        scores = scores_of(spec, plain)
    model.texts = [text for text, _kind in pieces.values()]
    model.types = [kind for _text, kind in pieces.values()]
    model.scores = [scores.get(token_id, 0.0) for token_id in pieces]
    for token_id, text in plain.items():
        score = scores.get(token_id)
        if score is None and (len(text) > 1 or spec.model == "unigram"):
            raise cannot_hold(NAME, f"a token without a score (id {token_id}, {shown(text)})")
        if score is not None and not _is_float32(score):
            raise cannot_hold(NAME, f"the score {score!r} of id {token_id}, only numbers of 32 bits")


def _is_float32(score: float) -> bool:
    try:
        return math.isfinite(score) and FLOAT.unpack(FLOAT.pack(score))[0] == score
    except OverflowError:
        return False


def _name_pieces(model: Model, spec: TokenizerSpec, pieces: Pieces) -> None:
    """For a model that is written anew: where the usual control pieces are, and the longest piece."""
    ids = {option: spec.special_tokens.get(text, -1) for option, text in USUAL.items()}
    names = {} if spec.unknown is None else {UNK_PIECE: pieces[spec.unknown][0].encode()}
    unknown = {UNK_ID: -1 if spec.unknown is None else spec.unknown}
    longest = max(len(text) for text, _kind in pieces.values())
    model.set_options(TRAINER, {**unknown, **ids, **names, LONGEST: longest})


def _map(value: StepValue) -> bytes:
    if not isinstance(value, bytes):
        raise FormatError(f"a character map is of type {type(value).__name__}: give bytes")
    return value
