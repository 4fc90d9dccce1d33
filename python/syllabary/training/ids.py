"""`train(..., unit="id")`: sequences of integers to an `IdTokenizer`.

`reference/ids.py` defines it, the engine computes it. Adds the sequences' way into the engine. Leaves out:
text.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syllabary._engine import Trainer
from syllabary.arguments import LARGEST, bounded, integer, iterated, thread_count
from syllabary.errors import CorpusError, TrainingError
from syllabary.ids import IdTokenizer, sequence_of
from syllabary.progress import Progress, Report, reporter
from syllabary.reference.assemble import check_options, merge_budget, training_record, warn_early_stop
from syllabary.spec import SplitSpec, TieBreak, TrainOptions
from syllabary.training.feed import tell
from syllabary.training.learning import learn

Sequence = Iterable[int] | ArrayLike | os.PathLike[str]
# Short sequences are handed to the engine together, up to so many integers.
BATCH = 1 << 20
MOST_BELOW = 1 << 27  # of `all_below`: a gigabyte or two
# Arguments of `train` that integers could have, and do not yet.
ABSENT = ("checkpoint", "memory_limit", "parity", "start", "superwords")
OWN = ("vocab_size", "num_merges", "min_frequency", "max_token_length", "tie_break")


def train_ids(
    sequences: Iterable[Sequence] | os.PathLike[str],
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    all_below: int | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    tie_break: TieBreak = "smallest-ids",
    threads: int | None = None,
    progress: bool | Report = False,
) -> IdTokenizer:
    """Learn merges of integers: of notes, bases, units of speech, or of ids that another tokenizer gave.

    sequences: an iterable of 1-D sequences of integers from 0 to 2^32 - 2, as lists, arrays or a `Ragged`, or
        of paths of `.npy` files (`str` or `PathLike`) that hold one each; or one such path. No merge joins
        two sequences.
    vocab_size: symbols and merges together, at most; 32,000 unless `num_merges` is given.
    all_below: all integers below this are symbols and keep their values as ids; else the symbols are those
        that occur, in order of their values.
    The rest as in `train`; `max_token_length` counts integers.

    Raises `CorpusError` (no integer; one that is too large, in which sequence), `TrainingError`, `OSError`.
    Warns `EarlyStopWarning` if no pair is left before the size is reached.

    >>> tok = train_ids([[60, 64, 67, 60, 64]], num_merges=1)
    >>> tok.vocab
    {0: (60,), 1: (64,), 2: (67,), 3: (60, 64)}
    """
    own = [vocab_size, num_merges, min_frequency, max_token_length, tie_break]
    options = _options(dict(zip(OWN, own, strict=True)))
    with reporter(progress) as report:
        return learn_ids(sequences, options, all_below, threads=thread_count(threads), report=report)


def ids_of_call(call: Mapping[str, Any]) -> IdTokenizer:
    """The same by the arguments of `train`; `TrainingError` for one that is of text."""
    for name, value in call.items():
        if name == "source":  # an array, maybe, which is compared item by item
            continue
        given = value is not ... and value is not None and value != () and value is not False
        given = given and (name, value) != ("model", "bpe")
        if given and name in ABSENT:
            raise TrainingError(f'{name} is not there for unit="id": leave it out')
        if given and name not in (*OWN, "unit", "threads", "progress"):
            raise TrainingError(f'{name} does not go with unit="id": integers have no text')
    options = _options({name: call[name] for name in OWN})
    with reporter(call["progress"]) as report:
        return learn_ids(
            call["source"], options, None, threads=thread_count(call["threads"]), report=report, stacklevel=4
        )


def _options(own: Mapping[str, Any]) -> TrainOptions:
    """The options that are given, checked."""
    given = [name for name in OWN[:4] if own[name] is not ... and own[name] is not None]
    most = {"min_frequency": 2**64 - 1}
    numbers: dict[str, Any] = {name: bounded(name, own[name], most.get(name, LARGEST)) for name in given}
    if not numbers.keys() & {"vocab_size", "num_merges"}:
        numbers["vocab_size"] = 32_000
    tie: Any = "smallest-ids" if own["tie_break"] is ... else own["tie_break"]
    if tie not in get_args(TieBreak):
        raise TrainingError(f"tie_break={tie!r} is none of {', '.join(get_args(TieBreak))}")
    plain = TrainOptions(SplitSpec(None, name="none"), unit="id", tie_break=tie)
    options = dataclasses.replace(plain, **numbers)
    check_options(options)
    return options


def learn_ids(
    sequences: Iterable[Sequence] | os.PathLike[str],
    options: TrainOptions,
    all_below: int | None,
    *,
    threads: int,
    report: Report | None,
    stacklevel: int = 3,
) -> IdTokenizer:
    """The same with the options as data."""
    # To the engine an integer is a word, of eight digits in text that compares as integers do.
    words = dataclasses.replace(options, unit="word")
    trainer = Trainer(words, threads)
    seen = np.empty(0, np.uint32)
    size = 0
    for batch, ends in _batches(sequences):
        seen = np.union1d(seen, batch)
        trainer.feed_ids(batch, ends)
        size += len(batch)
        tell(report, Progress("counting", 4 * size, None))
    if not size:
        raise CorpusError("the corpus is empty: no sequence holds an integer")
    count = len(seen) if all_below is None else _checked(all_below, seen)
    budget = merge_budget(options, count)
    symbols = seen if all_below is None else np.arange(count, dtype=np.uint32)
    # What does not occur never merges, so the engine need not know of it.
    known, pairs, counts = learn(trainer, words, (LARGEST, budget), report, None)
    assert len(known) == len(seen)
    if all_below is not None:
        pairs = _among_all(pairs, seen, len(symbols))
    warn_early_stop(options, len(symbols), len(pairs), stacklevel)
    record = {**training_record(options), "integers": size, "all_below": all_below, "counts": counts.tolist()}
    del record["split"]
    return IdTokenizer(symbols, pairs, record)


def _batches(
    sequences: Iterable[Sequence] | os.PathLike[str],
) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint64]]]:
    """Integers, and where each sequence ends in them."""
    held: list[NDArray[np.uint32]] = []
    room = BATCH
    if isinstance(sequences, np.ndarray) and sequences.ndim == 1:
        raise TypeError("sequences is one array: training reads many, so give a list of them, as [array]")
    many: Any = [sequences] if isinstance(sequences, (str, os.PathLike)) else sequences
    of = "sequences of integers, or of paths of .npy files"
    for number, sequence in enumerate(iterated("sequences", many, of)):
        array = _read(sequence, f"sequence {number}")
        held.append(array)
        room -= len(array)
        if room <= 0:
            yield _joined(held)
            held, room = [], BATCH
    if held:
        yield _joined(held)


def _joined(arrays: list[NDArray[np.uint32]]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    return np.concatenate(arrays), np.cumsum([len(array) for array in arrays], dtype=np.uint64)


def _read(sequence: Any, name: str) -> NDArray[np.uint32]:
    """One sequence, from memory or from a file."""
    if isinstance(sequence, str) and not sequence.endswith(".npy"):
        raise TypeError(f"{name} is text, {sequence[:40]!r}: give integers, or the path of a .npy file")
    if isinstance(sequence, (str, os.PathLike)):
        path = Path(sequence)
        try:
            sequence, name = np.load(path, mmap_mode="r", allow_pickle=False), str(path)
        except (ValueError, EOFError) as error:
            raise CorpusError(f"{path} is no .npy file of integers: {error}") from error
    return sequence_of(sequence, name, CorpusError)


def _checked(all_below: int, seen: NDArray[np.uint32]) -> int:
    """`all_below`, if it is above all that occurs."""
    limit = integer("all_below", all_below)
    if not 0 < limit <= MOST_BELOW:
        raise TrainingError(
            f"all_below is {limit}: give 1 to {MOST_BELOW} (each is a symbol, which takes memory), or None"
        )
    if int(seen[-1]) >= limit:
        raise TrainingError(f"the integer {int(seen[-1])} is not below all_below={limit}")
    return limit


def _among_all(pairs: NDArray[np.uint32], seen: NDArray[np.uint32], symbols: int) -> NDArray[np.uint32]:
    """Pairs of ids that count the symbols seen, as ids that count all; their order is the same."""
    ids = np.concatenate([seen, np.arange(len(pairs), dtype=np.uint32) + np.uint32(symbols)])
    return ids[pairs]
