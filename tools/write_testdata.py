"""Writes `testdata/*.json`: what `syllabary.reference` gives for the inputs below, for tests in any language.

`--check` writes nothing and exits 1, naming the files, if one is not what the reference gives. Every input
stands in this file; every result is the reference's. `testdata/README.md` says how the files are read.
Leaves out: running the cases (`tests/test_testdata.py`, `crates/syllabary/tests/cases.rs`) and errors of
wrong use (`tests/test_bad_input.py`).
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from syllabary import splits
from syllabary.errors import EarlyStopWarning, SyllabaryError
from syllabary.reference import ReferenceTokenizer, pieces
from syllabary.reference.train import merge_steps, read_corpus, train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

FOLDER = Path(__file__).resolve().parent.parent / "testdata"
WIDTH = 110
SHORT = 32  # items up to this many characters share lines

PATTERNS = {
    "letters-or-marks": SplitSpec(r"\p{L}[\p{L}\p{M}]*|\p{N}{1,2}"),
    "letters-alone": SplitSpec(r"[^\W\d_]+", keep_unmatched=False),
    "onig-words": SplitSpec(r"\w+|\s+(?!\S)|\s", tables="onig"),
    "camel-case": SplitSpec(r"(?<=\p{Ll})\p{Lu}+|(?i:'S|'ll)\b|\p{Lu}?\p{Ll}++"),
    "pairs-of-the-same": SplitSpec(r"(\w)\1|[^\s]"),
}

TEXTS = [
    "",
    "Hello, world! It's 2024; we'll see.",
    "don't DON'T it'ſ'S 'lL",
    "  two  spaces\t\ttabs \n \n\n  lines\r\n\r\nend  ",
    "1 12 123 1234567 ½ ² ٣٤ Ⅷ 3.14",
    "HTTPServer camelCase McDonald iPhone ÉCOLE ǅ ʰª",
    "e\u0301te\u0301 हिन्दी ภาษา 漢字かな",
    "bene atque virumque hocine neque que QUE",
    "a\xa0b\u3000c\u2028d\x85e\x1cf\u200bg\ufeffh\u180ei",
    "👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 !?...://x/ \x00\x7f\u0378\ue000\U0010ffff",
    "_under_score_ aabbcc `${x}` <|endoftext|> </w>",
]

CORPORA = {
    "low": ["low low low low low lower lower newest newest newest newest newest newest widest widest widest"],
    "ties": ["ba ab", "cd ba dc", "", "ab cd dc"],
    "overlap": ["aaaa aaa", "aaaaaaa b", "bbbb<s>bbb"],
    "unicode": ["né née e\u0301 漢字漢字 字漢", "\u0378\x00né né 漢字 <s> née"],
    "latin": ["arma virumque cano atque arma", "atque virumque cano, bene, arma virumque"],
}

# Options besides the defaults of TrainOptions; "split" by its name.
TRAINING: list[dict[str, Any]] = [
    {"split": "gpt2", "num_merges": 12, "min_frequency": 1},
    {"split": "gpt4", "num_merges": 12, "alphabet": "seen"},
    {"split": "o200k", "num_merges": 8, "byte_order": "gpt2", "min_frequency": 1, "alphabet": "seen"},
    {"split": "none", "num_merges": 10, "special_tokens": ["<s>"], "cut_special": False, "alphabet": "seen"},
    {"split": "gpt4", "vocab_size": 270, "special_tokens": ["<s>", "ow"], "special_first": True},
    {"split": "whitespace", "unit": "char", "num_merges": 12},
    {
        "split": "whitespace-split",
        "unit": "char",
        "num_merges": 12,
        "end_of_word": "</w>",
        "min_frequency": 1,
    },
    {"split": "whitespace-split", "unit": "char", "num_merges": 6, "end_of_word": "</w>", "fallback": True},
    {"split": "letters-or-marks", "unit": "char", "num_merges": 9, "max_token_length": 3, "fallback": True},
    {"split": "latin", "unit": "word", "num_merges": 6, "special_tokens": ["<s>"], "min_frequency": 1},
    {"split": "latin", "unit": "word", "vocab_size": 290, "fallback": True, "max_token_length": 2},
]
TIES = ("smallest-ids", "first-seen", "largest-pair")


def split_of(name: str) -> SplitSpec:
    """A split by its name in `splits.json`."""
    return PATTERNS[name] if name in PATTERNS else splits.get(name)


def text_of(data: bytes) -> str:
    """Bytes as the files write them: one character U+0000 to U+00FF a byte."""
    return data.decode("latin-1")


# ---- the files ----


def write_splits() -> dict[str, Any]:
    """Pieces of every text by every split."""
    table = {}
    for name in [*splits.names(), *PATTERNS]:
        split = split_of(name)
        table[name] = {
            "pattern": split.pattern,
            "tables": split.tables,
            "keep_unmatched": split.keep_unmatched,
            "cases": [{"text": text, "pieces": pieces(text, split)} for text in TEXTS],
        }
    return table


def write_training() -> dict[str, Any]:
    """Alphabet of every corpus under each kind of options, and the merges that each tie-break learns."""
    table = {}
    for corpus_name, documents in CORPORA.items():
        for number, record in enumerate(TRAINING):
            learned = {
                tie_break: trained(documents, {**record, "tie_break": tie_break}) for tie_break in TIES
            }
            table[f"{corpus_name} {number}"] = {
                "documents": documents,
                "options": full_record(record),
                "alphabet": [
                    text_of(symbol) for symbol in read_corpus(documents, options_of(record)).alphabet
                ],
                "merges": learned,
            }
    return table


def options_of(record: dict[str, Any]) -> TrainOptions:
    """Options as data -> as `TrainOptions`."""
    special = tuple(record.get("special_tokens", ()))
    return TrainOptions(**record | {"split": split_of(record["split"]), "special_tokens": special})


def full_record(record: dict[str, Any]) -> dict[str, Any]:
    """The options with every default written out, so that a reader needs none of its own."""
    full = dataclasses.asdict(options_of(record))
    del full["tie_break"]
    return full | {"split": record["split"], "special_tokens": list(full["special_tokens"])}


def trained(documents: list[str], record: dict[str, Any]) -> list[list[int]]:
    """What the reference learns, as `[left, right, count]` in local ids: alphabet, then one id a merge."""
    options = options_of(record)
    steps = merge_steps(read_corpus(documents, options), options)
    return [[*step.pair, step.count] for step, _places in steps]


def spec_record(spec: TokenizerSpec, split: str) -> dict[str, Any]:
    """A `TokenizerSpec` as data; `alphabet` lists ids, whose tokens are the symbols."""
    return {
        "unit": spec.unit,
        "split": split,
        "tokens": [[token_id, text_of(token)] for token_id, token in spec.tokens.items()],
        "alphabet": list(spec.alphabet.values()),
        "merges": None if spec.merges is None else [list(merge) for merge in spec.merges],
        "special_tokens": dict(spec.special_tokens),
        "added_tokens": dict(spec.added_tokens),
        "end_of_word": spec.end_of_word,
        "fallback": spec.fallback,
        "whole_pieces": spec.whole_pieces,
    }


def tokenizers() -> dict[str, tuple[TokenizerSpec, str]]:
    """Small tokenizers of every kind: name -> (spec, name of its split)."""
    low, text, latin = CORPORA["low"], [*CORPORA["unicode"], *CORPORA["ties"]], CORPORA["latin"]
    seen = {"alphabet": "seen", "min_frequency": 1}
    mark = {"unit": "char", "split": "whitespace-split", "end_of_word": "</w>", "min_frequency": 1}
    made = {
        "bytes": (low, {"split": "gpt2", "num_merges": 20, "min_frequency": 1}),
        "bytes-seen": (text, {"split": "gpt4", "num_merges": 25, "byte_order": "gpt2", **seen}),
        "bytes-no-split": (CORPORA["overlap"], {"split": "none", "num_merges": 9, **seen}),
        "chars-with-mark": (low, {"num_merges": 14, **mark}),
        "chars-with-fallback": (text, {"num_merges": 10, "fallback": True, **mark}),
        "words": (latin, {"split": "latin", "unit": "word", "num_merges": 4, "special_tokens": ["<s>"]}),
        "words-with-fallback": (
            latin, {"split": "latin", "unit": "word", "num_merges": 4, "fallback": True, "min_frequency": 1},
        ),
    }  # fmt: skip
    found = {}
    for name, (documents, record) in made.items():
        found[name] = (train(documents, options_of(record)), record["split"])
    found["rank-order"] = (rank_order(found["bytes"][0], whole_pieces=False), "gpt2")
    found["whole-pieces"] = (rank_order(found["bytes"][0], whole_pieces=True), "gpt2")
    special = {"<s>": 300, "<s><s>": 301, "low": 302, "é": 303}
    found["special"] = (
        dataclasses.replace(
            found["bytes"][0], special_tokens=special, added_tokens={"[w]": 310, "<s>w": 311}
        ),
        "gpt2",
    )
    return found


def rank_order(spec: TokenizerSpec, whole_pieces: bool) -> TokenizerSpec:
    """The same tokens by tiktoken's rule, with a gap in the ids and two tokens that no merge reaches."""
    tokens = {**spec.tokens, 280: b"xyzzy", 281: b" wide low"}
    return dataclasses.replace(spec, tokens=tokens, merges=None, whole_pieces=whole_pieces)


