"""Unigram training as Hugging Face's trainer does it: engine, specification and library learn the same.

Their trainer takes words in the order of a hash table, anew in each process: what it learns is the same but
for rounding, and for characters that were dropped, which then have scores in that order. `alike` leaves both
out. Leaves out: sentencepiece's trainer and ours (`test_train_unigram`), the classes of the library's name
(`test_compat_tokenizers_training`).
"""

from __future__ import annotations

import json
import lzma
import math
import random
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_train_unigram import drawn
from tokenizers import Tokenizer as Peer
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers
from words_peers import CORPORA, PROVE

import syllabary
from syllabary import PieceCounts
from syllabary.cli import main
from syllabary.errors import CorpusError, EarlyStopWarning, TrainingError, VocabularyError
from syllabary.reference import train_unigram_huggingface as reference
from syllabary.reference.train_unigram_huggingface import UnigramTrainerOptions

DRAWN = 300 if PROVE else 24
CUT = {"pre_tokenizer": "WhitespaceSplit"}
Vocab = list[tuple[str, float]]


def theirs(texts: Sequence[str], **options: Any) -> Any:
    """A peer, trained."""
    peer = Peer(models.Unigram())
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    peer.train_from_iterator(texts, trainers.UnigramTrainer(show_progress=False, **options))
    return peer


def vocab_of(peer: Any) -> tuple[Vocab, int | None]:
    """Its tokens with their scores, and the id of the unknown one."""
    model = json.loads(peer.to_str())["model"]
    return [(text, score) for text, score in model["vocab"]], model["unk_id"]


