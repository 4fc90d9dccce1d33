"""tiktoken's rank files: `base64(token) SP rank LF`, one token a line.

The file holds tokens and ids and nothing else: no split, no special tokens. So reading asks for `split=`,
unless the file is byte for byte a published encoding's (by its SHA-256), whose split and special tokens are
then taken. Writing leaves out split and special tokens; special tokens' ids, if they come first or between,
are gaps in the ranks, which are legal. A single `=` is an empty token, as tiktoken reads it.
Leaves out: the cache and the names of encodings (`syllabary.encodings`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from syllabary import splits
from syllabary._engine import Ranks, sha256
from syllabary.encodings import find_by_sha256
from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.dropping import drops, keeping, refusal
from syllabary.formats.extras import NO_IDS
from syllabary.formats.loss import Loss
from syllabary.formats.ranks import check_rank_order
from syllabary.formats.record import Facts, Format, Hints, cannot_hold, checked
from syllabary.formats.signs import SIGNS
from syllabary.reference.check import MAX_ID, check_spec
from syllabary.reference.symbols import plural, shown
from syllabary.reference.tokens import ReadTokens
from syllabary.spec import TokenizerSpec

NAME = "tiktoken"
# Fields that a rank file has no place for, as they are in a tokenizer without them.
EMPTY: Mapping[str, Any] = {
    "added_tokens": {}, "normalizer": (), "pretokenizer": (), "decoder": None, "matching": {}, "dropout": 0.0
}  # fmt: skip
# Fields that rank order cannot stand for.
BEYOND = ("scores", "unused", "end_of_word", "continuing_prefix")
MAX_TOKEN = 1 << 16  # bytes; the longest published token has 128


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a rank file: rank order, whole pieces first, as tiktoken does.

    Raises `FormatError` with the line for anything that is no rank line, for a rank or token given twice,
    a single byte that is missing, and a file whose split is not known.
    """
    return parse(read_bounded(path), path, hints)


def parse(data: bytes, path: Path, hints: Hints) -> TokenizerSpec:
    """The same of a rank file's bytes; `path` is what errors call them."""
    tokens, rank_of = _read(data, path)
    split, special_tokens = hints.split, hints.special_tokens
    known = find_by_sha256(sha256(data))
    if known is not None and split is None:
        split = splits.get(known.split)
        special_tokens = known.special_tokens if special_tokens is None else special_tokens
    if split is None:
        raise FormatError(
            f"{path}: a rank file does not say its split, and this one is no published encoding's; "
            f"give split=, a pattern or one of {', '.join(splits.names())}"
        )
    spec = TokenizerSpec(
        unit="byte",
        split=split,
        tokens=tokens,
        alphabet={bytes([byte]): rank_of(bytes([byte])) for byte in range(256)},
        merges=None,
        special_tokens=dict(special_tokens or {}),
        whole_pieces=True,
    )
    return checked(spec, path)


