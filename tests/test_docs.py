"""No example is only prose: README, docs/, docstrings and `--help` are run as they stand.

- ```` ```python ```` blocks of README.md, CONTRIBUTING.md and docs/ run in order, one namespace a file;
  a line `expression  # value` is also compared, where the comment is a Python literal. Blocks with `>>>` run
  under doctest.
- Docstrings run under doctest.
- In `--help`, lines after `$ ` run in a shell, in a folder with small files; a line below them that is
  not a command is the output that they must give. Each command is a fork of one process (`warm`); that it is
  started as ever, `test_cli` shows. Those that train a language model do so on smaller batches, but for `make
  docs` and `make prove`.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import click
import pytest
from gpt_runs import documents, make_shards, short, small
from warm import warm

import syllabary
from syllabary import reference
from syllabary.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VALUE = re.compile(r"^(?P<expression>\S.*?)  # (?P<value>.+)$")
# What is added to the examples that train a large language model, where not everything is to be proved.
SMALLER = {
    "gpt train shards/ -o tut/ --preset tutorial": " --batch-size 2",
    "gpt compare shards-8k/ shards-32k/ -o compare/": " --depth 1",
    "gpt compare shards-8k/ shards-32k/ -o more/": " --depth 1",
}
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") * 2 + "Tabs\tand naïve cafés: 3.14 × 2\n"


@lru_cache(maxsize=1)
def tokenizer_file() -> bytes:
    """A small tokenizer, as it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        syllabary.train([TEXT], vocab_size=300).save(path := Path(folder) / "tok.json")
        return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that examples speak of."""
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "more.txt").write_text(TEXT.upper(), encoding="utf-8")
    (tmp_path / "tok.json").write_bytes(tokenizer_file())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_python_blocks_run_and_give_what_they_say(page: Path, folder: Path) -> None:
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks(page), 1):
        if block.startswith(">>>"):
            session = doctest.DocTestParser().get_doctest(block, namespace, page.name, str(page), number)
            assert doctest.DocTestRunner().run(session, clear_globs=False).failed == 0, block
            namespace = session.globs
            continue
        exec(compile(block, f"{page.name}, block {number}", "exec"), namespace)  # our own page
        for line in block.splitlines():
            if (match := VALUE.match(line)) and (expected := literal(match["value"])) is not None:
                assert eval(match["expression"], namespace) == expected, line


def literal(text: str) -> object | None:
    """The value of a Python literal, or None for words."""
    try:
        value: object = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return value


def test_the_readme_has_its_example() -> None:
    block, *_others = blocks(ROOT / "README.md")
    assert 10 <= len(block.splitlines()) <= 14
    assert any(VALUE.match(line) for line in block.splitlines())


def modules() -> list[str]:
    """Every module of the package but the one that runs on import."""
    found = pkgutil.walk_packages(syllabary.__path__, "syllabary.")
    return [
        "syllabary",
        *(module.name for module in found if not module.name.endswith(("__main__", "._engine"))),
    ]


def with_examples() -> list[str]:
    """The modules that have any."""
    specs = [importlib.util.find_spec(name) for name in modules()]
    return [
        each.name for each in specs
        if each is not None and each.origin is not None and ">>>" in Path(each.origin).read_text("utf-8")
    ]  # fmt: skip


@pytest.mark.parametrize("name", with_examples())
def test_docstrings(name: str, folder: Path) -> None:
    flags = doctest.ELLIPSIS
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=flags, report=True)
    assert failed == 0


def test_doctest_finds_the_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        (name, example)
        for name in modules()
        for test in finder.find(importlib.import_module(name))
        for example in test.examples
    ]
    assert len(found) > 30
    assert {name for name, _ in found} <= {*with_examples()}


def commands(group: click.Group = main, before: str = "") -> dict[str, click.Command]:
    """The group, its verbs, and those of the groups among them, as `gpt train`."""
    found: dict[str, click.Command] = {} if before else {"syllabary": main}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found[before + name] = command
        if isinstance(command, click.Group):
            found |= commands(command, f"{before}{name} ")
    return found


@pytest.fixture(scope="session")
def gpt_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples of `syllabary gpt` speak of: shards of three tokenizers, and a run."""
    training = pytest.importorskip("syllabary.gpt.train", reason="the extra gpt is not installed")
    path = tmp_path_factory.mktemp("gpt")
    for name, size in (("shards", 300), ("shards-8k", 280), ("shards-32k", 320)):
        made = make_shards(path / name, documents(60), vocab=size)
        if name == "shards":
            training.train(path / name, path / "run", small(made), short())
    shutil.copytree(path / "shards", path / "other-shards")
    return path


