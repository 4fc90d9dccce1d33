"""Comparing tokenizers: an equal model on each, and bits per byte of the same held-out text.

Each shard set gets a run of its own with the same body (layers, width, block) and the same training but for
the number of steps, which follows from what is to be equal: bytes of text seen, or compute. Runs resume, and
one that is finished and measured is not repeated, so a comparison may be interrupted, and widened.
Leaves out: training (`train`), measuring (`evaluate`, `baselines`), how it is told (`compare_table`,
`compare_plot`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from syllabary import shards as shards_module
from syllabary.errors import ModelError, ShardError
from syllabary.files import write_atomic
from syllabary.gpt import defaults
from syllabary.gpt import log as logs
from syllabary.gpt import run as runs
from syllabary.gpt.backend import torch
from syllabary.gpt.baselines import baselines
from syllabary.gpt.compare_plot import draw
from syllabary.gpt.compare_table import Comparison, Counted, Equal, Point, Row
from syllabary.gpt.config import ModelConfig, TrainConfig
from syllabary.gpt.data import check_length
from syllabary.gpt.device import pick
from syllabary.gpt.evaluate import Evaluation
from syllabary.gpt.model import GPT
from syllabary.gpt.train import Event, train
from syllabary.reference.symbols import plural
from syllabary.shards import Shards, Split, layout

TABLE, PLOT, RECORD = "compare.md", "compare.png", "compare.json"
POINTS = 10  # of a curve: evaluations on the way
EVAL_BATCHES = 20  # of each, which is a sample

Report = Callable[[str, Event], object]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much training each model gets. `epochs` and `bytes` are of the text of the first shard set.

    Give one of the three. flops: for equal compute only.
    """

    epochs: float | None = None
    bytes: float | None = None
    flops: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        if len(given) > 1:
            raise ModelError(f"both {' and '.join(given)} are given: a budget is one of them")
        for name, value in given.items():
            if not 0 < value < float("inf"):
                raise ModelError(f"{name} is {value!r}: give a number above 0")


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of a comparison, before it begins. body, embedding: parameters."""

    name: str
    shards: Shards
    run: Path
    model: ModelConfig
    train: TrainConfig
    body: int
    embedding: int
    flops_per_token: float

    @property
    def tokens(self) -> int:
        """Seen in training."""
        return self.train.steps * tokens_of_a_step(self.train, self.model)

    @property
    def bytes_per_token(self) -> float:
        """Of the training text."""
        text_bytes: int = self.shards.train.text_bytes
        return text_bytes / len(self.shards.train.ids)


def compare(
    paths: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    equal: Equal = "bytes",
    budget: Budget | None = None,
    settings: Mapping[str, Any] | None = None,
    count: bool = True,
    threads: int | None = None,
    report: Report | None = None,
) -> Comparison:
    """Train an equal model on each shard set, measure all on the same held-out text, and write it down.

    paths: folders of shards with the same `val` documents. out: a folder; it gets a run for each, and the
    table, the picture and the record (`compare.md`, `compare.png`, `compare.json`).
    equal: `"bytes"`: each model sees the same bytes of text; `"compute"`: each is trained with the same
    FLOPs, as the model's own formula counts them. budget: how much; None: as many epochs as `gpt train`
    makes; with equal compute and none in FLOPs, what the first model needs for the text.
    settings: what `defaults.settings` takes, but steps and epochs: depth, preset, fields of `ModelConfig`
    and `TrainConfig`. count: baselines too. report: called with a set's name and what `train` reports.

    Raises `ShardError` if held-out texts differ or are empty, `ModelError` where a run does not fit its
    folder or its shards.
    """
    wanted, plans = plan(paths, Path(out), equal=equal, budget=budget, settings=settings or {})
    if taken := [one.run for one in plans if (one.run / layout.INDEX).exists()]:
        raise ModelError(f"{taken[0]}: holds shards, and would get a run: give another folder for the result")
    runs.make_folder(Path(out))
    rows = tuple(_row(one, threads, report) for one in plans)
    counted, notes = _counted(plans) if count else ((), [])
    notes += _unequal(plans)
    val, model = _held_out(plans[0].shards), plans[0].model
    found = Comparison(
        equal=equal,
        budget=wanted,
        seed=plans[0].train.seed,
        layers=model.n_layer,
        width=model.n_embd,
        block=model.block_size,
        documents=val.documents,
        bytes=val.text_bytes,
        digest=val.digest,
        rows=rows,
        counted=counted,
        notes=tuple(notes),
    )
    write(found, Path(out))
    return found


def write(comparison: Comparison, folder: Path) -> None:
    """Table and words, picture and record, each whole or not at all."""
    write_atomic(folder / TABLE, f"{comparison.table()}\n\n{comparison.words()}\n".encode())
    draw(comparison, folder / PLOT)
    record = json.dumps(comparison.record(), indent=1, ensure_ascii=False)
    write_atomic(folder / RECORD, record.encode() + b"\n")


# ---- before ----


def plan(
    paths: Sequence[str | PathLike[str]],
    out: Path,
    *,
    equal: Equal,
    budget: Budget | None,
    settings: Mapping[str, Any],
) -> tuple[float, list[Plan]]:
    """What each model gets (bytes, or FLOPs), and what would be trained, checked, before anything is."""
    if not paths:
        raise ShardError("nothing to compare: give one folder of shards or more")
    if equal == "bytes" and budget is not None and budget.flops is not None:
        raise ModelError('a budget in FLOPs is for equal="compute" (--equal compute)')
    if given := {"steps", "epochs"} & set(settings):
        raise ModelError(f"{given.pop()} is set by the budget: give it there")
    kind = pick(settings.get("device", "auto")).kind
    fixed = {"eval_batches": EVAL_BATCHES, **settings, "validation": "documents"}
    opened = [shards_module.open(path) for path in paths]
    _check_same_text(opened)
    plans: list[Plan] = []
    wanted = 0.0
    for name, shards in zip(names(paths), opened, strict=True):
        model, training = defaults.settings(shards, kind, **fixed)
        rough = Plan(name, shards, out / name, model, training, *cost(model))
        wanted = wanted or _budget(rough, equal, budget or Budget(epochs=defaults.SIZES[kind].epochs))
        tokens = wanted / (rough.bytes_per_token if equal == "bytes" else rough.flops_per_token)
        steps = max(1, round(tokens / tokens_of_a_step(training, model)))
        often = {"eval_every": -(-steps // POINTS), "save_every": -(-steps // POINTS)}
        _, training = defaults.settings(shards, kind, **{**often, **fixed, "steps": steps})
        check_length(_held_out(shards).ids, model.block_size, f"{shards.path}: the held-out text")
        check_length(shards.train.ids, model.block_size, f"{shards.path}: the train split")
        plans.append(dataclasses.replace(rough, train=training))
    return wanted, plans


def names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """A name for each shard set, all different: the last part of its path, with a number if it must be.

    They name folders, so `a` and `A` are no two: on macOS and Windows they are one folder.

    >>> names(["a/greek", "b/greek", "latin/"])
    ['greek', 'greek-2', 'latin']
    """
    found: list[str] = []
    for path in paths:
        name = base = _printed(Path(path).resolve().name) or "shards"
        number = 2
        while name.casefold() in (one.casefold() for one in found):
            name, number = f"{base}-{number}", number + 1
        found.append(name)
    return found


def _printed(name: str) -> str:
    """A folder's name that a table can hold, a line of its own each: what is no character of text escaped."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in name)


