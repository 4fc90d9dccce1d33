"""subword-nmt's codes files: `#version: 0.2`, then one merge a line.

Versions 0.1, 0.2 and `0.2 byte` (`subword_nmt_codes` says what they mean and which ids they get). The ids of
a text are the tokens of its lines: words are parted by U+0020 and the ends of lines, which are dropped;
`</w>` ends each word. A character that the codes do not hold is an `UnknownSymbolError`, where subword-nmt,
which has no ids, passes it through. What is read is written again byte for byte.
Adds the format; leaves out: the vocabulary filter, glossaries and `@@` (`syllabary.compat.subword_nmt`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats import subword_nmt_codes as codes
from syllabary.formats.extras import refuse_extras, without_extras
from syllabary.formats.loss import Loss
from syllabary.formats.record import Facts, Format, Hints, cannot_hold, checked
from syllabary.formats.signs import SIGNS
from syllabary.formats.subword_nmt_codes import HEADERS, MARK, NAME, SPLIT, Codes, Kind, Pair
from syllabary.formats.subword_nmt_vocab import order_of, read_vocabulary
from syllabary.reference.check import check_spec
from syllabary.reference.symbols import shown, they_are
from syllabary.spec import TokenizerSpec

HELD = ("mark_apart",)  # of what goes beyond symbols and merges


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a codes file. `FormatError` names the line of what is no merge.

    Also refused: codes in which a merge makes a token that an earlier merge uses, where subword-nmt's
    order of merging would differ from the one here.
    """
    hints.refuse(path, NAME)
    return read_codes(path)


def read_codes(path: Path, vocabulary: Path | None = None, separator: str = "@@") -> TokenizerSpec:
    """The tokenizer of a codes file; with a vocabulary file its tokens have the numbers of their lines.

    The first line of the vocabulary is id 0. Symbols that only the vocabulary knows are in the alphabet.
    """
    found = codes.parse(read_bounded(path), path)
    order: Mapping[bytes, int] = {}
    if vocabulary is not None:
        if found.kind == "0.1":
            raise FormatError(
                f"{vocabulary}: ids by a vocabulary need codes of version 0.2: in 0.1 the mark can be a "
                "token of its own, and no vocabulary lists it"
            )
        order = order_of(read_vocabulary(vocabulary, utf8=found.kind != "byte"), separator)
    more = [token for token in order if len(codes.spell(token, found.kind)) == 1]
    spec = codes.build(found.pairs, found.kind, order, more)
    if (again := codes.remade(spec)) is not None:
        rank, earlier = again
        left, right = found.pairs[rank]
        raise FormatError(
            f"{path}: line {found.lines[rank]}: makes {shown(left + right)}, which line "
            f"{found.lines[earlier]} uses already: subword-nmt would merge in another order; "
            "syllabary.compat.subword_nmt runs such codes"
        )
    return checked(dataclasses.replace(spec, carried=_carried(found)), path)


def write(spec: TokenizerSpec) -> bytes:
    """The codes file; `FormatError` names what it cannot hold, ids that do not follow from it among them."""
    check_spec(spec)
    kind = _kind(spec)
    refuse_extras(spec, NAME, HELD)
    if spec.split != SPLIT:
        raise cannot_hold(NAME, f"a split: its words are the matches of {SPLIT.pattern!r}")
    for what, held in (("special tokens", spec.special_tokens), ("added tokens", spec.added_tokens)):
        if held:
            raise cannot_hold(NAME, f"{what}, as {shown(next(iter(held)))}")
    pairs = _pairs(spec)
    _check_pairs(spec, pairs, kind)
    again = codes.build(pairs, kind)
    if dict(again.alphabet).keys() != dict(spec.alphabet).keys():
        odd = sorted(set(again.alphabet) ^ set(spec.alphabet))[0]
        raise cannot_hold(NAME, f"an alphabet that is not that of its merges: {shown(odd)} is in one of them")
    if again.tokens != dict(spec.tokens) or again.merges != spec.merges:
        raise cannot_hold(NAME, "ids, and these are not the ones that reading it would give")
    return _lines(spec, pairs, kind)


def refuses(facts: Facts) -> FormatError | None:
    """The error for words without the mark, and for a fallback to bytes."""
    if facts.end_of_word != MARK:
        return cannot_hold(NAME, f"words without the mark {MARK} at their end (end_of_word={MARK!r})")
    if facts.unit == "word" or facts.fallback:
        return cannot_hold(NAME, "a fallback" if facts.fallback else "tokens of the unit 'word'")
    return None


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """What the codes of a tokenizer with `</w>` hold, and what was lost."""
    if refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)) or spec.merges is None:
        return spec, ()
    kept, losses = without_extras(spec, NAME, HELD)
    if kept.special_tokens or kept.added_tokens:
        count = len(kept.special_tokens) + len(kept.added_tokens)
        which = they_are(count, "special or added token")
        losses += (Loss(f"The {which} lost: ids change where they matched.", "some"),)
    if kept.split != SPLIT:
        sentence = (
            "The split is lost: words are parted by U+0020 and line ends alone, so ids can change where "
            "the text has other boundaries."
        )
        losses += (Loss(sentence, "some"),)
    kind = _kind(kept)
    again = codes.build(_pairs(kept), kind)
    if gone := sorted(set(kept.alphabet) - set(again.alphabet)):
        sentence = (
            f"{they_are(len(gone), 'symbol')} lost that no merge uses, the first {shown(gone[0])}: text with "
            "them has no ids any more."
        )
        losses += (Loss(sentence, "some"),)
    if again.tokens != dict(kept.tokens):
        sentence = "The ids are lost: reading the file gives each token the id of its place, so ids change."
        losses += (Loss(sentence, "all"),)
    return dataclasses.replace(again, carried=kept.carried, record=kept.record), losses


