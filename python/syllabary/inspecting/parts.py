"""A text cut into what its tokens stand for, and what of it can be shown.

Adds `parts`, `cells` for their characters, and `plain`, the view that needs no colours. Leaves out: colours
(`cli.inspect_view`), HTML (`page`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from syllabary.inspecting.reading import Row
from syllabary.visible import BAR, NEWLINE, escape, hexadecimal

NO_TOKEN = "┊"  # ends what no token stands for
CIRCLE = "◌"  # carries a combining mark that a token begins with
MARK = "▁".encode()  # of sentencepiece, for a space
JOINERS = "\u200c\u200d"  # seen by what they do to their neighbours, but at an end
# Control characters, line ends, and what takes no place or turns the order of characters around.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f]|\\A[\u200c\u200d]|[\u200c\u200d]\\Z"
)
# Signs of `plain` that stand in the text itself.
OURS = str.maketrans({"\\": "\\\\"} | {sign: hexadecimal(sign) for sign in (BAR, NO_TOKEN, NEWLINE)})


@dataclass(frozen=True, slots=True)
class Part:
    """Characters of a text and what stands for them.

    rows: one token; several that stand for the same characters, as the bytes of one; none, where no token
    does. text: empty for a token of no characters, as a mark that was put before the text.
    """

    text: str
    rows: Sequence[Row]


def parts(text: str, rows: Iterable[Row]) -> Iterator[Part]:
    """The whole text in order, no character twice, and all of its tokens.

    >>> import syllabary
    >>> from syllabary.inspecting import Making, rows
    >>> text = "low 道"
    >>> found = rows(Making(syllabary.train(["low lower lowest"] * 3, vocab_size=258)), text)
    >>> [(part.text, len(part.rows)) for part in parts(text, found)]
    [('low', 1), (' ', 1), ('道', 3)]
    """
    done = first = last = 0  # what was given out; where the tokens in hand begin and end
    held: list[Row] = []
    for row in rows:
        if held and not _joins(row, held[-1], first, last):
            if done < first:
                yield Part(text[done:first], ())
            yield Part(text[first:last], held)
            done, held = last, []
        if not held:
            first = last = max(row.first, done)
        held.append(row)
        last = max(last, row.last)
    if held:
        if done < first:
            yield Part(text[done:first], ())
        yield Part(text[first:last], held)
        done = last
    if done < len(text):
        yield Part(text[done:], ())


def _joins(row: Row, before: Row, first: int, last: int) -> bool:
    """Whether a token shares characters with those in hand.

    Of several that stand for one character, as its bytes, sentencepiece gives it to the last, and the others
    stand before it with no characters; alone is the space that it puts before a text.
    """
    if first == last:
        return row.first == first and before.token.replace(MARK, b"") != b""
    return row.first < last


@lru_cache(maxsize=1 << 14)
def cells(text: str) -> tuple[tuple[str, bool], ...]:
    r"""What is seen of a part: characters, and signs in their place (True); a line ends with "\n" alone.

    >>> cells("a\tb\n"), cells("\u0301")
    ((('a', False), ('\\t', True), ('b', False), ('⏎', True), ('\n', False)), (('◌́', False),))
    """
    return tuple(_cells(text))


def _cells(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    before = CIRCLE if text and unicodedata.category(text[0])[0] == "M" else ""
    for found in HIDDEN.finditer(text):
        if before or at < found.start():
            yield before + text[at : found.start()], False
            before = ""
        at = found.end()
        if found[0] == "\n":
            yield NEWLINE, True
            yield "\n", False
        else:
            shown = escape(found[0])
            yield (shown if shown != found[0] else hexadecimal(shown)), True
    if before or at < len(text):
        yield before + text[at:], False


def plain(found: Iterable[Part]) -> Iterator[str]:
    r"""The text with a bar behind each token: three where three stand for the same characters.

    What no token stands for ends with `┊`. These signs, `⏎` and the backslash are escaped in the text.

    >>> row = Row(0, b"", 0, 1, 0, 1, 0, "word", None, None)
    >>> print("".join(plain([Part("low", [row]), Part(" ", ()), Part("道", [row] * 3), Part("|│\n", [row])])))
    low│ ┊道│││|\u2502⏎│
    <BLANKLINE>
    """
    for part in found:
        shown = "".join(cell if sign else cell.translate(OURS) for cell, sign in cells(part.text))
        end = BAR * len(part.rows) or NO_TOKEN
        yield shown[:-1] + end + "\n" if shown.endswith("\n") else shown + end
