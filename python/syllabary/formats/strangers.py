"""What a file is that is no tokenizer's, by its first bytes.

Adds `mark`, for every format, and `stranger`, for a file of no known format. Leaves out: the formats.
"""

from __future__ import annotations

import codecs
import re

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
KINDS = (
    (re.compile(rb"version https://git-lfs"), "a pointer of Git LFS: `git lfs pull` brings the file itself"),
    (re.compile(rb"\s*<(!doctype )?html", re.IGNORECASE), "a web page, not the file that was asked for"),
    (re.compile(rb"\x1f\x8b|BZh|\xfd7zXZ\0|\x28\xb5\x2f\xfd|PK\x03\x04"), "packed: unpack it"),
    (
        re.compile(rb"PAR1"),
        "Parquet, not a tokenizer: a table of counts or documents, from which `train` learns one",
    ),
    (re.compile(rb"\x93NUMPY"), "an array of numpy, not a tokenizer: ids, which `decode` reads"),
    (re.compile(rb"\s*\Z"), "it is empty: save it again, or fetch it again"),
)


def mark(head: bytes) -> str | None:
    """What to do about a byte order mark, which no format has.

    >>> mark(b"{}"), mark(b"\\xef\\xbb\\xbf{}")
    (None, 'it begins with a byte order mark: save it as UTF-8 without one')
    """
    return (
        "it begins with a byte order mark: save it as UTF-8 without one" if head.startswith(MARKS) else None
    )


def stranger(head: bytes) -> str | None:
    """What a file of no known format is, if its first bytes tell.

    >>> stranger(b"<!DOCTYPE html>"), stranger(b"text")
    ('a web page, not the file that was asked for', None)
    """
    return next((what for begins, what in KINDS if begins.match(head)), None)
