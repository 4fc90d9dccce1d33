"""Hugging Face's trainers and WordPiece by likelihood: ended after every merge, and told other.

And the checkpoint of the plain call whose names come again. Leaves out: kills and what a callback raises, in
every mode (`test_train_resume`), words without merges and unigram models (`test_train_resume_models`).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from huggingface_trainers import COMPONENTS, documents, trainer_options
from train_runs import make_often, saved, stop_in, stopped, train, write_corpus

import syllabary
from syllabary.corpus import Corpus
from syllabary.counts import PieceCounts
from syllabary.errors import CheckpointError, SyllabaryError, TrainingError
from syllabary.training import huggingface as training_huggingface
from syllabary.training.checkpoint_files import Journal

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="signals and limits are POSIX's here"),
    pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning"),
]

HERE = Path(__file__).parent
MERGING = ("options", "options, names again", "wordpiece", "likelihood")
AGAIN: dict[str, Any] = {"like": "huggingface", "special_tokens": ["ar", "us"], "vocab_size": 400}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), 60_000)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


# ---- after every merge ----


def ended_again_and_again(texts: list[str], call: dict[str, Any], merges: int) -> syllabary.Tokenizer:
    """The last of runs each of which is ended when it has kept so many merges."""
    real = Journal.append

    def append(self: Journal, pairs: Any, counts: Any) -> None:
        nonlocal new
        real(self, pairs, counts)
        new += len(counts)
        if new >= merges:
            raise ZeroDivisionError("stopped")

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "append", append)
        while True:
            new = 0
            try:
                return syllabary.train(texts, checkpoint=Path(folder) / "kept", **call)
            except ZeroDivisionError:
                assert new == merges


def learned_twice(texts: list[str], call: dict[str, Any]) -> bool:
    """Whether a merge made a name that was there: the engine's own list, which notes each."""
    found: list[bool] = []
    real = training_huggingface.HuggingFaceTrainer

    class Watched:
        def __init__(self, *arguments: Any) -> None:
            self._trainer = real(*arguments)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._trainer, name)

        def learn(self, *arguments: Any) -> Any:
            names, first, merges, counts = self._trainer.learn(*arguments)
            found.append(len(names) - first < len(merges))
            return names, first, merges, counts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_huggingface, "HuggingFaceTrainer", Watched)
        syllabary.train(texts, **call)
    return found[0]


@pytest.mark.parametrize("kind", ["options", "wordpiece", "likelihood"])
def test_ended_after_every_merge(kind: str, prove: bool) -> None:
    """Drawn options, which make names come again, counts fall below zero, and ids that are used before."""
    seen = {True: 0, False: 0}  # whether names came again
    for seed in range(600 if prove else 30):
        source = random.Random(f"{kind} {seed}")
        texts, options = documents(source), {**trainer_options(source), "vocab_size": 40}
        if seed % 2:
            options["special_tokens"] = source.sample(["ab", "aa", "ba", "aba", "th", "the"], 4)
        for name in ("pre_tokenizer", "normalizer"):
            if source.random() < 0.4:
                options[name] = source.choice(COMPONENTS[name])
        call = {"like": "huggingface", "options": options, "threads": 1}
        if kind != "options":
            options.pop("max_token_length", None)
            call |= {"model": "wordpiece", "like": "huggingface" if kind == "wordpiece" else None}
        try:
            whole = syllabary.train(texts, **call)
        except SyllabaryError:  # nothing to count, or a vocabulary below its alphabet
            continue
        again = ended_again_and_again(texts, call, source.randint(1, 4))
        assert again.spec == whole.spec, (seed, texts, options)
        seen[learned_twice(texts, call)] += 1
    assert min(seen.values()) > (40 if prove else 2), seen