def tokens_of_a_step(training: TrainConfig, model: ModelConfig) -> int:
    """Tokens that one update sees."""
    return training.batch_size * training.accumulate * model.block_size


def cost(model: ModelConfig) -> tuple[int, int, float]:
    """Parameters of the body, those of embedding and output, and FLOPs of training on one token."""
    with torch.device("meta"):  # shapes without numbers
        shell = GPT(model)
    parameters = shell.parameters_count()
    return parameters.body, parameters.embedding + parameters.head, shell.flops_per_token()


def _budget(first: Plan, equal: Equal, budget: Budget) -> float:
    """Bytes, or FLOPs, that each model gets."""
    if budget.flops is not None:
        return budget.flops
    text = budget.bytes or (budget.epochs or 1.0) * first.shards.train.text_bytes
    return text if equal == "bytes" else text * first.flops_per_token / first.bytes_per_token


def _held_out(shards: Shards) -> Split:
    if shards.val is None:
        raise ShardError(f"{shards.path}: no document is held out: write the shards again with --val 0.1")
    return shards.val


def _check_same_text(opened: Sequence[Shards]) -> None:
    """`ShardError` unless all sets hold out the same documents."""
    first = _held_out(opened[0])
    for shards in opened[1:]:
        val = _held_out(shards)
        if (val.digest, val.text_bytes) != (first.digest, first.text_bytes):
            raise ShardError(
                f"{shards.path} and {opened[0].path} hold out different texts "
                f"({plural(val.documents, 'document')}, {val.text_bytes} bytes; {first.documents}, "
                f"{first.text_bytes}), so their numbers would not compare: write both from the same files "
                "with the same --val and --seed"
            )


