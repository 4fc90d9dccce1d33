"""What changes the weights: AdamW's groups, and one update from the gradients.

Leaves out: the learning rate of a step (`config.TrainConfig.rate`) and where gradients come from (`train`).
"""

from __future__ import annotations

import math

from syllabary.gpt.backend import torch
from syllabary.gpt.config import TrainConfig


def adamw(model: torch.nn.Module, train: TrainConfig, kind: str) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter 2019) over a module's parameters.

    Weight decay is on what `train.decay` says: matrices, or all. kind: the device's, `"cpu"` or `"cuda"`,
    where one fused kernel makes the update, or `"mps"`.
    """
    parameters = [each for each in model.parameters() if each.requires_grad]
    decayed = [each for each in parameters if train.decay == "all" or each.dim() >= 2]
    rest = [each for each in parameters if train.decay != "all" and each.dim() < 2]
    groups = [{"params": decayed, "weight_decay": train.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=train.learning_rate,
        betas=(train.beta1, train.beta2),
        fused=kind in ("cpu", "cuda"),
    )


def update(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, rate: float, clip: float | None
) -> torch.Tensor:
    """Change the weights by their gradients, which are then forgotten; the norm of all gradients before.

    The norm is a tensor still on the device: to read it is to wait for the device.
    """
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), math.inf if clip is None else clip)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm
