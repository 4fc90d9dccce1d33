"""Sizes: no file above 400 lines, no function above 50, so that each fits a head and most fit a screen.

Rust's functions are counted by clippy (`too-many-lines-threshold` in clippy.toml). Data is not counted.
An exception stands in `EXCEPTIONS` with its reason, and leaves the table when it is no longer needed.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

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


@cache
def read(path: Path) -> tuple[str, ast.Module | None]:
    """The text of a file and, of Python, its tree."""
    text = path.read_text(encoding="utf-8")
    return text, ast.parse(text) if path.suffix == ".py" else None


@cache
def too_long() -> dict[str, int]:
    """Everything above its budget -> its lines."""
    over = {}
    for path in [*files(".py"), *files(".rs")]:
        name, (text, tree) = path.relative_to(ROOT).as_posix(), read(path)
        if (lines := text.count("\n")) > FILE_LINES:
            over[name] = lines
        if tree is not None:
            for node in ast.walk(tree):
                if isinstance(node, FUNCTIONS) and (lines := code_lines(node)) > FUNCTION_LINES:
                    over[f"{name}::{node.name}"] = lines
    return over


def test_nothing_is_longer_than_its_budget() -> None:
    unexcused = {name: lines for name, lines in too_long().items() if name not in EXCEPTIONS}
    assert not unexcused, f"split these, or list them with a reason: {unexcused}"


def test_every_exception_is_still_needed() -> None:
    assert set(EXCEPTIONS) <= set(too_long())


@pytest.mark.parametrize("path", files(".py"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_adds(path: Path) -> None:
    _text, tree = read(path)
    assert tree is not None
    assert ast.get_docstring(tree), "the file opens with no docstring"


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
