"""Writing a tokenizer as a GGUF file that has nothing else: a vocabulary as llama.cpp's converter makes it.

Adds `write`, `reduce`, and the table `PRE` of splits by llama.cpp's names. Leaves out: reading (`gguf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from syllabary.errors import FormatError
from syllabary.formats import gguf_bert, gguf_t5
from syllabary.formats.extras import NO_IDS
from syllabary.formats.gguf_container import Value, smallest, write_pairs
from syllabary.formats.gguf_file import (
    BYTE,
    CONTROL,
    NAME,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    check_apart,
)
from syllabary.formats.gguf_roles import told
from syllabary.formats.loss import Loss
from syllabary.formats.ranks import recover_merges
from syllabary.formats.record import Facts, cannot_hold
from syllabary.reference.added import PLAIN
from syllabary.reference.bytes_to_unicode import spell
from syllabary.reference.check import check_spec, token_bytes
from syllabary.reference.symbols import byte_name, they_are
from syllabary.spec import Matching, Step, StepValue, TokenizerSpec

# What llama.cpp calls a split -> the split, and whether a piece that is a token becomes it at once.
# Source: `llama-vocab.cpp`, `llama_vocab::impl::load`; the first name of each is the one written.
PRE: dict[str, tuple[str, bool]] = {
    "gpt-2": ("gpt2", False),
    "llama-bpe": ("llama3", True),
    "dbrx": ("llama3", False),
    "qwen2": ("qwen2", False),
    "qwen35": ("qwen3.5", False),
    "gpt-4o": ("o200k", False),
    "tekken": ("nemotron", True),
    "deepseek-v3": ("deepseek-v3", False),
    "kimi-k2": ("kimi", False),
    **dict.fromkeys(["mpt", "olmo", "phi-2", "trillion"], ("gpt2", False)),
    **dict.fromkeys(["llama3", "llama-v3", "falcon3", "glm4"], ("llama3", True)),
    **dict.fromkeys(["smaug-bpe", "chatglm-bpe"], ("llama3", False)),
    **dict.fromkeys(["deepseek-r1-qwen", "stablelm2"], ("qwen2", False)),
    "llama4": ("o200k", False),
}
BY_BYTES = "other BPE than of bytes, or sentencepiece's with scores"
PLAIN_STEPS = ("pretokenizer", "dropout", "end_of_word", "continuing_prefix", "mark_apart", "unused")


def steps(prefix: bool) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Normalizer and decoder of the model `llama`: with a space in front, or without."""
    shared: dict[str, StepValue] = {
        "add_dummy_prefix": prefix,
        "remove_extra_whitespaces": False,
        "treat_whitespace_as_suffix": False,
    }
    forward: dict[str, StepValue] = {"precompiled_charsmap": b"", **shared, "escape_whitespaces": True}
    backward: dict[str, StepValue] = {**shared, "unknown_surface": " \u2047 ", "denormalizer_charsmap": b""}
    return (Step("SentencePiece", forward),), (Step("SentencePiece", backward),)


def write(spec: TokenizerSpec) -> bytes:
    """The file; `FormatError` names what GGUF has no words for."""
    check_spec(spec)
    spec = _with_roles(spec)
    if spec.model == "wordpiece":
        pairs, texts, kinds = gguf_bert.pairs(spec)
        return _file(spec, "bert", pairs, texts, kinds)
    for field in PLAIN_STEPS if spec.model == "bpe" else ():
        if getattr(spec, field):
            raise cannot_hold(NAME, f"a tokenizer with {field}")
    if spec.model not in ("bpe", "unigram") or (spec.unit, spec.scores is None) not in (
        ("byte", True),
        ("char", False),
    ):
        raise cannot_hold(NAME, BY_BYTES)
    count = max(token_bytes(spec)) + 1
    if spec.model == "unigram":
        return _file(spec, "t5", gguf_t5.pairs(spec, count), *listed(spec))
    pairs = _byte_level(spec) if spec.scores is None else _by_scores(spec, count)
    return _file(spec, "llama", pairs, *listed(spec))


def _with_roles(spec: TokenizerSpec) -> TokenizerSpec:
    """The tokenizer that carries what a file says beside the vocabulary."""
    return replace(spec, carried={**spec.carried, NAME: told(spec)})


