"""`train(like="sentencepiece")`: the engine makes the very file that sentencepiece makes.

The released sentencepiece is the judge, told the same, over options mixed at random, generated text of many
scripts and real text; for its samples, which it draws anew each time, the specification is. Leaves out: what
the specification itself is tested with (`test_train_sentencepiece`).
"""

from __future__ import annotations

import dataclasses
import io
import lzma
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import sentencepiece_models as models
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece_trainers import DEFAULTS, pieces, theirs
from sentencepiece_trainers import ours as specified
from strategies import corpora
from test_train_sentencepiece import generated, mixed

import syllabary
from syllabary.errors import CorpusError, EarlyStopWarning, SyllabaryError, TextError, TrainingError
from syllabary.formats import sentencepiece_write
from syllabary.progress import Progress
from syllabary.reference.train_sentencepiece import SentencePieceOptions
from syllabary.training import sentencepiece as training_sentencepiece


def ours(source: Any, options: SentencePieceOptions, **more: Any) -> bytes:
    """The file of a tokenizer trained by the public call, told what is not the default."""
    names = [item.name for item in dataclasses.fields(options)]
    told = {name: getattr(options, name) for name in names}
    changed = {name: value for name, value in told.items() if value != getattr(DEFAULTS, name)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        tok = syllabary.train(source, like="sentencepiece", options=changed, **more)
    return sentencepiece_write.write(tok.spec)


@pytest.mark.parametrize("model", ["bpe", "unigram", "word", "char"])
def test_a_default_that_is_told_is_written_as_there(model: str) -> None:
    lines = ["to be or not to be that is the question", "whether tis nobler 12 34 in the mind"] * 20
    names = [item.name for item in dataclasses.fields(DEFAULTS)]
    told = {
        name: getattr(DEFAULTS, name) for name in names if name not in ("model_type", "precompiled_charsmap")
    }
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}
    told |= {"vocab_size": 30, "hard_vocab_limit": False}

    def made(told: dict[str, Any]) -> tuple[bytes, bytes]:
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=out, model_type=model, minloglevel=3, **told
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EarlyStopWarning)
            tok = syllabary.train(lines, model=model, like="sentencepiece", options=told)
            if model == "bpe":  # the smaller one keeps what was told
                fewer = syllabary.train(lines, like="sentencepiece", options={**told, "vocab_size": 25})
                assert tok.truncate(25).spec == fewer.spec
        return sentencepiece_write.write(tok.spec), out.getvalue()

    ours, theirs = made(told)
    assert ours == theirs
    for name in told.keys() - {"vocab_size", "hard_vocab_limit"}:
        ours, theirs = made({"vocab_size": 30, "hard_vocab_limit": False, name: told[name]})
        assert ours == theirs, name


def check(lines: Sequence[str], options: SentencePieceOptions, **more: Any) -> bool:
    """Both make the same file of these lines, or both refuse; whether they made one."""
    try:
        expected = theirs(lines, options)
    except (ValueError, RuntimeError):
        with pytest.raises(SyllabaryError):
            ours(["\n".join(lines)], options, **more)
        return False
    data = ours(["\n".join(lines)], options, **more)
    assert pieces(data) == pieces(expected)
    assert data == expected
    return True


# ---- the peer ----


@pytest.mark.parametrize("part", range(8))
def test_options_at_random(part: int, prove: bool) -> None:
    made = 0
    for seed in range(40 if prove else 16):
        source = random.Random(f"like {part} {seed}")
        lines = [line for line in generated(source) if isinstance(line, str)]
        assert not any("\n" in line for line in lines)
        made += check(lines, mixed(source), threads=1 + seed % 3)
    assert made >= (15 if prove else 5)


@given(corpora(), st.sampled_from([30, 60, 2000]), st.sampled_from(["identity", "nmt_nfkc"]), st.booleans())
def test_drawn_text(documents: list[str], vocab_size: int, rule: str, by_space: bool) -> None:
    lines = [line for text in documents for line in text.split("\n")]
    check(lines, SentencePieceOptions(vocab_size=vocab_size, normalization_rule_name=rule,
                                      hard_vocab_limit=False, split_by_whitespace=by_space))  # fmt: skip


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"])
def test_the_rules_that_are_kept_as_files(rule: str) -> None:
    assert check(
        models.corpus(3, 40), SentencePieceOptions(vocab_size=300, hard_vocab_limit=False,
                                                   normalization_rule_name=rule)
    )  # fmt: skip


