"""Unigram training like sentencepiece: what ends the last sentence of all, which makes seeds of its own.

Every day drawn sentences, among them one that comes often and whose last word stands nowhere else; with
`SYLLABARY_PROVE` more of them, and the 3 MB of Greek that end in such a title. Leaves out: all other seeds
(`test_train_unigram`).
"""

from __future__ import annotations

import lzma
import os
import random
from pathlib import Path

import pytest
from test_train_unigram import drawn, theirs

import syllabary
from syllabary.formats.sentencepiece_write import write
from syllabary.reference import train_unigram_sentencepiece
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
SEEDS = 200 if PROVE else 10
TITLE = "anonymous little-title"
BLANK = (" ", "   ", "\u3000")  # sentences, of which nothing is left

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


def titled(seed: int) -> list[str]:
    """Drawn lines with titles and sentences of spaces in between; some end in a title, some behind it."""
    source = random.Random(seed)
    lines = drawn(seed, 80)
    for _time in range(source.randint(2, 40)):
        lines.insert(source.randint(0, len(lines)), TITLE)
    lines += [TITLE] * source.randint(0, 1) + drawn(seed + 1, 4)[: source.choice([0, 0, 1, 4])]
    for _time in range(source.choice([0, 1, 2, 3, 9, 60])):
        lines.insert(source.randint(0, len(lines)), source.choice(BLANK))
    return lines + [source.choice(BLANK) for _time in range(source.choice([0, 0, 2]))]


def ours(source: object, size: int = 90) -> bytes:
    """The file that ours becomes."""
    options = {"vocab_size": size, "hard_vocab_limit": False}
    return write(syllabary.train(source, model="unigram", like="sentencepiece", options=options).spec)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_last_sentence_makes_seeds_as_theirs(seed: int, tmp_path: Path) -> None:
    lines = titled(seed)
    expected = theirs(lines, vocab_size=90)
    options = SentencePieceOptions(model_type="unigram", vocab_size=90, hard_vocab_limit=False)
    assert write(train_unigram_sentencepiece.train(lines, options)) == expected
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # One document; one for each line; with empty ones behind; in parts, from a file.
    for source in (["\n".join(lines)], lines, [*lines, "", "\n\n", ""], path):
        assert ours(source) == expected


@pytest.mark.skipif(not PROVE, reason="half a minute of sentencepiece's trainer")
def test_greek_that_ends_in_a_title(shared: Path, tmp_path: Path) -> None:
    with lzma.open(shared / "corpora" / "greek.txt.xz") as file:
        data = file.read(3_000_000)
    data = data[: data.rindex(b"\n") + 1]
    lines = data.decode().splitlines()
    assert lines.count(lines[-1]) > 500
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    assert ours(path, 8000) == theirs(lines, vocab_size=8000)


@pytest.mark.parametrize("seed", range(3))
def test_the_last_sentence_may_lie_far_back(seed: int) -> None:
    """Of text that is half blank lines, it stands in the middle."""
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefgh", k=source.randint(2, 7))) for _word in range(60)]
    lines = []
    for at in range(6_000):
        ending = f" ends{at % 10}with" if 2_900 <= at < 3_100 else ""
        lines += [" ".join(source.choices(words, k=30)) + ending, " "]
    expected, options = theirs(lines, vocab_size=60), {"vocab_size": 60, "hard_vocab_limit": False}
    for threads in (1, 2):
        made = syllabary.train(lines, model="unigram", like="sentencepiece", options=options, threads=threads)
        assert write(made.spec) == expected
