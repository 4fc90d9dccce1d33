"""Steps of popular tokenizers that no vocabulary here has, around small models trained by their library.

Adds `LAYOUTS` and `trained`, and for spaces as marks `MARKED` and `with_marks`. Sources: the `tokenizer.json`
of each model; llama.cpp, `src/llama-vocab.cpp`.
Leaves out the vocabularies, and what is done with them (`test_steps_popular`).
"""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import product
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

Step = dict[str, Any]

TRAINED_ON = [
    "It's a plain text of words, and words again; they'll read 1234567 of them in 2024, won't they?",
    "def plain(text: str) -> int:\n    return len(text) + 10_000  # words\n\n\tpass\r\n",
    "μῆνιν ἄειδε θεὰ, τὰ πλαίσια τῶν λέξεων — e\u0301te\u0301 naïve “quoted” words …",
    "日本語の文章です。漢字かなカナ、中文字符，一二三。 한국어 문장",
] * 4

# Letters with case, as DeepSeek LLM's steps list them; Greek's in the form that its file has.
LETTERS = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ"
    "\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗ"
    "Ａ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
CAPITALS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> Step:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def digits(individual: bool) -> Step:
    return {"type": "Digits", "individual_digits": individual}


BYTES: Step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES_ALONE = BYTES | {"use_regex": False}
BERT: Step = {
    "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
    "lowercase": True,
}  # fmt: skip
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"

# Name -> normalizer, steps that cut, texts of added tokens (found in normalized text).
LAYOUTS: dict[str, tuple[Step | None, list[Step], list[str]]] = {
    "deepseek-coder": (
        None,
        [
            *map(split, (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")),
            digits(True),
            BYTES_ALONE,
        ],
        [],
    ),
    "deepseek-llm": (
        None,
        [
            *map(split, (r"[\r\n]", rf"\s?[{LETTERS}]+", "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", r"\s+$")),
            split("[一-龥ࠀ-一가-퟿]+"),
            digits(True),
            BYTES_ALONE,
        ],
        [],
    ),
    "falcon": (
        None,
        [{"type": "Punctuation", "behavior": "Contiguous"}, BYTES, digits(False), split("[0-9][0-9][0-9]")],
        [],
    ),
    "clip": (
        {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        [split(CLIP, "Removed", invert=True), BYTES_ALONE],
        [],
    ),
    "neox": ({"type": "NFC"}, [BYTES], [" " * count for count in range(24, 1, -1)]),
    "command-r": ({"type": "NFC"}, [digits(True), BYTES], []),
    "nemo": (
        None,
        [
            split(
                rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}*{SMALL}+|[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}+{SMALL}*"
                r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            BYTES_ALONE,
        ],
        [],
    ),
    "exaone": (
        None,
        [
            split(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
                r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
            ),
            BYTES_ALONE,
        ],
        [],
    ),
    "gpt": (BERT, [{"type": "BertPreTokenizer"}], []),
    "gpt-words": (BERT, [{"type": "Whitespace"}, digits(False)], []),
    "bloom": (None, [split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), BYTES_ALONE], []),
}


@lru_cache(maxsize=3)
def _model(suffix: str | None, of_bytes: bool) -> str:
    """A model of bytes or of characters, of words that end in `suffix`."""
    made = Tokenizer(models.BPE(end_of_word_suffix=suffix, unk_token="<unk>") if suffix else models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if not of_bytes:
        made.pre_tokenizer, alphabet = pre_tokenizers.BertPreTokenizer(), []
    trainer = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=alphabet, special_tokens=["<unk>"], show_progress=False,
        **({"end_of_word_suffix": suffix} if suffix else {}),
    )  # fmt: skip
    made.train_from_iterator(TRAINED_ON, trainer)
    return made.to_str()


def trained(name: str) -> str:
    """The `tokenizer.json` of a layout, as text."""
    normalizer, steps, added = LAYOUTS[name]
    suffix, is_gpt = "</w>" if name in ("clip", "gpt", "gpt-words") else None, name.startswith("gpt")
    document = json.loads(_model(suffix, not is_gpt))
    document["normalizer"] = normalizer
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    size = len(document["model"]["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    document["added_tokens"] += [{"id": size + at, "content": text} | flags for at, text in enumerate(added)]
    return json.dumps(document)


# Model (of characters), scheme, whether marks cut, whether digits are cut behind, and a normalizer before:
# `Prepend` makes two characters of the first one, between which signs are cut.
MARKED = [*product(["BPE", "Unigram"], ["always", "first", "never"], [True, False], [True], [""])]
MARKED += [*product(["BPE"], ["always", "first", "never"], [True, False], [False], ["NFKC", "Prepend"])]
MARKED += [("BPE", "first", True, False, ""), ("Unigram", "always", True, False, "NFKC")]
MARKED += [("Unigram", "first", True, False, "Prepend")]


def with_marks(model: str, scheme: str, cuts: bool, by_digits: bool, normalizer: str) -> str:
    """The `tokenizer.json` of one whose spaces are marks, as `SentencePieceBPETokenizer` has them."""
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True) if model == "BPE" else models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cuts)
    if normalizer == "NFKC":
        made.normalizer = normalizers.NFKC()
    elif normalizer == "Prepend":
        made.normalizer = normalizers.Prepend("▁")
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), made.pre_tokenizer])
    special = {"special_tokens": ["<unk>", "<s>"], "show_progress": False}
    trainer = (
        trainers.BpeTrainer(vocab_size=300, **special)
        if model == "BPE"
        else trainers.UnigramTrainer(vocab_size=150, unk_token="<unk>", **special)
    )
    made.train_from_iterator(TRAINED_ON, trainer)
    if by_digits:
        steps = [made.pre_tokenizer, pre_tokenizers.Digits(individual_digits=True)]
        made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    return made.to_str()
