"""What a tokenizer is, as its file says it, and its vocabulary in figures.

Adds `overview`, `figures`, `source_of`, and `integers` for tokenizers without text. Leaves out: single
tokens (`making`), texts (`reading`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from syllabary import formats, hub, surgery
from syllabary.encodings import name_for_model, names
from syllabary.files import read_head
from syllabary.formats.signs import of_integers
from syllabary.ids import IdTokenizer
from syllabary.inspecting.making import Making, spelling
from syllabary.inspecting.scripts import script_of, text_of
from syllabary.reference.symbols import plural
from syllabary.spec import Step, TokenizerSpec

LONGEST = 10
# Tokens with marks are merged in plain Python when it is asked whether anything encodes to them.
MOST_MARKED = 200_000
LEFT_OUT = ("counts", "split")  # of the record: one number a merge; what is said elsewhere


def source_of(name: str) -> dict[str, str | None]:
    """Where a tokenizer that `load` has opened comes from: its format, its file, the published name.

    >>> source_of("gpt-4o")
    {'format': 'tiktoken', 'file': None, 'published': 'o200k_base'}
    """
    hosted = not os.path.exists(name) and hub.is_id(name)
    if hosted or os.path.exists(name):
        form, file = formats.find(hub.fetch(name) if hosted else name)
        return {"format": form.name, "file": str(file), "published": name if hosted else None}
    published = name if name in names() else name_for_model(name)
    return {"format": "tiktoken", "file": None, "published": published}


def overview(making: Making) -> dict[str, object]:
    """What a tokenizer is, as plain data; steps have the names that its file gives them."""
    spec, tok = making.spec, making.tok
    return {
        "model": spec.model,
        "unit": spec.unit,
        "merging": making.merging,
        "vocab_size": tok.vocab_size,
        "alphabet": len(making.units),
        "merges": None if making.merging in (None, "scores") else len(making.merges),
        "split": {
            "name": "none" if spec.split.pattern is None else spec.split.name,
            "pattern": spec.split.pattern,
            "tables": spec.split.tables,
            "keep_unmatched": spec.split.keep_unmatched,
        },
        "normalizer": _steps(spec.normalizer),
        "pretokenizer": _steps(spec.pretokenizer),
        "post_processor": [type(one).__name__ for one in tok.framing.post_processor],
        "decoder": None if spec.decoder is None else _steps(spec.decoder),
        "end_of_word": spec.end_of_word,
        "continuing_prefix": spec.continuing_prefix,
        "whole_pieces": spec.whole_pieces,
        "fallback": spec.fallback,
        "byte_tokens": len(spec.byte_tokens),
        "unused": len(spec.unused),
        "unknown": None if spec.unknown is None else making.brief(spec.unknown),
        "dropout": spec.dropout,
        "special_tokens": dict(sorted(spec.special_tokens.items(), key=lambda item: item[1])),
        "added_tokens": dict(sorted(spec.added_tokens.items(), key=lambda item: item[1])),
        "training": {key: value for key, value in spec.record.items() if key not in LEFT_OUT},
    }


def integers(name: str) -> dict[str, object] | None:
    """The overview of a file of integers (`IdTokenizer`), with its figures; `None` for any other name.

    lengths: integers -> tokens that stand for so many.
    """
    if not os.path.isfile(name) or not of_integers(read_head(Path(name))):
        return None
    tok = IdTokenizer.load(name)
    spans = [1] * len(tok.symbols)
    for left, right in tok.merges.tolist():
        spans.append(spans[left] + spans[right])
    return {
        "format": "syllabary-ids",
        "file": name,
        "model": "bpe",
        "unit": "id",
        "vocab_size": tok.vocab_size,
        "symbols": len(tok.symbols),
        "merges": len(tok.merges),
        "training": {key: value for key, value in tok.record.items() if key not in LEFT_OUT},
        "figures": {"lengths": dict(sorted(Counter(spans).items()))},
    }


def figures(making: Making) -> dict[str, object]:
    """The vocabulary in figures. Special and added tokens are counted apart, `named`: the others and they
    are the vocabulary.

    lengths: bytes -> tokens, marks counted. scripts: script -> tokens, most first. longest: the ten longest.
    unreachable: tokens that no text becomes (`surgery.unreachable`), or the `reason` why that is not told.

    >>> import syllabary
    >>> found = figures(Making(syllabary.train(["низко ниже"] * 3, vocab_size=260, special_tokens=["<e>"])))
    >>> found["named"], found["lengths"], found["scripts"]
    (1, {1: 256, 2: 2, 3: 1}, {'partial UTF-8': 131, 'Common': 76, 'Latin': 52})
    """
    apart = making.special | making.added
    plain = {one: token for one, token in making.tok.vocab.items() if one not in apart}
    lengths = Counter(map(len, plain.values()))
    scripts = Counter(script_of(text_of(making.spec, token)) for token in plain.values())
    longest = sorted(plain, key=lambda one: (-len(plain[one]), one))[:LONGEST]
    return {
        "named": making.tok.vocab_size - len(plain),
        "lengths": dict(sorted(lengths.items())),
        "scripts": dict(sorted(scripts.items(), key=lambda item: (-item[1], item[0]))),
        "longest": [{"id": one, **spelling(plain[one]), "length": len(plain[one])} for one in longest],
        "unreachable": _unreachable(making),
    }


def _unreachable(making: Making) -> dict[str, object]:
    spec = making.spec
    marked = spec.unit == "word" or spec.end_of_word is not None or spec.continuing_prefix is not None
    if marked and len(spec.tokens) > MOST_MARKED:
        return {"reason": f"not tried: with marks, more than {MOST_MARKED:,} tokens take long"}
    if making.merging is None:
        return {"reason": f"not known: only byte-pair encoding is asked, and this is {spec.model}"}
    found = surgery.unreachable(making.tok)
    tokens = [{**making.brief(one), "why": why} for one, why in found.items()]
    return {"count": len(tokens), "tokens": tokens}


def _steps(steps: Iterable[Step]) -> list[dict[str, object]]:
    return [{"kind": step.kind, "options": _plain(step.options)} for step in steps]


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    """Options as plain data; tables of bytes by their size."""
    return {
        name: plural(len(value), "byte", ",") if isinstance(value, bytes) else value
        for name, value in options.items()
    }


def marks_of(spec: TokenizerSpec) -> list[str]:
    """The marks of a vocabulary, in words."""
    marks = []
    if spec.end_of_word is not None:
        marks.append(f"{spec.end_of_word} at the end of a word")
    if spec.continuing_prefix is not None:
        marks.append(f"{spec.continuing_prefix} before what continues a word")
    return marks
