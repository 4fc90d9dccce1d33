"""The flags of subword-nmt's four commands, as its `create_parser` functions define them.

Files are paths here; `-`, the default, is standard input or output. Leaves out: running the commands
(`subword_nmt`).
"""

from __future__ import annotations

import argparse
from typing import Any


def _new(subparsers: Any, command: str, description: str) -> argparse.ArgumentParser:
    if subparsers is None:
        return argparse.ArgumentParser(description=description)
    parser: argparse.ArgumentParser = subparsers.add_parser(command, description=description)
    return parser


def _files(parser: argparse.ArgumentParser, output: str) -> None:
    parser.add_argument(
        "--input", "-i", default="-", metavar="PATH", help="input file (default: standard input)"
    )
    parser.add_argument(
        "--output", "-o", default="-", metavar="PATH", help=f"{output} (default: standard output)"
    )


def _workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--num-workers", type=int, default=1, help="accepted and not needed: the result is the same"
    )


def _learning(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--symbols", "-s", type=int, default=10000, help="learn so many merges (default: %(default)s)"
    )
    parser.add_argument(
        "--min-frequency",
        type=int,
        default=2,
        metavar="FREQ",
        help="stop when no pair occurs so often (default: %(default)s)",
    )
    parser.add_argument(
        "--total-symbols",
        "-t",
        action="store_true",
        help="--symbols counts the characters too, within words and at their ends",
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="show each merge on standard error")
    _workers(parser)


def learn_parser(subparsers: Any = None) -> argparse.ArgumentParser:
    """`learn-bpe`."""
    parser = _new(subparsers, "learn-bpe", "learn BPE codes from text")
    _files(parser, "codes file")
    _learning(parser)
    parser.add_argument(
        "--dict-input", action="store_true", help="each line of the input is a word and a count"
    )
    parser.add_argument("--byte", "-b", action="store_true", help="symbols are bytes, not characters")
    return parser


def apply_parser(subparsers: Any = None) -> argparse.ArgumentParser:
    """`apply-bpe`."""
    parser = _new(subparsers, "apply-bpe", "cut words into segments by codes")
    _files(parser, "output file")
    parser.add_argument("--codes", "-c", required=True, metavar="PATH", help="codes file of learn-bpe")
    parser.add_argument(
        "--merges",
        "-m",
        type=int,
        default=-1,
        metavar="INT",
        help="use the first so many merges (default: all)",
    )
    parser.add_argument(
        "--separator",
        "-s",
        default="@@",
        metavar="STR",
        help="ends segments that do not end a word ('%(default)s')",
    )
    parser.add_argument(
        "--vocabulary", metavar="PATH", help="vocabulary of get-vocab: segments that it lacks are cut again"
    )
    parser.add_argument(
        "--vocabulary-threshold", type=int, metavar="INT", help="leave out tokens less frequent than this"
    )
    parser.add_argument(
        "--dropout",
        type=float,
        default=0,
        metavar="P",
        help="pass over merges with probability P; for training data",
    )
    parser.add_argument(
        "--glossaries", nargs="+", metavar="STR", help="words or regular expressions that are never cut"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the dropout")
    _workers(parser)
    return parser


def vocab_parser(subparsers: Any = None) -> argparse.ArgumentParser:
    """`get-vocab`."""
    parser = _new(subparsers, "get-vocab", "count the tokens of a text")
    _files(parser, "vocabulary file")
    return parser


def joint_parser(subparsers: Any = None) -> argparse.ArgumentParser:
    """`learn-joint-bpe-and-vocab`."""
    parser = _new(subparsers, "learn-joint-bpe-and-vocab", "learn codes from several texts, and count each")
    parser.add_argument("--input", "-i", required=True, nargs="+", metavar="PATH", help="input texts")
    parser.add_argument("--output", "-o", required=True, metavar="PATH", help="codes file")
    parser.add_argument(
        "--separator",
        default="@@",
        metavar="STR",
        help="ends segments that do not end a word ('%(default)s')",
    )
    parser.add_argument(
        "--write-vocabulary",
        required=True,
        nargs="+",
        metavar="PATH",
        dest="vocab",
        help="vocabulary files, one for each input text",
    )
    _learning(parser)
    return parser
