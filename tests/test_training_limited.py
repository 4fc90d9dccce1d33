"""`memory_limit` with words, with sentencepiece's trainer and with Hugging Face's options: the same result.

The limit is taken far below the least that `train` accepts, so that small corpora go to files; and once as
it is accepted, in a process whose peak is read. Leaves out the plain trainer (`test_training_memory`).
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary._engine import HuggingFaceTrainer
from syllabary.errors import EarlyStopWarning, TrainingError
from syllabary.reference.train_huggingface import BpeTrainerOptions
from syllabary.splits import get
from syllabary.training import memory as training_memory

GUARD = 600  # seconds after which a process that does not end is a failure
ROOM = 18 << 20  # bytes; merging takes 17 MiB of them whatever the corpus

SENTENCEPIECE: dict[str, dict[str, Any]] = {
    "plain": {},
    "identity": {"normalization_rule_name": "identity"},
    "symbols": {"user_defined_symbols": ["ab", "ρ"], "control_symbols": ["<c>"], "byte_fallback": True},
    "suffix": {"treat_whitespace_as_suffix": True},
    "sentences": {"split_by_whitespace": False, "max_sentence_length": 90},
    "coverage": {"character_coverage": 0.98, "split_digits": True},
    "few characters in a piece": {"max_sentencepiece_length": 3},
    "delimiter": {"pretokenization_delimiter": "e"},
    "all pieces": {"hard_vocab_limit": False, "vocab_size": 60_000},
}
HUGGINGFACE: dict[str, dict[str, Any]] = {
    "bytes": {},
    "Whitespace": {"pre_tokenizer": "Whitespace"},
    "limit": {"pre_tokenizer": "Whitespace", "limit_alphabet": 20},
    "initial": {"pre_tokenizer": "Whitespace", "initial_alphabet": ["z", "q", "é"]},
    "marks": {
        "pre_tokenizer": "Whitespace",
        "continuing_subword_prefix": "##",
        "end_of_word_suffix": "</w>",
    },
    "frequent": {"pre_tokenizer": "WhitespaceSplit", "min_frequency": 3},
    "short": {"pre_tokenizer": "Whitespace", "max_token_length": 4},
    "special": {"special_tokens": ["<s>", "a", "th"], "normalizer": ["NFD", "Lowercase"]},
}
THEIRS: dict[str, Any] = {"pre_tokenizer": "Metaspace", "normalizer": "NFKC", "initial_alphabet": ["z"]}
# What is no BPE, and samples: a room in which they go to files.
LITTLE = 3 << 20
WHOLE = ("unigram, no split", "theirs, no words")  # whose words are documents
MODELS: dict[str, dict[str, Any]] = {
    "unigram": {"model": "unigram", "vocab_size": 700},
    "unigram, no split": {"model": "unigram", "vocab_size": 700, "split": None},
    "sentencepiece's unigram": {"model": "unigram", "options": {"vocab_size": 300}},
    "symbols": {
        "model": "unigram",
        "options": {"vocab_size": 300, "user_defined_symbols": ["ab", "ρ"], "byte_fallback": True},
    },
    "suffix": {"model": "unigram", "options": {"vocab_size": 300, "treat_whitespace_as_suffix": True}},
    "sentences": {"model": "unigram", "options": {"vocab_size": 300, "split_by_whitespace": False}},
    "theirs": {"model": "unigram", "like": "huggingface", "options": {"vocab_size": 300, **THEIRS}},
    "theirs, no words": {"model": "unigram", "like": "huggingface", "options": {"vocab_size": 300}},
    "words": {"model": "word", "options": {"vocab_size": 90}},
    "all words": {"model": "word", "options": {"use_all_vocab": True}},
    "coverage": {"model": "word", "options": {"vocab_size": 90, "character_coverage": 0.98}},
    "characters": {"model": "char", "options": {"vocab_size": 20}},
    "sample": {"options": {"vocab_size": 200, "input_sentence_size": 300}},
    "first sentences": {
        "options": {"vocab_size": 200, "input_sentence_size": 300, "shuffle_input_sentence": False}
    },
    "sample for a unigram": {
        "model": "unigram",
        "options": {"vocab_size": 200, "input_sentence_size": 300},
    },
}
# Of words; of those without merges little is held.
OF_WORDS: dict[str, tuple[int, dict[str, Any]]] = {
    "theirs": (ROOM, {"model": "wordpiece", "like": "huggingface", "vocab_size": 900}),
    "few characters": (
        ROOM,
        {"model": "wordpiece", "like": "huggingface", "options": {"limit_alphabet": 12, "vocab_size": 200}},
    ),
    "likelihood": (2 * ROOM, {"model": "wordpiece", "vocab_size": 900}),
    "marks": (
        2 * ROOM,
        {
            "model": "wordpiece",
            "vocab_size": 300,
            "special_tokens": ["lo", "th"],
            "options": {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>"},
        },
    ),
    "word level": (100_000, {"model": "wordlevel", "vocab_size": 300}),
    "word level, theirs": (
        100_000,
        {"model": "wordlevel", "like": "huggingface", "options": {"vocab_size": 300, "normalizer": "NFD"}},
    ),
}
WORDS: dict[str, dict[str, Any]] = {
    "words": {"split": "latin"},
    "first-seen": {"split": "latin", "tie_break": "first-seen"},
    "largest-pair": {"split": "whitespace-split", "tie_break": "largest-pair", "max_token_length": 3},
    "fallback": {"split": "latin", "fallback": True, "special_tokens": ["<s>"]},
}


@lru_cache
def texts(words: int = 9_000) -> list[str]:
    """Documents of rare words and familiar ones; the same each time."""
    draw = random.Random(11)
    familiar = "the of and low lower lowest arma virumque né Ἄνδρα μοι ﬁnd 12 ab<s>".split()
    found = []
    while words:
        line = ["".join(draw.choices("aeiouklmnst", k=draw.randint(1, 9))) for _ in range(4)]
        found.append(" ".join([*line, *draw.choices(familiar, k=5)]) + draw.choice(["", "\n", "\nab"]))
        words -= 9 if words > 9 else words
    return found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder in which a limit of `ROOM` bytes, all of them the engine's, has its files."""
    monkeypatch.setattr(training_memory, "LEAST", 0)
    monkeypatch.setattr(training_memory, "READING", 0)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def both(small: Path, source: list[str], limit: int = ROOM, **options: Any) -> Any:
    """What is learned without a limit, after it was found to be the same with one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        whole = syllabary.train(source, **options)
        bounded = syllabary.train(source, memory_limit=limit, **options)
    assert bounded.spec == whole.spec
    assert list(small.iterdir()) == []
    return whole


def with_threads(names: Iterable[str]) -> Any:
    """Each with 1 and with 3 threads to prove, every day with one of them in turn."""
    both = [(name, (1, 3)[at % 2]) for at, name in enumerate(names)]
    other = [(name, 4 - threads) for name, threads in both if os.environ.get("SYLLABARY_PROVE")]
    return pytest.mark.parametrize("name, threads", both + other)


@with_threads(SENTENCEPIECE)
def test_sentencepiece(name: str, threads: int, small: Path) -> None:
    options = {"vocab_size": 400, **SENTENCEPIECE[name]}
    both(small, texts(), like="sentencepiece", options=options, threads=threads)


@pytest.mark.parametrize("name", HUGGINGFACE)
def test_huggingface(name: str, small: Path) -> None:
    options = {"vocab_size": 900, **HUGGINGFACE[name]}
    both(small, texts(), like="huggingface", options=options, threads=2)


@with_threads(MODELS)
def test_other_models_and_samples(name: str, threads: int, small: Path) -> None:
    options = MODELS[name]
    like = {} if "options" not in options else {"like": "sentencepiece"}
    limit = LITTLE if "model" in options and name not in WHOLE else ROOM * 2
    both(small, texts(), limit=limit, threads=threads, **{**like, **options})


@with_threads(OF_WORDS)
def test_models_of_words(name: str, threads: int, small: Path) -> None:
    limit, options = OF_WORDS[name]
    both(small, texts(), limit=limit, threads=threads, **options)


def test_words_on_disk_are_learned_from(tmp_path: Path) -> None:
    """So many that they are written to files while they are counted, and read from there."""
    draw = random.Random(7)
    noise = "".join(draw.choices("abcdefghijklmnop  ", k=3_000_000)) + " low" * 50
    options = BpeTrainerOptions(120, min_frequency=2, continuing_subword_prefix="##")
    found = []
    for room in (None, (30 << 20, tmp_path)):
        trainer = HuggingFaceTrainer((), (), get("whitespace-split"), False, 2, room)
        trainer.feed([noise[at : at + 100_000] for at in range(0, len(noise), 100_000)])
        words = trainer.finish()
        files = [name for name in os.listdir(tmp_path) if name.startswith("run-")]
        assert len(files) == (room is not None)
        names, first, merges, counts = trainer.learn(options, False, None)
        frequent = trainer.most_frequent(2, 99)
        found.append([words, names, first, merges.tolist(), counts.tolist(), frequent])
        assert trainer.first_names(options, False) == names[:first]
    assert found[0] == found[1]
    assert len(found[0][3]) > 50
    assert len(frequent) == 99


def test_a_table_of_sentences(small: Path) -> None:
    source = [f"{text.splitlines()[0]}\t{number % 7 + 1}" for number, text in enumerate(texts())]
    for model in ("bpe", "unigram", "word", "char"):
        options = {"vocab_size": 90, "input_format": "tsv"}
        both(small, source, limit=ROOM * 2, model=model, like="sentencepiece", options=options)


@pytest.mark.parametrize(
    "options, what",
    [
        ({"model": "unigram"}, "too small for this corpus: its distinct words need"),
        ({"model": "unigram", "like": "sentencepiece"}, "too small for this corpus: its distinct words need"),
        (
            {"model": "unigram", "like": "huggingface", "options": {"pre_tokenizer": "Whitespace"}},
            "too small for this corpus: its distinct words need",
        ),
        ({"model": "wordpiece"}, "WordPiece by likelihood holds all pairs of its distinct words"),
        ({"model": "wordpiece", "like": "huggingface"}, "its distinct pieces have .* symbols, for which"),
        (
            {"model": "wordlevel", "options": {"min_frequency": 0}},
            "too small for this vocabulary: over .* words, each of which is a token",
        ),
        (
            {"model": "unigram", "like": "sentencepiece", "options": {"split_by_whitespace": False}},
            "too small for this corpus: .* sentences, whose order matters",
        ),
        (
            {"model": "word", "like": "sentencepiece", "options": {"use_all_vocab": True}},
            "too small for this vocabulary: over .* words, each of which is a token",
        ),
        (
            {"like": "sentencepiece", "options": {"input_sentence_size": 5000}},
            "too small for this sample: .* sentences, which are held together",
        ),
    ],
)
def test_what_must_be_in_memory_and_does_not_fit(options: dict[str, Any], what: str, small: Path) -> None:
    with pytest.raises(TrainingError, match=what):
        syllabary.train(texts(), memory_limit=100_000, **options)
    assert list(small.iterdir()) == []


@pytest.mark.parametrize("room", [400_000, 700_000, 1_000_000, 1_500_000, 2_500_000])
def test_seeds_and_pieces_that_hardly_fit(room: int, small: Path) -> None:
    """Either it is said what does not fit, or what comes out is the same."""
    call: dict[str, Any] = {"vocab_size": 500, "model": "unigram", "threads": 2}
    whole, said = syllabary.train(texts(), **call), []
    try:
        assert syllabary.train(texts(), memory_limit=room, **call).spec == whole.spec
    except TrainingError as error:
        said.append(str(error))
    told = [
        re.search(r"small for this corpus: .* need \d+ MiB where \d+ MiB are left", each) for each in said
    ]
    assert all(told)
    assert len(said) == (room < 1_500_000)


@pytest.mark.parametrize("name", WORDS)
def test_words(name: str, small: Path) -> None:
    # Below this, what merging itself needs does not fit, as the error says.
    both(small, texts(), limit=24 << 20, num_merges=300, unit="word", **WORDS[name])


def test_a_name_that_comes_again_is_learned_as_without_a_limit(small: Path) -> None:
    """`a` and `b` make a special token's name, which takes no id: their loop, which is run in memory."""
    source = ["abc abd xab yabc " * 9 + "low lower newer " * 3] * 3
    for like in ({"options": {"vocab_size": 30, "pre_tokenizer": "Whitespace"}}, {"vocab_size": 40}):
        whole = both(small, source, like="huggingface", special_tokens=["ab"], **like)
        assert len(whole.merges) > whole.vocab_size - len(set("abcdxylowern ")) - 2


