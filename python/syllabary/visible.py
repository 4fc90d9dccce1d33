"""Characters made visible: control characters, and bytes that are no text, as escapes.

Adds `visible`, `quoted` for tokens, `printable` for what others have written, as names of files, and which
colours tokens have. Leaves out: colouring (`cli.colour`, `inspecting.page`), and tokens in their text
(`inspecting.parts`).
"""

from __future__ import annotations

import re
import unicodedata

# Colours of tokens side by side, in turn, and what is written on them: characters, and signs in their place.
BACKGROUNDS = ((38, 70, 83), (92, 58, 33), (42, 82, 52), (84, 44, 84), (110, 48, 48))  # dark
FOREGROUND, SIGN = (255, 255, 255), (255, 214, 122)  # white and light yellow
BAR = "│"
NEWLINE = "⏎"
NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What a terminal obeys or a line ends at; the last two: the order of characters on the screen.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(token: bytes) -> str:
    r"""Characters as they are, control characters and bytes that are not UTF-8 as escapes.

    >>> visible(" é\n".encode()), visible(b"\xc3")
    (' é\\n', '\\xc3')
    """
    return "".join(escape(char) for char in token.decode("utf-8", "surrogateescape"))


def quoted(token: bytes) -> str:
    r"""`visible` between quotes, with quote and backslash escaped: no two tokens look the same.

    >>> print(quoted(b' "x'), quoted(b"\\n"), quoted(b"\n"))
    " \"x" "\\n" "\n"
    """
    text = token.decode("utf-8", "surrogateescape")
    return '"' + "".join("\\" + char if char in '"\\' else escape(char) for char in text) + '"'


def printable(text: str, keep: str = "") -> str:
    r"""The text with characters of control as escapes, so that a file's name can neither end a line nor talk
    to the terminal. keep: those that stay.

    >>> print(printable("a\nb\x1b[31m.txt"), printable("a\nb\r", keep="\n").splitlines())
    a\nb\x1b[31m.txt ['a', 'b\\r']
    """
    return CONTROL.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def escape(char: str) -> str:
    """A character, or its escape."""
    code = ord(char)
    if char in NAMED:
        return NAMED[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as "surrogateescape" carries it
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
        return hexadecimal(char)
    return char


def hexadecimal(char: str) -> str:
    r"""The number of a character; `\x80` and above would be bytes.

    >>> print(hexadecimal("\x1b"), hexadecimal("\x85"), hexadecimal("\U000e0041"))
    \x1b \u0085 \U000e0041
    """
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
