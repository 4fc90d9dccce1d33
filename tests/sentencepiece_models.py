"""sentencepiece models to test with: trained here over its options, and the edits that no training makes.

Adds `train`, `variants` (options of every kind, mixed), `edited` (unused pieces, shuffled scores, characters
that are no piece, self-tests, fields that nobody knows) and what sentencepiece does with a text. Leaves out:
published models (`published_models`), other types than BPE.
"""

from __future__ import annotations

import importlib.util
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import sentencepiece

from syllabary.formats.sentencepiece_proto import (
    CONTROL,
    FLOAT,
    NORMAL,
    NORMALIZER,
    SELF_TEST,
    UNUSED,
    USER_DEFINED,
    Model,
    canonical,
    parse,
)
from syllabary.reference.wire import record

WORDS = (
    "the cat sat on the mat and the hat of arma virumque cano Troiae qui primus ab oris 12 345 2024 1999 "
    "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος naïve café cafe\u0301 ﬁnal ﬁsh ① ½ Ｈｅｌｌｏ ﷺ 漢字 漢 かな カナ "
    "東京 שלום مرحبا हिन्दी 👨‍👩‍👧 😀 HTTPServer camelCase don't can't aaa aaaa abab xyzzy ababab lower"
).split()
SYMBOLS = ["<sep>", "aa", "né", "ﬁ", "12", "▁X", "a b", "<sep><sep>", "漢", "Ｈ", "<s>x"]
RULES = "41\t61 61\n66 66\tFB00\n2E\t\n20 20\t20\n78\t20 79 20\nFB01\t66 69\n3042\t61 20 20 62\n"
BACK = "61 20\t41 20\n68\t48\n"
CHOICES: dict[str, list[Any]] = {
    "byte_fallback": [True, False],
    "user_defined_symbols": [[], SYMBOLS],
    "control_symbols": [[], ["<c1>", "<mask>", "cat"]],
    "add_dummy_prefix": [True, False],
    "remove_extra_whitespaces": [True, False],
    "normalization_rule_name": ["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", None],
    "treat_whitespace_as_suffix": [False, False, True],
    "split_digits": [False, True],
    "split_by_whitespace": [True, True, False],
    "split_by_unicode_script": [True, False],
    "split_by_number": [True, False],
    "allow_whitespace_only_pieces": [False, True],
    "denormalization_rule_tsv": [None, None, BACK],
    "unk_surface": [None, "", "<?>", " ▁ "],
    "character_coverage": [1.0, 0.98],
    "pad_id": [-1, 3],
    "bos_id": [1, -1],
    "vocab_size": [400, 460, 900],
}


def corpus(seed: int = 1, count: int = 150) -> list[str]:
    """Lines of words, some with odd whitespace."""
    source = random.Random(seed)
    spaces = [" "] * 12 + ["  ", "\u3000", "\t"]
    return [
        "".join(source.choice(WORDS) + source.choice(spaces) for _ in range(source.randint(3, 12)))
        for _ in range(count)
    ]


def train(folder: Path, **options: Any) -> bytes:
    """The `.model` that sentencepiece trains on `corpus()`; `None` leaves an option to its default."""
    given = {key: value for key, value in options.items() if value is not None}
    if options.get("normalization_rule_name", "") is None:
        (folder / "rules.tsv").write_text(RULES, encoding="utf-8")
        given["normalization_rule_tsv"] = str(folder / "rules.tsv")
    if options.get("denormalization_rule_tsv"):
        (folder / "back.tsv").write_text(BACK, encoding="utf-8")
        given["denormalization_rule_tsv"] = str(folder / "back.tsv")
    return train_on(corpus(), **given)


def train_on(lines: list[str], **given: Any) -> bytes:
    """The `.model` that sentencepiece trains on these lines."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=out,
        **{"model_type": "bpe", "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 3, **given},
    )
    return out.getvalue()


def variants(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Options, each a choice at random: all values of all options within a few dozen."""
    source = random.Random(seed)
    for _ in range(count):
        yield {key: source.choice(values) for key, values in CHOICES.items()}


# ---- edits ----


def model_of(data: bytes) -> Model:
    """The pieces of a model, to be changed; `write` gives the file."""
    return parse(data, Path("t.model"))


