"""`tokenizer.json` read by the engine equals the same file read by Python, and so do the errors.

Adds drawn damage to trained files of every model with a vocabulary of names. Leaves out: what such files mean
(`test_formats_hf*`, beside their library).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from both_ways import Both, Never, both_ways, written
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import syllabary
from syllabary.formats import hf_listed
from syllabary.formats.hf_read import read
from syllabary.reference.tokens import ReadTokens

Document = dict[str, Any]
TEXTS = ["low lower lowest newest é日本 日本語 the a theta"] * 3
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MODELS = ["bytes", "words", "characters", "fallback", "suffix", "prefix", "wordpiece", "wordlevel", "unigram"]
IDS = [0, 5, 70, 2**32 - 2, 2**32 - 1, -1, 1.0, True, None, "7", 10**30]
SCORED: list[Any] = [
    ["q", 1], ["", 0.5], ["q", -0.0], ["q", 1e39], ["q", float("nan")], ["q", -1e-7], ["q", 0.1, 2], ["q"],
    [], "q", ["q", None], [7, 0.5], ["\ud800", 0.5], ["<0x41>", -3.1415926535897931234],
    ["q", -12345678901234.567],
]  # fmt: skip
ROWS: list[Any] = [
    ["a", "b"],
    "a b",
    "#version: 0.2",
    ["a"],
    "a b c",
    "a",
    7,
    None,
    [1, "a"],
    ["", "a"],
    "a  b",
]
NAMES = [
    "",
    "a",
    "é",
    "Ġ",
    "Ġlow",
    "<0x41>",
    "日",
    "\ud800",
    "x y",
    " ",
    "a b",
    "##",
    "low</w>",
    "Ā",
    "<|e|>",
]


def trained(kind: str) -> Document:
    """The file of their library, small."""
    special = ["<unk>", "<|e|>"]
    options: dict[str, Any] = {"vocab_size": 90, "special_tokens": special, "show_progress": False}
    if kind in ("wordpiece", "wordlevel", "unigram"):
        model, trainer = {
            "wordpiece": (models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer),
            "wordlevel": (models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer),
            "unigram": (models.Unigram(), trainers.UnigramTrainer),
        }[kind]
        tokenizer = Tokenizer(model)
    else:
        marks = {"suffix": {"end_of_word_suffix": "</w>"}, "prefix": {"continuing_subword_prefix": "##"}}
        more = marks.get(kind, {})
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=kind == "fallback", **more))
        options |= more
        trainer = trainers.BpeTrainer
    if kind == "bytes":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        options |= {"vocab_size": 300, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    elif kind == "unigram":
        options |= {"unk_token": "<unk>", "special_tokens": [*special, *BYTES]}
    elif kind != "characters":
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind == "fallback":
        options |= {"vocab_size": 340, "special_tokens": [*special, *BYTES]}
    tokenizer.train_from_iterator(TEXTS, trainer(**options))
    return json.loads(tokenizer.to_str())


@pytest.fixture(scope="module", params=MODELS)
def document(request: pytest.FixtureRequest) -> Document:
    return trained(request.param)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Both:
    """Specification or error of a file, by the engine and by Python."""
    without = {"Listed": Never, "read_scored": Never.read}
    return both_ways(monkeypatch, tmp_path / "tokenizer.json", read, hf_listed, **without)


def test_a_file_as_it_ought_to_be(document: Document, both: Both) -> None:
    model = document["model"]
    escaped = json.dumps(document).encode()
    for data in (escaped, json.dumps(document, ensure_ascii=False, indent=1).encode()):
        listed = hf_listed.Listed.read(data)
        if model["type"] == "Unigram":
            names, scores, _rest = hf_listed.read_scored(data) or ([], [], "")
            assert [[*row] for row in zip(names, scores, strict=True)] == model["vocab"]
            continue
        if model["type"] == "BPE" and model["continuing_subword_prefix"]:
            assert listed is None  # what names that go on in a word make, Python says
            continue
        assert listed is not None
        assert list(listed.vocab.items()) == list(model["vocab"].items())
        assert len(listed.merges) == len(model.get("merges", []))
    by_engine, by_python = both(escaped)
    assert by_engine == by_python
    assert [*by_engine.alphabet.items()] == [*by_python.alphabet.items()]
    assert isinstance(by_engine.tokens, ReadTokens) == (listed is not None)
    texts = [*TEXTS[:1], "lowest", "日", "<|e|>low", "A\0é", ""]
    made = [syllabary.Tokenizer._read(spec) for spec in (by_engine, by_python)]
    ids = [[tok.encode(text, special="allow") for text in texts] for tok in made]
    theirs = [found.ids for found in Tokenizer.from_str(escaped.decode()).encode_batch(texts)]
    assert ids == [theirs, theirs]
    assert made[0].decode_batch(ids[0]) == made[1].decode_batch(ids[1])


def _change(document: Document, draw: Random) -> None:
    """One thing that a file may have by mistake, or may have and seldom has."""
    model = document["model"]
    if isinstance(model["vocab"], list):
        row = draw.choice([*SCORED, *model["vocab"]])
        model["vocab"].insert(draw.randrange(len(model["vocab"]) + 1), row)
        return
    vocab, merges = model["vocab"], model.get("merges") or []
    names = list(vocab)

    def shuffle() -> None:
        model["vocab"] = dict(draw.sample(list(vocab.items()), len(vocab)))

    def add() -> None:
        token = {"id": draw.choice([0, 3, len(vocab)]), "content": draw.choice([*NAMES, *names])}
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        document["added_tokens"].append({**token, **flags, "special": draw.random() < 0.5})

    changes: list[Callable[[], object]] = [
        lambda: vocab.__setitem__(draw.choice(NAMES), draw.choice([*IDS, len(vocab)])),
        lambda: vocab.pop(draw.choice(names)),
        lambda: vocab.__setitem__(draw.choice(names), vocab[draw.choice(names)]),
        shuffle,
        lambda: merges.insert(draw.randrange(len(merges) + 1), draw.choice(ROWS + merges[:5])),
        lambda: merges and merges.pop(draw.randrange(len(merges))),
        lambda: model.update(
            merges=[" ".join(map(str, row)) if isinstance(row, list) else row for row in merges]
        ),
        add,
        lambda: model.update(continuing_subword_prefix=draw.choice([None, "", "##", 7])),
        lambda: model.update(byte_fallback=draw.choice([True, False])),
        lambda: model.update(unk_token=draw.choice(NAMES)),
        lambda: model.update(type=draw.choice(["BPE", "WordLevel", "WordPiece", None])),
        lambda: document.update(normalizer={"type": "NFC"}),
    ]
    draw.choice(changes)()


def test_damage_is_told_alike(document: Document, both: Both, prove: bool) -> None:
    draw = Random(7)
    read_by_engine = 0
    rounds = 400 if prove else 160
    for round_ in range(rounds):
        changed = json.loads(json.dumps(document))
        for _ in range(round_ % 3):
            _change(changed, draw)
        data = written(changed, round_, draw)
        readers = (hf_listed.Listed.read, hf_listed.read_scored)
        read_by_engine += any(read(data) is not None for read in readers)
        by_engine, by_python = both(data)
        assert by_engine == by_python
    assert 0.1 * rounds < read_by_engine < 0.9 * rounds or document["model"].get("continuing_subword_prefix")


def test_a_published_file(shared: Path, both: Both) -> None:
    by_engine, by_python = both((shared / "vocabs" / "gpt2_tokenizer.json").read_bytes())
    assert isinstance(by_engine.tokens, ReadTokens)
    assert by_engine == by_python
    assert by_engine.tokens.merges is by_engine.merges