@pytest.mark.parametrize(
    "name, characters, vocab_size, more",
    [("english", 1_000_000, 8000, {}), ("greek", 500_000, 4000, {}), ("chinese", 200_000, 6000, {}),
     ("multilingual", 400_000, 8000, {"byte_fallback": True, "split_digits": True}),
     ("japanese", 60_000, 2500, {"auto_character_coverage": True, "byte_fallback": True}),
     ("code", 300_000, 3000, {"split_by_whitespace": False, "remove_extra_whitespaces": False})],
)  # fmt: skip
def test_real_text(name: str, characters: int, vocab_size: int, more: dict[str, Any], shared: Path) -> None:
    with lzma.open(shared / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8", newline="") as file:
        text = file.read(characters)
    assert check(text.split("\n"), SentencePieceOptions(vocab_size=vocab_size, **more))


# ---- the specification, where sentencepiece draws ----


@pytest.mark.parametrize("shuffle", [True, False])
def test_samples_are_those_of_the_specification(shuffle: bool) -> None:
    lines = [f"{number} {'ab' * (number % 7)} {number * 7919}" for number in range(400)]
    options = SentencePieceOptions(vocab_size=60, input_sentence_size=150, shuffle_input_sentence=shuffle)
    assert ours(["\n".join(lines[:200]), "\n".join(lines[200:])], options) == specified(lines, options)[1]


def test_tables_of_counts() -> None:
    many = 2**40
    lines = [f"a b\t{many}", "b c\t2", "a b\t+007 "]
    assert check(lines, SentencePieceOptions(vocab_size=30, hard_vocab_limit=False, input_format="tsv"))
    counts = syllabary.train(
        lines, like="sentencepiece", options={"vocab_size": 8, "input_format": "tsv"}
    ).spec.record["counts"]
    assert counts[0] == many + 9  # type: ignore[index]


# ---- our own ----


def test_any_cut_into_documents_and_parts(tmp_path: Path) -> None:
    lines = models.corpus(11, 120)
    options = SentencePieceOptions(vocab_size=400)
    expected = theirs(lines, options)
    path = tmp_path / "a.txt"
    path.write_bytes("\r\n".join(lines).encode())
    assert ours(lines, options) == expected
    assert ours(path, options, threads=1) == expected
    assert ours(["\n".join(lines[:50]), "\n".join(lines[50:])], options, threads=5) == expected


def test_arguments_are_its_options(tmp_path: Path) -> None:
    lines = models.corpus(5, 80)
    tok = syllabary.train(
        lines, 700, like="sentencepiece", special_tokens=["<a>"], max_token_length=5, fallback=True,
        options={"user_defined_symbols": ["<b>"], "character_coverage": 1},
    )  # fmt: skip
    tok.save(tmp_path / "t.model")
    options = SentencePieceOptions(
        vocab_size=700, control_symbols=("<a>",), max_sentencepiece_length=5, byte_fallback=True,
        user_defined_symbols=("<b>",), character_coverage=1.0,
    )  # fmt: skip
    assert (tmp_path / "t.model").read_bytes() == theirs(lines, options)
    home = models.peer((tmp_path / "t.model").read_bytes())
    assert [tok.encode(line, special="text") for line in lines] == [home.encode(line)[0] for line in lines]
    assert tok.spec.record["like"] == "sentencepiece"


@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_options_that_change_nothing_there_are_taken(model: str, tmp_path: Path) -> None:
    """Those that commands of `spm_train` often have."""
    lines, told = models.corpus(5, 80), {"vocab_size": 140, "num_threads": 1}
    idle = {
        "accept_language": ["en", "fr"], "mining_sentence_size": 200, "minloglevel": 3,
        "self_test_sample_size": 2, "train_extremely_large_corpus": True, "training_sentence_size": 200,
    }  # fmt: skip
    assert set(idle) == set(training_sentencepiece.IDLE)
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, model_type=model, **told, **idle
    )
    plain = syllabary.train(lines, model=model, like="sentencepiece", options=told)
    tok = syllabary.train(lines, model=model, like="sentencepiece", options={**told, **idle})
    assert tok.spec == plain.spec
    tok.save(tmp_path / "t.model")
    if model == "bpe":
        assert (tmp_path / "t.model").read_bytes() == out.getvalue()
    else:
        assert [row[0] for row in pieces((tmp_path / "t.model").read_bytes())] == [
            row[0] for row in pieces(out.getvalue())
        ]
    for name, value, says in (
        ("accept_language", 5, "accept_language"),
        ("self_test_sample_size", "5", "give an integer"),
        ("train_extremely_large_corpus", 1, "give True or False"),
    ):
        with pytest.raises(TypeError, match=says):
            syllabary.train(lines, like="sentencepiece", options={name: value})


