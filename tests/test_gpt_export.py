"""Export: `transformers` opens the folder and gives the same logits; the run's folder; the verbs on it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

import syllabary  # noqa: E402
from syllabary.cli import main  # noqa: E402
from syllabary.cli.gpt_sample import _show, export, sample  # noqa: E402
from syllabary.errors import CheckpointError, ModelError  # noqa: E402
from syllabary.gpt import checkpoint  # noqa: E402
from syllabary.gpt.config import ModelConfig  # noqa: E402
from syllabary.gpt.export import to_transformers  # noqa: E402
from syllabary.gpt.model import GPT  # noqa: E402
from syllabary.gpt.trained import open_trained  # noqa: E402

TEXT = "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος. arma virumque cano, Troiae qui primus ab oris"
VARIANTS: dict[str, dict[str, Any]] = {
    "gpt2": {},
    "relu": {"activation": "relu"},
    "untied": {"tie_weights": False},
    "no bias": {"bias": False},
    "no qkv bias": {"qkv_bias": False},
    "embd scale": {"attention_scale": "embd"},
    "tutorial": {
        "activation": "relu",
        "qkv_bias": False,
        "tie_weights": False,
        "attention_scale": "embd",
    },
}


def a_run(folder: Path, tok: syllabary.Tokenizer, **changes: Any) -> Path:
    """The folder of a run whose weights all matter; vocab_size may be above the tokenizer's."""
    shape = {"block_size": 16, "n_layer": 2, "n_head": 4, "n_embd": 32, "dropout": 0.1}
    model = GPT(ModelConfig(**{"vocab_size": max(tok.vocab) + 1, **shape, **changes}), 1)
    draws = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.empty(weight.shape).normal_(0, 0.1, generator=draws))
    folder.mkdir(exist_ok=True)
    checkpoint.save(folder / "checkpoint-5.safetensors", model=model, step=5)
    tok.save(folder / "tokenizer.syllabary.json")
    return folder


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train([TEXT] * 2, vocab_size=300, special_tokens=["<|end|>"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tok: syllabary.Tokenizer) -> Path:
    return a_run(tmp_path_factory.mktemp("run"), tok)


@pytest.fixture
def transformers() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        yield pytest.importorskip("transformers")


# ---- transformers ----


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_transformers_gives_the_same_logits(
    name: str, tmp_path: Path, tok: syllabary.Tokenizer, transformers: Any
) -> None:
    folder = a_run(tmp_path / "run", tok, **VARIANTS[name])
    report = to_transformers(folder, tmp_path / "gpt2")
    model = open_trained(folder).model
    theirs, info = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "gpt2", output_loading_info=True, dtype=torch.float32
    )
    assert type(theirs).__name__ == "GPT2LMHeadModel"
    assert not any(info.values()), info  # no weight missing, none left over
    ids = torch.randint(model.config.vocab_size, (3, 16), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        mine, other = model.logits(ids), theirs.eval()(ids).logits
    assert mine.std() > 0.5
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    assert {path.name for path in report.files} == {path.name for path in (tmp_path / "gpt2").iterdir()}


def test_transformers_reads_the_tokenizer_too(
    run: Path, tmp_path: Path, tok: syllabary.Tokenizer, transformers: Any
) -> None:
    report = to_transformers(run, tmp_path)
    assert [loss for loss in report.losses if "no id changes" not in loss] == []
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs(TEXT)["input_ids"] == tok.encode(TEXT)
    assert theirs.decode(tok.encode(TEXT)) == TEXT
    assert theirs.eos_token_id == tok.special_tokens["<|end|>"]
    assert theirs.model_max_length == 16
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert model.config.eos_token_id == tok.special_tokens["<|end|>"]
    ids = torch.tensor([tok.encode("arma")])
    drawn = model.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)
    assert drawn.shape[1] > ids.shape[1]


def test_without_an_end_token_there_is_none_in_the_config(tmp_path: Path) -> None:
    plain = syllabary.train([TEXT] * 2, vocab_size=280)
    to_transformers(a_run(tmp_path / "run", plain), tmp_path / "out")
    written = json.loads((tmp_path / "out" / "config.json").read_bytes())
    assert (written["eos_token_id"], written["bos_token_id"]) == (None, None)
    assert (written["vocab_size"], written["n_positions"]) == (280, 16)


