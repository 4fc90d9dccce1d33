"""The model against a naive one in numpy, its loss against torch's, its cache against none.

`naive` is written place by place from the definitions: nothing of the model's is used but its weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from syllabary.errors import ModelError  # noqa: E402
from syllabary.gpt import loss as losses  # noqa: E402
from syllabary.gpt.config import ModelConfig, model_for_depth  # noqa: E402
from syllabary.gpt.model import GPT  # noqa: E402

VARIANTS: dict[str, dict[str, Any]] = {
    "gpt2": {},
    "rotary": {"positions": "rotary"},
    "relu": {"activation": "relu"},
    "untied": {"tie_weights": False},
    "no-bias": {"bias": False},
    "no-qkv-bias": {"qkv_bias": False},
    "embd-scale": {"attention_scale": "embd"},
    "one-head": {"n_head": 1},
    "one-layer": {"n_layer": 1},
    "all": {
        "positions": "rotary",
        "activation": "relu",
        "tie_weights": False,
        "bias": False,
        "attention_scale": "embd",
    },
}


def config(**changes: Any) -> ModelConfig:
    shape = {"vocab_size": 37, "block_size": 12, "n_layer": 2, "n_head": 4, "n_embd": 32}
    return ModelConfig(**{**shape, **changes})


def shaken(shape: ModelConfig, seed: int = 1) -> GPT:
    """A model in eval mode whose every weight matters: first weights are too small, biases zero."""
    model = GPT(shape, seed).eval()
    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.empty(weight.shape).normal_(0, 0.2, generator=draws))
    return model


def some_ids(shape: ModelConfig, batch: int = 2, length: int | None = None) -> torch.Tensor:
    draws = torch.Generator().manual_seed(5)
    return torch.randint(shape.vocab_size, (batch, length or shape.block_size), generator=draws)


@pytest.fixture(params=sorted(VARIANTS))
def model(request: pytest.FixtureRequest) -> GPT:
    return shaken(config(**VARIANTS[request.param]))


# ---- the naive model ----


def naive(model: GPT, ids: list[int]) -> np.ndarray:
    """Logits (T, V) in float64, one place and one head after another."""
    shape = model.config
    w = {name: value.detach().double().numpy() for name, value in model.named_parameters()}

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return w[f"{name}.weight"] @ x + w.get(f"{name}.bias", 0)

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        y = (x - x.mean()) / math.sqrt(x.var() + 1e-5)
        return y * w[f"{name}.weight"] + w.get(f"{name}.bias", 0)

    def turned(x: np.ndarray, place: int) -> np.ndarray:
        if shape.positions == "learned":
            return x
        half = len(x) // 2
        speed = 10000.0 ** (-np.arange(half) / half)
        y = (x[:half] + 1j * x[half:]) * np.exp(1j * place * speed)  # a turn is a product
        return np.concatenate([y.real, y.imag])

    def bent(x: np.ndarray) -> np.ndarray:
        if shape.activation == "relu":
            return np.maximum(x, 0)
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    width, size = shape.n_embd, shape.n_embd // shape.n_head
    stream = [w["tokens.weight"][each].copy() for each in ids]
    if shape.positions == "learned":
        stream = [x + w["places.weight"][place] for place, x in enumerate(stream)]
    for layer in range(shape.n_layer):
        name = f"blocks.{layer}"
        qkv = [linear(norm(x, f"{name}.norm_attention"), f"{name}.attention.qkv") for x in stream]
        for place in range(len(ids)):
            mixed = []
            for head in range(shape.n_head):
                part = slice(head * size, (head + 1) * size)
                q, k, v = ([x[start : start + width][part] for x in qkv] for start in (0, width, 2 * width))
                mine = turned(q[place], place)
                scores = np.array([mine @ turned(k[past], past) for past in range(place + 1)])
                scores /= math.sqrt(size if shape.attention_scale == "head" else width)
                shares = np.exp(scores - scores.max())
                mixed.append(sum(s * x for s, x in zip(shares / shares.sum(), v, strict=False)))
            stream[place] = stream[place] + linear(np.concatenate(mixed), f"{name}.attention.out")
        for place, x in enumerate(stream):
            wide = bent(linear(norm(x, f"{name}.norm_feed"), f"{name}.feed.wide"))
            stream[place] = x + linear(wide, f"{name}.feed.out")
    out = w["tokens.weight"] if shape.tie_weights else w["head.weight"]
    return np.stack([out @ norm(x, "norm") for x in stream])


def test_the_logits_are_those_of_the_naive_model(model: GPT) -> None:
    ids = some_ids(model.config)
    logits, loss = model(ids)
    assert loss is None
    assert logits.shape == (2, 12, 37)
    for row in range(2):
        wanted = naive(model, ids[row].tolist())
        assert np.abs(wanted).max() > 1  # the weights do matter
        np.testing.assert_allclose(logits[row].detach().numpy(), wanted, atol=2e-4)


def test_no_place_sees_what_comes_after_it(model: GPT) -> None:
    ids = some_ids(model.config, batch=1)
    other = ids.clone()
    other[0, 7] = (other[0, 7] + 1) % model.config.vocab_size
    before, after = model.logits(ids), model.logits(other)
    torch.testing.assert_close(before[0, :7], after[0, :7], atol=1e-5, rtol=0)
    assert (before[0, 7:] - after[0, 7:]).abs().amax(dim=1).min() > 1e-3


@pytest.mark.parametrize("cuts", [[12], [1] * 12, [5, 7], [4, 1, 1, 6], [11, 1]], ids=str)
def test_a_cache_changes_nothing(model: GPT, cuts: list[int]) -> None:
    ids = some_ids(model.config)
    cache = model.cache(batch=2)
    parts = [model.logits(part, cache) for part in torch.split(ids, cuts, dim=1)]
    assert cache.length == 12
    torch.testing.assert_close(torch.cat(parts, dim=1), model.logits(ids), atol=1e-5, rtol=1e-5)


def test_a_cache_can_be_used_again(model: GPT) -> None:
    cache = model.cache(batch=2)
    ids = some_ids(model.config)
    model.logits(ids.flip(1), cache)
    cache.clear()
    torch.testing.assert_close(
        model.logits(ids[:, :3], cache), model.logits(ids[:, :3]), atol=1e-5, rtol=1e-5
    )


def test_rotary_scores_hang_on_the_distance_only() -> None:
    from syllabary.gpt.model import angles, rotate

    turns = angles(40, 8)
    q, k = torch.randn(2, 1, 1, 1, 8, generator=torch.Generator().manual_seed(0))

    def score(at: int, past: int) -> float:
        return float((rotate(q, turns[:, at : at + 1]) * rotate(k, turns[:, past : past + 1])).sum())

    for shift in (0, 1, 30):
        assert score(9 + shift, 2 + shift) == pytest.approx(score(9, 2), abs=1e-5)
    assert abs(score(9, 2) - score(9, 3)) > 1e-3


# ---- loss ----


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_the_loss_and_its_gradients_are_those_of_torch(
    reduction: Any, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shaken(config(tie_weights=False))
    ids, targets = some_ids(model.config), some_ids(model.config).roll(3, 1)
    targets[0, :4] = losses.IGNORED
    monkeypatch.setitem(losses.SLICE, "cpu", rows * 37)

    def gradients(loss: torch.Tensor) -> list[torch.Tensor]:
        model.zero_grad()
        (loss.sum() * 3).backward()
        return [weight.grad.clone() for weight in model.parameters()]

    logits = model.logits(ids)
    wanted = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction=reduction)
    _, loss = model(ids, targets, reduction=reduction)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, wanted.view(2, 12) if reduction == "none" else wanted)
    torch.testing.assert_close(gradients(loss), gradients(wanted), atol=1e-5, rtol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(model(ids, targets, reduction=reduction)[1], loss)


def test_the_loss_of_a_tied_model_flows_back_twice() -> None:
    model = shaken(config())
    ids = some_ids(model.config)
    model(ids[:, :-1], ids[:, 1:])[1].backward()
    got = model.tokens.weight.grad.clone()
    model.zero_grad()
    logits = model.logits(ids[:, :-1])
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
    torch.testing.assert_close(got, model.tokens.weight.grad, atol=1e-6, rtol=1e-4)


def test_the_loss_under_bfloat16_is_float32_and_near() -> None:
    model = shaken(config())
    ids = some_ids(model.config)
    _, exact = model(ids[:, :-1], ids[:, 1:])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _, rough = model(ids[:, :-1], ids[:, 1:])
    rough.backward()
    assert rough.dtype == torch.float32
    assert rough.item() == pytest.approx(exact.item(), rel=0.02)
    grad = model.blocks[0].feed.wide.weight.grad.clone()
    model.zero_grad()
    exact.backward()
    near = torch.nn.functional.cosine_similarity(
        grad.flatten(), model.blocks[0].feed.wide.weight.grad.flatten(), dim=0
    )
    assert near > 0.99


def test_a_batch_of_nothing_to_predict_has_no_loss() -> None:
    model = shaken(config())
    ids = some_ids(model.config)
    _, loss = model(ids, torch.full_like(ids, losses.IGNORED))
    assert loss.item() == 0.0


# ---- first weights, sizes ----


def test_first_weights_are_gpt2s() -> None:
    model = GPT(model_for_depth(4, 2000), seed=3)
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            assert bool((weight == (1.0 if name.endswith("weight") else 0.0)).all()), name
        else:
            wanted = 0.02 / math.sqrt(8) if name.endswith(".out.weight") else 0.02
            assert weight.std().item() == pytest.approx(wanted, rel=0.03), name
            assert abs(weight.mean().item()) < wanted / 10, name
    ids = some_ids(model.config, 1, 64)
    _, loss = model.eval()(ids[:, :-1], ids[:, 1:])
    assert loss.item() == pytest.approx(math.log(2000), abs=0.3)


def test_the_seed_alone_says_what_they_are() -> None:
    torch.manual_seed(1)
    first = GPT(config(), seed=7).state_dict()
    torch.manual_seed(2)
    second, third = GPT(config(), seed=7).state_dict(), GPT(config(), seed=8).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["tokens.weight"], third["tokens.weight"])
    torch.manual_seed(1)
    fourth = GPT(config()).state_dict()
    torch.manual_seed(1)
    assert torch.equal(fourth["tokens.weight"], GPT(config()).state_dict()["tokens.weight"])


def test_sizes_counted_by_hand() -> None:
    tied = GPT(config()).parameters_count()
    layer = (3 * 32 * 32 + 3 * 32) + (32 * 32 + 32) + (4 * 32 * 32 + 4 * 32) + (4 * 32 * 32 + 32) + 4 * 32
    assert (tied.embedding, tied.head, tied.body) == (37 * 32 + 12 * 32, 0, 2 * layer + 2 * 32)
    assert tied.total == tied.embedding + tied.body
    untied = GPT(config(tie_weights=False, positions="rotary")).parameters_count()
    assert (untied.embedding, untied.head) == (37 * 32, 37 * 32)
    assert untied.total == untied.embedding + untied.body + untied.head


def test_operations_counted_by_hand() -> None:
    for changes in ({}, {"tie_weights": False}):
        model = GPT(config(**changes))
        weights = model.parameters_count().body + 37 * 32
        assert model.flops_per_token() == 6 * weights + 12 * 2 * 4 * 8 * 12
        assert model.flops_per_token(5) == 6 * weights + 12 * 2 * 4 * 8 * 5


@pytest.mark.parametrize("changes", [{}, {"tie_weights": False}], ids=["tied", "untied"])
def test_operations_counted_by_torch(changes: dict[str, Any]) -> None:
    """Its counter sees each product of matrices, those of attention too where they are made one by one."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    model = GPT(config(**changes))
    ids = some_ids(model.config, batch=3)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model(ids, ids)[1].backward()
    layers = sum(weight.numel() for weight in model.blocks.parameters() if weight.dim() == 2)
    small = model.parameters_count().body - layers  # norms and biases: no products, but of N
    assert model.flops_per_token() * ids.numel() == counter.get_total_flops() + 6 * small * ids.numel()


