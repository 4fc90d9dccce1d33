"""The learned pieces as a tokenizer, and the options as sentencepiece writes them into its file.

Adds `arrange` (pieces by id), `spec_of` (the tokenizer) and the two messages of options, `TrainerSpec` and
`NormalizerSpec` in protocol buffers' wire format, which the tokenizer carries: saved as a `.model` it is the
very file that sentencepiece writes when it is told the same. Of the options, `model_type`, `vocab_size` and
the name of the rules are always written, others where they are not the default or were told (`with_told`).
Source: sentencepiece 0.2.3, `trainer_interface.cc` (`Serialize`), `sentencepiece_model.proto`. Leaves out:
the pieces' own records, which `formats` writes.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import Any

from syllabary.errors import TrainingError
from syllabary.reference.symbols import plural, shown, they_are
from syllabary.reference.train_sentencepiece_options import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Meta,
    SentencePieceOptions,
)
from syllabary.reference.wire import record
from syllabary.reference.wordlevel import WORDS
from syllabary.spec import Matching, Model, SplitSpec, Step, StepValue, TokenizerSpec

Piece = tuple[str, float, int]  # text, score, type
Rules = tuple[bytes, bytes]  # compiled: of normalizing, of decoding
MODEL_TYPES = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}
MODELS: dict[str, Model] = {"unigram": "unigram", "bpe": "bpe", "word": "wordlevel", "char": "bpe"}
# Fields of a TrainerSpec by the names of the options, ascending.
TRAINER_FIELDS = {
    "vocab_size": 4, "input_format": 7, "character_coverage": 10,
    "input_sentence_size": 11, "seed_sentencepiece_size": 14, "shrinking_factor": 15, "num_threads": 16,
    "num_sub_iterations": 17, "max_sentence_length": 18, "shuffle_input_sentence": 19,
    "max_sentencepiece_length": 20, "split_by_unicode_script": 21, "split_by_whitespace": 22,
    "split_by_number": 23, "treat_whitespace_as_suffix": 24, "split_digits": 25,
    "allow_whitespace_only_pieces": 26, "control_symbols": 30, "user_defined_symbols": 31,
    "vocabulary_output_piece_score": 32, "hard_vocab_limit": 33, "use_all_vocab": 34, "byte_fallback": 35,
    "required_chars": 36, "unk_id": 40, "bos_id": 41, "eos_id": 42, "pad_id": 43, "unk_surface": 44,
    "unk_piece": 45, "bos_piece": 46, "eos_piece": 47, "pad_piece": 48, "pretokenization_delimiter": 53,
    "auto_character_coverage": 55,
}  # fmt: skip


# Of a NormalizerSpec.
RULE_FIELDS = {"add_dummy_prefix": 3, "remove_extra_whitespaces": 4, "normalization_rule_tsv": 6}


def arrange(learned: Sequence[tuple[str, float]], meta: Meta, options: SentencePieceOptions) -> list[Piece]:
    """The pieces by id: those of `meta` at theirs, the others with their scores in order on the ids between.

    `TrainingError` if `hard_vocab_limit` is on and there are fewer than `vocab_size`, but for a model of
    characters, and if so few that a meta piece has no id before it.

    >>> meta = {0: ("<unk>", 2), 2: ("<s>", 3)}
    >>> arrange([("ab", -0.0), ("a", -1.0)], meta, SentencePieceOptions(vocab_size=4))
    [('<unk>', 0.0, 2), ('ab', -0.0, 1), ('<s>', 0.0, 3), ('a', -1.0, 1)]
    """
    found = list[Piece]()
    rest = iter([(text, score, NORMAL) for text, score in learned])
    for token_id in sorted(token_id for token_id in meta if token_id < options.vocab_size):
        found += islice(rest, token_id - len(found))
        text, kind = meta[token_id]
        if len(found) != token_id:
            raise TrainingError(
                f"the id of {shown(text)} is {token_id}, but only {they_are(len(found), 'piece')} there to "
                "stand before it: give a lower id, or more text"
            )
        found.append((text, 0.0, kind))
    found += islice(rest, options.vocab_size - len(found))
    if options.hard_vocab_limit and options.model_type != "char" and len(found) < options.vocab_size:
        raise TrainingError(
            f"vocab_size is {options.vocab_size}, but this text gives no more than "
            f"{plural(len(found), 'piece')}: set it to {len(found)} or less, or hard_vocab_limit=False"
        )
    return found


def spec_of(pieces: Sequence[Piece], options: SentencePieceOptions, rules: Rules) -> TokenizerSpec:
    """The tokenizer of these pieces, as `formats.sentencepiece` would read it from the file."""
    by_kind: dict[int, list[int]] = {kind: [] for kind in range(1, 7)}
    for token_id, (_text, _score, kind) in enumerate(pieces):
        by_kind[kind].append(token_id)
    texts = [text for text, _score, _kind in pieces]
    byte_tokens = {token_id: int(texts[token_id][3:5], 16) for token_id in by_kind[BYTE]}
    tokens = {token_id: texts[token_id].encode() for token_id in by_kind[NORMAL]}
    alphabet = {bytes([byte]): token_id for token_id, byte in byte_tokens.items()}
    alphabet |= {tokens[i]: i for i in by_kind[NORMAL] if len(texts[i]) == 1}
    model, words = MODELS[options.model_type], options.model_type == "word"
    scores = {token_id: pieces[token_id][1] for token_id in by_kind[NORMAL]}
    tokens |= {token_id: bytes([byte]) for token_id, byte in byte_tokens.items()}
    special = sorted(by_kind[UNKNOWN] + by_kind[CONTROL])
    matching = {texts[token_id]: Matching(stage="never") for token_id in special}
    matching |= {texts[token_id]: Matching(stage="frozen") for token_id in by_kind[USER_DEFINED]}
    normalizer, decoder = _steps(options, rules)
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(WORDS if words else None),
        tokens=dict(sorted(tokens.items())),
        alphabet=alphabet if model == "bpe" else {},
        merges=None,
        special_tokens={texts[token_id]: token_id for token_id in special},
        added_tokens={texts[token_id]: token_id for token_id in by_kind[USER_DEFINED]},
        fallback=options.byte_fallback,
        record=training_record(options),
        normalizer=(normalizer,),
        decoder=(decoder,),
        matching=matching,
        scores=None if words else scores,
        unknown=by_kind[UNKNOWN][0] if by_kind[UNKNOWN] else None,
        fuse_unknown=True,
        byte_tokens=byte_tokens,
        surface_offsets=True,
        carried={"sentencepiece": _carried(pieces, options, rules)},
        model=model,
        single_precision=model == "unigram",
    )


def _steps(options: SentencePieceOptions, rules: Rules) -> tuple[Step, Step]:
    """Normalizing and decoding."""
    shared: dict[str, StepValue] = {
        "add_dummy_prefix": options.add_dummy_prefix,
        "remove_extra_whitespaces": options.remove_extra_whitespaces,
        "treat_whitespace_as_suffix": options.treat_whitespace_as_suffix,
    }
    forward: dict[str, StepValue] = {"precompiled_charsmap": rules[0], **shared, "escape_whitespaces": True}
    backward: dict[str, StepValue] = {
        **shared,
        "unknown_surface": options.unk_surface,
        "denormalizer_charsmap": rules[1],
    }
    return Step("SentencePiece", forward), Step("SentencePiece", backward)


def training_record(options: SentencePieceOptions) -> dict[str, object]:
    """The options as plain JSON values, for `TokenizerSpec.record`; compiled rules are left out.

    >>> training_record(SentencePieceOptions(vocab_size=400))["vocab_size"]
    400
    """
    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(options).items()
    }
    return {"like": "sentencepiece"} | {k: v for k, v in plain.items() if not k.endswith("charsmap")}


# ---- what its file says of the options ----


def _carried(pieces: Sequence[Piece], options: SentencePieceOptions, rules: Rules) -> dict[str, object]:
    """What `formats.sentencepiece_carried` makes of the file that sentencepiece would write."""
    layout = trainer_layout(len(pieces), options)
    layout.append(_normalizer(options, rules[0]))
    if path := options.denormalization_rule_tsv:
        off = dict.fromkeys((3, 4, 5), False)
        layout.append(_around(5, record(1, "user_defined"), _flags(off, path), rules[1]))
    idle = {text: [score, kind] for text, score, kind in pieces if kind == NORMAL}
    scored = options.model_type != "word"  # scores of words are the tokenizer's in no other place
    return {"layout": layout, "odd": {}, "typed": False} | ({} if scored or not idle else {"idle": idle})


def with_told(spec: TokenizerSpec, options: SentencePieceOptions, told: Collection[str]) -> TokenizerSpec:
    """The same, but that its file says the options in `told` also where they are the default.

    So sentencepiece does with whatever option it is given.
    """
    carried: Any = spec.carried["sentencepiece"]
    rules: Any = spec.normalizer[0].options["precompiled_charsmap"]
    size, _trainer, _rules, *rest = carried["layout"]
    layout = [*trainer_layout(size, options, told), _normalizer(options, rules, told), *rest]
    return replace(spec, carried={**spec.carried, "sentencepiece": {**carried, "layout": layout}})


def _normalizer(options: SentencePieceOptions, rules: bytes, told: Collection[str] = ()) -> object:
    """The `NormalizerSpec`, as the layout has it."""
    own = options.normalization_rule_tsv
    on = {3: options.add_dummy_prefix, 4: options.remove_extra_whitespaces, 5: True}
    said = {number for name, number in RULE_FIELDS.items() if name in told}
    name = "user_defined" if own else options.normalization_rule_name
    return _around(3, record(1, name), _flags(on, own, said), rules)


def trainer_layout(size: int, options: SentencePieceOptions, told: Collection[str] = ()) -> list[object]:
    """The beginning of the layout: the pieces, and the `TrainerSpec`."""
    return [size, _text(record(2, trainer_message(size, options, told)))]


def trainer_message(size: int, options: SentencePieceOptions, told: Collection[str] = ()) -> bytes:
    """The `TrainerSpec` of a model of `size` pieces; it says the options in `told` even as the default."""
    defaults = {option.name: option.default for option in fields(options)}
    parts = [record(3, MODEL_TYPES[options.model_type]), record(TRAINER_FIELDS["vocab_size"], size)]
    for name, number in TRAINER_FIELDS.items():
        value = getattr(options, name)
        if name != "vocab_size" and (name in told or value != defaults[name]):
            parts += [record(number, item) for item in (value if isinstance(value, tuple) else (value,))]
    return b"".join(parts)


def _flags(on: Mapping[int, bool], path: str, said: Collection[int] = ()) -> bytes:
    """What follows the rules in a `NormalizerSpec`: flags that are off or in `said`, the rules' file."""
    flags = (record(number, int(value)) for number, value in on.items() if not value or number in said)
    return b"".join(flags) + (record(6, path) if path or 6 in said else b"")


def _around(number: int, before: bytes, after: bytes, rules: bytes) -> object:
    """A message as the layout has it: without its compiled rules, if there are any."""
    if not rules:
        return _text(record(number, before + record(2, b"") + after))
    whole = record(number, before + record(2, rules) + after)
    start = whole.index(rules)
    return [_text(whole[:start]), _text(whole[start + len(rules) :])]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
