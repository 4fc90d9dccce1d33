"""`syllabary demo`: a tokenizer trained on real text before your eyes, then used, saved and loaded again.

Each section is one function that prints what it shows; `Stage` prints and keeps the time.
Leaves out: where the text comes from (`demo_text`) and how tokens are drawn (`colour`).
"""

from __future__ import annotations

import errno
import shlex
import shutil
import tempfile
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import click
import numpy as np

import syllabary
from syllabary import splits
from syllabary.cli import colour, common, demo_text, values
from syllabary.cli.words import plural
from syllabary.errors import CorpusWarning, EarlyStopWarning
from syllabary.reference import pieces

SPLIT = "o200k"  # the default of `syllabary.train`: the demo shows what a plain call gives
OTHER_SPLITS = ("gpt2", "none")
FIRST_MERGES = 12
LATER_MERGES = (100, 1_000, 10_000)
SMALL_TEXT = 300_000  # characters, for the comparison of splits
SMALL_VOCAB = 1_000
SAMPLE = 100  # characters shown by each split
LOOKED_AT = 10_000  # characters in which they are sought
NOTHING_HELD_OUT = "  Nothing to show: the text is too short to hold a part of it out."
FILES = ("tokenizer.json", "demo.tiktoken", "demo.syllabary.json")


@click.command(
    epilog="""\b
Examples:
  $ syllabary demo corpus.txt --vocab-size 500
  $ syllabary demo corpus.txt -o kept --vocab-size 500
  $ syllabary count -t kept/tokenizer.json corpus.txt
""",
)
@click.argument("corpus", type=values.Name(), required=False)
@click.option("-o", "--output", type=values.Name(), metavar="FOLDER", help="Keep the tokenizer's files here.")
@click.option(
    "--vocab-size",
    type=values.Number(256),  # the bytes
    default=32_000,
    show_default=True,
    metavar="N",
    help="Tokens in all, at most.",
)
def demo(corpus: str | None, output: str | None, vocab_size: int) -> None:
    """Train on CORPUS (.txt, .xml in TEI, either as .xz, or a folder) and show every stage.

    Without CORPUS on what any Python carries: the source and documentation of its standard library.
    """
    if output is not None and Path(output).exists() and not Path(output).is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is a file, not a folder", output)
    stage = Stage(colours=colour.wanted(), width=min(100, shutil.get_terminal_size().columns))
    text = read(stage, corpus)
    tok = train(stage, text, vocab_size)
    paragraph = demo_text.paragraph(text.held_out)
    show_tokens(stage, tok, paragraph)
    show_ratios(stage, tok, text.held_out)
    show_splits(stage, text)
    round_trip(stage, tok, text)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        save_and_load(stage, tok, text.held_out or text.documents[0], Path(output or folder))
    show_times(stage)
    if output is not None:
        stage.line("\nNow try:")
        stage.line(
            f"  syllabary encode --tokens -t {shlex.quote(str(Path(output, FILES[0])))} 'your own text'"
        )


@dataclass
class Stage:
    """Where the demo prints, and what took how long."""

    colours: bool
    width: int
    times: list[tuple[str, float, int]] = field(default_factory=list)
    sections: int = 0

    def title(self, text: str) -> None:
        """Begin a section."""
        self.sections += 1
        heading = f"{self.sections}. {text}"
        click.echo()
        click.echo(click.style(heading, bold=True))
        click.echo("─" * colour.columns(heading))

    def line(self, text: str = "") -> None:
        """Print a line as it is."""
        click.echo(text, color=self.colours)

    def tokens(self, tokens: Sequence[bytes], indent: int = 2) -> None:
        """Draw tokens side by side."""
        for line in colour.picture(tokens, self.width - indent, self.colours):
            self.line(" " * indent + line)

    @contextmanager
    def timed(self, step: str, size: int) -> Iterator[None]:
        """Keep the time of the block; `size` is the bytes it deals with."""
        start = time.perf_counter()
        yield
        self.times.append((step, time.perf_counter() - start, size))


