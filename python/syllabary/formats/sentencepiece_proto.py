"""sentencepiece's ModelProto as plain lists: pieces, and every other byte of the file in its place.

Adds reading a `.model` into `Model` and writing it again byte for byte, fields that nobody knows and their
order among them. The schema is sentencepiece_model.proto, the limits on pieces are model_interface.cc's.
Leaves out: what pieces and options mean (`sentencepiece`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syllabary._engine import plain_pieces
from syllabary.errors import FormatError
from syllabary.formats.protobuf import Field, WireError, fields, patched, read_field
from syllabary.reference.symbols import shown
from syllabary.reference.wire import BYTES, FIXED32, VARINT, record

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SCORED = (NORMAL, UNUSED)  # the types whose scores say what merges
PIECES, TRAINER, NORMALIZER, SELF_TEST, DENORMALIZER = 1, 2, 3, 4, 5
MODEL_TYPE, VOCAB_SIZE, SUFFIX, BYTE_FALLBACK, UNK_SURFACE = 3, 4, 24, 35, 44  # of a TrainerSpec
CHARSMAP, DUMMY_PREFIX, EXTRA_SPACES, ESCAPE = 2, 3, 4, 5  # of a NormalizerSpec
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4  # model types
# The options that we read: message -> field -> wire type and value where it is not given.
FORWARD: dict[int, tuple[int, int | bytes]] = {
    CHARSMAP: (BYTES, b""),
    DUMMY_PREFIX: (VARINT, 1),
    EXTRA_SPACES: (VARINT, 1),
    ESCAPE: (VARINT, 1),
}
OPTIONS: dict[int, dict[int, tuple[int, int | bytes]]] = {
    TRAINER: {
        MODEL_TYPE: (VARINT, 1),
        VOCAB_SIZE: (VARINT, 8000),
        SUFFIX: (VARINT, 0),
        BYTE_FALLBACK: (VARINT, 0),
        UNK_SURFACE: (BYTES, " \u2047 ".encode()),
    },
    NORMALIZER: FORWARD,
    DENORMALIZER: FORWARD,
}
MAX_PIECE = 7999  # bytes: sentencepiece refuses longer ones
MAX_PIECES = 1_000_000  # the largest published model has 0.9 million
FLOAT = struct.Struct("<f")
TAG_PIECE, TAG_TEXT, TAG_SCORE, TAG_TYPE = 0x0A, 0x0A, 0x15, 0x18


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a message, by field: numbers (truth values too) and bytes."""

    values: Mapping[int, int | bytes]

    def number(self, option: int) -> int:
        """The value of a number or truth value."""
        value = self.values[option]
        return value if isinstance(value, int) else 0

    def data(self, option: int) -> bytes:
        """The value of a string or of bytes."""
        value = self.values[option]
        return value if isinstance(value, bytes) else b""


