"""Hugging Face's `BpeTrainer` and ours, told the same: the `tokenizer.json` that they save.

Adds text and options drawn at random, which force ties, runs, names that come again, counts below zero; both
trainers on them; and what is not determined there. Ids of decorated characters and ties at `limit_alphabet`
follow a hash table: `determined` makes options that leave it no choice. So does the order of two entries of
one pair, rarely: then ours must be one of the files that theirs makes, `same` tries again.
Leaves out: what is tested (`test_train_huggingface`, `test_like_huggingface`).
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, models, trainers

import syllabary
from syllabary.errors import EarlyStopWarning

TRIES = 300
BYTE_LEVEL: dict[str, Any] = {
    "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True
}  # fmt: skip
MODEL = ("dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
PLACES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")

Options = dict[str, Any]
Source = Sequence[str] | Path


def peer(options: Mapping[str, Any]) -> tuple[Tokenizer, trainers.BpeTrainer]:
    """Their tokenizer and trainer; components are given as the file has them."""
    model = {name: options[name] for name in MODEL if name in options}
    document = json.loads(Tokenizer(models.BPE(**model)).to_str())
    document["pre_tokenizer"] = BYTE_LEVEL
    document |= {place: options[place] for place in PLACES if place in options}
    last = document["pre_tokenizer"] or {}
    last = last["pretokenizers"][-1] if "pretokenizers" in last else last
    if "decoder" not in options and last.get("type") == "ByteLevel":
        document["decoder"] = BYTE_LEVEL | {"add_prefix_space": True}
    told = {name: value for name, value in options.items() if name not in (*MODEL, *PLACES)}
    special = options.get("special_tokens", ())
    told["special_tokens"] = [one if isinstance(one, str) else AddedToken(**one) for one in special]
    return Tokenizer.from_str(json.dumps(document)), trainers.BpeTrainer(show_progress=False, **told)


def theirs(source: Source, options: Mapping[str, Any]) -> str:
    """The file that their library saves, trained from documents or from a file."""
    tokenizer, trainer = peer(options)
    if isinstance(source, Path):
        tokenizer.train([str(source)], trainer)
    else:
        tokenizer.train_from_iterator(source, trainer)
    return str(tokenizer.to_str(pretty=True))


def ours(source: Any, options: Mapping[str, Any] | None, **more: Any) -> syllabary.Tokenizer:
    """Our tokenizer; that it may stop early goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return syllabary.train(source, like="huggingface", options=options, **more)


def saved(tokenizer: syllabary.Tokenizer, folder: Path) -> str:
    """The file that we save."""
    tokenizer.save(folder / "tokenizer.json")
    return (folder / "tokenizer.json").read_text(encoding="utf-8")


def same(source: Source, options: Mapping[str, Any], file: str) -> bool:
    """Whether their library makes this file, in one of some runs."""
    return any(theirs(source, options) == file for _ in range(TRIES))


