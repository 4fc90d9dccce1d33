"""Symbols that no token spells: where they are noted on the way, and the error that names them.

Leaves out: how they are found (`first_tokens`, `groups`, `models`).
"""

from __future__ import annotations

from syllabary.errors import UnknownSymbolError
from syllabary.reference.symbols import shown

# Symbols that cannot be spelled, each with the byte of the text where it starts.
Unknown = list[tuple[bytes, int]]


def check_known(unknown: Unknown, text: str) -> None:
    """Raise `UnknownSymbolError` if there are any."""
    if unknown:
        raise unknown_symbols(unknown, text.encode())


def unknown_symbols(unknown: Unknown, data: bytes) -> UnknownSymbolError:
    """Names the first ten symbols without an id, and where the first of them is."""
    names = list(dict.fromkeys(name_symbol(symbol) for symbol, _at in unknown))
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    character = len(data[: unknown[0][1]].decode("utf-8", "ignore"))
    return UnknownSymbolError(
        f"not in the alphabet: {listed}; the first is at character {character} of the text. "
        "Train on text that has them, with all bytes, or with fallback=True"
    )


def name_symbol(symbol: bytes) -> str:
    """How an error shows a symbol: 40 characters of it at most.

    >>> name_symbol(b"m"), name_symbol(b"\\xc3")
    ("'m'", 'byte 0xC3')
    """
    try:
        return shown(symbol.decode())
    except UnicodeDecodeError:
        return f"byte 0x{symbol.hex().upper()}"
