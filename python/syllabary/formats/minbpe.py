r"""minbpe's `.model`: `minbpe v1`, the pattern, the number of special tokens, they, then the merges.

    minbpe v1
    {pattern, or nothing: no split}
    {number of special tokens}
    {special token} {id}            one a line
    {left id} {right id}            one a line; the n-th merge makes id 256 + n

Bytes are ids 0 … 255. The pattern is one of Python's module `regex`, run with `findall`: text between matches
is dropped, and a capturing group would be returned in place of the match. Its classes are read by the tables
"tiktoken", which are the closest. Written and read alike only if both dialects mean the same
(`minbpe_pattern`). minbpe strips the lines that it reads and cuts them at any white space; what that would
change is refused. Leaves out: `.vocab`, which is for looking at.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from syllabary.errors import FormatError, PatternError
from syllabary.files import read_bounded
from syllabary.formats.extras import refuse_extras, without_extras
from syllabary.formats.loss import Loss
from syllabary.formats.minbpe_pattern import findall_pattern, foreign
from syllabary.formats.patterns import check_runs
from syllabary.formats.ranks import check_rank_order, recover_merges
from syllabary.formats.record import Facts, Format, Hints, cannot_hold, checked
from syllabary.formats.signs import MINBPE_LINE, SIGNS
from syllabary.reference.check import MAX_ID, check_spec
from syllabary.reference.rank_merges import Merge
from syllabary.reference.symbols import plural, shown, they_are
from syllabary.spec import SplitSpec, TokenizerSpec

NAME = "minbpe"
PAIR = re.compile(r"([0-9]{1,10}) ([0-9]{1,10})")
MAX_BYTES = 256 << 20  # of all tokens together: a merge can double one


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a model. `FormatError` with the line for what is damaged or means something else."""
    hints.refuse(path, NAME)
    return parse(read_bounded(path), path)


def parse(data: bytes, path: Path) -> TokenizerSpec:
    """The same for the bytes of a file."""
    rows = _Rows(data, path)
    if rows.next("'minbpe v1'") != MINBPE_LINE.decode():
        raise rows.error("is not 'minbpe v1'")
    pattern = _read_pattern(rows)
    special = _read_special(rows)
    tokens = {byte: bytes([byte]) for byte in range(256)}
    merges = _read_merges(rows, tokens)
    spec = TokenizerSpec(
        unit="byte",
        split=SplitSpec(pattern or None, keep_unmatched=not pattern),
        tokens=tokens,
        alphabet={bytes([byte]): byte for byte in range(256)},
        merges=merges,
        special_tokens=special,
    )
    return checked(spec, path)


def write(spec: TokenizerSpec) -> bytes:
    """The model; `FormatError` names what it cannot hold."""
    check_spec(spec)
    if error := refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)):
        raise error
    refuse_extras(spec, NAME)
    if spec.added_tokens:
        raise cannot_hold(NAME, f"added tokens, as {next(iter(spec.added_tokens))!r}")
    pattern = _written_pattern(spec.split)
    merges = _merges(spec)
    _check_ids(spec, merges)
    for token in spec.special_tokens:
        if token.split() != [token]:
            raise cannot_hold(NAME, f"the special token {shown(token)}: its lines are cut at white space")
    lines = [MINBPE_LINE.decode(), pattern, str(len(spec.special_tokens))]
    lines += [f"{token} {token_id}" for token, token_id in spec.special_tokens.items()]
    lines += [f"{left} {right}" for left, right, _result in merges]
    return "".join(f"{line}\n" for line in lines).encode()


