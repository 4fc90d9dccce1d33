"""Files that are fetched: from a server of the test's own, checked, kept, and never without being asked.

Leaves out: the Hugging Face Hub (`test_encodings_hub`).
"""

from __future__ import annotations

import dataclasses
import http.server
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from tiktoken_cache import fill

import syllabary
from syllabary import formats
from syllabary.encodings import _table as table
from syllabary.encodings import cache, cache_name, download, name_for_model, names, rank_file
from syllabary.encodings.gpt2_pair import rank_lines, read
from syllabary.errors import FormatError, UnknownEncodingError

RANKS = rank_lines({bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257})


class Server(http.server.BaseHTTPRequestHandler):
    """Gives the ranks, something else, half of it, a redirect or an error, by the path."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        answers = {"/ranks": RANKS, "/other": b"IQ== 0\n", "/half": RANKS[:100], "/long": RANKS * 99}
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/ranks")
            self.end_headers()
        elif self.path in answers:
            self.send_response(200)
            self.send_header(
                "Content-Length", str(len(RANKS if self.path == "/half" else answers[self.path]))
            )
            self.end_headers()
            self.wfile.write(answers[self.path])
        else:
            self.send_error(404)

    def log_message(self, *_args: object) -> None:
        """Nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that runs in this process, with http allowed."""
    monkeypatch.setattr(Server, "asked", [])
    monkeypatch.setattr(download, "SCHEMES", ("http",))
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No cache folders but new ones, and no wish to stay offline."""
    for variable in (*cache.TIKTOKENS, *cache.OFFLINE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SYLLABARY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "cache"


def publish(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Make cl100k_base a file of 258 ranks at a URL."""
    changed = dataclasses.replace(
        table()["cl100k_base"], url=url, sha256=sha256(RANKS).hexdigest(), examples={}
    )
    monkeypatch.setitem(table(), "cl100k_base", changed)  # type: ignore[arg-type]


def test_load_fetches_checks_and_keeps(server: str, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(monkeypatch, f"{server}/ranks")
    with pytest.raises(UnknownEncodingError, match="is not on this machine: put"):
        rank_file("cl100k_base")
    assert Server.asked == []
    for name in ("cl100k_base", "gpt-4", "gpt-4-0314"):
        assert syllabary.load(name).tokens("the") == [b"the"]
    assert Server.asked == ["/ranks"]
    assert (folders / cache_name(f"{server}/ranks")).read_bytes() == RANKS
    assert [path.name for path in folders.iterdir()] == [cache_name(f"{server}/ranks")]
    assert syllabary.load("gpt-4").special_tokens["<|endofprompt|>"] == 100276


def test_a_damaged_file_in_the_cache_is_fetched_again(
    server: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, f"{server}/ranks")
    folders.mkdir()
    (folders / cache_name(f"{server}/ranks")).write_bytes(b"IQ== 0\n")
    with pytest.raises(UnknownEncodingError, match="is not that file"):
        rank_file("cl100k_base")
    assert rank_file("cl100k_base", fetch=True) == RANKS
    assert (folders / cache_name(f"{server}/ranks")).read_bytes() == RANKS


@pytest.mark.parametrize(
    "path,says",
    [
        ("/other", "what came from its address is another file, not kept"),
        ("/half", "fetching it failed"),
        ("/away", "is not http"),
        ("/none", "404"),
    ],
)
def test_what_cannot_be_used_is_an_error_and_not_kept(
    path: str, says: str, server: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, server + path)
    with pytest.raises(UnknownEncodingError) as caught:
        syllabary.load("gpt-4")
    assert says in str(caught.value)
    assert f"put {server}{path} at {folders / cache_name(server + path)}" in str(caught.value)
    assert not folders.exists()


def test_size_and_scheme_are_bounded(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "LIMIT", 5000)
    with pytest.raises(ValueError, match="larger than 5000 bytes"):
        download.fetch(f"{server}/long")
    monkeypatch.setattr(download, "SCHEMES", ("https",))
    for url in (f"{server}/ranks", "file:///etc/hostname", "ftp://127.0.0.1/x"):
        with pytest.raises(ValueError, match="is not https"):
            download.fetch(url)


def test_nobody_listens(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "SCHEMES", ("http",))
    publish(monkeypatch, "http://127.0.0.1:9/ranks")
    with pytest.raises(UnknownEncodingError, match=r"fetching it failed \(.*refused"):
        syllabary.load("cl100k_base")


@pytest.mark.parametrize("variable", cache.OFFLINE)
def test_offline(variable: str, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(monkeypatch, f"{server}/ranks")
    monkeypatch.setenv(variable, "1")
    with pytest.raises(UnknownEncodingError, match=f"{variable}=1 forbids fetching it: put http"):
        syllabary.load("cl100k_base")
    assert Server.asked == []
    monkeypatch.setenv(variable, "0")
    assert syllabary.load("cl100k_base").vocab_size == 263


def test_where_a_file_is_kept(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache.kept_in() == folders
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "theirs"))
    assert cache.kept_in() == folders
    assert cache.cache_folders()[:2] == [folders, tmp_path / "theirs"]
    monkeypatch.setenv("SYLLABARY_CACHE_DIR", "")
    assert cache.kept_in() == tmp_path / "theirs"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert cache.cache_folders() == []
    assert cache.kept_in() is None
    cache.keep("https://example.org/x", b"")  # nowhere
    monkeypatch.delenv("SYLLABARY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.cache_folders() == [tmp_path / "user" / "syllabary"] == [cache.kept_in()]


def test_what_is_no_file_is_not_read(folders: Path) -> None:
    folders.mkdir()
    path = folders / cache_name(table()["r50k_base"].url)
    path.mkdir()
    with pytest.raises(UnknownEncodingError, match="not on this machine"):
        rank_file("r50k_base")
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)  # opening it would wait for a writer
        with pytest.raises(UnknownEncodingError, match="not on this machine"):
            rank_file("r50k_base")


def test_nobody_is_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYLLABARY_CACHE_DIR")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache.cache_folders() == []
    assert cache.kept_in() is None


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYLLABARY_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(OSError, match="below"):
        cache.keep("https://example.org/x", b"")
    monkeypatch.delenv("SYLLABARY_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    cache.keep("https://example.org/x", b"")  # the user's own folder: it is fetched again next time


def test_files_made_of_others(shared: Path, tmp_path: Path, folders: Path) -> None:
    everything = fill(shared, tmp_path)
    folders.mkdir()
    urls = {name: table()[name].url for name in names()}
    pair = [url for url, _sha256 in table()["gpt2"].pair]
    p50k = (everything / cache_name(urls["p50k_base"])).read_bytes()
    r50k = (everything / cache_name(urls["r50k_base"])).read_bytes()
    with pytest.raises(UnknownEncodingError):
        rank_file("p50k_edit")
    for url in pair:
        shutil.copyfile(everything / cache_name(url), folders / cache_name(url))
    assert rank_file("gpt2") == rank_file("r50k_base") == r50k
    assert rank_file("p50k_base") == rank_file("p50k_edit") == p50k
    (folders / cache_name(pair[0])).unlink()
    (folders / cache_name(urls["gpt2"])).write_bytes(r50k)
    assert rank_file("p50k_base") == p50k


def test_gpt2s_pair() -> None:
    letters = {spelling: rank for rank, spelling in enumerate(_spellings())}
    vocab = json.dumps({**letters, "th": 256, "<|endoftext|>": 257}).encode()
    assert read(b"#version: 0.2\nt h\n", vocab)[b"th"] == 256
    with pytest.raises(FormatError, match="merges and vocabulary disagree"):
        read(b"#version: 0.2\nh t\n", vocab)
    with pytest.raises(FormatError, match="not GPT-2's merges"):
        read(b"#version: 0.2\nt h\n", b"[]")


def _spellings() -> list[str]:
    from syllabary.reference.bytes_to_unicode import byte_alphabet, spell

    return [spell(byte) for byte in byte_alphabet("gpt2")]


def test_models_are_tiktokens() -> None:
    for model, name in MODEL_TO_ENCODING.items():
        assert name_for_model(model) == name
    for prefix, name in MODEL_PREFIX_TO_ENCODING.items():
        assert name_for_model(f"{prefix}xyz") == name
    assert name_for_model("llama-3") is None


# ---- what a rank file loses ----


def trained() -> syllabary.Tokenizer:
    return syllabary.train(["the cat and the hat"] * 3, vocab_size=262, split="gpt2")


def test_losses_are_named() -> None:
    form = next(form for form in formats.FORMATS if form.name == "tiktoken")
    spec = trained().spec
    kept: dict[str, Any] = {"special_tokens": {"<s>": 300}, "added_tokens": {"<a>": 301}}
    changed = dataclasses.replace(spec, **kept, normalizer=(syllabary_step("NFC"),), dropout=0.5)
    with pytest.raises(FormatError, match="tiktoken cannot hold added tokens, as '<a>'"):
        form.files(changed, Path("x.tiktoken"))
    reduced, losses = form.reduce(changed)
    assert [loss.partition(":")[0] for loss in losses] == [
        "the split ('gpt2')", "1 special token", "1 added token, as '<a>'", "the normalizer (NFC)",
        "dropout=0.5", "the record of training, and what other formats alone hold; no id changes",
    ]  # fmt: skip
    assert form.files(reduced, Path("x.tiktoken")) == form.files(spec, Path("x.tiktoken"))


def syllabary_step(kind: str) -> Any:
    from syllabary.spec import Step

    return Step(kind)
