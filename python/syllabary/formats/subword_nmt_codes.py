"""The lines of a subword-nmt codes file, and the tokenizer that they mean.

Three kinds, told by the first line (subword-nmt `apply_bpe.py`, `BPE.__init__`): none or `#version: 0.1`,
where the mark `</w>` is a symbol of its own; `#version: 0.2`, where it stands on the last character of a
word; and `#version: 0.2 byte`, where the symbols are bytes. Every other line is a merge: two symbols, one
U+0020 between them.

The file holds no ids. Ids go to the characters (or bytes) that the merges are spelled with, by code point;
then to the same with the mark, in version 0.1 to the mark alone; then to parts of merges that no merge makes;
then to what each merge makes, in order. Adds `parse` and `build`. Leaves out: files (`subword_nmt`) and
vocabularies (`subword_nmt_vocab`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from syllabary.errors import FormatError
from syllabary.formats.signs import STRIPPED
from syllabary.reference.merge import recreated
from syllabary.reference.symbols import shown
from syllabary.spec import SplitSpec, TokenizerSpec

NAME = "subword-nmt"
MARK = "</w>"
MARK_BYTES = MARK.encode()
# Words are parted by U+0020 and by the ends of lines, by no other white space.
SPLIT = SplitSpec(r"[^ \r\n]+", keep_unmatched=False)
HEADER = re.compile(rb"#version:[ \t]*([0-9]+(?:\.[0-9]+)*)((?:[ \t]+byte)?)[ \t]*\r?")

Kind = Literal["0.1", "0.2", "byte"]
HEADERS: dict[Kind, bytes] = {"0.1": b"", "0.2": b"#version: 0.2\n", "byte": b"#version: 0.2 byte\n"}
Pair = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Codes:
    """A codes file: its merges in rank order, each pair once.

    header: the first line with its end, or nothing.
    lines: the line number of each pair.
    duplicates: `(place among all merge lines, rank of the pair)` of lines that give a pair again.
    ended: whether the last line has an end.
    """

    kind: Kind
    pairs: tuple[Pair, ...]
    header: bytes = b""
    lines: tuple[int, ...] = ()
    duplicates: tuple[tuple[int, int], ...] = ()
    ended: bool = True


def parse(data: bytes, path: Path) -> Codes:
    """The bytes of a codes file -> its merges. `FormatError` with the line for what is no merge.

    Of a pair given twice the first line counts, as in subword-nmt.
    """
    kind, header = _header(data, path)
    body = data[len(header) :]
    first = 2 if header else 1
    ranks: dict[Pair, int] = {}
    lines: list[int] = []
    duplicates: list[tuple[int, int]] = []
    rows = body.rstrip(b"\n").split(b"\n") if body.rstrip(b"\n") else []
    for place, row in enumerate(rows):
        try:
            pair = _pair(row, kind)
        except ValueError as error:
            raise FormatError(f"{path}: line {first + place}: {error}") from error
        if pair in ranks:
            duplicates.append((place, ranks[pair]))
        else:
            ranks[pair] = len(ranks)
            lines.append(first + place)
    ended = not body or body.endswith(b"\n")
    return Codes(kind, tuple(ranks), header, tuple(lines), tuple(duplicates), ended)


def remade(spec: TokenizerSpec) -> tuple[int, int] | None:
    """Ranks of a merge that makes a token and of an earlier one that uses it already, or `None`.

    There alone subword-nmt, which merges all occurrences of a pair at once, can part from the definition
    here, one occurrence at a time.

    >>> remade(build([(b"a", b"b"), (b"ab", b"c")], "0.2")) is None
    True
    >>> remade(build([(b"ab", b"c"), (b"a", b"b")], "0.2"))
    (1, 0)
    """
    merges = spec.merges or ()
    for rank in recreated(merges):
        made = merges[rank][2]
        return rank, next(earlier for earlier, merge in enumerate(merges) if made in merge[:2])
    return None


@dataclass(frozen=True, slots=True)
class Parts:
    """What merges are spelled with: plain symbols, those with the mark, and tokens that no merge makes."""

    plain: tuple[bytes, ...]
    final: tuple[bytes, ...]
    unmade: tuple[bytes, ...] = field(default=())


def parts(pairs: Iterable[Pair], kind: Kind) -> Parts:
    """The symbols of the merges by code point, and the parts that are no symbols and that no merge makes.

    >>> parts([(b"l", b"o"), (b"lo", b"w</w>")], "0.2")
    Parts(plain=(b'l', b'o'), final=(b'w</w>',), unmade=())
    """
    pairs = list(pairs)
    used = dict.fromkeys(part for pair in pairs for part in pair)
    made = {left + right for left, right in pairs}
    plain, final = set[bytes](), {MARK_BYTES} if kind == "0.1" else set[bytes]()
    unmade: list[bytes] = []
    for part in used:
        spelled = spell(part, kind)
        if len(spelled) > 1 and part in made:
            continue  # its symbols are parts of the merges that make it, or of theirs
        marked = spelled[-1].endswith(MARK_BYTES)
        plain.update(spelled[:-1] if marked else spelled)
        final.update(spelled[-1:] if marked else ())
        if len(spelled) > 1:
            unmade.append(part)
    return Parts(tuple(sorted(plain)), tuple(sorted(final)), tuple(unmade))


def spell(token: bytes, kind: Kind) -> list[bytes]:
    """The symbols of a token, the mark where its kind has it.

    >>> spell(b"low</w>", "0.2"), spell(b"low</w>", "0.1")
    ([b'l', b'o', b'w</w>'], [b'l', b'o', b'w', b'</w>'])
    """
    stem = token.removesuffix(MARK_BYTES)
    if kind == "byte":
        symbols = [stem[at : at + 1] for at in range(len(stem))]
    else:
        symbols = [character.encode() for character in stem.decode()]
    if stem == token:
        return symbols
    if kind == "0.1":
        return [*symbols, MARK_BYTES]
    if not symbols:  # the four characters themselves
        return [MARK_BYTES[at : at + 1] for at in range(len(MARK_BYTES))]
    return [*symbols[:-1], symbols[-1] + MARK_BYTES]


def build(
    pairs: Sequence[Pair], kind: Kind, order: Mapping[bytes, int] | None = None, more: Iterable[bytes] = ()
) -> TokenizerSpec:
    """The tokenizer of some merges, with ids by the rule above.

    order: token -> id, for tokens that have one; the others follow, from the first id that is free.
    more: further symbols of the alphabet.
    """
    found = parts(pairs, kind)
    plain = {symbol for symbol in more if not symbol.endswith(MARK_BYTES)}
    alphabet = [
        *sorted(plain.union(found.plain)),
        *sorted({symbol for symbol in more if symbol not in plain}.union(found.final)),
    ]
    ids = dict(order or {})
    free = max(ids.values(), default=-1) + 1
    for token in (*alphabet, *found.unmade, *(left + right for left, right in pairs)):
        if token not in ids:
            ids[token] = free
            free += 1
    return TokenizerSpec(
        unit="byte" if kind == "byte" else "char",
        split=SPLIT,
        tokens={token_id: token for token, token_id in ids.items()},
        alphabet={symbol: ids[symbol] for symbol in dict.fromkeys(alphabet)},
        merges=tuple((ids[left], ids[right], ids[left + right]) for left, right in pairs),
        end_of_word=MARK,
        mark_apart=kind == "0.1",
    )


def _header(data: bytes, path: Path) -> tuple[Kind, bytes]:
    """The kind of a file, and its first line if that says it."""
    if not data:
        raise FormatError(f"{path}: empty: no codes file")
    if not data.startswith(b"#version:"):
        return "0.1", b""
    line = data[: data.find(b"\n")] if b"\n" in data else data
    found = HEADER.fullmatch(line)
    header = data[: len(line) + 1]
    numbers = re.sub(rb"(?:\.0+)+$", b"", found[1]) if found else b""
    if found and found[2] and numbers == b"0.2":
        return "byte", header
    if found and not found[2] and numbers in (b"0.1", b"0.2"):
        return ("0.1" if numbers == b"0.1" else "0.2"), header
    raise FormatError(
        f"{path}: line 1: {shown(line)} is no version of codes: known are 0.1, 0.2 and '0.2 byte'"
    )


def _pair(row: bytes, kind: Kind) -> Pair:
    """One line -> two symbols; `ValueError` says what is wrong with it."""
    if kind != "byte":
        try:
            row.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 at byte {error.start} of the line ({error.reason})") from error
    found = row.strip(STRIPPED).split(b" ")
    if len(found) != 2 or not all(found):
        raise ValueError(f"{shown(row)} is not two symbols with one space between them")
    return found[0], found[1]