def _file(
    spec: TokenizerSpec,
    architecture: str,
    pairs: dict[str, tuple[str, Value]],
    texts: dict[int, str],
    kinds: dict[int, int],
) -> bytes:
    """The file of a model's pairs, its tokens, and what is carried along."""
    count = max(texts) + 1
    if len(texts) < count:
        gap = next(token_id for token_id in range(count) if token_id not in texts)
        raise cannot_hold(NAME, f"ids with a gap: {gap} is no token's")
    found: dict[str, tuple[str, Value]] = {
        "general.architecture": ("str", architecture),
        "general.type": ("str", "model"),
        **pairs,
        "tokenizer.ggml.tokens": ("str", [texts[token_id] for token_id in range(count)]),
        "tokenizer.ggml.token_type": ("i32", [kinds[token_id] for token_id in range(count)]),
    }
    kept = spec.carried.get(NAME, {})
    for key, value in kept.items() if isinstance(kept, dict) else ():
        if f"tokenizer.{key}" not in found:
            if (kind := smallest(value)) is None:
                raise cannot_hold(NAME, f"what is carried as {key!r}: no type of its own has such values")
            found[f"tokenizer.{key}"] = (kind, value)
    return write_pairs(found)


def listed(spec: TokenizerSpec) -> tuple[dict[int, str], dict[int, int]]:
    """id -> text, and id -> type, of every token; `FormatError` for one that has no place in the list."""
    by_bytes = spec.unit == "byte"
    texts: dict[int, str] = {}
    kinds: dict[int, int] = {}
    for token_id, token in spec.tokens.items():
        byte = spec.byte_tokens.get(token_id)
        texts[token_id] = (
            byte_name(byte) if byte is not None else spell(token) if by_bytes else token.decode()
        )
        kinds[token_id] = BYTE if byte is not None else UNUSED if token_id in spec.unused else NORMAL
    never = {name for name, found in spec.matching.items() if found.stage == "never"}
    for name, token_id in chain(spec.special_tokens.items(), spec.added_tokens.items()):
        if spec.matching.get(name, PLAIN) not in (PLAIN, Matching(stage="never")):
            raise cannot_hold(NAME, f"how the token {name!r} is found: it is the text alone, anywhere")
        if token_id in spec.byte_tokens:
            raise cannot_hold(NAME, f"the byte token {name!r} that is found by its name as well")
        kind = CONTROL if name in spec.special_tokens else USER_DEFINED
        if name in never:
            if not by_bytes or kind == USER_DEFINED:
                raise cannot_hold(NAME, f"a token that is never found in text, as {name!r}")
            kind = UNUSED
        texts[token_id], kinds[token_id] = name, UNKNOWN if token_id == spec.unknown else kind
    check_apart(texts)
    return texts, kinds


def _named(spec: TokenizerSpec) -> tuple[Sequence[tuple[int, int, int]], list[str]]:
    """The merges, and what llama.cpp may call the split; nothing if it has no name for it."""
    splits = {split for split, _whole in PRE.values()}
    given = (spec.split.name, spec.whole_pieces)
    merges, wanted = spec.merges, {given}
    if merges is None or (given not in PRE.values() and spec.split.name in splits):
        found = recover_merges(spec.tokens)
        if merges in (None, found) and len(found) + len(spec.alphabet) == len(spec.tokens):
            # Every token is made by merging: whether it is looked up first is the same.
            wanted = {(spec.split.name, True), (spec.split.name, False)}
        merges = found if merges is None else merges
    return merges, [name for name, (split, whole) in PRE.items() if (split, whole) in wanted]


def _byte_level(spec: TokenizerSpec) -> dict[str, tuple[str, Value]]:
    """What is said of a byte-level tokenizer."""
    if spec.normalizer or spec.decoder or spec.trim_offsets:
        raise cannot_hold(NAME, "a byte-level tokenizer with steps")
    kept = spec.carried.get(NAME, {})
    carried = kept.get("ggml.pre") if isinstance(kept, dict) else None
    merges, names = _named(spec)
    if not names or not spec.split.keep_unmatched:
        split = f"the split {spec.split.name or spec.split.pattern!r}"
        if spec.split.name in {split for split, _whole in PRE.values()} and spec.split.keep_unmatched:
            how = "become it at once" if spec.whole_pieces else "are merged as others are"
            raise cannot_hold(NAME, f"{split} where pieces that are a token {how}: it has no name for that")
        known = ", ".join(dict.fromkeys(split for split, _whole in PRE.values()))
        raise cannot_hold(NAME, f"{split}: it has names for {known}")
    texts = {token_id: spell(token) for token_id, token in spec.tokens.items()}
    return {
        "tokenizer.ggml.model": ("str", "gpt2"),
        "tokenizer.ggml.pre": ("str", carried if isinstance(carried, str) and carried in names else names[0]),
        "tokenizer.ggml.merges": ("str", [f"{texts[left]} {texts[right]}" for left, right, _made in merges]),
    }


