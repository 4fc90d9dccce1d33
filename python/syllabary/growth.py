"""Growth: one training, tokenizers of many sizes, and how long text becomes with each.

Adds `sizes`: trains once at the largest size, truncates, and encodes text that training did not see; rows, a
table in Markdown, JSON, and a picture. Leaves out: truncating (`truncation`), choosing what is held out
(`growth_text`), and whether a model does better with one of them (`gpt.compare`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syllabary import corpus
from syllabary.arguments import integer, listed
from syllabary.corpus.corpus import Corpus
from syllabary.errors import CorpusError, TrainingError, UnknownSymbolError
from syllabary.growth_text import held_out_of, setting_aside
from syllabary.pictures import Matplotlib
from syllabary.piece_table import PieceTable
from syllabary.reference.symbols import plural
from syllabary.tokenizer import Tokenizer
from syllabary.training import train
from syllabary.training.own import SENTENCEPIECE
from syllabary.truncation import COUNTED

CURVE = Matplotlib(TrainingError, "the curve needs", "plot")
LINE, SMALL = "#c2410c", (7.0, 4.4)
LABEL = 0.07  # of the width of the picture, that a number below it takes
UNASKED = ("checkpoint", "memory_limit", "progress")
UNCUT = {  # models that have no smaller ones in them
    "unigram": "a smaller model is no part of a larger one, as its pieces are taken away and weighed anew",
    "char": "its tokens are the characters of the text, none of which is made of others",
}
BATCH = 4 << 20  # characters encoded at a time
HEAD = (
    "| vocabulary | merges | tokens | unknown | bytes per token | characters per token "
    "| against the one before |"
)
RULE = "|--:|--:|--:|--:|--:|--:|--:|"


@dataclass(frozen=True, slots=True)
class Row:
    """What one size makes of the held-out text.

    size: as asked for. vocab_size: tokens that it has (fewer, if training stopped early). merges: of them;
    `None` for models that merge nothing (WordPiece, whole words). tokens, bytes, characters: of the text.
    unknown: bytes of the text that are lost, in unknown tokens; `None` if there is no unknown token.
    """

    size: int
    vocab_size: int
    merges: int | None
    tokens: int
    bytes: int
    characters: int
    unknown: int | None = None

    @property
    def bytes_per_token(self) -> float:
        """Bytes of UTF-8 in a token, on average; 0 for no text."""
        return self.bytes / max(self.tokens, 1)

    @property
    def unknown_share(self) -> float:
        """The part of the text's bytes that is lost in unknown tokens."""
        return (self.unknown or 0) / max(self.bytes, 1)

    @property
    def characters_per_token(self) -> float:
        """The same in characters."""
        return self.characters / max(self.tokens, 1)


@dataclass(frozen=True, slots=True)
class Growth:
    """Tokenizers of several sizes from one training, smallest first, and what they make of one text.

    tokenizers: size asked for -> tokenizer. documents: of the text that was measured. unknown: documents
    left out, because some size has no token for a symbol in them; of several lines each counts as one.
    held_out: in words, what the text is.
    """

    tokenizers: dict[int, Tokenizer]
    rows: tuple[Row, ...]
    documents: int
    unknown: int
    held_out: str

    def table(self) -> str:
        """The rows as a Markdown table; the last column is how many tokens fewer than in the row above."""
        lines = [HEAD, RULE]
        before: Row | None = None
        for row in self.rows:
            change = "" if before is None else f"{100 * (row.tokens / max(before.tokens, 1) - 1):+.1f} %"
            merges = "" if row.merges is None else f"{row.merges:,}"
            unknown = "" if row.unknown is None else f"{100 * row.unknown_share:.2f} %"
            lines.append(
                f"| {row.vocab_size:,} | {merges} | {row.tokens:,} | {unknown} | {row.bytes_per_token:.3f} "
                f"| {row.characters_per_token:.3f} | {change} |"
            )
            before = row
        return "\n".join(lines) + "\n"

    def words(self) -> str:
        """What was measured, in a sentence; a second one where some of it is unknown to a size."""
        size = self.rows[0].bytes if self.rows else 0
        left = ""
        if self.unknown:
            are = "is" if self.unknown == 1 else "are"
            where = "in no alphabet, or not in that of each size"
            left = f"; {self.unknown:,} with symbols {where}, {are} left out"
        texts = plural(self.documents, "text", ",")
        said = f"Measured on {plural(size, 'byte', ',')} of {self.held_out} ({texts}{left})."
        most = max((row.unknown_share for row in self.rows), default=0.0)
        if not most:
            return said
        return (
            f"{said} Up to {100 * most:.2f} % of them are lost in unknown tokens, which may stand for whole "
            "words: bytes per token look better than they are."
        )

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "format": "syllabary-sizes",
            "version": 1,
            "held_out": {"text": self.held_out, "documents": self.documents, "left_out": self.unknown},
            "sizes": [
                asdict(row)
                | {"bytes_per_token": row.bytes_per_token, "characters_per_token": row.characters_per_token}
                | {"unknown_share": row.unknown_share}
                for row in self.rows
            ],
        }

    def draw(self, path: Path, title: str = "") -> None:
        """Write bytes per token against size as PNG; `TrainingError` if matplotlib is not there."""
        with CURVE.picture(path, SMALL) as figure:
            axes = figure.subplots()
            xs = [row.vocab_size for row in self.rows]
            axes.plot(xs, [row.bytes_per_token for row in self.rows], color=LINE, marker="o", markersize=4)
            axes.set_xscale("log", base=2)
            ticks = _apart(xs)
            axes.set_xticks(ticks, [f"{x:,}" for x in ticks])
            axes.minorticks_off()
            axes.set_xlabel("tokens in the vocabulary")
            axes.set_ylabel("bytes per token, held-out text")
            axes.grid(alpha=0.25)
            if title:
                axes.set_title(title)


