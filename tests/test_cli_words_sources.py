"""The words of the command line against the sources, where every sentence of the library stands.

A phrase that no sentence has any more fails here, and a sentence that names an argument in Python's words and
has no phrase. Leaves out: what comes out on the command line (`test_cli_words`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import click
import pytest

from syllabary.cli import main, words

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "python" / "syllabary"
APART = ("cli", "compat")  # verbs say options themselves; what stands in for others has the words of those
HOLE = "\0"  # what a sentence is told of, and what is told
TOLD = ("x", "'x'", '"x"', "12", "1 token", "checkpoint-7", "word", "dropout", "unk_id")
# Sentences made of several: their parts stand in the sources.
MADE: tuple[tuple[str, ...], ...] = (
    (" says its split and special tokens itself; leave out ", "split"),
    ("; ", "convert it, which says all that is lost, or save as .syllabary.json"),
    ("several languages", " and ", "checkpoint", " do not go together: "),
    (" without all 256 bytes (", 'alphabet="seen"', ")"),
    ("superwords does not go with ", 'unit="word"'),
    ("word does not go with ", "like='huggingface' and options", ": these say it, as "),
    (" has none: ", "draw a way by its score with sample(alpha=)"),
)
# Said to those who call from Python: no verb can come to it, or it is about a file.
IN_PYTHON = (
    "which `train` takes without model= and like=",
    "in special_tokens=",  # which no verb has with a file
    'merges=None (rank order by id) needs unit="byte"',
    ' need unit="char"',
    '=True needs unit="byte" or "char"',
    "merges have dropout=",
    'for unit="id"',
    'does not go with unit="id"',
    "fallback=False",  # of a tokenizer, after "and has"
    "its end_of_word",
    "=True needs end_of_word",
    "its special_tokens do not say",
    "special_tokens is ",
    "above block_size = ",
    "block_size is \0, batch_size \0: both",
    "top_k is \0: give 1 or more",  # the verb has said so
    "give less than max_tokens, which is",  # as above
    'for equal="compute" (--equal compute)',  # both ways
)


@lru_cache
def sentences() -> frozenset[str]:
    """Every text of the library but its docs, and of the engine, with a `HOLE` for what varies."""
    found = set[str]()
    for path in LIBRARY.rglob("*.py"):
        if path.relative_to(LIBRARY).parts[0] not in APART:
            found.update(texts(ast.parse(path.read_text("utf-8"))))
    for path in ROOT.glob("crates/*/src/**/*.rs"):
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', path.read_text("utf-8"), re.DOTALL):
            plain = re.sub(r"\\\n\s*", "", text).replace('\\"', '"')
            if not plain.startswith("($self"):  # a signature
                found.add(re.sub(r"\{[^{}]*\}", HOLE, plain))
    return frozenset(found)


def texts(tree: ast.AST) -> Iterator[str]:
    """Those of a module, one by one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
            for part in node.values:
                yield from texts(part)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # a docstring
            yield from texts(node)


@lru_cache
def told() -> tuple[str, ...]:
    """The sentences, told of several things."""
    plain = ["".join(parts) for parts in MADE]
    return (*plain, *{said.replace(HOLE, what) for said in sentences() if " " in said for what in TOLD})


def options() -> set[str]:
    """Every option of every verb, as `--vocab-size`."""

    def of(command: click.Command) -> Iterator[str]:
        for parameter in command.params:
            yield from (*parameter.opts, *parameter.secondary_opts)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                verb = command.get_command(context, name)
                assert verb is not None
                yield from of(verb)

    context = click.Context(main)
    return set(of(main))


PATTERNS = (*(said for said, _ in (*words.PHRASES, *words.READING)), *words.OPTIONS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_phrase_is_in_a_sentence_of_the_library(pattern: str) -> None:
    sought = re.compile(pattern, re.DOTALL)
    assert any(map(sought.search, told())), "no sentence has it any more: change it with the sentence"


def test_every_hint_is_for_a_sentence_of_the_library() -> None:
    for _kind, part, _said in words.HINTS:
        assert any(part in sentence for sentence in told()), part


def test_the_parts_of_made_sentences_stand_in_the_sources() -> None:
    everything = "\n".join(said.replace(HOLE, "word") for said in sentences())
    for part in {part for parts in MADE for part in parts}:
        assert part in everything, part


def test_an_argument_that_is_an_option_is_not_said_as_in_python() -> None:
    names = {name.removeprefix("--").replace("-", "_") for name in options()} | {"special_tokens"}
    names -= {"model", "special"}  # which are of a tokenizer, and in a hint
    given = rf"\b(?:{'|'.join(names)})=(?=[\"' ,)…A-Z0-9]|$)"
    alone = rf"(?<!['\"./\w-])(?:{'|'.join(name for name in names if '_' in name)})(?!['\"\w(])"
    argument = re.compile(f"{given}|{alone}")
    left = []
    for sentence in filter(argument.search, sentences()):
        if " " not in sentence or re.fullmatch(r"[\w ]+", sentence):  # names, listed
            continue
        said = [words.spoken(sentence.replace(HOLE, what)) for what in TOLD]
        if all(map(argument.search, said)) and not any(apart in sentence for apart in IN_PYTHON):
            left.append(said[0])
    assert left == [], "give each a phrase in words.py, or a place in IN_PYTHON"


def test_what_is_kept_in_python_is_still_said() -> None:
    for apart in IN_PYTHON:
        assert any(apart in sentence for sentence in sentences()), apart


def test_every_option_that_is_named_is_there() -> None:
    named = {"--" + name.replace("_", "-") for name in f"{words.NAMES}|{words.VALUED}".split("|")}
    for _pattern, said in (*words.PHRASES, *words.READING):
        named.update(re.findall(r"--[a-z][a-z-]*", said))
    for _kind, _part, said in words.HINTS:
        named.update(re.findall(r"--[a-z][a-z-]*", said))
    assert named - options() == set()