def learned(file: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Names by id and merges of a file."""
    model = json.loads(file)["model"]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), [tuple(pair) for pair in model["merges"]]


# ---- drawn at random ----

TEXTS = ("a", "ab", "ab ", "abc ", "ab12 ", "aébÉ 漢 \n", "the cat\n ", "Ab,.!? x\t", "ab\r\n\u2028\u00a0")
SPECIAL = ("<s>", "a", "ab", "aa", "ba", "<unk>", "ca", "##b", "b</w>", "▁", "Ġ", "é")


def documents(source: random.Random) -> list[str]:
    """Some documents over few characters, one of them perhaps empty."""
    letters = source.choice(TEXTS)
    sizes = [source.choice([0, 1, 3, 10, 40, 100]) for _ in range(source.randint(1, 6))]
    return ["".join(source.choices(letters, k=size)) for size in [*sizes, 2]]


def trainer_options(source: random.Random) -> Options:
    """Options of the trainer alone, each given now and then."""
    drawn: Options = {
        "min_frequency": source.choice([0, 1, 2, 3]),
        "special_tokens": source.sample(SPECIAL, source.choice([1, 2, 3])),
        "max_token_length": source.choice([0, 1, 2, 3, 4, 5, 8]),
        "continuing_subword_prefix": source.choice(["##", "##", "##", "a", "ab", ""]),
        "end_of_word_suffix": source.choice(["</w>", "</w>", "</w>", "a", "ab", ""]),
        "limit_alphabet": source.choice([0, 1, 2, 3, 5]),
        "initial_alphabet": source.sample(["x", "yz", "a", "", "é"], source.randint(1, 3)),
    }
    kept = {name: value for name, value in drawn.items() if source.random() < 0.3}
    return {"vocab_size": source.choice([30, 60, 90, 300]), **kept}


def split(pattern: dict[str, str], behavior: str) -> Options:
    """The pre-tokenizer Split."""
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}


def metaspace(replacement: str, scheme: str, cuts: bool) -> Options:
    """The pre-tokenizer and decoder Metaspace."""
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": cuts}


DIGITS = {"type": "Digits", "individual_digits": True}
COMPONENTS: dict[str, list[Any]] = {
    "pre_tokenizer": [
        None, BYTE_LEVEL | {"add_prefix_space": True}, BYTE_LEVEL | {"use_regex": False},
        {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
        {"type": "UnicodeScripts"}, {"type": "CharDelimiterSplit", "delimiter": " "},
        {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "FixedLength", "length": 3},
        metaspace("▁", "always", True), metaspace("_", "first", False),
        split({"String": "b"}, "MergedWithNext"),
        {"type": "Sequence", "pretokenizers": [DIGITS, BYTE_LEVEL]},
        {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, DIGITS]},
        {"type": "Sequence", "pretokenizers": [
            split({"Regex": "\\p{N}{1,3}"}, "Isolated"), BYTE_LEVEL | {"use_regex": False}]},
    ],
    "normalizer": [
        None, {"type": "NFC"}, {"type": "ByteLevel"}, {"type": "Nmt"}, {"type": "Prepend", "prepend": "▁"},
        {"type": "Sequence", "normalizers": [
            {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]},
        {"type": "Sequence", "normalizers": [{"type": "NFKC"}]},
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
         "lowercase": True},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
    ],
    "decoder": [
        None, BYTE_LEVEL, {"type": "BPEDecoder", "suffix": "</w>"}, metaspace("▁", "always", True),
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
    ],
    "post_processor": [None, BYTE_LEVEL | {"trim_offsets": False}],
    "unk_token": ["<unk>", "a", "[UNK]"], "dropout": [0.1, 0.5, 1.0, 0.25, 0.3],
    "fuse_unk": [True], "byte_fallback": [True], "ignore_merges": [True],
}  # fmt: skip
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def all_options(source: random.Random) -> Options:
    """Options of everything."""
    options = trainer_options(source)
    for name, values in COMPONENTS.items():
        if source.random() < 0.3:
            options[name] = source.choice(values)
    tokens = options.get("special_tokens", [])
    for index, text in enumerate(tokens):
        if source.random() < 0.3:
            tokens[index] = {"content": text} | {
                flag: source.random() < 0.5 for flag in source.sample(FLAGS, 2)
            }
    return options


def determined(source: Source, options: Options) -> Options:
    """Such options that no hash table decides: decorated characters are special tokens, in order, and
    `limit_alphabet` goes where it would cut between equals."""
    before = {**options, "vocab_size": 0}
    runs = [learned(theirs(source, before))[0] for _ in range(6 if "limit_alphabet" in options else 1)]
    if len(set(map(frozenset, runs))) > 1:
        return determined(source, {name: options[name] for name in options if name != "limit_alphabet"})
    special = options.get("special_tokens", [])
    texts = [one if isinstance(one, str) else one["content"] for one in special]
    decorated = sorted(name for name in runs[0] if len(name) > 1 and name not in texts)
    return {**options, "special_tokens": [*special, *decorated]}
