"""WordLevel: the engine, the specification and tokenizers agree; and its trainer.

Every day a sample; with `SYLLABARY_PROVE` 10,000 strings for each tokenizer and 1 MB of each corpus. Leaves
out: what a specification with this model may not be (`test_models`).
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from huggingface_trainers import documents
from test_wordpiece import check, told
from tokenizers import Tokenizer as Peer
from tokenizers import models, pre_tokenizers, trainers
from words_peers import SPECIAL, bert, made, sequence, training_text

import syllabary
from syllabary.reference import train_wordlevel
from syllabary.reference.train_huggingface import Cutting, read_words
from syllabary.splits import get

pytestmark = pytest.mark.timeout(7200)


@pytest.mark.parametrize(
    "normalizer, cuts",
    [
        (None, {"type": "Whitespace"}),
        (None, {"type": "WhitespaceSplit"}),
        (bert(True), {"type": "BertPreTokenizer"}),
        ({"type": "NFC"}, {"type": "Whitespace"}),
        (None, sequence("pretokenizers", "Whitespace", "Digits")),
        (None, {"type": "UnicodeScripts"}),
    ],
    ids=str,
)
def test_encoding(normalizer: Any, cuts: Any, tmp_path: Path) -> None:
    check(made("WordLevel", normalizer, cuts), tmp_path, f"WordLevel, {told(normalizer)}, {told(cuts)}")


def theirs(texts: Any, **options: Any) -> str:
    """The file that their trainer makes."""
    peer = Peer(models.WordLevel(unk_token="<unk>"))
    peer.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    peer.train_from_iterator(texts, trainers.WordLevelTrainer(show_progress=False, **options))
    return str(peer.to_str(pretty=True))


def saved(tok: syllabary.Tokenizer, folder: Path) -> str:
    tok.save(folder / "tokenizer.json")
    return (folder / "tokenizer.json").read_text("utf-8")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"vocab_size": 300, "special_tokens": ["<unk>"]},
        {"vocab_size": 50, "min_frequency": 4, "special_tokens": ["<unk>", "the", "a"]},
        {"vocab_size": 0},
        {"vocab_size": 2, "special_tokens": SPECIAL[:2]},
    ],
    ids=str,
)
def test_trained_as_theirs_byte_for_byte(options: dict[str, Any], tmp_path: Path) -> None:
    texts = training_text()[:400]
    tok = syllabary.train(texts, model="wordlevel", like="huggingface", options=options)
    assert saved(tok, tmp_path) == theirs(texts, **options)
    tok = syllabary.train(texts, model="wordlevel", like="huggingface", options=options, threads=3)
    assert saved(tok, tmp_path) == theirs(texts, **options)


def test_trained_as_the_specification_says() -> None:
    for seed in range(40):
        source = Random(seed)
        texts, size, least = documents(source), source.randint(2, 60), source.randint(0, 3)
        options = {"vocab_size": size, "min_frequency": least}
        try:
            tok = syllabary.train(texts, model="wordlevel", options=options)
        except syllabary.CorpusError:
            continue
        words = read_words(texts, Cutting(split=get("whitespace")))
        expected = train_wordlevel.vocabulary(
            words.items(), vocab_size=size, min_frequency=least, special_tokens=["[UNK]"]
        )
        assert {token.decode(): token_id for token_id, token in tok.vocab.items()} == expected


def test_our_own_defaults() -> None:
    tok = syllabary.train(["a a b b b c"], model="wordlevel")
    assert tok.vocab == {0: b"[UNK]", 1: b"b", 2: b"a"}
    assert tok.encode("a c b") == [2, 0, 1]
    assert tok.decode([2, 1]) == "a b"
    assert tok.spec.record["model"] == "wordlevel"
    assert "[UNK]" in tok.special_tokens


@pytest.mark.parametrize(
    "more, message",
    [
        (
            {"options": {"limit_alphabet": 3}},
            "options: 'limit_alphabet' is none of vocab_size, min_frequency",
        ),
        ({"like": "minbpe"}, "like='minbpe' trains no model='wordlevel'"),
        ({"options": {"vocab_size": 0}}, "vocab_size is 0, but there is 1 special token$"),
        ({"num_merges": 3}, "num_merges does not go with model='wordlevel'"),
        ({"superwords": 30}, "superwords does not go with model='wordlevel'"),
        ({"unit": "id"}, "unit does not go with model='wordlevel'"),
        ({"model": "wordpieces"}, "model='wordpieces' is none of bpe, wordpiece, wordlevel"),
    ],
)
def test_what_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(syllabary.TrainingError, match=message):
        syllabary.train(["a b"], **{"model": "wordlevel", **more})


def test_a_file_without_type_is_known_by_its_members(tmp_path: Path) -> None:
    peer = json.loads(theirs(["a b a"], special_tokens=["<unk>"]))
    del peer["model"]["type"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(peer))
    assert syllabary.load(tmp_path).encode("b a c") == Peer.from_str(json.dumps(peer)).encode("b a c").ids
