"""Parity-aware training: engine and specification are one, and both are Hugging Face's trainer.

Texts are drawn over a few letters, so that ties, runs and languages that run out of pairs are common.
"""

from __future__ import annotations

import json
import lzma
import random
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import syllabary
from syllabary import Parity, TrainingError, growth, growth_text, splits
from syllabary.cli import main
from syllabary.corpus.corpus import Corpus
from syllabary.counts import PieceCounts
from syllabary.reference import train_parity as reference
from syllabary.reference.train_parity import ParityRules
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.training.parity import train_parity

Texts = dict[str, list[str]]
SPACED = TrainOptions(
    splits.get("whitespace-split"), unit="char", num_merges=20, min_frequency=1, tie_break="largest-pair"
)


def drawn(seed: int) -> Iterator[tuple[Texts, Texts | None, ParityRules]]:
    """Corpora, texts to judge by or none, and rules."""
    draw = random.Random(seed)

    def text(letters: str, length: int) -> str:
        return "".join(draw.choice(letters) for _ in range(length)) + " q"

    for _ in range(60):
        names = [f"l{number}" for number in range(draw.randint(1, 4))]
        letters = ["ab cd  e"[: draw.randint(3, 8)] if draw.random() < 0.7 else "xyzw  " for _ in names]
        corpora = {
            name: [text(kind, draw.randint(5, 120)) for _ in range(draw.randint(1, 4))]
            for name, kind in zip(names, letters, strict=True)
        }
        judged = draw.random() < 0.4
        ratios = {name: draw.choice([0.5, 1, 1.3, 2]) for name in names[: draw.randint(0, 4)]}
        window = draw.choice([None, 1, 2, 5, 100])
        rules = ParityRules(
            None if judged or not ratios else ratios,
            window,
            draw.choice([0.5, 1.0, 1.5, 2.0]),
            draw.choice([0, 0, 3, 50]),
        )
        dev = {name: [text("ab cd  exyz", draw.randint(5, 60))] for name in names} if judged else None
        yield corpora, dev, rules


def by_engine(
    corpora: Texts, options: TrainOptions, rules: ParityRules, dev: Texts | None
) -> syllabary.Tokenizer:
    parity = Parity(rules.ratios, rules.window, rules.alpha, rules.global_merges, dev)
    return train_parity(corpora, options, parity, threads=2, report=None)


@pytest.fixture(autouse=True)
def may_stop_early() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        yield


@pytest.mark.parametrize("seed", range(2))
def test_the_engine_is_the_specification(seed: int) -> None:
    draw = random.Random(seed)
    for corpora, dev, rules in drawn(seed):
        options = replace(
            SPACED,
            unit=draw.choice(["byte", "char"]),
            alphabet=draw.choice(["all", "seen"]),
            num_merges=draw.choice([5, 20, 40]),
            min_frequency=draw.choice([1, 2, 3]),
            tie_break=draw.choice(["smallest-ids", "largest-pair"]),
            max_token_length=draw.choice([None, None, 2, 3]),
            special_tokens=draw.choice([(), ("a b",)]),
            normalize=draw.choice([None, "NFC"]),
        )
        if options.unit == "char" and draw.random() < 0.5:
            options = replace(options, end_of_word="</w>", fallback=draw.random() < 0.5)
        expected = reference.train(corpora, options, rules, dev)
        spec = by_engine(corpora, options, rules, dev).spec
        assert (spec.tokens, spec.merges) == (expected.tokens, expected.merges)


