"""The model `t5` of GGUF: sentencepiece's Unigram, with its character map.

The pieces and their scores, whether a space is put in front (`add_space_prefix`), whether spaces in a row are
one (`remove_extra_whitespaces`), and the rules of the normalizer (`precompiled_charsmap`). It is read as the
`.model` that it was made of: sums of scores are of 32 bits. llama.cpp adds them in 64, gives a user-defined
piece the score 0, does not spell unknown text with bytes, and puts the space in front otherwise
(docs/compatibility.md). Adds reading, the pairs of a file to be written,
and what is lost. Source: llama.cpp, `llama-vocab.cpp` (`llm_tokenizer_ugm`), and its converter,
`conversion/t5.py`. Leaves out: the file (`gguf`, `gguf_write`).
"""

from __future__ import annotations

from dataclasses import replace

from syllabary.formats import sentencepiece_reduce
from syllabary.formats.extras import NO_IDS
from syllabary.formats.gguf_container import Value
from syllabary.formats.gguf_file import BYTE, NAME, NORMAL, PREFIX, UNKNOWN, UNUSED, File, named
from syllabary.formats.hidden import refuse_hidden
from syllabary.formats.loss import Loss
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_charsmap import charsmap_fault
from syllabary.spec import SplitSpec, Step, StepValue, TokenizerSpec

UNKNOWN_ID = 2  # where the file does not say it
SURFACE = " \u2047 "
ADDS, REMOVES, CHARSMAP = (
    "ggml.add_space_prefix",
    "ggml.remove_extra_whitespaces",
    "ggml.precompiled_charsmap",
)


def steps(adds: bool, removes: bool, charsmap: bytes) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Normalizer and decoder."""
    shared: dict[str, StepValue] = {
        "add_dummy_prefix": adds,
        "remove_extra_whitespaces": removes,
        "treat_whitespace_as_suffix": False,
    }
    forward: dict[str, StepValue] = {"precompiled_charsmap": charsmap, **shared, "escape_whitespaces": True}
    backward: dict[str, StepValue] = {**shared, "unknown_surface": SURFACE, "denormalizer_charsmap": b""}
    return (Step("SentencePiece", forward),), (Step("SentencePiece", backward),)


def read_unigram(file: File, texts: list[str], kinds: list[int]) -> TokenizerSpec:
    """A tokenizer of the model `t5`; `FormatError` for one that is none."""
    scores = file.numbers("ggml.scores", len(texts))
    plain = sorted([*file.ids(NORMAL, kinds), *file.ids(UNUSED, kinds)])
    byte_tokens: dict[int, int] = {}
    for token_id in file.ids(BYTE, kinds):
        text = texts[token_id]
        if f"<0x{text[3:5]}>" != text or not all(digit in "0123456789ABCDEF" for digit in text[3:5]):
            raise file.error(f"ggml.tokens[{token_id}]", f"the type is that of a byte, and {text!r} is none")
        byte_tokens[token_id] = int(text[3:5], 16)
    unknown = file.ids(UNKNOWN, kinds)
    charsmap = _charsmap(file)
    normalizer, decoder = steps(file.flag(ADDS, False), file.flag(REMOVES, False), charsmap)
    tokens = {token_id: texts[token_id].encode() for token_id in plain}
    tokens |= {token_id: bytes([byte]) for token_id, byte in byte_tokens.items()}
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None),
        tokens=dict(sorted(tokens.items())),
        alphabet={},
        merges=None,
        normalizer=normalizer,
        decoder=decoder,
        scores={token_id: scores[token_id] for token_id in plain},
        unused=frozenset(file.ids(UNUSED, kinds)),
        unknown=unknown[0] if unknown else file.id("ggml.unknown_token_id", UNKNOWN_ID, len(texts)),
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        surface_offsets=True,
        model="unigram",
        single_precision=True,
        **named(file, texts, kinds),  # type: ignore[arg-type]
    )


def _charsmap(file: File) -> bytes:
    """The rules, a list of 8-bit numbers, signed ones too."""
    value = file.pairs.get(PREFIX + CHARSMAP, [])
    numbers = [one for one in value if type(one) is int] if isinstance(value, list) else []
    if (
        not isinstance(value, list)
        or len(numbers) < len(value)
        or not all(-128 <= one < 256 for one in numbers)
    ):
        raise file.error(CHARSMAP, "is no list of bytes")
    found = bytes(number & 0xFF for number in numbers)
    if fault := charsmap_fault(found):
        raise file.error(CHARSMAP, fault)
    return found


def pairs(spec: TokenizerSpec, count: int) -> dict[str, tuple[str, Value]]:
    """What a file says of a tokenizer but its tokens. count: of these."""
    options = (
        spec.normalizer[0].options if [step.kind for step in spec.normalizer] == ["SentencePiece"] else {}
    )
    charsmap = options.get("precompiled_charsmap", b"")
    adds, removes = bool(options.get("add_dummy_prefix")), bool(options.get("remove_extra_whitespaces"))
    plain = isinstance(charsmap, bytes) and (spec.normalizer, spec.decoder) == steps(adds, removes, charsmap)
    if not plain or spec.pretokenizer or spec.split.pattern is not None or not spec.single_precision:
        raise cannot_hold(NAME, "a Unigram model with other steps than sentencepiece's, or sums of 64 bits")
    if spec.fallback or not spec.fuse_unknown or spec.unknown is None:
        raise cannot_hold(
            NAME, "a Unigram model that does not make one unknown token of unknown text in a row"
        )
    scores = spec.scores or {}
    found: dict[str, tuple[str, Value]] = {
        "tokenizer.ggml.model": ("str", "t5"),
        "tokenizer.ggml.pre": ("str", "default"),
        "tokenizer.ggml.scores": ("f32", [scores.get(token_id, 0.0) for token_id in range(count)]),
        PREFIX + ADDS: ("bool", adds),
        PREFIX + REMOVES: ("bool", removes),
        "tokenizer.ggml.unknown_token_id": ("u32", spec.unknown),
    }
    if isinstance(charsmap, bytes) and charsmap:
        found[PREFIX + CHARSMAP] = ("u8", list(charsmap))
    return found


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, list[Loss]]:
    """The nearest tokenizer that such a file can hold, and what is lost."""
    refuse_hidden(spec, NAME)
    lost: list[Loss] = []
    if not spec.single_precision:
        spec, losses = sentencepiece_reduce.reduce(spec)
        lost += losses
    if spec.fallback and spec.unknown is not None:
        sentence = "that unknown text is spelled with bytes: it is the unknown token; ids change there"
        lost.append(Loss(sentence, "some"))
        spec = replace(spec, fallback=False)
    decoder = spec.decoder or ()
    if [step.kind for step in decoder] == ["SentencePiece"]:
        options = {**decoder[0].options, "unknown_surface": SURFACE, "denormalizer_charsmap": b""}
        if options != decoder[0].options:
            sentence = f"how the unknown token is decoded, and rules for decoded text; {NO_IDS}"
            lost.append(Loss(sentence, "same"))
            spec = replace(spec, decoder=(Step("SentencePiece", options),))
    return spec, lost
