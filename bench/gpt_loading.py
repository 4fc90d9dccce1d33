"""What loading costs: tokens a second of `syllabary.gpt.train` against a plain loop over the same model.

The plain loop has its ids in memory as one tensor, takes windows from it, and does nothing else: no log, no
files, no checks. Both train the same model with the same optimizer; they take turns, and the median of the
rounds counts. Measurements and checkpoints of a run, which a plain loop does not make, fall outside of what
is timed. Leaves out: how fast the model itself is.

    python bench/gpt_loading.py            # small: a minute on two cores
    python bench/gpt_loading.py --depth 4 --block-size 256 --steps 12
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from common import RESULTS, processor

import syllabary
from syllabary import shards
from syllabary.gpt import ModelConfig, TrainConfig, model_for_depth
from syllabary.gpt.device import Device, pick, prepared
from syllabary.gpt.model import GPT
from syllabary.gpt.optimizer import adamw, update
from syllabary.gpt.train import Event, train

FIRST = 3  # steps before the clock starts: memory is fetched, kernels are chosen


def make_shards(folder: Path, vocab_size: int) -> shards.Shards:
    """Shards of text drawn from many words, some megabytes."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(20_000)]
    texts = [" ".join(draw.choices(words, k=4000)) for _ in range(120)]
    tok = syllabary.train(texts[:20], vocab_size=vocab_size)
    return shards.write(texts, tok, folder, val=0.1)


def ours(data: shards.Shards, folder: Path, model: ModelConfig, settings: TrainConfig) -> float:
    """Tokens a second of a run."""
    times: list[float] = []

    def note(event: Event) -> None:
        if event.kind == "step":
            times.append(time.perf_counter())

    train(data.path, folder, model, settings, resume=False, report=note, exact=False)
    return rate(times, model, settings)


def plain(data: shards.Shards, model: ModelConfig, settings: TrainConfig, device: Device) -> float:
    """Tokens a second of a loop that does nothing but train."""
    ids = torch.from_numpy(np.asarray(data.train.ids).astype(np.int64)).to(device.name)
    draw = torch.Generator().manual_seed(0)
    net = GPT(model, settings.seed).to(device.name)
    optimizer = adamw(net, settings, device.kind)
    forward = torch.compile(net) if device.compiled else net
    within = torch.arange(model.block_size + 1, device=device.name)
    times: list[float] = []
    for step in range(settings.steps):
        starts = torch.randint(len(ids) - model.block_size, (settings.batch_size, 1), generator=draw)
        rows = ids[starts.to(device.name) + within]
        with device.autocast():
            _, loss = forward(rows[:, :-1].contiguous(), rows[:, 1:].contiguous())
        loss.backward()
        update(net, optimizer, settings.rate(step), settings.clip)
        float(loss.detach())  # waits, as every loop does that shows its loss
        times.append(time.perf_counter())
    return rate(times, model, settings)


def rate(times: list[float], model: ModelConfig, settings: TrainConfig) -> float:
    """Tokens a second from the steps' ends, the first ones left out."""
    steps = len(times) - FIRST
    return steps * settings.batch_size * model.block_size / (times[-1] - times[FIRST - 1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, value in (("depth", 2), ("block-size", 128), ("batch-size", 16), ("steps", 23), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    device = pick(given.device)
    often = 10**9
    settings = TrainConfig(
        steps=given.steps,
        batch_size=given.batch_size,
        warmup=0,
        eval_every=often,
        save_every=often,
        eval_batches=1,
        device=given.device,
    )
    with tempfile.TemporaryDirectory() as folder:
        data = make_shards(Path(folder) / "shards", given.vocab_size)
        model = model_for_depth(given.depth, data.vocab_size, given.block_size)
        pairs = []
        for number in range(given.rounds):
            with prepared(device):
                theirs = plain(data, model, settings, device)
            pairs.append((ours(data, Path(folder) / "run", model, settings), theirs))
            print(f"round {number + 1}: ours {pairs[-1][0]:,.0f}, plain loop {theirs:,.0f} tokens/s")
    record(given, pairs, f"{device.name}, {device.dtype}")


def record(given: argparse.Namespace, pairs: list[tuple[float, float]], device: str) -> None:
    """Print the medians, and write them to bench/results/gpt_loading.json."""
    mine, plain_loop = (statistics.median(each) for each in zip(*pairs, strict=True))
    print(f"{device}: ours {mine:,.0f}, plain loop {plain_loop:,.0f} tokens/s: {mine / plain_loop:.1%}")
    found = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": "python bench/gpt_loading.py " + " ".join(sys.argv[1:]),
        "settings": vars(given),
        "device": device,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {name: version(name) for name in ("syllabary", "torch", "numpy")},
        "rounds": [{"ours": round(ours, 1), "plain": round(loop, 1)} for ours, loop in pairs],
        "tokens_per_second": {"ours": round(mine, 1), "plain": round(plain_loop, 1)},
        "share_of_plain": round(mine / plain_loop, 4),
    }
    (RESULTS / "gpt_loading.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