def ours(texts: Any, threads: int | None = None, **options: Any) -> syllabary.Tokenizer:
    """Our tokenizer; that there are fewer pieces than asked for goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        told = {**CUT, **options}
        return syllabary.train(texts, model="unigram", like="huggingface", threads=threads, options=told)


def file_of(tok: syllabary.Tokenizer, folder: Path) -> Any:
    tok.save(folder / "tokenizer.json")
    return json.loads((folder / "tokenizer.json").read_text("utf-8"))


def alike(left: Vocab, right: Vocab) -> None:
    """The same tokens with the same scores, but for characters that were dropped on the way."""
    assert {text for text, _score in left} == {text for text, _score in right}
    known = dict(right)
    other = {text for text, score in left if not math.isclose(score, known[text], rel_tol=1e-9)}
    assert all(len(text) == 1 for text in other)
    if other:
        worst, most = min(score for _text, score in left), len(left) * 1e-4
        assert all(worst <= score <= worst + most for text, score in left if text in other)
    for vocab in (left, right):
        scores = [score for _text, score in vocab if score != 0.0]
        assert scores == sorted(scores, reverse=True)
    special = [[text for text, score in vocab if score == 0.0] for vocab in (left, right)]
    assert special[0] == special[1] == [text for text, _score in left[: len(special[0])]]


def options_drawn(source: random.Random, characters: int) -> dict[str, Any]:
    """Some options of the trainer that go with so many characters."""
    told: dict[str, Any] = {
        "vocab_size": source.choice([characters, characters + 5, characters + 40, 2 * characters, 400]),
        "shrinking_factor": source.choice([0.75, 0.5, 0.9]),
        "n_sub_iterations": source.choice([1, 2, 3]),
        "max_piece_length": source.choice([1, 3, 16]),
    }
    if source.random() < 0.5:
        told["unk_token"] = "<unk>"
    if source.random() < 0.5:
        told["special_tokens"] = ["<s>", "<unk>"]
    if source.random() < 0.3:
        told["initial_alphabet"] = ["zeta", "a", "ψ"]
        told["vocab_size"] += 2
    if source.random() < 0.3:
        told["seed_size"] = source.choice([1, 30, 60])
    return told


@pytest.mark.parametrize("seed", range(DRAWN))
def test_engine_specification_and_library_learn_the_same(seed: int) -> None:
    source = random.Random(seed)
    lines = drawn(seed, source.choice([5, 30, 120]))
    told = options_drawn(source, len(set("".join(lines))))
    words = Counter(word for line in lines for word in line.split())
    expected = reference.train(
        words, UnigramTrainerOptions(**{k: tuple(v) if isinstance(v, list) else v for k, v in told.items()})
    )
    alike(vocab_of(theirs(lines, **told))[0], expected.vocab)
    assert vocab_of(theirs(lines, **told))[1] == expected.unknown
    spec = ours(lines, **told).spec
    assert spec.unknown == expected.unknown
    assert spec.scores == dict(enumerate(score for _text, score in expected.vocab))
    assert all(spec.tokens.get(i, t.encode()) == t.encode() for i, (t, _score) in enumerate(expected.vocab))


NONE_TWICE = (261,)  # of these draws no special token is learned once more


@pytest.mark.parametrize("seed", range(DRAWN))
def test_special_tokens_that_stand_in_the_text_have_two_ids(seed: int, tmp_path: Path) -> None:
    """In the file, and in what is encoded with it; our specification and the engine too."""
    source = random.Random(seed)
    lines = [f"{line} <s>{line[:3]} <unk>"[source.randint(0, 2) :] for line in drawn(seed, 60)]
    characters = len(set("".join(lines)))
    told: dict[str, Any] = {"vocab_size": characters + source.choice([4, 9, 60, 300])}
    often = Counter(character for line in lines for character in line if character != " ").most_common(3)
    told["special_tokens"] = source.sample(["<s>", "<unk>", "s>", *(one for one, _count in often)], 3)
    if source.random() < 0.7:
        told["unk_token"] = source.choice(["<unk>", told["special_tokens"][1], often[0][0]])
    peer = theirs(lines, **told)
    vocab, unknown = vocab_of(peer)
    names = Counter(name for name, _score in vocab)
    assert max(names.values()) == (1 if seed in NONE_TWICE else 2)
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    words = Counter(word for line in lines for word in line.split())
    expected = reference.train(words, UnigramTrainerOptions(**options))
    tok = ours(lines, **told)
    file = file_of(tok, tmp_path)
    assert file["model"]["vocab"] == [[name, score] for name, score in expected.vocab]
    assert (file["model"]["unk_id"], expected.unknown) == (unknown, unknown)
    assert Counter(name for name, _score in file["model"]["vocab"]) == names
    first = len([score for _name, score in vocab if score == 0.0])
    assert [name for name, _score in vocab[:first]] == [name for name, _score in expected.vocab[:first]]
    alike(vocab[first:], expected.vocab[first:])
    there = {one["content"] for one in json.loads(peer.to_str())["added_tokens"]}
    added = [(one["id"], one["content"]) for one in file["added_tokens"]]
    assert (sorted(added), {text for _id, text in added}) == (added, there)
    last = {name: number for number, (name, _score) in enumerate(expected.vocab)}
    assert all(last[text] == number for number, text in added)
    mine = Peer.from_str(json.dumps(file))
    for line in [*lines[:9], "<s>a<unk>b", "\u6f22<s>", ""]:
        assert tok.encode(line, special="allow") == mine.encode(line, add_special_tokens=False).ids


def test_threads_change_nothing(tmp_path: Path) -> None:
    lines = drawn(3, 400)
    files = [file_of(ours(lines, threads, vocab_size=60), tmp_path) for threads in (1, 2, 7)]
    assert files[0] == files[1] == files[2]


def text_of(name: str, start: int, size: int) -> list[str]:
    """Lines of a corpus."""
    path = CORPORA / f"{name}.txt.xz"
    if not path.exists():
        pytest.skip("the corpora are not here")
    with lzma.open(path) as file:
        file.read(start)
        return file.read(size).decode("utf-8", "ignore").split("\n")


def nats(peer: Any, lines: Sequence[str]) -> float:
    """How unlikely lines are, in nats a character, under the best way to cut them."""
    vocab, _unknown = vocab_of(peer)
    scores = [score for _text, score in vocab]
    unknown = min(scores) - 10
    found = [scores[i] if i else unknown for line in lines for i in peer.encode(line).ids]
    return -sum(found) / sum(map(len, lines))


@pytest.mark.parametrize("name", ["english", "greek"])
def test_real_text_is_learned_alike(name: str, tmp_path: Path) -> None:
    lines, held_out = text_of(name, 0, 60_000), text_of(name, 4_000_000, 300_000 if PROVE else 30_000)
    told = {"vocab_size": 1500, "unk_token": "<unk>", "special_tokens": ["<unk>"]}
    peer = theirs(lines, **told)
    file = file_of(ours(lines, **told), tmp_path)
    alike(vocab_of(peer)[0], [(text, score) for text, score in file["model"]["vocab"]])
    mine = Peer.from_str(json.dumps(file))
    assert nats(mine, held_out) == pytest.approx(nats(peer, held_out), rel=1e-3)


def test_the_file_is_theirs_but_for_the_scores(tmp_path: Path) -> None:
    lines = drawn(5, 300)
    peer = Peer(models.Unigram())
    peer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])  # type: ignore[assignment]
    peer.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
    peer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])  # type: ignore[assignment]
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=["</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    peer.train_from_iterator(lines, trainer)
    whole = json.loads(peer.to_str())
    processor = whole["post_processor"]
    tok = ours(
        lines,
        vocab_size=90,
        special_tokens=["</s>", "<unk>"],
        unk_token="<unk>",
        normalizer=["NFKC", "Lowercase"],
        pre_tokenizer="Metaspace",
        post_processor=processor,
    )
    file = file_of(tok, tmp_path)
    vocab = file["model"]["vocab"]
    alike([tuple(row) for row in vocab], [tuple(row) for row in whole["model"]["vocab"]])
    whole["model"]["vocab"] = vocab
    assert file == whole
    mine = Peer.from_str(json.dumps(file))
    for line in [*lines[:20], "Unseen: Ψ \t", ""]:
        assert tok.encode(line) == mine.encode(line, add_special_tokens=False).ids


def test_nothing_is_cut_unless_it_is_said() -> None:
    lines = drawn(6, 40)
    peer = Peer(models.Unigram())
    peer.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=80, show_progress=False))
    tok = syllabary.train(lines, 80, model="unigram", like="huggingface")
    scored = [(tok.spec.tokens[i].decode(), score) for i, score in (tok.spec.scores or {}).items()]
    alike(vocab_of(peer)[0], scored)
    assert any(" " in text for text, _score in scored if len(text) > 1)


@pytest.mark.parametrize("model, size", [("unigram", 60), ("wordlevel", 60)])
def test_bytes_are_spelled_before_words_are_counted(model: str, size: int, tmp_path: Path) -> None:
    lines = drawn(7, 60)
    tok = syllabary.train(
        lines, size, model=model, like="huggingface", options={"pre_tokenizer": "ByteLevel"}
    )
    vocab = file_of(tok, tmp_path)["model"]["vocab"]
    assert any("Ġ" in (row if isinstance(row, str) else row[0]) for row in vocab)
    kind = models.Unigram() if model == "unigram" else models.WordLevel(unk_token="<unk>")
    peer = Peer(kind)
    peer.pre_tokenizer = pre_tokenizers.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.UnigramTrainer if model == "unigram" else trainers.WordLevelTrainer
    peer.train_from_iterator(lines, trainer(vocab_size=size, show_progress=False))
    expected = json.loads(peer.to_str())["model"]["vocab"]
    if model == "unigram":
        alike([tuple(row) for row in vocab], [tuple(row) for row in expected])
    else:
        assert vocab == expected


def test_characters_that_stand_for_something_elsewhere() -> None:
    """U+2585 is outside the alphabet for sentencepiece, zero between words for this trainer."""
    lines = ["na▅na na▅na ▅ ▅▅ na\0na na\0ba na\0", "ba\0na\0na ▅na ban\0"] * 3
    told = {"vocab_size": 14, "special_tokens": ["<s>"]}
    expected = reference.train(
        Counter(word for line in lines for word in line.split()),
        UnigramTrainerOptions(14, special_tokens=("<s>",)),
    )
    alike(vocab_of(theirs(lines, **told))[0], expected.vocab)
    spec = ours(lines, **told).spec
    assert spec.scores == dict(enumerate(score for _text, score in expected.vocab))


def test_tables_and_files_are_sources_too(tmp_path: Path) -> None:
    lines = drawn(8, 60)
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8", newline="")
    whole = ours(lines, vocab_size=70)
    assert ours(tmp_path / "a.txt", vocab_size=70).spec.scores == whole.spec.scores
    table = PieceCounts.of(lines, split="whitespace-split")
    counted = ours(table, vocab_size=70, pre_tokenizer="WhitespaceSplit")
    assert counted.spec.scores == whole.spec.scores
    with pytest.raises(TrainingError, match="cut by another rule"):
        ours(table, pre_tokenizer="Whitespace")


def test_flags_of_special_tokens_and_lengths() -> None:
    lines = drawn(9, 60)
    mask = {"content": "<m>", "lstrip": True}
    tok = syllabary.train(
        lines,
        30,
        model="unigram",
        like="huggingface",
        max_token_length=2,
        options={**CUT, "special_tokens": ["<s>", mask], "unk_token": "?"},
    )
    assert tok.special_tokens == {"<s>": 1, "<m>": 2}
    assert tok.spec.unknown == 0
    assert max(len(token.decode()) for token in tok.spec.tokens.values()) == 2
    assert tok.encode("ba  <m>", special="allow")[-1] == 2


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(drawn(8, 60)), encoding="utf-8", newline="")
    told = {
        "vocab_size": "70",
        "pre_tokenizer": "WhitespaceSplit",
        "shrinking_factor": "0.5",
        "unk_token": "?",
    }
    pairs = [part for name, value in told.items() for part in ("--option", f"{name}={value}")]
    paths = [str(tmp_path / "a.txt"), "-o", str(tmp_path / "u.json")]
    result = CliRunner().invoke(
        main, ["train", *paths, "--model", "unigram", "--like", "huggingface", *pairs]
    )
    assert result.exit_code == 0, result.output
    expected = ours(tmp_path / "a.txt", vocab_size=70, shrinking_factor=0.5, unk_token="?")
    # Numbers are read as their library reads them, which may be off by the last bit.
    read = syllabary.load(tmp_path / "u.json").spec
    assert dict(read.scores or {}) == pytest.approx(dict(expected.spec.scores or {}), rel=1e-15)
    assert read.tokens == expected.spec.tokens
    wrong = ["--model", "unigram", "--like", "huggingface", "--option", "shrinking_factor=a"]
    assert "give a number" in CliRunner().invoke(main, ["train", *paths, *wrong]).output


def test_few_pieces_are_told() -> None:
    with pytest.warns(EarlyStopWarning, match="a vocabulary of 5, not 8000"):
        syllabary.train(["to be or"], model="unigram", like="huggingface", options=CUT)


@pytest.mark.parametrize(
    "told, error, message",
    [
        ({"vocab_size": 3}, TrainingError, "have 9 characters: set it to 9"),
        ({"vocab_size": 9, "special_tokens": list("0123456789")}, TrainingError, "are 10 special tokens"),
        ({"shrinking_factor": 1}, TrainingError, "from 0 to below 1"),
        ({"shrinking_factor": "a"}, TypeError, "give a number"),
        ({"n_sub_iterations": -1}, TrainingError, "set it to 0 or more"),
        ({"seed_size": 2**40}, TrainingError, "the most that there can be"),
        ({"unk_token": ""}, TrainingError, "unk_token is empty"),
        ({"unk_token": 5}, TypeError, "give str or None"),
        ({"special_tokens": ["a", "a"]}, VocabularyError, "given twice"),
        ({"min_frequency": 2}, TrainingError, "is none of vocab_size, n_sub_iterations"),
        ({"continuing_subword_prefix": "#"}, TrainingError, "is none of"),
    ],
)
def test_what_does_not_go(told: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ours(["to be or not to be, that"], **told)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"unit": "byte"}, "unit does not go with model='unigram', like='huggingface'"),
        ({"fallback": True}, "fallback does not go"),
        ({"vocab_size": 9, "options": {"vocab_size": 9}}, "is given as vocab_size= too"),
        ({"max_token_length": 9, "options": {"max_piece_length": 9}}, "is given as max_token_length= too"),
    ],
)
def test_arguments_that_do_not_go(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        syllabary.train(["to be"], model="unigram", like="huggingface", **given)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(CorpusError, match="empty"):
        ours(["", " "])
    with pytest.raises(CorpusError, match="empty"):
        reference.train({"": 2}, UnigramTrainerOptions())
