"""subword-nmt's `learn_joint_bpe_and_vocab`: one set of codes from several texts, a vocabulary for each.

Leaves out: learning (`learn_bpe`) and cutting (`apply_bpe`).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from syllabary.compat.subword_nmt.apply_bpe import BPE
from syllabary.compat.subword_nmt.learn_bpe import command_lines, get_vocabulary, learn_bpe
from syllabary.compat.subword_nmt.parsers import joint_parser as create_parser
from syllabary.formats.subword_nmt_vocab import write_vocabulary

__all__ = ["create_parser", "learn_joint_bpe_and_vocab"]


def learn_joint_bpe_and_vocab(args: argparse.Namespace) -> None:
    """Learn from all `args.input`, write `args.output`, and to each of `args.vocab` its text's tokens.

    Files are paths, or open files, whose names are taken.
    """
    inputs, vocabularies = [_path(file) for file in args.input], [_path(file) for file in args.vocab]
    if len(inputs) != len(vocabularies):
        raise ValueError(f"{len(inputs)} input files and {len(vocabularies)} vocabulary files: give as many")
    with _path(args.output).open("w", encoding="utf-8", newline="") as codes:
        lines = command_lines(chain.from_iterable(map(_lines, inputs)))
        learn_bpe(
            lines, codes, args.symbols, args.min_frequency, args.verbose, total_symbols=args.total_symbols
        )
    with _path(args.output).open(encoding="utf-8", newline="") as codes:
        bpe = BPE(codes, separator=args.separator)
    for text, vocabulary in zip(inputs, vocabularies, strict=True):
        counts: Counter[str] = Counter()
        for word, count in get_vocabulary(_lines(text)).items():
            # Words are cut whole and then read by lines, as it does: a mark behind U+2028 counts for itself.
            cut = " ".join(bpe.segment_tokens([word]))
            for segment, times in get_vocabulary(command_lines([cut])).items():
                counts[segment] += count * times
        vocabulary.write_text(write_vocabulary(counts), encoding="utf-8", newline="")


def _path(file: Any) -> Path:
    return Path(file if isinstance(file, (str, Path)) else file.name)


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from lines
