"""The steps of a run, from where it stands to its end, with what is measured and saved on the way.

Leaves out: how a run begins (`train`), and every part that has a module of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from syllabary.errors import ModelError
from syllabary.gpt import checkpoint
from syllabary.gpt import run as runs
from syllabary.gpt.backend import torch
from syllabary.gpt.data import Batches
from syllabary.gpt.device import Device, average_gradients, share
from syllabary.gpt.evaluate import bits_per_byte
from syllabary.gpt.log import Log
from syllabary.gpt.model import GPT
from syllabary.gpt.optimizer import adamw, update
from syllabary.gpt.plots import loss_curves
from syllabary.gpt.validation import Validation
from syllabary.shards import Split

# Curves are drawn at the end; before, when so many seconds have passed, and then when training has taken so
# many times as long as drawing did.
PICTURE_AFTER, PICTURE_SHARE = 20.0, 20.0

Kind = Literal["start", "step", "eval", "save", "final"]


@dataclass(frozen=True)
class Event:
    """What is reported of a run: that it begins, a step, an evaluation, a checkpoint, the last measurement.

    entry: of `"step"`, `"eval"` and `"final"` the log's line (see `log.read`); of `"start"` what the run is
    (see `Loop.description`); of `"save"` step and path.
    """

    kind: Kind
    entry: dict[str, Any]


Report = Callable[[Event], object]


@dataclass(frozen=True)
class Result:
    """How a run ended.

    loss: nats a token. bits_per_byte: None where bytes are not known. Both are of the whole validation split
    if that was measured (`exact`), else the last estimate. tokens, seconds: of the whole run, all its parts
    together.
    """

    path: Path
    step: int
    loss: float
    bits_per_byte: float | None
    exact: bool
    tokens: int
    seconds: float


@dataclass
class Interrupt:
    """Whether Ctrl-C was pressed."""

    asked: bool = False


class Loop:
    """A run between two steps: `step` updates of the weights have been made."""

    def __init__(self, run: runs.Run, device: Device, batches: Batches, validation: Validation) -> None:
        """Weights as they were first, or those of the newest checkpoint."""
        self.run, self.device, self.batches, self.validation = run, device, batches, validation
        self.train = run.train
        self.log: Log | None = None
        self.report: Report | None = None
        self.interrupt = Interrupt()
        self.step = 0
        self.model = GPT(run.model, self.train.seed).to(device.name)
        self.optimizer = adamw(self.model, self.train, device.kind)
        if saved := run.checkpoints():
            self._load(saved[-1][1])
        self._saved = self.step if saved else None
        self._evaluated: int | None = None
        self._agreed = False
        self._picture_at = time.perf_counter() + PICTURE_AFTER
        self._last: dict[str, float | None] = {}
        self.forward: Any = torch.compile(self.model) if device.compiled else self.model
        if device.world > 1:
            share(self.model)

    @property
    def tokens_per_step(self) -> int:
        """Tokens that one update learns from, of all processes."""
        return self.train.accumulate * self.batches.tokens

    def go(self, split: Split | None) -> Result:
        """Make all steps that are left; then measure the whole of `split`, if one is given."""
        self._clock = time.perf_counter() - self._resumed()
        self._tell("start", self.description())
        batch = self._batch(0)
        while True:
            if self.step % self.train.eval_every == 0 or self.step >= self.train.steps:
                self._evaluate()
            if self.step >= self.train.steps or self._stopping():
                break
            batch = self._one(batch)
            if self.step % self.train.save_every == 0:
                self._save(batch)
        if self._saved != self.step:
            self._save(batch)
        self._draw()
        if self._stopping():
            raise KeyboardInterrupt
        return self._result(split)

    def description(self) -> dict[str, Any]:
        """What is said of a run when it begins.

        step: above 0 if it goes on. flops_per_token: of training. peak_flops: the device's FLOP/s, of all
        processes; None: not known.
        """
        peak = self.device.peak_flops()
        return {
            "parameters": self.model.parameters_count().total,
            "device": self.device.name,
            "dtype": self.device.dtype,
            "compiled": self.device.compiled,
            "processes": self.device.world,
            "step": self.step,
            "steps": self.train.steps,
            "tokens_per_step": self.tokens_per_step,
            "train_tokens": len(self.batches.ids),
            "flops_per_token": self.model.flops_per_token(),
            "peak_flops": None if peak is None else peak * self.device.world,
        }

    # ---- a step ----

    def _one(self, batch: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """One step; the first batch of the next, which is fetched while a GPU still works."""
        began = time.perf_counter()
        if self.run.model.dropout:  # by number, so that it is the same however a run came here
            torch.manual_seed(_mixed(self.train.seed, self.step, self.device.rank))
        total = torch.zeros((), device=self.device.name)
        for number in range(self.train.accumulate):
            with self.device.autocast():
                loss = self.forward(*batch)[1] / self.train.accumulate
            loss.backward()
            total += loss.detach()
            batch = self._batch(number + 1)
        if self.device.world > 1:
            average_gradients(self.model, self.device.world)
        rate = self.train.rate(self.step)
        norm = update(self.model, self.optimizer, rate, self.train.clip)
        self.step += 1
        numbers = self._read(total, norm)
        now = time.perf_counter()
        entry = {
            "kind": "step",
            "step": self.step,
            "tokens": self.step * self.tokens_per_step,
            "loss": numbers[0],
            "bits_per_byte": self.validation.trained_bits(numbers[0]),
            "learning_rate": rate,
            "grad_norm": numbers[1],
            "tokens_per_second": round(self.tokens_per_step / (now - began), 1),
        }
        self._write("step", entry)
        return batch

    def _batch(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Pass `number` of this step, on the device: ids and the ids after them, (rows, block) int64 each."""
        rows = torch.from_numpy(self.batches.rows(self.step * self.train.accumulate + number))
        if self.device.kind == "cuda":
            rows = rows.pin_memory().to(self.device.name, non_blocking=True)
        else:
            rows = rows.to(self.device.name)
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()

    def _read(self, loss: torch.Tensor, norm: torch.Tensor) -> tuple[float, float]:
        """Loss and norm as numbers, which waits for the device. `ModelError` if one is none."""
        if self.device.world > 1:
            both = torch.stack([loss, torch.full_like(loss, float(self.interrupt.asked))])
            torch.distributed.all_reduce(both)
            loss, self._agreed = both[0] / self.device.world, bool(both[1] > 0)
        numbers = float(loss), float(norm)
        if not all(map(math.isfinite, numbers)):
            raise ModelError(
                self._broken(f"the loss is {numbers[0]}, the norm of the gradients {numbers[1]}")
            )
        return numbers

    def _stopping(self) -> bool:
        """Whether Ctrl-C was pressed: of several processes, as all of them know since the last step."""
        return self._agreed if self.device.world > 1 else self.interrupt.asked

    def _broken(self, what: str) -> str:
        """What to say when a number is none."""
        saved = self.run.checkpoints()
        kept = f"{saved[-1][1]} is from before" if saved else "No checkpoint had been written yet"
        return (
            f"step {self.step}: {what}; training cannot go on. {kept}. What helps most often, in a new run, "
            f"is a lower learning rate (it is {self.train.learning_rate:g}), a longer warm-up, or clipping"
        )

    # ---- what is measured, written and saved ----

    def _evaluate(self) -> None:
        """Measure, unless that is in the log already; keep the best weights; draw the curves now and then."""
        if self._evaluated == self.step:
            return
        found = self.validation.measure(self.model, self.step, self._given_up)
        if found is None:
            return
        self._evaluated, self._last = self.step, found
        loss = found["val_loss"]
        if loss is None or not math.isfinite(loss):
            raise ModelError(self._broken(f"the loss on validation is {loss}"))
        if self.log is None:
            return
        best = min((entry["val_loss"] for entry in self.log.of("eval")), default=math.inf)
        tokens = self.step * self.tokens_per_step
        if loss < best and self.step:  # before the log says so: what ends in between is made again
            self._store(self.run.path / runs.BEST, weights_only=True)
        self._write("eval", {"kind": "eval", "step": self.step, "tokens": tokens, **found})
        if time.perf_counter() >= self._picture_at:
            self._draw()

    def _draw(self) -> None:
        """Draw the curves, if the log is this process's, and set when it is time to draw them again."""
        if self.log is None:
            return
        began = time.perf_counter()
        loss_curves(self.log.entries, self.run.path / runs.PLOT)
        now = time.perf_counter()
        self._picture_at = now + PICTURE_SHARE * (now - began)

    def _given_up(self) -> bool:
        """Whether an evaluation is to end early; several processes would have to agree on it."""
        return self.device.world == 1 and self.interrupt.asked

    def _result(self, split: Split | None) -> Result:
        """What the run came to."""
        measured, exact = self._last, split is not None and self.log is not None
        if split is not None and self.log is not None:
            before = [entry for entry in self.log.of("final") if entry["step"] == self.step]
            measured = before[0] if before else self._exact(split)
        loss = measured["val_loss"]
        assert loss is not None
        return Result(
            path=self.run.path,
            step=self.step,
            loss=loss,
            bits_per_byte=measured["bits_per_byte"],
            exact=exact,
            tokens=self.step * self.tokens_per_step,
            seconds=time.perf_counter() - self._clock,
        )

    def _exact(self, split: Split) -> dict[str, float | None]:
        """The losses on a whole split, by this process alone."""

        def look(*_: int) -> None:
            if self.interrupt.asked:
                raise KeyboardInterrupt

        found = bits_per_byte(self.model, split, device=self.device, report=look)
        tokens = self.step * self.tokens_per_step
        measured: dict[str, float | None] = {
            "val_loss": found.nats / found.tokens,
            "bits_per_byte": found.bits_per_byte,
        }
        self._write("final", {"kind": "final", "step": self.step, "tokens": tokens, **measured})
        return measured

    def _write(self, kind: Kind, entry: dict[str, Any]) -> None:
        """Put an entry into the log, and tell; only the first process does."""
        if self.log is not None:
            entry["seconds"] = round(time.perf_counter() - self._clock, 3)
            self.log.add(entry)
            self._tell(kind, entry)

    def _tell(self, kind: Kind, entry: dict[str, Any]) -> None:
        if self.report is not None and self.device.writes:
            try:
                self.report(Event(kind, entry))
            except KeyboardInterrupt:  # as Ctrl-C, which this step waits for
                self.interrupt.asked = True

    def _save(self, batch: tuple[torch.Tensor, torch.Tensor]) -> None:
        """A checkpoint of this step; the newest two stay. `ModelError` if one could not go on from it.

        A step may have a loss that is a number, and leave weights that give none for the next batch.
        """
        self._saved = self.step
        if self.device.writes:
            loss = self._loss(batch)
            if not math.isfinite(loss):
                raise ModelError(self._broken(f"the loss after it is {loss}"))
            path = self.run.checkpoint(self.step)
            self._store(path)
            self.run.discard()
            self._tell("save", {"step": self.step, "path": str(path)})

    def _loss(self, batch: tuple[torch.Tensor, torch.Tensor]) -> float:
        """Of the weights as they are, without dropout."""
        self.model.eval()
        with torch.no_grad(), self.device.autocast():
            _, loss = self.model(*batch)
        self.model.train()
        return float(loss)

    def _store(self, path: Path, *, weights_only: bool = False) -> None:
        checkpoint.save(
            path,
            model=self.model,
            optimizer=None if weights_only else self.optimizer,
            step=self.step,
            configs={"model": self.run.model, "train": self.train},
            rng=None if weights_only else checkpoint.rng_state(),
            extra={"data": dict(self.run.data)},
        )

    def _load(self, path: Path) -> None:
        """Weights, states and step of a checkpoint."""
        saved = checkpoint.load(path)
        saved.restore(self.model, self.optimizer)
        checkpoint.set_rng_state(saved.rng)
        self.step = saved.step

    def _resumed(self) -> float:
        """The seconds that earlier parts of the run took; what they measured at this step stays measured."""
        entries = self.log.entries if self.log is not None else []
        box: list[Any] = [next((each for each in self._logged("eval") if each["step"] == self.step), None)]
        if self.device.world > 1:
            torch.distributed.broadcast_object_list(box)
        if box[0] is not None:
            self._evaluated, self._last = self.step, box[0]
        return float(entries[-1]["seconds"]) if entries else 0.0

    def _logged(self, kind: str) -> list[dict[str, Any]]:
        return list(self.log.of(kind)) if self.log is not None else []


def _mixed(*numbers: int) -> int:
    """One seed from several."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])
