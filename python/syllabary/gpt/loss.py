"""The output layer and its cross-entropy, together, a few rows at a time.

The logits of a batch are its largest tensor by far: 4,096 places by 16,000 tokens are 262 MB in float32, held
three times over by the textbook's two lines (`linear`, then `cross_entropy`). Here each slice of rows is
turned into its loss and its gradients at once and dropped: the same numbers, a quarter of the memory, and
faster on a CPU, where a slice stays in the cache (docs/log.md). Leaves out: second derivatives.
"""

from __future__ import annotations

from typing import Any, Literal

from syllabary.gpt.backend import torch

Reduction = Literal["mean", "sum", "none"]

IGNORED = -100  # a target that is not counted, as in torch
SLICE = {"cpu": 1 << 21}  # logits at a time: 8 MB of float32
SLICE_ELSEWHERE = 1 << 27  # a GPU wants larger ones


def cross_entropy(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, reduction: Reduction = "mean"
) -> torch.Tensor:
    """The loss in nats, float32, of `hidden @ weight.T` against `targets`.

    hidden: (rows, width). weight: (vocabulary, width). targets: (rows,) int64, -100 where nothing is asked.
    The result: a number, or (rows,) for "none", 0 where nothing is asked. "mean" is over what is counted.
    """
    rows = max(1, SLICE.get(hidden.device.type, SLICE_ELSEWHERE) // weight.shape[0])
    if reduction == "none":
        return _each(hidden, weight, targets, rows)
    if torch.is_grad_enabled() and (hidden.requires_grad or weight.requires_grad):
        total: torch.Tensor = _Sum.apply(hidden, weight, targets, rows)  # type: ignore[no-untyped-call]
    else:
        total = _each(hidden, weight, targets, rows).sum()
    return total / (targets != IGNORED).sum().clamp(min=1) if reduction == "mean" else total


def _each(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, rows: int) -> torch.Tensor:
    """The loss of every row, (rows,); as plain torch, which can differentiate it."""
    losses = [
        torch.nn.functional.cross_entropy(
            torch.nn.functional.linear(some, weight).float(), wanted, ignore_index=IGNORED, reduction="none"
        )
        for some, wanted in zip(torch.split(hidden, rows), torch.split(targets, rows), strict=True)
    ]
    return torch.cat(losses)


class _Sum(torch.autograd.Function):
    """The sum of the losses of all rows, whose gradients are computed on the way forward."""

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, rows: int
    ) -> torch.Tensor:
        """See `cross_entropy`; under autocast the products are in its type, the sums in float32."""
        kind = hidden.device.type
        low = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        with torch.autocast(kind, enabled=False):
            narrow = weight.to(low)  # (V, C)
            for start in range(0, hidden.shape[0], rows):
                some = hidden[start : start + rows].to(low)  # (R, C)
                wanted = targets[start : start + rows]  # (R,)
                asked = (wanted != IGNORED).unsqueeze(1)  # (R, 1)
                at = wanted.clamp(min=0).unsqueeze(1)  # (R, 1)
                scores = (some @ narrow.t()).float()  # (R, V), from here on in place
                wanted_score, peak = scores.gather(1, at), scores.amax(1, keepdim=True)  # (R, 1)
                scores.sub_(peak).exp_()
                norm = scores.sum(1, keepdim=True)  # (R, 1)
                total = total + ((norm.log() + peak - wanted_score) * asked).sum()
                # d loss / d scores = softmax - one at the target
                slope = scores.mul_(asked / norm).scatter_add_(1, at, -asked.float()).to(low)
                grad_hidden[start : start + rows] = slope @ narrow
                if low == weight.dtype:
                    torch.addmm(grad_weight, slope.t(), some, out=grad_weight)
                else:
                    grad_weight += slope.t() @ some
        ctx.save_for_backward(grad_hidden, grad_weight)
        return total

    @staticmethod
    def backward(ctx: Any, *above: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        """The gradients, times what comes from above."""
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * above[0], grad_weight * above[0], None, None
