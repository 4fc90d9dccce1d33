"""`write`: a corpus and a tokenizer -> a folder of shards, by several processes, killed and resumed at will.

Adds the order of the work: plan, parts, assembly, index. Leaves out: how each is done (`work`, `encoding`,
`workers`, `assembly`).
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from syllabary.arguments import MAX_THREADS, cores, integer, portion, text_or_none
from syllabary.corpus.care import FORMS
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.report import Report
from syllabary.corpus.sources import Source, Unit
from syllabary.errors import CorpusError, ShardError, SyllabaryError, outside
from syllabary.files import write_atomic
from syllabary.reference.symbols import plural
from syllabary.shards import layout
from syllabary.shards.assembly import Assembly, Rules
from syllabary.shards.encoding import Job
from syllabary.shards.layout import Index
from syllabary.shards.parts import Part, read_part, write_part
from syllabary.shards.reading import Shards, open_shards
from syllabary.shards.work import Plan, Work, plan_of, remove
from syllabary.shards.workers import WorkerDiedError, Workers
from syllabary.tokenizer import Special, Tokenizer

UNIT_BYTES = 8 << 20  # small, so that no process is left alone with much at the end


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the writing is: bytes of the source that are encoded, of how many; None: nobody knows."""

    done: int
    total: int | None


OnProgress = Callable[[Progress], object]


@dataclass(frozen=True)
class Order:
    """One call of `write`, its arguments looked at. tokenizer: its file."""

    job: Job
    rules: Rules
    work: Work
    tokenizer: bytes
    processes: int
    progress: OnProgress


def write(
    corpus: Corpus | Source,
    tokenizer: Tokenizer,
    path: str | os.PathLike[str],
    *,
    val: float = 0.0,
    seed: int = 0,
    end: str | None = None,
    special: Special = "raise",
    processes: int | None = None,
    resume: bool = True,
    force: bool = False,
    progress: OnProgress | None = None,
) -> Shards:
    """Encode a corpus into a folder that training code maps into memory; the same bytes each time.

    corpus: a `Corpus`, or what it takes: a path, or an iterable of documents and paths. Its `report` is
        filled.
    path: the folder, made if it is not there: `train.bin` and `val.bin` (ids, uint16 if all are below
        65,536, else uint32, little endian), `train.offsets.bin` and `val.offsets.bin` (int64),
        `tokenizer.syllabary.json`, and `index.json`, written last.
    val: the part of the documents to hold out, chosen by a hash of their text and `seed`: 0 to below 1.
    end: a special token's text; its id follows every document.
    special: what a special token in the text means, as in `Tokenizer.encode`. Dropout is always off.
    processes: this one included; None: one a core. It makes no difference to the bytes.
    resume: go on with a run of the same inputs and options that was killed; False: begin again. Documents
        in memory always begin again.
    force: write anew where finished shards, or unfinished work of other inputs or options, are; finished
        shards stay whole until the new ones are.
    progress: is called with `Progress`.

    Raises `ShardError` (finished or foreign files are there; nothing falls into a split; a process died),
    `CorpusError` (empty; which file, where), `SpecialTokenError` and other errors of text with the
    document's place, `OSError` with the path (a full disk: what is done is kept for resuming, and there
    is no index).

    >>> import syllabary, syllabary.shards
    >>> tok = syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<|end|>"])
    >>> shards = syllabary.shards.write(["low lower", "lowest"], tok, "shards", end="<|end|>")
    >>> [tok.decode(document) for document in shards.train]
    ['low lower<|end|>', 'lowest<|end|>']
    """
    order = _order(corpus, tokenizer, Path(path), val, seed, end, special, processes, progress)
    units = order.job.corpus.units(UNIT_BYTES)
    plan, sizes = _plan(order, units) if units else (None, [])
    work = order.work
    with work.locked():
        going_on = work.check(plan, resume, force)
        if not going_on:
            work.begin(plan)
        if not work.complete:
            _run(order, units, sizes)
        work.publish()
    return open_shards(path)


def _order(
    corpus: Corpus | Source,
    tokenizer: Tokenizer,
    path: Path,
    val: float,
    seed: int,
    end: str | None,
    special: Special,
    processes: int | None,
    progress: OnProgress | None,
) -> Order:
    """The arguments as one thing; `TypeError` and `ValueError` name the wrong one."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer is {type(tokenizer).__name__}: give a Tokenizer")
    val = portion("val", val, "a number from 0 to below 1")
    if not 0 <= val < 1:
        raise ValueError(f"val is {val}: give a number from 0 to below 1")
    number = integer("seed", seed)
    if not 0 <= number < 2**64:
        raise ValueError(f"seed is {number}: give 0 to 2**64 - 1")
    if processes is not None and not 1 <= integer("processes", processes) <= MAX_THREADS:
        raise ValueError(f"processes is {processes}: give 1 to {MAX_THREADS}, or None for one a core")
    tokenizer.encode("", special)  # which says what is wrong with `special`
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(20, "is a file, not a folder", str(path))
    found = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
    ids = layout.id_count(tokenizer)
    job = Job(found, tokenizer, special, _end_id(tokenizer, end), ids)
    layout.dtype_for(ids)
    rules = Rules(float(val), number, found.care.drop_duplicates)
    data = layout.spec_bytes(tokenizer.spec)
    return Order(job, rules, Work(path), data, processes or cores(), progress or (lambda _: None))


def _end_id(tokenizer: Tokenizer, end: str | None) -> int | None:
    text_or_none("end", end)
    if end is None:
        return None
    if end not in tokenizer.special_tokens:
        names = ", ".join(map(repr, tokenizer.special_tokens)) or "none"
        raise ShardError(f"end={end!r} is no special token of this tokenizer; it has {names}")
    return tokenizer.special_tokens[end]


def _plan(order: Order, units: list[Unit]) -> tuple[Plan, list[int]]:
    """Everything that decides the output; what does not (the number of processes) is not in it."""
    job, rules = order.job, order.rules
    special = job.special if isinstance(job.special, str) else sorted(job.special)
    return plan_of(
        units,
        {
            "version": f"{version('syllabary')}, {layout.VERSION}",
            "reading": repr(job.corpus.reading),
            "care": repr(job.corpus.care),
            "tokenizer": layout.hash_of(order.tokenizer),
            "special": special,
            "end": job.end,
            "val": rules.val,
            "seed": rules.seed,
        },
    )


def _run(order: Order, units: list[Unit], sizes: list[int]) -> None:
    """Everything up to the index inside `.work`. What a mistake in the input leaves is removed."""
    work = order.work
    try:
        with closing(Assembly(work.path, order.rules)) as assembly:
            if units:
                _assemble_units(order, units, sizes, assembly)
            else:
                _assemble_memory(order, assembly)
            assembly.save()
            _finish(order, assembly)
    except WorkerDiedError:
        raise  # nothing is wrong with the input: the next run goes on here, as after a full disk
    except SyllabaryError:
        work.discard()
        raise


def _assemble_memory(order: Order, assembly: Assembly) -> None:
    """Documents that only this process has: the engine's threads encode them."""
    job, done = order.job, 0

    def tell(amount: int) -> None:
        nonlocal done
        done += amount
        order.progress(Progress(done, None))

    nothing = dataclasses.asdict(Report())
    with closing(cast(Any, job.corpus.kept(normalized=True))) as kept:  # `_finish` says what there is to say
        for part in job.encode(kept, order.processes, tell):
            assembly.add(dataclasses.replace(part, report=nothing))
            if assembly.due:
                assembly.save()
    assembly.report.merge(job.corpus.report)


def _assemble_units(order: Order, units: list[Unit], sizes: list[int], assembly: Assembly) -> None:
    """Each unit once, by whoever is free; their parts into the assembly in order."""
    work, first = order.work, assembly.parts
    whole = work.whole_parts(len(units), first)
    tasks = [
        (number, (unit, work.part(number)))
        for number, unit in enumerate(units)
        if number >= first and number not in whole
    ]
    done = sum(sizes) - sum(sizes[number] for number, _ in tasks)
    meter = Meter(order.progress, sizes, done)
    saved = _append(work, assembly, whole, first)
    with closing(_encoded(order, tasks, meter)) as encoded:  # subtle: else an error leaves processes behind
        for number, part in encoded:
            if part is not None and number == assembly.parts:
                saved = _add(work, assembly, part, saved)
            else:
                whole.add(number)
                if part is not None:
                    write_part(part, work.part(number))
            saved = _append(work, assembly, whole, saved)


