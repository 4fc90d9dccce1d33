"""GGUF files (`.gguf`): the tokenizer in the header of a model of llama.cpp.

A tokenizer of the model `gpt2` is byte-level BPE: tokens in GPT-2's spelling, merges, and a name for the
split (`tokenizer.ggml.pre`). One of the model `llama` is sentencepiece's BPE: pieces with scores; `bert` is
WordPiece (`gguf_bert`), `t5` is Unigram (`gguf_t5`). Types tell
control tokens (special here), user-defined ones (added) and unused ones (never in a text). It means what
llama.cpp does with it (`llama-vocab.cpp`), with two exceptions: a split is the pattern of the
`tokenizer.json` that its name stands for, where llama.cpp runs one adapted to its own engine (case and marks
beyond ASCII); and of tokens that overlap in a text, the leftmost counts, not the longest of all (more in
docs/compatibility.md). Nothing is normalized, as there, though some of those `tokenizer.json` do. Leaves out:
the container (`gguf_container`), the model `rwkv` and its like (refused), writing (`gguf_write`).
"""

from __future__ import annotations

from pathlib import Path

from syllabary import splits
from syllabary.errors import FormatError
from syllabary.formats.gguf_bert import read_words
from syllabary.formats.gguf_container import read_pairs
from syllabary.formats.gguf_file import BYTE, NAME, NORMAL, PREFIX, UNKNOWN, UNUSED, File, check_names, named
from syllabary.formats.gguf_t5 import read_unigram
from syllabary.formats.gguf_write import PRE, reduce, refuses, steps, write
from syllabary.formats.record import Format, Hints, checked
from syllabary.formats.signs import SIGNS
from syllabary.reference.bytes_to_unicode import CHARACTER_TO_BYTE, unspell
from syllabary.reference.symbols import byte_name, shown, they_are
from syllabary.spec import SplitSpec, TokenizerSpec

BYTE_NAMES = {byte_name(byte): byte for byte in range(256)}


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a GGUF file; only its header is read.

    Raises `FormatError` with the byte or the key for a file that is damaged, has no tokenizer, or one of a
    model or a split that is not known.
    """
    hints.refuse(path, NAME)
    file = File(path, read_pairs(path, PREFIX))
    model = file.pairs.get(PREFIX + "ggml.model")
    if not isinstance(model, str) or model not in MODELS:
        what = "no tokenizer" if model is None else f"a tokenizer of the model {shown(model)}"
        raise FormatError(f"{path}: {what}; of a GGUF file, {', '.join(MODELS)} can be read")
    texts = file.strings("ggml.tokens")
    kinds = [NORMAL] * len(texts)
    if model in ("llama", "t5") or PREFIX + "ggml.token_type" in file.pairs:
        kinds = [int(kind) for kind in file.numbers("ggml.token_type", len(texts))]
    for token_id, kind in enumerate(kinds):
        if not NORMAL <= kind <= BYTE:
            raise file.error(f"ggml.token_type[{token_id}]", f"the type {kind} is not known")
    check_names(file, texts)
    return checked(MODELS[model](file, texts, kinds), path)


def byte_level(file: File, texts: list[str], kinds: list[int]) -> TokenizerSpec:
    """A tokenizer of the model `gpt2`."""
    pre = file.pairs.get(PREFIX + "ggml.pre")
    if not isinstance(pre, str) or pre not in PRE:
        raise file.error("ggml.pre", f"{shown(pre)} names no split that is known: {', '.join(PRE)} are")
    if BYTE in kinds:
        raise file.error(f"ggml.token_type[{kinds.index(BYTE)}]", "a byte, in a vocabulary of the model gpt2")
    split, whole = PRE[pre]
    tokens: dict[int, bytes] = {}
    for token_id in file.ids(NORMAL, kinds):
        if not all(character in CHARACTER_TO_BYTE for character in texts[token_id]):
            raise file.error(
                f"ggml.tokens[{token_id}]", f"{shown(texts[token_id])} is not spelled in GPT-2's characters"
            )
        tokens[token_id] = unspell(texts[token_id])
    ids = {texts[token_id]: token_id for token_id in tokens}
    merges: list[tuple[int, int, int]] = []
    for rank, line in enumerate(file.strings("ggml.merges")):
        left, right = line[: line.find(" ", 1)], line[line.find(" ", 1) + 1 :]
        if " " not in line[1:] or not {left, right, left + right} <= ids.keys():
            raise file.error(f"ggml.merges[{rank}]", f"{shown(line)} is no two tokens that make a token")
        merges.append((ids[left], ids[right], ids[left + right]))
    return TokenizerSpec(
        unit="byte",
        split=splits.get(split),
        tokens=tokens,
        alphabet={token: token_id for token_id, token in tokens.items() if len(token) == 1},
        merges=tuple(merges),
        whole_pieces=whole,
        **named(file, texts, kinds),  # type: ignore[arg-type]
    )


def by_scores(file: File, texts: list[str], kinds: list[int]) -> TokenizerSpec:
    """A tokenizer of the model `llama`."""
    scores = file.numbers("ggml.scores", len(texts))
    found = {texts[token_id]: token_id for token_id in file.ids(BYTE, kinds)}
    if found.keys() != BYTE_NAMES.keys():
        raise file.error(
            "ggml.token_type", f"{they_are(len(found), 'token')} for bytes: <0x00> to <0xFF> should be"
        )
    byte_tokens = {token_id: BYTE_NAMES[text] for text, token_id in found.items()}
    plain = sorted([*file.ids(NORMAL, kinds), *file.ids(UNUSED, kinds)])
    alphabet = {bytes([byte]): token_id for token_id, byte in byte_tokens.items()}
    alphabet |= {texts[token_id].encode(): token_id for token_id in plain if len(texts[token_id]) == 1}
    tokens = {token_id: texts[token_id].encode() for token_id in plain}
    tokens |= {token_id: bytes([byte]) for token_id, byte in byte_tokens.items()}
    unknown = file.ids(UNKNOWN, kinds)
    normalizer, decoder = steps(file.flag("ggml.add_space_prefix", True))
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None),
        tokens=dict(sorted(tokens.items())),
        alphabet=alphabet,
        merges=None,
        fallback=True,
        normalizer=normalizer,
        decoder=decoder,
        scores={token_id: scores[token_id] for token_id in plain},
        unknown=unknown[0] if unknown else None,
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        surface_offsets=True,
        **named(file, texts, kinds),  # type: ignore[arg-type]
    )


MODELS = {"gpt2": byte_level, "llama": by_scores, "bert": read_words, "t5": read_unigram}
FORMAT = Format(
    SIGNS[NAME],
    read,
    write,
    refuses,
    reduce=reduce,
    models=("bpe", "wordpiece", "unigram"),
)