def test_rotary_positions_are_refused_and_nothing_is_written(
    tmp_path: Path, tok: syllabary.Tokenizer
) -> None:
    folder = a_run(tmp_path / "run", tok, positions="rotary")
    with pytest.raises(ModelError, match="rotary positions: GPT-2 adds a learned vector"):
        to_transformers(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_without_the_tokenizer_says_so(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    folder, out = a_run(tmp_path / "run", tok), tmp_path / "out"
    to_transformers(folder, out)
    assert (out / "tokenizer.json").exists()
    (folder / "tokenizer.syllabary.json").unlink()
    report = to_transformers(folder, out)
    assert report.losses == ("no tokenizer: none lies beside checkpoint-5.safetensors",)
    left = {"config.json", "model.safetensors"}  # not the tokenizer of before
    assert left == {path.name for path in report.files} == {path.name for path in out.iterdir()}

    words = syllabary.train([TEXT] * 2, vocab_size=20, unit="word", min_frequency=1)
    report = to_transformers(a_run(tmp_path / "words", words), out)
    assert len(report.losses) == 1
    assert report.losses[0].startswith("no tokenizer.json: tokenizer.json cannot hold tokens whose symbols")
    assert left == {path.name for path in out.iterdir()}


# ---- the folder of a run ----


def test_the_best_or_else_the_newest_is_opened(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    folder = a_run(tmp_path / "run", tok)
    model = open_trained(folder).model
    checkpoint.save(folder / "checkpoint-30.safetensors", model=model, step=30)
    checkpoint.save(folder / "checkpoint-4.safetensors", model=model, step=4)
    assert open_trained(folder).step == 30
    checkpoint.save(folder / "best.safetensors", model=model, step=20)
    assert open_trained(folder).step == 20
    assert open_trained(folder, "checkpoint-4.safetensors").step == 4
    assert open_trained(folder, str(folder / "checkpoint-4.safetensors")).step == 4
    assert open_trained(folder / "checkpoint-4.safetensors").step == 4
    assert open_trained(folder / "checkpoint-4.safetensors").tok is not None


def test_a_damaged_checkpoint_has_a_way_out(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    """Nothing is to be deleted, which may be no checkpoint at all; another one of the run is named."""
    folder = a_run(tmp_path / "run", tok)
    (folder / "config.json").write_text("{}")
    with pytest.raises(CheckpointError, match="or no checkpoint") as caught:
        open_trained(folder, "config.json")
    assert "delete" not in str(caught.value)
    best = folder / "best.safetensors"
    model = open_trained(folder).model
    for file, step in (
        (best, 20),
        (folder / "checkpoint-4.safetensors", 4),
        (folder / "checkpoint-30.safetensors", 30),
    ):
        checkpoint.save(file, model=model, step=step)
    best.write_bytes(best.read_bytes()[:-100])
    done = CliRunner().invoke(main, ["gpt", "sample", str(folder)])
    assert done.exit_code == 1
    assert "best.safetensors: cut short" in done.stderr
    assert "--checkpoint checkpoint-30.safetensors is another one of this run" in done.stderr
    (folder / "checkpoint-30.safetensors").write_bytes(b"")
    with pytest.raises(
        CheckpointError, match=r"older checkpoint once a damaged one is moved out of its folder$"
    ):
        open_trained(folder / "checkpoint-30.safetensors", None)
    best.unlink()
    with pytest.raises(CheckpointError, match=r"; checkpoint=checkpoint-5\.safetensors is another one"):
        open_trained(folder)


def test_folders_that_hold_no_run(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    with pytest.raises(ModelError, match="no checkpoint in this folder; `syllabary gpt train`"):
        open_trained(tmp_path)
    with pytest.raises(FileNotFoundError, match="none"):
        open_trained(tmp_path / "none")
    folder = a_run(tmp_path / "run", tok)
    with pytest.raises(FileNotFoundError, match="none"):
        open_trained(folder, "none.safetensors")
    other = syllabary.train([TEXT] * 2, vocab_size=310)
    other.save(folder / "tokenizer.syllabary.json")
    with pytest.raises(CheckpointError, match=r"vocabulary of 300, and .* ids up to 309"):
        open_trained(folder)


def test_the_end_token_is_the_shards_or_the_one_that_is_named_so(tmp_path: Path) -> None:
    two = syllabary.train([TEXT] * 2, vocab_size=280, special_tokens=["<|pad|>", "<|endoftext|>"])
    folder = a_run(tmp_path / "run", two)
    trained = open_trained(folder)
    assert trained.end == two.special_tokens["<|endoftext|>"]
    pad = two.special_tokens["<|pad|>"]
    path = folder / "best.safetensors"
    checkpoint.save(path, model=trained.model, step=1, extra={"data": {"end": pad}})
    assert open_trained(folder).end == pad
    none = syllabary.train([TEXT] * 2, vocab_size=280, special_tokens=["<|a|>", "<|b|>"])
    assert open_trained(a_run(tmp_path / "none", none)).end is None


# ---- the verbs ----


def invoked(command: Any, *arguments: str) -> Any:
    done = CliRunner().invoke(command, arguments, catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_sample_writes_prompt_and_text(run: Path) -> None:
    arguments = [str(run), "--prompt", "μῆνιν", "--max-tokens", "30", "--seed", "3"]
    done = invoked(sample, *arguments)
    assert done.exit_code == 0
    assert done.stdout.startswith("μῆνιν")
    assert done.stdout.endswith("\n")
    assert "\ufffd" not in done.stdout
    assert len(done.stdout) > len("μῆνιν\n")
    assert invoked(sample, *arguments).stdout == done.stdout
    assert invoked(sample, *arguments, "--seed", "4").stdout != done.stdout


def test_sample_several_texts_each_with_its_seed(run: Path) -> None:
    arguments = [str(run), "--prompt", "arma", "--max-tokens", "9"]
    both = invoked(sample, *arguments, "--seed", "1", "--number", "2").stdout
    one, two = (invoked(sample, *arguments, "--seed", seed).stdout for seed in ("1", "2"))
    assert both == f"{one}---\n{two}"


def test_sample_stops_at_a_text(run: Path) -> None:
    arguments = [str(run), "--prompt", "arma", "--seed", "5", "--max-tokens", "60"]
    whole = invoked(sample, *arguments).stdout
    stop = whole[10]
    cut = invoked(sample, *arguments, "--stop", stop).stdout
    assert cut.rstrip("\n") == whole[: whole.index(stop, len("arma"))]


def test_sample_without_a_prompt(run: Path, tmp_path: Path) -> None:
    assert invoked(sample, str(run), "--max-tokens", "20", "--seed", "1").stdout.strip()
    plain = a_run(tmp_path / "plain", syllabary.train([TEXT] * 2, vocab_size=280))
    assert invoked(sample, str(plain), "--max-tokens", "20", "--seed", "1").stdout.strip()
    letters = syllabary.train([TEXT] * 2, vocab_size=50, unit="char")
    assert b"\n" not in letters.vocab.values()
    folder = a_run(tmp_path / "letters", letters)
    first = {invoked(sample, str(folder), "--max-tokens", "0", "--seed", str(n)).stdout for n in range(9)}
    assert len(first) > 1
    assert all(len(text) >= 2 for text in first)


def test_sample_draws_no_id_without_a_token(tmp_path: Path) -> None:
    letters = syllabary.train([TEXT] * 2, vocab_size=50, unit="char")
    folder = a_run(tmp_path / "run", letters, vocab_size=500)
    done = invoked(sample, str(folder), "--prompt", "arma", "--max-tokens", "100", "--temperature", "5")
    assert len(done.stdout) > 100


def test_sample_refuses(run: Path, tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    for arguments, message in (
        (["--temperature", "-1"], "temperature is -1.0"),
        (["--top-p", "2"], "top_p is 2.0"),
        (["--device", "abacus"], "device is 'abacus'"),
    ):
        with pytest.raises(ModelError, match=message):
            invoked(sample, str(run), *arguments)
    assert "out of range" in invoked(sample, str(run), "--top-k", "0").output
    folder = a_run(tmp_path / "run", tok)
    (folder / "tokenizer.syllabary.json").unlink()
    with pytest.raises(ModelError, match=r"no tokenizer.syllabary.json beside checkpoint-5"):
        invoked(sample, str(folder))


def test_what_is_drawn_is_shown_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    def parts() -> Iterator[str]:
        for part in ("μῆ", "νιν"):
            yield part
            assert capsys.readouterr().out == part

    _show(parts())
    assert capsys.readouterr().out == "\n"
    _show(iter(["line\n", ""]))
    assert capsys.readouterr().out == "line\n"


def test_export_says_what_it_wrote(run: Path, tmp_path: Path) -> None:
    done = invoked(export, str(run), "-o", str(tmp_path / "out"))
    assert (done.exit_code, done.stdout) == (0, "")
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        assert str(tmp_path / "out" / name) in done.stderr


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_export_replaces_an_earlier_export_and_nothing_else(run: Path, tmp_path: Path, name: str) -> None:
    earlier, other = tmp_path / "earlier", tmp_path / "other"
    for _ in range(2):
        assert invoked(export, str(run), "-o", str(earlier)).exit_code == 0
    other.mkdir()
    (other / name).write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    before = (other / name).read_bytes()
    done = CliRunner().invoke(main, ["gpt", "export", str(run), "-o", str(other)])
    assert done.exit_code == 1
    assert f"{name}: is there already, and of no earlier export: give another folder" in done.stderr
    assert [(file.name, file.read_bytes()) for file in other.iterdir()] == [(name, before)]
