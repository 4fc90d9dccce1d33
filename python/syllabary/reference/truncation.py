"""Truncation: a text or a pair is cut so that, with what is put around it, it has at most so many tokens.

Adds `truncate` and `check_stride`. Leaves out: how one text is cut (`encoding.cut`).
Source: tokenizers 0.23.3, `utils/truncation.rs`; what makes it panic or wrap around is an error here.
"""

from __future__ import annotations

from syllabary.framing import Truncation
from syllabary.reference.encoding import Encoding, cut
from syllabary.reference.symbols import plural, they_are


def truncate(texts: list[Encoding], truncation: Truncation, added: int) -> list[Encoding]:
    """The texts (one or two), cut so that `added` tokens more make no more than `max_length`.

    Raises `ValueError` where that cannot be: `added` is more, the text to be cut is not there or too short,
    or what is left of it is no longer than the stride.
    """
    room = truncation.max_length - added
    if room < 0:
        raise ValueError(
            f"truncation to {plural(truncation.max_length, 'token')}: the post-processor alone adds {added}; "
            "give a larger max_length, or add_special_tokens=False"
        )
    lengths = kept([len(text) for text in texts], room, truncation)
    return [
        cut(text, length, truncation.stride, truncation.direction)
        for text, length in zip(texts, lengths, strict=True)
    ]


def check_stride(truncation: Truncation, added: int) -> None:
    """Raise `ValueError` for a stride of more tokens than a row has beside the `added` ones of a single text.

    Their library looks at it when truncation is asked for, and at no file's; as many tokens are an error only
    where a text is cut.
    """
    room = truncation.max_length - added
    if 0 <= room < truncation.stride:
        raise ValueError(
            f"a stride of {truncation.stride} where a row has {plural(room, 'token')} of text "
            f"({truncation.max_length} less {added} for those added): every part would repeat the one "
            "before; give a smaller stride"
        )


def kept(lengths: list[int], room: int, truncation: Truncation) -> list[int]:
    """How many tokens of each text may stay, so that together they are at most `room`.

    longest_first: the shorter text is left whole if there is room for it beside as much of the other, else
    both get half, the second text the odd one.

    >>> kept([9, 3], 8, Truncation(8)), kept([9, 9], 7, Truncation(7))
    ([5, 3], [3, 4])
    """
    over = sum(lengths) - room
    if over <= 0:
        return lengths
    if room == 0:
        return [0] * len(lengths)
    if truncation.strategy == "longest_first":
        if len(lengths) == 1:
            return [room]
        short = min(lengths)
        long = short if short > room else max(short, room - short)
        if short + long > room:
            halves = [room // 2, room - room // 2]
            return halves if lengths[0] <= lengths[1] else halves[::-1]
        return [short, long] if lengths[0] <= lengths[1] else [long, short]
    which = ("only_first", "only_second").index(truncation.strategy)
    if which >= len(lengths):
        raise ValueError(
            'truncation of strategy "only_second", and a single text that is too long: give a pair, or '
            '"longest_first"'
        )
    if lengths[which] <= over:
        raise ValueError(
            f'truncation of strategy "{truncation.strategy}": {they_are(over, "token")} to go, and the text '
            f'to be cut has only {lengths[which]}; give "longest_first", or a larger max_length'
        )
    return [length - over * (at == which) for at, length in enumerate(lengths)]
