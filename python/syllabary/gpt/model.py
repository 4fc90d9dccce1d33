"""The language model: a decoder-only transformer, all of it in this file.

- pre-norm: each branch reads a LayerNorm of the residual stream and adds to it; one more norm at the end
- causal attention by torch's `scaled_dot_product_attention`
- learned positions, added to the token's vector, or rotary ones, which turn queries and keys
- a feed-forward layer four times as wide, with GELU (GPT-2's form) or ReLU
- the output layer is the embedding transposed (tied) or its own
- GPT-2's initialization, in `initialize`
- a cache of keys and values for generation

Shapes in comments: B sequences, T places, C = n_embd, H heads of size D = C / H, V = vocab_size.
Leaves out: the loss by slices (`loss`), training (`train`), sampling (`generate`), other libraries' names of
the weights (`export`).
"""

from __future__ import annotations

from dataclasses import dataclass

from syllabary.errors import ModelError
from syllabary.gpt.backend import torch
from syllabary.gpt.config import ModelConfig
from syllabary.gpt.loss import IGNORED, Reduction, cross_entropy

nn, functional = torch.nn, torch.nn.functional

WIDER = 4  # the feed-forward layer, in units of n_embd
SPREAD = 0.02  # standard deviation of the first weights
ROTARY_BASE = 10_000.0


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many numbers a model has learned to hold.

    total: all. embedding: vectors of tokens and of places. body: the layers and the last norm.
    head: the output layer's own, 0 where it is tied. total = embedding + body + head.
    """

    total: int
    embedding: int
    body: int
    head: int


class Cache:
    """Keys and values of the places that the model has read: (B, H, block_size, D) each, a pair a layer.

    length: places filled. `clear()` forgets them.
    """

    def __init__(self, config: ModelConfig, batch: int, device: torch.device, dtype: torch.dtype) -> None:
        shape = (batch, config.n_head, config.block_size, config.head_size)
        self.layers = [
            (torch.empty(shape, device=device, dtype=dtype), torch.empty(shape, device=device, dtype=dtype))
            for _ in range(config.n_layer)
        ]
        self.length = 0

    def clear(self) -> None:
        """Forget what was read."""
        self.length = 0

    def extend(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put (B, H, T, D) behind what one layer has; its keys and values so far, (B, H, length + T, D)."""
        end = self.length + keys.shape[2]
        all_keys, all_values = self.layers[layer]
        all_keys[:, :, self.length : end] = keys
        all_values[:, :, self.length : end] = values
        return all_keys[:, :, :end], all_values[:, :, :end]


class Attention(nn.Module):
    """Causal self-attention of H heads."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.config, self.layer = config, layer
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias and config.qkv_bias)
        self.out = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: torch.Tensor, turn: torch.Tensor | None, cache: Cache | None) -> torch.Tensor:
        """(B, T, C) -> (B, T, C). turn: cosines and sines of rotary positions, (2, T, D / 2)."""
        batch, length, width = x.shape
        split = (batch, length, self.config.n_head, self.config.head_size)
        q, k, v = (part.view(split).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=2))  # (B, H, T, D)
        if turn is not None:
            q, k = rotate(q, turn), rotate(k, turn)
        mask = None
        if cache is not None:
            before = cache.length
            k, v = cache.extend(self.layer, k, v)  # (B, H, before + T, D)
            if before and length > 1:  # is_causal would line the mask up with the first place
                mask = torch.ones(length, before + length, dtype=torch.bool, device=x.device).tril(before)
        y = functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=mask,
            dropout_p=self.config.dropout if self.training else 0.0,
            is_causal=mask is None and length > 1,  # one place sees all that is before it
            scale=self.config.score_scale,
        )  # (B, H, T, D)
        y = y.transpose(1, 2).reshape(batch, length, width)  # heads side by side
        return self.drop(self.out(y))  # type: ignore[no-any-return]


class FeedForward(nn.Module):
    """Each place by itself: wider, bent, narrower."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.relu = config.activation == "relu"
        self.wide = nn.Linear(config.n_embd, WIDER * config.n_embd, bias=config.bias)
        self.out = nn.Linear(WIDER * config.n_embd, config.n_embd, bias=config.bias)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = self.wide(x)  # (B, T, 4C)
        x = functional.relu(x) if self.relu else functional.gelu(x, approximate="tanh")
        return self.drop(self.out(x))  # type: ignore[no-any-return]


