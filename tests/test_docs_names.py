"""What README, CONTRIBUTING and docs/ name is there: files, links, options, names of Python.

- A file or folder in backticks is a path from the root of the repository, or its end (`encode/lanes.rs`);
  `*`, `…` and `NAME` stand for anything, `{a,b}` for each.
- A link leads to a file, and its `#anchor` to a heading.
- An option, in prose or a block, is one of the verb before it (`train --like`), or if there is none, of any.
- `tok.…` is of `Tokenizer`, `syllabary.…` can be imported.

Leaves out: `docs/log.md`, which tells what once was, and whether what is said of a name is true.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import click
import pytest

import syllabary
from syllabary.cli import main

ROOT = Path(__file__).parent.parent
DOCS = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "log.md")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
FOLDERS = (".ci", "bench", "crates", "docs", "fuzz", "python", "testdata", "tests", "tools")
CODE = (".rs", ".py", ".pyi")
# Folders that a reader makes, or another library has.
THEIRS = {"bindings/python/tests", "gpt2", "perseus", "run", "wikitext"}
# Made when the first text is found that belongs there.
NOT_YET = {"fuzz/broken/text"}
# Options of other programs, and who they are of.
OTHER_OPTIONS = {
    "--dict-input": "subword-nmt learn-bpe",
    "--num-workers": "subword-nmt",
    "--total-symbols": "subword-nmt learn-bpe",
}
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@cache
def tree() -> tuple[str, ...]:
    """Every file of the repository, and every folder with a slash behind."""
    files = [path for name in FOLDERS for path in (ROOT / name).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    names = {path.relative_to(ROOT) for path in files if "__pycache__" not in path.parts}
    folders = {f"{parent.as_posix()}/" for name in names for parent in name.parents}
    return (*sorted(name.as_posix() for name in names), *sorted(folders - {"./"}))


def is_path(span: str) -> bool:
    """Whether a span names something of ours: code, a folder, or what begins in one of our folders."""
    if not re.fullmatch(r"[\w./*…{},-]+", span) or span.rstrip("/") in THEIRS | NOT_YET:
        return False
    first, slash, _ = span.partition("/")
    return span.endswith((*CODE, "/")) or (bool(slash) and first in FOLDERS)


def missing(span: str) -> list[str]:
    """Which of the paths that a span stands for are not there."""
    parts = [part.strip("{}").split(",") for part in re.split(r"(\{[^}]*\})", span)]
    plain = ["".join(chosen) for chosen in product(*parts)] if "{" in span else [span]
    patterns = [re.sub(r"…|\bNAME\b", "*", path) for path in plain]
    return [each for each in patterns if not any(fnmatch(f"/{name}", f"*/{each}") for name in known(each))]


def known(path: str) -> tuple[str, ...]:
    """What a path can mean: without a suffix and a slash at its end, a file or a folder."""
    return tree() if path.endswith("/") else (*tree(), *(name.rstrip("/") for name in tree()))


def spans(page: Path) -> list[str]:
    """What stands in backticks within a line, outside of blocks."""
    return SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


def by_name(pages: list[Path]) -> pytest.MarkDecorator:
    """One test a page."""
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.relative_to(ROOT).as_posix())


@by_name(PAGES)
def test_files_are_there(page: Path) -> None:
    gone = [each for span in spans(page) if is_path(span) for each in missing(span)]
    assert not gone, f"{page.name} names {gone}"


def test_the_tree_of_the_readme_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = text.partition("## The tree\n")[2].partition("\n## ")[0].splitlines()
    named = [name for line in lines for name in re.findall(r"[\w/-]+(?:/|\.py)(?= |$)", line[:32])]
    assert len(named) > 20
    assert [name for name in named if missing(name)] == []


def anchors(page: Path) -> set[str]:
    """What links to a page may end with: its headings, as GitHub spells them."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@by_name(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.is_file(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {link}"


