"""`PieceCounts`: how often each piece occurs in a corpus, as a thing to keep, to add and to train from.

`reference/counts.py` defines it. The table of a part of a corpus can be counted wherever that part is, and
the sum of the tables is the table of the whole, in whatever order.
Leaves out: the arrays (`piece_table`), what files look like (`file`).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import EllipsisType
from typing import Any

from syllabary._engine import Trainer
from syllabary.arguments import special_names, text_or_none, thread_count
from syllabary.corpus import Source
from syllabary.corpus.corpus import Corpus
from syllabary.counts import file as counts_file
from syllabary.counts.sums import sum_of
from syllabary.errors import CorpusError, TrainingError
from syllabary.piece_table import PieceTable, Rules, arrays_of
from syllabary.progress import Report, reporter
from syllabary.reference.assemble import check_options
from syllabary.spec import Form, SplitSpec, TrainOptions
from syllabary.training import LIKE, OURS, TOOLS, split_of
from syllabary.training.checkpoint import Checkpoint, in_blocks, opened
from syllabary.training.counted import corpus_record, count_corpus
from syllabary.training.huggingface import by_lines
from syllabary.training.own import HUGGINGFACE, SENTENCEPIECE

Split = str | SplitSpec | EllipsisType | None


class PieceCounts(PieceTable):
    """How often each piece occurs in a corpus; made by `of`, `load` and `sum`, never changed.

    Iterating gives `(piece, count)`, `str` and `int`, in order of the pieces' bytes; `len` is the number of
    distinct pieces, `total` that of all. `bytes` and `documents` are those of the text, `rules` its cuts.
    The arrays: `data`, uint8 (bytes,), the UTF-8 of the pieces back to back; `ends`, uint64 (pieces,), where
    each ends; `counts`, uint64 (pieces,). Equal tables have the same pieces, counts and rules.

    >>> one = PieceCounts.of(["to be or"], split="whitespace-split")
    >>> two = PieceCounts.of(["not to be"], split="whitespace-split")
    >>> dict(one + two)
    {'be': 2, 'not': 1, 'or': 1, 'to': 2}
    >>> one + two == PieceCounts.of(["not to be", "to be or"], split="whitespace-split")
    True
    """

    __slots__ = ()

    @classmethod
    def of(
        cls,
        source: Source | Corpus,
        *,
        like: str | None = None,
        split: Split = ...,
        special_tokens: Sequence[str] = (),
        normalize: Form | None = None,
        threads: int | None = None,
        progress: bool | Report = False,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> PieceCounts:
        """Count the pieces of a corpus. The result does not depend on `threads` or the order of documents.

        source: as for `syllabary.train`, and read in the same way.
        like: count as training like that tool does: by its split, and with its special tokens as plain text
            where it has them so. "huggingface" has files by lines, documents whole.
        split: a name, a pattern or None (default "o200k", or that of `like`), as for `syllabary.train`.
        special_tokens: boundaries in the text, which are not counted.
        normalize: "NFC", "NFD", "NFKC" or "NFKD": the text is brought into this form first.
        progress: a bar on stderr, or a function that takes `Progress`.
        checkpoint: a folder, as for `syllabary.train`: after a kill the same call goes on from there.

        Raises `CorpusError` and `TrainingError` as `syllabary.train` does; a corpus without text has an empty
        table.
        """
        rules = rules_of(like, split, special_tokens, normalize)
        read = source if isinstance(source, Corpus) else Corpus(source)
        with (
            opened(checkpoint, rules.options(), read, purpose(like), write=in_blocks) as kept,
            reporter(progress) as report,
        ):
            trainer = Trainer(fed_by(rules, like, read), thread_count(threads))
            about = count_text(trainer, read, rules, report, kept)
            return cls(arrays_of(trainer), rules, **about)

    @classmethod
    def sum(cls, tables: Iterable[PieceTable]) -> PieceCounts:
        """The table of all the corpora together; each is asked for, and held, one at a time.

        Raises `TrainingError` for none, for tables by different rules, saying what differs, and for a count
        past 2^64-1.
        """
        arrays, rules, about = sum_of(tables)
        return cls(arrays, rules, **about)

    def __add__(self, other: object) -> PieceCounts:
        """The table of both corpora, as `sum`."""
        if not isinstance(other, PieceTable):
            return NotImplemented
        return self.sum((self, other))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Put the table into a file, whole or not at all.

        `.parquet` holds all of it (pyarrow, extra `arrow`); `.txt` (`piece count`, as subword-nmt has its
        dictionaries) and `.tsv` (with a tab) only pieces and counts, the most frequent first.
        Raises `FormatError` for another suffix, and for a piece that a line of text cannot hold; `OSError`.
        """
        counts_file.save(self, Path(path))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        like: str | None = None,
        split: Split = ...,
        special_tokens: Sequence[str] = (),
        normalize: Form | None = None,
    ) -> PieceCounts:
        """The table of a file: `.parquet`, `.txt` or `.tsv` as `save` has them.

        Rows of one piece are added, rows of count 0 left out. A file that says nothing of its rules (text,
        Parquet from elsewhere) needs `split` or `like`, and the other arguments if the text was treated so;
        what is said of any other file must be true.
        Raises `CorpusError` for what is no table, with its row or line, and for one without rules;
        `TrainingError` for arguments that contradict the file; `OSError`.
        """
        place = Path(path)
        arrays, rules, about = counts_file.load(place)
        return cls(arrays, rules_told(place, rules, like, split, special_tokens, normalize), **about)


