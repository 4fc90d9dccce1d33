"""Which Unicode script a token is in, from the tables that the splits use (`syllabary.unicode`).

Adds `script_of` for characters and texts, `text_of` for tokens without their marks. Leaves out: counting.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from syllabary.reference.bytes_to_unicode import unspell
from syllabary.spec import TokenizerSpec
from syllabary.unicode import class_names, ranges

COMMON, INHERITED, UNKNOWN = "Common", "Inherited", "Unknown"
SEVERAL = "several scripts"
PARTIAL = "partial UTF-8"  # bytes that are no whole characters


def script_of(text: str | None) -> str:
    """The one script of a text beside Common and Inherited; `Common` where there is no other.

    `None`, which stands for bytes that are no text, is "partial UTF-8"; Japanese in kana and kanji is
    several scripts.

    >>> script_of(" word"), script_of("λόγος"), script_of("漢字かな"), script_of("12, "), script_of(None)
    ('Latin', 'Greek', 'several scripts', 'Common', 'partial UTF-8')
    """
    if text is None:
        return PARTIAL
    found = {_script(character) for character in set(text)} - {COMMON, INHERITED}
    if len(found) > 1:
        return SEVERAL
    return found.pop() if found else COMMON


def text_of(spec: TokenizerSpec, token: bytes) -> str | None:
    """The text of a token without the marks of the vocabulary; `None` if it is no whole characters.

    >>> from syllabary.spec import SplitSpec
    >>> spec = TokenizerSpec("char", SplitSpec(None), {}, {}, (), end_of_word="</w>")
    >>> text_of(spec, "ς</w>".encode()), text_of(spec, b"\\xcf")
    ('ς', None)
    """
    mark, prefix = (spec.end_of_word or "").encode(), (spec.continuing_prefix or "").encode()
    plain = token.removeprefix(prefix).removesuffix(mark)
    try:
        text = plain.decode()
        if spelled(spec):
            return unspell(text).decode()
    except UnicodeDecodeError:
        return None
    except (KeyError, ValueError):  # not spelled so after all
        return text
    return text


def spelled(spec: TokenizerSpec) -> bool:
    """Whether a vocabulary of characters spells bytes as GPT-2 does, `Ġ` for a space."""
    steps = (*spec.pretokenizer, *(spec.decoder or ()))
    return spec.unit != "byte" and any(step.kind == "ByteLevel" for step in steps)


@lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    starts, found = _table()
    place = bisect_right(starts, ord(character)) - 1
    if place >= 0 and ord(character) <= found[place][1]:
        return found[place][2]
    return UNKNOWN


@lru_cache(maxsize=1)
def _table() -> tuple[list[int], list[tuple[int, int, str]]]:
    """The first code points, and `(first, last, script)`, ascending."""
    found = sorted(
        (first, last, name)
        for name in class_names()["script"]
        for first, last in ranges("tiktoken", f"Script={name}")
    )
    return [first for first, _last, _name in found], found
