"""What a sentencepiece model has no words for, rule by rule: what is lost, and the tokenizer without it.

Adds `reduce`: each rule takes a tokenizer that breaks it to the nearest one that keeps it, with a sentence
that says what is lost and whether ids can change. Steps of Hugging Face's that mean exactly what
sentencepiece does are rewritten without a loss. Leaves out: what cannot be left out without becoming another
tokenizer (`sentencepiece_write` refuses that).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from itertools import product

from syllabary.formats.extras import NO_IDS
from syllabary.formats.hf_reduce import steps_of
from syllabary.formats.hf_reduce_unigram import spelled
from syllabary.formats.hidden import refuse_hidden
from syllabary.formats.loss import Loss
from syllabary.formats.record import cannot_hold
from syllabary.formats.sentencepiece_carried import NAME
from syllabary.reference.check_foreign import not_utf8
from syllabary.reference.symbols import shown
from syllabary.reference.unigram import single
from syllabary.spec import Matching, Step, StepValue, TokenizerSpec

KIND = "SentencePiece"
SPACE = "\u2581"
UNKNOWN_SURFACE = " \u2047 "
NEVER, FROZEN = Matching(stage="never"), Matching(stage="frozen")
Rule = Callable[[TokenizerSpec], tuple[TokenizerSpec, Loss] | None]


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The nearest tokenizer that a `.model` may hold, and one sentence for each thing lost."""
    if spec.unit != "char":
        return spec, ()  # `write` refuses it as it is
    refuse_hidden(spec, NAME)
    refuse_bytes(spec)
    return _reduced(spec, (*RULES, _record))


def refuse_bytes(spec: TokenizerSpec) -> None:
    """Raise `FormatError` for a token that is no text, as no piece is but the 256 bytes."""
    if (found := not_utf8(spec)) is not None:
        raise cannot_hold(NAME, f"a token that is not UTF-8 (id {found}, {shown(spec.tokens[found])})")


def first_loss(spec: TokenizerSpec) -> Loss | None:
    """What a `.model` of this tokenizer would lose first, but for what no text depends on; or `None`."""
    return next(iter(_reduced(spec, RULES)[1]), None)


def _reduced(spec: TokenizerSpec, rules: tuple[Rule, ...]) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    spec, losses = rewritten(spec), list[Loss]()
    for rule in rules:
        if (found := rule(spec)) is not None:
            spec, loss = found
            losses.append(loss)
    return spec, tuple(losses)


def rewritten(spec: TokenizerSpec) -> TokenizerSpec:
    """The same tokenizer with sentencepiece's normalizer, where its steps mean just that.

    No steps at all are the identity; `Prepend ▁` and `Replace " " ▁` are the dummy prefix and the escape.
    """
    step = None if spec.pretokenizer else _meant(spec.normalizer)
    return spec if step is None else dataclasses.replace(spec, normalizer=(step,))


def _meant(steps: Sequence[Step]) -> Step | None:
    """sentencepiece's normalizer, without a character map, that does what steps do; or `None`."""
    replace = Step("Replace", {"pattern": " ", "regex": False, "content": SPACE})
    if tuple(steps) == (replace, Step("Prepend", {"prepend": SPACE})):
        return normalizer(True, True)
    found = (normalizer(*flags) for flags in product((False, True), repeat=3))
    return next((step for step in found if steps_of(step.options) == tuple(steps)), None)


def normalizer(prefix: bool, escape: bool, removes: bool = False) -> Step:
    """sentencepiece's normalizer without a character map; removes: spaces in a row are one."""
    options: dict[str, StepValue] = {
        "precompiled_charsmap": b"",
        "add_dummy_prefix": prefix,
        "remove_extra_whitespaces": removes,
        "treat_whitespace_as_suffix": False,
        "escape_whitespaces": escape,
    }
    return Step(KIND, options)


