"""Comparisons: equal is equal, from a seed the same, resumed and not repeated, and told in true sentences.

Leaves out: the numbers it reports (`test_gpt_evaluate`, `test_gpt_baselines`).
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import Context
from click.testing import CliRunner

import syllabary
from syllabary import shards
from syllabary.cli import gpt_compare
from syllabary.errors import ModelError, ShardError
from syllabary.gpt import compare as module
from syllabary.gpt import defaults
from syllabary.gpt.baselines import Baseline
from syllabary.gpt.compare import Budget, compare, names
from syllabary.gpt.compare_plot import draw
from syllabary.gpt.compare_table import Comparison, Counted, Point, Row
from syllabary.gpt.evaluate import Evaluation, bits_per_byte

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.usefixtures("no_pictures")  # but for those of `found`

ROOT = Path(__file__).parent.parent
TEXTS = [
    paragraph
    for page in sorted((ROOT / "docs").glob("*.md"))
    for paragraph in page.read_text(encoding="utf-8").split("\n\n")
]
SMALL: dict[str, Any] = {"depth": 1, "block_size": 16, "batch_size": 4, "eval_batches": 2, "device": "cpu"}
SETTINGS: dict[str, Any] = {"settings": SMALL, "threads": 1}
BUDGET = Budget(bytes=9000)


@pytest.fixture(scope="module", autouse=True)
def few_points() -> Iterator[None]:
    """Each evaluation draws a picture, which takes longer than these models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "POINTS", 2)
        yield


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Shards of bytes and of 400 tokens, from the same documents."""
    folder = tmp_path_factory.mktemp("sets")
    for name, size in (("bytes", 256), ("small", 400)):
        shards.write(TEXTS, syllabary.train(TEXTS, vocab_size=size), folder / name, val=0.2, special="text")
    return [folder / "bytes", folder / "small"]


@pytest.fixture(scope="module")
def found(sets: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    """A comparison by equal bytes, and its folder."""
    out = tmp_path_factory.mktemp("found") / "out"
    return compare(sets, out, budget=BUDGET, **SETTINGS), out


def test_equal_bytes_are_equal_up_to_a_step(found: tuple[Comparison, Path]) -> None:
    comparison, _ = found
    for row in comparison.rows:
        a_step = row.bytes / row.steps
        assert abs(row.bytes - 9000) <= a_step / 2 + 1
        assert row.tokens == row.steps * 4 * 16
    bytes_row, small = comparison.rows
    assert bytes_row.steps > small.steps
    assert bytes_row.body == small.body
    assert small.embedding - bytes_row.embedding == (400 - 256) * 64


def test_equal_compute_is_equal_up_to_a_step(sets: list[Path], tmp_path: Path) -> None:
    comparison = compare(sets, tmp_path, equal="compute", budget=BUDGET, count=False, **SETTINGS)
    for row in comparison.rows:
        assert abs(row.flops - comparison.budget) <= row.flops / row.steps / 2
    assert comparison.rows[0].bytes == pytest.approx(9000, abs=64)
    assert "same compute" in comparison.words()
    assert not comparison.counted


def test_the_number_is_that_of_the_last_weights_on_the_whole_text(
    sets: list[Path], found: tuple[Comparison, Path]
) -> None:
    from syllabary.gpt import checkpoint

    comparison, out = found
    for path, row in zip(sets, comparison.rows, strict=True):
        val = shards.open(path).val
        assert val is not None
        model = checkpoint.load(out / row.name / f"checkpoint-{row.steps}.safetensors").build()
        measured = bits_per_byte(model, val)
        assert row.evaluation.tokens == measured.tokens == len(val.ids) - 1
        assert row.evaluation.bytes == val.text_bytes
        assert row.bits_per_byte == pytest.approx(measured.bits_per_byte, rel=1e-6)
        assert row.bytes_per_token == val.text_bytes / len(val.ids)
    assert comparison.digest == val.digest


def test_files_hold_what_is_returned(found: tuple[Comparison, Path]) -> None:
    comparison, out = found
    page = (out / "compare.md").read_text(encoding="utf-8")
    assert page == f"{comparison.table()}\n\n{comparison.words()}\n"
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {12}
    assert [line.split("|")[1].strip() for line in rows[2:]] == [
        "bytes", "small", "byte trigram", "token unigram, bytes", "token unigram, small",
        "token bigram, bytes", "token bigram, small",
    ]  # fmt: skip
    record = json.loads((out / "compare.json").read_text(encoding="utf-8"))
    assert record["models"][1]["evaluation"]["bits_per_byte"] == comparison.rows[1].bits_per_byte
    assert record["val"]["sha256_documents"] == comparison.digest
    assert record["words"] == comparison.words()
    assert (out / "compare.png").read_bytes().startswith(b"\x89PNG")


def timeless(value: Any) -> Any:
    """JSON without seconds."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key != "seconds"}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def test_from_one_seed_the_same_from_another_not(
    sets: list[Path], found: tuple[Comparison, Path], tmp_path: Path
) -> None:
    again = compare(sets, tmp_path / "again", budget=BUDGET, **SETTINGS)
    assert timeless(json.loads(json.dumps(again.record()))) == timeless(
        json.loads((found[1] / "compare.json").read_text(encoding="utf-8"))
    )
    other = {**SETTINGS, "settings": {**SMALL, "seed": 1}}
    different = compare(sets[1:], tmp_path / "other", budget=BUDGET, count=False, **other)
    assert different.rows[0].bits_per_byte != again.rows[1].bits_per_byte


