"""Unigram models to test with: trained here by sentencepiece and by tokenizers, over their options.

Adds `sentencepiece_model`, `huggingface_file`, the choices that they are drawn from, and `nearly_as_good`.
Leaves out: other models by hand (in the tests), the texts (`hard_text`, `sentencepiece_models.corpus`).
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from sentencepiece_models import CHOICES, corpus, model_of, train
from tokenizers import Tokenizer as Peer
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from syllabary.formats.sentencepiece_proto import CHARSMAP, NORMALIZER, parse

QUOTES = [("``", '"'), ("''", '"')]
NORMALIZERS: dict[str, Callable[[], Any] | None] = {
    "none": None,
    "t5": lambda: normalizers.Precompiled(charsmap()),
    "albert": lambda: normalizers.Sequence(
        [
            *(normalizers.Replace(old, new) for old, new in QUOTES),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Precompiled(charsmap()),
        ]
    ),
    "xlnet": lambda: normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")]),
}
PRETOKENIZERS: dict[str, Callable[[], Any] | None] = {
    "none": None,
    "metaspace": lambda: pre_tokenizers.Metaspace(),
    "first": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
    "never": lambda: pre_tokenizers.Metaspace(prepend_scheme="never"),
    "whole": lambda: pre_tokenizers.Metaspace(split=False),
    "words": lambda: pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    "bare": lambda: pre_tokenizers.WhitespaceSplit(),
}
PIPELINES = list(itertools.product(NORMALIZERS, PRETOKENIZERS, (0, 200, 256)))


def sentencepiece_model(folder: Path, number: int) -> bytes:
    """The `.model` of type Unigram that sentencepiece trains with options drawn by number."""
    source = random.Random(number)
    options = {name: source.choice(choices) for name, choices in CHOICES.items()}
    return train(folder, **options, model_type="unigram", hard_vocab_limit=False)


def nearly_as_good(folder: Path, others: str, source: random.Random) -> bytes:
    """A model of sentencepiece with many ways of nearly the same score, whichever wins behind some text.

    others: characters that are no tokens; all but Ω stand in longer ones. With several of them, half of the
    tokens begin words.
    """
    letters = ("abcde" + others).rstrip("Ω")
    names = {"".join(source.choices(letters, k=source.randint(2, 4))) for _ in range(80)} | set("abcde")
    model = model_of(sentencepiece_model(folder, 1))
    model.texts, model.types, model.scores, model.starts = ["<unk>"], [2], [0.0], [0]
    begin_words = [f"▁{name}" for name in sorted(names)[::2]] if len(others) > 3 else []
    for name in ["▁", *begin_words, *sorted(names)]:
        model.texts.append(name)
        model.types.append(1)
        model.scores.append(-float(len(name)) - source.choice([0.0, 1e-3, 1e-5, 1e-7, 2e-7]))
    model.layout, model.odd = [], {}
    return model.write()


@lru_cache
def charsmap() -> bytes:
    """sentencepiece's rules of `nmt_nfkc`."""
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus(count=60)),
        model_writer=model,
        vocab_size=300,
        hard_vocab_limit=False,
        minloglevel=3,
    )
    return parse(model.getvalue(), Path("rules.model")).options(NORMALIZER).data(CHARSMAP)


def huggingface_file(normalizer: str, pretokenizer: str, byte_tokens: int, number: int) -> str:
    """The `tokenizer.json` that tokenizers trains with a pipeline, and with so many of the bytes."""
    peer = Peer(models.Unigram())
    if (make := NORMALIZERS[normalizer]) is not None:
        peer.normalizer = make()
    if (make := PRETOKENIZERS[pretokenizer]) is not None:
        peer.pre_tokenizer = make()
    peer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    peer.train_from_iterator(corpus(number, 100), trainer)
    file = json.loads(peer.to_str())
    if byte_tokens:
        file["model"]["byte_fallback"] = True
        score = -8.0 if number % 2 else 0.0
        file["model"]["vocab"] += [[f"<0x{byte:02X}>", score] for byte in range(byte_tokens)]
    if number % 3 == 0:
        mask = {"id": len(file["model"]["vocab"]), "content": "<mask>", "special": True, "lstrip": True}
        mask |= dict.fromkeys(("single_word", "rstrip", "normalized"), False)
        file["added_tokens"].append(mask)
    return json.dumps(file)