def theirs(
    corpora: Texts, rules: ParityRules, dev: Texts | None, num_merges: int = 20
) -> list[tuple[str, str]]:
    """The merges of Hugging Face's trainer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    window = (
        {}
        if rules.window is None
        else {"variant": "window", "window_size": rules.window, "alpha": rules.alpha}
    )
    trainer = trainers.ParityBpeTrainer(
        num_merges=num_merges,
        min_frequency=1,
        show_progress=False,
        global_merges=rules.global_merges,
        **window,
    )
    texts = [iter(documents) for documents in corpora.values()]
    if dev is not None:
        trainer.train_from_iterator(tokenizer, texts, dev_iterators=[iter(text) for text in dev.values()])
    else:
        ratios = [(rules.ratios or {}).get(name, 1.0) for name in corpora]
        trainer.train_from_iterator(tokenizer, texts, ratio=ratios)
    merges: list[tuple[str, str]] = [
        (left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]
    ]
    return merges


def runs_out(corpora: Texts, rules: ParityRules, dev: Texts | None) -> bool:
    """Whether a language is chosen that has no pair left: with a window, their trainer may then never end."""
    languages = reference.Languages(corpora, dev, SPACED)
    list(reference.parity_steps(languages, SPACED, rules))
    return any(not reference.pair_counts(sequences) for sequences in languages.corpora.values())


@pytest.mark.parametrize("seed", range(10, 14))
def test_the_merges_are_hugging_faces(seed: int) -> None:
    compared = windowed = 0
    for corpora, dev, rules in drawn(seed):
        fair = replace(rules, alpha=max(rules.alpha, 1.0))
        if fair.window is not None and runs_out(corpora, fair, dev):
            continue
        spec = by_engine(corpora, SPACED, fair, dev).spec
        ours = [
            (spec.tokens[left].decode(), spec.tokens[right].decode())
            for left, right, _id in spec.merges or ()
        ]
        assert ours == theirs(corpora, fair, dev)
        compared += 1
        windowed += fair.window is not None
    assert compared > 20
    assert windowed > 5


def test_real_text_is_merged_as_hugging_face_does(shared: Path, prove: bool) -> None:
    size = 5_000_000 if prove else 60_000
    corpora = {}
    for name in ("latin", "greek", "english", "chinese"):
        with lzma.open(shared / "corpora" / f"{name}.txt.xz") as file:
            corpora[name] = [file.read(size).decode("utf-8", "ignore")]
    rules = ParityRules(global_merges=100)
    options = replace(SPACED, num_merges=5000 if prove else 500)
    spec = by_engine(corpora, options, rules, None).spec
    ours = [
        (spec.tokens[left].decode(), spec.tokens[right].decode()) for left, right, _id in spec.merges or ()
    ]
    assert ours == theirs(corpora, rules, None, options.num_merges or 0)


LATIN = ["arma virumque cano troiae qui primus ab oris italiam fato profugus laviniaque venit litora"] * 3
ENGLISH = ["i sing of arms and the man who first from the shores of troy exiled by fate came to italy"] * 30


def test_a_language_of_little_text_is_served_like_the_others() -> None:
    both = {"latin": LATIN, "english": ENGLISH}
    tok = syllabary.train(both, num_merges=60)
    plain = syllabary.train([*LATIN, *ENGLISH], num_merges=60)

    def spread(one: syllabary.Tokenizer) -> float:
        sizes = [len("".join(texts)) / sum(map(one.count, texts)) for texts in both.values()]
        return max(sizes) / min(sizes)

    assert spread(tok) < 1.05 < spread(plain)
    served = tok.spec.record["languages"]
    assert isinstance(served, Mapping)
    assert served["latin"]["merges"] + served["english"]["merges"] == 60
    assert served["latin"]["tokens"] == sum(map(tok.count, LATIN))


def test_tables_of_counts_are_languages_too() -> None:
    tables = {"latin": PieceCounts.of(LATIN), "english": PieceCounts.of(ENGLISH)}
    by_text = syllabary.train({"latin": LATIN, "english": ENGLISH}, 300)
    assert syllabary.train(tables, 300).merges == by_text.merges


# ---- many sizes ----


def beginning(spec: TokenizerSpec) -> TokenizerSpec:
    """Without the record of what became of each language, which is known of the end alone."""
    return replace(spec, record={key: value for key, value in spec.record.items() if key != "languages"})


@pytest.mark.parametrize("seed", range(4))
def test_fewer_merges_are_a_beginning_of_more(seed: int) -> None:
    """In the definition and in the engine: what is chosen hangs on what was merged, not on what will be."""
    for corpora, dev, rules in drawn(seed):
        whole = quietly(corpora, dev, rules, SPACED)
        least = whole.vocab_size - len(whole.merges)
        for merges in {0, 1, len(whole.merges) // 2, max(len(whole.merges) - 1, 0)}:
            fewer = replace(SPACED, num_merges=merges)
            cut = whole.truncate(least + merges)
            assert beginning(cut.spec) == beginning(quietly(corpora, dev, rules, fewer).spec)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                defined = reference.train(corpora, fewer, rules, dev)
            assert replace(cut.spec, record={}) == replace(defined, record={})


def quietly(
    corpora: Texts, dev: Texts | None, rules: ParityRules, options: TrainOptions
) -> syllabary.Tokenizer:
    told = {name: getattr(rules, name) for name in ("ratios", "window", "alpha", "global_merges")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train_parity(corpora, options, Parity(**told, dev=dev), threads=1, report=None)


@pytest.mark.parametrize("options", [{}, {"parity": Parity(window=5, alpha=1.5, global_merges=3)}])
def test_sizes_of_several_languages(options: dict[str, Any]) -> None:
    """Each is what training gives on what was not held out, of which each language gives its part."""
    texts = {"latin": LATIN * 40, "english": ENGLISH * 40}
    found = growth.sizes(texts, [270, 300], val=0.2, **options)
    assert found.held_out == "text held out of training, 20 % of each language"
    kept = {name: growth_text.HeldOut(Corpus(each), 0.2) for name, each in texts.items()}
    for size, tok in found.tokenizers.items():
        assert beginning(tok.spec).tokens == syllabary.train(kept, size, **options).spec.tokens
    held_out = [text for each in kept.values() for text in each.held_out]
    assert all(each.held_out for each in kept.values())
    assert [row.tokens for row in found.rows] == [
        sum(len(tok.encode(text)) for text in held_out) for tok in found.tokenizers.values()
    ]
    given = growth.sizes(texts, [270, 300], held_out=held_out, **options)
    for size, tok in given.tokenizers.items():
        assert beginning(tok.spec) == beginning(syllabary.train(texts, size, **options).spec)
    assert "languages" in given.tokenizers[300].spec.record


def test_what_is_wrong_with_sizes_of_languages_is_said_before_training() -> None:
    texts: dict[str, Any] = {"latin": LATIN, "english": ENGLISH}
    with pytest.raises(TrainingError, match="'z' has no texts"):
        growth.sizes(texts, [270], held_out=["x"], parity=Parity(ratios={"z": 1.0}))
    with pytest.raises(TrainingError, match="parity is between languages: give a dict"):
        growth.sizes(LATIN, [270], held_out=["x"], parity=Parity())
    with pytest.raises(TrainingError, match="vocab_size is 100"):
        growth.sizes(texts, [100, 270], held_out=["x"])
    table = PieceCounts.of(LATIN)
    with pytest.raises(TrainingError, match="a table of pieces holds no text to measure on: give held_out"):
        growth.sizes({"latin": table, "english": ENGLISH}, [270])
    assert growth.sizes({"latin": table, "english": ENGLISH}, [270], held_out=["x y"]).rows[0].tokens


def test_the_command_writes_a_tokenizer_of_each_size(working_folder: Path) -> None:
    for name, texts in (("latin", LATIN), ("english", ENGLISH)):
        Path(f"{name}.txt").write_text("\n".join(texts * 40))
    shared = ["train", "--parity", "latin.txt", "english.txt", "-o", "t.syllabary.json"]
    done = CliRunner().invoke(main, [*shared, "--sizes", "270,300", "--held-out", "latin.txt"])
    assert done.exit_code == 0, done.stderr
    assert "merges for it" in done.stderr
    for size in (270, 300):
        alone = CliRunner().invoke(main, [*shared, "--vocab-size", f"{size}"])
        assert alone.exit_code == 0, alone.stderr
        one, other = (syllabary.load(f"t{part}.syllabary.json").spec for part in (f"-{size}", ""))
        assert beginning(one) == beginning(other)
    done = CliRunner().invoke(main, [*shared, "--sizes", "270,300", "-q"])
    assert (done.exit_code, done.stderr) == (0, "")


# ---- what cannot be ----


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"source": {}}, "no language"),
        ({"source": {"a": ["x y"], "b": []}}, "^b: "),
        ({"parity": Parity(ratios={"z": 1.0})}, "'z' has no texts"),
        ({"parity": Parity(ratios={"a": 0.0})}, "above 0"),
        ({"parity": Parity(ratios={"a": float("nan")})}, "above 0"),
        ({"parity": Parity(window=0)}, "window is 0"),
        ({"parity": Parity(alpha=-1.0)}, "alpha is -1"),
        ({"parity": Parity(global_merges=-1)}, "global_merges is -1"),
        ({"parity": Parity(dev={"a": ["x"]})}, "no text in b"),
        ({"parity": Parity(ratios={"a": "1"})}, "the ratio of a is '1': give a number"),  # type: ignore[dict-item]
        ({"parity": Parity(alpha="2")}, "alpha is '2': give a number"),  # type: ignore[arg-type]
        ({"parity": Parity(global_merges=2.0)}, "global_merges is 2.0"),  # type: ignore[arg-type]
        ({"parity": Parity(window="5")}, "window is '5': give an integer"),  # type: ignore[arg-type]
        ({"model": "unigram"}, "a source is no dict, but for languages"),
        ({"parity": Parity(dev={"a": ["x"], "b": ["y"]}, ratios={"a": 2.0})}, "both dev and ratios"),
        ({"unit": "word"}, "several languages"),
        ({"tie_break": "first-seen"}, "several languages"),
        ({"like": "huggingface"}, "do not go together"),
        ({"like": "sentencepiece"}, "do not go together"),
        (
            {"memory_limit": "1GB"},
            "merged in memory; leave memory_limit out. .*count each language with count_pi",
        ),
        ({"superwords": 300}, "do not go together"),
        ({"source": ["x"], "parity": Parity()}, "dict of language"),
    ],
)
def test_contradictions_are_errors(arguments: dict[str, object], message: str) -> None:
    wanted: dict[str, object] = {"source": {"a": ["aa ab"], "b": ["ba bb"]}, "vocab_size": 260} | arguments
    with pytest.raises((syllabary.TrainingError, syllabary.CorpusError, TypeError), match=message):
        syllabary.train(**wanted)  # type: ignore[arg-type]


def test_the_command_takes_tables_of_counts_as_languages(working_folder: Path) -> None:
    for name, texts in (("latin", LATIN), ("english", ENGLISH)):
        Path(f"{name}.txt").write_text("\n".join(texts))
        PieceCounts.of(f"{name}.txt", normalize="NFC").save(f"{name}.parquet")
    whole = ["train", "--parity", "--vocab-size", "300", "-o"]
    for out, files in (
        ("a.json", ["latin.txt", "english.txt"]),
        ("b.json", ["latin.parquet", "english.txt"]),
    ):
        done = CliRunner().invoke(main, [*whole, out, *files, "--normalize", "NFC"])
        assert done.exit_code == 0, done.stderr
    done = CliRunner().invoke(main, [*whole, "c.json", "latin.parquet", "english.parquet"])
    assert done.exit_code == 0, done.stderr
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes() == Path("c.json").read_bytes()
    done = CliRunner().invoke(main, [*whole, "d.json", "latin.parquet", "english.txt"])
    assert done.exit_code == 0, done.stderr  # a table decides the normal form of all
    assert Path("d.json").read_bytes() == Path("a.json").read_bytes()


def test_the_command_trains_on_each_file_as_a_language(working_folder: Path) -> None:
    (working_folder / "latin.txt").write_text("\n".join(LATIN), encoding="utf-8")
    (working_folder / "english.txt").write_text("\n".join(ENGLISH), encoding="utf-8")
    command = ["train", "latin.txt", "english.txt", "--parity", "-o", "tok.json", "--num-merges", "50"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "latin: " in result.stderr
    files = {name: [working_folder / f"{name}.txt"] for name in ("latin", "english")}
    assert syllabary.load("tok.json").merges == syllabary.train(files, num_merges=50).merges
    judged = CliRunner().invoke(main, [*command, "--dev", "latin.txt", "--dev", "english.txt"])
    assert judged.exit_code == 0, judged.output
    assert (
        syllabary.load("tok.json").merges
        == syllabary.train(files, num_merges=50, parity=Parity(dev=files)).merges
    )


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["a.txt", "--dev", "a.txt"], "--dev goes with --parity"),
        (["a.txt", "a.txt", "--parity"], "two of FILES"),
        (["a.txt", "--parity", "--dev", "a.txt", "--dev", "a.txt"], "give as many"),
    ],
)
def test_the_command_refuses_what_contradicts_itself(
    working_folder: Path, arguments: list[str], message: str
) -> None:
    (working_folder / "a.txt").write_text("ab ab", encoding="utf-8")
    result = CliRunner().invoke(main, ["train", *arguments, "-o", "tok.json"])
    assert result.exit_code == 2
    assert message in result.stderr