def _kind(spec: TokenizerSpec) -> Kind:
    """Version and unit; `FormatError` for a tokenizer that codes have no kind for."""
    if error := refuses(Facts(spec.unit, spec.fallback, spec.end_of_word)):
        raise error
    if spec.merges is None or spec.whole_pieces:
        raise cannot_hold(NAME, "tokens without merges" if spec.merges is None else "whole pieces as tokens")
    if spec.mark_apart and spec.unit == "byte":
        raise cannot_hold(NAME, "a mark apart from bytes")
    if spec.unit == "byte":
        return "byte"
    return "0.1" if spec.mark_apart else "0.2"


def _pairs(spec: TokenizerSpec) -> tuple[Pair, ...]:
    return tuple((spec.tokens[left], spec.tokens[right]) for left, right, _id in spec.merges or ())


def _check_pairs(spec: TokenizerSpec, pairs: tuple[Pair, ...], kind: Kind) -> None:
    """Raise `FormatError` for merges that would be read as other merges, or in another order."""
    if len(set(pairs)) < len(pairs):
        raise cannot_hold(NAME, "a pair twice: of two lines the first would count")
    for left, right in pairs:
        for part in (left, right):
            if b" " in part or b"\n" in part or part[:1] == b"\r" or part[-1:] == b"\r":
                raise cannot_hold(NAME, f"the token {shown(part)}: spaces and line ends part its tokens")
    if (again := codes.remade(spec)) is not None:
        made = shown(b"".join(pairs[again[0]]))
        raise cannot_hold(NAME, f"merge {again[0]}: it makes {made}, which merge {again[1]} uses already")
    if kind == "0.1" and pairs and pairs[0][0].startswith(b"#version:"):
        raise cannot_hold(NAME, "a first token that begins with '#version:'")


def _carried(found: Codes) -> dict[str, object]:
    """What a file holds beside its merges, if that is not what `write` would write anyway."""
    carried: dict[str, object] = {}
    if found.header != HEADERS[found.kind]:
        carried["header"] = found.header.decode("ascii")
    if found.duplicates:
        carried["duplicates"] = [[place, rank] for place, rank in found.duplicates]
        carried["merges"] = len(found.pairs)
    if not found.ended:
        carried["ended"] = False
    return {NAME: carried} if carried else {}


def _lines(spec: TokenizerSpec, pairs: tuple[Pair, ...], kind: Kind) -> bytes:
    """The file: header, merges, and the lines that gave a pair again where they stood."""
    header, again, ended = _kept(spec, len(pairs), kind)
    own = iter(pairs)
    rows = [pairs[again[place]] if place in again else next(own) for place in range(len(pairs) + len(again))]
    data = header + b"".join(b"%s %s\n" % row for row in rows)
    return data if ended or not rows else data[:-1]


def _kept(spec: TokenizerSpec, count: int, kind: Kind) -> tuple[bytes, dict[int, int], bool]:
    """What is carried of a file that was read: its header, place -> rank of pairs given again, its end.

    Other merges than it had have none given again. `FormatError` for what reading never carries.
    """
    carried = spec.carried.get(NAME, {})
    wrong = cannot_hold(NAME, f"what carried[{NAME!r}] says: no file that was read left that there")
    if not isinstance(carried, Mapping):
        raise wrong
    header, ended = carried.get("header", HEADERS[kind].decode()), carried.get("ended", True)
    again = carried.get("duplicates", []) if carried.get("merges") == count else []
    places: dict[int, int] = {}
    for one in again if isinstance(again, (list, tuple)) else [again]:
        if not (isinstance(one, (list, tuple)) and [*map(type, one)] == [int, int] and 0 <= one[1] < count):
            raise wrong
        places[one[0]] = one[1]
    fits = len(places) == len(again) and all(0 <= place < count + len(places) for place in places)
    if not (fits and isinstance(header, str) and isinstance(ended, bool)):
        raise wrong
    data = header.encode("utf-8", "replace")
    if data != HEADERS[kind] and (data.count(b"\n") != 1 or codes.parse(data, Path(NAME)).header != data):
        raise wrong
    if data and codes.parse(data, Path(NAME)).kind != kind:
        raise wrong
    return data, places, ended


FORMAT = Format(SIGNS[NAME], read, write, refuses, reduce=reduce)
