"""A text with its tokens coloured, as HTML: a page of its own, or a part of a notebook.

No script, nothing from elsewhere, and nothing of the text is markup. Adds `STYLE`, `HEAD`, `block`, `END`,
each a string or strings to be written one after the other. Leaves out: how a text is cut (`parts`), files.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from syllabary import visible
from syllabary.inspecting.parts import Part, cells, parts
from syllabary.inspecting.reading import Row, Rows
from syllabary.visible import printable, quoted

LIGHT = ("#cfe6ff", "#ffe0b8", "#cdf2d3", "#efdcff", "#ffd8d8")
INK, SIGN = "#111111", "#7a2e00"  # of characters, and of what stands in their place
# Those of a terminal.
DARK = tuple(f"#{bytes(colour).hex()}" for colour in visible.BACKGROUNDS)
INK_DARK, SIGN_DARK = (f"#{bytes(colour).hex()}" for colour in (visible.FOREGROUND, visible.SIGN))
NOTED = ("special", "added", "unknown")
EMPTY = "∅"

STYLE = (
    ".syllabary{white-space:break-spaces;overflow-wrap:anywhere;unicode-bidi:plaintext;text-align:start;"
    "font:1rem/1.9 ui-monospace,monospace}\n"
    # Spans have no padding and are not isolated: letters join, and lines run right to left, across tokens.
    f".syllabary span{{color:{INK};padding:.2em 0;box-shadow:inset 1px 0 #8888;print-color-adjust:exact}}\n"
    f".syllabary i,.syllabary sub{{font-style:normal;unicode-bidi:isolate}}\n"
    f".syllabary span i,.syllabary sub{{color:{SIGN}}}\n"
    ".syllabary sub{font-size:.7em;line-height:0}\n.syllabary .n{text-decoration:underline 2px}\n"
    + "".join(f".syllabary .t{at}{{background:{colour}}}\n" for at, colour in enumerate(LIGHT))
    + f"@media(prefers-color-scheme:dark){{.syllabary span{{color:{INK_DARK}}}\n"
    f".syllabary span i,.syllabary sub{{color:{SIGN_DARK}}}\n"
    + "".join(f".syllabary .t{at}{{background:{colour}}}\n" for at, colour in enumerate(DARK))
    + "}\n@media(forced-colors:active){.syllabary span{outline:1px solid}}\n"
)
HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Tokens</title>
<style>
:root{{color-scheme:light dark}}
body{{max-width:60rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}}
h2,h3{{overflow-wrap:anywhere}}
{STYLE}</style>
</head>
<body>
<h1>Tokens</h1>
<p>Each colour is a token; point at it to see its id. A small number: so many tokens stand for these
characters together. {EMPTY}: a token that stands for none. Not coloured: no token stands for it.
Underlined: a special, added or unknown token.</p>
"""
END = "</body>\n</html>\n"


def heading(name: str, level: int) -> str:
    """The name of a text, or of a tokenizer."""
    return f"<h{level}><bdi>{escape(printable(name))}</bdi></h{level}>\n"


def block(text: str, rows: Rows, counts: str) -> Iterator[str]:
    """The text, some thousand tokens at a time, below a line of counts."""
    yield f"<p>{escape(counts)}</p>\n" + '<div class="syllabary" lang="" dir="auto">'
    coloured = 0
    for part in parts(text, rows):
        yield _marked(part, coloured % len(LIGHT))
        coloured += bool(part.rows)
    yield "</div>\n"


def _marked(part: Part, colour: int) -> str:
    """A part as a span, with its tokens as the title."""
    shown = "".join(
        f"<i>{escape(cell)}</i>" if sign else escape(cell, quote=False) for cell, sign in cells(part.text)
    )
    if not part.rows:
        return shown
    if not part.text:
        shown = f"<i>{EMPTY}</i>"
    if len(part.rows) > 1:
        shown += f"<sub>{len(part.rows)}</sub>"
    noted = " n" if any(row.kind in NOTED for row in part.rows) else ""
    titles = "\n".join(map(_title, part.rows))
    return f'<span class="t{colour}{noted}" title="{titles}">{shown}</span>'


def _title(row: Row) -> str:
    """What a token is, on a line."""
    made = row.kind if row.rank is None else f"rank {row.rank}"
    if row.rank is None and row.score is not None and row.kind not in NOTED:
        made = f"score {row.score:g}"
    return f"{row.id} {_token(row.token)} bytes {row.start}-{row.end}, piece {row.piece}, {made}"


@lru_cache(maxsize=1 << 16)
def _token(token: bytes) -> str:
    """In quotes, and in signs that keep a token of Hebrew from turning what follows it around."""
    return f"\u2068{escape(printable(quoted(token)))}\u2069"
