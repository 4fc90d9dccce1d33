"""What `train` learns from where a text may have to be read again, and arguments that are no plain numbers.

The results are compared with those of the same text as a list, and with Hugging Face's trainer.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import syllabary
from syllabary import CorpusError, CorpusWarning, TrainingError, corpus
from syllabary.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.EarlyStopWarning")

TEXT = ["a b a b c\n\n é é the in", "the in the in\n"] * 3
# With these a name comes twice, or would: the trainer that is fed first cannot say what theirs does.
TAKEN = ["the", "\n", " ", "\n\n", " a", " b", "Ġthe"]


@pytest.mark.parametrize("special", TAKEN)
def test_a_special_token_that_the_text_would_teach(special: str) -> None:
    told: dict[str, Any] = {"vocab_size": 60, "like": "huggingface", "split": "gpt2", "alphabet": "seen"}
    ours = syllabary.train(TEXT, **told, special_tokens=[special])
    assert ours.spec == syllabary.train(iter(TEXT), **told, special_tokens=[special]).spec
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=60, special_tokens=[special], show_progress=False)
    peer.train_from_iterator(TEXT, trainer)
    for text in ("the in a b", "c\n\n é", " a", special, f"a{special}b"):
        assert ours.encode(text, special="allow") == peer.encode(text).ids


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("special", [["the"], ["\n"], []])
def test_a_pipe_is_read_once(special: list[str], tmp_path: Path) -> None:
    file, pipe = tmp_path / "text", tmp_path / "pipe"
    file.write_text("".join(TEXT), "utf-8")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()), daemon=True)
    writer.start()
    told: dict[str, Any] = {"vocab_size": 60, "like": "huggingface", "special_tokens": special}
    assert syllabary.train(pipe, **told).spec == syllabary.train(file, **told).spec
    writer.join(10)
    stream = corpus.stream_of(io.BytesIO(file.read_bytes()), "stdin")
    assert syllabary.train([stream], **told).spec == syllabary.train([file], **told).spec


class Changing:
    """A text that is another one when it is read again."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[str]:
        self.read += 1
        return iter(TEXT if self.read == 1 else TEXT[:1])


def test_a_text_that_changes_is_told() -> None:
    with pytest.raises(CorpusError, match="another one when it was read again"):
        syllabary.train(Changing(), 60, like="huggingface", special_tokens=["the"])  # type: ignore[arg-type]


@pytest.mark.parametrize("split", ["a+|b", r"\w+|\W", None, "gpt2"])
@pytest.mark.parametrize("special", [(), ("a",)])
def test_the_split_is_what_was_asked_for(split: str | None, special: tuple[str, ...]) -> None:
    told: dict[str, Any] = {"like": "huggingface", "split": split, "special_tokens": special}
    listed, once = (syllabary.train(text, 40, **told) for text in (TEXT, iter(TEXT)))
    assert listed.spec == once.spec
    if not listed.spec.pretokenizer:  # else names are spelled by a step, which may cut too
        assert listed.spec.split == syllabary.splits.get(split)


@pytest.mark.parametrize("like", ["rustbpe", "minbpe"])
@pytest.mark.parametrize("pattern", [r"\p{Emoji}|.", "a{1,1500}|[^a]+", "(a*)*b|[^b]"])
def test_patterns_that_the_specification_cannot_read(like: str, pattern: str) -> None:
    tok = syllabary.train(["aab ba 1 b", "aa b"], 260, like=like, split=pattern)
    assert not tok.spec.split.keep_unmatched
    assert tok.decode(tok.encode("aab b")) == "aab b"


LEARN = [
    {"like": "sentencepiece"},
    {"model": "unigram", "like": "sentencepiece"},
    {"model": "unigram", "like": "huggingface", "options": {}},
    {"model": "word", "like": "sentencepiece"},
    {"model": "wordpiece", "options": {}},
    {"model": "wordlevel", "options": {}},
    {"like": "huggingface", "options": {"pre_tokenizer": "Whitespace"}, "max_token_length": 5},
    {"max_token_length": 5},
]


@pytest.mark.parametrize("told", LEARN, ids=str)
def test_numbers_of_numpy(told: dict[str, Any]) -> None:
    text = ["the cat sat on the mat and the dog ran"] * 9
    size = {"word": 11, "unigram": 17}.get(
        told.get("model", ""), 24 if "options" in told or "like" in told else 270
    )
    of_numpy = {name: np.int64(value) if isinstance(value, int) else value for name, value in told.items()}
    taken = [
        syllabary.train(text, n, **given).spec for n, given in ((size, told), (np.int64(size), of_numpy))
    ]
    assert taken[0] == taken[1]
    with pytest.raises(TypeError, match=r"vocab_size is \(\)"):
        syllabary.train(text, (), **told)  # type: ignore[arg-type]


def test_a_list_of_names_of_files_is_told(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("ab ab", "utf-8")
    with pytest.warns(CorpusWarning, match=r"each text is the name of a file.*pathlib\.Path\(name\)"):
        syllabary.train([str(file)], 260)
    syllabary.train([str(file), "no file"], 260)  # a text that is none: the filter of warnings would raise


def test_what_cannot_be_is_refused_at_once(tmp_path: Path) -> None:
    stream = corpus.stream_of(io.BytesIO(b"ab ab ab"), "stdin")
    with pytest.raises(CorpusError, match="stdin: is a pipe, which can be read once"):
        syllabary.train([stream], 300, superwords=270)
    with pytest.raises(TrainingError, match="all_below is 4294967295: give 1 to 134217728"):
        syllabary.train_ids([[1, 2]], num_merges=1, all_below=2**32 - 1)
    with pytest.raises(TypeError, match=r"model is \['x'\]: give str"):
        syllabary.train(TEXT, model=["x"])  # type: ignore[arg-type]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no such file here")
def test_sizes_go_beside_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("ab ab ab", "utf-8")
    args = ["train", str(tmp_path / "text"), "-o", "/dev/null", "--format", "tiktoken", "--sizes", "258,259"]
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert ended.value.code == 2
    assert "/dev/null is no plain file" in capsys.readouterr().err
