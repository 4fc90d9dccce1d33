"""Write `python/syllabary/unicode/charsmaps/NAME.xz`: sentencepiece's named rules, compiled.

Made from the specification (`reference.train_sentencepiece_rules`), which takes some seconds for each; the
tests compare with sentencepiece's own. Leaves out: any use of them (`syllabary.unicode.charsmaps`).

Run it as `python tools/sentencepiece_rules.py`.
"""

from __future__ import annotations

import lzma
from pathlib import Path

from syllabary.reference.train_sentencepiece_nfkc import RULE_NAMES
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_sentencepiece_rules import rules_of

FOLDER = Path(__file__).resolve().parent.parent / "python" / "syllabary" / "unicode" / "charsmaps"


def main() -> None:
    """Write a file for each name that has rules."""
    for name in RULE_NAMES:
        if rules := rules_of(SentencePieceOptions(normalization_rule_name=name)):
            (FOLDER / f"{name}.xz").write_bytes(lzma.compress(rules, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
