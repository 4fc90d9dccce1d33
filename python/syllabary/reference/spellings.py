"""How the tokens of a vocabulary are spelled, as text: what the steps of a decoder read, and what is printed.

Adds the spelling of each id, the ids that are looked for in normalized text, and the kinds of tokens that
steps treat apart. Leaves out: the steps (`step_decoders`), and the bytes of a token (`decode`).
"""

from __future__ import annotations

from syllabary.reference import normalize
from syllabary.reference.aligned import Aligned
from syllabary.reference.bytes_to_unicode import spell
from syllabary.reference.step_decoders import TokenClass
from syllabary.reference.symbols import byte_name
from syllabary.spec import Matching, TokenizerSpec


def spellings(spec: TokenizerSpec) -> dict[int, str]:
    """What the steps of a decoder read of each token.

    Bytes as GPT-2 writes them (`unit="byte"`) or `<0x0A>` (`byte_tokens`); a token that is looked for in
    normalized text as it stands there (as tokenizers does, `added_vocabulary.rs`, `simple_id_to_token`).
    """
    found: dict[int, str] = {}
    for token_id in spec.tokens:
        found[token_id] = _spelled(token_id, spec)
    for text, token_id in {**spec.special_tokens, **spec.added_tokens}.items():
        found[token_id] = text
        if spec.matching.get(text, Matching()).stage == "normalized" and spec.normalizer:
            found[token_id] = normalize.apply(spec.normalizer, Aligned.of(text)).text
    return found


def model_spellings(spec: TokenizerSpec) -> dict[int, str]:
    """The same, but of an ordinary token that is looked for in normalized text as well its own name."""
    found = spellings(spec)
    for token_id in both_ways(spec):
        if token_id in spec.tokens:
            found[token_id] = _spelled(token_id, spec)
        else:  # the unknown token
            named = {**spec.special_tokens, **spec.added_tokens}
            found[token_id] = next(text for text, named_id in named.items() if named_id == token_id)
    return found


def both_ways(spec: TokenizerSpec) -> frozenset[int]:
    """The ids of tokens that are looked for in normalized text, and are ordinary ones too."""
    return found_normalized(spec) & (spec.tokens.keys() | {spec.unknown})


def found_normalized(spec: TokenizerSpec) -> frozenset[int]:
    """The ids of tokens that are looked for in text that steps have normalized; none where scores merge."""
    if not spec.normalizer or (spec.scores is not None and spec.model == "bpe"):
        return frozenset()
    named = {**spec.special_tokens, **spec.added_tokens}
    return frozenset(named[text] for text, how in spec.matching.items() if how.stage == "normalized")


def _spelled(token_id: int, spec: TokenizerSpec) -> str:
    if token_id in spec.byte_tokens:
        return byte_name(spec.byte_tokens[token_id])
    token = spec.tokens[token_id]
    if spec.unit == "byte":
        return spell(token)
    if spec.fallback and len(token) == 1 and token[0] >= 0x80:
        return byte_name(token[0])
    return token.decode("utf-8", "replace")


def classes(spec: TokenizerSpec) -> dict[int, TokenClass]:
    """What sentencepiece's decoder must know of tokens that are not ordinary text."""
    found: dict[int, TokenClass] = dict.fromkeys(spec.byte_tokens, "byte")
    for text, token_id in spec.special_tokens.items():  # unused words are found nowhere either: text
        if spec.matching.get(text, Matching()).stage == "never":
            found[token_id] = "control"
    if spec.unknown is not None:
        found[spec.unknown] = "unknown"
    return found
