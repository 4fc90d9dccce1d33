"""tiktoken's rank files: `base64(token) SP rank LF`, one token a line.

The file holds tokens and ids and nothing else: no split, no special tokens. So reading asks for `split=`,
unless the file is byte for byte a published encoding's (by its SHA-256), whose split and special tokens are
then taken. Writing leaves out split and special tokens; special tokens' ids, if they come first or between,
are gaps in the ranks, which are legal. A single `=` is an empty token (p50k has one).
Leaves out: the cache and the names of encodings (`syllabary.encodings`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from pathlib import Path

from syllabary import splits
from syllabary.encodings import find_by_sha256
from syllabary.errors import FormatError
from syllabary.formats.files import read_bounded
from syllabary.formats.ranks import check_rank_order
from syllabary.formats.record import Facts, Format, Hints, cannot_hold, checked
from syllabary.reference.check import MAX_ID, check_spec
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec

NAME = "tiktoken"
MAX_TOKEN = 1 << 16  # bytes; the longest published token has 128
FIRST_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,2} [0-9]+\r?(?:\n|\Z)")


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a rank file: rank order, whole pieces first, as tiktoken does.

    Raises `FormatError` with the line for anything that is no rank line, for a rank or token given twice,
    a single byte that is missing, and a file whose split is not known.
    """
    data = read_bounded(path)
    tokens = _read_ranks(data, path)
    split, special_tokens = hints.split, hints.special_tokens
    known = find_by_sha256(hashlib.sha256(data).hexdigest())
    if known is not None and split is None:
        split = splits.get(known.split)
        special_tokens = known.special_tokens if special_tokens is None else special_tokens
    if split is None:
        raise FormatError(
            f"{path}: a rank file does not say its split, and this one is no published encoding's; "
            f"give split=, a pattern or one of {', '.join(splits.names())}"
        )
    ids = {token: rank for rank, token in tokens.items()}
    spec = TokenizerSpec(
        unit="byte",
        split=split,
        tokens=tokens,
        alphabet={bytes([byte]): ids[bytes([byte])] for byte in range(256)},
        merges=None,
        special_tokens=dict(special_tokens or {}),
        whole_pieces=True,
    )
    return checked(spec, path)


def write(spec: TokenizerSpec) -> bytes:
    """The rank file of a byte-level tokenizer; `FormatError` names what rank order cannot hold."""
    check_spec(spec)
    if error := refuses(Facts(spec.unit)):
        raise error
    if spec.added_tokens:
        raise cannot_hold(NAME, f"added tokens, as {next(iter(spec.added_tokens))!r}")
    missing = [byte for byte in range(256) if spec.alphabet.get(bytes([byte])) not in spec.tokens]
    if missing:
        raise _without_bytes(f"{len(missing)} missing, the first 0x{missing[0]:02X}")
    _check_tokens(spec)
    check_rank_order(spec, NAME)
    lines = (b"%s %d\n" % (base64.b64encode(spec.tokens[rank]) or b"=", rank) for rank in sorted(spec.tokens))
    return b"".join(lines)


def refuses(facts: Facts) -> FormatError | None:
    """The error for other symbols than bytes, and for an alphabet of the bytes seen: no text has all 256."""
    if facts.unit != "byte":
        return cannot_hold(NAME, f"tokens of the unit {facts.unit!r}, only bytes")
    return _without_bytes('alphabet="seen"') if facts.alphabet == "seen" else None


def sniff(path: Path, head: bytes) -> bool:
    """A first line of base64, a space and a number."""
    return path.name.endswith(".tiktoken") or FIRST_LINE.match(head) is not None


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


FORMAT = Format(NAME, (".tiktoken",), ("*.tiktoken",), sniff, read, write, refuses)
