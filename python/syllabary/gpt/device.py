"""Where a model is trained: device, number format, compiler, and the processes of `torchrun`.

`auto` takes what the machine has: CUDA with bfloat16 and the compiler, Apple's MPS, or the CPU in float32
and uncompiled. Also the peak rates of known GPUs, to say how much of one a run uses.
Leaves out: the model and its training.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from syllabary.errors import ModelError
from syllabary.gpt.backend import torch

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16")

# Dense 16-bit matrix FLOP/s (sums in float32) by NVIDIA's data sheets; the first name that occurs counts.
PEAKS: tuple[tuple[str, float], ...] = (
    ("GB200", 2.5e15),
    ("B200", 2.25e15),
    ("GH200", 989e12),
    ("H200", 989e12),
    ("H100 PCIe", 756e12),
    ("H100 NVL", 835e12),
    ("H100", 989e12),
    ("H800", 989e12),
    ("A100", 312e12),
    ("A800", 312e12),
    ("L40S", 362e12),
    ("L40", 181e12),
    ("L4", 121e12),
    ("A10G", 70e12),
    ("A10", 125e12),
    ("A40", 150e12),
    ("A30", 165e12),
    ("RTX A6000", 155e12),
    ("RTX 6000 Ada", 364e12),
    ("RTX 5090", 209e12),
    ("RTX 4090", 165e12),
    ("RTX 3090", 71e12),
)


@dataclass(frozen=True)
class Device:
    """What one process of a run computes with.

    name: torch's, as `"cpu"` or `"cuda:0"`. dtype: `"float32"` or `"bfloat16"` (autocast; weights stay
    float32). rank, world: this process among those of `torchrun`; 0 of 1 without it.
    """

    name: str
    dtype: str
    compiled: bool
    rank: int = 0
    world: int = 1

    @property
    def kind(self) -> str:
        """`"cpu"`, `"cuda"` or `"mps"`."""
        return self.name.partition(":")[0]

    @property
    def writes(self) -> bool:
        """Whether this is the process that writes files and reports."""
        return self.rank == 0

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """The context in which the model's forward pass runs."""
        if self.dtype == "float32":
            return contextlib.nullcontext()
        return torch.autocast(device_type=self.kind, dtype=torch.bfloat16)

    def synchronize(self) -> None:
        """Wait for what was started, so that a clock read next is right."""
        if self.kind == "cuda":
            torch.cuda.synchronize()
        elif self.kind == "mps":
            torch.mps.synchronize()

    def peak_flops(self) -> float | None:
        """FLOP/s that the GPU could do in this dtype; None where that is not known."""
        if self.kind != "cuda" or self.dtype != "bfloat16":
            return None
        return peak_of(torch.cuda.get_device_name())


def peak_of(name: str) -> float | None:
    """Dense bfloat16 FLOP/s of a GPU by its name.

    >>> peak_of("NVIDIA H100 80GB HBM3"), peak_of("NVIDIA L40S"), peak_of("a toaster")
    (989000000000000.0, 362000000000000.0, None)
    """
    return next((peak for part, peak in PEAKS if part.lower() in name.lower()), None)


def pick(device: str = "auto", dtype: str = "auto", compiled: bool | None = None) -> Device:
    """The device of this process; `ModelError` if this machine has no such one.

    compiled: whether `torch.compile` is used; None: on CUDA only, where torch came with Triton, which it
        does not on Windows.
    """
    if dtype not in DTYPES:
        raise ModelError(f"dtype is {dtype!r}: give one of {', '.join(DTYPES)}")
    rank, world, local = (int(os.environ.get(key, std)) for key, std in _TORCHRUN)
    kind = _kind("cpu" if device == "auto" and world > 1 and not torch.cuda.is_available() else device)
    if kind == "mps" and world > 1:
        raise ModelError("several processes cannot share Apple's GPU: give device cpu, or one process")
    name = kind if kind != "cuda" or ":" in device else f"cuda:{local}"
    if ":" in device:
        name = device
    if kind == "cuda" and int(name.partition(":")[2] or 0) >= torch.cuda.device_count():
        raise ModelError(f"there is no {name}: this machine has {torch.cuda.device_count()} CUDA device(s)")
    if dtype == "auto":
        new = kind == "cuda" and torch.cuda.get_device_capability(name)[0] >= 8
        dtype = "bfloat16" if new else "float32"
    if compiled is None:
        compiled = kind == "cuda" and find_spec("triton") is not None
    return Device(name, dtype, compiled, rank, world)


_TORCHRUN = (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"))


def _kind(device: str) -> str:
    """The kind of device, looked for if `auto`."""
    has = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next(kind for kind in ("cuda", "mps", "cpu") if has[kind])
    kind, colon, number = device.partition(":")
    if kind not in has or (colon and not number.isdecimal()):
        raise ModelError(f"device is {device!r}: give one of {', '.join(DEVICES)}, or cuda:1")
    if not has[kind]:
        raise ModelError(f"device {device!r}: torch finds none on this machine; cpu always works")
    return kind


@contextlib.contextmanager
def enough_memory() -> Iterator[None]:
    """A device's memory, or the CPU's, that is not enough comes out as `ModelError`."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        full = isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or "can't allocate" in str(error)
        if not full:
            raise
        why = str(error).partition("\n")[0] or "none is left"
        raise ModelError(
            "memory is not enough for this model and batch: give a smaller batch_size (and more accumulate), "
            f"a smaller block_size or a smaller model ({why})"
        ) from error


@contextlib.contextmanager
def prepared(device: Device, threads: int | None = None, seed: int = 0) -> Iterator[None]:
    """What is global in torch, for as long as a run lasts.

    Threads, precision, draws, and the group of processes, which is made by what `torchrun` put into the
    environment.
    """
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    if threads is not None:
        torch.set_num_threads(threads)
    if device.kind == "cuda":
        torch.cuda.set_device(device.name)
        torch.set_float32_matmul_precision("high")
    ours = device.world > 1 and not torch.distributed.is_initialized()
    if ours:
        # First: imported later, by the optimizer, it would keep the group that it finds (torch 2.13). Its
        # threads would outlive it, and end the process by SIGABRT when the interpreter goes before them.
        importlib.import_module("torch._dynamo")
        torch.distributed.init_process_group("nccl" if device.kind == "cuda" else "gloo")
    try:
        with torch.random.fork_rng(devices=[device.name] if device.kind == "cuda" else []):
            torch.manual_seed(seed)
            yield
    finally:
        if ours:
            torch.distributed.destroy_process_group()
        torch.set_num_threads(before[0])
        torch.set_float32_matmul_precision(before[1])


def share(model: torch.nn.Module) -> None:
    """Give every process the first one's weights."""
    for weight in model.parameters():
        torch.distributed.broadcast(weight.detach(), 0)


def average_gradients(model: torch.nn.Module, world: int) -> None:
    """Bring the mean of all `world` processes' gradients into each, once a step, by one flat tensor.

    torch's DistributedDataParallel would begin while the last pass still runs; but it keeps the group of
    processes (2.13), and frees it under Python's lock, for which the group's threads wait: a deadlock.
    """
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    torch.distributed.all_reduce(flat)
    flat /= world
    means = torch.split(flat, [gradient.numel() for gradient in gradients])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view_as(gradient))