def fed_by(rules: Rules, like: str | None, read: Corpus) -> TrainOptions:
    """The options of a trainer that is fed the text of a corpus."""
    # Text to be normalized comes without special tokens: what looks like one afterwards is none.
    uncut = rules if rules.normalize is None else Rules(rules.split)
    return dataclasses.replace(uncut.options(), lines=like == HUGGINGFACE and by_lines(read))


def purpose(like: str | None) -> dict[str, object]:
    """What a checkpoint says of counting, besides options and corpus."""
    return {"like": like, "purpose": "a table of counts"}


def count_text(
    trainer: Trainer, read: Corpus, rules: Rules, report: Report | None, kept: Checkpoint | None = None
) -> dict[str, Any]:
    """Count a corpus; what is known of its text, as arguments of a `PieceTable`."""
    size = count_corpus(trainer, read, rules.options(), report, kept)
    return {"size": size, "documents": read.report.documents, "corpus": None, **corpus_record(read)}


def rules_told(
    place: Path,
    rules: Rules | None,
    like: str | None,
    split: Split,
    special_tokens: Sequence[str],
    normalize: Form | None,
) -> Rules:
    """The rules of a file that says `rules` of itself; arguments and errors as of `PieceCounts.load`."""
    untold = like is None and split is ...
    if rules is None:
        if untold:
            raise CorpusError(
                f"{place} says nothing of how its pieces were cut: give split=, or like= of a tool, as "
                '"subword-nmt" for its dictionaries'
            )
        return rules_of(like, split, special_tokens, normalize)
    given = rules.split if untold else split
    cuts = _tool(like).get("cut_special", True)
    tokens = special_tokens or (rules.special_tokens if cuts else ())
    told = rules_of(like, given, tokens, normalize or rules.normalize)
    if different := rules.differences(told):
        what = "you say" if like is None else f"like={like!r} counts"
        raise TrainingError(
            f"{place} was counted otherwise than {what}: they differ in {' and in '.join(different)}"
        )
    return rules


def rules_of(like: str | None, split: Split, special_tokens: Sequence[str], normalize: Form | None) -> Rules:
    """The rules that arguments mean, checked; errors as `syllabary.train` has them."""
    settings = OURS | _tool(like)
    specials = tuple(special_names(special_tokens))
    if specials and not settings["cut_special"]:
        raise TrainingError(
            f"like={like!r} has special tokens of the text as plain text, so that none are cut out of it: "
            "leave special_tokens out, and give them when training"
        )
    wanted = settings["split"] if split is ... else split
    if not isinstance(wanted, SplitSpec):
        text_or_none("split", wanted)
        wanted = split_of(wanted, like)
    text_or_none("normalize", normalize)
    rules = Rules(wanted, specials, normalize)
    check_options(rules.options())
    return rules


def _tool(like: str | None) -> dict[str, Any]:
    """What a tool does otherwise than we; `TrainingError` for one without pieces, or not known."""
    if like is None:
        return {}
    if not isinstance(like, str):
        raise TypeError(f"like is {like!r}: give str or None")
    if like == SENTENCEPIECE:
        raise TrainingError(f"like={like!r} counts sentences, which are no pieces: train on the text itself")
    if like not in LIKE:
        raise TrainingError(f"like={like!r} is none of {', '.join(TOOLS)}; leave it out for our own defaults")
    return LIKE[like]
