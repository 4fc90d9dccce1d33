"""A comparison as it is shown: a picture with numbers below and names that fit, and what is said of text.

Leaves out: the numbers, and all other words (`test_gpt_compare`).
"""

from __future__ import annotations

import importlib
import re
import unicodedata
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from test_gpt_compare import TEXTS, counted, plans_of, result, row

import syllabary
from syllabary import shards
from syllabary.gpt import compare as module
from syllabary.gpt.compare_plot import LONGEST, draw
from syllabary.gpt.compare_table import Comparison


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn."""
    made: list[Any] = []
    figure = importlib.import_module("matplotlib.figure").Figure
    plain = figure.subplots

    def noted(self: Any, *args: Any, **more: Any) -> Any:
        made.append(self)
        return plain(self, *args, **more)

    monkeypatch.setattr(figure, "subplots", noted)
    return made


@pytest.mark.parametrize("flops", [1.5e12, 6e12, 9.9e15])
@pytest.mark.parametrize("span", [1.4, 4, 20, 900, 1e6])
def test_there_are_numbers_below_that_do_not_touch(
    flops: float, span: float, figures: list[Any], tmp_path: Path
) -> None:
    """Powers of ten alone had numbers: from 2 to 9 million bytes there is none."""
    one = row("a", 1.5, flops, size=int(flops))
    early = type(one.curve[1])(flops / span, flops / span, 3.0)
    object.__setattr__(one, "curve", (early,))
    draw(result(one), tmp_path / "x.png")
    renderer = figures[0].canvas.get_renderer()
    for axes in figures[0].axes:
        low, high = axes.get_xlim()
        shown = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
        assert len(shown) >= 2
        assert all(re.search(r"10\^\{\d+\}", label.get_text()) for label in shown)
        boxes = [label.get_window_extent(renderer) for label in shown]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_long_names_leave_room_for_the_lines(figures: list[Any], tmp_path: Path) -> None:
    """Names of folders have 255 characters, before which the panels shrank to nothing."""
    name = "begin" + "x" * 245 + "end-2"
    draw(result(row(name, 1.5), counted=(counted("token bigram", 1.6, name),)), tmp_path / "x.png")
    labels = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert labels[0].startswith("beginxxx")
    assert labels[0].endswith("xend-2: 1.500")
    assert labels[1] == "token bigram, " + labels[0].replace("1.500", "1.600")
    assert len(labels[0].partition(":")[0]) == LONGEST
    assert all(axes.get_position().width > 0.25 for axes in figures[0].axes)


def test_letters_that_the_font_does_not_have_are_escaped(figures: list[Any], tmp_path: Path) -> None:
    """They were empty boxes, with a warning for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(result(row("Ἑλλάς \U0001d173$", 1.5)), tmp_path / "x.png")
    (text,) = figures[0].legends[0].get_texts()
    assert text.get_text() == r"Ἑλλάς \U0001d173\$: 1.500"


def test_the_same_compute_is_not_called_one_time_as_much() -> None:
    found: Comparison = result(row("a", 1.5, 1.02e12), row("b", 1.6))
    assert "saw the same amount of text, 2.0 MB, for about the same compute. " in found.words()
    assert "took `a` 1.1 times the compute" in result(row("a", 1.5, 1.06e12), row("b", 1.6)).words()


def test_tokenizers_that_all_give_the_same_other_text_are_said_to_compare(tmp_path: Path) -> None:
    """Of each it was said that it was asked another question: all of a tutorial's, with one normal form."""
    texts = [unicodedata.normalize("NFD", f"{text} é") for text in TEXTS]
    sets = {"composed": (300, "NFC"), "again": (290, "NFC"), "plain": (290, None)}
    for name, (size, form) in sets.items():
        tokenizer = syllabary.train(texts, vocab_size=size, normalize=form)
        shards.write(texts, tokenizer, tmp_path / name, val=0.2, special="text")
    plans = plans_of([tmp_path / name for name in sets], tmp_path / "out")
    (note,) = module._counted(plans[:2])[1]
    assert re.match(
        r"None of them gives the text back as it was \([\d,]+ of [\d,]+ bytes\), but all give the", note
    )
    assert "their numbers compare with each other" in note
    named = [note.partition(" does not give the text back")[0] for note in module._counted(plans)[1]]
    assert named == ["`composed`", "`again`"]
    (alone,) = module._counted(plans[:1])[1]
    assert alone.startswith("`composed` does not give")
