"""The picture of a comparison: bits per byte against bytes seen, and against compute; one line a tokenizer.

Lines are what was measured on a sample by the way, the dots at their ends the whole held-out text; what
counting reaches is drawn across. Names are cut if long, and what the font has no picture of is escaped.
Leaves out: the numbers (`compare`).
"""

from __future__ import annotations

import math
from collections.abc import Container
from pathlib import Path
from typing import Any

from syllabary.errors import ModelError
from syllabary.gpt.compare_table import Comparison, Counted, Row
from syllabary.pictures import Matplotlib

PICTURES = Matplotlib(ModelError, "pictures need", "gpt")
COLOURS = ("#1d4ed8", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#be123c", "#a16207", "#334155")
STYLES = {"byte trigram": ":", "token unigram": "-.", "token bigram": "--"}
GREY = "#6b7280"
LONGEST = 40  # characters of a name
FEW, SEVERAL = 0.6, 1.5  # powers of ten: up to these, numbers stand at 1 to 9, and at 1, 2 and 5
LAST = 0.99  # of what was seen: a sample above is of the end, where the whole held-out text says more
ROOM = 0.3  # of the range between lowest and highest end, above the highest


def draw(comparison: Comparison, path: Path) -> None:
    """Write the picture as PNG, whole or not at all; `ModelError` if matplotlib is not there."""
    with PICTURES.picture(path, (12, 4.6)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        colours = {row.name: COLOURS[at % len(COLOURS)] for at, row in enumerate(comparison.rows)}
        for axes, key, label in zip(panels, ("bytes", "flops"), ("bytes of text seen", "FLOPs"), strict=True):
            for row in comparison.rows:
                _line(axes, row, key, colours[row.name])
            for one in comparison.counted:
                _across(axes, one, colours.get(one.of or "", GREY))
            axes.set_xlabel(label)
            axes.set_xscale("log")
            _number(axes)
            axes.grid(alpha=0.25)
        panels[0].set_ylabel("bits per byte, held-out text")
        panels[0].set_ylim(*_range(comparison))
        handles, names = panels[0].get_legend_handles_labels()
        drawn = _drawn()
        labels = ["".join(char if ord(char) in drawn else _escaped(char) for char in name) for name in names]
        figure.legend(handles, labels, loc="outside right upper", fontsize="small")


def _line(axes: Any, row: Row, key: str, colour: str) -> None:
    """What one model reached by the way, and in the end."""
    end = getattr(row, key), row.bits_per_byte
    points = [(getattr(point, key), point.bits_per_byte) for point in row.curve if getattr(point, key) > 0]
    points = [point for point in points if point[0] < LAST * end[0]]
    xs, ys = zip(*points, end, strict=True)
    axes.plot(xs, ys, color=colour, linewidth=1.5, label=_label(_short(row.name), row.bits_per_byte))
    axes.plot(*end, color=colour, marker="o", markersize=5)


def _across(axes: Any, one: Counted, colour: str) -> None:
    """What counting reaches."""
    value = one.baseline.bits_per_byte
    style = STYLES.get(one.baseline.name, "--")
    label = _label(one.name if one.of is None else f"{one.baseline.name}, {_short(one.of)}", value)
    axes.axhline(value, color=colour, linestyle=style, linewidth=1, alpha=0.7, label=label)


def _short(name: str) -> str:
    """The beginning and the end of a long name.

    >>> _short("shards-8k"), _short("shards-" + "of-" * 80 + "8k")
    ('shards-8k', 'shards-of-of-of-of-o…f-of-of-of-of-of-8k')
    """
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[:half]}…{name[1 - half :]}"


def _label(name: str, value: float) -> str:
    """A line of the legend, where `$` would begin a formula, and a label that begins with `_` is left out."""
    return " " * name.startswith("_") + f"{name}: {value:.3f}".replace("$", r"\$")


def _drawn() -> Container[int]:
    """The code points that the fonts in use have a picture of."""
    fonts = PICTURES.module("matplotlib.font_manager")
    found: set[int] = set()
    for family in fonts.FontProperties().get_family():
        path = fonts.findfont(fonts.FontProperties(family=[family]))
        found.update(fonts.get_font(path).get_charmap())
    return found


def _escaped(char: str) -> str:
    return char.encode("ascii", "backslashreplace").decode()


def _number(axes: Any) -> None:
    """Numbers below, also where no power of ten, or one alone, is within what is drawn."""
    ticker = PICTURES.module("matplotlib.ticker")
    low, high = axes.get_xlim()
    powers = math.log10(high / low)
    at = range(1, 10) if powers <= FEW else (1, 2, 5) if powers <= SEVERAL else (1,)
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=at))
    every = {"labelOnlyBase": False, "minor_thresholds": (math.inf, math.inf)}
    axes.xaxis.set_major_formatter(ticker.LogFormatterSciNotation(**every))
    axes.tick_params(axis="x", which="minor", labelbottom=False)


def _range(comparison: Comparison) -> tuple[float, float]:
    """From below the lowest value to well above what the models reached, and the byte trigram."""
    reached = [row.bits_per_byte for row in comparison.rows]
    counted = [one.baseline.bits_per_byte for one in comparison.counted]
    high = max(reached + [one.baseline.bits_per_byte for one in comparison.counted if one.of is None])
    low = min(reached + counted)
    return low - 0.1 * (high - low) - 0.01, high + ROOM * (high - low) + 0.01
