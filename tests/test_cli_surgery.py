"""The verbs convert, verify and edit: reports, exit codes, and what is left behind.

Leaves out: what formats hold (test_formats…), and what operations mean (test_surgery).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary.cli import main
from syllabary.cli.words import spoken

TEXT = "low lower lowest newer newest widest é 漢字\n" * 5


@pytest.fixture
def folder(working_folder: Path) -> Path:
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    syllabary.train([TEXT], vocab_size=270, special_tokens=["<|end|>"]).save("tok.json")
    syllabary.train([TEXT], vocab_size=262).save("small.json")
    return working_folder


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def test_convert_says_how_the_result_was_tried(folder: Path) -> None:
    result = run("convert", "tok.json", "tok.syllabary.json", "--sample", "corpus.txt")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "in the same ids" in result.stderr
    assert syllabary.load("tok.syllabary.json").encode(TEXT) == syllabary.load("tok.json").encode(TEXT)


def test_a_loss_is_said_on_stderr_and_as_data(folder: Path) -> None:
    result = run("convert", "tok.json", "ranks.tiktoken", "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["losses"]
    assert all(f"lost: {spoken(loss)}" in result.stderr for loss in report["losses"])
    assert report["format"] == "tiktoken"
    assert Path("ranks.tiktoken").exists()


def test_strict_refuses_to_lose_and_writes_nothing(folder: Path) -> None:
    result = run("convert", "tok.json", "ranks.tiktoken", "--strict")
    assert result.exit_code == 1
    assert "strict, and tiktoken would lose: " in result.stderr
    assert not Path("ranks.tiktoken").exists()


def test_verify_against_the_home_library(folder: Path) -> None:
    result = run("verify", "tok.json", "--against", "tokenizers", "--on", "corpus.txt", "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["equal"] is True
    assert report["tokens"] == len(syllabary.load("tok.json").encode(TEXT))


def test_verify_reads_the_rank_file_as_it_is_now(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken keeps a copy of each file by its name, and reads that from then on."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder / "cache"))
    for name in ("small.json", "tok.json"):
        run("convert", name, "now.tiktoken")
        options = ["--split", "o200k", "--on", "corpus.txt"]
        result = run("verify", "now.tiktoken", "--against", "tiktoken", *options)
        assert (result.exit_code, "equal to tiktoken" in result.stderr) == (0, True), result.stderr
    assert not (folder / "cache").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")
def test_verify_of_a_file_whose_name_is_no_utf8(folder: Path, shared: Path) -> None:
    model = (shared / "vocabs" / "mistral_v1.model").read_bytes()
    for name, peer in (("a\udcff.json", "tokenizers"), ("a\udcff.model", "sentencepiece")):
        Path(name).write_bytes(Path("tok.json").read_bytes() if peer == "tokenizers" else model)
        result = run("verify", name, "--against", peer, "--on", "corpus.txt")
        assert (result.exit_code, f"equal to {peer}" in result.stderr) == (0, True), result.output


@pytest.mark.skipif(os.name == "nt", reason="a line end is in no name there")
def test_a_name_with_a_line_end_stays_on_its_line(folder: Path) -> None:
    Path("a\nb.txt").write_text("a b", encoding="utf-8")
    (folder / "none.txt").touch()
    os.rename("none.txt", "no\nne.txt")
    for args in (
        ["verify", "tok.json", "--against", "small.json", "--on", "no\nne.txt"],
        ["verify", "a\nb.txt", "--against", "tokenizers", "--on", "corpus.txt"],
        ["count-pieces", "corpus.txt", "-o", "a\nb.tsv"],
        ["train", "corpus.txt", "-o", "a\nb.json", "--sizes", "260"],
        ["shard", "corpus.txt", "-t", "tok.json", "-o", "a\nb"],
    ):
        stderr = run(*args).stderr
        assert "\\n" in stderr, args
        assert "a\nb" not in stderr, args
        assert "no\nne" not in stderr, args


def test_verify_reports_the_first_difference_with_its_context(folder: Path) -> None:
    result = run("verify", "tok.json", "--against", "small.json", "--on", "corpus.txt", "--json")
    assert result.exit_code == 1
    first = json.loads(result.stdout)["first_difference"]
    ours, theirs = (syllabary.load(name).encode(TEXT) for name in ("tok.json", "small.json"))
    at = next(index for index, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    assert (first["index"], first["ours"][0], first["theirs"][0]) == (at, ours[at], theirs[at])
    assert first["text"].startswith(TEXT[:10])
    assert "different from small.json" in result.stderr


def test_verify_on_nothing_is_an_error(folder: Path) -> None:
    (folder / "empty.txt").write_bytes(b"")
    for options in (("empty.txt",), ("empty.txt", "--json")):
        result = run("verify", "tok.json", "--against", "tok.json", "--on", *options)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "nothing to compare: empty.txt gives no token" in result.stderr
    result = run("verify", "tok.json", "--against", "tok.json", "--on", "empty.txt", "--on", "corpus.txt")
    assert result.exit_code == 0, result.output


def test_verify_names_a_library_that_does_not_open_the_format(folder: Path) -> None:
    result = run("verify", "tok.json", "--against", "sentencepiece", "--on", "corpus.txt")
    assert result.exit_code == 1
    assert "does not open the format huggingface" in result.stderr


def test_edit_writes_tokenizer_and_maps(folder: Path) -> None:
    result = run(
        *("edit", "small.json", "-o", "new.json", "--extend", "tok.json", "--add-special", "<pad>"),
        *("--map", "map.json"),
    )
    assert result.exit_code == 0, result.stderr
    old, new = syllabary.load("small.json"), syllabary.load("new.json")
    maps = json.loads(Path("map.json").read_text("utf-8"))
    assert maps["new_ids"] == list(range(262))
    assert new.special_tokens == {"<pad>": max(new.vocab)}
    for token_id, parts in maps["made_of"].items():
        assert b"".join(old.vocab[part] for part in parts) == new.vocab[int(token_id)]
    assert len(maps["made_of"]) == new.vocab_size - 262


def test_maps_replace_no_tokenizer_and_have_a_place_before_anything_is_written(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    taken = "is read, and the map would take its place"
    places = {
        "tok.json": (1, f"tok.json {taken}"),
        "./small.json": (1, f"./small.json {taken}"),
        "new.json": (2, "--map and -o are both new.json"),
        "none/map.json": (1, "no such folder"),
        ".": (1, "is a folder"),
    }
    for place, (code, says) in places.items():
        result = run("edit", "tok.json", "-o", "new.json", "--extend", "small.json", "--map", place)
        assert (result.exit_code, result.stdout) == (code, "")
        assert says in result.stderr
        assert "Traceback" not in result.stderr
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, place


def test_ctrl_c_leaves_tokenizer_and_maps_or_neither(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every rename; the tokenizer that is changed in its place would be lost without its maps."""
    Path("map.json").write_text("old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    replace, left = os.replace, iter(())

    def stopping(*names: str) -> None:
        if next(left, None) == "stop":
            raise KeyboardInterrupt
        replace(*names)

    monkeypatch.setattr(os, "replace", stopping)
    for number in range(99):
        left = iter([*["go"] * number, "stop"])
        result = run("edit", "tok.json", "-o", "tok.json", "--add", "zz", "--map", "map.json")
        if result.exit_code == 0:
            break
        assert (result.exit_code, result.stderr) == (130, "interrupted\n")
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert number == 4
    assert syllabary.load("tok.json").tokens("lowzz")[-1] == b"zz"
    assert json.loads(Path("map.json").read_text("utf-8"))["new_ids"] == [*range(270)]


def test_a_map_takes_no_name_of_a_file_of_the_new_tokenizer(folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run("edit", "small.json", "-o", "encoder.json", "--add", "zz", "--map", "vocab.bpe")
    assert result.exit_code == 1
    assert (
        "error: vocab.bpe is a file of the tokenizer: give what goes beside it another name" in result.stderr
    )
    assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_named(folder: Path) -> None:
    result = run("convert", "tok.json", "/dev/full", "--to", "tiktoken")
    assert (result.exit_code, "error: /dev/full: No space left" in result.stderr) == (1, True)
    result = run("edit", "tok.json", "-o", "new.json", "--add", "zz", "--map", "/dev/full")
    assert (result.exit_code, "error: /dev/full: No space left" in result.stderr) == (1, True)
    assert not Path("new.json").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_tokenizer_is_not_read_from_a_pipe(folder: Path) -> None:
    os.mkfifo("pipe.json")
    for verb in (("convert", "pipe.json", "new.json"), ("verify", "tok.json", "--against", "pipe.json")):
        result = run(*verb, *(["--on", "corpus.txt"] if verb[0] == "verify" else ()))
        assert result.exit_code == 1
        assert "error: pipe.json: is a pipe, not a file" in result.stderr


def test_names_of_files_say_nothing_to_the_terminal(folder: Path) -> None:
    for verb in (("convert", "tok.json"), ("edit", "tok.json", "-o")):
        result = run(*verb, "a\nb\x1b[31m.json")
        assert (result.exit_code, result.stderr.splitlines()[-1][:12]) == (0, r"a\nb\x1b[31m"), result.stderr


@pytest.mark.parametrize("flag", ["--cascade", "--keep-ids"])
def test_how_to_remove_needs_something_to_remove(folder: Path, flag: str) -> None:
    result = run("edit", "tok.json", "-o", "new.json", "--add", "x y", flag)
    assert (result.exit_code, f"error: {flag} says how --remove takes" in result.stderr) == (2, True)
    assert not Path("new.json").exists()


def test_edit_needs_somewhere_to_write(folder: Path) -> None:
    result = run("edit", "tok.json", "--add", "x y")
    assert result.exit_code == 2
    assert "-o" in result.stderr


def test_dropout_with_a_seed_repeats_itself(folder: Path) -> None:
    whole = run("encode", "-t", "tok.json", TEXT).stdout
    first, again, other = (
        run("encode", "-t", "tok.json", "--dropout", "0.5", "--seed", seed, TEXT).stdout
        for seed in ("1", "1", "2")
    )
    assert first == again
    assert len({whole, first, other}) == 3
    assert run("encode", "-t", "tok.json", "--dropout", "0", "--seed", "1", TEXT).stdout == whole


def test_a_seed_without_dropout_is_refused(folder: Path) -> None:
    """Unless the tokenizer's own file says that merges are dropped."""
    done = run("encode", "-t", "tok.json", "--seed", "3", TEXT)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--seed is of --dropout, and this tokenizer has none of its own" in done.stderr
    assert run("convert", "tok.json", "tokenizer.json").exit_code == 0
    told = json.loads((folder / "tokenizer.json").read_bytes())
    told["model"]["dropout"] = 0.5
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    first, again = (run("encode", "-t", "tokenizer.json", "--seed", "3", TEXT) for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == again.stdout


@pytest.mark.parametrize("dropout", ["nan", "-0.1", "1.5", "inf", "half"])
def test_a_dropout_that_is_no_probability(folder: Path, dropout: str) -> None:
    result = run("encode", "-t", "tok.json", "--dropout", dropout, TEXT)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give a probability from 0 to 1" in result.stderr


@pytest.mark.parametrize("source", ["cl100k_base.tiktoken", "mistral_v1.model", "gpt2_tokenizer.json"])
def test_published_files_against_their_homes_in_a_fresh_process(
    folder: Path, shared: Path, source: str
) -> None:
    peer = {"tiktoken": "tiktoken", "model": "sentencepiece", "json": "tokenizers"}[source.rpartition(".")[2]]
    command = ["verify", str(shared / "vocabs" / source), "--against", peer, "--on", "corpus.txt"]
    done = subprocess.run(
        [sys.executable, "-m", "syllabary", *command], text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"equal to {peer}" in done.stderr


def test_edit_says_what_the_file_does_not_hold(folder: Path) -> None:
    result = run("edit", "tok.json", "--add-special", "<pad>", "-o", "ranks.tiktoken")
    assert result.exit_code == 0
    assert "lost: 2 special tokens" in result.stderr


def test_edit_counts_what_was_written(folder: Path) -> None:
    """A rank file has no special tokens; Hugging Face's has."""
    result = run("edit", "tok.json", "--add-special", "<pad>", "-o", "ranks.tiktoken")
    assert "ranks.tiktoken: 269 tokens (there were 270)" in result.stderr
    assert syllabary.load("ranks.tiktoken", split="gpt2").vocab_size == 269
    result = run("edit", "tok.json", "--add-special", "<pad>", "-o", "new.json")
    assert "new.json: 271 tokens (there were 270)" in result.stderr


def test_verify_names_the_libraries(folder: Path) -> None:
    result = run("verify", "tok.json", "--against", "foo", "--on", "corpus.txt")
    assert result.exit_code == 1
    assert "no library: those are tiktoken, tokenizers, sentencepiece, subword-nmt" in result.stderr


def test_edit_of_a_sentencepiece_model(folder: Path, shared: Path) -> None:
    model = str(shared / "vocabs" / "mistral_v1.model")
    result = run("edit", model, "--unreachable")
    assert result.exit_code == 0, result.stderr
    assert "never come up" in result.stderr
    result = run("edit", model, "--add", "ZEUS", "-o", "more.syllabary.json")
    assert result.exit_code == 0, result.stderr
    assert b"ZEUS" in syllabary.load("more.syllabary.json").tokens("a ZEUS b")


def test_a_split_goes_to_the_rank_file_or_is_refused(folder: Path) -> None:
    run("convert", "tok.json", "ranks.tiktoken")
    options = ("--on", "corpus.txt", "--split", "o200k")
    result = run("verify", "tok.json", "--against", "ranks.tiktoken", *options)
    assert (result.exit_code, "equal to ranks.tiktoken" in result.stderr) == (0, True), result.stderr
    result = run("verify", "tok.json", "--against", "small.json", *options)
    assert result.exit_code == 1
    assert "leave out --split" in result.stderr


def test_edit_says_what_a_removed_token_takes_along(folder: Path) -> None:
    tok = syllabary.load("tok.json")
    tok.with_settings(bos_token="<|end|>", chat_template="T").save("own.syllabary.json")
    result = run("edit", "own.syllabary.json", "-o", "less.syllabary.json", "--remove", "<|end|>")
    assert result.exit_code == 0, result.stderr
    assert "lost: 'tokenizer_config.json: bos_token', which transformers holds" in result.stderr
    settings = syllabary.load("less.syllabary.json").settings
    assert (settings.roles, settings.chat_templates) == ({}, {"default": "T"})


@pytest.mark.parametrize(
    "name, words",
    [
        ("tok.json", "compare with tokenizers or another file"),
        ("tok.syllabary.json", "or compare with another file"),
    ],
)
def test_verify_names_the_library_that_opens_the_format(folder: Path, name: str, words: str) -> None:
    syllabary.load("tok.json").save("tok.syllabary.json")
    result = run("verify", name, "--against", "tiktoken", "--on", "corpus.txt")
    assert result.exit_code == 1
    assert result.stderr.endswith(f"{words}\n")