ENCODE = [
    "",
    "low lower lowest",
    "newest widest xyzzy wide low",
    "aaaaaaaaa bb aaa",
    "né née e\u0301 漢字 字",
    "arma virumque cano atque bene",
    " arma  virumque\nquisque</w>",
    "ab\x00ba \U0010ffff",
]
SPECIAL = ["low", "a<s>b", "<s><s><s>", "<s>w[w]low", "[w][w]x", "é<s", "lower é", "<<s>>"]
POLICIES: list[str | list[str]] = ["raise", "allow", "text", [], ["<s>"], ["<s><s>", "é"]]


def write_tokenizers() -> dict[str, Any]:
    """The tokenizers that the cases of encoding, decoding and special tokens name."""
    return {name: spec_record(spec, split) for name, (spec, split) in tokenizers().items()}


def write_encoding() -> dict[str, Any]:
    """Ids and offsets of every text by every tokenizer."""
    return {
        name: [encoded(ReferenceTokenizer(spec), text, "text") for text in ENCODE]
        for name, (spec, _split) in tokenizers().items()
    }


def encoded(tokenizer: ReferenceTokenizer, text: str, policy: Any) -> dict[str, Any]:
    """One case: what the reference gives for a text, or the kind and the character of its error."""
    special = set(policy) if isinstance(policy, list) else policy
    case: dict[str, Any] = {"text": text, "special": policy}
    try:
        ids = tokenizer.encode(text, special)
    except SyllabaryError as error:
        place = str(error).partition("at character ")[2]
        return {**case, "error": type(error).__name__, "character": int(re.split(r"\D", place)[0])}
    spans = {f"{unit}s": tokenizer.offsets(text, unit, special) for unit in ("byte", "char")}
    return {**case, "ids": ids, **{name: [list(span) for span in found] for name, found in spans.items()}}


