"""The command `subword-nmt`, with its flags: `python -m syllabary.compat.subword_nmt apply-bpe -c codes`.

Leaves out: what the commands do (the modules beside this one) and their flags (`parsers`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from syllabary.compat.subword_nmt import parsers
from syllabary.compat.subword_nmt.apply_bpe import BPE, get_byte_mode, read_vocabulary
from syllabary.compat.subword_nmt.get_vocab import get_vocab
from syllabary.compat.subword_nmt.learn_bpe import command_lines, learn_bpe
from syllabary.compat.subword_nmt.learn_joint_bpe_and_vocab import learn_joint_bpe_and_vocab
from syllabary.errors import SyllabaryError

__all__ = [
    "BPE", "get_vocab", "learn_bpe", "learn_joint_bpe_and_vocab", "main", "read_vocabulary",
]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; wrong usage exits with 2, anything else that fails with 1 and the reason on stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m syllabary.compat.subword_nmt", description="subword-nmt's commands, by syllabary"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for create in (parsers.learn_parser, parsers.apply_parser, parsers.vocab_parser, parsers.joint_parser):
        create(commands)
    args = parser.parse_args(arguments)
    try:
        COMMANDS[args.command](args)
    except re.error as error:
        _fail(f"--glossaries: {error.pattern!r} is no regular expression: {error}")
    except UnicodeDecodeError as error:
        _fail(f"not UTF-8 at byte {error.start} of what was read last ({error.reason})")
    except BrokenPipeError:
        sys.exit(1)  # the reader of the pipe has seen enough
    except (SyllabaryError, OSError, ValueError) as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")
    sys.exit(1)


def _learn(args: argparse.Namespace) -> None:
    with _opened(args.input, "r", args.byte) as file, _opened(args.output, "w", args.byte) as codes:
        learn_bpe(
            file if args.dict_input else command_lines(file),
            codes,
            args.symbols,
            args.min_frequency,
            args.verbose,
            is_dict=args.dict_input,
            total_symbols=args.total_symbols,
            is_bytes=args.byte,
        )


def _apply(args: argparse.Namespace) -> None:
    is_bytes = get_byte_mode(args.codes)
    vocabulary = None
    if args.vocabulary is not None:
        with _opened(args.vocabulary, "r", is_bytes) as lines:
            vocabulary = read_vocabulary(lines, args.vocabulary_threshold)
    if args.seed is not None:
        random.seed(args.seed)
    with _opened(args.codes, "r", is_bytes) as codes:
        bpe = BPE(codes, args.merges, args.separator, vocabulary, args.glossaries)
    with _opened(args.input, "r", is_bytes) as file, _opened(args.output, "w", is_bytes) as output:
        output.writelines(bpe.process_line(line, args.dropout) for line in command_lines(file))


def _vocab(args: argparse.Namespace) -> None:
    with _opened(args.input, "r", False) as file, _opened(args.output, "w", False) as vocabulary:
        get_vocab(command_lines(file), vocabulary)


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "learn-bpe": _learn,
    "apply-bpe": _apply,
    "get-vocab": _vocab,
    "learn-joint-bpe-and-vocab": learn_joint_bpe_and_vocab,
}


@contextlib.contextmanager
def _opened(path: str, mode: str, is_bytes: bool) -> Iterator[IO[Any]]:
    """A file, or standard input or output for `-`: bytes, or UTF-8 with line ends as they are."""
    if path != "-":
        text: dict[str, Any] = {} if is_bytes else {"encoding": "utf-8", "newline": ""}
        with Path(path).open(mode + ("b" if is_bytes else ""), **text) as file:
            yield file
        return
    standard = sys.stdin if mode == "r" else sys.stdout
    if standard is None:
        raise ValueError(
            "stdin is closed: give --input" if mode == "r" else "stdout is closed: give --output"
        )
    stream = standard.buffer
    if is_bytes:
        yield stream
        stream.flush() if mode == "w" else None
        return
    wrapped = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=False)
    try:
        yield wrapped
    finally:
        wrapped.detach()
