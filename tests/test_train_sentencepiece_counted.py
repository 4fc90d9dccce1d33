"""Training like sentencepiece of words and of characters: its file, byte for byte, by both of ours.

Over drawn options and corpora and on text in several scripts; with `SYLLABARY_PROVE` on more. Leaves out:
encoding with such models beyond a check that the trained one does (`test_formats_sentencepiece_words`).
"""

from __future__ import annotations

import dataclasses
import io
import lzma
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from click.testing import CliRunner
from sentencepiece_models import corpus, peer, variants

import syllabary
from syllabary.cli import main
from syllabary.errors import EarlyStopWarning, SyllabaryError, TrainingError
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import parse
from syllabary.formats.sentencepiece_write import write
from syllabary.reference import ReferenceTokenizer, train_sentencepiece, train_sentencepiece_counted
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.unicode.charsmaps import charsmap_of

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
KINDS = ("word", "char")
DEFAULTS = SentencePieceOptions()
SCRIPTS = ("english", "greek", "chinese", "japanese", "code", "latin", "multilingual")


@pytest.fixture(autouse=True)
def shipped_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled rules as they are there already: `test_train_sentencepiece_rules` compiles them."""

    def rules_of(options: SentencePieceOptions) -> bytes:
        return charsmap_of(options.normalization_rule_name) or b""

    monkeypatch.setattr(train_sentencepiece, "rules_of", rules_of)


pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


def theirs(lines: Sequence[str], told: dict[str, Any]) -> bytes:
    """The file that sentencepiece writes; `RuntimeError` where it refuses."""
    out = io.BytesIO()
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=3, **given
    )
    return out.getvalue()


def drawn(number: int, kind: str) -> dict[str, Any]:
    """Options that are not the default ones."""
    source = random.Random(number)
    found = list(variants(number + 1, seed=5))[number]
    found |= {
        "vocab_size": source.choice([10, 60, 120, 300, 400, 460, 900]),
        "use_all_vocab": source.random() < 0.3,
        "hard_vocab_limit": source.random() < 0.3,
        "required_chars": source.choice(["", "", "a漢"]),
        "model_type": kind,
    }
    told = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items() if v is not None}
    usual = {k for k, v in told.items() if v == getattr(DEFAULTS, k, v) and k != "model_type"}
    return {k: v for k, v in told.items() if k not in usual and not k.endswith("tsv")}


def ours(source: object, told: dict[str, Any], threads: int = 1) -> syllabary.Tokenizer:
    """The engine's tokenizer."""
    options = {name: value for name, value in told.items() if name != "model_type"}
    return syllabary.train(
        source, model=told["model_type"], like="sentencepiece", options=options, threads=threads
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(400 if PROVE else 40))
def test_as_sentencepiece_to_the_byte(kind: str, number: int) -> None:
    told = drawn(number, kind)
    lines = corpus(number, random.Random(number).choice([3, 40, 150]))
    lines[0] += " a漢"
    options = SentencePieceOptions(**told)
    try:
        expected = theirs(lines, told)
    except RuntimeError:
        with pytest.raises(SyllabaryError):
            train_sentencepiece_counted.train(lines, options)
        with pytest.raises(SyllabaryError):
            ours(lines, told)
        return
    spec = train_sentencepiece_counted.train(lines, options)
    assert write(spec) == expected
    assert dataclasses.replace(to_spec(parse(expected, Path("t")), Path("t")), record=spec.record) == spec
    for tok in (ours(lines, told), ours(["\n".join(lines)], told, 3)):
        assert write(tok.spec) == expected
    for text in lines[:5]:
        ids = peer(expected).encode(text)[0]
        assert tok.encode(text, "text") == ids
        assert ReferenceTokenizer(spec).encode(text, "text") == ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_text(shared: Path, script: str, kind: str) -> None:
    with lzma.open(shared / "corpora" / f"{script}.txt.xz") as file:
        text = file.read(1_000_000 if PROVE else 100_000).decode("utf-8", "ignore")
    told = {"model_type": kind, "vocab_size": 1000, "hard_vocab_limit": False}
    lines = [line.rstrip("\r") for line in text.split("\n")]
    expected = theirs(lines, told)
    tok = ours([text], told, 2)
    assert write(tok.spec) == expected
    for line in lines[:20]:
        assert tok.encode(line) == peer(expected).encode(line)[0]


def test_tables_of_counts_and_numbers_beyond_32_bits() -> None:
    lines = ["low lower\t5000000000", "lowest low\t16777217", "é\t3"]
    for kind in KINDS:
        told = {"model_type": kind, "vocab_size": 9, "hard_vocab_limit": False, "input_format": "tsv"}
        expected = theirs(lines, told)
        assert write(train_sentencepiece_counted.train(lines, SentencePieceOptions(**told))) == expected
        assert write(ours(lines, told).spec) == expected


@pytest.mark.parametrize(
    "kind, told, message",
    [
        ("word", {}, "vocab_size is 8000, but this text gives no more than 5 pieces"),
        ("word", {"vocab_size": 2}, "bos_id is 1|eos_id is 2"),
        ("word", {"vocab_size": 4, "user_defined_symbols": ("a",)}, "there are 5 meta pieces: set it to 5"),
        ("char", {"required_chars": "Q"}, "required_chars holds 'Q', which does not occur"),
        ("char", {"auto_character_coverage": True, "byte_fallback": True}, "goes with BPE alone"),
        ("word", {"pretokenization_delimiter": "|"}, "pretokenization_delimiter goes with BPE and unigram"),
    ],
)
def test_what_does_not_go(kind: str, told: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        ours(["to be to be"], {"model_type": kind, **told})


def test_other_tools_have_none() -> None:
    for kind in KINDS:
        with pytest.raises(TrainingError, match="is sentencepiece's: give like='sentencepiece' too"):
            syllabary.train(["to be"], model=kind)
    with pytest.raises(TrainingError, match="use_all_vocab goes with words and characters alone"):
        syllabary.train(["to be"], like="sentencepiece", options={"use_all_vocab": True})


def test_fewer_words_than_asked_for_are_told_of_and_characters_are_not(
    recwarn: pytest.WarningsRecorder,
) -> None:
    with pytest.warns(EarlyStopWarning, match="no piece is left: training ended with a vocabulary of 5"):
        ours(["to be to be"], {"model_type": "word", "hard_vocab_limit": False})
    recwarn.clear()
    assert ours(["to be to be"], {"model_type": "char"}).vocab_size == 8
    assert not recwarn.list


@pytest.mark.parametrize("kind", KINDS)
def test_on_the_command_line(tmp_path: Path, kind: str) -> None:
    (tmp_path / "text.txt").write_text("to be or not to be\n" * 3, encoding="utf-8")
    args = [
        "train",
        str(tmp_path / "text.txt"),
        "-o",
        str(tmp_path / "t.model"),
        "-q",
        "--like",
        "sentencepiece",
    ]
    done = CliRunner().invoke(main, [*args, "--model", kind, "--option", "use_all_vocab=true"])
    assert done.exit_code == 0, done.output
    told = {"model_type": kind, "use_all_vocab": True}
    assert (tmp_path / "t.model").read_bytes() == theirs(["to be or not to be"] * 3, told)
