"""`tokenizers.normalizers`: what rewrites text before it is cut, run by our steps.

Adds the classes of tokenizers 0.23.3, with their arguments and attributes, and `Normalizer.custom`. Leaves
out: what the steps do (`syllabary.reference.normalize`), `NormalizedString` (`_normalized`).
"""

from __future__ import annotations

import base64
from typing import Any

from syllabary._engine import Normalizer as Engine
from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._component import Chain, Component, Member
from syllabary.compat.tokenizers._custom import Custom, called, lent
from syllabary.compat.tokenizers._normalized import NormalizedString, NormalizedStringRefMut
from syllabary.compat.tokenizers._regex import no_pattern, read_pattern
from syllabary.formats.hf_components import NORMALIZER
from syllabary.reference import normalize


class Normalizer(Component):
    """The base of all normalizers."""

    base = "Normalizer"
    place = NORMALIZER

    @staticmethod
    def custom(obj: Any) -> Normalizer:
        """One that calls `obj.normalize(normalized)`."""
        return _Custom(obj)

    def normalize(self, normalized: NormalizedString | NormalizedStringRefMut) -> None:
        """Rewrite a string in place, its alignment to the original kept."""
        part.instance(normalized, NormalizedString)
        for one in self.parts():
            if isinstance(one, _Custom):
                one.normalize(normalized)
            else:
                normalized._become(normalize.apply(one.steps(), normalized._aligned()))

    def normalize_str(self, sequence: str) -> str:
        """The rewritten text."""
        part.text(sequence)
        if self.is_custom:
            normalized = NormalizedString(sequence)
            self.normalize(normalized)
            return normalized.normalized
        return self.kept(lambda: Engine(self.steps())).plain(sequence)


class _Custom(Custom, Normalizer):
    """A normalizer of the caller's."""

    def normalize(self, normalized: NormalizedString | NormalizedStringRefMut) -> None:
        with lent(NormalizedStringRefMut(normalized)) as reference:
            called(self.made, "normalize", reference)


class BertNormalizer(Normalizer):
    """BERT's: cleans control characters, sets Chinese characters apart, strips accents, lowers case."""

    kind = "BertNormalizer"
    clean_text = Member[bool](part.flag, True)
    handle_chinese_chars = Member[bool](part.flag, True)
    strip_accents = Member["bool | None"](part.maybe_flag, None)
    lowercase = Member[bool](part.flag, True)


class Strip(Normalizer):
    """Takes white space off the ends."""

    kind = "Strip"
    left = Member[bool](part.flag, True, name="strip_left")
    right = Member[bool](part.flag, True, name="strip_right")


class StripAccents(Normalizer):
    """Takes combining marks away."""

    kind = "StripAccents"


class NFC(Normalizer):
    """Unicode's form NFC."""

    kind = "NFC"


class NFD(Normalizer):
    """Unicode's form NFD."""

    kind = "NFD"


class NFKC(Normalizer):
    """Unicode's form NFKC."""

    kind = "NFKC"


class NFKD(Normalizer):
    """Unicode's form NFKD."""

    kind = "NFKD"


class Lowercase(Normalizer):
    """Lowers case."""

    kind = "Lowercase"


class Nmt(Normalizer):
    """sentencepiece's cleaning of control characters and spaces."""

    kind = "Nmt"


class ByteLevel(Normalizer):
    """Spells each byte with GPT-2's characters."""

    kind = "ByteLevel"


def _charsmap(data: Any) -> str:
    """A compiled map as the file has it; `FormatError` for what no file may have, as where one is opened."""
    if not isinstance(data, (bytes, bytearray)):
        data = bytes(part.listed(data))
    told = base64.b64encode(data).decode()
    Normalizer.check({"type": "Precompiled", "precompiled_charsmap": told})
    return told


class Precompiled(Normalizer):
    """sentencepiece's compiled map of characters."""

    kind = "Precompiled"
    precompiled_charsmap = Member[str](_charsmap)


class Prepend(Normalizer):
    """Puts a text in front, where there is any."""

    kind = "Prepend"
    prepend = Member[str](part.text, "▁")


class Replace(Normalizer):
    """Replaces what a text or a `Regex` finds."""

    kind = "Replace"
    pattern = Member[Any](read_pattern, get=no_pattern, fixed=True)
    content = Member[str](part.text)


class Sequence(Chain, Normalizer):
    """Normalizers one after the other."""

    kind = "Sequence"
    listed = "normalizers"
    item = "normalizer"


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """The normalizer of a form's name in lower case; `ValueError`."""
    if normalizer not in NORMALIZERS:
        raise ValueError(
            f"{normalizer} is not a known unicode normalizer. Available are {NORMALIZERS.keys()}"
        )
    return NORMALIZERS[normalizer]()