def write_special() -> dict[str, Any]:
    """Every text with special tokens under every policy."""
    tokenizer = ReferenceTokenizer(tokenizers()["special"][0])
    return {"special": [encoded(tokenizer, text, policy) for policy in POLICIES for text in SPECIAL]}


def write_decoding() -> dict[str, Any]:
    """Bytes, and text with replacement characters, of ids: whole texts, parts of characters, every token."""
    table = {}
    for name, (spec, _split) in tokenizers().items():
        tokenizer = ReferenceTokenizer(spec)
        table[name] = [decoded(tokenizer, ids) for ids in sequences(tokenizer)]
    return table


def sequences(tokenizer: ReferenceTokenizer) -> Iterator[list[int]]:
    """Ids to decode; the last sequence is followed by an id that is no token."""
    every = sorted(tokenizer.bytes_of)
    yield []
    yield every
    yield [every[0], *every[-3:], every[0]]
    yield every[-1:]
    yield from (
        [token_id] for token_id in every if tokenizer.bytes_of[token_id] in (b"\x80", b"\xff", b"</w>")
    )
    broken = [b"\xe2", b"\x82", b"a", b"\xf0", b"\x9f", b"\xed", b"\xa0", b"\x80", b"\xc3"]
    ids = {tokenizer.bytes_of[token_id]: token_id for token_id in reversed(every)}
    yield [ids[byte] for byte in broken if byte in ids]
    yield [every[0], every[-1] + 1]