def test_what_is_counted_is_not_counted_again(corpus: Path, tmp_path: Path) -> None:
    """The text is not even read."""
    for mode in MERGING:
        folder = tmp_path / mode
        with stopped():
            train(corpus, mode, folder, progress=stop_in("merging"))
        told: list[syllabary.Progress] = []
        again = train(corpus, mode, folder, progress=told.append)
        assert {now.stage for now in told} == {"merging"}
        assert again.spec == train(corpus, mode).spec


# ---- what is of something else ----


@pytest.mark.parametrize(
    "mode, change, says",
    [
        ("options", {"limit_alphabet": 29}, r"another limit_alphabet \(30, now 29\)"),
        ("options", {"end_of_word_suffix": None}, r'another end_of_word_suffix \("</w>", now null\)'),
        ("options", {"unk_token": "<u>"}, r'another unk_token \(null, now "<u>"\)'),
        ("options", {"pre_tokenizer": "WhitespaceSplit"}, "another pre_tokenizer"),
        ("options", {"normalizer": "NFC"}, "another normalizer"),
        ("options", {"initial_alphabet": ["z"]}, "another initial_alphabet"),
        ("wordpiece", {"continuing_subword_prefix": "@"}, r'another continuing_subword_prefix \("##", now'),
        ("wordpiece", {"max_input_chars_per_word": 9}, r"max_input_chars_per_word \(100, now 9\)"),
        ("likelihood", {"unk_token": "?"}, "another special_tokens .* and unk_token"),
    ],
)
@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_other_options_are_named(
    mode: str, change: dict[str, Any], says: str, stage: str, corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    with stopped():
        train(corpus, mode, folder, progress=stop_in(stage, 1))
    old = {"options": {"vocab_size": 500, "pre_tokenizer": "Whitespace", "end_of_word_suffix": "</w>"}}
    options = {**(old["options"] | {"limit_alphabet": 30} if mode == "options" else {}), **change}
    with pytest.raises(CheckpointError, match=f"{says}.*ask for what it began with to go on, or delete"):
        train(corpus, mode, folder, options=options)
    assert saved(train(corpus, mode, folder), tmp_path) == saved(train(corpus, mode), tmp_path)


def test_another_model_is_named(corpus: Path, tmp_path: Path) -> None:
    for ours, other in (("wordpiece", "likelihood"), ("likelihood", "options")):
        folder = tmp_path / ours
        train(corpus, ours, folder)
        with pytest.raises(CheckpointError, match="likelihood"):
            train(corpus, other, folder)


def test_a_size_may_change_until_merging_has_begun(corpus: Path, tmp_path: Path) -> None:
    for mode in ("wordpiece", "likelihood"):
        folder = tmp_path / mode
        with stopped():
            train(corpus, mode, folder, progress=stop_in("counting", 3))
        with pytest.raises(TrainingError, match=r"vocab_size is 9, .* set it to \d+ or more"):
            train(corpus, mode, folder, vocab_size=9)
        again = train(corpus, mode, folder, vocab_size=450)
        assert again.spec == train(corpus, mode, vocab_size=450).spec
        with pytest.raises(CheckpointError, match=r"another vocab_size \(450, now 500\)"):
            train(corpus, mode, folder)


@pytest.mark.parametrize("mode", MERGING)
@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_another_corpus_is_found_out(mode: str, stage: str, corpus: Path, tmp_path: Path) -> None:
    folder, mine = tmp_path / "kept", tmp_path / "corpus.txt"
    shutil.copy(corpus, mine)
    with stopped():
        train(mine, mode, folder, progress=stop_in(stage, 1 if stage == "merging" else 3))
    data = mine.read_bytes()
    at = data.index(b"arma")
    mine.write_bytes(data[:at] + b"ARMA" + data[at + 4 :])
    os.utime(mine, ns=(1, 1))
    with pytest.raises(CheckpointError, match="the corpus is not the one"):
        train(mine, mode, folder)
    mine.write_bytes(data + b"more\n")
    with pytest.raises(CheckpointError, match="a checkpoint of another corpus"):
        train(mine, mode, folder)
    mine.write_bytes(data)
    assert saved(train(mine, mode, folder), tmp_path) == saved(train(corpus, mode), tmp_path)


@pytest.mark.parametrize("mode", ["options, names again", "likelihood"])
def test_merges_of_other_words(mode: str, corpus: Path, tmp_path: Path) -> None:
    """Made up, with the right checksums: found out where they are learned or made again."""
    folder = tmp_path / "kept"
    train(corpus, mode, folder)
    run = json.loads((folder / "checkpoint.json").read_bytes())["run"]
    kept = Journal(folder / "merges.bin", lambda: 0.0)
    assert kept.open(run)
    (pairs, counts), symbols = kept.merges, kept.symbols
    kept.close()
    counts[len(counts) // 2] += 1
    made_up = Journal(folder / "merges.bin", lambda: 0.0)
    made_up.begin(run, symbols)
    made_up.append(pairs, counts)
    made_up.close()
    with pytest.raises(CheckpointError, match=r"merges\.bin does not fit the text that was counted"):
        train(corpus, mode, folder)


# ---- limits, tables, and the plain call ----


@pytest.mark.parametrize("mode", MERGING)
def test_a_limit_may_come_and_go_once_all_is_counted(mode: str, corpus: Path, tmp_path: Path) -> None:
    """Under one, merges alone are kept."""
    whole = saved(train(corpus, mode), tmp_path)
    for first, then in ((None, "200 MiB"), ("200 MiB", None), ("200 MiB", "300 MiB")):
        folder = tmp_path / f"{first} {then}"
        with stopped():
            train(corpus, mode, folder, progress=stop_in("merging"), memory_limit=first)
        assert bool(list(folder.glob("counts-*"))) is (first is None)
        assert saved(train(corpus, mode, folder, memory_limit=then), tmp_path) == whole


def test_a_table_of_counts(corpus: Path, tmp_path: Path) -> None:
    table = PieceCounts.of(corpus, like="huggingface")
    call: dict[str, Any] = {"like": "huggingface", "options": {"vocab_size": 400, "min_frequency": 2}}
    with stopped():
        syllabary.train(table, checkpoint=tmp_path / "kept", progress=stop_in("merging"), **call)
    again = syllabary.train(table, checkpoint=tmp_path / "kept", **call)
    assert again.spec == syllabary.train(table, **call).spec == syllabary.train(corpus, **call).spec
    with pytest.raises(CheckpointError, match="another table of counts"):
        syllabary.train(
            PieceCounts.of([corpus, "x"], like="huggingface"), checkpoint=tmp_path / "kept", **call
        )


def test_the_plain_call_whose_names_come_again(corpus: Path, tmp_path: Path) -> None:
    """Their loop is run over the table that is kept: the text is read once, in a second run not at all."""
    whole = syllabary.train(corpus, **AGAIN)
    assert "options" in whole.spec.record
    read: list[int] = []
    real = Corpus.parts

    def parts(self: Corpus, *arguments: Any, **options: Any) -> Any:
        read.append(1)
        return real(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Corpus, "parts", parts)
        for times in (1, 1):
            assert syllabary.train(corpus, checkpoint=tmp_path / "kept", **AGAIN).spec == whole.spec
            assert len(read) == times
    limited = syllabary.train(corpus, checkpoint=tmp_path / "b", memory_limit="1 GB", **AGAIN)
    assert limited.spec == whole.spec


def test_the_plain_call_over_documents_that_come_once(corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text("utf-8").splitlines()
    whole = syllabary.train(iter(lines), **AGAIN)
    with stopped():
        syllabary.train(iter(lines), checkpoint=tmp_path / "kept", progress=stop_in("merging"), **AGAIN)
    assert syllabary.train(iter(lines), checkpoint=tmp_path / "kept", **AGAIN).spec == whole.spec
