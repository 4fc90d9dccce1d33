"""A text with its tokens seen at a glance: for a prompt, and for notebooks.

Adds `view`, and `counts`, the line below it. Leaves out: pages of several texts (`cli.inspect_view`).
"""

from __future__ import annotations

from typing import Any

from syllabary.inspecting import page
from syllabary.inspecting.making import Making
from syllabary.inspecting.parts import parts, plain
from syllabary.inspecting.reading import Rows, rows
from syllabary.reference.symbols import plural
from syllabary.tokenizer import Tokenizer


class View:
    """A text and its rows. In a notebook it is shown in colours; `str` has a bar behind each token."""

    def __init__(self, text: str, rows: Rows) -> None:
        """rows: of this text, as `inspecting.rows` gives them."""
        self.text, self.rows = text, rows

    def __str__(self) -> str:
        shown = "".join(plain(parts(self.text, self.rows)))
        return shown + "\n" * (not shown.endswith("\n")) * bool(shown) + counts(self.text, len(self.rows))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<style>{page.STYLE}</style>\n" + "".join(
            page.block(self.text, self.rows, counts(self.text, len(self.rows)))
        )


def view(tok: Tokenizer | Making, text: str, special: Any = "raise") -> View:
    """The text with its tokens marked, which notebooks show in colours.

    tok: a `Making` if several texts are looked at; ranks of a large vocabulary are found out once then.
    Raises what `tok.encode` raises.

    >>> import syllabary
    >>> view(syllabary.train(["low lower lowest"] * 3, vocab_size=258), "low, lo 道")
    low│,│ │lo│ │道│││
    8 tokens, 9 characters, 11 bytes, 1.12 characters per token
    """
    making = tok if isinstance(tok, Making) else Making(tok)
    return View(text, rows(making, text, special))


def counts(text: str, tokens: int) -> str:
    """Tokens, characters, bytes, and how they relate.

    >>> counts("é", 2), counts("", 0)
    ('2 tokens, 1 character, 2 bytes, 0.50 characters per token', '0 tokens, 0 characters, 0 bytes')
    """
    sums = ((tokens, "token"), (len(text), "character"), (len(text.encode()), "byte"))
    shown = [plural(number, noun, ",") for number, noun in sums]
    if tokens:
        shown.append(f"{len(text) / tokens:.2f} characters per token")
    return ", ".join(shown)