def test_what_their_loop_cannot_hold_is_refused(small: Path) -> None:
    draw = random.Random(2)
    words = ("".join(draw.choices("abc", k=draw.randint(9, 14))) for _ in range(70_000))
    options = {"vocab_size": 300, "pre_tokenizer": "Whitespace", "special_tokens": ["aa", "bb", "cc"]}
    with pytest.raises(TrainingError, match=r"two pairs make one text.*give a higher limit"):
        syllabary.train([" ".join(words)], memory_limit=20 << 20, like="huggingface", options=options)
    assert list(small.iterdir()) == []


def test_distinct_words_that_do_not_fit_are_refused_while_they_are_read(small: Path) -> None:
    source = [
        " ".join(f"{number:x}" for number in range(start, start + 500)) for start in range(0, 90_000, 500)
    ]
    with pytest.raises(TrainingError, match=r"each of which is a token, need .* MiB where"):
        syllabary.train(source, num_merges=9, unit="word", split="whitespace-split", memory_limit=ROOM)
    assert list(small.iterdir()) == []


@pytest.mark.parametrize(
    "more",
    [
        {"unit": "word", "split": "latin"},
        {"like": "sentencepiece"},
        {"like": "huggingface", "options": {"limit_alphabet": 9}},
    ],
)
def test_too_small_a_limit_is_refused_at_once(more: dict[str, Any]) -> None:
    def unread() -> Any:
        raise AssertionError("the corpus was read")
        yield ""

    with pytest.raises(TrainingError, match="give 80 MiB or more"):
        syllabary.train(unread(), memory_limit="79 MiB", **more)