def test_gpt2_has_as_many_parameters_as_published() -> None:
    shape = {"vocab_size": 50257, "block_size": 1024, "n_layer": 12, "n_head": 12, "n_embd": 768}
    with torch.device("meta"):
        model = GPT(ModelConfig(**shape))
    assert model.parameters_count().total == 124_439_808


# ---- training and refusal ----


def test_dropout_acts_in_training_only() -> None:
    model = GPT(config(dropout=0.5), seed=0)
    ids = some_ids(model.config)

    def logits(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return model.logits(ids)

    assert torch.equal(logits(0), logits(0))
    assert not torch.equal(logits(0), logits(1))
    model.eval()
    assert torch.equal(logits(0), logits(1))


def test_it_learns() -> None:
    for changes in ({"positions": "rotary"}, {}):
        model = GPT(config(**changes), seed=0)
        ids = some_ids(model.config)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(60):
            _, loss = model(ids[:, :-1], ids[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert loss.item() < 0.05


@pytest.mark.parametrize("wrong", [37, -1, 2**40])
def test_an_id_outside_the_vocabulary_is_named(wrong: int) -> None:
    model = GPT(config())
    ids = some_ids(model.config)
    bad = ids.clone()
    bad[1, 3] = wrong
    with pytest.raises(ModelError, match=f"ids hold {wrong}: the model's vocabulary is 0 to 36"):
        model(bad)
    with pytest.raises(ModelError, match=f"targets hold {wrong}"):
        model(ids, bad)


def test_more_than_a_block_is_refused() -> None:
    model = GPT(config())
    with pytest.raises(ModelError, match="13 tokens at once, above block_size = 12"):
        model(torch.zeros(1, 13, dtype=torch.int64))
    cache = model.cache()
    model.logits(torch.zeros(1, 10, dtype=torch.int64), cache)
    with pytest.raises(ModelError, match="13 tokens at once"):
        model.logits(torch.zeros(1, 3, dtype=torch.int64), cache)
    assert cache.length == 10
