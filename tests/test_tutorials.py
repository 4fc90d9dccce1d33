"""The tutorials run: every command of theirs, in their order, on small real files, with smaller numbers.

Each table below says which words of a page become which, and each must be found; everything else is run as
it stands. Skipped, saying so, where the corpora are not beside the repository.
"""

from __future__ import annotations

import lzma
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from syllabary.cli import main
from syllabary.gpt import compare

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # needs what the commands wrote

SMALL = " --depth 1 --block-size 64 --batch-size 2 --device cpu --threads 1"
GREEK = {
    "--vocab-size 16000": "--vocab-size 1000",
    "--vocab-size 4000": "--vocab-size 400",
    "-o run/ --epochs 1": "-o run/ --steps 5 --eval-batches 2" + SMALL,
    "--bytes 10e6": "--bytes 500" + SMALL,
    "--vocab-size 2000": "--vocab-size 300",
    "--preset tutorial": "--preset tutorial --steps 2 --batch-size 2 --eval-batches 1 --device cpu",
    "--max-tokens 60": "--max-tokens 8",
}
WIKITEXT = {
    "--vocab-size 8000": "--vocab-size 400",
    "--vocab-size 32000": "--vocab-size 800",
    "--bytes 10e6": "--bytes 500" + SMALL,
    "--equal compute --epochs 1": "--equal compute --flops 1e8" + SMALL,
    "--positions learned --epochs 2": "--positions learned --steps 5 --eval-batches 2" + SMALL,
    "--max-tokens 60": "--max-tokens 8",
}
PAGES = {"tutorial-greek.md": GREEK, "tutorial-wikitext.md": WIKITEXT}


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each evaluation draws a picture, which takes longer than these models."""
    monkeypatch.setattr(compare, "POINTS", 2)


def commands(page: str, smaller: dict[str, str]) -> list[str]:
    """The commands of a page, with its numbers made smaller; each replacement must be of use."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = "\n".join(BLOCK.findall(text))
    for words, instead in smaller.items():
        assert words in blocks, f"{page} no longer says {words!r}"
        blocks = blocks.replace(words, instead)
    return blocks.replace("\\\n", " ").split("\n")


def run(line: str) -> Result:
    """One line, as a shell would run it: these have no pipes and no loops."""
    program, *arguments = shlex.split(line)
    assert program == "syllabary", line
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, (line, done.output, done.exception)
    return done


def run_all(page: str) -> dict[str, Result]:
    """All commands of a page; what each gave."""
    return {line: run(line) for line in commands(page, PAGES[page]) if line.strip()}


def given(results: dict[str, Result], begins: str) -> str:
    """What the first command that begins so wrote to stdout."""
    return next(done.stdout for line, done in results.items() if line.startswith(begins))


def unpacked(source: Path, target: Path, keep: Callable[[bytes], bytes] = bytes) -> None:
    target.write_bytes(keep(lzma.decompress(source.read_bytes())))


def half(iliad: bytes) -> bytes:
    """Its first twelve books."""
    return iliad[: iliad.index(b'<div1 type="Book" n="13">')] + iliad[iliad.index(b"</body>") :]


def test_greek_and_latin(
    shared: Path, working_folder: Path, capsys: pytest.CaptureFixture[str], prove: bool
) -> None:
    (working_folder / "perseus").mkdir()
    for name in ("cic.att_lat.xml", "plat.tet1_gk.xml", "hom.il_gk.xml"):
        keep = half if name.startswith("hom") and not prove else bytes
        unpacked(shared / "corpora" / "perseus" / f"{name}.xz", working_folder / "perseus" / name, keep)
    results = run_all("tutorial-greek.md")
    tokens = [line.split('"')[1] for line in given(results, "syllabary encode").splitlines()]
    assert "".join(tokens) == "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος"
    for begins in ("byte trigram", "token unigram", "token bigram"):
        assert begins in given(results, "syllabary gpt baselines")
    assert given(results, "syllabary gpt sample run/").startswith("μῆνιν ἄειδε θεὰ")
    table = given(results, "syllabary gpt compare")
    assert [row.split("|")[1].strip() for row in table.splitlines()[2:5]] == [
        "shards-bytes", "shards-small", "shards",
    ]  # fmt: skip
    assert "does best" in table
    assert given(results, "syllabary gpt sample atticus-run/").startswith("CICERO ATTICO SAL.")
    (block,) = PYTHON.findall((DOCS / "tutorial-greek.md").read_text(encoding="utf-8"))
    exec(block, {})  # our own page
    printed = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    counted = given(results, "syllabary gpt baselines").splitlines()
    assert list(map(float, printed)) == [round(float(line.split()[2]), 3) for line in counted]
    for name in ("run/loss.png", "compare/compare.png", "atticus-run/loss.png"):
        assert (working_folder / name).stat().st_size > 1000


def test_the_rest_of_the_letters_is_what_the_tokenizer_has_not_seen(
    shared: Path, working_folder: Path
) -> None:
    from syllabary import corpus, load, shards

    (working_folder / "perseus").mkdir()
    path = working_folder / "perseus" / "cic.att_lat.xml"
    unpacked(shared / "corpora" / "perseus" / "cic.att_lat.xml.xz", path)
    for line in commands("tutorial-greek.md", GREEK):
        if line.startswith(("syllabary train perseus/cic", "syllabary shard perseus/cic")):
            run(line)
    seen = [document.text for document in corpus.read(path, fraction=0.1)]
    tok = load(working_folder / "atticus.syllabary.json")
    rest = [tok.decode(ids) for ids in shards.open(working_folder / "atticus").train]
    assert 446 * 0.05 < len(seen) < 446 * 0.15
    assert not set(seen) & set(rest)
    assert len(seen) + len(rest) == 446


def test_wikitext(shared: Path, working_folder: Path, prove: bool) -> None:
    (working_folder / "wikitext").mkdir()
    source = shared / "corpora" / "wikitext2_valid.txt.xz"
    keep = bytes if prove else (lambda text: text[: text.index(b"\n \n", 400_000)])
    unpacked(source, working_folder / "wikitext" / "wiki.train.txt", keep)
    results = run_all("tutorial-wikitext.md")
    for name in ("by-bytes", "by-compute"):
        assert "does best" in (working_folder / name / "compare.md").read_text(encoding="utf-8")
    assert given(results, "syllabary gpt sample").startswith(" The game")
    assert (working_folder / "gpt2" / "config.json").exists()


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_commands(page: str) -> None:
    found = [line for line in commands(page, PAGES[page]) if line.strip()]
    assert len(found) >= 9
    assert all(line.startswith("syllabary ") for line in found)
