"""Full encodings as tokenizers gives them: small tokenizers, drawn framings, and a comparison of every field.

Leaves out: the tests (`test_full*.py`).
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from typing import Any

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

FIELDS = ("ids tokens offsets type_ids attention_mask special_tokens_mask word_ids sequence_ids").split()
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "<mask>"]
WORDS = (
    "a|the| |  |   x|é|e\u0301t\u00e9|日本|😀|[SEP]|hello|\n\n|0123|'s|\u00a0|don't| b|<mask>|Ünder| THE|ﬁ|\t"
    "|xyz|."
).split("|")
KINDS = ("byte", "byte-prefix", "bert", "metaspace", "metaspace-split", "byte-nfc", "wordpiece", "unigram")


def drawn_text(draw: random.Random, most: int = 12) -> str:
    """Words, spaces, accents, marks, special tokens."""
    return "".join(draw.choice(WORDS) + draw.choice(["", " "]) for _ in range(draw.randrange(most)))


@lru_cache
def tokenizer_json(kind: str) -> str:
    """A small tokenizer of a kind, as its file; without framing."""
    made = Tokenizer(_model(kind))
    alphabet: list[str] = []
    if kind.startswith("byte"):
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=kind == "byte-prefix")
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        if kind == "byte-nfc":
            made.normalizer = normalizers.NFC()
    elif kind in ("bert", "wordpiece"):
        made.normalizer = normalizers.BertNormalizer()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(split=kind == "metaspace-split")
        made.decoder = decoders.Metaspace()
    trainer = _trainer(kind, {"special_tokens": SPECIAL[:4], "initial_alphabet": alphabet})
    draw = random.Random(kind)
    texts = [drawn_text(draw, 40) for _ in range(60)]
    for left_out in ("😀", "[SEP]", "<mask>"):
        texts = [text.replace(left_out, "") for text in texts]
    made.train_from_iterator(texts, trainer)
    made.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, special=True)])
    return made.to_str()


def _model(kind: str) -> Any:
    if kind == "wordpiece":
        return models.WordPiece(unk_token="[UNK]")
    if kind == "unigram":
        return models.Unigram()
    return models.BPE(unk_token=None if kind.startswith("byte") else "[UNK]")


def _trainer(kind: str, options: dict[str, Any]) -> Any:
    options |= {"vocab_size": 420, "show_progress": False}
    if kind == "wordpiece":
        return trainers.WordPieceTrainer(**options)
    if kind == "unigram":
        return trainers.UnigramTrainer(**options | {"vocab_size": 150}, unk_token="[UNK]")
    return trainers.BpeTrainer(**options)


def drawn_processor(draw: random.Random) -> Any:
    """A post-processor of theirs, or None."""
    sep, cls = ("[SEP]", 2), ("[CLS]", 1)

    def flags() -> dict[str, bool]:
        return {"trim_offsets": draw.random() < 0.6, "add_prefix_space": draw.random() < 0.5}

    def template() -> Any:
        single = draw.choice(["$A", "[CLS] $A:3 [SEP]:2", "$A [CLS] [CLS]", "$A $A"])
        pair = draw.choice(["$A $B", "[CLS] $A [SEP] $B:1 [SEP]:1", "$B:3 [CLS] $A:2", "[CLS] $A $B $A"])
        return processors.TemplateProcessing(single=single, pair=pair, special_tokens=[sep, cls])

    kind = draw.randrange(9)
    if kind == 0:
        return None
    if kind == 1:
        return processors.BertProcessing(sep, cls)
    if kind == 2:
        return processors.RobertaProcessing(sep, cls, **flags())
    if kind == 3:
        return processors.ByteLevel(**flags())
    if kind < 6:
        return template()
    level = processors.ByteLevel(**flags())
    if kind == 6:
        return processors.Sequence([level, template()])
    if kind == 7:
        return processors.Sequence([template(), level])
    return processors.Sequence([processors.BertProcessing(sep, cls), level])


def drawn_peer(kind: str, draw: random.Random) -> Tokenizer:
    """A tokenizer of theirs with a drawn framing."""
    while True:
        made = Tokenizer.from_str(tokenizer_json(kind))
        if (processor := drawn_processor(draw)) is not None:
            made.post_processor = processor
        try:
            if draw.random() < 0.7:
                made.enable_truncation(
                    draw.randrange(4, 12),
                    stride=draw.choice([0, 0, 1, 2]),
                    strategy=draw.choice(["longest_first", "longest_first", "only_first", "only_second"]),
                    direction=draw.choice(["left", "right"]),
                )
        except ValueError:
            continue  # a stride that is too large
        if draw.random() < 0.6:
            made.enable_padding(
                direction=draw.choice(["left", "right"]),
                pad_id=3,
                pad_type_id=draw.choice([0, 7]),
                pad_token="[PAD]",
                length=draw.choice([None, None, 9, 20]),
                pad_to_multiple_of=draw.choice([None, 4]),
            )
        return made


def drawn_inputs(draw: random.Random, pretokenized: bool) -> list[tuple[Any, Any]]:
    """Some texts, each with a pair or None."""

    def one() -> Any:
        if pretokenized:
            return [drawn_text(draw, 4) for _ in range(draw.randrange(4))]
        return drawn_text(draw)

    return [(one(), one() if draw.random() < 0.5 else None) for _ in range(draw.randrange(1, 4))]


def theirs(peer: Tokenizer, inputs: list[tuple[Any, Any]], pretokenized: bool, add: bool) -> Any:
    """Their encodings; None where they fail or panic."""
    given = [text if pair is None else (text, pair) for text, pair in inputs]
    try:
        return peer.encode_batch(given, is_pretokenized=pretokenized, add_special_tokens=add)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def difference(ours: Any, peer: Any, where: str = "") -> str | None:
    """The first field in which two encodings differ, those that overflow too."""
    for name in FIELDS:
        if getattr(ours, name) != getattr(peer, name):
            return f"{where}{name}: {getattr(ours, name)} is not {getattr(peer, name)}"
    if len(ours.overflowing) != len(peer.overflowing):
        return f"{where}overflowing: {len(ours.overflowing)} is not {len(peer.overflowing)}"
    pairs = enumerate(zip(ours.overflowing, peer.overflowing, strict=True))
    found = (difference(one, other, f"{where}overflowing[{at}].") for at, (one, other) in pairs)
    return next((text for text in found if text), None)


def spec_json(peer: Tokenizer) -> dict[str, Any]:
    """The file of a tokenizer of theirs."""
    return json.loads(peer.to_str())