def unused(model: Model, source: random.Random) -> None:
    """Every fourth plain piece is unused."""
    for token_id, kind in enumerate(model.types):
        if kind == NORMAL and source.random() < 0.25:
            model.types[token_id] = UNUSED


def shuffled(model: Model, source: random.Random) -> None:
    """Scores in another order, many of them equal, of either sign and zero of either."""
    for token_id, kind in enumerate(model.types):
        if kind == NORMAL:
            model.scores[token_id] = source.choice([0.0, -0.0, 1.0, -1.0, -2.5, float(source.randint(-9, 9))])


def without_characters(model: Model, source: random.Random) -> None:
    """Some characters are no pieces, though pieces hold them: their ids become other pieces."""
    for token_id, (text, kind) in enumerate(zip(model.texts, model.types, strict=True)):
        if kind == NORMAL and len(text) == 1 and source.random() < 0.3:
            model.texts[token_id] = f"no-piece-{token_id}"


def user_defined(model: Model, source: random.Random) -> None:
    """Some plain pieces are user-defined."""
    for token_id, kind in enumerate(model.types):
        if kind == NORMAL and source.random() < 0.1:
            model.types[token_id] = USER_DEFINED


def controls(model: Model, source: random.Random) -> None:
    """Some plain pieces are control pieces, and have a score."""
    for token_id, kind in enumerate(model.types):
        if kind == NORMAL and source.random() < 0.1:
            model.types[token_id] = CONTROL


def unescaped(model: Model, source: random.Random) -> None:
    """Spaces stay spaces."""
    model.set_options(NORMALIZER, {5: 0})


EDITS: dict[str, Callable[[Model, random.Random], None]] = {
    "unused": unused,
    "shuffled": shuffled,
    "without characters": without_characters,
    "user-defined": user_defined,
    "controls": controls,
    "unescaped": unescaped,
}


def edited(data: bytes, *names: str, seed: int = 0) -> bytes:
    """A model with some of `EDITS`."""
    model, source = model_of(data), random.Random(seed)
    for name in names:
        EDITS[name](model, source)
    return model.write()


def self_test(samples: list[tuple[str, str]]) -> bytes:
    """The record of a model's self-test: texts and their pieces with a space between."""
    parts = [record(1, record(1, text.encode()) + record(2, pieces.encode())) for text, pieces in samples]
    return record(SELF_TEST, b"".join(parts))


def odd_records(data: bytes) -> bytes:
    """The same model, written as sentencepiece would not: types said twice, fields that nobody knows."""
    model = model_of(data)
    pieces = [canonical(*piece, False) for piece in zip(model.texts, model.scores, model.types, strict=True)]
    middle = len(pieces) // 2
    text = record(1, b"x") + record(200, 7) + record(1, model.texts[middle].encode())
    score = b"\x15" + FLOAT.pack(model.scores[middle])
    pieces[middle] = record(1, text + score + record(3, UNUSED) + record(3, model.types[middle]))
    others = [item for item in model.layout if isinstance(item, bytes)]
    return b"".join(
        [
            record(300, b"first"),
            *pieces[:middle],
            record(201, 2**63),
            *pieces[middle:],
            *others,
            record(999, b""),
        ]
    )


# ---- the peer ----


@dataclass(frozen=True)
class Peer:
    """sentencepiece itself."""

    processor: sentencepiece.SentencePieceProcessor

    def encode(self, text: str) -> tuple[list[int], list[str], list[tuple[int, int]]]:
        """Ids, pieces and offsets in characters."""
        found = self.processor.encode(text, return_type="offset_mapping")
        return found["ids"], found["pieces"], found["offsets"]

    def decode(self, ids: list[int]) -> str:
        """The text of ids."""
        return self.processor.decode(ids)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def peer(data: bytes) -> Peer:
    """sentencepiece with a model; `RuntimeError` for one that it does not take."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(data)
    return Peer(processor)


# ---- published models ----


def published_models(shared: Path) -> dict[str, Path]:
    """mistral_v1 of the shared folder and, where mistral-common is installed, the models in its data."""
    found = {"mistral_v1": shared / "vocabs" / "mistral_v1.model"}
    package = importlib.util.find_spec("mistral_common")
    for folder in (
        package.submodule_search_locations if package and package.submodule_search_locations else ()
    ):
        files = (Path(folder) / "data").glob("mistral_instruct_tokenizer_*.model.*")
        found |= {file.name: file for file in sorted(files)}
    return found