def decoded(tokenizer: ReferenceTokenizer, ids: list[int]) -> dict[str, Any]:
    """One case of decoding; the error names the place of the id that is no token."""
    try:
        return {"ids": ids, "bytes": text_of(tokenizer.decode_bytes(ids)), "text": tokenizer.decode(ids)}
    except SyllabaryError as error:
        return {"ids": ids, "error": type(error).__name__, "index": len(ids) - 1}


# ---- JSON that people can read ----

PLAIN = re.compile(r"[ -~¡-¬®-ɏΑ-ωЀ-ӿऄ-हก-ฮ぀-ヿ一-鿿]")


def render(value: Any, depth: int = 0) -> str:
    """JSON on as few lines of at most `WIDTH` characters as its parts allow; the same for equal values."""
    flat = compact(value)
    if len(flat) + depth <= WIDTH or not isinstance(value, (dict, list)):
        return flat
    if isinstance(value, dict):
        items = [f"{compact(key)}: {render(item, depth + 1)}" for key, item in value.items()]
        lines, ends = items, "{}"
    else:
        items = [render(item, depth + 1) for item in value]
        lines, ends = filled(items, WIDTH - depth) if max(map(len, items)) <= SHORT else items, "[]"
    inner = ",\n".join(" " * (depth + 1) + line for line in lines)
    return f"{ends[0]}\n{inner}\n{' ' * depth}{ends[1]}"


def filled(items: list[str], width: int) -> list[str]:
    """Short items, as many in a line as fit."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + 2 > width:
            lines.append("")
        lines[-1] += ", " * bool(lines[-1]) + item
    return lines


def compact(value: Any) -> str:
    """JSON on one line; characters that could be mistaken or not be seen are escaped."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{compact(key)}: {compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(compact, value)) + "]"
    if isinstance(value, str):
        kept = (c if PLAIN.match(c) and c not in '"\\' else json.dumps(c)[1:-1] for c in value)
        return '"' + "".join(kept) + '"'
    return json.dumps(value)


FILES: dict[str, Callable[[], dict[str, Any]]] = {
    "splits.json": write_splits,
    "training.json": write_training,
    "tokenizers.json": write_tokenizers,
    "encoding.json": write_encoding,
    "special.json": write_special,
    "decoding.json": write_decoding,
}


def contents() -> dict[str, str]:
    """Name -> text of every file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return {name: render(write()) + "\n" for name, write in FILES.items()}


def stale(folder: Path = FOLDER) -> list[str]:
    """The names of the files that are not what the reference gives, or that it does not know."""
    wanted = contents()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def main() -> int:
    """Write, or with `--check` compare."""
    if sys.argv[1:] == ["--check"]:
        names = stale()
        if names:
            print(f"not what the reference gives: {', '.join(names)}; run tools/write_testdata.py")
        return bool(names)
    if sys.argv[1:]:
        print("usage: write_testdata.py [--check]", file=sys.stderr)
        return 2
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
