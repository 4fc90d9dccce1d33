"""The chart of `bench/train.py`: seconds and peak memory, a bar a lane.

matplotlib is imported inside. Leaves out: the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {
    "syllabary": "#c2410c",
    "syllabary, 1 thread": "#f5a77a",
    "gigatoken": "#3f4a5c",
    "rustbpe": "#5f6b80",
    "tokenizers": "#8b96a8",
    "ffbpe": "#bac2ce",
}
LANES = tuple(COLOURS)
PANES = (("median_seconds", "seconds"), ("median_peak_mb", "peak MB above the imports"))


def draw(record: dict[str, Any], path: Path) -> None:
    """Write the chart of a record's cells as PNG; `SystemExit` if matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
    except ImportError as error:
        raise SystemExit("the chart needs matplotlib: pip install 'syllabary[gpt]'") from error
    cells = {(row["corpus"], row["lane"]): row for row in record["cells"]}
    corpora = list(dict.fromkeys(corpus for corpus, _lane in cells))
    lanes = [lane for lane in LANES if any(name == lane for _corpus, name in cells)]
    figure = Figure(figsize=(11, 4.6), dpi=110, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    width = 0.84 / len(lanes)
    for axes, (key, label) in zip(figure.subplots(1, 2), PANES, strict=True):
        for number, lane in enumerate(lanes):
            own = [(at, cells[corpus, lane]) for at, corpus in enumerate(corpora) if (corpus, lane) in cells]
            places = [at + (number - (len(lanes) - 1) / 2) * width for at, _row in own]
            axes.bar(places, [row[key] for _at, row in own], width, label=lane, color=COLOURS[lane])
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(range(len(corpora)), corpora)
        axes.set_ylabel(label)
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
    named = axes.get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=len(lanes), frameon=False)
    title = f"{record['vocab_size']:,} tokens, GPT-2's split, {record['threads']} threads; less is better"
    figure.suptitle(title, fontsize=11)
    canvas.print_png(str(path))
