"""Real tokenizers and their home libraries: who opens which file, and what they say of a text.

Adds `REAL`, a table of tokenizers with their file, and what the home library gives: ids, spans, text.
Leaves out: what is compared (`test_compatibility`). A new real tokenizer is one line.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import published
import tiktoken
import tokenizers
from tiktoken_ext import openai_public

import syllabary
from syllabary import splits

VOCABS = Path(__file__).resolve().parent.parent.parent / "shared" / "vocabs"
Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Said:
    """What a library gives for a text; spans and text are `None` where it does not tell."""

    ids: list[int]
    spans: Spans | None
    starts: list[int] | None = None


@dataclass(frozen=True)
class Home:
    """A tokenizer in its home library.

    peer: name and version. special: the policy under which ours reads special tokens as theirs does.
    """

    peer: str
    special: str
    encode: Callable[[str], Said]
    decode: Callable[[list[int]], str]


def from_tiktoken(encoding: tiktoken.Encoding) -> Home:
    """Ids and where each token starts."""

    def encode(text: str) -> Said:
        ids = encoding.encode(text, allowed_special="all")
        decoded, starts = encoding.decode_with_offsets(ids)
        return Said(ids, None, starts if decoded == text else None)

    return Home(f"tiktoken {tiktoken.__version__}", "allow", encode, encoding.decode)


def from_tokenizers(theirs: tokenizers.Tokenizer) -> Home:
    """Ids and spans in characters."""

    def encode(text: str) -> Said:
        found = theirs.encode(text, add_special_tokens=False)
        return Said(found.ids, found.offsets)

    return Home(
        f"tokenizers {tokenizers.__version__}",
        "allow",
        encode,
        lambda ids: theirs.decode(ids, skip_special_tokens=False),
    )


def from_sentencepiece(path: Path) -> Home:
    """Ids and spans in characters; control symbols are never found in text there."""
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def encode(text: str) -> Said:
        found = theirs.encode(text, return_type="offset_mapping")
        return Said(found["ids"], found["offsets"])

    return Home(f"sentencepiece {sentencepiece.__version__}", "allow", encode, theirs.decode)


def mistral_file(name: str) -> Path:
    """A file of the package mistral-common, which is not imported."""
    found = find_spec("mistral_common")
    if found is None or found.origin is None:
        return Path("mistral-common is not installed") / name
    return Path(found.origin).parent / "data" / name


def rank_file(name: str, **more: Any) -> Home:
    ranks = published.ranks(VOCABS.parent, f"{name}.tiktoken")
    if name in openai_public.ENCODING_CONSTRUCTORS:
        constructor = openai_public.ENCODING_CONSTRUCTORS[name]
        loader, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, lambda *_a, **_k: ranks
        try:
            return from_tiktoken(tiktoken.Encoding(**constructor()))
        finally:
            openai_public.load_tiktoken_bpe = loader
    return from_tiktoken(tiktoken.Encoding(name, mergeable_ranks=ranks, **more))


def llama3() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the rank file does not say: the pattern and the first special tokens, for us and for tiktoken."""
    special = {"<|begin_of_text|>": 128000, "<|end_of_text|>": 128001, "<|eot_id|>": 128009}
    pattern = splits.get("llama3").pattern
    return {"split": "llama3", "special_tokens": special}, {"pat_str": pattern, "special_tokens": special}


def tekken(path: Path) -> Home:
    """As mistral-common does: tiktoken on the ranks, every id moved up by the number of special tokens."""
    data = json.loads(path.read_bytes())
    config = data["config"]
    moved = config["default_num_special_tokens"]
    entries = data["vocab"][: config["default_vocab_size"] - moved]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}
    theirs = tiktoken.Encoding("tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})

    def encode(text: str) -> Said:
        return Said([token_id + moved for token_id in theirs.encode(text, disallowed_special=())], None)

    return Home(
        f"tiktoken {tiktoken.__version__}",
        "text",
        encode,
        lambda ids: theirs.decode([token_id - moved for token_id in ids]),
    )


@dataclass(frozen=True)
class Real:
    """A real tokenizer: its file, what `load` must be told, and its home."""

    name: str
    path: Path
    home: Callable[[Path], Home]
    hints: Callable[[], dict[str, Any]] = dict

    def __str__(self) -> str:
        return self.name


SENTENCEPIECE = {
    "mistral_240216_v2": "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_240323_v3": "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_241114_v7": "mistral_instruct_tokenizer_241114.model.v7",
    "mistral_241114_v7m1": "mistral_instruct_tokenizer_241114.model.v7m1",
}
REAL: list[Real] = [
    *(
        Real(name, VOCABS / f"{name}.tiktoken", lambda path: rank_file(path.stem))
        for name in ("r50k_base", "cl100k_base", "o200k_base")
    ),
    Real(
        "llama3",
        VOCABS / "llama3.tiktoken",
        lambda path: rank_file(path.stem, **llama3()[1]),
        lambda: llama3()[0],
    ),
    Real(
        "gpt2",
        VOCABS / "gpt2_tokenizer.json",
        lambda path: from_tokenizers(tokenizers.Tokenizer.from_file(str(path))),
    ),
    Real("mistral_v1", VOCABS / "mistral_v1.model", from_sentencepiece),
    *(Real(name, mistral_file(file), from_sentencepiece) for name, file in SENTENCEPIECE.items()),
    Real("tekken_240911", mistral_file("tekken_240911.json"), tekken),
]


@lru_cache(maxsize=2)
def opened(real: Real) -> tuple[syllabary.Tokenizer, Home]:
    """The tokenizer, opened by us and at home."""
    return syllabary.load(real.path, **real.hints()), real.home(real.path)
