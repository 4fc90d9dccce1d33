"""Text from a model: a token at a time, with a cache, and shown as it comes without a broken character.

What the model sees: all tokens so far while they are at most block_size; then a window that starts at a
multiple of half a block (`window_start`), so that it is between half a block and a block long. It moves once
every half block, and then the cache is built anew: a token costs one step of the model on average, not
block_size of them, and with or without cache the same is seen. (To see the last block_size tokens each time
would be to build everything anew for every token: a place's keys depend on all that the layer below saw.)
Leaves out: which checkpoint (`run`), and the terminal (`syllabary.cli.gpt_sample`).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from syllabary.errors import ModelError
from syllabary.gpt.backend import torch
from syllabary.gpt.model import GPT, Cache
from syllabary.tokenizer import Tokenizer

REPLACEMENT = "\ufffd"  # what decoders by steps put for bytes that are no UTF-8, whatever they are told


def window_start(length: int, block_size: int) -> int:
    """Where what the model sees of `length` tokens begins.

    >>> [window_start(length, 8) for length in (0, 8, 9, 12, 13, 16, 17)]
    [0, 0, 4, 4, 8, 8, 12]
    """
    move = max(1, block_size // 2)
    return max(0, -(-(length - block_size) // move) * move)


def generate(
    model: GPT,
    ids: Sequence[int],
    *,
    max_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: Collection[int] = (),
    never: Collection[int] = (),
    cache: bool = True,
) -> Iterator[int]:
    """The ids that follow `ids`, as they are drawn.

    temperature: what the scores are divided by; 0: always the most probable (the lowest id of equals).
    top_k: only from the k most probable. top_p: only from the fewest most probable that together have at
        least this probability, after temperature and top_k.
    seed: the same seed, model and ids give the same on one machine; None draws a new one. Draws are made on
        the CPU, by a generator of its own.
    stop: ids that end it; they are not given. never: ids that are not drawn (that no token has, say).
    cache: keep keys and values of what was read; without it the same, slowly.

    Raises `ModelError` for no ids, ids outside the vocabulary, bad options, and scores that are no numbers.
    """
    if not len(ids):
        raise ModelError("no ids: give at least one to begin from, the end token say")
    if wrong := [each for each in (*ids, *never) if not 0 <= each < model.config.vocab_size]:
        raise ModelError(
            f"id {wrong[0]} is outside the model's vocabulary of {model.config.vocab_size}: "
            "use the tokenizer that it was trained with"
        )
    if len(set(never)) == model.config.vocab_size:
        raise ModelError("never holds the whole vocabulary: leave at least one id that may be drawn")
    if max_tokens < 0:
        raise ModelError(f"max_tokens is {max_tokens}: give 0 or more")
    draw = Draw(temperature, top_k, top_p, seed, never)
    return _generate(model, [int(each) for each in ids], max_tokens, draw, frozenset(stop), cache)


def _generate(
    model: GPT, ids: list[int], max_tokens: int, draw: Draw, stop: frozenset[int], cached: bool
) -> Iterator[int]:
    cache = model.cache() if cached else None
    start = read = 0  # of ids: where the window begins, and how many of them the cache has seen
    for _ in range(max_tokens):
        begin = window_start(len(ids), model.config.block_size)
        if cache is None or begin != start:
            start = read = begin
            if cache is not None:
                cache.clear()
        scores = _last_scores(model, ids[read:], cache)
        if cache is not None:
            read = len(ids)
        chosen = draw(scores)
        if chosen in stop:
            return
        yield chosen
        ids.append(chosen)


def _last_scores(model: GPT, ids: Sequence[int], cache: Cache | None) -> torch.Tensor:
    """The scores of what comes after `ids`, (V,) float32 on the CPU; the model's mode is as before."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            hidden = model.hidden(torch.tensor([ids], device=model.device), cache)  # (1, T, C)
            scores = torch.nn.functional.linear(hidden[0, -1], model.output)  # (V,)
    finally:
        model.train(training)
    return scores.float().cpu()