def refuses(facts: Facts) -> FormatError | None:
    """The error for other symbols than all 256 bytes."""
    if facts.unit != "byte":
        return cannot_hold(NAME, f"tokens of the unit {facts.unit!r}, only bytes")
    if facts.end_of_word is not None:
        return cannot_hold(NAME, f"the end-of-word mark {facts.end_of_word!r}")
    return cannot_hold(NAME, 'alphabet="seen": its bytes are all 256') if facts.alphabet == "seen" else None


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """A byte-level tokenizer with ids as minbpe has them, and what was lost."""
    if refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)):
        return spec, ()
    kept, losses = without_extras(spec, NAME)
    if kept.split.tables != "tiktoken":
        kept = dataclasses.replace(kept, split=dataclasses.replace(kept.split, tables="tiktoken"))
        sentence = "The Unicode tables of the split are lost: ids can change around rare characters."
        losses += (Loss(sentence, "some"),)
    if kept.added_tokens:
        special = {**kept.special_tokens, **kept.added_tokens}
        kept = dataclasses.replace(kept, special_tokens=special, added_tokens={})
        sentence = "Added tokens become special ones: they match only where allowed, so ids can change."
        losses += (Loss(sentence, "some"),)
    held, more = _renumbered(kept)
    return held, losses + more


class _Rows:
    """The lines of a file, one after the other, and where we are."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.path, self.number = path, 0
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise FormatError(f"{path}: line {line}: not UTF-8 ({error.reason})") from error
        self.lines = text.removesuffix("\n").split("\n")

    def next(self, what: str) -> str:
        """The next line without its end."""
        self.number += 1
        if self.number > len(self.lines):
            raise FormatError(f"{self.path}: ends before line {self.number}, {what}: cut short")
        return self.lines[self.number - 1].removesuffix("\r")

    def rest(self) -> Iterator[str]:
        """All lines that are left."""
        while self.number < len(self.lines):
            yield self.next("a merge")

    def error(self, message: str) -> FormatError:
        """The exception for the line read last."""
        return FormatError(f"{self.path}: line {self.number}: {message}")


def _read_pattern(rows: _Rows) -> str:
    """The pattern, which runs and means the same here; none is empty."""
    pattern = rows.next("the pattern")
    if pattern:
        try:
            check_runs(pattern, "tiktoken")
        except PatternError as error:
            raise rows.error(f"the pattern {pattern!r}: {error}") from error
    if reason := foreign(pattern):
        raise rows.error(f"the pattern {pattern!r}: {reason}")
    return pattern


def _read_special(rows: _Rows) -> dict[str, int]:
    """The special tokens, as many as the line before them says."""
    digits = rows.next("the number of special tokens")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise rows.error(f"{shown(digits)} is not the number of special tokens")
    special: dict[str, int] = {}
    for _token in range(int(digits)):
        line = rows.next("a special token")
        parts = line.split()
        number = parts[1] if len(parts) == 2 else ""
        if not (number.isascii() and number.isdigit() and len(number) <= 10 and int(number) <= MAX_ID):
            raise rows.error(f"{shown(line)} is not a special token and its id")
        if parts[0] in special:
            raise rows.error(f"the special token {shown(parts[0])} is given twice")
        special[parts[0]] = int(number)
    return special


def _read_merges(rows: _Rows, tokens: dict[int, bytes]) -> tuple[Merge, ...]:
    """The merges; what they make is added to `tokens`."""
    merges: list[Merge] = []
    seen: set[tuple[int, int]] = set()
    size = 0
    for line in rows.rest():
        found = PAIR.fullmatch(line)
        if found is None:
            raise rows.error(f"{shown(line)} is not two ids with one space between them")
        left, right, made = int(found[1]), int(found[2]), 256 + len(merges)
        if max(left, right) >= made:
            raise rows.error(f"merges id {max(left, right)}, but this line makes id {made}: use those below")
        if (left, right) in seen:
            raise rows.error(f"the pair {left} {right} is given twice")
        seen.add((left, right))
        tokens[made] = tokens[left] + tokens[right]
        size += len(tokens[made])
        if size > MAX_BYTES:
            raise rows.error(f"the tokens so far have more than {MAX_BYTES} bytes: no tokenizer's have")
        merges.append((left, right, made))
    return tuple(merges)


def _written_pattern(split: SplitSpec) -> str:
    """The pattern's line: with text between matches as pieces of their own, where the split has them."""
    if split.pattern is None:
        return ""
    if split.tables != "tiktoken":
        raise cannot_hold(NAME, f"a split by the Unicode tables {split.tables!r}")
    pattern = findall_pattern(split)
    if reason := foreign(pattern):
        raise cannot_hold(NAME, f"the split pattern {split.pattern!r}: {reason}")
    return pattern