def sizes(
    source: corpus.Source | Corpus | PieceTable | Mapping[str, corpus.Source | Corpus | PieceTable],
    sizes: Iterable[int],
    *,
    held_out: Iterable[str] | None = None,
    val: float = 0.05,
    seed: int = 0,
    threads: int | None = None,
    trained: Callable[[Mapping[int, Tokenizer]], None] | None = None,
    **options: Any,
) -> Growth:
    """Train once, at the largest of `sizes`, and measure the tokenizer of each size on held-out text.

    source, options: as `train` takes them. sizes: of vocabularies, special tokens and alphabet included.
    held_out: documents to measure on. Without them, `val` of the text is set aside before training, by
        documents, or by stretches of long ones (`growth_text`); `seed` makes another choice. Of several
        languages (a dict) each gives as much.
    trained: called with the tokenizers by size, before they are measured: to save them, whatever comes.
    Each tokenizer is the one that `train` gives for that size (`Tokenizer.truncate`).

    Raises what `train` does, `TrainingError` for sizes below the alphabet, `CorpusError` if nothing can be
    held out.

    >>> text = ["low lower lowest newer newest widest\\n" * 4] * 50
    >>> growth = sizes(text, [260, 270], held_out=["the lowest"])
    >>> [(row.size, row.tokens) for row in growth.rows]
    [(260, 7), (270, 5)]
    """
    wanted = sorted({integer("sizes", size) for size in listed("sizes", sizes, (int,))})
    if not wanted:
        raise TrainingError("sizes is empty: name at least one size")
    for name in ("vocab_size", "num_merges"):
        if name in options:
            raise TrainingError(f"{name} does not go with sizes: the largest of them is trained")
    read: Any = source
    if held_out is None:
        read = setting_aside(source, val, seed)
    else:
        held_out = _given(held_out)
    _check_smallest(source, wanted[0], options)
    tok = train(read, wanted[-1], threads=threads, **options)
    found = {size: tok if size == wanted[-1] else tok.truncate(size) for size in wanted}
    if trained is not None:
        trained(found)
    if held_out is None:
        part = "each language" if isinstance(source, Mapping) else "all"
        texts, words = held_out_of(read, source), f"text held out of training, {100 * val:g} % of {part}"
    else:
        texts, words = held_out, "held-out text that was given"
    return measure(found, texts, words=words, threads=threads)


def _given(held_out: Iterable[str]) -> list[str]:
    """The documents to measure on; `CorpusError` if there is no text in them."""
    texts = list(listed("held_out", held_out, (str,)))
    if not any(texts):
        raise CorpusError("the held-out text is empty: give text to measure on, as held_out")
    return texts


def _check_smallest(source: object, size: int, options: dict[str, Any]) -> None:
    """Raise what is wrong with the smallest size before an hour of training, as far as options tell."""
    model, begin = options.get("model"), options.get("superwords")
    if isinstance(model, str) and model in UNCUT:
        raise TrainingError(
            f"model={model!r} does not go with sizes: {UNCUT[model]}; train each size by itself"
        )
    if isinstance(begin, int) and begin > size:
        raise TrainingError(
            f"superwords is {begin}, above the smallest of sizes, {size}: give the number of tokens from "
            f"which on words may join, or sizes from {begin} on"
        )
    if options.get("like") != SENTENCEPIECE:
        asked = {name: value for name, value in options.items() if name not in UNASKED}
        with suppress(CorpusError):  # there is no text: then all else is well
            train({name: [] for name in source} if isinstance(source, Mapping) else [], size, **asked)


