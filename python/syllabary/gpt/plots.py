"""The loss of a run as a picture: per token and in bits per byte, against the tokens seen.

matplotlib is imported inside, and only its objects are used: no state, no display.
Leaves out: the numbers (`log`), and pictures of several runs (`compare`).
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ModelError
from syllabary.files import write_atomic

Entries = Sequence[dict[str, Any]]
TRAIN, VAL = "#7a869a", "#c2410c"
POINTS = 2000  # of a curve: more than a picture can show


def loss_curves(entries: Entries, path: Path, title: str = "") -> None:
    """Write the curves of a log's entries (`log.read`) as PNG, whole or not at all."""
    figure, canvas = _figure()
    left, right = figure.subplots(1, 2)
    steps = [entry for entry in entries if entry["kind"] == "step"]
    evals = [entry for entry in entries if entry["kind"] == "eval"]
    panes = (
        (left, "loss", "val_loss", "nats a token"),
        (right, "bits_per_byte", "bits_per_byte", "bits a byte"),
    )
    for axes, of_step, of_eval, unit in panes:
        _trained(axes, [entry for entry in steps if entry.get(of_step) is not None], of_step)
        _validated(axes, [entry for entry in evals if entry.get(of_eval) is not None], of_eval)
        axes.set_xlabel("tokens trained on")
        axes.set_ylabel(f"loss, {unit}")
        axes.xaxis.set_major_formatter(_module("matplotlib.ticker").EngFormatter(sep=""))
        axes.grid(alpha=0.25)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    if title:
        figure.suptitle(title)
    image = io.BytesIO()
    canvas.print_png(image)
    write_atomic(path, image.getvalue())


def check_installed() -> None:
    """`ModelError` now, and not when there is something to draw, if matplotlib is missing."""
    _module("matplotlib.figure")


def _figure() -> tuple[Any, Any]:
    """A figure and the canvas that draws it in memory."""
    figure = _module("matplotlib.figure").Figure(figsize=(11, 4.2), dpi=110, layout="constrained")
    return figure, _module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError("loss curves need matplotlib: pip install 'syllabary[gpt]'") from error
    except ValueError as error:  # as for MPLBACKEND=x
        said = str(error).partition(";")[0]
        raise ModelError(f"loss curves need matplotlib, which cannot begin: {said}") from error


def _trained(axes: Any, steps: Entries, key: str) -> None:
    """The losses of steps, and their running mean."""
    if steps:
        seen, losses = _column(steps, "tokens"), _column(steps, key)
        kept = slice(None, None, -(-len(losses) // POINTS))
        axes.plot(seen[kept], losses[kept], color=TRAIN, alpha=0.3, linewidth=0.7)
        axes.plot(seen[kept], _smooth(losses)[kept], color=TRAIN, label="train")


def _validated(axes: Any, evals: Entries, key: str) -> None:
    """The losses of evaluations."""
    if evals:
        values = _column(evals, key)
        label = f"validation, lowest {float(values.min()):.4g}"
        axes.plot(_column(evals, "tokens"), values, color=VAL, marker="o", markersize=3, label=label)


def _column(entries: Entries, key: str) -> NDArray[np.float64]:
    return np.array([entry[key] for entry in entries], dtype=np.float64)


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each value and those before it, a fiftieth of all at most."""
    width = max(1, len(values) // 50)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(0, ends - width)
    means: NDArray[np.float64] = (sums[ends] - sums[begins]) / (ends - begins)
    return means
