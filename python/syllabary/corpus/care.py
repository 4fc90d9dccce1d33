"""What is done to documents after they are read: normal form, duplicates, and which part of them is kept.

Adds the options (`Care`), and the two numbers that every split and every search for duplicates rest on: a
document's `identity`, and its `share` of a split. Neither depends on the machine, the order of the documents
or Python's version: the normal forms are the engine's own (Unicode 9, as Hugging Face's library has them),
which a tokenizer trained with `normalize=` uses too.
Leaves out: applying them to a source (`corpus`), and looking which forms a text has (`forms`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args, overload

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Normalizer
from syllabary.arguments import flag, integer, portion
from syllabary.corpus.document import Part
from syllabary.reference.normalize_parts import held_from
from syllabary.spec import Form, Step

FORMS: tuple[str, ...] = get_args(Form)
PURPOSE = "tokenizer"  # of `fraction` and `rest`


@dataclass(frozen=True, slots=True)
class Care:
    """What becomes of documents.

    normalize: rewrite them in this normal form of Unicode; None: as they are.
    drop_duplicates: of documents with the same text, NFC or NFD, only the first stays.
    fraction: keep this part of the documents (above 0, at most 1), chosen by a hash of their text.
    rest: keep the documents that `fraction` of the same value and seed leaves out (0 or above, below 1).
    seed: another one makes another choice, 0 to 2**64 - 1.

    Raises `TypeError` and `ValueError` that name the option.

    >>> Care(fraction=0.01).whole
    True
    """

    normalize: Form | None = None
    drop_duplicates: bool = False
    fraction: float | None = None
    rest: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        form(self.normalize)
        object.__setattr__(self, "drop_duplicates", flag("drop_duplicates", self.drop_duplicates))
        for name in ("fraction", "rest"):
            part = getattr(self, name)
            if part is not None:
                object.__setattr__(self, name, portion(name, part, "a number from 0 to 1, or None"))
        object.__setattr__(self, "seed", integer("seed", self.seed))
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise ValueError(f"fraction is {self.fraction}: give a number above 0, at most 1, or None")
        if self.rest is not None and not 0 <= self.rest < 1:
            raise ValueError(f"rest is {self.rest}: give the fraction that is left out, below 1, or None")
        if self.fraction is not None and self.rest is not None:
            raise ValueError("fraction and rest are the two sides of one split: give one of them")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"seed is {self.seed}: give 0 to 2**64 - 1")

    @property
    def whole(self) -> bool:
        """Whether a document must be there whole before it is known what becomes of it."""
        return self.drop_duplicates or self.fraction is not None or self.rest is not None

    def keeps(self, document: int) -> bool:
        """Whether `fraction` or `rest` keeps a document of this identity."""
        if self.fraction is not None:
            return share(document, PURPOSE, self.seed) < self.fraction
        return self.rest is None or share(document, PURPOSE, self.seed) >= self.rest


def form(name: object) -> None:
    """`TypeError` or `ValueError` for what is neither None nor the name of a normal form."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"normalize is {name!r}: give str or None")
    if name is not None and name not in FORMS:
        raise ValueError(f"normalize={name!r} is none of {', '.join(FORMS)}; None leaves text as it is")


def identity(text: str) -> int:
    """The number of a text, 0 to 2**64 - 1: that of the UTF-8 of its NFC, so that the same text in NFC and in
    NFD is the same document. `TextError` for a lone surrogate.

    >>> identity("\u00e9") == identity("e\u0301"), hex(identity(""))
    (True, '0xb4b2797457a0a6e4')
    """
    return identity_of(normalized(text, "NFC").encode("utf-8"))


def identity_of(data: bytes) -> int:
    """The number of a text in NFC, given as UTF-8: BLAKE2b with a digest of 8 bytes, as little endian."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def normalized(text: str, name: Form | None) -> str:
    """The text in a normal form; None: as it is. `TextError` for a lone surrogate, if it has to be looked at.

    >>> len(normalized("\u00e9", "NFD")), normalized("ﬁ", "NFKC")
    (2, 'fi')
    """
    if name is None or text.isascii():
        return text
    return _normalizer(name).plain(text)


def normalized_parts(parts: Iterable[Part], name: Form) -> Iterator[Part]:
    """The same documents in a normal form, part by part, wherever the parts are cut.

    Of each part, the end that the next may still change is held back (`reference.normalize_parts`).

    >>> list(normalized_parts([("ne", False), ("\u0301!", True)], "NFC"))
    [('n', False), ('é!', True)]
    """
    compatible, held = name in ("NFKC", "NFKD"), list[str]()
    for part, last in parts:
        cut = len(part) if last else held_from(part, compatible)
        if cut is None:
            held.append(part)
            continue
        text = "".join([*held, part[:cut]])
        held = [part[cut:]]
        if text or last:
            yield normalized(text, name), last


@lru_cache(maxsize=4)
def _normalizer(name: Form) -> Normalizer:
    return Normalizer([Step(name)])


@overload
def share(identity: int, purpose: str, seed: int = 0) -> float: ...
@overload
def share(identity: NDArray[np.uint64], purpose: str, seed: int = 0) -> NDArray[np.float64]: ...
def share(identity: int | NDArray[np.uint64], purpose: str, seed: int = 0) -> float | NDArray[np.float64]:
    """Where a document falls in a split: evenly spread over [0, 1), of 53 bits, or the same of an array.

    identity: of one document, or of many, uint64 of any shape. purpose: which split; those of other names
        or seeds are independent of it (`"tokenizer"` and `"validation"` are in use).
    The split keeps what is below its fraction, so a larger fraction keeps all that a smaller one does.

    It is the mixer of SplitMix64 (Steele, Lea, Flood 2014), twice, with 8 bytes of BLAKE2b of
    `"purpose:seed"` added before each.

    >>> share(7, "validation", 1) == share(7, "validation", 1) != share(7, "validation", 2)
    True
    >>> share(np.array([7, 8], dtype=np.uint64), "validation").shape
    (2,)
    """
    digest = hashlib.blake2b(f"{purpose}:{seed}".encode(), digest_size=8).digest()
    key = np.array([int.from_bytes(digest, "little")], dtype=np.uint64)
    values = np.asarray(identity, dtype=np.uint64)
    mixed = _mix(_mix(values.reshape(-1) + key) + key) >> np.uint64(11)
    shares = mixed.astype(np.float64) * 2.0**-53
    return shares.reshape(values.shape) if isinstance(identity, np.ndarray) else float(shares[0])


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's bijection of 64 bits; arrays wrap around silently."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return mixed
