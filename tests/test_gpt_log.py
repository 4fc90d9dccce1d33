"""Around the training loop: devices, the log, the picture of the losses.

Leaves out: the loop (`test_gpt_train`).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from syllabary.errors import ModelError  # noqa: E402
from syllabary.gpt import log, plots  # noqa: E402
from syllabary.gpt.device import Device, peak_of, pick  # noqa: E402

CPU = Device("cpu", "float32", compiled=False)


def test_devices() -> None:
    assert pick("cpu") == CPU
    assert pick("cpu", "bfloat16", True) == Device("cpu", "bfloat16", compiled=True)
    with pytest.raises(ModelError, match=r"device is 'tpu': give one of auto, cpu, cuda, mps, or cuda:1"):
        pick("tpu")
    with pytest.raises(ModelError, match=r"dtype is 'int8'"):
        pick("cpu", "int8")
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match=r"device 'cuda:1': torch finds none on this machine"):
            pick("cuda:1")
        assert pick().kind in ("cpu", "mps")
    assert CPU.peak_flops() is None


@pytest.mark.parametrize("found", [None, "triton"])
def test_only_a_gpu_with_triton_compiles_by_itself(
    found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What torch brings on Windows has none."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda _name: (8, 0))
    monkeypatch.setattr("syllabary.gpt.device.find_spec", lambda _name: found)
    assert pick("cuda").compiled is (found is not None)
    assert pick("cuda", compiled=True).compiled
    assert not pick("cuda", compiled=False).compiled
    assert not pick("cpu").compiled


def test_apples_gpu_is_for_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    assert (pick(), pick("mps").dtype) == (Device("mps", "float32", compiled=False), "float32")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert pick() == Device("cpu", "float32", compiled=False, world=2)
    with pytest.raises(ModelError, match="several processes cannot share Apple's GPU: give device cpu"):
        pick("mps")


@pytest.mark.parametrize(
    "name, peak",
    [
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA A10G", 70e12),
        ("NVIDIA A10", 125e12),
        ("NVIDIA H100 PCIe", 756e12),
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA L4", 121e12),
        ("NVIDIA L40S", 362e12),
        ("NVIDIA GeForce RTX 4090", 165e12),
        ("Tesla T4", None),
    ],
)
def test_peaks_of_known_gpus(name: str, peak: float | None) -> None:
    assert peak_of(name) == peak


def test_a_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"kind": "step", "step": 1, "tokens": 9, "seconds": 9, "loss": 9}\n{"kind": "step", "st')
    assert log.read(path) == [{"kind": "step", "step": 1, "tokens": 9, "seconds": 9, "loss": 9}]
    path.write_text('{"kind": "step", "step": 1, "tokens": 9, "seconds": 9, "loss": 9}\nwhat\n')
    with pytest.raises(ModelError, match=r"log\.jsonl, line 2: no entry of a log"):
        log.read(path)


def test_a_log_goes_on_from_a_step(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with log.Log(path, 0) as first:
        for step in (1, 2, 3):
            first.add({"kind": "step", "step": step, "tokens": 9, "seconds": 9, "loss": 9})
    with log.Log(path, 2) as second:
        second.add({"kind": "step", "step": 3, "again": True, "tokens": 9, "seconds": 9, "loss": 9})
    assert [entry["step"] for entry in log.read(path)] == [1, 2, 3]
    assert log.read(path)[-1]["again"] is True


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    class Full:
        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self) -> None:
            pass

    path = tmp_path / "log.jsonl"
    with log.Log(path, 0) as ours:
        ours._file.close()
        full: Any = Full()
        ours._file = full
        with pytest.raises(OSError, match=r"No space left on device: '.*log\.jsonl'"):
            ours.add({"kind": "step", "step": 1})


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_curves_of_any_length(count: int, tmp_path: Path) -> None:
    steps = [
        {"kind": "step", "step": n, "tokens": 10 * n, "loss": 5 / n, "bits_per_byte": None}
        for n in range(1, count + 1)
    ]
    evals = [{"kind": "eval", "step": n, "tokens": n, "val_loss": 5.0, "bits_per_byte": 2.0} for n in (0, 1)]
    plots.loss_curves([*steps, *evals[: count and 2]], tmp_path / "loss.png", "a run")
    assert (tmp_path / "loss.png").read_bytes().endswith(b"IEND\xaeB`\x82")
