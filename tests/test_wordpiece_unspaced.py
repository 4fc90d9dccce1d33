"""WordPiece of scripts without spaces, whose words are not remembered: as tokenizers and the specification.

Adds drawn text of Chinese, Japanese and signs, and tokens of up to five characters, behind several steps.
Leaves out: each character by itself, and other scripts (`test_wordpiece_letters`).
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tokenizers import Tokenizer
from words_peers import PROVE, sequence

import syllabary
from syllabary.reference import ReferenceTokenizer

HAN = "漢字典語學中国人一二三的是不我有"
OTHERS = [
    *"，。」 \n\u3000々〇かカ豈\uf900ﾊＡ한ก\u3099", "ab", "1", "é", "😀", "\U00020000", "\ufeff",
]  # fmt: skip
STEPS = [
    (None, {"type": "Whitespace"}),
    (None, {"type": "WhitespaceSplit"}),
    (None, sequence("pretokenizers", "Whitespace", "Digits")),
    ({"type": "NFKC"}, {"type": "Whitespace"}),
    ({"type": "Lowercase"}, sequence("pretokenizers", "WhitespaceSplit", "Punctuation")),
]


def peer_of(steps: tuple[Any, Any], names: list[str], longest: int) -> Tokenizer:
    """A WordPiece of these names, in this order."""
    vocab = {name: at for at, name in enumerate(dict.fromkeys(["[UNK]", *names]))}
    model = {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": longest, "vocab": vocab,
    }  # fmt: skip
    parts = {"normalizer": steps[0], "pre_tokenizer": steps[1], "post_processor": None, "decoder": None}
    return Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], **parts, "model": model}))


def drawn(random: Random, count: int) -> str:
    """Words of Chinese between signs, most of few characters, some of others."""
    few = random.sample(HAN, random.choice([3, 6, 16]))

    def word() -> str:
        length = random.choice([1, 1, 2, 3, 4, 5, 8, 14, 15, 16, 17, 31, 101])
        return "".join(random.choice(few if random.random() < 0.97 else OTHERS) for _ in range(length))

    return "".join(word() + random.choice(["，", "。", " ", "\n", "。」"]) for _ in range(count))


def names_of(random: Random, text: str) -> list[str]:
    """Parts of a text, at the beginning of words and within."""
    starts = [random.randrange(len(text)) for _ in range(random.choice([30, 300, 1000]))]
    parts = [text[start : start + random.choice([1, 1, 2, 2, 3, 4, 5])] for start in starts]
    kept = [part for part in parts if not any(map(str.isspace, part))]
    single = (
        [] if random.random() < 0.2 else sorted(set(text) - {" ", "\n", "\u3000"})[:: random.choice([1, 2])]
    )
    return [*single, *(f"##{name}" for name in single), *kept, *(f"##{part}" for part in kept)]


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("seed", range(40 if PROVE else 4))
def test_words_of_scripts_without_spaces(steps: Any, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    names = names_of(random, drawn(random, 300))
    peer = peer_of(steps, names, random.choice([100, 100, 12]))
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    texts = [drawn(random, count) for count in [1, 2, 5, 20, 100, 300, 20, 5]]
    for text, ids in zip(texts, tok.encode_batch(texts), strict=True):
        wanted = peer.encode(text, add_special_tokens=False)
        assert ids == tok.encode(text) == wanted.ids
        assert tok.count(text) == len(ids)
        full = tok.encode_full(text)
        assert full.ids == ids
        assert list(map(tuple, full.offsets)) == wanted.offsets
    assert tok.encode(texts[3]) == ReferenceTokenizer(tok.spec).encode(texts[3])
