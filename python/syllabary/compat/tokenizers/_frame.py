"""Truncation and padding of encodings, as a tokenizer is told to.

Source of the rules: tokenizers 0.23.3, `utils/truncation.rs` and `padding.rs`. Leaves out: what a cut or
padding does to one encoding (`_encoding`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from syllabary.compat.tokenizers._encoding import Encoding


class Frame(NamedTuple):
    """What becomes of encodings, as a tokenizer was told when it encoded."""

    truncation: Mapping[str, Any] | None
    padding: Mapping[str, Any] | None
    processor: Any

    def framed(self, encoding: Encoding, pair: Encoding | None, special: bool) -> Encoding:
        """A text and its pair, cut, post-processed and padded."""
        processor = self.processor
        if self.truncation is not None:
            adds = special and processor is not None
            added = int(processor.num_special_tokens_to_add(pair is not None)) if adds else 0
            truncate(encoding, pair, self.truncation, added)
        if processor is not None:
            framed = processor.process(encoding, pair, special)
        elif pair is None:
            framed = encoding
        else:
            encoding.set_sequence_id(0)
            pair.set_sequence_id(1)
            framed = Encoding.merge([encoding, pair], growing_offsets=False)
        return pad([framed], self.padding)[0]


def truncate(encoding: Encoding, pair: Encoding | None, told: Mapping[str, Any], added: int) -> None:
    """Cut a text and its pair so that they and `added` tokens are not too long together."""
    most = told["max_length"] - added
    if most < 0:
        raise ValueError(
            f"max_length is {told['max_length']}, below the {added} special tokens that are added"
        )
    stride, side = told["stride"], told["direction"].lower()
    lengths = [len(encoding), 0 if pair is None else len(pair)]
    if most == 0:
        for one in (encoding, pair):
            if one is not None:
                one.truncate(0, stride, side)
        return
    excess = sum(lengths) - most
    if excess <= 0:
        return
    if told["strategy"] == "LongestFirst":
        if pair is None:
            encoding.truncate(most, stride, side)
        else:
            first, second = shares(lengths[0], lengths[1], most)
            encoding.truncate(first, stride, side)
            pair.truncate(second, stride, side)
        return
    target = encoding if told["strategy"] == "OnlyFirst" else pair
    if target is None:
        raise Exception("Truncation error: Second sequence not provided")
    if len(target) <= excess:
        raise Exception("Truncation error: Sequence to truncate too short to respect the provided max_length")
    target.truncate(len(target) - excess, stride, side)


def shares(first: int, second: int, most: int) -> tuple[int, int]:
    """How long each of two texts may be: the shorter one is spared, unless both are too long.

    >>> shares(3, 10, 8), shares(10, 9, 7)
    ((3, 5), (4, 3))
    """
    short, long = sorted((first, second))
    long = short if short > most else max(short, most - short)
    if short + long > most:
        short = most // 2
        long = short + most % 2
    return (short, long) if first <= second else (long, short)


def pad(encodings: list[Encoding], told: Mapping[str, Any] | None) -> list[Encoding]:
    """Fill encodings up to one length, where that is asked for."""
    if told is None or not encodings:
        return encodings
    strategy = told["strategy"]
    length = strategy["Fixed"] if isinstance(strategy, dict) else max(map(len, encodings))
    multiple = told.get("pad_to_multiple_of")
    if multiple:
        length += -length % multiple
    for one in encodings:
        one._pad(length, {**told, "direction": told["direction"].lower()})
    return encodings
