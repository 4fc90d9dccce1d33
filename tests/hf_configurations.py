"""Configurations of Hugging Face's library: every component, alone, in pairs and in random sequences.

Adds a few models trained here by `tokenizers`, and documents of `tokenizer.json` around them: every
normalizer x pre-tokenizer x decoder, random ones with sequences and added tokens of every flag, and texts to
try them on. Leaves out: what is done with them (`test_formats_hf*`).
"""

from __future__ import annotations

import base64
import itertools
import json
import struct
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

Document = dict[str, Any]

CORPUS = [
    "Hello how are you, hope you're well! The quick brown fox's 12 dogs jumped over 345 lazy cats.",
    "In principio erat verbum, et verbum erat apud deum, et deus erat verbum. Gallia est omnis divisa.",
    "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί' Ἀχαιοῖς ἄλγε' ἔθηκε",
    "naïve café, e\u0301te\u0301, Ångström; ﬁne ＡＢＣ １２３ ½ Ⅷ ②",
    "日本語の文章です。漢字かなカナ、中文字符。",
    "السلام عليكم ورحمة الله",
    "def f(x):\n    return {'a': x + 1}  # 2024\n\n\tpass\r\n",
    "😀👍🏽 👩\u200d👩\u200d👧 ok",
] * 3


def charsmap(rules: dict[str, str]) -> str:
    """A precompiled map with these rules (one character each), in base64: a double array of one level.

    Source: sentencepiece's darts.h, whose units are label, offset and leaf flags packed in 32 bits.
    """
    strings = "".join(content + "\0" for content in rules.values()).encode()
    starts = [0, *itertools.accumulate(len(content.encode()) + 1 for content in rules.values())]
    trie: dict[bytes, Any] = {}
    for key, start in zip(rules, starts, strict=False):
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = start
    units = _double_array(trie)
    return base64.b64encode(
        struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + strings
    ).decode()


def _double_array(trie: dict[Any, Any]) -> list[int]:
    """Each node's children at `its place ^ its offset ^ label`; blocks of 256 so that none collide."""
    nowhere = 1 << 31  # a unit that no byte leads to
    units = [0] + [nowhere] * 255
    waiting = [(0, trie)]
    while waiting:
        place, node = waiting.pop()
        block = len(units)
        units += [nowhere] * 256
        offset = place ^ block
        has_leaf = None in node
        units[place] |= (offset << 10) if offset < 1 << 21 else 0
        units[place] |= (1 << 8) if has_leaf else 0
        if has_leaf:
            units[block] = node[None] | 1 << 31
        for label, child in node.items():
            if label is not None:
                units[block ^ label] = label
                waiting.append((block ^ label, child))
    return units


# ---- components ----

BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
RULES = {"ﬁ": "fi", "①": "1", "é": "e", "\u00a0": " ", "x": ""}
NORMALIZERS: list[Any] = [
    None,
    BERT,
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "StripAccents"},
    {"type": "NFC"},
    {"type": "NFD"},
    {"type": "NFKC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "Nmt"},
    {"type": "Precompiled", "precompiled_charsmap": charsmap(RULES)},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "ByteLevel"},
]  # fmt: skip
MORE_NORMALIZERS: list[Any] = [
    {**BERT, "strip_accents": False},
    {**BERT, "clean_text": False, "lowercase": False, "strip_accents": True},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r" {2,}|\n"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": r"^a|e$"}, "content": "ae"},
    {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
    {"type": "Prepend", "prepend": " "},
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def level(prefix: bool = False, use_regex: bool = True) -> Document:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


def metaspace(scheme: str, split: bool = True, replacement: str = "▁") -> Document:
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": split}


def cut(pattern: Document, behavior: str, invert: bool = False) -> Document:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


PRE_TOKENIZERS: list[Any] = [
    None,
    {"type": "BertPreTokenizer"},
    level(),
    {"type": "CharDelimiterSplit", "delimiter": "e"},
    metaspace("always"),
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    cut({"Regex": r"\p{N}{1,3}|\s+"}, "Isolated"),
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
    {"type": "UnicodeScripts"},
    {"type": "FixedLength", "length": 5},
    {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, level(True, False)]},
]
MORE_PRE_TOKENIZERS: list[Any] = [
    level(True),
    level(False, False),
    level(True, False),
    *(metaspace(scheme, split) for scheme in ("always", "first", "never") for split in (True, False)),
    metaspace("always", True, "_"),
    *(
        cut(pattern, behavior, invert)
        for pattern in ({"String": " "}, {"Regex": r"[ae]+|\d"})
        for behavior in BEHAVIORS
        for invert in (False, True)
    ),
    cut({"Regex": r"\s+$|^\w+"}, "Isolated"),
    cut({"Regex": r"'s|'t|[\p{L}]+|[^\s\p{L}\p{N}]+"}, "Removed", True),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    {"type": "Digits", "individual_digits": False},
    {"type": "FixedLength", "length": 1},
]  # fmt: skip
DECODERS: list[Any] = [
    None,
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    metaspace("always"),
    {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    {"type": "ByteFallback"},
    {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]},
]  # fmt: skip
MORE_DECODERS: list[Any] = [
    {"type": "WordPiece", "prefix": "", "cleanup": False},
    metaspace("first"),
    metaspace("never"),
    {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "e", "cleanup": False},
    {"type": "Replace", "pattern": {"Regex": r"\s+|e"}, "content": "_"},
    {"type": "Strip", "content": "e", "start": 2, "stop": 1},
]

# ---- models ----


def trained(cut_by: Any, unknown: str | None = "[UNK]", **options: Any) -> Document:
    tok = Tokenizer(models.BPE(unk_token=unknown, **{k: v for k, v in options.items() if k in MODEL_OPTIONS}))
    tok.pre_tokenizer = cut_by
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[*([unknown] if unknown else []), *options.get("special", [])],
        initial_alphabet=options.get("alphabet", []),
        show_progress=False,
        **{k: v for k, v in options.items() if k in MODEL_OPTIONS[:2]},
    )
    tok.train_from_iterator(CORPUS, trainer)
    return dict(json.loads(tok.to_str())["model"])


MODEL_OPTIONS = ("continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "ignore_merges")


@lru_cache(maxsize=1)
def trained_models() -> dict[str, Document]:
    """A model of each kind: whole bytes, bytes seen, characters, with marks, with a fallback to bytes."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    spaces = pre_tokenizers.Metaspace()
    found = {
        "bytes": trained(byte_level, unknown=None, alphabet=alphabet),
        "bytes seen": trained(byte_level),
        "characters": trained(pre_tokenizers.Whitespace()),
        "characters fused": trained(pre_tokenizers.WhitespaceSplit(), fuse_unk=True),
        "spaces": trained(spaces),
        "suffix": trained(pre_tokenizers.Whitespace(), end_of_word_suffix="</w>"),
        "prefix": trained(pre_tokenizers.Whitespace(), continuing_subword_prefix="##"),
        "both": trained(
            pre_tokenizers.Whitespace(), continuing_subword_prefix="##", end_of_word_suffix="</w>"
        ),
        "fallback": trained(spaces, special=[f"<0x{byte:02X}>" for byte in range(256)]),
        "no unknown": trained(pre_tokenizers.Whitespace(), unknown=None),
    }
    found["fallback"]["byte_fallback"] = True
    found["whole bytes"] = {**found["bytes"], "ignore_merges": True, "merges": found["bytes"]["merges"][:40]}
    found["whole characters"] = {**found["spaces"], "ignore_merges": True}
    return found


def document(model: Document, normalizer: Any, pre_tokenizer: Any, decoder: Any, **more: Any) -> Document:
    """A file, in the order of their library."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": more.get("added_tokens", []),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": more.get("post_processor"),
        "decoder": decoder,
        "model": model,
    }


def combinations() -> Iterator[Document]:
    """Every normalizer x pre-tokenizer x decoder, each with one of the models in turn."""
    found = list(trained_models().values())
    for index, (n, p, d) in enumerate(itertools.product(NORMALIZERS, PRE_TOKENIZERS, DECODERS)):
        yield document(found[index % len(found)], n, p, d, added_tokens=unknown_of(found[index % len(found)]))