def _unequal(plans: Sequence[Plan]) -> list[str]:
    """A sentence for each thing besides the tokenizers in which the shard sets differ."""
    notes = []
    if len({one.shards.train.digest for one in plans}) > 1:
        notes.append("The models were not trained on the same documents.")
    ends = [one.name for one in plans if one.shards.index.end is not None]
    if 0 < len(ends) < len(plans):
        many = " and ".join(f"`{name}`" for name in ends)
        notes.append(f"Only {many} must also predict where documents end, which costs a little.")
    return notes


# ---- each run ----


def _row(one: Plan, threads: int | None, report: Report | None) -> Row:
    """Train, or go on, or find it done; then what it has become."""
    entries = _finished(one)
    if entries is None:
        told = None if report is None else lambda event: report(one.name, event)
        train(one.shards.path, one.run, one.model, one.train, threads=threads, report=told)
        entries = _finished(one)
        assert entries is not None  # what `train` has just written
    val = _held_out(one.shards)
    return Row(
        name=one.name,
        tokenizer_sha256=one.shards.tokenizer_hash,
        vocab_size=one.shards.vocab_size,
        bytes_per_token=val.text_bytes / len(val.ids),
        body=one.body,
        embedding=one.embedding,
        steps=one.train.steps,
        tokens=one.tokens,
        bytes=round(one.tokens * one.bytes_per_token),
        flops=one.tokens * one.flops_per_token,
        seconds=max((entry["seconds"] for entry in entries if entry["kind"] == "step"), default=0.0),
        evaluation=_evaluation(entries, val),
        curve=tuple(
            Point(
                entry["tokens"] * one.bytes_per_token,
                entry["tokens"] * one.flops_per_token,
                entry["bits_per_byte"],
            )
            for entry in entries
            if entry["kind"] == "eval" and entry.get("bits_per_byte") is not None
        ),
    )


def _finished(one: Plan) -> list[dict[str, Any]] | None:
    """The log of the run, if it is this one and has measured its last step on the whole held-out text."""
    run = runs.read(one.run)
    if run is None or not runs.same_data(run.data, runs.record(one.shards)) or run.model != one.model:
        return None
    was, now = run.train.to_json(), one.train.to_json()
    if any(was[name] != now[name] for name in now if name not in runs.FREE):
        return None
    entries = logs.read(one.run / runs.LOG)
    last = one.train.steps
    return entries if any(each["kind"] == "final" and each["step"] == last for each in entries) else None


def _evaluation(entries: Sequence[Mapping[str, Any]], val: Split) -> Evaluation:
    """The last measurement in a log, which `evaluate.bits_per_byte` made."""
    number = max(at for at, entry in enumerate(entries) if entry["kind"] == "final")
    final, tokens = entries[number], len(val.ids) - 1
    seconds = final["seconds"] - entries[number - 1]["seconds"]
    return Evaluation(final["val_loss"] * tokens, tokens, val.text_bytes, seconds)


# ---- baselines ----


def _counted(plans: Sequence[Plan]) -> tuple[tuple[Counted, ...], list[str]]:
    """Baselines of every set (bytes once, if they are the same for all), and what is odd about a set."""
    found: list[Counted] = []
    notes: list[str] = []
    for one in plans:
        for baseline in baselines(one.shards):
            if baseline.name == "byte trigram":
                notes += _lossy(one, baseline.predictions)
            found.append(Counted(one.name, baseline))
    nats = [one.baseline.nats for one in found if one.baseline.name == "byte trigram"]
    if max(nats) - min(nats) < 1e-6 * max(nats):
        tokens = [one for one in found if one.baseline.name != "byte trigram"]
        if len(notes) == len(plans) > 1:  # all lose alike, as by one normal form
            notes = [_same_other_text(plans[0], found[0].baseline.predictions)]
        found = [Counted(None, found[0].baseline), *tokens]
    order: dict[str, int] = {"byte trigram": 0, "token unigram": 1, "token bigram": 2}
    return tuple(sorted(found, key=lambda one: order[one.baseline.name])), notes


def _lossy(one: Plan, predictions: int) -> list[str]:
    """A sentence if the tokenizer does not give the held-out text back, by its length."""
    decoded, size = _decoded(one, predictions)
    if decoded == size:
        return []
    return [
        f"`{one.name}` does not give the text back as it was ({decoded:,} of {size:,} bytes): it "
        "was asked another question, and its numbers compare only roughly."
    ]


def _same_other_text(one: Plan, predictions: int) -> str:
    decoded, size = _decoded(one, predictions)
    return (
        f"None of them gives the text back as it was ({decoded:,} of {size:,} bytes), but all give the same: "
        "their numbers compare with each other, and only roughly with those of others."
    )


def _decoded(one: Plan, predictions: int) -> tuple[int, int]:
    """The bytes of the held-out text as the tokenizer gives it back, and as it was."""
    val = _held_out(one.shards)
    return predictions - (val.documents if one.shards.index.end is not None else 0), val.text_bytes
