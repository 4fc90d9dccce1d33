"""How `syllabary inspect` shows what it finds: lines and tables.

The token is the last column: whatever is in it, the others stay straight. Adds `Lines`. Leaves out: what is
found (`syllabary.inspecting`), JSON (`inspect`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from syllabary import inspecting
from syllabary.cli import colour, common
from syllabary.cli.words import plural, printable
from syllabary.inspecting import Making, Row, Rows, Taken
from syllabary.inspecting.reading import Known
from syllabary.inspecting.vocabulary import marks_of

NAMED_SHOWN = 20  # special tokens, and tokens that nothing encodes to
SINGLE = 16  # lengths with a line each; above, powers of two
BAR = 40
LONG = 200  # characters of an option or a record that are shown
BLOCK = 1 << 16  # rows whose numbers are measured at once
TENS = 10 ** np.arange(1, 19)  # the smallest numbers of two digits, of three, …
HEAD = ("id", "bytes", "chars", "piece")
MODELS = {
    "list": "byte-pair encoding by a list of merges",
    "ranks": "byte-pair encoding by rank: any two neighbours that joined are a token, the lowest id first",
    "scores": "byte-pair encoding by scores (sentencepiece): the neighbours of the highest score first",
    "wordpiece": "the longest token that the rest of a word begins with",
    "unigram": "the tokens whose scores have the largest sum",
    "wordlevel": "a word is a token",
}
WHY = {"merges": "the merges do not make it", "split": "it reaches over the end of a piece"}


def integers(found: Mapping[str, Any]) -> None:
    """What a tokenizer of integers is."""
    for key in ("file", "format", "model", "unit", "vocab_size", "symbols", "merges"):
        common.data(f"  {key.replace('_', ' '):<16} {_short(found[key])}")
    common.data("\nTokens by the integers they stand for")
    for label, number in _lengths(found["figures"]["lengths"], 0):
        common.data(f"  {label:>9} {number:>9,}")


class Lines:
    """Prints; one thing after the other, with an empty line between."""

    def __init__(self, making: Making) -> None:
        """making: the tokenizer, for the tokens of ids."""
        self.vocab = making.tok.vocab
        self.making = making
        self.colours = colour.wanted()
        self.begun = False
        self.sums: list[Mapping[str, Any]] = []

    # ---- what it is ----

    def overview(self, source: Mapping[str, Any], found: Mapping[str, Any], figures: Any) -> None:
        """What the tokenizer is, then its vocabulary."""
        self._begin()
        for label, value in _told(source, found, self.making):
            self._pair(label, value)
        for label, members in (("special", found["special_tokens"]), ("added", found["added_tokens"])):
            if members:
                self._named(f"{label} tokens", members)
        if found["training"]:
            self._title("Trained")
            for key, value in found["training"].items():
                if value not in (None, [], {}, ""):
                    self._pair(key, _short(value))
        self._figures(found, figures)

    def _figures(self, found: Mapping[str, Any], figures: Any) -> None:
        self._title("Tokens by length in bytes")
        self._counts(_lengths(figures["lengths"], figures["named"]), found["vocab_size"])
        self._title("Tokens by script")
        scripts = list(figures["scripts"].items())
        self._counts(_with_named(scripts, figures["named"]), found["vocab_size"])
        self._title("Longest tokens")
        self._line("      id   bytes  token")
        for one in figures["longest"]:
            self._line(f"{one['id']:>8} {one['length']:>7}  {_token(bytes.fromhex(one['bytes']))}")
        self._title("Tokens that nothing encodes to")
        unreachable = figures["unreachable"]
        if "reason" in unreachable:
            self._line(f"  {unreachable['reason']}")
            return
        self._line(f"  {unreachable['count']:,}")
        for one in unreachable["tokens"][:NAMED_SHOWN]:
            self._line(f"{one['id']:>8}  {WHY[one['why']]}: {_token(bytes.fromhex(one['bytes']))}")
        self._more(unreachable["count"] - NAMED_SHOWN)

    def _counts(self, rows: Sequence[tuple[str, int]], size: int) -> None:
        """Numbers, their part of the whole, and a bar."""
        most = max((number for _label, number in rows), default=1)
        width = max((colour.columns(label) for label, _number in rows), default=0)
        for label, number in rows:
            bar = "█" * round(BAR * number / max(most, 1))
            line = f"  {label:<{width}} {number:>9,} {100 * number / max(size, 1):>5.1f} %  {bar}"
            self._line(line.rstrip())

    def _named(self, label: str, members: Mapping[str, int]) -> None:
        self._title(f"{label[0].upper()}{label[1:]}: {len(members):,}")
        for text, token_id in list(members.items())[:NAMED_SHOWN]:
            self._line(f"{token_id:>8}  {_token(text.encode())}")
        self._more(len(members) - NAMED_SHOWN)

    def _more(self, number: int) -> None:
        if number > 0:
            self._line(f"          and {number:,} more, which --json has")

    # ---- a text ----

    def rows(self, _text: str, rows: Rows, totals: Mapping[str, Any]) -> None:
        """A row a token, then the sums."""
        self._begin()
        head, widths = _columns(rows)
        self._line(self._bold(f"{_cells(head, widths)}  token"))
        for block in rows.blocks():
            self._line("\n".join(f"{_cells(_numbers(row), widths)}  {self._shown(row)}" for row in block))
        self.sums.append(totals)
        self._line(_sums(totals))

    def _shown(self, row: Row) -> str:
        """The token of a row; on a terminal the pieces have colours in turn."""
        token = _token(row.token)
        return colour.painted(token, row.piece) if self.colours else token

    def steps(self, pieces: Iterable[Sequence[Taken]]) -> None:
        """Every state of every piece."""
        for number, states in enumerate(pieces):
            self._line()
            self._line(self._bold(f"piece {number}"))
            for state in states:
                found = len(states) == 1 and {*map(self.making.kind, state.ids)} <= {"special", "added"}
                shown = [_token(self.vocab[one]) for one in state.ids]
                if self.colours and state.taken:
                    for at in range(state.at, state.at + len(state.made)):
                        shown[at] = colour.painted(shown[at], 0)
                self._line(f"  {'found' if found else self._step(state):>12}  {' '.join(shown)}".rstrip())
            more = ""
            if states[-1].whole and self.making.kind(states[-1].ids[0]) == "merge":
                more = f"  (its merges: --token {states[-1].ids[0]})"
            self._line(f"  {'ids':>12}  {' '.join(map(str, states[-1].ids))}{more}".rstrip())

    def _step(self, state: Taken) -> str:
        """What was done."""
        if not state.taken:
            return "units"
        if state.whole:
            return "whole piece"
        pair = " + ".join(_token(self.vocab[one]) for one in state.taken)
        if state.rank is None and state.score is None:
            return f"{'merge' if len(state.made) == 1 < len(state.taken) else 'cut again':>12}  {pair}:"
        number = f"rank {state.rank:,}" if state.rank is not None else f"score {state.score:g}"
        return f"{number:>12}  {pair}:"

    # ---- a token ----

    def token(self, found: Mapping[str, Any]) -> None:
        """One token in depth."""
        self._begin()
        data = bytes.fromhex(found["bytes"])
        self._line(self._bold(f"{found['id']}  {_token(data)}"))
        self._pair("bytes", f"{plural(len(data), 'byte')}: {data.hex(' ')}")
        none = "none: these bytes are no whole characters"
        self._pair("text", none if found["text"] is None else printable(colour.visible(data)))
        self._pair("script", found["script"])
        self._pair("special", "yes" if found["special"] else "no")
        self._pair("made", _how(found))
        if len(found["tree"]) > 1:
            self._title("Tree of merges")
            for node in found["tree"]:
                number = node["rank"] if node["rank"] is not None else node.get("score")
                label = "" if number is None else f"{number:,}" if node["rank"] is not None else f"{number:g}"
                token_id = "-" if node["id"] is None else node["id"]
                shown = f"{'  ' * node['depth']}{_token(bytes.fromhex(node['bytes']))}"
                self._line(f"{token_id:>8} {label:>9}  {shown}")
        self._used(found)

    def _used(self, found: Mapping[str, Any]) -> None:
        used = found["used_in"]
        if used is None:
            self._line("  no token is made of it: the model has no merges")
            return
        self._title(f"Made of it: {plural(used['count'], 'token')}")
        for one in used["first"]:
            self._line(f"{one['id']:>8}  {_token(bytes.fromhex(one['bytes']))}")
        if used["count"] > len(used["first"]):
            self._line(f"          and {used['count'] - len(used['first']):,} more")

    def end(self) -> None:
        """The sums of several texts."""
        if len(self.sums) > 1:
            self._begin()
            self._line(f"{plural(len(self.sums), 'text')}: {_sums(inspecting.added(self.sums))}")

    # ---- lines ----

    def _begin(self) -> None:
        if self.begun:
            self._line()
        self.begun = True

    def _title(self, text: str) -> None:
        self._line()
        self._line(self._bold(text))

    def _pair(self, label: str, value: object) -> None:
        self._line(f"  {label:<16} {value}".rstrip())

    def _bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.colours else text

    def _line(self, line: str = "") -> None:
        common.data(line)


def _sums(totals: Mapping[str, Any]) -> str:
    """The sums of a text, or of several."""
    sums = [plural(totals[name], name[:-1]) for name in ("bytes", "characters", "pieces", "tokens")]
    if totals["bytes_per_token"] is not None:
        sums.append(f"{totals['bytes_per_token']:.2f} bytes per token")
    return ", ".join(sums)


@lru_cache(maxsize=1 << 16)
def _token(token: bytes) -> str:
    """A token in quotes; nothing in it moves the cursor, or turns the order of characters."""
    return printable(colour.quoted(token))


def _cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _numbers(row: Row) -> tuple[str, ...]:
    """All columns of a row but the token."""
    made = _made((row.token, row.kind, row.rank, row.score))
    return (str(row.id), f"{row.start}-{row.end}", f"{row.first}-{row.last}", str(row.piece), made)


def _columns(rows: Rows) -> tuple[tuple[str, ...], list[int]]:
    """The names of the columns of `_numbers`, and how wide each must be, known before any row is made."""
    found, ids = [0] * len(HEAD), set[int]()
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        ids.update(np.unique(rows.ids[part]).tolist())
        here = (
            _digits(rows.ids[part]),
            _digits(rows.in_bytes[part]).sum(axis=1) + 1,  # and a hyphen
            _digits(rows.in_characters[part]).sum(axis=1) + 1,
            _digits(rows.pieces[part]),
        )
        found = [max(width, int(column.max())) for width, column in zip(found, here, strict=True)]
    known = [rows.known(token_id) for token_id in ids]
    head = (*HEAD, "score" if any(kind == "score" for _token, kind, *_rest in known) else "rank")
    widths = [*found, max((len(_made(one)) for one in known), default=0)]
    return head, [max(len(name), width) for name, width in zip(head, widths, strict=True)]


def _digits(numbers: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """How many digits each number has."""
    return np.searchsorted(TENS, numbers, side="right") + 1


def _made(known: Known) -> str:
    """The last number of a row, or what the token is."""
    _token, kind, rank, score = known
    if kind == "score" or (score is not None and rank is None and kind != "special"):
        return f"{score:g}"
    return kind if rank is None else str(rank)


def _how(found: Mapping[str, Any]) -> str:
    """How a token comes about, in words."""
    kind, alone = found["kind"], found["alone"]
    ways = {
        "special": "found in text as a whole, as --special says",
        "added": "found in text as a whole, always",
        "unknown": "stands for what has no token",
        "byte": "stands for one byte",
        "unit": "a unit, which merges begin with",
        "merge": f"by merges, the last of rank {found['rank']}",
        "score": f"by its score, {found['score']}",
        "word": "an entry of the vocabulary",
        "none": "no merge makes it",
    }
    if alone is not None and alone != [found["id"]]:
        return f"{ways[kind]}; but its own text becomes {' '.join(map(str, alone))}"
    return ways[kind]


def _told(
    source: Mapping[str, Any], found: Mapping[str, Any], making: Making
) -> Iterator[tuple[str, object]]:
    """What a tokenizer is, line by line."""
    yield "tokenizer", printable(str(source["published"] or source["file"]))
    yield "format", source["format"]
    yield "model", f"{found['model']}: {MODELS[found['merging'] or found['model']]}"
    yield "unit", found["unit"]
    yield "vocab size", f"{found['vocab_size']:,}"
    if found["alphabet"]:
        yield "alphabet", plural(found["alphabet"], "unit")
    if found["merges"] is not None:
        yield "merges", f"{found['merges']:,}"
    split = found["split"]
    yield "split", "none" if split["pattern"] is None else split["name"] or "a pattern of its own"
    if split["pattern"] is not None:
        yield "pattern", printable(split["pattern"]) + ("" if split["keep_unmatched"] else " (rest dropped)")
    for name in ("normalizer", "pretokenizer", "decoder"):
        if found[name]:
            yield name, ", ".join(map(_step_words, found[name]))
    if found["post_processor"]:
        yield "post-processor", ", ".join(found["post_processor"])
    yield from _further(found, making)


def _further(found: Mapping[str, Any], making: Making) -> Iterator[tuple[str, object]]:
    """What few tokenizers have."""
    if marks := marks_of(making.spec):
        yield "marks", printable(", ".join(marks))
    if found["whole_pieces"]:
        yield "whole pieces", "a piece that is a token becomes it at once"
    if found["fallback"]:
        yield "fallback", "what has no unit is spelled with smaller ones"
    if found["byte_tokens"]:
        yield "byte tokens", found["byte_tokens"]
    if found["unused"]:
        yield "unused tokens", f"{found['unused']}, which are cut again or never made"
    if found["unknown"] is not None:
        yield "unknown", f"{found['unknown']['id']} {_token(bytes.fromhex(found['unknown']['bytes']))}"
    if found["dropout"]:
        yield "dropout", found["dropout"]


def _step_words(step: Mapping[str, Any]) -> str:
    options = ", ".join(f"{name}={_short(repr(value))}" for name, value in step["options"].items())
    return f"{step['kind']}({options})" if options else str(step["kind"])


def _short(value: object) -> str:
    """A value of a file on one line of bounded length."""
    text = printable(value if isinstance(value, str) else repr(value))
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _lengths(lengths: Mapping[int, int], named: int) -> list[tuple[str, int]]:
    """A line a length, and one for each power of two above 16.

    >>> _lengths({1: 256, 2: 9, 17: 1, 30: 2, 40: 1}, 3)
    [('1', 256), ('2', 9), ('17-32', 3), ('33-64', 1), ('special, added', 3)]
    """
    rows: dict[str, int] = {}
    for length, number in sorted(lengths.items()):
        label, top = str(length), 2 * SINGLE
        if length > SINGLE:
            while length > top:
                top *= 2
            label = f"{top // 2 + 1}-{top}"
        rows[label] = rows.get(label, 0) + number
    return _with_named(list(rows.items()), named)


def _with_named(rows: list[tuple[str, int]], named: int) -> list[tuple[str, int]]:
    return [*rows, ("special, added", named)] if named else rows
