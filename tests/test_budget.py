"""Sizes: no file above 400 lines, no function above 50, so that each fits a head and most fit a screen.

Rust's functions are counted by clippy (`too-many-lines-threshold` in clippy.toml). Data is not counted.
An exception stands in `EXCEPTIONS` with its reason, and leaves the table when it is no longer needed.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("bench", "crates", "examples", "python", "tests", "tools")
FILE_LINES = 400
FUNCTION_LINES = 50
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# "path" or "path::function" -> why it may be longer.
EXCEPTIONS: dict[str, str] = {}


def files(suffix: str) -> list[Path]:
    """The repository's own sources of one kind."""
    found = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob(f"*{suffix}"))
    return [path for path in found if "target" not in path.parts]


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring, which is read as prose."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        assert first.end_lineno is not None
        lines -= first.end_lineno - first.lineno + 1
    return lines


class Source(NamedTuple):
    """What is asked of a file of Python. Its tree is not kept: those of all files are two million objects."""

    lines: int
    functions: dict[str, int]
    docstring: str | None


@cache
def read(path: Path) -> Source:
    """A file of Python, once."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            functions[node.name] = max(code_lines(node), functions.get(node.name, 0))
    return Source(text.count("\n"), functions, ast.get_docstring(tree))


@cache
def too_long() -> dict[str, int]:
    """Everything above its budget -> its lines."""
    over = {}
    for path in files(".rs"):
        if (lines := path.read_text(encoding="utf-8").count("\n")) > FILE_LINES:
            over[path.relative_to(ROOT).as_posix()] = lines
    for path in files(".py"):
        name, source = path.relative_to(ROOT).as_posix(), read(path)
        if source.lines > FILE_LINES:
            over[name] = source.lines
        long = {node: lines for node, lines in source.functions.items() if lines > FUNCTION_LINES}
        over |= {f"{name}::{node}": lines for node, lines in long.items()}
    return over


def test_nothing_is_longer_than_its_budget() -> None:
    unexcused = {name: lines for name, lines in too_long().items() if name not in EXCEPTIONS}
    assert not unexcused, f"split these, or list them with a reason: {unexcused}"


def test_every_exception_is_still_needed() -> None:
    assert set(EXCEPTIONS) <= set(too_long())


@pytest.mark.parametrize("path", files(".py"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_adds(path: Path) -> None:
    assert read(path).docstring, "the file opens with no docstring"


@pytest.mark.parametrize("path", files(".rs"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_crate_file_says_what_it_adds(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("//!"), "the file opens with no `//!`"


def test_the_budget_sees_the_sources() -> None:
    assert len(files(".py")) > 20
    assert len(files(".rs")) > 10


def test_code_lines_leave_the_docstring_out() -> None:
    source = 'def f():\n    """One\n\n    two."""\n    return 1\n'
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert code_lines(function) == 2
