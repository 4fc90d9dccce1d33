"""Units: what the first ids of a piece stand for, before any merge: bytes, characters, or the whole piece.

Adds the initial symbols of a piece, the mark on the last one (`</w>`), and how errors show one. Leaves out:
pieces (`split`), ids (`assemble`), where each symbol stands in a text, and how one outside the alphabet is
spelled (`first_tokens`).
"""

from __future__ import annotations

from syllabary.errors import TextError
from syllabary.spec import Unit

LONGEST_SHOWN = 40


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


def plural(number: int, noun: str, how: str = "") -> str:
    """A number and its noun. how: the number's format.

    >>> plural(1, "special token"), plural(1200, "document"), plural(1200, "document", ",")
    ('1 special token', '1200 documents', '1,200 documents')
    """
    return f"{number:{how}} {noun}" + ("" if number == 1 else "s")


def they_are(number: int, noun: str) -> str:
    """The same with its verb: `1 token is`, `2 tokens are`."""
    return f"{plural(number, noun)} {'is' if number == 1 else 'are'}"


def there_are(number: int, noun: str) -> str:
    """The same as a sentence: `there is 1 special token`."""
    return f"there {'is' if number == 1 else 'are'} {plural(number, noun)}"


def byte_name(byte: int) -> str:
    """How other libraries spell a token that stands for a byte.

    >>> byte_name(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"
