"""Tokenizers and text for the tests of what takes text in parts: every kind of split, step, unit and model.

Adds `trained`, `published`, `drawn` and `in_parts`. Leaves out: other libraries (`hf_configurations`).
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from hard_text import hard_texts

import syllabary
from syllabary import splits

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))
import texts as fuzz_texts

SPECIAL = ["<|end|>", "<s>", "\n\n\n"]


@lru_cache(maxsize=1)
def trained() -> dict[str, syllabary.Tokenizer]:
    """One of every split, by bytes and by characters; some that normalize, some by words and with marks."""
    documents = [*fuzz_texts.SNIPPETS] * 3
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.errors.EarlyStopWarning)
        for name in splits.names():
            found[name] = syllabary.train(documents, 700, split=name, special_tokens=SPECIAL)
            found[f"{name}, characters"] = syllabary.train(
                documents, 1300, split=name, unit="char", fallback=True, special_tokens=SPECIAL
            )
        for form, name in (("NFC", "gpt4"), ("NFKC", "o200k"), ("NFD", "none")):
            found[f"{name}, {form}"] = syllabary.train(documents, 700, split=name, normalize=form)
        found["words"] = syllabary.train(documents, 1600, unit="word", split="gpt2", fallback=True)
        found["words, dropped spaces"] = syllabary.train(
            documents, 1600, unit="word", split="whitespace", fallback=True
        )
        found["marks"] = syllabary.train(
            documents, 1300, unit="char", split="whitespace-split", end_of_word="</ww>", fallback=True
        )
    return found


def published(shared: Path) -> dict[str, syllabary.Tokenizer]:
    """Those of the folder `vocabs`."""
    folder = shared / "vocabs"
    found = {path.stem: syllabary.load(path) for path in folder.glob("*_base.tiktoken")}
    special = {"<|begin_of_text|>": 128000, "<|eot_id|>": 128009}
    found["llama3"] = syllabary.load(folder / "llama3.tiktoken", split="llama3", special_tokens=special)
    found["mistral"] = syllabary.load(folder / "mistral_v1.model")
    found["gpt2 json"] = syllabary.load(folder / "gpt2_tokenizer.json")
    return found


def drawn(chance: random.Random, names: list[str]) -> str:
    """A text that is hard to cut: what splits look for, special tokens in parts, marks, long rows."""
    text = fuzz_texts.draw(chance)[:200]
    if chance.random() < 0.3:
        text += next(hard_texts(1, chance.randrange(10**9)))[:200]
    for _ in range(chance.choice((0, 0, 1, 2)) if names else 0):
        name = chance.choice(names)
        at = chance.randrange(len(text) + 1)
        text = text[:at] + name[: chance.randint(1, len(name))] + chance.choice(("", " ", "  ")) + text[at:]
    return text


def in_parts(text: str, chance: random.Random) -> Iterator[str | bytes]:
    """A text in parts, cut anywhere: as `str`, or as bytes, inside of characters too."""
    data = text.encode() if chance.random() < 0.3 else text
    longest = chance.choice((1, 3, 10, 100))
    at = 0
    while at < len(data):
        size = chance.randint(1, longest)
        yield data[at : at + size]
        at += size