PEAK = """
import random, re, sys, warnings
import syllabary
warnings.simplefilter("ignore")
kind, limit, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
table = bytes(97 + byte % 16 for byte in range(256))
def texts():
    draw = random.Random(5)
    for _ in range(10 * megabytes):
        noise = draw.randbytes(100_000).translate(table).decode()
        if kind == "word":  # few words, many of them
            yield " ".join(noise[at : at + 2] for at in range(0, len(noise), 2))
        else:
            yield " ".join(noise[at : at + 9] for at in range(0, len(noise), 9)).replace("ab", "ab\\n")
options = {
    "sentencepiece": {"like": "sentencepiece", "options": {"vocab_size": 200, "character_coverage": 1.0}},
    "huggingface": {"like": "huggingface", "options": {"vocab_size": 200, "pre_tokenizer": "Whitespace"}},
    "word": {"unit": "word", "split": "whitespace-split", "num_merges": 100},
    "unigram": {"model": "unigram", "split": "whitespace-split"},
    "words": {"like": "sentencepiece", "model": "word", "options": {"vocab_size": 200}},
    "wordpiece": {"like": "huggingface", "model": "wordpiece", "vocab_size": 200},
    "likelihood": {"model": "wordpiece", "vocab_size": 200},
    "wordlevel": {"model": "wordlevel", "vocab_size": 200},
}[kind]
small = {
    "sentencepiece": {"options": {"vocab_size": 14}},
    "huggingface": {"vocab_size": 60, "options": {}},
    "word": {"num_merges": 1},
    "unigram": {"vocab_size": 262},
    "words": {"options": {"vocab_size": 5}},
}.get(kind, {"vocab_size": 30})
syllabary.train(["low low\\nlow lower"] * 9, **{**options, **small})
def status(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1]) << 10
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = status("VmRSS")
tok = syllabary.train(texts(), memory_limit=limit if limit != "none" else None, threads=2, **options)
print((status("VmHWM") - before) >> 20, tok.vocab_size)
"""


