"""Units: what the first ids of a piece stand for, before any merge: bytes, characters, or the whole piece.

Adds the initial symbols of a piece, the mark on the last one (`</w>`), how a symbol outside the alphabet is
spelled with smaller ones, and how errors show one. Leaves out: pieces (`split`) and ids (`assemble`).
"""

from __future__ import annotations

from collections.abc import Container

from syllabary.errors import TextError
from syllabary.spec import Unit

LONGEST_SHOWN = 40


def utf8(text: str, where: str = "text") -> bytes:
    """The UTF-8 of `text`; a lone surrogate is a `TextError` with its position.

    >>> utf8("é")
    b'\\xc3\\xa9'
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"{where}: lone surrogate U+{ord(text[error.start]):04X} at character {error.start}; "
            "replace it, as by text.encode('utf-8', 'replace').decode()"
        ) from error


def shown(value: object) -> str:
    """What an error prints of a token, a symbol or whatever stands in its place: 40 characters at most.

    >>> shown(b"ab"), shown("a" * 50)
    ("b'ab'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'")
    """
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + "…")
    text = repr(value[: LONGEST_SHOWN + 1] if isinstance(value, bytes) else value)
    return text if len(text) <= LONGEST_SHOWN + len("b''") else text[:LONGEST_SHOWN] + "…"


def symbols(piece: str, unit: Unit, end_of_word: str | None = None) -> list[bytes]:
    """The initial symbols of a piece; the mark goes on the last character.

    >>> symbols("né", "byte"), symbols("né", "char"), symbols("né", "word")
    ([b'n', b'\\xc3', b'\\xa9'], [b'n', b'\\xc3\\xa9'], [b'n\\xc3\\xa9'])
    >>> symbols("low", "char", "</w>")
    [b'l', b'o', b'w</w>']
    """
    if unit == "byte":
        return [bytes([byte]) for byte in piece.encode()]
    if unit == "word":
        return [piece.encode()]
    characters = [character.encode() for character in piece]
    if end_of_word is not None and characters:
        characters[-1] += end_of_word.encode()
    return characters


def smaller_symbols(
    symbol: bytes, unit: Unit, alphabet: Container[bytes], end_of_word: str | None = None
) -> list[bytes]:
    """Fallback: a symbol outside the alphabet, spelled with smaller ones that are in it.

    A character: its bytes, then the bare mark if it bore one. A piece: its characters that are in the
    alphabet, and the bytes of the others.

    >>> smaller_symbols("é</w>".encode(), "char", {}, "</w>")
    [b'\\xc3', b'\\xa9', b'</w>']
    >>> smaller_symbols("né".encode(), "word", {b"n"})
    [b'n', b'\\xc3', b'\\xa9']
    """
    mark = (end_of_word or "").encode()
    if unit == "char" and mark and symbol.endswith(mark) and symbol != mark:
        return [*symbols(symbol[: -len(mark)].decode(), "byte"), mark]
    spelled: list[bytes] = []
    for character in symbol.decode():
        known = unit == "word" and character.encode() in alphabet
        spelled += [character.encode()] if known else symbols(character, "byte")
    return spelled


def source_width(symbol: bytes, end_of_word: str | None) -> int:
    """How many bytes of the text a symbol stands for: the mark has no width.

    A mark of one character never stands alone (`check`): where it does, it is that character of the text.

    >>> source_width(b"w</w>", "</w>"), source_width(b"</w>", "</w>"), source_width(b"w", None)
    (1, 0, 1)
    >>> source_width(b"_", "_"), source_width(b"__", "_")
    (1, 1)
    """
    mark = (end_of_word or "").encode()
    bears = mark and symbol.endswith(mark) and (symbol != mark or len(end_of_word or "") > 1)
    return len(symbol) - len(mark) if bears else len(symbol)