def read(stage: Stage, corpus: str | None) -> demo_text.Sample:
    """Section: the text."""
    start = time.perf_counter()
    # Before any heading: it may fail.
    text = demo_text.library() if corpus is None else demo_text.user(corpus)
    stage.times.append(("read", time.perf_counter() - start, text.size))
    stage.title("The text")
    stage.line(f"  {text.name}")
    documents = plural(len(text.documents), "document")
    stage.line(f"  {documents}, {in_bytes(text.size)} of UTF-8 to learn from")
    if text.held_out:
        stage.line(f"  {in_bytes(len(text.held_out.encode()))} held out, which the training never sees")
    else:
        stage.line("  nothing held out, which the training would not see: the text is too short")
    return text


def train(stage: Stage, text: demo_text.Sample, vocab_size: int) -> syllabary.Tokenizer:
    """Section: training, and the merges as they happened."""
    stage.title("Training: the most frequent pair becomes a token, again and again")
    with stage.timed("train", text.size), quiet():
        bar = common.draws()
        tok = syllabary.train(text.documents, vocab_size=vocab_size, split=SPLIT, progress=bar)
    merges, counts = tok.merges, merge_counts(tok)
    stage.line(
        f"  {tok.vocab_size:,} tokens: {tok.vocab_size - len(merges):,} bytes, then "
        f"{plural(len(merges), 'merge')}"
    )
    if tok.vocab_size < vocab_size:
        stage.line(
            f"  asked for {vocab_size:,}, but no pair is left that occurs twice: training stopped early"
        )
    elif not merges:
        stage.line(f"  asked for {vocab_size:,}: beside the bytes there is room for none")
    if merges:
        show_merges(stage, merges, counts)
    return tok


def show_merges(stage: Stage, merges: Sequence[tuple[bytes, bytes]], counts: Sequence[int]) -> None:
    """A table of some merges, in the order in which they happened."""
    stage.line()
    stage.line("    merge  pair                             token                   times seen")
    for rank in shown_ranks(len(merges)):
        left, right = merges[rank]
        pair = f"{colour.quoted(left)} + {colour.quoted(right)}"
        token = colour.quoted(left + right)
        stage.line(f"  {rank + 1:>7,}  {fill(pair, 31)}  {fill(token, 19)} {counts[rank]:>14,}")


def show_tokens(stage: Stage, tok: syllabary.Tokenizer, paragraph: str) -> None:
    """Section: a paragraph that training has not seen, token by token."""
    stage.title("A paragraph it has not seen, in tokens")
    if not paragraph:
        stage.line(NOTHING_HELD_OUT)
        return
    tokens = tok.tokens(paragraph, special="text")
    stage.tokens(tokens)
    stage.line()
    stage.line(f"  {plural(len(paragraph), 'character')} in {plural(len(tokens), 'token')}")


def show_ratios(stage: Stage, tok: syllabary.Tokenizer, text: str) -> None:
    """Section: how much text a token carries."""
    stage.title("Bytes per token, on the text held out")
    if not text:
        stage.line(NOTHING_HELD_OUT)
        return
    size, tokens = len(text.encode()), tok.count(text, special="text")
    stage.line("                           tokens   bytes/token   characters/token")
    for name, number in (
        ("one byte a token", size),
        ("one character a token", len(text)),
        ("this tokenizer", tokens),
    ):
        stage.line(f"  {name:<22} {number:>8,}   {size / number:>11.2f}   {len(text) / number:>16.2f}")
    if size < 1.005 * len(text):
        wide = sum(not char.isascii() for char in text)
        stage.line(f"\n  All its characters{f' but {wide:,}' if wide else ''} are ASCII, one byte each.")


def show_splits(stage: Stage, text: demo_text.Sample) -> None:
    """Section: a few words cut by three splits, and by what a small training learns inside each."""
    stage.title("The same text by other splits")
    words = telling_words(text.held_out)
    if not words:
        stage.line(NOTHING_HELD_OUT)
        return
    some = "\n".join(text.documents)[:SMALL_TEXT]
    stage.line("  Merges stay inside the pieces that a split cuts. For each split: the pieces,")
    learned = plural(len(some), "character")
    stage.line(f"  and the tokens of a training on {learned}, {SMALL_VOCAB:,} tokens at most.")
    for name in (SPLIT, *OTHER_SPLITS):
        with quiet():
            small = syllabary.train([some], vocab_size=SMALL_VOCAB, split=name)
        cut = [piece.encode() for piece in pieces(words, splits.get(name))]
        tokens = small.tokens(words, special="text")
        stage.line(f"\n  {name}: {plural(len(cut), 'piece')}, {plural(len(tokens), 'token')}")
        stage.tokens(cut, indent=4)
        stage.tokens(tokens, indent=4)