@pytest.fixture(scope="session")
def command_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The definition of `syllabary` for bash."""
    with warm(tmp_path_factory.mktemp("warm")) as definition:
        yield definition


def examples(command: click.Command) -> list[tuple[str, str]]:
    """(shell line, expected output or "") of the examples in a command's help."""
    help_text = command.get_help(click.Context(command, info_name=command.name, terminal_width=200))
    found: list[tuple[str, str]] = []
    for line in help_text.partition("Examples:\n")[2].splitlines():
        if line.strip().startswith("$ "):
            found.append((line.strip()[2:], ""))
        elif found and line.strip():
            found[-1] = (found[-1][0], found[-1][1] + line.strip())
    return found


@pytest.mark.parametrize("name", commands())
def test_help_has_examples(name: str) -> None:
    assert examples(commands()[name])


def test_examples_made_smaller_are_there() -> None:
    lines = [line for command in commands().values() for line, _ in examples(command)]
    for begins in SMALLER:
        assert len([line for line in lines if begins in line]) == 1, begins


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash to run the examples in")
@pytest.mark.parametrize("name", commands())
def test_help_examples(
    name: str, folder: Path, command_line: str, request: pytest.FixtureRequest, prove: bool
) -> None:
    if name.startswith("gpt"):
        shutil.copytree(request.getfixturevalue("gpt_folder"), folder, dirs_exist_ok=True)
    python = f'python() {{ "{sys.executable}" "$@"; }}\n{command_line}'
    for line, expected in examples(commands()[name]):
        more = "" if prove else "".join(more for begins, more in SMALLER.items() if begins in line)
        script = f"{python}set -eo pipefail\n{line}{more}\n"
        done = subprocess.run(
            ["bash", "-c", script], text=True, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        assert expected in ("", done.stdout.strip()), line


def test_readme_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / ".ci" / "run"):
        for target in re.findall(r"\bmake ([a-z]+)\b", page.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name} names `make {target}`"


def test_the_reading_order_of_the_reference_has_every_file() -> None:
    """Also those of a family (`train_unigram_...`), each in the docstring of that file."""
    folder = Path(reference.__path__[0])
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    order = reference.__doc__ or ""
    named = set(re.findall(r"`(\w+)`", order))
    assert {*re.findall(r"^\d+\. `(\w+)`", order, re.MULTILINE)} <= named <= files
    for family in re.findall(r"`(\w+)_\.\.\.`", order):
        members = {name for name in files if name.startswith(f"{family}_")}
        if family.startswith("train"):
            opening = ast.get_docstring(ast.parse((folder / f"{family}.py").read_text("utf-8"))) or ""
            ours = {name.replace("…", family) for name in re.findall(r"`([\w…]+)", opening)}
            assert members <= ours, f"{family} does not name {members - ours}"
        named |= members
    assert files <= named, f"the package's docstring does not say when to read {sorted(files - named)}"


def test_make_help_prints_every_documented_target() -> None:
    if (make := shutil.which("make")) is None:
        pytest.skip("no make on this machine")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        [make, "help"], cwd=ROOT, text=True, capture_output=True, check=True, env=environment
    )
    for target in ("help", "demo", "test", "check", "bench", "docs", "wheel", "prove", "clean"):
        assert re.search(rf"^  make {target} +\S", done.stdout, re.MULTILINE), target


def test_readme_numbers_are_those_of_the_last_benchmark() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "readme.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