def measure(
    tokenizers: dict[int, Tokenizer],
    texts: Sequence[str],
    *,
    words: str = "text",
    threads: int | None = None,
) -> Growth:
    """Encode documents with each tokenizer; special tokens in them count as one token.

    Documents with symbols that one of the tokenizers has no token for are left out, of all sizes; of a
    document of several lines only those lines, and each line left counts as a document.
    Raises `CorpusError` if none is left that becomes a token.
    """
    ordered = dict(sorted(tokenizers.items()))
    known, unknown = list(texts), 0
    for tok in ordered.values():
        known, more = _known(tok, known, threads)
        unknown += more
    size, characters = sum(len(text.encode()) for text in known), sum(map(len, known))
    if not size and not any(texts):
        raise CorpusError("there is no text to measure on: give held-out text, or hold out more of it")
    rows = tuple(
        Row(asked, tok.vocab_size, _merges(tok), tokens, size, characters, lost)
        for asked, tok in ordered.items()
        for tokens, lost in (_count(tok, known, threads),)
    )
    if not all(row.tokens for row in rows):
        raise CorpusError(_nothing(sum(map(bool, texts)), unknown, ordered[max(ordered)]))
    return Growth(ordered, rows, len(known), unknown, words)


def _nothing(full: int, unknown: int, tok: Tokenizer) -> str:
    """Why so many texts, of which so many or parts of them are left out, give no token."""
    if not unknown:  # white space that is dropped
        return "the held-out text becomes no token: give other text as held_out"
    none = f"none of the {full} held-out texts can be measured: each has"
    none = none if full > 1 else "the held-out text cannot be measured: it has"
    return f"{none} symbols that not every size has a token for; {_way_out(tok)}"


def _way_out(tok: Tokenizer) -> str:
    """What to do where no text can be spelled."""
    other = "give other text as held_out"
    if tok.spec.record.get("like") == "subword-nmt":  # codes know the characters of their merges alone
        return f"{other}, or larger sizes, which know more characters"
    return f"{other}, or train with fallback or bytes" if tok.spec.model == "bpe" else other


def _merges(tok: Tokenizer) -> int | None:
    """How many merges there are; of a model by scores, its pieces that are longer than a character."""
    spec = tok.spec
    if spec.model in COUNTED:
        return None
    if spec.scores is not None:
        return sum(len(spec.tokens[token_id].decode()) > 1 for token_id in spec.scores)
    return len(tok.merges)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= BATCH:
            yield batch
            batch, characters = [], 0
    yield batch


def _count(tok: Tokenizer, texts: Sequence[str], threads: int | None) -> tuple[int, int | None]:
    """The tokens of all texts, and the bytes that are in unknown ones; `None` if there is no such token."""
    unknown = tok.spec.unknown
    if unknown is None:
        return sum(int(tok.count_batch(batch, "allow", threads).sum()) for batch in _batches(texts)), None
    tokens = lost = 0
    for batch in _batches(texts):
        for text, ids in zip(
            batch, tok.encode_batch_array(batch, "allow", threads, dropout=0.0), strict=True
        ):
            tokens += len(ids)
            if (ids == unknown).any():
                spans = tok.offsets(text, "byte", "allow")[ids == unknown]
                lost += int((spans[:, 1] - spans[:, 0]).sum())
    return tokens, lost


def _known(tok: Tokenizer, texts: Sequence[str], threads: int | None) -> tuple[list[str], int]:
    """The texts that the tokenizer can spell, of others the lines that it can, and how many it cannot."""
    found: list[str] = []
    unknown = 0
    for batch in _batches(texts):
        try:
            tok.count_batch(batch, "allow", threads)
            found += batch
        except UnknownSymbolError:
            for text in batch:
                if _spells(tok, text):
                    found.append(text)
                    continue
                lines = text.splitlines(keepends=True)
                fine = [line for line in lines if _spells(tok, line)]
                found += fine
                unknown += len(lines) - len(fine)
    return found, unknown


def _spells(tok: Tokenizer, text: str) -> bool:
    try:
        tok.count(text, "allow")
    except UnknownSymbolError:
        return False
    return True


def _apart(sizes: Sequence[int]) -> list[int]:
    """Those of sizes, in their order, whose numbers do not run into each other below a picture.

    >>> _apart([300, 301, 400, 8000, 8000])
    [300, 400, 8000]
    """
    least = LABEL * (math.log(sizes[-1]) - math.log(sizes[0])) if sizes else 0.0
    found: list[int] = []
    for size in sizes:
        if not found or math.log(size) - math.log(found[-1]) > least:
            found.append(size)
    return found