def _merges(spec: TokenizerSpec) -> tuple[Merge, ...]:
    """The merges, those of rank order included; `FormatError` where whole pieces are tokens otherwise."""
    if spec.merges is not None and not spec.whole_pieces:
        return spec.merges
    merges = recover_merges(spec.tokens) if spec.merges is None else spec.merges
    check_rank_order(dataclasses.replace(spec, merges=merges, whole_pieces=False), NAME)
    return merges


def _check_ids(spec: TokenizerSpec, merges: tuple[Merge, ...]) -> None:
    """Raise `FormatError` for ids that minbpe would not give."""
    for byte in range(256):
        if spec.alphabet.get(bytes([byte])) != byte:
            held = spec.alphabet.get(bytes([byte]), "none")
            raise cannot_hold(NAME, f"ids of bytes other than 0 … 255: byte 0x{byte:02X} has {held}")
    for place, (left, right, made) in enumerate(merges, start=256):
        if made != place or max(left, right) >= made:
            raise cannot_hold(NAME, f"ids of merges other than 256, 257, …: merge {place - 256} makes {made}")
    if len(spec.tokens) > 256 + len(merges):
        odd = next(token_id for token_id in spec.tokens if token_id >= 256 + len(merges))
        raise cannot_hold(NAME, f"the token {shown(spec.tokens[odd])} (id {odd}), which no merge makes")


def _renumbered(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """Bytes 0 … 255, merges from 256 on, special tokens where they are or, if that is taken, behind them."""
    merges = recover_merges(spec.tokens) if spec.merges is None else spec.merges
    if len({made for _left, _right, made in merges}) < len(merges):
        return spec, ()  # two merges make one token, which minbpe has no words for
    losses: list[Loss] = []
    ids = {symbol_id: symbol[0] for symbol, symbol_id in spec.alphabet.items()}
    if len(ids) < 256:
        few = plural(256 - len(ids), "byte")
        losses.append(Loss(f"{few} outside the alphabet: given ids, as all have there.", "some"))
    for place, (left, right, made) in enumerate(merges, start=256):
        if left not in ids or right not in ids:
            return spec, ()
        ids[made] = place
    if gone := [token for token_id, token in spec.tokens.items() if token_id not in ids]:
        lost = they_are(len(gone), "token")
        losses.append(Loss(f"{lost} lost that no merge makes: ids change where they occur.", "some"))
    if spec.whole_pieces and (spec.merges is not None or gone):
        losses.append(Loss("Whole pieces are merged, not looked up: ids can change.", "some"))
    if any(old != new for old, new in ids.items()):
        losses.append(Loss("The ids change: minbpe numbers bytes by value and merges from 256 on.", "all"))
    tokens = {byte: bytes([byte]) for byte in range(256)}
    tokens |= {ids[made]: spec.tokens[made] for _left, _right, made in merges}
    taken, special = set(tokens), dict[str, int]()
    free = max([*tokens, *spec.special_tokens.values()]) + 1
    for token, token_id in spec.special_tokens.items():
        if token.split() != [token]:
            lost = f"The special token {shown(token)} is lost: where it matched, ids change."
            losses.append(Loss(lost, "some"))
            continue
        special[token] = token_id if token_id not in taken else free
        free += token_id in taken
    if any(special[token] != spec.special_tokens[token] for token in special):
        losses.append(Loss("Special tokens get other ids, behind the merges.", "some"))
    held = dataclasses.replace(
        spec,
        tokens=tokens,
        alphabet={bytes([byte]): byte for byte in range(256)},
        merges=tuple((ids[left], ids[right], ids[made]) for left, right, made in merges),
        special_tokens=special,
        whole_pieces=False,
    )
    return held, tuple(losses)


FORMAT = Format(SIGNS[NAME], read, write, refuses, reduce=reduce)