# MiB that are given, and MB of text.
PEAKS = {
    "sentencepiece": (80, 6),
    "huggingface": (80, 4),
    "word": (80, 20),
    "words": (80, 5),
    "unigram": (160, 1),
    "wordpiece": (80, 4),
    "likelihood": (160, 1),
    "wordlevel": (80, 5),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peaks are read from /proc")
@pytest.mark.parametrize("kind", PEAKS)
def test_the_peak_stays_below_the_limit(kind: str, tmp_path: Path) -> None:
    """A corpus that takes more where there is none; of what is held in memory in any case, one that fits."""
    most, megabytes = PEAKS[kind]
    command = [sys.executable, "-c", PEAK, kind, f"{most} MiB", str(megabytes)]
    done = subprocess.run(
        command,
        text=True,
        capture_output=True,
        check=False,
        timeout=GUARD,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"(\d+) \d+\n", done.stdout)
    assert found is not None
    assert int(found[1]) <= most
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", ["bpe", "wordpiece"])
@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_no_alphabet_at_all(model: str) -> None:
    """It divided by nothing."""
    given: dict[str, Any] = {"model": model, "like": "huggingface", "options": {"limit_alphabet": 0}}
    limited = syllabary.train(["to be or not"], memory_limit="120 MiB", **given)
    assert limited.spec == syllabary.train(["to be or not"], **given).spec
