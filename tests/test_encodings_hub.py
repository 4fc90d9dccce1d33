"""Tokenizers of the Hugging Face Hub by their id: a stand-in for its library, then that library with a cache.

Nothing is fetched from anywhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
from contextlib import suppress
from pathlib import Path

import pytest

import syllabary
from syllabary import hub
from syllabary.cli import common
from syllabary.errors import UnknownEncodingError


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wish to stay offline."""
    for variable in ("SYLLABARY_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)


class EntryNotFoundError(Exception):
    """As `huggingface_hub`'s."""


class LocalEntryNotFoundError(EntryNotFoundError):
    """As `huggingface_hub`'s."""


class GatedRepoError(Exception):
    """As `huggingface_hub`'s."""


@pytest.fixture
def fake_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the repositories that a stand-in for `huggingface_hub` knows."""
    folder = tmp_path / "hub"

    def hf_hub_download(
        repo_id: str, filename: str, *, revision: str | None = None, local_files_only: bool = False
    ) -> str:
        path = folder / repo_id / filename
        if repo_id == "closed/model":
            raise GatedRepoError("401 Client Error.\n\nAccess is restricted")
        if local_files_only or (repo_id == "far/model"):
            raise LocalEntryNotFoundError("not in the cache" if local_files_only else "no connection")
        if not path.exists():
            raise EntryNotFoundError(filename)
        return str(path)

    def try_to_load_from_cache(repo_id: str, filename: str) -> str | None:
        path = folder / repo_id / filename
        return str(path) if path.exists() else None

    library = types.ModuleType("huggingface_hub")
    errors = types.ModuleType("huggingface_hub.errors")
    vars(library).update(
        hf_hub_download=hf_hub_download, try_to_load_from_cache=try_to_load_from_cache, errors=errors
    )
    vars(errors).update(
        EntryNotFoundError=EntryNotFoundError, LocalEntryNotFoundError=LocalEntryNotFoundError
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    return folder


def trained() -> syllabary.Tokenizer:
    return syllabary.train(["the cat and the hat"] * 3, vocab_size=262, split="gpt2")


def test_an_id_of_the_hub(fake_hub: Path) -> None:
    (fake_hub / "org" / "model-1.5").mkdir(parents=True)
    trained().save(fake_hub / "org" / "model-1.5" / "tokenizer.json")
    assert syllabary.load("org/model-1.5").encode("the hat") == trained().encode("the hat")


def test_what_stands_beside_comes_along(fake_hub: Path) -> None:
    folder = fake_hub / "org" / "model"
    folder.mkdir(parents=True)
    trained().save(folder / "tokenizer.json")
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 9}', encoding="utf-8")
    tok = syllabary.load("org/model")
    assert (tok.chat_template, tok.settings.model_max_length) == ("{{ messages[0].content }}", 9)
    (folder / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(syllabary.FormatError, match=r"tokenizer_config\.json: not JSON"):
        syllabary.load("org/model")


def test_a_repository_is_read_as_a_folder(fake_hub: Path) -> None:
    """Tokens that its settings name are added, and what they say of a text is followed."""
    folder = fake_hub / "org" / "model"
    folder.mkdir(parents=True)
    trained().save(folder / "tokenizer.json")
    said = {"tokenizer_class": "GPT2Tokenizer", "pad_token": "<pad>", "add_prefix_space": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
    tok = syllabary.load("org/model")
    assert tok == syllabary.load(folder)
    assert tok.special_tokens == {"<pad>": trained().vocab_size}
    assert tok.encode("hat") == trained().encode(" hat")


@pytest.mark.parametrize(
    "listed, there, found",
    [
        (["4.0.0"], ["4.0.0"], "4.0.0"),
        (["4.0.0", "5.9.0"], ["4.0.0", "5.9.0"], "5.9.0"),
        (["4.0.0", "5.9.0"], ["4.0.0"], "4.0.0"),
        (["42.0.0"], ["42.0.0"], None),
        (["4.0.0"], [], None),
        ([], ["4.0.0"], None),
    ],
)
def test_the_file_for_newer_versions(
    listed: list[str], there: list[str], found: str | None, fake_hub: Path
) -> None:
    """As a folder has it: `fast_tokenizer_files` of the settings."""
    folder = fake_hub / "org" / "model"
    folder.mkdir(parents=True)
    trained().save(folder / "tokenizer.json")
    for size, version in enumerate(there, 257):
        file = folder / f"tokenizer.{version}.json"
        syllabary.train(["the cat"] * 3, vocab_size=size).save(file, "huggingface")
    names = [f"tokenizer.{version}.json" for version in listed]
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"fast_tokenizer_files": names}), encoding="utf-8"
    )
    assert hub.fetch("org/model").name == ("tokenizer.json" if found is None else f"tokenizer.{found}.json")
    assert syllabary.load("org/model") == syllabary.load(folder)


def test_a_file_for_newer_versions_that_cannot_be_had(
    fake_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one would give other ids."""
    folder = fake_hub / "org" / "model"
    folder.mkdir(parents=True)
    trained().save(folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text('{"fast_tokenizer_files": ["tokenizer.4.0.0.json"]}')
    library = sys.modules["huggingface_hub"]
    download = library.hf_hub_download

    def lost(repository: str, name: str, **options: object) -> object:
        if name == "tokenizer.4.0.0.json":
            raise LocalEntryNotFoundError("no connection")
        return download(repository, name, **options)

    monkeypatch.setattr(library, "hf_hub_download", lost)
    with pytest.raises(
        UnknownEncodingError, match=r"tokenizer\.4\.0\.0\.json, which counts there, cannot be had"
    ):
        syllabary.load("org/model")


def test_a_repository_with_vocab_and_merges(fake_hub: Path, shared: Path) -> None:
    folder = fake_hub / "openai" / "gpt2"
    folder.mkdir(parents=True)
    shutil.copyfile(shared / "vocabs" / "gpt2_encoder.json", folder / "vocab.json")
    shutil.copyfile(shared / "vocabs" / "gpt2_vocab.bpe", folder / "merges.txt")
    assert syllabary.load("openai/gpt2").encode("hello world") == [31373, 995]
    assert hub.fetch("openai/gpt2") == folder / "vocab.json"


@pytest.mark.parametrize(
    "repository,says",
    [
        ("closed/model", "did not give it (401 Client Error.)"),
        ("far/model", "the Hub cannot be reached (no connection)"),
        ("empty/model", "the repository has none of tokenizer.json, tekken.json"),
    ],
)
def test_repositories_that_give_nothing(repository: str, says: str, fake_hub: Path) -> None:
    with pytest.raises(UnknownEncodingError) as caught:
        syllabary.load(repository)
    assert says in str(caught.value)
    assert f"`hf download {repository}`" in str(caught.value)


@pytest.mark.parametrize("repository,asked", [("far/model", True), ("org/model", False)])
def test_the_command_says_that_there_is_no_such_file_before_the_hub_is_asked(
    repository: str, asked: bool, fake_hub: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = fake_hub / "org" / "model"
    folder.mkdir(parents=True)
    trained().save(folder / "tokenizer.json")
    with suppress(UnknownEncodingError):
        common.load(repository, None)
    said = f"{repository}: no such file or folder here; looking for it on the Hugging Face Hub\n"
    assert capsys.readouterr().err == (said if asked else "")


def test_the_command_says_nothing_of_the_hub_that_may_not_be_asked(
    fake_hub: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYLLABARY_OFFLINE", "yes")
    with pytest.raises(UnknownEncodingError, match="SYLLABARY_OFFLINE forbids fetching it"):
        common.load("far/model", None)
    assert capsys.readouterr().err == ""


def test_the_hub_offline(fake_hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYLLABARY_OFFLINE", "yes")
    with pytest.raises(UnknownEncodingError, match="SYLLABARY_OFFLINE forbids fetching it"):
        syllabary.load("org/model")


def test_without_the_hubs_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # import fails
    with pytest.raises(UnknownEncodingError, match=r"pip install 'syllabary\[hub\]'"):
        syllabary.load("org/model")


def test_the_hubs_own_library_and_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "models--org--model"
    snapshot = repository / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    trained().save(snapshot / "tokenizer.json")
    program = (
        "import syllabary\n"
        "print(syllabary.load('org/model').tokens('the cat'))\n"
        "try: syllabary.load('org/other')\n"
        "except syllabary.UnknownEncodingError as error: print(error)\n"
    )
    environment = {
        **os.environ,
        "HF_HUB_CACHE": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "SYLLABARY_OFFLINE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
        env=environment,
    )
    first, second = done.stdout.splitlines()
    assert first == repr(trained().tokens("the cat"))
    assert "HF_HUB_OFFLINE forbids fetching it" in second


def test_paths_are_not_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "tok.json").touch()
    for name in (
        "models/mine",
        "tok.json/x",
        "absent/tokenizer.json",
        "./x/y",
        "a/b/c",
        "/a/b",
        "gpt-5.json",
        "x.tiktoken",
    ):
        with pytest.raises(FileNotFoundError):
            syllabary.load(name)
