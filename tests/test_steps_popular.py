"""Popular layouts of steps: ids, counts, offsets as their library gives them, of new words and of known ones.

Adds drawn texts and real ones, alone and in batches. Leaves out the layouts (`popular_layouts`).
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from popular_layouts import LAYOUTS, MARKED, TRAINED_ON, trained, with_marks

import syllabary

WORDS = [
    "a",
    "It's",
    "plain",
    "words",
    "WORDS",
    "len",
    "λέξεων",
    "漢字",
    "です",
    "é",
    "e\u0301",
    "한국어",
    "12345",
    "7",
    "٣",
    "½",
]
SIGNS = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u3000",
    ".",
    ",",
    "'",
    "'t",
    "(",
    ")",
    "…",
    "。",
    "，",
    "“",
    "-",
    "_",
    "$",
    "\x00",
]


class Both:
    """One tokenizer, here and there."""

    def __init__(self, document: str, folder: Path) -> None:
        path = folder / "tokenizer.json"
        path.write_text(document, encoding="utf-8")
        self.ours, self.theirs = syllabary.load(path), tokenizers.Tokenizer.from_file(str(path))

    def check(self, texts: list[str]) -> None:
        expected = self.theirs.encode_batch(texts, add_special_tokens=False)
        ids = [one.ids for one in expected]
        assert self.ours.encode_batch(texts, special="allow", threads=1) == ids
        assert [self.ours.encode(text, special="allow") for text in texts] == ids
        assert list(self.ours.count_batch(texts, special="allow")) == [len(one) for one in ids]
        full = self.ours.encode_full_batch(texts, special="allow", add_special_tokens=False)
        for ours, theirs in zip(full, expected, strict=True):
            assert ([*ours.ids], [tuple(span) for span in ours.offsets]) == (theirs.ids, theirs.offsets)


@pytest.fixture(scope="module", params=LAYOUTS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(trained(request.param), tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module", params=MARKED)
def marked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(with_marks(*request.param), tmp_path_factory.mktemp("tokenizer"))


PIECES = st.one_of(st.sampled_from(WORDS), st.sampled_from(SIGNS), st.characters(codec="utf-8"))


@given(st.lists(st.lists(PIECES, max_size=30).map("".join), min_size=1, max_size=4))
def test_drawn_text(both: Both, texts: list[str]) -> None:
    both.check(texts)


@given(st.lists(st.lists(PIECES, max_size=30).map("".join), min_size=1, max_size=4))
def test_drawn_text_with_marks(marked: Both, texts: list[str]) -> None:
    marked.check(texts)


def test_the_beginning_of_a_text_is_no_other_place(marked: Both) -> None:
    """With the scheme `first` a word there has a mark that it has nowhere else, known as it may be."""
    texts = [
        "plain words",
        " plain words",
        "<s>plain words",
        "plain",
        "12plain 12plain",
        "▁plain▁words",
        "words",
    ]
    for text in texts * 2:
        marked.check([text])
    marked.check(texts[::-1])


def test_what_it_was_trained_on_and_long_text(both: Both) -> None:
    both.check(TRAINED_ON)
    both.check([" ".join(TRAINED_ON) * 20, "words" * 2_000, "字" * 3_000, " " * 3_000 + "end"])


@pytest.mark.parametrize("corpus", ["english", "latin", "greek", "chinese", "multilingual", "code"])
def test_real_text(both: Both, corpus: str, shared: Path, prove: bool) -> None:
    with lzma.open(shared / f"corpora/{corpus}.txt.xz") as file:
        text = file.read(1_000_000 if prove else 60_000).decode("utf-8", "ignore")
    documents = [text[at : at + 1_000] for at in range(0, len(text), 1_000)]
    both.check([*documents, text])
