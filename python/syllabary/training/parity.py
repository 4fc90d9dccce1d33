"""`train` for several languages at once, none of which is left behind.

`reference/train_parity.py` defines it, the engine computes it. Adds the counting of each language's text, and
the record. Leaves out: the arguments of `train` (`call`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import ParityTrainer, Trainer
from syllabary.arguments import integer
from syllabary.corpus import Source
from syllabary.corpus.corpus import Corpus
from syllabary.errors import CorpusError
from syllabary.piece_table import Arrays, PieceTable, arrays_of
from syllabary.progress import Progress, Report
from syllabary.reference.assemble import assemble, initial_alphabet, merge_budget, warn_early_stop
from syllabary.reference.symbols import symbols
from syllabary.reference.train_parity import ParityRules, check_rules
from syllabary.spec import TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.counted import counted
from syllabary.training.feed import tell
from syllabary.training.learning import merging
from syllabary.training.table import check_table, feed_table

Texts: TypeAlias = "Source | Corpus | PieceTable"


@dataclasses.dataclass(frozen=True, slots=True)
class Parity(ParityRules):
    """How `train` deals with several languages, given as a dict of language to its texts.

    Before each merge the language that is served worst is taken, and its most frequent pair merges.
    dev: language -> text to judge by, best the same text in each: the worst has the most tokens. Without it
        the worst has the fewest bytes (`unit="char"`: characters) a token in its own texts.
    ratios: without `dev`: language -> how many times more bytes a token it shall have than others (default
        1). For languages in different scripts, the size of a text in this language, relative to the others.
    global_merges: so many merges at first go by the counts of all languages together.
    window, alpha: of the last `window` merges, no language may have more than `alpha` times its share.
    """

    dev: Mapping[str, Texts] | None = None


def train_parity(
    corpora: Mapping[str, Texts],
    options: TrainOptions,
    parity: Parity,
    *,
    threads: int,
    report: Report | None,
) -> Tokenizer:
    """Learn one tokenizer for all languages; `training.train` says what is raised."""
    for rule in ("window", "global_merges"):
        if getattr(parity, rule) is not None:
            integer(rule, getattr(parity, rule))
    check_rules(parity, options, list(corpora), parity.dev)
    tables = {name: _counted(name, texts, options, threads, report) for name, texts in corpora.items()}
    judges = parity.dev or {}
    dev = {
        name: _counted(f"dev: {name}", judges[name], options, threads, report) for name in tables if judges
    }
    seen = _seen([arrays for arrays, _size in (*tables.values(), *dev.values())], options)
    alphabet = initial_alphabet(options, seen)
    budget = merge_budget(options, len(alphabet))
    trainer = ParityTrainer(options, alphabet, parity.global_merges, parity.window, parity.alpha)
    for name, (arrays, _size) in tables.items():
        judge = dev[name][0] if dev else None
        trainer.add(arrays, judge, float((parity.ratios or {}).get(name, 1.0)))
    languages, pairs, counts = trainer.learn(budget, merging(report, budget))
    tell(report, Progress("merging", len(pairs), len(pairs), None))
    spec = assemble(options, alphabet, [(left, right) for left, right in pairs.tolist()])
    warn_early_stop(options, len(alphabet), len(pairs), stacklevel=4)
    record = {
        **spec.record,
        "like": None,
        "corpus_bytes": sum(size for _arrays, size in tables.values()),
        "counts": counts.tolist(),
        "parity": {name: getattr(parity, name) for name in ("ratios", "window", "alpha", "global_merges")}
        | {"dev": parity.dev is not None},
        "languages": _record(tables, languages, trainer.tokens),
    }
    return Tokenizer(dataclasses.replace(spec, record=record))


def _counted(
    name: str, texts: Texts, options: TrainOptions, threads: int, report: Report | None
) -> tuple[Arrays, int]:
    """The distinct pieces of one language, and the bytes of its text; `CorpusError` if there are none."""
    if isinstance(texts, PieceTable):
        check_table(texts, options)
        trainer = Trainer(options, threads)
        size = feed_table(trainer, texts, options)  # subtle: it checks the table
        return (texts.data, texts.ends, texts.counts), size
    read = texts if isinstance(texts, Corpus) else Corpus(texts)
    try:
        trainer, size = counted(read, options, threads, report)
    except CorpusError as error:
        raise CorpusError(f"{name}: {error}") from error
    return arrays_of(trainer), size


def _seen(tables: Iterable[Arrays], options: TrainOptions) -> set[bytes]:
    """The initial symbols of all texts, as far as the alphabet depends on them."""
    found = set[bytes]()
    for data, ends, _counts in tables:
        if options.unit == "byte":
            if options.alphabet == "seen":
                found |= {bytes([byte]) for byte in np.unique(data).tolist()}
        elif options.end_of_word is None:
            found |= {character.encode() for character in set(data.tobytes().decode())}
        else:
            start, mark = 0, options.end_of_word
            for end in ends.tolist():
                found.update(symbols(data[start:end].tobytes().decode(), "char", mark))
                start = end
    return found


def _record(
    tables: Mapping[str, tuple[Arrays, int]], languages: NDArray[np.int64], tokens: list[tuple[int, int]]
) -> dict[str, dict[str, Any]]:
    """What became of each language: bytes read, tokens of its pieces in the end, merges chosen for it."""
    return {
        name: {"bytes": size, "tokens": own, "judged_tokens": judged, "merges": int((languages == at).sum())}
        for at, ((name, (_arrays, size)), (own, judged)) in enumerate(
            zip(tables.items(), tokens, strict=True)
        )
    }