def unknown_of(model: Document) -> list[Document]:
    """The unknown token as their trainer leaves it: special."""
    unknown = model["unk_token"]
    return [] if unknown is None else [added(unknown, model["vocab"][unknown], special=True)]


def added(content: str, token_id: int, **flags: bool) -> Document:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": token_id, "content": content, **plain, **flags}


ADDED_TEXTS = [
    "<s>", "[EOS]", "erat", "The", "▁", " x ", "日本", "é", "ΜῆΝ", "12", "don", "\n", "E", "of the",
]  # fmt: skip
ENDS = {"sep": ["</s>", 2], "cls": ["<s>", 0]}
SEQUENCE = [{"Sequence": {"id": name, "type_id": place}} for place, name in enumerate("AB")]
POST_PROCESSORS: list[Any] = [
    None,
    None,
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
    {"type": "RobertaProcessing", **ENDS, "trim_offsets": True, "add_prefix_space": False},
    {"type": "BertProcessing", **ENDS},
    {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, SEQUENCE[0]],
        "pair": SEQUENCE,
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
    },
]


def some(random: Random, choices: list[Any], members: str) -> Any:
    """One component, or a sequence of up to three."""
    chosen = [one for one in random.sample(choices, random.choice((0, 1, 1, 2, 3))) if one is not None]
    return {"type": "Sequence", members: chosen} if len(chosen) > 1 else (chosen or [None])[0]


def random_document(random: Random) -> Document:
    """Random sequences of components, model options and added tokens."""
    model = dict(random.choice(list(trained_models().values())))
    texts = random.sample(ADDED_TEXTS, random.choice((0, 0, 1, 2, 4)))
    entries = unknown_of(model)
    new = len(model["vocab"])
    for text in texts:
        token_id = model["vocab"].get(text, new)
        new += text not in model["vocab"]
        flags = {
            flag: random.random() < 0.3
            for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
        }
        entries.append(added(text, token_id, **flags))
    return document(
        model,
        some(random, NORMALIZERS + MORE_NORMALIZERS, "normalizers"),
        some(random, PRE_TOKENIZERS + MORE_PRE_TOKENIZERS, "pretokenizers"),
        some(random, DECODERS + MORE_DECODERS, "decoders"),
        added_tokens=sorted(entries, key=lambda entry: int(entry["id"])),
        post_processor=random.choice(POST_PROCESSORS),
    )


# ---- texts ----

WORDS = [
    "Hello", "how", "THE", "The", "erat", "verbum", "deus", "don't", "we're", "x", "12", "3456",
    "½", "Ⅷ", "μῆνιν", "Ἀχιλῆος", "ΜΗΝΙΣ", "naïve", "e\u0301te\u0301", "ﬁne", "ＡＢＣ", "日本語",
    "漢字かなカナー", "中文", "السلام", "עִבְרִית", "😀",
    "\U0001F469\u200d\U0001F469\u200d\U0001F467", "👍🏽", "▁", "_", "##ing", "</w>", "<s>",
    "[EOS]", "[UNK]", "<0x41>", "\u200b", "\ufeff", "�", "\u0000", "\u0007", "\u0085", "İ", "ß",
    "ǅ", "한국어", "각", "a\u0300\u0301\u0327", "of the", "x ", "``", "e", "ee", "aaa", "E", "'",
    "''", "-", "...", "(", "é", "Ġ", "\u0344", "ﷺ", "𝔘𝔫𝔦",
]  # fmt: skip
SPACES = [" ", " ", " ", "", "", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "   ", "\v", "\x1c"]


def random_text(random: Random) -> str:
    """Words of many scripts with spaces of many kinds between them."""
    parts = [random.choice(SPACES)]
    for _ in range(random.choice((0, 1, 2, 3, 5, 9))):
        parts += [random.choice(WORDS), random.choice(SPACES)]
    return "".join(parts)