def telling_words(text: str) -> str:
    """A line of words from near the beginning, the one that two splits cut most differently."""
    words = " ".join(text[:LOOKED_AT].split())
    lines = textwrap.wrap(words, SAMPLE, break_long_words=True, break_on_hyphens=False)

    def difference(line: str) -> int:
        ours, other = (set(pieces(line, splits.get(name))) for name in (SPLIT, OTHER_SPLITS[0]))
        return len(ours ^ other)

    return max(lines, key=difference, default="")


def round_trip(stage: Stage, tok: syllabary.Tokenizer, text: demo_text.Sample) -> None:
    """Section: ids back to text, over everything."""
    stage.title("The round trip: decode(encode(text)) == text")
    texts = [*text.documents, text.held_out]
    size = sum(len(one.encode()) for one in texts)
    with stage.timed("encode, one thread", size):
        batch = tok.encode_batch_array(texts, special="text", threads=1)
    fresh = syllabary.Tokenizer(tok.spec)  # subtle: `tok` remembers the text, and would be faster by that
    with stage.timed("encode, all threads", size):
        again = fresh.encode_batch_array(texts, special="text")
    with stage.timed("decode", size):
        back = tok.decode_batch(batch)
    if back != texts or not np.array_equal(batch.ids, again.ids):
        raise AssertionError("the round trip lost something: this is a bug in syllabary, please report it")
    ids = plural(len(batch.ids), "id")
    stage.line(f"  {in_bytes(size)} → {ids} → the same {in_bytes(size)}, every byte")


def save_and_load(stage: Stage, tok: syllabary.Tokenizer, text: str, folder: Path) -> None:
    """Section: the tokenizer as files of three formats, each loaded again."""
    stage.title("Saved, and loaded again")
    folder.mkdir(parents=True, exist_ok=True)
    expected = tok.encode(text, special="text")
    for name in FILES:
        path = folder / name
        with stage.timed(f"save {name}", 0):
            tok.save(path)
        # A rank file holds tokens and nothing else; the others say how the text is split.
        split = SPLIT if path.suffix == ".tiktoken" else None
        with stage.timed(f"load {name}", 0):
            loaded = syllabary.load(path, split=split)
        if loaded.encode(text, special="text") != expected:
            raise AssertionError(f"{name} gives other ids: this is a bug in syllabary, please report it")
        stage.line(f"  {name:<20} {in_bytes(path.stat().st_size):>12}   loaded: the same ids")


def show_times(stage: Stage) -> None:
    """Section: the time of each step."""
    stage.title("The time each step took")
    for step, seconds, size in stage.times:
        # A rate of a few words would be that of the clock.
        rate = f"{size / seconds / 1e6:>10,.1f} MB/s" if size >= 1000 and seconds else ""
        stage.line(f"  {step:<26} {seconds:>8.2f} s {rate}".rstrip())


def shown_ranks(merges: int) -> list[int]:
    """The ranks worth a line: the first, some later, the last.

    >>> shown_ranks(14), shown_ranks(2000)[-3:], shown_ranks(0)
    ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13], [99, 999, 1999], [])
    """
    ranks = {*range(FIRST_MERGES), *(rank - 1 for rank in LATER_MERGES), merges - 1}
    return sorted(rank for rank in ranks if 0 <= rank < merges)


def merge_counts(tok: syllabary.Tokenizer) -> Sequence[int]:
    """How often each pair occurred when it was merged, in rank order: training keeps a record."""
    return cast("Sequence[int]", tok.spec.record["counts"])


def fill(text: str, width: int) -> str:
    """The text cut or filled up to `width` columns.

    >>> fill("abc", 5), fill("abcdef", 4)
    ('abc  ', 'abc…')
    """
    if colour.columns(text) > width:
        while colour.columns(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - colour.columns(text))


def in_bytes(size: int) -> str:
    """A size for people.

    >>> in_bytes(12_100_000), in_bytes(3_210), in_bytes(12)
    ('12.1 MB', '3.2 kB', '12 bytes')
    """
    if size < 1000:
        return plural(size, "byte")
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


@contextmanager
def quiet() -> Iterator[None]:
    """The demo says in its own words that training stopped early; of its text all was said as it was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        warnings.simplefilter("ignore", CorpusWarning)
        yield