def _append(work: Work, assembly: Assembly, whole: set[int], saved: int) -> int:
    """Add the parts that are next, from their files."""
    while assembly.parts in whole:
        path = work.part(assembly.parts)
        part = read_part(path)
        if part is None:
            raise OSError(5, "the part was damaged while it lay there; run the same command again", str(path))
        saved = _add(work, assembly, part, saved)
    return saved


def _add(work: Work, assembly: Assembly, part: Part, saved: int) -> int:
    """Add a part. saved: how many are in the journal, their files gone; the same number, afterwards."""
    assembly.add(part)
    if not assembly.due:
        return saved
    assembly.save()
    for number in range(saved, assembly.parts):
        remove(work.part(number))
    return assembly.parts


def _encoded(
    order: Order, tasks: list[tuple[int, Any]], meter: Meter
) -> Generator[tuple[int, Part | None], None, None]:
    """Do the tasks, together with other processes if there are to be.

    Of each that is done its number, and its part if that is not in a file.
    """
    job, finished, left = order.job, list[tuple[int, Part | None]](), len(tasks)
    remote = dataclasses.replace(job, corpus=Corpus((), job.corpus.reading, job.corpus.care))

    def listen(wait: bool) -> None:
        for event in workers.events(wait):
            if event.kind == "failed":
                raise event.value
            if event.kind == "warned":
                message, category = event.value
                warnings.warn(message, category, stacklevel=outside())
            elif event.kind == "told":
                meter.told(event.task, event.value)
            else:
                finished.append((event.task, None))

    def tell(amount: int) -> None:
        meter.told(number, amount)
        listen(wait=False)

    with Workers(max(min(order.processes, left) - 1, 0), remote.write_unit, tasks) as workers:
        while left:
            taken = workers.take()
            if taken is None:
                listen(wait=True)
            else:
                number = taken[0]
                finished.append((number, job.encode_unit(taken[1][0], tell)))
            for done in finished:
                meter.ended(done[0])
                yield done
            left -= len(finished)
            finished.clear()


def _finish(order: Order, assembly: Assembly) -> None:
    """The copy of the tokenizer and, last, the index; errors for a corpus or a split without a token."""
    job, rules, folder = order.job, order.rules, order.work.path
    corpus = job.corpus
    corpus.report = assembly.report
    corpus.finish(any(step.kind in FORMS for step in job.tokenizer.spec.normalizer))
    splits = {name: files.index() for name, files in assembly.splits.items()}
    found = plural(sum(split.documents for split in splits.values()), "document")
    if not sum(split.tokens for split in splits.values()):
        raise CorpusError(f"the corpus is empty: {found} read, without a token in them")
    for name, split in splits.items():
        if not split.tokens:
            raise ShardError(
                f"the split {name} is empty: with val={rules.val} and seed={rules.seed} none of "
                f"{found} falls into it; give another val or seed, or "
                f"{assembly.report.smaller(corpus.reading)}"
            )
    write_atomic(folder / layout.TOKENIZER, order.tokenizer)
    index = Index(
        dtype=layout.dtype_for(job.ids),
        vocab_size=job.ids,
        tokenizer_sha256=layout.hash_of(order.tokenizer),
        end=job.end,
        seed=rules.seed,
        val=rules.val,
        splits=splits,
        corpus=corpus.record(),
    )
    write_atomic(folder / layout.INDEX, index.to_bytes())


class Meter:
    """Bytes of the source that are done: a unit's text while it is read, its size when it is done."""

    def __init__(self, progress: OnProgress, sizes: list[int], done: int) -> None:
        self._progress, self._sizes, self._done = progress, sizes, done
        self._inside: dict[int, int] = {}

    def told(self, unit: int, amount: int) -> None:
        """So many bytes of text more."""
        self._inside[unit] = min(self._inside.get(unit, 0) + amount, self._sizes[unit])
        self._tell()

    def ended(self, unit: int) -> None:
        """The unit is done."""
        self._inside.pop(unit, None)
        self._done += self._sizes[unit]
        self._tell()

    def _tell(self) -> None:
        self._progress(Progress(self._done + sum(self._inside.values()), sum(self._sizes)))