def write(spec: TokenizerSpec) -> bytes:
    """The rank file of a byte-level tokenizer; `FormatError` names what rank order cannot hold."""
    check_spec(spec)
    if error := refuses(Facts(spec.unit, split=spec.split)):
        raise error
    for field in BEYOND:
        if getattr(spec, field):
            raise cannot_hold(NAME, f"{field}={shown(getattr(spec, field))}")
    for what, _lost, _fields in _more_than_ranks(spec):
        raise cannot_hold(NAME, what)
    missing = [byte for byte in range(256) if spec.alphabet.get(bytes([byte])) not in spec.tokens]
    if missing:
        raise _without_bytes(f"{len(missing)} missing, the first 0x{missing[0]:02X}")
    _check_tokens(spec)
    check_rank_order(spec, NAME)
    lines = (b"%s %d\n" % (base64.b64encode(spec.tokens[rank]) or b"=", rank) for rank in sorted(spec.tokens))
    return b"".join(lines)


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The tokenizer without all that a rank file has no place for, and a sentence for each such thing.

    What ranks cannot express (scores, merges in another order, marks, other units) stays, and `write`
    refuses it.
    """
    losses: list[Loss] = []
    if drops(spec.split):
        spec, lost = keeping(spec)
        losses.append(Loss(f"{lost}, which has ids then", "some"))
    elif spec.split.pattern is not None:
        named = spec.split.name or spec.split.pattern
        losses.append(Loss(f"the split ({named!r}): name it in split= to keep the ids", "some"))
    if spec.special_tokens:
        which = plural(len(spec.special_tokens), "special token")
        losses.append(Loss(f"{which}: name them in special_tokens= to keep the ids", "some"))
    for _what, loss, fields in _more_than_ranks(spec):
        losses.append(loss)
        spec = replace(spec, **{name: EMPTY[name] for name in fields})
    if spec.trim_offsets or spec.surface_offsets:
        losses.append(Loss(f"rules for the offsets of tokens: {NO_IDS}", "same"))
        spec = replace(spec, trim_offsets=False, surface_offsets=False)
    if spec.record or spec.carried:
        sentence = f"the record of training, and what other formats alone hold; {NO_IDS}"
        losses.append(Loss(sentence, "same"))
        spec = replace(spec, record={}, carried={})
    return spec, tuple(losses)


def refuses(facts: Facts) -> FormatError | None:
    """The error for other symbols than bytes, an alphabet of the bytes seen (no text has all 256), and for
    a split that drops text."""
    if facts.unit != "byte":
        return cannot_hold(NAME, f"tokens of the unit {facts.unit!r}, only bytes")
    if facts.alphabet == "seen":
        return _without_bytes('alphabet="seen"')
    return None if facts.split is None else refusal(NAME, facts.split)


def _read(data: bytes, path: Path) -> tuple[Mapping[int, bytes], Callable[[bytes], int]]:
    """Rank -> token, and the way back; by the engine, if it finds nothing strange about the file."""
    ranks = Ranks.read(data)
    if ranks is not None:
        return ReadTokens(ranks), ranks.rank
    tokens = _read_ranks(data, path)
    return tokens, {token: rank for rank, token in tokens.items()}.__getitem__


def _read_ranks(data: bytes, path: Path) -> dict[int, bytes]:
    """Lines -> rank -> token, with all 256 single bytes among them."""
    tokens: dict[int, bytes] = {}
    lines: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line:
            continue
        try:
            token, rank = _read_line(line)
        except ValueError as error:
            raise FormatError(f"{path}: line {number}: {error}") from error
        if rank in tokens:
            raise FormatError(f"{path}: line {number}: rank {rank} is on line {lines[tokens[rank]]} already")
        if token in lines:
            raise FormatError(
                f"{path}: line {number}: token {shown(token)} is on line {lines[token]} already"
            )
        tokens[rank], lines[token] = token, number
    for byte in range(256):
        if bytes([byte]) not in lines:
            raise FormatError(f"{path}: no line has the single byte 0x{byte:02X}: cut short, or no rank file")
    return tokens


def _read_line(line: bytes) -> tuple[bytes, int]:
    """One line -> token and rank; `ValueError` says what is wrong with it."""
    encoded, space, digits = line.partition(b" ")
    if not space:
        raise ValueError("no rank: a line is base64(token), a space and the rank")
    if not (digits.isdigit() and len(digits) <= 10 and int(digits) <= MAX_ID):
        raise ValueError(f"{shown(digits)} is no rank: a number from 0 to {MAX_ID}")
    try:
        token = b"" if encoded == b"=" else base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{shown(encoded)} is not base64 ({error})") from error
    if len(token) > MAX_TOKEN:
        raise ValueError(f"the token {shown(token)} has {len(token)} bytes, and {MAX_TOKEN} are the most")
    return token, int(digits)


def _more_than_ranks(spec: TokenizerSpec) -> Iterator[tuple[str, Loss, tuple[str, ...]]]:
    """What the tokenizer has and ranks have not: as a refusal, as a loss, and the fields to empty."""
    ids = "ids can change"
    if spec.added_tokens:
        first = f", as {next(iter(spec.added_tokens))!r}"
        yield (
            f"added tokens{first}",
            Loss(
                f"{plural(len(spec.added_tokens), 'added token')}{first}: {ids} where such stand in the text",
                "some",
            ),
            ("added_tokens",),
        )
    if spec.normalizer:
        kinds = " ".join(step.kind for step in spec.normalizer)
        yield (
            f"a normalizer ({kinds})",
            Loss(f"the normalizer ({kinds}): {ids} in text that it changes", "some"),
            ("normalizer",),
        )
    if spec.pretokenizer:
        kinds = " ".join(step.kind for step in spec.pretokenizer)
        lost = Loss(f"the pretokenizer ({kinds}): {ids}", "some")
        yield f"a pretokenizer ({kinds})", lost, ("pretokenizer",)
    if spec.decoder is not None and [step.kind for step in spec.decoder] != ["ByteLevel"]:
        kinds = " ".join(step.kind for step in spec.decoder)
        lost = Loss(f"the decoder ({kinds}): {NO_IDS}, decoded text can", "same")
        yield f"a decoder ({kinds})", lost, ("decoder",)
    if spec.matching:
        sentence = f"how tokens are matched in text, as {next(iter(spec.matching))!r}"
        yield sentence, Loss(f"{sentence}: {ids} where they stand in the text", "some"), ("matching",)
    if spec.dropout:
        sentence = f"dropout={spec.dropout}"
        yield sentence, Loss(f"{sentence}: give it to encode()", "some"), ("dropout",)


def _without_bytes(detail: str) -> FormatError:
    return cannot_hold(
        NAME,
        f"an alphabet without all 256 bytes ({detail})",
        'train with alphabet="all", or save as .syllabary.json',
    )


def _check_tokens(spec: TokenizerSpec) -> None:
    ids: dict[bytes, int] = {}
    for token_id, token in spec.tokens.items():
        if len(token) > MAX_TOKEN:
            raise cannot_hold(NAME, f"a token of {len(token)} bytes ({shown(token)}), only of {MAX_TOKEN}")
        if token in ids:
            raise cannot_hold(NAME, f"two ids ({ids[token]}, {token_id}) for the token {shown(token)}")
        ids[token] = token_id


FORMAT = Format(
    SIGNS[NAME],
    read,
    write,
    refuses,
    hinted=True,
    unsaid=True,
    unlisted=True,
    reduce=reduce,
)
