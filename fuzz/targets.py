"""What is fuzzed with text: every named split, and tokenizers that take every way through the encoder.

Adds `targets`, each of which says of a text how two ways of computing the same differ. Leaves out: the text
(`texts`), the loop and what becomes of a difference (`encode`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from texts import SNIPPETS

import syllabary
from syllabary import splits
from syllabary._engine import Split
from syllabary.arguments import special_policy
from syllabary.errors import SyllabaryError
from syllabary.reference import ReferenceTokenizer, pieces

NO_COINS = (1e-300, 1)  # dropout and seed of the way without memory and cuts; passes over nothing
SHORT = 32  # characters that the reference merges in a moment
SEVERAL = 600_000  # bytes: what two threads share between them
SPECIAL = "<|end|>"
FILES = {"r50k": "r50k_base", "cl100k": "cl100k_base", "o200k": "o200k_base"}
SPLIT_OF = {"r50k": "gpt2", "cl100k": "gpt4", "o200k": "o200k"}


class Target(Protocol):
    """Two or more ways of computing one thing."""

    def difference(self, text: str) -> str | None:
        """How they differ on one text; `None`: they agree."""

    def difference_of_many(self, texts: Sequence[str]) -> str | None:
        """How they differ on many texts at once, after `difference` had each of them."""


class SplitTarget:
    """The engine's pieces, and those of the pattern."""

    def __init__(self, name: str) -> None:
        self.spec = splits.get(name)
        self.engine = Split(self.spec)

    def difference(self, text: str) -> str | None:
        """See `Target`."""
        ours, right = self.engine.pieces(text), pieces(text, self.spec)
        return None if ours == right else f"pieces: {first(ours, right)}"

    def difference_of_many(self, texts: Sequence[str]) -> str | None:
        """All of them in one."""
        return self.difference("".join(texts))


