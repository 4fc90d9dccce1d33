r"""Patterns whose sets mean something else to Oniguruma than to us: `[^\w\s]`, `[[:punct:]]`.

Asks Hugging Face's library about every character (every day about one in 61 of the rare ones). Leaves out:
what is refused, and what means the same to both (`test_formats_bad_input`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers as theirs

import syllabary
from syllabary import splits
from syllabary._engine import Split
from syllabary.errors import PatternError
from syllabary.formats.hf_pattern import ALIKE, IN_SETS, PLACES, _walk, check_portable, is_alike, portable
from syllabary.formats.hf_split import WORDS, _as_split, _spellings
from syllabary.reference.pattern import to_regex
from syllabary.reference.split import pieces
from syllabary.spec import SplitSpec, Step

CHARACTERS = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
SETS = [
    *(f"[{one}]" for one in IN_SETS),
    *(f"[^{one}]" for one in IN_SETS),
    r"[^\w\s]", r"[\w.'-]", r"[\W_]", r"[^\W\d_]", r"[[\w]&&[^\d]]", r"[\W&&\p{L}]",
    r"[^[:alpha:]\p{N}[:space:]]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SETS)
def test_a_set_has_the_characters_that_it_has_for_their_library(pattern: str, prove: bool) -> None:
    characters = CHARACTERS if prove else CHARACTERS[:0x3000] + CHARACTERS[0x3000::61]
    left = set(theirs.normalizers.Replace(theirs.Regex(pattern), "").normalize_str(characters))
    written = portable(pattern)
    check_portable(written)
    assert portable(written) == written
    split = SplitSpec(written, "onig", keep_unmatched=False)
    assert set(Split(split).pieces(characters)) == set(characters) - left
    some = characters[: 0x3000 if prove else 0x400]
    assert set(pieces(some, split)) == set(some) - left


@pytest.mark.parametrize("pattern", [r"[\w-a]", r"[[:foo:]]", r"[[:alpha:]-z]"])
def test_what_is_not_known_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="may mean something else"):
        portable(pattern)


def test_words_and_signs(tmp_path: Path) -> None:
    """The pattern of their own `Whitespace`, written out; what is opened is saved and read by them again."""
    made = theirs.Tokenizer(theirs.models.BPE(unk_token="<unk>"))
    regex = theirs.Regex(r"\w+|[^\w\s]+")
    made.pre_tokenizer = theirs.pre_tokenizers.Split(regex, "removed", invert=True)
    text = "x² + y³ = ½, don't; naïve — 日本語!? ¹²a"
    trainer = theirs.trainers.BpeTrainer(special_tokens=["<unk>"], show_progress=False)
    made.train_from_iterator([text] * 3, trainer)
    made.save(str(tmp_path / "tokenizer.json"))
    ours = syllabary.load(tmp_path / "tokenizer.json")
    assert ours.encode(text) == made.encode(text).ids
    ours.save(tmp_path / "again.tokenizer.json")
    again = theirs.Tokenizer.from_file(str(tmp_path / "again.tokenizer.json"))
    assert again.encode(text).ids == made.encode(text).ids
    assert json.loads((tmp_path / "again.tokenizer.json").read_text("utf-8"))["pre_tokenizer"] is not None


@pytest.mark.parametrize("name", splits.names())
def test_patterns_that_are_alike_without_being_looked_into(name: str) -> None:
    """The list of them is what looking into each finds."""
    pattern = splits.get(name).pattern
    if pattern is None:
        return
    try:
        alike = _walk(pattern, PLACES, IN_SETS) == pattern and not WORDS.search(pattern)
        to_regex(pattern, "onig")
    except PatternError:
        alike = False
    assert is_alike(pattern) == alike == (name in ALIKE)


@pytest.mark.parametrize("name", sorted(set(splits.names()) - {"none"}))
def test_a_named_split_is_known_by_its_pattern(name: str) -> None:
    split = splits.get(name)
    for written in _spellings(split):
        behavior, invert = ("isolated", False) if split.keep_unmatched else ("removed", True)
        options = {"pattern": portable(written), "regex": True, "behavior": behavior, "invert": invert}
        assert _as_split(Step("Split", options)) == split
