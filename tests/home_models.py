"""Tokenizers of every model, trained here by their home libraries over every combination of their options.

Adds tables of how each is made: Unigram by tokenizers (normalizers of T5, ALBERT and XLNet, pre-tokenizers,
a fallback to bytes), Unigram by sentencepiece (its rules, spaces, bytes), byte-level BPE; and the framings
that their models put around text. Leaves out: BERT's (`words_peers`), what is compared (`test_home_models`).
"""

from __future__ import annotations

import itertools
import json
from functools import lru_cache
from typing import Any

from sentencepiece_models import train_on
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from unigram_models import NORMALIZERS, PRETOKENIZERS
from words_peers import BERT_CUTS, PROVE, bert, made, samples

SPECIAL = ["<pad>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]"]
RULES = ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
FLAGS = (True, False)
LEARNED = 40_000 if PROVE else 8_000  # bytes of each corpus
# normalizer, pre-tokenizer, whether there is a fallback to bytes
UNIGRAM = list(itertools.product(NORMALIZERS, PRETOKENIZERS, FLAGS))
# rules, byte_fallback, add_dummy_prefix, remove_extra_whitespaces
SENTENCEPIECE = list(itertools.product(RULES, FLAGS, FLAGS, FLAGS))
# add_prefix_space, whether GPT-2's pattern cuts, normalizer
BYTE_LEVEL = list(itertools.product(FLAGS, FLAGS, ("none", "nfc", "lowercase")))


@lru_cache(maxsize=1)
def lines() -> tuple[str, ...]:
    """Lines of each corpus to train on, none very long: pieces of whole lines take their trainers long."""
    found = (line for _name, text in samples(LEARNED) for line in text.splitlines())
    return tuple(line[:200] for line in found if line.strip())


@lru_cache(maxsize=4)
def _unigram(normalizer: str, pretokenizer: str) -> str:
    peer = Tokenizer(models.Unigram())
    if (make := NORMALIZERS[normalizer]) is not None:
        peer.normalizer = make()
    if (make := PRETOKENIZERS[pretokenizer]) is not None:
        peer.pre_tokenizer = make()
    peer.decoder = decoders.Metaspace()  # type: ignore[assignment]
    options: dict[str, Any] = {"vocab_size": 5000, "unk_token": "<unk>", "special_tokens": SPECIAL}
    peer.train_from_iterator(lines(), trainers.UnigramTrainer(show_progress=False, **options))
    return str(peer.to_str())


def unigram(normalizer: str, pretokenizer: str, fallback: bool) -> Tokenizer:
    """A Unigram of tokenizers, as T5's and ALBERT's files have it."""
    file = json.loads(_unigram(normalizer, pretokenizer))
    if fallback:
        file["model"]["byte_fallback"] = True
        file["model"]["vocab"] += [[f"<0x{byte:02X}>", -12.0] for byte in range(256)]
    return Tokenizer.from_str(json.dumps(file))


def sentencepiece_model(rules: str, fallback: bool, prefix: bool, squeezes: bool) -> bytes:
    """A Unigram of sentencepiece."""
    return train_on(
        list(lines()),
        model_type="unigram",
        vocab_size=5000,
        character_coverage=0.99,
        normalization_rule_name=rules,
        byte_fallback=fallback,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=squeezes,
    )


@lru_cache(maxsize=1)
def _byte_level(prefix: bool, cuts: bool, normalizer: str) -> str:
    peer = Tokenizer(models.BPE())
    rules = {"nfc": normalizers.NFC, "lowercase": normalizers.Lowercase}
    if normalizer in rules:
        peer.normalizer = rules[normalizer]()
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=cuts)  # type: ignore[assignment]
    peer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        special_tokens=SPECIAL,
        initial_alphabet=alphabet,
        max_token_length=16,
        show_progress=False,
    )
    peer.train_from_iterator(lines(), trainer)
    return str(peer.to_str())


def byte_level(prefix: bool, cuts: bool, normalizer: str) -> Tokenizer:
    """A byte-level BPE of tokenizers."""
    return Tokenizer.from_str(_byte_level(prefix, cuts, normalizer))


def _ends(peer: Tokenizer, *names: str) -> list[tuple[str, int]]:
    return [(name, peer.token_to_id(name)) for name in names]


def framed(peer: Tokenizer, processor: str, trims: bool = True) -> Tokenizer:
    """A tokenizer with what its kind puts around text. processor: a name of `FRAMED`'s second members."""
    sep, cls = _ends(peer, "[SEP]", "[CLS]")
    level = processors.ByteLevel(trim_offsets=trims)
    templates = {
        "bert template": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "t5": ("$A [SEP]", "$A [SEP] $B [SEP]"),
        "roberta template": ("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]"),
    }
    if processor == "bert":
        made: Any = processors.BertProcessing(sep, cls)
    elif processor == "roberta":
        made = processors.RobertaProcessing(sep, cls, trim_offsets=trims, add_prefix_space=trims)
    elif processor == "byte-level":
        made = level
    else:
        single, pair = templates[processor.removeprefix("byte-level, ")]
        made = processors.TemplateProcessing(single=single, pair=pair, special_tokens=[cls, sep])
        if processor.startswith("byte-level, "):
            made = processors.Sequence([level, made])
    peer.post_processor = made
    return peer


# name -> the tokenizer and what stands around its text
FRAMED: dict[str, tuple[Any, str, bool]] = {
    "bert-uncased": (lambda: made("WordPiece", bert(True), BERT_CUTS), "bert", True),
    "bert-cased": (lambda: made("WordPiece", bert(False), BERT_CUTS), "bert template", True),
    "t5": (lambda: unigram("t5", "metaspace", False), "t5", True),
    "t5 with bytes": (lambda: unigram("t5", "metaspace", True), "t5", True),
    "albert": (lambda: unigram("albert", "words", False), "bert template", True),
    "roberta": (lambda: byte_level(False, True, "none"), "roberta", True),
    "roberta untrimmed": (lambda: byte_level(True, True, "none"), "roberta", False),
    "gpt2": (lambda: byte_level(False, True, "none"), "byte-level", True),
    "byte-level with template": (lambda: byte_level(False, True, "none"), "roberta template", True),
    "byte-level, nfc, both": (lambda: byte_level(True, True, "nfc"), "byte-level, bert template", True),
}
