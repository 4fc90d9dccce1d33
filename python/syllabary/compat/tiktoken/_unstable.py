"""What a text's last tokens could become if the text went on, and ids of bytes that are not text.

Adds tiktoken's rules for both. Leaves out: everything else of `CoreBPE`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from syllabary.compat.tiktoken._merge import byte_pair_encode
from syllabary.compat.tiktoken._tiktoken import CoreBPE

SPACES = b" \n\t"
# Unicode's White_Space.
WHITE_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    map(chr, range(0x2000, 0x200B))
)
BATCH = 4096


def encode_bytes(core: CoreBPE, data: bytes) -> list[int]:
    """The ranks of bytes: those that are not UTF-8 are merged with the last piece of the text before them."""
    if not isinstance(data, bytes):
        raise TypeError(f"{type(data).__name__!r} object is not an instance of 'bytes'")
    try:
        return core.encode_ordinary(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        valid, rest = data[: error.start].decode(), data[error.start :]
    tokens, last = _encode_with_last(core, valid, frozenset())
    last = _more_of_the_end(core, tokens, last)
    stable = tokens[: len(tokens) - last]
    return stable + core.encode_single_piece(core.decode_bytes(tokens[len(tokens) - last :]) + rest)


def encode_with_unstable(
    core: CoreBPE, text: str, allowed_special: AbstractSet[str]
) -> tuple[list[int], list[list[int]]]:
    """The ranks that stay whatever follows, and, sorted, the sequences that the rest may begin with."""
    tokens, last = _encode_with_last(core, text, allowed_special)
    if last == 0:
        return tokens, []
    last = _more_of_the_end(core, tokens, last)
    unstable = core.decode_bytes(tokens[len(tokens) - last :])
    tokens = tokens[: len(tokens) - last]
    if not unstable:
        return tokens, []
    size, alone = len(unstable), core.sorted_ranks[_beginning(core.sorted_tokens, unstable)]
    found: set[tuple[int, ...]] = set()
    for at in range(1, size):
        rest = core.sorted_tokens[_beginning(core.sorted_tokens, unstable[at:])]
        longer = [unstable[:at] + token for token in rest]
        found.update(_cut(core, encoded, size) for encoded in _encode_all(core, longer))
    found.update(_split_before_space(core, unstable))
    found.difference_update(zip(alone, strict=True))  # a token that covers all begins so itself
    sequences = [*map(list, zip(sorted(alone), strict=True)), *map(list, sorted(found))]
    sequences.sort()  # two runs, each in order: they are merged
    return tokens, sequences


def _encode_with_last(core: CoreBPE, text: str, allowed: AbstractSet[str]) -> tuple[list[int], int]:
    """The ranks, and how many of them the last piece has: none, if a special token ends the text."""
    tokens = core.encode(text, allowed)
    for run, rank in reversed(list(core.runs(text, allowed))):
        if rank is not None:
            return tokens, 0
        pieces = core.pieces(run)
        if pieces:
            return tokens, len(core.encode_single_piece(pieces[-1].encode()))
    return tokens, 0


def _more_of_the_end(core: CoreBPE, tokens: list[int], last: int) -> int:
    """Where the last piece begins with white space, all tokens of white space before it count too."""

    def is_space(token: int) -> bool:
        data = core.decoder.get(token)
        return data is not None and not data.strip(SPACES)

    if last > 0 and is_space(tokens[-last]):
        while last < len(tokens) and is_space(tokens[-last - 1]):
            last += 1
    return last


def _beginning(values: list[bytes], start: bytes) -> slice:
    """Where the tokens that begin so stand among all tokens, sorted."""
    first, size = bisect_left(values, start), len(start)
    return slice(first, bisect_right(values, start, first, key=lambda token: token[:size]))


def _encode_all(core: CoreBPE, sequences: list[bytes]) -> Iterator[list[int]]:
    """The ranks of each: split and merged if it is text, else merged alone."""
    for start in range(0, len(sequences), BATCH):
        texts: list[str] = []
        for data in sequences[start : start + BATCH]:
            try:
                texts.append(data.decode("utf-8"))
            except UnicodeDecodeError:
                yield byte_pair_encode(data, core.encoder)
        yield from _encode_texts(core, texts)


def _encode_texts(core: CoreBPE, texts: list[str]) -> list[list[int]]:
    return core.encode_batch(texts, "text", 1) or [core.encode_ordinary(text) for text in texts]


def _cut(core: CoreBPE, encoded: list[int], size: int) -> tuple[int, ...]:
    """As many ranks as it takes to cover `size` bytes."""
    covered = 0
    for count, token in enumerate(encoded, start=1):
        covered += len(core.decoder[token])
        if covered >= size:
            return tuple(encoded[:count])
    return tuple(encoded)


def _split_before_space(core: CoreBPE, unstable: bytes) -> set[tuple[int, ...]]:
    r"""White space at the end may become a piece of its own: `\n\n` before a letter is two pieces."""
    for size in range(1, min(4, len(unstable) - 1) + 1):
        try:
            character = unstable[-size:].decode("utf-8")
        except UnicodeDecodeError:
            continue
        if character not in WHITE_SPACE:
            break
        parts = (unstable[:-size], unstable[-size:])
        return {tuple(rank for part in parts for rank in byte_pair_encode(part, core.encoder))}
    return set()
