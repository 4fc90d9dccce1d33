"""sentencepiece's vocabularies of counts: `piece TAB count LF`, of `spm_encode --generate_vocabulary`.

Adds the reader. Its rules are those of `LoadVocabulary` of sentencepiece 0.2.1, which takes the count for 1
where there is none; what it reads of a damaged line without a word is an error here. Leaves out: what the
pieces are for (`syllabary.surgery.restrict`), files of scores (`sentencepiece_vocab`).
"""

from __future__ import annotations

import re
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.reference.symbols import shown

ROW = re.compile(rb"([^\t]+)(?:\t([0-9]{1,18})(?:\t.*)?)?", re.DOTALL)
SPACED = re.compile(rb"[^\t ]+ [0-9]+")
SCORE = re.compile(rb"[^\t]+\t-?[0-9.]+(?:e[-+]?[0-9]+)?")


def read_counts(path: Path, threshold: int | None = None) -> set[bytes]:
    """The pieces of a file with a count of at least `threshold`; of a piece that stands twice, the higher.

    Raises `FormatError` with the line for what is not a piece, or a piece, a tab and a count.
    """
    found: set[bytes] = set()
    lines = read_bounded(path).split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], start=1):
        row = line.removesuffix(b"\r")
        match = ROW.fullmatch(row)
        if match is None or SPACED.fullmatch(row) or not _is_utf8(row):
            raise FormatError(f"{path}: line {number}: {shown(row)} {_fault(row)}")
        if threshold is None or int(match[2] or 1) >= threshold:
            found.add(match[1])
    return found


def _is_utf8(row: bytes) -> bool:
    return row.decode("utf-8", "ignore").encode() == row


def _fault(row: bytes) -> str:
    """What is wrong with a line."""
    if not _is_utf8(row):
        return "is not UTF-8"
    if SPACED.fullmatch(row):
        return "has a space before its count, as subword-nmt writes them: put a tab there"
    if SCORE.fullmatch(row):
        return "has a score (of a .vocab file?): give pieces and counts, or pieces alone"
    return "is not a piece, or a piece, a tab and a count"
