"""What Hugging Face's Unigram has no words for, of what sentencepiece's has: a part of `hf_reduce`.

Adds three rules: special tokens that no text holds, bytes that no text becomes, and scores: theirs are
added in 64 bits, and everything in the list has one. Leaves out: the rules for every tokenizer (`hf_reduce`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from syllabary.formats.hf_components import NAME
from syllabary.formats.hf_unigram import REWRITING
from syllabary.formats.hidden import hidden
from syllabary.formats.loss import Loss, joined
from syllabary.formats.record import cannot_hold
from syllabary.reference.symbols import they_are
from syllabary.spec import Matching, TokenizerSpec


def found(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """All of their vocabulary is found in text: what no text holds here is a special token there."""
    names = [name for name, how in spec.matching.items() if how.stage == "never"]
    if spec.model != "unigram" or not names:
        return None
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    matching = {name: how for name, how in spec.matching.items() if how.stage != "never"}
    loss = Loss(
        f"that {', '.join(map(repr, names[:5]))}{more} are in no text: there they are special tokens "
        "wherever they stand; ids of text that holds them change",
        "some",
    )
    return replace(spec, matching=matching), loss


def spelling(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Bytes that no text becomes, where their names would be text."""
    return spelled(spec) if spec.model == "unigram" else None


def spelled(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """All bytes, and no text becomes them: they spell unknown text, where there is nothing else for them."""
    if spec.fallback or len({*spec.byte_tokens.values()}) < 256:
        return None
    loss = Loss("that unknown text is the unknown token: it is spelled with bytes; ids change there", "some")
    return replace(spec, fallback=True), loss


def weighed(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Scores of 64 bits, for every id of the list."""
    if spec.model != "unigram" or spec.scores is None:
        return None
    named = {**spec.special_tokens, **spec.added_tokens}
    lost: list[Loss] = []
    never = spec.unused - hidden(spec).keys()
    counted = [score for token_id, score in spec.scores.items() if token_id not in spec.unused]
    lowest = min(counted, default=0.0)
    scores = {**dict.fromkeys(named.values(), max(0.0, lowest)), **spec.scores}
    scores |= dict.fromkeys(spec.unused if spec.single_precision else never, lowest)
    scores |= dict.fromkeys(never, _below_spelling(spec, lowest))
    scores |= {token_id: scores.get(token_id, lowest) for token_id in spec.byte_tokens}
    if spec.single_precision:
        sentence = "that scores are added in 32 bits: where two ways to cut a piece are nearly as good, "
        lost.append(Loss(sentence + "ids can change", "some"))
    if never:
        sentence = f"that {they_are(len(never), 'piece')} never made, by a score below all others"
        lost.append(Loss(sentence + ", and ids can change", "some"))
    if not spec.fuse_unknown:
        lost.append(Loss("that unknown characters in a row stay apart: they become one token", "some"))
    tokens = dict(spec.tokens)
    if not _always_cut(spec):
        tokens |= {token_id: name.encode() for name, token_id in named.items() if token_id in scores}
    if not lost:
        return None
    _check_apart(tokens, named)
    changed = replace(
        spec,
        scores=scores,
        tokens=tokens,
        unused=spec.unused - never,
        single_precision=False,
        fuse_unknown=True,
    )
    return changed, joined(lost)


def _below_spelling(spec: TokenizerSpec, lowest: float) -> float:
    """A score with which a token loses to its characters, if these are tokens, each with the lowest score."""
    longest = max((len(token.decode("utf-8", "ignore")) for token in spec.tokens.values()), default=1)
    return min(lowest, 0.0) * longest - 1.0


def _check_apart(tokens: Mapping[int, bytes], named: Mapping[str, int]) -> None:
    """Raise `FormatError` for a special or added token that is spelled as a piece with another id."""
    ids = {token: token_id for token_id, token in tokens.items() if token_id not in named.values()}
    for text, token_id in named.items():
        if token_id in tokens and text.encode() in ids:
            both = f"{ids[text.encode()]} and {token_id}"
            raise cannot_hold(NAME, f"two ids ({both}) with the same spelling {text!r}")


def _always_cut(spec: TokenizerSpec) -> bool:
    """Whether no text that holds a special or added token reaches the model."""
    plain = all(how == Matching() for how in spec.matching.values())
    return plain and not spec.normalizer and not any(step.kind in REWRITING for step in spec.pretokenizer)
