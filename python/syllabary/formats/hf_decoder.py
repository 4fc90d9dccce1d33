"""The `decoder` of Hugging Face's `tokenizer.json` and ours, both ways.

Adds which of their decoders do no more than join the bytes of tokens, which is `decoder=None` here.
Leaves out: the components one by one (`hf_components`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from syllabary.formats.hf_components import DECODER, NAME, Component, read_steps, write_steps
from syllabary.formats.hf_vocab import BYTE_NAMES
from syllabary.formats.record import cannot_hold
from syllabary.formats.strict_json import Json
from syllabary.on_demand import later
from syllabary.spec import Step, TokenizerSpec

if TYPE_CHECKING:
    from syllabary.reference import aligned, normalize
else:
    later(globals(), aligned="syllabary.reference.aligned", normalize="syllabary.reference.normalize")

JOIN = Step("Join", {"separator": " "})  # what their library does without a decoder


def read_decoder(component: Json, spec: TokenizerSpec, names: Iterable[str]) -> tuple[Step, ...] | None:
    """The steps, or `None` where they join the tokens' bytes and make a space of the end-of-word mark.

    spec: the tokenizer but for its decoder. names: its vocabulary, as the file has it.
    """
    if component.value is None:
        return (JOIN,)
    steps = read_steps(component, DECODER)
    plain = _joins_bytes(steps, spec, names) and not respelled(spec) and not _named_bytes(spec)
    return None if plain else steps


def respelled(spec: TokenizerSpec) -> bool:
    """Whether an added token is decoded as it was normalized: their library does so, joining does not."""
    return bool(spec.normalizer) and any(
        how.stage == "normalized" and normalize.apply(spec.normalizer, aligned.Aligned.of(text)).text != text
        for text, how in spec.matching.items()
    )


def _named_bytes(spec: TokenizerSpec) -> bool:
    """Whether an added token is a byte as well: it is found by its name and decoded as the byte."""
    named = {*spec.special_tokens.values(), *spec.added_tokens.values()}
    return not named.isdisjoint(spec.byte_tokens)


def _joins_bytes(steps: tuple[Step, ...], spec: TokenizerSpec, names: Iterable[str]) -> bool:
    kinds = [step.kind for step in steps]
    if spec.unit == "byte":
        return kinds == ["ByteLevel"]
    if spec.continuing_prefix is not None:
        return False
    if spec.end_of_word is not None:
        return steps == (_suffix(spec.end_of_word),)
    if kinds == ["ByteFallback", "Fuse"]:  # without a fallback, a name like `<0x41>` is no byte to us
        return spec.fallback or BYTE_NAMES.keys().isdisjoint(names)
    return kinds in ([], ["Fuse"]) and not spec.fallback


def write_decoder(spec: TokenizerSpec) -> Component | None:
    """The component that decodes the same; `FormatError` for steps that they do not have."""
    if spec.decoder is not None:
        if [step.kind for step in spec.decoder] == ["Join"]:
            if spec.decoder == (JOIN,):
                return None
            raise cannot_hold(NAME, "a decoder that joins tokens with anything but a space")
        empty: Component = {"type": "Sequence", "decoders": []}
        return write_steps(spec.decoder, DECODER) or empty
    if spec.unit == "byte":
        return write_steps((Step("ByteLevel"),), DECODER)
    if spec.end_of_word is not None:
        return write_steps((_suffix(spec.end_of_word),), DECODER)
    if spec.continuing_prefix is not None:
        raise cannot_hold(NAME, "a prefix of continuing tokens without the steps of a decoder")
    return write_steps((Step("ByteFallback"), Step("Fuse")) if spec.fallback else (Step("Fuse"),), DECODER)


def _suffix(mark: str) -> Step:
    return Step("BPEDecoder", {"suffix": mark})
