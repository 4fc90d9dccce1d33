"""The loss of a run as a picture: per token and in bits per byte, against the tokens seen.

Leaves out: the numbers (`log`), and pictures of several runs (`compare`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ModelError
from syllabary.pictures import Matplotlib

Entries = Sequence[dict[str, Any]]
CURVES = Matplotlib(ModelError, "loss curves need", "gpt")
TRAIN, VAL = "#7a869a", "#c2410c"
POINTS = 2000  # of a curve: more than a picture can show


def loss_curves(entries: Entries, path: Path, title: str = "") -> None:
    """Write the curves of a log's entries (`log.read`) as PNG, whole or not at all."""
    with CURVES.picture(path, (11, 4.2)) as figure:
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
            axes.xaxis.set_major_formatter(CURVES.module("matplotlib.ticker").EngFormatter(sep=""))
            axes.grid(alpha=0.25)
            if axes.get_legend_handles_labels()[0]:
                axes.legend()
        if title:
            figure.suptitle(title)


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
