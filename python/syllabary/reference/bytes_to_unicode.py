"""GPT-2's spelling of bytes: every byte as one printable character, so that merges fit in a text file.

Adds the map between the 256 bytes and 256 characters, and the two orders of the byte alphabet that
trainers use. Leaves out: what the bytes are of (`symbols`), files that are spelled so (`syllabary.formats`).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from typing import Any

from syllabary.spec import ByteOrder


def bytes_to_unicode() -> dict[int, str]:
    """Byte -> character: a printable Latin-1 character stands for itself, the other 68 for U+0100 and up.

    Source: `bytes_to_unicode` of openai/gpt-2 `encoder.py`. A space is `Ġ`, a newline `Ċ`.

    >>> table = bytes_to_unicode()
    >>> table[ord("A")], table[ord(" ")], table[0], len(set(table.values()))
    ('A', 'Ġ', 'Ā', 256)
    """
    table = {byte: chr(byte) for byte in [*range(33, 127), *range(161, 173), *range(174, 256)]}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(256 + len(table) - 188)  # 188 printable ones came before
    return table


BYTE_TO_CHARACTER = bytes_to_unicode()
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}
# The same as tables of Python's codecs, which read and write a token at once. They write much faster with a
# table that begins with U+0000: for writing it stands in the place of the character of byte 0.
SPELLED = "".join(BYTE_TO_CHARACTER[byte] for byte in range(256))
ZERO, NUL = SPELLED[0], "\0"
UNSPELLED: Any = codecs.charmap_build(SPELLED.replace(ZERO, NUL))


def spell(token: bytes) -> str:
    """A token as GPT-2's files write it.

    >>> spell(b" the"), spell("é".encode())
    ('Ġthe', 'Ã©')
    """
    return codecs.charmap_decode(token, "strict", SPELLED)[0]


def spell_all(tokens: Sequence[bytes]) -> list[str]:
    """Many, as GPT-2's files write them.

    >>> spell_all([b" the", b"", b"\\xc3\\xa9"])
    ['Ġthe', '', 'Ã©']
    """
    all_characters = StringIO(spell(b"".join(tokens)))
    return list(map(all_characters.read, map(len, tokens)))


def unspell(spelling: str) -> bytes:
    """The bytes of a token written as GPT-2 does; `KeyError` for a character that stands for no byte.

    >>> unspell("Ġthe")
    b' the'
    """
    if NUL in spelling:
        raise KeyError(NUL)
    try:
        return codecs.charmap_encode(spelling.replace(ZERO, NUL), "strict", UNSPELLED)[0]
    except UnicodeEncodeError as error:
        raise KeyError(spelling[error.start]) from None


def unspell_all(spellings: Sequence[str]) -> list[bytes]:
    """The bytes of many, each character of which is a byte.

    >>> unspell_all(["Ġthe", "", "Ã©"])
    [b' the', b'', b'\xc3\xa9']
    """
    all_bytes = BytesIO(unspell("".join(spellings)))
    return list(map(all_bytes.read, map(len, spellings)))


def are_spelled(names: Iterable[str]) -> bool:
    """Whether all of these are written as GPT-2 does.

    >>> are_spelled(["Ġthe", "é"]), are_spelled(["the", " the"])
    (True, False)
    """
    return CHARACTER_TO_BYTE.keys() >= set("".join(names))


def byte_alphabet(order: ByteOrder) -> list[bytes]:
    """The 256 bytes in the order in which they take their ids.

    `raw`: by value (minbpe, tiktoken's educational trainer, rustbpe).
    `gpt2`: by the code point of their character (Hugging Face, whose alphabet is sorted characters).

    >>> byte_alphabet("raw")[:3], byte_alphabet("gpt2")[:3], byte_alphabet("gpt2").index(b" ")
    ([b'\\x00', b'\\x01', b'\\x02'], [b'!', b'"', b'#'], 220)
    """
    if order == "raw":
        return [bytes([byte]) for byte in range(256)]
    return [bytes([byte]) for byte in sorted(range(256), key=BYTE_TO_CHARACTER.__getitem__)]