def test_what_is_finished_is_not_repeated(
    sets: list[Path], found: tuple[Comparison, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison, out = found
    told: list[str] = []
    again = compare(sets, out, budget=BUDGET, report=lambda name, _: told.append(name), **SETTINGS)
    assert told == []
    assert again == dataclasses.replace(comparison, counted=again.counted)


def test_an_interrupted_one_goes_on_to_the_same(
    sets: list[Path], found: tuple[Comparison, Path], tmp_path: Path
) -> None:
    def stop(name: str, event: Any) -> None:
        if name == "small" and event.kind == "step" and event.entry["step"] == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(sets, tmp_path, budget=BUDGET, report=stop, **SETTINGS)
    assert not (tmp_path / "compare.json").exists()
    begun: dict[str, int] = {}

    def note(name: str, event: Any) -> None:
        if event.kind == "start":
            begun[name] = event.entry["step"]

    resumed = compare(sets, tmp_path, budget=BUDGET, report=note, **SETTINGS)
    assert begun == {"small": 5}
    assert [row.bits_per_byte for row in resumed.rows] == [row.bits_per_byte for row in found[0].rows]


def test_other_settings_in_the_same_folder_are_an_error(
    sets: list[Path], found: tuple[Comparison, Path]
) -> None:
    with pytest.raises(ModelError, match="other settings"):
        compare(sets, found[1], budget=Budget(bytes=5000), **SETTINGS)


def test_other_held_out_texts_are_an_error(sets: list[Path], tmp_path: Path) -> None:
    tokenizer = shards.open(sets[0]).tokenizer()
    shards.write(TEXTS, tokenizer, tmp_path / "other", val=0.2, seed=1, special="text")
    with pytest.raises(ShardError, match=r"different texts .* same --val and --seed"):
        compare([*sets, tmp_path / "other"], tmp_path / "out", budget=BUDGET, **SETTINGS)
    shards.write(TEXTS, tokenizer, tmp_path / "none", special="text")
    with pytest.raises(ShardError, match=r"no document is held out: .*--val 0\.1"):
        compare([tmp_path / "none"], tmp_path / "out", **SETTINGS)
    with pytest.raises(ShardError, match="nothing to compare"):
        compare([], tmp_path / "out", **SETTINGS)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "budget, message",
    [
        ({"epochs": 1, "flops": 2}, "both epochs and flops"),
        ({"bytes": 0}, "bytes is 0"),
        ({"epochs": -1.0}, "epochs is -1.0"),
        ({"flops": float("nan")}, "flops is nan"),
    ],
)
def test_budgets_that_cannot_be(budget: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Budget(**budget)


def test_flops_are_for_equal_compute(sets: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="--equal compute"):
        compare(sets, tmp_path, budget=Budget(flops=1e9), **SETTINGS)


def test_a_tokenizer_that_changes_the_text_is_named(tmp_path: Path) -> None:
    texts = [unicodedata.normalize("NFD", f"{text} é") for text in TEXTS]
    tokenizer = syllabary.train(texts, vocab_size=300, normalize="NFC")
    shards.write(texts, tokenizer, tmp_path / "composed", val=0.2, special="text")
    words = compare([tmp_path / "composed"], tmp_path / "out", budget=Budget(bytes=500), **SETTINGS).words()
    assert "`composed` does not give the text back as it was" in words


def test_what_else_is_unequal_is_said(sets: list[Path], tmp_path: Path) -> None:
    tokenizer = syllabary.train(TEXTS, vocab_size=300, special_tokens=["<|end|>"])
    shards.write(TEXTS, tokenizer, tmp_path / "ends", val=0.2, special="text", end="<|end|>")
    paths = [sets[1], tmp_path / "ends"]
    assert module._unequal(plans_of(sets, tmp_path)) == []
    (sentence,) = module._unequal(plans_of(paths, tmp_path))
    assert sentence.startswith("Only `ends` must also predict where documents end")
    fewer = [text for text in TEXTS if len(text) > 30]
    shards.write(fewer, tokenizer, tmp_path / "fewer", val=0.2, special="text", end="<|end|>")
    held_out = [plans_of([path], tmp_path)[0] for path in (tmp_path / "ends", tmp_path / "fewer")]
    assert module._unequal(held_out) == ["The models were not trained on the same documents."]


def plans_of(paths: list[Path], out: Path) -> list[module.Plan]:
    return module.plan(paths, out, equal="bytes", budget=BUDGET, settings=SMALL)[1]


def test_names_are_different() -> None:
    assert names(["a/x", "b/x", "x-2", "c/x/"]) == ["x", "x-2", "x-2-2", "x-3"]
    assert names(["a/漢 $x", "b/x\ny", "c/x\udcff"]) == ["漢 $x", r"x\ny", r"x\udcff"]


def test_names_of_any_folder_stand_in_table_and_picture(
    found: tuple[Comparison, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`|` ends a cell, `$` begins a formula (here a wrong one), and what begins with `_` is hidden."""
    told: list[str] = []
    figure = importlib.import_module("matplotlib.figure").Figure
    legend = figure.legend
    monkeypatch.setattr(figure, "legend", lambda *args, **more: (told.extend(args[2]), legend(*args, **more)))
    rows = [
        dataclasses.replace(row, name=name)
        for row, name in zip(found[0].rows, [r"$\no$|", "_x"], strict=True)
    ]
    comparison = dataclasses.replace(found[0], rows=rows, counted=())
    draw(comparison, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert [label.partition(":")[0] for label in told] == [r"\$\no\$|", " _x"]
    assert r"| $\no$\| |" in comparison.table()


@pytest.mark.parametrize("command", [gpt_compare.compare, gpt_compare.baselines], ids=lambda one: one.name)
def test_examples_of_the_help_have_options_that_exist(command: Any) -> None:
    shown = command.get_help(Context(command, info_name=command.name, terminal_width=200))
    lines = [line.strip() for line in shown.splitlines() if line.strip().startswith("$ ")]
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words[1:4] == ["syllabary", "gpt", command.name]
        command.make_context(command.name, words[4:])


@pytest.mark.parametrize("name", ["steps", "epochs"])
def test_how_long_is_said_by_the_budget_alone(sets: list[Path], tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=f"{name} is set by the budget"):
        compare(sets, tmp_path, settings={name: 3})


def test_without_settings_models_are_those_of_gpt_train(sets: list[Path], tmp_path: Path) -> None:
    _, plans = module.plan(sets, tmp_path, equal="bytes", budget=None, settings={"device": "cpu"})
    for path, one in zip(sets, plans, strict=True):
        model, training = defaults.settings(shards.open(path), "cpu")
        assert one.model == model
        often = {"steps", "warmup", "eval_every", "save_every", "eval_batches", "device"}
        was, now = training.to_json(), one.train.to_json()
        assert {name for name in was if was[name] != now[name]} <= often
        assert one.tokens * one.bytes_per_token == pytest.approx(plans[0].shards.train.text_bytes, rel=0.2)


# ---- words ----


def row(name: str, bits: float, flops: float = 1e12, size: int = 2_000_000) -> Row:
    nats = bits * 1000 * 0.6931471805599453
    point = Point(size / 2, flops / 2, bits + 1)
    return Row(
        name, "0" * 64, 500, 2.0, 50_000, 9_000, 10, 1_000_000, size, flops, 60.0,
        Evaluation(nats, 499, 1000, 1.0), (Point(0, 0, 8.0), point),
    )  # fmt: skip


def counted(name: str, bits: float, of: str | None = None) -> Counted:
    return Counted(of, Baseline(name, bits * 1000 * 0.6931471805599453, 1000, 1000, 9000, 1.0))


def result(*rows: Row, **more: Any) -> Comparison:
    settings: dict[str, Any] = {"equal": "bytes", "budget": 2e6, "seed": 3, "layers": 4, "width": 256}
    text = {"block": 128, "documents": 7, "bytes": 1000, "digest": "0" * 64}
    return Comparison(rows=rows, **{**settings, **text, **more})


def test_words_name_the_best_and_the_distance() -> None:
    words = result(row("a", 2.0, 3e12), row("b", 1.6), row("c", 1.7)).words()
    assert words.startswith("Of 3 tokenizers, `b` does best: 1.600 bits per byte on 1,000 bytes")
    assert "6.2 % more with `c` and 25.0 % more with `a`" in words
    assert "same amount of text, 2.0 MB; that took `a` 3.0 times the compute of `b`" in words
    assert "another seed might" not in words
    assert words.endswith("a larger vocabulary brings more parameters.")


def test_words_distrust_a_small_lead() -> None:
    assert "The lead over `a` is so small" in result(row("a", 1.605), row("b", 1.6)).words()


def test_words_of_equal_compute() -> None:
    words = result(row("a", 2.0, size=500_000), row("b", 1.6), equal="compute").words()
    assert (
        "same compute, 1.00e12 floating-point operations; for that `b` saw 2.0 MB of text, and `a` 0.5"
        in words
    )


def test_words_of_one_model_compare_it_with_counting() -> None:
    lines = (counted("byte trigram", 2.05), counted("token bigram", 1.24, "a"))
    words = result(row("a", 1.5), counted=lines).words()
    assert words.startswith("`a` reaches 1.500 bits per byte on 1,000 bytes of held-out text in 7 documents.")
    assert "It beats counting: byte trigram (2.050)." in words
    assert "It has not yet reached token bigram (1.240)" in words


def test_counting_of_other_tokenizers_is_left_to_the_table() -> None:
    found = result(row("a", 1.5), row("b", 1.6), counted=(counted("token unigram", 1.7, "b"),))
    assert "1.700" not in found.words()
    assert "| token unigram, b |" in found.table()


def test_the_picture_shows_all_that_matters() -> None:
    from syllabary.gpt.compare_plot import _range

    found = result(row("a", 1.5), row("b", 1.6), counted=(counted("byte trigram", 2.05),))
    low, high = _range(found)
    assert low < 1.5
    assert 2.05 < high < 3


# ---- the commands ----


def test_the_command_prints_the_table_and_the_words(sets: list[Path], tmp_path: Path) -> None:
    arguments = [*map(str, sets), "-o", str(tmp_path / "out"), "--bytes", "4e3", "--depth", "1"]
    arguments += ["--block-size", "16", "--batch-size", "4", "--threads", "1", "--device", "cpu"]
    done = CliRunner().invoke(gpt_compare.compare, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    page = (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")
    assert done.stdout == page
    steps = json.loads((tmp_path / "out" / "compare.json").read_text())["models"][0]["steps"]
    assert f"bytes: step {steps} of {steps}" in done.stderr
    assert "saved in" in done.stderr
    again = CliRunner().invoke(gpt_compare.compare, [*arguments, "-q", "--no-baselines"])
    assert again.stderr == ""
    assert "trigram" not in again.stdout


def test_the_command_of_baselines(sets: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(gpt_compare.baselines, [str(sets[1])], catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert [line[:13].strip() for line in lines] == ["byte trigram", "token unigram", "token bigram"]
    as_json = CliRunner().invoke(gpt_compare.baselines, [str(sets[1]), "--json"], catch_exceptions=False)
    record = json.loads(as_json.stdout)["baselines"]
    assert [f"{one['bits_per_byte']:.4f}" for one in record] == [line.split()[2] for line in lines]


def test_plans_are_made_before_anything_is_trained(sets: list[Path], tmp_path: Path) -> None:
    wanted, plans = module.plan(sets, tmp_path, equal="bytes", budget=Budget(epochs=2), settings=SMALL)
    text = plans[0].shards.train.text_bytes
    for one in plans:
        assert wanted == 2 * text
        assert one.tokens * one.bytes_per_token == pytest.approx(2 * text, rel=0.01)
        assert one.train.warmup == one.train.steps // 20
        assert 1 < one.train.steps / one.train.eval_every <= module.POINTS
    assert not list(tmp_path.iterdir())
