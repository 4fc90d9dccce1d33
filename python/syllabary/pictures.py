"""A picture in a file: matplotlib's figure, imported when there is something to draw.

Only objects of matplotlib are used: no state, no display. Leaves out: what is drawn (`growth`, `gpt.plots`,
`gpt.compare_plot`).
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from syllabary.errors import SyllabaryError
from syllabary.files import write_atomic

FIGURE, CANVAS = "matplotlib.figure", "matplotlib.backends.backend_agg"


class Matplotlib(NamedTuple):
    """The library, and what is raised without it: an error, how its sentence begins, the extra to install."""

    error: type[SyllabaryError]
    who: str
    extra: str

    def module(self, name: str) -> Any:
        """A module of matplotlib; the error if it is missing, or cannot begin."""
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise self.error(f"{self.who} matplotlib: pip install 'syllabary[{self.extra}]'") from error
        except ValueError as error:  # as for MPLBACKEND=x
            why = str(error).partition(";")[0]
            raise self.error(f"{self.who} matplotlib, which cannot begin: {why}") from error

    def check(self) -> None:
        """Raise the error now, and not when there is something to draw."""
        self.module(FIGURE)
        self.module(CANVAS)

    @contextmanager
    def picture(self, path: Path, size: tuple[float, float]) -> Iterator[Any]:
        """A figure, so many inches wide and high, to draw on; then it is written as PNG, whole or not at all.

        Raises the error if there is no matplotlib, `OSError` with the path.
        """
        figure = self.module(FIGURE).Figure(figsize=size, dpi=110, layout="constrained")
        canvas = self.module(CANVAS).FigureCanvasAgg(figure)
        yield figure
        image = io.BytesIO()
        canvas.print_png(image)
        write_atomic(path, image.getvalue())
