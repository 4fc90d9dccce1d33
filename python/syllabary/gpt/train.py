"""Training a model on shards: what a run begins with, and what it gives back.

A step reads nothing but the weights, the optimizer's state, the step's number and the seed, so a run that was
killed goes on from its newest checkpoint to the same losses. Under `torchrun` each batch is split evenly over
the processes and gradients are averaged, so their number changes nothing but rounding (and what dropout
draws).
Leaves out: the steps themselves (`loop`), and how it looks in a terminal (`syllabary.cli.gpt`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from syllabary import shards as shards_module
from syllabary.errors import ModelError
from syllabary.gpt import checkpoint, plots
from syllabary.gpt import run as runs
from syllabary.gpt.backend import torch
from syllabary.gpt.config import ModelConfig, TrainConfig
from syllabary.gpt.data import Batches, check_ids
from syllabary.gpt.device import Device, enough_memory, pick, prepared
from syllabary.gpt.log import Log
from syllabary.gpt.loop import Event, Interrupt, Loop, Report, Result
from syllabary.gpt.validation import Validation
from syllabary.shards import Shards

__all__ = ["Event", "Report", "Result", "train"]

PATIENCE = 1.0  # seconds after which another Ctrl-C is a second one


def train(
    shards_path: str | os.PathLike[str],
    run_path: str | os.PathLike[str],
    model: ModelConfig,
    train: TrainConfig,
    *,
    resume: bool = True,
    report: Report | None = None,
    threads: int | None = None,
    tensorboard: bool = False,
    exact: bool = True,
) -> Result:
    """Train a model on the shards in a folder, and keep all of it in the folder of the run.

    resume: True goes on with what is in `run_path`, if it is the same run; False begins anew.
    report: called with each `Event`. threads: torch's, on a CPU; None: as it is set.
    tensorboard: also write its events, in `tensorboard/`.
    exact: at the end, measure the whole validation split (where documents are held out), not a sample.

    The first Ctrl-C ends the step, writes a checkpoint, and comes out as KeyboardInterrupt; a second one,
    more than a second later, does not wait.

    Raises `ModelError` where model and shards do not fit, another run is in the folder or another process
    writes into it, memory is not enough, or a loss is no number (the checkpoints of before stay);
    `ShardError` for another tokenizer than the run's, or a split that is missing; `CheckpointError` for a
    damaged checkpoint.
    """
    device = pick(train.device, train.dtype, None if train.compile == "auto" else train.compile)
    shards = shards_module.open(shards_path)
    with enough_memory(), prepared(device, threads, train.seed), contextlib.ExitStack() as outer:
        interrupt = outer.enter_context(_interruptible())
        if device.writes:
            outer.enter_context(runs.held(Path(run_path)))
        loop = _begin(shards, Path(run_path), model, train, device, resume)
        loop.report, loop.interrupt = report, interrupt
        with contextlib.ExitStack() as stack:
            if device.writes:
                board = loop.run.path / runs.TENSORBOARD if tensorboard else None
                loop.log = stack.enter_context(Log(loop.run.path / runs.LOG, loop.step, board))
            return loop.go(shards.val if exact and train.validation == "documents" else None)


def _begin(
    shards: Shards, path: Path, model: ModelConfig, train: TrainConfig, device: Device, resume: bool
) -> Loop:
    """Everything of a run up to the step it stands at."""
    if shards.vocab_size > model.vocab_size:
        raise ModelError(
            f"the shards have ids up to {shards.vocab_size - 1}, and the model's vocab_size is "
            f"{model.vocab_size}: give it {shards.vocab_size}"
        )
    validation = Validation.of(shards, model, train, device)
    batches = Batches(
        validation.trained,
        model.block_size,
        train.batch_size,
        seed=train.seed,
        order=train.order,
        rank=device.rank,
        world=device.world,
        name="the train split",
    )
    run = None
    if device.writes:
        checkpoint.check_installed()
        plots.CURVES.check()
        for split in shards.splits.values():
            check_ids(split.ids, model.vocab_size, f"the {split.name} split")
        run = runs.start(path, model, train, shards, resume=resume)
    return Loop(from_first(run, device), device, batches, validation)


def from_first(what: runs.Run | None, device: Device) -> runs.Run:
    """What the first process has, in all of them."""
    box = [what]
    if device.world > 1:
        torch.distributed.broadcast_object_list(box)
    assert box[0] is not None
    return box[0]


@contextlib.contextmanager
def _interruptible() -> Iterator[Interrupt]:
    """Hold the first Ctrl-C back until the loop looks; a later one acts as always.

    Only where Ctrl-C would raise KeyboardInterrupt: not beside the main thread, nor where somebody else
    listens. One that follows at once is the first again: `torchrun` hands on what the terminal sent too.
    """
    interrupt = Interrupt()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return

    pressed: list[float] = []

    def note(*_: object) -> None:
        pressed.append(time.monotonic())
        if pressed[-1] - pressed[0] > PATIENCE:
            raise KeyboardInterrupt
        interrupt.asked = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