class Draw:
    """Scores -> the id drawn; see `generate` for the options."""

    def __init__(
        self,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        never: Collection[int] = (),
    ) -> None:
        if not 0 <= temperature < float("inf"):
            raise ModelError(f"temperature is {temperature}: give 0 (the most probable) or more")
        if top_k is not None and top_k < 1:
            raise ModelError(f"top_k is {top_k}: give 1 or more, or None for all")
        if top_p is not None and not 0 < top_p <= 1:
            raise ModelError(f"top_p is {top_p}: give a probability above 0, at most 1, or None for all")
        if seed is not None and not 0 <= seed < 2**64:
            raise ModelError(f"seed is {seed}: give 0 to 2**64 - 1, or None for a new one")
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.never = torch.tensor(sorted(never), dtype=torch.int64)
        self.generator = torch.Generator().manual_seed(secrets.randbits(63) if seed is None else seed)

    def __call__(self, scores: torch.Tensor) -> int:
        """The id drawn from scores, (V,)."""
        if not torch.isfinite(scores).all():
            raise ModelError("the model's scores are no numbers: its weights are damaged, or training failed")
        scores = scores.index_fill(0, self.never, -torch.inf)
        if self.temperature == 0:
            return int(scores.argmax())
        shares = ((scores.double() - scores.max()) / self.temperature).softmax(0)  # (V,)
        if self.top_k is not None and self.top_k < len(scores):
            shares = shares * _highest(scores, self.top_k)
        if self.top_p is not None:
            likeliest, order = shares.sort(descending=True, stable=True)
            before = likeliest.cumsum(0) - likeliest  # what all that are likelier have together
            shares = shares.index_fill(0, order[before >= self.top_p * likeliest.sum()], 0.0)
        return int(torch.multinomial(shares, 1, generator=self.generator))


def _highest(scores: torch.Tensor, count: int) -> torch.Tensor:
    """Which are the `count` highest, (V,) bool; of equals those with the lowest ids."""
    least = scores.topk(count).values[-1]
    above, level = scores > least, scores == least
    return above | (level & (level.cumsum(0) <= count - above.sum()))


def stream(
    tok: Tokenizer,
    ids: Iterable[int],
    *,
    prompt: Iterable[int] = (),
    stop: Iterable[str] = (),
    errors: str = "ignore",
) -> Iterator[str]:
    """The text of ids, in parts that are whole characters, as soon as they are certain.

    prompt: the ids that were before. Their text is not given, but a decoder by steps must have seen them.
    stop: texts that end it, found across tokens; they are not given, and neither is what follows. The first
        to be complete counts.
    errors: what becomes of bytes that are no UTF-8, and of a character that is cut off at the end:
        "ignore" leaves them out, and U+FFFD with them; "replace" shows U+FFFD; else as in
        `Tokenizer.decoder`.
    """
    stops = list(stop)
    if "" in stops:
        raise ModelError("a stop text is empty: give at least one character")
    return _until(_decoded(tok, ids, list(prompt), errors), stops)


def _decoded(tok: Tokenizer, ids: Iterable[int], prompt: list[int], errors: str) -> Iterator[str]:
    """The text of `ids` that is certain, bit by bit."""
    decoder = tok.decoder(errors)
    given = sum(len(decoder.push(token_id)) for token_id in prompt)
    held = max(0, len(tok.decode(prompt, errors)) - given)  # of the prompt's text
    for text in chain((decoder.push(token_id) for token_id in ids), (decoder.flush() for _ in (0,))):
        held, text = max(0, held - len(text)), text[held:]
        if errors == "ignore":
            text = text.replace(REPLACEMENT, "")
        if text:
            yield text


def _until(parts: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """The parts before the first stop text to be complete; what may be the beginning of one is held back."""
    held = ""
    for part in parts:
        held += part
        found = [(at + len(each), at) for each in stops if (at := held.find(each)) >= 0]
        if found:
            if min(found)[1]:
                yield held[: min(found)[1]]
            return
        safe = len(held) - _beginning(held, stops)
        if safe:
            yield held[:safe]
            held = held[safe:]
    if held:
        yield held


def _beginning(text: str, stops: Sequence[str]) -> int:
    """The length of the longest end of `text` that a stop text begins with."""
    longest = max((len(each) for each in stops), default=1) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(each.startswith(text[-length:]) for each in stops):
            return length
    return 0