@dataclass(slots=True)
class Model:
    """The pieces by id, and how the file holds them.

    texts, scores, types: of each piece; types are the numbers of sentencepiece_model.proto.
    typed: whether plain pieces say that they are of type NORMAL.
    odd: id -> the piece's record, where `canonical` would write another.
    layout: how many pieces in a row, and between them every other record of the file.
    starts: where each piece was, for errors.
    """

    texts: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    typed: bool = False
    odd: dict[int, bytes] = field(default_factory=dict)
    layout: list[int | bytes] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def message(self, number: int) -> bytes:
        """A message of the model (`TRAINER`, …): where it is given more than once, all of it in a row."""
        found = [next(fields(item)) for item in self.layout if isinstance(item, bytes)]
        return b"".join(part.bytes_value for part in found if part.number == number)

    def options(self, number: int) -> Options:
        """Those options of a message that we read: the last value of each, or its default."""
        values = {option: default for option, (_wire, default) in OPTIONS[number].items()}
        return Options(values | {part.number: part.value for part in fields(self.message(number))})

    def set_options(self, number: int, wanted: Mapping[int, int | bytes]) -> None:
        """Change options of a message, and no byte of it where they are so already."""
        now = self.options(number).values
        changes = {option: value for option, value in wanted.items() if now.get(option) != value}
        if not changes:
            return
        numbers = [next(fields(item)).number if isinstance(item, bytes) else 0 for item in self.layout]
        last = max((place for place, other in enumerate(numbers) if other == number), default=None)
        if last is None:
            place = next((place for place, other in enumerate(numbers) if other > number), len(numbers))
            self.layout.insert(place, record(number, patched(b"", changes)))
        else:
            old = self.layout[last]
            body = next(fields(old)).bytes_value if isinstance(old, bytes) else b""
            self.layout[last] = record(number, patched(body, changes))

    def write(self) -> bytes:
        """The file. Pieces that are more than the layout has follow its last ones."""
        last = max((place for place, item in enumerate(self.layout) if isinstance(item, int)), default=None)
        layout = [len(self.texts), *self.layout] if last is None else self.layout
        out, done = list[bytes](), 0
        for place, item in enumerate(layout):
            if isinstance(item, bytes):
                out.append(item)
                continue
            stop = len(self.texts) if place == (last or 0) else min(done + item, len(self.texts))
            out += [self.piece(token_id) for token_id in range(done, stop)]
            done = stop
        return b"".join(out)

    def piece(self, token_id: int) -> bytes:
        """The record of one piece."""
        text, score, kind = self.texts[token_id], self.scores[token_id], self.types[token_id]
        odd = self.odd.get(token_id)
        if odd is not None:
            old_text, old_score, old_kind, _typed = read_piece(next(fields(odd)), odd)
            same = text == old_text and (score == old_score or kind not in SCORED)
            if same and (kind == old_kind or text == "\0"):  # a NUL piece is read as an unused one
                return odd
        return canonical(text, score, kind, self.typed)


def canonical(text: str, score: float, kind: int, typed: bool) -> bytes:
    """A piece as sentencepiece's trainer writes it: text, score, and the type if it is not NORMAL.

    >>> canonical("ab", -1.0, NORMAL, False).hex()
    '0a090a02616215000080bf'
    """
    kinds = record(3, kind) if typed or kind != NORMAL else b""
    return record(PIECES, record(1, text.encode()) + bytes([TAG_SCORE]) + FLOAT.pack(score) + kinds)


def parse(data: bytes, path: Path) -> Model:
    """The model in a file; `FormatError` with the byte offset for whatever is no model."""
    try:
        model = _parse(data)
    except WireError as error:
        raise FormatError(f"{path}: byte {error.offset}: {error}; no whole sentencepiece model") from error
    if not model.texts:
        raise FormatError(f"{path}: no pieces: not a sentencepiece model")
    return model


def _parse(data: bytes) -> Model:
    model = Model()
    shapes = bytearray()  # 0: no type written, 1: written, 2: odd
    row, at, end = 0, 0, len(data)
    while at < end:
        if data[at] == TAG_PIECE:
            before = len(shapes)
            at = _plain_row(data, at, MAX_PIECES + 1 - row, model, shapes)
            if len(shapes) == before:
                at = _slow_piece(data, at, end, model, shapes)
            row += len(shapes) - before
            if row > MAX_PIECES:
                raise WireError(at, f"more than {MAX_PIECES} pieces")
            continue
        other = read_field(data, at, end)
        if row:
            model.layout.append(row)
            row = 0
        if other.number == PIECES:
            other.expect(BYTES)
            raise WireError(at, "a piece whose tag is not written as protocol buffers write it")
        check_message(data, other)
        model.layout.append(data[at : other.end])
        at = other.end
    if row:
        model.layout.append(row)
    _keep_odd(data, model, shapes)
    return model