@pytest.mark.parametrize("text", ['a,"b,c",d', '"x""y",z', 'a"b,c', '"a,b', 'a,"b\nc"', " a, b", "", "a"])
def test_lists_are_read_as_its_command_line_reads_them(text: str) -> None:
    """In `options` too, as in its own Python."""
    out, told = io.BytesIO(), {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 3}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["to be or not"]), model_writer=out, user_defined_symbols=text, **told
    )
    found = [piece for piece, _score, kind in pieces(out.getvalue()) if kind == 4]
    assert list(training_sentencepiece.read_option("user_defined_symbols", text)) == found  # type: ignore[call-overload]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        tok = syllabary.train(
            ["to be or not"],
            model="unigram",
            like="sentencepiece",
            options={**told, "user_defined_symbols": text},
        )
    assert pieces(sentencepiece_write.write(tok.spec)) == pieces(out.getvalue())


@pytest.mark.parametrize("text", ["true", "t", "1", "yes", "Y", "false", "F", "0", "no", "n", "2", "x", ""])
def test_truth_is_read_as_its_command_line_reads_it(text: str) -> None:
    out, read = io.BytesIO(), training_sentencepiece.read_option("byte_fallback", text)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["to be or not"] * 9), model_writer=out, vocab_size=300,
            hard_vocab_limit=False, minloglevel=3, byte_fallback=text,
        )  # fmt: skip
    except (ValueError, RuntimeError):
        assert read == text
    else:
        assert read == any(kind == 6 for _piece, _score, kind in pieces(out.getvalue()))


def test_progress_and_what_it_raises() -> None:
    seen: list[Progress] = []
    syllabary.train(models.corpus(5, 80), 300, like="sentencepiece", progress=seen.append)
    assert {step.stage for step in seen} == {"counting", "merging"}

    def fail(step: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        syllabary.train(models.corpus(5, 80), 300, like="sentencepiece", progress=fail)


@pytest.mark.parametrize("model", ["bpe", "unigram", "word"])
def test_early_stop_points_at_the_caller(model: str) -> None:
    with pytest.warns(EarlyStopWarning, match="vocabulary of .*, not 100") as caught:
        syllabary.train(["ab"], 100, model=model, like="sentencepiece", options={"hard_vocab_limit": False})
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "arguments, error, says",
    [
        ({"split": "gpt2"}, TrainingError, "split does not go with"),
        ({"split": None}, TrainingError, "split does not go with"),
        ({"num_merges": 3}, TrainingError, "num_merges does not go with"),
        ({"normalize": "NFC"}, TrainingError, "normalize does not go with"),
        ({"options": {"coverage": 1.0}}, TrainingError, "'coverage' is none of sentencepiece's: vocab_size"),
        ({"options": {"input": "a.txt"}}, TrainingError, "leave 'input' out: .* first argument of train"),
        ({"options": {"model_prefix": "m"}}, TrainingError, r"leave 'model_prefix' out: .* tok\.save"),
        ({"vocab_size": 9, "options": {"vocab_size": 9}}, TrainingError, "given as vocab_size= too"),
        ({"vocab_size": 0}, TrainingError, "vocab_size is 0"),
        ({"vocab_size": 5}, TrainingError, "set it to 6 or more"),
        ({"vocab_size": 500}, TrainingError, "set it to 9 or less"),
        ({"options": {"byte_fallback": 1}}, TypeError, "byte_fallback is 1: give True or False"),
        ({"options": {"unk_id": "0"}}, TypeError, "unk_id is '0': give an integer"),
        ({"options": {"character_coverage": "1"}}, TypeError, "give a number"),
        ({"options": {"unk_piece": 1}}, TypeError, "give str"),
        ({"options": {"control_symbols": b"<a>"}}, TypeError, "control_symbols"),
        ({"options": {"precompiled_charsmap": b"abc"}}, SyllabaryError, "damaged|shorter|fewer"),
        ({"options": {"normalization_rule_name": "nfc"}}, TrainingError, "known are nmt_nfkc"),
        ({"options": [1]}, TypeError, "give a dict"),
        ({"fallback": 1}, TypeError, "byte_fallback is 1"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        syllabary.train(["ab a"], like="sentencepiece", **arguments)


@pytest.mark.parametrize(
    "source, error, says",
    [([], CorpusError, "empty"), (["", "  ", "\u2585x"], CorpusError, "empty"),
     (["x" * 5000], CorpusError, "empty"), (["ab", "a\ud800"], TextError, "document 1")],
)  # fmt: skip
def test_corpora_that_cannot_be(source: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        syllabary.train(source, 30, like="sentencepiece")


def test_options_are_for_some_tools_and_models_alone() -> None:
    with pytest.raises(TrainingError, match=r"a tool's own.*, or with model='wordpiece' or 'wordlevel'"):
        syllabary.train(["ab a"], like="rustbpe", options={"unk_id": 0})