class EncoderTarget:
    """The ids of every method, those of the way without memory, of short text those of the reference."""

    def __init__(self, tokenizer: syllabary.Tokenizer, back: Callable[[str], str] | None) -> None:
        """back: what decoding gives for a text; `None`: the reference says."""
        self.tokenizer = tokenizer
        self.reference = ReferenceTokenizer(tokenizer.spec)
        self.back = back

    def difference(self, text: str) -> str | None:
        """By every method; of text with special tokens, as text and as tokens."""
        named = any(name in text for name in self.tokenizer.special_tokens)
        for special in ("text", "allow") if named else ("raise",):
            if found := self._difference(text, special):
                return found
        return None

    def _difference(self, text: str, special: Any) -> str | None:
        tok = self.tokenizer
        policy = special_policy(special, tok.special_tokens)
        # Asked of the engine, which takes them for models without merges too.
        right = outcome(lambda: tok._engine.encode(text, policy, *NO_COINS))
        others = list(self._others(text, special))
        if isinstance(right, str):
            wrong = [(name, other) for name, other in others if other != right]
            return f"{wrong[0][0]}: {wrong[0][1]!r:.100}, not {right}" if wrong else None
        for name, other in others:
            if isinstance(other, str) or (other != right and not isinstance(other, int)):
                return f"{name}: {first(other, right)}"
            if isinstance(other, int) and other != len(right):
                return f"{name}: {other}, not {len(right)}"
        return self._difference_of_text(text, right, special)

    def _others(self, text: str, special: Any) -> Iterator[tuple[str, Any]]:
        """By name, what else gives the ids or their number."""
        tok = self.tokenizer
        yield "encode", outcome(lambda: tok.encode(text, special))
        yield "encode again", outcome(lambda: tok.encode(text, special))
        yield "encode_array", outcome(lambda: tok.encode_array(text, special).tolist())
        yield "encode_batch", outcome(lambda: tok.encode_batch([text], special, 1)[0])
        yield "count", outcome(lambda: tok.count(text, special))
        yield "offsets", outcome(lambda: len(tok.offsets(text, "byte", special)))
        if len(text) <= SHORT:
            yield "the reference", outcome(lambda: self.reference.encode(text, special))

    def _difference_of_text(self, text: str, ids: list[int], special: str) -> str | None:
        ours = self.tokenizer.decode(ids)
        right = self.reference.decode(ids) if self.back is None else self.back(text)
        if ours != right:
            return f"decode with special={special!r}: {first(ours, right)}"
        return None

    def difference_of_many(self, texts: Sequence[str]) -> str | None:
        """Those that have ids as one long text, and as a batch that two threads share."""
        tok = self.tokenizer
        policy = special_policy("text", tok.special_tokens)
        ids_of = {text: outcome(partial(tok._engine.encode, text, policy, *NO_COINS)) for text in texts}
        whole = [text for text in texts if isinstance(ids_of[text], list)]
        if not whole:
            return None
        if found := self._difference("".join(whole), "text"):
            return f"texts in one, {found}"
        size = sum(len(text.encode()) for text in whole)
        many = whole * (SEVERAL // max(size, 1) + 1)
        for threads in (1, 2):
            batch = tok.encode_batch(many, "text", threads)
            flat = tok.encode_batch_array(many, "text", threads)
            for text, ids, array in zip(many, batch, flat, strict=True):
                if ids != ids_of[text] or array.tolist() != ids_of[text]:
                    return f"batch on {threads} threads, {text!a:.60}: {first(ids, ids_of[text])}"
        return None


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the name of the error that it raises."""
    try:
        return call()
    except SyllabaryError as error:
        return type(error).__name__


def first(ours: Any, right: Any) -> str:
    """Where two lists, or texts, begin to differ."""
    if isinstance(ours, str) and isinstance(right, list):
        return f"{ours}, not {len(right)} of them"
    at = next(
        (at for at, (a, b) in enumerate(zip(ours, right, strict=False)) if a != b), min(len(ours), len(right))
    )
    return f"from {at} on {ours[at : at + 4]!r:.200}, not {right[at : at + 4]!r:.200}"


def same(text: str) -> str:
    """What decoding gives where nothing is lost."""
    return text


def trained(**options: Any) -> syllabary.Tokenizer:
    """A small tokenizer, of the snippets."""
    return syllabary.train(list(SNIPPETS) * 2, **{"vocab_size": 900, **options})


def listed(split: str) -> Target:
    """Bytes, a list of merges, any split."""
    return EncoderTarget(trained(split=split), same if splits.get(split).keep_unmatched else None)


def ranked(name: str, vocabs: Path | None) -> Target:
    """A rank file, or, where there is none, ranks that are learned."""
    path = None if vocabs is None else vocabs / f"{FILES[name]}.tiktoken"
    if path is not None and path.exists():
        return EncoderTarget(syllabary.load(path), same)
    spec = trained(split=SPLIT_OF[name]).spec
    return EncoderTarget(syllabary.Tokenizer(dataclasses.replace(spec, merges=None, whole_pieces=True)), same)


def others() -> dict[str, Callable[[], Target]]:
    """Tokenizers of other kinds."""
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    learned = partial(trained, like="sentencepiece", fallback=True)
    return {
        "special": lambda: EncoderTarget(trained(split="gpt4", special_tokens=[SPECIAL, "\n\n"]), same),
        "gpt2-order": lambda: EncoderTarget(
            trained(split="gpt2", byte_order="gpt2", tie_break="first-seen"), same
        ),
        "no-fallback": lambda: EncoderTarget(trained(split="gpt2", alphabet="seen", vocab_size=500), same),
        "characters": lambda: EncoderTarget(
            trained(split="whitespace-split", unit="char", end_of_word="</e>", fallback=True), None
        ),
        "words": lambda: EncoderTarget(
            trained(split="latin", unit="word", fallback=True, vocab_size=1500), None
        ),
        "wordpiece": lambda: EncoderTarget(trained(model="wordpiece"), None),
        "wordpiece-uncased": lambda: EncoderTarget(
            trained(model="wordpiece", like="huggingface", special_tokens=["[UNK]"]), None
        ),
        "wordlevel": lambda: EncoderTarget(trained(model="wordlevel"), None),
        "sentencepiece": lambda: EncoderTarget(learned(options=plain), lambda text: text.replace("▁", " ")),
        "sentencepiece-nfkc": lambda: EncoderTarget(learned(), None),
    }


def targets(vocabs: Path | None) -> dict[str, Callable[[], Target]]:
    """By name, how to make each; vocabs: a folder with tiktoken's files."""
    return {
        **{f"split-{name}": partial(SplitTarget, name) for name in splits.names()},
        **{name: partial(ranked, name, vocabs) for name in FILES},
        **{f"merges-{name}": partial(listed, name) for name in splits.names()},
        **others(),
    }
