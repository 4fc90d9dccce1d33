"""Folders as `transformers` saves them, of tokenizers trained here, and calls drawn at random.

Adds five shapes: bytes as GPT-2 (without and with a template), BERT, Llama with a fallback to bytes, T5; and
a tokenizer saved and opened again.
Leaves out: what is compared (`test_transformers*`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import syllabary

TEXTS = [
    "Hello world, how are you doing today? I hope all is well, my friend!",
    "The quick brown fox's 12 dogs jumped over 345 lazy cats.",
    "naïve café, Ångström; Straße ÉCOLE",
    "日本語の文章です。漢字。",
    "def f(x):\n    return {'a': x + 1}\n\n\tpass\r\n",
    "😀👍🏽 ok",
    "  two  spaces ",
    "",
    " ",
    "a",
]


def byte_level(post_processor: Any = None) -> Tokenizer:
    """As GPT-2's."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>", "<pad>", "<mask>", "<cls>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator(TEXTS * 3, trainer)
    tok.post_processor = post_processor or processors.ByteLevel(trim_offsets=False)
    return tok


def roberta() -> Tokenizer:
    """Bytes, with `<s> A </s></s> B </s>`."""
    return byte_level(processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=True))


def bert() -> Tokenizer:
    """As uncased BERT's."""
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer(lowercase=True)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tok.train_from_iterator(TEXTS[:2] * 3, trainer)
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tok


def llama() -> Tokenizer:
    """As Llama 2's: characters, spaces as `▁`, what has no token as bytes."""
    tok = Tokenizer(models.BPE(unk_token="<unk>"))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(
        vocab_size=200, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False, limit_alphabet=60
    )
    tok.train_from_iterator([word for text in TEXTS[:2] * 4 for word in text.split()], trainer)
    tok.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    found = json.loads(tok.to_str())
    vocab = found["model"]["vocab"]
    vocab |= {f"<0x{byte:02X}>": len(vocab) + byte for byte in range(256)}
    found["model"] |= {"byte_fallback": True, "fuse_unk": True}
    tok = Tokenizer.from_str(json.dumps(found))
    tok.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", vocab["<s>"])]
    )
    return tok


def t5() -> Tokenizer:
    """As T5's: Unigram, whose unknown token is spelled as the text; `<mask>` takes white space along."""
    tok = Tokenizer(models.Unigram())
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.decoder = decoders.Metaspace()
    special: list[Any] = ["<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)]
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tok.train_from_iterator(TEXTS[:2] * 4, trainer)
    tok.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return tok


SHAPES = {"bytes": byte_level, "roberta": roberta, "bert": bert, "llama": llama, "t5": t5}
ROBERTA = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
SETTINGS: dict[str, dict[str, Any]] = {
    "bytes": {**ROBERTA, "model_max_length": 64, "padding_side": "left"},
    "roberta": {**ROBERTA, "cls_token": "<s>", "sep_token": "</s>", "model_max_length": 128},
    "bert": {
        "unk_token": "[UNK]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "clean_up_tokenization_spaces": True,
    },
    "t5": {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "truncation_side": "left"},
}


def write(shape: str, folder: Path, **settings: Any) -> Path:
    """A folder with a tokenizer of a shape, and its settings."""
    folder.mkdir(exist_ok=True)
    SHAPES[shape]().save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **SETTINGS[shape], **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def saved_and_opened(ours: Any, folder: Path) -> tuple[Any, Any]:
    """A tokenizer saved into a folder and opened again, by `AutoTokenizer` and here, without a loss."""
    from transformers import AutoTokenizer

    ours.save_pretrained(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", syllabary.LossWarning)
        again = syllabary.load(folder).as_transformers()
    return AutoTokenizer.from_pretrained(folder), again


def text(random: Random, special: list[str]) -> str:
    """A text, now and then with a special token in it."""
    parts = [random.choice([*TEXTS, *special]) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    return random.choice(["", " "]).join(parts)


def refuses(ours: Callable[[], object], theirs: BaseException, options: dict[str, Any]) -> None:
    """What is not to be cut is too long by itself (bare there), or less than a stride is left (a panic)."""
    panic = type(theirs).__name__ == "PanicException" and str(theirs).startswith("`stride` must be")
    if not (panic or isinstance(theirs, Exception)):
        raise theirs
    with pytest.raises(ValueError, match="stride" if panic else options["truncation"]):
        ours()


def call(random: Random, special: list[str], pads: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: texts, and what to do with them. pads: whether there is a pad token."""
    words = random.random() < 0.2
    one = (lambda: text(random, special).split(" ")) if words else (lambda: text(random, special))
    pair = random.random() < 0.35
    texts: tuple[Any, ...]
    if random.random() < 0.25:
        texts = (one(), one()) if pair else (one(),)
    else:
        size = random.randrange(1, 5)
        texts = tuple([one() for _ in range(size)] for _ in range(1 + pair))
    options: dict[str, Any] = {"is_split_into_words": True} if words else {}
    for name in ("special_tokens_mask", "offsets_mapping", "length", "token_type_ids", "attention_mask"):
        if random.random() < 0.3:
            options[f"return_{name}"] = random.random() < 0.8
    if random.random() < 0.2:
        options["add_special_tokens"] = False
    if random.random() < 0.2:
        options["split_special_tokens"] = random.random() < 0.5
    if random.random() < 0.5:
        cuts = ["only_first", "only_second"] if pair else ["only_first"]
        options |= {"truncation": random.choice([True, "longest_first", *cuts])}
        options["max_length"] = random.choice([8, 9, 12, 16, 40])
        if random.random() < 0.4:
            options |= {"return_overflowing_tokens": True, "stride": random.choice([0, 1, 2])}
            options["max_length"] += 10  # a stride as long as what is left of it makes theirs panic
    if pads and random.random() < 0.5:
        options["padding"] = random.choice([True, "longest", "max_length"])
        options["padding_side"] = random.choice(["left", "right"])
        if options["padding"] == "max_length":
            options.setdefault("max_length", 48)
        if random.random() < 0.3 and not options.get("truncation"):
            options["pad_to_multiple_of"] = 8
    return texts, options
