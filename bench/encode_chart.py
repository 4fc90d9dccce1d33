"""The chart of `bench/encode.py`: how many times as fast as each peer ours is on a first pass.

matplotlib is imported inside. Leaves out: the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from encode_peers import RC3

COLOURS = {
    "gigatoken": "#3f4a5c",
    "fastokens": "#5f6b80",
    RC3: "#8b96a8",
    "tiktoken": "#bac2ce",
}


def draw(record: dict[str, Any], path: Path) -> None:
    """Write the chart of a record's first passes as PNG; `SystemExit` if matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
    except ImportError as error:
        raise SystemExit("the chart needs matplotlib: pip install 'syllabary[gpt]'") from error
    cells = {
        (row["vocab"], row["corpus"], row["lane"]): row["bytes"] / row["median_first"]
        for row in record["rows"]
        if row["part"] == "first-pass" and row["equal"]
    }
    vocabs, corpora = (list(dict.fromkeys(key[at] for key in cells)) for at in (0, 1))
    lanes = [lane for lane in COLOURS if any(name == lane for _vocab, _corpus, name in cells)]
    figure = Figure(figsize=(4 * len(vocabs) + 1, 4.2), dpi=110, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    width = 0.84 / max(1, len(lanes))
    panes = figure.subplots(1, len(vocabs), sharey=True, squeeze=False)[0]
    for axes, vocab in zip(panes, vocabs, strict=True):
        for number, lane in enumerate(lanes):
            own = [
                (at, cells[vocab, corpus, "syllabary"] / cells[vocab, corpus, lane])
                for at, corpus in enumerate(corpora)
                if (vocab, corpus, lane) in cells
            ]
            places = [at + (number - (len(lanes) - 1) / 2) * width for at, _times in own]
            heights = [ratio - 1 for _at, ratio in own]
            axes.bar(places, heights, width, bottom=1, label=lane, color=COLOURS[lane])
        axes.axhline(1, color="#c2410c", linewidth=1)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}×"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(range(len(corpora)), corpora, rotation=30)
        axes.set_title(vocab, fontsize=10)
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
    figure.legend(*panes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle("First pass over new text, one core: times the speed of", fontsize=11)
    canvas.print_png(str(path))