class Block(nn.Module):
    """One layer: attention, then feed-forward, each added to the stream."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.attention = Attention(config, layer)
        self.norm_feed = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.feed = FeedForward(config)

    def forward(self, x: torch.Tensor, turn: torch.Tensor | None, cache: Cache | None) -> torch.Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = x + self.attention(self.norm_attention(x), turn, cache)
        return x + self.feed(self.norm_feed(x))  # type: ignore[no-any-return]


class GPT(nn.Module):
    """The model. `GPT(config, seed)` has GPT-2's first weights, the same for the same seed on any device.

    seed: None draws from torch's own state.
    """

    turns: torch.Tensor | None  # of rotary positions: cosines and sines, (2, block_size, D / 2)

    def __init__(self, config: ModelConfig, seed: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        learned, tied = config.positions == "learned", config.tie_weights
        self.places = nn.Embedding(config.block_size, config.n_embd) if learned else None
        self.drop = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.n_layer))
        self.norm = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.head = None if tied else nn.Linear(config.n_embd, config.vocab_size, bias=False)
        turns = None if learned else angles(config.block_size, config.head_size)
        self.register_buffer("turns", turns, persistent=False)
        initialize(self, seed)

    def forward(
        self,
        ids: torch.Tensor,
        targets: torch.Tensor | None = None,
        cache: Cache | None = None,
        reduction: Reduction = "mean",
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """The scores of the next token at each place, or the loss.

        ids: (B, T) int64, T at most block_size. targets: (B, T) int64, the ids that come next; -100: not
        counted. cache: what was read before; ids go on from there and are added to it.

        Without targets: (logits (B, T, V), None). With: (None, loss), in nats and float32, a number or, with
        reduction="none", (B, T); the logits are never all in memory then.

        `ModelError` for more than block_size places, and on a CPU for ids outside the vocabulary (on a GPU
        to look would be to wait; training code looks at its shards instead).
        """
        self._check(ids, targets)
        x = self.hidden(ids, cache)  # (B, T, C)
        if targets is None:
            return functional.linear(x, self.output), None
        loss = cross_entropy(x.flatten(0, 1), self.output, targets.flatten(), reduction)
        return None, loss.view(targets.shape) if reduction == "none" else loss

    def hidden(self, ids: torch.Tensor, cache: Cache | None = None) -> torch.Tensor:
        """What the output layer reads: ids (B, T) as in `forward` -> (B, T, C)."""
        begin = 0 if cache is None else cache.length
        here = slice(begin, begin + ids.shape[1])
        if here.stop > self.config.block_size:
            raise ModelError(
                f"{here.stop} tokens at once, above block_size = {self.config.block_size}: give fewer"
            )
        x = self.tokens(ids)  # (B, T, C)
        if self.places is not None:
            x = x + self.places.weight[here]
        turn = None if self.turns is None else self.turns[:, here]
        x = self.drop(x)
        for block in self.blocks:
            x = block(x, turn, cache)
        if cache is not None:
            cache.length = here.stop
        return self.norm(x)  # type: ignore[no-any-return]

    def logits(self, ids: torch.Tensor, cache: Cache | None = None) -> torch.Tensor:
        """The scores (B, T, V) of `forward`."""
        scores, _ = self(ids, cache=cache)
        return scores  # type: ignore[no-any-return]

    @property
    def output(self) -> torch.Tensor:
        """The weight of the output layer, (V, C)."""
        return self.tokens.weight if self.head is None else self.head.weight

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.tokens.weight.device

    def cache(self, batch: int = 1) -> Cache:
        """An empty cache for `batch` sequences."""
        return Cache(self.config, batch, self.device, self.tokens.weight.dtype)

    def parameters_count(self) -> Parameters:
        """How many numbers are learned, and where they are."""
        embedding = self.tokens.weight.numel()
        embedding += 0 if self.places is None else self.places.weight.numel()
        head = 0 if self.head is None else self.head.weight.numel()
        total = sum(each.numel() for each in self.parameters())
        return Parameters(total, embedding, total - embedding - head, head)

    def flops_per_token(self, length: int | None = None) -> float:
        """Floating-point operations of training on one token, forward and backward, in sequences of `length`.

        6 N + 12 L H D T: each of the N weights that multiply takes two operations forward and four backward;
        so do the scores and the mixing of L layers, 2 H D T each, without what a causal kernel saves by
        skipping the future. N holds the output layer, tied or not, and not the look-up of vectors. Forward
        alone is a third. (Kaplan et al. 2020, and PaLM's appendix B.)
        """
        length = self.config.block_size if length is None else length
        weights = self.parameters_count().body + self.output.numel()
        return 6.0 * weights + 12.0 * self.config.n_layer * self.config.n_embd * length

    def _check(self, ids: torch.Tensor, targets: torch.Tensor | None) -> None:
        """Refuse what torch would answer with an index error, or a dead GPU."""
        if ids.device.type != "cpu" or torch.compiler.is_compiling():
            return
        check_ids(ids, self.config.vocab_size, "ids")
        if targets is not None:
            check_ids(targets[targets != IGNORED], self.config.vocab_size, "targets")


def check_ids(ids: torch.Tensor, vocab_size: int, name: str) -> None:
    """`ModelError` with the first id that is outside the vocabulary."""
    if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= vocab_size):
        wrong = int(ids[(ids < 0) | (ids >= vocab_size)][0])
        raise ModelError(
            f"{name} hold {wrong}: the model's vocabulary is 0 to {vocab_size - 1}; "
            "use the tokenizer that it was trained with"
        )


def initialize(model: GPT, seed: int | None = None) -> None:
    """All first weights, in place, as GPT-2's.

    | what | drawn from |
    |---|---|
    | matrices and embeddings | normal, 0.02 |
    | the last matrix of each branch (`out`) | normal, 0.02 / sqrt(2 n_layer): the sum of all stays at 0.02 |
    | biases | 0 |
    | norms | 1, biases 0 |
    """
    draws = None if seed is None else torch.Generator().manual_seed(seed)
    narrow = SPREAD / (2 * model.config.n_layer) ** 0.5
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                spread = narrow if name.endswith(".out.weight") else SPREAD
                parameter.copy_(torch.empty(parameter.shape).normal_(0.0, spread, generator=draws))
            else:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)


def angles(places: int, head_size: int) -> torch.Tensor:
    """Cosines and sines of rotary positions, (2, places, D / 2): pair i turns by place / 10000^(2i / D)."""
    speed = ROTARY_BASE ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)  # (D / 2,)
    angle = torch.outer(torch.arange(places, dtype=torch.float64), speed)  # (places, D / 2)
    return torch.stack([angle.cos(), angle.sin()]).float()


def rotate(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    """Turn the pairs (i, i + D / 2) of (B, H, T, D) by the angles (2, T, D / 2) of their places."""
    cos, sin = turn.to(x.dtype)
    left, right = x.chunk(2, dim=3)  # (B, H, T, D / 2)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=3)
