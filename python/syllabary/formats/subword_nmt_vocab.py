"""subword-nmt's vocabulary files: `token count`, one a line, as `get-vocab` writes them.

A token that does not end its word bears the separator (`lo@@`). Adds reader and writer and, for ids in the
order of such a file, its tokens as codes spell them (`lo`, `w</w>`). Leaves out: the filter that
`apply-bpe --vocabulary` runs with it (`syllabary.compat.subword_nmt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.signs import STRIPPED
from syllabary.formats.subword_nmt_codes import MARK_BYTES
from syllabary.reference.symbols import shown


def read_vocabulary(path: Path, threshold: int | None = None, utf8: bool = True) -> dict[bytes, int]:
    """Token -> count, in the order of the file; those below the threshold are left out.

    Raises `FormatError` with the line for what is not a token, a space and a count, for a token twice, and
    with `utf8` for a token that is none.
    """
    counts: dict[bytes, int] = {}
    seen: dict[bytes, int] = {}
    for number, line in enumerate(read_bounded(path).split(b"\n"), start=1):
        row = line.strip(STRIPPED)
        if not line:
            continue
        token, space, digits = row.partition(b" ")
        if not (token and space and digits.isdigit() and len(digits) <= 18):
            raise FormatError(f"{path}: line {number}: {shown(line)} is not a token, a space and a count")
        if token in seen:
            raise FormatError(
                f"{path}: line {number}: the token {shown(token)} is on line {seen[token]} already"
            )
        if utf8 and token.decode("utf-8", "ignore").encode() != token:
            raise FormatError(f"{path}: line {number}: the token {shown(token)} is not UTF-8")
        seen[token] = number
        if threshold is None or int(digits) >= threshold:
            counts[token] = int(digits)
    return counts


def write_vocabulary(counts: Mapping[str, int]) -> str:
    """The file of some counts: the most frequent first, equals in the order that they have.

    >>> write_vocabulary({"a": 1, "b@@": 2})
    'b@@ 2\\na 1\\n'
    """
    rows = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    return "".join(f"{token} {count}\n" for token, count in rows)


def order_of(tokens: Iterable[bytes], separator: str = "@@") -> dict[bytes, int]:
    """Tokens as a vocabulary spells them -> token as codes spell it -> its place.

    >>> order_of([b"lo@@", b"w"])
    {b'lo': 0, b'w</w>': 1}
    """
    mark = separator.encode()
    order: dict[bytes, int] = {}
    for place, token in enumerate(tokens):
        stem = token.removesuffix(mark)
        order[stem if stem and stem != token else token + MARK_BYTES] = place
    return order