def check_message(data: bytes, message: Field) -> None:
    """Raise `WireError` for a message that is broken, or an option of it of another type than it should be.

    Its fields are read once here, so that whoever asks for one later meets no broken one.
    """
    if message.number not in OPTIONS and message.number != SELF_TEST:
        return
    message.expect(BYTES)
    wires = OPTIONS.get(message.number, {})
    for part in fields(data, message.body, message.end):
        if part.number in wires:
            part.expect(wires[part.number][0])


def _plain_row(data: bytes, at: int, most: int, model: Model, shapes: bytearray) -> int:
    """Pieces in a row as `canonical` writes them, of up to 127 bytes each: where the first other one begins.

    That one may be right too.
    """
    at, starts, texts, scores, kinds, typed = plain_pieces(data, at, most)
    model.starts += starts
    model.texts += texts
    model.scores += scores
    model.types += kinds
    shapes += typed
    return at


def _slow_piece(data: bytes, at: int, end: int, model: Model, shapes: bytearray) -> int:
    found = read_field(data, at, end)
    text, score, kind, typed = read_piece(found, data)
    _append(model, at, text.encode(), score, kind)
    plain = data[at : found.end] == canonical(text, score, kind, typed)
    shapes.append(typed if plain else 2)
    return found.end


def read_piece(found: Field, data: bytes) -> tuple[str, float, int, bool]:
    """One piece: text, score, type, and whether the type is written; the last one of a field counts."""
    text, score, kind, typed = b"", 0.0, NORMAL, False
    found.expect(BYTES)
    for part in fields(data, found.body, found.end):
        if part.number == 1:
            text = part.bytes_value
        elif part.number == 2:
            score = FLOAT.unpack_from(data, part.expect(FIXED32).body)[0]
        elif part.number == 3:
            kind, typed = part.number_value, True
    return _text(text, found.start), score, kind, typed


def first_piece(head: bytes) -> bool:
    """Whether a file that begins so begins with a piece, which has a text, and a score or a type."""
    try:
        found = read_field(head, 0, len(head))
        text, _score, _kind, _typed = read_piece(found, head)
    except WireError:
        return False
    return bool(text) and len(found.bytes_value) > 2 + len(text.encode())


def _append(model: Model, at: int, text: bytes, score: float, kind: int) -> None:
    """One more piece, if it is one that sentencepiece would take."""
    if not 0 < len(text) <= MAX_PIECE:
        size = "is empty" if not text else f"has {len(text)} bytes, and {MAX_PIECE} are the most"
        raise WireError(at, f"piece {len(model.texts)} {size}")
    if not math.isfinite(score):
        raise WireError(at, f"piece {len(model.texts)} has the score {score}, which is no number")
    if not NORMAL <= kind <= BYTE:
        raise WireError(
            at, f"piece {len(model.texts)} is of type {shown(kind)}; known are {NORMAL} to {BYTE}"
        )
    model.texts.append(_text(text, at))
    model.scores.append(score)
    model.types.append(kind)
    model.starts.append(at)


def _text(text: bytes, at: int) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(at, f"the piece {shown(text)} is not UTF-8 ({error.reason})") from error


def _keep_odd(data: bytes, model: Model, shapes: bytearray) -> None:
    """Whether plain pieces say their type (as most of them do), and the records of those that differ."""
    plain = [shape for shape, kind in zip(shapes, model.types, strict=True) if kind == NORMAL and shape < 2]
    model.typed = 2 * sum(plain) > len(plain)
    usual = [int(model.typed) if kind == NORMAL else 1 for kind in range(BYTE + 1)]
    rows = zip(shapes, model.types, model.texts, strict=True)
    odd = {place for place, (shape, kind, text) in enumerate(rows) if shape != usual[kind] or text == "\0"}
    idle = [place for place, kind in enumerate(model.types) if kind not in SCORED]
    odd |= {place for place in idle if FLOAT.pack(model.scores[place]) != FLOAT.pack(0.0)}
    for token_id in sorted(odd):
        start = model.starts[token_id]
        model.odd[token_id] = data[start : read_field(data, start, len(data)).end]
