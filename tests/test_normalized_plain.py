"""Byte-level tokenizers behind steps take the bytes way: the same ids as Hugging Face's library gives.

Adds text in a form already, text of marks that trade places, steps that cut before the split does, tokens
found before and after normalizing, one text and batches, counts, offsets, and where errors say they are.
Leaves out what the steps do (`test_steps_normalize`, `test_steps_pretokenize`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from test_splits_named import DEEPSEEK
from test_steps_normalize import MOVING

import syllabary
from syllabary.errors import SpecialTokenError

NORMALIZERS: dict[str, dict[str, Any]] = {
    **{form: {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")},
    "Sequence": {
        "type": "Sequence",
        "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"String": "  "}, "content": " "}],
    },
    "Prepend": {"type": "Prepend", "prepend": "e\u0301"},
}
CUTS: dict[str, dict[str, Any]] = {
    "Digits": {"type": "Digits", "individual_digits": True},
    "Numbers": {"type": "Digits", "individual_digits": False},
    "Punctuation": {"type": "Punctuation", "behavior": "MergedWithNext"},
    "WhitespaceSplit": {"type": "WhitespaceSplit"},
}
CASES = [*NORMALIZERS, *CUTS, "NFC and Digits", "DeepSeek", "NFC and DeepSeek", "Space", "NFC and Space"]
TRAINED_ON = ["Ångström é e\u0301 ἀρχή 漢字 가각 ﬁn … ｆｕｌｌ", "a plain text of words, and words again"] * 3
ADDED = [("<s>", True, False), ("<Å>", True, True), ("\u00e9 b", False, True)]


class Both:
    """One tokenizer, here and there."""

    def __init__(self, case: str, folder: Path) -> None:
        # Behind `Prepend` a token of normalized text is looked for with what is prepended.
        self.found = "<s>" if case == "Prepend" else "<Å>"
        trained = tokenizers.Tokenizer(tokenizers.models.BPE())
        trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=400, min_frequency=1, initial_alphabet=alphabet, show_progress=False
        )
        trained.train_from_iterator(TRAINED_ON, trainer)
        document = json.loads(trained.to_str())
        document["normalizer"] = NORMALIZERS.get(case.split()[0])
        steps = [document["pre_tokenizer"]]
        if cut := CUTS.get(case.split()[-1]):
            steps = [cut, *steps]
        elif case.endswith("DeepSeek"):
            steps = [
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
                for pattern in DEEPSEEK
            ]
            steps += [document["pre_tokenizer"] | {"use_regex": False}]
        elif case.endswith("Space"):
            steps = [document["pre_tokenizer"] | {"add_prefix_space": True}]
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
        plain = {"single_word": False, "lstrip": False, "rstrip": False}
        size = trained.get_vocab_size()
        document["added_tokens"] = [
            {"id": size + at, "content": text, "special": special, "normalized": normalized, **plain}
            for at, (text, special, normalized) in enumerate(ADDED)
        ]
        path = folder / "tokenizer.json"
        path.write_text(json.dumps(document), "utf-8")
        self.ours, self.theirs = syllabary.load(path), tokenizers.Tokenizer.from_file(str(path))

    def check(self, texts: list[str]) -> None:
        expected = self.theirs.encode_batch(texts, add_special_tokens=False)
        ids = [one.ids for one in expected]
        assert self.ours.encode_batch(texts, special="allow") == ids
        assert [self.ours.encode(text, special="allow") for text in texts] == ids
        assert list(self.ours.count_batch(texts, special="allow")) == [len(one) for one in ids]
        for text, one in zip(texts, expected, strict=True):
            full = self.ours.encode_full(text, special="allow", add_special_tokens=False)
            spans = [tuple(span) for span in full.offsets]
            assert ([*full.ids], spans, full.word_ids) == (one.ids, one.offsets, one.word_ids)


@pytest.fixture(scope="module", params=CASES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(request.param, tmp_path_factory.mktemp("tokenizer"))


PARTS = st.one_of(
    st.sampled_from(MOVING),
    st.sampled_from(
        [
            " ",
            "  ",
            "a plain text",
            "é",
            "é b",
            "e\u0301 b",
            "<s>",
            "<Å>",
            "<A\u030a>",
            "漢字",
            "😀",
            "12",
            "٣",
            "①",
            ". ,",
            "!x",
            "かなカナ・ー゠",
            " \n",
            "\x01",
        ]
    ),
    st.characters(codec="utf-8"),
)


@given(st.lists(st.lists(PARTS, max_size=40).map("".join), min_size=1, max_size=5))
def test_drawn_text(both: Both, texts: list[str]) -> None:
    both.check(texts)


def test_every_character_between_others(both: Both, prove: bool) -> None:
    characters = [
        chr(code) for code in range(0x80, 0x30000, 1 if prove else 23) if not 0xD800 <= code < 0xE000
    ]
    for first in range(0, len(characters), 2000):
        some = characters[first : first + 2000]
        joined = [between.join(some) for between in (" ", "<s>")]
        both.check(["".join(f"{c}a{c}\u0301{c}" for c in some), *joined, *some[::50]])


def test_long_text_and_many_short_ones(both: Both) -> None:
    plain, other = "a plain text of 14 words. ", "Ångström e\u0301 ἀρχή\u0301 ｆｕｌｌ 😀\u0301 "
    both.check([plain * 2000, other * 2000, (plain + other) * 500 + "é"])
    both.check([plain, other, "", "é", plain + "…"] * 300)


def test_an_error_says_where_in_the_text_given(both: Both) -> None:
    text = "e\u0301" * 5 + f"  {both.found} and more"
    for refused in (text, "a new word " * 2000 + text):
        with pytest.raises(SpecialTokenError, match=f"character {refused.index('<')}"):
            both.ours.encode(refused)
        with pytest.raises(SpecialTokenError, match=f"character {refused.index('<')}"):
            both.ours.encode_batch(["fine", refused])
    # What waited for others when the error came is gone.
    both.check([text, "a plain text", text])