def _character_map(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """What `hf_reduce` makes of sentencepiece's normalizer: a character map, and the rest in steps."""
    first, *rest = spec.normalizer or (None,)
    if first is None or first.kind != "Precompiled" or spec.pretokenizer:
        return None
    step = _meant(rest)
    if step is None:
        return None
    step = dataclasses.replace(step, options={**step.options, **first.options})
    loss = Loss(
        "how Precompiled looks up its character map: ids can change where several characters that it "
        "replaces stand together, and at whitespace that its rules leave",
        "some",
    )
    return dataclasses.replace(spec, normalizer=(step,)), loss


def _metaspace(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Hugging Face's Metaspace, which puts no mark in front of text that begins with a space already."""
    if spec.normalizer or len(spec.pretokenizer) != 1 or spec.pretokenizer[0].kind != "Metaspace":
        return None
    options = spec.pretokenizer[0].options
    joined = any(SPACE.encode() in token[1:] for token in spec.tokens.values())
    if options["replacement"] != SPACE or (options["split"] and joined):
        return None
    prefix = options["prepend_scheme"] != "never"
    fused = spec.fuse_unknown and options["split"] and SPACE.encode() not in spec.tokens.values()
    becomes = "the step Metaspace becomes sentencepiece's normalizer"
    loss = Loss(f"{becomes}; {NO_IDS}", "same")
    if prefix:
        more = f"text that begins with a space gets one more {SPACE} in front, so its ids can change"
        loss = Loss(f"{becomes}: {more}", "some")
    elif fused:
        more = "so unknown characters beside a space and on its other side are one token: ids can change"
        loss = Loss(f"{becomes}, {more}", "some")
    return dataclasses.replace(spec, pretokenizer=(), normalizer=(normalizer(prefix, True),)), loss


def _words(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """The pipeline of T5 and its like: a character map, and words with a mark before each."""
    before, cutting = [step.kind for step in spec.normalizer], [step.kind for step in spec.pretokenizer]
    if before not in ([], ["Precompiled"]) or cutting not in (
        ["Metaspace"],
        ["WhitespaceSplit", "Metaspace"],
    ):
        return None
    options = spec.pretokenizer[-1].options
    if options["replacement"] != SPACE:
        return None
    given = normalizer(options["prepend_scheme"] != "never", True).options
    charsmap = spec.normalizer[0].options["precompiled_charsmap"] if before else b""
    words = len(cutting) == 2
    step = Step(KIND, {**given, "precompiled_charsmap": charsmap, "remove_extra_whitespaces": words})
    loss = Loss(
        f"the steps {', '.join([*before, *cutting])} become sentencepiece's normalizer: ids can change where "
        "it replaces several characters at once, at whitespace that its rules leave, and where tokens reach "
        "over words",
        "some",
    )
    return dataclasses.replace(spec, pretokenizer=(), normalizer=(step,)), loss


def _precision(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Scores of 32 bits, of plain pieces alone."""
    if spec.model != "unigram" or spec.single_precision:
        return None
    named = {*spec.special_tokens.values(), *spec.added_tokens.values()}
    scores = {
        token_id: single(score)
        for token_id, score in (spec.scores or {}).items()
        if token_id not in named and token_id not in spec.byte_tokens
    }
    tokens = {token_id: token for token_id, token in spec.tokens.items() if token_id not in named}
    loss = Loss(
        "scores are of 32 bits, and only plain pieces have one: ids can change where two ways to cut a piece "
        "are "
        "nearly as good, where text spells a byte or a special token, and if theirs was the lowest score",
        "some",
    )
    return dataclasses.replace(spec, scores=scores, tokens=tokens, single_precision=True), loss


def _decoder(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if spec.decoder is not None and [step.kind for step in spec.decoder] == [KIND]:
        return None
    if [step.kind for step in spec.normalizer] != [KIND]:
        return None
    names = ("add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix")
    options = {name: spec.normalizer[0].options[name] for name in names}
    surfaces: dict[str, StepValue] = {"unknown_surface": UNKNOWN_SURFACE, "denormalizer_charsmap": b""}
    steps = ", ".join(step.kind for step in spec.decoder or ()) or "none"
    loss = Loss(
        f"the decoder ({steps}) becomes sentencepiece's: control pieces decode to nothing, an unknown one to "
        f"{UNKNOWN_SURFACE!r}, {SPACE} to a space; {NO_IDS}",
        "same",
    )
    return dataclasses.replace(spec, decoder=(Step(KIND, {**options, **surfaces}),)), loss


def _named_bytes(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Tokens that stand for a byte and are found by their name as well."""
    named = {**spec.special_tokens, **spec.added_tokens}
    found = [text for text, token_id in named.items() if token_id in spec.byte_tokens]
    if not found:
        return None
    loss = Loss(
        f"tokens that are bytes are no longer found by their names ({_listed(found)}): "
        "ids of text that holds these change",
        "some",
    )
    gone = set(found)
    special = {text: token_id for text, token_id in spec.special_tokens.items() if text not in gone}
    added = {text: token_id for text, token_id in spec.added_tokens.items() if text not in gone}
    matching = {text: how for text, how in spec.matching.items() if text not in gone}
    new = dataclasses.replace(spec, special_tokens=special, added_tokens=added, matching=matching)
    return new, loss


def _special(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    found = [text for text in spec.special_tokens if spec.matching.get(text, Matching()) != NEVER]
    if not found:
        return None
    loss = Loss(
        f"special tokens are no longer found in text ({_listed(found)}): ids of text that holds them change",
        "some",
    )
    matching = {**spec.matching, **dict.fromkeys(found, NEVER)}
    return dataclasses.replace(spec, matching=matching), loss


def _added(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    held = (FROZEN, NEVER) if spec.model == "wordlevel" else (FROZEN,)  # never: an unused word
    found = [text for text in spec.added_tokens if spec.matching.get(text, Matching()) not in held]
    if not found:
        return None
    loss = Loss(
        f"added tokens become user-defined pieces ({_listed(found)}): found after normalizing, with no "
        "regard to what stands around them; ids of text that holds them can change",
        "some",
    )
    matching = {**spec.matching, **dict.fromkeys(found, FROZEN)}
    return dataclasses.replace(spec, matching=matching), loss


def _unknown(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if spec.unknown is not None or spec.fallback:
        return None
    ids = {*spec.tokens, *spec.special_tokens.values(), *spec.added_tokens.values()}
    token_id, text = max(ids, default=-1) + 1, "<unk>"
    if text.encode() in spec.tokens.values() or text in spec.special_tokens or text in spec.added_tokens:
        return None
    loss = Loss(
        f"a token {text!r}, id {token_id}, is added: a symbol outside the alphabet becomes it, and no error",
        "some",
    )
    special = {**spec.special_tokens, text: token_id}
    matching = {**spec.matching, text: NEVER}
    return (
        dataclasses.replace(
            spec, special_tokens=special, matching=matching, unknown=token_id, fuse_unknown=True
        ),
        loss,
    )


def _fuse(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if spec.fuse_unknown or spec.fallback:
        return None
    loss = Loss("unknown symbols in a row become one token: ids of text with several change", "some")
    return dataclasses.replace(spec, fuse_unknown=True), loss


def _dropout(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if not spec.dropout:
        return None
    loss = Loss(f"dropout {spec.dropout} is left out: no merge is passed over, so ids can change", "some")
    return dataclasses.replace(spec, dropout=0.0), loss


def _offsets(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    if not spec.trim_offsets and (spec.surface_offsets or not spec.fallback):
        return None
    loss = Loss(
        f"offsets become sentencepiece's (of a character spelled with bytes, the last has it); {NO_IDS}",
        "same",
    )
    return dataclasses.replace(spec, trim_offsets=False, surface_offsets=True), loss


def _record(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    carried = {name: value for name, value in spec.carried.items() if name == NAME}
    if not spec.record and len(carried) == len(spec.carried):
        return None
    sentence = "the record of training, and what other formats alone hold, are left out"
    loss = Loss(f"{sentence}; {NO_IDS}", "same")
    return dataclasses.replace(spec, record={}, carried=carried), loss


def _listed(texts: Iterable[str]) -> str:
    found = list(texts)
    return ", ".join(map(shown, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


RULES: tuple[Rule, ...] = (
    _metaspace,
    _words,
    _character_map,
    _decoder,
    _named_bytes,
    _special,
    _added,
    spelled,
    _unknown,
    _fuse,
    _dropout,
    _offsets,
    _precision,
)
