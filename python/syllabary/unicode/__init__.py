r"""Character classes, pinned to the libraries that own them.

`\p{L}` is a question of version: Python's `unicodedata`, its `regex`, tiktoken and tokenizers each carry
another Unicode. A tokenizer means the tables of the library that it was made for, so the sets here are those
that the peers answered when asked about every code point (`tools/unicode_tables.py` -> `tables.txt`).
There are two tables: `"tiktoken"` and `"onig"` (tokenizers' Oniguruma, which differs in `\w` alone).
Leaves out: patterns (`syllabary.reference.pattern`). The file is read at the first question, not at import.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from syllabary.errors import PatternError
from syllabary.spec import Tables
from syllabary.unicode.codepoints import (
    SCALARS,
    Ranges,
    complement,
    difference,
    intersection,
    normal,
    single,
    symmetric_difference,
    union,
)

__all__ = [
    "SCALARS", "Ranges", "class_names", "complement", "difference", "fold", "fold_orbits", "intersection",
    "ranges", "single", "symmetric_difference", "union",
]  # fmt: skip

Sections = dict[str, dict[str, Ranges]]

# Long names of the general categories (Unicode's PropertyValueAliases), in the loose form of `_key`.
_LONG = {
    "letter": "L", "casedletter": "LC", "uppercaseletter": "Lu", "lowercaseletter": "Ll",
    "titlecaseletter": "Lt", "modifierletter": "Lm", "otherletter": "Lo",
    "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
    "number": "N", "decimalnumber": "Nd", "digit": "Nd", "letternumber": "Nl", "othernumber": "No",
    "punctuation": "P", "punct": "P", "connectorpunctuation": "Pc", "dashpunctuation": "Pd",
    "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi",
    "finalpunctuation": "Pf", "otherpunctuation": "Po",
    "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So",
    "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl", "paragraphseparator": "Zp",
    "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "privateuse": "Co", "unassigned": "Cn",
    "whitespace": r"\s", "wspace": r"\s", "space": r"\s", "word": r"\w",
    "alpha": "Alphabetic", "upper": "Uppercase", "lower": "Lowercase",
}  # fmt: skip


def _parse(text: str) -> Sections:
    """The text of `tables.txt` -> section -> class -> set; the lines of `[fold]` are numbered."""
    sections: Sections = {}
    current: dict[str, Ranges] = {}
    for line in text.splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, *spans = line.split()
            pairs = (span.partition("-") for span in spans)
            key = f"={len(current)}" if name == "=" else name
            current[key] = tuple((int(low, 16), int(high or low, 16)) for low, _, high in pairs)
    return sections


@lru_cache(maxsize=1)
def _sections() -> Sections:
    """The whole of `tables.txt`, read once."""
    return _parse(Path(__file__).with_name("tables.txt").read_text(encoding="utf-8"))


def _key(name: str) -> str:
    """Unicode's loose matching: case, spaces, `-` and `_` do not count; `\\s` and its like are exact."""
    if name.startswith("\\"):
        return name
    return "".join(char for char in name.lower() if char not in " -_")


@lru_cache(maxsize=2)
def _classes(table: Tables) -> dict[str, Ranges]:
    """Loose name -> set, for the classes that the file lists and the unions of categories."""
    sections = _sections()
    listed = {
        name: spans
        for section in ("category", "perl", "property", "script")
        for name, spans in sections[section].items()
    }
    if table == "onig":
        listed |= sections["onig"]
    for group in "LMNPSZC":
        listed[group] = union(*(s for name, s in sections["category"].items() if name[0] == group))
    listed["LC"] = union(listed["Lu"], listed["Ll"], listed["Lt"])
    listed["Cs"] = ()  # no text holds a surrogate
    listed["Any"] = SCALARS
    listed["Assigned"] = complement(listed["Cn"])
    listed["ASCII"] = ((0, 0x7F),)
    return {_key(name): spans for name, spans in listed.items()}


def ranges(table: Tables, class_name: str) -> Ranges:
    r"""The code points of a class: `((low, high), ...)`, ascending, both ends included, no surrogates.

    table: `"tiktoken"` or `"onig"`.
    class_name: what stands in `\p{...}` (`L`, `Lu`, `Letter`, `White_Space`, `Han`, `Script=Han`, `sc=Han`,
        `gc=Lu`; case, `-`, `_` and spaces do not count), or `\s`, `\w`, `\d`.
    Raises `PatternError` naming a class that does not exist.

    >>> ranges("tiktoken", "Zs")[:2]
    ((32, 32), (160, 160))
    >>> ranges("onig", "Script=Lydian")
    ((67872, 67897), (67903, 67903))
    """
    classes = _classes(table)
    prefix, equals, value = class_name.partition("=")
    if not equals:
        key = _key(class_name)
        key = _key(_LONG.get(key, key))
        if key in classes:
            return classes[key]
    else:
        key = _key(value)
        if _key(prefix) in ("sc", "script") and key in map(_key, _sections()["script"]):
            return classes[key]
        key = _key(_LONG.get(key, key))
        if _key(prefix) in ("gc", "generalcategory") and (key in _categories() or key == "any"):
            return classes[key]
    raise PatternError(
        f"unknown character class {class_name!r}: known are general categories, scripts, White_Space, "
        "Alphabetic, Uppercase, Lowercase, Any, ASCII, Assigned"
    )


def _categories() -> set[str]:
    """Loose names of the general categories and their groups."""
    return {_key(name) for name in [*_sections()["category"], *"LMNPSZC", "LC", "Cs"]}


def class_names() -> dict[str, list[str]]:
    """The names that `tables.txt` lists, by section: `category`, `perl`, `property`, `script`."""
    return {section: list(_sections()[section]) for section in ("category", "perl", "property", "script")}


@lru_cache(maxsize=1)
def fold_orbits() -> tuple[Ranges, ...]:
    """The sets of two or more characters that are one without case."""
    return tuple(_sections()["fold"].values())


@lru_cache(maxsize=4096)
def fold(members: Ranges) -> Ranges:
    """The set without case: with each member all that simple case folding holds equal to it.

    >>> [chr(low) for low, high in fold(((0x73, 0x73),))]
    ['S', 's', 'ſ']
    """
    touched = [orbit for orbit in fold_orbits() if _meet(orbit, members)]
    return normal([*members, *(span for orbit in touched for span in orbit)])


def _meet(orbit: Ranges, members: Ranges) -> bool:
    """Whether two sets share a member; the second may be long, the first is short."""
    return any(low <= last and first <= high for first, last in orbit for low, high in members)