def _by_scores(spec: TokenizerSpec, count: int) -> dict[str, tuple[str, Value]]:
    """What is said of a tokenizer with scores."""
    prefix = (spec.normalizer, spec.decoder) == steps(True)
    if not (prefix or (spec.normalizer, spec.decoder) == steps(False)) or len(spec.byte_tokens) != 256:
        raise cannot_hold(
            NAME,
            "sentencepiece models that rewrite text, but for the space in front, "
            "or are without the 256 bytes <0x00> to <0xFF>",
        )
    if spec.split.pattern is not None or not spec.fuse_unknown or not spec.surface_offsets:
        raise cannot_hold(NAME, "scores together with a split")
    scores = spec.scores or {}
    return {
        "tokenizer.ggml.model": ("str", "llama"),
        "tokenizer.ggml.pre": ("str", "default"),
        "tokenizer.ggml.scores": ("f32", [scores.get(token_id, 0.0) for token_id in range(count)]),
        "tokenizer.ggml.add_space_prefix": ("bool", prefix),
    }


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The nearest tokenizer that a GGUF file can hold, and what is lost."""
    lost: list[Loss] = []
    spec = _with_roles(spec)
    if spec.model == "wordpiece":
        spec, lost = gguf_bert.reduce(spec)
    elif spec.model == "unigram":
        spec, lost = gguf_t5.reduce(spec)
    by_flag = spec.unit == "byte" or spec.model == "wordpiece"
    flags = {
        name: found
        for name, found in spec.matching.items()
        if by_flag and found.stage == "never" and name in spec.special_tokens
    }
    if flags != spec.matching:
        sentence = (
            "how special and added tokens are found in text (ids change where it holds one of them): "
            "GGUF finds their text anywhere, before anything else"
        )
        lost.append(Loss(sentence, "some"))
        spec = replace(spec, matching=flags)
    if spec.dropout:
        lost.append(Loss("dropout: GGUF has none; give it to encode", "some"))
        spec = replace(spec, dropout=0.0)
    if spec.trim_offsets:
        lost.append(Loss(f"that offsets leave out white space; {NO_IDS}", "same"))
        spec = replace(spec, trim_offsets=False)
    carried = {name: value for name, value in spec.carried.items() if name == NAME}
    if carried != spec.carried or spec.record:
        lost.append(Loss(f"how it was trained, and what only other formats hold; {NO_IDS}", "same"))
        spec = replace(spec, carried=carried, record={})
    kept = carried.get(NAME, {})
    held = {key: value for key, value in kept.items() if smallest(value)} if isinstance(kept, dict) else {}
    if isinstance(kept, dict) and len(held) < len(kept):
        keys = ", ".join(repr(key) for key in kept if key not in held)
        lost.append(Loss(f"what is carried as {keys}: GGUF has no type for it; {NO_IDS}", "same"))
        spec = replace(spec, carried={NAME: held})
    if fillers := _fillers(spec):
        sentence = (
            f"that {they_are(len(fillers), 'id')} no token's: each gets one that no text becomes, as "
            f"{next(iter(fillers.values()))!r}; {NO_IDS}"
        )
        lost.append(Loss(sentence, "same"))
        spec = _filled(spec, fillers)
    return spec, tuple(lost)


def _fillers(spec: TokenizerSpec) -> dict[int, str]:
    """The ids below the largest that no token has, with the names that llama.cpp's converter gives them."""
    known = token_bytes(spec)
    names, found = {*known.values()}, dict[int, str]()
    for token_id in range(max(known, default=-1) + 1):
        if token_id not in known:
            name = f"[PAD{token_id}]"
            while name.encode() in names:
                name = f"[{name}]"
            found[token_id] = name
    return found


def _filled(spec: TokenizerSpec, fillers: Mapping[int, str]) -> TokenizerSpec:
    """The tokenizer with tokens of these names, which no text becomes."""
    if spec.unit == "byte" or spec.model == "wordpiece":
        names = {name: token_id for token_id, name in fillers.items()}
        matching = {**spec.matching, **dict.fromkeys(names, Matching(stage="never"))}
        return replace(spec, special_tokens={**spec.special_tokens, **names}, matching=matching)
    tokens = {**spec.tokens, **{token_id: name.encode() for token_id, name in fillers.items()}}
    scores = {**(spec.scores or {}), **dict.fromkeys(fillers, 0.0)}
    unused = spec.unused.union(fillers) if spec.model == "unigram" else spec.unused
    return replace(spec, tokens=dict(sorted(tokens.items())), scores=scores, unused=unused)


def refuses(facts: Facts) -> FormatError | None:
    """The error for words; characters can be held where they have scores, or are those of another model."""
    if facts.unit == "word":
        return cannot_hold(NAME, BY_BYTES)
    return None
