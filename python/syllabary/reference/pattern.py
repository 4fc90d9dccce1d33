r"""A split pattern, written for the engines that run it with its meaning unchanged.

`to_regex`: for Python's `regex`, every class spelled by the code points of the pinned tables, so that the
version of Unicode that `regex` carries has no say, nor has its idea of case.
`to_onig`: for Oniguruma in Ruby's dialect, which runs Hugging Face's `Split(Regex(...))`. Its traps:
`^` and `$` match at every line; `{1,3}+` is not possessive and `{2}?` not lazy; `\w` and `\b` follow other
tables; `(?i:...)` folds one character to several (`ss`, U+00DF).
Leaves out: the syntax itself (`pattern_parser`), and running it (`split`).

What "matches the empty string" means: a pattern that finds a match in the empty text is refused when it is
compiled (`a*`), because there is no piece to give; one that can match empty elsewhere (`(?=a)`, `\b`) is
refused when it does so in a text, with the offset.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import regex

from syllabary.errors import PatternError
from syllabary.reference.pattern_nodes import (
    Anchor,
    Atomic,
    BackReference,
    Chars,
    Choice,
    Group,
    LookAround,
    Node,
    Repeat,
    Sequence,
    has_back_reference,
    width,
)
from syllabary.reference.pattern_parser import Parser
from syllabary.spec import Tables
from syllabary.unicode import Ranges, complement, ranges

# The places of a text, in syntax that both engines share; `{end}` is the end of the text.
PLACES = {
    "text start": r"\A",
    "text end": "{end}",
    "line start": r"(?<![^\n])",
    "line end": r"(?![^\n])",
    "last line": r"(?=\n*{end})",
    "word boundary": "(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
    "no word boundary": "(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
}
SUFFIX = {"greedy": "", "lazy": "?", "possessive": "+"}


def parse(pattern: str, tables: Tables = "tiktoken") -> Node:
    """A pattern -> its tree. Raises `PatternError` with the offset of what it does not support."""
    try:
        return Parser(pattern, tables).parse()
    except RecursionError as error:
        raise PatternError(f"pattern {pattern[:40]!r}… is nested too deeply") from error


@lru_cache(maxsize=64)
def to_regex(pattern: str, tables: Tables = "tiktoken") -> regex.Pattern[str]:
    """A pattern -> the compiled `regex` pattern with the same matches.

    Raises `PatternError` for what the subset leaves out, with its offset, and for a pattern that matches
    the empty text.

    >>> to_regex(r"(?i:s)").findall("s S \u017f z")
    ['s', 'S', 'ſ']
    """
    node = parse(pattern, tables)
    word = ranges(tables, r"\w")
    text = _write(node, _regex_chars, PLACES_OF["regex"](_regex_chars(Chars(word))), _plain_repeat)
    try:
        compiled = regex.compile(text, regex.VERSION0)
    except regex.error as error:
        raise PatternError(f"split pattern {pattern!r} does not compile: {error}") from error
    if compiled.search("") is not None:
        raise PatternError(
            f"split pattern {pattern!r} matches the empty string, which is no piece; "
            "repeat with + instead of *, or ask for one character at least"
        )
    return compiled


@lru_cache(maxsize=64)
def to_onig(pattern: str) -> str:
    r"""A pattern -> the text that means the same to Oniguruma (Ruby syntax), by tiktoken's tables.

    Raises `PatternError` for what the subset leaves out, and for a look-behind whose width varies.

    >>> to_onig(r"'(?i:[sd]|ll)|\p{N}{1,3}+|\s++$")
    "'(?:[DSds\\x{17F}]|[Ll][Ll])|(?>\\p{N}{1,3})|\\s++\\z"
    """
    node = parse(pattern)
    _check_look_behind(pattern, node)
    word = _onig_chars(Chars(ranges("tiktoken", r"\w")))
    captures = has_back_reference(node)
    return _write(node, _onig_chars, PLACES_OF["onig"](word), _onig_repeat, captures)


def _places(end: str) -> Callable[[str], dict[str, str]]:
    """The spelling of the end of the text -> (the class of word characters -> place -> text)."""
    return lambda word: {
        place: text.replace("{end}", end).replace("{word}", word) for place, text in PLACES.items()
    }


PLACES_OF = {"regex": _places(r"\Z"), "onig": _places(r"\z")}


def _write(
    node: Node,
    chars: Callable[[Chars], str],
    places: dict[str, str],
    repeat: Callable[[str, Repeat], str],
    captures: bool = True,
) -> str:
    """A tree -> pattern text; `chars`, `places` and `repeat` are what the dialects spell differently."""

    def text(item: Node) -> str:
        if isinstance(item, Chars):
            return chars(item)
        if isinstance(item, Sequence):
            return "".join(f"(?:{text(i)})" if isinstance(i, Choice) else text(i) for i in item.items)
        if isinstance(item, Choice):
            return "|".join(map(text, item.items))
        if isinstance(item, Repeat):
            inner = text(item.item)
            return repeat(inner if isinstance(item.item, (Chars, Group)) else f"(?:{inner})", item)
        if isinstance(item, Group):
            return f"({text(item.item)})" if captures else f"(?:{text(item.item)})"
        if isinstance(item, Atomic):
            return f"(?>{text(item.item)})"
        if isinstance(item, LookAround):
            return f"{item.kind}{text(item.item)})"
        if isinstance(item, BackReference):
            return f"(?:\\{item.number})"
        return places[item.place]

    return text(node)


def _counts(node: Repeat) -> str:
    """The quantifier alone, as every dialect writes it."""
    short = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    exact = f"{{{node.low}}}" if node.low == node.high else f"{{{node.low},{node.high or ''}}}"
    return short.get((node.low, node.high), exact)


def _plain_repeat(inner: str, node: Repeat) -> str:
    """A quantified item for `regex`."""
    return inner + _counts(node) + SUFFIX[node.mode]


def _onig_repeat(inner: str, node: Repeat) -> str:
    """A quantified item for Oniguruma, to which `{n,m}+` and `{n}?` mean something else."""
    counts = _counts(node)
    if counts.startswith("{") and node.mode == "possessive":
        return f"(?>{inner}{counts})"
    if counts.startswith("{") and node.low == node.high:
        return inner + counts
    return inner + counts + SUFFIX[node.mode]


def _span_text(spans: Ranges, spell: Callable[[int], str]) -> str:
    """Ranges as the inside of a bracketed class."""
    return "".join(spell(low) if low == high else f"{spell(low)}-{spell(high)}" for low, high in spans)


def _brackets(spans: Ranges, spell: Callable[[int], str]) -> str:
    """A set as a bracketed class, or as the negation of its complement where that is shorter."""
    if not spans:
        return "(?!)"
    rest = complement(spans)
    if rest and len(rest) < len(spans):
        return f"[^{_span_text(rest, spell)}]"
    return f"[{_span_text(spans, spell)}]"


def _regex_chars(node: Chars) -> str:
    """One character of a set, for `regex`: nothing but code points.

    Not `[^a]`: of several such in a choice `regex` (2026.11.15) makes one class that excludes all of them.
    """

    def spell(point: int) -> str:
        return f"\\U{point:08X}"

    rest = complement(node.ranges)
    if len(rest) == 1 and rest[0][0] == rest[0][1]:
        return f"[{_span_text(node.ranges, spell)}]"
    return _brackets(node.ranges, spell)


def _onig_chars(node: Chars) -> str:
    """One character of a set, for Oniguruma: as written where it means the same, else by code points."""
    if node.text is not None:
        return node.text
    return _brackets(
        node.ranges,
        lambda point: chr(point) if chr(point).isascii() and chr(point).isalnum() else f"\\x{{{point:X}}}",
    )


def _check_look_behind(pattern: str, node: Node) -> None:
    """Oniguruma looks behind over a fixed width, or over several at the top of the look-behind."""
    if isinstance(node, LookAround) and node.kind in ("(?<=", "(?<!"):
        branches = node.item.items if isinstance(node.item, Choice) else (node.item,)
        if any(width(branch) is None or not _simple(branch) for branch in branches):
            raise PatternError(
                f"split pattern {pattern!r}: Oniguruma cannot run its look-behind {node.kind}...): "
                "each branch needs a fixed width and nothing but characters and places"
            )
    if isinstance(node, (Sequence, Choice)):
        for item in node.items:
            _check_look_behind(pattern, item)
    elif isinstance(node, (Repeat, Group, Atomic, LookAround)):
        _check_look_behind(pattern, node.item)


def _simple(node: Node) -> bool:
    """Whether a branch of a look-behind is characters and ends of the text alone."""
    if isinstance(node, Sequence):
        return all(map(_simple, node.items))
    if isinstance(node, Repeat):
        return _simple(node.item)
    if isinstance(node, Anchor):
        return node.place in ("text start", "text end")
    return isinstance(node, Chars)