def test_every_page_is_linked_from_the_index() -> None:
    links = {name.partition("#")[0] for name in LINK.findall((ROOT / "docs/README.md").read_text("utf-8"))}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} - links == set()
    assert "docs/README.md" in LINK.findall((ROOT / "README.md").read_text("utf-8"))


@cache
def options() -> dict[str, set[str]]:
    """The options of each verb, those of groups under their two words."""
    found: dict[str, set[str]] = {}

    def add(command: click.Command, name: str) -> None:
        found[name] = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        found[name] |= {"--help", "-h"}
        if isinstance(command, click.Group):
            context = click.Context(command)
            for verb in command.list_commands(context):
                child = command.get_command(context, verb)
                assert child is not None
                add(child, f"{name} {verb}".strip())

    add(main, "")
    return found


def wrong_options(command: str) -> list[str]:
    """The options in a piece of text that the verb before them has not, or if there is none, no verb has."""
    words = re.split(r"\bsyllabary(?= )", command)
    wrong = [option for option in OPTION.findall(words[0]) if not is_known(option, None)]
    for part in words[1:]:
        first, second, *_ = [*part.split(), "", ""]
        verb = f"{first} {second}" if f"{first} {second}" in options() else first
        wrong += [option for option in OPTION.findall(part) if not is_known(option, verb)]
    return wrong


def is_known(option: str, verb: str | None) -> bool:
    if verb in options():
        return option in options()[verb]
    return option in OTHER_OPTIONS or any(option in found for found in options().values())


def commands(page: Path) -> list[str]:
    """Spans, and the lines of blocks, that speak of our command and not of other programs."""
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^(?:    )?(?:\$ )?(syllabary .+)$", text, re.MULTILINE)
    found = [re.split(r" \| (?!syllabary)|  #", line)[0] for line in lines]
    others = ("python ", "subword-nmt ", "make ", "pip ", "cargo ")
    ours = [span for span in spans(page) if "--" in span and not span.startswith(others)]
    return [*found, *(f"syllabary {span}" if span.split()[0] in options() else span for span in ours)]


@by_name(PAGES)
def test_options_are_there(page: Path) -> None:
    wrong = {command: found for command in commands(page) if (found := wrong_options(command))}
    assert not wrong, f"{page.name} names options that are not there: {wrong}"


@by_name(PAGES)
def test_names_of_python_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # Not of these: names of files.
    for name in set(re.findall(r"\btok\.([a-z]\w*)", text)) - {"json", "syllabary"}:
        assert hasattr(syllabary.Tokenizer, name), f"{page.name} names tok.{name}"
    for span in spans(page):
        for name in re.findall(r"(?<![\w.-])syllabary((?:\.[A-Za-z]\w*)+)", span):
            assert can_be_had(name[1:].split(".")), f"{page.name} names syllabary{name}"


def can_be_had(names: list[str]) -> bool:
    """Whether `syllabary.a.b` is a module or an attribute, or a suffix of our files."""
    if names[-1] in ("json", "counts", "toml"):
        return True
    found: object = syllabary
    for at, name in enumerate(names):
        if not hasattr(found, name):
            try:
                found = import_module(".".join(["syllabary", *names[: at + 1]]))
            except ImportError:
                return False
        else:
            found = getattr(found, name)
    return True


def test_what_is_not_there_is_found() -> None:
    assert missing("encode/never.rs") == ["encode/never.rs"]
    assert missing("crates/syllabary/src/{merge,never}") == ["crates/syllabary/src/never"]
    assert missing("python/syllabary/splits/NAME.json") == []
    assert is_path("encode/never.rs")
    assert is_path("bench/results/never.json")
    assert not is_path("tokenizer.json")
    assert wrong_options("syllabary train a --never --like x") == ["--never"]
    assert wrong_options("syllabary decode --like x") == ["--like"]
    assert wrong_options("--never F") == ["--never"]
    assert not can_be_had(["corpus", "Never"])
    assert "many-sizes-from-one-training" in anchors(ROOT / "docs" / "training.md")
