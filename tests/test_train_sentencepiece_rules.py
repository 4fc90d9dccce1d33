"""Normalization rules compiled as sentencepiece compiles them: those that it names, and files of one's own.

Leaves out: what rules do to a text (`test_steps_sentencepiece`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import sentencepiece
import sentencepiece_models as models
from sentencepiece_trainers import check

from syllabary.errors import SyllabaryError
from syllabary.reference.train_sentencepiece import SentencePieceOptions, train
from syllabary.reference.train_sentencepiece_nfkc import named_rules
from syllabary.reference.train_sentencepiece_rules import compiled, rules_of
from syllabary.unicode.charsmaps import charsmap_of


@pytest.mark.parametrize("name", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"])
def test_named_rules_are_those_in_its_package(name: str, prove: bool) -> None:
    """Byte for byte, 225,000 rules each: those that are kept, and those that are computed from Unicode."""
    theirs = (Path(sentencepiece.__file__).parent / "package_data" / f"{name}.bin").read_bytes()
    assert charsmap_of(name) == theirs
    assert rules_of(SentencePieceOptions(normalization_rule_name=name)) == theirs
    if not prove and name != "nmt_nfkc_cf":
        pytest.skip("some seconds each: make prove computes the others, which do less, too")
    assert compiled(named_rules(name)) == theirs


def rule_files(seed: int) -> Iterator[str]:
    """Files of rules: those of other tests, odd spellings, and many at random that begin one another."""
    yield models.RULES
    yield models.BACK
    yield "U+61 62\tU+63\t# no more\n0x64\n 65  66 \t 67 \n61\t62\r\n61\t63"
    source = random.Random(seed)
    for characters in ("ab", "abcdeé漢字😀", "".join(map(chr, range(0x400, 0x4FF)))):
        lines = set[str]()
        for _ in range(source.choice([9, 30, 2000])):
            text = " ".join(f"{ord(source.choice(characters)):X}" for _ in range(source.randint(1, 5)))
            result = " ".join(f"{ord(source.choice(characters)):X}" for _ in range(source.randint(0, 2)))
            if text != result:
                lines.add(f"{text}\t{result}\n")
        yield "".join(sorted(lines))


def test_rules_of_files(tmp_path: Path) -> None:
    for seed in range(3):
        for number, text in enumerate(rule_files(seed)):
            path = tmp_path / f"{seed}-{number}.tsv"
            path.write_text(text, encoding="utf-8", newline="")
            given = {"normalization_rule_tsv": str(path)}
            if number % 2:
                given["denormalization_rule_tsv"] = str(path)
            options = SentencePieceOptions(vocab_size=400, hard_vocab_limit=False, **given)
            lines = [*models.corpus(seed, 20), "".join(map(chr, range(0x400, 0x4FF)))]
            assert check(lines, options), text


@pytest.mark.parametrize(
    "text, says",
    [
        ("61\tzz\n", "line 1: 'zz'"),
        ("61\t62\n\n62\t63\n", "line 2: the rule has no text"),
        ("\t62", "no text"),
        ("", "no rules"),
        ("61\t61\n", "changes nothing"),
        ("D800\t62\n", "D800"),
        ("110000\t62\n", "110000"),
        ("61\t0\n", "NUL"),
        ("".join(f"{'61 ' * count}\t62\n" for count in range(1, 40)), "32 others"),
    ],
)
def test_rules_that_cannot_be(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(text)
    with pytest.raises(SyllabaryError, match=says):
        train(["ab"], SentencePieceOptions(vocab_size=30, normalization_rule_tsv=str(path)))
    both = SentencePieceOptions(normalization_rule_tsv=str(path), precompiled_charsmap=b"")
    with pytest.raises(SyllabaryError, match="not both"):
        train(["ab"], both)
